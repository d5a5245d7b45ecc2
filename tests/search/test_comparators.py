"""The comparators of the literature in the core: what the reference, which has no clock, cannot show."""

import pytest

from anabranch import Engine
from anabranch.errors import SettingError

pytestmark = pytest.mark.usefixtures("material_by_default")

CHESS = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"


def test_a_gumbel_root_halves_its_moves() -> None:
    """64 simulations of 16 moves in 4 phases: 8 moves have 1 visit, 4 have 3, 2 have 7, 2 have 15."""
    result = Engine(preset="gumbel", evaluator="hash", seed=3).search(CHESS, simulations=65)
    visits = sorted((row.visits for row in result.moves), reverse=True)
    assert visits[:17] == [15, 15, 7, 7, 3, 3, 3, 3, *[1] * 8, 0]
    assert result.best_move in {row.move for row in result.moves if row.visits == 15}
    assert sum(result.improved_policy.values()) == pytest.approx(1.0)


def test_the_noise_follows_the_seed_and_may_be_left_out() -> None:
    def visits(seed: int, scale: float = 1.0) -> dict[str, int]:
        engine = Engine(preset="gumbel", evaluator="hash", seed=seed, gumbel_scale=scale)
        return {row.move: row.visits for row in engine.search(CHESS, simulations=33).moves}

    assert visits(1) == visits(1)
    assert visits(1) != visits(2)
    assert visits(1, 0.0) == visits(2, 0.0)


def test_a_gumbel_root_without_a_limit_goes_on_with_larger_plans() -> None:
    result = Engine(preset="gumbel", evaluator="hash", threads=1).search(CHESS, time=0.3)
    assert result.finish == "time"
    assert sum(row.visits > 0 for row in result.moves) == 16


@pytest.mark.parametrize("preset", ["gumbel", "uct", "ucd", "update-all"])
def test_given_moves_are_the_only_ones_that_are_tried(preset: str) -> None:
    moves = ["a2a3", "h2h3", "c4b5"]
    result = Engine(preset=preset, evaluator="hash").search(CHESS, simulations=60, root_moves=moves)
    assert {row.move for row in result.moves} == set(moves)
    assert all(row.visits > 0 for row in result.moves)
    assert result.best_move in moves


@pytest.mark.parametrize("preset", ["gumbel", "ucd", "update-all", "uct+solver"])
def test_memory_is_reclaimed(preset: str) -> None:
    engine = Engine(preset=preset, evaluator="hash", memory=1 << 20)
    result = engine.search(CHESS, simulations=8_000)
    assert result.statistics.simulations == 8_000
    assert result.statistics.reclaims > 0


def test_what_makes_no_sense_is_refused_with_a_sentence() -> None:
    for changes in ({"gumbel": True, "temperature": 1.0}, {"ucd_value": 1}, {"backup": "all"}):
        with pytest.raises(SettingError, match=f"{next(iter(changes))}.*(must|need)"):
            Engine(**changes)
    engine = Engine(preset="uct")
    with pytest.raises(SettingError, match="they need puct"):
        engine.configure(skip_draws=True)
    assert engine.settings.selection == "ucb1"
