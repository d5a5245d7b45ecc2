"""`anabranch annotate`: evaluations, marks and better lines for the games of PGN files.

Finished games go to the output at once, to a temporary file beside --out; it gets its name when all
are done. Reading and judging are those of `anabranch.formats.pgn` and `anabranch.annotate`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from anabranch.cli.from_settings import FromSettings, with_settings
from anabranch.cli.options import (
    EngineOptions,
    JsonOption,
    argument,
    limit_options,
    make_engine,
    option,
)
from anabranch.jobs.files import replacing
from anabranch.limits import Limits
from anabranch.settings import variants

if TYPE_CHECKING:
    import chess

    from anabranch.annotate import Annotated as AnnotatedGame
    from anabranch.annotate import Which
    from anabranch.engine import Engine

SIMULATIONS = 10_000
"""The limit per position where none is given."""
MATE_POSITIONS = 20_000
"""That of `anabranch.annotate`, whose import takes time."""


@with_settings
def annotate(
    *,
    files: Annotated[list[Path], argument("FILE...", "PGN files; - is standard input.")],
    out: Annotated[
        Path | None, option("FILE", "Where the games go.  [default: standard output]", "--out", "-o")
    ] = None,
    limits: Annotated[
        dict[str, Any],
        limit_options("simulations", "time", simulations=f"{SIMULATIONS}, if there is no --time"),
    ],
    lines: Annotated[int, option("K", "Better lines shown at a move.")] = 1,
    mates: Annotated[
        int, option("N", "Positions of the solver per move for missed mates; 0: none.")
    ] = MATE_POSITIONS,
    variant: Annotated[
        str, option("NAME", f"auto (from the headers), chess960, {', '.join(variants())}.", "--variant", "-v")
    ] = "auto",
    every_move: Annotated[
        bool, option(None, "Lines wherever the engine would have played another move.", "--every-move")
    ] = False,
    blunders_only: Annotated[
        bool, option(None, "Write nothing but blunders and the better lines there.", "--blunders-only")
    ] = False,
    given: Annotated[dict[str, Any], FromSettings(EngineOptions, skip=("variant", "chess960"))],
    as_json: JsonOption = False,
) -> None:
    """Add evaluations, better lines and marks for bad moves to games (PGN).

    Comments, variations and headers stay. A game that cannot be read is named and passed on as it was. After
    Ctrl-C the finished games are kept. With --json and without --out the games are in the document.

    Example: anabranch annotate games.pgn --out annotated.pgn --time 1
    """
    from anabranch.cli.output import print_json
    from anabranch.errors import AnnotationError, LimitError
    from anabranch.formats.pgn import read_text, split_games

    if lines < 1:
        raise LimitError(f"--lines must be at least 1, not {lines}")
    if mates < 0:
        raise LimitError(f"--mates must be at least 0, not {mates}")
    if every_move and blunders_only:
        raise AnnotationError("--every-move and --blunders-only cannot both be given")
    if variant not in ("auto", "chess960", *variants()):
        raise AnnotationError(f"there is no variant {variant!r}; --variant auto reads it from the headers")
    if out is not None and not out.absolute().parent.is_dir():
        raise AnnotationError(f"there is no directory {out.absolute().parent} to write {out.name} in")
    if out is not None and out.is_dir():
        raise AnnotationError(f"{out} is a directory")
    texts = [text for path in files for text in split_games(read_text(path))]
    if not texts:
        raise AnnotationError(f"there is no game in {', '.join(str(path) for path in files)}")
    options = EngineOptions(**given)
    changes = {"improve": "on", **options.changes}
    engines: dict[tuple[str, bool], Engine] = {}

    def engine_for(board: chess.Board) -> Engine:
        key = (board.uci_variant or "chess", board.chess960)
        if key not in engines:
            engines[key] = make_engine(key[0], options.preset, key[1], changes)
        return engines[key]

    which: Which = "every-move" if every_move else "blunders-only" if blunders_only else "marked"
    limit = Limits(**limits or {"simulations": SIMULATIONS})
    work = _Work(texts, variant, engine_for, limit, lines, which, mates)
    work.check()
    with _destination(out, as_json) as file:
        done = work.run(file)
        if not done:
            raise AnnotationError("no game could be annotated")
    if as_json:
        print_json(_document(done, work.passed, out))
    else:
        _show([(name, annotated) for name, annotated, _ in done], out is not None)


@dataclass(frozen=True)
class _Work:
    """The games and how to annotate them."""

    texts: list[str]
    variant: str
    engine_for: Callable[[chess.Board], Engine]
    limits: Limits
    lines: int
    which: Which
    mates: int
    passed: list[tuple[str, str]] = field(default_factory=list)
    """Games that were passed on as they were, and why."""

    def check(self) -> None:
        """Refuse settings before anything is written."""
        engine = self.engine_for(self._first_board())
        engine.search(simulations=1)
        engine.reset()

    def _first_board(self) -> chess.Board:
        """Of the first game that can be read: a network may be for its variant alone."""
        import chess

        from anabranch.errors import AnabranchError
        from anabranch.formats.pgn import parse_game

        for text in self.texts:
            try:
                return parse_game(text, self.variant).board()
            except AnabranchError:
                continue
        return chess.Board()

    def run(self, file: TextIO) -> list[tuple[str, AnnotatedGame, str]]:
        """Annotate the games, and write each as soon as it is done: names, games and their texts."""
        from anabranch import __version__
        from anabranch.annotate import annotate_game
        from anabranch.cli.output import notices, show_progress
        from anabranch.errors import AnabranchError
        from anabranch.formats.pgn import describe, format_game, parse_game, preamble_of

        done = []
        with show_progress("positions") as on_progress:

            def report(position: float, positions: float | None, _: str) -> None:
                on_progress(position, positions, f"game {number} of {len(self.texts)}")

            for number, text in enumerate(self.texts, start=1):
                name = describe(text, number)
                try:
                    game = parse_game(text, self.variant)
                    annotated = annotate_game(
                        game,
                        self.engine_for(game.board()),
                        self.limits,
                        lines=self.lines,
                        which=self.which,
                        mates=self.mates,
                        on_progress=report,
                    )
                    game.headers.setdefault("Annotator", f"anabranch {__version__}")
                    text = preamble_of(text) + format_game(game)  # noqa: PLW2901
                    done.append((name, annotated, text))
                except AnabranchError as error:
                    reason = " ".join(str(error).split())
                    self.passed.append((name, reason))
                    reason = f"{reason[:1].lower()}{reason[1:]}"
                    notices().print(f"anabranch: {name} is passed on as it was: {reason}", soft_wrap=True)
                file.write(text + "\n")
                file.flush()
        return done


@contextmanager
def _destination(out: Path | None, as_json: bool) -> Iterator[TextIO]:
    """Where games are written. A file gets its name when all is well; after Ctrl-C what is there is kept.
    Standard output is for the document, if there is one.
    """
    if out is None:
        yield io.StringIO() if as_json else sys.stdout
        return
    part = out.with_name(f"{out.name}.part")
    with replacing(out, part, keep=(KeyboardInterrupt,)), part.open("w", encoding="utf-8") as file:
        try:
            yield file
        except KeyboardInterrupt:
            if file.tell() > 0:
                print(f"anabranch: interrupted; the finished games are in {part}", file=sys.stderr)
            else:
                part.unlink()
            raise


def _document(
    done: list[tuple[str, AnnotatedGame, str]], passed: list[tuple[str, str]], out: Path | None
) -> dict[str, Any]:
    """The results, for programs. Losses are falls of the value, from 0 to 2, for the side that moved."""
    games = []
    for name, annotated, text in done:
        game: dict[str, Any] = {
            "game": name,
            "headers": dict(annotated.game.headers),
            "white": asdict(annotated.white),
            "black": asdict(annotated.black),
            "moves": [judgement._asdict() for judgement in annotated.judgements],
        }
        games.append(game if out is not None else {**game, "pgn": text})
    return {
        "file": None if out is None else str(out),
        "games": games,
        "passed_on": [{"game": name, "reason": reason} for name, reason in passed],
    }


def _show(done: list[tuple[str, AnnotatedGame]], on_stdout: bool) -> None:
    """How the players did."""
    from anabranch.cli.output import notices, output, table

    rows = []
    for name, annotated in done:
        for color in ("White", "Black"):
            summary = annotated.white if color == "White" else annotated.black
            rows.append(
                [
                    name.partition(" (")[0],
                    annotated.game.headers.get(color, "?"),
                    color.lower(),
                    str(summary.moves),
                    "" if summary.accuracy is None else f"{summary.accuracy:.1f} %",
                    "" if summary.mean_loss is None else f"{summary.mean_loss:.1f}",
                    str(summary.inaccuracies),
                    str(summary.mistakes),
                    str(summary.blunders),
                ]
            )
    columns = ["game", "player", "color", ">moves", ">accuracy", ">loss", ">?!", ">?", ">??"]
    (output() if on_stdout else notices()).print(table(None, columns, rows))
