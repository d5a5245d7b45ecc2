//! Breakthrough on up to eight by eight: pieces go one step ahead or diagonally, and take diagonally; the
//! first one on the last row wins.
//!
//! Two bitboards with eight bits to a row, row 0 at the bottom, where the first player begins.

use super::cells::{Cells, PLANES, letters, numbers};
use super::{Grid, GridError};
use crate::game::{Constraint, Ending, Game, MoveCode};
use crate::random::{GOLDEN, mix};

const LEFT: u64 = 0x0101_0101_0101_0101;

/// A position of Breakthrough.
#[derive(Clone, Copy, Debug)]
pub struct Breakthrough {
    pieces: [u64; 2],
    width: u8,
    height: u8,
    player: u8,
    ply: u16,
}

const fn bit(x: usize, y: usize) -> u64 {
    1 << (8 * y + x)
}

impl Breakthrough {
    /// The first position on a board of 2 to 8 columns and 4 to 8 rows. Each player has two rows of pieces,
    /// on boards of fewer than six rows one.
    pub fn new(width: u8, height: u8) -> Breakthrough {
        let row = (1u64 << width) - 1;
        let (pieces, rows) = if height < 6 { (row, 1) } else { (row | row << 8, 2) };
        let pieces = [pieces, pieces << (8 * (height - rows))];
        Breakthrough { pieces, width, height, player: 0, ply: 0 }
    }

    fn sides(&self) -> (u64, u64) {
        (self.pieces[usize::from(self.player)], self.pieces[usize::from(1 - self.player)])
    }

    /// The pieces that may go one step ahead: to the left, straight, to the right as the first player sees
    /// it.
    #[inline]
    fn movers(&self) -> [u64; 3] {
        let (own, other) = self.sides();
        let board = (((1u64 << self.width) - 1) * LEFT) & (u64::MAX >> (8 * (8 - self.height)));
        let (free, open) = (board & !(own | other), board & !own);
        let edge = LEFT << (self.width - 1);
        if self.player == 0 {
            [own & !LEFT & (open >> 7), own & (free >> 8), own & !edge & (open >> 9)]
        } else {
            [own & !LEFT & (open << 9), own & (free << 8), own & !edge & (open << 7)]
        }
    }

    /// Where a move begins and ends.
    fn squares(&self, mv: MoveCode) -> ((usize, usize), (usize, usize)) {
        let (cell, side) = (usize::from(mv.0 / 3), usize::from(mv.0 % 3));
        let (x, y) = (cell % usize::from(self.width), cell / usize::from(self.width));
        ((x, y), (x + side - 1, if self.player == 0 { y + 1 } else { y - 1 }))
    }
}

impl Game for Breakthrough {
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
        let movers = self.movers();
        let mut any = movers[0] | movers[1] | movers[2];
        while any != 0 {
            let place = any.trailing_zeros() as u16;
            let cell = (place >> 3) * u16::from(self.width) + (place & 7);
            for (side, pieces) in movers.iter().enumerate() {
                if pieces >> place & 1 == 1 {
                    moves.push(MoveCode(cell * 3 + side as u16));
                }
            }
            any &= any - 1;
        }
    }

    #[inline]
    fn ending(&self, _moves: &[MoveCode]) -> Option<Ending> {
        let (own, other) = self.sides();
        let last = if self.player == 0 { 0xFF } else { 0xFF << (8 * (self.height - 1)) };
        (own == 0 || other & last != 0).then_some(Ending::Loss)
    }

    #[inline]
    fn play(&mut self, mv: MoveCode) {
        let ((x, y), (to_x, to_y)) = self.squares(mv);
        self.pieces[usize::from(self.player)] ^= bit(x, y) | bit(to_x, to_y);
        self.pieces[usize::from(1 - self.player)] &= !bit(to_x, to_y);
        self.player = 1 - self.player;
        self.ply += 1;
    }

    fn text(&self) -> String {
        self.cells().text()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        let name = |(x, y): (usize, usize)| format!("{}{}", char::from(b'a' + x as u8), y + 1);
        let (from, to) = self.squares(mv);
        name(from) + &name(to)
    }

    fn can_recur(&self) -> bool {
        false
    }

    fn satisfies(&self, constraint: Constraint, mv: MoveCode) -> bool {
        let (_, (x, y)) = self.squares(mv);
        constraint == Constraint::Captures && self.sides().1 & bit(x, y) != 0
    }

    fn plane_shape(&self) -> [usize; 3] {
        [PLANES, self.height.into(), self.width.into()]
    }

    /// Three moves from each cell.
    fn policy_size(&self) -> usize {
        3 * usize::from(self.width) * usize::from(self.height)
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        self.cells().fill_planes(planes);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }
}

