"""`anabranch suite`: how many positions of EPD files a search solves, and how soon.

All files are read before anything is searched, so that a bad line costs no time.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anabranch.cli.from_settings import with_settings
from anabranch.cli.options import (
    EngineGroup,
    EngineOptions,
    JsonOption,
    RayOption,
    argument,
    is_placement,
    limit_options,
    option,
)
from anabranch.limits import Limits

if TYPE_CHECKING:
    from rich.console import Console

    from anabranch.bench.exact import ExactAttempt
    from anabranch.bench.solving import MateAttempt, MateJob
    from anabranch.bench.suite import Attempt, Task, TaskJob
    from anabranch.engine import Engine
    from anabranch.jobs.executor import Executor

SIMULATIONS = 20_000
"""The limit per position where none is given."""
POSITIONS = 1_000_000
"""That of the solver."""


@with_settings
def suite(
    *,
    files: Annotated[list[Path], argument("FILE...", "EPD files; in other games positions with scores.")],
    given: EngineGroup,
    limits: Annotated[
        dict[str, Any],
        limit_options("simulations", "time", simulations=f"{SIMULATIONS}, if there is no --time"),
    ],
    positions: Annotated[
        int | None,
        option("N", f"With --mates: positions of the solver.  [default: {POSITIONS}, if there is no --time]"),
    ] = None,
    mates: Annotated[
        bool, option(None, "The solver instead of the search: how many mates it proves, how soon.", "--mates")
    ] = False,
    proofs: Annotated[
        bool,
        option(
            None, "Only proofs count: of a mate in dm moves, or of any win where there is no dm.", "--proofs"
        ),
    ] = False,
    workers: Annotated[
        int | None, option("N", "Worker processes.  [default: none]", "--workers", "-w")
    ] = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Solve test positions (EPD): how many, and how soon.

    A position is solved when the best move at the end is a bm and no am, or when a mate in at most dm moves
    is proven; dm alone requires the proof, and below zero it means that the side to move is mated.
    Simulations and time to solution are those after which the answer stayed right until the end; it is read
    ten times per decade of simulations, from 100 on. Exit code 0 means that the suite was run, not that all
    of it was solved.

    With --mates a position is solved when the solver proves the win (or the loss, where dm is below zero) in
    any number of moves; those within dm are counted apart.

    With another game (--game) a line is a position and its score for the side to move, '443 -1': above 0 for
    a win, 0 for a draw. A position is solved when that result is proven.

    Example: anabranch suite tests/data/mates-chess.epd --mates
    """
    from anabranch.bench.solving import MateJob
    from anabranch.bench.suite import TaskJob, read_suite
    from anabranch.cli.output import output, print_json
    from anabranch.errors import LimitError, SuiteError
    from anabranch.jobs.executor import executor_of

    if any(is_placement(str(path).split()[0] if str(path).strip() else "") for path in files):
        raise SuiteError(
            "a suite is read from EPD files; 'anabranch analyse' searches one position, its FEN in quotes"
        )
    if mates and proofs:
        raise SuiteError("--mates and --proofs cannot both be given")
    if mates and "simulations" in limits:
        raise LimitError("the solver is limited by --time or --positions, not by --simulations")
    if positions is not None and not mates:
        raise LimitError("--positions limits the solver, so it needs --mates")
    if workers or ray is not None:
        given.setdefault("threads", 1)  # the workers are as many as the cores
    options = EngineOptions(**given)
    engine = options.make()
    if engine.is_grid:
        if mates or proofs:
            raise SuiteError("--mates and --proofs are for chess; in other games only proofs count anyway")
        limit = Limits(**limits or {"simulations": SIMULATIONS})
        _prove_all(
            engine,
            files,
            options,
            limit,
            executor_of(0 if workers is None and ray is None else workers, ray),
            as_json,
        )
        return
    tasks = [task for path in files for task in read_suite(path, engine)]
    if not tasks:
        raise SuiteError(f"there is no position in {', '.join(str(path) for path in files)}")
    executor = executor_of(0 if workers is None and ray is None else workers, ray)
    if mates:
        time = limits.get("time")
        most = POSITIONS if positions is time is None else positions
        solver_jobs = [
            MateJob(number, task, engine.variant, engine.chess960, time, most)
            for number, task in enumerate(tasks)
        ]
        _solve_all(engine, solver_jobs, executor, as_json)
        return
    limit = Limits(**limits or {"simulations": SIMULATIONS})
    jobs = [TaskJob(number, task, options.make, limit, proofs) for number, task in enumerate(tasks)]
    attempts, is_complete = _attempt_all(jobs, executor)
    if as_json:
        print_json(
            {
                **_summary(attempts),
                "positions": len(tasks),
                "variant": engine.variant,
                "preset": options.preset,
                "proofs": proofs,
                "limits": {"simulations": limit.simulations, "time": limit.time},
                "attempts": [_document(attempt) for attempt in attempts],
                "settings": asdict(engine.settings),
            }
        )
    else:
        console = output()
        console.print(_table(engine, attempts))
        for line in _summary_lines(attempts, len(tasks)):
            console.print(line)
    if not is_complete:
        raise typer.Exit(130)


