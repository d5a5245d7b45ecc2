//! Monte-Carlo graph search for AlphaZero-style play: the fast core behind the Python package `anabranch`.
//!
//! The modules are in reading order. A module uses only those above it; `docs/architecture.md` has the
//! order of their files.

pub mod settings;
pub mod random;
pub mod game;
pub mod oracle;
pub mod games;
pub mod mates;
pub mod graph;
pub mod evaluators;
pub mod network;
pub mod search;
pub mod report;
pub mod run;
