//! A search on any variant behind one object-safe trait: what the Python binding talks to.
//!
//! Texts come in (FEN, moves), reports go out. Everything that depends on the kind of position is hidden
//! here; nothing here knows Python.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shakmaty::Chess;
use shakmaty::variant::{Crazyhouse, VariantPosition};
use thiserror::Error;

use crate::evaluators;
use crate::game::{Game, MoveCode};
use crate::games::chess::planes::Version;
use crate::games::chess::{Board, FenError, MoveError, Rules, Tablebases, Variant, divide, perft};
use crate::graph::prior::{Weights, rank};
use crate::network::Network;
use crate::oracle::Oracle;
use crate::report::progress::News;
use crate::report::{EdgeExport, Meters, NodeExport, Part, Report};
use crate::run::drive::{Course, Finish, Limits, has_mate, run};
use crate::run::pool::Pool;
use crate::run::save::{self, SaveError};
use crate::search::proof::Standing;
use crate::search::root_moves::Allowed;
use crate::search::{Batch, Evaluated, Search};
use crate::settings::{BuiltIn, Settings, Value};

/// Why a session refused.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The position cannot be read or is against the rules.
    #[error("{0}")]
    Position(#[from] FenError),
    /// A move cannot be read or is illegal.
    #[error("{0}")]
    Move(#[from] MoveError),
    /// The game is over at the root.
    #[error("the game is already over in this position ({0})")]
    Over(String),
    /// The evaluator's results do not fit.
    #[error("{0}")]
    Evaluation(String),
    /// A file could not be written or read.
    #[error("{0}")]
    File(#[from] SaveError),
    /// The network plays another variant.
    #[error("the network {network} plays {plays}, and this session plays {variant}")]
    WrongNetwork {
        /// Where the network comes from.
        network: String,
        /// What it plays.
        plays: Variant,
        /// What the session plays.
        variant: Variant,
    },
    /// The setting asks for a network and there is none.
    #[error("the evaluator 'network' needs a network: give the path of its file")]
    NoNetwork,
    /// The call does not fit the state of the session.
    #[error("{0}")]
    State(&'static str),
    /// The search or its evaluator panicked; the session has a new graph and can go on.
    #[error("the search failed by a fault of its own, and its graph was dropped: it panicked ({0})")]
    Fault(String),
}

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
    /// What a caller means who may name a network.
    pub fn new(external: bool, network: Option<Arc<Network>>) -> Source {
        match network {
            _ if external => Source::External,
            Some(network) => Source::Network(network),
            None => Source::BuiltIn,
        }
    }
}

/// Who hears of a search on the way.
pub struct Told<'a> {
    /// Longest time between two reports.
    pub interval: Duration,
    /// Most principal variations in a report.
    pub lines: usize,
    /// Takes a report, or says that it cannot take one at the moment.
    pub tell: &'a mut dyn FnMut(Report) -> bool,
}

/// What a collection for an outside evaluator left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Leaves to evaluate.
    pub size: usize,
    /// Whether the oldest batch in flight must be applied before the next collection.
    pub must_apply: bool,
}

/// What one benchmark run measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Time of the search.
    pub search: Duration,
    /// Time of the rules alone on the same trajectories: play the moves, key, legal moves at the end.
    pub rules: Duration,
    /// Time of the evaluator alone on the same leaves, with softmax and sorting.
    pub evaluator: Duration,
    /// Simulations.
    pub simulations: u64,
    /// Evaluations.
    pub evaluations: u64,
    /// Edges walked.
    pub edges: u64,
}

/// Benchmarks of a session.
pub trait Bench {
    /// Runs `simulations` from the present position on a new graph, then replays its trajectories with rules
    /// alone, and its leaves with the evaluator alone.
    fn measure(&mut self, simulations: u64) -> Result<Measured, SessionError>;
    /// Runs the Rust loop with planes filled for every leaf, as an outside evaluator would want them, but
    /// values and logits zero. Returns time and simulations.
    fn measure_planes(&mut self, simulations: u64) -> Result<(Duration, u64), SessionError>;
}

