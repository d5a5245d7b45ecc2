//! Algorithm 1: one simulation, from the root or a branch node to a leaf, a transposition or an end.
//!
//! Selects an edge, plays it on the path, links it to its node. The rules that decide are in `select`,
//! `transposition` and `solver`.

use super::backup::{Arrival, Step, back_up};
use super::batch::Batch;
use super::explore::{self, Exploration};
use super::nodes::{create, look_up, salt};
use super::root_moves::RootMoves;
use super::select::Choice;
use super::transposition::stops;
use super::{Search, improved, solver};
use crate::game::Game;
use crate::graph::{NONE, NodeId, edge_flag, node_flag};
use crate::settings::{Selection, SolverRule};

/// How a simulation ended.
pub(super) enum End {
    /// At a leaf that waits for its evaluation now.
    Leaf,
    /// At a leaf that waited already.
    Collision,
    /// At a node whose value was backed up: a transposition, or an evaluation that is shared.
    Stop,
    /// At an exactly known node, or as a draw of the path.
    Terminal,
    /// No move can be selected.
    Stuck,
    /// Before a position that is not at hand, and was asked for: see `resume`.
    Missing,
}

impl<G: Game> Search<G> {
    /// Algorithm 1: one simulation, from the root or a branch node to its end.
    pub(super) fn simulate(&mut self, batch: &mut Batch<G>) -> End {
        self.path.restart();
        self.steps.clear();
        let root = self.graph.node(self.root);
        if !root.has(node_flag::EVALUATED) {
            return if root.has(node_flag::WAITING) {
                End::Collision
            } else {
                self.await_evaluation(self.root, false, false, batch)
            };
        }
        let kind = explore::draw_kind(&self.settings, &mut self.random);
        if let Some(kind) = kind
            && let Some(end) = self.explore(kind, batch)
        {
            return end;
        }
        self.path.restart();
        self.walk(self.root, None, batch)
    }

    /// A simulation that explores; `None` gives it up.
    pub(super) fn explore(&mut self, kind: Exploration, batch: &mut Batch<G>) -> Option<End> {
        self.path.restart();
        self.steps.clear();
        let node = self.walk_to_branch();
        let forced = self.branch(node, kind)?;
        Some(self.walk(node, Some(forced), batch))
    }

    /// Walks down from a node, by a forced choice first, until the trajectory ends.
    fn walk(&mut self, node: NodeId, forced: Option<Choice>, batch: &mut Batch<G>) -> End {
        let exploration = forced.is_some();
        self.walk_on(node, forced, exploration, batch)
    }

    /// The same for a trajectory that has begun.
    pub(super) fn walk_on(
        &mut self,
        mut node: NodeId,
        mut forced: Option<Choice>,
        exploration: bool,
        batch: &mut Batch<G>,
    ) -> End {
        loop {
            let choice = match forced.take() {
                Some(choice) => choice,
                None => self.select(node),
            };
            let (slot, opened) = match choice {
                Choice::Opened(slot) => (slot, false),
                Choice::Unopened(index) => (self.graph.open(node, index), true),
                Choice::Nothing => return End::Stuck,
            };
            let followed = self.follow(node, slot, opened);
            self.steps.push(Step { node, slot });
            let Some(fresh) = followed else {
                self.note_missing(exploration);
                return End::Missing;
            };
            let edge = self.graph.edge(node, slot);
            let id = edge.child;
            let child = self.graph.node(id);
            let repeats = self.path.arrive(child.key);
            if repeats || (self.path.is_clock_spent() && !child.has(node_flag::TERMINAL)) {
                self.counters.path_draws += 1;
                self.finish(Arrival::PathDraw, exploration);
                return End::Terminal;
            }
            if let Some(value) = self.graph.exact_value(id) {
                self.counters.terminals += 1;
                self.inform_trajectory();
                self.finish(Arrival::Value(value), exploration);
                return End::Terminal;
            }
            if !child.has(node_flag::EVALUATED) {
                return if child.has(node_flag::WAITING) {
                    End::Collision
                } else {
                    self.await_evaluation(id, fresh, exploration, batch)
                };
            }
            if self.is_due_for_mate(id) && self.search_node_for_mate(id) {
                self.counters.terminals += 1;
                let value = self.graph.best_value(id);
                self.finish(Arrival::Value(value), exploration);
                return End::Terminal;
            }
            let edge = self.graph.edge(node, slot);
            if stops(&self.graph, node, edge, &self.settings) {
                self.counters.stops += 1;
                let value = self.graph.best_value(id);
                self.finish(Arrival::Value(value), exploration);
                return End::Stop;
            }
            node = id;
        }
    }

    pub(super) fn finish(&mut self, arrival: Arrival, exploration: bool) {
        let corrections = back_up(&mut self.graph, &self.steps, arrival, exploration, &self.settings);
        if self.settings.uses_ucd() {
            self.below.forget(&self.graph, &self.steps, &self.settings);
        }
        self.count(self.path.depth(), corrections, exploration);
    }

    pub(super) fn count(&mut self, depth: usize, corrections: u64, exploration: bool) {
        self.counters.corrections += corrections;
        self.counters.explorations += u64::from(exploration);
        self.counters.simulations += 1;
        self.counters.depth_sum += depth as u64;
        self.counters.max_depth = self.counters.max_depth.max(depth as u64);
    }

