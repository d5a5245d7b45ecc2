"""Sums and products over rows of a table, for positions that use few of many rows.

Both are the same matter: a sparse matrix of positions by rows. `sum_rows` multiplies it with the table;
`dot_rows` is the product of each position with each of its rows. Backwards, the matrix is needed the
other way round: `transpose` prepares that, so that every pass is one of PyTorch's embedding bags, its fastest
sparse kernel on CPUs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import Function
from torch.nn.functional import embedding_bag


class Bags(NamedTuple):
    """Rows by position, and positions by row. All are int32 but for `order`."""

    rows: Tensor
    """[N], the rows that positions use, one position after the other."""
    offsets: Tensor
    """[B + 1], where those of each position begin."""
    owners: Tensor
    """[N], the position of each."""
    users: Tensor
    """[N], the positions that use rows, one row after the other."""
    user_offsets: Tensor
    """[rows of the table + 1], where those of each row begin."""
    order: Tensor
    """[N], int64: where each of `users` stands in `rows`."""


def transpose(rows: NDArray[np.integer[Any]], offsets: NDArray[np.integer[Any]], size: int) -> Bags:
    """Bags of positions over a table of `size` rows."""
    owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    narrow = rows.astype(np.uint16) if size <= 2**16 else rows
    order = np.argsort(narrow, kind="stable")  # of 16 bits this is a radix sort
    ends = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=size), out=ends[1:])
    return Bags(
        torch.from_numpy(rows.astype(np.int32, copy=False)),
        torch.from_numpy(offsets.astype(np.int32, copy=False)),
        torch.from_numpy(owners),
        torch.from_numpy(owners[order]),
        torch.from_numpy(ends),
        torch.from_numpy(order),
    )


class _SumRows(Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, bias: Tensor, bags: Bags) -> Tensor:
        ctx.bags = bags
        return _sum(table, bags.rows, bags.offsets).add_(bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        bags: Bags = ctx.bags
        return _sum(gradient.contiguous(), bags.users, bags.user_offsets), gradient.sum(0), None


class _DotRows(Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, table: Tensor, bias: Tensor, bags: Bags) -> Tensor:
        ctx.bags = bags
        ctx.save_for_backward(hidden, table)
        # The gradient of a weighted sum by its weights is this very product.
        dots = torch.ops.aten._embedding_bag_per_sample_weights_backward(
            hidden, table, bags.rows, bags.offsets, bags.owners, 0
        )
        return dots.add_(bias[bags.rows])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        bags: Bags = ctx.bags
        hidden, table = ctx.saved_tensors
        gradient = gradient.contiguous()
        to_hidden = _sum(table, bags.rows, bags.offsets, gradient)
        to_table = _sum(hidden, bags.users, bags.user_offsets, gradient[bags.order])
        to_bias = torch.bincount(bags.rows, gradient, len(table)).to(gradient.dtype)
        return to_hidden, to_table, to_bias, None


def _sum(table: Tensor, rows: Tensor, offsets: Tensor, weights: Tensor | None = None) -> Tensor:
    return embedding_bag(
        rows, table, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def sum_rows(table: Tensor, bias: Tensor, bags: Bags) -> Tensor:
    """[B, width]: for each position a bias [width] and the sum of its rows of a table [size, width]."""
    return _SumRows.apply(table, bias, bags)


def dot_rows(hidden: Tensor, table: Tensor, bias: Tensor, bags: Bags) -> Tensor:
    """[N]: for each row of each position the product with `hidden` [B, width], and the row's bias [size]."""
    return _DotRows.apply(hidden, table, bias, bags)


class _PairProducts(Function):
    @staticmethod
    def forward(ctx: Any, sums: Tensor, first: int) -> tuple[Tensor, Tensor]:
        half = sums.shape[1] // 2
        clipped = sums.clamp(0.0, 1.0)
        ctx.save_for_backward(sums, clipped)
        ctx.first = first
        left, right = clipped[:, :half], clipped[:, half:]
        return left[:, :first] * right[:, :first], left[:, first:] * right[:, first:]

    @staticmethod
    def backward(ctx: Any, to_first: Tensor, to_second: Tensor) -> tuple[Tensor, None]:
        sums, clipped = ctx.saved_tensors
        first, half = ctx.first, sums.shape[1] // 2
        gradient = torch.empty_like(sums)
        torch.mul(to_first, clipped[:, half : half + first], out=gradient[:, :first])
        torch.mul(to_second, clipped[:, half + first :], out=gradient[:, first:half])
        torch.mul(to_first, clipped[:, :first], out=gradient[:, half : half + first])
        torch.mul(to_second, clipped[:, first:half], out=gradient[:, half + first :])
        torch.ops.aten.hardtanh_backward.grad_input(gradient, sums, 0.0, 1.0, grad_input=gradient)
        return gradient, None


def pair_products(sums: Tensor, first: int) -> tuple[Tensor, Tensor]:
    """Products of clipped units i and i + half: the first `first` of them, and the others."""
    return _PairProducts.apply(sums, first)