/// A search on one variant. One thread at a time uses it; the stop flag may be set from any.
pub trait Session: Send {
    /// The variant.
    fn variant(&self) -> Variant;
    /// Whether castling is written as the king takes the rook.
    fn is_chess960(&self) -> bool;
    /// The settings in force.
    fn settings(&self) -> &Settings;
    /// Takes new settings; the graph is kept where it still means the same.
    fn configure(&mut self, settings: Settings, source: Source) -> Result<(), SessionError>;
    /// Whether evaluations come from outside.
    fn is_external(&self) -> bool;
    /// Where evaluations come from.
    fn source(&self) -> Source;
    /// Takes tablebases, or leaves them aside. The graph is kept where the tables are the same, or none are
    /// made for the variant.
    fn set_tablebases(&mut self, tablebases: Option<Arc<Tablebases>>);
    /// The tablebases.
    fn tablebases(&self) -> Option<Arc<Tablebases>>;
    /// Moves to a position: a FEN (the start of the game without one) and moves in UCI or SAN. Keeps the
    /// graph where the game goes on; whether it did.
    fn set_position(&mut self, fen: Option<&str>, moves: &[String]) -> Result<bool, SessionError>;
    /// Plays a move on the present position; whether the graph below it was kept.
    fn play(&mut self, mv: &str) -> Result<bool, SessionError>;
    /// Frees what the position does not reach any more, unless a stop comes first; the next search does the
    /// rest.
    fn tidy(&mut self, stop: &AtomicBool);
    /// Forgets the graph, not the position.
    fn forget(&mut self);
    /// The position at the root (FEN).
    fn fen(&self) -> String;
    /// The position where the game began (FEN), and the moves since (UCI).
    fn game(&self) -> (String, Vec<String>);
    /// The legal moves at the root (UCI).
    fn legal_moves(&self) -> Vec<String>;
    /// How the game ended at the root by the rules of the position, if it did: the value for the side to
    /// move.
    fn ending(&self) -> Option<f64>;
    /// Runs the Rust loop on some of the root's moves, or on all if none are given. `told` says who hears of
    /// it on the way.
    fn run(
        &mut self,
        limits: Limits,
        root_moves: &[String],
        stop: &Arc<AtomicBool>,
        told: Option<Told<'_>>,
    ) -> Result<Finish, SessionError>;
    /// Starts a search with an outside evaluator, on some of the root's moves, or on all if none are given.
    fn begin(&mut self, limits: Limits, root_moves: &[String]) -> Result<(), SessionError>;
    /// The move that would be played now (UCI), if anything is known.
    fn best_move(&self) -> Option<String>;
    /// Why the search should end now, if it should.
    fn finish(&self, stop: &AtomicBool) -> Option<Finish>;
    /// Collects the next batch, and writes its planes into `planes` where given (as many leaves as fit in it
    /// at most: batch size).
    fn collect(
        &mut self,
        stop: &AtomicBool,
        planes: Option<(&mut [f32], Version)>,
    ) -> Result<Collected, SessionError>;
    /// The positions (FEN) of the newest batch, and for each the legal moves (UCI) with their policy indices.
    fn newest_leaves(&self) -> Vec<(String, Vec<(String, usize)>)>;
    /// Applies results to the oldest batch in flight: one value per leaf, and `policy_size` logits per leaf.
    fn apply(&mut self, values: &[f32], logits: &[f32]) -> Result<(), SessionError>;
    /// Takes back the marks of all batches in flight.
    fn abandon(&mut self);
    /// Number of batches in flight.
    fn in_flight(&self) -> usize;
    /// Ends a search with an outside evaluator: looks for a shorter proof if asked to.
    fn conclude(&mut self, stop: &AtomicBool);
    /// Shape of the network's input and output: planes, size of the policy.
    fn shape(&self, version: Version) -> (usize, usize);
    /// The result so far.
    fn report(&self, lines: usize, meters: Meters) -> Report;
    /// A part of the graph.
    fn export(&self, part: &Part) -> (Vec<NodeExport>, Vec<EdgeExport>);
    /// Number of in-flight marks anywhere in the graph: zero when nothing is in flight.
    fn in_flight_marks(&self) -> u64;
    /// Number of move sequences of the given length from the root, in all and per first move.
    fn perft(&self, depth: u32) -> (u64, Vec<(String, u64)>);
    /// Writes the graph to a file.
    fn save(&self, file: &FilePath) -> Result<(), SessionError>;
    /// Replaces position and graph by those of a file of the same variant, with its settings. A graph that a
    /// network made can be looked at by anybody, but searched on only with that network: the hash of the
    /// network that is missing, if it is not the one given.
    fn load(
        &mut self,
        file: &FilePath,
        network: Option<Arc<Network>>,
    ) -> Result<Option<String>, SessionError>;
    /// For benchmarks: replays the trajectories of simulations with rules alone and the Rust loop with
    /// planes.
    fn bench(&mut self) -> &mut dyn Bench;
}