def _attempt_all(jobs: list[TaskJob], executor: Executor) -> tuple[list[Attempt], bool]:
    """The attempts, with a progress bar where stderr is a terminal; and whether they are all of them."""
    from anabranch.bench.suite import attempt_job
    from anabranch.cli.output import show_progress

    found: dict[int, Attempt] = {}
    with (
        show_progress("positions") as on_progress,
        suppress(KeyboardInterrupt),
        closing(executor.run(attempt_job, jobs)) as results,
    ):
        for number, attempt in results:
            found[number] = attempt
            solved = sum(done.solved for done in found.values())
            seconds = sum(done.seconds for done in found.values())
            rate = sum(done.simulations for done in found.values()) / max(seconds, 1e-9)
            on_progress(len(found), len(jobs), f"{solved} solved, {rate:,.0f} simulations/s")
    return [found[number] for number in sorted(found)], len(found) == len(jobs)


def _prove_all(
    engine: Engine,
    files: list[Path],
    options: EngineOptions,
    limits: Limits,
    executor: Executor,
    as_json: bool,
) -> None:
    """The results of files of a game with exact scores, printed: how many are proven."""
    from anabranch.bench.exact import ExactJob, attempt_exact_job, read_exact, summarise_exact
    from anabranch.cli.output import output, print_json, show_progress, table
    from anabranch.errors import SuiteError

    tasks = {path: read_exact(path, engine) for path in files}
    flat = [task for path in files for task in tasks[path]]
    if not flat:
        raise SuiteError(f"there is no position in {', '.join(str(path) for path in files)}")
    jobs = [ExactJob(number, task, options.make, limits) for number, task in enumerate(flat)]
    found: dict[int, ExactAttempt] = {}
    with (
        show_progress("positions") as on_progress,
        suppress(KeyboardInterrupt),
        closing(executor.run(attempt_exact_job, jobs)) as results,
    ):
        for number, attempt in results:
            found[number] = attempt
            on_progress(len(found), len(jobs), f"{sum(done.solved for done in found.values())} proven")
    rows, documents, place = [], [], 0
    for path in files:
        places = range(place, place + len(tasks[path]))
        place = places.stop
        summary = summarise_exact([found[number] for number in places if number in found])
        documents.append({"file": str(path), "positions": len(places), **summary})
        rows.append(
            [path.name, *(f"{value:,.0f}" if value is not None else "" for value in summary.values())]
        )
    if as_json:
        attempts = [{**_document(found[number]), "solved": found[number].solved} for number in sorted(found)]
        print_json({"variant": engine.variant, "files": documents, "attempts": attempts})
    else:
        heads = ["file", ">tried", ">proven", ">wrong", ">simulations", ">s", ">median", ">most"]
        output().print(table(None, heads, rows))
    if len(found) < len(jobs):
        raise typer.Exit(130)


