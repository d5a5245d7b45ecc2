"""The same jobs on Ray: complete and the same, whoever dies."""

import json
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support import jobs

from anabranch.cli import run
from anabranch.errors import WorkerError
from anabranch.jobs.executor import Processes, Ray
from anabranch.match.adjudication import Adjudication
from anabranch.match.game import GameRecord
from anabranch.match.openings import bundled_openings, read_openings
from anabranch.match.player import read_player
from anabranch.match.results import read_results
from anabranch.match.runner import run_match
from anabranch.match.schedule import MatchSpec
from anabranch.match.standings import Standings
from anabranch.selfplay.folder import read_run
from anabranch.selfplay.loop import play_only
from anabranch.selfplay.plan import plan_of
from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.run import run_study
from anabranch.study.summary import summarise

pytestmark = pytest.mark.filterwarnings("default")  # Ray has some of its own


def moves_in(folder: Path) -> dict[tuple[int, int], list[str]]:
    return {key: [ply.move for ply in record.plies] for key, record in read_results(folder).items()}


def test_a_match_is_complete_although_a_node_is_killed_midway(cluster: Any, tmp_path: Path) -> None:
    path = bundled_openings("crazyhouse")
    assert path is not None
    players = [
        read_player(f"{name}=preset:{name},evaluations=60,evaluator=material")
        for name in ("mcgs", "alphazero")
    ]
    spec = MatchSpec(
        tuple(players),
        tuple(read_openings(path, "crazyhouse")[:8]),
        8,
        "crazyhouse",
        adjudication=Adjudication(longest=40),
    )
    killed: list[int] = []

    def kill_at_four(standings: Standings, record: GameRecord | None) -> None:
        if standings.games == 4 and not killed:
            killed.append(standings.games)
            cluster.remove_node(cluster.second, allow_graceful=False)

    standings = run_match(spec, tmp_path / "cluster", Ray(cluster.address), kill_at_four)
    assert killed == [4]
    assert standings.games == 16
    assert standings.faults == {}
    run_match(spec, tmp_path / "here", Processes(0))
    assert moves_in(tmp_path / "cluster") == moves_in(tmp_path / "here")


def test_games_of_self_play_are_those_of_one_machine(cluster: Any, tmp_path: Path) -> None:
    plan = plan_of("tic-tac-toe", games=64, evaluations=8, last_evaluations=8)
    folders = [
        play_only(tmp_path / name, plan, "rollout", executor, lambda _: None)
        for name, executor in (("cluster", Ray(cluster.address)), ("here", Processes(0)))
    ]
    there, here = (read_run(folder.path).samples(0) for folder in folders)
    for name in here.names():
        assert np.array_equal(getattr(there, name), getattr(here, name)), name


def test_a_job_whose_node_is_killed_is_given_out_again(cluster: Any) -> None:
    results: list[int] = []
    for result in Ray(cluster.address).run(jobs.slow_square, range(16)):
        results.append(result)
        if len(results) == 4:
            cluster.remove_node(cluster.second, allow_graceful=False)
    assert sorted(results) == [number * number for number in range(16)]


def test_workers_that_die_and_jobs_that_fail(cluster: Any, tmp_path: Path) -> None:
    ray = Ray(cluster.address)
    assert sorted(ray.run(jobs.die_once, [(str(tmp_path), n) for n in range(4)])) == list(range(4))
    assert (tmp_path / "died").exists()
    with pytest.raises(WorkerError, match="3 workers died over the same job"):
        list(ray.run(jobs.die, [1]))
    with pytest.raises(WorkerError, match="number 7 is refused"):
        list(ray.run(jobs.refuse, [7]))
    with pytest.raises(WorkerError, match=r"(?s)a worker failed: .*ZeroDivisionError"):
        list(ray.run(jobs.fail, [7]))
    # Who has enough can leave an endless list.
    with closing(ray.run(jobs.slow_square, count())) as results:
        assert next(results) in {number * number for number in range(4)}


def test_studies_and_data_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    for where in (["--ray", cluster.address], ["--workers", "1"]):
        out = str(tmp_path / where[0].strip("-"))
        generate = [
            "data", "generate", "--engine", "stockfish", "--games", "6", "--games-per-shard", "4",
            "--nodes", "50", "--longest", "8", "--out", out, *where,
        ]  # fmt: skip
        assert run(generate) == 0
    ray, workers = (
        sorted(path.name for path in (tmp_path / one).glob("*.parquet")) for one in ("ray", "workers")
    )
    assert ray == workers
    assert len(ray) == 2
    for where in (["--ray", cluster.address], ["--workers", "1"]):
        label = ["data", "label", str(tmp_path / "ray"), "--engine", "stockfish", "--nodes", "40"]
        assert run([*label, "--out", str(tmp_path / f"label{where[0]}"), *where]) == 0
    labels = [{path.name for path in tmp_path.glob(f"label--{one}/*.parquet")} for one in ("ray", "workers")]
    assert labels[0] == labels[1] != set()
    study = EXPERIMENTS["leak"].study("tiny", settings={"evaluator": "material"})
    for name, executor in (("far", Ray(cluster.address)), ("near", Processes(0))):
        run_study(study, tmp_path / name, executor)
    far, near = (json.dumps({**summarise(tmp_path / name), "runs": 0}) for name in ("far", "near"))
    assert far == near


def test_there_is_no_cluster(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = str(tmp_path / "study")
    assert run(["study", "run", "merge", "--scale", "tiny", "--out", out, "--ray", "127.0.0.1:1"]) == 2
    assert "there is no Ray cluster at 127.0.0.1:1" in capsys.readouterr().err
