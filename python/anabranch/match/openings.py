"""Openings: positions from which the games of a match begin, read from and written to files.

A file is a list of FEN or EPD, or games in PGN, of which the last position counts; plain or compressed. Two
openings are equal if their positions are, whatever the move counters. `anabranch.match.balanced_openings`
makes them.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import os
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import chess
import chess.pgn
import chess.variant

from anabranch.catalogue import is_grid
from anabranch.errors import AnabranchError, MatchError
from anabranch.formats.epd import read_epd
from anabranch.jobs.files import write_atomic
from anabranch.settings import variants

FOLDER = Path(__file__).parent / "files"
_FIRST_RANK = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"


class Opening(NamedTuple):
    """A position, and its name in the file."""

    fen: str
    name: str = ""


def rules_of(variant: str) -> type[chess.Board]:
    """The rules of a variant, as python-chess has them."""
    if is_grid(variant):
        raise MatchError(f"this is for chess and its variants, not for {variant}")
    if variant not in variants():
        raise MatchError(f"there is no variant {variant}; there are {', '.join(variants())}")
    return chess.variant.find_variant(variant)


def board_of(variant: str, fen: str | None, chess960: bool) -> chess.Board:
    """A position on a board; refused if it is illegal or the game is over."""
    kind = rules_of(variant)
    try:
        board = kind(chess960=chess960) if fen is None else kind(fen, chess960=chess960)
    except ValueError as error:
        raise MatchError(f"the position {fen} cannot be read: {error}") from None
    if board.status() & ~chess.STATUS_TOO_MANY_CHECKERS & ~chess.STATUS_IMPOSSIBLE_CHECK:
        raise MatchError(f"the position {fen} is against the rules of {variant}")
    if board.is_game_over():
        raise MatchError(f"the game is already over in {fen}")
    return board


def key_of(opening: Opening) -> str:
    """What identifies an opening: the FEN without the move counters.

    >>> key_of(Opening("8/8/8/8/8/2k5/7P/K7 w - - 3 60"))
    '8/8/8/8/8/2k5/7P/K7 w - -'
    """
    return opening.fen.rsplit(maxsplit=2)[0]


def bundled_openings(variant: str) -> Path | None:
    """The file of openings that comes with the package, if there is one.

    >>> bundled_openings("crazyhouse").name
    'crazyhouse.epd'
    """
    path = FOLDER / f"{variant}.epd"
    return path if path.exists() else None


def default_openings(variant: str, chess960: bool = False) -> list[Opening]:
    """The openings of the package for a variant, or the start position; in Chess960 all its first ranks.

    >>> len(default_openings("chess", chess960=True)), len(default_openings("horde"))
    (960, 1)
    """
    kind = rules_of(variant)
    if chess960 and kind.starting_fen.startswith(_FIRST_RANK):
        starts = (kind.from_chess960_pos(number) for number in range(960))
        return [Opening(board.fen(), f"Chess960 {number}") for number, board in enumerate(starts)]
    path = None if chess960 else bundled_openings(variant)
    if path is None:
        return [Opening(board_of(variant, None, chess960).fen(), "start")]
    return read_openings(path, variant)


def read_openings(path: str | os.PathLike[str], variant: str, chess960: bool = False) -> list[Opening]:
    """The openings of a file; empty lines and those that begin with '#' are skipped.

    >>> len(read_openings(bundled_openings("chess"), "chess"))
    500
    """
    text = read_text(Path(path))
    name = Path(path).name.lower()
    is_pgn = ".pgn" in name or text.lstrip().startswith("[")
    found = _read_pgn(text, path, variant, chess960) if is_pgn else _read_lines(text, path, variant, chess960)
    if not found:
        raise MatchError(f"there is no opening in {path}")
    return found


def read_text(path: Path) -> str:
    """The text of a file, plain or compressed."""
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        elif data[:3] == b"BZh":
            data = bz2.decompress(data)
        elif data[:4] == b"PK\x03\x04":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                data = b"\n".join(archive.read(name) for name in archive.namelist())
        return data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        raise MatchError(f"the file {path} cannot be read: {reason}") from error
    except UnicodeDecodeError as error:
        raise MatchError(f"the file {path} is no text: {error.reason} at byte {error.start}") from error


def _read_lines(text: str, path: str | os.PathLike[str], variant: str, chess960: bool) -> list[Opening]:
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            fen, operations = read_epd(line)
            board = board_of(variant, fen, chess960)
        except AnabranchError as error:
            raise MatchError(f"{path}:{number}: {error}") from error
        found.append(Opening(board.fen(), " ".join(operations.get("id", []))))
    return found


def _read_pgn(text: str, path: str | os.PathLike[str], variant: str, chess960: bool) -> list[Opening]:
    found: list[Opening] = []
    stream = io.StringIO(text)
    while (game := chess.pgn.read_game(stream)) is not None:
        place = f"{path}: game {len(found) + 1}"
        if game.errors:
            raise MatchError(f"{place}: {game.errors[0]}")
        try:
            board = game.end().board()
        except ValueError as error:
            raise MatchError(f"{place}: {error}") from error
        if board.uci_variant != variant:
            raise MatchError(f"{place} is {board.uci_variant}, not {variant}")
        try:
            checked = board_of(variant, board.fen(), chess960)
        except MatchError as error:
            raise MatchError(f"{place}: {error}") from error
        found.append(Opening(checked.fen(), game.headers.get("Opening", "")))
    return found


def without_repeats(openings: Iterable[Opening]) -> list[Opening]:
    """The openings, each position once."""
    seen: dict[str, Opening] = {}
    for opening in openings:
        seen.setdefault(key_of(opening), opening)
    return list(seen.values())


def write_openings(
    path: str | os.PathLike[str],
    openings: Sequence[Opening],
    variant: str,
    chess960: bool = False,
    header: Sequence[str] = (),
) -> None:
    """Write a file of the format of its suffix: .epd, .fen or .pgn."""
    target = Path(path)
    match target.suffix.lower():
        case ".epd":
            lines = [_epd(opening, variant, chess960) for opening in openings]
        case ".fen" | ".txt":
            lines = [opening.fen for opening in openings]
        case ".pgn":
            header = ()
            lines = [_pgn(opening, variant, chess960) for opening in openings]
        case suffix:
            raise MatchError(f"openings are written as .epd, .fen or .pgn, not as {suffix or 'that'}")
    try:
        write_atomic(target, "\n".join([*(f"# {line}".rstrip() for line in header), *lines]) + "\n")
    except OSError as error:
        raise MatchError(f"{target} cannot be written: {error.strerror}") from error


def _epd(opening: Opening, variant: str, chess960: bool) -> str:
    board = board_of(variant, opening.fen, chess960)
    name = opening.name.replace('"', "'")
    named = f' id "{name}";' if name else ""
    return f"{board.epd()} hmvc {board.halfmove_clock}; fmvn {board.fullmove_number};{named}"


def _pgn(opening: Opening, variant: str, chess960: bool) -> str:
    game = chess.pgn.Game.from_board(board_of(variant, opening.fen, chess960))
    game.headers["Opening"] = opening.name or "?"
    return f"{game}\n"


def digest(openings: Sequence[Opening]) -> str:
    """The SHA-256 of a list of openings."""
    return hashlib.sha256("\n".join(opening.fen for opening in openings).encode()).hexdigest()
