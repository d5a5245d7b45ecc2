//! Algorithm 2: values go up a trajectory, in the mode the settings name.
//!
//! Changes visits and values along the trajectory and nothing else; which edge gets a correction is decided
//! in `transposition`.

use crate::graph::{Graph, NONE, NodeId, node_flag};
use crate::search::ancestors::update_others;
use crate::search::numbers;
pub use crate::search::path::Step;
use crate::search::transposition::{correction, corrects, is_behind, mass_change};
use crate::settings::{Backup, Settings};

/// How a trajectory ended, as far as backup cares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// At a node with this value, for the side to move there.
    Value(f64),
    /// As a draw of the path.
    PathDraw,
}

/// Algorithm 2: backs a value up the steps; returns the number of corrections. `exploration` says that the
/// first step is the branch of a disconnected trajectory.
///
/// Differs from the paper: one frame throughout, the corrected sign of Eq. (9), and the absence of a target
/// is not a number.
pub fn back_up(
    graph: &mut Graph,
    steps: &[Step],
    arrival: Arrival,
    exploration: bool,
    settings: &Settings,
) -> u64 {
    let (value_min, value_max) = (settings.value_min, settings.value_max);
    let (mut corrections, mut most_visits) = (0, 0);
    let mut value = match arrival {
        Arrival::Value(value) => value,
        Arrival::PathDraw => 0.0,
    };
    let mut path_draw = arrival == Arrival::PathDraw;
    let now = graph.count_trajectory();
    if let Some(&Step { node, slot }) = steps.last() {
        let child = graph.edge(node, slot).child;
        if child != NONE {
            graph.node_mut(child).seen = now;
        }
    }
    for (depth, &Step { node, slot }) in steps.iter().enumerate().rev() {
        let edge = graph.edge(node, slot);
        let child = edge.child;
        let plain = if path_draw { graph.draw_value(node) } else { graph.sign(node, child) * value };
        if settings.backup == Backup::Recompute {
            let edge = graph.edge_mut(node, slot);
            edge.visits += 1;
            let branches = exploration && depth == 0;
            edge.draws += u32::from(path_draw && !branches);
            edge.explored += u32::from(branches);
            if is_behind(graph, graph.edge(node, slot)) {
                // The child was created anew: the edge knows more, and takes its value as one of many.
                let edge = graph.edge_mut(node, slot);
                edge.q += (plain - edge.q) / f64::from(edge.visits);
            }
            let changed = graph.node_mut(node);
            changed.visits += 1;
            changed.seen = now;
            most_visits = most_visits.max(changed.visits);
            recompute(graph, node);
            value = graph.node(node).value;
            path_draw = false;
            continue;
        }
        let (visits, q) = (edge.visits, edge.q);
        let n = f64::from(visits);
        let x = if !path_draw && corrects(graph, edge, settings.backup) {
            let target = graph.target(node, child);
            let x = match settings.backup {
                Backup::Delta => mass_change(target, visits, q),
                _ => correction(target, visits, q, value_min, value_max),
            };
            corrections += u64::from(x != plain);
            x
        } else {
            plain
        };
        let edge = graph.edge_mut(node, slot);
        let x = if settings.backup == Backup::Delta {
            let mean = ((n * q + x) / (n + 1.0)).max(value_min).min(value_max);
            edge.q = mean;
            (n + 1.0) * mean - n * q
        } else {
            edge.q = running_mean(q, n, x);
            x
        };
        edge.visits += 1;
        let branches = exploration && depth == 0;
        edge.draws += u32::from(path_draw && !branches);
        edge.explored += u32::from(branches);
        let node = graph.node_mut(node);
        node.value = running_mean(node.value, f64::from(node.visits), x);
        node.visits += 1;
        node.seen = now;
        most_visits = most_visits.max(node.visits);
        value = x;
        path_draw = false;
    }
    if let (Backup::All, Arrival::Value(value)) = (settings.backup, arrival) {
        most_visits = most_visits.max(update_others(graph, steps, value, now));
    }
    if graph.has_numbers() {
        steps.iter().rev().for_each(|step| numbers::refresh(graph, step.node));
    }
    graph.note_visits(most_visits);
    corrections
}

/// Eq. (5): the mean of `n` values after one more.
#[inline(always)]
fn running_mean(mean: f64, n: f64, x: f64) -> f64 {
    mean + (x - mean) / (n + 1.0)
}

/// Mode `recompute`: the node's value, and its edges', from the children as they are now.
pub(super) fn recompute(graph: &mut Graph, id: NodeId) {
    let drawn = graph.draw_value(id);
    let mut sum = f64::from(graph.node(id).raw);
    let mut weights = 1.0;
    for slot in 0..graph.node(id).opened {
        let edge = graph.edge(id, slot);
        if edge.visits == 0 {
            continue;
        }
        let draws = f64::from(edge.draws);
        let is_lost = edge.child == NONE || is_behind(graph, edge);
        let q = if !is_lost && graph.node(edge.child).has(node_flag::EVALUATED) {
            let weight = f64::from(edge.visits) - draws - f64::from(edge.explored);
            let target = graph.target(id, edge.child);
            let both = weight + draws;
            weights += both;
            let mass = if drawn == 0.0 { weight * target } else { weight * target + draws * drawn };
            let q = if both > 0.0 { mass / both } else { target };
            sum += both * q;
            q
        } else if is_lost {
            // The child was given up for memory, and may have been created anew: the edge knows more.
            let weight = f64::from(edge.visits) - f64::from(edge.explored);
            weights += weight;
            sum += weight * edge.q;
            edge.q
        } else {
            weights += draws;
            sum += draws * drawn;
            drawn
        };
        graph.edge_mut(id, slot).q = q;
    }
    graph.node_mut(id).value = sum / weights;
}

