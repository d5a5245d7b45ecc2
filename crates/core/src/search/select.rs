//! PUCT: which edge a trajectory follows from a node, Eq. (3), (4), (6).
//!
//! Reads the graph and the settings, changes nothing. Only opened edges and the best unopened one are looked
//! at: the rest cannot score higher.

use crate::graph::{Edge, Graph, NONE, Node, NodeId, State, edge_flag};
use crate::search::numbers::ProofTerms;
use crate::search::root_moves::RootMoves;
use crate::search::scan::{Scan, Terms, sum_priors};
use crate::settings::{Settings, Urgency, Virtual};

/// What selection chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The opened edge in this slot.
    Opened(u16),
    /// The unopened candidate at this index.
    Unopened(usize),
    /// Nothing can be chosen: every edge is pruned by exact proofs.
    Nothing,
}

const TABLE: usize = 65536;

/// The constants of Eq. (3) to (6), with c * sqrt(sum) tabled for small sums.
#[derive(Clone, Debug)]
pub struct Puct {
    c_init: f64,
    c_base: f64,
    q_init: f64,
    urgency: Urgency,
    urgency_reduction: f64,
    value_min: f64,
    pn_weight: f64,
    virtual_mode: Virtual,
    virtual_loss: f64,
    skip_draws: bool,
    scales: Vec<f64>,
    reciprocals: Vec<f64>,
    scan: Scan,
}

impl Puct {
    /// Takes what selection needs from the settings.
    pub fn new(settings: &Settings) -> Puct {
        let mut puct = Puct {
            c_init: settings.c_init,
            c_base: settings.c_base,
            q_init: settings.q_init,
            urgency: settings.urgency,
            urgency_reduction: settings.urgency_reduction,
            value_min: settings.value_min,
            pn_weight: settings.pn_weight,
            virtual_mode: settings.virtual_mode,
            virtual_loss: settings.virtual_loss,
            skip_draws: settings.skip_draws,
            scales: Vec::new(),
            reciprocals: (0..TABLE as u32).map(|visits| 1.0 / f64::from(1 + visits)).collect(),
            scan: Scan::detect(),
        };
        puct.scales = (0..TABLE as u32).map(|sum| puct.compute_scale(sum)).collect();
        puct
    }

    /// Eq. (6): the weight of exploration at a node whose edges have `sum` visits.
    pub fn exploration_weight(&self, sum: u32) -> f64 {
        libm::log((f64::from(sum) + self.c_base + 1.0) / self.c_base) + self.c_init
    }

    fn compute_scale(&self, sum: u32) -> f64 {
        self.exploration_weight(sum) * f64::from(sum).sqrt()
    }

    /// Eq. (4): the factor that all edges of a node share, c * sqrt(sum).
    #[inline]
    pub fn scale(&self, sum: u32) -> f64 {
        match self.scales.get(sum as usize) {
            Some(&scale) => scale,
            None => self.compute_scale(sum),
        }
    }

    /// 1 / (1 + visits).
    #[inline(always)]
    pub(super) fn reciprocal(&self, visits: u32) -> f64 {
        match self.reciprocals.get(visits as usize) {
            Some(&reciprocal) => reciprocal,
            None => 1.0 / f64::from(1 + visits),
        }
    }

    /// The weight of proof numbers.
    pub(super) fn pn_weight(&self) -> f64 {
        self.pn_weight
    }

    /// Whether drawn moves are left out; proof numbers take no notice.
    pub(super) fn skips_draws(&self) -> bool {
        self.skip_draws && self.pn_weight == 0.0
    }

    /// The value of an unvisited move of a node.
    pub fn unvisited(&self, value: f64, edges: &[Edge]) -> f64 {
        match self.urgency {
            Urgency::Fixed => self.q_init,
            Urgency::Reduction => self.unvisited_after(value, sum_priors(edges)),
        }
    }

