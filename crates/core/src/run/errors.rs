//! Why a session refuses a call: every error of this folder as one type.
//!
//! Each has a sentence for people; the binding maps them to exceptions.

use thiserror::Error;

use super::save::SaveError;
use crate::games::chess::planes::UnknownVersion;
use crate::games::chess::{FenError, MoveError};
use crate::games::grid::GridError;

/// Why a session refused.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The position cannot be read or is against the rules.
    #[error("{0}")]
    Position(#[from] FenError),
    /// A move cannot be read or is illegal.
    #[error("{0}")]
    Move(#[from] MoveError),
    /// A game on a grid, its position or its move cannot be read.
    #[error("{0}")]
    Grid(GridError),
    /// No game has this name.
    #[error("{0}")]
    UnknownGame(String),
    /// There are no such planes.
    #[error("{0}")]
    Planes(String),
    /// The game is over at the root.
    #[error("the game is already over in this position ({0})")]
    Over(String),
    /// The evaluator's results do not fit.
    #[error("{0}")]
    Evaluation(String),
    /// A file could not be written or read.
    #[error("{0}")]
    File(#[from] SaveError),
    /// The network plays another variant.
    #[error("the network {network} plays {plays}, and this session plays {game}")]
    WrongNetwork {
        /// Where the network comes from.
        network: String,
        /// What it plays.
        plays: String,
        /// What the session plays.
        game: String,
    },
    /// The evaluator is a network and none is given.
    #[error("the evaluator 'network' needs a network: give the path of its file")]
    NoNetwork,
    /// The evaluator is for chess alone.
    #[error("the evaluator '{0}' is for chess and its variants; this game has uniform, hash and rollout")]
    NoSuchEvaluator(&'static str),
    /// The call does not fit the state of the session.
    #[error("{0}")]
    State(&'static str),
    /// The search or its evaluator panicked; the session has a new graph and can be used again.
    #[error("the search failed by a fault of its own, and its graph was dropped: it panicked ({0})")]
    Fault(String),
}

impl From<UnknownVersion> for SessionError {
    fn from(error: UnknownVersion) -> SessionError {
        SessionError::Planes(error.to_string())
    }
}
