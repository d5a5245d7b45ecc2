//! Saved graphs: the input is what stands between the first bytes of a file and its checksum. What is
//! accepted is searched for a moment, reported and saved.

#![no_main]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anabranch_core::report::Meters;
use anabranch_core::run::any::open;
use anabranch_core::run::drive::Limits;
use anabranch_core::run::session::{Source, saved_variant};
use anabranch_core::settings::{BuiltIn, Settings};
use anabranch_core::with_session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut bytes = b"ANABRCH\x01".to_vec();
    bytes.extend(data);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    let file = std::env::temp_dir().join(format!("anabranch-fuzz-{}.graph", std::process::id()));
    fs::write(&file, bytes).expect("a temporary file is written");
    if let Ok((variant, chess960)) = saved_variant(&file) {
        let settings = Settings { evaluator: BuiltIn::Uniform, ..Settings::default() };
        let Ok(mut any) = open(&variant, chess960, settings, Source::BuiltIn) else { return };
        with_session!(&mut any, session => if let Ok(None) = session.load(&file, None) {
            let mut limits = Limits::default();
            limits.budget.simulations = Some(16);
            let _ = session.run(limits, &[], &Arc::new(AtomicBool::new(false)), None);
            session.report(3, Meters::Whole);
            session.save(&file).expect("a graph is saved");
        });
    }
    fs::remove_file(&file).expect("a temporary file is removed");
});
