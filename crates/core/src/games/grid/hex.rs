//! Hex on a rhombus of 2 to 19 columns: who connects his two edges wins, and one of the two always does.
//!
//! The first player connects top and bottom, the second left and right. A piece that is played is the last of
//! a winning chain or the chain is not there, so only its own group is looked at.

use super::cells::{Cells, PLANES, letters, numbers};
use super::hex_links::MOST_SIZE;
use super::hex_solver::Solver;
use super::{Grid, GridError, cell_text};
use crate::game::{Ending, Game, MoveCode, Reasoned};
use crate::random::mix;

/// Words of a bitboard of 19 x 19 cells.
const WORDS: usize = 6;
const MOST_CELLS: usize = WORDS * 64;

/// A set of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bits([u64; WORDS]);

impl Bits {
    #[inline(always)]
    fn has(&self, cell: usize) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }

    #[inline(always)]
    fn insert(&mut self, cell: usize) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }
}

/// A position of Hex.
#[derive(Clone, Copy, Debug)]
pub struct Hex {
    pieces: [Bits; 2],
    key: u64,
    size: u8,
    is_won: bool,
    ply: u16,
}

impl Hex {
    /// The empty board with so many columns, 2 to 19.
    pub fn new(size: u8) -> Hex {
        Hex { pieces: [Bits::default(); 2], key: mix(u64::from(size)), size, is_won: false, ply: 0 }
    }

    fn cells_in_all(&self) -> usize {
        usize::from(self.size) * usize::from(self.size)
    }

    fn place(&mut self, cell: usize, player: u8) {
        self.pieces[usize::from(player)].insert(cell);
        self.key ^= mix(0x4E5 << 32 | (cell as u64) << 1 | u64::from(player));
        self.ply += 1;
    }

    /// Whether the group of a piece touches both edges of its owner.
    fn connects(&self, from: usize, player: u8) -> bool {
        let size = usize::from(self.size);
        let own = &self.pieces[usize::from(player)];
        let mut seen = Bits::default();
        let mut stack = [0u16; MOST_CELLS];
        let mut height = 1;
        stack[0] = from as u16;
        seen.insert(from);
        let mut edges = 0;
        while height > 0 {
            height -= 1;
            let cell = usize::from(stack[height]);
            let (x, y) = (cell % size, cell / size);
            let along = if player == 0 { y } else { x };
            edges |= u8::from(along == 0) | u8::from(along == size - 1) << 1;
            if edges == 3 {
                return true;
            }
            let mut visit = |is_there: bool, next: usize| {
                if is_there && own.has(next) && !seen.has(next) {
                    seen.insert(next);
                    stack[height] = next as u16;
                    height += 1;
                }
            };
            let (left, right, up, down) = (x > 0, x + 1 < size, y > 0, y + 1 < size);
            visit(left, cell.wrapping_sub(1));
            visit(right, cell + 1);
            visit(up, cell.wrapping_sub(size));
            visit(down, cell + size);
            visit(up && right, (cell + 1).wrapping_sub(size));
            visit(down && left, cell + size - 1);
        }
        false
    }
}

impl Game for Hex {
    #[inline]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn player(&self) -> u8 {
        (self.ply & 1) as u8
    }

    #[inline]
    fn ply(&self) -> u32 {
        self.ply.into()
    }

    #[inline]
    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        let count = self.cells_in_all();
        for word in 0..count.div_ceil(64) {
            let mut free = !(self.pieces[0].0[word] | self.pieces[1].0[word]);
            if (word + 1) * 64 > count {
                free &= (1 << (count % 64)) - 1;
            }
            while free != 0 {
                moves.push(MoveCode((word * 64) as u16 + free.trailing_zeros() as u16));
                free &= free - 1;
            }
        }
    }

    #[inline]
    fn ending(&self, _moves: &[MoveCode]) -> Option<Ending> {
        self.is_won.then_some(Ending::Loss)
    }

    /// By virtual connections, on boards of at most eight columns.
    fn reason(&self, most: u64, cancel: &dyn Fn() -> bool) -> Option<Reasoned> {
        if usize::from(self.size) > MOST_SIZE {
            return None;
        }
        let mut solver = Solver::new(self.size.into(), most, cancel);
        let answer = solver.solve(self.pieces.map(|pieces| pieces.0[0]), self.player());
        let ending = answer.as_ref().map(|answer| if answer.wins { Ending::Win } else { Ending::Loss });
        let line = answer.map_or_else(Vec::new, |answer| answer.line);
        Some(Reasoned { ending, line, positions: solver.positions() })
    }

    #[inline]
    fn play(&mut self, mv: MoveCode) {
        let (cell, player) = (usize::from(mv.0), self.player());
        self.place(cell, player);
        // A chain needs a piece in every row.
        self.is_won = self.ply.div_ceil(2) >= u16::from(self.size) && self.connects(cell, player);
    }

    fn text(&self) -> String {
        self.cells().text()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        cell_text(mv.0, self.size.into())
    }

    fn can_recur(&self) -> bool {
        false
    }

    /// Fills the board at random: who is connected then has won, whatever the order.
    fn playout(&self, random: &mut crate::random::Random, moves: &mut Vec<MoveCode>) -> f64 {
        self.legal_moves(moves);
        let mut game = *self;
        for left in (1..=moves.len()).rev() {
            let mv = moves.swap_remove(random.index(left));
            game.place(mv.0.into(), game.player());
        }
        let size = usize::from(self.size);
        let top = (0..size).filter(|&cell| game.pieces[0].has(cell));
        let winner = u8::from(!top.into_iter().any(|cell| game.connects(cell, 0)));
        if winner == self.player() { 1.0 } else { -1.0 }
    }

    fn plane_shape(&self) -> [usize; 3] {
        [PLANES, self.size.into(), self.size.into()]
    }

    fn policy_size(&self) -> usize {
        self.cells_in_all()
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        self.cells().fill_planes(planes);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }
}

