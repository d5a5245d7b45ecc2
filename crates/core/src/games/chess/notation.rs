//! Moves as text: UCI and SAN, both ways.
//!
//! Reading compares the text with the legal moves, so what comes out is always legal. Castling is understood
//! in every notation and written as UCI requires: the king's move of two squares, in Chess960 the king takes
//! the rook.

use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingSide, Move, MoveList, Role, Square};

use super::board::Board;
use super::moves;
use super::rules::Rules;
use crate::game::{Ending, Game, MoveCode};

/// Why a text is not a legal move of a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// Neither UCI nor SAN.
    #[error("The move {0:?} cannot be read; write it like e2e4, e7e8q, Nf3, O-O or N@f7.")]
    Unreadable(String),
    /// Readable, but not legal here.
    #[error("{0:?} is an illegal move.")]
    Illegal(String),
    /// Several legal moves fit.
    #[error("The move {0:?} is ambiguous.")]
    Ambiguous(String),
}

const LONGEST: usize = 12;

impl<P: Rules> Board<P> {
    /// Reads a legal move in UCI or SAN.
    pub fn parse_move(&self, text: &str) -> Result<MoveCode, MoveError> {
        let mut legal = Vec::new();
        self.legal_moves(&mut legal);
        self.find_move(text, &legal)
    }

    /// The same, given the legal moves.
    pub fn find_move(&self, text: &str, legal: &[MoveCode]) -> Result<MoveCode, MoveError> {
        let given = text.trim();
        let clipped = || given.chars().take(LONGEST).collect::<String>();
        if given.is_empty() || given.len() > LONGEST || !given.is_ascii() {
            return Err(MoveError::Unreadable(clipped()));
        }
        if let Ok(uci) = UciMove::from_ascii(given.as_bytes()) {
            return self.find_uci(uci, legal).ok_or_else(|| MoveError::Illegal(clipped()));
        }
        let mut plain = given.trim_end_matches(['+', '#', '!', '?']).to_owned();
        if plain.starts_with("0-0") || plain.starts_with("o-o") {
            plain = plain.replace(['0', 'o'], "O");
        }
        let san = San::from_ascii(plain.as_bytes()).map_err(|_| MoveError::Unreadable(clipped()))?;
        let mut fitting = legal.iter().filter(|code| san.matches(moves::resolve(self.position(), **code)));
        match (fitting.next(), fitting.next()) {
            (Some(code), None) => Ok(*code),
            (Some(_), Some(_)) => Err(MoveError::Ambiguous(clipped())),
            (None, _) => Err(MoveError::Illegal(clipped())),
        }
    }

    /// The legal move that a text in UCI names; `legal` are all of them, ascending.
    pub(crate) fn find_uci(&self, uci: UciMove, legal: &[MoveCode]) -> Option<MoveCode> {
        let code = match uci {
            UciMove::Null => return None,
            UciMove::Put { role, to } => moves::dropping(role, to),
            UciMove::Normal { promotion: Some(Role::Pawn), .. } => return None,
            UciMove::Normal { from, to, promotion: Some(role) } => moves::promoting(from, to, role),
            UciMove::Normal { from, to, .. } => {
                let code = moves::plain(from, to);
                if legal.binary_search(&code).is_err() { self.castling_to(from, to)? } else { code }
            }
        };
        legal.binary_search(&code).is_ok().then_some(code)
    }

    /// The castling move, legal or not, that brings the king from `from` to `to`, two squares or more.
    fn castling_to(&self, from: Square, to: Square) -> Option<MoveCode> {
        let turn = self.position().turn();
        if self.position().board().king_of(turn) != Some(from) || from.distance(to) < 2 {
            return None;
        }
        let side = CastlingSide::ALL.into_iter().find(|side| side.king_to(turn) == to)?;
        let rook = self.position().castles().rook(turn, side)?;
        Some(moves::plain(from, rook))
    }

    /// A legal move in UCI.
    pub fn uci(&self, code: MoveCode) -> String {
        let mv = moves::resolve(self.position(), code);
        UciMove::from_move(mv, self.position().castles().mode()).to_string()
    }

