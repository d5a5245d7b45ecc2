//! What a search found: the root's moves, principal variations, verdict, statistics, leak meters, and the graph itself for export.
//!
//! Reads the search, changes nothing. Texts and points of view beyond the side to move belong to those who show them.

use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use crate::choose;
use crate::drive::Finish;
use crate::game::{Game, MoveCode};
use crate::graph::{Graph, NONE, NodeId, State, edge_flag, node_flag};
use crate::oracle::KnownRoot;
use crate::proof;
use crate::random::{Random, mix};
use crate::search::{Counters, Search};
use crate::solver::seen_from;

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
    /// Why the search ended.
    pub finish: Option<Finish>,
    /// Time of this search.
    pub elapsed: Duration,
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
            Some(guide) => guide.choose(&self.graph, self.root, &self.settings, &mut random),
            None => choose::choose(&self.graph, self.root, &self.settings, &mut random),
        }
    }

    /// What the tablebases say about the root, unless the search has found the end of the game itself.
    fn guide(&self) -> Option<&KnownRoot> {
        self.known_root.as_ref().filter(|_| self.proven().is_none())
    }

    /// The verdict on the root: what is proven with the game's history, else what the tablebases say.
    pub fn verdict(&self) -> Option<Solved> {
        let by_tablebase = |state| Solved { state, plies: None, exact: false };
        self.proven().or_else(|| match &self.known_root {
            Some(known) => known.state.map(by_tablebase),
            None => Some(self.graph.node(self.root).state).filter(|state| state.is_solved() && !state.is_exact()).map(by_tablebase),
        })
    }

    /// What play to the end proves about the root, checked against the game's history.
    pub fn proven(&self) -> Option<Solved> {
        let node = self.graph.node(self.root);
        if let Some(improved) = &self.improved {
            return Some(Solved { state: node.state, plies: Some(improved.plies), exact: true });
        }
        match node.state {
            State::Unknown | State::TbWin | State::TbDraw | State::TbLoss => None,
            state => proof::stands(&self.graph, self.root, &self.path).then(|| Solved {
                state,
                plies: Some(u32::from(node.end_in_ply)),
                exact: node.has(node_flag::TERMINAL) || (state == State::Win && node.end_in_ply == 1),
            }),
        }
    }

    /// The result so far with up to `lines` principal variations.
    pub fn report(&self, lines: usize, meters: Meters) -> Report {
        let graph = &self.graph;
        let root = graph.node(self.root);
        let edges = graph.edges(self.root);
        let game = self.position();
        let best = self.choice();
        let policy = self.root_policy();
        let mut moves: Vec<(u16, MoveReport)> = edges
            .iter()
            .enumerate()
            .map(|(slot, edge)| {
                let child = (edge.child != NONE).then(|| graph.node(edge.child));
                let evaluated = child.filter(|node| node.has(node_flag::EVALUATED));
                let sign = if edge.child == NONE { -1.0 } else { graph.sign(self.root, edge.child) };
                let state = if edge.child == NONE { State::Unknown } else { seen_from(graph, self.root, edge.child) };
                let report = MoveReport {
                    mv: game.move_text(edge.mv),
                    visits: edge.visits,
                    q: (edge.visits > 0).then_some(edge.q),
                    prior: edge.prior(),
                    policy: policy[slot],
                    raw: evaluated.map(|node| sign * f64::from(node.raw)),
                    child_value: evaluated.map(|node| sign * node.value),
                    child_visits: child.map_or(0, |node| node.visits),
                    state,
                    plies: state.is_exact().then(|| child.map_or(0, |node| node.end_in_ply) + 1),
                    draws: edge.draws,
                    explored: edge.explored,
                };
                (slot as u16, report)
            })
            .collect();
        moves.sort_by(|(slot_a, a), (slot_b, b)| {
            (best == Some(*slot_b), b.visits)
                .cmp(&(best == Some(*slot_a), a.visits))
                .then(b.q.partial_cmp(&a.q).unwrap_or(std::cmp::Ordering::Equal))
                .then(slot_a.cmp(slot_b))
        });
        let guide = self.guide();
        let is_admitted = |mv: MoveCode| guide.is_none_or(|guide| guide.admits(mv));
        let principal: Vec<Line> = moves
            .iter()
            .filter(|(slot, _)| is_admitted(edges[*slot as usize].mv))
            .filter(|(_, report)| report.visits > 0 || report.state.is_solved())
            .take(lines)
            .map(|(slot, report)| self.principal_variation(*slot, report, best == Some(*slot)))
            .collect();
        let mut moves: Vec<MoveReport> = moves.into_iter().map(|(_, report)| report).collect();
        moves.extend(graph.candidates(self.root).iter().map(|candidate| MoveReport {
            mv: game.move_text(candidate.mv()),
            visits: 0,
            q: None,
            prior: candidate.prior(),
            policy: 0.0,
            raw: None,
            child_value: None,
            child_visits: 0,
            state: State::Unknown,
            plies: None,
            draws: 0,
            explored: 0,
        }));
        let solved = self.verdict();
        let fallback = || {
            let listed = graph.candidates(self.root).iter().map(|candidate| candidate.mv());
            listed.chain(guide.into_iter().flat_map(KnownRoot::moves).copied()).find(|&mv| is_admitted(mv))
        };
        let best_move = best.map(|slot| edges[slot as usize].mv).or_else(fallback).map(|mv| game.move_text(mv));
        let principal = match guide {
            Some(guide) if lines > 0 => follow(guide, principal, best_move.as_deref(), root.value),
            _ => principal,
        };
        Report {
            best_move,
            // A proof that the game's history breaks is no verdict: then the mean stands.
            value: solved.and_then(|verdict| verdict.state.value()).unwrap_or(root.value),
            moves,
            lines: principal,
            solved,
            statistics: self.statistics(meters),
            finish: None,
            elapsed: Duration::ZERO,
        }
    }

    fn root_policy(&self) -> Vec<f64> {
        let edges = self.graph.edges(self.root);
        let visited: Vec<usize> = (0..edges.len())
            .filter(|&slot| edges[slot].visits > 0 && !(self.settings.solver && edges[slot].has(edge_flag::PRUNED)))
            .collect();
        let contenders: Vec<choose::Contender> =
            visited.iter().map(|&slot| choose::Contender { visits: edges[slot].visits, q: edges[slot].q }).collect();
        let mut policy = vec![0.0; edges.len()];
        if !visited.is_empty() {
            for (&slot, share) in visited.iter().zip(choose::policy(&contenders, &self.settings)) {
                policy[slot] = share;
            }
        }
        policy
    }

    fn principal_variation(&self, slot: u16, report: &MoveReport, best: bool) -> Line {
        let codes = match &self.improved {
            Some(improved) if best && !improved.line.is_empty() => improved.line.clone(),
            _ => self.variation(slot),
        };
        let mut game = self.position().clone();
        let mut moves = Vec::with_capacity(codes.len());
        for mv in codes {
            moves.push(game.move_text(mv));
            game.play(mv);
        }
        let exact_value = match report.state {
            State::Win => Some(1.0),
            State::Draw => Some(0.0),
            State::Loss => Some(-1.0),
            _ => None,
        };
        Line { moves, value: exact_value.or(report.q).unwrap_or(0.0), visits: report.visits, state: report.state, plies: report.plies }
    }

    /// The moves that follow from a root edge when both sides play what the search likes best.
    fn variation(&self, slot: u16) -> Vec<MoveCode> {
        let graph = &self.graph;
        let mut line = Vec::new();
        let (mut id, mut slot) = (self.root, slot);
        loop {
            let edge = graph.edge(id, slot);
            line.push(edge.mv);
            if edge.child == NONE || line.len() >= 256 {
                return line;
            }
            id = edge.child;
            match best_reply(graph, id) {
                Some(next) => slot = next,
                None => return line,
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

    /// The part of the graph asked for: most visited nodes first, each with the position of the first path found to it.
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
                if edge.child == NONE || numbers.contains_key(&edge.child) || graph.node(edge.child).visits < part.visits.max(1) {
                    continue;
                }
                let mut next = game.clone();
                next.play(edge.mv);
                games.push((edge.child, next, depth + 1));
                frontier.push((graph.node(edge.child).visits, std::cmp::Reverse(games.len()), games.len() - 1));
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

/// Lines under the guidance of tablebases: each has their verdict, and there is one even where the search has not seen the move.
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

/// The edge a variation follows: along the proof where there is one, else the most visited, then the better value.
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
        let better = best.is_none_or(|(_, visits, q)| edge.visits > visits || (edge.visits == visits && edge.q > q));
        if edge.visits > 0 && !edge.has(edge_flag::PRUNED) && better {
            best = Some((slot as u16, edge.visits, edge.q));
        }
    }
    best.map(|(slot, ..)| slot)
}
