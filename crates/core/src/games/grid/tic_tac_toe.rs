//! Tic-tac-toe: three in a row on nine cells.

use super::cells::{Cells, PLANES, letters, numbers};
use super::{Grid, GridError, cell_text};
use crate::game::{Ending, Game, MoveCode};
use crate::random::mix;

const SIZE: usize = 3;
const LINES: [u16; 8] =
    [0b111, 0b111_000, 0b111_000_000, 0b1_001_001, 0b10_010_010, 0b100_100_100, 0b100_010_001, 0b1_010_100];

/// A position of tic-tac-toe: the pieces of both players, a bit for each cell from the top left.
#[derive(Clone, Copy, Debug, Default)]
pub struct TicTacToe {
    pieces: [u16; 2],
}

impl TicTacToe {
    fn all(&self) -> u16 {
        self.pieces[0] | self.pieces[1]
    }
}

impl Game for TicTacToe {
    fn key(&self) -> u64 {
        mix(u64::from(self.pieces[0]) << 16 | u64::from(self.pieces[1]))
    }

    fn player(&self) -> u8 {
        (self.all().count_ones() & 1) as u8
    }

    fn ply(&self) -> u32 {
        self.all().count_ones()
    }

    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        moves.extend((0..9).filter(|cell| self.all() >> cell & 1 == 0).map(MoveCode));
    }

    fn ending(&self, moves: &[MoveCode]) -> Option<Ending> {
        let last = self.pieces[usize::from(1 - self.player())];
        if LINES.iter().any(|line| last & line == *line) {
            Some(Ending::Loss)
        } else {
            moves.is_empty().then_some(Ending::Draw)
        }
    }

    fn play(&mut self, mv: MoveCode) {
        self.pieces[usize::from(self.player())] |= 1 << mv.0;
    }

    fn text(&self) -> String {
        self.cells().text()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        cell_text(mv.0, SIZE)
    }

    fn can_recur(&self) -> bool {
        false
    }

    fn plane_shape(&self) -> [usize; 3] {
        [PLANES, SIZE, SIZE]
    }

    fn policy_size(&self) -> usize {
        SIZE * SIZE
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        self.cells().fill_planes(planes);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }
}

impl Grid for TicTacToe {
    fn cells(&self) -> Cells {
        Cells::new((SIZE, SIZE), self.player(), |x, y| {
            (0..2).find(|player| self.pieces[usize::from(*player)] >> (y * SIZE + x) & 1 == 1)
        })
    }

    fn with_cells(&self, cells: &Cells) -> Result<TicTacToe, GridError> {
        cells.check_turns()?;
        let mut game = TicTacToe::default();
        for (cell, owner) in cells.owners.iter().enumerate() {
            if let Some(owner) = owner {
                game.pieces[usize::from(*owner)] |= 1 << cell;
            }
        }
        Ok(game)
    }

    fn picture(&self) -> String {
        self.cells().picture(&letters(SIZE), &numbers(SIZE, true), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::grid::testing::{endings_agree, perft_of};

    #[test]
    fn all_games_are_counted() {
        let counts = perft_of(&TicTacToe::default(), 9);
        assert_eq!(counts, [9, 72, 504, 3024, 15120, 54720, 148_176, 200_448, 127_872]);
    }

    #[test]
    fn random_games_agree_with_a_slow_referee() {
        endings_agree(&TicTacToe::default(), 300, |cells| {
            let lines =
                [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
            let won = |player| {
                lines.iter().any(|line| line.iter().all(|&cell: &usize| cells.owners[cell] == Some(player)))
            };
            let winner = (0..2).find(|&player| won(player));
            (winner.is_some() || cells.owners.iter().all(Option::is_some)).then_some(winner)
        });
    }
}
