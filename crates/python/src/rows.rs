//! Games of rows written in Python as the core plays them: arrays go in and out as bytes, many rows a call.
//!
//! `anabranch.rows.RowsAdapter` calls the game and checks its answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anabranch_core::games::grid::{RowGame, RowRules, RowShape, Rows};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::faults::Faults;

struct PythonRules {
    adapter: Py<PyAny>,
    shape: RowShape,
    faults: Arc<Faults>,
}

/// Rows, legal actions, players and values.
type Answer<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn rows_of(answer: &Bound<'_, PyAny>) -> PyResult<Rows> {
    let (rows, legal, players, values): Answer<'_> = answer.extract()?;
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap_or_default());
    Ok(Rows {
        rows: rows.as_bytes().to_vec(),
        legal: legal.as_bytes().to_vec(),
        players: players.as_bytes().to_vec(),
        values: values.as_bytes().chunks_exact(8).map(number).collect(),
    })
}

impl PythonRules {
    /// Calls Python; an error is a fault of the game.
    fn attempt<T>(&self, act: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        Python::attach(act).map_err(|error| self.faults.fail(error)).ok()
    }
}

impl RowRules for PythonRules {
    fn shape(&self) -> &RowShape {
        &self.shape
    }

    fn play(&self, rows: &[u8], actions: &[u16]) -> Option<Rows> {
        let codes: Vec<u8> = actions.iter().flat_map(|action| action.to_le_bytes()).collect();
        self.attempt(|py| {
            let arguments = (PyBytes::new(py, rows), PyBytes::new(py, &codes));
            rows_of(self.adapter.call_method1(py, "play", arguments)?.bind(py))
        })
    }

    fn features(&self, rows: &[u8], out: &mut [f32]) -> Option<()> {
        self.attempt(|py| {
            let answer = self.adapter.call_method1(py, "features", (PyBytes::new(py, rows),))?;
            let bytes = answer.bind(py).cast::<PyBytes>()?.as_bytes();
            for (number, bytes) in out.iter_mut().zip(bytes.chunks_exact(4)) {
                *number = f32::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
            Ok(())
        })
    }

    fn text(&self, row: &[u8]) -> Option<String> {
        self.attempt(|py| self.adapter.call_method1(py, "text", (PyBytes::new(py, row),))?.extract(py))
    }

    fn picture(&self, row: &[u8]) -> Option<String> {
        self.attempt(|py| self.adapter.call_method1(py, "picture", (PyBytes::new(py, row),))?.extract(py))
    }

    fn read(&self, text: &str) -> Result<Rows, String> {
        Python::attach(|py| {
            let answer = self.adapter.call_method1(py, "read", (text,));
            answer.and_then(|answer| rows_of(answer.bind(py))).map_err(|error| error.value(py).to_string())
        })
    }

    fn has_no_end(&self) {
        let raised = Python::attach(|py| self.adapter.call_method0(py, "has_no_end").err());
        if let Some(error) = raised {
            self.faults.fail(error);
        }
    }
}

/// The first position of a game, behind its adapter.
pub fn start(py: Python<'_>, adapter: Py<PyAny>, stop: &Arc<AtomicBool>) -> PyResult<(RowGame, Arc<Faults>)> {
    let whole = |name: &str| adapter.getattr(py, name)?.extract::<usize>(py);
    let flag = |name: &str| adapter.getattr(py, name)?.extract::<bool>(py);
    let (planes, rows, columns) = adapter.getattr(py, "plane_shape")?.extract(py)?;
    let shape = RowShape {
        bytes: whole("bytes")?,
        actions: adapter.getattr(py, "texts")?.extract(py)?,
        planes: [planes, rows, columns],
        can_recur: flag("can_recur")?,
        takes_turns: flag("takes_turns")?,
        most_moves: whole("most_moves")? as u32,
    };
    let first = rows_of(adapter.call_method0(py, "first")?.bind(py))?;
    let faults = Arc::new(Faults::new(stop));
    let rules = Arc::new(PythonRules { adapter, shape, faults: Arc::clone(&faults) });
    Ok((RowGame::new(rules, &first), faults))
}
