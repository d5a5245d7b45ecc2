//! Games of PGN text as columns of training samples: every position with the move played in it.
//!
//! Text comes in, in pieces that begin and end between games; what passes the filter goes out. Nothing here
//! knows files, compression or Python. A game that is not wholly understood gives nothing.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::ControlFlow;

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
use sha2::{Digest, Sha256};
use shakmaty::uci::UciMove;
use shakmaty::variant::{Crazyhouse, VariantPosition};
use shakmaty::{Chess, Color, KnownOutcome, Outcome};

use crate::games::chess::{Board, Rules, Variant};

/// A mate in n moves counts `MATE` - n centipawns.
pub const MATE: i32 = 32_000;
/// No score that is not a mate is larger.
const LARGEST: i32 = MATE - 1_000;
/// The longest tag and comment that are read in one piece.
const LONGEST: usize = 4_096;

/// Which games are taken.
#[derive(Clone, Debug)]
pub struct Filter {
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
    fn truncate(&mut self, rows: usize) {
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

/// The samples of the games in a text of less than 2^30 bytes.
pub fn read(text: &[u8], filter: &Filter) -> Columns {
    match filter.variant {
        Variant::Chess => read_as::<Chess>(text, filter),
        Variant::Crazyhouse => read_as::<Crazyhouse>(text, filter),
        _ => read_as::<VariantPosition>(text, filter),
    }
}

fn read_as<P: Rules>(text: &[u8], filter: &Filter) -> Columns {
    let mut columns = Columns { fen_offsets: vec![0], move_offsets: vec![0], ..Columns::default() };
    let Some(start) = start::<P>(filter) else { return columns };
    let start_text = start.fen();
    let mut scribe = Scribe { filter, start, start_text, columns: &mut columns, uci: String::new() };
    let mut reader = Reader::build(text)
        .set_supported_tag_line_length(LONGEST)
        .set_supported_comment_length(LONGEST)
        .finish();
    let mut follows_damage = false;
    loop {
        let rows = scribe.columns.game.len();
        let outcome = reader.read_game(&mut scribe);
        let verdict = match outcome {
            Ok(None) => break,
            // What follows a broken tag is the rest of its game.
            Ok(Some(_)) if follows_damage => {
                scribe.columns.truncate(rows);
                follows_damage = false;
                continue;
            }
            Ok(Some(verdict)) => verdict,
            Err(_) => {
                follows_damage = true;
                Verdict::Unreadable
            }
        };
        if verdict != Verdict::Taken {
            scribe.columns.truncate(rows);
        }
        scribe.columns.counts.add(verdict);
    }
    columns
}

fn start<P: Rules>(filter: &Filter) -> Option<Board<P>> {
    let board = Board::<P>::start(filter.variant)?;
    if filter.chess960 { Board::from_fen(filter.variant, &board.fen(), true).ok() } else { Some(board) }
}

/// What became of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
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
    fn add(&mut self, verdict: Verdict) {
        self.games += 1;
        *match verdict {
            Verdict::Taken => &mut self.taken,
            Verdict::Variant => &mut self.variant,
            Verdict::Unfinished => &mut self.unfinished,
            Verdict::Rating => &mut self.rating,
            Verdict::Time => &mut self.time,
            Verdict::Bots => &mut self.bots,
            Verdict::Abandoned => &mut self.abandoned,
            Verdict::Short => &mut self.short,
            Verdict::Unevaluated => &mut self.unevaluated,
            Verdict::Illegal => &mut self.illegal,
            Verdict::Unreadable => &mut self.unreadable,
        } += 1;
    }
}

/// What the tags of a game said.
#[derive(Default)]
struct Tags {
    variant: Option<(Variant, bool)>,
    is_foreign: bool,
    fen: Option<String>,
    result: Option<Outcome>,
    ratings: [Option<u32>; 2],
    seconds: Option<u32>,
    has_bot: bool,
    is_abandoned: bool,
}

/// A game under way.
struct Course<P> {
    board: Board<P>,
    hash: Sha256,
    plies: usize,
    first_row: usize,
    eval: Option<i32>,
    has_evals: bool,
    tagged: Option<Outcome>,
    outcome: Option<Outcome>,
}

struct Scribe<'a, P: Rules> {
    filter: &'a Filter,
    start: Board<P>,
    start_text: String,
    columns: &'a mut Columns,
    uci: String,
}

