//! Where a trajectory stands: its moves, positions and keys since the root, the game before the root, the
//! clock.
//!
//! Positions are replayed only on demand, and the replay starts where the last trajectory
//! left the common path. Repetition and the move count are decided here, for the path; nothing of it reaches
//! the graph.

use std::collections::HashMap;

use crate::game::{Game, MoveCode};

const FILTER_WORDS: usize = 16;

/// A set of keys that may err on the side of "present".
#[derive(Clone, Copy, Debug, Default)]
struct KeyFilter([u64; FILTER_WORDS]);

impl KeyFilter {
    fn spot(key: u64) -> (usize, u64) {
        ((key >> 6) as usize % FILTER_WORDS, 1 << (key & 63))
    }

    fn insert(&mut self, key: u64) {
        let (word, bit) = KeyFilter::spot(key);
        self.0[word] |= bit;
    }

    fn may_contain(&self, key: u64) -> bool {
        let (word, bit) = KeyFilter::spot(key);
        self.0[word] & bit != 0
    }
}

/// The path of the trajectory under way.
#[derive(Clone, Debug)]
pub struct Path<G> {
    root: G,
    before: HashMap<u64, u32>,
    recent_before: Vec<MoveCode>,
    filter_before: KeyFilter,
    filter: KeyFilter,
    keys: Vec<u64>,
    moves: Vec<MoveCode>,
    clock: u32,
    root_clock: u32,
    limit: u32,
    stack: Vec<G>,
    height: usize,
    stack_moves: Vec<MoveCode>,
}

impl<G: Game> Path<G> {
    /// A path that starts at `root` after a game through positions with the keys `before` (the root not among
    /// them) and the moves `played`.
    pub fn new(root: G, before: &[u64], played: &[MoveCode]) -> Path<G> {
        let mut counts = HashMap::new();
        let mut filter = KeyFilter::default();
        for &key in before {
            *counts.entry(key).or_insert(0) += 1;
            filter.insert(key);
        }
        let (root_clock, limit, key) = (root.clock(), root.clock_limit().unwrap_or(u32::MAX), root.key());
        filter.insert(key);
        let mut path = Path {
            root,
            before: counts,
            recent_before: played.iter().rev().take(8).copied().collect(),
            filter_before: filter,
            filter,
            keys: vec![key],
            moves: Vec::new(),
            clock: root_clock,
            root_clock,
            limit,
            stack: Vec::new(),
            height: 0,
            stack_moves: Vec::new(),
        };
        path.restart();
        path
    }

    /// The position at the root.
    pub fn root(&self) -> &G {
        &self.root
    }

    /// Goes back to the root.
    #[inline]
    pub fn restart(&mut self) {
        self.filter = self.filter_before;
        self.keys.truncate(1);
        self.moves.clear();
        self.clock = self.root_clock;
    }

    /// Number of moves since the root.
    pub fn depth(&self) -> usize {
        self.moves.len()
    }

    /// The moves since the root.
    pub fn moves(&self) -> &[MoveCode] {
        &self.moves
    }

    /// Plays a move on the path; the position is not touched yet.
    #[inline]
    pub fn follow(&mut self, mv: MoveCode, zeroing: bool) {
        self.moves.push(mv);
        self.clock = if zeroing { 0 } else { self.clock + 1 };
    }

    /// The position after all moves of the path.
    pub fn position(&mut self) -> &G {
        let common = self.moves.iter().zip(&self.stack_moves).take_while(|(a, b)| a == b).count();
        self.height = common;
        self.stack_moves.truncate(common);
        for &mv in &self.moves[common..] {
            // A slot of an earlier path is written over in place.
            if self.height == self.stack.len() {
                self.stack.push(self.root.clone());
            }
            let (below, above) = self.stack.split_at_mut(self.height);
            let next = &mut above[0];
            next.clone_from(below.last().unwrap_or(&self.root));
            next.play(mv);
            self.height += 1;
            self.stack_moves.push(mv);
        }
        self.height.checked_sub(1).map_or(&self.root, |top| &self.stack[top])
    }

    /// Enters the key of the position reached by the last move. Returns whether the path makes it a draw by
    /// repetition.
    #[inline]
    pub fn arrive(&mut self, key: u64) -> bool {
        let repeats = self.filter.may_contain(key) && self.is_repetition(key);
        self.filter.insert(key);
        self.keys.push(key);
        repeats
    }

    #[cold]
    fn is_repetition(&self, key: u64) -> bool {
        self.keys.contains(&key) || self.before.get(&key).is_some_and(|&count| count >= 2)
    }

    /// Takes back the last move and its key.
    pub fn retreat(&mut self, clock: u32) {
        self.moves.pop();
        self.keys.pop();
        self.clock = clock;
    }

    /// Plies since the last zeroing move.
    pub fn clock(&self) -> u32 {
        self.clock
    }

    /// Whether the move count makes the position a draw, unless the game is over there.
    #[inline]
    pub fn is_clock_spent(&self) -> bool {
        self.clock >= self.limit
    }

    /// How often the position of the path's end occurred before, at most 2: for the planes of a network.
    pub fn repetitions(&self) -> u32 {
        let Some((last, earlier)) = self.keys.split_last() else { return 0 };
        let here = earlier.iter().filter(|&key| key == last).count() as u32;
        (here + self.before.get(last).copied().unwrap_or(0)).min(2)
    }

    /// The last moves that led to the path's end, newest first, at most eight.
    pub fn recent(&self, recent: &mut Vec<MoveCode>) {
        recent.clear();
        recent.extend(self.moves.iter().rev().chain(&self.recent_before).take(8));
    }

    /// The positions that have occurred at least twice in the game, the root included, ascending.
    pub fn repeated(&self) -> Vec<u64> {
        let root = self.keys[0];
        let twice = |&(&key, &count): &(&u64, &u32)| count + u32::from(key == root) >= 2;
        let mut keys: Vec<u64> = self.before.iter().filter(twice).map(|(&key, _)| key).collect();
        keys.sort_unstable();
        keys
    }

    /// How often a position occurred in the game before the root.
    pub fn count_before(&self, key: u64) -> u32 {
        self.before.get(&key).copied().unwrap_or(0)
    }
}
