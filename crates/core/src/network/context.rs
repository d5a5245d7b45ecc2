//! The contexts of version `moves-1`: what kind of move a move is, one of 1,584.
//!
//! Like `evaluators/material`, all lookups per move are bitboards that are set up once per position;
//! castling, en passant, promotions and moves that may uncover a check take a slower path.

use shakmaty::{Bitboard, CastlingSide, Color, Move, Role, Square};

use super::attacks::Attacks;
use crate::game::MoveCode;
use crate::games::chess::{Board, CheckInfo, Rules, moves, policy};

/// Number of contexts.
pub const CONTEXTS: usize = 1584;
const KIND: usize = 144;
const VICTIM: usize = 24;
const DANGER: usize = 8;
const DEFENDED: usize = 4;
const HIT: usize = 2;
/// The kind of a drop is the role's number, from 0, and this.
const DROPS: usize = 6;

/// What the contexts of all moves of a position need to know.
pub struct Contexts<'a, P> {
    board: &'a Board<P>,
    attacks: &'a Attacks,
    checks: CheckInfo,
    /// Role on each square, 0 for none.
    roles: [u8; 64],
    /// By role, 1 to 6.
    rows: [RoleSquares; 8],
    /// Where moves start that may uncover a check.
    rare_origins: Bitboard,
    /// Where castling and en passant go.
    rare_targets: Bitboard,
    own: Bitboard,
    turn: Color,
    shows_castling: bool,
}

/// Squares where a kind of piece is in danger, defended, or gives check.
#[derive(Clone, Copy)]
struct RoleSquares {
    lesser: Bitboard,
    /// Where a move without capture, and one with, is defended by another piece.
    defended: [Bitboard; 2],
    checks: Bitboard,
}

impl<'a, P: Rules> Contexts<'a, P> {
    /// Looks at a position where pieces move as in chess.
    pub fn new(board: &'a Board<P>, attacks: &'a Attacks) -> Contexts<'a, P> {
        let position = board.position();
        let pieces = position.board();
        let turn = position.turn();
        let own = pieces.by_color(turn);
        let mut roles = [0; 64];
        for role in Role::ALL {
            for square in pieces.by_role(role) {
                roles[square.to_usize()] = role as u8;
            }
        }
        let checks = board.check_info();
        let empty =
            RoleSquares { lesser: Bitboard::EMPTY, defended: [Bitboard::EMPTY; 2], checks: Bitboard::EMPTY };
        let mut rows = [empty; 8];
        let (ours, theirs) = (&attacks.own, &attacks.enemy);
        let minors = theirs.pawns | theirs.minors;
        let lesser =
            [Bitboard::EMPTY, theirs.pawns, theirs.pawns, minors, minors | theirs.rooks, theirs.kingless];
        for (role, lesser) in Role::ALL.into_iter().zip(lesser) {
            let defended = match role {
                Role::Pawn => [ours.all, ours.twice],
                Role::King => [ours.kingless; 2],
                _ => [ours.twice; 2],
            };
            rows[role as usize] = RoleSquares { lesser, defended, checks: checks.squares_of(role) };
        }
        Contexts {
            board,
            attacks,
            checks,
            roles,
            rows,
            rare_origins: checks.discoverers(),
            rare_targets: position.maybe_ep_square().map_or(own, |square| own.with(square)),
            own,
            turn,
            shows_castling: !board.is_chess960(),
        }
    }

    /// The place of a legal move in the policy.
    #[inline]
    pub fn index(&self, code: MoveCode) -> usize {
        let castles = code.0 >> 12 == 0 && self.own.contains(moves::target(code));
        policy::index(self.turn, code, castles && self.shows_castling)
    }

    #[inline]
    fn danger(&self, row: &RoleSquares, to: Square) -> usize {
        moves::bit(self.attacks.enemy.all, to) + moves::bit(row.lesser, to)
    }

    /// The context of a legal move.
    #[inline]
    pub fn context(&self, code: MoveCode) -> usize {
        let to = moves::target(code);
        let kind = usize::from(code.0 >> 12);
        if kind > 7 {
            let row = &self.rows[kind - 7];
            let defended = moves::bit(self.attacks.own.all, to);
            return (DROPS + kind - 8) * KIND
                + self.danger(row, to) * DANGER
                + defended * DEFENDED
                + moves::bit(row.checks, to);
        }
        let from = moves::origin(code);
        if kind + moves::bit(self.rare_origins, from) + moves::bit(self.rare_targets, to) != 0 {
            return self.rare_context(code);
        }
        let mover = usize::from(self.roles[from.to_usize()] & 7);
        let victim = usize::from(self.roles[to.to_usize()]);
        let row = &self.rows[mover];
        self.gather(mover, victim, to, from, usize::from(victim != 0), moves::bit(row.checks, to))
    }

    #[inline]
    fn gather(
        &self,
        mover: usize,
        victim: usize,
        to: Square,
        from: Square,
        takes: usize,
        check: usize,
    ) -> usize {
        let row = &self.rows[mover];
        let hit = moves::bit(self.attacks.enemy.all, from);
        (mover - 1) * KIND
            + victim * VICTIM
            + self.danger(row, to) * DANGER
            + moves::bit(row.defended[takes & 1], to) * DEFENDED
            + hit * HIT
            + check
    }

    #[cold]
    fn rare_context(&self, code: MoveCode) -> usize {
        let check = usize::from(self.board.gives_check_with(&self.checks, code));
        match moves::resolve(self.board.position(), code) {
            Move::Castle { king, rook } => {
                let wing = if rook > king { CastlingSide::KingSide } else { CastlingSide::QueenSide };
                self.gather(Role::King as usize, 0, wing.king_to(self.turn), king, 0, check)
            }
            Move::EnPassant { from, to } => {
                self.gather(Role::Pawn as usize, Role::Pawn as usize, to, from, 1, check)
            }
            Move::Normal { role, from, capture, to, .. } => {
                let victim = capture.map_or(0, |role| role as usize);
                self.gather(role as usize, victim, to, from, usize::from(victim != 0), check)
            }
            Move::Put { .. } => self.context(code),
        }
    }
}
