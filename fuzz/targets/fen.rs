//! Positions: the first byte chooses the variant, the rest is a FEN. What is accepted is written and read
//! again, and searched for a moment.

#![no_main]

mod sessions;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anabranch_core::run::drive::Limits;
use anabranch_core::with_session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    sessions::with(choice, |any| {
        with_session!(any, session => {
            if session.set_position(Some(text), &[]).is_err() {
                return;
            }
            let fen = session.fen();
            session.set_position(Some(&fen), &[]).expect("a written FEN is read");
            assert_eq!(session.fen(), fen);
            if session.ending().is_none() {
                let mut limits = Limits::default();
                limits.budget.simulations = Some(8);
                session
                    .run(limits, &[], &Arc::new(AtomicBool::new(false)), None)
                    .expect("a position is searched");
            }
            session.forget();
        })
    });
});