    /// A legal move in SAN, with `+` for check and `#` where it decides the game.
    pub fn san(&self, code: MoveCode) -> String {
        let mv = moves::resolve(self.position(), code);
        let mut list = Vec::new();
        self.legal_moves(&mut list);
        let rivals: MoveList = list
            .iter()
            .filter(|rival| moves::target(**rival) == mv.to())
            .map(|rival| moves::resolve(self.position(), *rival))
            .filter(|rival| matches!(rival, Move::Normal { role, .. } if *role == mv.role()))
            .collect();
        let mut text = San::disambiguate(mv, &rivals).to_string();
        let mut after = self.clone();
        after.play(code);
        after.legal_moves(&mut list);
        match after.ending(&list) {
            Some(Ending::Loss | Ending::Win) => text.push('#'),
            _ if after.is_check() => text.push('+'),
            _ => {}
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::san::SanPlus;

    use super::*;
    use crate::games::chess::random_games::{check_all_starts, play_randomly};
    use crate::games::chess::{ChessBoard, CrazyhouseBoard, Variant};

    fn text_leads_back<P: Rules>(variant: Variant, start: &str, chess960: bool) {
        play_randomly::<P>((variant, start, chess960), 3, 40, |board, list| {
            for &code in list {
                assert_eq!(board.parse_move(&board.uci(code)), Ok(code));
                assert_eq!(board.parse_move(&board.san(code)), Ok(code));
                let mv = moves::resolve(board.position(), code);
                assert_eq!(board.san(code), SanPlus::from_move(board.position().clone(), mv).to_string());
            }
        });
    }

    #[test]
    fn text_leads_back_to_the_move() {
        check_all_starts!(text_leads_back);
    }

    #[test]
    fn castling_in_every_notation() {
        let text = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";
        let board = ChessBoard::from_fen(Variant::Chess, text, false).unwrap();
        for name in ["e1g1", "e1h1", "O-O", "0-0", "o-o", "O-O!"] {
            let code = board.parse_move(name).unwrap();
            assert_eq!(code, moves::plain(Square::E1, Square::H1));
            assert_eq!((board.uci(code), board.san(code)), ("e1g1".into(), "O-O".into()));
        }
        let board = ChessBoard::from_fen(Variant::Chess, text, true).unwrap();
        let code = board.parse_move("e1c1").unwrap();
        assert_eq!((board.uci(code), board.san(code)), ("e1a1".into(), "O-O-O".into()));
    }

    #[test]
    fn drops_and_promotions() {
        let text = "4k3/1P6/8/8/8/8/8/4K3[PNQ] w - -";
        let board = CrazyhouseBoard::from_fen(Variant::Crazyhouse, text, false).unwrap();
        for (given, uci, san) in [
            ("P@e4", "P@e4", "@e4"),
            ("@e4", "P@e4", "@e4"),
            ("N@f6+", "N@f6", "N@f6+"),
            ("Q@h5", "Q@h5", "Q@h5+"),
            ("b7b8q", "b7b8q", "b8=Q+"),
            ("b8=N", "b7b8n", "b8=N"),
        ] {
            let code = board.parse_move(given).unwrap();
            assert_eq!((board.uci(code), board.san(code)), (uci.into(), san.into()));
        }
    }

    #[test]
    fn refusals_name_the_text() {
        let board = ChessBoard::start(Variant::Chess).unwrap();
        for (text, part) in [
            ("e2e5", "illegal move"),
            ("Nf6", "illegal move"),
            ("0000", "illegal move"),
            ("P@e4", "illegal move"),
            ("xyzzy", "cannot be read"),
            ("", "cannot be read"),
            ("é4", "cannot be read"),
            (&"N".repeat(10_000), "cannot be read"),
        ] {
            let sentence = board.parse_move(text).unwrap_err().to_string();
            assert!(sentence.contains(part) && sentence.len() < 120, "{sentence}");
        }
        let twice = "4k3/8/8/8/8/8/8/R3K2R w - -";
        let board = ChessBoard::from_fen(Variant::Chess, twice, false).unwrap();
        assert_eq!(board.parse_move("Rd1").unwrap(), moves::plain(Square::A1, Square::D1));
        let knights = "4k3/8/8/8/8/N7/8/N3K3 w - -";
        let board = ChessBoard::from_fen(Variant::Chess, knights, false).unwrap();
        let sentence = board.parse_move("Nc2").unwrap_err().to_string();
        assert!(sentence.contains("ambiguous"), "{sentence}");
        assert_eq!(board.san(board.parse_move("a1c2").unwrap()), "N1c2");
    }
}
