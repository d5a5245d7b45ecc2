//! Positions as text: FEN in all its dialects to a [`Board`], and the one canonical form back.
//!
//! Reading is generous where people are (missing counters, five ways to write a pocket, impossible material)
//! and answers everything else with one sentence; it never panics. What is accepted can be searched: drops go
//! through a generator without limit, and without drops no position overflows the 450 moves of shakmaty's
//! list (see the test).

use shakmaty::fen::{Fen, ParseFenError};
use shakmaty::{CastlingMode, CastlingSide, Color, PositionError, PositionErrorKinds, Rank, Role, Setup};

use super::board::Board;
use super::rules::Rules;
use super::variant::Variant;

/// Longest text that is read.
const LENGTH_LIMIT: usize = 1024;
/// Largest clock and move number; far beyond any game, far below what overflows.
const COUNTER_LIMIT: u32 = 1_000_000;

/// Why a text is not a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenError {
    /// The position type plays other variants.
    #[error("This board does not play {0}.")]
    WrongVariant(Variant),
    /// Nothing there.
    #[error("The FEN is empty.")]
    Empty,
    /// More text than a position needs.
    #[error("The FEN is {0} characters long; at most {LENGTH_LIMIT} are read.")]
    TooLong(usize),
    /// A letter outside ASCII.
    #[error("The FEN contains {0:?}, which is not an ASCII character.")]
    NotAscii(char),
    /// Not eight ranks.
    #[error("The board of the FEN has {0} ranks instead of 8.")]
    RankCount(usize),
    /// Not eight files.
    #[error("Rank {rank} of the FEN has {files} files instead of 8.")]
    FileCount {
        /// The rank, 8 to 1.
        rank: usize,
        /// Its files.
        files: usize,
    },
    /// A letter that is no piece.
    #[error("The board of the FEN contains {0:?}, which is no piece.")]
    UnknownPiece(char),
    /// The pocket.
    #[error("The pocket {0:?} cannot be read; it lists at most 64 of the pieces PNBRQpnbrq.")]
    Pocket(String),
    /// A pocket where none belongs.
    #[error("Only crazyhouse has pockets.")]
    PocketOutsideCrazyhouse,
    /// More pieces than squares.
    #[error("Board and pockets hold more than 64 pieces.")]
    TooManyPieces,
    /// The side to move.
    #[error("The side to move is {0:?} instead of w or b.")]
    Turn(String),
    /// Castling rights.
    #[error("The castling rights {0:?} cannot be read.")]
    Castling(String),
    /// The en-passant square.
    #[error("The en-passant square {0:?} is not a square.")]
    EnPassant(String),
    /// Counters, and whatever follows.
    #[error("The counters {0:?} at the end of the FEN cannot be read.")]
    Counters(String),
    /// A counter beyond reason.
    #[error("The counter {0} in the FEN is larger than {COUNTER_LIMIT}.")]
    CounterTooLarge(u32),
    /// No pieces.
    #[error("The board is empty.")]
    EmptyBoard,
    /// A king is missing.
    #[error("{0} has no king.")]
    NoKing(&'static str),
    /// A king too many.
    #[error("{0} has more than one king.")]
    TooManyKings(&'static str),
    /// Pawns where none can stand.
    #[error("There are pawns on the first or last rank.")]
    PawnsOnBackRank,
    /// The king could be taken.
    #[error("The side that is not to move is in check.")]
    OpponentInCheck,
    /// A rule of the variant.
    #[error("The position breaks a rule of {0}.")]
    VariantRule(Variant),
}

fn clip(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.len() <= LONGEST {
        text.to_owned()
    } else {
        text.chars().take(LONGEST).chain(['.', '.', '.']).collect()
    }
}

impl<P: Rules> Board<P> {
    /// Reads a position of the variant. `chess960`: castling is written as the king takes the rook, and any
    /// rook may castle.
    ///
    /// Missing fields take their defaults; castling rights and en-passant squares that make no sense are
    /// dropped.
    pub fn from_fen(variant: Variant, text: &str, chess960: bool) -> Result<Board<P>, FenError> {
        if !P::plays(variant) {
            return Err(FenError::WrongVariant(variant));
        }
        let text = text.trim();
        if text.len() > LENGTH_LIMIT {
            return Err(FenError::TooLong(text.len()));
        }
        if let Some(letter) = text.chars().find(|letter| !letter.is_ascii()) {
            return Err(FenError::NotAscii(letter));
        }
        let fields: Vec<&str> = text
            .split(|letter: char| letter.is_ascii_whitespace() || letter == '_')
            .filter(|field| !field.is_empty())
            .collect();
        let board = fields.first().ok_or(FenError::Empty)?;
        let (ranks, pocket) = split_pocket(board);
        check_ranks(ranks)?;
        let mut plain = format!("{ranks}[{pocket}]");
        for field in &fields[1..] {
            plain.push(' ');
            plain.push_str(field);
        }
        let setup = Fen::from_ascii(plain.as_bytes())
            .map_err(|error| syntax_error(error, &fields, pocket))?
            .into_setup();
        if variant != Variant::Crazyhouse && !pocket.is_empty() {
            return Err(FenError::PocketOutsideCrazyhouse);
        }
        if let Some(counter) =
            [setup.halfmoves, setup.fullmoves.get()].into_iter().find(|counter| *counter > COUNTER_LIMIT)
        {
            return Err(FenError::CounterTooLarge(counter));
        }
        let mode = CastlingMode::from_chess960(chess960);
        Board::from_setup(variant, setup, mode)
    }

    /// The board of a setup, as generous as [`Board::from_fen`].
    pub(super) fn from_setup(
        variant: Variant,
        setup: Setup,
        mode: CastlingMode,
    ) -> Result<Board<P>, FenError> {
        P::set_up(variant, setup.clone(), mode)
            .or_else(PositionError::ignore_too_much_material)
            // A check is nothing worse than unreachable, but in racing kings the next move may take the king.
            .or_else(|error| {
                if variant == Variant::RacingKings { Err(error) } else { error.ignore_impossible_check() }
            })
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .map(Board::new)
            .map_err(|error| rule_error(error.kinds(), variant, &setup))
    }

    /// The position as a full FEN: en-passant square only where a capture is legal, pocket and `~` marks in
    /// crazyhouse.
    pub fn fen(&self) -> String {
        let mut text = String::with_capacity(96);
        self.canonical_text(&mut text);
        let position = self.position();
        text.push_str(&format!(" {} {}", position.halfmoves(), position.fullmoves()));
        text
    }

    /// Appends the first four fields of the FEN, and the checks to give in three-check: what the evaluator
    /// `hash` reads.
    pub fn canonical_text(&self, out: &mut String) {
        self.spell(&mut |letter| out.push(char::from(letter)));
    }

    /// Calls `put` with each character of the canonical text.
    pub(crate) fn spell(&self, put: &mut impl FnMut(u8)) {
        let position = self.position();
        let board = position.board();
        let promoted = position.promoted();
        for rank in Rank::ALL.into_iter().rev() {
            let mut next_file = 0;
            for square in board.occupied() & rank {
                let file = u8::from(square.file());
                if file > next_file {
                    put(b'0' + file - next_file);
                }
                next_file = file + 1;
                if let Some(piece) = board.piece_at(square) {
                    put(piece.char() as u8);
                }
                if promoted.contains(square) {
                    put(b'~');
                }
            }
            if next_file < 8 {
                put(b'8' - next_file);
            }
            if rank > Rank::First {
                put(b'/');
            }
        }
        if let Some(pockets) = position.pockets() {
            put(b'[');
            for color in Color::ALL {
                for role in Role::ALL {
                    for _ in 0..pockets[color][role] {
                        put(role.of(color).char() as u8);
                    }
                }
            }
            put(b']');
        }
        put(b' ');
        put(position.turn().char() as u8);
        put(b' ');
        self.spell_castling(put);
        put(b' ');
        match position.legal_ep_square() {
            Some(square) => {
                put(square.file().char() as u8);
                put(square.rank().char() as u8);
            }
            None => put(b'-'),
        }
        if let Some(checks) = position.remaining_checks() {
            put(b' ');
            put(b'0' + u8::from(checks.white));
            put(b'+');
            put(b'0' + u8::from(checks.black));
        }
    }

    /// X-FEN: K and Q mean the outermost rook, any other rook is named by its file.
    fn spell_castling(&self, put: &mut impl FnMut(u8)) {
        let castles = self.position().castles();
        if castles.is_empty() {
            return put(b'-');
        }
        let board = self.position().board();
        for color in Color::ALL {
            let rooks = board.by_piece(color.rook()) & color.backrank();
            for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
                if let Some(rook) = castles.rook(color, side) {
                    let (outermost, letter) = match side {
                        CastlingSide::KingSide => (rooks.last(), 'k'),
                        CastlingSide::QueenSide => (rooks.first(), 'q'),
                    };
                    let letter = if outermost == Some(rook) { letter } else { rook.file().char() };
                    put(color.fold_wb(letter.to_ascii_uppercase(), letter) as u8);
                }
            }
        }
    }
}

