//! Proofs before they are claimed: the proof below the root is replayed with the game's real history and
//! clock.
//!
//! The solver proves facts of positions. A game is more than positions: a third repetition or the move count
//! may turn a proven win into a draw on this path. A claim is made only when the winner's moves hold against
//! every defence with the history as it is.

use std::collections::HashMap;

use crate::game::Game;
use crate::graph::{Graph, NONE, NodeId, State, edge_flag, node_flag};
use crate::search::path::Path;
use crate::search::solver::seen_from;

/// Steps after which a replay ends without a result; then nothing is claimed.
const MOST_STEPS: usize = 400_000;
/// The same for one of several lines.
const MOST_STEPS_OF_LINE: usize = 20_000;

/// What came of the replay of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofCheck {
    /// It holds with the history of the path.
    Holds,
    /// It does not, or it has holes.
    Fails,
    /// The replay took too long.
    Unsure,
}

/// Whether no path of the game can turn a win into a draw.
fn is_free_of_history<G: Game>(path: &Path<G>) -> bool {
    !path.root().can_recur() && path.root().clock_limit().is_none()
}

/// Whether the proof at the root stands with the history of the path. Draws need no replay: a draw by rule
/// cannot break them.
pub fn check<G: Game>(graph: &Graph, root: NodeId, path: &Path<G>) -> ProofCheck {
    match graph.node(root).state {
        State::Draw => ProofCheck::Holds,
        State::Win | State::Loss if is_free_of_history(path) => ProofCheck::Holds,
        State::Win | State::Loss => {
            let limit = path.root().clock_limit().unwrap_or(u32::MAX);
            let mut replay =
                Replay { graph, path, limit, steps: 0, most_nodes: usize::MAX, seen: HashMap::new() };
            replay.judge(root, path.root().clock())
        }
        _ => ProofCheck::Fails,
    }
}

/// The same as [`check`], where no difference is made between a proof that breaks and one that takes too
/// long.
pub fn stands<G: Game>(graph: &Graph, root: NodeId, path: &Path<G>) -> bool {
    check(graph, root, path) == ProofCheck::Holds
}

/// Whether what is proven about one move of the root stands with the history of the path.
pub fn check_after<G: Game>(graph: &Graph, root: NodeId, slot: u16, path: &Path<G>) -> ProofCheck {
    let edge = graph.edge(root, slot);
    if edge.child == NONE {
        return ProofCheck::Fails;
    }
    match graph.node(edge.child).state {
        State::Draw => ProofCheck::Holds,
        State::Win | State::Loss if is_free_of_history(path) => ProofCheck::Holds,
        State::Win | State::Loss => {
            let limit = path.root().clock_limit().unwrap_or(u32::MAX);
            let seen = HashMap::from([(graph.node(root).key, 1)]);
            let clock = if edge.has(edge_flag::ZEROING) { 0 } else { path.root().clock() + 1 };
            let steps = MOST_STEPS - MOST_STEPS_OF_LINE;
            let mut replay = Replay { graph, path, limit, steps, most_nodes: MOST_STEPS_OF_LINE, seen };
            replay.judge(edge.child, clock)
        }
        _ => ProofCheck::Fails,
    }
}

/// Whether that is sure.
pub fn stands_after<G: Game>(graph: &Graph, root: NodeId, slot: u16, path: &Path<G>) -> bool {
    check_after(graph, root, slot, path) == ProofCheck::Holds
}

/// The slots by which a proof goes on from a node: the shortest answers of the winner, every move of the
/// loser. `None` where the proof has holes: because nodes were freed for memory, or because a mate was found
/// that is shorter than what the graph has.
pub fn continuations(graph: &Graph, id: NodeId) -> Option<Vec<u16>> {
    let node = graph.node(id);
    if node.has(node_flag::TERMINAL) {
        return Some(Vec::new());
    }
    let edges = graph.edges(id);
    let present = |slot: &u16| edges[*slot as usize].child != NONE;
    match node.state {
        State::Win => {
            let mut wins: Vec<u16> = (0..node.opened)
                .filter(present)
                .filter(|&slot| seen_from(graph, id, edges[slot as usize].child) == State::Win)
                .collect();
            let plies = |slot: u16| graph.node(edges[slot as usize].child).end_in_ply;
            wins.sort_by_key(|&slot| plies(slot));
            let first = *wins.first()?;
            let is_whole = !node.has(node_flag::MATE) || plies(first) < node.end_in_ply;
            is_whole.then_some(wins)
        }
        State::Loss => {
            let whole = node.fully_opened() && (0..node.opened).all(|slot| present(&slot));
            whole.then(|| (0..node.opened).collect())
        }
        _ => None,
    }
}

