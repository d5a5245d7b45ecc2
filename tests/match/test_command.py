"""The command: interrupted, with real engines, on a terminal, refused."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from tests.match.matches import QUICK, openings, quick, spec
from tests.support.commands import Commands
from tests.support.fake_engine import FakeEngine, check_ended, processes_of
from tests.support.interrupted import kill_at_work
from tests.support.terminal import in_terminal

from anabranch.cli import run
from anabranch.errors import MatchError
from anabranch.match.adjudication import Adjudication
from anabranch.match.game import GameRecord
from anabranch.match.openings import Opening
from anabranch.match.player import Budget, PlayerSpec, read_player
from anabranch.match.results import GAMES, RESULTS, SPEC, SUMMARY, read_results
from anabranch.match.runner import run_match
from anabranch.match.standings import Tally
from anabranch.networks.shipped import bundled

# Interruptions


def command(folder: Path, pairs: int, workers: int) -> list[str]:
    book = folder.parent / "book.fen"
    book.write_text("".join(f"{opening.fen}\n" for opening in openings("chess", 5)))
    return [
        *("match", "--pairs", str(pairs), "--workers", str(workers), "--openings", str(book)),
        *("-p", f"a={QUICK}", "-p", f"b={QUICK},chooser=visits", "--longest", "6", "--out", str(folder)),
    ]


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def kill_after_the_next_game(call: list[str], folder: Path, delay: float) -> bytes:
    """Kill a match a moment after its next game; what is whole in its results then."""
    path = folder / RESULTS
    before = size_of(path)
    kill_at_work(call, lambda: size_of(path) > before, delay, alone=True)
    text = path.read_bytes()
    return text[: text.rfind(b"\n") + 1]


def outcome(folder: Path) -> dict[tuple[int, int], Any]:
    """What does not depend on when a game was played."""
    found = {}
    for key, record in read_results(folder).items():
        found[key] = (record.white, record.result, record.reason, [ply.move for ply in record.plies])
    return found


def test_kill_at_any_moment_loses_and_doubles_no_game(tmp_path: Path) -> None:
    source = random.Random(9)
    folder = tmp_path / "killed"
    kept = b""
    for turn in range(8):
        call = command(folder, 400, 2 if turn % 7 == 6 else 0)
        whole = kill_after_the_next_game(call, folder, source.uniform(0.0, 0.1))
        assert whole.startswith(kept)  # no finished game is ever lost or changed
        assert len(whole) > len(kept)
        kept = whole
    pairs = max(key[0] for key in read_results(folder)) + 2
    assert 4 < pairs < 400
    assert run(command(folder, pairs, 0)) == 0
    lines = (folder / RESULTS).read_bytes().splitlines()
    assert (folder / RESULTS).read_bytes().startswith(kept)
    keys = [(json.loads(line)["pair"], json.loads(line)["game"]) for line in lines]
    assert sorted(keys) == [(pair, game) for pair in range(pairs) for game in (0, 1)]
    assert run(command(tmp_path / "whole", pairs, 0)) == 0
    assert outcome(folder) == outcome(tmp_path / "whole")
    first = json.loads((folder / SUMMARY).read_text())
    assert first["meetings"] == json.loads((tmp_path / "whole" / SUMMARY).read_text())["meetings"]
    games = (folder / GAMES).read_text()
    assert games.count("[Event ") == len(keys)


def test_ctrl_c_ends_a_match_in_good_order(mock: FakeEngine, tmp_path: Path) -> None:
    engine = mock("")
    call = [sys.executable, "-m", "anabranch", *command(tmp_path / "match", 500, 2)]
    call += ["-p", f"c=uci:{engine},nodes=1,Hash=2"]
    path = tmp_path / "match" / RESULTS
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while (not processes_of(engine) or not size_of(path)) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "a - b" in shown
    assert "interrupted; the same command continues" in said
    assert "Traceback" not in said
    check_ended(engine)
    records = read_results(tmp_path / "match")
    assert records
    summary = json.loads((tmp_path / "match" / SUMMARY).read_text())
    assert summary["games"] == len(records)
    assert os.path.exists(tmp_path / "match" / GAMES)


def test_ctrl_c_between_a_game_and_its_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = Tally.add

    def interrupt(count: Tally, record: GameRecord) -> None:
        monkeypatch.setattr(Tally, "add", add)
        raise KeyboardInterrupt

    monkeypatch.setattr(Tally, "add", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_match(spec(), tmp_path, 0)
    assert len(read_results(tmp_path)) == 1
    assert json.loads((tmp_path / SUMMARY).read_text())["games"] == 1


# Real engines, and the command


def test_matches_against_real_engines(tmp_path: Path) -> None:
    rules = Adjudication(resign_score=900, resign_plies=4, longest=80)
    ours = read_player("ours=preset:mcgs-combined,evaluations=20")
    stockfish = read_player("sf=uci:stockfish,nodes=300,Hash=1,Threads=1")
    for chess960, start in (
        (False, openings("chess", 1)),
        (True, (Opening("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w FHfh - 2 9"),)),
    ):
        asked = spec(ours, stockfish, openings=start, chess960=chess960, adjudication=rules)
        standings = run_match(asked, tmp_path / f"chess-{chess960}", 0)
        assert (standings.games, standings.faults) == (2, {})
    fairy = read_player("fairy=uci:fairy-stockfish,Hash=1,clock=2+0.02")
    timed = replace(ours, options={}, budget=Budget(clock=2.0, increment=0.02))
    asked = spec(timed, fairy, variant="crazyhouse", openings=openings("crazyhouse", 1), adjudication=rules)
    standings = run_match(asked, tmp_path / "crazyhouse", 0)
    assert (standings.games, standings.faults) == (2, {})
    for record in read_results(tmp_path / "crazyhouse").values():
        assert "Fairy-Stockfish" in " ".join(record.titles)
        assert all(ply.score is not None for ply in record.plies)


def test_our_own_program_is_a_player_too(tmp_path: Path) -> None:
    uci = f"'{sys.executable}' -m anabranch uci"
    program = PlayerSpec("program", "uci", uci, {}, Budget(simulations=16))
    inside = read_player("inside=preset:default,simulations=16")
    asked = spec(program, inside, variant="crazyhouse", openings=openings("crazyhouse", 1))
    standings = run_match(asked, tmp_path, 0)
    assert (standings.games, standings.faults) == (2, {})


def test_adjudication_is_switched_off_by_options(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    off = ["--resign-score", "off", "--draw-score", "off", "--longest", "off"]
    players = ["-p", f"a={QUICK}", "-p", f"b={QUICK}"]
    assert run(["match", *players, "--pairs", "1", "-w", "0", "-o", str(folder), *off]) == 0
    assert json.loads((folder / SPEC).read_text())["adjudication"] == asdict(Adjudication())
    rules = {"checkmate", "stalemate", "insufficient material", "threefold repetition", "fifty moves"}
    assert set(json.loads((folder / SUMMARY).read_text())["reasons"]) <= rules


def test_faults_are_told_when_they_happen_and_at_the_end(
    mock: FakeEngine, tmp_path: Path, cli: Commands
) -> None:
    call = ["-p", f"bad=uci:{mock('crash')},nodes=1", "-p", f"good={QUICK}", "--pairs", "1", "-w", "0"]
    shown, said = cli.run("match", *call, "-o", tmp_path / "m")
    assert "game 1.1: bad lost by its own fault: crash: the engine has ended" in said
    assert "bad lost by its own fault: crash 2" in " ".join(shown.split())


def test_a_terminal_shows_a_table_that_grows(tmp_path: Path) -> None:
    code, shown = in_terminal(*command(tmp_path / "match", 10, 0))
    assert code == 0
    assert {"0 of 20 games", "20 of 20 games"} <= set(re.findall(r"\d+ of 20 games", shown))
    assert "Elo" in shown


def test_the_command(tmp_path: Path, cli: Commands) -> None:
    players = ["-p", "a=preset:mcgs", "-p", "b=preset:alphazero"]
    rest = ["--evaluations", "4", "--pairs", "2", "--longest", "10", "-w", "0", "-v", "crazyhouse", "-o"]
    sprt = ["--sprt-elo0", "0", "--sprt-elo1", "10", "--sprt-model", "normalised"]
    call = ["match", *players, *rest, str(tmp_path / "m")]
    shown = cli.run(*call, *sprt).out
    assert "a - b" in shown
    assert "LLR" in shown
    assert "4 of 4 games" in shown
    document = cli.json(*call, *sprt)
    assert document["games"] == 4
    assert document["sprt"]["verdict"] == "continue"
    assert document["spec"]["adjudication"]["resign_score"] == 1500
    assert "holds another match" in cli.refuses(*call)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("", "needs two players"),
        ("-p b=preset:nothing", "no preset 'nothing'"),
        ("-p b=uci:no-such-engine", "no program no-such-engine"),
        ("-p b=preset:mcgs,bogus=1", "player b: there is no setting 'bogus'"),
        ("-p b=preset:mcgs --sprt-elo0 5", "an SPRT needs --sprt-elo0 and"),
        ("-p b=preset:mcgs --resign-score much", "--resign-score takes a whole number"),
        ("-p b=preset:mcgs --openings none.epd", "none.epd cannot be read"),
        ("-p b=preset:mcgs -v checkers", "there is no variant checkers"),
        ("-p b=preset:mcgs -w -1", "there cannot be -1 workers"),
    ],
)
def test_the_command_refuses(tmp_path: Path, cli: Commands, options: str, sentence: str) -> None:
    call = ["match", "--evaluations", "4", "-o", str(tmp_path / "m"), "-p", "a=preset:mcgs"]
    assert sentence in cli.refuses(*call, *options.split())


def test_ratings_are_anchored_where_a_rating_is_known(tmp_path: Path, cli: Commands) -> None:
    call = ["match", "-p", f"a={QUICK}", "-p", f"b={QUICK}", "--pairs", "3", "--longest", "80", "-w", "0"]
    call += ["-o", str(tmp_path)]
    assert cli.json(*call)["ratings"] == {}
    found = cli.json(*call, "--anchor", "a=1500")
    assert found["ratings"]["a"] == {"value": 1500.0, "error": 0.0}
    elo = found["meetings"][0]["elo"]["value"]
    assert found["ratings"]["b"]["value"] == pytest.approx(1500.0 - elo, abs=3.0)
    assert "the anchor c is no player of the match" in cli.refuses(*call, "--anchor", "c=1500")
    assert "the rating of an anchor is a number, not nan" in cli.refuses(*call, "--anchor", "a=nan")
    assert "NAME=ELO, not 'a'" in cli.refuses(*call, "--anchor", "a")


# What fails leaves nothing that is in the way of what is right


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["-p", f"b={QUICK.replace('uniform', 'no.safetensors')}"], "player b: there is no network file"),
        (["-p", f"b={QUICK.replace('uniform', 'no.onnx')}"], "player b: there is no network file"),
        (["-p", f"b={QUICK.replace('=uniform', '=oracle')}"], "oracle"),
        (["-p", f"b={QUICK},bogus=1"], "there is no setting 'bogus'"),
        (["-p", "b=uci:no-such-engine,nodes=1"], "no program no-such-engine"),
        (["-p", f"b={QUICK}", "--tablebases", "nowhere"], "nowhere cannot be read"),
        (["-p", f"b={QUICK}", "-w", "-1"], "there cannot be -1 workers"),
        (["-p", f"b={QUICK}", "--ray", "nowhere:1"], "ray"),
    ],
)
def test_a_match_that_failed_leaves_no_folder(
    tmp_path: Path, cli: Commands, wrong: list[str], sentence: str
) -> None:
    folder = tmp_path / "m"
    call = ["match", "-p", f"a={QUICK}", "--pairs", "1", "--longest", "4", "-o", str(folder)]
    said = cli.refuses(*call, *wrong)
    assert sentence.lower() in said.lower()
    assert said.count("\n") == 1
    assert not folder.exists()
    assert run([*call, "-p", f"b={QUICK}", "-w", "0"]) == 0


def test_a_network_of_another_variant_is_refused_before_a_game(tmp_path: Path, cli: Commands) -> None:
    network = f"a=preset:mcgs,evaluator={bundled('crazyhouse')},evaluations=4"
    assert "plays crazyhouse" in cli.refuses("match", "-p", network, "-p", f"b={QUICK}", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_match_without_a_game_does_not_refuse_another(tmp_path: Path) -> None:
    class Broken:
        def run(self, *_: object) -> Any:
            raise KeyboardInterrupt  # before the first game is over

    with pytest.raises(KeyboardInterrupt):
        run_match(spec(), tmp_path, Broken())
    assert (tmp_path / SPEC).exists()
    other = spec(quick("a"), quick("c"))
    assert run_match(other, tmp_path, 0).games == 2
    with pytest.raises(MatchError, match="holds another match"):
        run_match(spec(), tmp_path, 0)


def test_files_of_something_else_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / GAMES).write_text("my games")
    with pytest.raises(MatchError, match="is of no match"):
        run_match(spec(), tmp_path, 0)
    (tmp_path / GAMES).rename(tmp_path / SPEC)
    with pytest.raises(MatchError, match="does not describe a match"):
        run_match(spec(), tmp_path, 0)
    assert (tmp_path / SPEC).read_text() == "my games"
