//! How the visits at a node are split over its edges: Eq. (3), (4) again and again, each choice counting as a
//! visit in flight for the next.

use crate::graph::prior::Candidate;
use crate::graph::{Edge, Graph, NONE, NodeId, edge_flag};
use crate::search::scan::{Terms, sum_priors};
use crate::search::select::Puct;

/// Visits and edges from which on it pays to leave edges out.
const FEWEST_VISITS: u32 = 2;
const FEWEST_EDGES: usize = 8;
/// Edges that are compared one by one.
const FEW: usize = 8;

/// The edges of a node, with what was given out so far. Kept to spare allocations.
#[derive(Debug, Default)]
pub(in crate::search) struct Split {
    /// Q as selection sees it; of pruned edges minus infinity.
    q: Vec<f64>,
    prior: Vec<f64>,
    /// 1 / (1 + N + k).
    share: Vec<f64>,
    visits: Vec<u32>,
    flying: Vec<u32>,
    /// Which edge it is.
    slots: Vec<u32>,
    scores: Vec<f64>,
    /// Edges whose Q is that of an unvisited move.
    unvisited: Vec<usize>,
    /// What was chosen, in order: a slot, or the number of opened edges plus the index of a candidate.
    pub picks: Vec<u32>,
}

impl Split {
    /// Takes the edges that one of `count` visits may choose, which come when the scale is `first` to `last`.
    /// While it is not chosen, the score of an edge is at most that with the last scale; while all visits
    /// choose it, at least that with the first.
    fn load(&mut self, puct: &Puct, edges: &[Edge], unvisited: f64, scales: (f64, f64), count: u32) {
        self.q.clear();
        self.prior.clear();
        self.share.clear();
        self.visits.clear();
        self.flying.clear();
        self.unvisited.clear();
        self.slots.clear();
        let is_narrowed = count >= FEWEST_VISITS && edges.len() >= FEWEST_EDGES;
        let least =
            if is_narrowed { self.bound(puct, edges, unvisited, scales, count) } else { f64::NEG_INFINITY };
        for (slot, edge) in edges.iter().enumerate() {
            if is_narrowed && self.scores[slot] < least {
                continue;
            }
            let flying = u32::from(edge.in_flight);
            let is_pruned = edge.has(edge_flag::PRUNED);
            let q = if is_pruned { f64::NEG_INFINITY } else { puct.effective(edge, unvisited) };
            let (prior, share) = (edge.prior(), puct.reciprocal(edge.visits + flying));
            if !is_pruned && puct.is_unvisited(edge.visits, flying) {
                self.unvisited.push(self.q.len());
            }
            self.q.push(q);
            self.prior.push(prior);
            self.share.push(share);
            self.visits.push(edge.visits);
            self.flying.push(flying);
            self.slots.push(slot as u32);
        }
    }

    /// Writes to `scores` what each edge can score at most; returns what some edge scores at least.
    fn bound(
        &mut self,
        puct: &Puct,
        edges: &[Edge],
        unvisited: f64,
        (first, last): (f64, f64),
        count: u32,
    ) -> f64 {
        let terms = Terms { scale: first, unvisited, loss: puct.loss(1) };
        if let Some(least) = puct.scan().bounds(edges, terms, last, count, &mut self.scores) {
            return least;
        }
        let mut least = f64::NEG_INFINITY;
        self.scores.clear();
        for edge in edges {
            let flying = u32::from(edge.in_flight);
            let most =
                puct.effective(edge, unvisited) + last * edge.prior() * puct.reciprocal(edge.visits + flying);
            let is_pruned = edge.has(edge_flag::PRUNED);
            self.scores.push(if is_pruned { f64::NEG_INFINITY } else { most });
            if edge.visits > 0 && !is_pruned {
                let flying = flying + count;
                let q = puct.value_in_flight(edge.q, edge.visits, flying, 0.0);
                least = least.max(q + first * edge.prior() * puct.reciprocal(edge.visits + flying));
            }
        }
        least
    }

