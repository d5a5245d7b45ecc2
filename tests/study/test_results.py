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


@pytest.mark.parametrize(("name", "columns"), [("ablation", (1, 3)), ("ablation-400", (1, 2))])
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


def claims() -> list[list[str]]:
    """The cells of the table of the paper's claims, without its head."""
    text = (DOCS / "study.md").read_text(encoding="utf-8")
    table = (
        text.partition("\n### The claims of the paper\n")[2].partition("\n| claim ")[2].partition("\n\n")[0]
    )
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_elo_of_the_claims_is_that_of_the_summaries() -> None:
    found = {
        (name, row["variant"], row["name"]): row["elo"]
        for name in ("ablation", "ablation-400", "ablation-30000", "scaling-crazyhouse", "scaling-chess")
        for row in read_summary(DOCS / "results" / f"{name}.json")["tables"][-1]["rows"]
        if row["against"].startswith("alphazero") and row["group"] != "next budget"
    }
    budgets = {"3,000": "ablation", "400": "ablation-400", "30,000": "ablation-30000"}
    presets = {
        "graph in place": "mcgs", "ε-greedy exploration,": "alphazero+epsilon", "solver,": "alphazero+solver",
        "Q-value": "alphazero+qmove", "checks first,": "alphazero+checks", "all together,": "mcgs-combined",
    }  # fmt: skip
    seen = 0
    for claim, _, ours, error, budget, *_ in claims():
        preset = next((one for start, one in presets.items() if claim.startswith(start)), None)
        if preset is None:
            continue
        study = budgets[budget.removesuffix(" evaluations")]
        variants = [one for one in ("crazyhouse", "chess") if one in claim]
        elo = [found[study, one, preset] for one in variants]
        assert ours == " and ".join(f"{one['value']:+.0f}" for one in elo), claim
        assert {error} == {f"± {one['error']:.0f}" for one in elo}, claim
        seen += len(elo)
    assert seen == 15
    for variant, start in (("crazyhouse", "the gain of all together grows"), ("chess", "the same, chess")):
        (told,) = [row for row in claims() if row[0].startswith(start)]
        gains = [found[f"scaling-{variant}", variant, f"mcgs-combined {budget}"] for budget in (400, 3200)]
        assert told[2] == f"{gains[0]['value']:+.0f}, then {gains[1]['value']:+.0f}"


@pytest.mark.parametrize(
    ("group", "against"),
    [
        ("equal simulations", "memory saved against the plain tree"),
        ("equal evaluations", "memory saved against the tree with copied evaluations"),
    ],
)
def test_the_memory_of_the_claims_and_of_the_text_is_that_of_the_summaries(group: str, against: str) -> None:
    rows = [
        row
        for name, least in (("memory", 0), ("memory-1000000", 1_000_000))
        for row in read_summary(DOCS / "results" / f"{name}.json")["tables"][0]["rows"]
        if (row["name"], row["group"]) == ("mcgs", group) and row["checkpoint"] >= least
    ]

    def percent(share: float) -> str:
        return f"{100.0 * share:.0f}".replace("-0", "0") if abs(share) < 0.005 else f"{100.0 * share:.0f}"

    text = (DOCS / "study.md").read_text(encoding="utf-8")
    told = {row[0]: row for row in claims() if row[0].startswith(against)}
    assert len(told) == 2
    for row in rows:
        mean, *ends = (percent(row[name]) for name in ("full", "full_least", "full_most"))
        head = f"| {row['variant']}, {row['phase']} | {row['positions']} | {row['checkpoint']:,} | "
        cells = [
            f"{percent(row[name])} ({percent(row[f'{name}_least'])} to {percent(row[f'{name}_most'])})"
            for name in ("nodes", "full", "bytes")
        ]
        assert f"{head}{' | '.join(cells)} |" in text
        claim = told[f"{against}, {row['variant']}"]
        if claim[4].startswith(f"{row['checkpoint']:,} "):
            assert f"{row['phase']} {mean} % ({' to '.join(ends)})" in claim[2]
    assert {row[4] for row in told.values()} == {f"100,000 {group.partition(' ')[2]}"}


def test_every_claim_has_a_verdict() -> None:
    words = ("reproduced", "not comparable", "not measured", "no difference seen")
    assert len(claims()) > 25
    for claim, *_, verdict, _ in claims():
        assert any(word in verdict for word in words), claim
        if "not measured" in verdict:
            assert re.search(r"`anabranch study run \S+ .*--out \S+`", verdict), claim