/// A new session at the start of a game.
pub fn open(
    variant: Variant,
    chess960: bool,
    settings: Settings,
    source: Source,
) -> Result<Box<dyn Session>, SessionError> {
    Ok(match variant {
        Variant::Chess => Box::new(BoardSession::<Chess>::new(variant, chess960, settings, source)?),
        Variant::Crazyhouse => {
            Box::new(BoardSession::<Crazyhouse>::new(variant, chess960, settings, source)?)
        }
        _ => Box::new(BoardSession::<VariantPosition>::new(variant, chess960, settings, source)?),
    })
}

/// The header of a saved graph: which session can load it.
pub fn saved_variant(file: &FilePath) -> Result<(Variant, bool), SessionError> {
    let (header, _) = save::open(file)?;
    let get = |name: &str| header.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let (variant, _) = get("variant")
        .and_then(|name| Variant::parse(name).ok())
        .ok_or(SaveError::Damaged("it names no known variant"))?;
    Ok((variant, get("chess960") == Some("true")))
}

/// The session of boards of one kind.
pub struct BoardSession<P: Rules> {
    pub(crate) variant: Variant,
    chess960: bool,
    pub(crate) search: Search<Board<P>>,
    pub(crate) pool: Option<Pool<Board<P>>>,
    queue: VecDeque<Batch<Board<P>>>,
    course: Course,
    network: Option<Arc<Network>>,
    /// The hash of the network that made the graph, while it is not at hand.
    missing_network: Option<String>,
    tablebases: Option<Arc<Tablebases>>,
}

/// The words of a panic.
fn words_of(payload: &(dyn Any + Send)) -> String {
    let words = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    words.unwrap_or("without words").to_owned()
}

type AnyEvaluator<P> = Arc<dyn crate::evaluators::Evaluator<Board<P>>>;
/// The evaluator of a search, if it is in the core; and its network, if it is one.
type Judges<P> = (Option<AnyEvaluator<P>>, Option<Arc<Network>>);

fn start<P: Rules>(variant: Variant, chess960: bool) -> Result<Board<P>, SessionError> {
    let board =
        Board::<P>::start(variant).ok_or(SessionError::State("this session does not play that variant"))?;
    if chess960 { Ok(Board::from_fen(variant, &board.fen(), true)?) } else { Ok(board) }
}

impl<P: Rules> BoardSession<P> {
    fn new(
        variant: Variant,
        chess960: bool,
        mut settings: Settings,
        source: Source,
    ) -> Result<Self, SessionError> {
        let origin = start(variant, chess960)?;
        let (evaluator, network) = Self::evaluator(variant, &mut settings, source)?;
        let search = Search::new(settings, evaluator, origin, &[]);
        let course = Course::new(Limits::default());
        let queue = VecDeque::new();
        Ok(BoardSession {
            variant,
            chess960,
            search,
            pool: None,
            queue,
            course,
            network,
            missing_network: None,
            tablebases: None,
        })
    }

    /// The evaluator that settings and source ask for. A network makes the setting say so.
    fn evaluator(
        variant: Variant,
        settings: &mut Settings,
        source: Source,
    ) -> Result<Judges<P>, SessionError> {
        match source {
            Source::External => Ok((None, None)),
            Source::Network(network) if network.variant() != variant => {
                let name = network.path().display().to_string();
                Err(SessionError::WrongNetwork { network: name, plays: network.variant(), variant })
            }
            Source::Network(network) => {
                settings.evaluator = BuiltIn::Network;
                let evaluator: AnyEvaluator<P> = network.clone();
                Ok((Some(evaluator), Some(network)))
            }
            Source::BuiltIn => {
                let evaluator =
                    evaluators::by_name(settings.evaluator.as_str(), settings.hash_cost_us as u32);
                Ok((Some(evaluator.map_err(|_| SessionError::NoNetwork)?), None))
            }
        }
    }

    /// The tablebases as the search sees them, if they hold tables of this variant.
    fn oracle(&self) -> Option<Arc<dyn Oracle<Board<P>>>> {
        let tables = self.tablebases.clone().filter(|tables| tables.men(self.variant) > 0)?;
        Some(tables)
    }