impl<P: Rules> Scribe<'_, P> {
    fn judge(&self, tags: &Tags) -> Option<Verdict> {
        let filter = self.filter;
        let played = tags.variant.unwrap_or((Variant::Chess, false));
        if tags.is_foreign || played != (filter.variant, filter.chess960) {
            return Some(Verdict::Variant);
        }
        if tags.result == Some(Outcome::Unknown) && !filter.unfinished {
            return Some(Verdict::Unfinished);
        }
        if filter
            .min_rating
            .is_some_and(|least| tags.ratings.iter().any(|rating| rating.is_none_or(|rating| rating < least)))
        {
            return Some(Verdict::Rating);
        }
        if let Some(seconds) = tags.seconds
            && (filter.min_time.is_some_and(|least| seconds < least)
                || filter.max_time.is_some_and(|most| seconds > most))
        {
            return Some(Verdict::Time);
        }
        if tags.has_bot && !filter.bots {
            return Some(Verdict::Bots);
        }
        (tags.is_abandoned && !filter.abandoned).then_some(Verdict::Abandoned)
    }

    fn put_row(&mut self, course: &mut Course<P>) {
        let columns = &mut *self.columns;
        columns.game.push(0);
        columns.ply.push(course.plies as u16);
        course.board.spell(&mut |letter| columns.fens.push(letter));
        let position = course.board.position();
        // Writing to memory cannot fail.
        let _ = write!(columns.fens, " {} {}", position.halfmoves(), position.fullmoves());
        columns.fen_offsets.push(columns.fens.len() as i32);
        columns.moves.extend_from_slice(self.uci.as_bytes());
        columns.move_offsets.push(columns.moves.len() as i32);
        let sign = position.turn().fold_wb(1, -1);
        columns.score.push((course.eval.unwrap_or(0) * sign) as i16);
        columns.has_score.push(course.eval.is_some());
        columns.result.push(sign as i8); // times the result, which is known at the end
    }

    /// The score that an engine gave with its last move. It is about the position before the move, which has
    /// a row unless it was skipped.
    fn put_engine_score(&mut self, course: &mut Course<P>, score: i32) {
        if course.plies == 0 {
            return;
        }
        course.has_evals = true;
        if course.plies > self.filter.skip_plies
            && let Some(row) = self.columns.game.len().checked_sub(1)
            && !self.columns.has_score[row]
        {
            self.columns.score[row] = score as i16;
            self.columns.has_score[row] = true;
        }
    }
}

