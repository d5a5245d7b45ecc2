//! A session: one search with its threads, evaluator, network and tablebases, on games of one kind.
//!
//! Texts come in (positions, moves), reports go out. Its searches are in `searches`, its file in `file`.

mod file;
mod searches;
mod solve;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use file::saved_variant;
pub(crate) use searches::panic_message;
pub use solve::{SolveLimits, SolveReport};

use super::drive::Limits;
use super::errors::SessionError;
use super::external::External;
use super::kind::{Kind, divide, perft};
use super::pool::Pool;
use crate::evaluators::Evaluator;
use crate::game::MoveCode;
use crate::games::chess::Tablebases;
use crate::network::Network;
use crate::oracle::Oracle;
use crate::report::{EdgeExport, Meters, NodeExport, Part, Report};
use crate::search::Search;
use crate::search::root_moves::RootMoves;
use crate::settings::{BuiltIn, Settings};

/// Where evaluations come from, apart from what the settings name.
#[derive(Clone, Debug, Default)]
pub enum Source {
    /// The built-in evaluator of the settings.
    #[default]
    BuiltIn,
    /// A network in the core.
    Network(Arc<Network>),
    /// Outside.
    External,
}

impl Source {
    /// The source that a flag and a network name.
    pub fn new(external: bool, network: Option<Arc<Network>>) -> Source {
        match network {
            _ if external => Source::External,
            Some(network) => Source::Network(network),
            None => Source::BuiltIn,
        }
    }
}

/// The evaluator of a search, if it is in the core; and its network, if it is one.
type Evaluation<G> = (Option<Arc<dyn Evaluator<G>>>, Option<Arc<Network>>);

/// A search on games of one kind. One thread at a time uses it; the stop flag may be set from any.
pub struct Session<G: Kind> {
    which: G::Which,
    search: Search<G>,
    pool: Option<Pool<G>>,
    external: External<G>,
    network: Option<Arc<Network>>,
    /// The hash of the network that made the graph, while it is missing.
    missing_network: Option<String>,
    tablebases: Option<Arc<Tablebases>>,
}

impl<G: Kind> Session<G> {
    /// A session at the start of a game.
    pub(super) fn new(which: G::Which, mut settings: Settings, source: Source) -> Result<Self, SessionError> {
        let origin = G::start(&which)?;
        let (evaluator, network) = Self::evaluator(&which, &mut settings, source)?;
        let search = Search::new(settings, evaluator, origin, &[]);
        Ok(Session {
            which,
            search,
            pool: None,
            external: External::new(Limits::default()),
            network,
            missing_network: None,
            tablebases: None,
        })
    }

    /// A new session like this one at the start of its game, with other settings.
    pub(super) fn sibling(&self, settings: Settings) -> Result<Self, SessionError> {
        let mut new = Session::new(G::apart(&self.which), settings, self.source())?;
        new.set_tablebases(self.tablebases());
        Ok(new)
    }

    /// The evaluator of settings and source. A network changes the setting to `network`.
    fn evaluator(
        which: &G::Which,
        settings: &mut Settings,
        source: Source,
    ) -> Result<Evaluation<G>, SessionError> {
        match source {
            Source::External => Ok((None, None)),
            Source::Network(network) => {
                let evaluator = G::network(which, &network)?;
                settings.evaluator = BuiltIn::Network;
                Ok((Some(evaluator), Some(network)))
            }
            Source::BuiltIn => Ok((Some(G::built_in(settings)?), None)),
        }
    }

    /// The tablebases for the search, if they hold tables of this game.
    fn oracle(&self) -> Option<Arc<dyn Oracle<G>>> {
        G::oracle(&self.which, self.tablebases.clone()?)
    }

    /// The hash of the network that made the graph, if one did.
    fn network_hash(&self) -> Option<&str> {
        self.network.as_ref().map(|network| network.sha256()).or(self.missing_network.as_deref())
    }