impl Grid for Hex {
    fn cells(&self) -> Cells {
        let size = usize::from(self.size);
        Cells::new((size, size), self.player(), |x, y| {
            (0..2).find(|player| self.pieces[usize::from(*player)].has(y * size + x))
        })
    }

    fn with_cells(&self, cells: &Cells) -> Result<Hex, GridError> {
        cells.check_turns()?;
        let mut game = Hex::new(self.size);
        for (cell, owner) in cells.owners.iter().enumerate() {
            if let Some(owner) = owner {
                game.place(cell, *owner);
            }
        }
        let is_won = |player: u8| {
            let own = &game.pieces[usize::from(player)];
            (0..self.cells_in_all()).any(|cell| own.has(cell) && game.connects(cell, player))
        };
        if is_won(cells.player) {
            return Err(GridError::Position("the side to move has connected its edges already".to_owned()));
        }
        game.is_won = is_won(1 - cells.player);
        Ok(game)
    }

    fn picture(&self) -> String {
        let size = self.size.into();
        self.cells().picture(&letters(size), &numbers(size, true), 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::games::grid::hex_fill::Layout;
    use crate::games::grid::testing::{after, endings_agree, perft_of, value_of};
    use crate::random::Random;

    #[test]
    fn small_boards_are_won_by_the_first_player() {
        assert_eq!(value_of(&Hex::new(2)), 1.0);
        assert_eq!(value_of(&Hex::new(3)), 1.0);
        // An acute corner is a losing first move.
        assert_eq!(value_of(&after(Hex::new(3), "a1")), 1.0);
        assert_eq!(value_of(&after(Hex::new(3), "b2")), -1.0);
    }

    #[test]
    fn move_sequences_are_counted() {
        assert_eq!(perft_of(&Hex::new(19), 2), [361, 361 * 360]);
        assert_eq!(perft_of(&Hex::new(2), 4), [4, 12, 24, 12]);
        assert_eq!(perft_of(&Hex::new(3), 5), [9, 72, 504, 3024, 15120]);
    }

    #[test]
    fn neighbours_slant_to_the_right() {
        let won = |moves: &str| {
            let game = after(Hex::new(3), moves);
            game.ending(&[]).is_some()
        };
        assert!(won("c1 a1 b2 a2 a3"), "top right to bottom left is a chain");
        assert!(!won("a1 c1 b2 c2 c3"), "top left to bottom right is none");
        assert!(won("a1 a2 a3 b2 b1 c2"), "left to right wins for the second player");
    }

    #[test]
    fn random_games_agree_with_a_slow_referee() {
        for size in [2, 5, 8, 11] {
            endings_agree(&Hex::new(size), 40, |cells| {
                let size = cells.width;
                (0..2u8)
                    .find(|&player| {
                        let mut reached = vec![false; size * size];
                        for _ in 0..size * size {
                            for cell in 0..size * size {
                                let (x, y) = ((cell % size) as isize, (cell / size) as isize);
                                let is_first = if player == 0 { y == 0 } else { x == 0 };
                                let joins = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)].iter().any(
                                    |(dx, dy)| {
                                        let (x, y) = (x + dx, y + dy);
                                        let range = 0..size as isize;
                                        range.contains(&x)
                                            && range.contains(&y)
                                            && reached[y as usize * size + x as usize]
                                    },
                                );
                                if cells.owners[cell] == Some(player) && (is_first || joins) {
                                    reached[cell] = true;
                                }
                            }
                        }
                        (0..size).any(|i| {
                            reached[if player == 0 { (size - 1) * size + i } else { i * size + size - 1 }]
                        })
                    })
                    .map(Some)
            });
        }
    }

    #[test]
    fn playouts_end_as_games_do() {
        let (mut random, mut moves) = (Random::new(3), Vec::new());
        let won = after(Hex::new(3), "c1 a1 b2 a2");
        let values: Vec<f64> = (0..200).map(|_| won.playout(&mut random, &mut moves)).collect();
        assert!(values.iter().all(|value| value.abs() == 1.0));
        assert!(values.iter().sum::<f64>() > 120.0, "two ways to connect: {values:?}");
    }

