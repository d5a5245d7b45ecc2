//! The games on a grid by name, with their parameters.
//!
//! A game is named with its parameters in one text, `go:size=5,komi=0.5`; what is not named has its default.

use super::cells::clip;
use super::{
    Breakthrough, ConnectFour, Go, GridError, GridGame, Hex, Ko, ObjectGame, Othello, RowGame, TicTacToe,
};

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Whole numbers.
    Whole(u8, u8),
    /// Some whole numbers.
    Among(&'static [u8]),
    /// Multiples of one half.
    Halves(f64, f64),
    /// Words.
    Words(&'static [&'static str]),
}

/// A parameter of a game.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is without being named.
    pub default: &'static str,
    /// What it takes.
    pub range: Range,
    /// Its meaning in a few words.
    pub meaning: &'static str,
}

/// A game that ships.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its rules in a sentence.
    pub rules: &'static str,
    /// How a move is written.
    pub moves: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    start: fn(&[String]) -> GridGame,
}

const fn size(default: &'static str, range: Range) -> Parameter {
    Parameter { name: "size", default, range, meaning: "columns and rows" }
}

/// A whole number that was checked before.
fn whole(value: &str) -> u8 {
    value.parse().unwrap_or(0)
}

/// All games, by name.
pub const GAMES: &[Entry] = &[
    Entry {
        name: "breakthrough",
        rules: "Pieces go one step ahead or diagonally ahead and take diagonally; the first on the last row \
                wins. Each player begins with two rows of pieces, on fewer than six rows with one.",
        moves: "from and to, as a2b3; row 1 is at the bottom, where x begins",
        parameters: &[
            Parameter { name: "width", default: "8", range: Range::Whole(2, 8), meaning: "columns" },
            Parameter { name: "height", default: "8", range: Range::Whole(4, 8), meaning: "rows" },
        ],
        start: |values| GridGame::Breakthrough(Breakthrough::new(whole(&values[0]), whole(&values[1]))),
    },
    Entry {
        name: "connect-four",
        rules: "Pieces fall into one of seven columns of six cells; four in a row win.",
        moves: "the column, 1 to 7",
        parameters: &[],
        start: |_| GridGame::ConnectFour(ConnectFour::default()),
    },
    Entry {
        name: "go",
        rules: "Groups without liberties are taken, suicide is illegal, two passes end the game; area and \
                komi decide.",
        moves: "the cell, as c2, row 1 at the bottom and no column i; or pass",
        parameters: &[
            size("9", Range::Whole(3, 9)),
            Parameter {
                name: "komi",
                default: "7.5",
                range: Range::Halves(-100.0, 100.0),
                meaning: "points for the second player",
            },
            Parameter {
                name: "ko",
                default: "positional",
                range: Range::Words(&["positional", "simple"]),
                meaning: "no board of the game may come back, or no single piece may be taken back at once",
            },
        ],
        start: |values| {
            let komi = (2.0 * values[1].parse().unwrap_or(0.0)) as i16;
            let ko = if values[2] == "simple" { Ko::Simple } else { Ko::Positional };
            GridGame::Go(Go::new(whole(&values[0]), komi, ko))
        },
    },
    Entry {
        name: "hex",
        rules: "Who connects his two edges wins: x top and bottom, o left and right.",
        moves: "the cell, as c2; row 1 is at the top",
        parameters: &[size("11", Range::Whole(2, 19))],
        start: |values| GridGame::Hex(Hex::new(whole(&values[0]))),
    },
    Entry {
        name: "othello",
        rules: "A piece turns the enclosed ones of the other player; who has more at the end wins.",
        moves: "the cell, as d3, row 1 at the top; or pass, where nothing else is legal",
        parameters: &[size("8", Range::Among(&[4, 6, 8]))],
        start: |values| GridGame::Othello(Othello::new(whole(&values[0]))),
    },
    Entry {
        name: "tic-tac-toe",
        rules: "Three in a row on nine cells win.",
        moves: "the cell, as b2; row 1 is at the top",
        parameters: &[],
        start: |_| GridGame::TicTacToe(TicTacToe::default()),
    },
];

impl Parameter {
    /// What it takes, in words.
    pub fn takes(&self) -> String {
        match self.range {
            Range::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Range::Among(numbers) => format!("one of {}", join(numbers)),
            Range::Halves(low, high) => format!("a multiple of 0.5 from {low} to {high}"),
            Range::Words(words) => format!("one of {}", words.join(", ")),
        }
    }

    /// A value in the form in which it is written; `None` if it is out of range.
    fn read(&self, text: &str) -> Option<String> {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        let is_whole = |number: &f64| number.fract() == 0.0;
        match self.range {
            Range::Whole(low, high) => number
                .filter(|number| is_whole(number) && (f64::from(low)..=f64::from(high)).contains(number))
                .map(|number| number.to_string()),
            Range::Among(numbers) => number
                .filter(|number| numbers.iter().any(|known| f64::from(*known) == *number))
                .map(|number| number.to_string()),
            Range::Halves(low, high) => number
                .filter(|number| is_whole(&(2.0 * number)) && (low..=high).contains(number))
                .map(|number| (number + 0.0).to_string()),
            Range::Words(words) => words.contains(&text).then(|| text.to_owned()),
        }
    }
}