/// Parts ranks and pocket: `ranks[pocket]`, `ranks/pocket`, or `ranks` alone. A dash is an empty pocket.
fn split_pocket(board: &str) -> (&str, &str) {
    let (ranks, pocket) = if let Some((ranks, pocket)) = board.split_once('[') {
        (ranks, pocket.strip_suffix(']').unwrap_or(pocket))
    } else if let Some((place, _)) = board.match_indices('/').nth(7) {
        (&board[..place], &board[place + 1..])
    } else {
        (board, "")
    };
    (ranks, if pocket == "-" { "" } else { pocket })
}

fn check_ranks(ranks: &str) -> Result<(), FenError> {
    let stray = |letter: &char| !"12345678/~PNBRQKpnbrqk".contains(*letter);
    if let Some(letter) = ranks.chars().find(stray) {
        return Err(FenError::UnknownPiece(letter));
    }
    let count = ranks.split('/').count();
    if count != 8 {
        return Err(FenError::RankCount(count));
    }
    for (index, rank) in ranks.split('/').enumerate() {
        let files = rank
            .bytes()
            .map(|letter| match letter {
                b'~' => 0,
                b'1'..=b'8' => usize::from(letter - b'0'),
                _ => 1,
            })
            .sum();
        if files != 8 {
            return Err(FenError::FileCount { rank: 8 - index, files });
        }
    }
    Ok(())
}