    fn read_position(
        &self,
        text: Option<&str>,
        moves: &[String],
    ) -> Result<(G, Vec<MoveCode>), SessionError> {
        let origin = match text {
            Some(text) => G::read(&self.which, text)?,
            None => G::start(&self.which)?,
        };
        let mut board = origin.clone();
        let mut played = Vec::with_capacity(moves.len());
        for text in moves {
            let mv = board.parse_move(&self.which, text)?;
            board.play(mv);
            played.push(mv);
        }
        Ok((origin, played))
    }

    /// The name of the game.
    pub fn name(&self) -> &str {
        G::name(&self.which)
    }

    /// The layout of planes of that name; the usual one without a name.
    pub fn planes(&self, name: Option<&str>) -> Result<G::Planes, SessionError> {
        G::planes(&self.which, name)
    }

    /// Whether castling is written as the king takes the rook.
    pub fn is_chess960(&self) -> bool {
        G::is_chess960(&self.which)
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        self.search.settings()
    }

    /// Takes new settings; the graph is kept where it still means the same.
    pub fn configure(&mut self, mut settings: Settings, source: Source) -> Result<(), SessionError> {
        let (evaluator, network) = Self::evaluator(&self.which, &mut settings, source)?;
        self.abandon();
        let is_other = self.network_hash() != network.as_ref().map(|network| network.sha256());
        self.network = network;
        self.missing_network = None;
        self.search.configure(settings, evaluator);
        if is_other {
            self.forget();
        }
        Ok(())
    }

    /// Another weight of the noise, without the cost of `configure`: noise is added to the root when the next
    /// search begins, once for each root.
    pub fn set_noise(&mut self, share: f64) {
        self.search.set_noise(share);
    }

    /// Whether evaluations come from outside.
    pub fn is_external(&self) -> bool {
        self.search.evaluator.is_none()
    }

    /// Where evaluations come from.
    pub fn source(&self) -> Source {
        Source::new(self.is_external(), self.network.clone())
    }

    /// Takes tablebases, or leaves them aside. The graph is kept where the tables are the same, or none are
    /// made for the variant.
    pub fn set_tablebases(&mut self, tablebases: Option<Arc<Tablebases>>) {
        self.abandon();
        let (had, tables) = (self.search.oracle.is_some(), tablebases.as_deref());
        let is_same = self.tablebases.as_deref().zip(tables).is_some_and(|(old, new)| old.is_same(new));
        self.tablebases = tablebases;
        let oracle = self.oracle();
        if is_same || (!had && oracle.is_none()) {
            self.search.oracle = oracle;
        } else {
            self.search.set_oracle(oracle);
        }
    }

    /// The tablebases.
    pub fn tablebases(&self) -> Option<Arc<Tablebases>> {
        self.tablebases.clone()
    }

    /// Moves to a position: a FEN (the start of the game without one) and moves in UCI or SAN. Keeps the
    /// graph where the game continues. Returns whether it did.
    pub fn set_position(&mut self, fen: Option<&str>, moves: &[String]) -> Result<bool, SessionError> {
        self.abandon();
        let (origin, played) = self.read_position(fen, moves)?;
        self.search.set_root_moves(RootMoves::default());
        Ok(self.search.move_to(origin, &played))
    }

    /// Moves to a position as `set_position` does, and searches there as a new session would.
    pub fn start_at(&mut self, fen: Option<&str>, moves: &[String]) -> Result<(), SessionError> {
        self.abandon();
        let (origin, played) = self.read_position(fen, moves)?;
        self.search.set_root_moves(RootMoves::default());
        self.search.renew(origin, &played);
        Ok(())
    }

    /// Plays a move on the present position. Returns whether the graph below it was kept.
    pub fn play(&mut self, mv: &str) -> Result<bool, SessionError> {
        self.abandon();
        if self.search.is_over() {
            return Err(SessionError::Over(self.fen()));
        }
        let mv = self.search.position().parse_move(&self.which, mv)?;
        let mut played = self.search.played.clone();
        played.push(mv);
        self.search.set_root_moves(RootMoves::default());
        Ok(self.search.move_to(self.search.origin.clone(), &played))
    }

