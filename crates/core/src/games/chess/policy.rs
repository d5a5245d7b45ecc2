//! The fixed map from moves to places in a network's policy output.
//!
//! Planes of 8 x 8 origins (for drops: targets), seen by the side to move: rows are flipped for black,
//! columns are not. 0 to 55 queen-like moves (direction N NE E SE S SW W NW times length 1 to 7), 56 to 63
//! knight moves, 64 to 75 promotions to N B R Q (left, straight, right), 76 to 80 drops of P N B R Q, 81 to
//! 83 promotions to king. Chess uses the first 76, crazyhouse 81, the other variants all 84.

use shakmaty::{Color, Role, Square};

use super::moves;
use super::variant::Variant;
use crate::game::MoveCode;

const DIRECTIONS: [(i32, i32); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];
const KNIGHT: [(i32, i32); 8] = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)];
const PROMOTIONS: usize = 64;
const DROPS: usize = 76;
const KING_PROMOTIONS: usize = 81;

/// Plane of a move without promotion by origin and target; 255 where no piece moves so.
static PLANES: [[u8; 64]; 64] = planes();

const fn planes() -> [[u8; 64]; 64] {
    let mut planes = [[255; 64]; 64];
    let mut from = 0;
    while from < 64 {
        let (row, column) = (from / 8, from % 8);
        let mut direction = 0;
        while direction < 8 {
            let mut length = 1;
            while length < 8 {
                let to_row = row + DIRECTIONS[direction].0 * length;
                let to_column = column + DIRECTIONS[direction].1 * length;
                if to_row >= 0 && to_row < 8 && to_column >= 0 && to_column < 8 {
                    planes[from as usize][(to_row * 8 + to_column) as usize] =
                        (direction as i32 * 7 + length - 1) as u8;
                }
                length += 1;
            }
            let to_row = row + KNIGHT[direction].0;
            let to_column = column + KNIGHT[direction].1;
            if to_row >= 0 && to_row < 8 && to_column >= 0 && to_column < 8 {
                planes[from as usize][(to_row * 8 + to_column) as usize] = 56 + direction as u8;
            }
            direction += 1;
        }
        from += 1;
    }
    planes
}

/// Whether a queen or a knight could move so on an empty board.
pub(super) const fn is_reached(from: usize, to: usize) -> bool {
    PLANES[from][to] != 255
}

/// Length of the policy output of a variant.
pub const fn size(variant: Variant) -> usize {
    match variant {
        Variant::Chess => DROPS * 64,
        Variant::Crazyhouse => KING_PROMOTIONS * 64,
        _ => (KING_PROMOTIONS + 3) * 64,
    }
}

/// Index of a legal move of `turn`. `castles`: a castling move that is shown as the king's move of two
/// squares.
pub fn index(turn: Color, code: MoveCode, castles: bool) -> usize {
    let seen = |square: Square| turn.fold_wb(square, square.flip_vertical()).to_usize();
    let to = seen(moves::target(code));
    if let Some(role) = moves::dropped(code) {
        return (DROPS + role as usize - 1) * 64 + to;
    }
    let from = seen(moves::origin(code));
    let plane = match moves::promotion(code) {
        Some(role) => {
            let side = (to & 7) + 1 - (from & 7);
            match role {
                Role::King => KING_PROMOTIONS + side,
                _ => PROMOTIONS + (role as usize - 2) * 3 + side,
            }
        }
        None if castles => {
            let east = from < to;
            let direction = if east { 2 } else { 6 };
            direction * 7 + 1
        }
        None => usize::from(PLANES[from][to]),
    };
    plane * 64 + from
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::game::Game;
    use crate::games::chess::random_games::{check_all_starts, play_randomly};
    use crate::games::chess::{Board, ChessBoard, CrazyhouseBoard, Rules};

    fn every_move_has_its_own_place<P: Rules>(variant: Variant, text: &str, chess960: bool) {
        for seed in 0..4 {
            play_randomly::<P>((variant, text, chess960), seed, 120, |board, list| {
                let places: HashSet<_> = list.iter().map(|mv| board.policy_index(*mv)).collect();
                assert_eq!(places.len(), list.len(), "{}", board.fen());
                assert!(places.iter().all(|place| *place < board.policy_size()));
            });
        }
    }

    #[test]
    fn moves_of_all_variants_have_their_own_places() {
        check_all_starts!(every_move_has_its_own_place);
    }

    fn place<P: Rules>(board: &Board<P>, mv: &str) -> (usize, usize) {
        let index = board.policy_index(board.parse_move(mv).unwrap());
        (index / 64, index % 64)
    }

    #[test]
    fn examples_by_hand() {
        let places = |fen: &str, chess960: bool, moves: &[&str]| -> Vec<(usize, usize)> {
            let board = ChessBoard::from_fen(Variant::Chess, fen, chess960).unwrap();
            moves.iter().map(|mv| place(&board, mv)).collect()
        };
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";
        assert_eq!(places(castling, false, &["e1g1", "e1c1"]), [(15, 4), (43, 4)]);
        assert_eq!(places(castling, true, &["e1h1", "e1a1"]), [(16, 4), (45, 4)]);
        let black = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq -";
        assert_eq!(places(black, false, &["e8g8", "a8a5", "a8b8"]), [(15, 4), (2, 0), (14, 0)]);
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq -";
        assert_eq!(places(start, false, &["g8f6", "e7e5"]), [(63, 6), (1, 12)]);
        let promotion = "4k3/8/8/8/8/8/1p6/B1B1K3 b - -";
        assert_eq!(places(promotion, false, &["b2a1n", "b2b1q", "b2c1q"]), [(64, 49), (74, 49), (75, 49)]);
        let pocket = "4k3/8/8/8/8/8/8/4K3[Pq] b - -";
        let board = CrazyhouseBoard::from_fen(Variant::Crazyhouse, pocket, false).unwrap();
        assert_eq!(place(&board, "Q@h8"), (80, 7));
    }
}
