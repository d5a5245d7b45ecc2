//! The rows that a search has seen, by their keys; and the positions that it has asked for.
//!
//! A record is a row, its legal actions as bits, and a byte for player and ending. No lock is held while the
//! rules run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashTable;

use super::{RowRules, RowShape, Rows, ending_of, key_of};
use crate::game::{Ending, MoveCode};

/// Records that are reserved at once.
const CHUNK: usize = 1024;
/// Answers that are kept, at most, before the next call of the rules.
const MOST_ANSWERS: usize = 1 << 16;
/// Bytes of the table of keys for each row, on average.
const TABLE_BYTES: usize = 8;

/// The rows of one search.
pub(super) struct Store {
    rules: Arc<dyn RowRules>,
    stride: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    chunks: Vec<Vec<u8>>,
    count: u32,
    /// Records that are free again.
    free: Vec<u32>,
    table: HashTable<u32>,
    /// The values of games that ended with a score.
    scores: HashMap<u32, f32>,
    /// What was asked for: keys and moves, and the rows.
    wanted: Vec<(u64, u16)>,
    parents: Vec<u8>,
    /// What was answered.
    answers: HashMap<(u64, u16), u32>,
}

/// Endings in the last byte of a record, above the bit of the player.
const GOES_ON: u8 = 0;
const WIN: u8 = 1;
const DRAW: u8 = 2;
const LOSS: u8 = 3;
const SCORE: u8 = 4;

fn code_of(ending: Option<Ending>) -> u8 {
    match ending {
        None => GOES_ON,
        Some(Ending::Win) => WIN,
        Some(Ending::Draw) => DRAW,
        Some(Ending::Loss) => LOSS,
        Some(Ending::Score(_)) => SCORE,
    }
}

impl Inner {
    fn record(&self, id: u32, stride: usize) -> &[u8] {
        let (chunk, place) = (id as usize / CHUNK, id as usize % CHUNK);
        &self.chunks[chunk][place * stride..(place + 1) * stride]
    }

    fn find(&self, key: u64, stride: usize, bytes: usize) -> Option<u32> {
        self.table.find(key, |&id| key_of(&self.record(id, stride)[..bytes]) == key).copied()
    }

    /// A record with new bytes.
    fn add(&mut self, key: u64, record: &[u8], bytes: usize) -> u32 {
        let stride = record.len();
        let id = self.free.pop().unwrap_or_else(|| {
            if self.count as usize == self.chunks.len() * CHUNK {
                self.chunks.push(vec![0; CHUNK * stride]);
            }
            self.count += 1;
            self.count - 1
        });
        let (chunk, place) = (id as usize / CHUNK, id as usize % CHUNK);
        self.chunks[chunk][place * stride..(place + 1) * stride].copy_from_slice(record);
        let chunks = &self.chunks;
        self.table.insert_unique(key, id, |&other| {
            let (chunk, place) = (other as usize / CHUNK, other as usize % CHUNK);
            key_of(&chunks[chunk][place * stride..place * stride + bytes])
        });
        id
    }
}

impl Store {
    pub fn new(rules: Arc<dyn RowRules>) -> Store {
        let shape = rules.shape();
        let stride = shape.bytes + shape.actions.len().div_ceil(8) + 1;
        Store { stride, rules, inner: Mutex::new(Inner::default()) }
    }

    pub fn rules(&self) -> &Arc<dyn RowRules> {
        &self.rules
    }

