"""The results in docs: summaries, the figures that pages show, and the numbers of the text."""

import html
import math
import re
from pathlib import Path

import pytest
from tests.study.figures import marks_of

from anabranch.study import build_report, read_summary
from anabranch.study.summary import figures_of, status_of

DOCS = Path(__file__).parents[2] / "docs"
SUMMARIES = sorted((DOCS / "results").glob("*.json"))


def test_there_are_results() -> None:
    assert {"ablation", "memory", "scaling-crazyhouse", "scaling-chess"} <= {one.stem for one in SUMMARIES}


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


@pytest.mark.parametrize(
    ("player", "against"), [("mcgs-combined", "alphazero"), ("default", "mcgs-combined")]
)
def test_the_gains_of_the_text_are_those_of_the_summaries(player: str, against: str) -> None:
    text = (DOCS / "study.md").read_text(encoding="utf-8")
    table = text.partition(f"| `{player}` at ")[2].partition("\n\n")[0]
    told = {cells[0].strip(): cells for cells in (line.strip("| ").split("|") for line in table.splitlines())}
    for place, variant in ((1, "crazyhouse"), (3, "chess")):
        summary = read_summary(DOCS / "results" / f"scaling-{variant}.json")
        gains = {row["budget"]: row["gain"] for row in summary["tables"][1]["rows"] if row["name"] == player}
        assert len(gains) == 4
        seen = 0
        for row in summary["tables"][2]["rows"]:
            if row["group"] == "equal budgets" and row["against"].startswith(f"{against} "):
                budget = int(row["name"].split()[-1])
                cells = told[f"{budget:,}"][place : place + 2]
                wanted = [f"{one['value']:+.0f} ± {one['error']:.0f}" for one in (row["elo"], gains[budget])]
                assert [cell.strip() for cell in cells] == wanted, (variant, budget)
                seen += 1
        assert seen == 4


def test_the_table_of_the_ablation_is_that_of_the_summary() -> None:
    rows = read_summary(DOCS / "results" / "ablation.json")["tables"][0]["rows"]
    text = (DOCS / "study.md").read_text(encoding="utf-8")
    table = text.partition("\n| preset ")[2].partition("\n\n")[0]
    told = {
        cells[0].strip(" `"): cells for cells in (line.strip("| ").split("|") for line in table.splitlines())
    }
    assert len(rows) == 16
    for row in rows:
        place = 3 if row["variant"] == "chess" else 1
        elo, pairs = (cell.strip() for cell in told[row["name"]][place : place + 2])
        assert elo == f"{row['elo']['value']:+.0f} ± {row['elo']['error']:.0f}", row["name"]
        assert int(pairs) == sum(row["pairs"])


def test_the_lead_of_the_default_is_that_of_the_summary() -> None:
    text = " ".join((DOCS / "study.md").read_text(encoding="utf-8").split())
    rows = read_summary(DOCS / "results" / "ablation.json")["tables"][0]["rows"]
    elo = {(row["variant"], row["name"]): row["elo"] for row in rows}
    for variant in ("crazyhouse", "chess"):
        default, combined = elo[variant, "default"], elo[variant, "mcgs-combined"]
        error = math.hypot(default["error"], combined["error"])
        lead = f"{default['value'] - combined['value']:.0f} ± {error:.0f}"
        assert f"{lead} of its {default['value']:+.0f} in {variant}" in text


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
        for name in ("ablation", "scaling-crazyhouse", "scaling-chess")
        for row in read_summary(DOCS / "results" / f"{name}.json")["tables"][-1]["rows"]
        if row["against"].startswith("alphazero") and row["group"] != "next budget"
    }
    presets = {
        "graph in place": "mcgs", "ε-greedy exploration,": "alphazero+epsilon", "solver,": "alphazero+solver",
        "Q-value": "alphazero+qmove", "checks first,": "alphazero+checks", "all together,": "mcgs-combined",
    }  # fmt: skip
    seen = 0
    for claim, _, ours, error, budget, *_ in claims():
        preset = next((one for start, one in presets.items() if claim.startswith(start)), None)
        if preset is None:
            continue
        assert budget == "3,000 evaluations"
        variants = [one for one in ("crazyhouse", "chess") if one in claim]
        elo = [found["ablation", one, preset] for one in variants]
        assert ours == " and ".join(f"{one['value']:+.0f}" for one in elo), claim
        assert {error} == {f"± {one['error']:.0f}" for one in elo}, claim
        seen += len(elo)
    assert seen == 12
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
        for row in read_summary(DOCS / "results" / "memory.json")["tables"][0]["rows"]
        if (row["name"], row["group"]) == ("mcgs", group)
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


def test_the_moves_of_the_text_are_those_of_the_summaries() -> None:
    text = (DOCS / "study.md").read_text(encoding="utf-8")
    table = text.partition("\n| experiment, change ")[2].partition("\n\n")[0].splitlines()
    columns = [cell.replace(",", "").split() for cell in table[0].strip(" |").split("|")]
    told = {cells[0].strip(): cells[1:] for cells in (line.strip("|").split("|") for line in table[2:])}
    shown = 0
    for place, (variant, budget) in enumerate(columns):
        stems = [f"moves-{budget}", f"moves-{variant}-{budget}"]
        (path,) = [one for one in SUMMARIES if one.stem in stems]
        for one in read_summary(path)["tables"]:
            if not one["title"].startswith(f"{variant}, "):
                continue
            group = one["title"].split(", ")[1].split(":")[0].rpartition(" ")[0]
            for row in one["rows"]:
                value, error = row["loss"]["value"], row["loss"]["error"]
                wanted = f"{value:+.1f}" if abs(value) >= 0.05 else "0.0"
                wanted += "" if error is None else f" ± {error:.1f}"
                assert told[f"{group}: {row['name']}"][place].strip() == wanted
                shown += 1
    assert shown == sum(cell.strip() != "" for cells in told.values() for cell in cells) > 100


def test_the_moves_of_networks_of_lc0_are_those_of_the_summaries() -> None:
    table = (DOCS / "lc0.md").read_text(encoding="utf-8").partition("\n| change ")[2].partition("\n\n")[0]
    shown = 0
    for line in table.splitlines()[2:]:
        name, *cells = (cell.strip(" `") for cell in line.strip("|").split("|"))
        stems = ("moves-chess-3000", "moves-meangirl-8", "moves-maia-1500")
        for stem, cell in zip(stems, cells, strict=True):
            rows = read_summary(DOCS / "results" / f"{stem}.json")["tables"][0]["rows"]
            loss = next((row["loss"] for row in rows if row["name"] == name), None)
            error = "" if loss is None or loss["error"] is None else f" ± {loss['error']:.1f}"
            assert cell == ("" if loss is None else f"{loss['value']:+.1f}{error}"), (stem, name)
            shown += 1
    assert shown == 18


def test_every_claim_has_a_verdict() -> None:
    words = ("reproduced", "not comparable", "not measured", "no difference seen")
    assert len(claims()) > 25
    for claim, *_, verdict, _ in claims():
        assert any(word in verdict for word in words), claim
        if "not measured" in verdict:
            assert re.search(r"`anabranch study run \S+ .*--out \S+`", verdict), claim
