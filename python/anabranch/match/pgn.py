"""Games as PGN, with score, depth and time of every move: `{+0.35/12 0.10s}`, for the side that moved.

A match writes these files and never reads them back.
"""

from __future__ import annotations

import chess.pgn

from anabranch.formats.scores import mate_of
from anabranch.match.game import GameRecord, Ply
from anabranch.match.openings import board_of


def pgn_of(record: GameRecord, event: str = "anabranch match") -> str:
    """A record as a game of PGN."""
    game = chess.pgn.Game.from_board(board_of(record.variant, record.fen, record.chess960))
    game.headers.update(
        {
            "Event": event,
            "Site": "?",
            "Date": record.date.replace("-", "."),
            "Round": f"{record.pair + 1}.{record.game + 1}",
            "White": record.white,
            "Black": record.black,
            "Result": record.result,
            "WhiteEngine": _plain(record.titles[0]),
            "BlackEngine": _plain(record.titles[1]),
            "PlyCount": str(len(record.plies)),
            "Termination": record.reason,
        }
    )
    if record.opening:
        game.headers["Opening"] = _plain(record.opening)
    node: chess.pgn.GameNode = game
    board = game.board()
    for ply in record.plies:
        move = board.parse_uci(ply.move)
        node = node.add_variation(move, comment=comment_of(ply))
        board.push(move)
    if record.fault is not None:
        loser = record.white if record.white_points == 0.0 else record.black
        text = f"{_plain(loser)}: {record.reason}: {_plain(record.fault)}"
        node.comment = f"{node.comment} {text}".strip()
    return f"{game.accept(_Exporter())}\n"


class _Exporter(chess.pgn.StringExporter):
    """PGN with comments that touch their braces, as other match runners write them."""

    def visit_comment(self, comment: str | list[str]) -> None:
        text = comment if isinstance(comment, str) else " ".join(comment)
        self.write_token(f"{{{text}}} ")
        self.force_movenumber = True


def comment_of(ply: Ply) -> str:
    """The comment of a move.

    >>> comment_of(Ply("e2e4", 35, 12, 800, 0.1)), comment_of(Ply("e2e4", 31998, 3, 9, 0.02))
    ('+0.35/12 0.10s', '+M2/3 0.02s')
    """
    time = f"{ply.seconds:.2f}s"
    if ply.score is None:
        return time
    mate = mate_of(ply.score)
    score = f"{ply.score / 100:+.2f}" if mate is None else f"{'-' if mate < 0 else '+'}M{abs(mate)}"
    return f"{score}/{ply.depth or 0} {time}"


def _plain(text: str) -> str:
    """A text without characters that end a comment or a header."""
    return "".join(mark if mark.isprintable() and mark not in '{}"\\' else "?" for mark in text)
