"""Mates in the executable specification: small positions, and proofs played against every defence."""

from __future__ import annotations

import dataclasses
import random

import chess
import chess.variant
import pytest

from anabranch.reference import PRESETS, Search, State, canonical_text
from anabranch.reference.evaluators import hash_evaluator, material
from anabranch.reference.forced import find_mate, searches_due
from anabranch.reference.graph import Node
from anabranch.reference.mates import (
    OPEN,
    MateAnswer,
    MateSearch,
    Proof,
    after,
    disproven,
    group_of,
    identify,
    read_proof,
)
from anabranch.reference.solver import inform, is_hidden, win

Crazyhouse = chess.variant.CrazyhouseBoard
ThreeCheck = chess.variant.ThreeCheckBoard
MATES = dataclasses.replace(
    PRESETS["mcgs-combined"], mate_leaf=40, mate_leaf_value=-1.0, mate_growth=2.0, mate_start=4, mate_root=3.0
)
LADDER = "8/4k3/R7/1R6/8/8/8/6K1 w - - 0 1"
PERPETUAL = "6k1/5pp1/7p/8/8/2q5/5PPP/4Q1K1 w - - 0 1"


def ask(
    board: chess.Board, budget: int = 3000, drawn: tuple[str, ...] = ()
) -> tuple[MateSearch, MateAnswer, int]:
    search = MateSearch(board, drawn, budget)
    return search, *search.run()


def play_out(proof: Proof, search: MateSearch, drawn: tuple[str, ...] = ()) -> int:
    """Plays a proof against all defences with the rules of python-chess; returns its plies."""

    def play(board: chess.Board, path: tuple[str, ...]) -> int:
        if board.is_checkmate() or board.is_variant_end():
            assert board.outcome() is not None
            assert board.outcome().winner == search.attacker  # type: ignore[union-attr]
            return 0
        text = canonical_text(board)
        assert not board.is_stalemate()
        assert isinstance(board, Crazyhouse) or board.halfmove_clock < 100
        assert text not in path
        assert not path or text not in drawn
        moves = [move for move, _ in proof[identify(board)].moves]
        if board.turn == search.attacker:
            assert len(moves) == 1
            assert moves[0] in board.legal_moves
        else:
            assert set(moves) == set(board.legal_moves)
        return 1 + max(play(after(board, move), (*path, text)) for move in moves)

    return play(search.board, ())


def brute_force(board: chess.Board, plies: int) -> bool:
    """Whether the side to move mates by checks within so many plies."""
    for move in board.legal_moves:
        if not board.gives_check(move):
            continue
        next_board = after(board, move)
        if next_board.is_checkmate() or next_board.is_variant_loss():
            return True
        replies = list(next_board.legal_moves)
        if plies >= 3 and all(brute_force(after(next_board, reply), plies - 2) for reply in replies):
            return True
    return False


@pytest.mark.parametrize(
    ("board", "plies", "move"),
    [
        (chess.Board("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 0 1"), 1, "h5f7"),
        (chess.Board(LADDER), 3, "b5b7"),
        (chess.Board("k7/8/1K6/8/8/8/6q1/7R w - - 0 1"), 3, "h1h8"),
        (chess.Board("8/8/2k5/7R/6R1/8/8/K7 w - - 0 1"), 5, "g4g6"),
        (Crazyhouse("6k1/5ppp/8/8/8/8/5PPP/6K1[R] w - - 0 1"), 1, None),
        (Crazyhouse("6k1/5ppp/8/8/1B6/8/5PPP/R5K1[n] w - - 0 1"), 3, "a1a8"),
        (Crazyhouse("6k1/5ppp/8/8/1B6/8/5PPP/R5K1[nr] w - - 0 1"), 5, "a1a8"),
        (ThreeCheck("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/8/PPPP1PPP/RNBQK1NR w KQkq - 1+3 0 1"), 1, "c4f7"),
        (ThreeCheck("4k3/8/8/8/8/8/8/Q3K3 w - - 2+3 0 1"), 3, None),
    ],
)
def test_mates(board: chess.Board, plies: int | None, move: str | None) -> None:
    search, verdict, found = ask(board)
    assert verdict is MateAnswer.WIN
    proof = read_proof(search)
    assert proof is not None
    assert play_out(proof, search) == found == proof[search.root].plies
    assert plies is None or found == plies
    assert move is None or proof[search.root].moves[0][0].uci() == move


def test_perpetual_check_is_no_win() -> None:
    search, verdict, _ = ask(chess.Board(PERPETUAL))
    assert verdict is MateAnswer.NO_WIN
    assert search.positions < 100


