"""`anabranch study`: the experiments of the paper and ours, at any scale, and what they show.

Options in, progress and tables out; the work is that of `anabranch.study`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from anabranch.cli.options import EvaluatorOption, JsonOption, RayOption

if TYPE_CHECKING:
    from anabranch.study.estimate import Remaining
    from anabranch.study.plan import Study
    from anabranch.study.run import Tell

QUIET = 30.0
"""Seconds between two lines of progress where there is no terminal."""
UNLIMITED = 400
"""Columns that a table may take where there is no terminal."""

study = typer.Typer(
    help="Run the experiments of the paper, and show what came of them.", no_args_is_help=True
)

SourcesArgument: TypeAlias = Annotated[
    list[Path], typer.Argument(metavar="DIR...", help="Folders of studies, or summaries of them (.json).")
]


@study.command("list")
def list_experiments(as_json: JsonOption = False) -> None:
    """List the experiments with what they ask and how much each scale takes."""
    from anabranch.cli.output import output, print_json, table
    from anabranch.study.experiments import EXPERIMENTS

    if as_json:
        print_json(
            [
                {
                    "name": experiment.name,
                    "title": experiment.title,
                    "question": experiment.question,
                    "of_paper": experiment.of_paper,
                    "sizes": {scale: size.to_dict() for scale, size in experiment.sizes.items()},
                }
                for experiment in EXPERIMENTS.values()
            ]
        )
        return
    rows = []
    for experiment in EXPERIMENTS.values():
        amounts = []
        for scale in experiment.sizes:
            plan = experiment.plan(experiment.study(scale))
            games = sum(match.spec.games for match in plan.matches)
            amounts.append(f"{games:,} games" if games else f"{len(plan.measurements):,} searches")
        rows.append(
            [experiment.name, "paper" if experiment.of_paper else "ours", experiment.question, *amounts]
        )
    output().print(table(None, ["experiment", "of", "question", ">tiny", ">small", ">full"], rows))


@study.command()
def run(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="One of 'anabranch study list'.")],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Where results go; if they are there, they go on."),
    ],
    scale: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="tiny, small or full.  [default: that of the folder, or small]"),
    ] = None,
    evaluations: Annotated[
        str | None, typer.Option(metavar="N,...", help="Budgets per move, or points to look at searches.")
    ] = None,
    simulations: Annotated[
        str | None, typer.Option(metavar="N,...", help="Points to look at searches.")
    ] = None,
    times: Annotated[
        str | None, typer.Option("--times", metavar="SECONDS,...", help="Time controls, per move.")
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(metavar="N", help="Pairs of games of every two players that meet.")
    ] = None,
    error: Annotated[
        float,
        typer.Option(
            metavar="ELO", min=0.0, help="No more pairs for a match whose error is smaller than this."
        ),
    ] = 0.0,
    positions: Annotated[int | None, typer.Option(metavar="N", help="Positions to measure on.")] = None,
    plies: Annotated[int | None, typer.Option(metavar="N", help="Plies after which a game ends.")] = None,
    reference_nodes: Annotated[
        int | None, typer.Option(metavar="N", help="Most nodes of the reference engine; 0 leaves it out.")
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", "-v", metavar="NAME", help="Only this variant now; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this player, or this group, now, as tables name it; may be repeated."
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of all engines of ours; may be repeated."
        ),
    ] = None,
    evaluator: EvaluatorOption = None,
    tablebases: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Syzygy tables for matches of chess: asked, and they end games."),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Of all that is left to chance.")] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", metavar="N", help="Processes.  [default: the cores here]"),
    ] = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run an experiment, or go on with it.

    The same command goes on where it was interrupted; with more pairs or positions the study becomes larger.
    A folder keeps one study: another scale is refused. Without a scale, a folder goes on as it began.
    """
    from anabranch.cli.options import read_changes
    from anabranch.cli.output import announce, notices, output, plural, print_json, table
    from anabranch.jobs.executor import executor_of
    from anabranch.optional import require
    from anabranch.study.folder import STUDY
    from anabranch.study.run import run_study
    from anabranch.study.summary import figures_of, status_of, summarise

    sizes: dict[str, Any] = {
        "evaluations": _numbers("--evaluations", evaluations, int),
        "simulations": _numbers("--simulations", simulations, int),
        "times": _numbers("--times", times, float),
        "pairs": pairs,
        "positions": positions,
        "plies": plies,
        "reference_nodes": reference_nodes,
    }
    asked = _study(
        experiment,
        out,
        scale,
        {name: value for name, value in sizes.items() if value is not None},
        {name: str(value) for name, value in read_changes(assignments, evaluator).items()},
        tablebases,
        seed,
    )
    is_whole = True
    executor = executor_of(workers, ray)
    if ray is not None:
        require("ray", "cluster")

    def begin(rest: Remaining) -> None:
        tallies = ((rest.games, "game"), (len(rest.measurements), "measurement"))
        what = " and ".join(plural(number, noun) for number, noun in tallies if number)
        jobs = rest.games + len(rest.measurements)
        announce(what, rest.seconds, jobs, executor, is_most=error > 0.0)

    with _show() as tell:
        try:
            parts = tuple(variant or ()), tuple(only or ())
            run_study(asked, out, executor, *parts, tell, error, begin)
        except KeyboardInterrupt:
            is_whole = False
    if not (is_whole or (out / STUDY).exists()):
        raise typer.Exit(130)  # interrupted before anything was begun
    summary = summarise(out)
    if as_json:
        print_json(summary)
    else:
        console = output()
        if not console.is_terminal:
            console.width = UNLIMITED
        for part in figures_of(summary).tables:
            columns = [
                column.title if column.kind == "text" else f">{column.title}" for column in part.columns
            ]
            console.print(table(part.title, columns, part.cells()))
        console.print(status_of(summary))
    if not is_whole:
        notices().print("interrupted; the same command goes on")
        raise typer.Exit(130)


