//! The memory cap: how a search makes room for the next simulation, and what it gives up first.
//!
//! Called before a simulation, never during one: trajectories in flight and their leaves are always kept.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Search;
use crate::game::Game;
use crate::graph::{Cancelled, Graph, MOST_MOVES, NONE, NodeId, RANKS, State, node_flag};
use crate::search::solver;

/// Nodes looked at between two looks at the stop flag.
const SLICE: u32 = 4096;
/// Share of the bytes of nodes, edges and candidates that stays when memory is reclaimed. The less is given
/// up at once, the stronger is a search at its cap (docs/performance.md); but a reclaim takes time in
/// proportion to all nodes.
const KEPT: f64 = 0.9;
/// Share that must be free afterwards of what the nodes, the edges and the candidates may take each. Else
/// more is given up, a quarter at a time.
const FREE: f64 = 0.05;
/// Bytes of a node with its edges, where the memory is shared with stored positions.
const NODE_BYTES: f64 = 150.0;
/// Periods after which it no longer matters how long ago a node was visited.
const OLDEST: usize = 8192;
/// Periods that a doubling of the visits is worth.
const PER_DOUBLING: f64 = 64.0;

impl<G: Game> Search<G> {
    /// Makes sure that the next simulation finds its memory; gives up what matters least at the cap. A stop
    /// ends that early, without room.
    pub(super) fn make_room(&mut self, stop: &AtomicBool) -> bool {
        let uses_table = self.uses_table();
        let promised = self.promised + 2 * MOST_MOVES;
        self.graph.ensure_room(1, promised, uses_table)
            || (self.reclaim(stop) && self.graph.ensure_room(1, promised, uses_table))
    }

    /// Frees what the root does not reach, or what was about to be freed when a stop came. Returns whether it
    /// came to an end: before that nothing may be searched, else the graph would depend on when the stop
    /// came.
    pub fn tidy(&mut self, stop: &AtomicBool) -> bool {
        if self.graph.is_swept() {
            return true;
        }
        let is_done = self.graph.go_on(&|| stop.load(Ordering::Relaxed));
        if is_done {
            self.graph.recount_visits();
            self.forget_positions();
        }
        is_done
    }

    /// Forgets the stored positions that have no node, in games that store them.
    pub(super) fn forget_positions(&self) {
        let root = self.path.root();
        if root.is_fetched() {
            root.retain(&mut self.graph.ids().map(|id| self.graph.node(id).key));
        }
    }

    /// The part of the memory cap that the graph may take: stored positions have the rest.
    pub(super) fn graph_memory(&self) -> usize {
        let memory = self.settings.memory as usize;
        match self.origin.bytes_per_position() {
            0 => memory,
            bytes => (memory as f64 * NODE_BYTES / (NODE_BYTES + bytes as f64)) as usize,
        }
    }

    /// Frees the nodes that were not visited for longest; the edges above keep their numbers.
    #[cold]
    fn reclaim(&mut self, stop: &AtomicBool) -> bool {
        if self.root == NONE {
            return false;
        }
        let cancelled = || stop.load(Ordering::Relaxed);
        let (uses_table, promised) = (self.uses_table(), self.promised + 2 * MOST_MOVES);
        // Blocks that were left behind are closed up first: nothing is lost by that.
        if self.graph.garbage_share() > 0.25 {
            if !self.graph.close_up(&cancelled) {
                return false;
            }
            self.graph.trim();
            if self.graph.free_share() >= 1.0 - KEPT && self.graph.ensure_room(1, promised, uses_table) {
                return true;
            }
        }
        let Some((pinned, bytes)) = self.survey(&cancelled) else { return false };
        self.counters.reclaims += 1;
        self.below.clear();
        self.graph.renumber_periods();
        let root = self.root;
        let rank = |graph: &Graph, above, id, slot| rank(graph, root, above, id, slot);
        let mut share = KEPT;
        loop {
            let kept = (bytes as f64 * share) as usize;
            let Some(marks) = self.graph.best(&pinned, kept, rank, &cancelled) else { return false };
            self.graph.keep(marks);
            if !self.graph.go_on(&cancelled) {
                return false;
            }
            self.graph.trim();
            self.forget_positions();
            if self.graph.free_share() >= FREE && self.graph.ensure_room(1, promised, uses_table) {
                return true;
            }
            if share == 0.0 {
                return self.graph.free_share() > 0.0;
            }
            share = if share > 0.1 { 0.75 * share } else { 0.0 };
        }
    }