impl Grid for Breakthrough {
    fn cells(&self) -> Cells {
        let height = usize::from(self.height);
        Cells::new((self.width.into(), height), self.player, |x, y| {
            (0..2).find(|player| self.pieces[usize::from(*player)] & bit(x, height - 1 - y) != 0)
        })
    }

    fn with_cells(&self, cells: &Cells) -> Result<Breakthrough, GridError> {
        let mut game =
            Breakthrough { pieces: [0; 2], player: cells.player, ply: cells.player.into(), ..*self };
        for (x, y) in (0..cells.height).flat_map(|y| (0..cells.width).map(move |x| (x, y))) {
            if let Some(owner) = cells.owner(x, y) {
                game.pieces[usize::from(owner)] |= bit(x, cells.height - 1 - y);
            }
        }
        let goal = if cells.player == 0 { 0xFF << (8 * (self.height - 1)) } else { 0xFF };
        let (own, other) = game.sides();
        if own & goal != 0 || other == 0 {
            return Err(GridError::Position("the side to move has won already".to_owned()));
        }
        Ok(game)
    }

    fn picture(&self) -> String {
        self.cells().picture(&letters(self.width.into()), &numbers(self.height.into(), false), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::grid::testing::{after, endings_agree, perft_of, value_of};

    #[test]
    fn move_sequences_as_published() {
        assert_eq!(perft_of(&Breakthrough::new(8, 8), 4), [22, 484, 11132, 256_036]);
    }

    #[test]
    fn captures_are_diagonal_only() {
        assert_eq!(Breakthrough::new(3, 6).text(), "ooo/ooo/.../.../xxx/xxx x");
        let start = Breakthrough::new(3, 4);
        assert_eq!(start.text(), "ooo/.../.../xxx x");
        let game = start.with_cells(&Cells::read("ooo/ooo/xxx/xxx x", 3, 4).unwrap()).unwrap();
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        let texts: Vec<String> = moves.iter().map(|&mv| game.move_text(mv)).collect();
        assert_eq!(texts, ["a2b3", "b2a3", "b2c3", "c2b3"]);
        assert!(moves.iter().all(|&mv| game.satisfies(Constraint::Captures, mv)));
        let won = after(game, "a2b3 c3b2 b3a4");
        assert_eq!(won.ending(&[]), Some(Ending::Loss));
    }

    #[test]
    fn small_boards_by_exhaustion() {
        for (width, height, value) in [(2, 4, -1.0), (3, 4, 1.0), (2, 5, 1.0), (3, 5, 1.0)] {
            assert_eq!(value_of(&Breakthrough::new(width, height)), value, "{width}x{height}");
        }
    }

    #[test]
    fn random_games_agree_with_a_slow_referee() {
        endings_agree(&Breakthrough::new(6, 7), 200, |cells| {
            let row = |y: usize, player| (0..cells.width).any(|x| cells.owner(x, y) == Some(player));
            let has_won = |player: u8| {
                row(if player == 0 { 0 } else { cells.height - 1 }, player) || cells.count(1 - player) == 0
            };
            (0..2).find(|&player| has_won(player)).map(Some)
        });
    }
}
