//! A proof written out: every position that the attacker needs, each once, with its move and its defences.
//!
//! It is read from the table of a [`Solver`], and checked on the way: no position depends on itself, the
//! game is drawn nowhere by its history, and on the longest way to each position the clock is below its
//! limit. What passes is a win in this game.

use std::collections::{HashMap, VecDeque};

use super::dfpn::Solver;
use super::{Question, Verdict, identity};
use crate::game::{Game, MoveCode};

/// Positions of the largest proof that is written out. A small table bounds it too: a position of a proof
/// takes as much memory as this number of its entries.
const MOST_NODES: usize = 1 << 20;
const ENTRIES_PER_NODE: usize = 4;
/// Positions between two questions whether the reading is cancelled.
const CANCEL_PERIOD: usize = 16;
/// Positions up to which all known wins of the attacker are compared.
const MOST_NODES_OF_CHOICE: usize = 1 << 16;

/// A position of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofNode {
    /// Whether the attacker is to move.
    pub is_attack: bool,
    /// Plies to the end of the game by this proof.
    pub plies: u16,
    /// The attacker's move, or every legal move of the defender, with the index of the next position. Empty
    /// where the game is over.
    pub moves: Vec<(MoveCode, u32)>,
    key: u64,
    /// Which of the moves reset the clock.
    zeroing: Vec<bool>,
}

/// An and-or graph that proves a win. The root is the first position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The positions, each once.
    pub nodes: Vec<ProofNode>,
}

impl Proof {
    /// Reads the proof of a question that was answered with a win: of all that the table holds as proven, the
    /// part with the shortest win. Where the table has dropped a position, that is solved again with what is
    /// left of `budget`. `None` when that fails, when the proof is too large or does not hold with the
    /// history of the game, or when the question is cancelled.
    pub fn read<G: Game>(solver: &mut Solver, question: &Question<'_, G>, budget: u64) -> Option<Proof> {
        let end = solver.positions().saturating_add(budget);
        let most_nodes = MOST_NODES.min(solver.table.most() / ENTRIES_PER_NODE);
        let mut done = 0usize;
        let mut known = Proof { nodes: Vec::new() };
        let mut ids: HashMap<u64, u32> = HashMap::new();
        let mut waiting: VecDeque<(G, u32)> = VecDeque::new();
        let mut moves = Vec::new();
        known.enter(&mut ids, &mut waiting, question.game.clone(), question.attacker);
        while let Some((game, id)) = waiting.pop_front() {
            game.legal_moves(&mut moves);
            let is_attack = known.nodes[id as usize].is_attack;
            if game.ending(&moves).is_some() {
                continue;
            }
            done += 1;
            if known.nodes.len() > most_nodes || (done.is_multiple_of(CANCEL_PERIOD) && (question.cancel)()) {
                return None;
            }
            if is_attack {
                let mv = proven_move(solver, question, &game, end)?;
                // Other wins are looked at while there are not too many positions.
                if known.nodes.len() > MOST_NODES_OF_CHOICE {
                    moves.retain(|&other| other == mv);
                } else {
                    moves.retain(|&other| other == mv || is_proven_after(solver, &game, other));
                }
            }
            for &mv in &moves {
                let zeroing = game.is_zeroing(mv);
                let mut next = game.clone();
                next.play(mv);
                let child = known.enter(&mut ids, &mut waiting, next, question.attacker);
                let node = &mut known.nodes[id as usize];
                node.moves.push((mv, child));
                node.zeroing.push(zeroing);
            }
        }
        // What follows takes a small part of the time.
        let proof = known.shortest()?;
        (!(question.cancel)() && proof.is_distinct() && proof.holds(question)).then_some(proof)
    }

    /// The index of a position, which is new or known.
    fn enter<G: Game>(
        &mut self,
        ids: &mut HashMap<u64, u32>,
        waiting: &mut VecDeque<(G, u32)>,
        game: G,
        attacker: u8,
    ) -> u32 {
        let key = game.key();
        *ids.entry(identity(&game)).or_insert_with(|| {
            let id = self.nodes.len() as u32;
            self.nodes.push(ProofNode {
                is_attack: game.player() == attacker,
                plies: 0,
                moves: Vec::new(),
                key,
                zeroing: Vec::new(),
            });
            waiting.push_back((game, id));
            id
        })
    }

    /// The plies of all positions, from the ends upwards: the attacker's first child to be known decides,
    /// and the defender's last. `None` for positions that depend on themselves.
    fn measure(&self) -> Vec<Option<u16>> {
        let mut parents: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        let mut open: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for (id, node) in self.nodes.iter().enumerate() {
            open.push(if node.is_attack { node.moves.len().min(1) } else { node.moves.len() } as u32);
            for &(_, child) in &node.moves {
                parents[child as usize].push(id as u32);
            }
        }
        let mut plies: Vec<Option<u16>> = vec![None; self.nodes.len()];
        // In the order of their plies.
        let mut ready: VecDeque<u32> = VecDeque::new();
        for id in (0..self.nodes.len()).filter(|&id| open[id] == 0) {
            plies[id] = Some(0);
            ready.push_back(id as u32);
        }
        while let Some(id) = ready.pop_front() {
            let next = plies[id as usize].map(|plies| plies.saturating_add(1));
            for &parent in &parents[id as usize] {
                let left = &mut open[parent as usize];
                if *left > 0 {
                    *left -= 1;
                    if *left == 0 {
                        plies[parent as usize] = next;
                        ready.push_back(parent);
                    }
                }
            }
        }
        plies
    }

