//! Go on 3 x 3 to 9 x 9: area scoring, no suicide, and one of two rules against endless games.
//!
//! With positional superko no move may bring back a board of the game. Legality is a fact of the path then,
//! so the boards of the game belong to the position, and only positions with equal boards behind them are
//! one. With simple ko only the piece that has just taken one may not be taken back at once; longer cycles
//! are possible, and the second occurrence of a position is a draw.
//!
//! Bitboards with one empty column to the right, so that shifts never wrap.

use super::cells::{Cells, PLANES, numbers};
use super::{Grid, GridError};
use crate::game::{Ending, Game, MoveCode};
use crate::random::{GOLDEN, Random, mix};

/// The names of the columns; `i` is left out.
const COLUMNS: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "j"];

/// Which repetitions are forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ko {
    /// No board of the game may come back.
    Positional,
    /// A single piece may not be taken back at once.
    Simple,
}

/// A position of Go.
#[derive(Clone, Debug)]
pub struct Go {
    pieces: [u128; 2],
    /// Hash of the board.
    hash: u64,
    /// The boards of the game, the present one included, with [`Ko::Positional`].
    boards: Vec<u64>,
    /// A hash of them as a set.
    history: u64,
    /// The cell where [`Ko::Simple`] forbids a move.
    forbidden: u128,
    /// Points that the second player gets, times two.
    komi: i16,
    ply: u16,
    size: u8,
    player: u8,
    passes: u8,
    ko: Ko,
    has_captures: bool,
}

impl Go {
    /// The empty board with 3 to 9 columns; `komi` counts half points.
    pub fn new(size: u8, komi: i16, ko: Ko) -> Go {
        let mut game = Go {
            pieces: [0; 2],
            hash: 0,
            boards: Vec::new(),
            history: 0,
            forbidden: 0,
            komi,
            ply: 0,
            size,
            player: 0,
            passes: 0,
            ko,
            has_captures: false,
        };
        game.remember();
        game
    }

    #[inline(always)]
    fn row(&self) -> u32 {
        u32::from(self.size) + 1
    }

    /// All cells of the board.
    fn board(&self) -> u128 {
        let row = (1u128 << self.size) - 1;
        (0..u32::from(self.size)).fold(0, |cells, y| cells | row << (y * self.row()))
    }

    fn bit(&self, cell: u16) -> u128 {
        let size = u16::from(self.size);
        1 << (u32::from(cell / size) * self.row() + u32::from(cell % size))
    }

    fn cell_of(&self, place: u32) -> u16 {
        (place / self.row() * u32::from(self.size) + place % self.row()) as u16
    }

    fn pass_code(&self) -> MoveCode {
        MoveCode(u16::from(self.size) * u16::from(self.size))
    }

    /// The cells next to some cells, on the board or on its margin.
    #[inline(always)]
    fn around(&self, cells: u128) -> u128 {
        let row = self.row();
        cells << 1 | cells >> 1 | cells << row | cells >> row
    }

    /// The cells that a piece is connected to through `through`.
    #[inline]
    fn group(&self, from: u128, through: u128) -> u128 {
        let mut group = from;
        loop {
            let larger = (group | self.around(group)) & through;
            if larger == group {
                return group;
            }
            group = larger;
        }
    }

