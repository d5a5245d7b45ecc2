"""Every setting and every preset does something: what is read and never used would fail here."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from anabranch import Engine, presets, settings_table
from anabranch.settings import Settings

pytestmark = pytest.mark.usefixtures("material_by_default")

CHESS = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"
ENDGAME = "8/8/3k4/3p4/8/3PK3/8/8 w - - 0 1"
MATE = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
BY_CHECKS = "8/7k/3n3p/4B1p1/6P1/8/R5P1/5RK1 w - - 0 1"
MATING = "8/k2P4/8/K7/8/8/1b1R4/8 w - - 0 1"


@dataclass
class Case:
    """A value away from the default, and a search in which it shows."""

    value: bool | int | float | str
    position: str = CHESS
    simulations: int = 600
    base: dict[str, Any] = field(default_factory=dict)


BASE: dict[str, Any] = {"evaluator": "hash", "urgency": "reduction", "seed": 1}
GUMBEL = {"gumbel": True}
UCB = {"selection": "ucb1", "batch_size": 1, "epsilon_greedy": 0.0, "epsilon_checks": 0.0}
UCD = {**UCB, "backup": "naive", "stop": "none"}
CASES: dict[str, Case] = {
    "selection": Case("ucb1"),
    "c_ucb": Case(0.5, base=UCB),
    "ucd_value": Case(1, ENDGAME, base=UCD),
    "ucd_parent": Case(2, ENDGAME, base=UCD),
    "ucd_visits": Case(255, ENDGAME, base=UCD),
    "solver_rule": Case("mcts-solver", "7k/8/8/8/8/8/1q6/K7 w - - 0 1"),
    "gumbel": Case(True),
    "gumbel_considered": Case(4, base=GUMBEL),
    "gumbel_scale": Case(0.0, base=GUMBEL),
    "c_visit": Case(5.0, base=GUMBEL),
    "c_scale": Case(0.1, base={"selection": "improved"}),
    "secure_weight": Case(0.1, simulations=150, base={"chooser": "secure"}),
    "c_init": Case(1.0),
    "c_base": Case(10.0),
    "q_init": Case(0.0, base={"urgency": "fixed"}),
    "urgency": Case("reduction", base={"urgency": "fixed"}),
    "urgency_reduction": Case(0.9),
    "table_values": Case(True, ENDGAME, 1500),
    "node_temperature": Case(1.0),
    "value_min": Case(-0.3, ENDGAME, 1500),
    "value_max": Case(0.3, ENDGAME, 1500),
    "backup": Case("naive", ENDGAME, 1500),
    "stop": Case("none", ENDGAME, 1500),
    "q_epsilon": Case(0.3, ENDGAME, 1500),
    "merge": Case("clock", ENDGAME, 1500),
    "solver": Case(False, MATING),
    "improve": Case(True, MATING, 30_000),
    "skip_draws": Case(True, "8/8/8/8/2k5/8/2p5/2K5 w - - 0 1", 600),
    "epsilon_greedy": Case(0.3),
    "epsilon_checks": Case(0.3),
    "mate_leaf": Case(100, BY_CHECKS, base={"mate_leaf_value": -1.0}),
    "mate_leaf_value": Case(1.0, BY_CHECKS, base={"mate_leaf": 100}),
    "mate_growth": Case(5.0, BY_CHECKS, base={"mate_start": 4}),
    "mate_start": Case(4, BY_CHECKS, base={"mate_growth": 5.0}),
    "mate_root": Case(20.0, BY_CHECKS, base={"mate_start": 4}),
    "pn_weight": Case(0.2, BY_CHECKS),
    "epsilon_captures": Case(0.3),
    "epsilon_threats": Case(0.3),
    "dirichlet_epsilon": Case(0.25),
    "dirichlet_alpha": Case(3.0, base={"dirichlet_epsilon": 0.25}),
    "chooser": Case("visits"),
    "q_weight": Case(0.5),
    "linear_weight": Case(0.1, base={"chooser": "linear"}),
    "bound_width": Case(10.0, base={"chooser": "lcb"}),
    "temperature": Case(20.0),
    "virtual_mode": Case("visit"),
    "virtual_loss": Case(0.1),
    "batch_size": Case(4),
    "batches_in_flight": Case(1),
    "width_visits": Case(64),
    "width_linear": Case(1, base={"width_visits": 8, "batch_size": 512}),
    "wave_least": Case(1, ENDGAME, 1500),
    "batch_collisions": Case(1, ENDGAME, 600, {"batch_size": 64}),
    "batch_stops": Case(1, ENDGAME, 1500),
    "batch_terminals": Case(1, ENDGAME, 1500),
    "contempt": Case(0.3, ENDGAME, 1500),
    "seed": Case(9, base={"epsilon_greedy": 0.3}),
    "evaluator": Case("hash"),
}
# Not meant to change what is found; each has a test of its own, here or where it is named.
ELSEWHERE = {
    "threads": "test_determinism",
    "memory": "test_memory",
    "reuse": "test_memory",
    "idle_collections": "below",
    "hash_cost_us": "below",
    "rollouts": "tests/games",
    "tablebase_men": "tests/tablebases",
    "tablebase_fifty": "tests/tablebases",
}


@cache
def outcome(position: str, simulations: int, *settings: tuple[str, Any]) -> tuple[Any, ...]:
    """What a search finds; many cases are held against the same one."""
    engine = Engine(preset="mcgs-combined", **dict(settings))
    result = engine.search(position, simulations=simulations)
    policy = {row.move: row.policy for row in result.moves}
    return engine.graph(visits=0, nodes=10**9), result.best_move, policy, result.solved, result.lines


def test_every_setting_is_tried() -> None:
    names = {row.name for row in settings_table()}
    assert set(CASES) | set(ELSEWHERE) == names
    assert not set(CASES) & set(ELSEWHERE)


@pytest.mark.parametrize("name", list(CASES))
def test_a_setting_shows(name: str) -> None:
    case = CASES[name]
    base = {**BASE, **case.base}
    base.pop(name, None)
    if name == "urgency":
        base["urgency"] = "fixed"
    default = asdict(Settings.preset("mcgs-combined"))[name]
    assert case.value != default
    plain = outcome(case.position, case.simulations, *base.items())
    again = outcome.__wrapped__(case.position, case.simulations, *base.items())
    changed = outcome(case.position, case.simulations, *{**base, name: case.value}.items())
    assert plain == again
    assert plain != changed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("backup", ["tree", "tree+cache", "naive", "paper", "delta", "recompute"]),
        ("stop", ["gap", "visits", "none"]),
        ("selection", ["puct", "ucb1", "improved"]),
        ("evaluator", ["uniform", "material", "hash"]),
    ],
)
def test_every_word_of_a_choice_is_its_own(name: str, words: list[str]) -> None:
    graphs = [
        outcome(ENDGAME, 1500, *{**BASE, "epsilon_greedy": 0.0, name: word}.items())[0] for word in words
    ]
    assert all(one != other for one, other in combinations(graphs, 2))


def test_idle_collections_end_a_search_without_work() -> None:
    """A drawn child that stays selectable gives nothing to evaluate: the search ends when it says so."""
    counts = []
    for idle in (1, 40):
        engine = Engine(preset="mcgs", idle_collections=idle)
        result = engine.search("7k/8/8/8/8/8/1q6/K7 w - - 0 1", simulations=10**6)
        assert result.finish == "idle"
        counts.append(result.statistics.simulations)
    assert counts[0] < counts[1]


def test_an_artificial_cost_takes_time() -> None:
    def seconds(cost: int) -> float:
        return Engine(evaluator="hash", hash_cost_us=cost).search(CHESS, simulations=100).elapsed

    assert seconds(2000) > 0.15
    assert seconds(2000) > 3 * seconds(0)


def test_presets_are_what_their_names_say() -> None:
    """Each preset differs from plain AlphaZero in a search where its enhancement matters."""
    probes: dict[str, Callable[[str], Any]] = {
        "alphazero+cache": lambda preset: searched(preset, ENDGAME).statistics.evaluations,
        "alphazero+solver": lambda preset: searched(preset, MATE).solved,
        "alphazero+epsilon": lambda preset: searched(preset, CHESS).statistics.explorations,
        "alphazero+qmove": lambda preset: [policy(preset, number) for number in (40, 150, 700)],
        "alphazero+checks": lambda preset: searched(preset, CHESS).statistics.explorations,
        "mcgs": lambda preset: searched(preset, ENDGAME).statistics.transposition_links,
        "mcgs-combined": lambda preset: searched(preset, ENDGAME).statistics.transposition_links,
        "gumbel": lambda preset: [row.visits for row in searched(preset, CHESS).moves],
        "uct": lambda preset: [row.visits for row in searched(preset, CHESS).moves],
        "uct+solver": lambda preset: searched(preset, MATE).solved,
        "ucd": lambda preset: searched(preset, ENDGAME).statistics.transposition_links,
        "update-all": lambda preset: searched(preset, ENDGAME).statistics.transposition_links,
        "default": lambda preset: searched(preset, ENDGAME).statistics.transposition_links,
    }
    assert set(probes) | {"alphazero"} == set(presets())
    for preset, probe in probes.items():
        assert probe(preset) != probe("alphazero"), preset


def test_solver_rules_prove_by_their_own_rules() -> None:
    """A draw is proven by two of the three, a win by all."""
    drawn = "7k/8/8/8/8/8/1q6/K7 w - - 0 1"
    for rule, state in (("exact-win-2", "draw"), ("exact-win", "draw"), ("mcts-solver", None)):
        engine = Engine(preset="alphazero+solver", evaluator="hash", solver_rule=rule)
        won = engine.search(MATE, simulations=500).solved
        assert won is not None
        assert won.state == "win"
        verdict = engine.search(drawn, simulations=600).solved
        assert (verdict.state if verdict else None) == state


def test_update_all_visits_more_than_its_trajectories() -> None:
    """A node has the visits of its edges and 1; the root has more than there were simulations."""
    engine = Engine(preset="update-all", evaluator="hash")
    result = engine.search(ENDGAME, simulations=1000)
    assert result.statistics.root_visits > 1000
    assert sum(row.visits for row in result.moves) == result.statistics.root_visits - 1


def policy(preset: str, simulations: int) -> list[float]:
    result = Engine(preset=preset, evaluator="hash").search(CHESS, simulations=simulations)
    return [row.policy for row in result.moves]


def searched(preset: str, position: str) -> Any:
    return Engine(preset=preset, evaluator="hash").search(position, simulations=1500)
