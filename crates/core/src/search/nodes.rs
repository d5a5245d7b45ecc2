//! New nodes: what decides whether two positions are one node, and what is known of a node when it is
//! created.
//!
//! The end of the game comes from the rules, its result also from tablebases. The evaluation comes later.

use super::{solver, tablebases};
use crate::game::{Ending, Game, MoveCode};
use crate::graph::{Graph, NodeId, State, node_flag};
use crate::oracle::Oracle;
use crate::settings::{Backup, Merge, Settings, SolverRule};

/// Plies before the move-count limit within which the clock is part of the key.
const CLOCK_HORIZON: u32 = 40;

/// A node as it is created.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewNode {
    pub key: u64,
    pub salt: u32,
    pub player: u8,
    pub legal: usize,
    pub ending: Option<Ending>,
    /// By the tablebases.
    pub state: Option<State>,
}

/// What makes the merge key, together with the key of the position.
pub(super) fn salt<G: Game>(game: &G, merge: Merge) -> u32 {
    let clock = game.clock();
    match merge {
        Merge::Clock => clock,
        Merge::Ply => {
            let near = game.clock_limit().is_some_and(|limit| clock + CLOCK_HORIZON >= limit);
            (game.ply() & 0xFFFF) | if near { (clock + 1) << 16 } else { 0 }
        }
    }
}

/// Creates the node of a position whose merge key is new (or not merged); leaves its legal moves in `moves`.
pub(super) fn create<G: Game>(
    graph: &mut Graph,
    moves: &mut Vec<MoveCode>,
    settings: &Settings,
    game: &G,
    key: u64,
    salt: u32,
) -> NodeId {
    game.legal_moves(moves);
    let ending = game.ending(moves);
    let legal = if ending.is_some() { 0 } else { moves.len() };
    let node = NewNode { key, salt, player: game.player(), legal, ending, state: None };
    add(graph, settings.backup, &node)
}

/// Adds a node.
pub(super) fn add(graph: &mut Graph, backup: Backup, new: &NewNode) -> NodeId {
    let id = graph.add_node(new.key, new.salt, new.player, new.legal);
    graph.node_mut(id).state = new.state.unwrap_or_default();
    if let Some(ending) = new.ending {
        let state = match ending {
            Ending::Win => State::Win,
            Ending::Draw => State::Draw,
            Ending::Loss => State::Loss,
            Ending::Score(_) => State::Unknown,
        };
        solver::finish(graph, id, state);
        let value = if state == State::Unknown { ending.value() } else { graph.best_value(id) };
        let node = graph.node_mut(id);
        node.flags |= node_flag::TERMINAL | node_flag::EVALUATED;
        node.value = value;
        node.raw = value as f32;
        node.visits = 1;
    }
    match backup {
        Backup::Tree => {}
        Backup::TreeCache => graph.enter(id),
        _ => graph.enter_new(id),
    }
    id
}

/// Probes the tablebases for a new node. Returns whether it was found.
#[inline]
pub(super) fn look_up<G: Game>(
    graph: &mut Graph,
    id: NodeId,
    oracle: Option<&dyn Oracle<G>>,
    settings: &Settings,
    game: &G,
) -> bool {
    let Some(oracle) = oracle else { return false };
    if graph.node(id).has(node_flag::TERMINAL) || settings.solver_rule != SolverRule::ExactWin2 {
        return false;
    }
    let state = tablebases::state_of(oracle, game, settings);
    graph.node_mut(id).state = state.unwrap_or_default();
    state.is_some()
}
