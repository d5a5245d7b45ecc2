"""Generation: the same data however often it was interrupted, and a job that outlives its teachers."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.commands import Commands
from tests.support.fake_engine import FakeEngine
from tests.support.interrupted import kill_at_work, wait_for_work

from anabranch.cli import run
from anabranch.data.check import check_folders
from anabranch.data.generate import Generation, open_generation, play_game
from anabranch.data.jobs import GenerateJob
from anabranch.data.shards import find_shards, read_shard, read_shards
from anabranch.data.teacher import Teacher
from anabranch.data.units import make_shards
from anabranch.errors import DataError
from anabranch.jobs.executor import Processes


def arguments(engine: str, out: Path, games: int = 24, *more: str, workers: int = 0) -> list[str]:
    return [
        "data", "generate", "--engine", engine, "--games", str(games), "--games-per-shard", "6",
        "--longest", "8", "--out", str(out), "--workers", str(workers), "--timeout", "5", *more,
    ]  # fmt: skip


def names(folder: Path) -> list[str]:
    """The shards; their names hold their checksums."""
    return [shard.path.name for shard in find_shards(folder)]


def begin(engine: str, out: Path) -> subprocess.Popen[bytes]:
    call = [sys.executable, "-m", "anabranch", *arguments(engine, out, workers=2)]
    return subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def hurry(teacher: str) -> None:
    """From now on a slow teacher answers at once; what it says is the same."""
    program = Path(teacher)
    program.write_text(program.read_text().replace("'slow'", "''"))


def plays_games(folder: Path) -> Callable[[], bool]:
    """Whether a job that begins now plays games."""
    begun = time.time()
    return lambda: any(path.stat().st_mtime >= begun for path in folder.glob(".*.journal"))


def test_kill_at_any_time_loses_and_doubles_nothing(fake: FakeEngine, tmp_path: Path) -> None:
    teacher = fake("slow")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    chance = random.Random(5)
    finished: set[str] = set()
    games = 0
    for attempt in range(3):
        call = arguments(teacher, broken, workers=2)
        kill_at_work(call, plays_games(broken), chance.uniform(0.0, 0.9), alone=attempt % 2 == 0)
        time.sleep(0.3)
        have = set(names(broken))
        assert finished <= have
        finished = have
        unfinished = [path.read_bytes().count(b"\n") for path in broken.glob(".*.journal")]
        assert len(have) * 6 + sum(unfinished) >= games
        games = len(have) * 6 + sum(unfinished)
    assert games > 0
    hurry(teacher)
    assert run(arguments(teacher, broken)) == 0
    assert run(arguments(teacher, whole)) == 0
    assert names(broken) == names(whole)
    assert not list(broken.glob(".*.journal")) + list(broken.glob(".*.part"))
    assert check_folders([broken], every_position=True).faults == []


def test_a_worker_that_dies_is_replaced(fake: FakeEngine, tmp_path: Path) -> None:
    teacher = fake("slow")
    process = begin(teacher, tmp_path / "out")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    killed = 0
    while process.poll() is None and killed < 3:
        time.sleep(1.0)
        for child in children.read_text().split() if children.exists() else []:
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)
                killed += 1
                break
    assert process.wait(120) == 0
    assert killed
    hurry(teacher)
    assert run(arguments(teacher, tmp_path / "whole")) == 0
    assert names(tmp_path / "out") == names(tmp_path / "whole")


def test_ctrl_c_ends_at_once(fake: FakeEngine, tmp_path: Path) -> None:
    process = begin(fake("slow"), tmp_path / "out")
    wait_for_work(lambda: process.poll() is None, plays_games(tmp_path / "out"))
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    assert time.monotonic() - begun < 5


def test_more_games_extend_a_job(fake: FakeEngine, tmp_path: Path) -> None:
    teacher = fake("")
    whole, grown = tmp_path / "whole", tmp_path / "grown"
    assert run(arguments(teacher, whole)) == 0
    for games in (9, 9, 14, 24, 24):
        assert run(arguments(teacher, grown, games)) == 0
    rows = [
        [read_shard(shard).drop(["source"]).to_pylist() for shard in find_shards(path)]
        for path in (whole, grown)
    ]
    assert rows[0] == rows[1]
    assert sum(len(shard) for shard in rows[0]) > 50
    job = GenerateJob.read(json.loads((grown / "job.json").read_text()))
    assert job.games == 24
    assert Generation(job, grown).missing() == []


def test_another_job_is_refused(fake: FakeEngine, tmp_path: Path, cli: Commands) -> None:
    teacher = fake("")
    assert run(arguments(teacher, tmp_path / "out", 6)) == 0
    assert "holds another job" in cli.refuses(*arguments(teacher, tmp_path / "out", 6, "--seed", "2"))


def test_a_job_that_came_to_nothing_does_not_block(fake: FakeEngine, tmp_path: Path, cli: Commands) -> None:
    cli.refuses(*arguments(fake("dies at once"), tmp_path / "out", 6))
    assert run(arguments(fake(""), tmp_path / "out", 6, "--seed", "3")) == 0
    assert names(tmp_path / "out")
    assert "another job" in cli.refuses(*arguments(fake(""), tmp_path / "out", 6))


def test_only_one_process_works_in_a_folder(fake: FakeEngine, tmp_path: Path, cli: Commands) -> None:
    teacher = fake("slow")
    process = begin(teacher, tmp_path / "out")
    while not (tmp_path / "out" / "job.json").exists():
        time.sleep(0.1)
    assert "another process is at work" in cli.refuses(*arguments(teacher, tmp_path / "out"))
    process.send_signal(signal.SIGINT)
    process.wait()


@pytest.mark.parametrize(
    "mode", ["crash", "hang", "garbage", "closes", "none", "illegal", "endless", "no score"]
)
def test_games_are_dropped_and_the_job_goes_on(
    fake: FakeEngine, tmp_path: Path, mode: str, cli: Commands
) -> None:
    # The ninth search hangs, which is in the second game; more games would only wait more often.
    games, timeout = (2, "2") if mode == "hang" else (6, "20")
    said = cli.shows(*arguments(fake(mode), tmp_path / "out", games, "--timeout", timeout))
    dropped = int(said.split(" dropped")[0].split()[-1])
    assert 1 <= dropped < games
    assert len(find_shards(tmp_path / "out")) == 1
    assert check_folders([tmp_path / "out"], every_position=True).faults == []


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("dies at once", "did not start 3 times in a row: the engine has ended"),
        ("always crash", "failed 10 times in a row: the engine has ended"),
    ],
)
def test_a_hopeless_teacher_is_given_up(
    fake: FakeEngine, tmp_path: Path, mode: str, sentence: str, cli: Commands
) -> None:
    good, bad = fake(""), fake(mode)
    out = tmp_path / "out"
    job = GenerateJob("chess", bad, 40, nodes=400, games_per_shard=20, longest=8)
    with open_generation(job, out) as generation:
        begun = replace(generation, job=replace(job, engine=good, games=20))
        make_shards(begun, Processes(0))
    kept = names(out)
    assert sentence in cli.refuses(*arguments(bad, out, 40, "--games-per-shard", "20"))
    assert names(out) == kept
    # What the bad one spoiled is not lost: a good one plays it.
    Path(bad).write_text(Path(good).read_text())
    assert run(arguments(bad, out, 40, "--games-per-shard", "20")) == 0
    assert len(names(out)) == 2


def test_an_engine_that_does_not_exist(tmp_path: Path, cli: Commands) -> None:
    assert (
        cli.refuses(*arguments("no-such-engine", tmp_path / "out"))
        == "anabranch: there is no program no-such-engine to be the teacher\n"
    )


def test_a_job_that_failed_is_not_in_the_way_of_another(
    fake: FakeEngine, tmp_path: Path, cli: Commands
) -> None:
    out = tmp_path / "out"
    assert run(arguments("no-such-engine", out)) == 2
    assert not out.exists()
    assert "did not start 3 times in a row" in cli.refuses(*arguments(fake("dies at once"), out))
    good = fake("")
    assert run(arguments(good, out, 4)) == 0
    assert "holds another job" in cli.refuses(*arguments(fake("slow"), out, 4))


def test_the_limit_of_decided_games_is_that_of_the_variant() -> None:
    assert (GenerateJob("chess", "x", 1).decided, GenerateJob("crazyhouse", "x", 1).decided) == (800, 1200)
    assert GenerateJob("chess", "x", 1, decided=500).decided == 500
    stored = {"variant": "chess", "engine": "x", "games": 1, "opening_plies": [2, 10], "decided": 700}
    assert GenerateJob.read(stored) == GenerateJob("chess", "x", 1, decided=700)


@pytest.mark.parametrize(
    "changes",
    [
        {"variant": "go"},
        {"games": 0},
        {"weaker": 1.5},
        {"weaker": 0.6, "random_moves": 0.6},
        {"opening_plies": (3, 2)},
        {"options": {"Hash": "1\nquit"}},
    ],
)
def test_jobs_without_sense_are_refused(changes: dict[str, object]) -> None:
    values: dict[str, object] = {"variant": "chess", "engine": "stockfish", "games": 1, **changes}
    with pytest.raises(DataError):
        GenerateJob(**values).check()  # type: ignore[arg-type]


@pytest.mark.parametrize(("variant", "teacher"), [("chess", "stockfish"), ("crazyhouse", "fairy-stockfish")])
def test_games_of_real_teachers(variant: str, teacher: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = run(
        ["data", "generate", "-v", variant, "--games", "10", "--games-per-shard", "5", "--nodes", "60",
         "--out", str(out), "--workers", "0"]
    )  # fmt: skip
    assert code == 0
    assert check_folders([out], every_position=True).faults == []
    tables = [table for _, table in read_shards([out], variant)]
    rows = [row for table in tables for row in table.to_pylist()]
    assert len(rows) > 50
    assert {row["source"].split()[0] for row in rows} <= {"Stockfish", "Fairy-Stockfish"}
    assert any(len(row["moves"]) == 2 for row in rows)
    assert {row["result"] for row in rows} >= {1, -1}
    job = GenerateJob(variant, teacher, 10, nodes=60, games_per_shard=5)
    with Teacher(teacher, variant, {"MultiPV": "2"}) as player:
        for number in range(5):
            samples = play_game(job, number, player)
            if samples:
                stored = [row for row in rows if row["game"] == samples[0]["game"]]
                assert [row["scores"] for row in stored] == [sample["scores"] for sample in samples]


@pytest.mark.parametrize("workers", [0, 2])
def test_any_executor_makes_the_same_shards(workers: int, fake: FakeEngine, tmp_path: Path) -> None:
    teacher = fake("")
    whole, single = tmp_path / "whole", tmp_path / "single"
    assert run(arguments(teacher, whole, 20, workers=2 - workers)) == 0
    job = GenerateJob.read(json.loads((whole / "job.json").read_text()))
    with open_generation(job, single, 5.0) as generation:
        begun = replace(generation, job=replace(job, games=6))
        assert make_shards(begun, Processes(0)).units == 6
        reports: list[tuple[float, float | None]] = []
        made = make_shards(generation, Processes(workers), lambda *report: reports.append(report[:2]))
    assert (made.before, made.units) == (6, 14)
    assert reports == [(float(done), 20) for done in range(6, 21)]
    assert [name[:6] for name in names(single)] == [name[:6] for name in names(whole)]
    assert names(single)[1:] == names(whole)[1:]


def test_a_journal_that_was_cut_short_is_continued(fake: FakeEngine, tmp_path: Path) -> None:
    teacher = fake("")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert run(arguments(teacher, whole, 7)) == 0
    job = GenerateJob.read(json.loads((whole / "job.json").read_text()))
    with open_generation(job, broken, 5.0) as generation:
        complete = (whole / ".000001.journal").read_bytes()
        (broken / ".000001.journal").write_bytes(complete[: len(complete) // 2])
        assert make_shards(generation, Processes(0)).units == 7
    assert names(broken) == names(whole)
