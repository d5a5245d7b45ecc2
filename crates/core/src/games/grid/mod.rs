//! Games on a grid: Connect Four, tic-tac-toe, Othello, Hex, Breakthrough and Go; and those written
//! elsewhere.
//!
//! [`GridGame`] is a position of any of them, so that the search is compiled once for all. Each game is a
//! file;
//! `catalogue` has their names and parameters, `cells` their text, pictures and planes.

mod cells;
mod connect_four;
mod connect_four_solver;
mod tic_tac_toe;
mod othello;
mod hex;
mod hex_links;
mod hex_fill;
mod hex_solver;
mod breakthrough;
mod go;
mod object;
mod rows;
pub mod catalogue;

#[cfg(test)]
mod testing;

use thiserror::Error;

pub use breakthrough::Breakthrough;
pub use cells::Cells;
pub use connect_four::ConnectFour;
pub use connect_four_solver::Solver as ConnectFourSolver;
pub use go::{Go, Ko};
pub use hex::Hex;
pub use object::{MOST_MOVES, Object, ObjectGame};
pub use othello::Othello;
pub use rows::{MOST_ACTIONS, RowGame, RowRules, RowShape, Rows};
pub use tic_tac_toe::TicTacToe;

use crate::game::{Constraint, Ending, Game, MoveCode, Reasoned};
use crate::random::Random;

/// Why a game, a position or a move was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GridError {
    /// There is no such game.
    #[error("{0}")]
    NoGame(String),
    /// The game has no such parameter, or not with this value.
    #[error("{0}")]
    Game(String),
    /// The text is no position of the game.
    #[error("{0}")]
    Position(String),
    /// The text is no legal move.
    #[error("{0}")]
    Move(String),
}

/// What games on a grid have besides their rules: cells.
pub trait Grid: Game {
    /// What is on every cell.
    fn cells(&self) -> Cells;

    /// A position of the same game with other cells, as if the game had begun there.
    fn with_cells(&self, cells: &Cells) -> Result<Self, GridError>;

    /// The board in lines of text.
    fn picture(&self) -> String;
}

/// A cell by column and row.
fn cell_text(cell: u16, width: usize) -> String {
    let (x, y) = (usize::from(cell) % width, usize::from(cell) / width);
    format!("{}{}", char::from(b'a' + x as u8), y + 1)
}

impl Cells {
    /// Refuses boards where the players cannot have moved in turn, one piece a move.
    fn check_turns(&self) -> Result<(), GridError> {
        let (first, second) = (self.count(0), self.count(1));
        if first == second + usize::from(self.player) {
            return Ok(());
        }
        let symbol = cells::symbol(Some(self.player));
        Err(GridError::Position(format!(
            "with {first} pieces of x and {second} of o it is not the turn of {symbol}"
        )))
    }
}