    /// The same, where the opened edges have the priors `tried` in all.
    pub(super) fn unvisited_after(&self, value: f64, tried: f64) -> f64 {
        match self.urgency {
            Urgency::Fixed => self.q_init,
            Urgency::Reduction => (value - self.urgency_reduction * tried.sqrt()).max(self.value_min),
        }
    }

    /// Whether an edge counts as unvisited: its value is that of an unvisited move.
    pub(super) fn is_unvisited(&self, visits: u32, flying: u32) -> bool {
        visits == 0 && (flying == 0 || self.virtual_mode == Virtual::Visit)
    }

    /// The value of an opened edge as selection sees it, with `flying` trajectories in flight.
    #[inline(always)]
    pub(super) fn value_in_flight(&self, q: f64, visits: u32, flying: u32, unvisited: f64) -> f64 {
        if flying == 0 || self.virtual_mode == Virtual::Visit {
            return if visits > 0 { q } else { unvisited };
        }
        let (n, k) = (f64::from(visits), f64::from(flying));
        (n * q - self.virtual_loss * k) * self.reciprocal(visits + flying - 1)
    }

    /// The same for a value that may be missing.
    pub(super) fn value_in_flight_of(
        &self,
        value: Option<f64>,
        visits: u32,
        flying: u32,
        unvisited: f64,
    ) -> f64 {
        match value {
            Some(value) if flying == 0 || self.virtual_mode == Virtual::Visit => value,
            value => self.value_in_flight(value.unwrap_or(0.0), visits, flying, unvisited),
        }
    }

    /// The virtual loss of edges where some trajectories are in flight, if it changes their value.
    pub(super) fn loss(&self, flying: u16) -> Option<f64> {
        (flying > 0 && self.virtual_mode == Virtual::Loss).then_some(self.virtual_loss)
    }

    /// The scan over edges.
    pub(super) fn scan(&self) -> Scan {
        self.scan
    }

    /// The value of an opened edge as selection sees it, its trajectories in flight included.
    #[inline(always)]
    pub(super) fn effective(&self, edge: &Edge, unvisited: f64) -> f64 {
        self.value_in_flight(edge.q, edge.visits, u32::from(edge.in_flight), unvisited)
    }

    /// Eq. (3), (4): the edge with the largest Q + U; the first of equals. `table_value` gives an unopened
    /// candidate the value of its node in the graph, if that option is on.
    pub fn select(
        &self,
        graph: &Graph,
        id: NodeId,
        table_value: Option<&mut dyn FnMut(usize) -> Option<f64>>,
    ) -> Choice {
        if self.pn_weight > 0.0 {
            return self.select_by_numbers(graph, id, table_value);
        }
        let node = graph.node(id);
        let edges = graph.edges(id);
        let scale = self.scale(node.visits - 1 + u32::from(node.in_flight));
        // Read before the edges are scanned: the two wait for memory at the same time.
        let candidate = graph.candidates(id).first().copied();
        let scanned = if self.skip_draws { None } else { self.scan_edges(node, edges, scale) };
        let unvisited = scanned.map_or_else(|| self.unvisited(node.value, edges), |(_, _, value)| value);
        let score = |edge: &Edge| {
            let visits = edge.visits + u32::from(edge.in_flight);
            self.effective(edge, unvisited) + scale * edge.prior() * self.reciprocal(visits)
        };
        let is_drawn = |edge: &Edge| edge.child != NONE && graph.node(edge.child).state == State::Draw;
        let is_open = |edge: &Edge| !edge.has(edge_flag::PRUNED) && !is_drawn(edge);
        // Where nothing is in flight the scores need no case distinction.
        let (mut best, slot) = if let Some((best, slot, _)) = scanned {
            (best, slot)
        } else if self.skip_draws && (candidate.is_some() || edges.iter().any(is_open)) {
            first_maximum(edges, |edge| if is_drawn(edge) { f64::NEG_INFINITY } else { score(edge) })
        } else if node.in_flight == 0 {
            first_maximum(edges, |edge| {
                let q = if edge.visits > 0 { edge.q } else { unvisited };
                q + scale * edge.prior() * self.reciprocal(edge.visits)
            })
        } else {
            first_maximum(edges, score)
        };
        let mut choice = if best == f64::NEG_INFINITY { Choice::Nothing } else { Choice::Opened(slot) };
        match table_value {
            None => {
                if let Some(candidate) = candidate
                    && unvisited + scale * candidate.prior() > best
                {
                    choice = Choice::Unopened(0);
                }
            }
            Some(value_of) => {
                for (index, candidate) in graph.candidates(id).iter().enumerate() {
                    let score = value_of(index).unwrap_or(unvisited) + scale * candidate.prior();
                    if score > best {
                        best = score;
                        choice = Choice::Unopened(index);
                    }
                }
            }
        }
        if choice == Choice::Nothing {
            choice = self.select_among_tablebase_losses(graph, id, scale, unvisited);
        }
        choice
    }

