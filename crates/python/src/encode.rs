//! Positions and targets as arrays for training.

use anabranch_core::games::chess::Variant;
use anabranch_core::network::{self as core, EncodeError, Samples};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::arrays;
use crate::errors;

/// Encodes samples while Python continues; `mirror` marks the rows that are flipped.
fn encode<T: Send>(
    py: Python<'_>,
    variant: &str,
    (fens, moves, weights): (&[String], &[Vec<String>], &[Vec<f32>]),
    mirror: Option<PyReadonlyArray1<'_, bool>>,
    act: impl FnOnce(Variant, bool, &Samples<'_>) -> Result<T, EncodeError> + Send,
) -> PyResult<T> {
    let (variant, chess960) = Variant::parse(variant).map_err(errors::variant)?;
    let mirror: Option<Vec<bool>> = mirror.map(|marks| marks.as_array().iter().copied().collect());
    let samples = Samples { fens, moves, weights, mirror: mirror.as_deref() };
    py.detach(|| act(variant, chess960, &samples)).map_err(errors::encode)
}

/// Features, legal moves with their contexts and targets of positions of chess or crazyhouse.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn encode_sparse<'py>(
    py: Python<'py>,
    variant: &str,
    fens: Vec<String>,
    moves: Vec<Vec<String>>,
    weights: Vec<Vec<f32>>,
    mirror: Option<PyReadonlyArray1<'py, bool>>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let encoded = encode(py, variant, (&fens, &moves, &weights), mirror, |variant, chess960, samples| {
        core::encode_sparse(variant, chess960, samples, threads)
    })?;
    Ok(arrays!(py, encoded: features feature_offsets move_index move_context move_offsets target bucket))
}

/// Planes without history, legal moves and targets of positions of chess or crazyhouse.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn encode_planes<'py>(
    py: Python<'py>,
    variant: &str,
    version: &str,
    fens: Vec<String>,
    moves: Vec<Vec<String>>,
    weights: Vec<Vec<f32>>,
    mirror: Option<PyReadonlyArray1<'py, bool>>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let encoded = encode(py, variant, (&fens, &moves, &weights), mirror, |variant, chess960, samples| {
        core::encode_planes(variant, chess960, version, samples, threads)
    })?;
    let planes: Bound<'py, PyArray1<f32>> = encoded.planes.into_pyarray(py);
    let arrays = arrays!(py, encoded: move_index move_offsets target);
    arrays.set_item("planes", planes.reshape([fens.len(), encoded.count, 8, 8])?)?;
    Ok(arrays)
}
