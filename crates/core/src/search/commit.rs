//! A wave in the graph: edges are opened, nodes added and marked, in the order in which they were found.
//!
//! What needs no evaluation is backed up at the end of the commit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::batch::{Batch, Way};
use super::leaves::Joined;
use super::nodes::add;
use super::wave::{
    Act, Attached, Crew, Descent, Hands, Landing, Lent, Part, Settled, Settlement, Shared, Stem, StemId,
    UNOPENED, View, Wave, Work, descend_fetching, reclaim,
};
use super::{Search, solver};
use crate::game::{Game, MoveCode};
use crate::graph::{Graph, MOST_MOVES, NONE, NodeId, edge_flag, node_flag};

/// Visits of a wave from which on other threads are asked for help.
const LEAST_SHARED: u32 = 8;

/// What a wave has come to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Visits that are counted: neither given back nor without a move to choose.
    pub visits: u64,
    pub stops: u64,
    pub terminals: u64,
    pub collisions: u64,
}

impl<G: Game> Search<G> {
    /// Sends visits down as a wave and commits what they find. Their leaves join the batch.
    pub(super) fn run_wave(&mut self, visits: u32, batch: &mut Batch<G>, crew: &mut dyn Crew) -> Tally {
        let number = batch.waves.len() as u32;
        let mut wave = self.spare_waves.pop().unwrap_or_default();
        let parts = self.descend(visits, crew);
        let begun = self.begin_phase();
        let mut tally = Tally::default();
        let mut settlement = std::mem::take(&mut self.settlement);
        settlement.begin(false);
        for part in &parts {
            for (id, list) in &part.lists {
                if !self.graph.node(*id).is_listed_whole() && self.has_room() {
                    self.counters.relistings += u64::from(self.graph.node(*id).opened > 0);
                    self.graph.list_candidates(*id, list);
                }
            }
        }
        let (mut trunk, mut is_cut) = (0, false);
        for (index, mut part) in parts.into_iter().enumerate() {
            // Stems of the trunk have their final numbers; those of a twig follow on.
            let base = wave.stems.len();
            trunk = if index == 0 { part.stems.len() } else { trunk };
            let shift = if index == 0 { 0 } else { (base - trunk) as u32 };
            let moved = |stem: StemId| if (stem as usize) < trunk { stem } else { stem + shift };
            wave.stems.extend(part.stems.iter().map(|stem| Stem {
                above: if stem.above == NONE { NONE } else { moved(stem.above) },
                ..*stem
            }));
            for act in part.acts.drain(..) {
                match act {
                    Act::Open { stem, zeroing, child } => {
                        let stem = &mut wave.stems[moved(stem) as usize];
                        is_cut |= !self.commit_opening(stem, zeroing, child);
                    }
                    Act::Mate { stem } => self.search_stem_for_mate(&wave, moved(stem)),
                    Act::Land { stem, visits, landing } => {
                        let mut under_way = UnderWay {
                            wave: &mut wave,
                            stem: moved(stem),
                            number,
                            is_cut,
                            batch,
                            settlement: &mut settlement,
                            tally: &mut tally,
                        };
                        self.commit_landing(&mut under_way, visits, landing);
                    }
                }
            }
            if index == 0 {
                self.spare_part = part;
            }
        }
        wave.mark(&mut self.graph);
        self.counters.corrections += settlement.back_up(&mut self.graph, &wave.stems, &self.settings);
        self.settlement = settlement;
        batch.waves.push(wave);
        self.end_phase(begun, |phases| &mut phases.commit);
        tally
    }