    /// All positions below a board, each once, with their values for the side to move.
    fn values_below(game: &Hex, values: &mut HashMap<u64, (Hex, f64)>) -> f64 {
        if let Some((_, value)) = values.get(&game.key) {
            return *value;
        }
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        let value = match game.ending(&moves) {
            Some(ending) => ending.value(),
            None => moves
                .iter()
                .map(|&mv| {
                    let mut next = *game;
                    next.play(mv);
                    -values_below(&next, values)
                })
                .fold(-1.0, f64::max),
        };
        values.insert(game.key, (*game, value));
        value
    }

    /// Every position below a board is solved, and has its true value. Returns how many there are.
    fn check_solved(game: &Hex) -> usize {
        let mut values = HashMap::new();
        values_below(game, &mut values);
        let mut solved_in_all = 0;
        for (position, value) in values.values().filter(|(position, _)| !position.is_won) {
            let solved = position.reason(u64::MAX, &|| false).unwrap();
            assert_eq!(solved.ending.unwrap().value(), *value, "{}", position.picture());
            assert!(solved.positions <= 100, "{} for {}", solved.positions, position.picture());
            solved_in_all += 1;
            // The line is legal, and leads to a position with the same winner.
            let mut end = *position;
            for &mv in &solved.line {
                assert!(!end.is_won && !(0..2).any(|player| end.pieces[player].has(mv.0.into())));
                end.play(mv);
            }
            assert!(!solved.line.is_empty());
            let sign = if solved.line.len() % 2 == 0 { 1.0 } else { -1.0 };
            let at_end = if end.is_won { -1.0 } else { values_below(&end, &mut HashMap::new()) };
            assert_eq!(sign * at_end, *value, "{}", position.picture());
        }
        solved_in_all
    }

    #[test]
    fn what_is_solved_is_true() {
        assert!(check_solved(&Hex::new(3)) > 1_000);
        assert!(check_solved(&after(Hex::new(4), "b3 c1 a2 d4 a3 c4")) > 100);
    }

    #[test]
    fn filling_in_keeps_the_winner() {
        let layout = Layout::new(4);
        let mut random = Random::new(11);
        let (mut values, mut filled_in) = (HashMap::new(), 0);
        for _ in 0..60 {
            let mut game = Hex::new(4);
            for _ in 0..7 {
                let mut moves = Vec::new();
                game.legal_moves(&mut moves);
                game.play(moves[random.index(moves.len())]);
            }
            if game.is_won {
                continue;
            }
            let pieces = game.pieces.map(|pieces| pieces.0[0]);
            let (filled, captured) = layout.fill(pieces);
            assert!((0..2).all(|player| filled[player] & captured[player] == captured[player]));
            filled_in += (filled[0] | filled[1]).count_ones() - 7;
            let mut next = game;
            next.pieces = filled.map(|cells| {
                let mut bits = Bits::default();
                bits.0[0] = cells;
                bits
            });
            let is_over = (0..2).any(|player| {
                (0..16).any(|cell| next.pieces[usize::from(player)].has(cell) && next.connects(cell, player))
            });
            if !is_over {
                let after_filling = values_below(&next, &mut HashMap::new());
                assert_eq!(values_below(&game, &mut values), after_filling, "{}", game.picture());
            }
        }
        assert!(filled_in > 60, "{filled_in}");
    }

    #[test]
    fn bridges_and_the_edge_are_certain() {
        // A piece on the second row and a bridge below it: the second player cannot stop it.
        let solved =
            |game: Hex| game.reason(1_000, &|| false).map(|solved| (solved.ending, solved.positions));
        assert_eq!(solved(after(Hex::new(3), "b2")), Some((Some(Ending::Loss), 1)));
        assert_eq!(solved(Hex::new(3)).unwrap().0, Some(Ending::Win));
        assert_eq!(
            solved(after(Hex::new(3), "a1")).unwrap().0,
            Some(Ending::Win),
            "the second player takes b2"
        );
        assert_eq!(solved(Hex::new(11)), None, "larger boards are not looked at");
        let limited = after(Hex::new(6), "a1").reason(3, &|| false).unwrap();
        assert_eq!((limited.ending, limited.line.len()), (None, 0));
    }

    #[test]
    fn openings_of_six_columns_have_the_known_winner() {
        // The first player wins with d3, e2 and their images under a half turn, and loses with d1 and e1.
        for (opening, ending) in
            [("d3", Ending::Loss), ("c4", Ending::Loss), ("e1", Ending::Win), ("b6", Ending::Win)]
        {
            let solved = after(Hex::new(6), opening).reason(5_000, &|| false).unwrap();
            assert_eq!(solved.ending, Some(ending), "{opening}");
        }
    }
}
