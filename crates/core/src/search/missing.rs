//! Trajectories that miss a position, in games whose positions are made many at a time.
//!
//! They wait with their edges marked, so that others go elsewhere, and go on when the position is there.

use std::collections::VecDeque;

use super::Search;
use super::backup::{Step, mark};
use super::batch::Batch;
use super::select::Choice;
use super::simulate::End;
use crate::game::{Game, MoveCode};
use crate::graph::edge_flag;

/// A trajectory that waits.
#[derive(Debug, Default)]
struct Waiting {
    /// The moves above its first step: an exploration begins at a branch node.
    above: Vec<MoveCode>,
    steps: Vec<Step>,
    exploration: bool,
}

/// Trajectories that wait.
#[derive(Debug, Default)]
pub(super) struct Missing {
    waiting: Vec<Waiting>,
    /// Those whose positions have been fetched.
    ready: VecDeque<Waiting>,
}

impl Missing {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.ready.len()
    }
}

impl<G: Game> Search<G> {
    /// The trajectory under way waits for the position after its last edge.
    #[cold]
    pub(super) fn note_missing(&mut self, exploration: bool) {
        let mut steps = self.spare_steps.pop().unwrap_or_default();
        steps.clone_from(&self.steps);
        mark(&mut self.graph, &steps, true);
        let moves = self.path.moves();
        let above = moves[..moves.len() - steps.len()].to_vec();
        self.missing.waiting.push(Waiting { above, steps, exploration });
    }

    /// Fetches what the waiting trajectories miss. Returns whether that brought anything.
    pub(super) fn fetch_missing(&mut self) -> bool {
        let is_new = self.position().fetch();
        self.missing.ready.extend(self.missing.waiting.drain(..));
        is_new
    }

    /// The next of the waiting trajectories goes on; how it ends. One that misses another position waits
    /// again.
    pub(super) fn resume_next(&mut self, batch: &mut Batch<G>) -> Option<End> {
        loop {
            let Some(Waiting { above, steps, exploration }) = self.missing.ready.pop_front() else {
                if self.missing.waiting.is_empty() {
                    return None;
                }
                if !self.fetch_missing() {
                    self.drop_missing();
                }
                continue;
            };
            mark(&mut self.graph, &steps, false);
            let end = self
                .retrace(&above, &steps)
                .map(|last| self.walk_on(last.node, Some(Choice::Opened(last.slot)), exploration, batch));
            self.spare_steps.push(steps);
            match end {
                Some(End::Missing) | None => {}
                end => return end,
            }
        }
    }

    /// Gives up the waiting trajectories.
    pub(super) fn drop_missing(&mut self) {
        self.missing.ready.extend(self.missing.waiting.drain(..));
        while let Some(Waiting { steps, .. }) = self.missing.ready.pop_front() {
            mark(&mut self.graph, &steps, false);
            self.spare_steps.push(steps);
        }
    }

    /// Brings path and steps to the node above the last edge of a trajectory, which begins after some moves.
    fn retrace(&mut self, above: &[MoveCode], steps: &[Step]) -> Option<Step> {
        self.path.restart();
        self.steps.clear();
        let (last, before) = steps.split_last()?;
        let mut node = self.root;
        for &mv in above {
            let edge = self.graph.edges(node).iter().find(|edge| edge.mv == mv)?;
            self.path.follow(edge.mv, edge.has(edge_flag::ZEROING));
            self.path.arrive(self.graph.node(edge.child).key);
            node = edge.child;
        }
        for step in before {
            let edge = self.graph.edge(step.node, step.slot);
            self.path.follow(edge.mv, edge.has(edge_flag::ZEROING));
            self.path.arrive(self.graph.node(edge.child).key);
            self.steps.push(*step);
        }
        Some(*last)
    }
}