    /// The groups of some pieces.
    fn groups(&self, pieces: u128) -> impl Iterator<Item = u128> + '_ {
        let mut left = pieces;
        std::iter::from_fn(move || {
            let first = left & left.wrapping_neg();
            if first == 0 {
                return None;
            }
            let group = self.group(first, pieces);
            left &= !group;
            Some(group)
        })
    }

    fn sides(&self) -> (u128, u128) {
        (self.pieces[usize::from(self.player)], self.pieces[usize::from(1 - self.player)])
    }

    /// What a move takes.
    fn captured_by(&self, placed: u128) -> u128 {
        let (own, other) = self.sides();
        let free = self.board() & !(own | other | placed);
        let mut near = self.around(placed) & other;
        let mut captured = 0;
        while near != 0 {
            let group = self.group(near & near.wrapping_neg(), other);
            if self.around(group) & free == 0 {
                captured |= group;
            }
            near &= !group;
        }
        captured
    }

    fn hash_of(&self, mut pieces: u128, player: u8) -> u64 {
        let mut hash = 0;
        while pieces != 0 {
            hash ^= mix(0x60 << 32 | u64::from(pieces.trailing_zeros()) << 1 | u64::from(player));
            pieces &= pieces - 1;
        }
        hash
    }

    fn remember(&mut self) {
        if self.ko == Ko::Positional {
            self.boards.push(self.hash);
            self.history = self.history.wrapping_add(mix(self.hash ^ GOLDEN));
        }
    }

    /// The cells where the side to move may play, superko aside.
    fn open_cells(&self) -> u128 {
        let (own, other) = self.sides();
        let free = self.board() & !(own | other);
        let mut open = self.around(free);
        for group in self.groups(own) {
            let liberties = self.around(group) & free;
            if liberties & liberties.wrapping_sub(1) != 0 {
                open |= liberties;
            }
        }
        for group in self.groups(other) {
            let liberties = self.around(group) & free;
            if liberties & liberties.wrapping_sub(1) == 0 {
                open |= liberties;
            }
        }
        open & free & !self.forbidden
    }

    /// Whether a move brings back a board of the game. Boards only grow until something is taken.
    fn repeats(&self, placed: u128) -> bool {
        if self.ko == Ko::Simple {
            return false;
        }
        let captured = self.captured_by(placed);
        if captured == 0 && !self.has_captures {
            return false;
        }
        let hash = self.hash ^ self.hash_of(placed, self.player) ^ self.hash_of(captured, 1 - self.player);
        self.boards.contains(&hash)
    }

    fn place(&mut self, placed: u128) {
        let captured = self.captured_by(placed);
        let (own, other) = (usize::from(self.player), usize::from(1 - self.player));
        self.pieces[own] |= placed;
        self.pieces[other] &= !captured;
        self.hash ^= self.hash_of(placed, self.player) ^ self.hash_of(captured, 1 - self.player);
        self.has_captures |= captured != 0;
        self.forbidden = 0;
        if self.ko == Ko::Simple && captured.count_ones() == 1 {
            let group = self.group(placed, self.pieces[own]);
            let liberties = self.around(group) & self.board() & !(self.pieces[0] | self.pieces[1]);
            if group == placed && liberties == captured {
                self.forbidden = captured;
            }
        }
        self.remember();
    }

    /// Area of the first player less that of the second and komi, times two.
    fn score(&self) -> i32 {
        let free = self.board() & !(self.pieces[0] | self.pieces[1]);
        let mut area = [0, 1].map(|player: usize| self.pieces[player].count_ones() as i32);
        for region in self.groups(free) {
            let near = self.around(region);
            match (near & self.pieces[0] != 0, near & self.pieces[1] != 0) {
                (true, false) => area[0] += region.count_ones() as i32,
                (false, true) => area[1] += region.count_ones() as i32,
                _ => {}
            }
        }
        2 * (area[0] - area[1]) - i32::from(self.komi)
    }

    /// How the game ends for the side to move if it ends now.
    fn result(&self) -> Ending {
        match if self.player == 0 { self.score() } else { -self.score() } {
            1.. => Ending::Win,
            0 => Ending::Draw,
            _ => Ending::Loss,
        }
    }

    /// Whether a free cell is an eye of the side to move: its neighbours are its own, and of the diagonal
    /// cells at most one is not, none at the edge.
    fn is_eye(&self, cell: u128) -> bool {
        let (own, other) = self.sides();
        let board = self.board();
        if self.around(cell) & board & !own != 0 {
            return false;
        }
        let row = self.row();
        let diagonal = cell << (row + 1) | cell << (row - 1) | cell >> (row + 1) | cell >> (row - 1);
        let at_edge = u32::from((diagonal & board).count_ones() < 4);
        (diagonal & other).count_ones() + at_edge < 2
    }
}

impl Game for Go {
    fn key(&self) -> u64 {
        let state = u64::from(self.player) | u64::from(self.passes) << 1;
        let forbidden = u64::from(self.forbidden.trailing_zeros() + 1) << 8;
        mix(self.hash ^ mix(self.history ^ mix(state | forbidden)))
    }

