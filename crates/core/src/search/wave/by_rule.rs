//! The split of visits where more than PUCT decides: at a root whose moves are restricted, with proof
//! numbers, and where drawn moves are left out.
//!
//! Every choice looks at every edge, as the rules of `select` do for one visit.

use super::split::Split;
use crate::graph::prior::Candidate;
use crate::graph::{Edge, Graph, NONE, NodeId, State, edge_flag};
use crate::search::numbers::ProofTerms;
use crate::search::root_moves::RootMoves;
use crate::search::select::Puct;

/// An open move, with what was given out so far.
struct Open {
    /// Its slot, or the number of opened edges plus the index of the candidate that it was.
    pick: u32,
    q: f64,
    visits: u32,
    flying: u32,
    prior: f64,
    term: f64,
    is_left_out: bool,
    /// Its child is known, and not solved by play to the end.
    is_unsolved: bool,
}

impl Open {
    /// Eq. (3), (4), without the term.
    fn score(&self, puct: &Puct, scale: f64, unvisited: f64) -> f64 {
        puct.value_in_flight(self.q, self.visits, self.flying, unvisited)
            + scale * self.prior * puct.reciprocal(self.visits + self.flying)
    }
}

impl Split {
    /// Splits `count` visits as [`Split::run`] does, by the whole rule; at a root only among its moves.
    pub fn run_by_rule(
        &mut self,
        puct: &Puct,
        graph: &Graph,
        id: NodeId,
        root_moves: Option<&RootMoves>,
        candidates: &[Candidate],
        count: u32,
    ) -> bool {
        let (node, edges) = (graph.node(id), graph.edges(id));
        let is_allowed = |mv| root_moves.is_none_or(|moves| moves.contains(mv));
        let is_whole = edges.len() + candidates.len() >= usize::from(node.legal);
        if root_moves.is_some() && !is_whole {
            return false;
        }
        let rest: Vec<(u32, Candidate)> = (edges.len() as u32..)
            .zip(candidates.iter().copied())
            .filter(|(_, candidate)| is_allowed(candidate.mv()))
            .collect();
        let has_unopened = !rest.is_empty() || !is_whole;
        let terms = ProofTerms::among(graph, id, puct.pn_weight(), is_allowed, has_unopened);
        let is_drawn = |edge: &Edge| edge.child != NONE && graph.node(edge.child).state == State::Draw;
        let is_pruned = |edge: &Edge| edge.has(edge_flag::PRUNED);
        let skips_draws = puct.skips_draws()
            && root_moves.is_none()
            && (has_unopened || edges.iter().any(|edge| !is_pruned(edge) && !is_drawn(edge)));
        let mut open: Vec<Open> = (0..)
            .zip(edges)
            .filter(|(_, edge)| is_allowed(edge.mv))
            .map(|(pick, edge)| Open {
                pick,
                q: edge.q,
                visits: edge.visits,
                flying: edge.in_flight.into(),
                prior: edge.prior(),
                term: terms.of_edge(graph, id, edge),
                is_left_out: is_pruned(edge) || (skips_draws && is_drawn(edge)),
                is_unsolved: edge.child != NONE && !graph.node(edge.child).state.is_exact(),
            })
            .collect();
        let mass: f64 = open.iter().fold(0.0, |mass, edge| mass + f64::from(edge.visits) * edge.q);
        let visits: u32 = open.iter().map(|edge| edge.visits).sum();
        let mut tried = open.iter().fold(0.0, |tried, edge| tried + edge.prior);
        let mut taken = 0;
        self.picks.clear();
        for given in 0..count {
            if taken == rest.len() && !is_whole {
                return false;
            }
            let (scale, unvisited) = match root_moves {
                None => {
                    let sum = node.visits - 1 + u32::from(node.in_flight) + given;
                    (puct.scale(sum), puct.unvisited_after(node.value, tried))
                }
                Some(_) => {
                    let flying: u32 = open.iter().map(|edge| edge.flying).sum();
                    let priors = tried + rest[taken..].iter().map(|(_, rest)| rest.prior()).sum::<f64>();
                    let value = if visits > 0 { mass / f64::from(visits) } else { node.value };
                    puct.among(visits + flying, value, tried, priors)
                }
            };
            let (mut best, mut choice) = (f64::NEG_INFINITY, None);
            for (at, edge) in open.iter().enumerate().filter(|(_, edge)| !edge.is_left_out) {
                let score = edge.score(puct, scale, unvisited) + edge.term;
                if score > best {
                    (best, choice) = (score, Some(at));
                }
            }
            if let Some((pick, candidate)) = rest.get(taken) {
                let (prior, term) = (candidate.prior(), terms.of_unopened(graph, id));
                if unvisited + scale * prior + term > best {
                    choice = Some(open.len());
                    open.push(Open {
                        pick: *pick,
                        q: 0.0,
                        visits: 0,
                        flying: 0,
                        prior,
                        term,
                        is_left_out: false,
                        is_unsolved: false,
                    });
                    tried += prior;
                    taken += 1;
                }
            }
            // Where every move is pruned, those that only a tablebase condemns are still worth playing.
            if choice.is_none() {
                for (at, edge) in open.iter().enumerate().filter(|(_, edge)| edge.is_unsolved) {
                    let score = edge.score(puct, scale, unvisited);
                    if score > best {
                        (best, choice) = (score, Some(at));
                    }
                }
            }
            let Some(choice) = choice else { break };
            open[choice].flying += 1;
            self.picks.push(open[choice].pick);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::split::tests::node_in;
    use super::*;
    use crate::game::MoveCode;
    use crate::search::select::Choice;
    use crate::settings::{Settings, Urgency, Virtual};

    /// A node as in the tests of `split`; every second child is known, some are drawn, with own numbers.
    fn family(seed: u64, moves: usize, opened: usize) -> (Graph, NodeId) {
        let mut graph = Graph::new(1 << 20);
        graph.set_numbers(true);
        let (mut graph, id) = node_in(graph, seed, moves, opened);
        for slot in (0..opened as u16).step_by(2) {
            assert!(graph.ensure_room(1, 64, false));
            let child = graph.add_node(100 + u64::from(slot), 0, 1, 3 + usize::from(slot) % 5);
            graph.link(id, slot, child);
            if slot % 3 == 0 {
                graph.node_mut(child).state = State::Draw;
            }
        }
        (graph, id)
    }

    #[test]
    fn a_split_by_rule_is_what_simulations_in_flight_would_choose() {
        let mut split = Split::default();
        let mut chosen = 0;
        for seed in 0..240 {
            let settings = Settings {
                virtual_mode: if seed % 2 == 0 { Virtual::Visit } else { Virtual::Loss },
                urgency: if seed % 5 == 0 { Urgency::Fixed } else { Urgency::Reduction },
                pn_weight: [0.0, 0.3, 0.0][seed as usize % 3],
                skip_draws: seed % 3 == 2,
                ..Settings::default()
            };
            let puct = Puct::new(&settings);
            let (moves, count) = (4 + seed as usize % 40, [1, 7, 60, 200][seed as usize / 6 % 4]);
            let opened = (seed as usize % 23).min(moves);
            let is_restricted = seed % 4 == 3 || seed % 3 == 0;
            let some: Vec<MoveCode> = (0..moves as u16).filter(|code| code % 3 != 1).map(MoveCode).collect();
            let root_moves = RootMoves::new(some);
            let among = is_restricted.then_some(&root_moves);
            let (graph, id) = family(seed, moves, opened);
            assert!(split.run_by_rule(&puct, &graph, id, among, graph.candidates(id), count));
            let (mut graph, id) = family(seed, moves, opened);
            let mut expected = Vec::new();
            let listed = graph.candidates(id).to_vec();
            for _ in 0..count {
                let choice = match among {
                    Some(root_moves) => puct.select_among(&graph, id, root_moves),
                    None => puct.select(&graph, id, None),
                };
                let slot = match choice {
                    Choice::Opened(slot) => slot,
                    Choice::Unopened(index) => graph.open(id, index),
                    Choice::Nothing => break,
                };
                graph.edge_mut(id, slot).in_flight += 1;
                graph.node_mut(id).in_flight += 1;
                let mv = graph.edge(id, slot).mv;
                let index = listed.iter().position(|candidate| candidate.mv() == mv);
                expected.push(index.map_or(u32::from(slot), |index| (opened + index) as u32));
            }
            chosen += expected.len();
            assert_eq!(split.picks, expected, "seed {seed}");
        }
        assert!(chosen > 10_000, "{chosen}");
    }
}
