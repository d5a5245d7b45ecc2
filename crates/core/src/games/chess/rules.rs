//! What [`Board`](super::Board) needs of a shakmaty position type beyond shakmaty's own trait.
//!
//! Chess and crazyhouse use our move generator; the other variants use shakmaty's.

use std::fmt::Debug;

use shakmaty::variant::{Antichess, Atomic, Crazyhouse, VariantPosition};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup, KnownOutcome, Outcome, Position,
    PositionError, Setup,
};

use super::variant::Variant;
use super::{generate, key, moves};
use crate::game::{Ending, MoveCode};

/// How a variant decides whether a move gives check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckRule {
    /// As in chess.
    Chess,
    /// No legal move ever does.
    Never,
    /// Known only from the position after the move.
    Play,
}

/// A position of a game for which tablebases are made.
#[derive(Clone, Copy, Debug)]
pub enum Endgame<'a> {
    /// Of chess.
    Chess(&'a Chess),
    /// Of atomic chess.
    Atomic(&'a Atomic),
    /// Of antichess.
    Antichess(&'a Antichess),
}

/// A position type that a board can be made of.
pub trait Rules: Position + Clone + Debug + Send + Sync + 'static {
    /// Whether this type plays the variant.
    fn plays(variant: Variant) -> bool;

    /// The variant this position belongs to.
    fn variant(&self) -> Variant;

    /// The first position of a game.
    fn start(variant: Variant) -> Self;

    /// The position of a setup, of a variant this type plays.
    #[allow(clippy::result_large_err)]
    fn set_up(variant: Variant, setup: Setup, mode: CastlingMode) -> Result<Self, PositionError<Self>>;

    /// Replaces `list` by the legal moves, ascending.
    fn generate(&self, list: &mut Vec<MoveCode>);

    /// Identity of the position; see [`Game::key`](crate::game::Game::key).
    fn key(&self) -> u64 {
        key::zobrist(self)
    }

    /// The position as tablebases know it; `None` where none are made for the game.
    fn endgame(&self) -> Option<Endgame<'_>> {
        None
    }

    /// How checks are detected.
    fn check_rule(&self) -> CheckRule {
        CheckRule::Chess
    }

    /// The end by a rule of the variant, checkmate and stalemate apart.
    fn variant_ending(&self, _moves: &[MoveCode]) -> Option<Ending> {
        None
    }

    /// Whether neither side can win any more.
    fn is_dead(&self) -> bool;
}

/// Bare kings and at most some knights and bishops: only then is it worth asking shakmaty.
fn may_be_dead<P: Position>(position: &P) -> bool {
    let board = position.board();
    (board.pawns() | board.rooks_and_queens()).is_empty() && position.is_insufficient_material()
}

/// What position types of one variant with our move generator have in common.
macro_rules! one_variant {
    ($variant:expr) => {
        fn plays(variant: Variant) -> bool {
            variant == $variant
        }

        fn variant(&self) -> Variant {
            $variant
        }

        fn start(_variant: Variant) -> Self {
            Self::default()
        }

        fn set_up(_variant: Variant, setup: Setup, mode: CastlingMode) -> Result<Self, PositionError<Self>> {
            Self::from_setup(setup, mode)
        }

        #[inline]
        fn generate(&self, list: &mut Vec<MoveCode>) {
            generate::legal_moves(self, list);
        }
    };
}

impl Rules for Chess {
    one_variant!(Variant::Chess);

    #[inline]
    fn endgame(&self) -> Option<Endgame<'_>> {
        Some(Endgame::Chess(self))
    }

    #[inline]
    fn is_dead(&self) -> bool {
        may_be_dead(self)
    }
}

impl Rules for Crazyhouse {
    one_variant!(Variant::Crazyhouse);

    #[inline]
    fn is_dead(&self) -> bool {
        false
    }
}

impl Rules for VariantPosition {
    fn plays(variant: Variant) -> bool {
        !matches!(variant, Variant::Chess | Variant::Crazyhouse)
    }

    fn variant(&self) -> Variant {
        Variant::from_shakmaty(VariantPosition::variant(self))
    }

    fn start(variant: Variant) -> VariantPosition {
        VariantPosition::new(variant.to_shakmaty())
    }

    fn set_up(
        variant: Variant,
        setup: Setup,
        mode: CastlingMode,
    ) -> Result<VariantPosition, PositionError<VariantPosition>> {
        VariantPosition::from_setup(variant.to_shakmaty(), setup, mode)
    }

    fn generate(&self, list: &mut Vec<MoveCode>) {
        // These two move as in chess until they are over.
        match self {
            VariantPosition::KingOfTheHill(position) if !position.is_variant_end() => {
                return generate::legal_moves(position, list);
            }
            VariantPosition::ThreeCheck(position) if !position.is_variant_end() => {
                return generate::legal_moves(position, list);
            }
            _ => {}
        }
        list.clear();
        list.extend(self.legal_moves().into_iter().map(moves::encode));
        list.sort_unstable();
    }

    fn key(&self) -> u64 {
        // Shakmaty finds out the variant once, not at each question.
        self.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0
    }

    fn endgame(&self) -> Option<Endgame<'_>> {
        match self {
            VariantPosition::Atomic(position) => Some(Endgame::Atomic(position)),
            VariantPosition::Antichess(position) => Some(Endgame::Antichess(position)),
            _ => None,
        }
    }

    fn check_rule(&self) -> CheckRule {
        match self {
            VariantPosition::Atomic(_) => CheckRule::Play,
            VariantPosition::Antichess(_) | VariantPosition::RacingKings(_) => CheckRule::Never,
            _ => CheckRule::Chess,
        }
    }

    fn variant_ending(&self, moves: &[MoveCode]) -> Option<Ending> {
        // Shakmaty would list the moves again to find a stalemate.
        if let VariantPosition::Antichess(position) = self {
            return (position.us() == Bitboard::EMPTY || moves.is_empty()).then_some(Ending::Win);
        }
        match self.variant_outcome() {
            Outcome::Unknown => None,
            Outcome::Known(KnownOutcome::Draw) => Some(Ending::Draw),
            Outcome::Known(KnownOutcome::Decisive { winner }) => Some(seen_by(self.turn(), winner)),
        }
    }

    fn is_dead(&self) -> bool {
        self.is_insufficient_material()
    }
}

fn seen_by(turn: Color, winner: Color) -> Ending {
    if turn == winner { Ending::Win } else { Ending::Loss }
}
