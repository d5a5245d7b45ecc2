//! What tags and comments of PGN mean: variant, ratings, time control, result, scores of engines.
//!
//! A text that is not understood counts as absent.

use pgn_reader::RawTag;
use shakmaty::{Color, KnownOutcome, Outcome};

use crate::games::chess::Variant;

/// A mate in n moves counts `MATE` - n centipawns.
const MATE: i32 = 32_000;
/// No score that is not a mate is larger.
const LARGEST: i32 = MATE - 1_000;

/// The tags of a game.
#[derive(Default)]
pub(super) struct Tags {
    pub variant: Option<(Variant, bool)>,
    pub is_foreign: bool,
    pub fen: Option<String>,
    pub result: Option<Outcome>,
    pub ratings: [Option<u32>; 2],
    pub seconds: Option<u32>,
    pub has_bot: bool,
    pub is_abandoned: bool,
}

impl Tags {
    /// Reads one tag; unknown ones are ignored.
    pub fn put(&mut self, name: &[u8], value: RawTag<'_>) {
        let bytes = value.as_bytes();
        match name {
            b"Variant" => read_variant(bytes, self),
            b"FEN" => self.fen = Some(value.decode_utf8_lossy().into_owned()),
            b"Result" => self.result = Some(read_outcome(bytes)),
            b"WhiteElo" => self.ratings[0] = read_number(bytes),
            b"BlackElo" => self.ratings[1] = read_number(bytes),
            b"TimeControl" => self.seconds = read_time(bytes),
            b"WhiteTitle" | b"BlackTitle" => self.has_bot |= bytes == b"BOT",
            b"Termination" => {
                let word = bytes.to_ascii_lowercase();
                self.is_abandoned =
                    [&b"abandoned"[..], b"rules infraction", b"unterminated"].contains(&&word[..]);
            }
            _ => {}
        }
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
pub(super) fn read_eval(comment: &[u8]) -> Option<i32> {
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
pub(super) fn read_engine_score(comment: &[u8]) -> Option<i32> {
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