    /// Frees what the position does not reach any more, unless a stop comes first; the next search does the
    /// rest.
    pub fn tidy(&mut self, stop: &AtomicBool) {
        self.search.tidy(stop);
    }

    /// Forgets the graph, not the position.
    pub fn forget(&mut self) {
        self.abandon();
        self.search.set_root_moves(RootMoves::default());
        self.search.start_over();
    }

    /// The position at the root (FEN).
    pub fn fen(&self) -> String {
        self.search.position().text()
    }

    /// Who moves at the root: 0 for the first player, White in chess.
    pub fn player(&self) -> u8 {
        self.search.position().player()
    }

    /// The position where the game began (FEN), and the moves since (UCI).
    pub fn game(&self) -> (String, Vec<String>) {
        let mut board = self.search.origin.clone();
        let mut texts = Vec::new();
        for &mv in &self.search.played {
            texts.push(board.move_text(mv));
            board.play(mv);
        }
        (self.search.origin.text(), texts)
    }

    /// The legal moves at the root (UCI).
    pub fn legal_moves(&self) -> Vec<String> {
        if self.search.is_over() {
            return Vec::new();
        }
        let mut moves = Vec::new();
        self.search.position().legal_moves(&mut moves);
        moves.into_iter().map(|mv| self.search.position().move_text(mv)).collect()
    }

    /// The legal moves at the root with their places in the policy.
    pub fn places(&self) -> Vec<(String, usize)> {
        let (position, mut moves) = (self.search.position(), Vec::new());
        if !self.search.is_over() {
            position.legal_moves(&mut moves);
        }
        moves.into_iter().map(|mv| (position.move_text(mv), position.policy_index(mv))).collect()
    }

    /// How the game ended at the root by the rules of the position, if it did: the value for the side to
    /// move.
    pub fn ending(&self) -> Option<f64> {
        self.search.is_over().then(|| self.search.graph().node(self.search.root()).value)
    }

    /// The move that would be played now (UCI), if anything is known.
    pub fn best_move(&self) -> Option<String> {
        self.search.best_code().map(|mv| self.search.position().move_text(mv))
    }

    /// Shape of the network's input and output: planes, rows, columns; size of the policy.
    pub fn shape(&self, planes: G::Planes) -> ([usize; 3], usize) {
        (self.search.position().shape(planes), self.search.position().policy_size_of(planes))
    }

    /// The board in lines of text.
    pub fn picture(&self) -> String {
        self.search.position().picture()
    }

    /// Win, draw and loss as the network of the core sees the root; `None` without one.
    pub fn raw_chances(&self) -> Option<[f32; 3]> {
        let opinion = self.network.as_ref()?.evaluate(&self.fen()).ok()?;
        Some(opinion.chances)
    }

    /// The result so far.
    pub fn report(&self, lines: usize, meters: Meters) -> Report {
        self.search.report(lines, meters)
    }

    /// A part of the graph.
    pub fn export(&self, part: &Part) -> (Vec<NodeExport>, Vec<EdgeExport>) {
        self.search.export(part)
    }

    /// Number of in-flight marks anywhere in the graph: zero when nothing is in flight.
    pub fn in_flight_marks(&self) -> u64 {
        self.search.in_flight_marks()
    }

    /// Number of move sequences of the given length from the root, in all and per first move.
    pub fn perft(&self, depth: u32) -> (u64, Vec<(String, u64)>) {
        let board = self.search.position();
        if depth == 0 {
            return (perft(board, 0), Vec::new());
        }
        let parts: Vec<(String, u64)> =
            divide(board, depth).into_iter().map(|(mv, count)| (board.move_text(mv), count)).collect();
        (parts.iter().map(|(_, count)| count).sum(), parts)
    }
}
