//! The inputs of version `sparse-1`: which of 3,549 features a position has.
//!
//! Everything is seen by the side to move: it is side 0, and for black the board is mirrored vertically.

use shakmaty::{Bitboard, CastlingSide, Color, Position, Role, Square};

use super::attacks::{Attacks, SideAttacks};

/// Number of features.
pub const FEATURES: usize = 3549;
const PROMOTED: usize = 3072;
const POCKETS: usize = 3200;
const CASTLING: usize = 3280;
const EN_PASSANT: usize = 3284;
const CHECK: usize = 3292;
const RINGS: usize = 3293;
const POCKET_LIMIT: u8 = 8;
const OFF_BOARD: u8 = 64;

/// The neighbours of a square in the order N NE E SE S SW W NW.
static NEIGHBOURS: [[u8; 8]; 64] = neighbours();

const fn neighbours() -> [[u8; 8]; 64] {
    const STEPS: [(i32, i32); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];
    let mut table = [[OFF_BOARD; 8]; 64];
    let mut square = 0;
    while square < 64 {
        let mut direction = 0;
        while direction < 8 {
            let (rank, file) = (square / 8 + STEPS[direction].0, square % 8 + STEPS[direction].1);
            if rank >= 0 && rank < 8 && file >= 0 && file < 8 {
                table[square as usize][direction] = (rank * 8 + file) as u8;
            }
            direction += 1;
        }
        square += 1;
    }
    table
}

/// The active features of a position, in the order of their kinds. No position has more than there is room
/// for.
#[derive(Clone, Debug)]
pub struct Features {
    list: [u16; 256],
    count: usize,
}

impl Default for Features {
    fn default() -> Features {
        Features { list: [0; 256], count: 0 }
    }
}

#[inline]
fn bit(squares: Bitboard, square: usize) -> usize {
    (squares.0 >> (square & 63) & 1) as usize
}

impl Features {
    /// The features as numbers below [`FEATURES`], each once.
    #[inline]
    pub fn list(&self) -> &[u16] {
        &self.list[..self.count.min(256)]
    }

    #[inline]
    fn push(&mut self, feature: usize) {
        debug_assert!(feature < FEATURES && self.count < 256);
        self.list[self.count & 255] = feature as u16;
        self.count += 1;
    }

    /// Replaces the list by the features of a position with one king a side.
    pub fn fill<P: Position>(&mut self, position: &P, attacks: &Attacks) {
        self.count = 0;
        let board = position.board();
        let turn = position.turn();
        let flip = turn.fold_wb(0, 56);
        let sides = [(turn, &attacks.own, &attacks.enemy), (!turn, &attacks.enemy, &attacks.own)];
        for (side, (color, friends, foes)) in sides.into_iter().enumerate() {
            let pieces = board.by_color(color);
            for role in Role::ALL {
                let kind = (side * 6 + role as usize - 1) * 4;
                for square in board.by_role(role) & pieces {
                    let square = square.to_usize();
                    let state = bit(foes.all, square) + 2 * bit(friends.all, square);
                    self.push((kind + state) * 64 + (square ^ flip));
                }
            }
        }
        let promoted = position.promoted();
        if promoted.any() {
            for (side, (color, _, _)) in sides.into_iter().enumerate() {
                for square in promoted & board.by_color(color) {
                    self.push(PROMOTED + side * 64 + (square.to_usize() ^ flip));
                }
            }
        }
        if let Some(pockets) = position.pockets() {
            for (side, (color, _, _)) in sides.into_iter().enumerate() {
                let pocket = pockets.get(color);
                for (kind, held) in [pocket.pawn, pocket.knight, pocket.bishop, pocket.rook, pocket.queen]
                    .into_iter()
                    .enumerate()
                {
                    for more in 0..held.min(POCKET_LIMIT) {
                        self.push(POCKETS + (side * 5 + kind) * 8 + usize::from(more));
                    }
                }
            }
        }
        self.push_rights(position);
        for (side, (color, friends, foes)) in sides.into_iter().enumerate() {
            if let Some(king) = board.king_of(color) {
                self.push_ring(side, king.to_usize() ^ flip, flip, board, color, friends, foes);
            }
        }
    }

    fn push_rights<P: Position>(&mut self, position: &P) {
        let turn = position.turn();
        let castles = position.castles();
        if castles.any() {
            for (side, color) in [turn, !turn].into_iter().enumerate() {
                for (wing, castling) in
                    [CastlingSide::KingSide, CastlingSide::QueenSide].into_iter().enumerate()
                {
                    if castles.has(color, castling) {
                        self.push(CASTLING + side * 2 + wing);
                    }
                }
            }
        }
        if position.maybe_ep_square().is_some()
            && let Some(square) = position.legal_ep_square()
        {
            self.push(EN_PASSANT + square.file() as usize);
        }
        if let Some(king) = position.board().king_of(turn)
            && is_attacked(position.board(), king, !turn)
        {
            self.push(CHECK);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn push_ring(
        &mut self,
        side: usize,
        king: usize,
        flip: usize,
        board: &shakmaty::Board,
        color: Color,
        friends: &SideAttacks,
        foes: &SideAttacks,
    ) {
        let (own, enemies) = (board.by_color(color), board.by_color(!color));
        for (direction, &seen) in NEIGHBOURS[king & 63].iter().enumerate() {
            let state = if seen == OFF_BOARD {
                12
            } else {
                let square = usize::from(seen) ^ flip;
                let occupant = bit(own, square) + 2 * bit(enemies, square);
                occupant * 4 + bit(foes.all, square) + 2 * bit(friends.kingless, square)
            };
            self.push(RINGS + (side * 8 + direction) * 16 + state);
        }
    }
}

#[inline]
fn is_attacked(board: &shakmaty::Board, square: Square, by: Color) -> bool {
    board.attacks_to(square, by, board.occupied()).any()
}

/// The value head of the position, one of eight: by the pieces on the board.
#[inline]
pub fn bucket(board: &shakmaty::Board) -> usize {
    (board.occupied().count().saturating_sub(1) / 4).min(7)
}
