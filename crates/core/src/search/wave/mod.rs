//! A wave: many visits go down the graph together, and their values come up together.
//!
//! ```text
//!   descend   reads only, on all threads: splits visits at nodes, finds new positions
//!   commit    one thread: opens edges, adds nodes, tells the solver, backs up what needs no evaluation
//!   (evaluation, by the loop)
//!   settle    one thread: values go up level by level, each edge once
//! ```
//! Where the paths of visits have an edge in common it is one *stem*. Stems have numbers in the order in
//! which they were found, and nothing depends on which thread found them.

pub(super) mod split;
mod by_rule;
mod view;
mod expand;
mod descend;
mod fetch;
mod share;
mod settle;

use std::sync::Arc;

pub(super) use descend::{Descent, Hands, Part, Twigs};
pub(super) use fetch::descend_fetching;
pub(super) use settle::{Settled, Settlement};
pub use share::{Alone, Crew, Work};
pub(super) use share::{Lent, Shared};
pub(super) use view::View;

use crate::evaluators::Leaf;
use crate::game::MoveCode;
use crate::graph::{Graph, NONE, NodeId};
use crate::search::backup::mark_by;
use crate::search::nodes::NewNode;

/// The number of a stem in its wave; [`NONE`] above the first ones.
pub(super) type StemId = u32;

/// Slot of an edge that is not open yet.
pub(super) const UNOPENED: u16 = u16::MAX;

/// An edge on the way of some visits that came the same way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stem {
    pub(super) above: StemId,
    pub(super) node: NodeId,
    pub(super) slot: u16,
    /// Moves from the root to the child.
    pub(super) level: u16,
    pub(super) mv: MoveCode,
    /// Visits through here that wait for their evaluation.
    pub(super) flying: u16,
    /// Visits through here that are given back.
    pub(super) collided: u16,
    /// Key of the child's position.
    pub(super) key: u64,
}

/// What becomes of the child of an edge without one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attached {
    Known(NodeId),
    New(NewNode),
}

/// How visits ended.
#[derive(Debug)]
pub(super) enum Landing<G> {
    PathDraw,
    Exact,
    Stop,
    /// One visit at a node without evaluation.
    Leaf(Box<Leaf<G>>),
    /// Visits that are given back.
    Collision,
}

/// What the commit has to do, in the order of finding.
#[derive(Debug)]
pub(super) enum Act<G> {
    /// Open the edge of a stem if need be, and give it a child.
    Open { stem: StemId, zeroing: bool, child: Attached },
    /// Search the child of a stem for a mate.
    Mate { stem: StemId },
    /// Take note of the end of visits.
    Land { stem: StemId, visits: u32, landing: Landing<G> },
}

/// A wave under way.
#[derive(Debug, Default)]
pub(super) struct Wave {
    pub(super) stems: Vec<Stem>,
}

impl Stem {
    /// Visits that wait for their evaluation.
    pub fn flying(&self) -> u16 {
        self.flying
    }

    /// Visits that were given back.
    pub fn collided(&self) -> u16 {
        self.collided
    }
}

impl Wave {
    /// Moves from the root to the child of a stem.
    pub fn depth(&self, stem: StemId) -> usize {
        usize::from(self.stems[stem as usize].level)
    }

    /// The moves from the root to the child of a stem.
    pub fn moves(&self, stem: StemId) -> Vec<MoveCode> {
        let mut moves = Vec::new();
        let mut at = stem;
        while at != NONE {
            let stem = &self.stems[at as usize];
            moves.push(stem.mv);
            at = stem.above;
        }
        moves.reverse();
        moves
    }

    /// Takes the marks of some of its visits back.
    pub fn unmark(&self, graph: &mut Graph, visits: impl Fn(&Stem) -> u16) {
        for stem in self.stems.iter().filter(|stem| stem.slot != UNOPENED) {
            let marks = visits(stem);
            if marks > 0 {
                mark_by(graph, stem.node, stem.slot, (marks as i16).wrapping_neg());
            }
        }
    }

    /// Sums visits up from the stems where they ended to all above, and marks their way.
    pub fn mark(&mut self, graph: &mut Graph) {
        for at in (0..self.stems.len()).rev() {
            let Stem { above, node, slot, flying, collided, .. } = self.stems[at];
            let marks = flying + collided;
            if marks == 0 {
                continue;
            }
            if above != NONE {
                let above = &mut self.stems[above as usize];
                above.flying += flying;
                above.collided += collided;
            }
            if slot != UNOPENED {
                mark_by(graph, node, slot, marks as i16);
            }
        }
    }
}

/// Locks what no panic can leave half done.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Spins before the core is left to others.
const SPINS: u32 = 1000;

/// Takes back what was shared, once the others have let go of it.
pub(super) fn reclaim<T>(mut shared: Arc<T>, crew: &mut dyn Crew) -> T {
    let mut spins = 0;
    loop {
        match Arc::try_unwrap(shared) {
            Ok(owned) => return owned,
            Err(still) => shared = still,
        }
        if crew.pass_time() {
            continue;
        }
        // Who still works may wait for a core.
        if spins < SPINS {
            spins += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}
