//! The games that the search can play, each an implementation of [`Game`](crate::game::Game).
//!
//! Chess has a folder of its own with rules, text, network input, and the readers of its files; the games on
//! a grid share one.

pub mod chess;
pub mod grid;