@study.command()
def draw(
    sources: SourcesArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="[default: figures in each folder]"),
    ] = None,
    form: Annotated[str, typer.Option("--format", metavar="NAME", help="svg, png or pdf.")] = "svg",
) -> None:
    """Draw the figures of studies."""
    from anabranch.study.draw import draw_all
    from anabranch.study.summary import figures_of, read_summary

    for source in sources:
        summary = read_summary(source)
        charts = figures_of(summary).charts
        folder = out or (source / "figures" if source.is_dir() else source.parent)
        for path in draw_all(charts, folder, form, experiment=summary["recipe"], study=_name_of(source)):
            typer.echo(path)


@study.command()
def report(
    sources: SourcesArgument,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page.")] = Path("report.html"),
    title: Annotated[str, typer.Option(metavar="TEXT", help="Of the page.")] = "The study",
) -> None:
    """Build one page with all figures, tables, settings and errors. It needs nothing beside it."""
    from anabranch.jobs.files import write_atomic
    from anabranch.study.report import build_report
    from anabranch.study.summary import read_summary

    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(out, build_report([read_summary(source) for source in sources], title))
    typer.echo(out)


@study.command()
def summarise(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a study.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="A file .json, and its figures beside it."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what a study shows: as Markdown, as JSON, or in a file small enough to keep, with its figures."""
    from anabranch.cli.output import print_json
    from anabranch.study.draw import draw_all
    from anabranch.study.summary import figures_of, read_summary, to_markdown, write_summary

    summary = read_summary(source)
    if out is not None:
        write_summary(summary, out)
        typer.echo(out)
        charts = figures_of(summary).charts
        for path in draw_all(charts, out.parent, experiment=summary["recipe"], study=out.stem):
            typer.echo(path)
    elif as_json:
        print_json(summary)
    else:
        typer.echo(to_markdown(summary), nl=False)


def _name_of(source: Path) -> str:
    return source.resolve().name if source.is_dir() else source.stem


def _study(
    name: str,
    folder: Path,
    scale: str | None,
    sizes: dict[str, Any],
    settings: dict[str, str],
    tablebases: Path | None,
    seed: int | None,
) -> Study:
    """The study that options ask for; what they leave open is as the folder has it."""
    from dataclasses import replace

    from anabranch.errors import StudyError
    from anabranch.study.experiments import find_experiment
    from anabranch.study.folder import STUDY, has_results, read_document
    from anabranch.study.plan import Study

    experiment = find_experiment(name)
    if scale is None and (folder / STUDY).exists():
        stored = Study.from_dict(read_document(folder))
        if stored.experiment != name and has_results(folder):
            raise StudyError(f"{folder} holds the study {stored.experiment}, not {name}; take another folder")
        if stored.experiment != name:
            stored = experiment.study("small")
    else:
        stored = experiment.study(scale or "small")
    changes: dict[str, Any] = {"size": stored.size.changed(name, sizes)}
    if settings:
        changes["settings"] = settings
    if tablebases is not None:
        changes["tablebases"] = str(tablebases)
    if seed is not None:
        changes["seed"] = seed
    return replace(stored, **changes)


def _numbers(option: str, text: str | None, kind: type[int] | type[float]) -> tuple[float, ...] | None:
    from anabranch.errors import StudyError

    if text is None:
        return None
    try:
        return tuple(sorted({kind(part) for part in text.split(",")}))
    except ValueError:
        raise StudyError(f"{option} takes numbers with commas between, not {text!r}") from None


@contextmanager
def _show() -> Iterator[Tell]:
    """Somebody who hears how far a study is: a bar where stderr is a terminal, else a line at times."""
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    from anabranch.cli.output import Amount, notices

    console = notices()
    said = time.monotonic()
    bar = Progress(
        BarColumn(),
        Amount(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("study", total=None, words="")

        def tell(done: int, planned: int, words: str) -> None:
            nonlocal said
            bar.update(task, completed=done, total=planned, words=words)
            if not console.is_terminal and time.monotonic() - said >= QUIET:
                said = time.monotonic()
                console.print(f"{done:,} of {planned:,} games and measurements; {words}")

        yield tell


__all__ = ["study"]
