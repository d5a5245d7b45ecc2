//! The class `Network`: a network of the core, ready to evaluate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anabranch_core::network::{self as core, Unreadable};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;

/// A network that was read from a file and checked. It never changes; any number of threads may use it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Network {
    network: Arc<core::Network>,
}

/// Value, chances of win, draw and loss, and the legal moves with their logits.
type OpinionTuple = (f32, (f32, f32, f32), Vec<(String, f32)>);

impl Network {
    /// The network for a session.
    pub fn share(&self) -> Arc<core::Network> {
        Arc::clone(&self.network)
    }
}

#[pymethods]
impl Network {
    /// Reads a file and checks all of it.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Network> {
        let network = py.detach(|| core::Network::load(&path)).map_err(errors::network)?;
        Ok(Network { network: Arc::new(network) })
    }

    /// The network of a file's content that has no canaries yet.
    #[staticmethod]
    fn without_canaries(py: Python<'_>, content: &Bound<'_, PyBytes>) -> PyResult<Network> {
        let bytes = content.as_bytes();
        let network = py
            .detach(|| core::Network::read(Path::new("(in memory)"), bytes, false))
            .map_err(errors::network)?;
        Ok(Network { network: Arc::new(network) })
    }

    /// The metadata of the file.
    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        self.network.metadata().clone()
    }

    /// The name of the variant or game it plays.
    #[getter]
    fn variant(&self) -> &str {
        self.network.plays()
    }

    /// The file.
    #[getter]
    fn path(&self) -> String {
        self.network.path().display().to_string()
    }

    /// Widths of the accumulators: policy, value.
    #[getter]
    fn widths(&self) -> (usize, usize) {
        self.network.widths()
    }

    /// For each position its value, the chances of win, draw and loss, and the legal moves with their logits.
    fn evaluate(&self, py: Python<'_>, fens: Vec<String>) -> PyResult<Vec<OpinionTuple>> {
        let opinions = py.detach(|| {
            fens.iter().map(|fen| self.network.evaluate(fen)).collect::<Result<Vec<_>, Unreadable>>()
        });
        let opinions = opinions.map_err(errors::unreadable)?;
        Ok(opinions.into_iter().map(|found| (found.value, found.chances.into(), found.moves)).collect())
    }

    /// Evaluates positions again and again for some seconds: evaluations, seconds, and mean numbers of moves
    /// and features.
    fn measure(&self, py: Python<'_>, fens: Vec<String>, seconds: f64) -> PyResult<(u64, f64, f64, f64)> {
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|_| errors::limit("the time must be a number of seconds"))?;
        let measured = py.detach(|| self.network.measure(&fens, time)).map_err(errors::unreadable)?;
        Ok((measured.evaluations, measured.time.as_secs_f64(), measured.moves, measured.features))
    }

    fn __repr__(&self) -> String {
        format!("<Network {}, {}>", self.path(), self.variant())
    }
}
