//! What the threads of a wave read: the graph as it is, the root, the rules of the search.

use crate::evaluators::Evaluator;
use crate::game::Game;
use crate::graph::{Graph, NodeId};
use crate::oracle::Oracle;
use crate::search::path::Start;
use crate::search::policies::Policies;
use crate::search::root_moves::RootMoves;
use crate::search::select::Puct;
use crate::settings::Settings;

/// The search as a wave sees it.
pub(in crate::search) struct View<'a, G: Game> {
    pub graph: &'a Graph,
    pub root: NodeId,
    pub root_moves: &'a RootMoves,
    pub settings: &'a Settings,
    pub puct: &'a Puct,
    pub start: &'a Start<G>,
    pub evaluator: Option<&'a dyn Evaluator<G>>,
    pub oracle: Option<&'a dyn Oracle<G>>,
    pub policies: &'a Policies,
}
