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

/// What may become of a game, with the name of its count.
macro_rules! decisions {
    ($($(#[$meaning:meta])* $decision:ident $count:ident,)+) => {
        /// What became of a game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Decision {
            $($decision,)+
        }

        /// How many games were read, and why some were left out.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            /// Games in the text.
            pub games: u64,
            $($(#[$meaning])* pub $count: u64,)+
        }

        impl Counts {
            pub(super) fn add(&mut self, decision: Decision) {
                self.games += 1;
                *match decision {
                    $(Decision::$decision => &mut self.$count,)+
                } += 1;
            }
        }
    };
}

decisions! {
    /// Games taken.
    Taken taken,
    /// Another variant.
    Variant variant,
    /// No result, or two that differ.
    Unfinished unfinished,
    /// Ratings too low or unknown.
    Rating rating,
    /// Too quick or too slow.
    Time time,
    /// A program played.
    Bots bots,
    /// Abandoned.
    Abandoned abandoned,
    /// Too few moves.
    Short short,
    /// No evaluations.
    Unevaluated unevaluated,
    /// A move or the first position is illegal.
    Illegal illegal,
    /// Not PGN.
    Unreadable unreadable,
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