    /// The part of these positions that the shortest win needs: at each of the attacker's positions the
    /// first of the moves that win soonest. `None` when the root does not win.
    fn shortest(&self) -> Option<Proof> {
        let plies = self.measure();
        plies[0]?;
        let mut proof = Proof { nodes: Vec::new() };
        let mut numbers: HashMap<u32, u32> = HashMap::from([(0, 0)]);
        let mut order = vec![0u32];
        let mut done = 0;
        while done < order.len() {
            let old = &self.nodes[order[done] as usize];
            let mut kept: Vec<usize> = (0..old.moves.len()).collect();
            if old.is_attack {
                let soonest = kept
                    .iter()
                    .copied()
                    .min_by_key(|&index| plies[old.moves[index].1 as usize].unwrap_or(u16::MAX));
                kept = soonest.into_iter().collect();
            }
            let mut node = ProofNode {
                plies: plies[order[done] as usize]?,
                moves: Vec::with_capacity(kept.len()),
                zeroing: kept.iter().map(|&index| old.zeroing[index]).collect(),
                ..*old
            };
            for index in kept {
                let (mv, child) = old.moves[index];
                let number = *numbers.entry(child).or_insert_with(|| {
                    order.push(child);
                    order.len() as u32 - 1
                });
                node.moves.push((mv, number));
            }
            proof.nodes.push(node);
            done += 1;
        }
        Some(proof)
    }

    /// Whether each position is there once. Near the limit of the clock the same position may have two
    /// answers.
    fn is_distinct(&self) -> bool {
        let mut keys: Vec<u64> = self.nodes.iter().map(|node| node.key).collect();
        keys.sort_unstable();
        keys.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Whether no position is a draw by repetition or by the move count, on the longest way to it.
    fn holds<G: Game>(&self, question: &Question<'_, G>) -> bool {
        let limit = question.game.clock_limit().unwrap_or(u32::MAX);
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        order.sort_by_key(|&id| std::cmp::Reverse(self.nodes[id as usize].plies));
        let mut clocks = vec![0; self.nodes.len()];
        clocks[0] = question.game.clock();
        for id in order {
            let node = &self.nodes[id as usize];
            let clock = clocks[id as usize];
            if node.moves.is_empty() {
                continue;
            }
            // The first position stands on the board already.
            let most = if id == 0 { 3 } else { 2 };
            if clock >= limit || (question.before)(node.key) >= most {
                return false;
            }
            for (&(_, child), &zeroing) in node.moves.iter().zip(&node.zeroing) {
                let next = if zeroing { 0 } else { clock + 1 };
                clocks[child as usize] = next.max(clocks[child as usize]);
            }
        }
        true
    }

    /// Plies to the end of the game.
    pub fn plies(&self) -> u16 {
        self.nodes[0].plies
    }

    /// The attacker's moves against the longest resistance.
    pub fn line(&self) -> Vec<MoveCode> {
        let mut line = Vec::new();
        let mut node = &self.nodes[0];
        // The first of the longest defences.
        while let Some(&(mv, child)) =
            node.moves.iter().rev().max_by_key(|&&(_, child)| self.nodes[child as usize].plies)
        {
            line.push(mv);
            node = &self.nodes[child as usize];
        }
        line
    }
}

/// The winning move at a position of the attacker, solved again where the table has dropped it.
fn proven_move<G: Game>(
    solver: &mut Solver,
    question: &Question<'_, G>,
    game: &G,
    end: u64,
) -> Option<MoveCode> {
    let key = identity(game);
    let proven = |solver: &Solver| solver.table.find(key, 0, 0).filter(|numbers| numbers.is_proven());
    if proven(solver).is_none() {
        let question = Question { game, ..*question };
        if solver.search(&question, end.saturating_sub(solver.positions())).0 != Verdict::Win {
            return None;
        }
    }
    proven(solver).map(|numbers| numbers.mv)
}

/// Whether the table holds the position after a move as won.
fn is_proven_after<G: Game>(solver: &Solver, game: &G, mv: MoveCode) -> bool {
    let mut next = game.clone();
    next.play(mv);
    solver.table.find(identity(&next), 0, 0).is_some_and(|numbers| numbers.is_proven())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::games::chess::{ChessBoard, Variant};
    use crate::mates::Attack;

    /// Reads the proof of a rook ending, from a table cut down to so many positions; the reading is cancelled
    /// when it has asked for that so many times.
    fn read(entries: usize, asks: usize) -> Option<Proof> {
        let game = ChessBoard::from_fen(Variant::Chess, "8/8/8/3k4/8/8/R7/1R4K1 w - - 0 1", false).unwrap();
        let (is_read, asked) = (Cell::new(false), Cell::new(0));
        let cancel = || {
            asked.set(asked.get() + usize::from(is_read.get()));
            asked.get() > asks
        };
        let question = Question {
            game: &game,
            attacker: 0,
            attack: Attack::All,
            depth: 24,
            before: &|_| 0,
            cancel: &cancel,
        };
        let mut solver = Solver::default();
        assert_eq!(solver.search(&question, 10_000_000).0, Verdict::Win);
        is_read.set(true);
        solver.table.set_most(entries);
        Proof::read(&mut solver, &question, 10_000_000)
    }

    #[test]
    fn reading_can_be_cancelled_and_is_bounded_by_the_table() {
        let proof = read(usize::MAX, usize::MAX).unwrap();
        assert!(proof.nodes.len() > 2 * CANCEL_PERIOD, "{}", proof.nodes.len());
        assert!(read(usize::MAX, 0).is_none());
        assert!(read(proof.nodes.len(), usize::MAX).is_none());
    }
}