    /// Finds where visits go, on this thread or on all; what was found, the trunk first.
    fn descend(&mut self, visits: u32, crew: &mut dyn Crew) -> Vec<Part<G>> {
        let begun = self.begin_phase();
        let mut hands = self.hands.pop().unwrap_or_default();
        let start = Arc::clone(self.path.start());
        hands.begin(&start);
        hands.spares.append(&mut self.spare_leaves);
        let is_shared = visits >= LEAST_SHARED && crew.is_free(visits);
        let mut twigs = std::mem::take(&mut self.twigs);
        twigs.clear();
        let mut part = std::mem::take(&mut self.spare_part);
        part.clear();
        let view = View {
            graph: &self.graph,
            root: self.root,
            root_moves: &self.root_moves,
            settings: &self.settings,
            puct: &self.puct,
            start: &start,
            evaluator: self.evaluator.as_deref(),
            oracle: self.oracle.as_deref(),
            policies: &self.policies,
        };
        if start.root().is_fetched() {
            let parts = descend_fetching(&view, &mut hands, &mut twigs, visits);
            self.twigs = twigs;
            self.spare_part = part;
            self.spare_leaves.append(&mut hands.spares);
            self.hands.push(hands);
            self.end_descent(visits, begun.map(|begun| begun.elapsed()), None);
            return parts;
        }
        let mut descent = Descent {
            view: &view,
            trunk: &[],
            hands: &mut hands,
            part,
            twigs: Some(&mut twigs),
            is_missing: false,
        };
        descent.grow_trunk(visits);
        let (trunk, begun) = (begun.map(|begun| begun.elapsed()), self.begin_phase());
        if !is_shared {
            let Descent { part, .. } = descent;
            let mut descent =
                Descent { view: &view, trunk: &[], hands: &mut hands, part, twigs: None, is_missing: false };
            for twig in 0..twigs.len() {
                descent.follow_twig(&twigs, twig);
            }
            let part = descent.part;
            self.twigs = twigs;
            self.spare_leaves.append(&mut hands.spares);
            self.hands.push(hands);
            self.end_descent(visits, trunk, begun);
            return vec![part];
        }
        let part = descent.part;
        self.hands.push(hands);
        self.spread_spares(crew.threads());
        let lent = Lent {
            graph: std::mem::replace(&mut self.graph, Graph::placeholder()),
            root: self.root,
            root_moves: self.root_moves.clone(),
            settings: self.settings.clone(),
            puct: Arc::clone(&self.puct),
            start,
            evaluator: self.evaluator.clone(),
            oracle: self.oracle.clone(),
            policies: std::mem::take(&mut self.policies),
        };
        let hands = std::mem::take(&mut self.hands);
        let shared = Shared::new(lent, part.stems.clone(), twigs, hands);
        let shared = Arc::new(shared);
        crew.work(Arc::clone(&shared) as Arc<dyn Work>);
        let mut shared = reclaim(shared, crew);
        std::mem::swap(&mut self.graph, &mut shared.lent.graph);
        std::mem::swap(&mut self.policies, &mut shared.lent.policies);
        let mut parts = vec![part];
        parts.extend(shared.take_parts());
        self.hands = shared.hands.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.twigs = shared.twigs;
        self.end_descent(visits, trunk, begun);
        parts
    }

    fn end_descent(&mut self, visits: u32, trunk: Option<Duration>, begun: Option<Instant>) {
        if let (Some(phases), Some(trunk)) = (&mut self.phases, trunk) {
            phases.trunk += trunk;
        }
        // A small wave is never shared.
        let is_shared = visits >= LEAST_SHARED;
        self.end_phase(begun, if is_shared { |all| &mut all.twigs } else { |all| &mut all.trunk });
    }

    /// Spreads spare leaves over the hands of all threads.
    fn spread_spares(&mut self, threads: usize) {
        while self.hands.len() < threads {
            self.hands.push(Hands::default());
        }
        let mut spares = std::mem::take(&mut self.spare_leaves);
        self.hands.iter_mut().for_each(|hands| spares.append(&mut hands.spares));
        let share = spares.len() / self.hands.len();
        for hands in &mut self.hands {
            let from = spares.len() - share;
            hands.spares.extend(spares.drain(from..));
        }
        self.spare_leaves = spares;
    }

    /// Whether one more node finds its memory.
    fn has_room(&mut self) -> bool {
        let uses_table = self.uses_table();
        self.graph.ensure_room(1, self.promised + 2 * MOST_MOVES, uses_table)
    }

    /// Opens the edge of a stem, unless that was done, and gives it its child. Without memory it stays as it
    /// is, and this is false.
    fn commit_opening(&mut self, stem: &mut Stem, zeroing: bool, child: Attached) -> bool {
        if !self.has_room() {
            return false;
        }
        let id = stem.node;
        let mut slot = stem.slot;
        if slot == UNOPENED {
            let listed = self.graph.candidates(id).iter().position(|known| known.mv() == stem.mv);
            slot = match listed {
                Some(index) => {
                    let slot = self.graph.open(id, index);
                    if zeroing {
                        self.graph.edge_mut(id, slot).flags |= edge_flag::ZEROING;
                    }
                    slot
                }
                // Another visit of the wave has opened it.
                None => match self.graph.edges(id).iter().position(|edge| edge.mv == stem.mv) {
                    Some(slot) => slot as u16,
                    None => return false,
                },
            };
            stem.slot = slot;
        }
        if self.graph.edge(id, slot).child == NONE {
            self.commit_child(id, slot, child);
        }
        true
    }

    /// Searches the child of a stem for a mate, unless another stem has led there before.
    #[cold]
    fn search_stem_for_mate(&mut self, wave: &Wave, stem: StemId) {
        let Stem { node, slot, .. } = wave.stems[stem as usize];
        let child = if slot == UNOPENED { NONE } else { self.graph.edge(node, slot).child };
        if child == NONE || !self.is_due_for_mate(child) {
            return;
        }
        self.path.restart();
        for mv in wave.moves(stem) {
            self.path.follow(mv, false);
        }
        self.search_node_for_mate(child);
        self.path.restart();
    }

