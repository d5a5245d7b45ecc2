"""Lines that claim a win or a loss show it: so many moves, legal, and the game is over at their end."""

from pathlib import Path

import chess
import pytest
from tests.support.proofs import proof_of

from anabranch import Engine
from anabranch.result import Progress, board_of

DATA = Path(__file__).parents[1] / "data"


def mates(variant: str) -> list[tuple[str, int]]:
    """The positions of a file of mates (FEN), and the moves to mate."""
    found = []
    for row in (DATA / f"mates-{variant}.epd").read_text().splitlines():
        if row.startswith("#"):
            continue
        board = board_of(variant, chess.STARTING_FEN, False)
        operations = board.set_epd(row)
        assert isinstance(operations["dm"], int)
        found.append((board.fen(), operations["dm"]))
    return found


POSITIONS = [
    (variant, fen, moves)
    for variant in ("chess", "crazyhouse")
    for fen, moves in mates(variant)
    if moves <= 3
]
IDS = [f"{variant}-{moves}-{fen.split()[0]}" for variant, fen, moves in POSITIONS]


def check(result: Progress, board: chess.Board) -> int:
    """Check what the lines claim; how many claim something."""
    claims = 0
    for line in result.lines:
        after = board.copy()
        for move in line.moves:
            after.push_uci(move)  # refuses what is illegal
        if line.state not in ("win", "loss"):
            continue
        claims += 1
        assert len(line.moves) == line.plies
        assert after.is_checkmate()
        assert (after.turn != board.turn) == (line.state == "win")
        assert line.value == (1.0 if line.state == "win" else -1.0)
    assert result.lines == () or result.lines[0].moves[0] == result.best_move
    if result.solved is not None and result.solved.state in ("win", "loss"):
        best = result.lines[0]
        assert (best.state, best.plies) == (proof_of(result).state, proof_of(result).plies)
    return claims


@pytest.mark.parametrize("improve", [False, True])
@pytest.mark.parametrize(("variant", "fen", "moves"), POSITIONS, ids=IDS)
def test_at_every_stage(variant: str, fen: str, moves: int, improve: bool) -> None:
    engine = Engine(variant, evaluator="material", improve=improve, batch_size=4)
    board = board_of(variant, fen, False)
    claims, finish = 0, ""
    for _ in range(40):
        result = engine.search(fen, simulations=150, lines=256)
        claims += check(result, board)
        if (finish := result.finish) == "solved":
            break
    if finish != "solved":
        return
    assert claims > 0
    assert (proof_of(result).mate or 0) >= moves
    if improve:
        assert proof_of(result).mate == moves
        assert proof_of(result).exact
    # And for the side that is mated, whose every move loses.
    for move in result.lines[0].moves[:1]:
        engine.play(move)
        board.push_uci(move)
    if not board.is_checkmate():
        reply = engine.search(simulations=1000, lines=256)
        told = check(reply, board)
        if reply.finish == "solved":
            assert told == len(reply.lines) > 0
            assert proof_of(reply).state == "loss"


@pytest.mark.parametrize(("variant", "fen", "moves"), POSITIONS[-12:], ids=IDS[-12:])
def test_after_nodes_were_given_up(variant: str, fen: str, moves: int) -> None:
    """From the position before the mate was there, at a small cap: nodes come and go, proofs among them."""
    engine = Engine(variant, evaluator="material", memory=4 << 20)
    board = board_of(variant, fen, False)
    quiet = next(move for move in board.legal_moves if not board.gives_check(move)).uci()
    board.push_uci(quiet)
    reclaims = 0
    for _ in range(6):
        result = engine.search((fen, [quiet]), simulations=6000, lines=256)
        check(result, board)
        reclaims += result.statistics.reclaims
        if result.finish == "solved":
            return
    assert reclaims > 0


def test_a_line_that_the_history_breaks_is_not_claimed() -> None:
    """Kc7 mates in two, but it has been played twice before: the third time is a draw."""
    fen = "8/k7/3K1p2/3N4/6Q1/8/8/8 w - - 0 1"
    shuffle = ["d6c7", "a7a8", "c7d6", "a8a7"] * 2
    engine = Engine("chess", evaluator="material")
    first = engine.search(fen, simulations=5000, lines=256)
    assert [line.state for line in first.lines if line.moves[0] == "d6c7"] == ["win"]
    again = engine.search((fen, shuffle), simulations=5000, lines=256)
    assert all(line.state == "unknown" for line in again.lines if line.moves[0] == "d6c7")
    board = board_of("chess", fen, False)
    for move in shuffle:
        board.push_uci(move)
    check(again, board)


def test_reports_on_the_way_have_as_many_lines_as_asked_for() -> None:
    seen: list[Progress] = []
    engine = Engine("crazyhouse", evaluator="material")
    fen = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
    engine.search(fen, simulations=30_000, lines=40, progress=seen.append, progress_interval=0.001)
    assert max(len(news.lines) for news in seen) == 40


def test_a_shorter_proof_is_told() -> None:
    """The proof in hand first, then the true distance; never a longer one."""
    longer = 0
    for variant, fen, moves in POSITIONS:
        seen: list[Progress] = []
        engine = Engine(variant, evaluator="material", improve=True)
        result = engine.search(fen, simulations=20_000, progress=seen.append, progress_interval=60)
        if result.finish != "solved":
            continue
        lengths = [news.solved.plies for news in seen if news.solved is not None and news.solved.plies]
        assert lengths == sorted(lengths, reverse=True)
        assert lengths[-1] == 2 * moves - 1 == (result.solved and result.solved.plies)
        longer += lengths[0] > lengths[-1]
    assert longer > 0
