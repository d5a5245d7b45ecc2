"""`anabranch analyse`: search a position and show what was found, while it is found where that is a
terminal.

The search is the engine's; this file is limits in, table out. Ctrl-C ends the search, not the command.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anabranch.cli.from_settings import with_settings
from anabranch.cli.options import (
    EngineGroup,
    EngineOptions,
    JsonOption,
    argument,
    configure,
    limit_options,
    option,
    position_text,
)
from anabranch.engine import Engine
from anabranch.errors import GraphFileError, LimitError, SettingError
from anabranch.evaluators.open import split_runtime
from anabranch.evaluators.resolve import resolve_evaluator
from anabranch.limits import Limits
from anabranch.named_games import is_reference
from anabranch.networks import is_network_path
from anabranch.optional import require

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anabranch.result import Line, MoveStatistics, Progress, Result

SECONDS = 5.0
"""The limit where none is given."""
WIDE = 100
"""Columns of a screen from which on moves show win, draw and loss."""


LIMITS = limit_options(
    "simulations", "evaluations", "time", "mate", time=f"{SECONDS:g}, if there is no other limit"
)


@with_settings
def analyse(
    *,
    position: Annotated[
        str | None,
        argument(
            "POSITION", "FEN or startpos, either with 'moves ...'; in other games moves.  [default: startpos]"
        ),
    ] = None,
    moves: Annotated[
        str | None,
        option("MOVES", "Moves played from POSITION, UCI or SAN: 'e2e4 e5'; or of the game: '4 4'."),
    ] = None,
    given: EngineGroup,
    limits: Annotated[dict[str, Any], LIMITS],
    network: Annotated[
        Path | None, typer.Option("--network", hidden=True, help="Deprecated: --evaluator takes files.")
    ] = None,
    multipv: Annotated[int, option("N", "Principal variations to show.")] = 1,
    top: Annotated[int, option("N", "Moves in the table; 0 for all.")] = 10,
    graph: Annotated[
        Path | None, option("FILE", "Write the search graph: .dot, .gv, .json or .graphml by suffix.")
    ] = None,
    save: Annotated[Path | None, option("FILE", "Save the whole search, to go on later.")] = None,
    load: Annotated[
        Path | None, option("FILE", "Go on with a saved search, its variant and settings.")
    ] = None,
    file: Annotated[
        Path | None,
        option(
            "FILE", "Search every position of a file, EPD or FEN; - is the standard input.", "--file", "-f"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option("FILE", "With --file: write the JSON lines here; the same command continues.", "--out", "-o"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Search a position: moves, principal variations, statistics.

    Searches until the first limit is met, for five seconds if there is none. Ctrl-C ends the search and
    shows what was found.

    With --file every position is searched for itself, as many at once as there are threads; the limits are
    those of one position. A line is printed for each, with --json one JSON object. A line that cannot be
    searched becomes one with an "error"; then the exit code is 1.

    Example: anabranch analyse "startpos moves e2e4 c7c5" --time 10 --multipv 3
    """
    if multipv < 1:
        raise LimitError(f"--multipv must be at least 1, not {multipv}")
    if top < 0:
        raise LimitError(f"--top must be at least 0, not {top}")
    if file is not None and any(given is not None for given in (position, moves, graph, save, load)):
        raise SettingError("--file goes with no position, --moves, --graph, --save or --load")
    if out is not None and file is None:
        raise SettingError("--out takes the results of --file")
    if graph is not None:
        _check_graph_file(graph)
    if save is not None and not save.absolute().parent.is_dir():
        raise GraphFileError(f"there is no directory {save.absolute().parent} to save the search in")
    if network is not None and "evaluator" in given:
        raise SettingError("--network and --evaluator cannot both be given")
    if network is not None:
        runtime, file_name = split_runtime(str(network))
        path = file_name if is_network_path(file_name) else f"./{file_name}"
        given["evaluator"] = path if runtime is None else f"{runtime}:{path}"
    options = EngineOptions(**given)
    limit = Limits(**limits or {"time": SECONDS})
    if file is not None:
        from anabranch.cli.analyse_file import analyse_file

        engine = options.make()
        document_of = partial(_document, engine) if as_json or out is not None else None
        analyse_file(engine, file, limit, multipv, document_of, out)
        return
    if load is None:
        engine = options.make()
    else:
        named = str(given.get("variant", ""))
        is_named = is_reference(named)
        if given.keys() & ({"preset", "chess960"} if is_named else {"variant", "preset", "chess960"}):
            raise SettingError(
                "a saved search has its own variant and settings, so --variant, --chess960 and "
                "--preset cannot be given with --load"
            )
        changes = options.changes
        evaluator = changes.pop("evaluator", None)
        opened = None if evaluator is None else resolve_evaluator(str(evaluator), threads=options.threads)
        engine = Engine.load(load, opened, game=named if is_named else None)
        if changes:
            configure(engine, changes)
    _place(engine, position, moves, load is not None)
    if engine.is_grid and not as_json:
        from anabranch.cli.output import output

        output().print(engine.picture, highlight=False, markup=False)
    result = _search(engine, limit, multipv, top, as_json)
    _show(engine, result, top, as_json)
    if graph is not None:
        engine.graph().write(graph)
    if save is not None:
        engine.save(save)
    if result.statistics.root_visits == 0 and result.finish == "stopped":
        raise typer.Exit(130)


