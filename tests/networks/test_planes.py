"""Planes and policy places against an independent slow version over python-chess, on random games."""

import random
from functools import cache
from typing import Any

import chess
import chess.variant
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.networks.slow_sparse import policy_index, view

from anabranch import Engine
from anabranch.errors import EvaluatorError, GameOverError
from anabranch.networks.planes import encode, shape_of

PIECES = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)
COUNT = 80
CASES = [
    ("chess", "v3", False), ("chess", "v3", True), ("crazyhouse", "v3", False),
    ("crazyhouse", "v3", True), ("crazyhouse", "v1", False),
]  # fmt: skip


def new_board(variant: str, chess960: bool, source: random.Random) -> chess.Board:
    fen = chess.Board.from_chess960_pos(source.randrange(960)).fen() if chess960 else chess.STARTING_FEN
    if variant == "crazyhouse":
        return chess.variant.CrazyhouseBoard(fen, chess960=chess960)
    return chess.Board(fen, chess960=chess960)


def play_at_random(board: chess.Board, plies: int, source: random.Random) -> None:
    """Random moves, with a liking for castling, for drops and promotions, and for moving back again."""
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves or board.is_insufficient_material():
            return
        rare = [m for m in moves if board.is_castling(m) or m.promotion or board.is_en_passant(m)]
        back = []
        if len(board.move_stack) >= 2:
            mine = board.move_stack[-2]
            back = [m for m in moves if (m.from_square, m.to_square) == (mine.to_square, mine.from_square)]
        chosen = source.choice(moves)
        if rare and source.random() < 0.5:
            chosen = source.choice(rare)
        elif back and source.random() < 0.6:
            chosen = back[0]
        board.push(chosen)


@cache
def random_boards(variant: str, chess960: bool) -> tuple[chess.Board, ...]:
    source = random.Random(f"{variant} {chess960}")
    boards: list[chess.Board] = []
    while len(boards) < COUNT:
        board = new_board(variant, chess960, source)
        play_at_random(board, source.randrange(150), source)
        if any(board.legal_moves) and not board.is_insufficient_material():
            boards.append(board)
    return tuple(boards)


