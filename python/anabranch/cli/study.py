"""`anabranch study`: the experiments of the paper and ours, at any scale, and their figures.

This reads options and prints; `anabranch.study` does the work.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from anabranch.catalogue import is_grid
from anabranch.cli.from_settings import FromSettings, with_settings
from anabranch.cli.options import (
    EvaluatorOption,
    JsonOption,
    RayOption,
    WorkersOption,
    argument,
    group,
    option,
)
from anabranch.errors import StudyError
from anabranch.match.grid_board import canonical_name
from anabranch.named_games import is_loaded, is_reference, load_reference
from anabranch.study.plan import EXPERIMENT, Size, Study

if TYPE_CHECKING:
    from anabranch.study.estimate import Remaining

UNLIMITED = 400
"""Columns that a table may take where there is no terminal."""

study = group("Run the experiments of the paper and ours, and show their results.")

SourcesArgument: TypeAlias = Annotated[
    list[Path], argument("DIR...", "Folders of studies, or summaries of them (.json).")
]


@study.command("list")
def list_experiments(as_json: JsonOption = False) -> None:
    """List the experiments: the question of each, and how much each scale takes.

    Example: anabranch study list --json
    """
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


SizeOptions: TypeAlias = Annotated[dict[str, Any], FromSettings(Size, metavars={"times": "SECONDS,..."})]
StudyOptions: TypeAlias = Annotated[
    dict[str, Any],
    FromSettings(Study, only=("tablebases", "seed", "first_pair"), metavars={"tablebases": "FOLDER"}),
]


@study.command()
@with_settings
def run(
    *,
    experiment: Annotated[str, argument("EXPERIMENT", "One of 'anabranch study list'.")],
    out: Annotated[Path, option("DIR", "Folder of the results; a study there is continued.", "--out", "-o")],
    scale: Annotated[
        str | None, option("NAME", "tiny, small or full.  [default: that of the folder, or small]")
    ] = None,
    size: SizeOptions,
    error: Annotated[
        float,
        typer.Option(
            metavar="ELO",
            min=0.0,
            help="No more pairs for a match whose error is smaller than this, or of which one side has won "
            "all of the first 20 pairs or more.",
        ),
    ] = 0.0,
    variant: Annotated[
        list[str] | None, option("NAME", "Only this variant now; may be repeated.", "--variant", "-v")
    ] = None,
    only: Annotated[
        list[str] | None,
        option("NAME", "Only this player or group now, as tables name it, or GROUP/PLAYER; may be repeated."),
    ] = None,
    game: Annotated[
        list[str] | None,
        option(
            "NAME",
            "A game or variant in place of those of the experiment, such as hex:size=6; may be repeated.",
            "--game",
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None, option("NAME=VALUE", "A setting of all our engines; may be repeated.", "--set")
    ] = None,
    evaluator: EvaluatorOption = None,
    settings: StudyOptions,
    workers: WorkersOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run an experiment, or continue it.

    The same command continues a study that was interrupted; with more pairs or positions the study becomes
    larger. A folder holds one study: another scale is refused. Without a scale, a study continues at its own.

    Example: anabranch study run ablation --scale tiny --out runs/ablation
    """
    from anabranch.cli.options import read_changes
    from anabranch.cli.output import announce, end_interrupted, plural, print_json, show_progress
    from anabranch.jobs.executor import check_cluster, executor_of
    from anabranch.study.folder import STUDY
    from anabranch.study.run import run_study
    from anabranch.study.summary import summarise

    changes = read_changes(assignments, evaluator)
    if changes:
        settings["settings"] = {name: str(value) for name, value in changes.items()}
    if game:
        for name in filter(is_reference, game):
            load_reference(name)
        settings["games"] = tuple(canonical_name(name) if is_grid(name) else name for name in game)
    requested = _study(experiment, out, scale, size, settings)
    for name in requested.games:
        if not is_loaded(name):
            raise StudyError(f"the study has a game written in Python, so name it: --game {name}")
    is_complete = True
    executor = executor_of(workers, ray)
    check_cluster(ray)

    def on_start(remaining: Remaining) -> None:
        counts = ((remaining.games, "game"), (len(remaining.measurements), "measurement"))
        what = " and ".join(plural(number, noun) for number, noun in counts if number)
        jobs = remaining.games + len(remaining.measurements)
        announce(what, remaining.seconds, jobs, executor, is_most=error > 0.0)

    with show_progress("games and measurements") as on_progress:
        try:
            parts = tuple(variant or ()), tuple(only or ())
            run_study(requested, out, executor, *parts, on_progress, error, on_start)
        except KeyboardInterrupt:
            is_complete = False
    if not (is_complete or (out / STUDY).exists()):
        raise typer.Exit(130)  # interrupted before anything was begun
    summary = summarise(out)
    if as_json:
        print_json(summary)
    else:
        _print_tables(summary)
    if not is_complete:
        end_interrupted()