    fn player(&self) -> u8 {
        self.player
    }

    fn ply(&self) -> u32 {
        self.ply.into()
    }

    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        let mut open = self.open_cells();
        while open != 0 {
            let placed = open & open.wrapping_neg();
            if !self.repeats(placed) {
                moves.push(MoveCode(self.cell_of(open.trailing_zeros())));
            }
            open &= open - 1;
        }
        moves.push(self.pass_code());
    }

    fn ending(&self, _moves: &[MoveCode]) -> Option<Ending> {
        (self.passes == 2).then(|| self.result())
    }

    fn play(&mut self, mv: MoveCode) {
        if mv == self.pass_code() {
            self.passes += 1;
            self.forbidden = 0;
        } else {
            self.passes = 0;
            self.place(self.bit(mv.0));
        }
        self.player = 1 - self.player;
        self.ply = self.ply.saturating_add(1);
    }

    fn text(&self) -> String {
        self.cells().text()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        if mv == self.pass_code() {
            return "pass".to_owned();
        }
        let (x, y) = (mv.0 % u16::from(self.size), mv.0 / u16::from(self.size));
        format!("{}{}", COLUMNS[usize::from(x)], y + 1)
    }

    fn can_recur(&self) -> bool {
        self.ko == Ko::Simple
    }

    /// Random moves that fill no eye of their own; a pass only where there is no other. The board counts
    /// after three moves a cell.
    fn playout(&self, random: &mut Random, moves: &mut Vec<MoveCode>) -> f64 {
        let mut game = Go { boards: Vec::new(), ko: Ko::Simple, ..self.clone() };
        let cells = u32::from(self.size) * u32::from(self.size);
        for _ in 0..3 * cells {
            if game.passes == 2 {
                break;
            }
            moves.clear();
            let mut open = game.open_cells();
            while open != 0 {
                if !game.is_eye(open & open.wrapping_neg()) {
                    moves.push(MoveCode(game.cell_of(open.trailing_zeros())));
                }
                open &= open - 1;
            }
            let mv = if moves.is_empty() { game.pass_code() } else { moves[random.index(moves.len())] };
            game.play(mv);
        }
        game.player = self.player;
        game.result().value()
    }

    /// Besides the planes of all grids: whether the last move was a pass.
    fn plane_shape(&self) -> [usize; 3] {
        [PLANES + 1, self.size.into(), self.size.into()]
    }

    /// A move for each cell, and the pass.
    fn policy_size(&self) -> usize {
        usize::from(self.pass_code().0) + 1
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        self.cells().fill_planes(planes);
        if self.passes > 0 {
            let area = planes.len() / (PLANES + 1);
            planes[PLANES * area..].fill(1.0);
        }
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }
}

impl Grid for Go {
    fn cells(&self) -> Cells {
        let size = usize::from(self.size);
        let mut cells = Cells::new((size, size), self.player, |x, y| {
            (0..2).find(|player| {
                self.pieces[usize::from(*player)] & self.bit(((size - 1 - y) * size + x) as u16) != 0
            })
        });
        if self.passes > 0 {
            cells.note = self.passes.to_string();
        }
        cells
    }

    fn with_cells(&self, cells: &Cells) -> Result<Go, GridError> {
        let mut game = Go::new(self.size, self.komi, self.ko);
        for (x, y) in (0..cells.height).flat_map(|y| (0..cells.width).map(move |x| (x, y))) {
            if let Some(owner) = cells.owner(x, y) {
                let cell = ((cells.height - 1 - y) * cells.width + x) as u16;
                game.pieces[usize::from(owner)] |= game.bit(cell);
            }
        }
        let free = game.board() & !(game.pieces[0] | game.pieces[1]);
        let is_dead =
            |player: usize| game.groups(game.pieces[player]).any(|group| game.around(group) & free == 0);
        if is_dead(0) || is_dead(1) {
            return Err(GridError::Position("a group has no liberty".to_owned()));
        }
        game.player = cells.player;
        game.passes = match cells.note.as_str() {
            "" | "0" => 0,
            "1" => 1,
            "2" => 2,
            other => {
                return Err(GridError::Position(format!(
                    "a position ends with 0 to 2 passes, not {other:?}"
                )));
            }
        };
        game.ply = u16::from(cells.player);
        game.hash = game.hash_of(game.pieces[0], 0) ^ game.hash_of(game.pieces[1], 1);
        game.has_captures = true;
        (game.boards, game.history) = (Vec::new(), 0);
        game.remember();
        Ok(game)
    }

