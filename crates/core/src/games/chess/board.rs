//! A position of chess or a variant: [`Board`].
//!
//! It is the shakmaty position and nothing more, so that cloning is copying some hundred bytes. Text is in
//! `fen` and `notation`, network input in `planes` and `policy`, the interface of the search in `game`.

use shakmaty::variant::{Crazyhouse, VariantPosition};
use shakmaty::{CastlingSide, Chess, Color, EnPassantMode, Move, Square};

use super::check::CheckInfo;
use super::moves;
use super::rules::{CheckRule, Rules};
use super::variant::Variant;
use crate::game::{Game, MoveCode};

/// A position of a variant with the rules of `P`.
#[derive(Clone, Debug)]
pub struct Board<P> {
    pub(super) position: P,
}

/// A position of chess or Chess960.
pub type ChessBoard = Board<Chess>;
/// A position of crazyhouse.
pub type CrazyhouseBoard = Board<Crazyhouse>;
/// A position of any other variant.
pub type VariantBoard = Board<VariantPosition>;

impl<P: Rules> Board<P> {
    /// The board of a shakmaty position of a variant that `P` plays.
    pub fn new(position: P) -> Board<P> {
        Board { position }
    }

    /// The first position of a game, in the castling notation of standard chess. `None` if `P` does not play
    /// the variant.
    pub fn start(variant: Variant) -> Option<Board<P>> {
        P::plays(variant).then(|| Board::new(P::start(variant)))
    }

    /// The shakmaty position.
    #[inline]
    pub fn position(&self) -> &P {
        &self.position
    }

    /// The variant that is played.
    pub fn variant(&self) -> Variant {
        self.position.variant()
    }

    /// Whether castling is written as the king takes the rook.
    pub fn is_chess960(&self) -> bool {
        self.position.castles().mode().is_chess960()
    }

    /// Whether this is the first position of a game of chess, whatever its move numbers.
    pub fn is_usual_start(&self) -> bool {
        let castles = self.position.castles();
        self.position.turn().is_white()
            && *self.position.board() == shakmaty::Board::new()
            && Color::ALL
                .into_iter()
                .all(|color| CastlingSide::ALL.into_iter().all(|side| castles.has(color, side)))
    }

    /// Whether the side to move is in check.
    pub fn is_check(&self) -> bool {
        self.position.is_check()
    }

    /// The squares of this position from which its side to move gives check.
    pub fn check_info(&self) -> CheckInfo {
        CheckInfo::new(self.position.board(), self.position.turn())
    }

    /// Whether a legal move gives check.
    pub fn gives_check(&self, code: MoveCode) -> bool {
        match self.position.check_rule() {
            CheckRule::Never => false,
            CheckRule::Play => self.gives_check_when_played(code),
            CheckRule::Chess => self.gives_check_with(&self.check_info(), code),
        }
    }

    /// The same where checks are those of chess, with what was computed for all moves of this position.
    pub(crate) fn gives_check_with(&self, info: &CheckInfo, code: MoveCode) -> bool {
        match moves::resolve(&self.position, code) {
            Move::Put { role, to } => info.attacks_from(role, to),
            Move::Normal { from, to, promotion: Some(role), .. } => info.promotion_checks(role, from, to),
            Move::Normal { role, from, to, .. } => info.move_checks(role, from, to),
            Move::EnPassant { .. } | Move::Castle { .. } => self.gives_check_when_played(code),
        }
    }

    pub(crate) fn gives_check_when_played(&self, code: MoveCode) -> bool {
        let mut after = self.clone();
        after.play(code);
        after.is_check()
    }

    /// The position with files a and h exchanged; `None` where a side may castle, because then it would be
    /// another game.
    pub fn mirrored(&self) -> Option<Board<P>> {
        if self.position.castles().any() {
            return None;
        }
        let mut setup = self.position.to_setup(EnPassantMode::Always);
        setup.board.flip_horizontal();
        setup.promoted = setup.promoted.flip_horizontal();
        setup.ep_square = setup.ep_square.map(Square::flip_horizontal);
        Board::from_setup(self.variant(), setup, self.position.castles().mode()).ok()
    }

    /// Whether a legal move takes a piece.
    pub fn is_capture(&self, code: MoveCode) -> bool {
        moves::resolve(&self.position, code).is_capture()
    }
}
