//! Positions and their targets as arrays for training, many at once, on several threads.
//!
//! Rows are independent, and each thread takes a contiguous part of them, so the arrays do not depend on the
//! threads.

use shakmaty::Chess;
use shakmaty::variant::Crazyhouse;
use thiserror::Error;

use super::attacks::Attacks;
use super::context::Contexts;
use super::features::{Features, bucket};
use crate::game::{Game, MoveCode, Trail};
use crate::games::chess::planes::{UnknownVersion, Version};
use crate::games::chess::{Board, FenError, MoveError, Rules, Variant, moves};

/// Why positions could not be encoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// There are networks for chess and crazyhouse only.
    #[error("networks are trained for chess and crazyhouse, not for {0}")]
    Variant(Variant),
    /// No such planes.
    #[error("{0}")]
    Version(#[from] UnknownVersion),
    /// The lists differ in length.
    #[error("there are {fens} positions, but {given} {what}")]
    Lengths {
        /// Number of positions.
        fens: usize,
        /// Number of the other thing.
        given: usize,
        /// What it is.
        what: &'static str,
    },
    /// The moves of a row and their weights differ in number.
    #[error("row {row} has {moves} target moves, but {weights} weights")]
    Weights {
        /// The row.
        row: usize,
        /// Number of its moves.
        moves: usize,
        /// Number of its weights.
        weights: usize,
    },
    /// A weight is infinite or not a number.
    #[error("a weight of row {row} is not a finite number")]
    Weight {
        /// The row.
        row: usize,
    },
    /// A position cannot be read.
    #[error("row {row}: {source}")]
    Position {
        /// The row.
        row: usize,
        /// Why.
        source: FenError,
    },
    /// A target move is illegal.
    #[error("row {row}: {source}")]
    Move {
        /// The row.
        row: usize,
        /// Why.
        source: MoveError,
    },
}

/// Positions with their targets: lists of equal length.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// The positions (FEN).
    pub fens: &'a [String],
    /// Target moves (UCI) of each.
    pub moves: &'a [Vec<String>],
    /// Weights of the target moves.
    pub weights: &'a [Vec<f32>],
    /// Which positions are flipped left to right, where they have no castling rights.
    pub mirror: Option<&'a [bool]>,
}

/// Inputs of a sparse network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sparse {
    /// Active features of the positions, one after another.
    pub features: Vec<i32>,
    /// Where the features of each position begin, and the end.
    pub feature_offsets: Vec<i64>,
    /// Policy index of each legal move.
    pub move_index: Vec<i32>,
    /// Context of each legal move.
    pub move_context: Vec<i32>,
    /// Where the moves of each position begin, and the end.
    pub move_offsets: Vec<i64>,
    /// Weight of each legal move, 0 where it is no target.
    pub target: Vec<f32>,
    /// Value head of each position.
    pub bucket: Vec<i64>,
}

/// Inputs of a convolutional network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planes {
    /// Planes of each position.
    pub count: usize,
    /// The planes, `count * 64` numbers for each position.
    pub planes: Vec<f32>,
    /// As in [`Sparse`].
    pub move_index: Vec<i32>,
    /// As in [`Sparse`].
    pub move_offsets: Vec<i64>,
    /// As in [`Sparse`].
    pub target: Vec<f32>,
}

fn check(variant: Variant, samples: &Samples<'_>) -> Result<(), EncodeError> {
    if !matches!(variant, Variant::Chess | Variant::Crazyhouse) {
        return Err(EncodeError::Variant(variant));
    }
    let fens = samples.fens.len();
    let mirrored = samples.mirror.map_or(fens, <[bool]>::len);
    for (what, given) in [
        ("lists of moves", samples.moves.len()),
        ("lists of weights", samples.weights.len()),
        ("mirror marks", mirrored),
    ] {
        if given != fens {
            return Err(EncodeError::Lengths { fens, given, what });
        }
    }
    Ok(())
}

/// The board of a row as it is encoded, and its legal moves; their weights are appended to `target`.
fn read_row<P: Rules>(
    variant: Variant,
    chess960: bool,
    samples: &Samples<'_>,
    row: usize,
    legal: &mut Vec<MoveCode>,
    target: &mut Vec<f32>,
) -> Result<Board<P>, EncodeError> {
    let mut board = Board::<P>::from_fen(variant, &samples.fens[row], chess960)
        .map_err(|source| EncodeError::Position { row, source })?;
    let (texts, weights) = (&samples.moves[row], &samples.weights[row]);
    if texts.len() != weights.len() {
        return Err(EncodeError::Weights { row, moves: texts.len(), weights: weights.len() });
    }
    if weights.iter().any(|weight| !weight.is_finite()) {
        return Err(EncodeError::Weight { row });
    }
    board.legal_moves(legal);
    let mut targets = texts
        .iter()
        .map(|text| board.find_move(text, legal))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| EncodeError::Move { row, source })?;
    let is_mirrored = samples.mirror.is_some_and(|mirror| mirror[row]);
    if let Some(flipped) = is_mirrored.then(|| board.mirrored()).flatten() {
        board = flipped;
        board.legal_moves(legal);
        targets.iter_mut().for_each(|code| *code = moves::mirrored(*code));
    }
    let start = target.len();
    target.resize(start + legal.len(), 0.0);
    for (code, weight) in targets.iter().zip(weights) {
        if let Ok(place) = legal.binary_search(code) {
            target[start + place] += weight;
        }
    }
    Ok(board)
}

