"""PGN files as texts of single games, and texts as python-chess games.

A file is split into games first, so that a damaged game can be named and copied as it is. Games for training
data are read by the core.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import chess.pgn
import chess.variant

from anabranch.errors import AnnotationError

AUTO = "auto"
"""The variant of the game's headers."""
_TAG = re.compile(r'^\s*\[\s*\w+\s+"', re.MULTILINE)
_VARIANT_TAG = re.compile(r'^\s*\[\s*Variant\s+"', re.MULTILINE)
_PREAMBLE = re.compile(r"(?:[;%].*\n|\s*\n)*")


def read_text(path: Path) -> str:
    """The text of a file, of standard input for "-": UTF-8, or what old programs wrote."""
    name = "standard input" if str(path) == "-" else str(path)
    try:
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except FileNotFoundError:
        raise AnnotationError(f"there is no file {name}") from None
    except OSError as error:
        raise AnnotationError(f"{name} cannot be read: {error.strerror}") from error
    if b"\0" in content:
        raise AnnotationError(f"{name} is no PGN file: it is not text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_games(text: str) -> list[str]:
    r"""The games of a text, each as it is written there. Text without moves or headers is none.

    >>> split_games('[White "A"]\n\n1. e4 *\n\n1. d4 *\n')
    ['[White "A"]\n\n1. e4 *\n', '1. d4 *\n']
    """
    handle = io.StringIO(text)
    games = []
    begin = 0
    while chess.pgn.skip_game(handle):
        games.append(text[begin : handle.tell()].strip() + "\n")
        begin = handle.tell()
    return [game for game in games if _TAG.search(game) or _has_movetext(game)]


def parse_game(text: str, variant: str = AUTO) -> chess.pgn.Game:
    """The game of a text. A variant other than `auto` is that of games whose headers name none; it is named
    in the headers then. A game that cannot be read to its end is an error.
    """
    if variant not in (AUTO, "chess") and not _VARIANT_TAG.search(text):
        text = f'[Variant "{_tag_of(variant)}"]\n{text}'
    game = chess.pgn.read_game(io.StringIO(brace_comments(text)), Visitor=_Quiet)
    if game is None:
        raise AnnotationError("the game is empty")
    if game.errors:
        raise AnnotationError(str(game.errors[0]))
    board = game.board()
    found = "chess960" if board.chess960 and board.uci_variant == "chess" else board.uci_variant or "chess"
    if variant not in (AUTO, found):
        raise AnnotationError(f"the game is one of {found}, not of {variant}")
    return game


def describe(text: str, number: int) -> str:
    r"""A game of a file for people, by its number and who played.

    >>> describe('[White "A"]\n[Black "B"]\n\n*', 3)
    'game 3 (A - B)'
    """
    names = [re.search(rf'\[\s*{color}\s+"([^"]*)"', text) for color in ("White", "Black")]
    if all(names):
        return f"game {number} ({' - '.join(name.group(1) for name in names if name)})"
    return f"game {number}"


def preamble_of(text: str) -> str:
    r"""The lines before a game that belong to the file: comments and escapes at the beginning of a line.

    >>> preamble_of('; my games\n\n[White "A"]\n\n1. e4 ; best\n')
    '; my games\n\n'
    """
    found = _PREAMBLE.match(text)
    return found.group() if found is not None else ""


def format_game(game: chess.pgn.Game) -> str:
    """The text of a game."""
    exporter = chess.pgn.StringExporter(columns=80)
    return game.accept(exporter) + "\n"


def brace_comments(text: str) -> str:
    r"""The text with comments to the end of the line in braces, where python-chess keeps them.

    >>> brace_comments("1. e4 ; best by test\n1... e5 {a; b} *")
    '1. e4 { best by test}\n1... e5 {a; b} *'
    """
    if ";" not in text:
        return text
    lines = []
    in_brace = in_moves = False
    for line in text.split("\n"):
        if not in_brace:
            in_moves = bool(line.strip()) and (in_moves or line[0] not in "[%;")
        if in_moves and not (line.startswith("%") and not in_brace):
            line, in_brace = _brace_line(line, in_brace)  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


def _brace_line(line: str, in_brace: bool) -> tuple[str, bool]:
    """A line of moves without a semicolon comment; and whether it ends inside braces."""
    for at, letter in enumerate(line):
        if in_brace:
            in_brace = letter != "}"
        elif letter == "{":
            in_brace = True
        elif letter == ";":
            return line[:at] + "{" + line[at + 1 :].replace("}", ")").rstrip() + "}", False
    return line, in_brace


class _Quiet(chess.pgn.GameBuilder[chess.pgn.Game]):
    """A reader that keeps errors and does not log them."""

    def handle_error(self, error: Exception) -> None:
        """Keep an error."""
        self.game.errors.append(error)


def _has_movetext(text: str) -> bool:
    game = chess.pgn.read_game(io.StringIO(text), Visitor=_Quiet)
    return game is not None and (not game.is_end() or bool(game.errors) or bool(game.comment))


def _tag_of(variant: str) -> str:
    """The name of a variant as PGN headers have it."""
    if variant == "chess960":
        return "Chess960"
    try:
        return chess.variant.find_variant(variant).aliases[0]
    except ValueError:
        raise AnnotationError(f"there is no variant {variant!r}") from None
