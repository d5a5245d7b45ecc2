//! Games of PGN text as columns of training samples: every position with the move played in it.
//!
//! Text comes in, in pieces that begin and end between games; what passes the filter goes out. A
//! game that is not wholly understood gives nothing.

mod columns;
mod tags;
mod visitor;

pub use columns::{Columns, Counts, GameFilter};

use columns::Decision;
use pgn_reader::Reader;
use shakmaty::Chess;
use shakmaty::variant::{Crazyhouse, VariantPosition};
use visitor::SampleVisitor;

use crate::games::chess::{Board, Rules, Variant};

/// The longest tag and comment that are read in one piece.
const LONGEST: usize = 4_096;

/// The samples of the games in a text of less than 2^30 bytes.
pub fn read(text: &[u8], filter: &GameFilter) -> Columns {
    match filter.variant {
        Variant::Chess => read_as::<Chess>(text, filter),
        Variant::Crazyhouse => read_as::<Crazyhouse>(text, filter),
        _ => read_as::<VariantPosition>(text, filter),
    }
}

fn read_as<P: Rules>(text: &[u8], filter: &GameFilter) -> Columns {
    let mut columns = Columns { fen_offsets: vec![0], move_offsets: vec![0], ..Columns::default() };
    let Some(start) = start::<P>(filter) else { return columns };
    let start_text = start.fen();
    let mut visitor = SampleVisitor { filter, start, start_text, columns: &mut columns, uci: String::new() };
    let mut reader = Reader::build(text)
        .set_supported_tag_line_length(LONGEST)
        .set_supported_comment_length(LONGEST)
        .finish();
    let mut follows_damage = false;
    loop {
        let rows = visitor.columns.game.len();
        let outcome = reader.read_game(&mut visitor);
        let decision = match outcome {
            Ok(None) => break,
            // What follows a broken tag is the rest of its game.
            Ok(Some(_)) if follows_damage => {
                visitor.columns.truncate(rows);
                follows_damage = false;
                continue;
            }
            Ok(Some(decision)) => decision,
            Err(_) => {
                follows_damage = true;
                Decision::Unreadable
            }
        };
        if decision != Decision::Taken {
            visitor.columns.truncate(rows);
        }
        visitor.columns.counts.add(decision);
    }
    columns
}

fn start<P: Rules>(filter: &GameFilter) -> Option<Board<P>> {
    let board = Board::<P>::start(filter.variant)?;
    if filter.chess960 { Board::from_fen(filter.variant, &board.fen(), true).ok() } else { Some(board) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(variant: Variant) -> GameFilter {
        GameFilter {
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
        let text = b"[Result \"0-1\"]\n\n1. f3 { [%eval -0.35] } e5 { [%eval -0.4,12] } (1... d5) \
            2. g4 $4 { [%eval #-1] } Qh4# 0-1\n";
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
        let columns = read(text, &GameFilter { unfinished: true, ..filter(Variant::Chess) });
        assert_eq!(columns.result, [0, 1, -1, 0]);
        assert_eq!(columns.has_result, [false, true, true, false]);
    }

    #[test]
    fn a_brace_left_open_costs_the_games_it_swallows() {
        let text = b"[Event \"a\"]\n\n1. e4 { no end 1-0\n\n[Event \"b\"]\n\n1. d4 { x } 1-0\n\n\
            [Event \"c\"]\n\n1. c4 1-0\n";
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
        let text = b"[Result \"0-1\"]\n\n1. f3 {-0.35/12 0.10s} e5 {+0.40/9 1.2s, n=100} 2. g4 {book} \
            Qh4# {+M1/3 0.02s, Black mates} 0-1\n";
        let columns = read(text, &GameFilter { evaluated: true, ..filter(Variant::Chess) });
        assert_eq!(columns.has_score, [true, true, false, true]);
        assert_eq!((columns.score[0], columns.score[1], columns.score[3]), (-35, 40, 31_999));
        let skipped = read(text, &GameFilter { skip_plies: 1, ..filter(Variant::Chess) });
        assert_eq!((skipped.score[0], skipped.has_score), (40, vec![true, false, true]));
        let both = read(b"1. e4 {[%eval 0.3] +0.20/5} e5 {-0.25/6 1s} 2. d4 1-0\n", &filter(Variant::Chess));
        assert_eq!((both.score, both.has_score), (vec![0, -30, 0], vec![false, true, false]));
    }
}
