//! What the tests of the games share: moves by text, counts of move sequences, slow referees.

use std::collections::HashMap;

use super::{Cells, Grid};
use crate::game::{Ending, Game, MoveCode};
use crate::random::Random;

/// The position after moves, each of them legal.
pub fn after<G: Game>(mut game: G, moves: &str) -> G {
    for text in moves.split_whitespace() {
        let mut legal = Vec::new();
        game.legal_moves(&mut legal);
        let mv = legal.iter().find(|&&mv| game.move_text(mv) == text);
        game.play(*mv.unwrap_or_else(|| panic!("{text} is illegal in {}", game.text())));
    }
    game
}

/// The numbers of move sequences of length 1, 2 and so on; a game that is over has none.
pub fn perft_of<G: Game>(game: &G, depth: usize) -> Vec<u64> {
    fn count<G: Game>(game: &G, depth: usize) -> u64 {
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        match (depth, game.ending(&moves)) {
            (0, _) => 1,
            (_, Some(_)) => 0,
            (1, None) => moves.len() as u64,
            _ => moves
                .iter()
                .map(|&mv| {
                    let mut next = game.clone();
                    next.play(mv);
                    count(&next, depth - 1)
                })
                .sum(),
        }
    }
    (1..=depth).map(|depth| count(game, depth)).collect()
}

/// The value for the side to move, by exhaustion.
pub fn value_of<G: Game>(game: &G) -> f64 {
    fn search<G: Game>(game: &G, known: &mut HashMap<u64, f64>) -> f64 {
        if let Some(&value) = known.get(&game.key()) {
            return value;
        }
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        let value = match game.ending(&moves) {
            Some(ending) => ending.value(),
            None => moves.iter().fold(-1.0, |best, &mv| {
                let mut next = game.clone();
                next.play(mv);
                if best == 1.0 { best } else { f64::max(best, -search(&next, known)) }
            }),
        };
        known.insert(game.key(), value);
        value
    }
    search(game, &mut HashMap::new())
}

/// Plays random games and requires at every position that the game says what a referee sees on the cells: it
/// is over, and who has won. Text, cells and keys must lead back to the position.
pub fn endings_agree<G: Grid>(start: &G, games: u64, referee: impl Fn(&Cells) -> Option<Option<u8>>) {
    let mut moves: Vec<MoveCode> = Vec::new();
    for seed in 0..games {
        let (mut game, mut random) = (start.clone(), Random::new(seed));
        loop {
            game.legal_moves(&mut moves);
            let (cells, ending) = (game.cells(), game.ending(&moves));
            let winner = ending.map(|ending| match ending {
                Ending::Win => Some(game.player()),
                Ending::Draw | Ending::Score(_) => None,
                Ending::Loss => Some(1 - game.player()),
            });
            assert_eq!(winner, referee(&cells), "{}", game.text());
            let read =
                start.with_cells(&Cells::read(&game.text(), cells.width, cells.height).unwrap()).unwrap();
            assert_eq!((read.key(), read.player(), read.text()), (game.key(), game.player(), game.text()));
            assert!(moves.is_sorted());
            if ending.is_some() {
                break;
            }
            game.play(moves[random.index(moves.len())]);
        }
    }
}
