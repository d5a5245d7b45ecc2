//! A search on any variant behind one object-safe trait: what the Python binding talks to.
//!
//! Texts come in (FEN, moves), reports go out. Everything that depends on the kind of position is hidden here; nothing here knows Python.

use std::collections::VecDeque;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::drive::{Course, Finish, Limits};
use crate::report::{EdgeExport, NodeExport, Part, Report};
use crate::settings::Settings;

/// Why a session refused.
#[derive(Debug, Error)]
pub enum SessionError {
    /// A position or a move could not be taken.
    #[error("{0}")]
    Position(String),
    /// The game is over at the root.
    #[error("the game is already over in this position: {0}")]
    Over(String),
    /// The evaluator's results do not fit.
    #[error("{0}")]
    Evaluation(String),
    /// A file could not be written or read.
    #[error("{0}")]
    File(String),
    /// The call does not fit the state of the session.
    #[error("{0}")]
    State(&'static str),
}

/// Short news of a search under way.
#[derive(Clone, Debug)]
pub struct News {
    /// The result so far, without the meters of the whole graph.
    pub report: Report,
}