class Slow:
    """Planes one after another, square by square."""

    def __init__(self, board: chess.Board) -> None:
        self.board = board
        self.planes: list[NDArray[np.float32]] = []

    def squares(self, squares: Any) -> None:
        plane = np.zeros((8, 8), np.float32)
        for square in squares:
            place = view(self.board, square)
            plane[place // 8, place % 8] = 1.0
        self.planes.append(plane)

    def number(self, number: float) -> None:
        self.planes.append(np.full((8, 8), number, np.float32))

    def sides(self) -> tuple[chess.Color, chess.Color]:
        return self.board.turn, not self.board.turn

    def pieces(self) -> None:
        for color in self.sides():
            for kind in PIECES:
                self.squares(self.board.pieces(kind, color))

    def repetitions(self) -> None:
        board = self.board.copy()
        here = board.epd(en_passant="legal")
        earlier = 0
        while board.move_stack:
            board.pop()
            earlier += board.epd(en_passant="legal") == here
        self.number(earlier >= 1)
        self.number(earlier >= 2)

    def en_passant(self) -> None:
        square = self.board.ep_square
        self.squares([square] if square is not None and self.board.has_legal_en_passant() else [])

    def clock(self, most: int) -> None:
        """Plies since a pawn was moved or dropped or something taken; python-chess forgets the drops."""
        board = self.board.copy()
        plies = 0
        while board.move_stack:
            move = board.pop()
            if move.drop == chess.PAWN or board.is_zeroing(move):
                break
            plies += 1
        self.number(plies / most)

    def castling(self) -> None:
        for color in self.sides():
            self.number(self.board.has_kingside_castling_rights(color))
            self.number(self.board.has_queenside_castling_rights(color))

    def history(self) -> None:
        board = self.board.copy()
        for _ in range(8):
            if not board.move_stack:
                self.squares([])
                self.squares([])
                continue
            move = board.pop()
            target = move.to_square
            if board.is_castling(move) and not board.chess960:
                rank = chess.square_rank(target)
                target = chess.square(7 if chess.square_file(target) == 6 else 0, rank)
            self.squares([] if move.drop else [move.from_square])
            self.squares([target])

    def material(self) -> None:
        board = self.board
        us, them = self.sides()
        for kind in PIECES[:5]:
            self.number((len(board.pieces(kind, us)) - len(board.pieces(kind, them))) / 8)
        bishops = [list(board.pieces(chess.BISHOP, color)) for color in chess.COLORS]
        shades = {bool(chess.BB_SQUARES[own[0]] & chess.BB_LIGHT_SQUARES) for own in bishops if own}
        self.number(all(len(own) == 1 for own in bishops) and len(shades) == 2)
        self.squares(board.checkers())
        for kind in PIECES[:5]:
            self.number(len(board.pieces(kind, us)) / 8)

    def pockets(self) -> None:
        assert isinstance(self.board, chess.variant.CrazyhouseBoard)
        for color in self.sides():
            for kind in PIECES[:5]:
                self.number(self.board.pockets[color].count(kind) / 32)

    def promoted(self) -> None:
        for color in self.sides():
            self.squares(chess.SquareSet(self.board.promoted & self.board.occupied_co[color]))


def slow_planes(board: chess.Board, version: str) -> NDArray[np.float32]:
    slow = Slow(board)
    is_crazyhouse = isinstance(board, chess.variant.CrazyhouseBoard)
    slow.pieces()
    slow.repetitions()
    if version == "v1":
        slow.pockets()
        slow.promoted()
        slow.en_passant()
        slow.number(board.turn == chess.WHITE)
        slow.number(board.fullmove_number / 500)
        slow.castling()
        slow.clock(40)
        return np.stack(slow.planes)
    slow.en_passant()
    slow.castling()
    slow.clock(40 if is_crazyhouse else 50)
    slow.history()
    slow.number(board.chess960)
    for color in slow.sides():
        slow.squares(chess.SquareSet(board.occupied_co[color]))
    slow.planes.append(np.indices((8, 8)).sum(axis=0).astype(np.float32) % 2)
    slow.material()
    if is_crazyhouse:
        slow.pockets()
        slow.promoted()
    return np.stack(slow.planes)


@pytest.mark.parametrize(("variant", "version", "chess960"), CASES)
def test_planes_are_those_of_the_slow_version(variant: str, version: str, chess960: bool) -> None:
    boards = random_boards(variant, chess960)
    planes, _ = encode(boards, variant, version, chess960=chess960)
    assert planes.shape[1:] == (shape_of(variant, version)[0], 8, 8)
    for board, given in zip(boards, planes, strict=True):
        expected = slow_planes(board, version)
        wrong = [number for number in range(len(expected)) if (given[number] != expected[number]).any()]
        assert not wrong, (wrong, board.fen(), board.move_stack)
    if version == "v3":  # the games have met every plane, but for what random players seldom bring about
        never = {number for number in range(planes.shape[1]) if not planes[:, number].any()}
        assert never <= {14, 45, 46} | ({36} - {36 * chess960})


@pytest.mark.parametrize(("variant", "chess960"), [(case[0], case[2]) for case in CASES[:4]])
def test_places_of_moves_are_those_of_the_slow_version(variant: str, chess960: bool) -> None:
    boards = random_boards(variant, chess960)
    _, places = encode(boards, variant, "v3", chess960=chess960)
    size = shape_of(variant)[1]
    for board, given in zip(boards, places, strict=True):
        assert given == {board.uci(move): policy_index(board, move) for move in board.legal_moves}, (
            board.fen()
        )
        assert len(set(given.values())) == len(given)
        assert all(0 <= place < size for place in given.values())


def mirror_game(board: chess.Board) -> chess.Board:
    mirrored = board.root().mirror()
    for move in board.move_stack:
        mirrored.push(
            chess.Move(
                chess.square_mirror(move.from_square),
                chess.square_mirror(move.to_square),
                move.promotion,
                move.drop,
            )
        )
    return mirrored


@pytest.mark.parametrize(("variant", "version", "chess960"), CASES)
def test_mirrored_games_look_the_same(variant: str, version: str, chess960: bool) -> None:
    boards = random_boards(variant, chess960)
    planes, places = encode(boards, variant, version, chess960=chess960)
    other, mirrored_places = encode(
        [mirror_game(board) for board in boards], variant, version, chess960=chess960
    )
    if version == "v1":  # has the colour, and the number of the move, which white begins
        assert (planes[:, 26 + 1] + other[:, 26 + 1] == 1.0).all()
        planes, other = np.delete(planes, [27, 28], axis=1), np.delete(other, [27, 28], axis=1)
    assert (planes == other).all()
    for ours, theirs in zip(places, mirrored_places, strict=True):
        assert sorted(ours.values()) == sorted(theirs.values())


def test_repetitions_are_counted() -> None:
    knights = "g1f3 g8f6 f3g1 f6g8"
    for times, expected in ((0, (0, 0)), (1, (1, 0)), (2, (1, 1)), (3, (1, 1))):
        planes, _ = encode([("startpos", " ".join([knights] * times))])
        assert (planes[0, 12].max(), planes[0, 13].max()) == expected


def test_finished_games_have_no_planes() -> None:
    with pytest.raises(GameOverError):
        encode(["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"])


@pytest.mark.parametrize(("variant", "version"), [("chess", "v1"), ("crazyhouse", "v2"), ("atomic", "v1")])
def test_unknown_versions_are_refused(variant: str, version: str) -> None:
    with pytest.raises(EvaluatorError, match="there are no planes"):
        shape_of(variant, version)

    class Wants:
        planes = version

        def evaluate(self, planes: Any) -> Any:
            raise AssertionError

    with pytest.raises(EvaluatorError, match="there are no planes"):
        Engine(variant, evaluator=Wants())


def test_an_evaluator_gets_the_planes_it_asks_for() -> None:
    met = []

    class First:
        planes = "v1"

        def evaluate(self, planes: NDArray[np.float32]) -> Any:
            met.append(planes.copy())
            return np.zeros(len(planes)), np.zeros((len(planes), 81 * 64))

    engine = Engine("crazyhouse", evaluator=First())
    engine.search("startpos moves e2e4 e7e5", evaluations=30)
    expected, _ = encode(["startpos moves e2e4 e7e5"], "crazyhouse", "v1")
    assert (met[0] == expected).all()
    assert all(batch.shape[1] == 34 for batch in met)
