//! The table of proof numbers: one entry per position met, in bounded memory.
//!
//! When it is full, the entries with the least work below them are dropped until half of them are left. What
//! was dropped is found again when it is needed; the order of insertion does not matter.

use hashbrown::HashTable;

use crate::game::MoveCode;
use crate::random::mix;

/// The number of a win that is disproven, or of a disproof where the win is proven.
pub const INFINITE: u32 = u32::MAX / 4;

/// Entries for which an empty table keeps its memory: clearing takes time in proportion.
const KEPT_CAPACITY: usize = 1 << 12;

/// A disproof that holds on every path.
pub const ON_ALL_PATHS: u16 = u16::MAX;

/// The reach of a disproof that holds for lines of any length.
pub const UNBOUNDED: u16 = u16::MAX;

/// What is known about a position: the proof number and the disproof number of the attacker's win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Positions that must at least be won for a proof; 0: proven.
    pub proof: u32,
    /// Positions that must at least be lost for a disproof; 0: disproven.
    pub disproof: u32,
    /// Length of the proof in plies; of a disproof its reach: there is no win within so many plies.
    pub plies: u16,
    /// The depth of the earliest position on the path whose repetition the disproof rests on.
    pub repeats: u16,
    /// The move of the proof: the attacker's win, or the defender's longest resistance.
    pub mv: MoveCode,
}

impl Numbers {
    /// Nothing is known yet.
    pub const fn open(proof: u32, disproof: u32) -> Numbers {
        Numbers { proof, disproof, plies: 0, repeats: ON_ALL_PATHS, mv: MoveCode(0) }
    }

    /// The attacker wins.
    pub const fn proven(plies: u16, mv: MoveCode) -> Numbers {
        Numbers { proof: 0, disproof: INFINITE, plies, repeats: ON_ALL_PATHS, mv }
    }

    /// The attacker does not win within `reach` plies; `repeats` says on which paths.
    pub const fn disproven(repeats: u16, reach: u16) -> Numbers {
        Numbers { proof: INFINITE, disproof: 0, plies: reach, repeats, mv: MoveCode(0) }
    }

    /// Whether the win is proven.
    pub const fn is_proven(&self) -> bool {
        self.proof == 0
    }

    /// Whether the win is disproven.
    pub const fn is_disproven(&self) -> bool {
        self.disproof == 0
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    numbers: Numbers,
    /// The path that a disproof by repetition belongs to.
    path: u32,
    work: u32,
}

/// A bounded map from positions to their numbers.
#[derive(Debug)]
pub struct Table {
    entries: HashTable<Entry>,
    most: usize,
}

impl Table {
    /// An empty table that never holds more than `most` entries.
    pub fn new(most: usize) -> Table {
        Table { entries: HashTable::new(), most: most.max(64) }
    }

    /// Bytes per entry: the table doubles, and while it does the old half is there too.
    const BYTES: usize = 3 * (size_of::<Entry>() + 1);

    /// The entries that so many bytes have room for.
    pub const fn entries_in(bytes: usize) -> usize {
        bytes / Table::BYTES
    }

    /// Changes the most entries that it may hold.
    pub fn set_most(&mut self, most: usize) {
        self.most = most.max(64);
        if self.entries.len() > self.most {
            self.drop_half();
        }
    }

    /// The most entries that it may hold.
    pub const fn most(&self) -> usize {
        self.most
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        if self.entries.capacity() > KEPT_CAPACITY {
            self.entries = HashTable::new();
        } else {
            self.entries.clear();
        }
    }

    /// What is known about a position reached on a path with so many plies left. A disproof that rests on
    /// another path, or does not reach as far, says nothing.
    pub fn find(&self, key: u64, path: u32, left: u16) -> Option<Numbers> {
        let entry = self.entries.find(mix(key), |entry| entry.key == key)?;
        let numbers = entry.numbers;
        let is_elsewhere = numbers.repeats != ON_ALL_PATHS && entry.path != path;
        let says_nothing = numbers.is_disproven() && (is_elsewhere || numbers.plies < left);
        Some(if says_nothing { Numbers::open(1, 1) } else { numbers })
    }

    /// Stores what is known about a position; `work` is the number of positions that it took.
    pub fn store(&mut self, key: u64, path: u32, numbers: Numbers, work: u32) {
        if let Some(entry) = self.entries.find_mut(mix(key), |entry| entry.key == key) {
            entry.numbers = numbers;
            entry.path = path;
            entry.work = entry.work.saturating_add(work);
            return;
        }
        if self.entries.len() >= self.most {
            self.drop_half();
        }
        let entry = Entry { key, numbers, path, work };
        self.entries.insert_unique(mix(key), entry, |entry| mix(entry.key));
    }

    fn drop_half(&mut self) {
        let mut least = 1;
        while self.entries.len() > self.most / 2 {
            self.entries.retain(|entry| entry.work > least);
            least *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disproof_by_repetition_holds_on_its_path_only() {
        let mut table = Table::new(100);
        table.store(5, 7, Numbers::disproven(3, UNBOUNDED), 1);
        assert!(table.find(5, 7, 9).unwrap().is_disproven());
        assert_eq!(table.find(5, 8, 9), Some(Numbers::open(1, 1)));
        table.store(5, 7, Numbers::disproven(ON_ALL_PATHS, 9), 1);
        assert!(table.find(5, 8, 9).unwrap().is_disproven());
        assert_eq!(table.find(5, 8, 10), Some(Numbers::open(1, 1)), "longer lines are another question");
    }

    #[test]
    fn a_full_table_keeps_what_took_most_work() {
        let mut table = Table::new(100);
        for key in 0..1000 {
            table.store(key, 0, Numbers::open(1, 1), if key < 20 { 50 } else { 1 });
        }
        assert!(table.entries.len() <= 100);
        assert!((0..20).all(|key| table.find(key, 0, 0).is_some()));
    }
}
