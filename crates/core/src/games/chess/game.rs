//! Boards as the search uses them: [`Board`] implements [`Game`].
//!
//! Every method calls the file that owns the question: rules, text, planes, policy.

use shakmaty::Role;

use super::board::Board;
use super::rules::{CheckRule, Rules};
use super::variant::Variant;
use super::{moves, planes, policy, threat};
use crate::game::{Constraint, Ending, Game, MoveCode};

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
        matches!(self.variant(), Variant::Chess | Variant::Crazyhouse | Variant::ThreeCheck)
    }

    fn retain_checks(&self, list: &mut Vec<MoveCode>) {
        match self.position.check_rule() {
            CheckRule::Never => list.clear(),
            CheckRule::Play => list.retain(|&mv| self.gives_check_when_played(mv)),
            CheckRule::Chess => {
                let info = self.check_info();
                list.retain(|&mv| self.gives_check_with(&info, mv));
            }
        }
    }

    /// Drops on one square: usually the same answer takes them all.
    fn reply_group(&self, mv: MoveCode) -> Option<u8> {
        moves::dropped(mv).map(|_| moves::target(mv).to_u32() as u8)
    }

    fn text(&self) -> String {
        self.fen()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        self.uci(mv)
    }

    /// FNV-1a of the canonical text.
    fn fingerprint(&self) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        self.spell(&mut |letter| {
            hash = (hash ^ u64::from(letter)).wrapping_mul(0x0000_0100_0000_01B3);
        });
        hash
    }

    fn plane_shape(&self) -> [usize; 3] {
        [planes::count(self.variant()), 8, 8]
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