fn syntax_error(error: ParseFenError, fields: &[&str], pocket: &str) -> FenError {
    let field = |index: usize| clip(fields.get(index).copied().unwrap_or_default());
    match error {
        ParseFenError::InvalidBoard => FenError::UnknownPiece('~'),
        ParseFenError::InvalidPocket => FenError::Pocket(clip(pocket)),
        ParseFenError::InvalidTurn => FenError::Turn(field(1)),
        ParseFenError::InvalidCastling => FenError::Castling(field(2)),
        ParseFenError::InvalidEpSquare => FenError::EnPassant(field(3)),
        ParseFenError::InvalidFen
        | ParseFenError::InvalidRemainingChecks
        | ParseFenError::InvalidHalfmoveClock
        | ParseFenError::InvalidFullmoves => {
            FenError::Counters(clip(&fields[4.min(fields.len())..].join(" ")))
        }
    }
}

fn rule_error(kinds: PositionErrorKinds, variant: Variant, setup: &Setup) -> FenError {
    let kings = |color: Color| setup.board.by_piece(color.king()).count();
    let side = |offends: &dyn Fn(Color) -> bool| {
        if offends(Color::White) {
            "White"
        } else if offends(Color::Black) {
            "Black"
        } else {
            "A side"
        }
    };
    if kinds.contains(PositionErrorKinds::EMPTY_BOARD) {
        FenError::EmptyBoard
    } else if kinds.contains(PositionErrorKinds::TOO_MANY_KINGS) {
        let pocket = |color: Color| setup.pockets.map_or(0, |pockets| pockets[color].king);
        FenError::TooManyKings(side(&|color| kings(color) > 1 || pocket(color) > 0))
    } else if kinds.contains(PositionErrorKinds::MISSING_KING) {
        FenError::NoKing(side(&|color| kings(color) == 0))
    } else if kinds.contains(PositionErrorKinds::PAWNS_ON_BACKRANK) {
        FenError::PawnsOnBackRank
    } else if kinds.contains(PositionErrorKinds::OPPOSITE_CHECK) {
        FenError::OpponentInCheck
    } else if variant == Variant::Crazyhouse {
        FenError::TooManyPieces
    } else {
        FenError::VariantRule(variant)
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::fen::Epd;
    use shakmaty::{EnPassantMode, Square, attacks};

    use super::*;
    use crate::game::Game;
    use crate::games::chess::random_games::{check_all_starts, play_randomly};
    use crate::games::chess::{ChessBoard, CrazyhouseBoard, VariantBoard};

    fn chess(text: &str) -> Result<ChessBoard, FenError> {
        Board::from_fen(Variant::Chess, text, false)
    }

    fn crazyhouse(text: &str) -> Result<CrazyhouseBoard, FenError> {
        Board::from_fen(Variant::Crazyhouse, text, false)
    }

    #[test]
    fn no_king_stands_in_check_in_racing_kings() {
        let read = |text| VariantBoard::from_fen(Variant::RacingKings, text, false);
        assert!(read("8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1").is_ok());
        assert!(read("8/8/8/8/8/8/krbnNKRB/qrbnNBRQ w - - 0 1").is_err());
    }

    #[test]
    fn five_pocket_dialects() {
        let filled = "4k3/8/8/8/8/8/8/4K3[QPp] w - - 3 7";
        for text in ["4k3/8/8/8/8/8/8/4K3[pQP] w - - 3 7", "4k3/8/8/8/8/8/8/4K3/PQp w - - 3 7"] {
            let board = crazyhouse(text).unwrap();
            assert_eq!(board.fen(), "4k3/8/8/8/8/8/8/4K3[PQp] w - - 3 7");
            assert_eq!(board.key(), crazyhouse(filled).unwrap().key());
        }
        for pocket in ["[]", "", "/", "[-]", "/-"] {
            let board = crazyhouse(&format!("  4k3/8/8/8/8/8/8/4K3{pocket} b\t- -\n")).unwrap();
            assert_eq!(board.fen(), "4k3/8/8/8/8/8/8/4K3[] b - - 0 1");
        }
        let promoted = "4k3/8/8/8/8/8/1Q~6/4K3[] w - - 0 1";
        assert_eq!(crazyhouse(promoted).unwrap().fen(), promoted);
    }

    #[test]
    fn fields_may_be_missing_and_rights_senseless() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        assert_eq!(chess(start).unwrap().fen(), format!("{start} w - - 0 1"));
        assert_eq!(
            chess("4k3/8/8/8/8/8/8/4K2R w KQkq e3 5").unwrap().fen(),
            "4k3/8/8/8/8/8/8/4K2R w K - 5 1"
        );
        let many = "QQQQQQQQ/8/8/8/7k/8/8/K7 w - - 0 1";
        assert!(chess(&many.replace("7k", "qqqqqqqk")).is_err());
        assert!(chess("QQQQQQQ1/8/8/8/8/7k/8/K7 b - -").is_ok());
        assert_eq!(
            chess("rnbqkbnr/pppp1ppp/8/8/3Pp3/8/PPP1PPPP/RNBQKBNR b KQkq d3").unwrap().fen(),
            "rnbqkbnr/pppp1ppp/8/8/3Pp3/8/PPP1PPPP/RNBQKBNR b KQkq d3 0 1"
        );
    }

    #[test]
    fn three_check_counters() {
        let board = "4k3/8/8/8/8/8/8/4K2R w - -";
        for (given, canonical) in [("3+3 0 1", "3+3"), ("0 1 +2+1", "1+2"), ("1+2", "1+2"), ("", "3+3")] {
            let text = format!("{board} {given}");
            let read = VariantBoard::from_fen(Variant::ThreeCheck, &text, false).unwrap();
            assert_eq!(read.fen(), format!("{board} {canonical} 0 1"));
        }
    }

    #[test]
    fn refusals_are_sentences() {
        let king = "4k3/8/8/8/8/8/8/4K3";
        let long = "x".repeat(100_000);
        for (text, part) in [
            ("", "empty"),
            (" \t", "empty"),
            (long.as_str(), "100000 characters"),
            ("4k3/8/8/8/8/8/8/4K♔2 w - -", "ASCII"),
            ("8/8/8/8/8/8/8/4K3 w - -", "Black has no king"),
            ("4k3/8/8/8/8/8/8/8 w - -", "White has no king"),
            ("4k3/8/8/8/8/8/8/2K1K3 w - -", "White has more than one king"),
            ("8/8/8/8/8/8/8/8 w - -", "board is empty"),
            ("4k2P/8/8/8/8/8/8/4K3 w - -", "pawns on the first or last rank"),
            ("4k4/8/8/8/8/8/8/4K3 w - -", "Rank 8 of the FEN has 9 files"),
            ("4k3/8/8/8/8/8/4K3 w - -", "7 ranks"),
            ("4k3/8/8/8/8/8/8/4K2x w - -", "'x'"),
            ("4k3/8/8/8/8/8/8/~4K3 w - -", "'~'"),
            ("4k3/8/8/8/8/8/8/4R1K1 w - -", "not to move is in check"),
            ("4k3/8/8/8/8/8/8/4K3[P] w - -", "Only crazyhouse"),
            (&format!("{king} x - -"), "\"x\" instead of w or b"),
            (&format!("{king} w ! -"), "castling rights \"!\""),
            (&format!("{king} w - e9"), "\"e9\" is not a square"),
            (&format!("{king} w - - x"), "counters \"x\""),
            (&format!("{king} w - - 0 1 2 3"), "counters \"0 1 2 3\""),
            (&format!("{king} w - - 0 99999999999"), "larger than"),
        ] {
            let sentence = chess(text).unwrap_err().to_string();
            assert!(sentence.contains(part), "{text}: {sentence}");
            assert!(sentence.ends_with('.') && sentence.len() < 200, "{sentence}");
        }
        let pawns = "P".repeat(65);
        for (text, part) in [
            (format!("{king}[{pawns}] w - -"), "at most 64"),
            (format!("{king}[{}] w - -", &pawns[..63]), "more than 64 pieces"),
            (format!("{king}[Kk] w - -"), "more than one king"),
            (format!("{king}[Px] w - -"), "pocket \"Px\""),
        ] {
            let sentence = crazyhouse(&text).unwrap_err().to_string();
            assert!(sentence.contains(part), "{text}: {sentence}");
        }
        assert!(matches!(
            VariantBoard::from_fen(Variant::Chess, king, false),
            Err(FenError::WrongVariant(Variant::Chess))
        ));
    }

    fn text_leads_back<P: Rules>(variant: Variant, start: &str, chess960: bool) {
        for seed in 0..3 {
            play_randomly::<P>((variant, start, chess960), seed, 150, |board, _| {
                let text = board.fen();
                let again = Board::<P>::from_fen(variant, &text, chess960).expect(&text);
                assert_eq!((again.fen(), again.key()), (text.clone(), board.key()));
                let epd = Epd::from_position(board.position(), EnPassantMode::Legal).to_string();
                assert!(text.starts_with(&epd), "{text} {epd}");
            });
        }
    }

    #[test]
    fn text_leads_back_to_the_position() {
        check_all_starts!(text_leads_back);
    }

    #[test]
    fn key_tells_pockets_promoted_pieces_and_checks_apart() {
        let keys: Vec<u64> = [
            "4k3/8/8/8/8/8/1Q6/4K3[] w - -",
            "4k3/8/8/8/8/8/1Q~6/4K3[] w - -",
            "4k3/8/8/8/8/8/1Q6/4K3[P] w - -",
            "4k3/8/8/8/8/8/1Q6/4K3[PP] w - -",
            "4k3/8/8/8/8/8/1Q6/4K3[p] w - -",
            "4k3/8/8/8/8/8/1Q6/4K3[] b - -",
        ]
        .iter()
        .map(|text| crazyhouse(text).unwrap().key())
        .collect();
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key));
        }
        let checks = |counters: &str| {
            let text = format!("4k3/8/8/8/8/8/8/4K2R w - - {counters}");
            VariantBoard::from_fen(Variant::ThreeCheck, &text, false).unwrap().key()
        };
        assert_ne!(checks("3+3"), checks("2+3"));
        assert_ne!(checks("2+3"), checks("3+2"));
    }

    /// The moves of any position without drops fit into shakmaty's list of 450, whatever the material.
    ///
    /// A square that is not the mover's own is reached at most once along each of its lines, and by as many
    /// knights as its knight's moves; promotions add three more for each of the 22 ways a pawn reaches the
    /// last rank. And a queen (which outdoes rook, bishop, king and pawn) or knight has no more moves than on
    /// an empty board. For each number of knights and other pieces the smaller of both bounds holds.
    #[test]
    fn shakmaty_list_cannot_overflow_without_drops() {
        let best = |count: &dyn Fn(Square) -> usize| {
            let mut counts: Vec<usize> = Square::ALL.into_iter().map(count).collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            counts
        };
        let sum = |counts: &[usize], length: usize| counts[..length].iter().sum::<usize>();
        let lines = best(&|square| {
            let promotions = match (square.rank(), u8::from(square.file())) {
                (Rank::Eighth, 0 | 7) => 6,
                (Rank::Eighth, _) => 9,
                _ => 0,
            };
            attacks::king_attacks(square).count() + promotions
        });
        let queens = best(&|square| attacks::queen_attacks(square, 0.into()).count());
        let knights = best(&|square| attacks::knight_attacks(square).count());
        let mut most = 0;
        for others in 1..=64 {
            for horses in 0..=64 - others {
                let free = 64 - others - horses;
                let by_others = sum(&queens, others).min(sum(&lines, free));
                let by_knights = sum(&knights, horses).min(sum(&knights, free));
                most = most.max(by_others + by_knights);
            }
        }
        let castling = 2;
        assert!(most + castling <= 450, "{most}");
    }
}