    /// The nodes that must stay (the root and what is in flight), and the bytes of all nodes with their edges
    /// and candidates. `None` when cancelled.
    fn survey(&self, cancelled: Cancelled) -> Option<(Vec<NodeId>, usize)> {
        let (mut pinned, mut bytes) = (vec![self.root], 0);
        for id in self.graph.ids() {
            if id % SLICE == 0 && cancelled() {
                return None;
            }
            let node = self.graph.node(id);
            if node.in_flight > 0 || node.has(node_flag::WAITING) {
                pinned.push(id);
            }
            bytes += self.graph.bytes_of(id);
        }
        Some((pinned, bytes))
    }
}

/// How much the child of an edge is worth, for [`Graph::best`]: the later its last visit, the more. A proof
/// would have to be searched for again, so its nodes are worth what the node is that they prove something
/// about, whatever their visits. What else lies below a proven node goes first.
fn rank(graph: &Graph, root: NodeId, above: usize, id: NodeId, slot: u16) -> usize {
    let child = graph.edge(id, slot).child;
    // A root that is proven is searched on when the search is restricted to some of its moves.
    let is_below_proof = id != root && graph.node(id).state.is_exact();
    if is_below_proof && !is_part_of_proof(graph, id, child) {
        return 0;
    }
    // What rests on tablebases can be looked up again.
    // Not the rank of what must stay: a proof has to fit.
    if is_below_proof || graph.node(child).state.is_exact() {
        above.min(RANKS - 2)
    } else {
        worth(graph.age(child), graph.node(child).visits)
    }
}

/// The worth of a node that is no part of a proof. Visits count as well: what was visited often takes longer
/// to find again.
fn worth(age: u16, visits: u32) -> usize {
    let doublings = f64::from(visits.max(1)).log2();
    1 + OLDEST.saturating_sub(usize::from(age)) + (PER_DOUBLING * doublings) as usize
}

const _: () = assert!(1 + OLDEST + 32 * PER_DOUBLING as usize <= RANKS - 2);

