//! UCT and UCD: selection by values and visits without priors, Eq. (1), (2) of the paper.
//!
//! UCD takes mean and visits of an edge from a depth below it. Those numbers are kept by node and depth until
//! something below changes. Reads the graph, changes nothing in it.

use std::collections::HashMap;

use super::path::Step;
use super::root_moves::RootMoves;
use super::select::{Choice, Puct};
use crate::graph::{Edge, Graph, NONE, NodeId, edge_flag, node_flag};
use crate::settings::Settings;

/// The depth that has no end.
const INFINITE: u8 = u8::MAX;

/// What the edges into a node take from it, at some depth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sums {
    /// Values times weights, for the side to move at the node.
    mass: f64,
    weight: f64,
    /// Visits at the depth.
    visits: f64,
}

/// Mean and visits of an edge as UCD sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adapted {
    /// mu_d.
    pub mean: f64,
    /// n_d.
    pub visits: f64,
}

/// The numbers from below that are known, by node and depth.
#[derive(Debug, Default)]
pub struct Below {
    known: HashMap<(NodeId, u8), Sums>,
}

const fn next(depth: u8) -> u8 {
    if depth == INFINITE { INFINITE } else { depth - 1 }
}

impl Below {
    /// Forgets everything: proofs or nodes have changed.
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// Forgets what rests on the nodes of a trajectory that was backed up.
    pub fn forget(&mut self, graph: &Graph, steps: &[Step], settings: &Settings) {
        let depths = [settings.ucd_value, settings.ucd_parent, settings.ucd_visits].map(|depth| depth as u8);
        let deepest = depths.iter().copied().filter(|&depth| depth < INFINITE).max().unwrap_or(0);
        let infinite = depths.contains(&INFINITE).then_some(INFINITE);
        let mut work: Vec<(NodeId, u8)> = Vec::new();
        for step in steps {
            work.extend((1..=deepest).chain(infinite).map(|depth| (step.node, depth)));
        }
        while let Some((id, depth)) = work.pop() {
            // What is not known has nothing above it that is.
            if self.known.remove(&(id, depth)).is_some() {
                let above = if depth == INFINITE { INFINITE } else { depth + 1 };
                if above == INFINITE && depth != INFINITE {
                    continue;
                }
                work.extend(graph.parents(id).map(|parent| (parent, above)));
            }
        }
    }

    /// The mean mu_d and the visits n_d of an edge: the numbers of Eq. (1), (2) at depth d.
    pub fn adapted(&mut self, graph: &Graph, id: NodeId, edge: &Edge, depth: u8) -> Adapted {
        let visits = f64::from(edge.visits);
        if depth == 0 || edge.child == NONE || !graph.node(edge.child).has(node_flag::EVALUATED) {
            return Adapted { mean: edge.q, visits };
        }
        let draws = f64::from(edge.draws);
        let drawn = draws * graph.draw_value(id);
        if graph.exact_value(edge.child).is_some() {
            let target = graph.target(id, edge.child);
            let mean = if edge.visits == 0 { target } else { ((visits - draws) * target + drawn) / visits };
            return Adapted { mean, visits };
        }
        let below = self.sums(graph, edge.child, depth);
        let mean = (graph.sign(id, edge.child) * below.mass + drawn) / (below.weight + draws);
        Adapted { mean, visits: below.visits + draws }
    }

    fn sums(&mut self, graph: &Graph, id: NodeId, depth: u8) -> Sums {
        if let Some(&sums) = self.known.get(&(id, depth)) {
            return sums;
        }
        let mut sums = Sums { mass: f64::from(graph.node(id).raw), weight: 1.0, visits: 1.0 };
        for edge in graph.edges(id).iter().filter(|edge| edge.visits > 0) {
            let numbers = self.adapted(graph, id, edge, next(depth));
            sums.mass += f64::from(edge.visits) * numbers.mean;
            sums.weight += f64::from(edge.visits);
            sums.visits += numbers.visits;
        }
        self.known.insert((id, depth), sums);
        sums
    }

    /// Eq. (1), (2): every move once, then the largest mean plus exploration term; the first of equals. Only
    /// `moves` are there to choose from.
    pub fn select(
        &mut self,
        graph: &Graph,
        id: NodeId,
        moves: &RootMoves,
        puct: &Puct,
        settings: &Settings,
    ) -> Choice {
        let is_free = |edge: &Edge| !edge.has(edge_flag::PRUNED) && moves.contains(edge.mv);
        let is_unsure = |edge: &Edge| {
            edge.child != NONE && !graph.node(edge.child).state.is_exact() && moves.contains(edge.mv)
        };
        let edges = graph.edges(id);
        let untried = |edge: &Edge| edge.visits == 0 && edge.in_flight == 0;
        if let Some(slot) = edges.iter().position(|edge| is_free(edge) && untried(edge)) {
            return Choice::Opened(slot as u16);
        }
        if let Some(index) = graph.candidates(id).iter().position(|candidate| moves.contains(candidate.mv()))
        {
            return Choice::Unopened(index);
        }
        if edges.iter().any(is_free) {
            return self.largest(graph, id, moves, puct, settings, is_free);
        }
        match edges.iter().position(|edge| is_unsure(edge) && untried(edge)) {
            Some(slot) => Choice::Opened(slot as u16),
            None => self.largest(graph, id, moves, puct, settings, is_unsure),
        }
    }

