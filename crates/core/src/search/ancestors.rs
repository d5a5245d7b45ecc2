//! Update-all: the value of a trajectory goes to every edge from which its last node can be reached.
//!
//! The trajectory itself is backed up before, as everywhere. Not in the paper: a comparator.

use std::collections::HashSet;

use super::path::Step;
use crate::graph::{Graph, NodeId};

/// Updates all ancestors of the last child of a trajectory that are not on it, by its value for the side to
/// move there. Returns the most visits of a node that was changed.
pub fn update_others(graph: &mut Graph, steps: &[Step], value: f64, now: u16) -> u32 {
    let Some(&Step { node, slot }) = steps.last() else { return 0 };
    let last = graph.edge(node, slot).child;
    let mut most_visits = 0;
    let mut seen: HashSet<NodeId> = HashSet::from([last]);
    let mut work = vec![last];
    while let Some(child) = work.pop() {
        let mut parents: Vec<NodeId> = graph.parents(child).collect();
        parents.sort_unstable();
        parents.dedup();
        for parent in parents {
            let x = graph.sign(parent, last) * value;
            for slot in 0..graph.node(parent).opened {
                if graph.edge(parent, slot).child != child || steps.contains(&Step { node: parent, slot }) {
                    continue;
                }
                let edge = graph.edge_mut(parent, slot);
                edge.q += (x - edge.q) / (f64::from(edge.visits) + 1.0);
                edge.visits += 1;
                let changed = graph.node_mut(parent);
                changed.value += (x - changed.value) / (f64::from(changed.visits) + 1.0);
                changed.visits += 1;
                changed.seen = now;
                most_visits = most_visits.max(changed.visits);
            }
            if seen.insert(parent) {
                work.push(parent);
            }
        }
    }
    most_visits
}
