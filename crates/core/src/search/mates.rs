//! Forced wins inside the search: which nodes are searched for a mate, and what becomes of its proof.
//!
//! Leaves are searched with a small budget, nodes with one that grows with their visits, the root and the
//! position after the move to play with more. Visits decide, not clocks, so the graph is the same on any
//! number of threads. A stop and the deadline end a search for a mate too. A proof is a state of its node and
//! is not kept.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::due::{has_visits_for_mate, searches_due};
use super::halt::Halt;
use super::{Search, solver};
use crate::game::Game;
use crate::graph::{NONE, Node, NodeId, State, edge_flag, node_flag};
use crate::mates::dfpn::Solver;
use crate::mates::{Attack, Question, Verdict};

/// Plies of the longest line that is looked at.
const DEPTH: u16 = 64;
/// The largest budget, and the one with which a proof is found again.
pub(super) const MOST_POSITIONS: u64 = 1 << 20;
/// The largest budget after the move to play: some milliseconds, because it is spent at the end of a search.
const MOST_AT_CHOICE: u64 = 4_000;
/// Moves to play that may turn out to lose before the next one is played unchecked.
const MOST_CHOICES: usize = 8;
/// The part of the memory cap that the table of a search for mates may have, on top of the graph; the threads
/// share another such part for the tables of leaves.
const MEMORY_PART: u64 = 16;
/// The number of searches of a node whose win is disproven.
const DISPROVEN: u8 = u8::MAX;

/// What a search needs to look for mates.
#[derive(Debug, Default)]
pub(super) struct Mates {
    pub solver: Solver,
    /// Positions that have occurred twice in the game: to return to one is a draw.
    pub repeated: Arc<[u64]>,
    /// Ends a long search for a mate, with the search that it is part of.
    pub halt: Halt,
}

/// How the leaves of a search are searched for mates, on any thread.
#[derive(Clone, Debug)]
pub struct LeafMates {
    positions: u64,
    least_value: f64,
    repeated: Arc<[u64]>,
    halt: Halt,
    memory: usize,
}

impl LeafMates {
    /// The plies of a win of the side to move, if there is one that the budget allows to find. `value` is the
    /// leaf's evaluation.
    pub fn search<G: Game>(&self, game: &G, value: f32, solver: &mut Solver) -> Option<u16> {
        if self.positions == 0 || f64::from(value) < self.least_value {
            return None;
        }
        solver.set_memory(self.memory);
        match search_position(solver, game, &self.repeated, self.positions, &|| self.halt.is_due()) {
            (Verdict::Win, plies) => Some(plies),
            _ => None,
        }
    }
}

