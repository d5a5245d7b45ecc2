//! Syzygy tablebases on disk, probed through shakmaty-syzygy: chess, atomic chess and antichess, as an
//! [`Oracle`] of the search.
//!
//! [`Tablebases::open`] checks every file, names those that cannot be used and uses the rest. A
//! table that fails later, in a probe, gives no answer; it is named in [`Tablebases::problems`] from then on.
//! Knows neither graph nor clock.

mod checksum;
mod reader;
mod shelf;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use shakmaty::variant::{Antichess, Atomic};
use shakmaty::{Chess, Position};
use shakmaty_syzygy::{Dtz, MaybeRounded, Metric, Syzygy, SyzygyError, Tablebase, Wdl};

use super::board::Board;
use super::rules::{Endgame, Rules};
use super::variant::Variant;
use crate::oracle::{Distance, Known, Oracle};
use reader::TableReader;
use shelf::{Family, Shelf};

pub use shelf::Check;

/// The tables of some directories.
pub struct Tablebases {
    chess: Tables<Chess>,
    atomic: Tables<Atomic>,
    antichess: Tables<Antichess>,
    files: Vec<PathBuf>,
    problems: Vec<String>,
    failures: Mutex<BTreeMap<String, String>>,
    failed: AtomicU64,
}

/// The tables of one game.
struct Tables<S: Position + Clone + Syzygy> {
    tables: Tablebase<S>,
    men: usize,
}

impl<S: Position + Clone + Syzygy> Tables<S> {
    fn new(shelf: &Shelf, family: Family, problems: &mut Vec<String>) -> Tables<S> {
        let mut tables = Tablebase::with_filesystem(Arc::new(TableReader));
        for file in shelf.files(family) {
            if let Err(error) = tables.add_file(file) {
                problems.push(format!("{} is skipped: {error}.", file.display()));
            }
        }
        let men = tables.max_pieces();
        Tables { tables, men }
    }

    fn covers(&self, position: &S, most_men: usize) -> bool {
        position.board().occupied().count() <= self.men.min(most_men) && !position.castles().any()
    }
}

impl Tablebases {
    /// Opens the tables of directories. What cannot be used is named in [`Tablebases::problems`].
    pub fn open<P: AsRef<Path>>(directories: &[P], check: Check) -> Tablebases {
        let mut shelf = Shelf::default();
        for directory in directories {
            shelf.add(directory.as_ref(), check);
        }
        let mut problems = shelf.settle();
        let chess = Tables::new(&shelf, Family::Chess, &mut problems);
        let atomic = Tables::new(&shelf, Family::Atomic, &mut problems);
        let antichess = Tables::new(&shelf, Family::Antichess, &mut problems);
        let files = Family::ALL.into_iter().flat_map(|family| shelf.files(family)).cloned().collect();
        Tablebases {
            chess,
            atomic,
            antichess,
            files,
            problems,
            failures: Mutex::default(),
            failed: AtomicU64::new(0),
        }
    }

    /// The files in use.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The most men of a position in the tables of a variant; 0 where there are none.
    pub fn men(&self, variant: Variant) -> usize {
        match variant {
            Variant::Chess => self.chess.men,
            Variant::Atomic => self.atomic.men,
            Variant::Antichess => self.antichess.men,
            _ => 0,
        }
    }

    /// What is wrong, a sentence each: files that were skipped, and those that failed since.
    pub fn problems(&self) -> Vec<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        self.problems.iter().chain(failures.values()).cloned().collect()
    }

    /// Number of probes that a damaged or unreadable table did not answer.
    pub fn failed_probes(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether these are the same tables as others.
    pub fn is_same(&self, other: &Tablebases) -> bool {
        self.files == other.files
    }

    /// Probes; a table that fails is remembered, and a panic over a damaged table is a failure like any
    /// other.
    fn ask<S: Position + Clone + Syzygy, T>(
        &self,
        tables: &Tables<S>,
        position: &S,
        probe: impl Fn(&Tablebase<S>, &S) -> Result<T, SyzygyError>,
    ) -> Option<T> {
        if !tables.covers(position, usize::MAX) {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| probe(&tables.tables, position))) {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(SyzygyError::ProbeFailed { metric, material, .. })) => {
                let suffix = if metric == Metric::Wdl { S::TBW.ext } else { S::TBZ.ext };
                self.remember(format!("{material}.{suffix}"), "it is damaged or cannot be read");
                None
            }
            Ok(Err(_)) => None,
            Err(_) => {
                self.remember("A table".to_owned(), "probing it failed");
                None
            }
        }
    }

    fn remember(&self, file: String, reason: &str) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.entry(file.clone()).or_insert_with(|| {
            let path = self.files.iter().find(|path| path.file_name().is_some_and(|name| *name == *file));
            let name = path.map_or(file, |path| path.display().to_string());
            format!("{name} gave no answer: {reason}.")
        });
    }
}

/// Evaluates an expression with the tables and the position of the game that a board belongs to.
macro_rules! with_tables {
    ($self:ident, $endgame:expr, $tables:ident, $position:ident => $result:expr) => {
        match ($endgame, &$self.chess, &$self.atomic, &$self.antichess) {
            (Endgame::Chess($position), $tables, ..) => $result,
            (Endgame::Atomic($position), _, $tables, _) => $result,
            (Endgame::Antichess($position), .., $tables) => $result,
        }
    };
}

impl<P: Rules> Oracle<Board<P>> for Tablebases {
    #[inline]
    fn covers(&self, board: &Board<P>, most_men: u64) -> bool {
        board.position().endgame().is_some_and(|endgame| {
            with_tables!(self, endgame, tables, position => tables.covers(position, most_men as usize))
        })
    }

    fn result(&self, board: &Board<P>) -> Option<Known> {
        let endgame = board.position().endgame()?;
        let wdl = with_tables!(self, endgame, tables, position => {
            self.ask(tables, position, Tablebase::probe_wdl_after_zeroing)
        })?;
        Some(match wdl {
            Wdl::Loss => Known::Loss,
            Wdl::BlessedLoss => Known::BlessedLoss,
            Wdl::Draw => Known::Draw,
            Wdl::CursedWin => Known::CursedWin,
            Wdl::Win => Known::Win,
        })
    }

    fn distance(&self, board: &Board<P>) -> Option<Distance> {
        let endgame = board.position().endgame()?;
        let dtz = with_tables!(self, endgame, tables, position => {
            self.ask(tables, position, Tablebase::probe_dtz)
        })?;
        Some(match dtz {
            MaybeRounded::Rounded(Dtz(plies)) => Distance { plies, is_rounded: true },
            MaybeRounded::Precise(Dtz(plies)) => Distance { plies, is_rounded: false },
        })
    }
}
