"""The results in docs: summaries, the figures that pages show, and the numbers of the text."""

import html
import re
from pathlib import Path

import pytest
from tests.study.figures import marks_of

from anabranch.study import build_report, read_summary
from anabranch.study.summary import figures_of, status_of

DOCS = Path(__file__).parents[2] / "docs"
SUMMARIES = sorted((DOCS / "results").glob("*.json"))


def test_there_are_results() -> None:
    assert {"ablation", "ablation-30000", "scaling-crazyhouse", "scaling-chess"} <= {
        one.stem for one in SUMMARIES
    }


@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.stem)
def test_every_summary_can_be_drawn(path: Path) -> None:
    summary = read_summary(path)
    text = (DOCS / "study.md").read_text(encoding="utf-8")
    page = build_report([summary])
    assert html.escape(status_of(summary)) in page
    for number, chart in enumerate(figures_of(summary).charts):
        assert f'id="study-0-{number}-' in page
        figure = path.with_name(f"{path.stem}{chart.name.removeprefix(summary['recipe'])}.svg")
        assert figure.exists() == (f"(results/{figure.name})" in text)
        if figure.exists():
            ours = [point for one in chart.series if one.source == "ours" for point in one.points]
            assert marks_of(figure.read_bytes()) >= sum(point.y is not None for point in ours)


def test_the_gains_of_the_text_are_those_of_the_summaries() -> None:
    text = (DOCS / "study.md").read_text(encoding="utf-8")
    table = text.partition("| gain at ")[2].partition("\n\n")[0]
    told = {cells[0].strip(): cells for cells in (line.strip("| ").split("|") for line in table.splitlines())}
    for place, variant in ((1, "crazyhouse"), (3, "chess")):
        summary = read_summary(DOCS / "results" / f"scaling-{variant}.json")
        gains = {row["budget"]: row["gain"] for row in summary["tables"][1]["rows"]}
        assert len(gains) == 4
        for row in summary["tables"][2]["rows"]:
            if row["group"] == "equal budgets":
                budget = int(row["name"].split()[-1])
                cells = told[f"{budget:,}"][place : place + 2]
                wanted = [f"{one['value']:+.0f} ± {one['error']:.0f}" for one in (row["elo"], gains[budget])]
                assert [cell.strip() for cell in cells] == wanted, (variant, budget)


@pytest.mark.parametrize(("name", "columns"), [("ablation", (1, 4)), ("ablation-400", (1, 2))])
def test_the_tables_of_the_text_are_those_of_the_summary(name: str, columns: tuple[int, int]) -> None:
    rows = read_summary(DOCS / "results" / f"{name}.json")["tables"][0]["rows"]
    text = (DOCS / "study.md").read_text(encoding="utf-8")
    budget = {"ablation": "at 3,000 evaluations per move:", "ablation-400": "at 400 evaluations per move"}[
        name
    ]
    table = text.partition(budget)[2].partition("| preset ")[2].partition("\n\n")[0]
    told = {
        cells[0].strip(" `"): cells for cells in (line.strip("| ").split("|") for line in table.splitlines())
    }
    assert len(rows) == 16
    for row in rows:
        cell = told[row["name"]][columns[row["variant"] == "chess"]]
        wanted = f"{row['elo']['value']:+.0f} ± {row['elo']['error']:.0f}"
        assert re.sub(r"\s+", " ", cell).strip() == wanted, row["name"]


def test_the_numbers_between_the_tables_are_those_of_the_summaries() -> None:
    text = " ".join((DOCS / "study.md").read_text(encoding="utf-8").split())

    def told(name: str, variant: str, player: str, group: str = "") -> str:
        tables = read_summary(DOCS / "results" / f"{name}.json")["tables"]
        rows = [row for row in tables[-1]["rows"] if row["variant"] == variant and row["name"] == player]
        row = next(row for row in rows if group in row["group"])
        return f"{row['elo']['value']:+.0f} ± {row['elo']['error']:.0f}"

    assert f"{told('ablation-30000', 'crazyhouse', 'mcgs-combined')} (100 pairs" in text
    for variant in ("crazyhouse", "chess"):
        assert (
            f"{told(f'tuned-{variant}', variant, 'mcgs-combined')} " in text.partition("Most of `default`")[2]
        )
    own = [told("scaling-crazyhouse", "crazyhouse", f"mcgs-combined {n}", "next") for n in (800, 1600, 3200)]
    assert f"{own[0]}, {own[1]} and {own[2]} against itself" in text
    for setting in ("virtual visits", "urgency", "temperature"):
        gains = [told("settings-400", one, setting).split()[0] for one in ("crazyhouse", "chess")]
        assert f" {gains[0]} and {gains[1]}" in text.partition("**Which settings**")[2].partition(" - ")[0]
