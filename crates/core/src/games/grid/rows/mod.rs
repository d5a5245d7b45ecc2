//! Games whose positions are rows of bytes, and whose rules answer for many rows at once.
//!
//! [`RowRules`] are the rules, written elsewhere. [`RowGame`] is a position as the search uses it. The rows
//! that a search has seen lie in a store; a move whose position is not there is asked for, and all that was
//! asked for is played in one call of the rules.

mod store;
mod playouts;

use std::fmt;
use std::sync::Arc;

use store::Store;

use super::GridError;
use crate::game::{Ending, Game, MoveCode};
use crate::random::mix;

/// The largest number of actions of a game.
pub const MOST_ACTIONS: usize = u16::MAX as usize;

/// What is the same for all positions of a game.
#[derive(Clone, Debug)]
pub struct RowShape {
    /// Bytes of a row.
    pub bytes: usize,
    /// The texts of the actions; their number is the size of the policy, at most [`MOST_ACTIONS`].
    pub actions: Vec<String>,
    /// Planes, rows and columns of the features.
    pub planes: [usize; 3],
    /// Whether a position can occur twice in a game.
    pub can_recur: bool,
    /// Whether the two players always move in turn.
    pub takes_turns: bool,
    /// Moves after which a game that is not over is at fault.
    pub most_moves: u32,
}

/// Some positions, one after another.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The rows.
    pub rows: Vec<u8>,
    /// Which actions are legal: bits, the lowest first, in whole bytes for each row.
    pub legal: Vec<u8>,
    /// Who is to move, 0 or 1.
    pub players: Vec<u8>,
    /// The values for the sides to move of games that are over; not a number while they go on.
    pub values: Vec<f64>,
}

/// The rules of a game of rows. A call that fails takes note of why, and stops the search.
pub trait RowRules: Send + Sync {
    /// What is the same for all positions.
    fn shape(&self) -> &RowShape;
    /// The positions after one legal action in each of some rows.
    fn play(&self, rows: &[u8], actions: &[u16]) -> Option<Rows>;
    /// Writes the features of some rows.
    fn features(&self, rows: &[u8], out: &mut [f32]) -> Option<()>;
    /// A row as people write it.
    fn text(&self, row: &[u8]) -> Option<String>;
    /// The board in lines of text.
    fn picture(&self, row: &[u8]) -> Option<String>;
    /// Reads a position: one row, or a sentence about what is wrong.
    fn read(&self, text: &str) -> Result<Rows, String>;
    /// Takes note of a game that does not end.
    fn has_no_end(&self);
}

/// Where the bytes of a position are: its row, its legal actions, and a byte for player and ending.
#[derive(Clone)]
enum Place {
    /// In the store, as long as the graph has a node with its key.
    Stored(u32),
    /// With the position.
    Own(Arc<[u8]>),
}

/// A position of such a game, as the search uses it.
#[derive(Clone)]
pub struct RowGame {
    store: Arc<Store>,
    place: Place,
    key: u64,
    ply: u32,
    player: u8,
    ending: Option<Ending>,
}

impl fmt::Debug for RowGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowGame").field("key", &self.key).field("ply", &self.ply).finish()
    }
}

/// The key of a row.
fn key_of(row: &[u8]) -> u64 {
    let mut key = row.len() as u64;
    for part in row.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        key = mix(key ^ u64::from_le_bytes(word));
    }
    key
}

/// How a game ended, by its value for the side to move.
fn ending_of(value: f64, takes_turns: bool) -> Option<Ending> {
    match value {
        _ if value.is_nan() => None,
        1.0 => Some(Ending::Win),
        -1.0 => Some(Ending::Loss),
        0.0 if takes_turns => Some(Ending::Draw),
        other => Some(Ending::Score(other as f32)),
    }
}

impl RowGame {
    /// The first position of a game, as the only one of some rows.
    pub fn new(rules: Arc<dyn RowRules>, first: &Rows) -> RowGame {
        let store = Arc::new(Store::new(rules));
        RowGame::own(&store, first, 0, 0)
    }

    /// The same position with a store of its own, for another search.
    pub fn apart(&self) -> RowGame {
        RowGame { store: Arc::new(Store::new(Arc::clone(self.store.rules()))), ..self.clone() }
    }

    /// One of some positions, which keeps its own bytes.
    fn own(store: &Arc<Store>, rows: &Rows, index: usize, ply: u32) -> RowGame {
        let shape = store.shape();
        let record = store.record(rows, index);
        RowGame {
            key: key_of(&record[..shape.bytes]),
            place: Place::Own(record.into()),
            store: Arc::clone(store),
            ply,
            player: rows.players[index],
            ending: ending_of(rows.values[index], shape.takes_turns),
        }
    }

    /// What stands for a position that could not be made: the search is being stopped.
    fn broken(&self) -> RowGame {
        RowGame { key: mix(self.key), ending: Some(Ending::Draw), ply: self.ply + 1, ..self.clone() }
    }

