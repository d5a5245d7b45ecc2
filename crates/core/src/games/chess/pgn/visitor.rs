//! The visitor of a PGN reader: plays the moves of a game and writes a row for each position.
//!
//! Rows are written while the game is read; the caller removes those of a game that is not taken.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::ControlFlow;

use pgn_reader::{RawComment, RawTag, SanPlus, Visitor};
use sha2::{Digest, Sha256};
use shakmaty::uci::UciMove;
use shakmaty::{Color, KnownOutcome, Outcome};

use super::columns::{Columns, Decision, GameFilter};
use super::tags::{Tags, read_engine_score, read_eval};
use crate::games::chess::{Board, Rules, Variant};

/// A game under way.
pub(super) struct PartialGame<P> {
    board: Board<P>,
    hash: Sha256,
    plies: usize,
    first_row: usize,
    eval: Option<i32>,
    has_evals: bool,
    tagged: Option<Outcome>,
    outcome: Option<Outcome>,
}

/// Writes the samples of the games it visits.
pub(super) struct SampleVisitor<'a, P: Rules> {
    pub filter: &'a GameFilter,
    pub start: Board<P>,
    pub start_text: String,
    pub columns: &'a mut Columns,
    pub uci: String,
}

impl<P: Rules> SampleVisitor<'_, P> {
    fn judge(&self, tags: &Tags) -> Option<Decision> {
        let filter = self.filter;
        let played = tags.variant.unwrap_or((Variant::Chess, false));
        if tags.is_foreign || played != (filter.variant, filter.chess960) {
            return Some(Decision::Variant);
        }
        if tags.result == Some(Outcome::Unknown) && !filter.unfinished {
            return Some(Decision::Unfinished);
        }
        if filter
            .min_rating
            .is_some_and(|least| tags.ratings.iter().any(|rating| rating.is_none_or(|rating| rating < least)))
        {
            return Some(Decision::Rating);
        }
        if let Some(seconds) = tags.seconds
            && (filter.min_time.is_some_and(|least| seconds < least)
                || filter.max_time.is_some_and(|most| seconds > most))
        {
            return Some(Decision::Time);
        }
        if tags.has_bot && !filter.bots {
            return Some(Decision::Bots);
        }
        (tags.is_abandoned && !filter.abandoned).then_some(Decision::Abandoned)
    }

    fn put_row(&mut self, game: &mut PartialGame<P>) {
        let columns = &mut *self.columns;
        columns.game.push(0);
        columns.ply.push(game.plies as u16);
        game.board.spell(&mut |letter| columns.fens.push(letter));
        let position = game.board.position();
        // Writing to memory cannot fail.
        let _ = write!(columns.fens, " {} {}", position.halfmoves(), position.fullmoves());
        columns.fen_offsets.push(columns.fens.len() as i32);
        columns.moves.extend_from_slice(self.uci.as_bytes());
        columns.move_offsets.push(columns.moves.len() as i32);
        let sign = position.turn().fold_wb(1, -1);
        columns.score.push((game.eval.unwrap_or(0) * sign) as i16);
        columns.has_score.push(game.eval.is_some());
        columns.result.push(sign as i8); // times the result, which is known at the end
    }

    /// The score that an engine gave with its last move. It is about the position before the move, which has
    /// a row unless it was skipped.
    fn put_engine_score(&mut self, game: &mut PartialGame<P>, score: i32) {
        if game.plies == 0 {
            return;
        }
        game.has_evals = true;
        if game.plies > self.filter.skip_plies
            && let Some(row) = self.columns.game.len().checked_sub(1)
            && !self.columns.has_score[row]
        {
            self.columns.score[row] = score as i16;
            self.columns.has_score[row] = true;
        }
    }
}

