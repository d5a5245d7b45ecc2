//! Move codes of chess: squares and kind packed as in `docs/algorithm.md`, section 1, and back to shakmaty's
//! moves.
//!
//! `from | to << 6 | kind << 12`; kind 0 is a plain move (castling: the king takes its own rook), 1 to 5
//! promote to N B R Q K, 8 to 13 drop P N B R Q K. The kind of a plain move depends on the board:
//! [`resolve`].

use shakmaty::{Bitboard, Board, Color, Move, Position, Role, Square};

use crate::game::MoveCode;

/// The code of a move without promotion; castling names the square of the rook.
#[inline]
pub const fn plain(from: Square, to: Square) -> MoveCode {
    MoveCode(from.to_u32() as u16 | (to.to_u32() as u16) << 6)
}

/// The code of a pawn's move that promotes to N, B, R, Q or K.
#[inline]
pub const fn promoting(from: Square, to: Square, role: Role) -> MoveCode {
    MoveCode(plain(from, to).0 | (role as u16 - 1) << 12)
}

/// The code of a drop.
#[inline]
pub const fn dropping(role: Role, to: Square) -> MoveCode {
    MoveCode((to.to_u32() as u16) << 6 | (role as u16 + 7) << 12)
}

/// The origin; a1 for a drop.
#[inline]
pub const fn origin(code: MoveCode) -> Square {
    Square::new((code.0 & 63) as u32)
}

/// The target; the square of the rook when castling.
#[inline]
pub const fn target(code: MoveCode) -> Square {
    Square::new((code.0 >> 6 & 63) as u32)
}

/// What the pawn becomes, if the move promotes.
#[inline]
pub const fn promotion(code: MoveCode) -> Option<Role> {
    match code.0 >> 12 {
        1 => Some(Role::Knight),
        2 => Some(Role::Bishop),
        3 => Some(Role::Rook),
        4 => Some(Role::Queen),
        5 => Some(Role::King),
        _ => None,
    }
}

/// What is dropped, if the move is a drop.
#[inline]
pub const fn dropped(code: MoveCode) -> Option<Role> {
    match code.0 >> 12 {
        8 => Some(Role::Pawn),
        9 => Some(Role::Knight),
        10 => Some(Role::Bishop),
        11 => Some(Role::Rook),
        12 => Some(Role::Queen),
        13 => Some(Role::King),
        _ => None,
    }
}

/// The code of the same move with files a and h exchanged.
#[inline]
pub const fn mirrored(code: MoveCode) -> MoveCode {
    let from = if dropped(code).is_some() { 0 } else { 7 };
    MoveCode(code.0 ^ (from | 7 << 6))
}

/// The code of a shakmaty move.
#[inline]
pub const fn encode(mv: Move) -> MoveCode {
    match mv {
        Move::Normal { from, to, promotion: Some(role), .. } => promoting(from, to, role),
        Move::Normal { from, to, .. } | Move::EnPassant { from, to } => plain(from, to),
        Move::Castle { king, rook } => plain(king, rook),
        Move::Put { role, to } => dropping(role, to),
    }
}

/// The shakmaty move that a legal code means in this position.
#[inline]
pub fn resolve<P: Position>(position: &P, code: MoveCode) -> Move {
    let to = target(code);
    if let Some(role) = dropped(code) {
        return Move::Put { role, to };
    }
    let from = origin(code);
    let board = position.board();
    let role = board.role_at(from).unwrap_or(Role::Pawn);
    let capture = board.role_at(to);
    if role == Role::King && capture.is_some() && board.by_color(position.turn()).contains(to) {
        Move::Castle { king: from, rook: to }
    } else if role == Role::Pawn && capture.is_none() && from.file() != to.file() {
        Move::EnPassant { from, to }
    } else {
        Move::Normal { role, from, capture, to, promotion: promotion(code) }
    }
}

/// The squares that the pawns of a side attack, towards file a and towards file h.
#[inline]
pub fn pawn_attacks(board: &Board, color: Color) -> (Bitboard, Bitboard) {
    const FILE_A: u64 = 0x0101_0101_0101_0101;
    let pawns = board.by_piece(color.pawn()).0;
    let (left, right) = (pawns & !FILE_A, pawns & !(FILE_A << 7));
    let (left, right) = color.fold_wb((left << 7, right << 9), (left >> 9, right >> 7));
    (Bitboard(left), Bitboard(right))
}

/// 1 where a square is in the set, else 0.
#[inline]
pub fn bit(squares: Bitboard, square: Square) -> usize {
    (squares.0 >> square.to_u32() & 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_contract() {
        assert_eq!(plain(Square::E2, Square::E4).0, 12 | 28 << 6);
        assert_eq!(promoting(Square::A7, Square::B8, Role::Knight).0, 48 | 57 << 6 | 1 << 12);
        assert_eq!(promoting(Square::A7, Square::A8, Role::King).0, 48 | 56 << 6 | 5 << 12);
        assert_eq!(dropping(Role::Pawn, Square::E4).0, 28 << 6 | 8 << 12);
        assert_eq!(dropping(Role::Queen, Square::A1).0, 12 << 12);
    }

    #[test]
    fn parts_come_back() {
        let code = promoting(Square::H2, Square::G1, Role::Rook);
        assert_eq!(
            (origin(code), target(code), promotion(code), dropped(code)),
            (Square::H2, Square::G1, Some(Role::Rook), None)
        );
        let code = dropping(Role::Bishop, Square::C6);
        assert_eq!((target(code), promotion(code), dropped(code)), (Square::C6, None, Some(Role::Bishop)));
    }
}