/// The games, each once.
macro_rules! games {
    ($($(#[$meaning:meta])* $name:ident,)+) => {
        /// A position of one of the games.
        #[derive(Clone, Debug)]
        pub enum GridGame {
            $($(#[$meaning])* $name($name),)+
            /// A game that is written elsewhere.
            Object(ObjectGame),
            /// A game of rows of bytes that is written elsewhere.
            Rows(RowGame),
        }

        /// Evaluates an expression with the game that it is.
        macro_rules! each {
            ($any:expr, $game:ident => $result:expr) => {
                match $any {
                    $(GridGame::$name($game) => $result,)+
                    GridGame::Object($game) => $result,
                    GridGame::Rows($game) => $result,
                }
            };
        }

        impl GridGame {
            /// A position of the same game, read from its text.
            pub fn read(&self, text: &str) -> Result<GridGame, GridError> {
                let [_, height, width] = self.plane_shape();
                let cells = || Cells::read(text, width, height);
                match self {
                    GridGame::Object(_) => {
                        let why = "a position of this game is given by its moves alone";
                        Err(GridError::Position(why.to_owned()))
                    }
                    GridGame::Rows(game) => game.read(text).map(GridGame::Rows),
                    $(GridGame::$name(game) => game.with_cells(&cells()?).map(GridGame::$name),)+
                }
            }
        }
    };
}

games! {
    /// Breakthrough.
    Breakthrough,
    /// Connect Four.
    ConnectFour,
    /// Go.
    Go,
    /// Hex.
    Hex,
    /// Othello.
    Othello,
    /// Tic-tac-toe.
    TicTacToe,
}

impl GridGame {
    /// The board in lines of text.
    pub fn picture(&self) -> String {
        each!(self, game => game.picture())
    }

    /// Reads a legal move.
    pub fn parse_move(&self, text: &str, form: &str) -> Result<MoveCode, GridError> {
        let given = text.trim();
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        if self.ending(&moves).is_some() {
            return Err(GridError::Move(format!("the game is over before the move {:?}", cells::clip(text))));
        }
        let texts: Vec<String> = moves.iter().map(|&mv| self.move_text(mv)).collect();
        let place = texts.iter().position(|text| text == given);
        let place = place.or_else(|| texts.iter().position(|text| text.eq_ignore_ascii_case(given)));
        place.map(|place| moves[place]).ok_or_else(|| {
            GridError::Move(format!("{:?} is no legal move here; a move is {form}", cells::clip(text)))
        })
    }
}

/// Implements [`Game`] by the game that it is.
macro_rules! forward {
    ($($(#[$inline:meta])* fn $method:ident(&self $(, $argument:ident: $type:ty)*) -> $result:ty;)+) => {
        impl Game for GridGame {
            $($(#[$inline])* fn $method(&self $(, $argument: $type)*) -> $result {
                each!(self, game => game.$method($($argument),*))
            })+

            #[inline]
            fn play(&mut self, mv: MoveCode) {
                each!(self, game => game.play(mv));
            }

            #[inline]
            fn try_play(&mut self, mv: MoveCode) -> bool {
                each!(self, game => game.try_play(mv))
            }

            fn recall(&self, key: u64, ply: u32) -> Option<GridGame> {
                if let GridGame::Rows(game) = self { game.recall(key, ply).map(GridGame::Rows) } else { None }
            }

            fn playouts(
                games: &[&GridGame],
                count: u64,
                seed: u64,
                stop: &dyn Fn() -> bool,
            ) -> Option<Vec<f32>> {
                RowGame::playouts(&rows_among(games)?, count, seed, stop)
            }
        }
    };
}

forward! {
    #[inline]
    fn key(&self) -> u64;
    #[inline]
    fn player(&self) -> u8;
    #[inline]
    fn ply(&self) -> u32;
    #[inline]
    fn legal_moves(&self, moves: &mut Vec<MoveCode>) -> ();
    #[inline]
    fn ending(&self, moves: &[MoveCode]) -> Option<Ending>;
    fn reason(&self, most: u64, cancel: &dyn Fn() -> bool) -> Option<Reasoned>;
    fn text(&self) -> String;
    fn move_text(&self, mv: MoveCode) -> String;
    fn can_recur(&self) -> bool;
    fn takes_turns(&self) -> bool;
    fn satisfies(&self, constraint: Constraint, mv: MoveCode) -> bool;
    fn playout(&self, random: &mut Random, moves: &mut Vec<MoveCode>) -> f64;
    fn plane_shape(&self) -> [usize; 3];
    fn policy_size(&self) -> usize;
    fn fill_planes(&self, recent: &[MoveCode], repetitions: u32, planes: &mut [f32]) -> ();
    fn policy_index(&self, mv: MoveCode) -> usize;
    #[inline]
    fn is_fetched(&self) -> bool;
    fn fetch(&self) -> bool;
    fn retain(&self, keys: &mut dyn Iterator<Item = u64>) -> ();
    fn stored_bytes(&self) -> usize;
    fn bytes_per_position(&self) -> usize;
}

/// The games as games of rows, if all of them are.
pub fn rows_among<'a>(games: &[&'a GridGame]) -> Option<Vec<&'a RowGame>> {
    games.iter().map(|game| if let GridGame::Rows(game) = game { Some(game) } else { None }).collect()
}