@pytest.mark.parametrize(
    ("board", "verdict"),
    [
        (chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), MateAnswer.NO_WIN),  # stalemate on the board
        (chess.variant.KingOfTheHillBoard("k7/8/K7/8/8/8/1Q6/8 w - - 0 1"), MateAnswer.WIN),  # Qb6 stalemates
        (chess.Board("7K/5k2/7P/8/8/8/8/6rR w - - 0 1"), MateAnswer.NO_WIN),  # no check at all
        (chess.Board("6kr/5ppp/8/8/8/8/q7/4R2K w - - 0 1"), MateAnswer.WIN),
        (chess.Board("5k2/8/8/8/8/8/6qp/1R5K w - - 0 1"), MateAnswer.NO_WIN),  # is mated already
    ],
)
def test_ends_of_games(board: chess.Board, verdict: MateAnswer) -> None:
    search, found, _ = ask(board)
    assert found is verdict
    if found is MateAnswer.WIN:
        proof = read_proof(search)
        assert proof is not None
        play_out(proof, search)


def test_a_repetition_disproves_on_its_own_path_only() -> None:
    search = MateSearch(chess.Board(), (), 100)
    a, b, c = ("a", None), ("b", None), ("c", None)
    search.table[c] = disproven(1), (a, b)
    assert search.find(c, (a, b)) == disproven(1)
    assert search.find(c, (b, a)) == OPEN
    search.table[c] = disproven(), (a, b)
    assert search.find(c, (b, a)) == disproven()
    assert search.find(a, ()) is None


def test_repetitions_of_the_question_hold_on_every_path_and_long_lines_do_not() -> None:
    assert MateSearch(chess.Board(PERPETUAL), (), 3000).run()[0] is MateAnswer.NO_WIN
    assert MateSearch(chess.Board(PERPETUAL), (), 3000, depth=2).run()[0] is MateAnswer.OPEN
    assert MateSearch(chess.Board(LADDER), (), 3000, depth=2).run()[0] is MateAnswer.OPEN
    assert MateSearch(chess.Board(LADDER), (), 3000, depth=3).run() == (MateAnswer.WIN, 3)


def test_a_position_that_has_occurred_twice_is_a_draw_but_not_the_question() -> None:
    board = chess.Board(LADDER)
    assert ask(board, drawn=(canonical_text(board),))[1:] == (MateAnswer.WIN, 3)
    first = after(board, chess.Move.from_uci("b5b7"))
    search, verdict, plies = ask(board, drawn=(canonical_text(first),))
    if verdict is MateAnswer.WIN:
        proof = read_proof(search)
        assert proof is not None
        assert play_out(proof, search, (canonical_text(first),)) == plies > 3
    # Every reply to the first check is a draw: that check cannot win.
    board = chess.Board("k7/8/1K6/8/8/8/6q1/7R w - - 0 1")
    only = after(after(board, chess.Move.from_uci("h1h8")), chess.Move.from_uci("g2g8"))
    assert ask(board, drawn=(canonical_text(only),))[1] is MateAnswer.NO_WIN


def test_the_move_count() -> None:
    def at(clock: int) -> chess.Board:
        board = chess.Board(LADDER)
        board.halfmove_clock = clock
        return board

    assert ask(at(97))[1:] == (MateAnswer.WIN, 3)  # the mate comes with the last ply
    assert find_mate(at(97), (), 3000) == (MateAnswer.OPEN, 0)  # and is left alone
    assert find_mate(at(96), (), 3000) == (MateAnswer.WIN, 3)
    assert ask(at(98))[1] is MateAnswer.NO_WIN
    assert identify(at(59))[1] is None
    assert identify(at(60))[1] == 60
    board = Crazyhouse("6k1/5ppp/8/8/1B6/8/5PPP/R5K1[n] w - - 98 90")
    assert ask(board)[1:] == (MateAnswer.WIN, 3)  # crazyhouse has no such rule
    assert identify(board)[1] is None


def test_interposed_drops_are_groups() -> None:
    board = after(Crazyhouse("6k1/5ppp/8/8/1B6/8/5PPP/R5K1[nbr] w - - 0 1"), chess.Move.from_uci("a1a8"))
    groups = {group_of(move) for move in board.legal_moves}
    assert groups == {chess.B8, chess.C8, chess.D8, chess.E8, chess.F8}
    search = MateSearch(board, (), 100)
    search.attacker = chess.WHITE
    assert search.judge(board, identify(board), ()).proof == 5


def test_the_budget_bounds_the_positions() -> None:
    board = chess.Board(LADDER)
    needed = ask(board)[0].positions
    assert ask(board, needed)[1] is MateAnswer.WIN
    for budget in range(1, needed - 1):
        search, verdict, _ = ask(board, budget)
        assert verdict is MateAnswer.OPEN
        assert search.positions <= budget + 1


def random_attack(variant: type[chess.Board], rng: random.Random) -> chess.Board:
    """A bare king with some men around it against a queen, a rook, a knight and what the pockets hold."""
    while True:
        board = variant(None)
        squares = rng.sample(range(8, 56), 9)
        for square, symbol in zip(squares, "KkQRNppbr", strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(symbol))
        if isinstance(board, Crazyhouse):
            for color in chess.COLORS:
                for _ in range(rng.randrange(3)):
                    board.pockets[color].add(rng.choice([chess.PAWN, chess.KNIGHT, chess.BISHOP]))
        if board.is_valid() and not board.is_game_over():
            return board