    /// The hash of the network that made the graph, if one did.
    fn network_hash(&self) -> Option<&str> {
        self.network.as_ref().map(|network| network.sha256()).or(self.missing_network.as_deref())
    }

    fn read_position(
        &self,
        fen: Option<&str>,
        moves: &[String],
    ) -> Result<(Board<P>, Vec<MoveCode>), SessionError> {
        let origin = match fen {
            Some(text) => Board::from_fen(self.variant, text, self.chess960)?,
            None => start(self.variant, self.chess960)?,
        };
        let mut board = origin.clone();
        let mut played = Vec::with_capacity(moves.len());
        for text in moves {
            let mv = board.parse_move(text)?;
            board.play(mv);
            played.push(mv);
        }
        Ok((origin, played))
    }

    pub(crate) fn ready(&mut self, root_moves: &[String]) -> Result<(), SessionError> {
        if !self.queue.is_empty() {
            return Err(SessionError::State("batches of an earlier search are still in flight"));
        }
        if self.search.is_over() {
            return Err(SessionError::Over(self.fen()));
        }
        let allowed = root_moves
            .iter()
            .map(|text| self.search.position().parse_move(text))
            .collect::<Result<_, _>>()?;
        self.search.confine(Allowed::new(allowed));
        if !self.search.is_on_side() {
            self.restart();
        }
        // A proof from an earlier search may rest on a position that has been repeated since: then the graph
        // has nothing to say here.
        if self.search.standing() == Some(Standing::Breaks) {
            self.search.doubt();
        }
        self.search.reset_counters();
        let threads = self.search.settings().threads as usize;
        if self.pool.as_ref().is_none_or(|pool| pool.threads() != threads) {
            self.pool = Some(Pool::new(threads));
        }
        Ok(())
    }

    /// Takes a new search and new threads in place of those that a panic left in an unknown state.
    fn renew(&mut self) {
        let old = &self.search;
        let mut search =
            Search::new(old.settings.clone(), old.evaluator.clone(), old.origin.clone(), &old.played);
        search.set_oracle(self.oracle());
        self.search = search;
        self.pool = None;
        self.queue.clear();
    }

    fn restart(&mut self) {
        let (origin, played) = (self.search.origin.clone(), self.search.played.clone());
        self.search.restart(origin, &played);
    }

    /// Looks for a shorter proof of a solved root if asked to; the proof in hand is told first, and what was
    /// found afterwards.
    fn improve_if_asked(
        &mut self,
        limits: &Limits,
        begun: Instant,
        stop: &AtomicBool,
        news: Option<&mut News<'_>>,
    ) {
        let misses_mate = limits.mate.is_some_and(|moves| !has_mate(&self.search, moves));
        if !self.search.settings().improve && !misses_mate {
            return;
        }
        let cancelled =
            || stop.load(Ordering::Relaxed) || limits.time.is_some_and(|time| begun.elapsed() >= time);
        let Some(news) = news else { return self.search.improve(&cancelled) };
        news.insist(&self.search, &cancelled);
        let before = self.search.verdict();
        self.search.improve(&cancelled);
        if self.search.verdict() != before {
            news.insist(&self.search, &cancelled);
        }
    }

    fn read_results(&mut self, values: &[f32], logits: &[f32]) -> Result<Vec<Evaluated>, SessionError> {
        let refuse = |text: String| Err(SessionError::Evaluation(text));
        let width = self.search.position().policy_size();
        let Some(batch) = self.queue.front() else {
            return Err(SessionError::State("no batch is in flight"));
        };
        let size = batch.evaluations;
        if values.len() != size || logits.len() != size * width {
            return refuse(format!(
                "the evaluator returned {} values and {} logits for a batch of {size} positions, which needs {size} and {size} x {width}",
                values.len(),
                logits.len()
            ));
        }
        let temperature = self.search.settings().node_temperature;
        let mut results = self.search.result_buffers(size);
        let Some(batch) = self.queue.front() else {
            return Err(SessionError::State("no batch is in flight"));
        };
        let leaves = batch.pending.iter().filter_map(|pending| pending.leaf.as_ref());
        let (mut gathered, mut weights) = (Vec::new(), Weights::default());
        for (i, (leaf, result)) in leaves.zip(&mut results).enumerate() {
            let value = values[i];
            if !value.is_finite() || value.abs() > 1.001 {
                return refuse(format!(
                    "the evaluator returned the value {value} for position {i} of a batch, which is not in [-1, 1]"
                ));
            }
            let row = &logits[i * width..(i + 1) * width];
            gathered.clear();
            gathered.extend(leaf.moves.iter().map(|&mv| row[leaf.game.policy_index(mv)]));
            let largest = gathered.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
            if gathered.iter().any(|logit| logit.is_nan()) || !largest.is_finite() {
                return refuse(format!(
                    "the evaluator returned a logit that is not a number for position {i} of a batch"
                ));
            }
            result.value = value.clamp(-1.0, 1.0);
            rank(&leaf.moves, &gathered, temperature, usize::MAX, &mut result.candidates, &mut weights);
        }
        Ok(results)
    }
}