    /// The largest score, the first slot that has it, and the value of an unvisited move, by a scan of four
    /// edges at a time; `None` where that cannot be done.
    #[inline]
    fn scan_edges(&self, node: &Node, edges: &[Edge], scale: f64) -> Option<(f64, u16, f64)> {
        let mut terms = Terms { scale, unvisited: self.q_init, loss: self.loss(node.in_flight) };
        let mut best = self.scan.best(edges, terms)?;
        if self.urgency == Urgency::Reduction {
            terms.unvisited = self.unvisited_after(node.value, best.tried);
            if best.has_unvisited {
                best = self.scan.best(edges, terms)?;
            }
        }
        Some((best.score, best.slot, terms.unvisited))
    }

    /// The same with a term for the proof numbers of the moves. Apart, so that selection without them
    /// keeps its speed.
    #[cold]
    fn select_by_numbers(
        &self,
        graph: &Graph,
        id: NodeId,
        mut table_value: Option<&mut dyn FnMut(usize) -> Option<f64>>,
    ) -> Choice {
        let node = graph.node(id);
        let edges = graph.edges(id);
        let scale = self.scale(node.visits - 1 + u32::from(node.in_flight));
        let unvisited = self.unvisited(node.value, edges);
        let terms = ProofTerms::new(graph, id, self.pn_weight, |_| true);
        let (mut best, mut choice) = (f64::NEG_INFINITY, Choice::Nothing);
        for (slot, edge) in edges.iter().enumerate().filter(|(_, edge)| !edge.has(edge_flag::PRUNED)) {
            let visits = edge.visits + u32::from(edge.in_flight);
            let score = self.effective(edge, unvisited) + scale * edge.prior() * self.reciprocal(visits);
            let score = score + terms.of_edge(graph, id, edge);
            if score > best {
                (best, choice) = (score, Choice::Opened(slot as u16));
            }
        }
        let term = terms.of_unopened(graph, id);
        let looked_at = if table_value.is_some() { usize::MAX } else { 1 };
        for (index, candidate) in graph.candidates(id).iter().enumerate().take(looked_at) {
            let known = table_value.as_mut().and_then(|value_of| value_of(index));
            let score = known.unwrap_or(unvisited) + scale * candidate.prior() + term;
            if score > best {
                (best, choice) = (score, Choice::Unopened(index));
            }
        }
        if choice == Choice::Nothing {
            choice = self.select_among_tablebase_losses(graph, id, scale, unvisited);
        }
        choice
    }