/// Adds or takes back the marks of a trajectory in flight.
pub fn mark(graph: &mut Graph, steps: &[Step], flying: bool) {
    for &Step { node, slot } in steps {
        mark_by(graph, node, slot, if flying { 1 } else { -1 });
    }
}

/// Changes the marks of an edge and its node.
#[inline]
pub(super) fn mark_by(graph: &mut Graph, node: NodeId, slot: u16, change: i16) {
    let edge = graph.edge_mut(node, slot);
    edge.in_flight = edge.in_flight.wrapping_add_signed(change);
    let node = graph.node_mut(node);
    node.in_flight = node.in_flight.wrapping_add_signed(change);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::MoveCode;
    use crate::graph::edge_flag;
    use crate::graph::prior::Candidate;

    /// An edge with four visits and Q = 0.5 into a transposition node that is worth 0.8 to its parent.
    fn edge_into_transposition() -> (Graph, NodeId) {
        let mut graph = Graph::new(1 << 20);
        assert!(graph.ensure_room(4, 64, false));
        let (id, other, child) =
            (graph.add_node(1, 0, 0, 1), graph.add_node(2, 0, 0, 1), graph.add_node(3, 1, 1, 1));
        for parent in [id, other] {
            graph.list_candidates(parent, &[Candidate::new(0x3C00, MoveCode(0))]);
            let slot = graph.open(parent, 0);
            graph.link(parent, slot, child);
        }
        for (node, visits, value) in [(id, 5, 0.4), (child, 9, -0.8)] {
            let node = graph.node_mut(node);
            node.flags |= node_flag::EVALUATED;
            (node.visits, node.value) = (visits, value);
        }
        let edge = graph.edge_mut(id, 0);
        (edge.visits, edge.q) = (4, 0.5);
        (graph, id)
    }

    #[test]
    fn a_path_draw_is_not_corrected_away() {
        for backup in [Backup::Naive, Backup::Paper, Backup::Delta] {
            let (mut graph, id) = edge_into_transposition();
            let settings = Settings { backup, ..Settings::default() };
            let corrections =
                back_up(&mut graph, &[Step { node: id, slot: 0 }], Arrival::PathDraw, false, &settings);
            assert_eq!(corrections, 0);
            assert!(
                (graph.edge(id, 0).q - 0.4).abs() < 1e-12,
                "the draw counts as 0 on the edge: {backup:?}"
            );
            assert_eq!((graph.edge(id, 0).visits, graph.edge(id, 0).draws), (5, 1));
            assert!((graph.node(id).value - 2.0 / 6.0).abs() < 1e-12);
            let child = graph.node(graph.edge(id, 0).child);
            assert_eq!((child.value, child.visits), (-0.8, 9), "the shared node learns nothing of it");
        }
    }

    #[test]
    fn with_contempt_a_draw_of_the_path_has_a_price() {
        let (mut graph, id) = edge_into_transposition();
        graph.set_draws([-0.25, 0.25]);
        let settings = Settings { backup: Backup::Paper, ..Settings::default() };
        back_up(&mut graph, &[Step { node: id, slot: 0 }], Arrival::PathDraw, false, &settings);
        assert!((graph.edge(id, 0).q - 0.35).abs() < 1e-12, "(4 * 0.5 - 0.25) / 5: {}", graph.edge(id, 0).q);
    }

    #[test]
    fn an_arrival_is_corrected_to_the_target_in_the_correcting_modes_only() {
        for (backup, expected) in [(Backup::Naive, 0.56), (Backup::Paper, 0.6), (Backup::Delta, 0.8)] {
            let (mut graph, id) = edge_into_transposition();
            let settings = Settings { backup, ..Settings::default() };
            back_up(&mut graph, &[Step { node: id, slot: 0 }], Arrival::Value(-0.8), false, &settings);
            // The paper clips its correction of 2.0 to 1.0; delta closes the gap at once; naive only
            // averages.
            assert!((graph.edge(id, 0).q - expected).abs() < 1e-12, "{backup:?}: {}", graph.edge(id, 0).q);
        }
    }

    #[test]
    fn a_child_created_anew_does_not_replace_what_its_edge_knows() {
        let (mut graph, id) = edge_into_transposition();
        let settings = Settings { backup: Backup::Recompute, ..Settings::default() };
        let child = graph.edge(id, 0).child;
        graph.node_mut(child).visits = 1;
        graph.edge_mut(id, 0).flags |= edge_flag::LOST;
        back_up(&mut graph, &[Step { node: id, slot: 0 }], Arrival::Value(-0.8), false, &settings);
        assert!((graph.edge(id, 0).q - 0.56).abs() < 1e-12, "(4 * 0.5 + 0.8) / 5: {}", graph.edge(id, 0).q);
        graph.node_mut(child).visits = 9;
        back_up(&mut graph, &[Step { node: id, slot: 0 }], Arrival::Value(-0.8), false, &settings);
        assert!((graph.edge(id, 0).q - 0.8).abs() < 1e-12, "the child knows more now");
    }

    #[test]
    fn a_trajectory_makes_its_nodes_recent() {
        let (mut graph, id) = edge_into_transposition();
        let (child, other) =
            (graph.edge(id, 0).child, graph.parents(graph.edge(id, 0).child).last().unwrap());
        for _ in 0..100 {
            graph.count_trajectory();
        }
        let age = graph.age(other);
        assert!(age > 0 && graph.age(id) == age && graph.age(child) == age);
        back_up(&mut graph, &[Step { node: id, slot: 0 }], Arrival::Value(-0.8), false, &Settings::default());
        assert_eq!((graph.age(id), graph.age(child)), (0, 0));
        assert!(graph.age(other) >= age, "not on the way");
    }
}
