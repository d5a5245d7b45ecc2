use anabranch_core::chess::Variant;
use anabranch_core::session::open;
use anabranch_core::settings::{Settings, Value};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let variant = Variant::parse(&args[1]).unwrap().0;
    let mut settings = Settings::preset(&args[2]).unwrap();
    let sims: u64 = args[3].parse().unwrap();
    let fen = if args[4] == "-" { None } else { Some(args[4].as_str()) };
    for kv in &args[5..] {
        let (k, v) = kv.split_once('=').unwrap();
        settings.set(k, &Value::Text(v.into())).unwrap();
    }
    let mut s = open(variant, false, settings, false).unwrap();
    s.set_position(fen, &[]).unwrap();
    let m = s.bench().measure(sims).unwrap();
    let r = s.report(2, true);
    let st = r.statistics;
    println!("best {:?} value {:.4} lines {:?}", r.best_move, r.value, r.lines.first().map(|l| l.moves.join(" ")));
    println!(
        "{:.0} sims/s, search {:?} rules {:?} eval {:?} ratio {:.2} evals {} depth {:.1} nodes {} bytes/node {:.0} (reserved {:.0}) links {} corr {} leak {:.4} {:.4} stops {} coll {} relist {} marks {} solved {:?}",
        m.simulations as f64 / m.search.as_secs_f64(),
        m.search,
        m.rules,
        m.evaluator,
        m.search.as_secs_f64() / m.rules.as_secs_f64(),
        m.evaluations,
        m.edges as f64 / m.simulations as f64,
        st.nodes,
        st.bytes as f64 / st.nodes as f64,
        st.reserved_bytes as f64 / st.nodes as f64,
        st.counters.transposition_links,
        st.counters.corrections,
        st.leak,
        st.node_leak,
        st.counters.stops,
        st.counters.collisions,
        st.counters.relistings,
        s.in_flight_marks(),
        r.solved
    );
}