impl<P: Rules> Visitor for SampleVisitor<'_, P> {
    type Tags = Tags;
    type Movetext = PartialGame<P>;
    type Output = Decision;

    fn begin_tags(&mut self) -> ControlFlow<Decision, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Decision> {
        tags.put(name, value);
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Decision, PartialGame<P>> {
        if let Some(decision) = self.judge(&tags) {
            return ControlFlow::Break(decision);
        }
        let (board, text) = match &tags.fen {
            None => (self.start.clone(), None),
            Some(fen) => match Board::from_fen(self.filter.variant, fen, self.filter.chess960) {
                Ok(board) => (board.clone(), Some(board.fen())),
                Err(_) => return ControlFlow::Break(Decision::Illegal),
            },
        };
        let variant = if self.filter.chess960 { "chess960" } else { self.filter.variant.name() };
        let mut hash = Sha256::new();
        for part in [variant, " ", text.as_ref().unwrap_or(&self.start_text)] {
            hash.update(part);
        }
        ControlFlow::Continue(PartialGame {
            board,
            hash,
            plies: 0,
            first_row: self.columns.game.len(),
            eval: None,
            has_evals: false,
            tagged: tags.result,
            outcome: None,
        })
    }

    fn san(&mut self, game: &mut PartialGame<P>, san: SanPlus) -> ControlFlow<Decision> {
        if game.outcome.is_some() || game.plies >= usize::from(u16::MAX) {
            return ControlFlow::Break(Decision::Unreadable);
        }
        let position = game.board.position();
        let Ok(mv) = san.san.to_move(position) else { return ControlFlow::Break(Decision::Illegal) };
        self.uci.clear();
        let _ = write!(self.uci, "{}", UciMove::from_move(mv, position.castles().mode()));
        game.hash.update(b" ");
        game.hash.update(&self.uci);
        if game.plies >= self.filter.skip_plies {
            self.put_row(game);
        }
        let mut position = game.board.position().clone();
        position.play_unchecked(mv);
        game.board = Board::new(position);
        game.plies += 1;
        game.eval = None;
        ControlFlow::Continue(())
    }

    fn comment(&mut self, game: &mut PartialGame<P>, comment: RawComment<'_>) -> ControlFlow<Decision> {
        let bytes = comment.as_bytes();
        if game.eval.is_none() {
            game.eval = read_eval(bytes);
            game.has_evals |= game.eval.is_some();
        }
        if let Some(score) = read_engine_score(bytes) {
            self.put_engine_score(game, score);
        }
        // A brace without an end contains the next game.
        let swallows = bytes.contains(&b'\n') && bytes.windows(8).any(|window| window == b"\n[Event ");
        if swallows { ControlFlow::Break(Decision::Unreadable) } else { ControlFlow::Continue(()) }
    }

    fn outcome(&mut self, game: &mut PartialGame<P>, outcome: Outcome) -> ControlFlow<Decision> {
        game.outcome = Some(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: PartialGame<P>) -> Decision {
        let agreed = game.outcome.filter(|outcome| game.tagged.is_none_or(|tagged| tagged == *outcome));
        let outcome = match agreed {
            Some(Outcome::Known(outcome)) => Some(outcome),
            _ if self.filter.unfinished => None,
            _ => return Decision::Unfinished,
        };
        if game.plies < self.filter.min_plies.max(1) {
            return Decision::Short;
        }
        if self.filter.evaluated && !game.has_evals {
            return Decision::Unevaluated;
        }
        let white = match outcome {
            Some(KnownOutcome::Decisive { winner: Color::White }) => 1,
            Some(KnownOutcome::Decisive { winner: Color::Black }) => -1,
            Some(KnownOutcome::Draw) | None => 0,
        };
        let digest = game.hash.finalize();
        let number = digest[..8].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        self.columns.game[game.first_row..].fill(number);
        for result in &mut self.columns.result[game.first_row..] {
            *result *= white;
        }
        self.columns.has_result.resize(self.columns.game.len(), outcome.is_some());
        Decision::Taken
    }
}
