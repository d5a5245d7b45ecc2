//! Monte-Carlo graph search for AlphaZero-style play: the fast core behind the Python package `anabranch`.

pub mod backup;
pub mod chess;
pub mod choose;
pub mod drive;
pub mod evaluator;
pub mod explore;
pub mod game;
pub mod graph;
pub mod mate;
pub mod path;
pub mod pool;
pub mod prior;
pub mod proof;
pub mod random;
pub mod search;
pub mod select;
pub mod settings;
pub mod solver;
pub mod transposition;
