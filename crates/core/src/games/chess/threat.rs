//! The predicate *threat* of `docs/algorithm.md`, section 7.
//!
//! Explorations may be constrained to threats.

use shakmaty::{Bitboard, Move, Position, Role, attacks};

const fn worth(role: Role) -> u32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 100,
    }
}

/// Whether the piece that moved attacks something worth more than itself, or undefended. A piece that its own
/// capture blew up threatens nothing.
pub(super) fn threatens<P: Position + Clone>(position: &P, mv: Move) -> bool {
    if mv.is_castle() {
        return false;
    }
    let turn = position.turn();
    let mut after = position.clone();
    after.play_unchecked(mv);
    let board = after.board();
    let Some(piece) = board.piece_at(mv.to()).filter(|piece| piece.color == turn) else {
        return false;
    };
    let enemies = board.by_color(!turn) & !board.kings();
    let attacked = attacks::attacks(mv.to(), piece, board.occupied()) & enemies;
    let dearer = Role::ALL
        .into_iter()
        .filter(|role| worth(*role) > worth(piece.role))
        .fold(Bitboard::EMPTY, |squares, role| squares | board.by_role(role));
    (attacked & dearer).any()
        || attacked.into_iter().any(|square| board.attacks_to(square, !turn, board.occupied()).is_empty())
}
