//! Connect Four solved: win, draw or loss by alpha-beta over bitboards, apart from every search and
//! evaluator, to judge them by.
//!
//! Two questions are asked, each with a window without width: does the side to move win, and does it lose?
//! Moves that let the other side win at once are left out, so that a loss is seen two plies before it comes.
//! The rest are tried in the order of the winning cells that they make, and results are kept in a table, in
//! which a position and its mirror image are one.

use super::connect_four::{BOTTOM, COLUMN, ConnectFour, HEIGHT, WIDTH};

/// Columns from the middle outwards.
const ORDER: [u32; 7] = [3, 2, 4, 1, 5, 0, 6];
const BOARD: u64 = BOTTOM * ((1 << HEIGHT) - 1);
const CELLS: u32 = WIDTH * HEIGHT;
/// Pieces below which a position is looked up with its mirror image.
const MIRRORED: u32 = 18;

/// Results known so far, for any number of positions.
pub struct Solver {
    /// The key of a position in the upper bits, then the bounds of its result, each plus one in two bits.
    table: Vec<u64>,
    visited: u64,
    most: u64,
}

/// The cells that would complete four of `own`, whether or not a piece can fall there.
fn winning_cells(own: u64, pieces: u64) -> u64 {
    let mut found = (own << 1) & (own << 2) & (own << 3);
    for shift in [COLUMN, COLUMN - 1, COLUMN + 1] {
        let right = (own << shift) & (own << (2 * shift));
        found |= right & (own << (3 * shift));
        found |= right & (own >> shift);
        let left = (own >> shift) & (own >> (2 * shift));
        found |= left & (own << shift);
        found |= left & (own >> (3 * shift));
    }
    found & (BOARD ^ pieces)
}

impl Solver {
    /// A solver with a table of so many results.
    pub fn new(results: usize) -> Solver {
        Solver { table: vec![0; results.max(1)], visited: 0, most: 0 }
    }

    /// The result for the side to move, 1, 0 or -1; `None` if more than `most` positions are needed. With
    /// `least` 0 it is known that the side to move does not lose, which spares a question.
    pub fn solve(&mut self, game: &ConnectFour, most: u64, least: i8) -> Option<i8> {
        (self.visited, self.most) = (0, most);
        let (own, pieces) = game.bits();
        if game.has_lost() {
            return Some(-1);
        }
        if winning_cells(own, pieces) & (pieces + BOTTOM) != 0 {
            return Some(1);
        }
        if least < 0 && self.search(own, pieces, -1, 0)? < 0 {
            return Some(-1);
        }
        Some(if self.search(own, pieces, 0, 1)? > 0 { 1 } else { 0 })
    }

    /// Positions of the last call.
    pub fn visited(&self) -> u64 {
        self.visited
    }

    /// The bounds that the table has for a position, and its place.
    fn known(&self, own: u64, pieces: u64) -> (i8, i8, u64, usize) {
        let mut key = own + pieces;
        if pieces.count_ones() < MIRRORED {
            key = key.min(mirror(own) + mirror(pieces));
        }
        let place = (key % self.table.len() as u64) as usize;
        let entry = self.table[place];
        // An entry of zeros is empty; it is not the empty board, whose key is 0.
        if entry != 0 && entry >> 4 == key {
            ((entry >> 2 & 3) as i8 - 1, (entry & 3) as i8 - 1, key, place)
        } else {
            (-1, 1, key, place)
        }
    }

    /// Whether a position in which the side to move cannot win at once has a result of at least `high`, or of
    /// at most `low`, one less.
    fn search(&mut self, own: u64, pieces: u64, low: i8, high: i8) -> Option<i8> {
        self.visited += 1;
        if self.visited > self.most {
            return None;
        }
        let moves = safe_moves(own, pieces);
        if moves == 0 {
            return Some(if pieces == BOARD { 0 } else { -1 });
        }
        if pieces.count_ones() + 2 >= CELLS {
            return Some(0);
        }
        let (least, greatest, key, place) = self.known(own, pieces);
        if least >= high {
            return Some(least);
        }
        if greatest <= low {
            return Some(greatest);
        }
        let mut list = [(0, 0_u64); WIDTH as usize];
        let mut count = 0;
        for x in ORDER {
            let mv = moves & (((1 << HEIGHT) - 1) << (x * COLUMN));
            if mv == 0 {
                continue;
            }
            // The table may know an answer that suffices.
            if -self.known(own ^ pieces, pieces | mv).1 >= high {
                return Some(high);
            }
            let score = winning_cells(own | mv, pieces | mv).count_ones();
            let mut at = count;
            while at > 0 && list[at - 1].0 < score {
                list[at] = list[at - 1];
                at -= 1;
            }
            list[at] = (score, mv);
            count += 1;
        }
        let mut best = -1;
        for &(_, mv) in &list[..count] {
            best = best.max(-self.search(own ^ pieces, pieces | mv, -high, -low)?);
            if best >= high {
                break;
            }
        }
        let (least, greatest) = if best >= high { (best, greatest) } else { (least, best.max(least)) };
        self.table[place] = key << 4 | ((least + 1) as u64) << 2 | (greatest + 1) as u64;
        Some(best)
    }
}

/// A board with left and right exchanged.
fn mirror(bits: u64) -> u64 {
    let column = (1 << COLUMN) - 1;
    (0..WIDTH).fold(0, |sum, x| sum | (bits >> (x * COLUMN) & column) << ((WIDTH - 1 - x) * COLUMN))
}

/// The moves after which the other side cannot win at once.
fn safe_moves(own: u64, pieces: u64) -> u64 {
    let possible = (pieces + BOTTOM) & BOARD;
    let theirs = winning_cells(own ^ pieces, pieces);
    let forced = possible & theirs;
    let possible = match forced.count_ones() {
        0 => possible,
        1 => forced,
        _ => return 0,
    };
    possible & !(theirs >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Ending, Game, MoveCode};
    use crate::random::Random;

    /// The result without any knowledge.
    fn plain(game: &ConnectFour, depth: &mut u64) -> i8 {
        *depth += 1;
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        match game.ending(&moves) {
            Some(Ending::Loss) => return -1,
            Some(_) => return 0,
            None => {}
        }
        let after = |mv: MoveCode| {
            let mut next = *game;
            next.play(mv);
            next
        };
        let mut best = -1;
        for mv in moves {
            best = best.max(-plain(&after(mv), depth));
            if best == 1 {
                break;
            }
        }
        best
    }

    #[test]
    fn late_positions_agree_with_exhaustion() {
        let (mut random, mut solver, mut compared, mut results) =
            (Random::new(3), Solver::new(1 << 12), 0, [0; 3]);
        while compared < 150 {
            let (mut game, mut moves) = (ConnectFour::default(), Vec::new());
            for _ in 0..30 {
                game.legal_moves(&mut moves);
                if game.ending(&moves).is_some() {
                    break;
                }
                game.play(moves[random.index(moves.len())]);
            }
            if game.ply() < 30 {
                continue;
            }
            compared += 1;
            let found = solver.solve(&game, u64::MAX, -1).unwrap();
            assert_eq!(found, plain(&game, &mut 0), "{}", game.text());
            if found >= 0 {
                assert_eq!(Solver::new(1 << 12).solve(&game, u64::MAX, 0), Some(found));
            }
            results[(found + 1) as usize] += 1;
        }
        assert!(results.iter().all(|count| *count > 0), "{results:?}");
    }

    #[test]
    fn the_cap_ends_it() {
        assert_eq!(Solver::new(1 << 10).solve(&ConnectFour::default(), 1000, -1), None);
    }
}
