//! The improved policy of Gumbel AlphaZero, Eq. (G1) to (G4), on the moves of a node.
//!
//! Works on a table of prospects, so that its equations can be tested on given numbers. Reads the graph and
//! changes nothing; the plan of the root is in `gumbel`.

use super::select::{Choice, Puct};
use crate::game::MoveCode;
use crate::graph::{Edge, Graph, NONE, NodeId, edge_flag};
use crate::settings::Settings;

/// The smallest half above 0: no move has a smaller prior here.
const LEAST_PRIOR: f64 = 1.0 / 16_777_216.0;

/// A move as the improved policy sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prospect {
    /// Where it is.
    pub choice: Choice,
    /// The move.
    pub mv: MoveCode,
    /// P.
    pub prior: f64,
    /// Visits, those in flight included.
    pub visits: u32,
    /// The value, where there is one.
    pub q: Option<f64>,
}

impl Prospect {
    fn new(choice: Choice, mv: MoveCode, prior: f64, visits: u32, q: Option<f64>) -> Prospect {
        Prospect { choice, mv, prior: prior.max(LEAST_PRIOR), visits, q }
    }

    /// The logarithm of the prior, which stands for the logit.
    pub fn logit(&self) -> f64 {
        libm::log(self.prior)
    }
}

/// The prospects of a node, in index order: the opened edges that `is_edge` keeps, and the unopened moves
/// that `is_move` keeps.
pub fn prospects(
    graph: &Graph,
    id: NodeId,
    puct: &Puct,
    is_edge: impl Fn(&Edge) -> bool,
    is_move: impl Fn(MoveCode) -> bool,
) -> Vec<Prospect> {
    let opened = graph.edges(id).iter().enumerate().filter(|(_, edge)| is_edge(edge) && is_move(edge.mv));
    let opened = opened.map(|(slot, edge)| {
        let flying = u32::from(edge.in_flight);
        let is_exact = edge.child != NONE && graph.exact_value(edge.child).is_some();
        let q = if is_exact {
            Some(graph.target(id, edge.child))
        } else {
            (!puct.is_unvisited(edge.visits, flying)).then(|| puct.effective(edge, 0.0))
        };
        Prospect::new(Choice::Opened(slot as u16), edge.mv, edge.prior(), edge.visits + flying, q)
    });
    let unopened = graph.candidates(id).iter().enumerate().filter(|(_, candidate)| is_move(candidate.mv()));
    let unopened = unopened.map(|(index, candidate)| {
        Prospect::new(Choice::Unopened(index), candidate.mv(), candidate.prior(), 0, None)
    });
    opened.chain(unopened).collect()
}

/// Eq. (G1): the value of a move without visits, from the node's own evaluation and the moves with a value.
pub fn mixed_value(raw: f64, prospects: &[Prospect]) -> f64 {
    let (mut visits, mut priors, mut mass) = (0.0, 0.0, 0.0);
    for prospect in prospects {
        if let Some(q) = prospect.q {
            visits += f64::from(prospect.visits);
            priors += prospect.prior;
            mass += prospect.prior * q;
        }
    }
    if priors > 0.0 { (raw + visits * (mass / priors)) / (1.0 + visits) } else { raw }
}

/// Eq. (G2): the weight of a value against a logit.
pub fn sigma(q: f64, most_visits: u32, settings: &Settings) -> f64 {
    (settings.c_visit + f64::from(most_visits)) * settings.c_scale * ((q + 1.0) / 2.0)
}

/// The logits of the improved policy: those of the priors plus the weighted values, completed by the mixed
/// value.
pub fn improved_logits(raw: f64, prospects: &[Prospect], settings: &Settings) -> Vec<f64> {
    let mixed = mixed_value(raw, prospects);
    let most = prospects.iter().map(|prospect| prospect.visits).max().unwrap_or(0);
    let logit = |prospect: &Prospect| prospect.logit() + sigma(prospect.q.unwrap_or(mixed), most, settings);
    prospects.iter().map(logit).collect()
}

