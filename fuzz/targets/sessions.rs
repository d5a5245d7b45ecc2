//! One session for each variant, made once: making one takes longer than an input.

use std::cell::RefCell;

use anabranch_core::games::chess::Variant;
use anabranch_core::run::any::{AnySession, open};
use anabranch_core::run::session::Source;
use anabranch_core::settings::Settings;

thread_local! {
    static SESSIONS: RefCell<Vec<AnySession>> = RefCell::new(make());
}

fn make() -> Vec<AnySession> {
    let start = |variant, chess960| {
        open(Variant::name(variant), chess960, Settings::default(), Source::BuiltIn).expect("a session starts")
    };
    let mut sessions: Vec<_> = Variant::ALL.into_iter().map(|variant| start(variant, false)).collect();
    sessions.push(start(Variant::Chess, true));
    sessions
}

/// Does something with the session that a byte chooses.
pub fn with(choice: u8, act: impl FnOnce(&mut AnySession)) {
    SESSIONS.with_borrow_mut(|sessions| {
        let chosen = usize::from(choice) % sessions.len();
        act(&mut sessions[chosen]);
    });
}
