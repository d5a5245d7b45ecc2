//! The search: collect, apply, advance. The only place that mutates the graph.
//!
//! `collect` runs simulations until a mini-batch of leaves waits for evaluation; `apply` takes the results
//! and backs them up. Threads and evaluation belong to `run` or to Python; the order
//! of these calls alone decides the graph.

pub mod path;
pub mod trail;
pub mod solver;
pub mod root_moves;
pub mod numbers;
mod scan;
pub mod select;
pub mod improved;
mod gumbel;
pub mod ucb;
mod ancestors;
pub mod explore;
pub mod transposition;
pub mod backup;
pub mod proof;
pub mod mate;
pub mod choose;
pub mod tablebases;
mod due;
mod nodes;
mod policies;
pub mod wave;
mod reclaim;
mod root;
mod halt;
pub mod mates;
mod complete;
mod batch;
mod phases;
mod advance;
mod simulate;
mod branch;
mod missing;
mod leaves;
mod commit;
mod collect;
mod apply;

#[cfg(test)]
mod bounds;

use std::sync::Arc;

use hashbrown::HashTable;

use crate::evaluators::{Evaluator, Leaf};
use crate::game::{Game, MoveCode};
use crate::graph::prior::{Candidate, RankScratch};
use crate::graph::{Graph, NONE, NodeId, node_flag};
use crate::oracle::Oracle;
use crate::random::Random;
use crate::settings::{Backup, Settings};
use backup::Step;
pub use batch::{Batch, Evaluated, EvaluationScratch, Pending, Ranking};
use gumbel::HalvingPlan;
use mate::Shortest;
use mates::Mates;
use missing::Missing;
use path::Path;
pub use phases::Phases;
use policies::Policies;
pub use root::Solved;
use root_moves::RootMoves;
use select::Puct;
use tablebases::KnownRoot;
use ucb::Below;
use wave::{Hands, Part, Settlement, Twigs, Wave};

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
    /// Nodes that the search for mates proved.
    pub mates: u64,
}

/// How much a search may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Simulations in all.
    pub simulations: Option<u64>,
    /// Evaluations in all.
    pub evaluations: Option<u64>,
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
    /// The root by the tablebases.
    pub(crate) known_root: Option<KnownRoot>,
    pub(crate) root_moves: RootMoves,
    /// The player whose contempt is in the values of the graph.
    pub(crate) side: u8,
    /// For benchmarks: the length and moves of every trajectory, one after the other.
    pub(crate) recorder: Option<Vec<MoveCode>>,
    /// For benchmarks: the time of each phase.
    pub(crate) phases: Option<Phases>,
    puct: Arc<Puct>,
    /// Of the search under way at a Gumbel root.
    plan: Option<HalvingPlan>,
    /// For UCD.
    below: Below,
    flying: u64,
    flying_evaluations: u64,
    promised: usize,
    starved: bool,
    /// How often a proof of the root was broken by the game's history.
    doubts: u32,
    // EvaluationScratch, kept to spare allocations.
    steps: Vec<Step>,
    moves: Vec<MoveCode>,
    logits: Vec<f32>,
    weights: RankScratch,
    ranked: Vec<Candidate>,
    work: Vec<NodeId>,
    batch_keys: HashTable<u32>,
    spare_steps: Vec<Vec<Step>>,
    spare_leaves: Vec<Box<Leaf<G>>>,
    spare_evaluated: Vec<Evaluated>,
    mates: Mates,
    hands: Vec<Hands<G>>,
    twigs: Twigs,
    settlement: Settlement,
    spare_waves: Vec<Wave>,
    spare_part: Part<G>,
    missing: Missing,
    policies: Policies,
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
            root_moves: RootMoves::default(),
            side: 0,
            recorder: None,
            phases: None,
            puct: Arc::new(Puct::new(&settings)),
            plan: None,
            below: Below::default(),
            settings,
            flying: 0,
            flying_evaluations: 0,
            promised: 0,
            starved: false,
            doubts: 0,
            steps: Vec::new(),
            moves: Vec::new(),
            logits: Vec::new(),
            weights: RankScratch::default(),
            ranked: Vec::new(),
            work: Vec::new(),
            batch_keys: HashTable::new(),
            spare_steps: Vec::new(),
            spare_leaves: Vec::new(),
            spare_evaluated: Vec::new(),
            mates: Mates::default(),
            hands: Vec::new(),
            twigs: Twigs::default(),
            settlement: Settlement::default(),
            spare_waves: Vec::new(),
            spare_part: Part::default(),
            missing: Missing::default(),
            policies: Policies::default(),
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
            && old.solver_rule == new.solver_rule
            && old.contempt == new.contempt
            && (old.pn_weight > 0.0) == (new.pn_weight > 0.0)
            && old.evaluator == new.evaluator
            && old.seed == new.seed
            && (self.oracle.is_none()
                || (old.tablebase_men, old.tablebase_fifty) == (new.tablebase_men, new.tablebase_fifty))
            && self.evaluator.is_some() == evaluator.is_some()
            && evaluator.is_some()
            && self.graph.reserved_bytes() <= settings.memory as usize;
        self.puct = Arc::new(Puct::new(&settings));
        self.plan = None;
        self.below.clear();
        self.settings = settings;
        self.graph.set_memory(self.graph_memory());
        self.evaluator = evaluator;
        if !keeps {
            self.start_over();
        }
    }

    /// Another weight of the noise, from the next root on; nothing else changes.
    pub fn set_noise(&mut self, share: f64) {
        self.settings.dirichlet_epsilon = share;
    }

    /// Sets or removes the tablebases. A new graph is started, because its nodes were probed when
    /// they were created.
    pub fn set_oracle(&mut self, oracle: Option<Arc<dyn Oracle<G>>>) {
        debug_assert_eq!(self.flying, 0);
        self.oracle = oracle;
        self.start_over();
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

    /// Restricts the search to some of the root's moves, until this is called again.
    pub fn set_root_moves(&mut self, root_moves: RootMoves) {
        if self.root_moves != root_moves {
            self.root_moves = root_moves;
            self.improved = None;
        }
    }

    /// What was counted since the last [`Search::reset_counters`].
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts from zero again: a new search begins.
    pub fn reset_counters(&mut self) {
        self.plan = None;
        self.counters = Counters::default();
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
        let missing = self.missing.len() as u64;
        budget.simulations.is_none_or(|limit| self.counters.simulations + self.flying + missing < limit)
            && budget
                .evaluations
                .is_none_or(|limit| self.counters.evaluations + self.flying_evaluations + missing < limit)
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
