//! Which squares each side attacks, and how often: computed once per position, read by features and contexts.
//!
//! Attacks are those of the pieces as they stand: occupied squares block, pins do not count, kings attack, en
//! passant does not.

use shakmaty::{Bitboard, Color, attacks};

use crate::games::chess::moves::pawn_attacks;

/// The squares that one side attacks.
#[derive(Clone, Copy, Debug)]
pub struct SideAttacks {
    /// By any piece.
    pub all: Bitboard,
    /// By two pieces or more.
    pub twice: Bitboard,
    /// By any piece but the king.
    pub kingless: Bitboard,
    /// By pawns.
    pub pawns: Bitboard,
    /// By knights and bishops.
    pub minors: Bitboard,
    /// By rooks.
    pub rooks: Bitboard,
    /// By queens.
    pub queens: Bitboard,
}

/// The attacks of both sides, as the side to move sees them.
#[derive(Clone, Copy, Debug)]
pub struct Attacks {
    /// Of the side to move.
    pub own: SideAttacks,
    /// Of the other side.
    pub enemy: SideAttacks,
}

impl Attacks {
    /// Looks at a board from the side of `turn`.
    pub fn new(board: &shakmaty::Board, turn: Color) -> Attacks {
        Attacks { own: SideAttacks::new(board, turn), enemy: SideAttacks::new(board, !turn) }
    }
}

/// Squares attacked so far.
#[derive(Clone, Copy)]
struct Count {
    once: Bitboard,
    twice: Bitboard,
}

impl Count {
    /// Adds the attacks of one piece; returns them.
    #[inline]
    fn add(&mut self, squares: Bitboard) -> Bitboard {
        self.twice |= self.once & squares;
        self.once |= squares;
        squares
    }
}

impl SideAttacks {
    fn new(board: &shakmaty::Board, color: Color) -> SideAttacks {
        let own = board.by_color(color);
        let occupied = board.occupied();
        let (left, right) = pawn_attacks(board, color);
        let pawns = left | right;
        let mut count = Count { once: pawns, twice: left & right };
        let mut minors = Bitboard::EMPTY;
        for from in board.knights() & own {
            minors |= count.add(attacks::knight_attacks(from));
        }
        for from in board.bishops() & own {
            minors |= count.add(attacks::bishop_attacks(from, occupied));
        }
        let mut rooks = Bitboard::EMPTY;
        for from in board.rooks() & own {
            rooks |= count.add(attacks::rook_attacks(from, occupied));
        }
        let mut queens = Bitboard::EMPTY;
        for from in board.queens() & own {
            queens |= count.add(attacks::queen_attacks(from, occupied));
        }
        let kingless = count.once;
        for from in board.kings() & own {
            count.add(attacks::king_attacks(from));
        }
        SideAttacks { all: count.once, twice: count.twice, kingless, pawns, minors, rooks, queens }
    }
}