    fn largest(
        &mut self,
        graph: &Graph,
        id: NodeId,
        moves: &RootMoves,
        puct: &Puct,
        settings: &Settings,
        is_candidate: impl Fn(&Edge) -> bool,
    ) -> Choice {
        let [value, parent, visits] =
            [settings.ucd_value, settings.ucd_parent, settings.ucd_visits].map(|depth| depth as u8);
        let node = graph.node(id);
        let edges = graph.edges(id);
        let mut total = 0.0;
        for edge in edges.iter().filter(|edge| moves.contains(edge.mv)) {
            total += self.adapted(graph, id, edge, parent).visits + f64::from(edge.in_flight);
        }
        let logarithm = libm::log(total);
        let unvisited = puct.unvisited(node.value, edges);
        let (mut best, mut choice) = (f64::NEG_INFINITY, Choice::Nothing);
        for (slot, edge) in edges.iter().enumerate().filter(|(_, edge)| is_candidate(edge)) {
            let mean = self.adapted(graph, id, edge, value).mean;
            let is_known = edge.visits > 0
                || (value > 0 && edge.child != NONE && graph.node(edge.child).has(node_flag::EVALUATED));
            let mean = puct.value_in_flight_of(
                is_known.then_some(mean),
                edge.visits,
                u32::from(edge.in_flight),
                unvisited,
            );
            let count = self.adapted(graph, id, edge, visits).visits + f64::from(edge.in_flight);
            let score = mean + exploration(settings.c_ucb, logarithm, count);
            if score > best {
                (best, choice) = (score, Choice::Opened(slot as u16));
            }
        }
        choice
    }
}

/// Eq. (2): the term of exploration, from the logarithm of the parent's visits and those of the edge.
pub fn exploration(weight: f64, logarithm: f64, visits: f64) -> f64 {
    weight * (logarithm / visits).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::MoveCode;
    use crate::graph::prior::Candidate;

    /// A node of a player with edges of the given visits and values into children, which become its own.
    fn family(graph: &mut Graph, player: u8, raw: f32, children: &[(NodeId, u32, f64)]) -> NodeId {
        let id = graph.add_node(graph.len() as u64, 0, player, children.len());
        let list: Vec<Candidate> =
            (0..children.len()).map(|code| Candidate::new(100, MoveCode(code as u16))).collect();
        graph.list_candidates(id, &list);
        for &(child, visits, q) in children {
            let slot = graph.open(id, 0);
            graph.link(id, slot, child);
            let edge = graph.edge_mut(id, slot);
            (edge.visits, edge.q) = (visits, q);
        }
        let node = graph.node_mut(id);
        node.flags |= node_flag::EVALUATED;
        (node.raw, node.visits) = (raw, 1 + children.iter().map(|child| child.1).sum::<u32>());
        id
    }

    #[test]
    fn equations_1_and_2() {
        let mut graph = Graph::new(1 << 20);
        assert!(graph.ensure_room(8, 64, false));
        let leaf = family(&mut graph, 1, 0.0, &[]);
        let bottom = family(&mut graph, 0, 0.125, &[(leaf, 4, 0.6)]);
        let other = family(&mut graph, 0, 0.0, &[]);
        let middle = family(&mut graph, 1, -0.25, &[(bottom, 3, 0.5), (other, 5, -0.1)]);
        let top = family(&mut graph, 0, 0.0, &[(middle, 2, 0.4)]);
        let mut below = Below::default();
        let numbers = |below: &mut Below, graph: &Graph, depth| {
            let adapted = below.adapted(graph, top, graph.edge(top, 0), depth);
            (adapted.mean, adapted.visits)
        };
        assert_eq!(numbers(&mut below, &graph, 0), (0.4, 2.0));
        let (mean, visits) = numbers(&mut below, &graph, 1);
        assert!((mean + (-0.25 + 3.0 * 0.5 - 5.0 * 0.1) / 9.0).abs() < 1e-12 && visits == 9.0);
        let (mean, visits) = numbers(&mut below, &graph, 2);
        let under = -(0.125 + 4.0 * 0.6) / 5.0;
        assert!((mean + (-0.25 + 3.0 * under) / 9.0).abs() < 1e-12 && visits == 7.0);
        assert_eq!(numbers(&mut below, &graph, INFINITE).1, 4.0);
        // What is kept is forgotten with a change below, and only then.
        graph.edge_mut(bottom, 0).q = -0.6;
        assert_eq!(numbers(&mut below, &graph, 2).0, mean);
        let settings = Settings { ucd_value: 2, ucd_visits: 255, ..Settings::default() };
        below.forget(&graph, &[Step { node: bottom, slot: 0 }], &settings);
        let under = -(0.125 - 4.0 * 0.6) / 5.0;
        assert!((numbers(&mut below, &graph, 2).0 + (-0.25 + 3.0 * under) / 9.0).abs() < 1e-12);
        assert!((exploration(1.4, 2.0, 8.0) - 0.7).abs() < 1e-12);
    }
}