def _print_tables(summary: dict[str, Any]) -> None:
    from anabranch.cli.output import output, table
    from anabranch.study.summary import figures_of, status_of

    console = output()
    if not console.is_terminal:
        console.width = UNLIMITED
    for part in figures_of(summary).tables:
        titles = [column.title if column.kind == "text" else f">{column.title}" for column in part.columns]
        console.print(table(part.title, titles, part.cells()))
    console.print(status_of(summary))


@study.command()
def draw(
    sources: SourcesArgument,
    out: Annotated[Path | None, option("FOLDER", "[default: figures in each folder]", "--out", "-o")] = None,
    form: Annotated[str, option("NAME", "svg, png or pdf.", "--format")] = "svg",
) -> None:
    """Draw the figures of studies.

    Example: anabranch study draw runs/ablation --format png
    """
    from anabranch.study.draw import draw_all
    from anabranch.study.summary import figures_of, read_summary

    for source in sources:
        summary = read_summary(source)
        charts = figures_of(summary).charts
        folder = out or (source / "figures" if source.is_dir() else source.parent)
        for path in draw_all(charts, folder, form, experiment=summary[EXPERIMENT], study=_name_of(source)):
            typer.echo(path)


@study.command()
def report(
    sources: SourcesArgument,
    out: Annotated[Path, option("FILE", "The page.", "--out", "-o")] = Path("report.html"),
    title: Annotated[str, option("TEXT", "Of the page.")] = "The study",
) -> None:
    """Build one HTML page with all figures, tables, settings and errors. It needs no other file.

    Example: anabranch study report docs/results/*.json --out report.html
    """
    from anabranch.jobs.files import write_atomic
    from anabranch.study.report import build_report
    from anabranch.study.summary import read_summary

    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(out, build_report([read_summary(source) for source in sources], title))
    typer.echo(out)


@study.command()
def summarise(
    source: Annotated[Path, argument("DIR", "The folder of a study.")],
    out: Annotated[
        Path | None, option("FILE", "A file .json, and its figures beside it.", "--out", "-o")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the tables of a study as Markdown or JSON, or write a small summary with its figures.

    Example: anabranch study summarise runs/ablation --out docs/results/ablation.json
    """
    from anabranch.study.summary import read_summary

    _print_or_write(read_summary(source), out, as_json)


@study.command()
def pool(
    sources: SourcesArgument,
    out: Annotated[
        Path | None, option("FILE", "A file .json, and its figures beside it.", "--out", "-o")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count the games of studies together that are parts of one study: they differ in --first-pair.

    Example: anabranch study pool runs/ablation-0 runs/ablation-200 --out ablation.json
    """
    from anabranch.study.pool import pool
    from anabranch.study.summary import read_summary

    _print_or_write(pool([read_summary(source) for source in sources]), out, as_json)


def _print_or_write(summary: dict[str, Any], out: Path | None, as_json: bool) -> None:
    from anabranch.cli.output import print_json
    from anabranch.study.draw import draw_all
    from anabranch.study.summary import figures_of, to_markdown, write_summary

    if out is not None:
        write_summary(summary, out)
        typer.echo(out)
        charts = figures_of(summary).charts
        for path in draw_all(charts, out.parent, experiment=summary[EXPERIMENT], study=out.stem):
            typer.echo(path)
    elif as_json:
        print_json(summary)
    else:
        typer.echo(to_markdown(summary), nl=False)


def _name_of(source: Path) -> str:
    return source.resolve().name if source.is_dir() else source.stem


def _study(
    name: str, folder: Path, scale: str | None, size: dict[str, Any], changes: dict[str, Any]
) -> Study:
    """The study of the options; by default that of the folder."""
    from anabranch.study.experiments import find_experiment
    from anabranch.study.folder import FOLDER, STUDY, has_results

    experiment = find_experiment(name)
    stored = experiment.study(scale or "small")
    if scale is None and (folder / STUDY).exists():
        before = Study.from_dict(FOLDER.read(folder))
        if before.experiment == name:
            stored = before
        elif has_results(folder):
            raise StudyError(f"{folder} holds the study {before.experiment}, not {name}; take another folder")
    return replace(stored, size=stored.size.changed(name, size), **changes)