/// Encodes contiguous parts of the rows on threads of their own; the parts in order, or the error of the
/// first row that has one.
fn in_parts<T: Send>(
    rows: usize,
    threads: usize,
    encode: impl Fn(std::ops::Range<usize>) -> Result<T, EncodeError> + Sync,
) -> Result<Vec<T>, EncodeError> {
    let threads = threads.clamp(1, rows.clamp(1, 256));
    let bounds = |part: usize| rows * part / threads..rows * (part + 1) / threads;
    if threads == 1 {
        return Ok(vec![encode(0..rows)?]);
    }
    std::thread::scope(|scope| {
        let encode = &encode;
        let workers: Vec<_> = (0..threads).map(|part| scope.spawn(move || encode(bounds(part)))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Appends ends that count from 0 to offsets.
fn join_ends(offsets: &mut Vec<i64>, ends: &[i64]) {
    let base = offsets.last().copied().unwrap_or(0);
    offsets.extend(ends.iter().map(|end| base + end));
}

fn sparse_part<P: Rules>(
    variant: Variant,
    chess960: bool,
    samples: &Samples<'_>,
    rows: std::ops::Range<usize>,
) -> Result<Sparse, EncodeError> {
    let mut part = Sparse::default();
    part.features.reserve(rows.len() * 56);
    let (mut legal, mut features) = (Vec::new(), Features::default());
    for row in rows {
        let board = read_row::<P>(variant, chess960, samples, row, &mut legal, &mut part.target)?;
        let position = board.position();
        let attacks = Attacks::new(position.board(), position.turn());
        features.fill(position, &attacks);
        part.features.extend(features.list().iter().map(|&feature| i32::from(feature)));
        part.feature_offsets.push(part.features.len() as i64);
        let contexts = Contexts::new(&board, &attacks);
        part.move_index.extend(legal.iter().map(|&code| contexts.index(code) as i32));
        part.move_context.extend(legal.iter().map(|&code| contexts.context(code) as i32));
        part.move_offsets.push(part.move_index.len() as i64);
        part.bucket.push(bucket(position.board()) as i64);
    }
    Ok(part)
}

/// Encodes samples for a sparse network.
pub fn encode_sparse(
    variant: Variant,
    chess960: bool,
    samples: &Samples<'_>,
    threads: usize,
) -> Result<Sparse, EncodeError> {
    check(variant, samples)?;
    let parts = in_parts(samples.fens.len(), threads, |rows| match variant {
        Variant::Chess => sparse_part::<Chess>(variant, chess960, samples, rows),
        _ => sparse_part::<Crazyhouse>(variant, chess960, samples, rows),
    })?;
    let mut all = Sparse { feature_offsets: vec![0], move_offsets: vec![0], ..Sparse::default() };
    for mut part in parts {
        all.features.append(&mut part.features);
        join_ends(&mut all.feature_offsets, &part.feature_offsets);
        all.move_index.append(&mut part.move_index);
        all.move_context.append(&mut part.move_context);
        join_ends(&mut all.move_offsets, &part.move_offsets);
        all.target.append(&mut part.target);
        all.bucket.append(&mut part.bucket);
    }
    Ok(all)
}

fn planes_part<P: Rules>(
    variant: Variant,
    chess960: bool,
    version: Version,
    samples: &Samples<'_>,
    rows: std::ops::Range<usize>,
) -> Result<Planes, EncodeError> {
    let count = version.count(variant);
    let mut part = Planes { count, planes: vec![0.0; rows.len() * count * 64], ..Planes::default() };
    let mut legal = Vec::new();
    for (row, out) in rows.zip(part.planes.chunks_exact_mut(count * 64)) {
        let board = read_row::<P>(variant, chess960, samples, row, &mut legal, &mut part.target)?;
        version.fill(&board, &Trail { recent: &[], repetitions: 0, past: &[] }, out);
        part.move_index.extend(legal.iter().map(|&code| version.policy_index(&board, code) as i32));
        part.move_offsets.push(part.move_index.len() as i64);
    }
    Ok(part)
}

/// Encodes samples for a convolutional network, without history. `version` is `v3`, for crazyhouse `v1`
/// too, for chess `lc0`.
pub fn encode_planes(
    variant: Variant,
    chess960: bool,
    version: &str,
    samples: &Samples<'_>,
    threads: usize,
) -> Result<Planes, EncodeError> {
    check(variant, samples)?;
    let version = Version::parse(version, variant)?;
    let parts = in_parts(samples.fens.len(), threads, |rows| match variant {
        Variant::Chess => planes_part::<Chess>(variant, chess960, version, samples, rows),
        _ => planes_part::<Crazyhouse>(variant, chess960, version, samples, rows),
    })?;
    let mut all = Planes { move_offsets: vec![0], ..Planes::default() };
    for mut part in parts {
        all.count = part.count;
        all.planes.append(&mut part.planes);
        all.move_index.append(&mut part.move_index);
        join_ends(&mut all.move_offsets, &part.move_offsets);
        all.target.append(&mut part.target);
    }
    Ok(all)
}
