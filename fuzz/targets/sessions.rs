//! One session for each variant and game, made once: making one takes longer than an input.

use std::cell::RefCell;

use anabranch_core::games::chess::Variant;
use anabranch_core::games::grid::catalogue::GAMES;
use anabranch_core::run::any::{AnySession, open};
use anabranch_core::run::session::Source;
use anabranch_core::settings::{BuiltIn, Settings};

thread_local! {
    static SESSIONS: RefCell<Vec<AnySession>> = RefCell::new(make());
}

fn make() -> Vec<AnySession> {
    let start = |name: &str, chess960| {
        let is_grid = GAMES.iter().any(|game| game.name == name);
        let evaluator = if is_grid { BuiltIn::Uniform } else { BuiltIn::Material };
        let settings = Settings { evaluator, ..Settings::default() };
        open(name, chess960, settings, Source::BuiltIn).expect("a session starts")
    };
    let variants = Variant::ALL.into_iter().map(Variant::name);
    let games = GAMES.iter().map(|game| game.name);
    let mut sessions: Vec<_> = variants.chain(games).map(|name| start(name, false)).collect();
    sessions.push(start("chess", true));
    sessions
}

/// Does something with the session that a byte chooses.
pub fn with(choice: u8, act: impl FnOnce(&mut AnySession)) {
    SESSIONS.with_borrow_mut(|sessions| {
        let chosen = usize::from(choice) % sessions.len();
        act(&mut sessions[chosen]);
    });
}
