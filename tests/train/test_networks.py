from itertools import pairwise

import numpy as np
import pytest
import torch

from anabranch.data.shards import list_shards
from anabranch.train.batches import Batch, make_batch
from anabranch.train.build import build_network
from anabranch.train.loop import make_optimiser
from anabranch.train.loss import log_probabilities, losses
from anabranch.train.measures import measure
from anabranch.train.network import TrainableNetwork
from anabranch.train.positions import Positions, read_training_data
from anabranch.train.recipe import Recipe
from anabranch.train.sparse import INPUT_LIMIT, SparseNetwork, move_squares

from .conftest import Shards

TINY = {
    "sparse": Recipe(variant="crazyhouse", policy_width=64, value_width=64, rate=0.01, decay=0.0),
    "resnet": Recipe(variant="crazyhouse", network="resnet", channels=16, blocks=2, rate=0.003, decay=0.0),
    "rise": Recipe(variant="crazyhouse", network="rise", channels=16, blocks=2, rate=0.003, decay=0.0),
}


@pytest.fixture
def positions(shards: Shards) -> Positions:
    """Sixty-four positions of random games."""
    found = read_training_data(
        list_shards([shards()]), TINY["sparse"].changed(held_out=0.0, value_scale=300.0)
    ).train
    return found.take(np.arange(0, 64 * 8, 8))


def train(network: TrainableNetwork, batch: Batch, recipe: Recipe, steps: int) -> list[float]:
    optimiser = make_optimiser(network, recipe.rate, recipe.decay)
    found = []
    for _ in range(steps):
        total, _, _ = losses(network(batch.encoded), batch, recipe)
        optimiser.zero_grad()
        total.backward()
        optimiser.step()
        network.after_step()
        found.append(total.item())
    return found


@pytest.mark.parametrize("name", TINY)
def test_overfits_few_samples(positions: Positions, name: str) -> None:
    recipe = TINY[name]
    network = build_network(recipe)
    batch = make_batch(network, positions)
    before = measure(network, positions, 300.0)
    train(network, batch, recipe, 150)
    network.train(False)
    after = measure(network, positions, 300.0)
    assert after["top1"] > 0.95 > before["top1"]
    assert after["policy_loss"] < 0.75  # the target's own entropy is 0.56
    assert after["value_loss"] < before["value_loss"] / 1.2


def test_bags_have_the_gradients_of_the_plain_way(positions: Positions) -> None:
    network = build_network(TINY["sparse"])
    assert isinstance(network, SparseNetwork)
    batch = make_batch(network, positions)
    total, _, _ = losses(network(batch.encoded), batch, TINY["sparse"])
    total.backward()
    found = {name: parameter.grad.clone() for name, parameter in network.named_parameters()}
    network.zero_grad()
    total, _, _ = losses_plainly(network, batch)
    total.backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad.abs().max() > 0, name
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-3, atol=2e-6, msg=name)


def losses_plainly(network: SparseNetwork, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The contract written down with dense tensors and PyTorch's own gradients."""
    encoded = batch.encoded

    def rounded(weights: torch.Tensor, one: float) -> torch.Tensor:
        return weights + ((weights * one).round() / one - weights).detach()

    active = torch.zeros(64, 3549)
    active[encoded["features.owners"].long(), encoded["features.rows"].long()] = 1.0
    sums = active @ rounded(network.folded_inputs(), 128) + rounded(network.inputs_bias, 128)
    clipped = sums.clamp(0, 1)
    half = sums.shape[1] // 2
    hidden = clipped[:, :half] * clipped[:, half:]
    p = network.policy_half
    table = rounded(torch.cat([network.folded_moves(), network.contexts_weight]), 64)
    every = hidden[:, :p] @ table.T + torch.cat([network.moves_bias, network.contexts_bias])
    rows, owners = encoded["policy.rows"].long(), encoded["policy.owners"].long()
    logits = every[owners, rows].view(-1, 2).sum(1)
    x = hidden[:, p:]
    for weight, bias, last in (
        (rounded(network.hidden1, 64), network.hidden1_bias, False),
        (network.hidden2, network.hidden2_bias, False),
        (network.output, network.output_bias, True),
    ):
        x = torch.einsum("boi,bi->bo", weight[encoded["bucket"]], x) + bias[encoded["bucket"]]
        if not last:
            x = x.clamp(0, 1).square()
    offsets = encoded["move_offsets"]
    parts = [slice(a, b) for a, b in pairwise(offsets.tolist())]
    policy = torch.stack(
        [-(encoded["target"][part] * logits[part].log_softmax(0)).sum() for part in parts]
    ).mean()
    value = -(batch.wdl * x.log_softmax(1)).sum(1).mean()
    return policy + value, policy, value


def test_helpers_fold_exactly(positions: Positions) -> None:
    network = build_network(TINY["sparse"])
    assert isinstance(network, SparseNetwork)
    for parameter in (network.inputs_shared, network.moves_target, network.moves_origin):
        torch.nn.init.normal_(parameter, std=0.1)
    network.after_step()
    folded = SparseNetwork("crazyhouse", 64, 64)
    folded.load_state_dict(network.state_dict())
    with torch.no_grad():
        folded.inputs.copy_(network.folded_inputs())
        folded.moves_weight.copy_(network.folded_moves())
        for parameter in (folded.inputs_shared, folded.moves_target, folded.moves_origin):
            parameter.zero_()
    batch = make_batch(network, positions)
    with torch.no_grad():
        ours, theirs = network(batch.encoded), folded(batch.encoded)
    assert torch.equal(ours.logits, theirs.logits)
    assert torch.equal(ours.value, theirs.value)


def test_weights_stay_in_the_range_of_their_integers() -> None:
    network = build_network(TINY["sparse"])
    assert isinstance(network, SparseNetwork)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=2.0)
    network.after_step()
    tensors = network.folded()
    assert tensors["policy.inputs.weight"].abs().max() <= INPUT_LIMIT + 1e-6
    for name in ("policy.moves.weight", "policy.contexts.weight", "value.hidden1.weight"):
        assert tensors[name].abs().max() <= 127 / 64 + 1e-6


def test_squares_of_moves() -> None:
    targets, origins = move_squares("crazyhouse")
    e2 = 12
    assert (targets[1 * 64 + e2], origins[1 * 64 + e2]) == (28, e2)  # two north
    assert (targets[56 * 64 + 6], origins[56 * 64 + 6]) == (23, 6)  # g1h3
    assert (targets[56 * 64 + 7], origins[56 * 64 + 7]) == (64, 64)  # off the board
    assert (targets[77 * 64 + 30], origins[77 * 64 + 30]) == (30, 66)  # a knight dropped
    assert len(move_squares("chess")[0]) == 4864


def test_log_probabilities_sum_to_one() -> None:
    logits = torch.tensor([1.0, 2.0, 3.0, -200.0, 100.0])
    found = log_probabilities(logits, torch.tensor([0, 3, 5])).exp()
    assert found[:3].sum().item() == pytest.approx(1.0)
    assert found[3:].tolist() == [0.0, 1.0]
