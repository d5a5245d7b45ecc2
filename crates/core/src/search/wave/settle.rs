//! Algorithm 2 for many visits at once: values go up level by level, from the deepest; each edge is updated
//! once for all visits through it, each node when its children are final.
//!
//! With one visit the formulas are those of `backup`.

use super::{Stem, StemId};
use crate::graph::{Graph, NONE};
use crate::search::backup::{mark_by, recompute};
use crate::search::numbers;
use crate::search::transposition::{corrects, is_behind};
use crate::settings::{Backup, Settings};

/// How visits ended, as far as backup cares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::search) enum Settled {
    /// As a draw of the path.
    PathDraw,
    /// At a node with a value, which is read when its edge is updated.
    AtChild,
    /// At a node with this value, for the side to move there.
    Value(f64),
}

/// What comes up through a stem.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    draws: u32,
    /// Visits other than draws of the path, those that ended at the child included.
    others: u32,
    at_child: u32,
    /// Sum of the values of `others` without `at_child`, for the side to move at the child.
    sum: f64,
}

/// Values on their way up.
#[derive(Debug, Default)]
pub(in crate::search) struct Settlement {
    /// By the number of the stem; zero where nothing comes up.
    accounts: Vec<Account>,
    /// Stems with an account, by level.
    levels: Vec<Vec<StemId>>,
    runs: Vec<(StemId, usize, usize)>,
    visits: usize,
    /// Whether the visits were in flight: their marks are taken back with the update.
    are_marked: bool,
}

impl Settlement {
    /// Begins anew, with visits that were in flight, or were not.
    pub fn begin(&mut self, are_marked: bool) {
        debug_assert!(self.levels.iter().all(Vec::is_empty));
        self.visits = 0;
        self.are_marked = are_marked;
    }

    fn account(&mut self, stems: &[Stem], stem: StemId) -> &mut Account {
        let (at, level) = (stem as usize, usize::from(stems[stem as usize].level));
        if self.accounts.len() <= at {
            self.accounts.resize(stems.len().max(at + 1), Account::default());
        }
        if self.levels.len() <= level {
            self.levels.resize(level + 1, Vec::new());
        }
        let account = &mut self.accounts[at];
        if account.draws + account.others == 0 {
            self.levels[level].push(stem);
        }
        account
    }

    /// Adds visits that ended at the child of a stem.
    pub fn add(&mut self, stems: &[Stem], stem: StemId, visits: u32, settled: Settled) {
        self.visits += visits as usize;
        let account = self.account(stems, stem);
        match settled {
            Settled::PathDraw => account.draws += visits,
            Settled::AtChild => {
                account.others += visits;
                account.at_child += visits;
            }
            Settled::Value(value) => {
                account.others += visits;
                account.sum += f64::from(visits) * value;
            }
        }
    }

    /// Carries all values up; returns the number of corrections.
    pub fn back_up(&mut self, graph: &mut Graph, stems: &[Stem], settings: &Settings) -> u64 {
        if self.visits == 0 {
            return 0;
        }
        let now = graph.count_trajectories(self.visits);
        let mut corrections = 0;
        for level in (0..self.levels.len()).rev() {
            let mut some = std::mem::take(&mut self.levels[level]);
            some.sort_unstable_by_key(|&stem| (stems[stem as usize].node, stem));
            self.runs.clear();
            let mut from = 0;
            for run in some.chunk_by(|&a, &b| stems[a as usize].node == stems[b as usize].node) {
                self.runs.push((run[0], from, from + run.len()));
                from += run.len();
            }
            // Nodes in the order in which the wave reached them.
            self.runs.sort_unstable();
            let runs = std::mem::take(&mut self.runs);
            for &(_, from, until) in &runs {
                corrections += self.update_node(graph, stems, &mut some[from..until], settings, now);
            }
            self.runs = runs;
            some.clear();
            self.levels[level] = some;
        }
        corrections
    }