    /// Eq. (3), (4) among some moves of a node, as if it had no others: the sum of visits, the priors and the
    /// node's value are those of `root_moves`. The list of candidates must be whole.
    pub fn select_among(&self, graph: &Graph, id: NodeId, root_moves: &RootMoves) -> Choice {
        let edges = || graph.edges(id).iter().enumerate().filter(|(_, edge)| root_moves.contains(edge.mv));
        let candidates = || {
            graph
                .candidates(id)
                .iter()
                .enumerate()
                .filter(|(_, candidate)| root_moves.contains(candidate.mv()))
        };
        let (mut visits, mut flying, mut mass, mut opened) = (0, 0, 0.0, 0.0);
        for (_, edge) in edges() {
            visits += edge.visits;
            flying += u32::from(edge.in_flight);
            mass += f64::from(edge.visits) * edge.q;
            opened += edge.prior();
        }
        let priors = opened + candidates().map(|(_, candidate)| candidate.prior()).sum::<f64>();
        let value = if visits > 0 { mass / f64::from(visits) } else { graph.node(id).value };
        let (scale, unvisited) = self.among(visits + flying, value, opened, priors);
        let score = |edge: &Edge| {
            self.effective(edge, unvisited)
                + scale * edge.prior() * self.reciprocal(edge.visits + u32::from(edge.in_flight))
        };
        let mut best: Option<(f64, Choice)> = None;
        let mut take = |score: f64, choice: Choice| {
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, choice));
            }
        };
        let terms = ProofTerms::new(graph, id, self.pn_weight, |mv| root_moves.contains(mv));
        for (slot, edge) in edges().filter(|(_, edge)| !edge.has(edge_flag::PRUNED)) {
            take(score(edge) + terms.of_edge(graph, id, edge), Choice::Opened(slot as u16));
        }
        for (index, candidate) in candidates() {
            let score = unvisited + scale * candidate.prior() + terms.of_unopened(graph, id);
            take(score, Choice::Unopened(index));
        }
        if best.is_none() {
            // As in `select_among_tablebase_losses`.
            for (slot, edge) in
                edges().filter(|(_, edge)| edge.child != NONE && !graph.node(edge.child).state.is_exact())
            {
                let found = score(edge);
                if best.is_none_or(|(known, _)| found > known) {
                    best = Some((found, Choice::Opened(slot as u16)));
                }
            }
        }
        best.map_or(Choice::Nothing, |(_, choice)| choice)
    }

    /// The scale and the value of an unvisited move among some moves of a node that have the visits `sum`,
    /// the priors `opened` and `priors`, opened and in all, and the mean `value`.
    pub(super) fn among(&self, sum: u32, value: f64, opened: f64, priors: f64) -> (f64, f64) {
        let share = if priors > 0.0 { 1.0 / priors } else { 0.0 };
        let unvisited = match self.urgency {
            Urgency::Fixed => self.q_init,
            Urgency::Reduction => {
                (value - self.urgency_reduction * (opened * share).sqrt()).max(self.value_min)
            }
        };
        (self.scale(sum) * share, unvisited)
    }

    /// Where every move is pruned, those that only a tablebase condemns are still worth playing.
    fn select_among_tablebase_losses(&self, graph: &Graph, id: NodeId, scale: f64, unvisited: f64) -> Choice {
        let mut best = f64::NEG_INFINITY;
        let mut choice = Choice::Nothing;
        for (slot, edge) in graph.edges(id).iter().enumerate() {
            if edge.child == NONE || graph.node(edge.child).state.is_exact() {
                continue;
            }
            let visits = edge.visits + u32::from(edge.in_flight);
            let score = self.effective(edge, unvisited) + scale * edge.prior() * self.reciprocal(visits);
            if score > best {
                best = score;
                choice = Choice::Opened(slot as u16);
            }
        }
        choice
    }
}

/// Scores computed at a time.
const CHUNK: usize = 32;

