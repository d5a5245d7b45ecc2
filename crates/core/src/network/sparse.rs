//! A network of the sparse family: loaded from a file, and an evaluator for the search.
//!
//! A file is used only when all of it is sound: see `file`, and the canaries here, positions whose outputs
//! the file itself predicts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;
use shakmaty::Chess;
use shakmaty::variant::Crazyhouse;
use thiserror::Error;

use super::attacks::Attacks;
use super::context::Contexts;
use super::features::{Features, bucket};
use super::file::{LARGEST_FILE, Tensors};
use super::forward::{Forward, ForwardScratch, Halves, Machine, Place};
use super::patterns::{PatternScratch, Patterns};
use super::plays::Plays;
use super::weights::Weights;
use crate::evaluators::{Evaluator, Leaf};
use crate::game::{Game, MoveCode};
use crate::games::chess::{Board, FenError, Rules, Variant};
use crate::games::grid::{GridError, GridGame};

const TOLERANCE: f64 = 1e-4;
const MOST_CANARIES: usize = 64;

/// Why a network cannot be used.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// The file cannot be read.
    #[error("the network file {} cannot be read: {source}", .path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not a sound network.
    #[error("the network file {} cannot be used: {reason}", .path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// Why a position cannot be evaluated: its text is none.
#[derive(Debug, Error)]
pub enum Unreadable {
    /// Of chess.
    #[error("{0}")]
    Fen(#[from] FenError),
    /// Of a game on a grid.
    #[error("{0}")]
    Grid(#[from] GridError),
    /// The game is over.
    #[error("the game is over in the position {0:?}, and there is nothing to evaluate")]
    Over(String),
}

/// The evaluation of a position by a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// For the side to move, in [-1, 1].
    pub value: f32,
    /// Chances of win, draw and loss of the side to move.
    pub chances: [f32; 3],
    /// The legal moves (UCI) with their logits.
    pub moves: Vec<(String, f32)>,
}

/// How fast a network is.
#[derive(Clone, Copy, Debug)]
pub struct NetworkSpeed {
    /// Number of evaluations.
    pub evaluations: u64,
    /// The time they took.
    pub time: Duration,
    /// Mean number of legal moves.
    pub moves: f64,
    /// Mean number of active features.
    pub features: f64,
}

/// A network that is ready to evaluate.
#[derive(Debug)]
pub struct Network {
    path: PathBuf,
    plays: Plays,
    patterns: Option<Patterns>,
    metadata: BTreeMap<String, String>,
    weights: Weights,
    machine: Machine,
}

#[derive(Default)]
struct Desk {
    features: Features,
    patterns: PatternScratch,
    places: Vec<Place>,
    scratch: ForwardScratch,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

impl Network {
    /// Reads a file and checks all of it, its canaries too.
    pub fn load(path: &Path) -> Result<Network, NetworkError> {
        let system = |source| NetworkError::System { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(system)?;
        file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes).map_err(system)?;
        Network::read(path, &bytes, true)
    }

