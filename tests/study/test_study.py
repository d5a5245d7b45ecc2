"""Whole studies: every experiment at the scale tiny, what it shows, and a study that is cut short."""

import json
import math
import random
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import chess
import pytest
from tests.study.conftest import HERE
from tests.study.figures import marks_of
from tests.support.commands import Commands
from tests.support.interrupted import kill_at_work

from anabranch.cli import run
from anabranch.engine import Engine
from anabranch.errors import MatchError, MissingPackageError, SettingError, StudyError
from anabranch.match.game import GameRecord
from anabranch.match.results import RESULTS, read_results
from anabranch.match.standings import Tally
from anabranch.match.statistics import elo
from anabranch.networks.shipped import FOLDER, TUNED, bundled
from anabranch.optional import lacking
from anabranch.settings import Settings
from anabranch.study.draw import draw
from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.experiments.matches import width_of_default
from anabranch.study.figures import Chart, Figures, Point, Series
from anabranch.study.folder import MEASUREMENTS, StudyResults, match_folder
from anabranch.study.measure import measure
from anabranch.study.plan import VARIANTS, Measurement, Plan
from anabranch.study.report import build_report
from anabranch.study.run import open_study, run_study
from anabranch.study.summary import figures_of, read_summary, summarise, to_markdown, write_summary

OF_GAMES = {"games", "ucd", "solvers"}
"""Experiments that have nothing of chess."""


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_an_experiment_runs_from_end_to_end(name: str, studies: Mapping[str, Path]) -> None:
    summary = summarise(studies[name])
    progress = summary["progress"]
    assert progress["games"] == progress["games_planned"]
    assert progress["measurements"] == progress["measurements_planned"]
    assert progress["games"] + progress["measurements"] > 0
    shown = figures_of(summary)
    assert shown.tables
    assert shown.charts
    assert all(table.rows for table in shown.tables)
    assert summary["runs"][0]["version"]
    assert summary["networks"].keys() == (set() if name in OF_GAMES else {"chess", "crazyhouse"})
    assert not [note for note in shown.notes if "fault" in note]


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_figures_have_a_mark_for_every_point(
    name: str, studies: Mapping[str, Path], drawn: Callable[[Chart], bytes]
) -> None:
    charts = figures_of(summarise(studies[name])).charts
    for chart in charts:
        ours = [point for series in chart.series if series.source == "ours" for point in series.points]
        assert ours, chart.name
        assert marks_of(drawn(chart)) >= sum(point.y is not None for point in ours) > 0
    assert drawn(charts[0]) == draw(charts[0])


def test_an_empty_chart_has_no_marks() -> None:
    empty = Chart("none", "Nothing", "lines", "x", "y", (Series("s", (Point(1.0, None),)),))
    assert marks_of(draw(empty)) == 0
    one = replace(empty, series=(Series("s", (Point(1.0, 2.0),)),))
    assert marks_of(draw(one)) >= 1


