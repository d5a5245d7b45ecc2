//! The game of chess and its variants, over shakmaty: positions, text, moves, network planes.
//!
//! [`Board`] implements [`Game`](crate::game::Game) for a shakmaty position type: [`ChessBoard`] and
//! [`CrazyhouseBoard`] have a move generator of their own, [`VariantBoard`] plays the other variants as
//! shakmaty does. Nothing here depends on the search or a network.

mod variant;
pub mod moves;
mod generate;
mod key;
mod check;
mod rules;
mod board;
mod fen;
mod notation;
mod threat;
pub mod policy;
mod lc0;
pub mod planes;
mod game;
pub mod tablebases;
pub mod samples;
pub mod pgn;

pub use board::{Board, ChessBoard, CrazyhouseBoard, VariantBoard};
pub use check::CheckInfo;
pub use fen::FenError;
pub use notation::MoveError;
pub use rules::{CheckRule, Endgame, Rules};
pub use tablebases::Tablebases;
pub use variant::{UnknownVariant, Variant};

#[cfg(test)]
pub(crate) mod random_games;
