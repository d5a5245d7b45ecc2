//! The search: collect, apply, advance. The only place that mutates the graph.
//!
//! `collect` runs simulations until a mini-batch of leaves waits for evaluation; `apply` takes the results
//! and backs them up. Who evaluates, on which threads and when, is `drive`'s business or Python's; the order
//! of these calls alone decides the graph.

pub mod backup;
#[cfg(test)]
mod bounds;
pub mod choose;
pub mod explore;
pub mod mate;
pub mod path;
pub mod proof;
mod reclaim;
pub mod root_moves;
pub mod select;
pub mod solver;
pub mod tablebases;
pub mod transposition;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashTable;

use crate::evaluators::{Evaluator, Leaf};
use crate::game::{Ending, Game, MoveCode};
use crate::graph::prior::{Candidate, Weights, rank};
use crate::graph::{Edge, Graph, NONE, NodeId, State, edge_flag, node_flag};
use crate::oracle::Oracle;
use crate::random::Random;
use crate::settings::{Backup, Merge, Settings};

use backup::{Arrival, Step, back_up, mark};
use explore::Kind;
use mate::Shortest;
use path::Path;
use proof::Standing;
use root_moves::Allowed;
use select::{Choice, Puct};
use tablebases::KnownRoot;
use transposition::stops;

/// Candidates kept per node by evaluators in the core: the rest is derived again where it is needed.
const HEAD: usize = 16;
/// Trajectories that may be in flight at once: marks are 16 bits wide, and a trajectory marks an edge once.
const MOST_IN_FLIGHT: u64 = u16::MAX as u64;
/// Plies before the move-count limit within which the clock is part of the key.
const CLOCK_HORIZON: u32 = 40;

/// What was counted during a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Trajectories backed up.
    pub simulations: u64,
    /// Results of the evaluator.
    pub evaluations: u64,
    /// Mini-batches applied.
    pub batches: u64,
    /// Edges linked to a node that already had a parent.
    pub transposition_links: u64,
    /// Trajectories that stopped at a transposition node.
    pub stops: u64,
    /// Values replaced by a correction, Eq. (9).
    pub corrections: u64,
    /// Leaves that took the evaluation of an equal leaf or node (trees).
    pub shared: u64,
    /// Trajectories that reached a leaf already waiting, and were undone.
    pub collisions: u64,
    /// Trajectories that ended at an exactly known node.
    pub terminals: u64,
    /// Trajectories that ended as a draw of their path.
    pub path_draws: u64,
    /// Disconnected trajectories.
    pub explorations: u64,
    /// Nodes proven.
    pub solved_nodes: u64,
    /// Edges walked, summed over simulations.
    pub depth_sum: u64,
    /// Longest trajectory.
    pub max_depth: u64,
    /// Times the graph gave up nodes to stay below its cap.
    pub reclaims: u64,
    /// Lists of candidates derived a second time.
    pub relistings: u64,
    /// New nodes whose result a tablebase knew.
    pub tablebase_hits: u64,
}

/// A leaf that waits, with the trajectory that led there.
#[derive(Debug)]
pub struct Pending<G> {
    node: NodeId,
    steps: Vec<Step>,
    exploration: bool,
    depth: usize,
    /// Index of the leaf in the same batch whose evaluation this one shares.
    shares: Option<usize>,
    /// The position to evaluate; a sharing leaf has none.
    pub leaf: Option<Box<Leaf<G>>>,
}

impl<G> Pending<G> {
    /// Whether this leaf takes the evaluation of another in its batch.
    pub const fn is_sharing(&self) -> bool {
        self.shares.is_some()
    }
}

/// A mini-batch of leaves.
#[derive(Debug, Default)]
pub struct Batch<G> {
    /// Leaves in order of collection; those with a `leaf` want an evaluation.
    pub pending: Vec<Pending<G>>,
    /// Number of evaluations wanted.
    pub evaluations: usize,
    /// Batches that may be in flight, this one included.
    pub most_in_flight: usize,
}

/// The result for one leaf.
#[derive(Clone, Debug, Default)]
pub struct Evaluated {
    /// Value for the side to move.
    pub value: f32,
    /// Candidates, best first; all, or the best of them.
    pub candidates: Vec<Candidate>,
}

/// How much a search may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Simulations in all.
    pub simulations: Option<u64>,
    /// Evaluations in all.
    pub evaluations: Option<u64>,
}

enum End {
    Leaf,
    Collision,
    Stop,
    Terminal,
    Stuck,
}

