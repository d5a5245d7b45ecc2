"""Matches of games besides chess: the games, their openings, records, proofs, and what is refused."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Commands

from anabranch import Engine
from anabranch.cli import run
from anabranch.errors import GameError, MatchError
from anabranch.match.adjudication import Adjudication
from anabranch.match.engine_player import EnginePlayer
from anabranch.match.estimate import plies_of, seconds_of_games
from anabranch.match.game import GameRecord, play_game
from anabranch.match.grid_openings import random_openings, read_grid_openings
from anabranch.match.openings import Opening
from anabranch.match.player import read_player
from anabranch.match.results import GAMES, GAMES_TEXT, SPEC, SUMMARY, read_results
from anabranch.match.runner import run_match
from anabranch.match.schedule import MatchSpec


@dataclass(frozen=True)
class Nim:
    """Who takes the last of some stones wins."""

    stones: int = 9
    player: int = 0
    can_recur = False

    def legal_moves(self) -> list[int]:
        return [number for number in (1, 2, 3) if number <= self.stones]

    def play(self, move: int) -> "Nim":
        return Nim(self.stones - move, 1 - self.player)

    def outcome(self) -> float | None:
        return None if self.stones else (-1.0 if self.player == 0 else 1.0)

    def key(self) -> tuple[int, int]:
        return self.stones, self.player


class Broken(Nim):
    """A game that fails in the middle."""

    def play(self, move: int) -> "Broken":
        return Broken(self.stones - move, 1 - self.player)

    def legal_moves(self) -> list[int]:
        if self.stones < 5:
            raise ValueError("no stones")
        return super().legal_moves()


class Alone(Nim):
    """A game of one player."""

    players = 1

    def play(self, move: int) -> "Alone":
        return Alone(self.stones - move)


def spec(variant: str = "connect-four", *, budget: int = 40, **changes: Any) -> MatchSpec:
    players = (
        read_player(f"a=preset:default,evaluations={budget}"),
        read_player(f"b=preset:alphazero,evaluations={budget}"),
    )
    given = {"players": players, "pairs": 2, "variant": variant, **changes}
    if "openings" not in given:
        given["openings"] = tuple(random_openings(variant, number=4, game=given.get("game")))
    return MatchSpec(**given)


def moves_of(folder: Path) -> dict[tuple[int, int], tuple[str, list[str]]]:
    records = read_results(folder)
    return {key: (one.result, [ply.move for ply in one.plies]) for key, one in records.items()}


def check_end(record: GameRecord) -> None:
    """Play a record again: its moves are legal, and it ends where the rules or a proof say so."""
    engine = Engine(record.variant)
    engine.position = record.fen
    for ply in record.plies:
        assert not engine.is_over
        engine.play(ply.move)
    value, side = engine.ending, engine.position.split()[1]
    if record.reason == "proof":
        assert value is None
        solution = engine.solve(positions=2_000_000)
        value = {"win": 1.0, "loss": -1.0}.get(solution.result or "")
    else:
        assert record.reason == "rules"
    assert value is not None
    first = value if side == "x" else -value
    assert record.result == ("1-0" if first > 0 else "0-1" if first < 0 else "1/2-1/2")


@pytest.mark.parametrize("variant", ["connect-four", "hex:size=4", "breakthrough:width=4,height=5"])
def test_games_end_by_the_rules_or_by_true_proofs(variant: str, tmp_path: Path) -> None:
    standings = run_match(spec(variant, pairs=3), tmp_path, 0)
    assert standings.games == 6
    records = read_results(tmp_path)
    assert {record.reason for record in records.values()} <= {"rules", "proof"}
    assert "proof" in {record.reason for record in records.values()}
    for record in records.values():
        check_end(record)


@pytest.mark.parametrize("variant", ["othello:size=4", "tic-tac-toe", "go:size=3"])
def test_every_game_can_be_played(variant: str, tmp_path: Path) -> None:
    standings = run_match(spec(variant, pairs=1), tmp_path, 0)
    assert (standings.games, standings.faults) == (2, {})


def test_without_proofs_games_are_played_to_their_ends(tmp_path: Path) -> None:
    run_match(spec(adjudication=Adjudication(proofs=False)), tmp_path, 0)
    for record in read_results(tmp_path).values():
        assert record.reason == "rules"
        check_end(record)


def test_a_match_is_a_function_of_its_description(tmp_path: Path) -> None:
    run_match(spec(pairs=3), tmp_path / "whole", 0)
    run_match(spec(pairs=1), tmp_path / "parts", 0)
    results = tmp_path / "parts" / "results.jsonl"
    results.write_text(results.read_text() + '{"pair": 1, "ga')  # killed while it wrote
    run_match(spec(pairs=3), tmp_path / "parts", 1)
    assert moves_of(tmp_path / "parts") == moves_of(tmp_path / "whole")
    with pytest.raises(MatchError, match="holds another match"):
        run_match(spec("tic-tac-toe"), tmp_path / "parts", 0)


def test_a_longest_game_is_drawn() -> None:
    game = next(iter(spec("hex:size=6", budget=2, adjudication=Adjudication(longest=3)).schedule()))
    record = play_game(game)
    assert (record.result, record.reason, len(record.plies)) == ("1/2-1/2", "length", 3)
    assert GameRecord.from_dict(json.loads(json.dumps(record.to_dict()))) == record


def test_a_draw_needs_two_proofs_and_a_win_that_of_the_winner() -> None:
    rules = Adjudication()
    assert rules.proven_verdict({True: "1/2-1/2", False: None}, 1) is None
    assert rules.proven_verdict({True: "1/2-1/2", False: "1/2-1/2"}, 1) == ("1/2-1/2", "proof")
    assert rules.proven_verdict({True: None, False: "0-1"}, 1) == ("0-1", "proof")
    assert rules.proven_verdict({True: None, False: "1-0"}, 1) is None


def test_a_clock_runs_in_games_too(tmp_path: Path) -> None:
    players = tuple(read_player(f"{name}=preset:default,clock=0.2+0.01") for name in "ab")
    standings = run_match(spec(players=players, pairs=1), tmp_path, 0)
    assert (standings.games, standings.faults) == (2, {})


def test_the_file_of_games_can_be_read(tmp_path: Path) -> None:
    run_match(spec(pairs=1), tmp_path, 0)
    text = (tmp_path / GAMES_TEXT).read_text()
    assert not (tmp_path / GAMES).exists()
    first, second = (block for block in text.split("\n\n") if block)
    assert "a (x) - b (o)" in first
    assert "b (x) - a (o)" in second
    record = read_results(tmp_path)[0, 0]
    assert f"opening: {record.fen}\n{record.plies[0].move} {{" in first
    assert first.endswith(f": {record.reason}")


def test_a_game_written_in_python(tmp_path: Path) -> None:
    standings = run_match(spec("", game=Nim()), tmp_path, 1)
    assert (standings.games, standings.faults) == (4, {})
    document = json.loads((tmp_path / SPEC).read_text())
    assert document["variant"] == "object:Nim"
    with pytest.raises(MatchError, match="holds another match: its game was"):
        run_match(spec("", game=Nim(10), openings=spec("", game=Nim()).openings), tmp_path, 0)
    for record in read_results(tmp_path).values():  # who leaves a multiple of four wins
        opened = sum(map(int, record.fen.split()))
        left = 9 - opened - sum(int(ply.move) for ply in record.plies)
        winner = "1-0" if (len(record.fen.split()) + len(record.plies)) % 2 == 1 else "0-1"
        assert record.reason in ("proof", "rules")
        assert (left % 4 == 0) == (record.result == winner)


def test_what_cannot_be_played_is_refused() -> None:
    uci = read_player("sf=uci:stockfish,nodes=10")
    ours = read_player("a=preset:default,evaluations=10")
    with pytest.raises(MatchError, match="UCI program, which plays chess and its variants, not connect-four"):
        spec(players=(ours, uci))
    with pytest.raises(MatchError, match="end by the rules, by proofs or by length; --resign-score"):
        spec(adjudication=Adjudication(resign_score=900))
    with pytest.raises(MatchError, match="Chess960 is for chess"):
        spec(chess960=True)
    with pytest.raises(MatchError, match="Alone is a game of one"):
        spec("", game=Alone(), openings=(Opening("startpos"),))
    with pytest.raises(MatchError, match="needs the game itself"):
        spec("object:Nim", openings=(Opening("startpos"),))


def test_a_game_that_fails_is_no_fault_of_a_player(tmp_path: Path) -> None:
    with pytest.raises(GameError, match="no stones"):
        run_match(spec("", game=Broken(), openings=(Opening("startpos"),)), tmp_path, 0)


def test_players_are_kept_for_equal_games() -> None:
    from anabranch.match.players import close_players, keep_player

    one = read_player("a=preset:default,evaluations=4")
    kept = keep_player(one, "object:Nim", game=Nim())
    assert isinstance(kept, EnginePlayer)
    assert keep_player(one, "object:Nim", game=Nim()) is kept
    assert keep_player(one, "object:Nim", game=Nim(7)) is not kept
    close_players()


# Openings


def test_random_openings_are_open_and_each_once() -> None:
    engine = Engine("connect-four")
    found = random_openings("connect-four", 6)
    positions = set()
    for opening in found:
        engine.position = opening.fen
        assert not engine.is_over
        assert len(opening.fen.split()) == 6
        positions.add(engine.position)
    assert len(positions) == len(found) == 500
    assert found == random_openings("connect-four", 6)
    assert found != random_openings("connect-four", 6, seed=1)
    assert len(random_openings("tic-tac-toe", 1)) == 9
    assert random_openings("tic-tac-toe", 0) == [Opening("startpos")]
    with pytest.raises(MatchError, match="still open after 9 random plies"):
        random_openings("tic-tac-toe", 9, number=20)


def test_openings_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text("# two, and one again\n4 4 3\n\n....../......\n4 4 3\n")
    with pytest.raises(MatchError, match=r"openings.txt:4: "):
        read_grid_openings(path, "connect-four")
    path.write_text("b2 a1\n.../.x./... o\na1 b2 c1\nc1 b2 a1\n")
    assert [one.fen for one in read_grid_openings(path, "tic-tac-toe")] == [
        "b2 a1",
        ".../.x./... o",
        "a1 b2 c1",
    ]
    path.write_text("a1 a2 b1 b2 c1\n")
    with pytest.raises(MatchError, match="already over"):
        read_grid_openings(path, "tic-tac-toe")
    path.write_text("# none\n")
    with pytest.raises(MatchError, match="there is no opening"):
        read_grid_openings(path, "tic-tac-toe")


def test_the_length_of_games_is_guessed() -> None:
    assert (plies_of("chess"), plies_of("othello:size=6"), plies_of("object:Nim")) == (90, 25, 80)
    assert seconds_of_games(list(spec(pairs=1).schedule())) > 0.0


# The command


def test_the_command_plays_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = [
        "match",
        "--game",
        "hex:size=4",
        "-p",
        "a=preset:default,evaluator=uniform",
        "-p",
        "b=preset:mcgs",
    ]
    call += ["--evaluations", "30", "--pairs", "2", "-w", "0", "--out", str(tmp_path / "m"), "--seed", "3"]
    assert run([*call, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["games"], document["spec"]["variant"]) == (4, "hex:size=4")
    assert json.loads((tmp_path / "m" / SUMMARY).read_text())["meetings"] == document["meetings"]
    assert run([*call, "--pairs", "3", "--sprt-elo0", "0", "--sprt-elo1", "20"]) == 2


def test_errors_of_the_command(cli: Commands, tmp_path: Path) -> None:
    call = [
        "match",
        "-p",
        "a=preset:default",
        "-p",
        "b=preset:mcgs",
        "--evaluations",
        "9",
        "-o",
        str(tmp_path),
    ]
    for options, text in (
        (["--game", "hex:size=99"], "size"),
        (["--game", "checkers"], "there is no variant checkers"),
        (["--game", "hex", "--draw-score", "5"], "--draw-score is for chess"),
        (["--opening-plies", "3"], "--opening-plies is for random openings"),
        (["--game", "hex", "--opening-plies", "-1"], "random plies from 0 on"),
        (["--game", "hex", "-p", "sf=uci:stockfish"], "UCI program"),
    ):
        assert text in cli.refuses(*call, *options)