def _solve_all(engine: Engine, jobs: list[MateJob], executor: Executor, as_json: bool) -> None:
    """The same with the solver, printed."""
    from anabranch.bench.solving import solve_job, summarise_mates
    from anabranch.cli.output import output, print_json, show_progress

    found: dict[int, MateAttempt] = {}
    with (
        show_progress("positions") as on_progress,
        suppress(KeyboardInterrupt),
        closing(executor.run(solve_job, jobs)) as results,
    ):
        for number, attempt in results:
            found[number] = attempt
            on_progress(len(found), len(jobs), f"{sum(done.solved for done in found.values())} solved")
    attempts = [found[number] for number in sorted(found)]
    summary = summarise_mates(attempts)
    if as_json:
        print_json(
            {
                **summary,
                "positions": len(jobs),
                "variant": engine.variant,
                "limits": {"positions": jobs[0].positions, "time": jobs[0].time},
                "attempts": [
                    {**_document(attempt), "solved": attempt.solved, "is_within": attempt.is_within}
                    for attempt in attempts
                ],
            }
        )
    else:
        _show_mates(output(), engine, attempts, summary, len(jobs))
    if len(found) < len(jobs):
        raise typer.Exit(130)


def _show_mates(
    console: Console, engine: Engine, attempts: list[MateAttempt], summary: dict[str, Any], positions: int
) -> None:
    from rich.text import Text

    from anabranch.cli.output import plural, table

    rows: list[list[str | Text]] = [
        [
            attempt.task.id,
            _goal(engine, attempt.task),
            "" if attempt.move is None else _san(engine, attempt.task, [attempt.move]),
            "" if attempt.mate is None else f"{attempt.result} in {abs(attempt.mate)}",
            Text("yes", style="green") if attempt.solved else Text("no", style="red"),
            f"{attempt.positions:,}",
            f"{attempt.proof_positions:,}" if attempt.proof_positions else "",
            f"{attempt.seconds:.3f}",
        ]
        for attempt in attempts
    ]
    columns = ["position", "answer", "move", "proven", "solved", ">positions", ">in the proof", ">s"]
    console.print(table(None, columns, rows))

    def seconds(number: float | None) -> str:
        return "" if number is None else f"{number:.4f}"

    columns = ["dm", ">positions", ">solved", ">within dm", ">mean s", ">mean s of solved"]
    groups = [
        [
            "none" if row["mate"] is None else str(row["mate"]),
            f"{row['attempted']:,}",
            f"{row['solved']:,}",
            f"{row['within_dm']:,}",
            seconds(row["mean_seconds"]),
            seconds(row["mean_seconds_of_solved"]),
        ]
        for row in summary["by_distance"]
    ]
    console.print(table(None, columns, groups))
    mean = summary["mean_seconds"]
    console.print(
        f"solved {summary['solved']} of {plural(summary['attempted'], 'position')}, {summary['within_dm']} "
        f"within dm; {plural(summary['positions_searched'], 'position')} of the solver, "
        f"{summary['seconds']:.2f} s{'' if mean is None else f', {mean:.4f} s on average'}"
    )
    for line in _left_out(len(attempts), positions):
        console.print(line)


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
    return [*lines, *_left_out(len(attempts), positions)]


def _left_out(attempted: int, positions: int) -> list[str]:
    from anabranch.cli.output import plural

    left = positions - attempted
    return (
        [f"interrupted: {plural(left, 'position')} {'was' if left == 1 else 'were'} not tried"]
        if left
        else []
    )


def _document(attempt: Attempt | MateAttempt | ExactAttempt) -> dict[str, Any]:
    document = asdict(attempt)
    return {
        **document.pop("task"),
        **{f"found_{name}" if name == "mate" else name: value for name, value in document.items()},
    }


def _san(engine: Engine, task: Task, moves: Iterable[str]) -> str:
    from anabranch.result import board_of

    board = board_of(engine.variant, task.position, engine.chess960)
    return " ".join(board.san(board.parse_uci(move)) for move in moves)


def _goal(engine: Engine, task: Task) -> str:
    goal = [f"bm {_san(engine, task, task.best)}"] if task.best else []
    goal += [f"am {_san(engine, task, task.avoid)}"] if task.avoid else []
    goal += [f"dm {task.mate}"] if task.mate else []
    return ", ".join(goal)


def _table(engine: Engine, attempts: list[Attempt]) -> Any:
    from rich.text import Text

    from anabranch.cli.output import table

    rows: list[list[str | Text]] = []
    for attempt in attempts:
        task = attempt.task
        proven = attempt.state or ""
        if attempt.mate is not None:
            proven = f"{attempt.state} in {abs(attempt.mate)}"
        to_solution = attempt.simulations_to_solution
        seconds = attempt.seconds_to_solution
        rows.append(
            [
                task.id,
                _goal(engine, task),
                _san(engine, task, [attempt.move]),
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
