//! The key of a position: shakmaty's Zobrist hash, en passant only where a capture is legal.
//!
//! Pockets, promoted marks and checks to give are part of it; ply and clock are not.

use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{CastlingSide, Color, Position, Role};

/// The same number as shakmaty's `zobrist_hash`, without its detour over empty pockets.
pub(super) fn zobrist<P: Position>(position: &P) -> u64 {
    let board = position.board();
    let mut key = Zobrist64(0);
    for role in Role::ALL {
        for color in [Color::Black, Color::White] {
            let piece = role.of(color);
            for square in board.by_piece(piece) {
                key ^= Zobrist64::zobrist_for_piece(square, piece);
            }
        }
    }
    for square in position.promoted() {
        key ^= Zobrist64::zobrist_for_promoted(square);
    }
    if let Some(pockets) = position.pockets() {
        for color in Color::ALL {
            for role in Role::ALL {
                let count = pockets[color][role];
                if count > 0 {
                    key ^= Zobrist64::zobrist_for_pocket(color, role, count);
                }
            }
        }
    }
    if position.turn().is_white() {
        key ^= Zobrist64::zobrist_for_white_turn();
    }
    let castles = position.castles();
    if castles.any() {
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                if castles.has(color, side) {
                    key ^= Zobrist64::zobrist_for_castling_right(color, side);
                }
            }
        }
    }
    if let Some(square) = position.legal_ep_square() {
        key ^= Zobrist64::zobrist_for_en_passant_file(square.file());
    }
    if let Some(checks) = position.remaining_checks() {
        for color in Color::ALL {
            key ^= Zobrist64::zobrist_for_remaining_checks(color, checks[color]);
        }
    }
    key.0
}

#[cfg(test)]
mod tests {
    use shakmaty::EnPassantMode;

    use super::*;
    use crate::game::Game;
    use crate::games::chess::random_games::{check_all_starts, play_randomly};
    use crate::games::chess::{Rules, Variant};

    fn agrees_with_shakmaty<P: Rules>(variant: Variant, text: &str, chess960: bool) {
        play_randomly::<P>((variant, text, chess960), 5, 200, |board, _| {
            let theirs: Zobrist64 = board.position().zobrist_hash(EnPassantMode::Legal);
            assert_eq!(board.key(), theirs.0, "{}", board.fen());
        });
    }

    #[test]
    fn key_is_that_of_shakmaty() {
        check_all_starts!(agrees_with_shakmaty);
    }
}
