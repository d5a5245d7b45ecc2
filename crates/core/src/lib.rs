//! Monte-Carlo graph search for AlphaZero-style play: the fast core behind the Python package `anabranch`.

pub mod backup;
pub mod bench;
pub mod games;
pub mod choose;
pub mod drive;
pub mod evaluators;
pub mod explore;
pub mod game;
pub mod graph;
pub mod mate;
pub mod network;
pub mod news;
pub mod oracle;
pub mod path;
pub mod pool;
pub mod proof;
pub mod random;
pub mod report;
pub mod restrict;
pub mod save;
pub mod search;
pub mod select;
pub mod session;
pub mod settings;
pub mod solver;
pub mod transposition;