impl<P: Rules> Visitor for Scribe<'_, P> {
    type Tags = Tags;
    type Movetext = Course<P>;
    type Output = Verdict;

    fn begin_tags(&mut self) -> ControlFlow<Verdict, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Verdict> {
        let bytes = value.as_bytes();
        match name {
            b"Variant" => read_variant(bytes, tags),
            b"FEN" => tags.fen = Some(value.decode_utf8_lossy().into_owned()),
            b"Result" => tags.result = Some(read_outcome(bytes)),
            b"WhiteElo" => tags.ratings[0] = read_number(bytes),
            b"BlackElo" => tags.ratings[1] = read_number(bytes),
            b"TimeControl" => tags.seconds = read_time(bytes),
            b"WhiteTitle" | b"BlackTitle" => tags.has_bot |= bytes == b"BOT",
            b"Termination" => {
                let word = bytes.to_ascii_lowercase();
                tags.is_abandoned =
                    [&b"abandoned"[..], b"rules infraction", b"unterminated"].contains(&&word[..]);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Verdict, Course<P>> {
        if let Some(verdict) = self.judge(&tags) {
            return ControlFlow::Break(verdict);
        }
        let (board, text) = match &tags.fen {
            None => (self.start.clone(), None),
            Some(fen) => match Board::from_fen(self.filter.variant, fen, self.filter.chess960) {
                Ok(board) => (board.clone(), Some(board.fen())),
                Err(_) => return ControlFlow::Break(Verdict::Illegal),
            },
        };
        let variant = if self.filter.chess960 { "chess960" } else { self.filter.variant.name() };
        let mut hash = Sha256::new();
        for part in [variant, " ", text.as_ref().unwrap_or(&self.start_text)] {
            hash.update(part);
        }
        ControlFlow::Continue(Course {
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

    fn san(&mut self, course: &mut Course<P>, san: SanPlus) -> ControlFlow<Verdict> {
        if course.outcome.is_some() || course.plies >= usize::from(u16::MAX) {
            return ControlFlow::Break(Verdict::Unreadable);
        }
        let position = course.board.position();
        let Ok(mv) = san.san.to_move(position) else { return ControlFlow::Break(Verdict::Illegal) };
        self.uci.clear();
        let _ = write!(self.uci, "{}", UciMove::from_move(mv, position.castles().mode()));
        course.hash.update(b" ");
        course.hash.update(&self.uci);
        if course.plies >= self.filter.skip_plies {
            self.put_row(course);
        }
        let mut position = course.board.position().clone();
        position.play_unchecked(mv);
        course.board = Board::new(position);
        course.plies += 1;
        course.eval = None;
        ControlFlow::Continue(())
    }

    fn comment(&mut self, course: &mut Course<P>, comment: RawComment<'_>) -> ControlFlow<Verdict> {
        let bytes = comment.as_bytes();
        if course.eval.is_none() {
            course.eval = read_eval(bytes);
            course.has_evals |= course.eval.is_some();
        }
        if let Some(score) = read_engine_score(bytes) {
            self.put_engine_score(course, score);
        }
        // A brace that nobody closed has swallowed the next game.
        let swallows = bytes.contains(&b'\n') && bytes.windows(8).any(|window| window == b"\n[Event ");
        if swallows { ControlFlow::Break(Verdict::Unreadable) } else { ControlFlow::Continue(()) }
    }

    fn outcome(&mut self, course: &mut Course<P>, outcome: Outcome) -> ControlFlow<Verdict> {
        course.outcome = Some(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, course: Course<P>) -> Verdict {
        let agreed = course.outcome.filter(|outcome| course.tagged.is_none_or(|tagged| tagged == *outcome));
        let outcome = match agreed {
            Some(Outcome::Known(outcome)) => Some(outcome),
            _ if self.filter.unfinished => None,
            _ => return Verdict::Unfinished,
        };
        if course.plies < self.filter.min_plies.max(1) {
            return Verdict::Short;
        }
        if self.filter.evaluated && !course.has_evals {
            return Verdict::Unevaluated;
        }
        let white = match outcome {
            Some(KnownOutcome::Decisive { winner: Color::White }) => 1,
            Some(KnownOutcome::Decisive { winner: Color::Black }) => -1,
            Some(KnownOutcome::Draw) | None => 0,
        };
        let digest = course.hash.finalize();
        let number = digest[..8].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        self.columns.game[course.first_row..].fill(number);
        for result in &mut self.columns.result[course.first_row..] {
            *result *= white;
        }
        self.columns.has_result.resize(self.columns.game.len(), outcome.is_some());
        Verdict::Taken
    }
}

fn read_variant(bytes: &[u8], tags: &mut Tags) {
    let name = String::from_utf8_lossy(bytes);
    if name.trim().is_empty() || name.eq_ignore_ascii_case("from position") {
        return;
    }
    match Variant::parse(&name) {
        Ok(variant) => tags.variant = Some(variant),
        Err(_) => tags.is_foreign = true,
    }
}

fn read_outcome(bytes: &[u8]) -> Outcome {
    match bytes {
        b"1-0" => Outcome::Known(KnownOutcome::Decisive { winner: Color::White }),
        b"0-1" => Outcome::Known(KnownOutcome::Decisive { winner: Color::Black }),
        b"1/2-1/2" | b"1/2" => Outcome::Known(KnownOutcome::Draw),
        _ => Outcome::Unknown,
    }
}

fn read_number(bytes: &[u8]) -> Option<u32> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}

/// The expected duration of a game in seconds, by a time control like `300+3`: base time and 40 increments. A
/// dash is no limit.
fn read_time(bytes: &[u8]) -> Option<u32> {
    if bytes == b"-" {
        return Some(u32::MAX);
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
    let (base, increment) = (base.parse::<u32>().ok()?, increment.parse::<u32>().ok()?);
    Some(base.saturating_add(increment.saturating_mul(40)))
}

/// The score in `[%eval 0.35]`, `[%eval -1.2,20]` or `[%eval #-3]`, for White.
fn read_eval(comment: &[u8]) -> Option<i32> {
    const MARK: &[u8] = b"[%eval ";
    let at = comment.windows(MARK.len()).position(|window| window == MARK)?;
    let rest = &comment[at + MARK.len()..];
    let end = rest.iter().position(|byte| matches!(byte, b']' | b',' | b' '))?;
    let word = std::str::from_utf8(&rest[..end]).ok()?;
    if let Some(moves) = word.strip_prefix('#') {
        let distance = moves.parse::<i32>().ok()?.unsigned_abs().min(1_000) as i32;
        return Some(if moves.starts_with('-') { distance - MATE } else { MATE - distance });
    }
    let pawns: f64 = word.parse().ok()?;
    pawns.is_finite().then(|| ((pawns * 100.0).round() as i32).clamp(-LARGEST, LARGEST))
}

/// The score in `+0.35/12 1.2s`, `-M3/8 0.5s, Black mates` or `0.00/20`, with which a comment begins: what
/// match runners (ours, Cute Chess, fastchess, xboard) write of an engine's move, for the side that moved.
fn read_engine_score(comment: &[u8]) -> Option<i32> {
    let comment = comment.trim_ascii_start();
    let end = comment
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b';'))
        .unwrap_or(comment.len());
    let (score, depth) = std::str::from_utf8(&comment[..end]).ok()?.split_once('/')?;
    // xboard may write two depths, 12/25.
    if depth.is_empty() || !depth.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/') {
        return None;
    }
    let (sign, size) = match score.as_bytes().first()? {
        b'+' => (1, &score[1..]),
        b'-' => (-1, &score[1..]),
        _ => (1, score),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(moves) = size.strip_prefix(['M', '#']) {
        return is_number(moves).then(|| sign * (MATE - moves.parse::<i32>().unwrap_or(i32::MAX).min(1_000)));
    }
    let (whole, fraction) = size.split_once('.')?;
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let pawns: f64 = size.parse().ok()?;
    Some(sign * ((pawns * 100.0).round() as i32).min(LARGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(variant: Variant) -> Filter {
        Filter {
            variant,
            chess960: false,
            min_rating: None,
            min_time: None,
            max_time: None,
            min_plies: 0,
            skip_plies: 0,
            bots: true,
            abandoned: true,
            evaluated: false,
            unfinished: false,
        }
    }

    fn fens(columns: &Columns) -> Vec<&str> {
        columns
            .fen_offsets
            .windows(2)
            .map(|ends| std::str::from_utf8(&columns.fens[ends[0] as usize..ends[1] as usize]).unwrap())
            .collect()
    }

    #[test]
    fn a_game_is_its_positions() {
        let text = b"[Result \"0-1\"]\n\n1. f3 { [%eval -0.35] } e5 { [%eval -0.4,12] } (1... d5) 2. g4 $4 { [%eval #-1] } Qh4# 0-1\n";
        let columns = read(text, &filter(Variant::Chess));
        assert_eq!(columns.counts, Counts { games: 1, taken: 1, ..Counts::default() });
        assert_eq!(columns.result, [-1, 1, -1, 1]);
        assert_eq!(columns.ply, [0, 1, 2, 3]);
        assert_eq!(columns.has_score, [false, true, true, true]);
        assert_eq!(columns.score[1..], [35, -40, 31_999]);
        assert_eq!(columns.moves, b"f2f3e7e5g2g4d8h4");
        assert!(columns.game.iter().all(|game| *game == columns.game[0]));
        assert!(fens(&columns)[3].starts_with("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq"));
    }

    #[test]
    fn what_is_left_out_is_counted() {
        type Case = (&'static str, &'static str, fn(&Counts) -> u64);
        let cases: [Case; 8] = [
            ("[Variant \"Atomic\"]", "1. e4 1-0", |counts| counts.variant),
            ("[Variant \"Shogi\"]", "1. e4 1-0", |counts| counts.variant),
            ("[Result \"*\"]", "1. e4 1-0", |counts| counts.unfinished),
            ("[Result \"1-0\"]", "1. e4 0-1", |counts| counts.unfinished),
            ("[Result \"1-0\"]", "1. e4", |counts| counts.unfinished),
            ("[Result \"1-0\"]", "1. e4 e4 1-0", |counts| counts.illegal),
            ("[FEN \"8/8/8/8 w\"]", "1. e4 1-0", |counts| counts.illegal),
            ("[Result \"1-0\"]", "1-0", |counts| counts.short),
        ];
        for (tag, moves, count) in cases {
            let text = format!("{tag}\n\n{moves}\n\n[Result \"1-0\"]\n\n1. d4 1-0\n");
            let columns = read(text.as_bytes(), &filter(Variant::Chess));
            assert_eq!(
                (columns.counts.games, columns.counts.taken, count(&columns.counts)),
                (2, 1, 1),
                "{text}"
            );
            assert_eq!(columns.moves, b"d2d4", "{text}");
        }
    }

    #[test]
    fn games_without_a_result_have_none() {
        let text =
            b"[Result \"*\"]\n\n1. e4 *\n\n[Result \"1-0\"]\n\n1. d4 d5 1-0\n\n[Event \"x\"]\n\n1. c4\n";
        let columns = read(text, &Filter { unfinished: true, ..filter(Variant::Chess) });
        assert_eq!(columns.result, [0, 1, -1, 0]);
        assert_eq!(columns.has_result, [false, true, true, false]);
    }

    #[test]
    fn a_brace_left_open_costs_the_games_it_swallows() {
        let text = b"[Event \"a\"]\n\n1. e4 { no end 1-0\n\n[Event \"b\"]\n\n1. d4 { x } 1-0\n\n[Event \"c\"]\n\n1. c4 1-0\n";
        let columns = read(text, &filter(Variant::Chess));
        assert_eq!((columns.counts.games, columns.counts.taken), (2, 1));
        assert_eq!(columns.moves, b"c2c4");
    }

    #[test]
    fn drops_and_pockets() {
        let text = b"[Variant \"Crazyhouse\"]\n\n1. e4 d5 2. exd5 Qxd5 3. P@e4 Qxe4+ 1/2-1/2\n";
        let columns = read(text, &filter(Variant::Crazyhouse));
        assert_eq!(columns.counts.taken, 1);
        assert_eq!(columns.moves, b"e2e4d7d5e4d5d8d5P@e4d5e4");
        assert!(fens(&columns)[4].contains("[Pp] w"));
        assert_eq!(columns.result, [0; 6]);
    }

    #[test]
    fn scores_of_engines_are_about_the_position_before_their_move() {
        let text =
            b"[Result \"0-1\"]\n\n1. f3 {-0.35/12 0.10s} e5 {+0.40/9 1.2s, n=100} 2. g4 {book} Qh4# {+M1/3 0.02s, Black mates} 0-1\n";
        let columns = read(text, &Filter { evaluated: true, ..filter(Variant::Chess) });
        assert_eq!(columns.has_score, [true, true, false, true]);
        assert_eq!((columns.score[0], columns.score[1], columns.score[3]), (-35, 40, 31_999));
        let skipped = read(text, &Filter { skip_plies: 1, ..filter(Variant::Chess) });
        assert_eq!((skipped.score[0], skipped.has_score), (40, vec![true, false, true]));
        let both = read(b"1. e4 {[%eval 0.3] +0.20/5} e5 {-0.25/6 1s} 2. d4 1-0\n", &filter(Variant::Chess));
        assert_eq!((both.score, both.has_score), (vec![0, -30, 0], vec![false, true, false]));
    }

    #[test]
    fn what_engines_write_about_their_moves() {
        for (text, score) in [
            ("+0.35/12 0.10s", Some(35)),
            ("-1.20/7", Some(-120)),
            (" 0.00/30 1.5s, Draw by 3-fold repetition", Some(0)),
            ("+0.12/18/24 3", Some(12)),
            ("-M4/9 0.01s", Some(-31_996)),
            ("+M2/3, White mates", Some(31_998)),
            ("+900.00/1", Some(31_000)),
            ("+M999999999999/1", Some(31_000)),
            ("0.10s", None),
            ("1/2", None),
            ("1/2-1/2", None),
            ("book", None),
            ("+0.35", None),
            ("+inf/3", None),
            ("+.5/3", None),
            ("0.3/x", None),
            ("/12", None),
            ("", None),
            ("see 0.35/12", None),
        ] {
            assert_eq!(read_engine_score(text.as_bytes()), score, "{text}");
        }
    }

    #[test]
    fn scores_and_times() {
        for (text, score) in [
            ("[%eval 0.35]", Some(35)),
            ("x [%eval -900.0,3] y", Some(-31_000)),
            ("[%eval #3]", Some(31_997)),
        ] {
            assert_eq!(read_eval(text.as_bytes()), score);
        }
        for text in ["[%eval]", "[%eval x]", "[%clk 0:01]", "", "[%eval nan]", "[%eval 1"] {
            assert_eq!(read_eval(text.as_bytes()), None);
        }
        assert_eq!(read_eval(b"[%eval #-0]"), Some(-32_000));
        assert_eq!(
            (read_time(b"300+3"), read_time(b"600"), read_time(b"-"), read_time(b"?")),
            (Some(420), Some(600), Some(u32::MAX), None)
        );
    }
}