    fn picture(&self) -> String {
        let size = usize::from(self.size);
        self.cells().picture(&COLUMNS.map(str::to_owned)[..size], &numbers(size, false), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::grid::testing::{after, perft_of};

    fn go(size: u8) -> Go {
        Go::new(size, 0, Ko::Positional)
    }

    fn texts(game: &Go) -> Vec<String> {
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        moves.into_iter().map(|mv| game.move_text(mv)).collect()
    }

    #[test]
    fn move_sequences_are_counted() {
        assert_eq!(perft_of(&go(3), 4), [10, 91, 738, 5281]);
        assert_eq!(perft_of(&go(9), 2), [82, 82 * 82 - 81]);
    }

    #[test]
    fn groups_without_liberties_are_taken_and_suicide_is_illegal() {
        let game = after(go(3), "a2 a1 pass pass");
        assert_eq!(game.ending(&[]), Some(Ending::Draw));
        let game = after(go(3), "a2 a1 b1");
        assert_eq!(game.text(), ".../x../.x. o");
        assert!(!texts(&game).contains(&"a1".to_owned()), "suicide");
        let last = after(go(3), "b1 a1 a2");
        assert_eq!(last.text(), ".../x../.x. o");
    }

    #[test]
    fn a_ko_may_not_be_taken_back_at_once_and_never_with_the_same_board() {
        let start = "..../.xo./x.xo/.xo. o";
        for ko in [Ko::Positional, Ko::Simple] {
            let game = Go::new(4, 0, ko).with_cells(&Cells::read(start, 4, 4).unwrap()).unwrap();
            let taken = after(game.clone(), "b2");
            assert_eq!(taken.text(), "..../.xo./xo.o/.xo. x", "{ko:?}");
            assert!(!texts(&taken).contains(&"c2".to_owned()), "{ko:?}");
            let later = after(taken.clone(), "a4 d4");
            assert!(texts(&later).contains(&"c2".to_owned()), "{ko:?}");
            let passed = after(taken, "pass pass");
            assert_eq!(texts(&passed).contains(&"c2".to_owned()), ko == Ko::Simple);
        }
    }

    #[test]
    fn area_is_counted_with_komi() {
        let cells = |text: &str| Cells::read(text, 3, 3).unwrap();
        for (komi, ending) in [(0, Ending::Win), (17, Ending::Win), (18, Ending::Draw), (19, Ending::Loss)] {
            let game = Go::new(3, komi, Ko::Positional).with_cells(&cells(".x./.x./.x. x 2")).unwrap();
            assert_eq!(game.ending(&[]), Some(ending), "{komi}");
        }
        let refused = go(3).with_cells(&cells("xo./o../... x")).unwrap_err().to_string();
        assert!(refused.contains("no liberty"), "{refused}");
    }

    #[test]
    fn only_equal_histories_are_one_position_with_superko() {
        let (one, other) = ("a1 c1 a3 c3", "a3 c3 a1 c1");
        assert_ne!(after(go(3), one).key(), after(go(3), other).key());
        let simple = Go::new(3, 0, Ko::Simple);
        assert_eq!(after(simple.clone(), one).key(), after(simple, other).key());
    }

    #[test]
    fn playouts_fill_no_eyes() {
        let alive = Cells::read(".x.x./xxxxx/...../...../..... o", 5, 5).unwrap();
        let game = Go::new(5, 0, Ko::Positional).with_cells(&alive).unwrap();
        let (mut random, mut moves) = (Random::new(1), Vec::new());
        let mut end = game.clone();
        end.player = 0;
        assert!(end.is_eye(end.bit(20)) && end.is_eye(end.bit(22)) && !end.is_eye(end.bit(10)));
        let mean = (0..200).map(|_| game.playout(&mut random, &mut moves)).sum::<f64>() / 200.0;
        assert!(mean < -0.5, "the second player has almost nothing: {mean}");
    }
}
