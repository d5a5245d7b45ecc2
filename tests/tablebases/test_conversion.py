"""Won endings are won against the best defence, lost ones hold out, and the 50-move rule is kept in mind."""

import random

import chess
import chess.syzygy
import pytest
from tests.support.proofs import proof_of
from tests.tablebases.boards import random_board

from anabranch import Engine, _core

pytestmark = pytest.mark.usefixtures("material_by_default")

KBNK = "8/8/8/3k4/8/8/8/KBN5 w - - {clock} 80"


def best_defence(board: chess.Board, prober: chess.syzygy.Tablebase) -> chess.Move:
    """The move that keeps the result and puts off the next capture, pawn move or mate as long as it can."""

    def worth(move: chess.Move) -> tuple[int, int, int]:
        zeroing = board.is_zeroing(move)
        board.push(move)
        if board.is_checkmate():
            score = (2, 0, 0)
        elif board.is_stalemate() or board.is_insufficient_material():
            score = (0, 0, 0)
        else:
            score = (-prober.probe_wdl(board), -zeroing, abs(prober.probe_dtz(board)))
        board.pop()
        return score

    return max(board.legal_moves, key=worth)


def convert(engine: Engine, board: chess.Board, prober: chess.syzygy.Tablebase, simulations: int) -> None:
    """Play the engine for the side to move until mate."""
    winner = board.turn
    engine.position = board
    while not board.is_game_over():
        assert board.halfmove_clock < 100, board.fen()
        assert not board.is_repetition(3), board.fen()
        if board.turn == winner:
            result = engine.search(board, simulations=simulations)
            assert proof_of(result).state in ("win", "tb-win"), board.fen()
            board.push(result.move)
        else:
            board.push(best_defence(board, prober))
    outcome = board.outcome()
    assert outcome is not None
    assert outcome.winner == winner, board.fen()


@pytest.mark.parametrize(("white", "games"), [("KQ", 8), ("KR", 8), ("KBN", 3), ("KP", 8)])
@pytest.mark.parametrize("simulations", [1, 50, 400])
def test_won_endings_are_converted(
    tables: _core.Tablebases, prober: chess.syzygy.Tablebase, white: str, games: int, simulations: int
) -> None:
    rng = random.Random(f"{white} {simulations}")
    engine = Engine(tablebases=tables)
    while games:
        board = random_board(rng, white, "K", chess.WHITE)
        if prober.probe_wdl(board) == 2:
            board = board if games % 2 else board.mirror()
            convert(engine, board, prober, simulations)
            games -= 1


@pytest.mark.parametrize("backup", ["tree", "recompute"])
def test_modes_and_presets_convert_too(
    tables: _core.Tablebases, prober: chess.syzygy.Tablebase, backup: str
) -> None:
    engine = Engine(tablebases=tables, backup=backup, solver=False, temperature=1.0, reuse=False)
    convert(engine, chess.Board("8/8/8/8/3k4/8/8/K6R w - - 0 1"), prober, 50)


def test_a_win_is_a_win_only_within_the_clock(
    tables: _core.Tablebases, prober: chess.syzygy.Tablebase
) -> None:
    plies = abs(prober.probe_dtz(chess.Board(KBNK.format(clock=0))))
    assert plies > 20
    for clock, state in [(0, "tb-win"), (98 - plies, "tb-win"), (101 - plies, "tb-draw"), (99, "tb-draw")]:
        engine = Engine(tablebases=tables)
        result = engine.search(KBNK.format(clock=clock), simulations=50)
        assert proof_of(result).state == state, clock
        assert proof_of(result).plies is None
    engine = Engine(tablebases=tables, tablebase_fifty=False)
    result = engine.search(KBNK.format(clock=99), simulations=50)
    assert proof_of(result).state == "tb-win"


def test_the_last_moment_before_the_rule(tables: _core.Tablebases, prober: chess.syzygy.Tablebase) -> None:
    """With as little time as is safe the win is still brought home."""
    board = chess.Board(KBNK.format(clock=0))
    board.halfmove_clock = 98 - abs(prober.probe_dtz(board))
    convert(Engine(tablebases=tables), board, prober, 50)


def test_the_loser_resists_and_the_drawer_draws(
    tables: _core.Tablebases, prober: chess.syzygy.Tablebase
) -> None:
    rng = random.Random(11)
    engine = Engine(tablebases=tables)
    for _ in range(40):
        board = random_board(rng, "KR", "K", chess.BLACK)
        result = engine.search(board, simulations=20)
        before = prober.probe_wdl(board), prober.probe_dtz(board)
        state = proof_of(result).state
        assert state in (("loss", "tb-loss") if before[0] < 0 else ("draw", "tb-draw"))
        board.push(result.move)
        if board.is_insufficient_material():
            assert before[0] == 0
            continue
        assert prober.probe_wdl(board) == -before[0]
        if state == "tb-loss":
            assert prober.probe_dtz(board) in (-before[1] - 1, -before[1])


def test_all_drawing_moves_may_be_played(tables: _core.Tablebases, prober: chess.syzygy.Tablebase) -> None:
    """The bare king before a pawn: some moves draw, others lose."""
    board = chess.Board("8/8/8/8/3k4/3P4/3K4/8 b - - 12 60")
    assert prober.probe_wdl(board) == 0
    result = Engine(tablebases=tables, temperature=50.0).search(board, simulations=400)
    assert proof_of(result).state == "tb-draw"
    for line in result.lines:
        after = board.copy()
        after.push_uci(line.moves[0])
        assert prober.probe_wdl(after) == 0
        assert line.state in ("tb-draw", "draw")


def test_a_move_into_the_third_repetition_wins_nothing(tables: _core.Tablebases) -> None:
    start = "8/8/8/8/3k4/8/8/K6R w - - 0 1"
    engine = Engine(tablebases=tables)
    chosen = engine.search(start, simulations=100).best_move
    board = chess.Board(start)
    # The position after the chosen move has occurred twice when it is White's turn again.
    for _ in range(2):
        board.push_uci(chosen)
        reply = next(iter(sorted(move.uci() for move in board.legal_moves if not board.is_capture(move))))
        board.push_uci(reply)
        board.push_uci(chosen[2:4] + chosen[:2])
        board.push_uci(reply[2:4] + reply[:2])
    result = engine.search(board, simulations=100)
    assert result.best_move != chosen
    assert proof_of(result).state in ("win", "tb-win")


def test_a_mate_of_the_search_goes_before_the_tables(tables: _core.Tablebases) -> None:
    engine = Engine(tablebases=tables)
    result = engine.search("7k/8/5K2/8/8/8/8/Q7 w - - 0 1", simulations=400)
    assert proof_of(result).state == "win"
    assert proof_of(result).mate is not None
    assert result.lines[0].plies == proof_of(result).plies
