//! Planes and policy of Lc0's networks: 112 planes with the last eight positions, and 1,858 moves.
//!
//! The layout is `INPUT_CLASSICAL_112_PLANE` of Lc0. For each of eight positions, newest first: own pieces
//! P N B R Q K, the opponent's, repeated. Then castling (own long and short, the opponent's long and short),
//! black to move, plies without progress, zeros, ones. All positions are seen by the side to move in the
//! newest one. Where the game is shorter, its first position is repeated, unless it is the usual start.

use shakmaty::{Bitboard, Board as Pieces, CastlingSide, Color, Role, Square};

use super::board::Board;
use super::moves;
use super::policy::is_reached;
use super::rules::Rules;
use crate::game::{Game, MoveCode, Trail};

/// Number of planes.
pub const PLANES: usize = 112;
/// Size of the policy.
pub const MOVES: usize = 1858;
/// Positions in the planes.
pub const POSITIONS: usize = 8;
const PLANES_OF_POSITION: usize = 13;
/// Where the promotions begin: moves without them come first.
const PROMOTIONS: u16 = 1792;

/// Place of a move without promotion by origin and target; the last one where no piece moves so.
static PLACES: [[u16; 64]; 64] = places();

const fn places() -> [[u16; 64]; 64] {
    let mut places = [[u16::MAX; 64]; 64];
    let mut next = 0;
    let mut from = 0;
    while from < 64 {
        let mut to = 0;
        while to < 64 {
            if is_reached(from, to) {
                places[from][to] = next;
                next += 1;
            }
            to += 1;
        }
        from += 1;
    }
    assert!(next == PROMOTIONS);
    places
}

/// Place of a legal move of `turn`. Castling is the king taking the rook; a promotion to a knight has the
/// place of the plain move.
pub(super) fn index(turn: Color, code: MoveCode) -> usize {
    let seen = |square: Square| turn.fold_wb(square, square.flip_vertical()).to_usize();
    let (from, to) = (seen(moves::origin(code)), seen(moves::target(code)));
    let piece = match moves::promotion(code) {
        Some(Role::Queen) => 0,
        Some(Role::Rook) => 1,
        Some(Role::Bishop) => 2,
        _ => return usize::from(PLACES[from][to]),
    };
    // Three targets for each file but the first, which has two; then three pieces for each target.
    let (file, target) = (from & 7, to & 7);
    usize::from(PROMOTIONS) + (file * 2 + target) * 3 + piece
}

/// Sets the squares of a plane, as `turn` sees them.
fn squares(plane: &mut [f32], squares: Bitboard, turn: Color) {
    for square in turn.fold_wb(squares, squares.flip_vertical()) {
        plane[square.to_usize()] = 1.0;
    }
}

/// The pieces, with the last double step of a pawn taken back where the position has an en-passant square.
fn pieces_before(pieces: &Pieces, en_passant: Option<Square>) -> Pieces {
    let mut before = pieces.clone();
    if let Some(square) = en_passant {
        let (behind, beyond) = (square.offset(8), square.offset(-8));
        let (from, to) = if square.to_u32() < 32 { (beyond, behind) } else { (behind, beyond) };
        if let (Some(from), Some(to)) = (from, to)
            && let Some(pawn) = before.remove_piece_at(to)
        {
            before.set_piece_at(from, pawn);
        }
    }
    before
}

/// Fills the planes, `PLANES * 64` numbers.
pub(super) fn fill<P: Rules>(board: &Board<P>, trail: &Trail<'_, Board<P>>, planes: &mut [f32]) {
    let planes = &mut planes[..PLANES * 64];
    planes.fill(0.0);
    let position = board.position();
    let turn = position.turn();
    let newest = std::iter::once((board, trail.repetitions));
    let known = newest.chain(trail.past.iter().map(|(board, repetitions)| (board, *repetitions)));
    let mut parts = planes.chunks_exact_mut(PLANES_OF_POSITION * 64).take(POSITIONS);
    let mut oldest = (board, trail.repetitions);
    for (known, part) in known.zip(parts.by_ref()) {
        fill_position(part, known.0.position().board(), known.1, turn);
        oldest = known;
    }
    if !oldest.0.is_usual_start() {
        let first = oldest.0.position();
        let pieces = pieces_before(first.board(), first.maybe_ep_square());
        for part in parts {
            fill_position(part, &pieces, oldest.1, turn);
        }
    }
    let rest = &mut planes[POSITIONS * PLANES_OF_POSITION * 64..];
    let mut numbers = Vec::with_capacity(8);
    for color in [turn, !turn] {
        for side in [CastlingSide::QueenSide, CastlingSide::KingSide] {
            numbers.push(f32::from(u8::from(position.castles().has(color, side))));
        }
    }
    numbers.extend([f32::from(u8::from(turn.is_black())), board.clock() as f32, 0.0, 1.0]);
    for (plane, number) in rest.chunks_exact_mut(64).zip(numbers) {
        plane.fill(number);
    }
}

