//! Exploration on disconnected trajectories: epsilon-greedy and constrained, Eq. (11); Dirichlet noise at the
//! root.
//!
//! Decides whether and where a simulation leaves the best known line; the simulation itself continues in
//! `search`.

use crate::game::Constraint;
use crate::graph::prior::{Candidate, to_half};
use crate::graph::{Edge, Graph, NONE, NodeId, edge_flag, node_flag};
use crate::random::Random;
use crate::settings::Settings;

/// Why a simulation explores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// The next unvisited move, whatever it is.
    Greedy,
    /// The next unvisited move that satisfies a constraint.
    Constrained(Constraint),
}

/// Draws whether the next simulation explores, and why.
pub fn draw_kind(settings: &Settings, random: &mut Random) -> Option<Exploration> {
    let shares = [
        (settings.epsilon_greedy, Exploration::Greedy),
        (settings.epsilon_checks, Exploration::Constrained(Constraint::Checks)),
        (settings.epsilon_captures, Exploration::Constrained(Constraint::Captures)),
        (settings.epsilon_threats, Exploration::Constrained(Constraint::Threats)),
    ];
    if shares.iter().all(|(share, _)| *share <= 0.0) {
        return None;
    }
    let drawn = random.uniform();
    let mut sum = 0.0;
    for (share, kind) in shares {
        sum += share;
        if drawn < sum {
            return Some(kind);
        }
    }
    None
}

/// Eq. (11): the depth at which to branch; depth d with probability 2^-(d+1).
pub fn draw_depth(random: &mut Random) -> u32 {
    random.bits().trailing_zeros()
}

/// The opened, unpruned edge among those allowed with the most visits; the first of equals; none without a
/// visit.
pub fn most_visited(edges: &[Edge], is_allowed: impl Fn(&Edge) -> bool) -> Option<u16> {
    let mut best: Option<(u32, u16)> = None;
    for (slot, edge) in edges.iter().enumerate() {
        if !edge.has(edge_flag::PRUNED)
            && edge.visits > best.map_or(0, |(visits, _)| visits)
            && is_allowed(edge)
        {
            best = Some((edge.visits, slot as u16));
        }
    }
    best.map(|(_, slot)| slot)
}

/// A uniformly random opened edge among those allowed whose child is not solved.
pub fn random_unsolved(
    graph: &Graph,
    id: NodeId,
    is_allowed: impl Fn(&Edge) -> bool,
    random: &mut Random,
) -> Option<u16> {
    let open = |edge: &Edge| {
        let is_solved = if edge.child == NONE {
            edge.has(edge_flag::PRUNED)
        } else {
            graph.node(edge.child).state.is_solved()
        };
        !is_solved && is_allowed(edge)
    };
    let count = graph.edges(id).iter().filter(|edge| open(edge)).count();
    if count == 0 {
        return None;
    }
    let pick = random.index(count);
    graph.edges(id).iter().enumerate().filter(|(_, edge)| open(edge)).nth(pick).map(|(slot, _)| slot as u16)
}

/// The flag for nodes where no unopened move satisfies the constraint.
pub const fn exhausted_flag(constraint: Constraint) -> u16 {
    match constraint {
        Constraint::Checks => node_flag::NO_CHECKS,
        Constraint::Captures => node_flag::NO_CAPTURES,
        Constraint::Threats => node_flag::NO_THREATS,
    }
}

/// Mixes Dirichlet noise into the priors of a node, once.
pub fn add_noise(graph: &mut Graph, id: NodeId, settings: &Settings, random: &mut Random) {
    let node = graph.node(id);
    if settings.dirichlet_epsilon <= 0.0 || node.has(node_flag::NOISED) || node.legal == 0 {
        return;
    }
    let opened = node.opened as usize;
    let draws: Vec<f64> =
        (0..opened + node.remaining()).map(|_| random.gamma(settings.dirichlet_alpha)).collect();
    let sum: f64 = draws.iter().sum();
    if sum <= 0.0 {
        graph.node_mut(id).flags |= node_flag::NOISED;
        return;
    }
    let share = settings.dirichlet_epsilon;
    let mixed = |prior: f64, draw: f64| to_half((1.0 - share) * prior + share * (draw / sum));
    for (edge, &draw) in graph.edges_mut(id).iter_mut().zip(&draws) {
        edge.half = mixed(edge.prior(), draw);
    }
    let list = graph.candidates_mut(id);
    for (candidate, &draw) in list.iter_mut().zip(&draws[opened..]) {
        *candidate = Candidate::new(mixed(candidate.prior(), draw), candidate.mv());
    }
    list.sort_unstable_by(|a, b| b.cmp(a));
    graph.node_mut(id).flags |= node_flag::NOISED;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_halve() {
        let mut random = Random::new(3);
        let mut counts = [0u32; 65];
        for _ in 0..80_000 {
            counts[draw_depth(&mut random) as usize] += 1;
        }
        for (depth, expected) in [(0, 40_000.0), (1, 20_000.0), (2, 10_000.0), (3, 5_000.0)] {
            assert!((f64::from(counts[depth]) - expected).abs() < 4.0 * f64::sqrt(expected), "{counts:?}");
        }
    }

    #[test]
    fn kinds_come_in_their_shares() {
        let settings = Settings { epsilon_greedy: 0.25, epsilon_checks: 0.25, ..Settings::default() };
        let mut random = Random::new(1);
        let drawn: Vec<_> = (0..4000).map(|_| draw_kind(&settings, &mut random)).collect();
        let share = |kind| drawn.iter().filter(|&&k| k == kind).count();
        assert!((share(Some(Exploration::Greedy)) as i32 - 1000).abs() < 120);
        assert!((share(Some(Exploration::Constrained(Constraint::Checks))) as i32 - 1000).abs() < 120);
        assert!((share(None) as i32 - 2000).abs() < 150);
    }
}
