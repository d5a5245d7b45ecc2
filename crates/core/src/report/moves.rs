//! The moves of the root as a table: visits, values, priors, proofs.
//!
//! Values are those of the side to move at the root.

use std::cmp::Ordering;

use crate::game::{Game, MoveCode};
use crate::graph::{NONE, State, edge_flag, node_flag};
use crate::search::solver::seen_from;
use crate::search::{Search, choose};

/// One move of the root.
#[derive(Clone, Debug, Default)]
pub struct MoveReport {
    /// The move.
    pub mv: String,
    /// N.
    pub visits: u32,
    /// Q for the side to move at the root; `None` for an unvisited move.
    pub q: Option<f64>,
    /// P.
    pub prior: f64,
    /// Share in the policy of the chooser.
    pub policy: f64,
    /// Share in the improved policy, Eq. (G3).
    pub improved: f64,
    /// U of the child, for the side to move at the root.
    pub raw: Option<f64>,
    /// V of the child, for the side to move at the root.
    pub child_value: Option<f64>,
    /// N of the child.
    pub child_visits: u32,
    /// What is proven about the move, for the side to move at the root.
    pub state: State,
    /// Length of that proof in plies.
    pub plies: Option<u16>,
    /// Visits that were draws of the path.
    pub draws: u32,
    /// Visits by explorations.
    pub explored: u32,
}

/// A move of the root with the slot of its edge, where it has one.
pub(super) type RootRow = (MoveCode, Option<u16>, MoveReport);

impl<G: Game> Search<G> {
    /// The root's moves, the best one first, then by visits and Q; those that were never opened at the end.
    pub(super) fn root_table(&self, best: Option<MoveCode>) -> Vec<RootRow> {
        let graph = &self.graph;
        let edges = graph.edges(self.root);
        let game = self.position();
        let policy = self.root_policy();
        let improved = self.improved_root();
        let improved_of =
            |mv: MoveCode| improved.iter().find(|&&(other, _)| other == mv).map_or(0.0, |&(_, share)| share);
        let mut moves: Vec<RootRow> = self
            .root_moves
            .slots(graph, self.root)
            .map(|slot| {
                let edge = &edges[slot as usize];
                let child = (edge.child != NONE).then(|| graph.node(edge.child));
                let evaluated = child.filter(|node| node.has(node_flag::EVALUATED));
                let sign = if edge.child == NONE { -1.0 } else { graph.sign(self.root, edge.child) };
                let state =
                    if edge.child == NONE { State::Unknown } else { seen_from(graph, self.root, edge.child) };
                let report = MoveReport {
                    mv: game.move_text(edge.mv),
                    visits: edge.visits,
                    q: (edge.visits > 0).then_some(edge.q),
                    prior: edge.prior(),
                    policy: policy[slot as usize],
                    improved: improved_of(edge.mv),
                    raw: evaluated.map(|node| sign * f64::from(node.raw)),
                    child_value: evaluated.map(|node| sign * node.value),
                    child_visits: child.map_or(0, |node| node.visits),
                    state,
                    plies: state
                        .is_exact()
                        .then(|| child.map_or(0, |node| node.end_in_ply).saturating_add(1)),
                    draws: edge.draws,
                    explored: edge.explored,
                };
                (edge.mv, Some(slot), report)
            })
            .collect();
        let unvisited = |mv: MoveCode, prior: f64| {
            let improved = improved_of(mv);
            (mv, None, MoveReport { mv: game.move_text(mv), prior, improved, ..MoveReport::default() })
        };
        let unopened =
            graph.candidates(self.root).iter().filter(|candidate| self.root_moves.contains(candidate.mv()));
        moves.extend(unopened.map(|candidate| unvisited(candidate.mv(), candidate.prior())));
        // A proven node has no candidates any more, and the shortest proof may begin with one of them.
        if let Some(mv) = best.filter(|&best| moves.iter().all(|&(mv, ..)| mv != best)) {
            moves.push(unvisited(mv, 0.0));
        }
        // Opened edges in their order, then the rest in theirs: the sort is stable.
        moves.sort_by(|(mv_a, slot_a, a), (mv_b, slot_b, b)| {
            (best == Some(*mv_b), slot_b.is_some(), b.visits)
                .cmp(&(best == Some(*mv_a), slot_a.is_some(), a.visits))
                .then(b.q.partial_cmp(&a.q).unwrap_or(Ordering::Equal))
        });
        moves
    }

    fn root_policy(&self) -> Vec<f64> {
        let edges = self.graph.edges(self.root);
        let visited: Vec<usize> = (0..edges.len())
            .filter(|&slot| edges[slot].visits > 0 && self.root_moves.contains(edges[slot].mv))
            .filter(|&slot| !(self.settings.solver && edges[slot].has(edge_flag::PRUNED)))
            .collect();
        let contenders: Vec<choose::Contender> =
            visited.iter().map(|&slot| choose::Contender::new(&edges[slot])).collect();
        let mut policy = vec![0.0; edges.len()];
        if !visited.is_empty() {
            for (&slot, share) in visited.iter().zip(choose::policy(&contenders, &self.settings)) {
                policy[slot] = share;
            }
        }
        policy
    }
}
