//! Random play for the property tests of this folder.

use super::{Board, Rules, Variant};
use crate::game::{Game, MoveCode};
pub(crate) use crate::random::Random;

/// Positions, in the form both chess and crazyhouse read, that lead random games to all kinds of moves.
pub(crate) const STARTS: &[&str] = &[
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "8/PPPk4/8/8/8/8/4Kppp/8 w - - 0 1",
    "r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1",
    "4k3/8/8/2pPp3/8/8/8/B3KR1R w HF c6 0 1",
];

/// Plays random moves from a position until the game is over or has so many plies, and shows every position
/// on the way with its legal moves.
pub(crate) fn play_randomly<P: Rules>(
    (variant, start, chess960): (Variant, &str, bool),
    seed: u64,
    plies: usize,
    mut show: impl FnMut(&Board<P>, &[MoveCode]),
) {
    let mut board = Board::<P>::from_fen(variant, start, chess960).expect(start);
    let (mut random, mut list) = (Random::new(seed), Vec::new());
    for _ in 0..plies {
        board.legal_moves(&mut list);
        show(&board, &list);
        if board.ending(&list).is_some() {
            break;
        }
        board.play(list[random.index(list.len())]);
    }
}

/// Calls a generic check (variant, FEN, Chess960) with all starts as chess and crazyhouse in both castling
/// notations, and with the first position of every other variant.
macro_rules! check_all_starts {
    ($check:ident) => {
        use $crate::games::chess::{Variant, VariantBoard};
        for start in $crate::games::chess::random_games::STARTS {
            for chess960 in [false, true] {
                $check::<shakmaty::Chess>(Variant::Chess, start, chess960);
                $check::<shakmaty::variant::Crazyhouse>(Variant::Crazyhouse, start, chess960);
            }
        }
        for board in Variant::ALL.into_iter().filter_map(VariantBoard::start) {
            $check::<shakmaty::variant::VariantPosition>(board.variant(), &board.fen(), false);
        }
    };
}
pub(crate) use check_all_starts;
