//! Connect Four: seven columns of six, pieces fall down, four in a row win.
//!
//! Two bitboards, a column in seven bits of which the highest stays empty, so that shifts find rows of four.

use super::cells::{Cells, PLANES};
use super::{Grid, GridError};
use crate::game::{Ending, Game, MoveCode};
use crate::random::mix;

pub(super) const WIDTH: u32 = 7;
pub(super) const HEIGHT: u32 = 6;
/// Bits of a column, the empty one on top included.
pub(super) const COLUMN: u32 = HEIGHT + 1;
pub(super) const BOTTOM: u64 = {
    let (mut bits, mut x) = (0, 0);
    while x < WIDTH {
        bits |= 1 << (x * COLUMN);
        x += 1;
    }
    bits
};

/// A position of Connect Four.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectFour {
    /// Pieces of the side to move.
    own: u64,
    /// All pieces.
    pieces: u64,
}

/// Whether a bitboard has four in a row.
#[inline]
const fn has_four(bits: u64) -> bool {
    let mut found = 0;
    let shifts = [1, COLUMN - 1, COLUMN, COLUMN + 1];
    let mut i = 0;
    while i < shifts.len() {
        let pairs = bits & (bits >> shifts[i]);
        found |= pairs & (pairs >> (2 * shifts[i]));
        i += 1;
    }
    found != 0
}

impl ConnectFour {
    /// Pieces of the side to move, and all pieces.
    pub(super) const fn bits(&self) -> (u64, u64) {
        (self.own, self.pieces)
    }

    /// Whether the other side has four in a row.
    pub(super) const fn has_lost(&self) -> bool {
        has_four(self.own ^ self.pieces)
    }
}

impl Game for ConnectFour {
    /// Exact: two positions never have the same key.
    #[inline]
    fn key(&self) -> u64 {
        mix(self.own + self.pieces)
    }

    #[inline]
    fn player(&self) -> u8 {
        (self.pieces.count_ones() & 1) as u8
    }

    #[inline]
    fn ply(&self) -> u32 {
        self.pieces.count_ones()
    }

    #[inline]
    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        let tops = BOTTOM << (HEIGHT - 1);
        let mut free = tops & !self.pieces;
        while free != 0 {
            moves.push(MoveCode((free.trailing_zeros() / COLUMN) as u16));
            free &= free - 1;
        }
    }

    #[inline]
    fn ending(&self, moves: &[MoveCode]) -> Option<Ending> {
        if self.has_lost() {
            Some(Ending::Loss)
        } else if moves.is_empty() {
            Some(Ending::Draw)
        } else {
            None
        }
    }

    #[inline]
    fn play(&mut self, mv: MoveCode) {
        self.own ^= self.pieces;
        self.pieces |= self.pieces + (1 << (u32::from(mv.0) * COLUMN));
    }

    fn text(&self) -> String {
        self.cells().text()
    }

    /// The number of the column.
    fn move_text(&self, mv: MoveCode) -> String {
        (mv.0 + 1).to_string()
    }

    fn can_recur(&self) -> bool {
        false
    }

    fn plane_shape(&self) -> [usize; 3] {
        [PLANES, HEIGHT as usize, WIDTH as usize]
    }

    fn policy_size(&self) -> usize {
        WIDTH as usize
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        self.cells().fill_planes(planes);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }
}

impl Grid for ConnectFour {
    fn cells(&self) -> Cells {
        let player = self.player();
        Cells::new((WIDTH as usize, HEIGHT as usize), player, |x, y| {
            let bit = 1 << (x as u32 * COLUMN + HEIGHT - 1 - y as u32);
            let owner = if self.own & bit != 0 { player } else { 1 - player };
            (self.pieces & bit != 0).then_some(owner)
        })
    }

    fn with_cells(&self, cells: &Cells) -> Result<ConnectFour, GridError> {
        cells.check_turns()?;
        let mut game = ConnectFour::default();
        for x in 0..cells.width {
            let mut is_open = false;
            for y in (0..cells.height).rev() {
                let bit = 1 << (x as u32 * COLUMN + HEIGHT - 1 - y as u32);
                match cells.owner(x, y) {
                    None => is_open = true,
                    Some(_) if is_open => {
                        return Err(GridError::Position(format!("a piece floats in column {}", x + 1)));
                    }
                    Some(owner) => {
                        game.pieces |= bit;
                        game.own |= if owner == cells.player { bit } else { 0 };
                    }
                }
            }
        }
        Ok(game)
    }

    fn picture(&self) -> String {
        let columns: Vec<String> = (1..=WIDTH).map(|x| x.to_string()).collect();
        self.cells().picture(&columns, &[], 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::grid::testing::{after, endings_agree, perft_of};

    #[test]
    fn move_sequences_as_published() {
        // Seven choices until a column is full.
        assert_eq!(perft_of(&ConnectFour::default(), 7), [7, 49, 343, 2401, 16807, 117_649, 823_536]);
    }

    #[test]
    fn four_in_a_row_in_each_direction_wins() {
        for moves in ["1 1 2 2 3 3 4", "1 2 1 2 1 2 1", "1 2 2 3 3 4 3 4 4 5 4", "7 6 6 5 5 4 5 4 4 3 4"] {
            let game = after(ConnectFour::default(), moves);
            let mut legal = Vec::new();
            game.legal_moves(&mut legal);
            assert_eq!(game.ending(&legal), Some(Ending::Loss), "{moves}");
        }
        let no_wrap = after(ConnectFour::default(), "1 2 1 2 1 2 3 1");
        assert_eq!(no_wrap.ending(&[MoveCode(0)]), None);
    }

    #[test]
    fn random_games_agree_with_a_slow_referee() {
        endings_agree(&ConnectFour::default(), 300, |cells| {
            let line = |x: usize, y: usize, dx: isize, dy: isize| {
                (0..4).map(move |i| (x as isize + i * dx, y as isize + i * dy))
            };
            for player in 0..2 {
                for (x, y) in (0..7).flat_map(|x| (0..6).map(move |y| (x, y))) {
                    for (dx, dy) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                        let mut places = line(x, y, dx, dy);
                        if places.all(|(x, y)| {
                            (0..7).contains(&x)
                                && (0..6).contains(&y)
                                && cells.owner(x as usize, y as usize) == Some(player)
                        }) {
                            return Some(Some(player));
                        }
                    }
                }
            }
            (cells.count(0) + cells.count(1) == 42).then_some(None)
        });
    }

    #[test]
    fn positions_are_read_and_refused() {
        let game = after(ConnectFour::default(), "4 4 3");
        let text = "......./......./......./......./...o.../..xx... o";
        assert_eq!(game.text(), text);
        let start = ConnectFour::default();
        let read = start.with_cells(&Cells::read(text, 7, 6).unwrap()).unwrap();
        assert_eq!((read.own, read.pieces, read.key()), (game.own, game.pieces, game.key()));
        let floating = "......./......./......./...x.../......./....... o";
        let refused = start.with_cells(&Cells::read(floating, 7, 6).unwrap()).unwrap_err().to_string();
        assert!(refused.contains("floats in column 4"), "{refused}");
        let uneven = "......./......./......./......./......./xx..... x";
        assert!(start.with_cells(&Cells::read(uneven, 7, 6).unwrap()).is_err());
    }
}
