//! A session on any game: one of four kinds of positions, chosen when it is opened.
//!
//! [`with_session!`](crate::with_session) calls a method of whichever it is, so that no second list
//! of the methods of [`Session`] is needed.

use super::errors::SessionError;
use super::kind::ChessVariant;
use super::session::{Session, Source};
use crate::games::chess::{ChessBoard, CrazyhouseBoard, Variant, VariantBoard};
use crate::games::grid::catalogue::{GAMES, Named};
use crate::games::grid::{GridError, GridGame};
use crate::settings::Settings;

/// A session on games of some kind.
pub enum AnySession {
    /// Chess and Chess960.
    Chess(Box<Session<ChessBoard>>),
    /// Crazyhouse.
    Crazyhouse(Box<Session<CrazyhouseBoard>>),
    /// The other variants.
    Other(Box<Session<VariantBoard>>),
    /// Games on a grid.
    Grid(Box<Session<GridGame>>),
}

/// Evaluates an expression with the [`Session`] of an [`AnySession`].
#[macro_export]
macro_rules! with_session {
    ($any:expr, $session:ident => $result:expr) => {
        match $any {
            $crate::run::any::AnySession::Chess($session) => $result,
            $crate::run::any::AnySession::Crazyhouse($session) => $result,
            $crate::run::any::AnySession::Other($session) => $result,
            $crate::run::any::AnySession::Grid($session) => $result,
        }
    };
}

pub(crate) use with_session;

impl AnySession {
    /// A new session like this one at the start of its game: the same evaluator and tablebases, with other
    /// settings.
    pub fn sibling(&self, settings: Settings) -> Result<AnySession, SessionError> {
        Ok(match self {
            AnySession::Chess(session) => AnySession::Chess(Box::new(session.sibling(settings)?)),
            AnySession::Crazyhouse(session) => AnySession::Crazyhouse(Box::new(session.sibling(settings)?)),
            AnySession::Other(session) => AnySession::Other(Box::new(session.sibling(settings)?)),
            AnySession::Grid(session) => AnySession::Grid(Box::new(session.sibling(settings)?)),
        })
    }
}

/// A new session of a game that is written elsewhere.
pub fn open_named(named: Named, settings: Settings, source: Source) -> Result<AnySession, SessionError> {
    Ok(AnySession::Grid(Box::new(Session::new(named, settings, source)?)))
}

/// A new session at the start of a game: a variant of chess, or a game on a grid with its parameters.
pub fn open(
    name: &str,
    chess960: bool,
    settings: Settings,
    source: Source,
) -> Result<AnySession, SessionError> {
    let (variant, named960) = match Variant::parse(name) {
        Ok(found) => found,
        Err(unknown) => {
            let named = Named::parse(name).map_err(|error| match error {
                GridError::NoGame(_) => {
                    let games: Vec<&str> = GAMES.iter().map(|entry| entry.name).collect();
                    SessionError::UnknownGame(format!("{unknown} Other games are {}.", games.join(", ")))
                }
                other => other.into(),
            })?;
            if chess960 {
                return Err(GridError::Game(format!("{} has no castling of Chess960", named.name)).into());
            }
            return Ok(AnySession::Grid(Box::new(Session::new(named, settings, source)?)));
        }
    };
    let which = ChessVariant { variant, chess960: chess960 || named960 };
    macro_rules! session {
        () => {
            Box::new(Session::new(which, settings, source)?)
        };
    }
    Ok(match variant {
        Variant::Chess => AnySession::Chess(session!()),
        Variant::Crazyhouse => AnySession::Crazyhouse(session!()),
        _ => AnySession::Other(session!()),
    })
}
