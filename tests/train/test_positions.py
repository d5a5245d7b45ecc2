from pathlib import Path

import numpy as np
import pytest

from anabranch.data.shards import Damage, find_shards, held_out, list_shards, read_shard
from anabranch.errors import DataError, TrainingError
from anabranch.train.batches import BatchOrder, make_batch
from anabranch.train.build import build_network
from anabranch.train.positions import fit_draws, fit_scale, mix_wdl, read_training_data
from anabranch.train.recipe import Recipe

from .conftest import Shards

RECIPE = Recipe(variant="crazyhouse", policy_width=32, value_width=32, held_out=0.3)


def test_split_is_by_game(shards: Shards) -> None:
    folder = shards()
    material = read_training_data(list_shards([folder]), RECIPE)
    rows = [row for shard in find_shards(folder) for row in read_shard(shard).to_pylist()]
    is_held = held_out(np.array([row["game"] for row in rows], np.uint64), 0.3)
    held = [row["fen"] for row, out in zip(rows, is_held, strict=True) if out]
    kept = [row["fen"] for row, out in zip(rows, is_held, strict=True) if not out]
    assert 0 < len(held) < len(rows)
    assert material.held_out.fens.to_pylist() == held
    assert material.train.fens.to_pylist() == kept
    assert len(material.train.moves) == len(material.train.wdl) == len(kept)


def test_damaged_shard_is_named_and_left_out(shards: Shards) -> None:
    folder = shards()
    broken = find_shards(folder)[0].path
    broken.write_bytes(broken.read_bytes()[:-100])
    damage: list[Damage] = []
    material = read_training_data(list_shards([folder]), RECIPE, damage.append)
    assert [found.path for found in damage] == [broken]
    assert "checksum" in damage[0].reason
    assert len(material.shards) == 1
    assert len(material.train) > 0


def test_a_game_counts_once(shards: Shards) -> None:
    once = read_training_data(list_shards([shards()]), RECIPE).train
    twice = read_training_data(list_shards([shards(name="left"), shards(name="right")]), RECIPE).train
    assert twice.fens.to_pylist() == once.fens.to_pylist()


def test_no_data_and_wrong_variant_are_sentences(shards: Shards, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="there is no position to train on"):
        read_training_data(list_shards([tmp_path / "empty"]), RECIPE)
    with pytest.raises(DataError, match="not a folder"):
        list_shards([tmp_path / "nowhere"])
    with pytest.raises(DataError, match="positions of chess, not of crazyhouse"):
        read_training_data(list_shards([shards("chess")]), RECIPE)


def test_policy_by_temperature(shards: Shards) -> None:
    folder = shards()
    as_stored = read_training_data(list_shards([folder]), RECIPE).train.weights.to_pylist()
    assert [0.75, 0.25] in as_stored
    by_score = read_training_data(
        list_shards([folder]), RECIPE.changed(policy_temperature=50.0)
    ).train.weights
    pair = next(weights for weights in by_score.to_pylist() if len(weights) == 2)
    assert pair == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))], abs=1e-5)


def test_score_limit_leaves_out(shards: Shards) -> None:
    folder = shards()
    everything = read_training_data(list_shards([folder]), RECIPE.changed(value_scale=300.0)).train
    some = read_training_data(list_shards([folder]), RECIPE.changed(value_scale=300.0, score_limit=150)).train
    assert np.abs(everything.scores).max() > 150 >= np.abs(some.scores).max()
    assert len(some) == (np.abs(everything.scores) <= 150).sum()


def test_draws_have_the_share_that_is_given(shards: Shards) -> None:
    folder = shards()
    given = read_training_data(list_shards([folder]), RECIPE.changed(draw_share=0.3, result_share=0.0))
    assert given.draw_share == 0.3
    values = given.train.wdl[:, 0] - given.train.wdl[:, 2]
    assert given.train.wdl[:, 1] == pytest.approx(0.3 * (1.0 - np.abs(values)), abs=1e-6)
    with pytest.raises(TrainingError, match="draw_share is a share between 0 and 1"):
        RECIPE.changed(draw_share=1.5).check()


def test_scale_is_found_again() -> None:
    source = np.random.default_rng(0)
    scores = source.normal(0, 400, 50_000).astype(np.float32)
    results = np.where(source.random(50_000) < 1 / (1 + np.exp(-scores / 250)), 1, -1).astype(np.float32)
    assert fit_scale(scores, results) == pytest.approx(250, rel=0.03)
    with pytest.raises(DataError, match="do not predict"):
        fit_scale(scores, -results)


def test_wdl_has_the_value_and_the_draws() -> None:
    values = np.array([0.0, 0.5, -0.9, np.nan, 0.3], np.float32)
    results = np.array([0, 1, -1, 1, np.nan], np.float32)
    wdl = mix_wdl(values, results, 0.6, 0.0)
    assert wdl.sum(1) == pytest.approx(np.ones(5))
    assert wdl[:, 0] - wdl[:, 2] == pytest.approx([0.0, 0.5, -0.9, 1.0, 0.3], abs=1e-6)
    assert wdl[0, 1] == pytest.approx(0.6)
    assert (wdl >= 0).all()
    assert mix_wdl(values, results, 0.6, 1.0)[:3].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert fit_draws(np.zeros(4, np.float32), np.array([0, 0, 0, -1], np.float32)) == 0.75
    # Without results nothing is known: half, so that scores alone do not make a network without draws.
    assert fit_draws(np.zeros(4, np.float32), np.full(4, np.nan, np.float32)) == 0.5


def test_order_is_a_function_of_seed_and_index() -> None:
    order, again = BatchOrder(1000, 64, 7), BatchOrder(1000, 64, 7)
    again.rows(40)
    assert order.per_epoch == 15
    for index in (0, 14, 15, 40):
        assert (order.rows(index) == again.rows(index)).all()
        assert (order.mirrored(index) == again.mirrored(index)).all()
    epoch = np.concatenate([order.rows(index) for index in range(15)])
    assert len(set(epoch.tolist())) == 15 * 64
    assert (order.rows(0) != order.rows(15)).any()
    assert (BatchOrder(1000, 64, 8).rows(0) != order.rows(0)).any()
    assert 10 < order.mirrored(3).sum() < 54


@pytest.mark.parametrize("network", ["sparse", "resnet"])
def test_batches_have_targets_over_legal_moves(shards: Shards, network: str) -> None:
    recipe = RECIPE.changed(network=network, channels=8, blocks=1)
    positions = read_training_data(list_shards([shards()]), recipe).train.take(np.arange(50))
    built = build_network(recipe)
    plain = make_batch(built, positions)
    smooth = make_batch(built, positions, smoothing=0.2)
    mirrored = make_batch(built, positions, mirror=np.ones(50, np.bool_))
    offsets = plain.encoded["move_offsets"].numpy()
    for batch in (plain, smooth, mirrored):
        assert np.add.reduceat(batch.encoded["target"].numpy(), offsets[:-1]) == pytest.approx(
            np.ones(50), abs=1e-5
        )
    assert (smooth.encoded["target"] > 0).all()
    assert (plain.encoded["target"] > 0).sum() <= 100
    name = "features.rows" if network == "sparse" else "planes"
    assert not (mirrored.encoded[name] == plain.encoded[name]).all()
