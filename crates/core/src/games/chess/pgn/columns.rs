//! Samples as columns, the filter of games, and the counts of games that were taken or left out.
//!
//! Texts of a column lie one after the other, with the offsets of their beginnings.

use crate::games::chess::Variant;

/// Which games are taken.
#[derive(Clone, Debug)]
pub struct GameFilter {
    /// The variant that is played.
    pub variant: Variant,
    /// Chess960 instead of chess.
    pub chess960: bool,
    /// Both players have at least this rating.
    pub min_rating: Option<u32>,
    /// Shortest expected duration, base time and 40 increments, in seconds. Games without a time control
    /// pass.
    pub min_time: Option<u32>,
    /// Longest expected duration.
    pub max_time: Option<u32>,
    /// Fewest moves of both sides.
    pub min_plies: usize,
    /// Positions at the beginning that are left out.
    pub skip_plies: usize,
    /// Take games of players with the title BOT.
    pub bots: bool,
    /// Take games that were abandoned or ended by a breach of rules.
    pub abandoned: bool,
    /// Only games with scores of an engine.
    pub evaluated: bool,
    /// Also games without a result.
    pub unfinished: bool,
}

/// How many games were read, and why some were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Games in the text.
    pub games: u64,
    /// Games taken.
    pub taken: u64,
    /// Another variant.
    pub variant: u64,
    /// No result, or two that differ.
    pub unfinished: u64,
    /// Ratings too low or unknown.
    pub rating: u64,
    /// Too quick or too slow.
    pub time: u64,
    /// A program played.
    pub bots: u64,
    /// Abandoned.
    pub abandoned: u64,
    /// Too few moves.
    pub short: u64,
    /// No evaluations.
    pub unevaluated: u64,
    /// A move or the first position is illegal.
    pub illegal: u64,
    /// Not PGN.
    pub unreadable: u64,
}

/// What became of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Taken,
    Variant,
    Unfinished,
    Rating,
    Time,
    Bots,
    Abandoned,
    Short,
    Unevaluated,
    Illegal,
    Unreadable,
}

impl Counts {
    pub(super) fn add(&mut self, decision: Decision) {
        self.games += 1;
        *match decision {
            Decision::Taken => &mut self.taken,
            Decision::Variant => &mut self.variant,
            Decision::Unfinished => &mut self.unfinished,
            Decision::Rating => &mut self.rating,
            Decision::Time => &mut self.time,
            Decision::Bots => &mut self.bots,
            Decision::Abandoned => &mut self.abandoned,
            Decision::Short => &mut self.short,
            Decision::Unevaluated => &mut self.unevaluated,
            Decision::Illegal => &mut self.illegal,
            Decision::Unreadable => &mut self.unreadable,
        } += 1;
    }
}

/// The samples of a piece of text: one row per position.
#[derive(Debug, Default)]
pub struct Columns {
    /// The game: a hash of variant, start and moves.
    pub game: Vec<u64>,
    /// Moves played before.
    pub ply: Vec<u16>,
    /// All positions one after the other.
    pub fens: Vec<u8>,
    /// Where each begins, and the end of the last.
    pub fen_offsets: Vec<i32>,
    /// All moves one after the other.
    pub moves: Vec<u8>,
    /// Where each begins, and the end of the last.
    pub move_offsets: Vec<i32>,
    /// Centipawns for the side to move, where there is an evaluation.
    pub score: Vec<i16>,
    /// Whether there is one.
    pub has_score: Vec<bool>,
    /// Result for the side to move: 1, 0, -1; where there is one.
    pub result: Vec<i8>,
    /// Whether there is one.
    pub has_result: Vec<bool>,
    /// About the games.
    pub counts: Counts,
}

impl Columns {
    pub(super) fn truncate(&mut self, rows: usize) {
        self.game.truncate(rows);
        self.ply.truncate(rows);
        self.fen_offsets.truncate(rows + 1);
        self.fens.truncate(self.fen_offsets[rows] as usize);
        self.move_offsets.truncate(rows + 1);
        self.moves.truncate(self.move_offsets[rows] as usize);
        self.score.truncate(rows);
        self.has_score.truncate(rows);
        self.result.truncate(rows);
        self.has_result.truncate(rows);
    }
}
