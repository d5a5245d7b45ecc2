//! Training samples: games of PGN text as columns, and stored samples checked against the rules.

use anabranch_core::games::chess::Variant;
use anabranch_core::games::chess::pgn::{GameFilter, read};
use anabranch_core::games::chess::samples::{Fault, examine};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;

use crate::convert::{arrays, dict};
use crate::errors;

/// The samples of the games in a piece of PGN text as arrays by column, with `counts` of the games.
#[pyfunction]
#[pyo3(signature = (
    text, variant, *, min_rating=None, min_time=None, max_time=None, min_plies=0, skip_plies=0,
    bots=true, abandoned=true, evaluated=false,
    unfinished=false
))]
#[allow(clippy::too_many_arguments)]
pub fn read_pgn<'py>(
    py: Python<'py>,
    text: &[u8],
    variant: &str,
    min_rating: Option<u32>,
    min_time: Option<u32>,
    max_time: Option<u32>,
    min_plies: usize,
    skip_plies: usize,
    bots: bool,
    abandoned: bool,
    evaluated: bool,
    unfinished: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let (variant, chess960) = Variant::parse(variant).map_err(errors::variant)?;
    let filter = GameFilter {
        variant,
        chess960,
        min_rating,
        min_time,
        max_time,
        min_plies,
        skip_plies,
        bots,
        abandoned,
        evaluated,
        unfinished,
    };
    let columns = py.detach(|| read(text, &filter));
    let counts = &columns.counts;
    let counts = dict!(py, {}, counts: games taken variant unfinished rating time bots abandoned short
        unevaluated illegal unreadable);
    let arrays = arrays!(py, columns: game ply fens fen_offsets moves move_offsets score has_score result
        has_result);
    arrays.set_item("counts", counts)?;
    Ok(arrays)
}

/// For each position its key, its number of legal moves and what is wrong: 0 nothing, 1 the position, 2 a
/// move that should be legal in it.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn examine_samples<'py>(
    py: Python<'py>,
    variant: &str,
    fens: Vec<PyBackedStr>,
    moves: Vec<Vec<PyBackedStr>>,
) -> PyResult<(Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u8>>)> {
    let (variant, chess960) = Variant::parse(variant).map_err(errors::variant)?;
    let verdicts: Vec<_> = py.detach(|| {
        fens.iter().zip(&moves).map(|(fen, moves)| examine(variant, chess960, fen, moves)).collect()
    });
    let faults = verdicts.iter().map(|verdict| match verdict.fault {
        None => 0,
        Some(Fault::Position) => 1,
        Some(Fault::Move) => 2,
    });
    Ok((
        PyArray1::from_iter(py, verdicts.iter().map(|verdict| verdict.key)),
        PyArray1::from_iter(py, verdicts.iter().map(|verdict| verdict.legal as u32)),
        PyArray1::from_iter(py, faults),
    ))
}