fn join<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// One of the games with its parameters.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name with the parameters that are not as usual: `hex:size=7`.
    pub name: String,
    moves: &'static str,
    start: GridGame,
}

/// What the names of games written elsewhere begin with.
pub const OBJECT: &str = "object:";
/// The same where positions are rows of bytes.
pub const ROWS: &str = "rows:";

const WRITTEN_ELSEWHERE: &str = "one of its legal moves, as the game writes it";

impl Named {
    /// Reads a name with parameters.
    pub fn parse(text: &str) -> Result<Named, GridError> {
        let (given, parameters) = text.split_once(':').unwrap_or((text, ""));
        let plain = given.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        let entry = GAMES.iter().find(|entry| entry.name == plain).ok_or_else(|| {
            GridError::NoGame(format!("there is no game {:?}; the games are {}", clip(given), names()))
        })?;
        let mut values: Vec<String> = entry.parameters.iter().map(|row| row.default.to_owned()).collect();
        for part in parameters.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (name.trim(), value.trim());
            let place = entry.parameters.iter().position(|row| row.name == name);
            let place = place.ok_or_else(|| GridError::Game(no_parameter(entry, name)))?;
            let row = &entry.parameters[place];
            values[place] = row.read(value).ok_or_else(|| {
                GridError::Game(format!(
                    "{} of {} takes {}, not {:?}",
                    row.name,
                    entry.name,
                    row.takes(),
                    clip(value)
                ))
            })?;
        }
        let unusual = |(row, value): (&Parameter, &String)| {
            (row.default != value).then(|| format!("{}={value}", row.name))
        };
        let changes: Vec<String> = entry.parameters.iter().zip(&values).filter_map(unusual).collect();
        let name = if changes.is_empty() {
            entry.name.to_owned()
        } else {
            format!("{}:{}", entry.name, changes.join(","))
        };
        Ok(Named { name, moves: entry.moves, start: (entry.start)(&values) })
    }

    /// A game that is written elsewhere, from its first position.
    pub fn of_object(name: &str, start: ObjectGame) -> Named {
        Named { name: format!("{OBJECT}{name}"), moves: WRITTEN_ELSEWHERE, start: GridGame::Object(start) }
    }

    /// A game of rows that is written elsewhere, from its first position.
    pub fn of_rows(name: &str, start: RowGame) -> Named {
        Named { name: format!("{ROWS}{name}"), moves: WRITTEN_ELSEWHERE, start: GridGame::Rows(start) }
    }

    /// The same game for another search, which shares no rows with this one.
    pub fn apart(&self) -> Named {
        let start = match &self.start {
            GridGame::Rows(game) => GridGame::Rows(game.apart()),
            other => other.clone(),
        };
        Named { start, ..self.clone() }
    }

    /// The first position.
    pub fn start(&self) -> GridGame {
        self.start.clone()
    }

    /// How a move is written.
    pub fn moves(&self) -> &'static str {
        self.moves
    }
}

fn no_parameter(entry: &Entry, name: &str) -> String {
    let known: Vec<&str> = entry.parameters.iter().map(|row| row.name).collect();
    match known.as_slice() {
        [] => format!("{} has no parameters, so no {:?}", entry.name, clip(name)),
        _ => format!("{} has no parameter {:?}, only {}", entry.name, clip(name), known.join(" and ")),
    }
}

/// The names of the games.
fn names() -> String {
    GAMES.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;

    #[test]
    fn names_are_read_with_parameters_and_written_in_one_way() {
        for (text, name) in [
            ("Connect_Four", "connect-four"),
            ("hex", "hex"),
            ("hex:size=11", "hex"),
            ("hex: size = 7", "hex:size=7"),
            ("go:ko=simple,size=5,komi=0.5", "go:size=5,komi=0.5,ko=simple"),
            ("go:komi=-0", "go:komi=0"),
            ("breakthrough:width=5", "breakthrough:width=5"),
        ] {
            let named = Named::parse(text).unwrap();
            assert_eq!(named.name, name);
            assert_eq!(Named::parse(&named.name).unwrap().name, name);
        }
        for entry in GAMES {
            let start = Named::parse(entry.name).unwrap().start();
            assert_eq!((start.ply(), start.player()), (0, 0), "{}", entry.name);
            assert!(entry.parameters.iter().all(|row| row.read(row.default).as_deref() == Some(row.default)));
        }
    }

    #[test]
    fn what_is_wrong_with_a_name_is_said() {
        for (text, word) in [
            ("shogi", "the games are breakthrough"),
            ("hex:size=20", "from 2 to 19"),
            ("hex:size=many", "not \"many\""),
            ("hex:komi=1", "only size"),
            ("othello:size=5", "4, 6, 8"),
            ("go:komi=0.3", "multiple of 0.5"),
            ("go:ko=none", "positional, simple"),
            ("tic-tac-toe:size=4", "no parameters"),
        ] {
            let refused = Named::parse(text).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
