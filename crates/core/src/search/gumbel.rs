//! The root of Gumbel AlphaZero: moves drawn without replacement, sequential halving among them, and the move
//! to play, Eq. (G5), (G6).
//!
//! A plan belongs to one search of one root. It says which edge of the root the next simulation takes, and
//! waits where a halving needs results that are in flight.

use super::improved::{Prospect, improved_logits, improved_policy, prospects};
use super::select::Choice;
use super::{Budget, Search};
use crate::game::{Game, MoveCode};
use crate::graph::{NodeId, edge_flag, node_flag};
use crate::random::Random;

/// A move that the plan considers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Considered {
    mv: MoveCode,
    /// Visits of its edge when the phase began.
    before: u32,
}

/// The plan of a search at its root.
#[derive(Clone, Debug)]
pub(super) struct HalvingPlan {
    /// The Gumbel variate of every move, by ascending codes.
    noise: Vec<(MoveCode, f64)>,
    /// Simulations planned.
    simulations: u64,
    /// Whether a limit of the search set that number.
    is_limited: bool,
    halvings: u64,
    /// By descending score when the phase began.
    considered: Vec<Considered>,
    /// Visits of a move in this phase.
    share: u32,
}

/// A variate of the standard Gumbel distribution.
pub fn draw_gumbel(random: &mut Random) -> f64 {
    let uniform = ((random.bits() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0);
    -libm::log(-libm::log(uniform))
}

/// ceil(log2(count)), at least 1: the number of halvings from `count` moves.
pub fn halvings(count: usize) -> u64 {
    u64::from(count.next_power_of_two().trailing_zeros()).max(1)
}

/// Visits of each of `count` moves in a phase.
pub fn visits_of_phase(simulations: u64, halvings: u64, count: usize) -> u32 {
    let visits = simulations / (halvings * count.max(1) as u64);
    u32::try_from(visits.max(1)).unwrap_or(u32::MAX)
}

/// Indices of the `count` largest scores, in descending order; the first of equals first.
pub fn largest(scores: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order.truncate(count);
    order
}

impl HalvingPlan {
    fn noise_of(&self, mv: MoveCode) -> f64 {
        self.noise.binary_search_by_key(&mv, |&(mv, _)| mv).map_or(0.0, |at| self.noise[at].1)
    }
}

impl<G: Game> Search<G> {
    /// Makes the plan of a search once its root is evaluated. The root's list of candidates must be whole.
    pub(super) fn plan_root(&mut self, budget: &Budget) {
        let root = self.graph.node(self.root);
        if !self.settings.gumbel || self.plan.is_some() || !root.has(node_flag::EVALUATED) {
            return;
        }
        let moves: Vec<MoveCode> =
            prospects(&self.graph, self.root, &self.puct, |_| true, |_| true).iter().map(|p| p.mv).collect();
        let mut noise: Vec<(MoveCode, f64)> =
            moves.into_iter().map(|mv| (mv, draw_gumbel(&mut self.random))).collect();
        noise.sort_unstable_by_key(|&(mv, _)| mv);
        let left = |limit: Option<u64>, begun: u64| limit.map(|limit| limit.saturating_sub(begun));
        let simulations = left(budget.simulations, self.counters.simulations + self.flying);
        let evaluations = left(budget.evaluations, self.counters.evaluations + self.flying_evaluations);
        let limit = simulations.into_iter().chain(evaluations).min();
        let mut plan = HalvingPlan {
            noise,
            simulations: limit.unwrap_or(0),
            is_limited: limit.is_some(),
            halvings: 1,
            considered: Vec::new(),
            share: 0,
        };
        self.begin_halving(&mut plan);
        self.plan = Some(plan);
    }

    /// The moves of the root that a plan may consider.
    fn root_prospects(&self) -> Vec<Prospect> {
        let is_free = |edge: &crate::graph::Edge| !edge.has(edge_flag::PRUNED);
        prospects(&self.graph, self.root, &self.puct, is_free, |mv| self.root_moves.contains(mv))
    }

    /// The first phase: the moves with the largest sum of noise and logit.
    fn begin_halving(&self, plan: &mut HalvingPlan) {
        let moves = self.root_prospects();
        let scale = self.settings.gumbel_scale;
        let scores: Vec<f64> = moves.iter().map(|p| scale * plan.noise_of(p.mv) + p.logit()).collect();
        let kept = largest(&scores, self.settings.gumbel_considered as usize);
        plan.halvings = halvings(kept.len());
        if plan.simulations == 0 {
            plan.simulations = plan.halvings * kept.len() as u64;
        }
        self.begin_phase_with(plan, kept.into_iter().map(|index| moves[index].mv).collect());
    }

    fn begin_phase_with(&self, plan: &mut HalvingPlan, moves: Vec<MoveCode>) {
        plan.share = visits_of_phase(plan.simulations, plan.halvings, moves.len());
        plan.considered =
            moves.into_iter().map(|mv| Considered { mv, before: self.visits_of(self.root, mv) }).collect();
    }

    /// Visits of a move, those in flight included.
    fn visits_of(&self, id: NodeId, mv: MoveCode) -> u32 {
        let edge = self.graph.edges(id).iter().find(|edge| edge.mv == mv);
        edge.map_or(0, |edge| edge.visits + u32::from(edge.in_flight))
    }

    /// Eq. (G5): noise, logit and weighted value of the root's moves.
    fn root_scores(&self, plan: &HalvingPlan) -> Vec<(Prospect, f64)> {
        let moves = self.root_prospects();
        let logits = improved_logits(f64::from(self.graph.node(self.root).raw), &moves, &self.settings);
        let scale = self.settings.gumbel_scale;
        moves.into_iter().zip(logits).map(|(p, logit)| (p, scale * plan.noise_of(p.mv) + logit)).collect()
    }

    /// The considered moves that are not pruned, with their scores.
    fn considered(&self, plan: &HalvingPlan) -> Vec<(Considered, Prospect, f64)> {
        let scores = self.root_scores(plan);
        let row = |&considered: &Considered| {
            let found = scores.iter().find(|(prospect, _)| prospect.mv == considered.mv);
            found.map(|&(prospect, score)| (considered, prospect, score))
        };
        plan.considered.iter().filter_map(row).collect()
    }

    /// The edge of the root that the plan gives the next simulation; nothing where it waits for what is in
    /// flight. `None` where every move is pruned.
    pub(super) fn select_by_plan(&mut self) -> Option<Choice> {
        let mut plan = self.plan.take()?;
        let choice = self.follow_plan(&mut plan);
        self.plan = Some(plan);
        choice
    }

    fn follow_plan(&self, plan: &mut HalvingPlan) -> Option<Choice> {
        loop {
            let rows = self.considered(plan);
            if rows.is_empty() {
                self.begin_halving(plan);
                if plan.considered.is_empty() {
                    return None;
                }
                continue;
            }
            let given = |(considered, prospect, _): &(Considered, Prospect, f64)| {
                prospect.visits.saturating_sub(considered.before)
            };
            let least = rows.iter().map(given).min().unwrap_or(0);
            if least < plan.share {
                let scores: Vec<f64> = rows
                    .iter()
                    .map(|row| if given(row) == least { row.2 } else { f64::NEG_INFINITY })
                    .collect();
                return largest(&scores, 1).first().map(|&index| rows[index].1.choice);
            }
            if self.graph.node(self.root).in_flight > 0 {
                return Some(Choice::Nothing);
            }
            if rows.len() <= 2 && !plan.is_limited {
                plan.simulations *= 2;
                self.begin_halving(plan);
                continue;
            }
            let scores: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let kept = largest(&scores, (rows.len() / 2).max(2));
            self.begin_phase_with(plan, kept.into_iter().map(|index| rows[index].0.mv).collect());
        }
    }

    /// Eq. (G6): the slot of the move to play by the plan of this search, if there is one.
    pub(super) fn planned_choice(&self) -> Option<u16> {
        let rows = self.considered(self.plan.as_ref()?);
        let visited: Vec<_> = rows.iter().filter(|(_, prospect, _)| prospect.visits > 0).collect();
        let scores: Vec<f64> = visited.iter().map(|row| row.2).collect();
        match visited[*largest(&scores, 1).first()?].1.choice {
            Choice::Opened(slot) => Some(slot),
            _ => None,
        }
    }

    /// Eq. (G3) for the root: the share of every move that may be chosen in the improved policy.
    pub(crate) fn improved_root(&self) -> Vec<(MoveCode, f64)> {
        let moves =
            prospects(&self.graph, self.root, &self.puct, |_| true, |mv| self.root_moves.contains(mv));
        let logits = improved_logits(f64::from(self.graph.node(self.root).raw), &moves, &self.settings);
        moves.iter().map(|prospect| prospect.mv).zip(improved_policy(&logits)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_halve_the_moves_and_double_their_visits() {
        assert_eq!([1, 2, 3, 4, 5, 16, 17].map(halvings), [1, 1, 2, 2, 3, 4, 5]);
        // 64 simulations of 16 moves in 4 phases: 1, 2, 4 and 8 visits.
        assert_eq!([16, 8, 4, 2].map(|count| visits_of_phase(64, 4, count)), [1, 2, 4, 8]);
        assert_eq!(visits_of_phase(10, 4, 16), 1, "never none");
    }

    #[test]
    fn the_largest_come_first_and_the_first_of_equals() {
        assert_eq!(largest(&[1.0, 3.0, 3.0, f64::NEG_INFINITY, 2.0], 3), vec![1, 2, 4]);
        assert_eq!(largest(&[1.0], 3), vec![0]);
    }

    #[test]
    fn variates_have_the_mean_of_the_gumbel_distribution() {
        let mut random = Random::new(7);
        let mean = (0..20_000).map(|_| draw_gumbel(&mut random)).sum::<f64>() / 20_000.0;
        assert!((mean - 0.5772).abs() < 0.03, "{mean}");
    }
}