    /// Calls with the record of the position.
    fn with_record<T>(&self, act: impl FnOnce(&[u8]) -> T) -> T {
        match &self.place {
            Place::Own(record) => act(record),
            Place::Stored(id) => self.store.with_record(*id, act),
        }
    }

    /// Appends the row.
    fn put_row(&self, rows: &mut Vec<u8>) {
        let bytes = self.store.shape().bytes;
        self.with_record(|record| rows.extend_from_slice(&record[..bytes]));
    }

    fn row(&self) -> Vec<u8> {
        let mut row = Vec::new();
        self.put_row(&mut row);
        row
    }

    /// Writes the features of some positions, in one call of the rules.
    pub fn fill_features(games: &[&RowGame], out: &mut [f32]) {
        let Some(first) = games.first() else { return };
        let mut rows = Vec::new();
        games.iter().for_each(|game| game.put_row(&mut rows));
        if first.store.rules().features(&rows, out).is_none() {
            out.fill(0.0);
        }
    }

    /// The board in lines of text.
    pub fn picture(&self) -> String {
        self.store.rules().picture(&self.row()).unwrap_or_default()
    }

    /// A position of the same game, read from its text.
    pub fn read(&self, text: &str) -> Result<RowGame, GridError> {
        let rows = self.store.rules().read(text).map_err(GridError::Position)?;
        Ok(RowGame::own(&self.store, &rows, 0, 0))
    }

    /// Whether the game goes on for too long; the rules take note of that.
    fn is_endless(&self) -> bool {
        let is_endless = self.ply >= self.store.shape().most_moves;
        if is_endless {
            self.store.rules().has_no_end();
        }
        is_endless
    }

    fn stored(&self, id: u32, ply: u32) -> RowGame {
        let (key, player, ending) = self.store.facts(id);
        RowGame { store: Arc::clone(&self.store), place: Place::Stored(id), key, ply, player, ending }
    }
}

impl Game for RowGame {
    fn key(&self) -> u64 {
        self.key
    }

    fn player(&self) -> u8 {
        self.player
    }

    fn ply(&self) -> u32 {
        self.ply
    }

    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        if self.ending.is_some() {
            return;
        }
        let bytes = self.store.shape().bytes;
        self.with_record(|record| {
            for (at, &byte) in record[bytes..record.len() - 1].iter().enumerate() {
                let mut bits = byte;
                while bits != 0 {
                    moves.push(MoveCode((8 * at) as u16 + bits.trailing_zeros() as u16));
                    bits &= bits - 1;
                }
            }
        });
    }

    fn ending(&self, _moves: &[MoveCode]) -> Option<Ending> {
        self.ending
    }

    fn play(&mut self, mv: MoveCode) {
        let after = if self.is_endless() { None } else { self.store.rules().play(&self.row(), &[mv.0]) };
        *self = match after {
            Some(rows) => RowGame::own(&self.store, &rows, 0, self.ply + 1),
            None => self.broken(),
        };
    }

    fn text(&self) -> String {
        self.store.rules().text(&self.row()).unwrap_or_default()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        self.store.shape().actions.get(usize::from(mv.0)).cloned().unwrap_or_default()
    }

    fn can_recur(&self) -> bool {
        self.store.shape().can_recur
    }

    fn takes_turns(&self) -> bool {
        self.store.shape().takes_turns
    }

    fn plane_shape(&self) -> [usize; 3] {
        self.store.shape().planes
    }

    fn policy_size(&self) -> usize {
        self.store.shape().actions.len()
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        RowGame::fill_features(&[self], planes);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }

    fn is_fetched(&self) -> bool {
        true
    }

    fn recall(&self, key: u64, ply: u32) -> Option<RowGame> {
        self.store.find(key).map(|id| self.stored(id, ply))
    }

    fn try_play(&mut self, mv: MoveCode) -> bool {
        if let Some(id) = self.store.after(self.key, mv) {
            *self = self.stored(id, self.ply + 1);
            return true;
        }
        if !self.is_endless() {
            self.with_record_for(mv);
        }
        false
    }

    fn fetch(&self) -> bool {
        self.store.fetch()
    }

    fn retain(&self, keys: &mut dyn Iterator<Item = u64>) {
        self.store.retain(keys);
    }

    fn stored_bytes(&self) -> usize {
        self.store.bytes()
    }

    fn bytes_per_position(&self) -> usize {
        self.store.bytes_per_row()
    }

    fn playouts(games: &[&RowGame], count: u64, seed: u64, stop: &dyn Fn() -> bool) -> Option<Vec<f32>> {
        playouts::play(games, count, seed, stop)
    }
}

impl RowGame {
    /// Asks for the position after a move.
    fn with_record_for(&self, mv: MoveCode) {
        match &self.place {
            Place::Own(record) => self.store.ask(self.key, mv, record),
            Place::Stored(id) => self.store.ask_of(*id, self.key, mv),
        }
    }
}

#[cfg(test)]
mod tests;
