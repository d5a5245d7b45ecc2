//! A session on any variant: one of three kinds of boards, chosen when it is opened.
//!
//! [`with_session!`](crate::with_session) calls a method of whichever it is, so that no second list
//! of the methods of [`Session`] is needed.

use shakmaty::Chess;
use shakmaty::variant::{Crazyhouse, VariantPosition};

use super::errors::SessionError;
use super::session::{Session, Source};
use crate::games::chess::Variant;
use crate::settings::Settings;

/// A session on boards of some kind.
pub enum AnySession {
    /// Chess and Chess960.
    Chess(Box<Session<Chess>>),
    /// Crazyhouse.
    Crazyhouse(Box<Session<Crazyhouse>>),
    /// The other variants.
    Other(Box<Session<VariantPosition>>),
}

/// Evaluates an expression with the [`Session`] of an [`AnySession`].
#[macro_export]
macro_rules! with_session {
    ($any:expr, $session:ident => $result:expr) => {
        match $any {
            $crate::run::any::AnySession::Chess($session) => $result,
            $crate::run::any::AnySession::Crazyhouse($session) => $result,
            $crate::run::any::AnySession::Other($session) => $result,
        }
    };
}

pub(crate) use with_session;

impl AnySession {
    /// A new session like this one at the start of a game: its variant, evaluator and tablebases, with other
    /// settings.
    pub fn sibling(&self, settings: Settings) -> Result<AnySession, SessionError> {
        with_session!(self, session => {
            let mut new = open(session.variant(), session.is_chess960(), settings, session.source())?;
            let tablebases = session.tablebases();
            with_session!(&mut new, session => session.set_tablebases(tablebases));
            Ok(new)
        })
    }
}

/// A new session at the start of a game.
pub fn open(
    variant: Variant,
    chess960: bool,
    settings: Settings,
    source: Source,
) -> Result<AnySession, SessionError> {
    macro_rules! session {
        () => {
            Box::new(Session::new(variant, chess960, settings, source)?)
        };
    }
    Ok(match variant {
        Variant::Chess => AnySession::Chess(session!()),
        Variant::Crazyhouse => AnySession::Crazyhouse(session!()),
        _ => AnySession::Other(session!()),
    })
}
