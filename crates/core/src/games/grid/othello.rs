//! Othello on four, six or eight columns: enclosed pieces change their colour, most pieces win.
//!
//! Two bitboards with eight bits to a row, whatever the size. Who cannot move passes, which is a move of its
//! own; the game ends where neither player can.

use super::cells::{Cells, PLANES, letters, numbers};
use super::{Grid, GridError, cell_text};
use crate::game::{Ending, Game, MoveCode};
use crate::random::{GOLDEN, mix};

const LEFT: u64 = 0x0101_0101_0101_0101;
const RIGHT: u64 = LEFT << 7;

/// A position of Othello.
#[derive(Clone, Copy, Debug)]
pub struct Othello {
    /// Pieces of both players.
    pieces: [u64; 2],
    size: u8,
    player: u8,
    /// Moves played, passes included.
    ply: u16,
}

/// The bit of a cell.
const fn bit(x: usize, y: usize) -> u64 {
    1 << (8 * y + x)
}

/// All cells of a board.
fn board(size: u8) -> u64 {
    let row = (1u64 << size) - 1;
    (0..size).fold(0, |cells, y| cells | row << (8 * y))
}

/// Moves every bit one cell on in one of eight directions, off the edge of a board of eight columns.
#[inline(always)]
const fn step(bits: u64, direction: usize) -> u64 {
    match direction {
        0 => (bits & !RIGHT) << 1,
        1 => (bits & !LEFT) >> 1,
        2 => bits << 8,
        3 => bits >> 8,
        4 => (bits & !RIGHT) << 9,
        5 => (bits & !LEFT) >> 9,
        6 => (bits & !LEFT) << 7,
        _ => (bits & !RIGHT) >> 7,
    }
}

impl Othello {
    /// The first position on a board with so many columns: 4, 6 or 8.
    pub fn new(size: u8) -> Othello {
        let middle = usize::from(size) / 2;
        let first = bit(middle, middle - 1) | bit(middle - 1, middle);
        let second = bit(middle - 1, middle - 1) | bit(middle, middle);
        Othello { pieces: [first, second], size, player: 0, ply: 0 }
    }

    /// The cells on which a player with `own` pieces may play against `other`.
    #[inline]
    fn open_cells(&self, own: u64, other: u64) -> u64 {
        let mut open = 0;
        let free = board(self.size) & !(own | other);
        for direction in 0..8 {
            let mut line = step(own, direction) & other;
            for _ in 0..5 {
                line |= step(line, direction) & other;
            }
            open |= step(line, direction) & free;
        }
        open
    }

    fn sides(&self) -> (u64, u64) {
        (self.pieces[usize::from(self.player)], self.pieces[usize::from(1 - self.player)])
    }

    fn pass(&self) -> MoveCode {
        MoveCode(u16::from(self.size) * u16::from(self.size))
    }
}

impl Game for Othello {
    #[inline]
    fn key(&self) -> u64 {
        mix(mix(self.pieces[0]) ^ self.pieces[1].wrapping_mul(GOLDEN)) ^ u64::from(self.player)
    }

    #[inline]
    fn player(&self) -> u8 {
        self.player
    }

    #[inline]
    fn ply(&self) -> u32 {
        self.ply.into()
    }

    #[inline]
    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        let (own, other) = self.sides();
        let mut open = self.open_cells(own, other);
        if open == 0 && self.open_cells(other, own) != 0 {
            moves.push(self.pass());
        }
        while open != 0 {
            let place = open.trailing_zeros() as u16;
            moves.push(MoveCode((place >> 3) * u16::from(self.size) + (place & 7)));
            open &= open - 1;
        }
    }

    #[inline]
    fn ending(&self, moves: &[MoveCode]) -> Option<Ending> {
        if !moves.is_empty() {
            return None;
        }
        let (own, other) = self.sides();
        Some(match own.count_ones().cmp(&other.count_ones()) {
            std::cmp::Ordering::Greater => Ending::Win,
            std::cmp::Ordering::Equal => Ending::Draw,
            std::cmp::Ordering::Less => Ending::Loss,
        })
    }

    #[inline]
    fn play(&mut self, mv: MoveCode) {
        if mv != self.pass() {
            let (own, other) = self.sides();
            let size = u16::from(self.size);
            let placed = bit(usize::from(mv.0 % size), usize::from(mv.0 / size));
            let mut turned = 0;
            for direction in 0..8 {
                let mut line = step(placed, direction) & other;
                for _ in 0..5 {
                    line |= step(line, direction) & other;
                }
                if step(line, direction) & own != 0 {
                    turned |= line;
                }
            }
            self.pieces[usize::from(self.player)] |= placed | turned;
            self.pieces[usize::from(1 - self.player)] &= !turned;
        }
        self.player = 1 - self.player;
        self.ply += 1;
    }

    fn text(&self) -> String {
        self.cells().text()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        if mv == self.pass() { "pass".to_owned() } else { cell_text(mv.0, self.size.into()) }
    }

    fn can_recur(&self) -> bool {
        false
    }

    fn plane_shape(&self) -> [usize; 3] {
        [PLANES, self.size.into(), self.size.into()]
    }

    /// A move for each cell, and the pass.
    fn policy_size(&self) -> usize {
        usize::from(self.pass().0) + 1
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        self.cells().fill_planes(planes);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }
}

impl Grid for Othello {
    fn cells(&self) -> Cells {
        Cells::new((self.size.into(), self.size.into()), self.player, |x, y| {
            (0..2).find(|player| self.pieces[usize::from(*player)] & bit(x, y) != 0)
        })
    }

    fn with_cells(&self, cells: &Cells) -> Result<Othello, GridError> {
        let pieces = cells.count(0) + cells.count(1);
        let mut game =
            Othello { pieces: [0; 2], player: cells.player, ply: pieces.saturating_sub(4) as u16, ..*self };
        for (x, y) in (0..cells.height).flat_map(|y| (0..cells.width).map(move |x| (x, y))) {
            if let Some(owner) = cells.owner(x, y) {
                game.pieces[usize::from(owner)] |= bit(x, y);
            }
        }
        Ok(game)
    }

    fn picture(&self) -> String {
        let size = self.size.into();
        self.cells().picture(&letters(size), &numbers(size, true), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::grid::testing::{after, perft_of, value_of};

    #[test]
    fn move_sequences_as_published() {
        assert_eq!(perft_of(&Othello::new(8), 8), [4, 12, 56, 244, 1396, 8200, 55092, 390_216]);
    }

    #[test]
    fn the_smallest_board_is_lost_for_the_first_player() {
        assert_eq!(value_of(&Othello::new(4)), -1.0);
    }

    #[test]
    fn who_cannot_move_passes() {
        let game = Othello::new(4).with_cells(&Cells::read("xxxo/..../..../.... o", 4, 4).unwrap()).unwrap();
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        assert!(moves.is_empty(), "neither side can move");
        assert_eq!(game.ending(&moves), Some(Ending::Loss));
        let game = Othello::new(4).with_cells(&Cells::read("xo../..../..../.... o", 4, 4).unwrap()).unwrap();
        game.legal_moves(&mut moves);
        assert_eq!((game.move_text(moves[0]), moves.len()), ("pass".to_owned(), 1));
        let next = after(game, "pass c1");
        assert_eq!(next.text(), "xxx./..../..../.... o");
    }
}