    /// Updates a node and its edges by what comes up through stems at it.
    fn update_node(
        &mut self,
        graph: &mut Graph,
        stems: &[Stem],
        run: &mut [StemId],
        settings: &Settings,
        now: u16,
    ) -> u64 {
        let slot_of = |stem: StemId| stems[stem as usize].slot;
        run.sort_unstable_by_key(|&stem| (slot_of(stem), stem));
        let node = stems[run[0] as usize].node;
        let mut corrections = 0;
        for same in run.chunk_by(|&a, &b| slot_of(a) == slot_of(b)) {
            corrections += self.update_edge(graph, stems, same, settings, now);
        }
        if settings.backup == Backup::Recompute {
            recompute(graph, node);
            let value = graph.node(node).value;
            for &stem in &*run {
                let Account { draws, others, .. } = std::mem::take(&mut self.accounts[stem as usize]);
                self.pass_up(stems, stem, draws + others, f64::from(draws + others) * value);
            }
        }
        if graph.has_numbers() {
            numbers::refresh(graph, node);
        }
        graph.node_mut(node).seen = now;
        let visits = graph.node(node).visits;
        graph.note_visits(visits);
        corrections
    }

    fn pass_up(&mut self, stems: &[Stem], stem: StemId, visits: u32, sum: f64) {
        let above = stems[stem as usize].above;
        if above != NONE {
            let account = self.account(stems, above);
            account.others += visits;
            account.sum += sum;
        }
    }

    /// Updates an edge by what comes up through its stems, and its node with it.
    fn update_edge(
        &mut self,
        graph: &mut Graph,
        stems: &[Stem],
        same: &[StemId],
        settings: &Settings,
        now: u16,
    ) -> u64 {
        let Stem { node, slot, .. } = stems[same[0] as usize];
        let child = graph.edge(node, slot).child;
        let at_child = graph.best_value(child);
        let (mut draws, mut others, mut sum, mut ended) = (0, 0, 0.0, 0);
        for &stem in same {
            let account = &self.accounts[stem as usize];
            draws += account.draws;
            others += account.others;
            ended += account.at_child;
            sum += account.sum + f64::from(account.at_child) * at_child;
        }
        if draws + ended > 0 {
            graph.node_mut(child).seen = now;
        }
        if self.are_marked {
            mark_by(graph, node, slot, ((draws + others) as i16).wrapping_neg());
        }
        let plain = graph.sign(node, child) * sum;
        let drawn = graph.draw_value(node);
        if settings.backup == Backup::Recompute {
            let visits = draws + others;
            let edge = graph.edge_mut(node, slot);
            edge.visits += visits;
            edge.draws += draws;
            if is_behind(graph, graph.edge(node, slot)) {
                // The child was created anew: the edge knows more, and takes its value as one of many.
                let edge = graph.edge_mut(node, slot);
                let all = plain + f64::from(draws) * drawn;
                edge.q += (all - f64::from(visits) * edge.q) / f64::from(edge.visits);
            }
            graph.node_mut(node).visits += visits;
            return 0;
        }
        let mut corrections = 0;
        let (mut of_draw, mut of_other) = (0.0, 0.0);
        if draws > 0 {
            let x = f64::from(draws) * drawn;
            of_draw = update(graph, (node, slot), draws, x, settings) / f64::from(draws);
            graph.edge_mut(node, slot).draws += draws;
        }
        if others > 0 {
            let edge = graph.edge(node, slot);
            let (n, j, q) = (f64::from(edge.visits), f64::from(others), edge.q);
            let mut x = plain;
            if corrects(graph, edge, settings.backup) {
                let target = graph.target(node, child);
                x = match settings.backup {
                    Backup::Delta => (n + j) * target - n * q,
                    _ => (j * target + n * (target - q))
                        .max(j * settings.value_min)
                        .min(j * settings.value_max),
                };
                corrections = u64::from(x != plain);
            }
            of_other = update(graph, (node, slot), others, x, settings) / j;
        }
        for &stem in same {
            let Account { draws, others, .. } = std::mem::take(&mut self.accounts[stem as usize]);
            let up = f64::from(draws) * of_draw + f64::from(others) * of_other;
            self.pass_up(stems, stem, draws + others, up);
        }
        corrections
    }
}

/// Eq. (5) for `visits` values with the sum `x`, on an edge and its node; returns what goes up.
fn update(graph: &mut Graph, (node, slot): (u32, u16), visits: u32, x: f64, settings: &Settings) -> f64 {
    let j = f64::from(visits);
    let edge = graph.edge_mut(node, slot);
    let (n, q) = (f64::from(edge.visits), edge.q);
    let x = if settings.backup == Backup::Delta {
        edge.q = ((n * q + x) / (n + j)).max(settings.value_min).min(settings.value_max);
        (n + j) * edge.q - n * q
    } else {
        edge.q = q + (x - j * q) / (n + j);
        x
    };
    edge.visits += visits;
    let node = graph.node_mut(node);
    node.value += (x - j * node.value) / (f64::from(node.visits) + j);
    node.visits += visits;
    x
}
