//! Monte-Carlo graph search for AlphaZero-style play: the fast core behind the Python package `anabranch`.

pub mod backup;
pub mod bench;
pub mod chess;
pub mod choose;
pub mod drive;
pub mod evaluator;
pub mod evaluators;
pub mod explore;
pub mod game;
pub mod graph;
pub mod kernels;
pub mod mate;
pub mod network;
pub mod path;
pub mod pool;
pub mod prior;
pub mod proof;
pub mod random;
pub mod report;
pub mod save;
pub mod search;
pub mod select;
pub mod session;
pub mod settings;
pub mod solver;
pub mod transposition;
