//! Down the graph: visits that meet at a node are split together, level by level, until each of them ends.
//!
//! Reads the graph and changes nothing. A node that few visits reach is the foot of a *twig*: what lies below
//! is followed without regard to other twigs, on any thread.

use std::sync::Arc;

use super::split::Split;
use super::{Act, Attached, Landing, Stem, StemId, UNOPENED, View};
use crate::evaluators::Leaf;
use crate::game::{Game, MoveCode};
use crate::graph::prior::{Candidate, HEAD, RankScratch, most_listed};
use crate::graph::{NONE, NodeId, edge_flag, node_flag};
use crate::search::due::has_visits_for_mate;
use crate::search::path::{Replay, Start};
use crate::search::select::Choice;
use crate::search::transposition::stops_of;

/// Most visits at the foot of a twig, at least: a wave of many visits has larger twigs.
const TWIG: u32 = 8;
/// Most visits of a wave for each visit at the foot of a twig.
const TWIGS: u32 = 32;
/// Groups of a level that are compared one by one.
const FEW: usize = 8;

/// Visits that came to a node the same way.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct Group {
    pub node: NodeId,
    pub above: StemId,
    pub visits: u32,
    pub level: u16,
    /// Plies since the last zeroing move of the path.
    pub clock: u32,
    /// Keys of the path, as a set that may err on the side of "present".
    pub seen: u128,
}

const fn bit(key: u64) -> u128 {
    1 << (key & 127)
}

impl Group {
    /// All visits of a wave, at the root.
    pub fn at_root<G: Game>(view: &View<'_, G>, visits: u32) -> Group {
        let start = view.start;
        let seen = start.twice_before().fold(bit(start.key()), |seen, key| seen | bit(key));
        Group { node: view.root, above: NONE, visits, level: 0, clock: start.clock(), seen }
    }
}

/// What one thread keeps between descents to spare allocations.
#[derive(Debug)]
pub(in crate::search) struct Hands<G> {
    start: Option<Arc<Start<G>>>,
    pub(super) replay: Replay<G>,
    pub(super) line: Vec<MoveCode>,
    pub spares: Vec<Box<Leaf<G>>>,
    pub(super) logits: Vec<f32>,
    pub(super) weights: RankScratch,
    split: Split,
    level: Vec<Group>,
    next: Vec<Group>,
    portion: Vec<(u32, u32)>,
}

impl<G> Default for Hands<G> {
    fn default() -> Hands<G> {
        Hands {
            start: None,
            replay: Replay::default(),
            line: Vec::new(),
            spares: Vec::new(),
            logits: Vec::new(),
            weights: RankScratch::default(),
            split: Split::default(),
            level: Vec::new(),
            next: Vec::new(),
            portion: Vec::new(),
        }
    }
}

impl<G: Game> Hands<G> {
    /// Prepares for a wave from a root.
    pub fn begin(&mut self, start: &Arc<Start<G>>) {
        if !self.start.as_ref().is_some_and(|known| Arc::ptr_eq(known, start)) {
            self.replay.clear();
            self.start = Some(Arc::clone(start));
        }
    }
}

/// What a descent found.
#[derive(Debug)]
pub(in crate::search) struct Part<G> {
    pub stems: Vec<Stem>,
    pub acts: Vec<Act<G>>,
    /// Lists of candidates that were derived on the way, first ones or whole ones.
    pub lists: Vec<(NodeId, Vec<Candidate>)>,
}

impl<G> Part<G> {
    /// Forgets what was found.
    pub fn clear(&mut self) {
        self.stems.clear();
        self.acts.clear();
        self.lists.clear();
    }
}

impl<G> Default for Part<G> {
    fn default() -> Part<G> {
        Part { stems: Vec::new(), acts: Vec::new(), lists: Vec::new() }
    }
}

/// The feet of twigs: few visits at a node, or visits that follow an edge without a child.
#[derive(Debug, Default)]
pub(in crate::search) struct Twigs {
    /// Groups at one node lie one after another.
    groups: Vec<Group>,
    feet: Vec<Foot>,
}

/// The foot of a twig.
#[derive(Clone, Copy, Debug)]
struct Foot {
    /// Where its groups end.
    end: u32,
    /// The slot and the move that its only group follows.
    edge: Option<(u16, MoveCode)>,
}

impl Twigs {
    pub fn clear(&mut self) {
        self.groups.clear();
        self.feet.clear();
    }

