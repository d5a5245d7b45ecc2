//! A part of the graph for export: nodes with their positions, and the edges between them.
//!
//! Nodes are numbered in the order of discovery, the most visited first. Nothing depends on ids or addresses.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::game::Game;
use crate::graph::{NONE, NodeId, State, edge_flag, node_flag};
use crate::search::Search;

/// A node for export.
#[derive(Clone, Debug)]
pub struct NodeExport {
    /// Its number in this export, 0 for the root.
    pub id: usize,
    /// The position (FEN).
    pub position: String,
    /// Moves from the root on the first path found.
    pub depth: usize,
    /// N.
    pub visits: u32,
    /// V for the side to move at this node.
    pub value: f64,
    /// U.
    pub raw: f64,
    /// Proof, for the side to move at this node.
    pub state: State,
    /// Length of the proof.
    pub plies: Option<u16>,
    /// Has, or has had, more than one parent edge.
    pub transposition: bool,
    /// Number of legal moves.
    pub legal: u16,
}

/// An edge for export.
#[derive(Clone, Debug)]
pub struct EdgeExport {
    /// Number of the parent.
    pub from: usize,
    /// Number of the child.
    pub to: usize,
    /// The move.
    pub mv: String,
    /// N.
    pub visits: u32,
    /// Q for the side to move at the parent.
    pub q: f64,
    /// P.
    pub prior: f64,
    /// T: value of the child for the side to move at the parent.
    pub target: f64,
    /// Skipped because the child is won for the opponent.
    pub pruned: bool,
    /// Trajectories in flight.
    pub in_flight: u16,
}

/// What part of the graph to export.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Most moves from the root.
    pub depth: Option<usize>,
    /// Fewest visits of a node.
    pub visits: u32,
    /// Most nodes: the most visited ones.
    pub nodes: usize,
}

impl<G: Game> Search<G> {
    /// A part of the graph: most visited nodes first, each with the position of the first path
    /// found to it.
    pub fn export(&self, part: &Part) -> (Vec<NodeExport>, Vec<EdgeExport>) {
        let graph = &self.graph;
        let mut numbers: HashMap<NodeId, usize> = HashMap::new();
        let mut nodes = Vec::new();
        let mut games: Vec<(NodeId, G, usize)> = Vec::new();
        // Visits, then the order of discovery: nothing depends on ids or addresses.
        let mut frontier: BinaryHeap<(u32, Reverse<usize>, usize)> = BinaryHeap::new();
        games.push((self.root, self.position().clone(), 0));
        frontier.push((u32::MAX, Reverse(0), 0));
        while let Some((_, _, at)) = frontier.pop() {
            let (id, game, depth) = games[at].clone();
            if numbers.contains_key(&id) || nodes.len() >= part.nodes {
                continue;
            }
            let node = graph.node(id);
            numbers.insert(id, nodes.len());
            nodes.push((
                id,
                NodeExport {
                    id: nodes.len(),
                    position: game.text(),
                    depth,
                    visits: node.visits,
                    value: node.value,
                    raw: f64::from(node.raw),
                    state: node.state,
                    plies: node.state.is_exact().then_some(node.end_in_ply),
                    transposition: node.has(node_flag::TRANSPOSITION),
                    legal: node.legal,
                },
                game.clone(),
            ));
            if part.depth.is_some_and(|most| depth >= most) {
                continue;
            }
            for edge in graph.edges(id) {
                if edge.child == NONE || numbers.contains_key(&edge.child) {
                    continue;
                }
                // Nodes without visits are those of proofs; the others await their evaluation.
                let child = graph.node(edge.child);
                if child.visits < part.visits || (child.visits == 0 && !child.state.is_solved()) {
                    continue;
                }
                let mut next = game.clone();
                next.follow(edge.mv, child.key);
                games.push((edge.child, next, depth + 1));
                frontier.push((graph.node(edge.child).visits, Reverse(games.len()), games.len() - 1));
            }
        }
        let mut edges = Vec::new();
        for (id, export, game) in &nodes {
            for edge in graph.edges(*id) {
                if let Some(&to) = numbers.get(&edge.child) {
                    edges.push(EdgeExport {
                        from: export.id,
                        to,
                        mv: game.move_text(edge.mv),
                        visits: edge.visits,
                        q: edge.q,
                        prior: edge.prior(),
                        target: graph.target(*id, edge.child),
                        pruned: edge.has(edge_flag::PRUNED),
                        in_flight: edge.in_flight,
                    });
                }
            }
        }
        (nodes.into_iter().map(|(_, export, _)| export).collect(), edges)
    }
}