/// A search on one game: the graph, the root, and the way there.
pub struct Search<G: Game> {
    pub(crate) settings: Settings,
    pub(crate) graph: Graph,
    pub(crate) root: NodeId,
    pub(crate) path: Path<G>,
    pub(crate) origin: G,
    pub(crate) played: Vec<MoveCode>,
    pub(crate) counters: Counters,
    pub(crate) random: Random,
    pub(crate) evaluator: Option<Arc<dyn Evaluator<G>>>,
    pub(crate) improved: Option<Shortest>,
    pub(crate) oracle: Option<Arc<dyn Oracle<G>>>,
    /// What the tablebases say about the root.
    pub(crate) known_root: Option<KnownRoot>,
    pub(crate) allowed: Allowed,
    /// The player whose contempt is in the values of the graph.
    pub(crate) side: u8,
    /// For benchmarks: the length and moves of every trajectory, one after the other.
    pub(crate) recorder: Option<Vec<MoveCode>>,
    puct: Puct,
    flying: u64,
    flying_evaluations: u64,
    promised: usize,
    starved: bool,
    /// How often a proof of the root was broken by the game's history.
    doubts: u32,
    // Scratch, kept to spare allocations.
    steps: Vec<Step>,
    moves: Vec<MoveCode>,
    logits: Vec<f32>,
    weights: Weights,
    ranked: Vec<Candidate>,
    work: Vec<NodeId>,
    batch_keys: HashTable<u32>,
    spare_steps: Vec<Vec<Step>>,
    spare_leaves: Vec<Box<Leaf<G>>>,
    spare_evaluated: Vec<Evaluated>,
}

