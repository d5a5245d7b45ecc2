"""The experiment `memory`: its phases, the counts of policies, and what its table says."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import chess
import pytest
from tests.study.conftest import HERE

from anabranch import Engine
from anabranch.errors import StudyError
from anabranch.match.openings import rules_of
from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.experiments.memory import full_bytes, phases_of
from anabranch.study.folder import MEASUREMENTS, StudyResults
from anabranch.study.plan import Study
from anabranch.study.policies import count_policies, read_policies
from anabranch.study.run import run_study
from anabranch.study.summary import summarise

MEMORY = EXPERIMENTS["memory"]
PHASES = ["openings", "middlegames", "endings with pawns", "endings without pawns"]
FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"


@pytest.mark.parametrize(("variant", "names"), [("chess", PHASES), ("crazyhouse", PHASES[:2])])
def test_phases_have_positions_of_their_kind(variant: str, names: list[str]) -> None:
    phases = {phase.name: phase for phase in phases_of(variant)}
    assert list(phases) == names
    fits: dict[str, Callable[[chess.Board], bool]] = {
        "openings": lambda board: board.fullmove_number <= 5,
        "middlegames": lambda board: board.fullmove_number >= 10 and len(board.piece_map()) > 16,
        "endings with pawns": lambda board: bool(board.pawns) and len(board.piece_map()) <= 16,
        "endings without pawns": lambda board: not board.pawns and len(board.piece_map()) <= 5,
    }
    for name, phase in phases.items():
        boards = [rules_of(variant)(position) for position in phase.positions]
        assert len({board.fen() for board in boards}) == len(boards) >= 6
        for board in boards:
            assert board.is_valid()
            assert not board.is_game_over()
            assert fits[name](board), board.fen()
    assert rules_of(variant)(phases["openings"].positions[0]) == rules_of(variant)()


def test_every_phase_is_measured_at_both_budgets() -> None:
    plan = MEMORY.plan(MEMORY.study("full"))
    found = {(one.variant, one.about["phase"], one.group, one.name) for one in plan.measurements}
    phases = [("chess", name) for name in PHASES] + [("crazyhouse", name) for name in PHASES[:2]]
    sides = [("equal simulations", name) for name in ("alphazero", "alphazero+cache", "mcgs")]
    sides += [("equal evaluations", name) for name in ("alphazero+cache", "mcgs")]
    assert found == {(*phase, *side) for phase in phases for side in sides}
    assert all(one.about["policies"] for one in plan.measurements)


@pytest.mark.parametrize(
    ("preset", "changes"), [("alphazero", {}), ("mcgs", {}), ("default", {"pn_weight": 0.5})]
)
def test_policies_are_counted_as_the_export_has_them(preset: str, changes: dict[str, Any]) -> None:
    engine = Engine(preset=preset, evaluator="material", **changes)
    statistics = engine.search(FEN, simulations=400).statistics
    graph = engine.graph(visits=0, nodes=10**6)
    policies = count_policies(engine)
    assert policies.nodes == statistics.nodes
    assert policies.opened == statistics.edges
    assert policies.legal == sum(node.legal for node in graph.nodes if node.visits)
    assert policies.legal > 10 * policies.nodes
    assert 0 < policies.listed <= policies.legal - policies.opened


def test_a_damaged_graph_file_is_refused(tmp_path: Path) -> None:
    engine = Engine(preset="mcgs", evaluator="material")
    engine.search(FEN, simulations=50)
    engine.save(tmp_path / "graph")
    saved = (tmp_path / "graph").read_bytes()
    assert read_policies(saved).nodes > 40
    with pytest.raises(StudyError, match="begins with b'OTHER"):
        read_policies(b"OTHER FILE" + saved)
    with pytest.raises(StudyError, match="within its"):
        read_policies(saved[:-300])
    with pytest.raises(StudyError, match="and the file at"):
        read_policies(saved + b"more")
    with pytest.raises(StudyError, match="graph file"):
        read_policies(saved, has_numbers=True)


def results_of(study: Study, samples: Callable[[str, int, str], list[dict[str, Any]]]) -> StudyResults:
    """Made-up results in chess, by preset, place and what is held equal."""
    plan = MEMORY.plan(study).chosen(("chess",))
    found = {
        one.key: {"looks": samples(one.name, one.place, one.about["equal"])} for one in plan.measurements
    }
    return StudyResults(study, plan, {}, found)


def sample(checkpoint: int, nodes: int, size: int, **more: int) -> dict[str, Any]:
    done = {"simulations": checkpoint, "evaluations": checkpoint}
    return {"checkpoint": checkpoint, "nodes": nodes, "bytes": size, **done, **more}


def test_savings_are_means_over_the_positions_of_a_phase() -> None:
    assert full_bytes({"bytes": 100}) is None
    study = MEMORY.study("tiny", size=MEMORY.sizes["tiny"].changed("memory", {"positions": 2}))

    def samples(preset: str, place: int, _equal: str) -> list[dict[str, Any]]:
        if preset == "mcgs":  # half of everything in one ending of two
            return [sample(200, 50 if place == 200 else 100, 10_000, legal=1_000, listed=500)]
        return [sample(200, 100, 20_000, legal=3_000, listed=500)]

    (table,) = MEMORY.show(results_of(study, samples)).tables
    graph = [row for row in table.rows if (row["group"], row["name"]) == ("equal simulations", "mcgs")]
    rows = {row["phase"]: row for row in graph}
    assert [row["positions"] for row in rows.values()] == [2, 2, 2, 2]
    assert [row["nodes"] for row in rows.values()] == [0.0, 0.0, 0.25, 0.0]
    assert (rows["endings with pawns"]["nodes_least"], rows["endings with pawns"]["nodes_most"]) == (0.0, 0.5)
    for row in rows.values():
        assert row["bytes"] == 0.5
        assert row["full"] == 1.0 - (10_000 - 2_000 + 8_000) / (20_000 - 2_000 + 24_000)
    told = {(row["group"], row["name"]): row["paper"] for row in table.rows}
    assert told["equal simulations", "mcgs"] == "30 to 70 %"
    assert [one for one in told.values() if one] == ["30 to 70 %"]


def test_a_graph_without_enough_positions_is_no_graph_of_equal_evaluations() -> None:
    def samples(preset: str, place: int, equal: str) -> list[dict[str, Any]]:
        is_small = preset == "mcgs" and place >= 300 and equal == "evaluations"
        short = {"evaluations": 150} if is_small else {}
        return [sample(200, 100, 20_000) | short]

    (table,) = MEMORY.show(results_of(MEMORY.study("tiny"), samples)).tables
    found = [row["phase"] for row in table.rows if row["group"] == "equal evaluations"]
    assert found == PHASES[:3]


def test_charts_show_the_phases(studies: Mapping[str, Path]) -> None:
    charts = {chart["name"]: chart for chart in summarise(studies["memory"])["charts"]}
    assert list(charts) == [
        f"memory-{variant}-{lists}" for variant in ("crazyhouse", "chess") for lists in ("full", "ours")
    ]
    for name, chart in charts.items():
        ours = [one["name"] for one in chart["series"] if one["source"] == "ours"]
        assert ours == (PHASES if "chess" in name else PHASES[:2])
    assert charts["memory-chess-full"]["series"] != charts["memory-chess-ours"]["series"]


def test_a_folder_without_phases_goes_on_with_its_middlegames(tmp_path: Path) -> None:
    study = MEMORY.study("tiny", settings={"evaluator": "material"})
    done = run_study(study, tmp_path, HERE, ("chess",))
    journal = tmp_path / MEASUREMENTS
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    earlier = [line for line in lines if line["key"].endswith("/0")]
    assert {line["key"] for line in earlier} == {
        one.key
        for one in done.plan.measurements
        if one.about["phase"] == "middlegames" and one.key in done.found
    }
    for line in earlier:  # as earlier versions wrote it
        for look in line["found"]["looks"]:
            del look["legal"], look["listed"]
            look["nodes"] += 1_000_000
    journal.write_text("".join(json.dumps(line) + "\n" for line in earlier))
    again = run_study(study, tmp_path, HERE, ("chess",))
    assert again.found.keys() == done.found.keys()
    (table,) = MEMORY.show(again).tables
    for row in table.rows:
        if row["phase"] == "middlegames":
            assert (row["full"], row["full_least"]) == (None, None)
            assert abs(row["nodes"]) < 0.01
        else:
            assert row["full"] is not None
    with pytest.raises(StudyError, match="its scale was"):
        run_study(MEMORY.study("small", settings={"evaluator": "material"}), tmp_path, HERE)
