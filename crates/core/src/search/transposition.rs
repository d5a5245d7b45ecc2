//! What is special about an edge into a transposition node: the target, the gap, the stop rule and the
//! correction, Eq. (7), (8), (9), (10).
//!
//! Pure functions of numbers and of the graph; no function changes anything.

use crate::graph::{Edge, Graph, NONE, NodeId, edge_flag, node_flag};
use crate::settings::{Backup, Settings, Stop};

/// Eq. (8): how far the edge is from its target.
pub fn gap(q: f64, target: f64) -> f64 {
    q - target
}

/// Eq. (9), (10): the value that puts the edge's mean on the target, clipped to the range of values.
///
/// Differs from the paper: the sign. As printed, N * (Q - T) + T moves the mean away from the target; N * (T
/// - Q) + T moves it there.
pub fn correction(target: f64, visits: u32, q: f64, value_min: f64, value_max: f64) -> f64 {
    (target + f64::from(visits) * (target - q)).max(value_min).min(value_max)
}

/// The change of the edge's mass that puts its mean on the target, unclipped (mode `delta`).
pub fn mass_change(target: f64, visits: u32, q: f64) -> f64 {
    (f64::from(visits) + 1.0) * target - f64::from(visits) * q
}

/// Whether the edge is measured against its child: a transposition node that knows at least as much as the
/// edge once did.
pub fn is_bound(graph: &Graph, edge: &Edge) -> bool {
    graph.node(edge.child).has(node_flag::TRANSPOSITION) && !is_behind(graph, edge)
}

/// Whether the child was given up for memory and created anew, and knows less than the edge does.
pub fn is_behind(graph: &Graph, edge: &Edge) -> bool {
    edge.has(edge_flag::LOST) && graph.node(edge.child).visits < edge.visits
}

/// Algorithm 1: whether a trajectory that chose this edge stops at its evaluated child instead of going on.
///
/// Differs from the paper: the gap's absolute value counts, and a new edge into a known node always stops.
pub fn stops(graph: &Graph, id: NodeId, edge: &Edge, settings: &Settings) -> bool {
    stops_of(graph, id, Some(edge), edge.child, 1, settings) > 0
}

/// How many of the visits that chose an edge stop at its evaluated child, before anything is backed up. The
/// edge may be new, or have lost its child: then `child` is what it will lead to.
pub fn stops_of(
    graph: &Graph,
    id: NodeId,
    edge: Option<&Edge>,
    child: NodeId,
    visits: u32,
    settings: &Settings,
) -> u32 {
    let node = graph.node(child);
    let is_new = edge.is_none_or(|edge| edge.child == NONE);
    let is_transposition = node.has(node_flag::TRANSPOSITION) || (is_new && node.parent != NONE);
    let (known, q) = edge.map_or((0, 0.0), |edge| (edge.visits, edge.q));
    let is_behind = edge.is_some_and(|edge| edge.has(edge_flag::LOST)) && node.visits < known;
    if !settings.backup.merges() || !is_transposition || is_behind {
        return 0;
    }
    match settings.stop {
        Stop::Gap => {
            let stops = known == 0 || gap(q, graph.target(id, child)).abs() > settings.q_epsilon;
            u32::from(stops).min(visits)
        }
        Stop::Visits => node.visits.saturating_sub(known).min(visits),
        Stop::Never => 0,
    }
}

/// Whether the backup corrects this edge.
pub fn corrects(graph: &Graph, edge: &Edge, backup: Backup) -> bool {
    backup.corrects() && is_bound(graph, edge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(q: f64, visits: u32, x: f64) -> f64 {
        q + (x - q) / (f64::from(visits) + 1.0)
    }

    #[test]
    fn corrected_mean_lies_on_the_target_unless_clipped() {
        assert!((mean(0.2, 3, correction(0.3, 3, 0.2, -1.0, 1.0)) - 0.3).abs() < 1e-12);
        let clipped = correction(0.9, 10, -0.9, -1.0, 1.0);
        assert_eq!(clipped, 1.0);
        let closer = mean(-0.9, 10, clipped);
        assert!(closer > -0.9 && closer < 0.9);
        assert_eq!(correction(0.4, 0, 0.0, -1.0, 1.0), 0.4);
    }

    #[test]
    fn the_printed_sign_diverges() {
        let (target, mut q, mut right) = (0.3, 0.2, 0.2);
        for visits in 3..40 {
            let printed = (f64::from(visits) * (q - target) + target).clamp(-1.0, 1.0);
            q = mean(q, visits, printed);
            right = mean(right, visits, correction(target, visits, right, -1.0, 1.0));
        }
        assert!((right - target).abs() < 1e-9);
        assert!((q - target).abs() > 0.5, "{q}");
    }

    #[test]
    fn delta_closes_any_gap_in_one_visit() {
        let (q, visits, target) = (-0.9, 100, 0.9);
        assert!((mean(q, visits, mass_change(target, visits, q)) - target).abs() < 1e-12);
    }
}
