//! A position of chess or a variant for the search: [`Board`] implements [`Game`].
//!
//! It is the shakmaty position and nothing more, so that cloning is copying some hundred bytes. Text is in
//! `fen` and `notation`, network input in `planes` and `policy`.

use shakmaty::variant::{Crazyhouse, VariantPosition};
use shakmaty::{Chess, EnPassantMode, Move, Role, Square};

use super::check::CheckInfo;
use super::rules::{CheckRule, Rules};
use super::variant::Variant;
use super::{moves, planes, policy, threat};
use crate::game::{Constraint, Ending, Game, MoveCode};

/// A position of a variant with the rules of `P`.
#[derive(Clone, Debug)]
pub struct Board<P> {
    position: P,
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

impl<P: Rules> Game for Board<P> {
    fn key(&self) -> u64 {
        self.position.key()
    }

    #[inline]
    fn player(&self) -> u8 {
        self.position.turn().is_black().into()
    }

    #[inline]
    fn ply(&self) -> u32 {
        (self.position.fullmoves().get() - 1).saturating_mul(2) + u32::from(self.player())
    }

    #[inline]
    fn clock(&self) -> u32 {
        self.position.halfmoves()
    }

    fn clock_limit(&self) -> Option<u32> {
        (self.variant() != Variant::Crazyhouse).then_some(100)
    }

    #[inline]
    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        self.position.generate(moves);
    }

    #[inline]
    fn ending(&self, moves: &[MoveCode]) -> Option<Ending> {
        if let Some(ending) = self.position.variant_ending(moves) {
            return Some(ending);
        }
        if moves.is_empty() {
            return Some(if self.is_check() { Ending::Loss } else { Ending::Draw });
        }
        self.position.is_dead().then_some(Ending::Draw)
    }

    #[inline]
    fn play(&mut self, mv: MoveCode) {
        let mv = moves::resolve(&self.position, mv);
        self.position.play_unchecked(mv);
    }

    #[inline]
    fn is_zeroing(&self, mv: MoveCode) -> bool {
        moves::resolve(&self.position, mv).is_zeroing()
    }

    fn satisfies(&self, constraint: Constraint, mv: MoveCode) -> bool {
        match constraint {
            Constraint::Checks => self.gives_check(mv),
            Constraint::Captures => self.is_capture(mv),
            Constraint::Threats => threat::threatens(&self.position, moves::resolve(&self.position, mv)),
        }
    }

    fn is_won_by_check_only(&self) -> bool {
        matches!(self.variant(), Variant::Chess | Variant::Crazyhouse)
    }

    fn text(&self) -> String {
        self.fen()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        self.uci(mv)
    }

    fn plane_count(&self) -> usize {
        planes::count(self.variant())
    }

    fn policy_size(&self) -> usize {
        policy::size(self.variant())
    }

    fn fill_planes(&self, recent: &[MoveCode], repetitions: u32, planes: &mut [f32]) {
        planes::fill(self, recent, repetitions, planes);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        let castles = moves::promotion(mv).is_none()
            && moves::dropped(mv).is_none()
            && !self.is_chess960()
            && self.position.board().role_at(moves::origin(mv)) == Some(Role::King)
            && self.position.us().contains(moves::target(mv));
        policy::index(self.position.turn(), mv, castles)
    }
}
