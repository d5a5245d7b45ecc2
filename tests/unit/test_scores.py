"""Values as centipawns and as win, draw and loss: laws that hold for all of them."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch import _core
from anabranch.formats.scores import LARGEST_SHOWN, SHOWN_SCALE, TABLEBASE_WIN, centipawns, value_of, wdl
from anabranch.networks import shipped

values = st.floats(-1.0, 1.0)
variants = st.sampled_from(["chess", "crazyhouse", "atomic"])
shares = st.floats(0.0, 1.0)
raws = st.one_of(
    st.tuples(shares, shares, shares)
    .filter(lambda raw: sum(raw) > 0)
    .map(lambda raw: (raw[0] / sum(raw), raw[1] / sum(raw), raw[2] / sum(raw))),
    st.sampled_from(
        [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.5, 0.0, 0.5), (1e-30, 1.0, 1e-30)]
    ),
)


@given(values, values, variants)
def test_better_values_have_no_smaller_scores(one: float, other: float, variant: str) -> None:
    low, high = sorted((one, other))
    assert centipawns(low, variant) <= centipawns(high, variant)


@given(values, variants)
def test_scores_are_odd_and_bounded(value: float, variant: str) -> None:
    assert centipawns(-value, variant) == -centipawns(value, variant)
    assert abs(centipawns(value, variant)) <= LARGEST_SHOWN < TABLEBASE_WIN


@given(st.integers(-8000, 8000), variants)
def test_the_inverse_of_scores(score: int, variant: str) -> None:
    assert centipawns(value_of(score, variant), variant) == score


@given(values, variants)
def test_the_inverse_of_values(value: float, variant: str) -> None:
    assert value_of(centipawns(value, variant), variant) == pytest.approx(value, abs=0.001)


def test_a_pawn_is_a_hundred() -> None:
    assert centipawns(math.tanh(100 / 500)) == 100
    assert centipawns(math.tanh(100 / 800), "crazyhouse") == 100
    assert centipawns(1.0) == -centipawns(-1.0) == LARGEST_SHOWN
    assert centipawns(1.0 + 1e-9) == LARGEST_SHOWN


@pytest.mark.parametrize("variant", SHOWN_SCALE)
def test_the_curve_is_the_one_the_networks_were_taught(variant: str) -> None:
    path = Path(shipped.__file__).parent / "files" / f"{variant}.safetensors"
    metadata = _core.Network(path).metadata
    recipe = json.loads(metadata.get("value.recipe") or metadata["recipe"])
    assert recipe["value_scale"] == SHOWN_SCALE[variant]


def test_a_value_that_is_no_number_is_refused() -> None:
    for function in (centipawns, wdl):
        with pytest.raises(ValueError, match="NaN"):
            function(math.nan)


@given(values, st.none() | raws, variants)
def test_shares_are_whole_and_say_the_value(
    value: float, raw: tuple[float, float, float] | None, variant: str
) -> None:
    shown = wdl(value, raw, variant)
    assert sum(shown) == 1000
    assert min(shown) >= 0
    assert (shown[0] - shown[2]) / 1000 == pytest.approx(value, abs=0.0021)


@given(values, st.none() | raws)
def test_shares_mirror(value: float, raw: tuple[float, float, float] | None) -> None:
    mirrored = None if raw is None else (raw[2], raw[1], raw[0])
    assert wdl(-value, mirrored) == wdl(value, raw)[::-1]


@given(values, values, st.none() | raws)
def test_better_values_win_more_and_lose_less(
    one: float, other: float, raw: tuple[float, float, float] | None
) -> None:
    low, high = sorted((one, other))
    worse, better = wdl(low, raw), wdl(high, raw)
    assert worse[0] <= better[0] + 1  # rounding may shift one
    assert worse[2] >= better[2] - 1


@given(st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.floats(0.01, 1.0)))
def test_the_networks_own_value_gives_its_own_shares(parts: tuple[float, float, float]) -> None:
    win, draw, loss = (part / sum(parts) for part in parts)
    for shown, meant in zip(wdl(win - loss, (win, draw, loss)), (win, draw, loss), strict=True):
        assert shown / 1000 == pytest.approx(meant, abs=0.0011)


def test_drawish_positions_stay_drawish() -> None:
    assert wdl(0.1, (0.05, 0.9, 0.05))[1] > wdl(0.1, (0.4, 0.2, 0.4))[1] > wdl(0.1, (0.5, 0.0, 0.5))[1]


def test_crazyhouse_has_hardly_any_draws() -> None:
    assert wdl(0.0, None, "crazyhouse")[1] <= 2
    assert wdl(0.0)[1] > 50