fn fill_position(planes: &mut [f32], pieces: &Pieces, repetitions: u32, turn: Color) {
    let mut each = planes.chunks_exact_mut(64);
    for color in [turn, !turn] {
        for (role, plane) in Role::ALL.into_iter().zip(each.by_ref()) {
            squares(plane, pieces.by_piece(role.of(color)), turn);
        }
    }
    if let Some(plane) = each.next()
        && repetitions > 0
    {
        plane.fill(1.0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::games::chess::random_games::play_randomly;
    use crate::games::chess::{ChessBoard, Variant};
    use shakmaty::{Chess, Position};

    fn board(fen: &str) -> ChessBoard {
        ChessBoard::from_fen(Variant::Chess, fen, false).unwrap()
    }

    fn place(fen: &str, mv: &str) -> usize {
        let board = board(fen);
        index(board.position().turn(), board.parse_move(mv).unwrap())
    }

    #[test]
    fn places_by_hand() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
        // The moves that Lc0 lists first start at a1: 21 of a queen, 2 of a knight.
        assert_eq!(place("4k3/8/8/8/8/8/8/R3K3 w - -", "a1b1"), 0);
        assert_eq!(place(start, "b1a3"), 23 + 11);
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";
        assert_eq!(place(castling, "e1g1"), place("3k4/8/8/8/8/8/K7/4R3 w - -", "e1h1"));
        let pawn = "1n2k3/P7/8/8/8/8/8/4K3 w - -";
        assert_eq!([place(pawn, "a7a8q"), place(pawn, "a7a8r"), place(pawn, "a7b8b")], [1792, 1793, 1797]);
        assert_eq!(place(pawn, "a7a8n"), place("4k3/R7/8/8/8/8/8/4K3 w - -", "a7a8"));
        assert_eq!(place("4k3/8/8/8/8/8/7p/4K3 b - -", "h2h1b"), 1857);
    }

    #[test]
    fn moves_have_their_own_places() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for (fen, chess960) in [(start, false), ("nrkbbqrn/8/8/8/8/8/8/NRKBBQRN w GBgb - 0 1", true)] {
            for seed in 0..8 {
                play_randomly::<Chess>((Variant::Chess, fen, chess960), seed, 200, |board, list| {
                    let turn = board.position().turn();
                    let places: HashSet<_> = list.iter().map(|mv| index(turn, *mv)).collect();
                    assert_eq!(places.len(), list.len(), "{}", board.fen());
                    assert!(places.iter().all(|place| *place < MOVES));
                });
            }
        }
    }

    fn planes_of(board: &ChessBoard, past: &[(ChessBoard, u32)], repetitions: u32) -> Vec<f32> {
        let mut planes = vec![f32::NAN; PLANES * 64];
        fill(board, &Trail { recent: &[], repetitions, past }, &mut planes);
        planes
    }

    fn count(planes: &[f32], plane: usize) -> usize {
        planes[plane * 64..][..64].iter().filter(|&&number| number != 0.0).count()
    }

    #[test]
    fn a_short_history_repeats_the_first_position_unless_it_is_the_start() {
        let start = board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        let planes = planes_of(&start, &[], 0);
        assert_eq!([count(&planes, 0), count(&planes, 13), count(&planes, 12)], [8, 0, 0]);
        assert_eq!([count(&planes, 104), count(&planes, 108), count(&planes, 111)], [64, 0, 64]);
        let other = board("4k3/8/8/8/8/8/P7/4K3 b - - 3 9");
        let planes = planes_of(&other, &[], 1);
        // Black sees the pawn of the opponent on its a7; the eighth board is the same as the first.
        assert_eq!(planes[6 * 64 + 48], 1.0);
        assert_eq!(planes[..13 * 64], planes[7 * 13 * 64..8 * 13 * 64]);
        assert_eq!([planes[12 * 64], planes[108 * 64], planes[109 * 64]], [1.0, 1.0, 3.0]);
    }

    #[test]
    fn what_is_filled_in_takes_the_double_step_back() {
        let board = board("4k3/8/8/8/pP6/8/8/4K3 b - b3 0 1");
        let planes = planes_of(&board, &[], 0);
        // The pawn b4 is on b5 for black; one ply earlier it stood on b2, black's b7.
        let opponent_pawns = |board: usize| -> Vec<usize> {
            (0..64).filter(|place| planes[(board * 13 + 6) * 64 + place] != 0.0).collect()
        };
        assert_eq!((opponent_pawns(0), opponent_pawns(1)), (vec![33], vec![49]));
    }
}
