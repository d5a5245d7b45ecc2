//! temporary
use anabranch_core::game::Game;
use anabranch_core::games::chess::{Board, Rules, Variant};
use anabranch_core::mates::{Attack, Question, Verdict, solve::solve};
use std::time::Instant;

fn run<P: Rules>(
    variant: Variant,
    fen: &str,
    budget: u64,
    secs: f64,
    attack: Attack,
    loss: bool,
) -> Option<(u16, u64, f64, Verdict)> {
    let board = Board::<P>::from_fen(variant, fen, false).ok()?;
    let start = Instant::now();
    let cancel = || start.elapsed().as_secs_f64() > secs;
    let attacker = if loss { 1 - board.player() } else { board.player() };
    let q = Question { game: &board, attacker, attack, depth: 200, before: &|_| 0, cancel: &cancel };
    let (s, proof) = solve(&q, budget, 256 << 20);
    Some((
        proof.as_ref().map_or(0, |p| p.plies()),
        s.positions(),
        start.elapsed().as_secs_f64(),
        if proof.is_some() { Verdict::Win } else { s.verdict() },
    ))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let secs: f64 = args[2].parse().unwrap();
    let attack = if args[3] == "checks" { Attack::Checks } else { Attack::All };
    let verbose = args.len() > 4;
    let (mut n, mut ok, mut pos, mut time) = (0, 0, 0, 0.0);
    let mut by: std::collections::BTreeMap<i32, (u32, u32)> = Default::default();
    for line in std::fs::read_to_string(&args[1]).unwrap().lines() {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let f: Vec<&str> = line.split_whitespace().collect();
        let get = |name: &str| f.iter().position(|x| *x == name).map(|i| f[i + 1].trim_end_matches(';'));
        let dm: i32 = get("dm").map_or(0, |x| x.parse().unwrap());
        let fen =
            format!("{} {} {}", f[..4].join(" "), get("hmvc").unwrap_or("0"), get("fmvn").unwrap_or("1"));
        let zh = f[0].contains('[');
        let r = if zh {
            run::<shakmaty::variant::Crazyhouse>(
                Variant::Crazyhouse,
                &fen,
                u64::MAX / 2,
                secs,
                attack,
                dm < 0,
            )
        } else {
            run::<shakmaty::Chess>(Variant::Chess, &fen, u64::MAX / 2, secs, attack, dm < 0)
        };
        let Some((plies, positions, t, v)) = r else {
            println!("bad {fen}");
            continue;
        };
        n += 1;
        pos += positions;
        time += t;
        let e = by.entry(dm).or_default();
        e.0 += 1;
        if v == Verdict::Win {
            ok += 1;
            e.1 += 1
        }
        if verbose {
            println!("{dm} plies {plies} {positions} {t:.3} {v:?} {fen}");
        }
    }
    println!(
        "{ok} of {n}; {positions} positions {rate:.0}/s {time:.1} s",
        positions = pos,
        rate = pos as f64 / time
    );
    println!("{by:?}");
}