/// The largest score over the edges that are not pruned, and the first slot that has it. First all scores of
/// a chunk, then their maximum, then its place: none of the three has to wait for a comparison.
#[inline(always)]
fn first_maximum(edges: &[Edge], score_of: impl Fn(&Edge) -> f64) -> (f64, u16) {
    let mut best = f64::NEG_INFINITY;
    let mut best_slot = 0;
    let mut scores = [f64::NEG_INFINITY; CHUNK];
    for (chunk, some) in edges.chunks(CHUNK).enumerate() {
        for (score, edge) in scores.iter_mut().zip(some) {
            let value = score_of(edge);
            *score = if edge.has(edge_flag::PRUNED) { f64::NEG_INFINITY } else { value };
        }
        let scores = &scores[..some.len()];
        let mut lanes = [f64::NEG_INFINITY; 4];
        let (fours, rest) = scores.as_chunks::<4>();
        for four in fours {
            for (lane, &score) in lanes.iter_mut().zip(four) {
                *lane = if score > *lane { score } else { *lane };
            }
        }
        let most = lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        if most > best {
            best = most;
            best_slot = chunk * CHUNK + scores.iter().position(|&score| score == most).unwrap_or(0);
        }
    }
    (best, best_slot as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::MoveCode;
    use crate::graph::node_flag;
    use crate::graph::prior::{Candidate, to_half};

    fn node(priors: &[f64]) -> (Graph, NodeId) {
        let mut graph = Graph::new(1 << 20);
        assert!(graph.ensure_room(1, 512, false));
        let id = graph.add_node(1, 0, 0, priors.len());
        let list: Vec<Candidate> = priors
            .iter()
            .enumerate()
            .map(|(code, &p)| Candidate::new(to_half(p), MoveCode(code as u16)))
            .collect();
        graph.list_candidates(id, &list);
        let node = graph.node_mut(id);
        node.flags |= node_flag::EVALUATED;
        node.visits = 1;
        (graph, id)
    }

    #[test]
    fn first_visit_takes_the_highest_prior_and_visits_wear_it_down() {
        let puct = Puct::new(&Settings::preset("mcgs-combined").unwrap());
        let (mut graph, id) = node(&[0.5, 0.25, 0.25]);
        assert_eq!(puct.select(&graph, id, None), Choice::Unopened(0));
        graph.open(id, 0);
        graph.edge_mut(id, 0).visits = 1;
        graph.edge_mut(id, 0).q = -1.0;
        graph.node_mut(id).visits = 2;
        // Both have Q = -1; U is c * 0.5 / 2 against c * 0.25 / 1: a tie, which the lower index wins.
        assert_eq!(puct.select(&graph, id, None), Choice::Opened(0));
        graph.edge_mut(id, 0).visits = 2;
        graph.node_mut(id).visits = 3;
        assert_eq!(puct.select(&graph, id, None), Choice::Unopened(0));
    }

    #[test]
    fn virtual_loss_turns_selection_away_and_pruned_edges_are_skipped() {
        let puct = Puct::new(&Settings::preset("mcgs-combined").unwrap());
        let (mut graph, id) = node(&[0.5, 0.25, 0.25]);
        graph.open(id, 0);
        graph.edge_mut(id, 0).visits = 8;
        graph.edge_mut(id, 0).q = 0.9;
        graph.node_mut(id).visits = 9;
        assert_eq!(puct.select(&graph, id, None), Choice::Opened(0));
        graph.edge_mut(id, 0).in_flight = 16;
        graph.node_mut(id).in_flight = 16;
        assert_eq!(puct.select(&graph, id, None), Choice::Unopened(0));
        graph.edge_mut(id, 0).in_flight = 0;
        graph.node_mut(id).in_flight = 0;
        graph.edge_mut(id, 0).flags |= edge_flag::PRUNED;
        assert_eq!(puct.select(&graph, id, None), Choice::Unopened(0));
    }

    #[test]
    fn weight_grows_with_visits_as_equation_6_says() {
        let puct = Puct::new(&Settings::preset("mcgs-combined").unwrap());
        assert!((puct.exploration_weight(0) - (2.5 + (19653.0f64 / 19652.0).ln())).abs() < 1e-12);
        assert!((puct.exploration_weight(19652) - (2.5 + (39305.0f64 / 19652.0).ln())).abs() < 1e-12);
        assert_eq!(puct.scale(100), puct.exploration_weight(100) * 10.0);
        assert_eq!(puct.scale(1_000_000), puct.exploration_weight(1_000_000) * 1000.0);
    }
}