    /// The network of a file's content. Without `canaries` these are not checked: for the writer of the file.
    pub fn read(path: &Path, bytes: &[u8], canaries: bool) -> Result<Network, NetworkError> {
        let refused = |reason| NetworkError::Refused { path: path.to_owned(), reason };
        if bytes.len() > LARGEST_FILE {
            return Err(refused(format!("it is larger than {LARGEST_FILE} bytes")));
        }
        let tensors = Tensors::read(bytes).map_err(refused)?;
        let weights = Weights::new(&tensors);
        let network = Network {
            path: path.to_owned(),
            plays: tensors.plays,
            patterns: tensors.patterns,
            metadata: tensors.metadata,
            weights,
            machine: Machine::detect(),
        };
        if canaries {
            network.check_canaries().map_err(refused)?;
        }
        Ok(network)
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of what it plays: a variant, or a game with its parameters.
    pub fn plays(&self) -> &str {
        self.plays.name()
    }

    /// Widths of its accumulators: policy, value.
    pub fn widths(&self) -> (usize, usize) {
        (self.weights.policy_width, self.weights.value_width)
    }

    /// The metadata of its file.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The hash of its weights: what makes it this network and no other.
    pub fn sha256(&self) -> &str {
        self.metadata.get("sha256").map_or("", String::as_str)
    }

    /// Chances of win, draw and loss; replaces `logits` by one number per legal move.
    pub fn judge<P: Rules>(&self, board: &Board<P>, moves: &[MoveCode], logits: &mut Vec<f32>) -> [f32; 3] {
        self.judge_halves(Halves::Both, board, moves, logits)
    }

    fn judge_halves<P: Rules>(
        &self,
        halves: Halves,
        board: &Board<P>,
        moves: &[MoveCode],
        logits: &mut Vec<f32>,
    ) -> [f32; 3] {
        DESK.with_borrow_mut(|desk| {
            let Desk { features, places, scratch, .. } = desk;
            let position = board.position();
            let attacks = Attacks::new(position.board(), position.turn());
            features.fill(position, &attacks);
            places.clear();
            if halves != Halves::Value {
                let contexts = Contexts::new(board, &attacks);
                places.extend(moves.iter().map(|&code| Place {
                    index: contexts.index(code) as u16,
                    context: contexts.context(code) as u16,
                }));
            }
            let bucket = bucket(position.board());
            self.machine.run(Forward {
                halves,
                weights: &self.weights,
                features: features.list(),
                bucket,
                places,
                scratch,
                logits,
            })
        })
    }

    /// The same for a position of a game on a grid.
    pub fn judge_grid(&self, game: &GridGame, moves: &[MoveCode], logits: &mut Vec<f32>) -> [f32; 3] {
        self.judge_grid_halves(Halves::Both, game, moves, logits)
    }

    fn judge_grid_halves(
        &self,
        halves: Halves,
        game: &GridGame,
        moves: &[MoveCode],
        logits: &mut Vec<f32>,
    ) -> [f32; 3] {
        let Some(patterns) = &self.patterns else {
            logits.clear();
            logits.resize(moves.len(), 0.0);
            return [0.0, 1.0, 0.0];
        };
        DESK.with_borrow_mut(|desk| {
            let Desk { patterns: inputs, places, scratch, .. } = desk;
            let bucket = patterns.fill(game, inputs);
            places.clear();
            if halves != Halves::Value {
                places.extend(
                    moves.iter().map(|&code| Place { index: game.policy_index(code) as u16, context: 0 }),
                );
            }
            self.machine.run(Forward {
                halves,
                weights: &self.weights,
                features: &inputs.features,
                bucket,
                places,
                scratch,
                logits,
            })
        })
    }

    /// Evaluates a position (FEN, or the text of a game on a grid).
    pub fn evaluate(&self, text: &str) -> Result<Opinion, Unreadable> {
        match &self.plays {
            Plays::Chess(Variant::Chess) => {
                Ok(self.evaluate_board(&Board::<Chess>::from_fen(Variant::Chess, text, false)?)?)
            }
            Plays::Chess(variant) => {
                Ok(self.evaluate_board(&Board::<Crazyhouse>::from_fen(*variant, text, false)?)?)
            }
            Plays::Grid(named) => {
                let game = named.start().read(text)?;
                let (mut moves, mut logits) = (Vec::new(), Vec::new());
                game.legal_moves(&mut moves);
                if game.ending(&moves).is_some() {
                    return Err(Unreadable::Over(text.chars().take(120).collect()));
                }
                let chances = self.judge_grid(&game, &moves, &mut logits);
                let moves = moves.into_iter().map(|code| game.move_text(code)).zip(logits).collect();
                Ok(Opinion { value: chances[0] - chances[2], chances, moves })
            }
        }
    }

    fn evaluate_board<P: Rules>(&self, board: &Board<P>) -> Result<Opinion, FenError> {
        let (mut moves, mut logits) = (Vec::new(), Vec::new());
        board.legal_moves(&mut moves);
        let chances = self.judge(board, &moves, &mut logits);
        let moves = moves.into_iter().map(|code| board.uci(code)).zip(logits).collect();
        Ok(Opinion { value: chances[0] - chances[2], chances, moves })
    }

    /// Evaluates positions (FEN) in turn until the time is over, as the search would: rules and legal moves
    /// are not counted.
    pub fn measure(&self, fens: &[String], time: Duration) -> Result<NetworkSpeed, Unreadable> {
        match &self.plays {
            Plays::Chess(Variant::Chess) => Ok(self.measure_boards::<Chess>(Variant::Chess, fens, time)?),
            Plays::Chess(variant) => Ok(self.measure_boards::<Crazyhouse>(*variant, fens, time)?),
            Plays::Grid(named) => {
                let (mut games, mut moves, mut features) = (Vec::new(), 0, 0);
                let mut scratch = PatternScratch::default();
                for text in fens {
                    let game = named.start().read(text)?;
                    let mut legal = Vec::new();
                    game.legal_moves(&mut legal);
                    if let Some(patterns) = &self.patterns {
                        patterns.fill(&game, &mut scratch);
                        features += scratch.features.len();
                    }
                    moves += legal.len();
                    games.push((game, legal));
                }
                let judge = |game: &GridGame, legal: &[MoveCode], logits: &mut Vec<f32>| {
                    self.judge_grid(game, legal, logits)
                };
                Ok(clocked(&games, judge, time, moves, features))
            }
        }
    }

    fn measure_boards<P: Rules>(
        &self,
        variant: Variant,
        fens: &[String],
        time: Duration,
    ) -> Result<NetworkSpeed, FenError> {
        let (mut boards, mut features) = (Vec::new(), Features::default());
        let (mut moves, mut active) = (0, 0);
        for fen in fens {
            let game = Board::<P>::from_fen(variant, fen, false)?;
            let mut legal = Vec::new();
            game.legal_moves(&mut legal);
            let position = game.position();
            features.fill(position, &Attacks::new(position.board(), position.turn()));
            moves += legal.len();
            active += features.list().len();
            boards.push((game, legal));
        }
        let judge =
            |game: &Board<P>, legal: &[MoveCode], logits: &mut Vec<f32>| self.judge(game, legal, logits);
        Ok(clocked(&boards, judge, time, moves, active))
    }

    fn check_canaries(&self) -> Result<(), String> {
        let damaged = || "its canaries cannot be read".to_owned();
        let text = self.metadata.get("canaries").ok_or_else(damaged)?;
        let Ok(Value::Array(canaries)) = serde_json::from_str(text) else { return Err(damaged()) };
        if canaries.is_empty() || canaries.len() > MOST_CANARIES {
            return Err(format!("it has {} canaries, and 1 to {MOST_CANARIES} are needed", canaries.len()));
        }
        for canary in &canaries {
            let fen = canary.get("fen").and_then(Value::as_str).ok_or_else(damaged)?;
            let value = canary.get("value").and_then(Value::as_f64).ok_or_else(damaged)?;
            let logits = canary.get("logits").and_then(Value::as_object).ok_or_else(damaged)?;
            let opinion = self.evaluate(fen).map_err(|error| format!("a canary is no position: {error}"))?;
            let near = |wanted: f64, found: f32| (wanted - f64::from(found)).abs() <= TOLERANCE;
            let fits = near(value, opinion.value)
                && logits.len() == opinion.moves.len()
                && opinion.moves.iter().all(|(mv, logit)| {
                    logits.get(mv).and_then(Value::as_f64).is_some_and(|wanted| near(wanted, *logit))
                });
            if !fits {
                return Err(format!(
                    "its canary {:?} evaluates to other values than the file stores",
                    fen.chars().take(120).collect::<String>()
                ));
            }
        }
        Ok(())
    }
}

/// Judges positions with their legal moves in turn until the time is over.
fn clocked<G>(
    games: &[(G, Vec<MoveCode>)],
    judge: impl Fn(&G, &[MoveCode], &mut Vec<f32>) -> [f32; 3],
    time: Duration,
    moves: usize,
    features: usize,
) -> NetworkSpeed {
    let (begun, mut logits, mut evaluations) = (Instant::now(), Vec::new(), 0);
    while !games.is_empty() && begun.elapsed() < time {
        for (game, legal) in games {
            std::hint::black_box(judge(game, legal, &mut logits));
            evaluations += 1;
        }
    }
    let mean = |sum: usize| sum as f64 / games.len().max(1) as f64;
    NetworkSpeed { evaluations, time: begun.elapsed(), moves: mean(moves), features: mean(features) }
}

/// The value of chances of win, draw and loss, where a draw is worth `draw`.
fn worth([win, drawn, loss]: [f32; 3], draw: f32) -> f32 {
    if draw == 0.0 { win - loss } else { (win - loss + draw * drawn).clamp(-1.0, 1.0) }
}

impl<P: Rules> Evaluator<Board<P>> for Network {
    fn evaluate(&self, leaf: &Leaf<Board<P>>, logits: &mut Vec<f32>, _cancel: &AtomicBool) -> f32 {
        worth(self.judge(&leaf.game, &leaf.moves, logits), 0.0)
    }