    pub fn shape(&self) -> &RowShape {
        self.rules.shape()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record of one of some positions.
    pub fn record(&self, rows: &Rows, index: usize) -> Vec<u8> {
        let mut record = Vec::with_capacity(self.stride);
        self.write_record(rows, index, &mut record);
        record
    }

    fn write_record(&self, rows: &Rows, index: usize, record: &mut Vec<u8>) {
        let shape = self.shape();
        let legal = self.stride - shape.bytes - 1;
        let ending = ending_of(rows.values[index], shape.takes_turns);
        record.clear();
        record.extend_from_slice(&rows.rows[index * shape.bytes..(index + 1) * shape.bytes]);
        record.extend_from_slice(&rows.legal[index * legal..(index + 1) * legal]);
        record.push(rows.players[index] | code_of(ending) << 1);
    }

    pub fn with_record<T>(&self, id: u32, act: impl FnOnce(&[u8]) -> T) -> T {
        act(self.lock().record(id, self.stride))
    }

    /// The row with a key.
    pub fn find(&self, key: u64) -> Option<u32> {
        self.lock().find(key, self.stride, self.shape().bytes)
    }

    /// Key, player and ending of a row.
    pub fn facts(&self, id: u32) -> (u64, u8, Option<Ending>) {
        let inner = self.lock();
        let record = inner.record(id, self.stride);
        let last = record[self.stride - 1];
        let ending = match last >> 1 {
            WIN => Some(Ending::Win),
            DRAW => Some(Ending::Draw),
            LOSS => Some(Ending::Loss),
            SCORE => Some(Ending::Score(inner.scores.get(&id).copied().unwrap_or(0.0))),
            _ => None,
        };
        (key_of(&record[..self.shape().bytes]), last & 1, ending)
    }

    /// The row after a move, if it was answered.
    pub fn after(&self, key: u64, mv: MoveCode) -> Option<u32> {
        self.lock().answers.get(&(key, mv.0)).copied()
    }

    /// Asks for the row after a move in a position with this record.
    pub fn ask(&self, key: u64, mv: MoveCode, record: &[u8]) {
        let bytes = self.shape().bytes;
        let mut inner = self.lock();
        inner.wanted.push((key, mv.0));
        inner.parents.extend_from_slice(&record[..bytes]);
    }

    /// The same for a row of the store.
    pub fn ask_of(&self, id: u32, key: u64, mv: MoveCode) {
        let bytes = self.shape().bytes;
        let inner = &mut *self.lock();
        let (chunk, begin) = (id as usize / CHUNK, id as usize % CHUNK * self.stride);
        inner.wanted.push((key, mv.0));
        inner.parents.extend_from_slice(&inner.chunks[chunk][begin..begin + bytes]);
    }

    /// Plays all that was asked for, in one call. Returns whether there was anything, and it went well.
    pub fn fetch(&self) -> bool {
        let (mut wanted, mut parents) = {
            let inner = &mut *self.lock();
            if inner.answers.len() > MOST_ANSWERS {
                inner.answers.clear();
            }
            (std::mem::take(&mut inner.wanted), std::mem::take(&mut inner.parents))
        };
        if wanted.is_empty() {
            return false;
        }
        self.leave_one_of_each(&mut wanted, &mut parents);
        let actions: Vec<u16> = wanted.iter().map(|&(_, mv)| mv).collect();
        let Some(rows) = self.rules.play(&parents, &actions) else { return false };
        let bytes = self.shape().bytes;
        let mut record = Vec::with_capacity(self.stride);
        let inner = &mut *self.lock();
        for (index, question) in wanted.into_iter().enumerate() {
            let key = key_of(&rows.rows[index * bytes..(index + 1) * bytes]);
            let id = inner.find(key, self.stride, bytes).unwrap_or_else(|| {
                self.write_record(&rows, index, &mut record);
                let id = inner.add(key, &record, bytes);
                if record[self.stride - 1] >> 1 == SCORE {
                    inner.scores.insert(id, rows.values[index] as f32);
                }
                id
            });
            inner.answers.insert(question, id);
        }
        true
    }

    /// A question that was asked twice needs one answer.
    fn leave_one_of_each(&self, wanted: &mut Vec<(u64, u16)>, parents: &mut Vec<u8>) {
        let bytes = self.shape().bytes;
        let mut seen = std::collections::HashSet::with_capacity(wanted.len());
        let mut kept = 0;
        for index in 0..wanted.len() {
            if seen.insert(wanted[index]) {
                wanted[kept] = wanted[index];
                parents.copy_within(index * bytes..(index + 1) * bytes, kept * bytes);
                kept += 1;
            }
        }
        wanted.truncate(kept);
        parents.truncate(kept * bytes);
    }

    /// Forgets all rows but those with the given keys, and what was asked and answered.
    pub fn retain(&self, keys: &mut dyn Iterator<Item = u64>) {
        let bytes = self.shape().bytes;
        let inner = &mut *self.lock();
        inner.answers.clear();
        inner.wanted.clear();
        inner.parents.clear();
        let mut live = vec![false; inner.count as usize];
        for key in keys {
            if let Some(id) = inner.find(key, self.stride, bytes) {
                live[id as usize] = true;
            }
        }
        inner.table.retain(|&mut id| live[id as usize]);
        inner.scores.retain(|&id, _| live[id as usize]);
        if inner.table.is_empty() {
            *inner = Inner::default();
            return;
        }
        inner.free.clear();
        inner.free.extend((0..inner.count).rev().filter(|&id| !live[id as usize]));
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let inner = self.lock();
        let rows = inner.count as usize - inner.free.len();
        rows * self.stride + inner.table.allocation_size() + inner.scores.len() * 8
    }

    /// Bytes that a row takes.
    pub fn bytes_per_row(&self) -> usize {
        self.stride + TABLE_BYTES
    }
}
