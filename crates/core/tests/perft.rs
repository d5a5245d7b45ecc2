//! Published counts of move sequences for all variants: the rules are right to the last en passant.

use anabranch_core::games::chess::{Board, Rules, Variant, perft};
use shakmaty::Chess;
use shakmaty::variant::{Crazyhouse, VariantPosition};

fn check<P: Rules>(variant: Variant, chess960: bool, cases: &[(&str, &[u64])]) {
    for (text, counts) in cases {
        let board = Board::<P>::from_fen(variant, text, chess960).expect(text);
        for (depth, count) in (1..).zip(*counts) {
            assert_eq!(perft(&board, depth), *count, "{variant} {text}, depth {depth}");
        }
    }
}

#[test]
fn chess() {
    check::<Chess>(
        Variant::Chess,
        false,
        &[
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                &[20, 400, 8902, 197_281, 4_865_609],
            ),
            (
                "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -",
                &[48, 2039, 97_862, 4_085_603],
            ),
            ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -", &[14, 191, 2812, 43_238, 674_624]),
            ("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ -", &[6, 264, 9467, 422_333]),
            ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ -", &[44, 1486, 62_379, 2_103_487]),
            ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - -", &[46, 2079, 89_890]),
            ("8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3", &[6, 121, 711]),
            ("1b1k4/8/8/1rPpK3/8/8/8/8 w - d6", &[5, 100, 555]),
            ("8/6kR/8/8/8/bq6/1rqqqqqq/K1nqnbrq b - -", &[7, 52, 4593, 50_268]),
            ("3R4/8/q4k2/2B5/1NK5/3b4/8/8 w - -", &[4, 125, 2854]),
        ],
    );
}

#[test]
fn chess960() {
    check::<Chess>(
        Variant::Chess,
        true,
        &[
            ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf -", &[21, 528, 12_189, 326_672]),
            ("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe -", &[21, 807, 18_002, 667_366]),
            ("qbbnnrkr/2pp2pp/p7/1p2pp2/8/P3PP2/1PPP1KPP/QBBNNR1R w hf -", &[22, 593, 13_440, 382_958]),
            ("q1bnrkr1/ppppp2p/2n2p2/4b1p1/2NP4/8/PPP1PPPP/QNB1RRKB w ge -", &[30, 860, 24_566, 732_757]),
            ("r2r3k/p7/3p4/8/8/P6P/8/R3K2R b KQq -", &[14, 206, 3672, 64_639, 1_320_962]),
        ],
    );
}

#[test]
fn crazyhouse() {
    check::<Crazyhouse>(
        Variant::Crazyhouse,
        false,
        &[
            ("2k5/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - -", &[301, 75_353]),
            ("2k5/8/8/8/8/8/8/4K3[Qn] w - -", &[67, 3083, 88_634, 932_554]),
            (
                "r1bqk2r/pppp1ppp/2n1p3/4P3/1b1Pn3/2NB1N2/PPP2PPP/R1BQK2R[] b KQkq -",
                &[42, 1347, 58_057, 2_083_382],
            ),
            ("4k3/1Q~6/8/8/4b3/8/Kpp5/8/ b - -", &[20, 360, 5445, 132_758]),
            ("2rn1b1r/1pp2n1p/B1PBk1pP/5p1P/P5p1/2P2RP1/RP1QNP2/1NBK4[QPp] w - -", &[99, 3932, 314_782]),
        ],
    );
}

#[test]
fn atomic() {
    check::<VariantPosition>(
        Variant::Atomic,
        true,
        &[
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", &[20, 400, 8902, 197_326]),
            ("rn2kb1r/1pp1p2p/p2q1pp1/3P4/2P3b1/4PN2/PP3PPP/R2QKB1R b KQkq -", &[40, 1238, 45_237]),
            ("8/8/8/8/8/8/2k5/rR4KR w KQ -", &[18, 180, 4364, 61_401]),
            ("r3k1rR/5K2/8/8/8/8/8/8 b kq -", &[25, 282, 6753, 98_729]),
        ],
    );
}

#[test]
fn antichess() {
    check::<VariantPosition>(
        Variant::Antichess,
        false,
        &[
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - -", &[20, 400, 8067, 153_299]),
            ("8/1p6/8/8/8/8/P7/8 w - -", &[2, 4, 4, 3, 1, 0]),
            ("8/2p5/8/8/8/8/P7/8 w - -", &[2, 4, 4, 4, 4, 4, 4, 4, 12, 36, 312, 2557, 30_873]),
        ],
    );
}

#[test]
fn king_of_the_hill() {
    check::<VariantPosition>(
        Variant::KingOfTheHill,
        false,
        &[
            ("8/8/2k5/8/8/4K3/8/8 w - - 0 1", &[8, 48, 332, 2362]),
            ("rnbq1bnr/pppp1ppp/4k3/8/8/3K4/PPPP1PPP/RNBQ1BNR w - - 0 1", &[29, 840, 22_989, 657_301]),
        ],
    );
}

#[test]
fn three_check() {
    check::<VariantPosition>(
        Variant::ThreeCheck,
        false,
        &[
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 1+1", &[48, 2039, 97_848]),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 1+1", &[26, 562, 13_410]),
        ],
    );
}

#[test]
fn racing_kings() {
    check::<VariantPosition>(
        Variant::RacingKings,
        false,
        &[
            ("8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - -", &[21, 421, 11_264, 296_242]),
            ("4brn1/2K2k2/8/8/8/8/8/8 w - -", &[6, 33, 178, 3151, 12_981]),
            ("8/8/1rk4K/8/8/8/2bnNBR1/qrbnNBRQ b - -", &[36, 697, 26_592]),
        ],
    );
}

#[test]
fn horde() {
    check::<VariantPosition>(
        Variant::Horde,
        false,
        &[
            (
                "rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq -",
                &[8, 128, 1274, 23_310],
            ),
            ("4k3/pp4q1/3P2p1/8/P3PP2/PPP2r2/PPP5/PPPP4 b - -", &[30, 241, 6633, 56_539]),
            ("k7/5p2/4p2P/3p2P1/2p2P2/1p2P2P/p2P2P1/2P2P2 w - -", &[13, 172, 2205, 33_781]),
        ],
    );
}