impl<P: Rules> Session for BoardSession<P> {
    fn variant(&self) -> Variant {
        self.variant
    }

    fn is_chess960(&self) -> bool {
        self.chess960
    }

    fn settings(&self) -> &Settings {
        self.search.settings()
    }

    fn configure(&mut self, mut settings: Settings, source: Source) -> Result<(), SessionError> {
        let (evaluator, network) = Self::evaluator(self.variant, &mut settings, source)?;
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

    fn is_external(&self) -> bool {
        self.search.evaluator.is_none()
    }

    fn source(&self) -> Source {
        Source::new(self.is_external(), self.network.clone())
    }

    fn set_tablebases(&mut self, tablebases: Option<Arc<Tablebases>>) {
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

    fn tablebases(&self) -> Option<Arc<Tablebases>> {
        self.tablebases.clone()
    }

    fn set_position(&mut self, fen: Option<&str>, moves: &[String]) -> Result<bool, SessionError> {
        self.abandon();
        let (origin, played) = self.read_position(fen, moves)?;
        self.search.confine(Allowed::default());
        Ok(self.search.move_to(origin, &played))
    }

    fn play(&mut self, mv: &str) -> Result<bool, SessionError> {
        self.abandon();
        if self.search.is_over() {
            return Err(SessionError::Over(self.fen()));
        }
        let mv = self.search.position().parse_move(mv)?;
        let mut played = self.search.played.clone();
        played.push(mv);
        self.search.confine(Allowed::default());
        Ok(self.search.move_to(self.search.origin.clone(), &played))
    }

    fn tidy(&mut self, stop: &AtomicBool) {
        self.search.tidy(stop);
    }

    fn forget(&mut self) {
        self.abandon();
        self.search.confine(Allowed::default());
        self.restart();
    }

    fn fen(&self) -> String {
        self.search.position().fen()
    }

    fn game(&self) -> (String, Vec<String>) {
        let mut board = self.search.origin.clone();
        let mut texts = Vec::new();
        for &mv in &self.search.played {
            texts.push(board.uci(mv));
            board.play(mv);
        }
        (self.search.origin.fen(), texts)
    }

    fn legal_moves(&self) -> Vec<String> {
        if self.search.is_over() {
            return Vec::new();
        }
        let mut moves = Vec::new();
        self.search.position().legal_moves(&mut moves);
        moves.into_iter().map(|mv| self.search.position().uci(mv)).collect()
    }

    fn ending(&self) -> Option<f64> {
        self.search.is_over().then(|| self.search.graph().node(self.search.root()).value)
    }

    fn run(
        &mut self,
        limits: Limits,
        root_moves: &[String],
        stop: &Arc<AtomicBool>,
        told: Option<Told<'_>>,
    ) -> Result<Finish, SessionError> {
        self.ready(root_moves)?;
        if self.search.evaluator.is_none() {
            return Err(SessionError::State("this session takes its evaluations from outside"));
        }
        let begun = Instant::now();
        let mut news = told.map(|told| News::new(told.interval, told.lines, told.tell));
        // Nothing that a panic may have left half done is used again.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let Some(pool) = self.pool.as_mut() else {
                return Err(SessionError::State("the session has no threads"));
            };
            let finish = run(&mut self.search, pool, limits, stop, &mut |search| {
                if let Some(news) = &mut news {
                    news.look(search);
                }
            });
            if finish == Finish::Solved {
                self.improve_if_asked(&limits, begun, stop, news.as_mut());
            }
            Ok(finish)
        }));
        outcome.unwrap_or_else(|payload| {
            self.renew();
            Err(SessionError::Fault(words_of(&*payload)))
        })
    }

    fn begin(&mut self, limits: Limits, root_moves: &[String]) -> Result<(), SessionError> {
        self.ready(root_moves)?;
        self.course = Course::new(limits);
        Ok(())
    }

    fn best_move(&self) -> Option<String> {
        self.search.best_code().map(|mv| self.search.position().uci(mv))
    }

    fn finish(&self, stop: &AtomicBool) -> Option<Finish> {
        self.course.finish(&self.search, stop)
    }

    fn collect(
        &mut self,
        stop: &AtomicBool,
        planes: Option<(&mut [f32], Version)>,
    ) -> Result<Collected, SessionError> {
        let budget = self.course.limits().budget;
        let batch = self.search.collect(&budget, stop);
        let size = batch.evaluations;
        if let Some((planes, version)) = planes {
            let stride = version.count(self.variant) * 64;
            if planes.len() < size * stride {
                self.search.abandon(batch);
                return Err(SessionError::State("the array for planes is too small for a batch"));
            }
            let leaves = batch.pending.iter().filter_map(|pending| pending.leaf.as_ref());
            for (leaf, out) in leaves.zip(planes.chunks_exact_mut(stride)) {
                version.fill(&leaf.game, &leaf.recent, leaf.repetitions, out);
            }
        }
        let (empty, most) = (batch.pending.is_empty(), batch.most_in_flight);
        if !empty {
            self.queue.push_back(batch);
        }
        Ok(Collected { size, must_apply: self.course.collected(empty, self.queue.len(), most) })
    }

    fn newest_leaves(&self) -> Vec<(String, Vec<(String, usize)>)> {
        let Some(batch) = self.queue.back() else { return Vec::new() };
        let leaves = batch.pending.iter().filter_map(|pending| pending.leaf.as_ref());
        leaves
            .map(|leaf| {
                let moves =
                    leaf.moves.iter().map(|&mv| (leaf.game.uci(mv), leaf.game.policy_index(mv))).collect();
                (leaf.game.fen(), moves)
            })
            .collect()
    }

    fn apply(&mut self, values: &[f32], logits: &[f32]) -> Result<(), SessionError> {
        let mut results = self.read_results(values, logits)?;
        if let Some(batch) = self.queue.pop_front() {
            self.search.apply(batch, &mut results);
        }
        Ok(())
    }

    fn abandon(&mut self) {
        while let Some(batch) = self.queue.pop_front() {
            self.search.abandon(batch);
        }
    }

    fn in_flight(&self) -> usize {
        self.queue.len()
    }

    fn conclude(&mut self, stop: &AtomicBool) {
        let (limits, begun) = (*self.course.limits(), self.course.begun());
        self.improve_if_asked(&limits, begun, stop, None);
    }

    fn shape(&self, version: Version) -> (usize, usize) {
        (version.count(self.variant), self.search.position().policy_size())
    }

    fn report(&self, lines: usize, meters: Meters) -> Report {
        self.search.report(lines, meters)
    }

    fn export(&self, part: &Part) -> (Vec<NodeExport>, Vec<EdgeExport>) {
        self.search.export(part)
    }

    fn in_flight_marks(&self) -> u64 {
        let graph = self.search.graph();
        graph
            .ids()
            .map(|id| {
                u64::from(graph.node(id).in_flight)
                    + graph.edges(id).iter().map(|edge| u64::from(edge.in_flight)).sum::<u64>()
            })
            .sum()
    }

    fn perft(&self, depth: u32) -> (u64, Vec<(String, u64)>) {
        let board = self.search.position();
        if depth == 0 {
            return (perft(board, 0), Vec::new());
        }
        let parts: Vec<(String, u64)> =
            divide(board, depth).into_iter().map(|(mv, count)| (board.uci(mv), count)).collect();
        (parts.iter().map(|(_, count)| count).sum(), parts)
    }

    fn save(&self, file: &FilePath) -> Result<(), SessionError> {
        let (origin, moves) = self.game();
        let mut header = vec![
            ("variant".to_owned(), self.variant.to_string()),
            ("chess960".to_owned(), self.chess960.to_string()),
            ("origin".to_owned(), origin),
            ("moves".to_owned(), moves.join(" ")),
            ("external".to_owned(), self.search.evaluator.is_none().to_string()),
            ("side".to_owned(), self.search.side.to_string()),
        ];
        if let Some(hash) = self.network_hash() {
            header.push(("network".to_owned(), hash.to_owned()));
        }
        for row in crate::settings::table() {
            if let Some(value) = self.settings().get(row.name) {
                header.push((format!("setting.{}", row.name), value.to_string()));
            }
        }
        Ok(save::save(&self.search, &header, file)?)
    }

    fn load(
        &mut self,
        file: &FilePath,
        network: Option<Arc<Network>>,
    ) -> Result<Option<String>, SessionError> {
        let (header, body) = save::open(file)?;
        let get = |name: &str| header.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        if get("variant") != Some(self.variant.to_string().as_str())
            || get("chess960") != Some(if self.chess960 { "true" } else { "false" })
        {
            return Err(SaveError::Damaged("it belongs to another variant").into());
        }
        // Files of versions without a width: those had none.
        let mut settings = Settings { width_visits: 0, ..Settings::default() };
        for (name, value) in &header {
            if let Some(name) = name.strip_prefix("setting.") {
                settings
                    .set(name, &Value::Text(value.clone()))
                    .map_err(|_| SaveError::Damaged("a setting is out of range"))?;
            }
        }
        let moves: Vec<String> = get("moves").unwrap_or("").split_whitespace().map(str::to_owned).collect();
        let (origin, played) = self.read_position(get("origin"), &moves)?;
        let made_by = get("network").map(str::to_owned);
        let network = network.filter(|network| made_by.as_deref() == Some(network.sha256()));
        let is_apart = made_by.is_some() || get("external") == Some("true");
        let source = Source::new(is_apart && network.is_none(), network);
        let (evaluator, network) = Self::evaluator(self.variant, &mut settings, source)?;
        let mut search = Search::new(settings, evaluator, origin, &played);
        search.set_oracle(self.oracle());
        if let Some(side) = get("side").and_then(|side| side.parse().ok()).filter(|side| *side < 2) {
            search.take_side(side);
        }
        save::restore(&mut search, &body)?;
        self.queue.clear();
        self.search = search;
        self.missing_network = made_by.filter(|_| network.is_none());
        self.network = network;
        Ok(self.missing_network.clone())
    }

    fn bench(&mut self) -> &mut dyn Bench {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluators::{Evaluator, Leaf};

    /// Judges as another one does; while the flag is set it panics over positions below the second ply.
    struct Fragile(Arc<AtomicBool>, Arc<dyn Evaluator<Board<Chess>>>);

    impl Evaluator<Board<Chess>> for Fragile {
        fn evaluate(&self, leaf: &Leaf<Board<Chess>>, logits: &mut Vec<f32>, cancel: &AtomicBool) -> f32 {
            assert!(
                !self.0.load(Ordering::Relaxed) || leaf.game.ply() < 3,
                "ply {} is too deep",
                leaf.game.ply()
            );
            self.1.evaluate(leaf, logits, cancel)
        }
    }

    #[test]
    fn a_panic_of_the_evaluator_ends_the_search_with_a_sentence_on_any_number_of_threads() {
        for threads in [1, 2, 4] {
            let settings = Settings { threads, width_visits: 0, ..Settings::default() };
            let mut session =
                BoardSession::<Chess>::new(Variant::Chess, false, settings, Source::BuiltIn).unwrap();
            let is_fragile = Arc::new(AtomicBool::new(true));
            let inner = session.search.evaluator.clone().unwrap();
            session.search.evaluator = Some(Arc::new(Fragile(Arc::clone(&is_fragile), inner)));
            session.play("e2e4").unwrap();
            let mut limits = Limits::default();
            limits.budget.simulations = Some(2000);
            let stop = Arc::new(AtomicBool::new(false));
            for _ in 0..3 {
                let error = session.run(limits, &[], &stop, None).unwrap_err().to_string();
                assert!(error.contains("is too deep") && error.ends_with(')'), "{error}");
            }
            is_fragile.store(false, Ordering::Relaxed);
            assert_eq!(session.run(limits, &[], &stop, None).unwrap(), Finish::Budget);
            let (origin, moves) = session.game();
            assert!(origin.starts_with("rnbqkbnr/pppppppp") && moves == ["e2e4"]);
            assert_eq!(
                (session.in_flight_marks(), session.report(1, Meters::Off).statistics.counters.simulations),
                (0, 2000)
            );
        }
    }
}
