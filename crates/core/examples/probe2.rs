use anabranch_core::chess::Variant;
use anabranch_core::drive::Limits;
use anabranch_core::session::open;
use anabranch_core::settings::{Settings, Value};
use std::sync::{Arc, atomic::AtomicBool};
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
    let mut limits = Limits::default();
    limits.budget.simulations = Some(sims);
    for _ in 0..1 {
        s.forget();
        let t = std::time::Instant::now();
        s.run(limits, &Arc::new(AtomicBool::new(false)), None, &mut |_| {}).unwrap();
        println!("{:?}", t.elapsed());
    }
}
