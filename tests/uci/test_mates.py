"""Known mates: what our engine claims is true, and it finds most of the short ones.

The teachers made the positions (scripts/make_mates.py). A claim of the same distance or a longer one is true
because a mate is there; its line, and the exactness of its length, are for the validator. A shorter one than
the teacher saw may be true as well, for teachers prune: then every reply must lose in time, by the teacher's
word or by a search of all moves.
"""

import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import chess
import chess.variant
import pytest
from tests.support.engine_session import Session

from anabranch.data.teacher import Teacher
from anabranch.formats.scores import MATE

FILE = Path(__file__).parents[1] / "data" / "known-mates.epd"
TEACHERS = {"chess": "stockfish", "crazyhouse": "fairy-stockfish"}
NODES = 8000
PROVING_NODES = 100_000
FLOORS = {1: 1.0, 2: 0.9, 3: 0.75, 4: 0.6, 5: 0.3, -1: 0.8, -2: 0.6, -3: 0.5}
"""Parts of the mates of a distance that must be claimed."""


class KnownMate(NamedTuple):
    """A position and the distance of its mate; below zero the side to move is mated."""

    name: str
    fen: str
    distance: int


def known_mates(variant: str) -> list[KnownMate]:
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        position, _, rest = line.partition(" dm ")
        fields = dict(field.strip().split(" ", 1) for field in f"dm {rest}".split(";") if field.strip())
        name = fields["id"].strip('"')
        if name.split()[0] == variant:
            fen = f"{position} {fields['hmvc']} {fields['fmvn']}"
            found.append(KnownMate(name, fen, int(fields["dm"])))
    return found


class Claim(NamedTuple):
    """A distance that the engine claims, and the move that it begins with."""

    distance: int
    move: str


def claims(session: Session, mate: KnownMate, go: str) -> list[Claim]:
    """All that the engine claims on its way."""
    since = len(session.transcript)
    session.ask("ucinewgame", f"position fen {mate.fen}", go, seconds=60)
    lines = [line.split(" score mate ")[1] for line in session.said("info", since) if " score mate " in line]
    return [Claim(int(line.split()[0]), line.partition(" pv ")[2].partition(" ")[0]) for line in lines]


def is_true(variant: str, fen: str, claim: Claim) -> bool:
    """Whether the mate is there, whatever the defence."""
    board = chess.variant.find_variant(variant)(fen)
    with Teacher(TEACHERS[variant], variant, timeout=60) as teacher:
        if claim.distance < 0:
            return defends_not(board, -claim.distance, teacher)
        board.push_uci(claim.move)
        return defends_not(board, claim.distance - 1, teacher)


def defends_not(board: chess.Board, moves: int, teacher: Teacher) -> bool:
    """Whether the side to move is mated within so many moves, whatever it does."""
    if board.is_checkmate():
        return True
    replies = list(board.legal_moves)
    if moves == 0 or not replies:
        return False
    for reply in replies:
        board.push(reply)
        mates = attacks(board, moves, teacher)
        board.pop()
        if not mates:
            return False
    return True


def attacks(board: chess.Board, moves: int, teacher: Teacher) -> bool:
    """Whether the side to move mates within so many moves: the teacher may see it, or all moves are tried."""
    if moves > 1 and teacher.judge(f"fen {board.fen()}", PROVING_NODES)[0].score >= MATE - moves:
        return True
    for move in list(board.legal_moves):
        if moves == 1 and not board.gives_check(move):
            continue
        board.push(move)
        mates = defends_not(board, moves - 1, teacher)
        board.pop()
        if mates:
            return True
    return False


