//! Monte-Carlo graph search for AlphaZero-style play: the fast core behind the Python package `anabranch`.

pub mod bench;
pub mod games;
pub mod drive;
pub mod evaluators;
pub mod game;
pub mod graph;
pub mod network;
pub mod oracle;
pub mod pool;
pub mod random;
pub mod report;
pub mod save;
pub mod search;
pub mod session;
pub mod settings;
