//! Where a trajectory stands: its moves, positions and keys since the root, the game before the root, the
//! clock.
//!
//! Positions are replayed only on demand, and the replay starts where the last trajectory
//! left the common path. Repetition and the move count are decided here, for the path; nothing of it reaches
//! the graph.

use std::collections::HashMap;
use std::sync::Arc;

use crate::game::{Game, MoveCode};
use crate::graph::NodeId;

const FILTER_WORDS: usize = 16;
/// Positions before the root that are kept for the planes of a network.
pub const MOST_PAST: usize = 7;

/// One step of a trajectory: a node and the slot of the edge taken there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node.
    pub node: NodeId,
    /// The slot of its edge.
    pub slot: u16,
}

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

/// Where all trajectories of a search start: the root, and the game before it.
#[derive(Debug)]
pub struct Start<G> {
    root: G,
    key: u64,
    before: HashMap<u64, u32>,
    recent: Vec<MoveCode>,
    past: Vec<(G, u32)>,
    filter: KeyFilter,
    clock: u32,
    limit: u32,
}

impl<G: Game> Start<G> {
    /// The position at the root.
    pub fn root(&self) -> &G {
        &self.root
    }

    /// Its key.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Plies since the last zeroing move, at the root.
    pub fn clock(&self) -> u32 {
        self.clock
    }

    /// Whether the move count makes a position with this clock a draw, unless the game is over there.
    #[inline]
    pub fn is_clock_spent(&self, clock: u32) -> bool {
        clock >= self.limit
    }

    /// The last moves before the root, newest first, at most eight.
    pub fn recent(&self) -> &[MoveCode] {
        &self.recent
    }

    /// The last positions before the root, newest first, at most seven, each with how often it had occurred
    /// before.
    pub fn past(&self) -> &[(G, u32)] {
        &self.past
    }

    /// How often a position occurred in the game before the root.
    pub fn count_before(&self, key: u64) -> u32 {
        self.before.get(&key).copied().unwrap_or(0)
    }

    /// The positions that occurred at least twice before the root.
    pub fn twice_before(&self) -> impl Iterator<Item = u64> + '_ {
        self.before.iter().filter(|&(_, &count)| count >= 2).map(|(&key, _)| key)
    }
}

/// Positions of a line of moves from one root: what it shares with the line before is not played again.
#[derive(Clone, Debug)]
pub struct Replay<G> {
    stack: Vec<G>,
    moves: Vec<MoveCode>,
}

impl<G> Default for Replay<G> {
    fn default() -> Replay<G> {
        Replay { stack: Vec::new(), moves: Vec::new() }
    }
}

impl<G: Game> Replay<G> {
    /// Forgets the line, before another root is used.
    pub fn clear(&mut self) {
        self.moves.clear();
    }

    /// The position after the moves.
    pub fn position<'a>(&'a mut self, root: &'a G, moves: &[MoveCode]) -> &'a G {
        let common = moves.iter().zip(&self.moves).take_while(|(a, b)| a == b).count();
        self.moves.truncate(common);
        for &mv in &moves[common..] {
            // A slot of an earlier line is written over in place.
            let height = self.moves.len();
            if height == self.stack.len() {
                self.stack.push(root.clone());
            }
            let (below, above) = self.stack.split_at_mut(height);
            let next = &mut above[0];
            next.clone_from(below.last().unwrap_or(root));
            next.play(mv);
            self.moves.push(mv);
        }
        self.moves.len().checked_sub(1).map_or(root, |top| &self.stack[top])
    }
}

/// The path of the trajectory under way.
#[derive(Clone, Debug)]
pub struct Path<G> {
    start: Arc<Start<G>>,
    filter: KeyFilter,
    keys: Vec<u64>,
    moves: Vec<MoveCode>,
    clock: u32,
    replay: Replay<G>,
    /// The position after all moves, where positions are stored.
    here: Option<G>,
}

