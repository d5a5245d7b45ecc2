//! Games written in Python as the core plays them: every position holds a Python object.
//!
//! `anabranch.objects.ObjectAdapter` asks the object and checks its answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anabranch_core::game::Ending;
use anabranch_core::games::grid::{Object, ObjectGame};
use pyo3::prelude::*;

use crate::faults::Faults;

/// What all positions of a game share.
struct Shared {
    adapter: Py<PyAny>,
    can_recur: bool,
    takes_turns: bool,
    most_moves: u32,
    faults: Arc<Faults>,
}

/// A position.
struct PythonState {
    shared: Arc<Shared>,
    /// Absent after an error.
    state: Option<Py<PyAny>>,
    key: u64,
    player: u8,
    ending: Option<Ending>,
    moves: Vec<Py<PyAny>>,
    texts: Vec<String>,
}

type Described = (u64, u8, Option<f64>, Vec<Py<PyAny>>, Vec<String>);

impl PythonState {
    fn read(py: Python<'_>, shared: &Arc<Shared>, state: Py<PyAny>) -> PyResult<PythonState> {
        let answer = shared.adapter.call_method1(py, "describe", (&state,))?;
        let (key, player, outcome, moves, texts): Described = answer.extract(py)?;
        let ending = outcome.map(|value| match value {
            1.0 => Ending::Win,
            -1.0 => Ending::Loss,
            0.0 if shared.takes_turns => Ending::Draw,
            other => Ending::Score(other as f32),
        });
        Ok(PythonState { shared: Arc::clone(shared), state: Some(state), key, player, ending, moves, texts })
    }

    /// What stands for a position that could not be made: the search is being stopped.
    fn broken(shared: &Arc<Shared>) -> PythonState {
        PythonState {
            shared: Arc::clone(shared),
            state: None,
            key: shared.faults.count(),
            player: 0,
            ending: Some(Ending::Draw),
            moves: Vec::new(),
            texts: Vec::new(),
        }
    }
}

impl PythonState {
    /// A text of the position by a method of the adapter.
    fn written(&self, method: &str) -> String {
        let Some(state) = &self.state else { return String::new() };
        let text = Python::attach(|py| self.shared.adapter.call_method1(py, method, (state,))?.extract(py));
        text.unwrap_or_else(|error| {
            self.shared.faults.fail(error);
            String::new()
        })
    }
}

impl Object for PythonState {
    fn key(&self) -> u64 {
        self.key
    }

    fn player(&self) -> u8 {
        self.player
    }

    fn moves(&self) -> usize {
        self.texts.len()
    }

    fn ending(&self) -> Option<Ending> {
        self.ending
    }

    fn play(&self, index: usize, ply: u32) -> Arc<dyn Object> {
        let next = Python::attach(|py| {
            if ply >= self.shared.most_moves {
                self.shared.adapter.call_method0(py, "has_no_end")?;
            }
            let (state, mv) = (self.state.as_ref(), self.moves.get(index));
            let after = self.shared.adapter.call_method1(py, "play", (state, mv))?;
            PythonState::read(py, &self.shared, after)
        });
        Arc::new(next.unwrap_or_else(|error| {
            self.shared.faults.fail(error);
            PythonState::broken(&self.shared)
        }))
    }

    fn text(&self) -> String {
        self.written("text")
    }

    fn picture(&self) -> String {
        self.written("picture")
    }

    fn move_text(&self, index: usize) -> String {
        self.texts.get(index).cloned().unwrap_or_default()
    }

    fn can_recur(&self) -> bool {
        self.shared.can_recur
    }

    fn takes_turns(&self) -> bool {
        self.shared.takes_turns
    }
}

/// The first position of a game, behind its adapter.
pub fn start(
    py: Python<'_>,
    adapter: Py<PyAny>,
    stop: &Arc<AtomicBool>,
) -> PyResult<(ObjectGame, Arc<Faults>)> {
    let first = adapter.getattr(py, "first")?;
    let faults = Arc::new(Faults::new(stop));
    let shared = Arc::new(Shared {
        can_recur: adapter.getattr(py, "can_recur")?.extract(py)?,
        takes_turns: adapter.getattr(py, "takes_turns")?.extract(py)?,
        most_moves: adapter.getattr(py, "most_moves")?.extract(py)?,
        adapter,
        faults: Arc::clone(&faults),
    });
    let state = PythonState::read(py, &shared, first)?;
    Ok((ObjectGame::new(Arc::new(state)), faults))
}