/// A proof needs all children of a lost or drawn node, but only the shortest answer of a won one.
fn is_part_of_proof(graph: &Graph, id: NodeId, child: NodeId) -> bool {
    if !graph.node(child).state.is_exact() {
        return false;
    }
    let node = graph.node(id);
    node.state != State::Win
        || (solver::seen_from(graph, id, child) == State::Win
            && graph.node(child).end_in_ply.saturating_add(1) == node.end_in_ply)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::evaluators;
    use crate::games::chess::{Board, ChessBoard, Rules, Variant};
    use crate::graph::edge_flag;
    use crate::run::drive::{Finish, Limits, run};
    use crate::run::pool::Pool;
    use crate::search::Budget;
    use crate::settings::{Settings, Urgency};

    const CHESS: &str = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7";
    const HOUSE: &str = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14";

    fn search<P: Rules>(variant: Variant, fen: &str, memory: u64) -> Search<Board<P>> {
        let settings = Settings { urgency: Urgency::Reduction, memory, ..Settings::default() };
        let board = Board::from_fen(variant, fen, false).unwrap();
        Search::new(settings, Some(evaluators::by_name("material", 0).unwrap()), board, &[])
    }

    fn go_on<G: Game>(search: &mut Search<G>, simulations: u64) -> Finish {
        let budget =
            Budget { simulations: Some(search.counters().simulations + simulations), evaluations: None };
        run(
            search,
            &mut Pool::new(1),
            Limits { budget, ..Limits::default() },
            &Arc::new(AtomicBool::new(false)),
            &mut |_| {},
        )
    }

    /// Nodes, and those that were visited at least twice.
    fn count<G: Game>(search: &Search<G>) -> (usize, usize) {
        let graph = search.graph();
        (graph.len(), graph.ids().filter(|&id| graph.node(id).visits > 1).count())
    }

    /// What the solver believes is what the graph shows: no edge is pruned for a proof that is gone, and no
    /// node waits for a verdict in vain.
    fn check_proofs<G: Game>(search: &Search<G>) {
        let graph = search.graph();
        for id in graph.ids().filter(|&id| !graph.node(id).has(node_flag::TERMINAL)) {
            let (node, edges) = (graph.node(id), graph.edges(id));
            let counted = edges.iter().filter(|edge| edge.has(edge_flag::COUNTED)).count();
            assert_eq!(usize::from(node.unknown), usize::from(node.legal) - counted);
            for edge in edges.iter().filter(|edge| edge.flags & (edge_flag::COUNTED | edge_flag::PRUNED) != 0)
            {
                assert!(edge.child != NONE && graph.node(edge.child).state.is_solved());
            }
            if node.fully_opened() && edges.iter().all(|edge| edge.has(edge_flag::PRUNED)) {
                assert!(node.state.is_solved());
            }
        }
    }

    fn most_useful_nodes_survive<P: Rules>(variant: Variant, fen: &str) {
        const CAP: u64 = 4 << 20;
        let mut search = search::<P>(variant, fen, CAP);
        let mut reclaims = 0;
        let mut most_nodes = 0;
        for _ in 0..2000 {
            let (nodes, useful) = count(&search);
            most_nodes = most_nodes.max(nodes);
            assert_eq!(go_on(&mut search, 200), Finish::Budget);
            assert!(search.graph().reserved_bytes() <= CAP as usize);
            if search.counters().reclaims > reclaims {
                reclaims = search.counters().reclaims;
                let after = count(&search);
                assert!(
                    2 * after.1 > useful,
                    "{variant}: of {useful} nodes with two visits {} are left",
                    after.1
                );
                assert!(2 * after.0 > most_nodes, "{variant}: of {most_nodes} nodes {} are left", after.0);
                check_proofs(&search);
            }
        }
        assert!(reclaims > 2, "{reclaims}");
        assert_eq!(reclaims, search.counters().reclaims);
    }

    #[test]
    fn most_of_what_is_useful_survives() {
        most_useful_nodes_survive::<shakmaty::Chess>(Variant::Chess, CHESS);
        most_useful_nodes_survive::<shakmaty::variant::Crazyhouse>(Variant::Crazyhouse, HOUSE);
    }

    #[test]
    fn late_visits_and_many_visits_are_worth_more() {
        assert!(worth(0, 1) > worth(1, 1) && worth(1, 1) > worth(2, 1));
        assert!(worth(60, 2) > worth(0, 1) && worth(70, 2) < worth(0, 1));
        assert_eq!(worth(u16::MAX, 1), 1);
        assert!(worth(0, u32::MAX) < RANKS - 1);
    }

    #[test]
    fn a_stop_between_two_searches_leaves_no_trace() {
        let played = |search: &Search<ChessBoard>| vec![search.best_code().unwrap()];
        let begin = || {
            let mut search = search::<shakmaty::Chess>(Variant::Chess, CHESS, 64 << 20);
            go_on(&mut search, 20_000);
            let moves = played(&search);
            assert!(search.move_to(search.origin.clone(), &moves));
            search
        };
        let end = |mut search: Search<ChessBoard>| {
            go_on(&mut search, 3000);
            assert!(search.graph().is_swept());
            let mut nodes: Vec<(u64, u32, u64)> = search
                .graph()
                .ids()
                .map(|id| search.graph().node(id))
                .map(|node| (node.key, node.visits, node.value.to_bits()))
                .collect();
            nodes.sort_unstable();
            nodes
        };
        let undisturbed = end(begin());
        let (stop, budget) = (AtomicBool::new(true), Budget::default());
        for stops in [1, 3, 9, 30, 200] {
            let mut search = begin();
            let before = search.graph().len();
            assert!(!search.graph().is_swept(), "a move frees nothing, so it takes no time");
            for _ in 0..stops {
                assert!(search.collect(&budget, &stop).pending.is_empty());
                assert!(search.graph().len() <= before && search.counters().simulations == 20_000);
            }
            assert!(search.graph().is_swept() == (stops == 200));
            assert_eq!(end(search), undisturbed);
        }
    }
}
