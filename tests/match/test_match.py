"""Whole matches: score and reasons, files, interruptions, and real engines."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import chess.syzygy
import pytest
from tests.match.conftest import processes_of

from anabranch.cli import run
from anabranch.errors import FolderBusyError, MatchError
from anabranch.match import uci_player
from anabranch.match.adjudication import Adjudication
from anabranch.match.game import GameRecord, play_game
from anabranch.match.openings import Opening, bundled_openings, read_openings
from anabranch.match.player import Budget, PlayerSpec, read_player
from anabranch.match.results import GAMES, RESULTS, SPEC, SUMMARY, open_results, read_results
from anabranch.match.runner import run_match
from anabranch.match.schedule import MatchSpec
from anabranch.match.standing import Count
from anabranch.match.statistics import Sprt
from anabranch.networks.shipped import bundled

Mock = Callable[[str], str]
START = Opening(chess.STARTING_FEN, "start")
SHORT = Adjudication(longest=6)
QUICK = "preset:default,evaluator=uniform,simulations=1"
"""A player that costs nothing."""


def quick(name: str, more: str = "") -> PlayerSpec:
    return read_player(f"{name}={QUICK}{more}")


def openings(variant: str, number: int) -> tuple[Opening, ...]:
    path = bundled_openings(variant)
    assert path is not None
    return tuple(read_openings(path, variant)[:number])


def spec(*players: PlayerSpec, **changes: Any) -> MatchSpec:
    values: dict[str, Any] = {"openings": (START,), "pairs": 1, "adjudication": SHORT, **changes}
    return MatchSpec(players=players or (quick("a"), quick("b")), **values)


# Score and reasons


def test_a_match_with_engines_that_misbehave(
    mock: Mock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_player, "GRACE", 0.3)
    modes = {
        "crash": "crash",
        "hang": "hang",
        "illegal move": "illegal",
        "garbage": "garbage",
        "endless line": "endless",
        "never ready": "not ready",
    }
    bad = [read_player(f"{mode}=uci:{mock(mode)},time=5") for mode in modes]
    bad[1] = replace(bad[1], budget=Budget(time=0.2))
    good = read_player(f"good=uci:{mock('')},nodes=5,Hash=2")
    asked = spec(quick("ours"), *bad, good, mode="gauntlet", patience=4.0, margin=2.0)
    heard: list[str | None] = []
    standing = run_match(
        asked, tmp_path, 0, lambda _, record: heard.append(None if record is None else record.fault)
    )
    assert standing.games == 14
    for meetings, mode in zip(standing.meetings[:-1], modes, strict=True):
        assert (meetings.wins, meetings.draws, meetings.losses) == (2, 0, 0), mode
        assert meetings.pairs == (0, 0, 0, 0, 1)
    assert standing.meetings[-1].draws == 2  # by length: nobody was at fault
    assert standing.faults == {mode: {kind: 2} for mode, kind in modes.items()}
    assert standing.reasons == {**dict.fromkeys(modes.values(), 2), "length": 2}
    assert sum(fault is not None for fault in heard) == 12
    records = read_results(tmp_path)
    assert records[2, 0].fault == "the engine played e7e4, which is illegal in " + _fen(records[2, 0])
    crashed = records[0, 1]
    assert (crashed.white, crashed.result, crashed.reason, len(crashed.plies)) == ("crash", "0-1", "crash", 2)
    games = (tmp_path / GAMES).read_text()
    assert "crash: crash: the engine has ended" in games.replace("\n", " ")


def _fen(record: GameRecord) -> str:
    board = chess.Board(record.fen)
    for ply in record.plies:
        board.push_uci(ply.move)
    return board.fen()


def test_a_player_that_is_late_loses_on_time(
    mock: Mock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_player, "GRACE", 30.0)
    slow = read_player(f"slow=uci:{mock('slow')},clock=1.5+0.1")
    standing = run_match(spec(slow, quick("b"), margin=0.05), tmp_path, 0)
    assert standing.faults == {"slow": {"time": 2}}
    # 0.7 s a move: the third cannot be in time.
    assert all(len(record.plies) <= 5 for record in read_results(tmp_path).values())


def test_a_margin_is_one_for_the_whole_game(
    mock: Mock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_player, "GRACE", 30.0)
    # 0.7 s a move with 0.1 s back: every move is within the margin of what is left, all together are not.
    slow = read_player(f"slow=uci:{mock('slow')},clock=1+0.1")
    rules = Adjudication(longest=16)
    standing = run_match(spec(slow, quick("b"), margin=0.9, adjudication=rules), tmp_path, 0)
    assert standing.faults == {"slow": {"time": 2}}


def test_games_end_when_both_agree(mock: Mock, tmp_path: Path) -> None:
    winning = read_player(f"winning=uci:{mock('winning')},nodes=1")
    resigned = read_player(f"resigned=uci:{mock('resigned')},nodes=1")
    silent = read_player(f"silent=uci:{mock('silent')},nodes=1")
    rules = Adjudication(resign_score=1000, resign_plies=4, longest=10)
    both = run_match(spec(winning, resigned, adjudication=rules), tmp_path / "both", 0)
    assert both.reasons == {"resignation": 2}
    assert both.meetings[0].wins == 2
    assert {len(record.plies) for record in read_results(tmp_path / "both").values()} == {4}
    one = run_match(spec(winning, silent, adjudication=rules), tmp_path / "one", 0)
    assert one.reasons == {"length": 2}
    off = run_match(spec(winning, resigned), tmp_path / "off", 0)
    assert off.reasons == {"length": 2}


def test_rules_of_adjudication() -> None:
    board = chess.Board()
    rules = Adjudication(draw_score=10, draw_plies=4, draw_after=6, longest=8)
    assert rules.verdict(board, [50, 5, -5, 5, -5]) is None  # too early
    assert rules.verdict(board, [50, 50, 5, -5, 5, -5]) == ("1/2-1/2", "agreement")
    assert rules.verdict(board, [50, 50, 5, None, 5, -5]) is None
    assert rules.verdict(board, [50] * 8) == ("1/2-1/2", "length")
    resign = Adjudication(resign_score=500, resign_plies=3)
    assert resign.verdict(board, [-500, -600, -700]) == ("0-1", "resignation")
    assert resign.verdict(board, [500, 600, 700]) == ("1-0", "resignation")
    assert resign.verdict(board, [499, 600, 700]) is None
    assert resign.verdict(board, [-600, 600, 600]) is None
    assert Adjudication().verdict(board, [30_000] * 500) is None
    with pytest.raises(MatchError, match="two plies are the least"):
        Adjudication(resign_score=500, resign_plies=1)


def test_tablebases_end_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = {"8/8/8/8/8/2k5/8/K1q5": -2, "8/8/8/8/8/2k5/8/KB6": 0, "8/8/8/8/8/2k5/7P/K7": 1}

    def probe_wdl(self: object, board: chess.Board) -> int:
        return known[board.board_fen()]

    monkeypatch.setattr(chess.syzygy.Tablebase, "probe_wdl", probe_wdl)
    monkeypatch.setattr(chess.syzygy.Tablebase, "add_directory", lambda self, folder: 1)
    rules = Adjudication(tablebases=str(tmp_path))

    def verdict(board: str, rest: str = "w - - 0 60") -> tuple[str, str] | None:
        return rules.verdict(chess.Board(f"{board} {rest}"), [])

    lost, drawn, cursed = known
    assert verdict(lost) == ("0-1", "tablebase")
    assert verdict(lost, "w - - 3 60") is None  # who knows how many of the 50 moves it takes
    assert verdict(drawn, "w - - 3 60") == ("1/2-1/2", "tablebase")
    assert verdict(cursed) == ("1/2-1/2", "tablebase")
    assert verdict("8/8/8/8/8/2k5/8/K1r5") is None  # a table that is not there
    assert rules.verdict(chess.Board(), []) is None


def test_real_tables_end_a_game(tmp_path: Path) -> None:
    tables = Path(sys.prefix) / "share" / "syzygy"
    assert tables.is_dir(), f"'make test' installs tablebases; or: anabranch tablebases fetch --to {tables}"
    # White takes a rook and has king and queen against king: won, as soon as it is done.
    start = Opening("8/8/8/3r4/8/k7/8/3Q3K w - - 0 1")
    rules = Adjudication(tablebases=str(tables), longest=40)
    player = read_player(f"a=preset:mcgs-combined,evaluations=50,tablebases={tables}")
    other = read_player("b=preset:mcgs-combined,evaluations=50")
    run_match(spec(player, other, openings=(start,), adjudication=rules), tmp_path, 0)
    for record in read_results(tmp_path).values():
        assert (record.result, record.reason) == ("1-0", "tablebase")


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    rules = Adjudication(tablebases=str(tmp_path))
    with pytest.raises(MatchError, match="no tablebase for chess in"):
        rules.verdict(chess.Board("8/8/8/8/8/2k5/8/K1q5 w - - 0 60"), [])
    missing = Adjudication(tablebases=str(tmp_path / "nowhere"))
    for variant, asked, sentence in (
        ("chess", rules, "no tablebase for chess in"),
        ("chess", missing, "nowhere cannot be read: No such file"),
        ("crazyhouse", rules, "no tablebases for crazyhouse"),
    ):
        with pytest.raises(MatchError, match=sentence):
            run_match(spec(variant=variant, adjudication=asked), tmp_path / "match", 0)
    assert not (tmp_path / "match").exists(), "refused after the match had begun"


# Schedule


def test_every_opening_is_played_twice_with_colours_reversed() -> None:
    asked = spec(quick("a"), quick("b"), quick("c"), pairs=4, openings=openings("chess", 3), seed=5)
    games = list(asked.schedule())
    assert len(games) == asked.games == 24
    assert len({game.key for game in games}) == 24
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert first.pair == second.pair
        assert first.opening == second.opening
        assert (first.white, first.black) == (second.black, second.white)
        assert first.seed == second.seed
    rounds = [{game.opening for game in games[at : at + 6]} for at in range(0, 24, 6)]
    assert all(len(once) == 1 for once in rounds)
    assert rounds[0] == rounds[3]
    assert len(rounds[0] | rounds[1] | rounds[2]) == 3
    assert list(replace(asked, pairs=2).schedule()) == games[:12]
    assert len(list(replace(asked, mode="gauntlet").schedule())) == 16


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: spec(quick("a")), "needs two players"),
        (lambda: spec(quick("a"), quick("a")), "two players are called a"),
        (lambda: spec(quick("a"), read_player("b=preset:mcgs")), "player b has no limit"),
        (lambda: spec(pairs=0), "at least one pair"),
        (lambda: spec(variant="go"), "no variant go"),
        (lambda: spec(openings=()), "needs an opening"),
        (lambda: spec(quick("a"), quick("b"), quick("c"), sprt=Sprt(0, 5)), "for two players"),
    ],
)
def test_matches_that_make_no_sense(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(MatchError, match=sentence):
        make()


# Files


def test_pgn_is_read_again(tmp_path: Path) -> None:
    rules = Adjudication(longest=60)
    for variant, chess960, start in (
        ("chess", False, openings("chess", 2)),
        ("crazyhouse", False, openings("crazyhouse", 2)),
        ("chess", True, (Opening("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w FHfh - 2 9"),)),
    ):
        folder = tmp_path / f"{variant}-{chess960}"
        players = (
            read_player("a=preset:mcgs,evaluations=8"),
            read_player("b=preset:alphazero,evaluations=8"),
        )
        asked = spec(
            *players, variant=variant, chess960=chess960, openings=start, pairs=2, adjudication=rules
        )
        run_match(asked, folder, 0)
        records = list(read_results(folder).values())
        stream = io.StringIO((folder / GAMES).read_text())
        for record in records:
            game = chess.pgn.read_game(stream)
            assert game is not None
            assert not game.errors
            assert (game.headers["White"], game.headers["Result"]) == (record.white, record.result)
            assert game.board().uci_variant == variant
            assert [game.board().uci(move) for move in game.mainline_moves()][:1] == [record.plies[0].move]
            nodes = list(game.mainline())
            assert len(nodes) == len(record.plies)
            board = game.board()
            for node, ply in zip(nodes, record.plies, strict=True):
                assert board.uci(node.move) == ply.move
                board.push(node.move)
                assert ply.score is not None
                assert node.comment.endswith(f" {ply.seconds:.2f}s")
                assert node.comment.startswith(("+M", "-M", f"{ply.score / 100:+.2f}/{ply.depth}"))
        assert chess.pgn.read_game(stream) is None
        assert records[0].opening == "" or f'[Opening "{records[0].opening}"]' in stream.getvalue()


def test_a_game_is_a_function_of_its_description() -> None:
    player = read_player("a=preset:mcgs-combined,evaluations=20")
    other = replace(player, name="b", options={"c_init": "1.5"})
    game = next(iter(spec(player, other, adjudication=Adjudication(longest=30)).schedule()))
    first, second = play_game(game), play_game(game)
    assert [ply.move for ply in first.plies] == [ply.move for ply in second.plies]
    assert [ply.score for ply in first.plies] == [ply.score for ply in second.plies]
    assert GameRecord.from_dict(json.loads(json.dumps(first.to_dict()))).to_dict() == first.to_dict()


def test_a_match_goes_on_and_grows(tmp_path: Path) -> None:
    run_match(spec(pairs=2), tmp_path, 0)
    before = (tmp_path / RESULTS).read_bytes()
    run_match(spec(pairs=2), tmp_path, 0)
    assert (tmp_path / RESULTS).read_bytes() == before
    assert run_match(spec(pairs=3), tmp_path, 2).games == 6
    assert (tmp_path / RESULTS).read_bytes().startswith(before)
    assert run_match(spec(pairs=1), tmp_path, 0).games == 2  # later games are kept, not counted
    assert len(read_results(tmp_path)) == 6
    assert json.loads((tmp_path / SUMMARY).read_text())["games"] == 2


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (spec(quick("a", ",c_init=1.0"), quick("b")), 'players 1 options c_init was null, now is "1.0"'),
        (spec(seed=1), "its seed was 0, now is 1"),
        (spec(openings=(START, *openings("chess", 1))), "its openings count was 1, now is 2"),
        (spec(adjudication=Adjudication(longest=7)), "its adjudication longest was 6, now is 7"),
        (spec(sprt=Sprt(0, 5)), "its sprt was null, now is"),
    ],
)
def test_another_match_is_refused(tmp_path: Path, other: MatchSpec, sentence: str) -> None:
    run_match(spec(), tmp_path, 0)
    with pytest.raises(MatchError, match="holds another match") as error:
        run_match(other, tmp_path, 0)
    assert sentence in str(error.value)


def test_another_network_makes_another_match(tmp_path: Path) -> None:
    network = tmp_path / "net.safetensors"
    asked = spec(*(read_player(f"{name}=preset:mcgs,simulations=1,evaluator={network}") for name in "ab"))
    for variant in ("chess", "crazyhouse"):
        source = bundled(variant)
        assert source is not None
        network.write_bytes(source.read_bytes())
        if variant == "chess":
            run_match(asked, tmp_path / "match", 0)
            description = tmp_path / "match" / SPEC
            known = json.loads(description.read_text())
            assert len(known.pop("networks")) == 1
            description.write_text(json.dumps(known))  # as earlier versions wrote it
            run_match(asked, tmp_path / "match", 0)
    with pytest.raises(MatchError, match=r"holds another match: its networks .*net.safetensors was"):
        run_match(asked, tmp_path / "match", 0)


def test_torn_and_foreign_lines(tmp_path: Path) -> None:
    run_match(spec(pairs=2), tmp_path, 0)
    path = tmp_path / RESULTS
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for cut in (1, len(lines[-1]) // 2, len(lines[-1]) - 1):
        path.write_bytes(whole[: len(whole) - cut])
        assert len(read_results(tmp_path)) == 3
        assert run_match(spec(pairs=2), tmp_path, 0).games == 4
        assert len(path.read_bytes().splitlines()) == 4
    path.write_bytes(whole + lines[0])
    assert run_match(spec(pairs=2), tmp_path, 0).games == 4  # the same game twice counts once
    path.write_bytes(b"nonsense\n" + whole)
    with pytest.raises(MatchError, match=r"line 1 of .* is not the record of a game"):
        run_match(spec(pairs=2), tmp_path, 0)
    (tmp_path / SPEC).unlink()
    with pytest.raises(MatchError, match="nobody knows of what"):
        run_match(spec(pairs=2), tmp_path, 0)


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    asked = spec()
    with open_results(tmp_path, asked.to_dict()), pytest.raises(FolderBusyError, match="another process"):
        run_match(asked, tmp_path, 0)


# The end


def test_an_sprt_ends_a_match(mock: Mock, tmp_path: Path) -> None:
    bad = read_player(f"bad=uci:{mock('dies at once')},nodes=1")
    asked = spec(quick("a"), bad, pairs=500, sprt=Sprt(0.0, 400.0))
    standing = run_match(asked, tmp_path, 0)
    assert standing.verdict == "accepted"
    assert standing.games < 60
    assert standing.ratio is not None
    assert standing.ratio >= 2.94
    lost = run_match(replace(asked, players=asked.players[::-1]), tmp_path / "other", 0)
    assert lost.verdict == "rejected"


def test_players_of_two_camps_are_not_rated(tmp_path: Path) -> None:
    asked = spec(*(quick(name) for name in "abcd"))
    run_match(asked, tmp_path, 0)
    records = read_results(tmp_path)
    assert set(Count.of(asked, records).ratings()) == set("abcd")
    camps = {key: one for key, one in records.items() if {one.white, one.black} in ({"a", "b"}, {"c", "d"})}
    assert len(camps) == 4
    assert Count.of(asked, camps).ratings() == {}


def test_ratings_are_anchored_where_a_rating_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["match", "-p", f"a={QUICK}", "-p", f"b={QUICK}", "--pairs", "3", "--longest", "80", "-w", "0"]
    call += ["-o", str(tmp_path), "--json"]
    assert run(call) == 0
    without = json.loads(capsys.readouterr().out)
    assert without["ratings"] == {}
    assert run([*call, "--anchor", "a=1500"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ratings"]["a"] == {"value": 1500.0, "error": 0.0}
    elo = found["meetings"][0]["elo"]["value"]
    assert found["ratings"]["b"]["value"] == pytest.approx(1500.0 - elo, abs=3.0)
    assert run([*call, "--anchor", "c=1500"]) == 2
    assert "the anchor c is no player of the match" in capsys.readouterr().err
    assert run([*call, "--anchor", "a=nan"]) == 2
    assert "the rating of an anchor is a number, not nan" in capsys.readouterr().err
    assert run([*call, "--anchor", "a"]) == 2
    assert "NAME=ELO, not 'a'" in capsys.readouterr().err


def test_ratings_of_a_round_robin(tmp_path: Path) -> None:
    players = [
        read_player(f"{name}=preset:alphazero,evaluations={n}") for name, n in (("a", 60), ("b", 8), ("c", 2))
    ]
    asked = spec(
        *players, pairs=4, openings=openings("chess", 4), adjudication=Adjudication(500, 4, longest=120)
    )
    run_match(asked, tmp_path, 2)
    summary = json.loads((tmp_path / SUMMARY).read_text())
    ratings = {name: rating["value"] for name, rating in summary["ratings"].items()}
    assert ratings["c"] == 0.0
    assert ratings["a"] > ratings["c"]
    assert summary["games"] == 24
    assert [meetings["games"] for meetings in summary["meetings"]] == [8, 8, 8]


# Interruptions


def command(folder: Path, pairs: int, workers: int) -> list[str]:
    book = folder.parent / "book.fen"
    book.write_text("".join(f"{opening.fen}\n" for opening in openings("chess", 5)))
    return [
        *(sys.executable, "-m", "anabranch", "match", "--pairs", str(pairs), "--workers", str(workers)),
        *("-p", f"a={QUICK}", "-p", f"b={QUICK},chooser=visits", "--longest", "6", "--out", str(folder)),
        *("--openings", str(book)),
    ]


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def kill_when_at_work(call: list[str], folder: Path, delay: float, number: int) -> bytes:
    """Start a match, end it a moment after its next game by a signal; what is whole in its results then."""
    path = folder / RESULTS
    before = size_of(path)
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while size_of(path) <= before and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(delay)
    process.send_signal(number)
    process.wait(60)
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
    for turn in range(20):
        call = command(folder, 400, 2 if turn % 7 == 6 else 0)
        whole = kill_when_at_work(call, folder, source.uniform(0.0, 0.1), signal.SIGKILL)
        assert whole.startswith(kept)  # no finished game is ever lost or changed
        assert len(whole) > len(kept)
        kept = whole
    pairs = max(key[0] for key in read_results(folder)) + 2
    assert 10 < pairs < 400
    subprocess.run(command(folder, pairs, 0), check=True, capture_output=True, timeout=200)
    lines = (folder / RESULTS).read_bytes().splitlines()
    assert (folder / RESULTS).read_bytes().startswith(kept)
    keys = [(json.loads(line)["pair"], json.loads(line)["game"]) for line in lines]
    assert sorted(keys) == [(pair, game) for pair in range(pairs) for game in (0, 1)]
    subprocess.run(command(tmp_path / "whole", pairs, 0), check=True, capture_output=True, timeout=200)
    assert outcome(folder) == outcome(tmp_path / "whole")
    first = json.loads((folder / SUMMARY).read_text())
    assert first["meetings"] == json.loads((tmp_path / "whole" / SUMMARY).read_text())["meetings"]
    games = (folder / GAMES).read_text()
    assert games.count("[Event ") == len(keys)


def test_ctrl_c_ends_a_match_in_good_order(mock: Mock, tmp_path: Path) -> None:
    engine = mock("")
    call = [*command(tmp_path / "match", 500, 2), "-p", f"c=uci:{engine},nodes=1,Hash=2"]
    path = tmp_path / "match" / RESULTS
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while (not processes_of(engine) or not size_of(path)) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "a - b" in shown
    assert "interrupted; the same command goes on" in said
    assert "Traceback" not in said
    assert not processes_of(engine)
    records = read_results(tmp_path / "match")
    assert records
    summary = json.loads((tmp_path / "match" / SUMMARY).read_text())
    assert summary["games"] == len(records)
    assert os.path.exists(tmp_path / "match" / GAMES)


def test_ctrl_c_between_a_game_and_its_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = Count.add

    def interrupt(count: Count, record: GameRecord) -> None:
        monkeypatch.setattr(Count, "add", add)
        raise KeyboardInterrupt

    monkeypatch.setattr(Count, "add", interrupt)
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
        standing = run_match(asked, tmp_path / f"chess-{chess960}", 0)
        assert (standing.games, standing.faults) == (2, {})
    fairy = read_player("fairy=uci:fairy-stockfish,Hash=1,clock=2+0.02")
    timed = replace(ours, options={}, budget=Budget(clock=2.0, increment=0.02))
    asked = spec(timed, fairy, variant="crazyhouse", openings=openings("crazyhouse", 1), adjudication=rules)
    standing = run_match(asked, tmp_path / "crazyhouse", 0)
    assert (standing.games, standing.faults) == (2, {})
    for record in read_results(tmp_path / "crazyhouse").values():
        assert "Fairy-Stockfish" in " ".join(record.titles)
        assert all(ply.score is not None for ply in record.plies)


def test_our_own_program_is_a_player_too(tmp_path: Path) -> None:
    uci = f"'{sys.executable}' -m anabranch uci"
    program = PlayerSpec("program", "uci", uci, {}, Budget(simulations=16))
    inside = read_player("inside=preset:default,simulations=16")
    asked = spec(program, inside, variant="crazyhouse", openings=openings("crazyhouse", 1))
    standing = run_match(asked, tmp_path, 0)
    assert (standing.games, standing.faults) == (2, {})


def test_adjudication_is_switched_off_by_options(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    off = ["--resign", "off", "--draw", "off", "--longest", "off"]
    players = ["-p", f"a={QUICK}", "-p", f"b={QUICK}"]
    assert run(["match", *players, "--pairs", "1", "-w", "0", "-o", str(folder), *off]) == 0
    assert json.loads((folder / SPEC).read_text())["adjudication"] == asdict(Adjudication())
    assert set(json.loads((folder / SUMMARY).read_text())["reasons"]) <= {
        "checkmate",
        "stalemate",
        "insufficient material",
        "threefold repetition",
        "fifty moves",
    }


def test_faults_are_told_when_they_happen_and_at_the_end(
    mock: Mock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["-p", f"bad=uci:{mock('crash')},nodes=1", "-p", f"good={QUICK}", "--pairs", "1", "-w", "0"]
    assert run(["match", *call, "-o", str(tmp_path / "m")]) == 0
    shown, said = capsys.readouterr()
    assert "game 1.1: bad lost by its own fault: crash: the engine has ended" in said
    assert "bad lost by its own fault: crash 2" in " ".join(shown.split())


def test_a_terminal_shows_a_table_that_grows(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(tmp_path / "match", 40, 1),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm"},
    )
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # Linux's way to say that the other end is closed
        while piece := os.read(ours, 65536):
            seen += piece
    os.close(ours)
    assert process.wait(timeout=60) == 0
    shown = seen.decode(errors="replace")
    assert {f"{games} of 80 games" for games in (0, 80)} <= set(re.findall(r"\d+ of 80 games", shown))
    assert "Elo" in shown


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    players = ["-p", "a=preset:mcgs", "-p", "b=preset:alphazero"]
    folder = str(tmp_path / "m")
    rest = [
        "--evaluations",
        "4",
        "--pairs",
        "2",
        "--longest",
        "10",
        "-w",
        "0",
        "-v",
        "crazyhouse",
        "-o",
        folder,
    ]
    assert run(["match", *players, *rest, "--sprt", "0,10", "--sprt-model", "normalised"]) == 0
    shown = capsys.readouterr().out
    assert "a - b" in shown
    assert "LLR" in shown
    assert "4 of 4 games" in shown
    assert run(["match", *players, *rest, "--sprt", "0,10", "--sprt-model", "normalised", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["games"] == 4
    assert document["sprt"]["verdict"] == "continue"
    assert document["spec"]["adjudication"]["resign_score"] == 1500
    assert run(["match", *players, *rest]) == 2
    assert "holds another match" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["-p", "a=preset:mcgs"], "needs two players"),
        (["-p", "a=preset:mcgs", "-p", "b=preset:nothing"], "no preset 'nothing'"),
        (["-p", "a=preset:mcgs", "-p", "b=uci:no-such-engine"], "no program no-such-engine"),
        (["-p", "a=preset:mcgs", "-p", "b=preset:mcgs,bogus=1"], "player b: there is no setting 'bogus'"),
        (["-p", "a=preset:mcgs", "-p", "b=preset:mcgs", "--sprt", "5"], "--sprt takes two numbers"),
        (["-p", "a=preset:mcgs", "-p", "b=preset:mcgs", "--resign", "5"], "--resign takes two whole numbers"),
        (["-p", "a=preset:mcgs", "-p", "b=preset:mcgs", "--openings", "none.epd"], "none.epd cannot be read"),
        (["-p", "a=preset:mcgs", "-p", "b=preset:mcgs", "-v", "go"], "there is no variant go"),
        (["-p", "a=preset:mcgs", "-p", "b=preset:mcgs", "-w", "-1"], "there cannot be -1 workers"),
    ],
)
def test_the_command_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    assert run(["match", "--evaluations", "4", "-o", str(tmp_path / "m"), *options]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_counting_needs_whole_pairs_only_where_pairs_count(tmp_path: Path) -> None:
    run_match(spec(pairs=2), tmp_path, 0)
    records = list(read_results(tmp_path).values())[:3]
    standing = Count(spec(pairs=2), records).standing()
    assert standing.games == 3
    assert sum(standing.meetings[0].pairs) == 1
    assert standing.meetings[0].games == 3
