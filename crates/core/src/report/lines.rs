//! Principal variations: the moves that follow when both sides play what the search prefers.
//!
//! A win or a loss is claimed only where its proof stands with the game's history and the line shows it to
//! the end.

use super::moves::{MoveReport, RootRow};
use crate::game::{Game, MoveCode};
use crate::graph::{Graph, NONE, NodeId, State, edge_flag, node_flag};
use crate::search::mate::Shortest;
use crate::search::solver::seen_from;
use crate::search::tablebases::KnownRoot;
use crate::search::{Search, Solved, proof};

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

impl<G: Game> Search<G> {
    /// Up to `most` principal variations, in the order of the root's table.
    pub(super) fn principal_variations(
        &self,
        rows: &[RootRow],
        best: Option<MoveCode>,
        solved: Option<Solved>,
        most: usize,
    ) -> Vec<Line> {
        let guide = self.guide();
        let lines: Vec<Line> = rows
            .iter()
            .filter(|(mv, ..)| guide.is_none_or(|guide| guide.keeps(*mv)))
            .filter(|(mv, _, report)| {
                report.visits > 0 || report.state.is_solved() || self.shortest(*mv).is_some()
            })
            .take(most)
            .map(|(mv, slot, report)| {
                self.principal_variation(
                    *mv,
                    *slot,
                    report,
                    solved.filter(|verdict| verdict.state == State::Loss || best == Some(*mv)),
                )
            })
            .collect();
        match guide {
            Some(guide) if most > 0 => {
                let best_move = best.map(|mv| self.position().move_text(mv));
                follow(guide, lines, best_move.as_deref(), self.mean())
            }
            _ => lines,
        }
    }

    /// The value of a proven state for the side to move at the root.
    pub(super) fn worth(&self, state: State) -> Option<f64> {
        if state == State::Draw { Some(self.graph.draw_value(self.root)) } else { state.value() }
    }

    /// The value of the root: its own, or the mean of the moves that may be chosen.
    pub(super) fn mean(&self) -> f64 {
        let graph = &self.graph;
        let (mut sum, mut visits) = (0.0, 0.0);
        for slot in self.root_moves.slots(graph, self.root).filter(|_| !self.root_moves.is_all()) {
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
        let mut id = self.root;
        for mv in codes {
            moves.push(game.move_text(mv));
            let edges = if id == NONE { &[] } else { self.graph.edges(id) };
            id = edges.iter().find(|edge| edge.mv == mv).map_or(NONE, |edge| edge.child);
            match id {
                NONE => game.play(mv),
                _ => game.follow(mv, self.graph.node(id).key),
            }
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

    /// The moves that follow a root edge when both sides play what the search prefers, and whether
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
