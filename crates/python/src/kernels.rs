//! The sparse arithmetic of training over NumPy arrays; PyTorch shares memory with those.

use anabranch_core::kernels::{self, Misfit, Moves, Ragged, Tables};
use numpy::{PyReadonlyArrayDyn, PyReadwriteArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type In<'py, T> = PyReadonlyArrayDyn<'py, T>;
type Out<'py> = PyReadwriteArrayDyn<'py, f32>;

fn misfit(error: Misfit) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// out[b] = bias + the sum of the rows of weight that sample b has.
#[pyfunction]
pub fn bag_forward(
    py: Python<'_>,
    weight: In<'_, f32>,
    bias: In<'_, f32>,
    features: In<'_, i32>,
    offsets: In<'_, i64>,
    mut out: Out<'_>,
    threads: usize,
) -> PyResult<()> {
    let (weight, bias) = (weight.as_slice()?, bias.as_slice()?);
    let features = Ragged { items: features.as_slice()?, offsets: offsets.as_slice()? };
    let out = out.as_slice_mut()?;
    py.detach(|| kernels::bag_forward(weight, bias, features, out, threads)).map_err(misfit)
}

/// Adds the gradient of the weights of `bag_forward`.
#[pyfunction]
pub fn bag_backward(
    py: Python<'_>,
    upstream: In<'_, f32>,
    features: In<'_, i32>,
    offsets: In<'_, i64>,
    mut gradient: Out<'_>,
    width: usize,
    threads: usize,
) -> PyResult<()> {
    let upstream = upstream.as_slice()?;
    let features = Ragged { items: features.as_slice()?, offsets: offsets.as_slice()? };
    let gradient = gradient.as_slice_mut()?;
    py.detach(|| kernels::bag_backward(upstream, features, gradient, width, threads)).map_err(misfit)
}

/// Logits of legal moves: hidden[b] . (moves[index] + contexts[context]).
#[pyfunction]
#[expect(clippy::too_many_arguments)]
pub fn moves_forward(
    py: Python<'_>,
    hidden: In<'_, f32>,
    moves: In<'_, f32>,
    contexts: In<'_, f32>,
    index: In<'_, i32>,
    context: In<'_, i32>,
    offsets: In<'_, i64>,
    mut out: Out<'_>,
    width: usize,
    threads: usize,
) -> PyResult<()> {
    let hidden = hidden.as_slice()?;
    let tables = Tables { moves: moves.as_slice()?, contexts: contexts.as_slice()? };
    let legal = Moves { index: Ragged { items: index.as_slice()?, offsets: offsets.as_slice()? }, context: context.as_slice()? };
    let out = out.as_slice_mut()?;
    py.detach(|| kernels::moves_forward(hidden, width, tables, legal, out, threads)).map_err(misfit)
}

/// Gradients of `moves_forward`: sets that of hidden, adds to those of the tables.
#[pyfunction]
#[expect(clippy::too_many_arguments)]
pub fn moves_backward(
    py: Python<'_>,
    upstream: In<'_, f32>,
    hidden: In<'_, f32>,
    moves: In<'_, f32>,
    contexts: In<'_, f32>,
    index: In<'_, i32>,
    context: In<'_, i32>,
    offsets: In<'_, i64>,
    mut of_hidden: Out<'_>,
    mut of_moves: Out<'_>,
    mut of_contexts: Out<'_>,
    width: usize,
    threads: usize,
) -> PyResult<()> {
    let (upstream, hidden) = (upstream.as_slice()?, hidden.as_slice()?);
    let tables = Tables { moves: moves.as_slice()?, contexts: contexts.as_slice()? };
    let legal = Moves { index: Ragged { items: index.as_slice()?, offsets: offsets.as_slice()? }, context: context.as_slice()? };
    let gradients = (of_hidden.as_slice_mut()?, of_moves.as_slice_mut()?, of_contexts.as_slice_mut()?);
    py.detach(|| kernels::moves_backward(upstream, hidden, width, tables, legal, gradients, threads)).map_err(misfit)
}
