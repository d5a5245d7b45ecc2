//! The games that the search can play, each an implementation of [`Game`](crate::game::Game).
//!
//! A game has a folder of its own: rules, text, network input, and the readers of its files.

pub mod chess;