    /// Whether an edge on the way to a stem, or its own, is not in the graph.
    #[cold]
    fn is_cut_off(&self, wave: &Wave, mut stem: StemId) -> bool {
        while stem != NONE {
            let Stem { above, node, slot, .. } = wave.stems[stem as usize];
            if slot == UNOPENED || self.graph.edge(node, slot).child == NONE {
                return true;
            }
            stem = above;
        }
        false
    }

    /// Links an edge to its child, which is added unless the wave has done so already.
    fn commit_child(&mut self, id: NodeId, slot: u16, child: Attached) {
        let known = match child {
            Attached::Known(known) => Some(known),
            Attached::New(new) if self.settings.backup.merges() => self.graph.find(new.key, new.salt),
            Attached::New(_) => None,
        };
        let (child, fresh) = match (known, child) {
            (Some(known), _) | (None, Attached::Known(known)) => (known, false),
            (None, Attached::New(new)) => {
                self.counters.tablebase_hits += u64::from(new.state.is_some());
                (add(&mut self.graph, self.settings.backup, &new), true)
            }
        };
        self.graph.link(id, slot, child);
        self.counters.transposition_links += u64::from(!fresh);
        if self.settings.solver && self.doubts < 2 && self.graph.node(child).state.is_solved() {
            self.counters.solved_nodes += u64::from(fresh);
            self.counters.solved_nodes += solver::inform(&mut self.graph, id, &mut self.work) as u64;
        }
    }

    /// Takes note of the end of visits.
    fn commit_landing(&mut self, under_way: &mut UnderWay<'_, G>, visits: u32, landing: Landing<G>) {
        let UnderWay { wave, stem, number, is_cut, batch, settlement, tally } = under_way;
        let (stem, number) = (*stem, *number);
        let Stem { node, slot, level, .. } = wave.stems[stem as usize];
        let is_dropped = *is_cut && self.is_cut_off(wave, stem);
        let is_late = || self.graph.node(self.graph.edge(node, slot).child).has(node_flag::WAITING);
        let settled = match landing {
            // Without memory for its edge, or taken by another visit of the wave.
            Landing::Leaf(leaf) if is_dropped || is_late() => {
                self.spare_leaves.push(leaf);
                None
            }
            _ if is_dropped => None,
            Landing::Collision => None,
            Landing::PathDraw => {
                self.counters.path_draws += u64::from(visits);
                tally.terminals += u64::from(visits);
                Some(Settled::PathDraw)
            }
            Landing::Exact => {
                self.counters.terminals += u64::from(visits);
                tally.terminals += u64::from(visits);
                Some(Settled::AtChild)
            }
            Landing::Stop => {
                self.counters.stops += u64::from(visits);
                tally.stops += u64::from(visits);
                Some(Settled::AtChild)
            }
            Landing::Leaf(leaf) => {
                let child = self.graph.edge(node, slot).child;
                let way = Way::Stem { wave: number, stem };
                let joined = self.take_leaf(child, leaf, way, usize::from(level), batch);
                tally.stops += u64::from(joined != Joined::Leaf);
                if joined != Joined::Copied {
                    wave.stems[stem as usize].flying += 1;
                    tally.visits += 1;
                    self.record(wave, stem, 1);
                    return;
                }
                Some(Settled::AtChild)
            }
        };
        let Some(settled) = settled else {
            self.counters.collisions += u64::from(visits);
            tally.collisions += u64::from(visits);
            wave.stems[stem as usize].collided += visits as u16;
            return;
        };
        settlement.add(&wave.stems, stem, visits, settled);
        for _ in 0..visits {
            self.count(usize::from(level), 0, false);
        }
        tally.visits += u64::from(visits);
        self.record(wave, stem, visits);
    }

    /// For benchmarks: writes the moves of visits down.
    fn record(&mut self, wave: &Wave, stem: StemId, visits: u32) {
        let Some(record) = &mut self.recorder else { return };
        for _ in 0..visits {
            record.push(MoveCode(wave.depth(stem) as u16));
            record.extend(wave.moves(stem));
        }
    }
}

/// What the commit of a landing changes.
struct UnderWay<'a, G: Game> {
    wave: &'a mut Wave,
    stem: StemId,
    number: u32,
    /// Whether some edge of the wave is not in the graph.
    is_cut: bool,
    batch: &'a mut Batch<G>,
    settlement: &'a mut Settlement,
    tally: &'a mut Tally,
}