/// Eq. (G3): the improved policy, the softmax of its logits.
pub fn improved_policy(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let mut policy: Vec<f64> = logits.iter().map(|logit| libm::exp(logit - largest)).collect();
    let share = 1.0 / policy.iter().sum::<f64>();
    policy.iter_mut().for_each(|weight| *weight *= share);
    policy
}

/// Eq. (G4): the move whose share of the visits is furthest below its share in the improved policy; the first
/// of equals.
pub fn least_served(policy: &[f64], prospects: &[Prospect]) -> Choice {
    let visits = 1.0 + prospects.iter().map(|prospect| f64::from(prospect.visits)).sum::<f64>();
    let (mut best, mut choice) = (f64::NEG_INFINITY, Choice::Nothing);
    for (share, prospect) in policy.iter().zip(prospects) {
        let score = share - f64::from(prospect.visits) / visits;
        if score > best {
            (best, choice) = (score, prospect.choice);
        }
    }
    choice
}

/// Selection by the improved policy, among the moves that `is_move` keeps. The list of candidates must be
/// whole.
pub fn select(
    graph: &Graph,
    id: NodeId,
    puct: &Puct,
    settings: &Settings,
    is_move: impl Fn(MoveCode) -> bool,
) -> Choice {
    let mut found = prospects(graph, id, puct, |edge| !edge.has(edge_flag::PRUNED), &is_move);
    if found.is_empty() {
        // Every move loses, but not every loss is exact.
        let is_unsure = |edge: &Edge| edge.child != NONE && !graph.node(edge.child).state.is_exact();
        found = prospects(graph, id, puct, is_unsure, &is_move);
    }
    let logits = improved_logits(f64::from(graph.node(id).raw), &found, settings);
    least_served(&improved_policy(&logits), &found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(f64, u32, Option<f64>)]) -> Vec<Prospect> {
        let row = |(i, &(prior, visits, q)): (usize, &(f64, u32, Option<f64>))| {
            Prospect::new(Choice::Unopened(i), MoveCode(i as u16), prior, visits, q)
        };
        rows.iter().enumerate().map(row).collect()
    }

    #[test]
    fn equations_g1_to_g4() {
        let rows = table(&[(0.5, 3, Some(0.2)), (0.25, 1, Some(-0.4)), (0.25, 0, None)]);
        // 4 visits, prior-weighted mean (0.5 * 0.2 - 0.25 * 0.4) / 0.75 = 0.
        assert!((mixed_value(0.5, &rows) - 0.1).abs() < 1e-12);
        assert_eq!(mixed_value(0.5, &rows[2..]), 0.5);
        let settings = Settings { c_visit: 7.0, c_scale: 0.1, ..Settings::default() };
        assert!((sigma(0.2, 3, &settings) - 0.6).abs() < 1e-12, "(7 + 3) * 0.1 * 0.6");
        let logits = improved_logits(0.5, &rows, &settings);
        for (logit, expected) in
            logits.iter().zip([0.5f64.ln() + 0.6, 0.25f64.ln() + 0.3, 0.25f64.ln() + 0.55])
        {
            assert!((logit - expected).abs() < 1e-12, "{logits:?}");
        }
        let policy = improved_policy(&logits);
        let sum = 0.5 * 0.6f64.exp() + 0.25 * 0.3f64.exp() + 0.25 * 0.55f64.exp();
        assert!((policy[0] - 0.5 * 0.6f64.exp() / sum).abs() < 1e-12);
        assert!((policy.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // Visits have shares 3/5, 1/5 and 0; the policy has 0.54, 0.20 and 0.26.
        assert_eq!(least_served(&policy, &rows), Choice::Unopened(2));
    }

    #[test]
    fn a_prior_of_zero_has_a_logit() {
        assert!(table(&[(0.0, 0, None)])[0].logit().is_finite());
    }
}
