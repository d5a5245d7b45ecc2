//! The class `ConnectFourSolver`: exact results of Connect Four.

use std::sync::{Mutex, PoisonError};

use anabranch_core::games::grid::catalogue::Named;
use anabranch_core::games::grid::{ConnectFourSolver as Solver, GridError, GridGame};
use anabranch_core::run::errors::SessionError;
use pyo3::prelude::*;

use crate::errors;

/// Solves positions of Connect Four, with a table of results that it keeps.
#[pyclass(frozen, module = "anabranch._core")]
pub struct ConnectFourSolver {
    solver: Mutex<Solver>,
}

#[pymethods]
impl ConnectFourSolver {
    /// A solver with a table of so many results of 8 bytes.
    #[new]
    #[pyo3(signature = (results=1 << 22))]
    fn new(results: usize) -> ConnectFourSolver {
        ConnectFourSolver { solver: Mutex::new(Solver::new(results.clamp(1, 1 << 30))) }
    }

    /// The result for the side to move of a position given as text: 1, 0 or -1; `None` if more than `most`
    /// positions are needed. With `least` 0 it is known that the side to move does not lose.
    #[pyo3(signature = (position, most=u64::MAX, least=-1))]
    fn solve(&self, py: Python<'_>, position: &str, most: u64, least: i8) -> PyResult<Option<i8>> {
        let refuse = |error: GridError| errors::session(SessionError::from(error));
        let start = Named::parse("connect-four").map_err(refuse)?.start();
        match start.read(position).map_err(refuse)? {
            GridGame::ConnectFour(game) => {
                let lock = || self.solver.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(py.detach(|| lock().solve(&game, most, least)))
            }
            _ => Ok(None),
        }
    }
}
