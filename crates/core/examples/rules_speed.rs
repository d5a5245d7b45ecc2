//! Prints how long the rules take, in nanoseconds per call: the inner loop of every simulation.
//!
//! `cargo run --release --example rules_speed`

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anabranch_core::evaluators::{Evaluator, Leaf};
use anabranch_core::evaluators::{Hash, Material};
use anabranch_core::game::{Constraint, Game};
use anabranch_core::games::chess::{Board, Rules, Variant};
use shakmaty::Chess;
use shakmaty::variant::{Crazyhouse, VariantPosition};

const MIDDLEGAME: &str = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 9";
const FILLED: &str = "r2q1rk1/ppp2ppp/2n2n2/3p4/1b1P2b1/2N1PN2/PPPB1PPP/R2QK2R[PNBpr] w KQ - 0 9";

/// The best of some rounds, so that other programs on the machine do not count.
fn nanoseconds(mut call: impl FnMut()) -> f64 {
    (0..30)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..20_000 {
                call();
            }
            start.elapsed().as_nanos() as f64 / 20_000.0
        })
        .fold(f64::INFINITY, f64::min)
}

fn measure<P: Rules>(variant: Variant, text: &str) {
    let game = Board::<P>::from_fen(variant, text, false).expect("a position");
    let mut moves = Vec::with_capacity(512);
    game.legal_moves(&mut moves);
    println!("{variant}: {} moves, {} bytes", moves.len(), size_of::<Board<P>>());
    let mut next = 0;
    let mut turn = |count: usize| {
        next = (next + 1) % count;
        next
    };

    let list = moves.clone();
    let time = nanoseconds(|| {
        let mut after = black_box(&game).clone();
        after.play(list[turn(list.len())]);
        black_box(after);
    });
    println!("  clone and play   {time:6.1}");
    let time = nanoseconds(|| {
        black_box(black_box(&game).key());
    });
    println!("  key              {time:6.1}");
    let time = nanoseconds(|| {
        black_box(&game).legal_moves(&mut moves);
        black_box(&mut moves);
    });
    println!("  legal moves      {time:6.1}");
    let time = nanoseconds(|| {
        black_box(black_box(&game).position().legal_moves());
    });
    println!("  (shakmaty's)     {time:6.1}");
    let time = nanoseconds(|| {
        black_box(black_box(&game).ending(black_box(&list)));
    });
    println!("  ending           {time:6.1}");
    for constraint in [Constraint::Checks, Constraint::Captures, Constraint::Threats] {
        let time = nanoseconds(|| {
            black_box(black_box(&game).satisfies(constraint, list[turn(list.len())]));
        });
        println!("  {:16} {time:6.1}", format!("{constraint:?}"));
    }
    let mut planes = vec![0.0; game.plane_count() * 64];
    let time = nanoseconds(|| {
        black_box(&game).fill_planes(&[], 0, &mut planes);
        black_box(&mut planes);
    });
    println!("  planes           {time:6.1}");

    let leaf = Leaf { game, moves: list, recent: Vec::new(), repetitions: 0 };
    let mut logits = Vec::new();
    let cancel = AtomicBool::new(false);
    let time = nanoseconds(|| {
        black_box(Material.evaluate(black_box(&leaf), &mut logits, &cancel));
        black_box(&mut logits);
    });
    println!("  material         {time:6.1}");
    let time = nanoseconds(|| {
        black_box(Hash::default().evaluate(black_box(&leaf), &mut logits, &cancel));
        black_box(&mut logits);
    });
    println!("  hash             {time:6.1}");
}

fn main() {
    measure::<Chess>(Variant::Chess, MIDDLEGAME);
    measure::<Crazyhouse>(Variant::Crazyhouse, FILLED);
    measure::<VariantPosition>(Variant::KingOfTheHill, MIDDLEGAME);
}
