"""Opening books: read, checked, drawn from."""

import struct
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import chess
import chess.polyglot
import chess.variant
import pytest
from tests.support.books import Entry, write_book

from anabranch.errors import BookError
from anabranch.formats.books import Book

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
CHESS960 = "1r2k1r1/1p4p1/8/8/8/8/1P4P1/1R2K1R1 w GBgb - 0 1"


@pytest.fixture
def book(tmp_path: Path) -> Book:
    start = chess.Board()
    return Book(
        write_book(tmp_path / "book.bin", [(start, "e2e4", 30), (start, "d2d4", 10), (start, "a2a3", 0)])
    )


def test_moves_come_with_their_weights(book: Book) -> None:
    known = [(move.uci(), weight) for move, weight in book.moves(chess.Board())]
    assert known == [("e2e4", 30), ("d2d4", 10), ("a2a3", 0)]
    assert len(book) == 3


def test_moves_are_drawn_by_their_weights(book: Book) -> None:
    random = Random(1)
    drawn = Counter(str(book.choose(chess.Board(), random)) for _ in range(1000))
    assert set(drawn) == {"e2e4", "d2d4"}
    assert 700 < drawn["e2e4"] < 800


def test_a_position_that_is_not_in_the_book_has_no_move(book: Book) -> None:
    board = chess.Board()
    board.push_san("e4")
    assert book.moves(board) == []
    assert book.choose(board, Random(1)) is None


def test_weights_of_zero_are_never_played(tmp_path: Path) -> None:
    book = Book(write_book(tmp_path / "book.bin", [(chess.Board(), "e2e4", 0)]))
    assert book.choose(chess.Board(), Random(1)) is None


def test_illegal_and_senseless_moves_are_passed_over(tmp_path: Path) -> None:
    start = chess.Board()
    path = write_book(tmp_path / "book.bin", [(start, "e2e5", 9), (start, "e1g1", 9), (start, "g1f3", 1)])
    senseless = struct.pack(">QHHI", chess.polyglot.zobrist_hash(start), 7 << 12 | 8 << 6 | 16, 9, 0)
    nothing = struct.pack(">QHHI", chess.polyglot.zobrist_hash(start), 0, 9, 0)
    path.write_bytes(path.read_bytes() + senseless + nothing)
    assert [move.uci() for move, _ in Book(path).moves(start)] == ["g1f3"]


def test_a_move_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    start = chess.Board()
    book = Book(
        write_book(tmp_path / "book.bin", [(start, "e2e4", 2), (start, "e2e4", 3), (start, "d2d4", 4)])
    )
    assert [(move.uci(), weight) for move, weight in book.moves(start)] == [("e2e4", 5), ("d2d4", 4)]


@pytest.mark.parametrize(
    ("fen", "chess960", "written", "played"),
    [
        (CASTLING, False, "e1h1", "e1g1"),
        (CASTLING, False, "e1a1", "e1c1"),
        (CASTLING, True, "e1h1", "e1h1"),
        (CHESS960, True, "e1g1", "e1g1"),
        (CHESS960, True, "e1b1", "e1b1"),
        (CASTLING.replace("w", "b"), False, "e8h8", "e8g8"),
    ],
)
def test_castling(tmp_path: Path, fen: str, chess960: bool, written: str, played: str) -> None:
    board = chess.Board(fen, chess960=chess960)
    move = Book(write_book(tmp_path / "book.bin", [(board, written, 1)])).choose(board, Random(1))
    assert move is not None
    assert move.uci() == played
    assert move in board.legal_moves
    assert board.is_castling(move)


def test_a_king_beside_its_rook_does_not_castle_without_the_right(tmp_path: Path) -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1")
    assert Book(write_book(tmp_path / "book.bin", [(board, "e1h1", 1)])).moves(board) == []


def test_promotions(tmp_path: Path) -> None:
    board = chess.Board("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    book = Book(write_book(tmp_path / "book.bin", [(board, "a7a8q", 2), (board, "a7a8n", 1)]))
    assert [move.uci() for move, _ in book.moves(board)] == ["a7a8q", "a7a8n"]


def test_other_variants_have_no_books(book: Book) -> None:
    assert book.choose(chess.variant.CrazyhouseBoard(), Random(1)) is None
    assert book.moves(chess.variant.AtomicBoard()) == []


def test_the_book_survives_its_file(book: Book) -> None:
    book.path.unlink()
    assert book.choose(chess.Board(), Random(1)) is not None


def test_python_chess_reads_the_same(tmp_path: Path) -> None:
    board = chess.Board(CASTLING)
    entries: list[Entry] = [(board, "e1h1", 3), (board, "e1a1", 2), (board, "h1h8", 1)]
    book = Book(write_book(tmp_path / "book.bin", entries))
    with chess.polyglot.open_reader(book.path) as reader:
        assert set(book.moves(board)) == {(entry.move, entry.weight) for entry in reader.find_all(board)}


def test_threads_may_share_a_book(book: Book) -> None:
    def ask(seed: int) -> list[str]:
        random = Random(seed)
        return [str(book.choose(chess.Board(), random)) for _ in range(50)]

    alone = [ask(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == alone


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\0" * 17, "its 17 bytes are not entries of 16"),
        (b"PNG!", "its 4 bytes"),
        (struct.pack(">QHHI", 2, 0, 0, 0) + struct.pack(">QHHI", 1, 0, 0, 0), "entry 2 is out of order"),
        (b"\xff" * 16 + b"\0" * 16, "entry 2 is out of order"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "book.bin"
    path.write_bytes(content)
    with pytest.raises(BookError, match=message):
        Book(path)


def test_a_missing_book_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BookError, match="there is no book"):
        Book(tmp_path / "none.bin")
    with pytest.raises(BookError, match="cannot be read"):
        Book(tmp_path)
