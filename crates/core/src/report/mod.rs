//! What a search found: the root's moves, principal variations, verdict, statistics, leak meters, and the
//! graph itself for export.
//!
//! Reads the search, changes nothing. Texts and points of view beyond the side to move belong to those who
//! show them.

pub mod progress;

use std::collections::{BinaryHeap, HashMap};

use crate::game::{Game, MoveCode};
use crate::graph::{Graph, NONE, NodeId, State, edge_flag, node_flag};
use crate::random::{Random, mix};
use crate::search::choose;
use crate::search::mate::Shortest;
use crate::search::proof::{self, Standing};
use crate::search::solver::seen_from;
use crate::search::tablebases::KnownRoot;
use crate::search::{Counters, Search};

/// One move of the root.
#[derive(Clone, Debug)]
pub struct MoveReport {
    /// The move.
    pub mv: String,
    /// N.
    pub visits: u32,
    /// Q for the side to move at the root; `None` for an unvisited move.
    pub q: Option<f64>,
    /// P.
    pub prior: f64,
    /// Share in the policy of the chooser.
    pub policy: f64,
    /// U of the child, for the side to move at the root.
    pub raw: Option<f64>,
    /// V of the child, for the side to move at the root.
    pub child_value: Option<f64>,
    /// N of the child.
    pub child_visits: u32,
    /// What is proven about the move, for the side to move at the root.
    pub state: State,
    /// Length of that proof in plies.
    pub plies: Option<u16>,
    /// Visits that were draws of the path.
    pub draws: u32,
    /// Visits by explorations.
    pub explored: u32,
}

/// A principal variation.
#[derive(Clone, Debug)]
pub struct Line {
    /// The moves.
    pub moves: Vec<String>,
    /// Q of the first move, for the side to move at the root.
    pub value: f64,
    /// N of the first move.
    pub visits: u32,
    /// What is proven about the first move, for the side to move at the root.
    pub state: State,
    /// Length of that proof in plies.
    pub plies: Option<u16>,
}

/// A verdict on the root that stands with the game's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solved {
    /// Win, draw or loss for the side to move, or the same by tablebase.
    pub state: State,
    /// Length of the proof in hand, in plies; absent for tablebase verdicts.
    pub plies: Option<u32>,
    /// Whether that is the true distance.
    pub exact: bool,
}

/// Numbers about the search and its graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// What was counted during this search.
    pub counters: Counters,
    /// Nodes in the graph.
    pub nodes: usize,
    /// Opened edges in the graph.
    pub edges: usize,
    /// Nodes with, now or ever, more than one parent edge.
    pub transposition_nodes: usize,
    /// Nodes in the graph with a proof.
    pub solved_nodes: usize,
    /// Visit-weighted mean of |Q - T| over edges.
    pub leak: f64,
    /// Visit-weighted mean of |V - V from the children| over nodes.
    pub node_leak: f64,
    /// Bytes in use.
    pub bytes: usize,
    /// Bytes taken from the system.
    pub reserved_bytes: usize,
    /// Visits of the root, reused ones included.
    pub root_visits: u32,
}

/// How far the meters of a report look: each edge they look at costs a step through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meters {
    /// Nothing is measured or counted.
    Off,
    /// Everything is counted, leaks are measured over the nodes with the lowest ids: for who cannot wait.
    Sample,
    /// Everything is counted and measured.
    Whole,
}

impl Meters {
    /// Number of ids that are looked at for leaks.
    const fn bound(self) -> NodeId {
        match self {
            Meters::Off => 0,
            Meters::Sample => 1 << 15,
            Meters::Whole => NodeId::MAX,
        }
    }
}

