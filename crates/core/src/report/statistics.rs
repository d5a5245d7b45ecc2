//! Numbers about a search and its graph, and the leak meters.
//!
//! The meters read every edge, each a random access to memory; [`Meters`] bounds that.

use crate::game::Game;
use crate::graph::{NONE, NodeId, node_flag};
use crate::search::{Counters, Search};

/// Numbers about the search and its graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// What was counted during this search.
    pub counters: Counters,
    /// Nodes in the graph.
    pub nodes: usize,
    /// Opened edges in the graph.
    pub edges: usize,
    /// Nodes with, now or ever, more than one parent edge.
    pub transposition_nodes: usize,
    /// Nodes in the graph with a proof.
    pub solved_nodes: usize,
    /// Visit-weighted mean of |Q - T| over edges.
    pub leak: f64,
    /// Visit-weighted mean of |V - V from the children| over nodes.
    pub node_leak: f64,
    /// Bytes in use.
    pub bytes: usize,
    /// Bytes taken from the system.
    pub reserved_bytes: usize,
    /// Visits of the root, reused ones included.
    pub root_visits: u32,
}

/// The range of the meters of a report: each edge that they read costs an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meters {
    /// Nothing is measured or counted.
    Off,
    /// Everything is counted, leaks are measured over the nodes with the lowest ids: for reports in a hurry.
    Sample,
    /// Everything is counted and measured.
    Whole,
}

impl Meters {
    /// Number of ids over which leaks are measured.
    const fn bound(self) -> NodeId {
        match self {
            Meters::Off => 0,
            Meters::Sample => 1 << 15,
            Meters::Whole => NodeId::MAX,
        }
    }
}

impl<G: Game> Search<G> {
    /// Number of in-flight marks anywhere in the graph: zero when nothing is in flight.
    pub fn in_flight_marks(&self) -> u64 {
        let edges = |id| self.graph.edges(id).iter().map(|edge| u64::from(edge.in_flight)).sum::<u64>();
        self.graph.ids().map(|id| u64::from(self.graph.node(id).in_flight) + edges(id)).sum()
    }

    /// Numbers about the graph.
    pub fn statistics(&self, meters: Meters) -> Statistics {
        let graph = &self.graph;
        let mut statistics = Statistics {
            counters: self.counters,
            nodes: graph.len(),
            bytes: graph.used_bytes() + self.position().stored_bytes(),
            reserved_bytes: graph.reserved_bytes(),
            root_visits: graph.node(self.root).visits,
            ..Statistics::default()
        };
        if meters == Meters::Off {
            return statistics;
        }
        let (mut edge_gap, mut edge_weight, mut node_gap, mut node_weight) = (0.0, 0.0, 0.0, 0.0);
        for id in graph.ids() {
            let node = graph.node(id);
            statistics.edges += node.opened as usize;
            statistics.transposition_nodes += usize::from(node.has(node_flag::TRANSPOSITION));
            statistics.solved_nodes += usize::from(node.state.is_solved());
            if id >= meters.bound() || !node.has(node_flag::EVALUATED) || node.has(node_flag::TERMINAL) {
                continue;
            }
            let (mut sum, mut visits) = (f64::from(node.raw), 1.0);
            for edge in graph.edges(id) {
                if edge.child == NONE || !graph.node(edge.child).has(node_flag::EVALUATED) {
                    continue;
                }
                let (weight, target) = (f64::from(edge.visits), graph.target(id, edge.child));
                edge_gap += weight * (edge.q - target).abs();
                edge_weight += weight;
                sum += weight * target;
                visits += weight;
            }
            node_gap += f64::from(node.visits) * (node.value - sum / visits).abs();
            node_weight += f64::from(node.visits);
        }
        statistics.leak = if edge_weight > 0.0 { edge_gap / edge_weight } else { 0.0 };
        statistics.node_leak = if node_weight > 0.0 { node_gap / node_weight } else { 0.0 };
        statistics
    }
}