/// Asks a question about the side to move. What the table holds is forgotten.
pub(super) fn ask<G: Game, T>(
    solver: &mut Solver,
    game: &G,
    repeated: &[u64],
    cancel: &dyn Fn() -> bool,
    answer: impl FnOnce(&mut Solver, &Question<'_, G>) -> T,
) -> T {
    let attack = if game.is_won_by_check_only() { Attack::Checks } else { Attack::All };
    let before = |key| if repeated.binary_search(&key).is_ok() { 2 } else { 0 };
    solver.clear();
    let question = Question { game, attacker: game.player(), attack, depth: DEPTH, before: &before, cancel };
    answer(solver, &question)
}

/// Searches for a win of the side to move. A win that the move count might spoil is left open.
fn search_position<G: Game>(
    solver: &mut Solver,
    game: &G,
    repeated: &[u64],
    budget: u64,
    cancel: &dyn Fn() -> bool,
) -> (Verdict, u16) {
    let (verdict, plies) =
        ask(solver, game, repeated, cancel, |solver, question| solver.search(question, budget));
    let is_late = game.clock_limit().is_some_and(|limit| game.clock() + u32::from(plies) >= limit);
    if verdict == Verdict::Win && is_late { (Verdict::Open, 0) } else { (verdict, plies) }
}

/// Positions for the search of a node: more with its visits, and where the side to move stands well.
fn growing_budget(growth: f64, node: &Node) -> u64 {
    let score = (1.0 + node.value) * 0.5;
    (growth * f64::from(node.visits) * (score * score)) as u64
}

impl<G: Game> Search<G> {
    /// Whether proofs are used at all: not after the game's history has broken two of the root.
    fn takes_proofs(&self) -> bool {
        self.settings.solver && self.doubts < 2
    }

    /// What ends the searches for mates of the next search: its stop flag and its deadline.
    pub fn watch_end(&mut self, stop: &Arc<AtomicBool>, deadline: Option<Instant>) {
        self.mates.halt = Halt::new(stop, deadline);
    }

    /// Whether the search has to end now.
    pub fn is_ending(&self) -> bool {
        self.mates.halt.is_due()
    }

    /// The bytes of a table of mates.
    fn mate_memory(&self) -> usize {
        usize::try_from(self.settings.memory / MEMORY_PART).unwrap_or(usize::MAX)
    }

    /// How leaves are searched.
    pub(super) fn leaf_mates(&self) -> LeafMates {
        LeafMates {
            positions: if self.takes_proofs() { self.settings.mate_leaf } else { 0 },
            least_value: self.settings.mate_leaf_value,
            repeated: Arc::clone(&self.mates.repeated),
            halt: self.mates.halt.clone(),
            memory: self.mate_memory() / self.settings.threads.max(1) as usize,
        }
    }

    /// Whether an evaluated node has the visits for its next search.
    #[inline]
    pub(super) fn is_due_for_mate(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        self.settings.mate_growth > 0.0
            && u64::from(node.visits) >= self.settings.mate_start
            && self.is_due(id)
    }

    fn is_due(&self, id: NodeId) -> bool {
        has_visits_for_mate(self.graph.node(id), self.settings.mate_start) && self.takes_proofs()
    }

    /// Searches the node at the path's end. Returns whether it is won now.
    #[cold]
    pub(super) fn search_node_for_mate(&mut self, id: NodeId) -> bool {
        let budget = growing_budget(self.settings.mate_growth, self.graph.node(id));
        self.search_for_mate(id, budget.min(MOST_POSITIONS), Halt::is_due)
    }

    /// Searches the root, if it has the visits for it.
    pub(super) fn search_root_for_mate(&mut self) {
        let root = self.graph.node(self.root);
        if self.settings.mate_root > 0.0
            && root.has(node_flag::EVALUATED)
            && self.root_moves.is_all()
            && self.is_due(self.root)
        {
            let budget = self.settings.mate_root * f64::from(root.visits);
            self.path.restart();
            self.search_for_mate(self.root, (budget as u64).min(MOST_POSITIONS), Halt::is_due);
        }
    }

    /// Looks for an answer that wins against the move that would be played. Where there is one, the move is
    /// proven to lose, and the next one is looked at.
    pub fn check_choice(&mut self) {
        let budget = self.settings.mate_root * f64::from(self.graph.node(self.root).visits);
        let budget = (budget as u64).min(MOST_AT_CHOICE);
        if budget == 0 || !self.takes_proofs() || self.known_root.is_some() {
            return;
        }
        for _ in 0..MOST_CHOICES {
            if self.proven().0.is_exact() || !self.choice_loses(budget) {
                break;
            }
        }
        self.complete_proof();
    }

    /// Searches the position after the move to play. Returns whether the opponent wins there.
    fn choice_loses(&mut self, budget: u64) -> bool {
        let Some(slot) = self.choice() else { return false };
        let edge = self.graph.edge(self.root, slot).clone();
        if edge.child == NONE {
            return false;
        }
        let child = self.graph.node(edge.child);
        let is_open = child.has(node_flag::EVALUATED)
            && child.state == State::Unknown
            && child.mate_searches != DISPROVEN
            && self.mates.repeated.binary_search(&child.key).is_err();
        if !is_open {
            return false;
        }
        self.path.restart();
        self.path.follow(edge.mv, edge.has(edge_flag::ZEROING));
        let loses = self.search_for_mate(edge.child, budget, Halt::is_overdue);
        self.path.restart();
        loses
    }

    /// Searches the node at the path's end, and notifies its parents of a win. A search that was cancelled
    /// leaves no trace: it is due again.
    fn search_for_mate(&mut self, id: NodeId, budget: u64, ends: fn(&Halt) -> bool) -> bool {
        self.mates.solver.set_memory(self.mate_memory());
        let (game, Mates { solver, repeated, halt }) = (self.path.position(), &mut self.mates);
        let (verdict, plies) = search_position(solver, game, repeated, budget, &|| ends(halt));
        if verdict == Verdict::Open && ends(halt) {
            return false;
        }
        let due = searches_due(self.graph.node(id).visits, self.settings.mate_start);
        let node = self.graph.node_mut(id);
        node.mate_searches = if verdict == Verdict::NoWin { DISPROVEN } else { due };
        if verdict == Verdict::Win {
            self.prove_win(id, plies);
        }
        verdict == Verdict::Win
    }

    /// Marks a node as won by a proof that is not in the graph, and notifies its parents. A node that is won
    /// already, and sooner, stays as it is.
    pub(super) fn prove_win(&mut self, id: NodeId, plies: u16) {
        let node = self.graph.node_mut(id);
        let is_news = !node.state.is_solved();
        if node.state.is_exact() && (node.state != State::Win || node.end_in_ply <= plies) {
            return;
        }
        node.state = State::Win;
        node.end_in_ply = plies;
        node.flags |= node_flag::MATE;
        self.below.clear();
        self.counters.mates += 1;
        self.counters.solved_nodes += u64::from(is_news);
        let mut parents: Vec<NodeId> = self.graph.parents(id).collect();
        parents.sort_unstable();
        parents.dedup();
        for parent in parents {
            self.counters.solved_nodes += solver::inform(&mut self.graph, parent, &mut self.work) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluators;
    use crate::games::chess::{Board, Rules, Variant};
    use crate::run::drive::{Limits, run};
    use crate::run::pool::Pool;
    use crate::search::Budget;
    use crate::search::proof::ProofCheck;
    use crate::settings::Settings;

    fn searched<P: Rules>(variant: Variant, fen: &str, simulations: u64) -> Search<Board<P>> {
        let board = Board::from_fen(variant, fen, false).unwrap();
        let evaluator = evaluators::by_name("uniform", 0).unwrap();
        let settings = Settings { mate_root: 0.0, ..Settings::default() };
        let mut search = Search::new(settings, Some(evaluator), board, &[]);
        let budget = Budget { simulations: Some(simulations), evaluations: None };
        let limits = Limits { budget, ..Limits::default() };
        run(&mut search, &mut Pool::new(1), limits, &Arc::default(), &mut |_| {});
        search
    }

    fn past() -> Option<Instant> {
        Instant::now().checked_sub(std::time::Duration::from_millis(20))
    }

    #[test]
    fn searches_are_due_when_visits_have_doubled() {
        let due: Vec<u8> = [0, 31, 32, 63, 64, 127, 128].map(|visits| searches_due(visits, 32)).to_vec();
        assert_eq!(due, [0, 0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn a_deadline_ends_a_search_for_a_mate_and_leaves_no_trace() {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let mut search = searched::<shakmaty::variant::VariantPosition>(Variant::Atomic, fen, 100);
        search.settings.mate_root = 100.0;
        search.watch_end(&Arc::default(), past());
        search.search_root_for_mate();
        assert!(search.mates.solver.positions() <= 256, "{}", search.mates.solver.positions());
        assert_eq!(search.graph.node(search.root).mate_searches, 0);
        search.watch_end(&Arc::default(), None);
        search.search_root_for_mate();
        assert!(search.mates.solver.positions() > 1000);
        assert_ne!(search.graph.node(search.root).mate_searches, 0);
    }

    #[test]
    fn a_proof_that_a_stop_meets_is_completed_by_the_next_search() {
        let mut search = searched::<shakmaty::Chess>(Variant::Chess, "8/8/2k5/7R/6R1/8/8/K7 w - - 0 1", 2);
        search.prove_win(search.root, 5);
        search.watch_end(&Arc::default(), past());
        assert!(!search.mates.halt.is_overdue());
        std::thread::sleep(std::time::Duration::from_millis(20));
        search.complete_proof();
        assert_eq!(search.proof_check(), Some(ProofCheck::Fails));
        assert!(search.graph.node(search.root).has(node_flag::MATE));
        search.watch_end(&Arc::default(), None);
        search.complete_proof();
        assert_eq!(search.proof_check(), Some(ProofCheck::Holds));
    }
}