class Page(HTMLParser):
    """The words of a page, and what it refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.figures = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.figures += tag == "svg"
        for name, value in attrs:
            if name in ("src", "href", "xlink:href"):
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")
        assert tag not in ("script", "link", "img", "iframe")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_report_has_everything_and_needs_nothing(
    studies: Mapping[str, Path],
    tmp_path: Path,
    drawn: Callable[[Chart], bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("anabranch.study.draw.draw", drawn)
    page = tmp_path / "report.html"
    assert run(["study", "report", *map(str, studies.values()), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    read = Page()
    read.feed(text)
    words = " ".join(read.words)
    figures = 0
    for folder in studies.values():
        summary = summarise(folder)
        shown = figures_of(summary)
        figures += len(shown.charts)
        assert summary["title"] in words
        assert summary["runs"][0]["begun"] in words
        for note in shown.notes:
            assert note in words
        for table in shown.tables:
            assert table.title in words
            for cells in table.cells():
                assert all(cell in words for cell in cells)
    assert read.figures == figures
    assert len(set(read.ids)) == len(read.ids)
    assert all(link.startswith("#") and link[1:] in read.ids for link in read.links)
    assert "url(http" not in text
    assert "@import" not in text


def test_a_summary_shows_the_same_as_its_folder(studies: Mapping[str, Path], tmp_path: Path) -> None:
    for name, folder in studies.items():
        path = tmp_path / f"{name}.json"
        summary = json.loads(json.dumps(summarise(folder)))
        write_summary(summary, path)
        lines = {line.strip().rstrip(",") for line in path.read_text(encoding="utf-8").splitlines()}
        rows = [json.dumps(row, ensure_ascii=False) for row in summary["tables"][0]["rows"]]
        assert lines.issuperset(rows), "so that a difference can be read"
        assert read_summary(path) == summary
        assert path.stat().st_size < 60_000
        for table in figures_of(summary).tables:
            assert table.to_markdown() in to_markdown(summary)


def test_a_summary_is_written_with_its_figures(
    studies: Mapping[str, Path], tmp_path: Path, drawn: Callable[[Chart], bytes]
) -> None:
    path = tmp_path / "docs" / "mine.json"
    assert run(["study", "summarise", str(studies["scaling"]), "-o", str(path)]) == 0
    summary = read_summary(path)
    assert summary == json.loads(json.dumps(summarise(studies["scaling"])))
    for chart in figures_of(summary).charts:
        figure = path.parent / f"{chart.name.replace('scaling', 'mine')}.svg"
        assert figure.read_bytes() == drawn(chart)


# What the numbers are


def invented(record: GameRecord, pair: int, game: int, points: float) -> GameRecord:
    """A record in which the first player of the pair scored so many points."""
    result = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[points if game == 0 else 1.0 - points]
    white, black = (record.white, record.black) if game == record.game else (record.black, record.white)
    return replace(record, pair=pair, game=game, white=white, black=black, result=result)


def test_tables_and_bars_have_the_statistics_of_the_match(studies: Mapping[str, Path]) -> None:
    """Results are made up, so that they say something: 40 pairs, of which some are won."""
    experiment = EXPERIMENTS["ablation"]
    study = experiment.study("tiny", size=replace(experiment.sizes["tiny"], pairs=40))
    plan = experiment.plan(study)
    chosen = next(one for one in plan.matches if (one.variant, one.name) == ("crazyhouse", "mcgs-combined"))
    record = read_results(match_folder(studies["ablation"], chosen))[0, 0]
    scores = [(1.0, 1.0)] * 15 + [(1.0, 0.5)] * 10 + [(0.5, 0.5)] * 9 + [(0.0, 0.5)] * 4 + [(0.0, 0.0)] * 2
    records = [
        invented(record, pair, game, points)
        for pair, both in enumerate(scores)
        for game, points in enumerate(both)
    ]
    shown = experiment.show(StudyResults(study, plan, {chosen.key: Tally(chosen.spec, records)}, {}))
    expected = elo([2, 4, 9, 10, 15])
    assert expected.value > 100.0
    (row,) = shown.tables[0].rows
    assert row["elo"] == {"value": expected.value, "error": expected.error}
    assert row["pairs"] == [2, 4, 9, 10, 15]
    assert (row["games"], row["wins"], row["draws"], row["losses"]) == (80, 40, 32, 8)
    assert row["paper"] == 310
    (chart,) = shown.charts
    assert chart.series[0].points == (Point("mcgs-combined", expected.value, expected.error),)
    assert Point("mcgs-combined", 310) in chart.series[1].points
    assert f"{expected.value:+.1f} ± {expected.error:.1f}" in shown.tables[0].to_markdown()


@pytest.mark.parametrize("name", ["ablation", "scaling", "mcgs-vs-tree", "backups"])
def test_tables_agree_with_the_files_of_the_matches(name: str, studies: Mapping[str, Path]) -> None:
    results = open_study(studies[name])
    rows = figures_of(summarise(studies[name])).tables[-1].rows
    assert len(rows) == len(results.plan.matches)
    for row, match in zip(rows, results.plan.matches, strict=True):
        folder = match_folder(studies[name], match)
        kept = json.loads((folder / "summary.json").read_text())
        (meeting,) = kept["meetings"]
        for key in ("wins", "draws", "losses", "games", "pairs", "elo", "los"):
            assert row[key] == meeting[key]
        points = [record.points_of(match.spec.players[0].name) for record in read_results(folder).values()]
        assert row["score"] == sum(points) / len(points)


def test_a_lost_cause_is_beyond_measure_and_not_drawn(studies: Mapping[str, Path]) -> None:
    experiment = EXPERIMENTS["merge"]
    study = experiment.study("tiny")
    plan = experiment.plan(study)
    match = plan.matches[0]
    record = read_results(match_folder(studies["merge"], match))[0, 0]
    records = [invented(record, 0, game, 0.0) for game in (0, 1)]
    shown = experiment.show(StudyResults(study, plan, {match.key: Tally(match.spec, records)}, {}))
    assert "beyond measure" in shown.tables[0].to_markdown()
    assert shown.charts[0].points == 0
    json.dumps(shown.to_dict(), allow_nan=False)
    assert Figures.from_dict(json.loads(json.dumps(shown.to_dict()))) == replace(
        shown, tables=tuple(replace(table) for table in shown.tables)
    )


def test_scaling_has_no_ratings_before_its_players_have_met(studies: Mapping[str, Path]) -> None:
    whole = open_study(studies["scaling"])
    experiment = EXPERIMENTS["scaling"]
    assert len(experiment.show(whole).charts) == 4
    last = [key for key in whole.tallies if "mcgs-combined-16" in key]
    part = replace(
        whole, tallies={key: whole.tallies[key] for key in last if key.startswith("chess/stockfish")}
    )
    shown = experiment.show(part)
    assert shown.charts == ()
    assert shown.notes[0] == "chess: no ratings yet, because the anchor alphazero 16 has not played."
    assert len(shown.tables[-1].rows) == 1


def scaling_with(studies: Mapping[str, Path], nodes: int, wins: dict[str, int]) -> Figures:
    """What is shown of chess where the first player won so many of ten pairs, by name or group; else six."""
    experiment = EXPERIMENTS["scaling"]
    study = experiment.study(
        "tiny", size=experiment.sizes["tiny"].changed("scaling", {"reference_nodes": (nodes,)})
    )
    plan = experiment.plan(study).chosen(("chess",))
    record = next(
        iter(read_results(next((studies["scaling"] / "matches/chess/equal-budgets").iterdir())).values())
    )
    tallies = {}
    for match in plan.matches:
        won = wins.get(f"{match.group} {match.name}", wins.get(match.group, 6))
        first, second = (player.name for player in match.spec.players)
        named = replace(record, game=0, white=first, black=second)
        games = [invented(named, pair, game, float(pair < won)) for pair in range(10) for game in (0, 1)]
        tallies[match.key] = Tally(match.spec, games)
    return experiment.show(StudyResults(study, plan, tallies, {}))


def test_scaling_tells_the_gain_at_each_budget(studies: Mapping[str, Path]) -> None:
    shown = scaling_with(
        studies, 0, {"equal budgets mcgs-combined 8": 5, "equal budgets mcgs-combined 16": 8}
    )
    assert {row["name"]: row["rating"]["value"] for row in shown.tables[0].rows}["alphazero 16"] == 0.0
    table = shown.tables[1]
    assert [(row["name"], row["budget"]) for row in table.rows] == [
        (name, budget) for name in ("mcgs-combined", "default") for budget in (8, 16)
    ]
    small, large, *of_default = (row["gain"] for row in table.rows)
    assert all(gain["value"] > small["value"] for gain in of_default)
    assert small["value"] < large["value"]
    assert 0.0 < small["error"] < math.inf
    # Around the square of matches the wins at equal budgets are those of the matches, tempered by the rest.
    assert elo((5, 0, 0, 0, 5)).value < small["value"] < large["value"] < elo((2, 0, 0, 0, 8)).value
    assert [point.y for point in shown.charts[1].series[0].points] == [small["value"], large["value"]]


@pytest.mark.parametrize(("won", "is_measured"), [(0, False), (1, True)])
def test_a_reference_that_won_all_is_beyond_measure(
    studies: Mapping[str, Path], won: int, is_measured: bool
) -> None:
    shown = scaling_with(studies, 50, {"stockfish 50 nodes": won})
    rating = next(row["rating"] for row in shown.tables[0].rows if row["name"] == "stockfish 50 nodes")
    assert (rating["value"] is not None) == is_measured
    assert bool(shown.charts[0].levels) == is_measured
    assert (
        bool([note for note in shown.notes if "stockfish 50 nodes is beyond measure" in note]) != is_measured
    )


def test_a_measurement_is_what_the_search_says() -> None:
    about: dict[str, Any] = {
        "preset": "mcgs",
        "settings": {"evaluator": "material", "seed": "1"},
        "equal": "simulations",
        "checkpoints": [100, 300],
        "position": "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
    }
    first, last = measure(Measurement("grow", "chess", "any", 0, about))["looks"]
    assert (first["simulations"], last["simulations"]) == (100, 300)
    assert first["nodes"] < last["nodes"] <= 301
    about.update(equal="evaluations", position="8/8/4k3/8/8/4K3/4P3/8 w - - 0 1")
    looks = measure(Measurement("grow", "chess", "any", 0, about))["looks"]
    assert 300 <= looks[-1]["evaluations"] < 316
    assert looks[-1]["simulations"] > looks[-1]["evaluations"]


def test_regret_is_what_a_move_gives_away() -> None:
    """The only good move takes the queen; the values are made up so that it is the worst."""
    about: dict[str, Any] = {
        "preset": "alphazero",
        "settings": {"evaluator": "material"},
        "position": "8/2q5/KP6/8/8/8/8/1k6 w - - 0 1",
        "values": {"a6b5": 1, "a6a5": 0, "b6c7": -1, "b6b7": 1},
        "checkpoints": [200, 400],
    }
    looks = measure(Measurement("regret", "chess", "any", 0, about))["looks"]
    assert [(look["move"], look["regret"]) for look in looks] == [("b6c7", 1.0)] * 2
    about["values"]["b6c7"] = 1
    assert measure(Measurement("regret", "chess", "any", 0, about))["looks"][0]["regret"] == 0.0


def test_an_only_move_is_found_missed_or_never_tried() -> None:
    """Taking the queen is tried most; with a prior of nearly nought a quiet move is not tried at all."""
    about: dict[str, Any] = {
        "preset": "alphazero",
        "settings": {},
        "position": "rnb1kbnr/pppp1ppp/8/4p1q1/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3",
        "move": "c1g5",
        "checkpoints": [50, 200],
    }
    looks = measure(Measurement("only", "chess", "any", 0, about))["looks"]
    assert [look["found"] for look in looks] == [True, True]
    legal = chess.Board(about["position"]).legal_moves.count()
    assert [look["legal"] for look in looks] == [legal, legal]
    assert looks[0]["visits"] < looks[1]["visits"] <= looks[1]["root_visits"]
    assert looks[0]["tried"] <= looks[1]["tried"] <= legal
    about.update(move="h2h4", settings={"node_temperature": "0.3"})
    (never, _) = measure(Measurement("only", "chess", "any", 0, about))["looks"]
    assert (never["found"], never["visits"]) == (False, 0)
    assert never["tried"] < 10


def test_nodes_grow_with_reuse_and_not_without(studies: Mapping[str, Path]) -> None:
    rows = figures_of(summarise(studies["reuse"])).tables[0].rows
    for row in rows:
        if row["name"].endswith("without reuse"):
            assert row["kept"] == 0.0
        else:
            assert row["kept"] > 0.0


# Interrupted, continued, refused


def arguments(folder: Path, experiment: str, *more: str) -> list[str]:
    return ["study", "run", experiment, "--out", str(folder), "--set", "evaluator=material", *more]


def found_in(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """All games by their moves, and all measurements."""
    results = open_study(folder)
    games = {
        f"{match.key} {key}": [ply.move for ply in record.plies]
        for match in results.plan.matches
        for key, record in read_results(match_folder(folder, match)).items()
    }
    return games, dict(results.found)


@pytest.mark.parametrize("experiment", ["merge", "leak"])
def test_a_study_that_was_killed_goes_on(experiment: str, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    size = (
        ["--pairs", "3", "--evaluations", "60"]
        if experiment == "merge"
        else ["--positions", "4", "--simulations", "500,3000"]
    )
    asked = ["--scale", "tiny", *size]
    assert run(arguments(whole, experiment, *asked, "-w", "0")) == 0
    chance = random.Random(experiment)
    before: tuple[int, int] = (0, 0)
    for _ in range(2):
        call = arguments(broken, experiment, *asked, "-w", "2")
        kill_at_work(call, partial(has_more, broken, sum(before)), chance.uniform(0.0, 0.2))
        games, found = found_in(broken) if (broken / "study.json").exists() else ({}, {})
        assert (len(games), len(found)) >= before
        before = len(games), len(found)
    assert sum(before) > 0
    for torn in [*broken.glob(f"matches/*/*/*/{RESULTS}"), broken / MEASUREMENTS][:1]:
        torn.write_bytes(torn.read_bytes() + b'{"half a li')
    assert run(arguments(broken, experiment, *asked, "-w", "0")) == 0
    assert found_in(broken) == found_in(whole)
    ours, theirs = summarise(broken), summarise(whole)
    assert len(ours["runs"]) >= 2
    assert {name: ours[name] for name in ours if name != "runs"} == {
        name: theirs[name] for name in theirs if name != "runs"
    }


def has_more(folder: Path, known: int) -> bool:
    """Whether more games and measurements are written than were known."""
    files = [*folder.glob(f"matches/*/*/*/{RESULTS}"), *folder.glob(MEASUREMENTS)]
    return sum(path.read_bytes().count(b"\n") for path in files) > known


def test_more_pairs_extend_a_study_and_another_scale_is_refused(tmp_path: Path, cli: Commands) -> None:
    folder = tmp_path / "study"

    def refused(*more: str, experiment: str = "merge") -> str:
        return cli.refuses("study", "run", experiment, "--out", folder, "-w", "0", *more)

    first = ["--scale", "tiny", "--set", "evaluator=material", "--variant", "chess"]
    assert run(["study", "run", "merge", "--out", str(folder), "-w", "0", *first]) == 0
    games, _ = found_in(folder)
    assert len(games) == 2
    assert run(["study", "run", "merge", "--out", str(folder), "-w", "0", "--pairs", "3"]) == 0
    more, _ = found_in(folder)
    assert len(more) == 2 * 3 * 2
    assert more.items() >= games.items()
    assert "its size pairs was 3, now is 2" in refused("--pairs", "2")
    assert "another study: its size evaluations 1 was 16, now is 32" in refused("--evaluations", "32")
    assert 'another study: its scale was "tiny", now is "small"' in refused("--scale", "small")
    assert 'its settings evaluator was "material", now is "uniform"' in refused("--set", "evaluator=uniform")
    assert "its seed was 0, now is 7" in refused("--seed", "7")
    assert "holds the study merge, not virtual" in refused(experiment="virtual")
    assert "the experiment merge has no positions; it has" in refused("--positions", "7")
    assert "--evaluations takes numbers with commas between, not 'some'" in refused("--evaluations", "some")
    assert "there is no setting 'evalator'" in refused("--set", "evalator=hash")
    assert "the study has no mcgs; it has 16 evaluations, clock" in refused("--only", "mcgs")
    assert "the study has no antichess; it has chess, crazyhouse" in refused("--variant", "antichess")
    assert found_in(folder)[0] == more


def test_a_folder_says_what_the_default_is_by_variant(tmp_path: Path) -> None:
    study = EXPERIMENTS["regret"].study("tiny")
    run_study(study, tmp_path, HERE, names=("mcgs",))
    path = tmp_path / "study.json"
    assert json.loads(path.read_text())["tuned"]["chess"] == {"c_init": Engine("chess").settings.c_init}
    assert summarise(tmp_path)["tuned"] == TUNED
    known = json.loads(path.read_text())
    path.write_text(json.dumps({name: value for name, value in known.items() if name != "tuned"}))
    assert summarise(tmp_path)["tuned"] is None
    run_study(study, tmp_path, HERE, names=("mcgs",))  # as earlier versions wrote it
    path.write_text(path.read_text().replace('"c_init": 1.5', '"c_init": 1.7'))
    with pytest.raises(StudyError, match="its tuned"):
        run_study(study, tmp_path, HERE)
    own = EXPERIMENTS["regret"].study("tiny", settings={"evaluator": "material"})
    run_study(own, tmp_path / "own", HERE, names=("mcgs",))
    assert summarise(tmp_path / "own")["tuned"] == {}


def test_a_folder_of_an_earlier_version_goes_on_where_its_presets_still_do_the_same(tmp_path: Path) -> None:
    study = EXPERIMENTS["regret"].study("tiny", settings={"evaluator": "material"})
    run_study(study, tmp_path, HERE, names=("mcgs",))
    path = tmp_path / "study.json"
    known = json.loads(path.read_text())
    assert known["presets"]["mcgs"]["width_visits"] == 0
    for settings in known["presets"].values():
        del settings["width_visits"]
    path.write_text(json.dumps(known))
    if "default" in known["presets"]:
        with pytest.raises(StudyError, match="width_visits was 0, now is"):
            run_study(study, tmp_path, HERE)
        known["presets"]["default"]["width_visits"] = Settings().width_visits
        path.write_text(json.dumps(known))
    run_study(study, tmp_path, HERE, names=("mcgs",))
    assert json.loads(path.read_text())["presets"]["mcgs"]["width_visits"] == 0


def test_a_folder_with_measurements_of_other_leaves_in_flight_is_refused(tmp_path: Path) -> None:
    study = EXPERIMENTS["regret"].study("tiny", settings={"evaluator": "material"})
    run_study(study, tmp_path, HERE, names=("mcgs",))
    path = tmp_path / MEASUREMENTS
    kept = path.read_text()
    path.write_text(kept.replace('"width_visits":"1024"', '"width_visits":"0"'))
    assert path.read_text() != kept
    with pytest.raises(
        StudyError, match="measurements with other settings: chess/mcgs/0 differs in width_visits"
    ):
        run_study(study, tmp_path, HERE, names=("mcgs",))
    path.write_text(kept)
    run_study(study, tmp_path, HERE, names=("mcgs",))
    assert path.read_text() == kept


def test_a_refused_folder_is_left_as_it_is(studies: Mapping[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "earlier"
    shutil.copytree(studies["merge"], folder)
    (path,) = folder.glob("matches/chess/*/*/match.json")
    path.write_text(path.read_text().replace('"batch_size": "512"', '"batch_size": "16"'))
    before = (folder / "study.json").read_text()
    with pytest.raises(MatchError, match='batch_size was "16", now is "512"'):
        run_study(open_study(studies["merge"]).study, folder, HERE)
    assert (folder / "study.json").read_text() == before


def test_results_are_read_without_the_network_that_made_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "data" / "anabranch" / "networks" / "mine.safetensors"
    installed.parent.mkdir(parents=True)
    installed.write_bytes((FOLDER / "chess.safetensors").read_bytes())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    study = EXPERIMENTS["merge"].study("tiny", settings={"evaluator": "mine"})
    run_study(study, tmp_path / "merge", HERE, variants=("chess",))
    summary = summarise(tmp_path / "merge")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    width_of_default.cache_clear()
    assert summarise(tmp_path / "merge")["tables"] == summary["tables"] != []
    with pytest.raises(SettingError, match="mine"):
        run_study(study, tmp_path / "merge", HERE, variants=("chess",))


def test_a_first_pair_is_for_studies_of_games() -> None:
    with pytest.raises(
        StudyError, match="the experiment leak has no pairs of games, so it has no first pair"
    ):
        EXPERIMENTS["leak"].study("tiny", first_pair=3)
    with pytest.raises(StudyError, match="the first pair is 0 or more, not -1"):
        EXPERIMENTS["merge"].study("tiny", first_pair=-1)


def test_a_folder_with_other_networks_is_refused(tmp_path: Path) -> None:
    study = EXPERIMENTS["regret"].study("tiny", settings={"evaluator": "material"})
    run_study(study, tmp_path, HERE, names=("mcgs",))
    path = tmp_path / "study.json"
    path.write_text(
        path.read_text().replace('"networks": {\n  "crazyhouse": "', '"networks": {\n  "crazyhouse": "0')
    )
    with pytest.raises(StudyError, match="its networks"):
        run_study(study, tmp_path, HERE)
    network = tmp_path / "mine.safetensors"
    shutil.copy(bundled_network_file(), network)
    own = EXPERIMENTS["regret"].study("tiny", settings={"evaluator": str(network)})
    run_study(own, tmp_path / "own", HERE, names=("mcgs",))
    run_study(own, tmp_path / "own", HERE, names=("mcgs",))
    network.write_bytes(network.read_bytes() + b" ")
    with pytest.raises(StudyError, match="its networks"):
        run_study(own, tmp_path / "own", HERE)
    path.unlink()
    with pytest.raises(StudyError, match=r"results without study\.json"):
        run_study(study, tmp_path, HERE)
    path.write_text("[]")
    with pytest.raises(StudyError, match="does not describe a study"):
        open_study(tmp_path)


def bundled_network_file() -> Path:
    path = bundled("chess")
    assert path is not None
    return path


def test_only_a_part_can_be_run(tmp_path: Path) -> None:
    study = EXPERIMENTS["leak"].study("tiny", settings={"evaluator": "material"})
    results = run_study(study, tmp_path, HERE, ("chess",), ("paper", "naive"))
    assert {one.key for one, _ in results.measurements} == {"chess/paper/0", "chess/naive/0"}
    summary = summarise(tmp_path)
    assert summary["runs"][-1]["run"] == "only chess paper naive"
    assert {row["name"] for row in figures_of(summary).tables[0].rows} == {"paper", "naive"}
    assert build_report([summary]).count("<svg") == 2


def test_all_matches_advance_side_by_side(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["virtual"]
    size = experiment.sizes["tiny"].changed("virtual", {"pairs": 2, "plies": 2})
    order: list[str] = []
    run_study(
        experiment.study("tiny", size=size, settings={"evaluator": "uniform"}),
        tmp_path,
        HERE,
        ("chess",),
        on_progress=lambda done, planned, words: order.append(words.rpartition("/")[2].split(" ")[0]),
    )
    turn = ["visit", "visit", "loss-0.5", "loss-0.5", "loss-2.0", "loss-2.0"]
    assert order == ["", *turn, *turn]


def test_a_match_that_is_precise_gets_no_more_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.study.run.LEAST_PAIRS", 3)
    size = EXPERIMENTS["virtual"].sizes["tiny"].changed("virtual", {"pairs": 30, "plies": 200})
    study = EXPERIMENTS["virtual"].study("tiny", size=size, settings={"evaluator": "material"})
    reports: list[tuple[Any, Any]] = []

    def on_progress(done: float, planned: float | None, words: str) -> None:
        reports.append((done, planned))

    only = ("crazyhouse",), ("loss 2.0",)
    results = run_study(study, tmp_path, HERE, *only, on_progress=on_progress, error=150.0)
    matchup = results.matches[0][1].standings().matchups[0]
    errors = []
    for pairs in range(1, sum(matchup.pairs) + 1):
        tally = Tally(results.matches[0][0].spec, first_games(tmp_path, 2 * pairs))
        errors.append(tally.standings().matchups[0].elo.error)
    assert 3 <= len(errors) < 30
    assert errors[-1] < 150.0 <= min(errors[2:-1])
    assert reports[0] == (0, 60)
    assert reports[-1][0] == matchup.games == 2 * len(errors)
    assert summarise(tmp_path)["runs"][-1]["run"] == "only crazyhouse loss 2.0 to ± 150"
    games = found_in(tmp_path)[0]
    run_study(study, tmp_path, HERE, *only, error=150.0)
    assert found_in(tmp_path)[0] == games
    run_study(study, tmp_path, HERE, *only)
    assert len(found_in(tmp_path)[0]) == 60


def test_a_match_that_one_side_has_won_whole_gets_no_more_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.study.run.ONE_SIDED", 3)
    experiment = EXPERIMENTS["scaling"]
    sizes = {"pairs": 5, "evaluations": (1, 400), "plies": 200}
    study = experiment.study("tiny", size=experiment.sizes["tiny"].changed("scaling", sizes))
    only = ("crazyhouse",), ("default 400",)
    part = experiment.plan(study).chosen(*only)
    assert [match.name for match in part.matches if match.group == "next budget"] == ["default 400"]
    results = run_study(study, tmp_path, HERE, *only, error=1.0)
    (matchup,) = (
        tally.standings().matchups[0] for one, tally in results.matches if one.group == "next budget"
    )
    assert (matchup.wins, matchup.games) == (6, 6)
    results = run_study(study, tmp_path, HERE, *only)
    assert {tally.standings().games for _, tally in results.matches} == {10}


def test_a_scaling_of_an_earlier_version_is_refused_by_a_sentence(
    studies: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "earlier"
    shutil.copytree(studies["scaling"], folder)
    path = folder / "study.json"
    known = json.loads(path.read_text())
    known["size"]["reference_nodes"] = 70
    path.write_text(json.dumps(known))
    assert open_study(folder).study.size.reference_nodes == (70,)
    with pytest.raises(StudyError, match="reference_nodes 1 was 70, now is 50"):
        run_study(open_study(studies["scaling"]).study, folder, HERE)


def first_games(folder: Path, games: int) -> list[GameRecord]:
    """Those of the only match of a folder, in order."""
    (results,) = folder.glob(f"matches/*/*/*/{RESULTS}")
    return [record for _, record in sorted(read_results(results.parent).items())][:games]


def test_studies_of_one_experiment_share_a_folder(studies: Mapping[str, Path], tmp_path: Path) -> None:
    for name in ("merge-3000.json", "merge-30000.json"):
        assert run(["study", "summarise", str(studies["merge"]), "-o", str(tmp_path / name)]) == 0
    drawn = {path.name for path in tmp_path.glob("*.svg")}
    expected = {f"merge-{budget}-{variant}.svg" for budget in (3000, 30000) for variant in VARIANTS}
    assert drawn == expected
    assert run(["study", "draw", str(tmp_path / "merge-3000.json"), "-o", str(tmp_path / "again")]) == 0
    again = sorted((tmp_path / "again").iterdir())
    assert [path.read_bytes() for path in again] == [(tmp_path / path.name).read_bytes() for path in again]


def test_without_matplotlib_one_sentence(
    studies: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch, cli: Commands
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    chart = figures_of(summarise(studies["merge"])).charts[0]
    with pytest.raises(MissingPackageError):
        draw(chart)
    error = cli.refuses("study", "draw", studies["merge"])
    assert error == f"anabranch: {lacking('this needs the package matplotlib', 'study')}\n"
    assert run(["study", "summarise", str(studies["merge"])]) == 0


def test_without_ray_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Commands) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    asked = ["study", "run", "merge", "--scale", "tiny", "--out", str(tmp_path), "--ray", "auto"]
    error = cli.refuses(*asked)
    assert error == f"anabranch: {lacking('this needs the package ray', 'cluster')}\n"


def test_commands(studies: Mapping[str, Path], tmp_path: Path, cli: Commands) -> None:
    assert [row["name"] for row in cli.json("study", "list")] == list(EXPERIMENTS)
    assert "ablation" in cli.shows("study", "list")
    assert run(["study", "draw", str(studies["proofs"]), "-o", str(tmp_path), "--format", "png"]) == 0
    assert (tmp_path / "proofs-chess.png").read_bytes().startswith(b"\x89PNG")
    assert "figures are drawn as svg, png, pdf, not as gif" in cli.refuses(
        "study", "draw", studies["proofs"], "--format", "gif"
    )
    assert "there is no folder or file" in cli.refuses("study", "report", tmp_path / "nowhere")
    assert "holds no study" in cli.refuses("study", "report", tmp_path)
    assert "--workers counts processes of this machine" in cli.refuses(
        "study", "run", "merge", "--out", tmp_path / "new", "--ray", "x", "-w", "2"
    )


def test_a_part_is_named_by_what_is_tried_or_by_its_group() -> None:
    plan = EXPERIMENTS["scaling"].plan(EXPERIMENTS["scaling"].study("tiny"))
    assert [one.key for one in plan.chosen(("chess",), ("stockfish 50 nodes", "alphazero 16")).matches] == [
        "chess/next-budget/alphazero-16",
        *(
            f"chess/stockfish-50-nodes/{preset}-{budget}"
            for preset in ("mcgs-combined", "default")
            for budget in (8, 16)
        ),
    ]
    precise = plan.chosen(("chess",), ("stockfish 50 nodes/default 8",))
    assert [one.key for one in precise.matches] == ["chess/stockfish-50-nodes/default-8"]
    with pytest.raises(StudyError, match="the study has no rungs; it has alphazero 16, default 16, "):
        plan.chosen((), ("rungs",))


def test_a_plan_without_parts_is_everything() -> None:
    assert Plan().chosen() == Plan()


# What fails leaves nothing that is in the way of what is right


@pytest.mark.parametrize(
    ("experiment", "wrong", "sentence"),
    [
        ("leak", ["--set", "bogus=1"], "there is no setting 'bogus'"),
        ("leak", ["--set", "evaluator=no.safetensors"], "there is no network file no.safetensors"),
        ("leak", ["--set", "evaluator=material", "--ray", "nowhere:1"], "ray"),
        ("leak", ["--set", "evaluator=material", "-w", "-1"], "there cannot be -1 workers"),
        ("reuse", ["--set", "batch_size=0"], "batch_size"),
        ("merge", ["--set", "bogus=1"], "there is no setting 'bogus'"),
        ("merge", ["--set", "evaluator=no.safetensors"], "there is no network file no.safetensors"),
        ("merge", ["--tablebases", "nowhere"], "nowhere cannot be read"),
        ("merge", ["--ray", "nowhere:1"], "ray"),
    ],
)
def test_a_study_that_failed_leaves_no_folder(
    tmp_path: Path, cli: Commands, experiment: str, wrong: list[str], sentence: str
) -> None:
    folder = tmp_path / "study"
    call = ["study", "run", experiment, "--scale", "tiny", "--out", str(folder)]
    said = cli.refuses(*call, *wrong)
    assert sentence.lower() in said.lower()
    assert said.count("\n") == 1
    assert not folder.exists()


def test_a_study_without_results_does_not_refuse_another(tmp_path: Path) -> None:
    class Broken:
        def run(self, *_: object) -> Any:
            raise KeyboardInterrupt  # before the first result

    folder = tmp_path / "study"
    with pytest.raises(KeyboardInterrupt):
        run_study(EXPERIMENTS["merge"].study("tiny"), folder, Broken())
    assert (folder / "study.json").exists()
    right = ["study", "run", "leak", "--variant", "chess", "--only", "paper", "--out", str(folder), "-w", "0"]
    assert run([*right, "--positions", "1", "--simulations", "20", "--set", "evaluator=material"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "measurements.jsonl", "study.json"]
    assert len(json.loads((folder / "study.json").read_text())["runs"]) == 1
    with pytest.raises(StudyError, match="holds another study"):
        run_study(EXPERIMENTS["merge"].study("tiny"), folder, HERE)