    /// Number of twigs.
    pub fn len(&self) -> usize {
        self.feet.len()
    }

    /// Visits of a twig.
    pub fn visits(&self, twig: usize) -> u32 {
        self.groups(twig).iter().map(|group| group.visits).sum()
    }

    fn groups(&self, twig: usize) -> &[Group] {
        let begin = twig.checked_sub(1).map_or(0, |before| self.feet[before].end);
        &self.groups[begin as usize..self.feet[twig].end as usize]
    }

    fn push(&mut self, groups: &[Group], edge: Option<(u16, MoveCode)>) {
        self.groups.extend_from_slice(groups);
        self.feet.push(Foot { end: self.groups.len() as u32, edge });
    }
}

/// A descent under way. Stems below `trunk.len()` are the trunk's, the others its own.
pub(in crate::search) struct Descent<'a, G: Game> {
    pub view: &'a View<'a, G>,
    pub trunk: &'a [Stem],
    pub hands: &'a mut Hands<G>,
    pub part: Part<G>,
    /// Where the trunk sets its twigs aside.
    pub twigs: Option<&'a mut Twigs>,
    /// Whether a position was missing, which was asked for: the descent has to be made again.
    pub is_missing: bool,
}

impl<G: Game> Descent<'_, G> {
    pub(super) fn stem(&self, id: StemId) -> &Stem {
        let at = id as usize;
        self.trunk.get(at).unwrap_or_else(|| &self.part.stems[at - self.trunk.len()])
    }

    /// Splits visits from the root on, down to the feet of twigs.
    pub fn grow_trunk(&mut self, visits: u32) {
        let most = TWIG.max(visits / TWIGS);
        let mut level = std::mem::take(&mut self.hands.level);
        level.clear();
        level.push(Group::at_root(self.view, visits));
        while !level.is_empty() {
            sort_by_meeting(&mut level);
            for meeting in level.chunk_by(|a, b| a.node == b.node) {
                let total: u32 = meeting.iter().map(|group| group.visits).sum();
                match &mut self.twigs {
                    Some(twigs) if total <= most => twigs.push(meeting, None),
                    _ => self.split(meeting, total),
                }
            }
            level.clear();
            std::mem::swap(&mut level, &mut self.hands.next);
        }
        self.hands.level = level;
    }

    /// Follows the visits of a twig to their ends.
    pub fn follow_twig(&mut self, twigs: &Twigs, twig: usize) {
        let mut level = std::mem::take(&mut self.hands.level);
        level.clear();
        let groups = twigs.groups(twig);
        match twigs.feet[twig].edge {
            Some((slot, mv)) => {
                self.attach(&groups[0], slot, mv, groups[0].visits);
                std::mem::swap(&mut level, &mut self.hands.next);
            }
            None => level.extend_from_slice(groups),
        }
        while !level.is_empty() {
            sort_by_meeting(&mut level);
            for meeting in level.chunk_by(|a, b| a.node == b.node) {
                self.split(meeting, meeting.iter().map(|group| group.visits).sum());
            }
            level.clear();
            std::mem::swap(&mut level, &mut self.hands.next);
        }
        self.hands.level = level;
    }

    /// Splits the visits at a node over its edges, hands them to its groups in order, and follows them.
    fn split(&mut self, meeting: &[Group], total: u32) {
        let (graph, puct, id) = (self.view.graph, self.view.puct, meeting[0].node);
        let node = graph.node(id);
        let opened = u32::from(node.opened);
        let mut split = std::mem::take(&mut self.hands.split);
        let mut rest = None;
        let is_restricted = id == self.view.root && !self.view.root_moves.is_all();
        if total == 1 && !is_restricted && (node.remaining() > 0 || node.fully_opened()) {
            split.picks.clear();
            match puct.select(graph, id, None) {
                Choice::Opened(slot) => split.picks.push(u32::from(slot)),
                Choice::Unopened(index) => split.picks.push(opened + index as u32),
                Choice::Nothing => {}
            }
        } else {
            let root_moves = is_restricted.then_some(self.view.root_moves);
            let by_rule = is_restricted || puct.skips_draws() || puct.pn_weight() > 0.0;
            let mut run = |candidates: &[Candidate]| {
                if by_rule {
                    split.run_by_rule(puct, graph, id, root_moves, candidates, total)
                } else {
                    split.run(puct, graph, id, candidates, total)
                }
            };
            if !run(graph.candidates(id)) {
                let is_first = opened == 0 && node.listed == 0 && !is_restricted;
                let most = if is_first { most_listed(usize::from(node.legal), HEAD) } else { usize::MAX };
                let ready = if is_first { self.view.policies.get(node.key) } else { None };
                let mut list = match ready {
                    Some(list) => list.to_vec(),
                    None => self.list_rest(id, meeting[0].above, most),
                };
                if !run(&list) && most < usize::MAX && !list.is_empty() {
                    list = self.list_rest(id, meeting[0].above, usize::MAX);
                    run(&list);
                }
                rest = Some(list);
            }
        }
        let candidates: &[Candidate] = rest.as_deref().unwrap_or_else(|| graph.candidates(id));
        let mut from = 0;
        let mut portion = std::mem::take(&mut self.hands.portion);
        for group in meeting {
            let until = (from + group.visits as usize).min(split.picks.len());
            portion.clear();
            for &pick in &split.picks[from..until] {
                match portion.iter_mut().find(|(known, _)| *known == pick) {
                    Some((_, visits)) => *visits += 1,
                    None => portion.push((pick, 1)),
                }
            }
            from = until;
            for &(pick, visits) in &portion {
                let candidate = pick.checked_sub(opened).map(|index| candidates[index as usize].mv());
                match candidate {
                    Some(mv) => self.attach(group, UNOPENED, mv, visits),
                    None => self.follow(group, pick as u16, visits),
                }
            }
        }
        self.hands.portion = portion;
        if let Some(list) = rest {
            self.part.lists.push((id, list));
        }
        self.hands.split = split;
    }

    /// Visits follow an open edge.
    fn follow(&mut self, group: &Group, slot: u16, visits: u32) {
        let edge = self.view.graph.edge(group.node, slot);
        let (mv, child, zeroing) = (edge.mv, edge.child, edge.has(edge_flag::ZEROING));
        if child == NONE {
            self.attach(group, slot, mv, visits);
            return;
        }
        let stem = self.push_stem(group, slot, mv, self.view.graph.node(child).key);
        self.arrive(group, stem, child, zeroing, visits, None);
    }

    /// Visits follow an edge without a child.
    fn attach(&mut self, group: &Group, slot: u16, mv: MoveCode, visits: u32) {
        if let Some(twigs) = &mut self.twigs {
            return twigs.push(&[Group { visits, ..*group }], Some((slot, mv)));
        }
        let Some(found) = self.find(group.above, mv) else { return };
        let (zeroing, child) = (found.zeroing, found.child);
        let key = match child {
            Attached::Known(id) => self.view.graph.node(id).key,
            Attached::New(node) => node.key,
        };
        let stem = self.push_stem(group, slot, mv, key);
        self.part.acts.push(Act::Open { stem, zeroing, child });
        match child {
            Attached::Known(id) => self.arrive(group, stem, id, zeroing, visits, Some(found.leaf)),
            Attached::New(node) => {
                let clock = if zeroing { 0 } else { group.clock + 1 };
                let is_over = node.ending.is_some();
                if self.repeats(group, key) || (self.view.start.is_clock_spent(clock) && !is_over) {
                    self.hands.spares.push(found.leaf);
                    self.land(stem, visits, Landing::PathDraw);
                } else if is_over {
                    self.hands.spares.push(found.leaf);
                    self.land(stem, visits, Landing::Exact);
                } else {
                    self.land_leaf(group, stem, mv, found.leaf, visits);
                }
            }
        }
    }

    fn push_stem(&mut self, group: &Group, slot: u16, mv: MoveCode, key: u64) -> StemId {
        let id = self.trunk.len() + self.part.stems.len();
        self.part.stems.push(Stem {
            above: group.above,
            node: group.node,
            slot,
            level: group.level + 1,
            mv,
            flying: 0,
            collided: 0,
            key,
        });
        id as StemId
    }

    fn land(&mut self, stem: StemId, visits: u32, landing: Landing<G>) {
        self.part.acts.push(Act::Land { stem, visits, landing });
    }

    /// One visit becomes a leaf, the others are given back.
    fn land_leaf(&mut self, group: &Group, stem: StemId, mv: MoveCode, mut leaf: Box<Leaf<G>>, visits: u32) {
        self.complete_leaf(&mut leaf, group, mv);
        self.land(stem, 1, Landing::Leaf(leaf));
        if visits > 1 {
            self.land(stem, visits - 1, Landing::Collision);
        }
    }

    /// Visits reach a node of the graph by a stem. `leaf` has its position, where that is known.
    fn arrive(
        &mut self,
        group: &Group,
        stem: StemId,
        id: NodeId,
        zeroing: bool,
        mut visits: u32,
        leaf: Option<Box<Leaf<G>>>,
    ) {
        let (graph, start) = (self.view.graph, self.view.start);
        let child = graph.node(id);
        let clock = if zeroing { 0 } else { group.clock + 1 };
        let is_draw = self.repeats(group, child.key)
            || (start.is_clock_spent(clock) && !child.has(node_flag::TERMINAL));
        if !is_draw && !child.state.is_exact() && !child.has(node_flag::EVALUATED) {
            return self.reach_leaf(group, stem, child.has(node_flag::WAITING), visits, leaf);
        }
        self.hands.spares.extend(leaf);
        if is_draw {
            return self.land(stem, visits, Landing::PathDraw);
        }
        if child.state.is_exact() {
            return self.land(stem, visits, Landing::Exact);
        }
        let settings = self.view.settings;
        if settings.mate_growth > 0.0 && has_visits_for_mate(child, settings.mate_start) {
            self.part.acts.push(Act::Mate { stem });
        }
        let slot = self.stem(stem).slot;
        let edge = (slot != UNOPENED).then(|| graph.edge(group.node, slot));
        let stopping = stops_of(graph, group.node, edge, id, visits, settings);
        if stopping > 0 {
            self.land(stem, stopping, Landing::Stop);
            visits -= stopping;
        }
        if visits > 0 {
            self.hands.next.push(Group {
                node: id,
                above: stem,
                visits,
                level: group.level + 1,
                clock,
                seen: group.seen | bit(child.key),
            });
        }
    }

    /// Visits reach a node without evaluation.
    fn reach_leaf(
        &mut self,
        group: &Group,
        stem: StemId,
        waits: bool,
        visits: u32,
        leaf: Option<Box<Leaf<G>>>,
    ) {
        if waits {
            self.hands.spares.extend(leaf);
            return self.land(stem, visits, Landing::Collision);
        }
        let mv = self.stem(stem).mv;
        let Some(mut leaf) = leaf.or_else(|| Some(self.leaf_at(group.above, Some(mv))?.0)) else { return };
        let Leaf { game, moves, .. } = &mut *leaf;
        game.legal_moves(moves);
        self.land_leaf(group, stem, mv, leaf, visits);
    }

    /// Whether a position has occurred on the path of a group, or twice in the game before the root.
    #[inline]
    fn repeats(&self, group: &Group, key: u64) -> bool {
        group.seen & bit(key) != 0 && self.is_repetition(group, key)
    }

    #[cold]
    fn is_repetition(&self, group: &Group, key: u64) -> bool {
        let start = self.view.start;
        if start.key() == key || start.count_before(key) >= 2 {
            return true;
        }
        let mut at = group.above;
        while at != NONE {
            let stem = self.stem(at);
            if stem.key == key {
                return true;
            }
            at = stem.above;
        }
        false
    }
}

/// Puts groups at one node next to each other; nodes stay in the order in which they first appear.
fn sort_by_meeting(level: &mut [Group]) {
    if level.len() <= FEW {
        let mut sorted = 0;
        while sorted < level.len() {
            let node = level[sorted].node;
            sorted += 1;
            while let Some(more) = level[sorted..].iter().position(|group| group.node == node) {
                level[sorted..=sorted + more].rotate_right(1);
                sorted += 1;
            }
        }
        return;
    }
    let mut nodes: Vec<(NodeId, usize)> =
        level.iter().enumerate().map(|(at, group)| (group.node, at)).collect();
    nodes.sort_unstable();
    if nodes.windows(2).all(|two| two[0].0 != two[1].0) {
        return;
    }
    let mut order: Vec<(usize, usize)> = Vec::with_capacity(level.len());
    for run in nodes.chunk_by(|a, b| a.0 == b.0) {
        order.extend(run.iter().map(|&(_, at)| (run[0].1, at)));
    }
    order.sort_unstable();
    let unsorted = level.to_vec();
    for (group, (_, at)) in level.iter_mut().zip(order) {
        *group = unsorted[at];
    }
}