def _check_graph_file(path: Path) -> None:
    """Refuse before the search what could only be refused after it."""
    if path.suffix.lower() not in (".dot", ".gv", ".json", ".graphml"):
        raise GraphFileError(
            f"a graph is written to a file named .dot, .gv, .json or .graphml, not {path.name!r}"
        )
    if not path.absolute().parent.is_dir():
        raise GraphFileError(f"there is no directory {path.absolute().parent} to write the graph in")
    if path.suffix.lower() == ".graphml":
        require("networkx", "graph")


def _place(engine: Engine, position: str | None, moves: str | None, is_loaded: bool) -> None:
    if position is None and is_loaded:
        for move in (moves or "").split():
            engine.play(move)
        return
    engine.position = position_text(position, moves)


def _search(engine: Engine, limits: Limits, lines: int, top: int, as_json: bool) -> Result:
    """Search to a limit or to Ctrl-C."""
    from anabranch.cli.output import output

    console = output()
    try:
        if as_json or not console.is_terminal:
            return engine.search(limits=limits, lines=lines)
        from rich.live import Live

        with Live(console=console, transient=True, refresh_per_second=8, redirect_stderr=False) as live:
            rows = min(top or 10, max(3, console.height - lines - 12))
            return engine.search(
                limits=limits,
                lines=lines,
                progress=lambda progress: live.update(_view(progress, rows, console.width, is_final=False)),
                progress_interval=0.2,
            )
    except KeyboardInterrupt:
        return engine.result(lines)


def _show(engine: Engine, result: Result, top: int, as_json: bool) -> None:
    from anabranch.cli.output import output, print_json

    if as_json:
        print_json(_document(engine, result))
    else:
        console = output()
        console.print(_view(result, top, console.width, is_final=True))


def _san(result: Progress) -> dict[str, str]:
    """The moves of the root as players write them."""
    if result.root.is_grid:
        return {row.move: row.move for row in result.moves}
    board = result.root.board()
    return {row.move: board.san(board.parse_uci(row.move)) for row in result.moves}


def _verdict(row: MoveStatistics) -> str:
    """What is proven about a move."""
    if row.state == "unknown":
        return ""
    if row.plies is None:
        return row.state
    if row.state == "draw":
        return "draw"
    return f"{row.state} in {row.plies} {'ply' if row.plies == 1 else 'plies'}"


def _score(row: MoveStatistics | Line | Progress) -> str:
    """Centipawns, or the distance of a mate; nothing for a move that was not tried."""
    if row.mate is not None:
        return f"mate {row.mate}"
    return "" if row.centipawns is None else f"{row.centipawns:+d}"


def _line_score(line: Line) -> str:
    """The score before the moves of a line."""
    return "" if not (score := _score(line)) else f"{score}{' cp' if line.mate is None else ''}  "


