//! The class `Tablebases`: Syzygy tables of the core, and their answers.

use std::path::PathBuf;
use std::sync::Arc;

use anabranch_core::games::chess::tablebases::Check;
use anabranch_core::games::chess::{ChessBoard, CrazyhouseBoard, Tablebases as Core, Variant, VariantBoard};
use anabranch_core::oracle::{Distance, Known, Oracle};
use pyo3::prelude::*;

use crate::errors;

/// The tables of some directories. Files that cannot be used are named in `problems`. Any number of threads
/// may use it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Tablebases {
    tablebases: Arc<Core>,
}

impl Tablebases {
    /// The tables for a session.
    pub fn share(&self) -> Arc<Core> {
        Arc::clone(&self.tablebases)
    }

    /// The same tables for Python.
    pub fn wrap(tablebases: Arc<Core>) -> Tablebases {
        Tablebases { tablebases }
    }
}

#[pymethods]
impl Tablebases {
    /// Opens the tables of directories; `whole` checks every byte of the large ones too.
    #[new]
    #[pyo3(signature = (paths, whole=false))]
    fn new(py: Python<'_>, paths: Vec<PathBuf>, whole: bool) -> Tablebases {
        let check = if whole { Check::Whole } else { Check::Quick };
        Tablebases { tablebases: Arc::new(py.detach(|| Core::open(&paths, check))) }
    }

    /// The most men of a position in the tables of chess; 0 without tables.
    #[getter]
    fn men(&self) -> usize {
        self.tablebases.men(Variant::Chess)
    }

    /// The same for any variant.
    fn men_of(&self, variant: &str) -> PyResult<usize> {
        let (variant, _) = Variant::parse(variant).map_err(errors::variant)?;
        Ok(self.tablebases.men(variant))
    }

    /// The files in use.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.tablebases.files().iter().map(|path| path.display().to_string()).collect()
    }

    /// What is wrong, a sentence each.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.tablebases.problems()
    }

    /// Number of probes that a damaged or unreadable table did not answer.
    #[getter]
    fn failed_probes(&self) -> u64 {
        self.tablebases.failed_probes()
    }

    /// The result with clock 0, from -2 (lost) to 2 (won); None when the position is not in the tables.
    #[pyo3(signature = (fen, variant="chess"))]
    fn probe_wdl(&self, py: Python<'_>, fen: &str, variant: &str) -> PyResult<Option<i32>> {
        Ok(self.probe(py, fen, variant)?.0.map(Known::number))
    }

    /// Plies to the next zeroing move, negative when the side to move loses; None when the position is not in
    /// the tables.
    #[pyo3(signature = (fen, variant="chess"))]
    fn probe_dtz(&self, py: Python<'_>, fen: &str, variant: &str) -> PyResult<Option<i32>> {
        Ok(self.probe(py, fen, variant)?.1.map(|distance| distance.plies))
    }

    fn __repr__(&self) -> String {
        format!("<Tablebases of {} men, {} files>", self.men(), self.tablebases.files().len())
    }
}

impl Tablebases {
    fn probe(&self, py: Python<'_>, fen: &str, variant: &str) -> PyResult<(Option<Known>, Option<Distance>)> {
        let (variant, chess960) = Variant::parse(variant).map_err(errors::variant)?;
        macro_rules! ask {
            ($board:ty) => {{
                let board = <$board>::from_fen(variant, fen, chess960).map_err(errors::position)?;
                let tables = &*self.tablebases;
                py.detach(|| (tables.result(&board), tables.distance(&board)))
            }};
        }
        Ok(match variant {
            Variant::Chess => ask!(ChessBoard),
            Variant::Crazyhouse => ask!(CrazyhouseBoard),
            _ => ask!(VariantBoard),
        })
    }
}
