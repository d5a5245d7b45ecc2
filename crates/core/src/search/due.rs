//! When a node is searched for a mate: at its first visits, and each time that they have doubled.

use crate::graph::{Node, State};

/// Searches that a node of so many visits has had, if none was left out.
pub(super) fn searches_due(visits: u32, start: u64) -> u8 {
    u64::from(visits)
        .checked_div(start)
        .and_then(u64::checked_ilog2)
        .map_or(0, |doublings| doublings as u8 + 1)
}

/// Whether a node has the visits for its next search.
pub(super) fn has_visits_for_mate(node: &Node, start: u64) -> bool {
    node.state == State::Unknown && searches_due(node.visits, start) > node.mate_searches
}
