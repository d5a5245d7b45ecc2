"""The network of a recipe, before its first step."""

from __future__ import annotations

import torch

from anabranch.train.network import TrainableNetwork
from anabranch.train.recipe import Recipe
from anabranch.train.resnet import ResNet
from anabranch.train.rise import Rise
from anabranch.train.sparse import SparseNetwork


def build_network(recipe: Recipe) -> TrainableNetwork:
    """The network of a recipe, with weights drawn from its seed."""
    torch.manual_seed(recipe.seed)
    if recipe.network == "sparse":
        return SparseNetwork(recipe.variant, recipe.policy_width, recipe.value_width)
    convolutional = Rise if recipe.network == "rise" else ResNet
    return convolutional(recipe.variant, recipe.channels, recipe.blocks)
