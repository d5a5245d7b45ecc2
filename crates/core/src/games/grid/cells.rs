//! Boards of cells as text, pictures and planes: what the games on a grid have in common.
//!
//! The first player's pieces are `x`, the second's `o`. A position is its rows from the top, `/` between
//! them, then the side to move and what else belongs to it: `.../.x./... o`.

use super::GridError;

/// What is on every cell, row by row from the top, and who moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The owner of the piece on each cell.
    pub owners: Vec<Option<u8>>,
    /// The player to move.
    pub player: u8,
    /// What else belongs to the position, or nothing.
    pub note: String,
}

impl Cells {
    /// A board that is filled cell by cell.
    pub fn new(
        (width, height): (usize, usize),
        player: u8,
        owner_at: impl Fn(usize, usize) -> Option<u8>,
    ) -> Cells {
        let owners = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| owner_at(x, y));
        Cells { width, height, owners: owners.collect(), player, note: String::new() }
    }

    /// The owner of the piece in column `x` of row `y`, counted from the top.
    pub fn owner(&self, x: usize, y: usize) -> Option<u8> {
        self.owners[y * self.width + x]
    }

    /// Pieces of a player.
    pub fn count(&self, player: u8) -> usize {
        self.owners.iter().filter(|owner| **owner == Some(player)).count()
    }

    /// The position as text.
    pub fn text(&self) -> String {
        let row = |cells: &[Option<u8>]| cells.iter().map(|owner| symbol(*owner)).collect::<String>();
        let rows: Vec<String> = self.owners.chunks(self.width).map(row).collect();
        let note = if self.note.is_empty() { String::new() } else { format!(" {}", self.note) };
        format!("{} {}{note}", rows.join("/"), symbol(Some(self.player)))
    }

    /// Reads a text of a board with so many columns and rows.
    pub fn read(text: &str, width: usize, height: usize) -> Result<Cells, GridError> {
        let refuse = |why: String| GridError::Position(why);
        let mut fields = text.split_whitespace();
        let (board, side) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        let rows: Vec<&str> = board.split('/').collect();
        if rows.len() != height || rows.iter().any(|row| row.chars().count() != width) {
            return Err(refuse(format!(
                "a position is {height} rows of {width} cells, '/' between them, and the side to move: \
                 {:?} is not",
                clip(text)
            )));
        }
        let owners = rows.iter().flat_map(|row| row.chars()).map(|cell| match cell {
            '.' => Ok(None),
            'x' => Ok(Some(0)),
            'o' => Ok(Some(1)),
            other => Err(refuse(format!("a cell is x, o or '.', not {other:?}"))),
        });
        let player = match side {
            "x" => 0,
            "o" => 1,
            other => return Err(refuse(format!("the side to move is x or o, not {:?}", clip(other)))),
        };
        let note = fields.collect::<Vec<_>>().join(" ");
        Ok(Cells { width, height, owners: owners.collect::<Result<_, _>>()?, player, note })
    }

    /// The board as a picture, with the names of rows and columns; `shift` moves each row so many half cells
    /// to the right of the one above.
    pub fn picture(&self, columns: &[String], rows: &[String], shift: usize) -> String {
        let margin = rows.iter().map(String::len).max().unwrap_or(0);
        let mut lines = Vec::new();
        for (y, cells) in self.owners.chunks(self.width).enumerate() {
            let name = rows.get(y).map_or("", String::as_str);
            let symbols: Vec<String> = cells.iter().map(|owner| symbol(*owner).to_string()).collect();
            lines.push(format!("{name:>margin$} {}{}", " ".repeat(shift * y), symbols.join(" ")));
        }
        let under = " ".repeat(margin + 1 + shift * self.height.saturating_sub(1));
        lines.push(format!("{under}{}", columns.join(" ")));
        lines.push(format!("{} to move", symbol(Some(self.player))));
        lines.join("\n")
    }

    /// The planes of a position: pieces of the side to move, of the other side, and whether the first player
    /// moves.
    pub fn fill_planes(&self, planes: &mut [f32]) {
        planes.fill(0.0);
        let area = self.owners.len();
        for (cell, owner) in self.owners.iter().enumerate() {
            if let Some(owner) = owner {
                planes[usize::from(*owner != self.player) * area + cell] = 1.0;
            }
        }
        if self.player == 0 {
            planes[2 * area..3 * area].fill(1.0);
        }
    }
}

/// The number of planes that [`Cells::fill_planes`] writes.
pub const PLANES: usize = 3;

/// A piece as text.
pub const fn symbol(owner: Option<u8>) -> char {
    match owner {
        None => '.',
        Some(0) => 'x',
        Some(_) => 'o',
    }
}

/// The beginning of a text, for messages.
pub fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

/// The names of columns, `a` from the left.
pub fn letters(width: usize) -> Vec<String> {
    (0..width).map(|x| char::from(b'a' + x as u8).to_string()).collect()
}

/// The names of rows, 1 at the top or at the bottom.
pub fn numbers(height: usize, from_top: bool) -> Vec<String> {
    (0..height).map(|y| if from_top { y + 1 } else { height - y }.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_leads_back_to_the_cells() {
        let cells = Cells::new((3, 2), 1, |x, y| [Some(0), Some(1), None][(x + y) % 3]);
        assert_eq!(cells.text(), "xo./o.x o");
        assert_eq!(Cells::read(&cells.text(), 3, 2).unwrap(), cells);
        for (text, word) in [
            ("", "rows"),
            ("xo./o.x", "side to move"),
            ("xo./o.x z", "side to move"),
            ("xo?/o.x x", "cell"),
            ("xo./o. x", "rows"),
        ] {
            assert!(Cells::read(text, 3, 2).unwrap_err().to_string().contains(word), "{text}");
        }
    }

    #[test]
    fn pictures_have_names_and_may_slant() {
        let cells = Cells::new((2, 2), 0, |x, y| (x == y).then_some(1));
        let picture = cells.picture(&letters(2), &numbers(2, true), 1);
        assert_eq!(picture, "1 o .\n2  . o\n   a b\nx to move");
    }
}
