//! The game of chess and its variants, over shakmaty: positions, text, moves, network planes.
//!
//! [`Board`] implements [`Game`](crate::game::Game) for a shakmaty position type: [`ChessBoard`] and
//! [`CrazyhouseBoard`] have a move generator of their own, [`VariantBoard`] plays the other variants as
//! shakmaty does. Nothing here depends on the search or a network.

mod board;
mod check;
mod fen;
mod generate;
mod key;
pub mod moves;
mod notation;
mod perft;
pub mod pgn;
pub mod planes;
pub mod policy;
mod rules;
pub mod samples;
pub mod tablebases;
mod threat;
mod variant;

pub use board::{Board, ChessBoard, CrazyhouseBoard, VariantBoard};
pub use check::CheckInfo;
pub use fen::FenError;
pub use notation::MoveError;
pub use perft::{divide, perft};
pub use rules::{CheckRule, Endgame, Rules};
pub use tablebases::Tablebases;
pub use variant::{UnknownVariant, Variant};

#[cfg(test)]
pub(crate) mod random_games;
