//! Which moves give check, from bitboards that are computed once per position.
//!
//! Exact for pieces that move as in chess, dropped ones included, as long as the side not to move is not in
//! check. Castling and en passant change more than two squares and are left to the caller.

use shakmaty::{Bitboard, Color, Role, Square, attacks};

/// The squares from which the side to move would attack the enemy king.
#[derive(Clone, Copy, Debug)]
pub struct CheckInfo {
    king: Option<Square>,
    squares: [Bitboard; 7],
    discoverers: Bitboard,
    occupied: Bitboard,
}

impl CheckInfo {
    /// Reads a board from the side of `turn`. Without a single enemy king nothing gives check.
    pub fn new(board: &shakmaty::Board, turn: Color) -> CheckInfo {
        let occupied = board.occupied();
        let mut info = CheckInfo {
            king: board.king_of(!turn),
            squares: [Bitboard::EMPTY; 7],
            discoverers: Bitboard::EMPTY,
            occupied,
        };
        let Some(king) = info.king else {
            return info;
        };
        let diagonal = attacks::bishop_attacks(king, occupied);
        let straight = attacks::rook_attacks(king, occupied);
        info.squares[Role::Pawn as usize] = attacks::pawn_attacks(!turn, king);
        info.squares[Role::Knight as usize] = attacks::knight_attacks(king);
        info.squares[Role::Bishop as usize] = diagonal;
        info.squares[Role::Rook as usize] = straight;
        info.squares[Role::Queen as usize] = diagonal | straight;

        // A slider behind the first piece on a line: only then can a move uncover it.
        let own = board.by_color(turn);
        let screens = (diagonal | straight) & own;
        if screens.any() {
            let behind = occupied ^ screens;
            let snipers = own
                & ((attacks::bishop_attacks(king, behind) & !diagonal & board.bishops_and_queens())
                    | (attacks::rook_attacks(king, behind) & !straight & board.rooks_and_queens()));
            for sniper in snipers {
                info.discoverers |= attacks::between(king, sniper) & screens;
            }
        }
        info
    }

    /// Whether a piece that comes to stand on `to` attacks the king from there, on the board as it is.
    #[inline]
    pub fn attacks_from(&self, role: Role, to: Square) -> bool {
        self.squares[role as usize].contains(to)
    }

    /// The squares from which such a piece attacks the king, on the board as it is.
    #[inline]
    pub fn squares_of(&self, role: Role) -> Bitboard {
        self.squares[role as usize]
    }

    /// Own pieces that cover the king from an own slider.
    #[inline]
    pub fn discoverers(&self) -> Bitboard {
        self.discoverers
    }

    /// Whether leaving `from` for `to` opens a line to the king.
    #[inline]
    pub fn discovers(&self, from: Square, to: Square) -> bool {
        self.discoverers.contains(from) && self.king.is_some_and(|king| !attacks::aligned(from, to, king))
    }

    /// Whether a move without promotion gives check; not for castling and en passant.
    #[inline]
    pub fn move_checks(&self, role: Role, from: Square, to: Square) -> bool {
        self.attacks_from(role, to) || self.discovers(from, to)
    }

    /// Whether a pawn that promotes gives check. It may uncover the line on which its new self attacks.
    pub fn promotion_checks(&self, role: Role, from: Square, to: Square) -> bool {
        let occupied = self.occupied.without(from);
        let reach = match role {
            Role::Knight => attacks::knight_attacks(to),
            Role::Bishop => attacks::bishop_attacks(to, occupied),
            Role::Rook => attacks::rook_attacks(to, occupied),
            Role::Queen => attacks::queen_attacks(to, occupied),
            Role::Pawn | Role::King => Bitboard::EMPTY,
        };
        self.king.is_some_and(|king| reach.contains(king)) || self.discovers(from, to)
    }
}

#[cfg(test)]
mod tests {
    use crate::game::{Constraint, Game};
    use crate::games::chess::random_games::{check_all_starts, play_randomly};
    use crate::games::chess::{Rules, Variant, moves};

    fn agrees_with_playing<P: Rules>(variant: Variant, start: &str, chess960: bool) {
        for seed in 0..6 {
            play_randomly::<P>((variant, start, chess960), seed, 120, |board, list| {
                for &mv in list {
                    let mut after = board.position().clone();
                    after.play_unchecked(moves::resolve(board.position(), mv));
                    let found = board.satisfies(Constraint::Checks, mv);
                    assert_eq!(found, after.is_check(), "{} {}", board.fen(), board.uci(mv));
                }
            });
        }
    }

    #[test]
    fn checks_are_those_found_by_playing() {
        check_all_starts!(agrees_with_playing);
    }
}