@pytest.mark.parametrize("variant", [chess.Board, Crazyhouse, ThreeCheck])
def test_random_positions_against_brute_force(variant: type[chess.Board]) -> None:
    rng = random.Random(3)
    seen = dict.fromkeys(MateAnswer, 0)
    for _ in range(40):
        board = random_attack(variant, rng)
        search, verdict, plies = ask(board, 200)
        seen[verdict] += 1
        if verdict is MateAnswer.WIN:
            proof = read_proof(search)
            assert proof is not None
            assert plies > 5 or play_out(proof, search) == plies
        elif verdict is MateAnswer.NO_WIN:
            assert not brute_force(board, 3)
    assert seen[MateAnswer.WIN] > 5
    assert seen[MateAnswer.NO_WIN] > 1, seen


def test_searches_are_due_when_visits_have_doubled() -> None:
    settings = dataclasses.replace(MATES, mate_start=32)
    node = Node(("", 0, None), "", [])
    due = []
    for visits in (0, 31, 32, 63, 64, 127, 128):
        node.visits = visits
        due.append(searches_due(settings, node))
    assert due == [0, 0, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("backup", ["tree", "tree+cache", "paper", "recompute"])
@pytest.mark.parametrize("use", ["mate_leaf", "mate_growth", "mate_root"])
def test_a_mate_proves_the_root_and_the_proof_is_whole(backup: str, use: str) -> None:
    off = {"mate_leaf": 0, "mate_growth": 0.0, "mate_root": 0.0}
    on: dict[str, float] = off | {use: getattr(MATES, use) * 10}
    settings = dataclasses.replace(MATES, backup=backup, solver=True, **on)  # type: ignore[arg-type]
    fens = [LADDER, "8/8/2k5/7R/6R1/8/8/K7 w - - 0 1"]
    if use == "mate_growth":  # nodes below the root: the other side is to move there
        fens = ["8/1R2k3/R7/8/8/8/8/6K1 b - - 0 1", "8/8/2k3R1/7R/8/8/8/K7 b - - 0 1"]
    for fen in fens:
        search = Search(chess.Board(fen), settings, hash_evaluator)
        search.run(simulations=150)
        assert search.root.state in (State.WIN, State.LOSS)
        assert search.stands()
        while search.root.state is not State.LOSS or search.root.end_in_ply:
            move = search.best_move()
            assert move is not None
            search.advance(move)
            search.run(simulations=1)
            assert search.root.state.is_exact
            assert search.stands()
        assert search.board.is_checkmate()


def test_the_plies_of_a_mate_do_not_grow() -> None:
    """A longer win among the children changes nothing, a shorter one does."""
    search = Search(
        chess.Board("8/8/2k5/7R/6R1/8/8/K7 w - - 0 1"), dataclasses.replace(MATES, mate_leaf=0), material
    )
    search.run(simulations=3)
    root = search.root
    first, second = (edge.child for edge in root.open_edges[:2])
    assert first is not None
    assert second is not None
    win(root, 5)
    for child, plies, expected in ((first, 6, 5), (second, 2, 3)):
        child.state, child.end_in_ply = State.LOSS, plies
        inform(root)
        assert (root.state, root.end_in_ply) == (State.WIN, expected)
        assert is_hidden(root) == (expected == 5)
    win(root, 7)
    assert root.end_in_ply == 3


def test_a_won_leaf_has_the_value_of_its_win() -> None:
    search = Search(chess.Board(LADDER), MATES, material)
    search.run(simulations=1)
    root = search.root
    assert (root.state, root.end_in_ply, root.raw, root.value, root.visits) == (State.WIN, 3, 1.0, 1.0, 1)
    search = Search(chess.Board(LADDER), dataclasses.replace(MATES, solver=False), material)
    search.run(simulations=1)
    assert search.root.state is State.UNKNOWN


def test_the_move_to_play_is_not_one_that_is_mated() -> None:
    """Black must not take: without the search the evaluator's capture would be played."""
    board = chess.Board("r5k1/5ppp/8/8/8/8/P4PPP/4R1K1 b - - 0 1")
    settings = dataclasses.replace(
        MATES, mate_leaf=0, mate_growth=0.0, mate_root=0.0, epsilon_greedy=0.0, epsilon_checks=0.0
    )
    blind = Search(board, settings, material)
    blind.run(simulations=3)
    warned = Search(board, dataclasses.replace(settings, mate_root=100.0, mate_start=10**6), material)
    warned.run(simulations=3)
    taken, other = blind.best_move(), warned.best_move()
    assert taken is not None
    assert ask(after(board, taken))[1] is MateAnswer.WIN
    assert other != taken
    assert [edge.pruned for edge in warned.root.open_edges if edge.move == taken] == [True]
    # Moves without a node cannot be searched; every other one has been.
    child = next((edge.child for edge in warned.root.open_edges if edge.move == other), None)
    assert child is None or child.has_no_mate