struct Replay<'a, G> {
    graph: &'a Graph,
    path: &'a Path<G>,
    limit: u32,
    steps: usize,
    most_nodes: usize,
    seen: HashMap<u64, u32>,
}

impl<G: Game> Replay<'_, G> {
    fn judge(&mut self, id: NodeId, clock: u32) -> ProofCheck {
        if self.is_beyond_doubt(id, clock) || self.holds(id, clock) {
            ProofCheck::Holds
        } else if self.steps > MOST_STEPS {
            ProofCheck::Unsure
        } else {
            ProofCheck::Fails
        }
    }

    /// A cheap sufficient test, linear in the size of the proof: no position of it can possibly occur three
    /// times, and even the longest way to each node keeps the clock below its limit.
    fn is_beyond_doubt(&self, root: NodeId, clock: u32) -> bool {
        let graph = self.graph;
        let mut clocks: HashMap<NodeId, u32> = HashMap::from([(root, clock)]);
        let mut by_length: Vec<Vec<NodeId>> = vec![Vec::new(); usize::from(graph.node(root).end_in_ply) + 1];
        let mut keys: HashMap<u64, u32> = HashMap::new();
        by_length[usize::from(graph.node(root).end_in_ply)].push(root);
        for length in (0..by_length.len()).rev() {
            for index in 0..by_length[length].len() {
                let id = by_length[length][index];
                let node = graph.node(id);
                let clock = clocks[&id];
                if clock >= self.limit && !node.has(node_flag::TERMINAL) {
                    return false;
                }
                let before =
                    || self.path.count_before(node.key) + self.seen.get(&node.key).copied().unwrap_or(0);
                let count = keys.entry(node.key).or_insert_with(before);
                *count += 1;
                if *count >= 3 || clocks.len() > self.most_nodes {
                    return false;
                }
                let Some(mut slots) = continuations(graph, id) else { return false };
                if node.state == State::Win {
                    slots.truncate(1);
                }
                for slot in slots {
                    let edge = graph.edge(id, slot);
                    let next = if edge.has(edge_flag::ZEROING) { 0 } else { clock + 1 };
                    let child_length = usize::from(graph.node(edge.child).end_in_ply);
                    if child_length >= length {
                        return false;
                    }
                    clocks.entry(edge.child).and_modify(|known| *known = next.max(*known)).or_insert_with(
                        || {
                            by_length[child_length].push(edge.child);
                            next
                        },
                    );
                }
            }
        }
        true
    }

    /// Plays the proof out along every path.
    fn holds(&mut self, id: NodeId, clock: u32) -> bool {
        self.steps += 1;
        let node = self.graph.node(id);
        if node.has(node_flag::TERMINAL) {
            return true;
        }
        let before = self.path.count_before(node.key);
        let here = self.seen.entry(node.key).or_insert(0);
        *here += 1;
        let drawn = *here + before >= 3 || clock >= self.limit || self.steps > MOST_STEPS;
        let stands = !drawn
            && continuations(self.graph, id).is_some_and(|slots| {
                let below = |slot: &u16| {
                    let edge = self.graph.edge(id, *slot);
                    let next = if edge.has(edge_flag::ZEROING) { 0 } else { clock + 1 };
                    self.holds(edge.child, next)
                };
                // The winner plays what the claimed length rests on, the first of the shortest answers, and
                // no other.
                let needed = if node.state == State::Win { 1 } else { slots.len() };
                slots.iter().take(needed).all(below)
            });
        if let Some(count) = self.seen.get_mut(&node.key) {
            *count -= 1;
        }
        stands
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::evaluators;
    use crate::games::chess::{ChessBoard, Variant};
    use crate::run::drive::{Finish, Limits, run};
    use crate::run::pool::Pool;
    use crate::search::{Budget, Search};
    use crate::settings::{Settings, Urgency};

    /// Mate in two with one key, Kc7: with the clock given.
    fn board(clock: u32) -> ChessBoard {
        ChessBoard::from_fen(Variant::Chess, &format!("8/k7/3K1p2/3N4/6Q1/8/8/8 w - - {clock} 90"), false)
            .unwrap()
    }

    #[test]
    fn a_proof_stands_only_with_the_history_it_meets() {
        let settings = Settings { urgency: Urgency::Reduction, ..Settings::default() };
        let mut search =
            Search::new(settings, Some(evaluators::by_name("material", 0).unwrap()), board(0), &[]);
        run(
            &mut search,
            &mut Pool::new(1),
            Limits::default(),
            &Arc::new(AtomicBool::new(false)),
            &mut |_| {},
        );
        assert_eq!(search.graph().node(search.root()).state, State::Win);
        let after_key = |moves: &[&str]| {
            let mut board = board(0);
            for text in moves {
                let mv = board.parse_move(text).unwrap();
                board.play(mv);
            }
            board.key()
        };
        let stands = |clock: u32, before: &[u64]| {
            stands(search.graph(), search.root(), &Path::new(board(clock), before, &[]))
        };
        let key = after_key(&["d6c7"]);
        assert!(stands(0, &[]));
        assert!(stands(0, &[key]), "twice is no draw");
        assert!(!stands(0, &[key, key]), "the key leads to the third occurrence");
        let defence = after_key(&["d6c7", "a7a8"]);
        assert!(!stands(0, &[defence, defence]), "and so may a defence");
        let elsewhere = after_key(&["d6e7"]);
        assert!(stands(0, &[elsewhere, elsewhere]), "what the proof never meets does not matter");
        // A pawn's answer starts the count anew, a king's does not: mate comes with ply three.
        assert!(stands(97, &[]) && !stands(98, &[]) && !stands(99, &[]));
    }

    #[test]
    fn a_search_goes_on_where_the_history_breaks_a_proof() {
        let fen = "8/k1K5/5p2/3N4/6Q1/8/8/8 b - - 0 90";
        let origin = ChessBoard::from_fen(Variant::Chess, fen, false).unwrap();
        let (mut root, mut played) = (origin.clone(), Vec::new());
        // The position after the key of the mate in two has been there twice.
        for text in ["a7a6", "c7d6", "a6a7", "d6c7", "a7a6", "c7d6", "a6a7"] {
            let mv = root.parse_move(text).unwrap();
            root.play(mv);
            played.push(mv);
        }
        let settings = Settings { urgency: Urgency::Reduction, ..Settings::default() };
        let evaluator = || Some(evaluators::by_name("material", 0).unwrap());
        let budget = |simulations| Limits {
            budget: Budget { simulations: Some(simulations), evaluations: None },
            ..Limits::default()
        };
        let stop = Arc::new(AtomicBool::new(false));
        let mut other = Search::new(settings.clone(), evaluator(), root, &[]);
        assert_eq!(run(&mut other, &mut Pool::new(1), budget(100_000), &stop, &mut |_| {}), Finish::Solved);
        assert_eq!(other.proven(), (State::Win, 3));
        // A graph that was made before the repetitions.
        let mut search = Search::new(settings, evaluator(), origin, &played);
        (search.graph, search.root) = (other.graph, other.root);
        assert!(search.proven().0 == State::Win && search.checked_proof().is_none());
        let finish = run(&mut search, &mut Pool::new(1), budget(3000), &stop, &mut |_| {});
        assert_eq!(finish == Finish::Solved, search.checked_proof().is_some(), "{finish:?}");
        assert!(search.counters().simulations > 100);
        let key = search.best_code().map(|mv| search.position().uci(mv));
        assert!(key.is_some() && key.as_deref() != Some("d6c7"), "that would be a draw: {key:?}");
    }
}