    fn evaluate_draws(
        &self,
        leaf: &Leaf<Board<P>>,
        draw: f32,
        logits: &mut Vec<f32>,
        _cancel: &AtomicBool,
    ) -> f32 {
        let chances = self.judge(&leaf.game, &leaf.moves, logits);
        worth(chances, draw)
    }

    fn lists_later(&self) -> bool {
        true
    }

    fn lists_ahead(&self) -> bool {
        true
    }

    fn value(&self, leaf: &Leaf<Board<P>>, draw: f32, logits: &mut Vec<f32>, _cancel: &AtomicBool) -> f32 {
        worth(self.judge_halves(Halves::Value, &leaf.game, &leaf.moves, logits), draw)
    }

    fn logits(&self, leaf: &Leaf<Board<P>>, logits: &mut Vec<f32>) {
        self.judge_halves(Halves::Policy, &leaf.game, &leaf.moves, logits);
    }
}

impl Evaluator<GridGame> for Network {
    fn evaluate(&self, leaf: &Leaf<GridGame>, logits: &mut Vec<f32>, _cancel: &AtomicBool) -> f32 {
        worth(self.judge_grid(&leaf.game, &leaf.moves, logits), 0.0)
    }

    fn evaluate_draws(
        &self,
        leaf: &Leaf<GridGame>,
        draw: f32,
        logits: &mut Vec<f32>,
        _cancel: &AtomicBool,
    ) -> f32 {
        let chances = self.judge_grid(&leaf.game, &leaf.moves, logits);
        worth(chances, draw)
    }

    fn lists_later(&self) -> bool {
        true
    }

    fn lists_ahead(&self) -> bool {
        true
    }

    fn value(&self, leaf: &Leaf<GridGame>, draw: f32, logits: &mut Vec<f32>, _cancel: &AtomicBool) -> f32 {
        worth(self.judge_grid_halves(Halves::Value, &leaf.game, &leaf.moves, logits), draw)
    }

    fn logits(&self, leaf: &Leaf<GridGame>, logits: &mut Vec<f32>) {
        self.judge_grid_halves(Halves::Policy, &leaf.game, &leaf.moves, logits);
    }
}
