"""`anabranch suite`: how many positions of EPD files a search solves, and how soon.

All files are read before anything is searched, so that a bad line costs no time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anabranch.cli.options import (
    Chess960Option,
    EvaluatorOption,
    JsonOption,
    PresetOption,
    SetOption,
    ThreadsOption,
    VariantOption,
    is_placement,
    make_engine,
    read_changes,
)

if TYPE_CHECKING:
    from anabranch.bench.suite import Attempt, Task
    from anabranch.engine import Engine

SIMULATIONS = 20_000
"""The limit per position where none is given."""


def suite(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="EPD files.")],
    variant: VariantOption = "chess",
    chess960: Chess960Option = False,
    preset: PresetOption = "default",
    simulations: Annotated[
        int | None,
        typer.Option(
            "--simulations",
            "-n",
            metavar="N",
            help=f"Simulations per position.  [default: {SIMULATIONS}, if there is no --time]",
        ),
    ] = None,
    time: Annotated[float | None, typer.Option(metavar="SECONDS", help="Time per position.")] = None,
    mates: Annotated[
        bool,
        typer.Option(
            "--mates", help="Only proofs count: of a mate in dm moves, or of any win where there is no dm."
        ),
    ] = False,
    evaluator: EvaluatorOption = None,
    threads: ThreadsOption = None,
    assignments: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Solve test positions (EPD): how many, and how soon.

    A position is solved when the best move at the end is a bm and no am, or when a mate in at most dm moves
    is proven; dm alone asks for the proof. Simulations and time to solution are those after which the answer
    stayed right until the end; it is looked at ten times per decade of simulations, from 100 on. Exit code 0
    says that the suite was run, not that all of it was solved.
    """
    from anabranch.bench.suite import read_suite
    from anabranch.cli.output import output, print_json
    from anabranch.errors import SuiteError

    if any(is_placement(str(path).split()[0] if str(path).strip() else "") for path in files):
        raise SuiteError(
            "a suite is read from EPD files; 'anabranch analyse' searches one position, its FEN in quotes"
        )
    engine = make_engine(variant, preset, chess960, read_changes(assignments, evaluator, threads))
    tasks = [task for path in files for task in read_suite(path, engine)]
    if not tasks:
        raise SuiteError(f"there is no position in {', '.join(str(path) for path in files)}")
    if simulations is None and time is None:
        simulations = SIMULATIONS
    attempts, is_whole = _attempt_all(engine, tasks, simulations, time, mates)
    if as_json:
        print_json(
            {
                **_summary(attempts),
                "positions": len(tasks),
                "variant": engine.variant,
                "preset": preset,
                "mates": mates,
                "limits": {"simulations": simulations, "time": time},
                "attempts": [_document(attempt) for attempt in attempts],
                "settings": asdict(engine.settings),
            }
        )
    else:
        console = output()
        console.print(_table(engine, attempts))
        for line in _summary_lines(attempts, len(tasks)):
            console.print(line)
    if not is_whole:
        raise typer.Exit(130)


def _attempt_all(
    engine: Engine, tasks: list[Task], simulations: int | None, time: float | None, mates: bool
) -> tuple[list[Attempt], bool]:
    """The attempts, with a progress bar where stderr is a terminal; and whether Ctrl-C left all of them."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from anabranch.bench.suite import attempt
    from anabranch.cli.output import notices

    console = notices()
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[solved]} solved, {task.fields[rate]}, time left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    attempts: list[Attempt] = []
    with bar:
        shown = bar.add_task("suite", total=len(tasks), solved=0, rate="")
        try:
            for task in tasks:
                attempts.append(attempt(engine, task, simulations, time, mates))
                seconds = sum(done.seconds for done in attempts)
                rate = f"{sum(done.simulations for done in attempts) / max(seconds, 1e-9):,.0f} simulations/s"
                bar.update(shown, advance=1, solved=sum(done.solved for done in attempts), rate=rate)
        except KeyboardInterrupt:
            return attempts, False
    return attempts, True


def _summary(attempts: list[Attempt]) -> dict[str, Any]:
    solved = [attempt for attempt in attempts if attempt.solved]
    return {
        "attempted": len(attempts),
        "solved": len(solved),
        "proven": sum(attempt.state is not None for attempt in attempts),
        "simulations": sum(attempt.simulations for attempt in attempts),
        "evaluations": sum(attempt.evaluations for attempt in attempts),
        "seconds": sum(attempt.seconds for attempt in attempts),
        "median_simulations_to_solution": _median(attempt.simulations_to_solution for attempt in solved),
        "median_seconds_to_solution": _median(attempt.seconds_to_solution for attempt in solved),
    }


def _median(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return median(known) if known else None


def _summary_lines(attempts: list[Attempt], positions: int) -> list[str]:
    from anabranch.cli.output import plural

    summary = _summary(attempts)
    lines = [
        f"solved {summary['solved']} of {plural(summary['attempted'], 'position')}, {summary['proven']} with "
        f"a proof; {plural(summary['simulations'], 'simulation')}, {summary['seconds']:.2f} s"
    ]
    if summary["solved"]:
        lines.append(
            f"half of the solved ones within {summary['median_simulations_to_solution']:,.0f} simulations, "
            f"{summary['median_seconds_to_solution']:.3f} s"
        )
    if len(attempts) < positions:
        left = positions - len(attempts)
        lines.append(f"interrupted: {plural(left, 'position')} {'was' if left == 1 else 'were'} not tried")
    return lines


def _document(attempt: Attempt) -> dict[str, Any]:
    document = asdict(attempt)
    return {
        **document.pop("task"),
        **{f"found_{name}" if name == "mate" else name: value for name, value in document.items()},
    }


def _table(engine: Engine, attempts: list[Attempt]) -> Any:
    from rich.text import Text

    from anabranch.cli.output import table
    from anabranch.result import board_of

    rows: list[list[str | Text]] = []
    for attempt in attempts:
        board = board_of(engine.variant, attempt.task.position, engine.chess960)

        def san(moves: Iterable[str], board: Any = board) -> str:
            return " ".join(board.san(board.parse_uci(move)) for move in moves)

        task = attempt.task
        goal = [f"bm {san(task.best)}"] if task.best else []
        goal += [f"am {san(task.avoid)}"] if task.avoid else []
        goal += [f"dm {task.mate}"] if task.mate else []
        proven = attempt.state or ""
        if attempt.mate is not None:
            proven = f"{attempt.state} in {abs(attempt.mate)}"
        to_solution = attempt.simulations_to_solution
        seconds = attempt.seconds_to_solution
        rows.append(
            [
                task.id,
                ", ".join(goal),
                san([attempt.move]),
                proven,
                Text("yes", style="green") if attempt.solved else Text("no", style="red"),
                "" if to_solution is None else f"{to_solution:,}",
                "" if seconds is None else f"{seconds:.3f}",
                f"{attempt.simulations:,}",
                f"{attempt.seconds:.3f}",
            ]
        )
    return table(
        None,
        ["position", "answer", "move", "proven", "solved", ">after", ">s", ">simulations", ">s in all"],
        rows,
    )