    /// Splits `count` visits; `candidates` are the unopened moves, or the best of them. Fewer are given out
    /// where no edge can be chosen. False, and to be repeated with all, where the candidates are not enough.
    pub fn run(
        &mut self,
        puct: &Puct,
        graph: &Graph,
        id: NodeId,
        candidates: &[Candidate],
        count: u32,
    ) -> bool {
        let (node, edges) = (graph.node(id), graph.edges(id));
        let mut tried = sum_priors(edges);
        let mut unvisited = puct.unvisited_after(node.value, tried);
        let sum = node.visits - 1 + u32::from(node.in_flight);
        self.load(puct, edges, unvisited, (puct.scale(sum), puct.scale(sum + count)), count);
        self.picks.clear();
        let mut taken = 0;
        let is_whole = edges.len() + candidates.len() >= usize::from(node.legal);
        for given in 0..count {
            let scale = puct.scale(sum + given);
            let (mut best, mut pick) = self.first_maximum(scale);
            if taken == candidates.len() && !is_whole {
                return false;
            }
            if let Some(candidate) = candidates.get(taken)
                && unvisited + scale * candidate.prior() > best
            {
                (best, pick) = (0.0, self.q.len());
            }
            if best == f64::NEG_INFINITY {
                match self.first_tablebase_loss(puct, graph, edges, scale, unvisited) {
                    Some(slot) => pick = slot,
                    None => break,
                }
            }
            if pick == self.q.len() {
                self.slots.push((edges.len() + taken) as u32);
                let prior = candidates[taken].prior();
                taken += 1;
                tried += prior;
                unvisited = puct.unvisited_after(node.value, tried);
                self.q.push(unvisited);
                self.prior.push(prior);
                self.share.push(1.0);
                self.visits.push(0);
                self.flying.push(0);
                self.unvisited.push(pick);
                for &slot in &self.unvisited {
                    self.q[slot] = unvisited;
                }
            }
            self.picks.push(self.slots[pick]);
            self.count(puct, edges, pick, unvisited);
        }
        true
    }

    /// One more visit is on its way through an edge.
    fn count(&mut self, puct: &Puct, edges: &[Edge], pick: usize, unvisited: f64) {
        self.flying[pick] += 1;
        let (visits, flying) = (self.visits[pick], self.flying[pick]);
        self.share[pick] = puct.reciprocal(visits + flying);
        if self.q[pick] != f64::NEG_INFINITY {
            let q = edges.get(self.slots[pick] as usize).map_or(0.0, |edge| edge.q);
            self.q[pick] = puct.value_in_flight(q, visits, flying, unvisited);
            if !puct.is_unvisited(visits, flying) {
                self.unvisited.retain(|&slot| slot != pick);
            }
        }
    }

    /// The largest score, and the first edge that has it.
    fn first_maximum(&mut self, scale: f64) -> (f64, usize) {
        if self.q.len() <= FEW {
            let (mut most, mut first) = (f64::NEG_INFINITY, 0);
            let edges = self.q.iter().zip(&self.prior).zip(&self.share);
            for (at, ((&q, &prior), &share)) in edges.enumerate() {
                let score = q + scale * prior * share;
                if score > most {
                    (most, first) = (score, at);
                }
            }
            return (most, first);
        }
        let edges = self.q.iter().zip(&self.prior).zip(&self.share);
        self.scores.clear();
        self.scores.extend(edges.map(|((&q, &prior), &share)| q + scale * prior * share));
        let mut lanes = [f64::NEG_INFINITY; 4];
        let (fours, rest) = self.scores.as_chunks::<4>();
        for four in fours {
            for (lane, &score) in lanes.iter_mut().zip(four) {
                *lane = if score > *lane { score } else { *lane };
            }
        }
        let most = lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        (most, self.scores.iter().position(|&score| score == most).unwrap_or(0))
    }