def test_the_judge_of_claims_knows_true_from_false() -> None:
    fen = "8/8/8/4k3/1p4P1/1P1p4/7p/2K5 b - - 1 50"  # Stockfish sees a mate in five
    assert is_true("chess", fen, Claim(4, "h2h1q"))
    assert not is_true("chess", fen, Claim(3, "h2h1q"))


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_there_are_mates_enough_to_try(variant: str) -> None:
    mates = known_mates(variant)
    assert len({mate.fen for mate in mates}) == len(mates) >= 60
    assert {mate.distance for mate in mates} >= {1, 2, 3, 4, 5}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_every_claim_of_a_mate_is_true_and_the_short_ones_are_found(variant: str) -> None:
    false: list[str] = []
    found: dict[int, list[bool]] = defaultdict(list)
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=64)
        for mate in known_mates(variant):
            made = claims(session, mate, f"go nodes {NODES}")
            found[mate.distance].append(bool(made))
            for claim in set(made):
                if claim.distance * mate.distance <= 0:
                    false.append(f"{mate}: {claim}, but the other side mates")
                elif abs(claim.distance) < abs(mate.distance) and not is_true(variant, mate.fen, claim):
                    false.append(f"{mate}: {claim}")
        session.check()
    assert not false
    parts = {distance: sum(hits) / len(hits) for distance, hits in found.items()}
    assert all(parts[distance] >= floor for distance, floor in FLOORS.items()), parts


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_go_mate_ends_with_a_mate_of_that_length(variant: str) -> None:
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=64)
        for mate in known_mates(variant):
            if mate.distance in (1, 2):
                made = claims(session, mate, f"go mate {mate.distance} movetime 20000")
                assert made, mate
                assert made[-1].distance == mate.distance, mate
        session.check()


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_a_mate_in_one_is_played_at_once(variant: str) -> None:
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=64)
        for mate in known_mates(variant):
            if mate.distance == 1:
                made = claims(session, mate, "go nodes 800")
                assert made, mate
                assert made[-1].distance == 1, mate
        session.check()


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_go_mate_finds_long_mates_soon(variant: str) -> None:
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=64)
        for mate in known_mates(variant):
            if mate.distance in (3, 4):
                made = claims(session, mate, f"go mate {mate.distance} movetime 3000")
                assert made, mate
                assert 0 < made[-1].distance <= (3 if mate.distance == 3 else 256), mate
        session.check()


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_go_mate_reports_a_loss(variant: str) -> None:
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=64)
        for mate in [mate for mate in known_mates(variant) if mate.distance == -1]:
            made = claims(session, mate, "go mate 3 movetime 3000")
            assert made, mate
            assert made[-1].distance == -1, mate
        session.check()


def test_go_mate_finds_a_shorter_mate_than_the_first() -> None:
    ladder = KnownMate("ladder", "7k/8/8/8/8/8/R7/1R5K w - - 0 1", 2)
    with Session() as session:
        session.greet(Hash=64)
        for moves in (1, 2, 3):  # there is none in one move: the true distance ends it
            assert claims(session, ladder, f"go mate {moves}")[-1].distance in (2, moves)
        session.check()


@pytest.mark.parametrize("go", ["go mate 5", "go mate 5 infinite", "go ponder mate 5 movetime 5000"])
def test_the_solver_stops_at_once(go: str) -> None:
    with Session() as session:
        session.greet(Hash=64)
        session.send("position startpos", go)
        time.sleep(0.5)
        assert not session.said("bestmove")
        begun = time.monotonic()
        session.ask("stop", seconds=2.0)
        assert time.monotonic() - begun < 0.5
        session.check()


def test_limits_hold_for_the_solver() -> None:
    with Session() as session:
        session.greet(Hash=64)
        for limit in ("nodes 50", "movetime 300", "depth 2", "wtime 2000 btime 2000"):
            begun = time.monotonic()
            session.ask("position startpos", f"go mate 4 {limit}", seconds=5)
            assert time.monotonic() - begun < 2.0, limit
        session.check()


def test_searchmoves_leave_the_solver_aside() -> None:
    back_rank = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
    with Session() as session:
        session.greet(Hash=64)
        move = session.ask(f"position fen {back_rank}", "go mate 1 nodes 50 searchmoves a1a7")
        assert move.split()[:2] == ["bestmove", "a1a7"]
        session.check()
