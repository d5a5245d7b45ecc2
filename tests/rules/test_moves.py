"""The core's rules against python-chess on thousands of random positions of every variant.

Legal moves, FEN, SAN and UCI, endings, and which moves give check or take.
"""

import random
from collections.abc import Iterator

import chess
import chess.variant
import pytest

from anabranch import _core, reference
from anabranch.errors import MoveError
from anabranch.reference.evaluators import material

VARIANTS = [
    ("chess", False, 3000), ("chess", True, 3000), ("crazyhouse", False, 3000),
    ("crazyhouse", True, 300), ("atomic", False, 500), ("antichess", False, 500),
    ("kingofthehill", False, 300), ("3check", False, 300), ("racingkings", False, 300),
    ("horde", False, 300),
]  # fmt: skip
NAMES = [f"{name}{'960' * chess960}" for name, chess960, _ in VARIANTS]


def first_board(variant: str, chess960: bool, rng: random.Random) -> chess.Board:
    if not chess960:
        return chess.variant.find_variant(variant)()
    board = chess.variant.find_variant(variant)(chess960=True)
    board.set_chess960_pos(rng.randrange(960))
    return board


def push(board: chess.Board, move: chess.Move) -> None:
    """Play a move; a dropped pawn resets the clock like a moved one, which python-chess forgets."""
    board.push(move)
    if move.drop == chess.PAWN:
        board.halfmove_clock = 0


def positions(variant: str, chess960: bool, count: int) -> Iterator[chess.Board]:
    """Positions of random games; captures and promotions come more often than chance would have it."""
    rng = random.Random(f"{variant} {chess960}")
    board = first_board(variant, chess960, rng)
    for _ in range(count):
        yield board
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        if not moves or reference.ending(board, moves) is not None or board.ply() > 400:
            board = first_board(variant, chess960, rng)
            continue
        rare = [
            move for move in moves if move.promotion or board.is_castling(move) or board.is_en_passant(move)
        ]
        push(board, rng.choice(rare if rare and rng.random() < 0.5 else moves))


def fen(board: chess.Board) -> str:
    return f"{reference.canonical_text(board)} {board.halfmove_clock} {board.fullmove_number}"


@pytest.mark.parametrize(("variant", "chess960", "count"), VARIANTS, ids=NAMES)
def test_positions_agree(variant: str, chess960: bool, count: int) -> None:
    session = _core.Session(variant, chess960, {}, False)
    over = 0
    for board in positions(variant, chess960, count):
        session.set_position(board.fen(), [])
        moves = list(board.legal_moves)
        ending = reference.ending(board, moves)
        assert session.fen() == fen(board)
        assert session.ending() == ending, board.fen()
        expected = sorted(move.uci() for move in moves) if ending is None else []
        assert sorted(session.legal_moves()) == expected, board.fen()
        over += ending is not None
    assert over > 0


@pytest.mark.parametrize(("variant", "chess960", "count"), VARIANTS, ids=NAMES)
def test_games_agree_move_by_move(variant: str, chess960: bool, count: int) -> None:
    """Each move as SAN, as UCI and as a list from the start of the game leads to the same position."""
    session, listed = (_core.Session(variant, chess960, {}, False) for _ in range(2))
    rng = random.Random(7)
    before: chess.Board | None = None
    for board in positions(variant, chess960, count // 3):
        if not board.move_stack:
            session.set_position(board.fen(), [])
        else:
            assert before is not None
            move = board.peek()
            session.play(before.san(move) if rng.random() < 0.7 else move.uci())
            if rng.random() < 0.05:
                listed.set_position(board.root().fen(), [move.uci() for move in board.move_stack])
                assert listed.fen() == fen(board)
                assert listed.game()[1] == [move.uci() for move in board.move_stack]
        assert session.fen() == fen(board)
        before = board.copy(stack=False)


@pytest.mark.parametrize(("variant", "chess960", "count"), VARIANTS, ids=NAMES)
def test_every_san_is_read(variant: str, chess960: bool, count: int) -> None:
    session = _core.Session(variant, chess960, {}, False)
    read = 0
    rng = random.Random(2)
    for board in positions(variant, chess960, count // 2):
        if rng.random() > 40 / count or reference.ending(board, list(board.legal_moves)) is not None:
            continue
        for move in board.legal_moves:
            after = board.copy(stack=False)
            push(after, move)
            session.set_position(board.fen(), [board.san(move)])
            assert session.fen() == fen(after), (board.fen(), board.san(move))
            read += 1
    assert read > 100


@pytest.mark.parametrize(("variant", "chess960", "count"), VARIANTS, ids=NAMES)
def test_checks_captures_and_promotions_by_their_priors(variant: str, chess960: bool, count: int) -> None:
    """The evaluator `material` writes them into the priors, where they can be read off."""
    session = _core.Session(variant, chess960, {"evaluator": "material", "node_temperature": 1.0}, False)
    checks = captures = 0
    for board in positions(variant, chess960, count // 4):
        moves = reference.legal_moves(board)
        if reference.ending(board, moves) is not None:
            continue
        session.set_position(board.fen(), [])
        session.run(simulations=1)
        value, logits = material(board, moves)
        priors = reference.softmax_priors(logits, 1.0)
        report = session.report(0)
        assert report["value"] == value
        expected = {move.uci(): prior for move, prior in zip(moves, priors, strict=True)}
        listed = {row["move"]: row["prior"] for row in report["moves"]}
        assert listed == {move: expected[move] for move in listed}, board.fen()
        assert len(listed) == len(expected) or len(expected) > 24
        checks += sum(board.gives_check(move) for move in moves)
        captures += sum(board.is_capture(move) for move in moves)
    assert captures > 0
    assert checks > 0 or variant in ("antichess", "racingkings")


def test_illegal_and_unreadable_moves_are_refused() -> None:
    rng = random.Random(3)
    refused = 0
    session = _core.Session("crazyhouse", False, {}, False)
    for board in positions("crazyhouse", False, 150):
        if reference.ending(board, list(board.legal_moves)) is not None:
            continue
        session.set_position(board.fen(), [])
        legal = {move.uci() for move in board.legal_moves}
        for _ in range(10):
            text = rng.choice("PNBRQ") + "@" if rng.random() < 0.3 else chess.square_name(rng.randrange(64))
            text += chess.square_name(rng.randrange(64))
            if text in legal or any(move.startswith(text) for move in legal):
                continue
            with pytest.raises(MoveError):
                session.play(text)
            refused += 1
        assert session.fen() == fen(board)
    assert refused > 500
