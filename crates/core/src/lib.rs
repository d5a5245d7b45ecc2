//! Monte-Carlo graph search for AlphaZero-style play: the fast core behind the Python package `anabranch`.

pub mod chess;
pub mod evaluator;
pub mod evaluators;
pub mod game;
