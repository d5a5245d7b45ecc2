//! When nodes were last visited: what a graph at its memory cap gives up is what no trajectory used for long.
//!
//! Time is counted in periods of trajectories. A period is so long that a full graph holds the nodes of about
//! a thousand periods, so the 16 bits of [`Node::seen`](super::Node::seen) reach far enough. No clock of the
//! machine is read: equal searches have equal periods.

use super::{Graph, NodeId};

/// Bytes of memory for each trajectory of a period: about a thousand times those of a node.
const BYTES_PER_TRAJECTORY: usize = 1 << 18;
/// Periods that are still to come after the periods were renumbered.
const AHEAD: u16 = 1 << 15;

/// The number of the current period.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Trajectories of the current period so far.
    trajectories: usize,
    now: u16,
}

impl Clock {
    /// The current period.
    pub(super) fn now(&self) -> u16 {
        self.now
    }
}

impl Graph {
    /// Counts a trajectory that is backed up; returns the current period.
    #[inline(always)]
    pub fn count_trajectory(&mut self) -> u16 {
        let clock = &mut self.clock;
        clock.trajectories += 1;
        if clock.trajectories * BYTES_PER_TRAJECTORY >= self.memory {
            clock.trajectories = 0;
            clock.now = clock.now.saturating_add(1);
        }
        clock.now
    }

    /// Counts trajectories that are backed up together; returns the current period.
    pub fn count_trajectories(&mut self, count: usize) -> u16 {
        let clock = &mut self.clock;
        clock.trajectories += count;
        let period = self.memory.div_ceil(BYTES_PER_TRAJECTORY).max(1);
        if clock.trajectories >= period {
            clock.now =
                clock.now.saturating_add((clock.trajectories / period).min(usize::from(u16::MAX)) as u16);
            clock.trajectories %= period;
        }
        clock.now
    }

    /// Periods since a trajectory last went through a node.
    pub fn age(&self, id: NodeId) -> u16 {
        self.clock.now.saturating_sub(self.nodes[id as usize].seen)
    }

    /// Renumbers the periods when many have passed; those of long ago become one.
    pub fn renumber_periods(&mut self) {
        let Some(shift) = self.clock.now.checked_sub(u16::MAX - AHEAD) else { return };
        self.clock.now -= shift;
        for node in &mut self.nodes {
            node.seen = node.seen.saturating_sub(shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_counted_in_periods_and_survive_renumbering() {
        let mut graph = Graph::new(4 * BYTES_PER_TRAJECTORY);
        assert!(graph.ensure_room(1, 8, true));
        let old = graph.add_node(1, 0, 0, 1);
        let period = |graph: &mut Graph| (0..4).map(|_| graph.count_trajectory()).last();
        for _ in 0..40_000 {
            period(&mut graph);
        }
        let young = graph.add_node(2, 0, 0, 1);
        assert_eq!((graph.age(old), graph.age(young)), (40_000, 0));
        graph.renumber_periods();
        assert_eq!((graph.age(old), graph.age(young)), (u16::MAX - AHEAD, 0), "the oldest are all alike");
        for _ in 0..AHEAD {
            period(&mut graph);
        }
        assert_eq!(graph.age(young), AHEAD);
    }
}