impl<G: Game> Path<G> {
    /// A path that starts after the moves `played` from `origin`.
    pub fn after(origin: &G, played: &[MoveCode]) -> Path<G> {
        let mut root = origin.clone();
        let (mut before, mut past) = (Vec::with_capacity(played.len()), Vec::new());
        for (ply, &mv) in played.iter().enumerate() {
            before.push(root.key());
            if ply + MOST_PAST >= played.len() {
                past.push(root.clone());
            }
            root.play(mv);
        }
        let first = before.len() - past.len();
        let occurred = |ply: usize| before[..ply].iter().filter(|&&key| key == before[ply]).count() as u32;
        let past = past
            .into_iter()
            .zip(first..before.len())
            .map(|(game, ply)| (game, occurred(ply)))
            .rev()
            .collect();
        Path::with_past(root, &before, played, past)
    }

    /// A path that starts at `root` after a game through positions with the keys `before` (the root not among
    /// them) and the moves `played`.
    pub fn new(root: G, before: &[u64], played: &[MoveCode]) -> Path<G> {
        Path::with_past(root, before, played, Vec::new())
    }

    fn with_past(root: G, before: &[u64], played: &[MoveCode], past: Vec<(G, u32)>) -> Path<G> {
        let mut counts = HashMap::new();
        let mut filter = KeyFilter::default();
        for &key in before {
            *counts.entry(key).or_insert(0) += 1;
            filter.insert(key);
        }
        let (clock, limit, key) = (root.clock(), root.clock_limit().unwrap_or(u32::MAX), root.key());
        filter.insert(key);
        let recent = played.iter().rev().take(8).copied().collect();
        let start = Start { root, key, before: counts, recent, past, filter, clock, limit };
        Path {
            start: Arc::new(start),
            filter,
            keys: vec![key],
            moves: Vec::new(),
            clock,
            replay: Replay::default(),
            here: None,
        }
    }

    /// The position at the root.
    pub fn root(&self) -> &G {
        &self.start.root
    }

    /// Where the path starts.
    pub fn start(&self) -> &Arc<Start<G>> {
        &self.start
    }

    /// Goes back to the root.
    #[inline]
    pub fn restart(&mut self) {
        self.filter = self.start.filter;
        self.keys.truncate(1);
        self.moves.clear();
        self.clock = self.start.clock;
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
        if self.start.root.is_fetched() {
            let (mut game, rest) = self.nearest();
            for &mv in rest {
                if !game.try_play(mv) && !(game.fetch() && game.try_play(mv)) {
                    game.play(mv);
                }
            }
            return self.here.insert(game);
        }
        self.replay.position(&self.start.root, &self.moves)
    }

    /// Whether the position after all moves is at hand, in games that store positions. If not, it is asked
    /// for.
    pub fn is_at_hand(&self) -> bool {
        if !self.start.root.is_fetched() {
            return true;
        }
        let (mut game, rest) = self.nearest();
        rest.iter().all(|&mv| game.try_play(mv))
    }

    /// The last stored position of the path, and the moves after it.
    #[cold]
    fn nearest(&self) -> (G, &[MoveCode]) {
        let root = &self.start.root;
        let stored = |depth: usize| root.recall(*self.keys.get(depth)?, root.ply() + depth as u32);
        let found = (1..=self.moves.len()).rev().find_map(|depth| Some((depth, stored(depth)?)));
        let (depth, game) = found.unwrap_or_else(|| (0, root.clone()));
        (game, &self.moves[depth..])
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
        self.keys.contains(&key) || self.start.count_before(key) >= 2
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
        self.start.is_clock_spent(self.clock)
    }

    /// How often the position of the path's end occurred before, at most 2: for the planes of a network.
    pub fn repetitions(&self) -> u32 {
        let Some((last, earlier)) = self.keys.split_last() else { return 0 };
        let here = earlier.iter().filter(|&key| key == last).count() as u32;
        (here + self.start.count_before(*last)).min(2)
    }

    /// The positions that have occurred at least twice in the game, the root included, ascending.
    pub fn repeated(&self) -> Vec<u64> {
        let root = self.keys[0];
        let twice = |&(&key, &count): &(&u64, &u32)| count + u32::from(key == root) >= 2;
        let mut keys: Vec<u64> = self.start.before.iter().filter(twice).map(|(&key, _)| key).collect();
        keys.sort_unstable();
        keys
    }

    /// How often a position occurred in the game before the root.
    pub fn count_before(&self, key: u64) -> u32 {
        self.start.count_before(key)
    }
}
