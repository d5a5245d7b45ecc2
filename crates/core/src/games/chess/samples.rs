//! Stored training samples checked against the rules: positions that can be read, moves that are legal there.
//!
//! Text comes in, one result per sample goes out.

use shakmaty::Chess;
use shakmaty::uci::UciMove;
use shakmaty::variant::{Crazyhouse, VariantPosition};

use crate::game::Game;
use crate::games::chess::{Board, Rules, Variant};

/// What is wrong with a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The position cannot be read.
    Position,
    /// A move is not a legal move in UCI.
    Move,
}

/// The result of checking a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleCheck {
    /// Identity of the position; equal for equal positions, whatever their counters.
    pub key: u64,
    /// Number of legal moves.
    pub legal: usize,
    /// What is wrong, if something is.
    pub fault: Option<Fault>,
}

/// Examines a position and moves that should be legal in it.
pub fn examine<S: AsRef<str>>(variant: Variant, chess960: bool, fen: &str, moves: &[S]) -> SampleCheck {
    match variant {
        Variant::Chess => examine_as::<Chess, S>(variant, chess960, fen, moves),
        Variant::Crazyhouse => examine_as::<Crazyhouse, S>(variant, chess960, fen, moves),
        _ => examine_as::<VariantPosition, S>(variant, chess960, fen, moves),
    }
}

fn examine_as<P: Rules, S: AsRef<str>>(
    variant: Variant,
    chess960: bool,
    fen: &str,
    moves: &[S],
) -> SampleCheck {
    let Ok(board) = Board::<P>::from_fen(variant, fen, chess960) else {
        return SampleCheck { key: 0, legal: 0, fault: Some(Fault::Position) };
    };
    let mut legal = Vec::new();
    board.legal_moves(&mut legal);
    let is_legal = |text: &S| {
        let uci = UciMove::from_ascii(text.as_ref().as_bytes());
        uci.is_ok_and(|uci| board.find_uci(uci, &legal).is_some())
    };
    let fault = (!moves.iter().all(is_legal)).then_some(Fault::Move);
    SampleCheck { key: board.key(), legal: legal.len(), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_apart() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let later = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 3";
        let good = examine(Variant::Chess, false, start, &["e2e4", "g1f3"]);
        assert_eq!((good.legal, good.fault), (20, None));
        assert_eq!(examine(Variant::Chess, false, later, &["e2e4"]).key, good.key);
        for text in ["e2e5", "Nf3", "", "0000", "N@e4"] {
            assert_eq!(
                examine(Variant::Chess, false, start, &["e2e4", text]).fault,
                Some(Fault::Move),
                "{text}"
            );
        }
        assert_eq!(examine(Variant::Chess, false, "8/8 w", &["e2e4"]).fault, Some(Fault::Position));
        let drop = examine(Variant::Crazyhouse, false, "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1", &["N@f6"]);
        assert_eq!(drop.fault, None);
    }
}
