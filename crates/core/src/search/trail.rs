//! What led to a leaf, for the planes of a network: the last moves, and the last positions where planes show
//! them.

use super::path::{MOST_PAST, Start};
use crate::game::{Game, MoveCode, Trail};

const MOST_MOVES: usize = 8;

/// Buffers for the trails of leaves, kept to spare allocations.
#[derive(Debug)]
pub struct TrailBuffers<G> {
    recent: Vec<MoveCode>,
    past: Vec<(G, u32)>,
    keys: Vec<u64>,
}

impl<G> Default for TrailBuffers<G> {
    fn default() -> TrailBuffers<G> {
        TrailBuffers { recent: Vec::new(), past: Vec::new(), keys: Vec::new() }
    }
}

impl<G: Game> TrailBuffers<G> {
    /// The trail of the position after the moves `line` from a root, with its past if `with_past` is set.
    pub fn trail(
        &mut self,
        start: &Start<G>,
        line: &[MoveCode],
        repetitions: u32,
        with_past: bool,
    ) -> Trail<'_, G> {
        self.recent.clear();
        self.recent.extend(line.iter().rev().chain(start.recent()).take(MOST_MOVES));
        self.past.clear();
        if with_past {
            self.keys.clear();
            let mut game = start.root().clone();
            for (ply, &mv) in line.iter().enumerate() {
                let key = game.key();
                if ply + MOST_PAST >= line.len() {
                    let here = self.keys.iter().filter(|&&earlier| earlier == key).count() as u32;
                    self.past.push((game.clone(), here + start.count_before(key)));
                }
                self.keys.push(key);
                game.play(mv);
            }
            self.past.reverse();
            let rest = MOST_PAST - self.past.len();
            self.past.extend(start.past().iter().take(rest).cloned());
        }
        Trail { recent: &self.recent, repetitions, past: &self.past }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::chess::{ChessBoard, Variant};
    use crate::search::path::Path;

    fn codes(moves: &[&str]) -> (ChessBoard, Vec<MoveCode>) {
        let start = ChessBoard::start(Variant::Chess).unwrap();
        let mut board = start.clone();
        let code = |mv: &&str| {
            let mv = board.parse_move(mv).unwrap();
            board.play(mv);
            mv
        };
        let codes = moves.iter().map(code).collect();
        (start, codes)
    }

    #[test]
    fn the_same_positions_wherever_the_root_is() {
        let line = ["g1f3", "g8f6", "f3g1", "f6g8", "e2e4", "e7e5", "d2d4", "e5d4", "d1d4", "b8c6"];
        let (start, moves) = codes(&line);
        let mut expected: Vec<Vec<(String, u32)>> = Vec::new();
        for root in 0..=moves.len() {
            let path = Path::after(&start, &moves[..root]);
            let mut buffers = TrailBuffers::default();
            let found: Vec<Vec<(String, u32)>> = (root..=moves.len())
                .map(|end| {
                    let trail = buffers.trail(path.start(), &moves[root..end], 0, true);
                    let newest: Vec<MoveCode> = moves[..end].iter().rev().take(8).copied().collect();
                    assert_eq!(trail.recent, newest);
                    trail.past.iter().map(|(board, count)| (board.fen(), *count)).collect()
                })
                .collect();
            if root == 0 {
                expected = found;
            } else {
                assert_eq!(found, expected[root..], "root {root}");
            }
        }
        let counts = |end: usize| -> Vec<u32> { expected[end].iter().map(|(_, count)| *count).collect() };
        // The start occurs a second time after four plies.
        assert_eq!((counts(3), counts(5)), (vec![0, 0, 0], vec![1, 0, 0, 0, 0]));
        assert_eq!((counts(10).len(), expected[10][6].1), (7, 0));
        assert!(expected[10][6].0.starts_with("rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR"));
    }
}