impl<G: Game> Search<G> {
    /// A search from `origin` after the moves `played`. Without an evaluator of the core, results come from
    /// outside through [`Search::apply`].
    pub fn new(
        settings: Settings,
        evaluator: Option<Arc<dyn Evaluator<G>>>,
        origin: G,
        played: &[MoveCode],
    ) -> Search<G> {
        let mut search = Search {
            graph: Graph::new(settings.memory as usize),
            root: NONE,
            path: Path::new(origin.clone(), &[], &[]),
            origin: origin.clone(),
            played: Vec::new(),
            counters: Counters::default(),
            random: Random::new(settings.seed),
            evaluator,
            improved: None,
            oracle: None,
            known_root: None,
            allowed: Allowed::default(),
            side: 0,
            recorder: None,
            puct: Puct::new(&settings),
            settings,
            flying: 0,
            flying_evaluations: 0,
            promised: 0,
            starved: false,
            doubts: 0,
            steps: Vec::new(),
            moves: Vec::new(),
            logits: Vec::new(),
            weights: Weights::default(),
            ranked: Vec::new(),
            work: Vec::new(),
            batch_keys: HashTable::new(),
            spare_steps: Vec::new(),
            spare_leaves: Vec::new(),
            spare_evaluated: Vec::new(),
        };
        search.restart(origin, played);
        search
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes new settings. What was learned is kept where it still means the same, else the graph starts
    /// anew.
    pub fn configure(&mut self, settings: Settings, evaluator: Option<Arc<dyn Evaluator<G>>>) {
        debug_assert_eq!(self.flying, 0);
        let (old, new) = (&self.settings, &settings);
        let keeps = old.node_temperature == new.node_temperature
            && old.backup == new.backup
            && old.merge == new.merge
            && old.solver == new.solver
            && old.contempt == new.contempt
            && old.evaluator == new.evaluator
            && old.seed == new.seed
            && (self.oracle.is_none()
                || (old.tablebase_men, old.tablebase_fifty) == (new.tablebase_men, new.tablebase_fifty))
            && self.evaluator.is_some() == evaluator.is_some()
            && evaluator.is_some()
            && self.graph.reserved_bytes() <= settings.memory as usize;
        self.puct = Puct::new(&settings);
        self.graph.set_memory(settings.memory as usize);
        self.settings = settings;
        self.evaluator = evaluator;
        if !keeps {
            let (origin, played) = (self.origin.clone(), self.played.clone());
            self.restart(origin, &played);
        }
    }

    /// Takes tablebases, or leaves them aside. The graph starts anew, because its nodes were asked about when
    /// they were created.
    pub fn set_oracle(&mut self, oracle: Option<Arc<dyn Oracle<G>>>) {
        debug_assert_eq!(self.flying, 0);
        self.oracle = oracle;
        let (origin, played) = (self.origin.clone(), self.played.clone());
        self.restart(origin, &played);
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The root node.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The position at the root.
    pub fn position(&self) -> &G {
        self.path.root()
    }

    /// Confines the search to some of the root's moves, or to none in particular, until it is told otherwise.
    pub fn confine(&mut self, allowed: Allowed) {
        if self.allowed != allowed {
            self.allowed = allowed;
            self.improved = None;
        }
    }

    /// What the moves that may be chosen prove about the root, and in how many plies.
    pub fn proven(&self) -> (State, u16) {
        if self.allowed.is_all() || self.settings.solver {
            self.allowed.proven(&self.graph, self.root)
        } else {
            (State::Unknown, 0)
        }
    }

    /// What was counted since the last [`Search::reset_counters`].
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts from zero again.
    pub fn reset_counters(&mut self) {
        self.counters = Counters::default();
    }

    /// Starts a new graph.
    pub fn restart(&mut self, origin: G, played: &[MoveCode]) {
        self.graph.clear();
        self.graph.set_memory(self.settings.memory as usize);
        self.random = Random::new(self.settings.seed);
        self.place(origin, played);
        self.make_root();
    }

    fn place(&mut self, origin: G, played: &[MoveCode]) {
        self.improved = None;
        self.doubts = 0;
        let mut root = origin.clone();
        let mut before = Vec::with_capacity(played.len());
        for &mv in played {
            before.push(root.key());
            root.play(mv);
        }
        self.path = Path::new(root, &before, played);
        self.known_root =
            self.oracle.as_deref().and_then(|oracle| KnownRoot::rank(oracle, &self.path, &self.settings));
        self.origin = origin;
        self.played = played.to_vec();
    }

    /// Values draws as the contempt of a player asks for. Values in the graph stay as they are: it should be
    /// empty.
    pub(crate) fn take_side(&mut self, player: u8) {
        self.side = player;
        let contempt = self.settings.contempt;
        // Never a negative zero: without contempt nothing may change.
        let draws = if contempt == 0.0 {
            [0.0; 2]
        } else if player == 0 {
            [-contempt, contempt]
        } else {
            [contempt, -contempt]
        };
        self.graph.set_draws(draws);
    }

    /// Whether draws have the value that the side to move at the root gives them.
    pub fn is_on_side(&self) -> bool {
        self.settings.contempt == 0.0 || self.side == self.position().player()
    }

    fn make_root(&mut self) {
        self.take_side(self.position().player());
        self.make_room(&AtomicBool::new(false));
        self.path.restart();
        let game = self.path.position();
        let (key, salt) = (game.key(), salt(game, self.settings.merge));
        self.root = create(&mut self.graph, &mut self.moves, &self.settings, game, key, salt);
        look_up(&mut self.graph, self.root, self.oracle.as_deref(), &self.settings, game);
    }

    /// Moves on to another position of a game. Where it continues the present one, what lies below is kept;
    /// returns whether it was.
    pub fn move_to(&mut self, origin: G, played: &[MoveCode]) -> bool {
        debug_assert_eq!(self.flying, 0);
        let same_origin = (origin.key(), origin.ply(), origin.clock())
            == (self.origin.key(), self.origin.ply(), self.origin.clock());
        let continues = same_origin && played.starts_with(&self.played);
        if continues
            && played.len() == self.played.len()
            && (self.settings.reuse || self.graph.node(self.root).visits == 0)
        {
            return true;
        }
        if !continues || !self.settings.reuse {
            self.restart(origin, played);
            return false;
        }
        let mut node = self.root;
        for &mv in &played[self.played.len()..] {
            let Some(edge) = self.graph.edges(node).iter().find(|edge| edge.mv == mv) else {
                node = NONE;
                break;
            };
            node = edge.child;
            if node == NONE || !self.graph.is_kept(node) {
                node = NONE;
                break;
            }
        }
        self.place(origin, played);
        if node == NONE && self.settings.backup.merges() {
            // The table must not know what is out of reach already.
            self.graph.go_on(&|| false);
            let root = self.path.root();
            node = self.graph.find(root.key(), salt(root, self.settings.merge)).unwrap_or(NONE);
        }
        if node == NONE {
            self.graph.clear();
            self.random = Random::new(self.settings.seed);
            self.make_root();
            return false;
        }
        self.root = node;
        // What is out of reach now is freed before the next simulation.
        self.graph.keep_below(node);
        self.graph.node(node).visits > 0
    }

    /// Looks for the shortest proof of a root that is proven won or lost; then its length is the true
    /// distance. Gives up when `cancel` says so.
    pub fn improve(&mut self, cancel: &dyn Fn() -> bool) {
        if self.is_over() || self.improved.is_some() {
            return;
        }
        let (state, most) = self.proven();
        let (game, most, allowed) = (self.path.root(), u32::from(most), &self.allowed);
        let found = match state {
            State::Win => mate::shortest_win(game, &self.path, most, allowed, cancel),
            State::Loss => mate::longest_defence(game, &self.path, most, allowed, cancel),
            _ => return,
        };
        self.improved = found.ok().flatten();
    }

    /// Whether the root has its evaluation.
    pub fn is_root_evaluated(&self) -> bool {
        self.graph.node(self.root).has(node_flag::EVALUATED)
    }

    /// Whether the game is over at the root.
    pub fn is_over(&self) -> bool {
        self.graph.node(self.root).has(node_flag::TERMINAL)
    }

    fn uses_table(&self) -> bool {
        self.settings.backup != Backup::Tree
    }

    /// Whether the budget allows another simulation.
    pub fn within(&self, budget: &Budget) -> bool {
        budget.simulations.is_none_or(|limit| self.counters.simulations + self.flying < limit)
            && budget
                .evaluations
                .is_none_or(|limit| self.counters.evaluations + self.flying_evaluations < limit)
    }

    /// Evaluations to a mini-batch and mini-batches in flight, as the visits of the root allow.
    fn width(&self) -> (usize, usize) {
        let Settings { batch_size, batches_in_flight, width_visits, .. } = self.settings;
        let most = batch_size * batches_in_flight;
        let visits = u64::from(self.graph.node(self.root).visits);
        let width = visits.checked_div(width_visits).map_or(most, |share| most.min(1 + share));
        let batches = batches_in_flight.min(width);
        ((width / batches) as usize, batches as usize)
    }

    /// Collects a mini-batch: runs simulations until enough leaves wait or one of the caps is met. Every
    /// simulation that needs no evaluation is backed up at once. The leaves must come back through
    /// [`Search::apply`] or [`Search::abandon`], in order.
    pub fn collect(&mut self, budget: &Budget, stop: &AtomicBool) -> Batch<G> {
        let mut batch = Batch { pending: Vec::new(), evaluations: 0, most_in_flight: 1 };
        let mut collided: Vec<Vec<Step>> = Vec::new();
        let (mut stopped, mut terminals) = (0, 0);
        self.batch_keys.clear();
        if !self.tidy(stop) || !self.overcome_doubt() {
            return batch;
        }
        let (size, most_in_flight) = self.width();
        batch.most_in_flight = most_in_flight;
        self.prepare_root(stop);
        while batch.evaluations < size
            && collided.len() < self.settings.batch_collisions as usize
            && stopped < self.settings.batch_stops
            && terminals < self.settings.batch_terminals
            && self.flying + (collided.len() as u64) < MOST_IN_FLIGHT
            && !self.graph.is_spent()
            && self.within(budget)
            && !self.proven().0.is_exact()
            && !stop.load(Ordering::Relaxed)
        {
            self.starved = !self.make_room(stop);
            if self.starved {
                break;
            }
            let end = self.simulate(&mut batch);
            if let Some(record) = &mut self.recorder
                && !matches!(end, End::Collision | End::Stuck)
            {
                record.push(MoveCode(self.path.depth() as u16));
                record.extend_from_slice(self.path.moves());
            }
            match end {
                End::Leaf => {}
                End::Collision => {
                    self.counters.collisions += 1;
                    mark(&mut self.graph, &self.steps, true);
                    let mut steps = self.spare_steps.pop().unwrap_or_default();
                    steps.clone_from(&self.steps);
                    collided.push(steps);
                }
                End::Stop => stopped += 1,
                End::Terminal => terminals += 1,
                End::Stuck => break,
            }
        }
        for steps in collided {
            mark(&mut self.graph, &steps, false);
            self.spare_steps.push(steps);
        }
        batch
    }

    /// A proof of the root that the game's history breaks says nothing about this game, nor do the values
    /// that rest on it: the graph starts anew, once nothing is in flight, and meets what has been repeated as
    /// a draw. Should that break too, the position is searched without proofs. Whether the search can go on
    /// at once.
    fn overcome_doubt(&mut self) -> bool {
        if self.standing() != Some(Standing::Breaks) {
            return true;
        }
        if self.flying > 0 {
            return false;
        }
        self.doubt();
        true
    }

    /// Starts a new graph, because the proof of the root does not stand.
    pub fn doubt(&mut self) {
        let doubts = self.doubts + 1;
        let (origin, played) = (self.origin.clone(), self.played.clone());
        self.restart(origin, &played);
        self.doubts = doubts;
    }

    /// Noise and a whole list of candidates for an evaluated root.
    fn prepare_root(&mut self, stop: &AtomicBool) {
        let node = self.graph.node(self.root);
        if !node.has(node_flag::EVALUATED) || node.has(node_flag::TERMINAL) {
            return;
        }
        if !node.is_listed_whole() && self.make_room(stop) {
            self.path.restart();
            self.list_rest(self.root);
        }
        explore::add_noise(&mut self.graph, self.root, &self.settings, &mut self.random);
    }

    /// Algorithm 1: one simulation, from the root or a branch node to its end.
    fn simulate(&mut self, batch: &mut Batch<G>) -> End {
        self.path.restart();
        self.steps.clear();
        let root = self.graph.node(self.root);
        if !root.has(node_flag::EVALUATED) {
            return if root.has(node_flag::WAITING) {
                End::Collision
            } else {
                self.await_evaluation(self.root, false, false, batch)
            };
        }
        let mut node = self.root;
        let mut forced = None;
        let kind = explore::draw_kind(&self.settings, &mut self.random);
        if let Some(kind) = kind {
            node = self.walk_to_branch();
            forced = self.branch(node, kind);
            if forced.is_none() {
                self.path.restart();
                node = self.root;
            }
        }
        let exploration = forced.is_some();
        loop {
            let choice = match forced.take() {
                Some(choice) => choice,
                None => self.select(node),
            };
            let (slot, opened) = match choice {
                Choice::Opened(slot) => (slot, false),
                Choice::Unopened(index) => (self.graph.open(node, index), true),
                Choice::Nothing => return End::Stuck,
            };
            let fresh = self.follow(node, slot, opened);
            self.steps.push(Step { node, slot });
            let edge = self.graph.edge(node, slot);
            let id = edge.child;
            let child = self.graph.node(id);
            let repeats = self.path.arrive(child.key);
            if repeats || (self.path.is_clock_spent() && !child.has(node_flag::TERMINAL)) {
                self.counters.path_draws += 1;
                self.finish(Arrival::PathDraw, exploration);
                return End::Terminal;
            }
            if let Some(value) = self.graph.exact_value(id) {
                self.counters.terminals += 1;
                self.finish(Arrival::Value(value), exploration);
                return End::Terminal;
            }
            if !child.has(node_flag::EVALUATED) {
                return if child.has(node_flag::WAITING) {
                    End::Collision
                } else {
                    self.await_evaluation(id, fresh, exploration, batch)
                };
            }
            if stops(&self.graph, node, edge, &self.settings) {
                self.counters.stops += 1;
                let value = self.graph.best_value(id);
                self.finish(Arrival::Value(value), exploration);
                return End::Stop;
            }
            node = id;
        }
    }

    fn finish(&mut self, arrival: Arrival, exploration: bool) {
        let corrections = back_up(&mut self.graph, &self.steps, arrival, exploration, &self.settings);
        self.count(self.path.depth(), corrections, exploration);
    }

    fn count(&mut self, depth: usize, corrections: u64, exploration: bool) {
        self.counters.corrections += corrections;
        self.counters.explorations += u64::from(exploration);
        self.counters.simulations += 1;
        self.counters.depth_sum += depth as u64;
        self.counters.max_depth = self.counters.max_depth.max(depth as u64);
    }

    #[inline]
    fn select(&mut self, id: NodeId) -> Choice {
        if id == self.root && !self.allowed.is_all() {
            return self.select_allowed();
        }
        let node = self.graph.node(id);
        if node.opened == 0 && node.listed > 0 && !self.settings.table_values {
            return Choice::Unopened(0);
        }
        if node.listed == node.taken && !node.fully_opened() {
            self.list_rest(id);
        }
        if !self.settings.table_values || !self.settings.backup.merges() {
            return self.puct.select(&self.graph, id, None);
        }
        if !self.graph.node(id).is_listed_whole() {
            self.list_rest(id);
        }
        let here = self.path.position().clone();
        let (graph, merge) = (&self.graph, self.settings.merge);
        let mut value_of = |index: usize| {
            let mut next = here.clone();
            next.play(graph.candidates(id)[index].mv());
            let child = graph.find(next.key(), salt(&next, merge))?;
            graph.node(child).has(node_flag::EVALUATED).then(|| graph.target(id, child))
        };
        self.puct.select(graph, id, Some(&mut value_of))
    }

    /// Selection at the root of a search that is confined to some of its moves.
    #[cold]
    fn select_allowed(&mut self) -> Choice {
        if !self.graph.node(self.root).is_listed_whole() {
            self.list_rest(self.root);
        }
        self.puct.select_among(&self.graph, self.root, &self.allowed)
    }

    /// Plays the edge on the path and makes sure that it has a child; whether that child is new.
    #[inline]
    fn follow(&mut self, id: NodeId, slot: u16, opened: bool) -> bool {
        if opened {
            let mv = self.graph.edge(id, slot).mv;
            if self.path.position().is_zeroing(mv) {
                self.graph.edge_mut(id, slot).flags |= edge_flag::ZEROING;
            }
        }
        let edge = self.graph.edge(id, slot);
        self.path.follow(edge.mv, edge.has(edge_flag::ZEROING));
        if edge.child == NONE { self.attach(id, slot) } else { false }
    }

    /// Links the edge to the node of the position at the path's end, created if need be.
    fn attach(&mut self, id: NodeId, slot: u16) -> bool {
        let game = self.path.position();
        let (key, salt) = (game.key(), salt(game, self.settings.merge));
        let known = if self.settings.backup.merges() { self.graph.find(key, salt) } else { None };
        let (child, fresh) = match known {
            Some(child) => (child, false),
            None => {
                let child = create(&mut self.graph, &mut self.moves, &self.settings, game, key, salt);
                let is_known = look_up(&mut self.graph, child, self.oracle.as_deref(), &self.settings, game);
                self.counters.tablebase_hits += u64::from(is_known);
                (child, true)
            }
        };
        self.graph.link(id, slot, child);
        self.counters.transposition_links += u64::from(!fresh);
        if self.settings.solver && self.doubts < 2 && self.graph.node(child).state.is_solved() {
            self.counters.solved_nodes += u64::from(fresh);
            self.counters.solved_nodes += solver::inform(&mut self.graph, id, &mut self.work) as u64;
        }
        fresh
    }

    /// The branch node of an exploration: down the most visited moves, to a drawn depth or the last node from
    /// where it goes on.
    fn walk_to_branch(&mut self) -> NodeId {
        let depth = explore::draw_depth(&mut self.random);
        let mut node = self.root;
        for _ in 0..depth {
            let admits = |edge: &Edge| node != self.root || self.allowed.admits(edge.mv);
            let Some(slot) = explore::most_visited(self.graph.edges(node), admits) else { break };
            let edge = self.graph.edge(node, slot);
            if edge.child == NONE {
                break;
            }
            let child = self.graph.node(edge.child);
            if !child.has(node_flag::EVALUATED) || child.state.is_exact() {
                break;
            }
            let (next, key, clock) = (edge.child, child.key, self.path.clock());
            self.path.follow(edge.mv, edge.has(edge_flag::ZEROING));
            let spent = self.path.is_clock_spent();
            if self.path.arrive(key) || spent {
                self.path.retreat(clock);
                break;
            }
            node = next;
        }
        node
    }

    /// What an exploration opens at its branch node; `None` gives it up.
    fn branch(&mut self, id: NodeId, kind: Kind) -> Option<Choice> {
        if id == self.root && !self.allowed.is_all() {
            return self.branch_allowed(kind);
        }
        if let Kind::Constrained(constraint) = kind {
            let flag = explore::exhausted_flag(constraint);
            if !self.graph.node(id).has(flag) {
                if !self.graph.node(id).is_listed_whole() {
                    self.list_rest(id);
                }
                let game = self.path.position();
                let found = self
                    .graph
                    .candidates(id)
                    .iter()
                    .position(|candidate| game.satisfies(constraint, candidate.mv()));
                if let Some(index) = found {
                    return Some(Choice::Unopened(index));
                }
                self.graph.node_mut(id).flags |= flag;
            }
        }
        if !self.graph.node(id).fully_opened() {
            if self.graph.candidates(id).is_empty() {
                self.list_rest(id);
            }
            return Some(Choice::Unopened(0));
        }
        explore::random_unsolved(&self.graph, id, |_| true, &mut self.random).map(Choice::Opened)
    }

    /// The same at the root of a search that is confined to some of its moves. What it finds exhausted is so
    /// for these only: no flag is set.
    #[cold]
    fn branch_allowed(&mut self, kind: Kind) -> Option<Choice> {
        if !self.graph.node(self.root).is_listed_whole() {
            self.list_rest(self.root);
        }
        let game = self.path.position();
        let listed = self.graph.candidates(self.root);
        let find = |fits: &dyn Fn(MoveCode) -> bool| {
            let found = listed
                .iter()
                .position(|candidate| self.allowed.admits(candidate.mv()) && fits(candidate.mv()));
            found.map(Choice::Unopened)
        };
        let wanted = match kind {
            Kind::Constrained(constraint) => find(&|mv| game.satisfies(constraint, mv)),
            Kind::Greedy => None,
        };
        let admits = |edge: &Edge| self.allowed.admits(edge.mv);
        wanted.or_else(|| find(&|_| true)).or_else(|| {
            explore::random_unsolved(&self.graph, self.root, admits, &mut self.random).map(Choice::Opened)
        })
    }

    /// Derives the whole list of unopened candidates of a node again; the path must end there.
    fn list_rest(&mut self, id: NodeId) {
        let Some(evaluator) = self.evaluator.clone() else { return };
        self.counters.relistings += 1;
        let mut leaf = self.spare_leaf();
        leaf.game.legal_moves(&mut leaf.moves);
        let never = AtomicBool::new(false);
        evaluator.evaluate(&leaf, &mut self.logits, &never);
        rank(
            &leaf.moves,
            &self.logits,
            self.settings.node_temperature,
            usize::MAX,
            &mut self.ranked,
            &mut self.weights,
        );
        let opened: Vec<MoveCode> = self.graph.edges(id).iter().map(|edge| edge.mv).collect();
        self.ranked.retain(|candidate| !opened.contains(&candidate.mv()));
        self.graph.list_candidates(id, &self.ranked);
        self.spare_leaves.push(leaf);
    }

    /// A leaf record with the position of the path's end.
    fn spare_leaf(&mut self) -> Box<Leaf<G>> {
        let game = self.path.position();
        match self.spare_leaves.pop() {
            Some(mut leaf) => {
                leaf.game.clone_from(game);
                leaf
            }
            None => {
                Box::new(Leaf { game: game.clone(), moves: Vec::new(), recent: Vec::new(), repetitions: 0 })
            }
        }
    }

    /// The trajectory ends at a node without evaluation: it joins the batch, or takes the evaluation of an
    /// equal one.
    fn await_evaluation(&mut self, id: NodeId, fresh: bool, exploration: bool, batch: &mut Batch<G>) -> End {
        let mut shares = None;
        if !self.settings.backup.merges() {
            if self.settings.backup == Backup::TreeCache && self.copy_evaluation(id) {
                self.counters.shared += 1;
                self.counters.stops += 1;
                let value = self.graph.node(id).value;
                self.finish(Arrival::Value(value), exploration);
                return End::Stop;
            }
            shares = self.equal_leaf(id, batch);
        }
        let leaf = if shares.is_some() {
            None
        } else {
            let mut leaf = self.spare_leaf();
            if fresh {
                std::mem::swap(&mut leaf.moves, &mut self.moves);
            } else {
                leaf.game.legal_moves(&mut leaf.moves);
            }
            if self.evaluator.is_none() {
                self.path.recent(&mut leaf.recent);
                leaf.repetitions = self.path.repetitions();
            }
            batch.evaluations += 1;
            self.flying_evaluations += 1;
            Some(leaf)
        };
        self.promised += usize::from(self.graph.node(id).legal);
        self.flying += 1;
        mark(&mut self.graph, &self.steps, true);
        self.graph.node_mut(id).flags |= node_flag::WAITING;
        let mut steps = self.spare_steps.pop().unwrap_or_default();
        steps.clone_from(&self.steps);
        let shared = shares.is_some();
        batch.pending.push(Pending { node: id, steps, exploration, depth: self.path.depth(), shares, leaf });
        if shared { End::Stop } else { End::Leaf }
    }

    /// An earlier leaf of the batch with the same merge key.
    fn equal_leaf(&mut self, id: NodeId, batch: &Batch<G>) -> Option<usize> {
        let graph = &self.graph;
        let key_of = |id: NodeId| (graph.node(id).key, graph.node(id).salt);
        let hash_of = |id: NodeId| {
            let (key, salt) = key_of(id);
            crate::random::mix(key ^ u64::from(salt))
        };
        let found = self
            .batch_keys
            .find(hash_of(id), |&index| key_of(batch.pending[index as usize].node) == key_of(id));
        if let Some(&index) = found {
            return Some(index as usize);
        }
        let index = batch.pending.len() as u32;
        self.batch_keys.insert_unique(hash_of(id), index, |&other| {
            if other == index { hash_of(id) } else { hash_of(batch.pending[other as usize].node) }
        });
        None
    }

    /// Mode `tree+cache`: takes value and policy of an evaluated node with the same merge key.
    fn copy_evaluation(&mut self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let Some(source) = self.graph.find(node.key, node.salt) else { return false };
        if source == id || !self.graph.node(source).has(node_flag::EVALUATED) {
            return false;
        }
        self.ranked.clear();
        self.ranked.extend(self.graph.edges(source).iter().map(|edge| Candidate::new(edge.half, edge.mv)));
        self.ranked.extend_from_slice(self.graph.candidates(source));
        self.ranked.sort_unstable_by(|a, b| b.cmp(a));
        let raw = self.graph.node(source).raw;
        self.graph.list_candidates(id, &self.ranked);
        let node = self.graph.node_mut(id);
        node.raw = raw;
        node.value = f64::from(raw);
        node.visits = 1;
        node.flags |= node_flag::EVALUATED;
        true
    }

    /// Takes the results of a batch, one for each pending leaf with a position, in order; expands and backs
    /// up.
    pub fn apply(&mut self, batch: Batch<G>, results: &mut Vec<Evaluated>) {
        debug_assert_eq!(results.len(), batch.evaluations);
        self.counters.batches += 1;
        self.counters.evaluations += batch.evaluations as u64;
        self.flying_evaluations -= batch.evaluations as u64;
        let mut evaluation = 0;
        let mut result_of = Vec::with_capacity(batch.pending.len());
        for pending in batch.pending {
            let index = match pending.shares {
                Some(source) => {
                    self.counters.shared += 1;
                    result_of[source]
                }
                None => {
                    evaluation += 1;
                    evaluation - 1
                }
            };
            result_of.push(index);
            self.land(&pending);
            let id = pending.node;
            let result = &results[index];
            self.graph.list_candidates(id, &result.candidates);
            let node = self.graph.node_mut(id);
            node.raw = result.value;
            node.value = f64::from(result.value);
            node.visits = 1;
            node.flags |= node_flag::EVALUATED;
            let value = node.value;
            let corrections = back_up(
                &mut self.graph,
                &pending.steps,
                Arrival::Value(value),
                pending.exploration,
                &self.settings,
            );
            self.count(pending.depth, corrections, pending.exploration);
            self.recycle(pending);
        }
        self.spare_evaluated.append(results);
    }

    /// Takes back the marks of a batch in flight, as if it had never been collected.
    pub fn abandon(&mut self, batch: Batch<G>) {
        self.flying_evaluations -= batch.evaluations as u64;
        for pending in batch.pending {
            self.land(&pending);
            self.recycle(pending);
        }
    }

    fn land(&mut self, pending: &Pending<G>) {
        mark(&mut self.graph, &pending.steps, false);
        let node = self.graph.node_mut(pending.node);
        node.flags &= !node_flag::WAITING;
        self.promised -= usize::from(node.legal);
        self.flying -= 1;
    }

    fn recycle(&mut self, pending: Pending<G>) {
        self.spare_steps.push(pending.steps);
        self.spare_leaves.extend(pending.leaf);
    }

    /// Buffers for `count` results, reused from earlier batches.
    pub fn result_buffers(&mut self, count: usize) -> Vec<Evaluated> {
        (0..count).map(|_| self.spare_evaluated.pop().unwrap_or_default()).collect()
    }

    /// How evaluators in the core turn logits into candidates.
    pub fn ranking(&self) -> Ranking {
        Ranking { temperature: self.settings.node_temperature, head: HEAD, draws: self.graph.draws() }
    }

    /// Whether the last collection found no room for another node under the memory cap.
    pub fn is_starved(&self) -> bool {
        self.starved
    }

    /// Number of trajectories in flight.
    pub fn flying(&self) -> u64 {
        self.flying
    }
}

/// What makes the merge key, together with the key of the position.
fn salt<G: Game>(game: &G, merge: Merge) -> u32 {
    let clock = game.clock();
    match merge {
        Merge::Clock => clock,
        Merge::Ply => {
            let near = game.clock_limit().is_some_and(|limit| clock + CLOCK_HORIZON >= limit);
            (game.ply() & 0xFFFF) | if near { (clock + 1) << 16 } else { 0 }
        }
    }
}

/// Creates the node of a position whose merge key is new (or not merged); leaves its legal moves in `moves`.
fn create<G: Game>(
    graph: &mut Graph,
    moves: &mut Vec<MoveCode>,
    settings: &Settings,
    game: &G,
    key: u64,
    salt: u32,
) -> NodeId {
    game.legal_moves(moves);
    let ending = game.ending(moves);
    let legal = if ending.is_some() { 0 } else { moves.len() };
    let id = graph.add_node(key, salt, game.player(), legal);
    if let Some(ending) = ending {
        let state = match ending {
            Ending::Win => State::Win,
            Ending::Draw => State::Draw,
            Ending::Loss => State::Loss,
        };
        solver::finish(graph, id, state);
        let value = graph.best_value(id);
        let node = graph.node_mut(id);
        node.flags |= node_flag::TERMINAL | node_flag::EVALUATED;
        node.value = value;
        node.raw = value as f32;
        node.visits = 1;
    }
    match settings.backup {
        Backup::Tree => {}
        Backup::TreeCache => graph.enter(id),
        _ => graph.enter_new(id),
    }
    id
}

/// Asks the tablebases about a new node; whether they knew it.
#[inline]
fn look_up<G: Game>(
    graph: &mut Graph,
    id: NodeId,
    oracle: Option<&dyn Oracle<G>>,
    settings: &Settings,
    game: &G,
) -> bool {
    let Some(oracle) = oracle else { return false };
    if graph.node(id).has(node_flag::TERMINAL) {
        return false;
    }
    let state = tablebases::state_of(oracle, game, settings);
    graph.node_mut(id).state = state.unwrap_or_default();
    state.is_some()
}

/// What a thread keeps between evaluations to spare allocations.
pub type Scratch = (Vec<f32>, Weights);

/// What a thread needs to evaluate a leaf into a result.
#[derive(Clone, Copy, Debug)]
pub struct Ranking {
    temperature: f64,
    head: usize,
    draws: [f64; 2],
}

impl Ranking {
    /// Evaluates one leaf.
    pub fn evaluate<G: Game>(
        &self,
        evaluator: &dyn Evaluator<G>,
        leaf: &Leaf<G>,
        scratch: &mut Scratch,
        result: &mut Evaluated,
        cancel: &AtomicBool,
    ) {
        let (logits, weights) = scratch;
        let draw = self.draws[usize::from(leaf.game.player())];
        result.value = if draw == 0.0 {
            evaluator.evaluate(leaf, logits, cancel)
        } else {
            evaluator.evaluate_draws(leaf, draw as f32, logits, cancel)
        };
        if cancel.load(Ordering::Relaxed) {
            return;
        }
        let limit = if leaf.moves.len() <= self.head + self.head / 2 { usize::MAX } else { self.head };
        rank(&leaf.moves, logits, self.temperature, limit, &mut result.candidates, weights);
    }
}