    #[inline]
    fn select(&mut self, id: NodeId) -> Choice {
        if self.settings.selection != Selection::Puct || self.plan.is_some() {
            return self.select_otherwise(id);
        }
        self.select_by_puct(id)
    }

    /// Selection by the plan of a Gumbel root, by UCB1 or by the improved policy.
    #[cold]
    fn select_otherwise(&mut self, id: NodeId) -> Choice {
        if id == self.root
            && let Some(choice) = self.select_by_plan()
        {
            return choice;
        }
        let is_restricted = id == self.root && !self.root_moves.is_all();
        let node = self.graph.node(id);
        match self.settings.selection {
            Selection::Puct => self.select_by_puct(id),
            Selection::Ucb1 => {
                if is_restricted && !node.is_listed_whole() {
                    self.list_rest(id);
                } else if node.remaining() == 0 && !node.fully_opened() {
                    self.list_more(id);
                }
                let every_move = RootMoves::default();
                let moves = if is_restricted { &self.root_moves } else { &every_move };
                self.below.select(&self.graph, id, moves, &self.puct, &self.settings)
            }
            Selection::Improved => {
                if !node.is_listed_whole() {
                    self.list_rest(id);
                }
                let is_move = |mv| !is_restricted || self.root_moves.contains(mv);
                improved::select(&self.graph, id, &self.puct, &self.settings, is_move)
            }
        }
    }

    #[inline]
    fn select_by_puct(&mut self, id: NodeId) -> Choice {
        if id == self.root && !self.root_moves.is_all() {
            return self.select_root();
        }
        let node = self.graph.node(id);
        if node.opened == 0 && node.listed > 0 && !self.settings.table_values {
            return Choice::Unopened(0);
        }
        if node.listed == node.taken && !node.fully_opened() {
            self.list_more(id);
        }
        if !self.settings.table_values || !self.settings.backup.merges() {
            return self.puct.select(&self.graph, id, None);
        }
        if !self.graph.node(id).is_listed_whole() {
            self.list_rest(id);
        }
        let here = self.path.position().clone();
        let (graph, merge) = (&self.graph, self.settings.merge);
        let mut value_of = |index: usize| {
            let mut next = here.clone();
            next.play(graph.candidates(id)[index].mv());
            let child = graph.find(next.key(), salt(&next, merge))?;
            graph.node(child).has(node_flag::EVALUATED).then(|| graph.target(id, child))
        };
        self.puct.select(graph, id, Some(&mut value_of))
    }

    /// Selection at the root of a search that is restricted to some of its moves.
    #[cold]
    fn select_root(&mut self) -> Choice {
        if !self.graph.node(self.root).is_listed_whole() {
            self.list_rest(self.root);
        }
        self.puct.select_among(&self.graph, self.root, &self.root_moves)
    }

    /// Plays the edge on the path and makes sure that it has a child. Returns whether that child is new;
    /// `None` where its position is not at hand.
    #[inline]
    fn follow(&mut self, id: NodeId, slot: u16, opened: bool) -> Option<bool> {
        if opened {
            let mv = self.graph.edge(id, slot).mv;
            if self.path.position().is_zeroing(mv) {
                self.graph.edge_mut(id, slot).flags |= edge_flag::ZEROING;
            }
        }
        let edge = self.graph.edge(id, slot);
        self.path.follow(edge.mv, edge.has(edge_flag::ZEROING));
        if edge.child != NONE {
            return Some(false);
        }
        self.path.is_at_hand().then(|| self.attach(id, slot))
    }

    /// Links the edge to the node of the position at the path's end, created if need be.
    fn attach(&mut self, id: NodeId, slot: u16) -> bool {
        let game = self.path.position();
        let (key, salt) = (game.key(), salt(game, self.settings.merge));
        let known = if self.settings.backup.merges() { self.graph.find(key, salt) } else { None };
        let (child, fresh) = match known {
            Some(child) => (child, false),
            None => {
                let child = create(&mut self.graph, &mut self.moves, &self.settings, game, key, salt);
                let is_known = look_up(&mut self.graph, child, self.oracle.as_deref(), &self.settings, game);
                self.counters.tablebase_hits += u64::from(is_known);
                (child, true)
            }
        };
        self.graph.link(id, slot, child);
        self.counters.transposition_links += u64::from(!fresh);
        if self.settings.solver && self.doubts < 2 && self.graph.node(child).state.is_solved() {
            self.counters.solved_nodes += u64::from(fresh);
            if self.settings.solver_rule == SolverRule::ExactWin2 {
                self.counters.solved_nodes += solver::inform(&mut self.graph, id, &mut self.work) as u64;
                self.below.clear();
            }
        }
        fresh
    }

    /// The trajectory has ended at a proven node: under the rules that send proofs up the trajectory alone,
    /// its nodes learn of it now.
    #[inline]
    fn inform_trajectory(&mut self) {
        let rule = self.settings.solver_rule;
        if rule != SolverRule::ExactWin2 && self.settings.solver && self.doubts < 2 {
            let solved = solver::inform_trajectory(&mut self.graph, &self.steps, rule);
            self.counters.solved_nodes += solved as u64;
            self.below.clear();
        }
    }
}
