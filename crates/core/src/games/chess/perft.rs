//! Perft: the leaves of the tree of legal moves, counted, the classic test of a move generator.
//!
//! The last ply is counted by the number of moves, without playing them.

use super::board::Board;
use super::rules::Rules;
use crate::game::{Game, MoveCode};

/// Number of sequences of `depth` legal moves.
pub fn perft<P: Rules>(board: &Board<P>, depth: u32) -> u64 {
    count(board, depth, 0, &mut Vec::new())
}

/// The same for each legal move, which counts as the first of the sequence.
pub fn divide<P: Rules>(board: &Board<P>, depth: u32) -> Vec<(MoveCode, u64)> {
    let mut list = Vec::new();
    board.legal_moves(&mut list);
    list.into_iter()
        .map(|mv| {
            let mut after = board.clone();
            after.play(mv);
            (mv, perft(&after, depth.saturating_sub(1)))
        })
        .collect()
}

/// Counts with one list of moves per level, made when the level is first reached.
fn count<P: Rules>(board: &Board<P>, depth: u32, level: usize, lists: &mut Vec<Vec<MoveCode>>) -> u64 {
    if depth == 0 {
        return 1;
    }
    if lists.len() == level {
        lists.push(Vec::new());
    }
    let mut list = std::mem::take(&mut lists[level]);
    board.legal_moves(&mut list);
    let sum = if depth == 1 {
        list.len() as u64
    } else {
        list.iter()
            .map(|mv| {
                let mut after = board.clone();
                after.play(*mv);
                count(&after, depth - 1, level + 1, lists)
            })
            .sum()
    };
    lists[level] = list;
    sum
}
