"""The engine with the settings, evaluator, tablebases and opening book that the UCI options name.

All of it belongs to the worker thread.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict
from random import Random

import chess.variant

from anabranch import _core
from anabranch.defaults import resolve
from anabranch.engine import Engine
from anabranch.errors import AnabranchError, EvaluatorError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.resolve import resolve_evaluator
from anabranch.formats.books import Book
from anabranch.formats.scores import value_of
from anabranch.formats.tablebases import default_directory, open_tablebases, read_paths
from anabranch.networks.shipped import bundled
from anabranch.strength import Handicap
from anabranch.uci.options import DEFAULT, MEGABYTE, Option, OptionError, UciOptions
from anabranch.uci.output import Output


class ConfiguredEngine:
    """An engine that follows the options; it is made when it is first needed."""

    def __init__(self, options: UciOptions, output: Output, random: Random) -> None:
        self.book: Book | None = None
        self._options = options
        self._output = output
        self._random = random
        self._engine: Engine | None = None
        self._configured: tuple[object, ...] | None = None
        self._position: tuple[str | None, list[str]] = (None, [])
        self._tables: tuple[str, _core.Tablebases | None] = ("", None)

    def ready(self) -> Engine:
        """The engine."""
        return self._make() if self._engine is None else self._engine

    def place(self, fen: str | None, moves: list[str]) -> None:
        """Set the position: a FEN or the start of the game, and moves."""
        self.ready().position = ("startpos" if fen is None else fen, moves)
        self._position = (fen, moves)

    def forget(self) -> None:
        """Forget the graph."""
        if self._engine is not None:
            self._engine.forget()

    def set(self, option: Option, text: str) -> None:
        """Set an option and do what follows from it."""
        if option.kind == "button":
            self.forget()
            return
        old = self._options.text(option.name)
        self._options.set(option, text)
        changed = self._options.text(option.name) != old
        match option.name:
            case "Debug Log File":
                self._output.open_log(self._options.text(option.name))
            case "BookFile" if changed:
                self.book = None
                if path := self._options.text(option.name):
                    self.book = Book(path)
            case "SyzygyPath":
                self._open_tables()
                self.configure()
            case "UCI_Variant" | "UCI_Chess960" if changed:
                self._engine = None
            case "EvalFile" | "WeightsFile" | "Backend" if changed:
                try:
                    self._change_evaluator()
                except AnabranchError as error:
                    raise OptionError(
                        f"{error}; the engine goes on with the evaluator that it has"
                    ) from error
            case "PlaysLike" if changed:
                try:
                    self._change_evaluator()
                except AnabranchError as error:  # no other player under the name of this one
                    self._options.set(option, old)
                    raise OptionError(f"{error}; PlaysLike stays {old}") from error
            case _:
                self.configure()

    def configure(self, handicap: Handicap | None = None) -> None:
        """Give the engine the settings of the options, and of a handicap."""
        options = self._options
        wanted = (options.revision, self._tables[1], handicap)
        if self._engine is None or (wanted == self._configured and handicap is None):
            return
        settings = asdict(resolve(options.preset, options.variant, self._engine.evaluator, options.settings))
        del settings["evaluator"]
        analysis = options.flag("UCI_AnalyseMode")
        settings |= {
            "threads": options.number("Threads"),
            "memory": options.number("Hash") * MEGABYTE,
            "contempt": 0.0 if analysis else value_of(options.number("Contempt"), options.variant),
            "tablebase_men": options.number("SyzygyProbeLimit"),
            "tablebase_fifty": options.flag("Syzygy50MoveRule"),
            "improve": settings["improve"] or (handicap is None and "improve" not in options.settings),
        }
        if handicap is not None:
            settings |= handicap.settings(self._random)
        self._engine.configure(tablebases=self._tables[1], **settings)
        self._configured = wanted

    def fallback_moves(self) -> tuple[str, ...]:
        """The legal moves by python-chess, for a search that failed."""
        fen, moves = self._position
        with suppress(ValueError):
            rules = chess.variant.find_variant(self._options.variant)
            board = rules(fen or rules.starting_fen, chess960=self._options.is_chess960)
            for move in moves:
                board.push_uci(move)
            return tuple(move.uci() for move in board.legal_moves)
        return ()

    def _make(self) -> Engine:
        """An engine for the variant, with the evaluator of the options or the default one."""
        options = self._options
        try:
            evaluator = self._open_evaluator()
            engine = Engine(options.variant, chess960=options.is_chess960, evaluator=evaluator)
        except (AnabranchError, OSError) as error:
            if options.plays_like is not None:
                self._output.complain(f"{error}; PlaysLike is off")
                options.stop_playing_like()
                return self._make()
            self._output.complain(f"{error}; the engine goes on with its own evaluator")
            engine = Engine(options.variant, chess960=options.is_chess960)
        self._engine, self._configured = engine, None
        self.configure()
        try:
            engine.position = (self._position[0] or "startpos", self._position[1])
        except AnabranchError:
            self._position = (None, [])  # a position of another variant
            engine.position = "startpos"
        return engine

    def _open_evaluator(self) -> str | _core.Network | AnyEvaluator | None:
        options = self._options
        requested, backend = options.evaluator, options.text("Backend")
        if backend == "material":
            return "material"
        threads = options.number("Threads")
        if backend == "auto":
            return (
                None if requested is None else resolve_evaluator(requested, options.variant, threads=threads)
            )
        if requested is None:
            shipped = bundled(options.variant, "onnx")
            if shipped is None:
                raise EvaluatorError(f"no ONNX network for {options.variant} comes with the package")
            requested = str(shipped)
        return resolve_evaluator(requested, options.variant, runtime=backend, threads=threads)

    def _change_evaluator(self) -> None:
        """Take the evaluator of the options; where that fails, the old one stays in use."""
        if self._engine is None:
            return
        evaluator = self._open_evaluator()
        own = "network" if bundled(self._options.variant) else "material"
        self._engine.configure(evaluator=own if evaluator is None else evaluator)
        self.configure()

    def _open_tables(self) -> None:
        path = self._options.text("SyzygyPath")
        if path == DEFAULT:
            path = str(default_directory())
        if path == self._tables[0]:
            return
        there = [folder for folder in read_paths(path) if os.path.isdir(folder)]
        for folder in read_paths(path):
            if folder not in there:  # in words that no interface takes for a crash
                self._output.complain(f"SyzygyPath: there is no folder {folder}")
        tables = open_tablebases(there) if there else None
        self._tables = (path, tables)
        if tables is not None:
            for problem in tables.problems[:20]:
                self._output.complain(problem)
            self._output.complain(f"{len(tables.files)} tablebase files, up to {tables.men} men")