    /// Where every move is pruned, the best of those that only a tablebase condemns.
    #[cold]
    fn first_tablebase_loss(
        &self,
        puct: &Puct,
        graph: &Graph,
        edges: &[Edge],
        scale: f64,
        unvisited: f64,
    ) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (slot, edge) in edges.iter().enumerate() {
            if edge.child == NONE || graph.node(edge.child).state.is_exact() {
                continue;
            }
            let q = puct.value_in_flight(edge.q, edge.visits, self.flying[slot], unvisited);
            let score = q + scale * self.prior[slot] * self.share[slot];
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, slot));
            }
        }
        best.map(|(_, slot)| slot)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::game::MoveCode;
    use crate::graph::node_flag;
    use crate::graph::prior::to_half;
    use crate::random::Random;
    use crate::search::select::Choice;
    use crate::settings::{Settings, Urgency, Virtual};

    /// A node with some edges opened, visited, in flight and pruned by chance.
    fn node(seed: u64, moves: usize, opened: usize) -> (Graph, NodeId) {
        node_in(Graph::new(1 << 20), seed, moves, opened)
    }

    /// The same in a given graph.
    pub fn node_in(mut graph: Graph, seed: u64, moves: usize, opened: usize) -> (Graph, NodeId) {
        let mut random = Random::new(seed);
        assert!(graph.ensure_room(4, 512, false));
        let id = graph.add_node(1, 0, 0, moves);
        let mut list: Vec<Candidate> = (0..moves)
            .map(|code| Candidate::new(to_half(random.uniform().powi(4) * 0.3), MoveCode(code as u16)))
            .collect();
        list.sort_unstable_by(|a, b| b.cmp(a));
        graph.list_candidates(id, &list);
        let (mut visits, mut flying) = (1, 0);
        for _ in 0..opened {
            let slot = graph.open(id, 0);
            let edge = graph.edge_mut(id, slot);
            edge.visits = (400.0 * edge.prior() * random.uniform()) as u32;
            edge.q = random.uniform() - 0.5;
            edge.in_flight = random.index(3) as u16;
            visits += edge.visits;
            flying += edge.in_flight;
            if random.index(10) == 0 {
                edge.flags |= edge_flag::PRUNED;
            }
        }
        let node = graph.node_mut(id);
        node.flags |= node_flag::EVALUATED;
        (node.visits, node.in_flight, node.value) = (visits, flying, 0.1);
        (graph, id)
    }

    #[test]
    fn a_split_is_what_simulations_in_flight_would_choose() {
        let mut split = Split::default();
        for seed in 0..200 {
            let settings = Settings {
                virtual_mode: if seed % 2 == 0 { Virtual::Visit } else { Virtual::Loss },
                urgency: if seed % 3 == 0 { Urgency::Fixed } else { Urgency::Reduction },
                ..Settings::default()
            };
            let puct = Puct::new(&settings);
            let (moves, opened) = (4 + seed as usize % 60, seed as usize % 37);
            let count = [2, 7, 60, 300][seed as usize % 4];
            let opened = opened.min(moves);
            let (graph, id) = node(seed, moves, opened);
            assert!(split.run(&puct, &graph, id, graph.candidates(id), count));
            let (mut graph, id) = node(seed, moves, opened);
            let mut expected = Vec::new();
            for _ in 0..count {
                let slot = match puct.select(&graph, id, None) {
                    Choice::Opened(slot) => slot,
                    Choice::Unopened(index) => graph.open(id, index),
                    Choice::Nothing => break,
                };
                graph.edge_mut(id, slot).in_flight += 1;
                graph.node_mut(id).in_flight += 1;
                expected.push(u32::from(slot));
            }
            assert_eq!(split.picks, expected, "seed {seed}");
        }
    }

    #[test]
    fn a_list_of_some_candidates_is_not_enough_when_all_are_taken() {
        let puct = Puct::new(&Settings::default());
        let (graph, id) = node(3, 30, 0);
        let mut split = Split::default();
        assert!(!split.run(&puct, &graph, id, &graph.candidates(id)[..2], 300));
        assert!(split.run(&puct, &graph, id, graph.candidates(id), 300));
        assert_eq!(split.picks.len(), 300);
    }
}
