//! Published counts of move sequences for all variants: the rules are right to the last en passant.

use anabranch_core::games::chess::{Board, Rules, Variant};
use anabranch_core::run::kind::perft;
use shakmaty::Chess;
use shakmaty::variant::{Crazyhouse, VariantPosition};

fn check<P: Rules>(variant: Variant, chess960: bool, text: &str, counts: &str) {
    let board = Board::<P>::from_fen(variant, text, chess960).expect(text);
    for (depth, count) in (1..).zip(counts.split_whitespace()) {
        assert_eq!(perft(&board, depth).to_string(), count, "{variant} {text}, depth {depth}");
    }
}

#[test]
fn counts_are_those_that_were_published() {
    let cases = include_str!("perft.txt").lines().filter(|line| !line.starts_with('#'));
    let mut seen = Vec::new();
    for case in cases {
        let [name, text, counts] = case.split("; ").collect::<Vec<_>>()[..] else { panic!("{case}") };
        let (name, chess960) = name.strip_suffix(" 960").map_or((name, false), |name| (name, true));
        let (variant, _) = Variant::parse(name).expect(case);
        match variant {
            Variant::Chess => check::<Chess>(variant, chess960, text, counts),
            Variant::Crazyhouse => check::<Crazyhouse>(variant, chess960, text, counts),
            _ => check::<VariantPosition>(variant, chess960, text, counts),
        }
        seen.push(variant);
    }
    assert!(Variant::ALL.iter().all(|variant| seen.contains(variant)));
}
