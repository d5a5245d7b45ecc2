"""Studies that are pooled: the games of several folders or summaries counted together."""

import copy
import json
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.study.conftest import HERE
from tests.support.commands import Commands

from anabranch.cli import run
from anabranch.errors import StudyError
from anabranch.match.results import RESULTS, read_results
from anabranch.match.statistics import elo, normalised_elo, superiority
from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.pool import pool
from anabranch.study.run import run_study
from anabranch.study.summary import figures_of, read_summary, summarise, write_summary

COUNTS = ({"wins": 9, "draws": 4, "losses": 7}, {"wins": 20, "draws": 0, "losses": 4})
PAIRS = ([1, 2, 3, 2, 2], [0, 0, 4, 0, 8])


@pytest.fixture
def parts(studies: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Two parts of a study, whose results of crazyhouse `mcgs` are made up."""
    found = []
    for part, (counts, pairs) in enumerate(zip(COUNTS, PAIRS, strict=True)):
        summary = json.loads(json.dumps(summarise(studies["ablation"])))
        summary["ranges"] = [[part, part + 1]]
        row_of(summary, "crazyhouse", "mcgs").update({**counts, "games": sum(pairs) * 2, "pairs": pairs})
        found.append(summary)
    return found


def row_of(summary: dict[str, Any], variant: str, name: str) -> dict[str, Any]:
    (row,) = [one for one in summary["tables"][0]["rows"] if (one["variant"], one["name"]) == (variant, name)]
    return dict(row) if len(summary["ranges"]) > 1 else row


def test_games_are_added_and_elo_is_of_all_pairs(parts: list[dict[str, Any]]) -> None:
    pooled = json.loads(json.dumps(pool(parts)))
    row, pairs = row_of(pooled, "crazyhouse", "mcgs"), (1, 2, 7, 2, 10)
    assert [row[name] for name in ("games", "wins", "draws", "losses")] == [44, 29, 4, 11]
    assert row["pairs"] == list(pairs)
    assert row["score"] == 31 / 44
    assert row["elo"] == elo(pairs).to_dict()
    assert row["normalised_elo"] == normalised_elo(pairs).to_dict()
    assert row["los"] == superiority(pairs)
    assert row["paper"] == 110.0
    (chart,) = [one for one in figures_of(pooled).charts if one.name == "ablation-crazyhouse"]
    (bar,) = [one for one in chart.series[0].points if one.x == "mcgs"]
    assert (bar.y, bar.error) == tuple(elo(pairs).to_dict().values())
    other = row_of(pooled, "chess", "default")
    assert other["games"] == 2 * row_of(parts[0], "chess", "default")["games"]
    assert pooled["size"]["pairs"] == 2 * parts[0]["size"]["pairs"]
    assert pooled["progress"]["games"] == 2 * parts[0]["progress"]["games"]
    assert len(pooled["runs"]) == 2
    assert pooled["ranges"] == [[0, 1], [1, 2]]


def test_pooled_studies_are_pooled_again(parts: list[dict[str, Any]], tmp_path: Path) -> None:
    third = {**copy.deepcopy(parts[0]), "ranges": [[2, 3]]}
    write_summary(pool(parts), tmp_path / "two.json")
    again = pool([read_summary(tmp_path / "two.json"), third])
    assert again == pool([*parts, third])
    with pytest.raises(StudyError, match="have the same pairs of games, 1 to 1 and 1 to 1; each part has"):
        pool([read_summary(tmp_path / "two.json"), parts[1]])


def test_a_match_that_one_study_lacks_counts_as_it_is(parts: list[dict[str, Any]]) -> None:
    rows = parts[1]["tables"][0]["rows"]
    rows[:] = [row for row in rows if row["variant"] == "chess"]
    assert row_of(pool(parts), "crazyhouse", "mcgs")["pairs"] == PAIRS[0]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("recipe", "dose", 'their experiment differ, "ablation" and "dose"'),
        ("seed", 5, "their seed differ, 0 and 5"),
        ("games", ["hex"], r'their games differ, \[\] and \["hex"\]'),
        ("settings", {"c_init": "3"}, 'their settings differ, {} and {"c_init": "3"}'),
        ("tablebases", "tables", "their tablebases differ, false and true"),
        ("networks", {"chess": "0"}, "their networks differ"),
        ("presets", {}, "their presets differ"),
        ("size", {"pairs": 1, "evaluations": [17], "plies": 12}, "their size differ"),
        (
            "matches",
            {"chess/16-evaluations/mcgs": "0"},
            "players or rules of chess/16-evaluations/mcgs differ",
        ),
        ("matches", {"chess/16-evaluations/rungs": "0"}, "has no match chess/16-evaluations/rungs"),
    ],
)
def test_other_studies_are_refused(parts: list[dict[str, Any]], name: str, value: Any, reason: str) -> None:
    with pytest.raises(StudyError, match=reason):
        pool([parts[0], {**parts[1], name: value}])


@pytest.mark.parametrize(
    ("first", "second", "networks"),
    [("material", "uniform", {}), ("openvino:./net.onnx", "./net.onnx", {"evaluator": "1234"})],
)
def test_another_evaluator_is_refused(
    parts: list[dict[str, Any]], first: str, second: str, networks: dict[str, str]
) -> None:
    for part, evaluator in zip(parts, (first, second), strict=True):
        part["settings"] = {"evaluator": evaluator}
        part["networks"] = networks
    with pytest.raises(StudyError, match="their settings differ"):
        pool(parts)


def test_every_part_is_compared_whatever_their_order(parts: list[dict[str, Any]]) -> None:
    other = {**copy.deepcopy(parts[0]), "ranges": [[2, 3]]}
    for part, variant in ((other, "crazyhouse"), (parts[0], "chess")):
        rows = part["tables"][0]["rows"]
        rows[:] = [row for row in rows if row["variant"] != variant]
        part["matches"] = {key: mark for key, mark in part["matches"].items() if variant not in key}
    parts[1]["matches"] = {**parts[1]["matches"], "chess/16-evaluations/mcgs": "0"}
    for order in permutations([*parts, other]):
        with pytest.raises(StudyError, match="players or rules of chess/16-evaluations/mcgs differ"):
            pool(order)


def test_faults_are_added_and_old_notes_are_forgotten(parts: list[dict[str, Any]]) -> None:
    for part in parts:
        for row in part["tables"][0]["rows"]:
            if (row["variant"], row["name"]) == ("crazyhouse", "mcgs"):
                row["faults"] = {"alphazero": {"crash": 2}}
        part["notes"] = ["crazyhouse: no ratings yet"]
    notes = pool(parts)["notes"]
    assert "crazyhouse/16-evaluations/mcgs: alphazero lost games by its own fault: crash 4." in notes
    assert not [note for note in notes if "no ratings" in note]


def test_a_summary_of_an_earlier_version_is_refused(parts: list[dict[str, Any]]) -> None:
    del parts[1]["ranges"]
    with pytest.raises(StudyError, match="an earlier version does not say which pairs it has"):
        pool(parts)


def test_files_may_be_elsewhere_on_another_machine(parts: list[dict[str, Any]]) -> None:
    parts[0]["settings"], parts[1]["settings"] = {"evaluator": "a/net.onnx"}, {"evaluator": "b/net.onnx"}
    parts[0]["tablebases"], parts[1]["tablebases"] = "here", "there"
    for part in parts:
        part["networks"] = {**part["networks"], "evaluator": "1234"}
    assert row_of(pool(parts), "crazyhouse", "mcgs")["games"] == 44


@pytest.mark.parametrize("games", [(), ("hex:size=3",)], ids=["chess", "hex"])
def test_parts_together_are_the_whole_study(games: tuple[str, ...], tmp_path: Path) -> None:
    experiment = EXPERIMENTS["dose"]

    def played(first: int, pairs: int) -> dict[str, Any]:
        size = experiment.sizes["tiny"].changed("dose", {"pairs": pairs, "evaluations": (8,)})
        study = experiment.study("tiny", size=size, seed=3, first_pair=first, games=games)
        folder = tmp_path / f"{first}-{pairs}"
        run_study(study, folder, HERE, names=("greedy 0.1",))
        summary: dict[str, Any] = json.loads(json.dumps(summarise(folder)))
        return summary

    whole, parts = played(0, 3), [played(0, 1), played(1, 2)]
    pooled = json.loads(json.dumps(pool(parts[::-1])))
    assert {row["games"] for row in whole["tables"][0]["rows"]} == {6}
    for name in ("size", "seed", "games", "matches", "tables", "charts", "notes"):
        assert pooled[name] == whole[name], name
    assert pooled["progress"]["games"] == whole["progress"]["games"]
    for place in (tmp_path / "0-3").glob(f"matches/*/*/*/{RESULTS}"):
        path = place.parent.relative_to(tmp_path / "0-3")
        first, second, alone = (games_of(tmp_path / name / path) for name in ("0-1", "1-2", "0-3"))
        assert not first.keys() & second.keys()
        assert first | second == alone


def test_ratings_are_of_all_pairs(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["scaling"]

    def played(first: int, pairs: int) -> dict[str, Any]:
        size = experiment.sizes["tiny"].changed("scaling", {"pairs": pairs, "reference_nodes": (0,)})
        study = experiment.study("tiny", size=size, seed=3, first_pair=first, games=("hex:size=3",))
        run_study(study, tmp_path / f"{first}-{pairs}", HERE)
        return dict(json.loads(json.dumps(summarise(tmp_path / f"{first}-{pairs}"))))

    whole, parts = played(0, 3), [played(0, 1), played(1, 2)]
    pooled = json.loads(json.dumps(pool(parts)))

    def table_of(summary: dict[str, Any], title: str) -> dict[str, Any]:
        (table,) = [one for one in summary["tables"] if one["title"].startswith(title)]
        return dict(table)

    assert {row["games"] for row in table_of(pooled, "All matches")["rows"]} == {6}
    assert table_of(pooled, "All matches") == table_of(whole, "All matches")
    rated, alone = (table_of(one, "Ratings") for one in (pooled, whole))
    ratings = {row["name"]: row["rating"]["value"] for row in rated["rows"]}
    assert ratings == {row["name"]: pytest.approx(row["rating"]["value"], abs=1e-6) for row in alone["rows"]}


def games_of(folder: Path) -> dict[tuple[int, int], tuple[str, list[str]]]:
    """The opening and the moves of each game of a match, by its number."""
    return {
        key: (record.fen, [ply.move for ply in record.plies]) for key, record in read_results(folder).items()
    }


def test_the_command_writes_a_summary_with_figures_or_prints_it(
    parts: list[dict[str, Any]], studies: Mapping[str, Path], tmp_path: Path, cli: Commands
) -> None:
    for name, part in zip(("one", "two"), parts, strict=True):
        write_summary(part, tmp_path / f"{name}.json")
    both = [str(tmp_path / "one.json"), str(tmp_path / "two.json")]
    out = tmp_path / "docs" / "all.json"
    assert run(["study", "pool", *both, "-o", str(out)]) == 0
    assert read_summary(out) == json.loads(json.dumps(pool(parts)))
    assert {path.name for path in out.parent.iterdir()} == {"all.json", "all-chess.svg", "all-crazyhouse.svg"}
    assert run(["study", "report", str(out), "-o", str(tmp_path / "report.html")]) == 0
    shown = cli.shows("study", "pool", *both)
    assert "| crazyhouse | mcgs | alphazero | 16 evaluations | 44 | 29 | 4 | 11 |" in shown
    for sources, reason in (
        (both[:1], "pooling takes two studies or more"),
        ([both[0], both[0]], "two studies have the same pairs of games, 0 to 0 and 0 to 0"),
        ([str(studies["leak"]), both[0]], "and this is one of leak"),
        ([str(studies["mcgs-vs-tree"])] * 2, "and this is one of mcgs-vs-tree"),
    ):
        assert reason in cli.refuses("study", "pool", *sources)