def _headline(result: Progress) -> str:
    text = result.best_move
    if not result.root.is_grid:
        board = result.root.board()
        text = f"{board.san(board.parse_uci(result.best_move))} ({result.best_move})"
    text += f", value {result.value:+.3f}"
    if result.centipawns is not None:
        text += f", {_score(result)} cp"
    text += ", win {:.1f} %, draw {:.1f} %, loss {:.1f} %".format(*(share / 10 for share in result.wdl))
    solved = result.solved
    if solved is None:
        return text
    if solved.mate is None or solved.plies is None:
        return f"{text}, proven {solved.state}"
    what = f"win in {solved.mate}" if solved.mate > 0 else f"loss in {-solved.mate}"
    return f"{text}, proven {what}{' (the true distance)' if solved.exact else ''}"


def _view(result: Progress, top: int, width: int, *, is_final: bool) -> RenderableType:
    """Everything about a search, for people, in so many columns of a screen."""
    from rich.console import Group
    from rich.text import Text

    from anabranch.cli.output import plural, table
    from anabranch.result import Result

    san = _san(result)
    shown = result.moves if top == 0 else result.moves[:top]
    columns = ["move", "UCI", ">visits", ">Q", ">cp", ">win draw loss ‰", ">prior", ">policy", "verdict"]
    rows = [
        [
            san[row.move],
            row.move,
            f"{row.visits:,}",
            "" if row.q is None else f"{row.q:+.3f}",
            _score(row),
            "" if row.wdl is None else " ".join(f"{share:4}" for share in row.wdl),
            f"{100 * row.prior:.2f} %",
            f"{100 * row.policy:.2f} %",
            _verdict(row),
        ]
        for row in shown
    ]
    unwanted = [">win draw loss ‰"] if width < WIDE else []
    if result.root.is_grid:
        unwanted += ["UCI", ">cp"]
    for name in unwanted:
        place = columns.index(name)
        for row_or_head in (columns, *rows):
            del row_or_head[place]
    hidden = len(result.moves) - len(shown)
    parts: list[RenderableType] = [
        Text(f"{result.root.variant}: {result.position}"),
        Text(_headline(result), style="bold"),
        table(None, columns, rows),
    ]
    if hidden and is_final:
        parts.append(Text(f"and {plural(hidden, 'move')} more (--top 0 shows all)\n"))
    parts += [
        Text(f"{number}. {line.value:+.3f}  {_line_score(line)}{line.san}")
        for number, line in enumerate(result.lines, start=1)
    ]
    parts.append(Text("\n" + "\n".join(_statistics(result))))
    if isinstance(result, Result) and result.remark is not None:
        parts.append(Text(result.remark))
    return Group(*parts)


def _statistics(result: Progress) -> list[str]:
    from anabranch.cli.output import plural
    from anabranch.result import Statistics

    numbers = result.statistics
    seconds = max(result.elapsed, 1e-9)
    lines = [
        f"{plural(numbers.simulations, 'simulation')} and {plural(numbers.evaluations, 'evaluation')} "
        f"in {result.elapsed:.2f} s ({numbers.simulations / seconds:,.0f} simulations/s), "
        f"mean depth {numbers.mean_depth:.1f}, longest {numbers.max_depth}",
        f"{plural(numbers.nodes, 'node')}, {plural(numbers.transposition_links, 'transposition link')}, "
        f"{plural(numbers.corrections, 'correction')}, "
        f"{numbers.bytes / max(numbers.nodes, 1):,.0f} bytes per node",
    ]
    if isinstance(numbers, Statistics):
        lines.append(
            f"{plural(numbers.transposition_nodes, 'transposition node')}, "
            f"{plural(numbers.solved_nodes, 'solved node')}, "
            f"leak {numbers.leak:.5f}"
        )
    return lines


def _document(engine: Engine, result: Result) -> dict[str, Any]:
    """Everything about a search, for programs."""
    document = result.to_dict()
    san = _san(result)
    for row in document["moves"]:
        row["san"] = san[row["move"]]
    for line, said in zip(document["lines"], result.lines, strict=True):
        line["san"] = said.san
    document["best_move_san"] = san[result.best_move]
    numbers = document["statistics"]
    numbers["simulations_per_second"] = result.statistics.simulations / max(result.elapsed, 1e-9)
    numbers["bytes_per_node"] = result.statistics.bytes / max(result.statistics.nodes, 1)
    document["settings"] = asdict(engine.settings)
    return document