/// The whole result.
#[derive(Clone, Debug)]
pub struct Report {
    /// The move to play; `None` before anything is known.
    pub best_move: Option<String>,
    /// Value of the root for the side to move.
    pub value: f64,
    /// The root's moves: by visits, then Q, then prior.
    pub moves: Vec<MoveReport>,
    /// Principal variations, the best first.
    pub lines: Vec<Line>,
    /// The verdict, if there is one.
    pub solved: Option<Solved>,
    /// Numbers.
    pub statistics: Statistics,
}

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
    fn choice_random(&self) -> Random {
        Random::new(mix(self.settings.seed ^ mix(u64::from(self.position().ply()))))
    }

    /// The slot of the move to play at the root.
    pub fn choice(&self) -> Option<u16> {
        let mut random = self.choice_random();
        match self.guide() {
            Some(guide) => guide.choose(&self.graph, self.root, &self.allowed, &self.settings, &mut random),
            None => choose::choose(&self.graph, self.root, &self.allowed, &self.settings, &mut random),
        }
    }

    /// The move to play at the root, or the likeliest before anything is known.
    pub fn best_code(&self) -> Option<MoveCode> {
        let guide = self.guide();
        let is_admitted =
            |&mv: &MoveCode| self.allowed.admits(mv) && guide.is_none_or(|guide| guide.admits(mv));
        let shortest = || self.improved.as_ref().and_then(|improved| improved.line.first().copied());
        let chosen = || self.choice().map(|slot| self.graph.edge(self.root, slot).mv);
        let listed =
            || self.graph.candidates(self.root).iter().map(|candidate| candidate.mv()).find(is_admitted);
        let known = || guide.into_iter().flat_map(KnownRoot::moves).copied().find(is_admitted);
        shortest()
            .or_else(chosen)
            .or_else(listed)
            .or_else(known)
            .or_else(|| self.allowed.moves().first().copied())
    }

    /// What the tablebases say about the root, unless the search has found the end of the game itself.
    fn guide(&self) -> Option<&KnownRoot> {
        self.known_moves().filter(|_| self.standing_proof().is_none())
    }

    /// What the tablebases say about the moves that may be chosen.
    fn known_moves(&self) -> Option<&KnownRoot> {
        self.known_root.as_ref().filter(|known| known.moves().iter().any(|&mv| self.allowed.admits(mv)))
    }

    /// The verdict on the root: what is proven with the game's history, else what the tablebases say.
    pub fn verdict(&self) -> Option<Solved> {
        let by_tablebase = |state| Solved { state, plies: None, exact: false };
        self.standing_proof().or_else(|| match self.known_moves() {
            Some(known) => known.state.map(by_tablebase),
            None => {
                Some(self.proven().0).filter(|state| state.is_solved() && !state.is_exact()).map(by_tablebase)
            }
        })
    }

    /// What play to the end proves about the root, checked against the game's history.
    pub fn standing_proof(&self) -> Option<Solved> {
        let (state, plies) = self.proven();
        if let Some(improved) = &self.improved {
            return Some(Solved { state, plies: Some(improved.plies), exact: true });
        }
        match state {
            State::Unknown | State::TbWin | State::TbDraw | State::TbLoss => None,
            state => self.proof_stands(state).then(|| Solved {
                state,
                plies: Some(u32::from(plies)),
                exact: self.is_over() || (state == State::Win && plies == 1),
            }),
        }
    }

    fn proof_stands(&self, state: State) -> bool {
        self.standing_of(state) == Standing::Stands
    }

    fn standing_of(&self, state: State) -> Standing {
        let (graph, standing) =
            (&self.graph, |slot| proof::standing_after(&self.graph, self.root, slot, &self.path));
        match state {
            _ if self.allowed.is_all() => proof::standing(graph, self.root, &self.path),
            State::Win => {
                let chosen = choose::choose(
                    graph,
                    self.root,
                    &self.allowed,
                    &self.settings,
                    &mut self.choice_random(),
                );
                chosen.map_or(Standing::Breaks, standing)
            }
            State::Loss => {
                let slots = self.allowed.slots(graph, self.root);
                slots.map(standing).find(|&standing| standing != Standing::Stands).unwrap_or(Standing::Stands)
            }
            _ => Standing::Stands,
        }
    }

    /// Whether play to the end proves something about the root, and whether it stands with the game's
    /// history.
    pub fn standing(&self) -> Option<Standing> {
        let state = Some(self.proven().0).filter(|state| state.is_exact())?;
        Some(if self.improved.is_some() { Standing::Stands } else { self.standing_of(state) })
    }

    /// The result so far with up to `lines` principal variations.
    pub fn report(&self, lines: usize, meters: Meters) -> Report {
        let graph = &self.graph;
        let edges = graph.edges(self.root);
        let game = self.position();
        let best = self.best_code();
        let policy = self.root_policy();
        let mut moves: Vec<(MoveCode, Option<u16>, MoveReport)> = self
            .allowed
            .slots(graph, self.root)
            .map(|slot| {
                let edge = &edges[slot as usize];
                let child = (edge.child != NONE).then(|| graph.node(edge.child));
                let evaluated = child.filter(|node| node.has(node_flag::EVALUATED));
                let sign = if edge.child == NONE { -1.0 } else { graph.sign(self.root, edge.child) };
                let state =
                    if edge.child == NONE { State::Unknown } else { seen_from(graph, self.root, edge.child) };
                let report = MoveReport {
                    mv: game.move_text(edge.mv),
                    visits: edge.visits,
                    q: (edge.visits > 0).then_some(edge.q),
                    prior: edge.prior(),
                    policy: policy[slot as usize],
                    raw: evaluated.map(|node| sign * f64::from(node.raw)),
                    child_value: evaluated.map(|node| sign * node.value),
                    child_visits: child.map_or(0, |node| node.visits),
                    state,
                    plies: state
                        .is_exact()
                        .then(|| child.map_or(0, |node| node.end_in_ply).saturating_add(1)),
                    draws: edge.draws,
                    explored: edge.explored,
                };
                (edge.mv, Some(slot), report)
            })
            .collect();
        let unvisited = |mv: MoveCode, prior: f64| {
            let report = MoveReport {
                mv: game.move_text(mv),
                visits: 0,
                q: None,
                prior,
                policy: 0.0,
                raw: None,
                child_value: None,
                child_visits: 0,
                state: State::Unknown,
                plies: None,
                draws: 0,
                explored: 0,
            };
            (mv, None, report)
        };
        let unopened =
            graph.candidates(self.root).iter().filter(|candidate| self.allowed.admits(candidate.mv()));
        moves.extend(unopened.map(|candidate| unvisited(candidate.mv(), candidate.prior())));
        // A proven node has given up its candidates, and the shortest proof may begin with one of them.
        if let Some(mv) = best.filter(|&best| moves.iter().all(|&(mv, ..)| mv != best)) {
            moves.push(unvisited(mv, 0.0));
        }
        // Opened edges in their order, then the rest in theirs: the sort is stable.
        moves.sort_by(|(mv_a, slot_a, a), (mv_b, slot_b, b)| {
            (best == Some(*mv_b), slot_b.is_some(), b.visits)
                .cmp(&(best == Some(*mv_a), slot_a.is_some(), a.visits))
                .then(b.q.partial_cmp(&a.q).unwrap_or(std::cmp::Ordering::Equal))
        });
        let solved = self.verdict();
        let guide = self.guide();
        let principal: Vec<Line> = moves
            .iter()
            .filter(|(mv, ..)| guide.is_none_or(|guide| guide.admits(*mv)))
            .filter(|(mv, _, report)| {
                report.visits > 0 || report.state.is_solved() || self.shortest(*mv).is_some()
            })
            .take(lines)
            .map(|(mv, slot, report)| {
                self.principal_variation(
                    *mv,
                    *slot,
                    report,
                    solved.filter(|verdict| verdict.state == State::Loss || best == Some(*mv)),
                )
            })
            .collect();
        let best_move = best.map(|mv| game.move_text(mv));
        let principal = match guide {
            Some(guide) if lines > 0 => follow(guide, principal, best_move.as_deref(), self.mean()),
            _ => principal,
        };
        Report {
            best_move,
            // A proof that the game's history breaks is no verdict: then the mean stands.
            value: solved.and_then(|verdict| self.worth(verdict.state)).unwrap_or_else(|| self.mean()),
            moves: moves.into_iter().map(|(.., report)| report).collect(),
            lines: principal,
            solved,
            statistics: self.statistics(meters),
        }
    }

    /// The value of a proven state for the side to move at the root.
    fn worth(&self, state: State) -> Option<f64> {
        if state == State::Draw { Some(self.graph.draw_value(self.root)) } else { state.value() }
    }

    /// The value of the root: its own, or the mean of the moves that may be chosen.
    fn mean(&self) -> f64 {
        let graph = &self.graph;
        let (mut sum, mut visits) = (0.0, 0.0);
        for slot in self.allowed.slots(graph, self.root).filter(|_| !self.allowed.is_all()) {
            let edge = graph.edge(self.root, slot);
            sum += f64::from(edge.visits) * edge.q;
            visits += f64::from(edge.visits);
        }
        if visits > 0.0 { sum / visits } else { graph.node(self.root).value }
    }

    /// What the search for the shortest proof found about a move of the root.
    fn shortest(&self, mv: MoveCode) -> Option<&Shortest> {
        let improved = self.improved.as_ref()?;
        std::iter::once(improved).chain(&improved.others).find(|proof| proof.line.first() == Some(&mv))
    }

    fn root_policy(&self) -> Vec<f64> {
        let edges = self.graph.edges(self.root);
        let visited: Vec<usize> = (0..edges.len())
            .filter(|&slot| edges[slot].visits > 0 && self.allowed.admits(edges[slot].mv))
            .filter(|&slot| !(self.settings.solver && edges[slot].has(edge_flag::PRUNED)))
            .collect();
        let contenders: Vec<choose::Contender> = visited
            .iter()
            .map(|&slot| choose::Contender { visits: edges[slot].visits, q: edges[slot].q })
            .collect();
        let mut policy = vec![0.0; edges.len()];
        if !visited.is_empty() {
            for (&slot, share) in visited.iter().zip(choose::policy(&contenders, &self.settings)) {
                policy[slot] = share;
            }
        }
        policy
    }

    /// The line of a move of the root; `verdict` is that on the root where it covers the move: the best one,
    /// or any where all lose.
    fn principal_variation(
        &self,
        mv: MoveCode,
        slot: Option<u16>,
        report: &MoveReport,
        verdict: Option<Solved>,
    ) -> Line {
        let (codes, state, plies) = self.proven_line(mv, slot, report, verdict);
        let mut game = self.position().clone();
        let mut moves = Vec::with_capacity(codes.len());
        for mv in codes {
            moves.push(game.move_text(mv));
            game.play(mv);
        }
        Line {
            moves,
            value: self.worth(state).or(report.q).unwrap_or(0.0),
            visits: report.visits,
            state,
            plies,
        }
    }

    /// The moves of a line, and what is proven about the first. A win or a loss is claimed only where the
    /// proof stands with the game's history and the line shows it to the end.
    fn proven_line(
        &self,
        mv: MoveCode,
        slot: Option<u16>,
        report: &MoveReport,
        verdict: Option<Solved>,
    ) -> (Vec<MoveCode>, State, Option<u16>) {
        if let Some(proof) = self.shortest(mv) {
            return (
                proof.line.clone(),
                self.proven().0,
                Some(u16::try_from(proof.plies).unwrap_or(u16::MAX)),
            );
        }
        let Some(slot) = slot else { return (vec![mv], State::Unknown, None) };
        let (line, ends) = self.variation(slot, report.plies.unwrap_or(0));
        if !matches!(report.state, State::Win | State::Loss) {
            return (line, report.state, report.plies);
        }
        let is_shown = ends && report.plies.map(usize::from) == Some(line.len());
        // The proof of the root has that of its best move in it, and where it is lost those of all moves.
        let is_known = verdict.is_some_and(|verdict| verdict.state == report.state);
        if is_shown && (is_known || proof::stands_after(&self.graph, self.root, slot, &self.path)) {
            (line, report.state, report.plies)
        } else {
            (line, State::Unknown, None)
        }
    }

    /// The moves that follow from a root edge when both sides play what the search likes best, and whether
    /// the game is over at their end.
    fn variation(&self, slot: u16, plies: u16) -> (Vec<MoveCode>, bool) {
        let graph = &self.graph;
        let mut line = Vec::new();
        let (mut id, mut slot) = (self.root, slot);
        let most = usize::from(plies).max(256);
        loop {
            let edge = graph.edge(id, slot);
            line.push(edge.mv);
            if edge.child == NONE || line.len() >= most {
                let ends = edge.child != NONE && graph.node(edge.child).has(node_flag::TERMINAL);
                return (line, ends);
            }
            id = edge.child;
            match best_reply(graph, id) {
                Some(next) => slot = next,
                None => return (line, graph.node(id).has(node_flag::TERMINAL)),
            }
        }
    }

    /// Numbers about the graph.
    pub fn statistics(&self, meters: Meters) -> Statistics {
        let graph = &self.graph;
        let mut statistics = Statistics {
            counters: self.counters,
            nodes: graph.len(),
            bytes: graph.used_bytes(),
            reserved_bytes: graph.reserved_bytes(),
            root_visits: graph.node(self.root).visits,
            ..Statistics::default()
        };
        if meters == Meters::Off {
            return statistics;
        }
        let (mut edge_gap, mut edge_weight, mut node_gap, mut node_weight) = (0.0, 0.0, 0.0, 0.0);
        for id in graph.ids() {
            let node = graph.node(id);
            statistics.edges += node.opened as usize;
            statistics.transposition_nodes += usize::from(node.has(node_flag::TRANSPOSITION));
            statistics.solved_nodes += usize::from(node.state.is_solved());
            if id >= meters.bound() || !node.has(node_flag::EVALUATED) || node.has(node_flag::TERMINAL) {
                continue;
            }
            let (mut sum, mut visits) = (f64::from(node.raw), 1.0);
            for edge in graph.edges(id) {
                if edge.child == NONE || !graph.node(edge.child).has(node_flag::EVALUATED) {
                    continue;
                }
                let (weight, target) = (f64::from(edge.visits), graph.target(id, edge.child));
                edge_gap += weight * (edge.q - target).abs();
                edge_weight += weight;
                sum += weight * target;
                visits += weight;
            }
            node_gap += f64::from(node.visits) * (node.value - sum / visits).abs();
            node_weight += f64::from(node.visits);
        }
        statistics.leak = if edge_weight > 0.0 { edge_gap / edge_weight } else { 0.0 };
        statistics.node_leak = if node_weight > 0.0 { node_gap / node_weight } else { 0.0 };
        statistics
    }

    /// The part of the graph asked for: most visited nodes first, each with the position of the first path
    /// found to it.
    pub fn export(&self, part: &Part) -> (Vec<NodeExport>, Vec<EdgeExport>) {
        let graph = &self.graph;
        let mut numbers: HashMap<NodeId, usize> = HashMap::new();
        let mut nodes = Vec::new();
        let mut games: Vec<(NodeId, G, usize)> = Vec::new();
        // Visits, then the order of discovery: nothing depends on ids or addresses.
        let mut frontier: BinaryHeap<(u32, std::cmp::Reverse<usize>, usize)> = BinaryHeap::new();
        games.push((self.root, self.position().clone(), 0));
        frontier.push((u32::MAX, std::cmp::Reverse(0), 0));
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
                if edge.child == NONE
                    || numbers.contains_key(&edge.child)
                    || graph.node(edge.child).visits < part.visits.max(1)
                {
                    continue;
                }
                let mut next = game.clone();
                next.play(edge.mv);
                games.push((edge.child, next, depth + 1));
                frontier.push((
                    graph.node(edge.child).visits,
                    std::cmp::Reverse(games.len()),
                    games.len() - 1,
                ));
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

/// Lines under the guidance of tablebases: each has their verdict, and there is one even where the search has
/// not seen the move.
fn follow(guide: &KnownRoot, mut lines: Vec<Line>, best_move: Option<&str>, value: f64) -> Vec<Line> {
    let state = guide.state.unwrap_or_default();
    for line in lines.iter_mut().filter(|line| !line.state.is_solved()) {
        line.state = state;
    }
    if let Some(mv) = best_move
        && lines.is_empty()
    {
        lines.push(Line { moves: vec![mv.to_owned()], value, visits: 0, state, plies: None });
    }
    lines
}

/// The edge a variation follows: along the proof where there is one, else the most visited, then the better
/// value.
fn best_reply(graph: &Graph, id: NodeId) -> Option<u16> {
    let node = graph.node(id);
    if node.state.is_exact() {
        let edges = graph.edges(id);
        let lengths = (0..node.opened).filter(|&slot| {
            let child = edges[slot as usize].child;
            child != NONE && seen_from(graph, id, child) == node.state
        });
        let plies = |slot: &u16| graph.node(edges[*slot as usize].child).end_in_ply;
        return match node.state {
            State::Loss => lengths.rev().max_by_key(plies),
            _ => lengths.min_by_key(plies),
        };
    }
    let mut best: Option<(u16, u32, f64)> = None;
    for (slot, edge) in graph.edges(id).iter().enumerate() {
        let better =
            best.is_none_or(|(_, visits, q)| edge.visits > visits || (edge.visits == visits && edge.q > q));
        if edge.visits > 0 && !edge.has(edge_flag::PRUNED) && better {
            best = Some((slot as u16, edge.visits, edge.q));
        }
    }
    best.map(|(slot, ..)| slot)
}
