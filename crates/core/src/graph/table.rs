//! The table of merge keys: from key and salt to the node, in shards that grow one by one.
//!
//! Holds ids only; keys are read in the nodes. Iteration order is never used, so nothing depends on it.

use hashbrown::HashTable;

use super::{Node, NodeId, node_flag};

pub(super) fn table_hash(key: u64, salt: u32) -> u64 {
    (key ^ u64::from(salt).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

pub(super) fn hash_of(nodes: &[Node], id: NodeId) -> u64 {
    let node = &nodes[id as usize];
    table_hash(node.key, node.salt)
}

const SHARDS: usize = 64;

/// The table of merge keys, in shards that grow one by one: the search never waits for all of it to be moved
/// at once.
#[derive(Debug)]
pub(super) struct Table {
    shards: Vec<HashTable<NodeId>>,
    pub(super) len: usize,
    pub(super) bytes: usize,
    /// A shard that is full and must grow before the next entry.
    pub(super) full: Option<usize>,
}

impl Default for Table {
    fn default() -> Table {
        Table { shards: vec![HashTable::new(); SHARDS], len: 0, bytes: 0, full: Some(0) }
    }
}

impl Table {
    /// A table without shards, which cannot be used.
    pub(super) fn placeholder() -> Table {
        Table { shards: Vec::new(), len: 0, bytes: 0, full: None }
    }

    fn shard_of(hash: u64) -> usize {
        // The bits in the middle: hashbrown uses the lowest and the highest ones.
        (hash >> 40) as usize % SHARDS
    }

    fn shard_bytes(shard: &HashTable<NodeId>) -> usize {
        shard.allocation_size()
    }

    pub(super) fn find(&self, hash: u64, is_it: impl FnMut(&NodeId) -> bool) -> Option<NodeId> {
        self.shards[Table::shard_of(hash)].find(hash, is_it).copied()
    }

    pub(super) fn insert(&mut self, hash: u64, id: NodeId, nodes: &[Node]) {
        let number = Table::shard_of(hash);
        let shard = &mut self.shards[number];
        let before = Table::shard_bytes(shard);
        shard.insert_unique(hash, id, |&other| hash_of(nodes, other));
        self.bytes = self.bytes + Table::shard_bytes(shard) - before;
        self.len += 1;
        if shard.len() == shard.capacity() {
            self.full = Some(number);
        }
    }

    /// Makes room in the shards that are full, while at most `spare` more bytes are taken at any moment.
    pub(super) fn make_room(&mut self, spare: usize, nodes: &[Node]) -> bool {
        if self.full.is_none() {
            return true;
        }
        for shard in &mut self.shards {
            if shard.len() < shard.capacity() {
                continue;
            }
            let before = Table::shard_bytes(shard);
            if spare < 2 * before + 64 {
                return false;
            }
            shard.reserve(shard.len().max(3), |&other| hash_of(nodes, other));
            self.bytes = self.bytes + Table::shard_bytes(shard) - before;
        }
        self.full = None;
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Fills the shards from number `next` on anew without the nodes that are free, so that no place stays
    /// blocked by what was removed. Returns whether it came to an end.
    pub(super) fn tidy(&mut self, next: &mut usize, nodes: &[Node], cancelled: &dyn Fn() -> bool) -> bool {
        let mut ids = Vec::new();
        while let Some(shard) = self.shards.get_mut(*next) {
            ids.clear();
            ids.extend(shard.iter().copied().filter(|&id| !nodes[id as usize].has(node_flag::FREE)));
            self.len -= shard.len() - ids.len();
            shard.clear();
            for &id in &ids {
                shard.insert_unique(hash_of(nodes, id), id, |&other| hash_of(nodes, other));
            }
            *next += 1;
            if cancelled() {
                return false;
            }
        }
        self.full = self.shards.iter().position(|shard| shard.len() == shard.capacity());
        true
    }

    pub(super) fn clear(&mut self) {
        self.shards.iter_mut().for_each(HashTable::clear);
        self.len = 0;
        self.full = self.shards.iter().position(|shard| shard.capacity() == 0);
    }
}
