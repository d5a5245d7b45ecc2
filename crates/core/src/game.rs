//! The rules as the search uses them: the trait [`Game`] and its small types.
//!
//! A position here is a fact without history: repetition and move-count draws depend on the path and are the
//! business of the walk. `games/` implements the trait.

use crate::random::Random;

/// A legal move of some position, as a short code. Its meaning is defined by the game; the order of codes
/// breaks ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MoveCode(pub u16);

/// How a finished game ended, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// The side to move has won (possible in some variants).
    Win,
    /// Nobody has won.
    Draw,
    /// The side to move has lost, for example by checkmate.
    Loss,
    /// The game ended with a score in [-1, 1]. It is exact, but proves nothing about the positions before.
    Score(f32),
}

impl Ending {
    /// The value of this ending for the side to move.
    pub const fn value(self) -> f64 {
        match self {
            Ending::Win => 1.0,
            Ending::Draw => 0.0,
            Ending::Loss => -1.0,
            Ending::Score(score) => score as f64,
        }
    }
}

/// What a game finds out about a position by its own reasoning.
#[derive(Clone, Debug, PartialEq)]
pub struct Reasoned {
    /// The result for the side to move; absent where the limit was too small.
    pub ending: Option<Ending>,
    /// Best play to where the rest is certain; at least one move where there is a result.
    pub line: Vec<MoveCode>,
    /// Positions that were looked at.
    pub positions: u64,
}

/// A predicate on moves that narrows an exploration, the paper's domain knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// The move gives check.
    Checks,
    /// The move takes a piece.
    Captures,
    /// The moved piece attacks something worth more than itself, or undefended.
    Threats,
}

/// What led to a position, for the planes of a network.
#[derive(Clone, Copy, Debug)]
pub struct Trail<'a, G> {
    /// The last moves before it, newest first, at most eight.
    pub recent: &'a [MoveCode],
    /// How often it occurred before (0, 1, 2).
    pub repetitions: u32,
    /// The last positions before it, newest first, at most seven, each with how often it had occurred before.
    /// Where there are fewer, the game began there. Empty for layouts that show none.
    pub past: &'a [(G, u32)],
}

/// Moves after which a random playout is called a draw.
const MOST_PLAYOUT_MOVES: usize = 1000;

/// A position of a game, and the rules that lead on from it.
///
/// One or two players: a value keeps its sign over a move after which the same player moves. What only some
/// games have (a clock, repetition, checks, captures) has a default for those that have not.
pub trait Game: Clone + Send + Sync + 'static {
    /// Identity of the position: equal for equal positions, whatever the path; without ply and clock. Where
    /// the rules look at the path (superko), what they look at is part of the position.
    fn key(&self) -> u64;

    /// The player to move, 0 or 1. Only equality matters: a value changes sign when it changes.
    fn player(&self) -> u8;

    /// Absolute ply of the game.
    fn ply(&self) -> u32;

    /// Replaces `moves` by the legal moves, in ascending order of their codes. It may hold moves even where a
    /// rule of the game ended it.
    fn legal_moves(&self, moves: &mut Vec<MoveCode>);

    /// How the game ended here by a fact of the position, given its legal moves; `None` while it continues.
    fn ending(&self, moves: &[MoveCode]) -> Option<Ending>;

    /// Who wins, where the game has a way of its own to find out; at most so many positions are looked at.
    /// Only solving asks for it.
    fn reason(&self, _most: u64, _cancel: &dyn Fn() -> bool) -> Option<Reasoned> {
        None
    }

    /// Plays a legal move.
    fn play(&mut self, mv: MoveCode);

    /// The position as people write it (FEN).
    fn text(&self) -> String;

    /// The move as people write it (UCI).
    fn move_text(&self, mv: MoveCode) -> String;

    /// Whether a position can occur twice in a game. The second time is a draw then.
    fn can_recur(&self) -> bool {
        true
    }

    /// Whether the two players always move in turn. Lengths of proofs are improved only then.
    fn takes_turns(&self) -> bool {
        true
    }

    /// Plies since the last move that cannot be taken back (pawn move, capture).
    fn clock(&self) -> u32 {
        0
    }

    /// The clock at which the game is drawn, if this game has such a rule.
    fn clock_limit(&self) -> Option<u32> {
        None
    }

    /// Whether the move resets the clock.
    fn is_zeroing(&self, _mv: MoveCode) -> bool {
        false
    }

    /// Whether the legal move satisfies the constraint.
    fn satisfies(&self, _constraint: Constraint, _mv: MoveCode) -> bool {
        false
    }

    /// Whether a game can be won only by a move that gives check.
    fn is_won_by_check_only(&self) -> bool {
        false
    }

    /// Keeps those of the legal moves that give check.
    fn retain_checks(&self, moves: &mut Vec<MoveCode>) {
        moves.retain(|&mv| self.satisfies(Constraint::Checks, mv));
    }

    /// Moves with the same number, below 64, are alike as answers to a threat: where one of them fails, the
    /// others probably fail too. `None` for a move that is like no other.
    fn reply_group(&self, _mv: MoveCode) -> Option<u8> {
        None
    }

    /// A number drawn from the position alone, the same in every program: for `hash` and for playouts.
    fn fingerprint(&self) -> u64 {
        self.key()
    }

    /// The value for the side to move of one game of random moves from here.
    fn playout(&self, random: &mut Random, moves: &mut Vec<MoveCode>) -> f64 {
        let mut game = self.clone();
        for _ in 0..MOST_PLAYOUT_MOVES {
            game.legal_moves(moves);
            if let Some(ending) = game.ending(moves) {
                return if game.player() == self.player() { ending.value() } else { -ending.value() };
            }
            game.play(moves[random.index(moves.len())]);
            if game.clock_limit().is_some_and(|limit| game.clock() >= limit) {
                break;
            }
        }
        0.0
    }

    /// The mean values for the sides to move of `count` playouts from each of some positions, where the game
    /// plays them together; `None` where it does not, where its rules fail, or when `stop` is true.
    fn playouts(_games: &[&Self], _count: u64, _seed: u64, _stop: &dyn Fn() -> bool) -> Option<Vec<f32>> {
        None
    }

    /// Whether positions are made many at a time. Then a search stores them, and takes them from there
    /// ([`Game::recall`]); it asks for what is missing ([`Game::try_play`]), and has all of it made at once
    /// ([`Game::fetch`]).
    #[inline]
    fn is_fetched(&self) -> bool {
        false
    }

    /// The stored position with a key, at a ply.
    fn recall(&self, _key: u64, _ply: u32) -> Option<Self> {
        None
    }

    /// Plays a legal move if the position after it is at hand; else asks for it and stays here, false.
    #[inline]
    fn try_play(&mut self, mv: MoveCode) -> bool {
        self.play(mv);
        true
    }

    /// Makes and stores all positions that were asked for. Returns whether there were any, and it went well.
    fn fetch(&self) -> bool {
        false
    }

    /// Plays a move that leads to the position with a key.
    fn follow(&mut self, mv: MoveCode, key: u64) {
        match self.recall(key, self.ply() + 1) {
            Some(after) => *self = after,
            None => self.play(mv),
        }
    }

    /// Forgets the stored positions but those with the given keys.
    fn retain(&self, _keys: &mut dyn Iterator<Item = u64>) {}

    /// Bytes of the stored positions.
    fn stored_bytes(&self) -> usize {
        0
    }

    /// Bytes that a stored position takes, 0 where none are stored.
    fn bytes_per_position(&self) -> usize {
        0
    }

    /// Shape of the network's input: planes, rows, columns.
    fn plane_shape(&self) -> [usize; 3];

    /// Size of the network's policy output.
    fn policy_size(&self) -> usize;

    /// Writes the planes of this position (row-major, as many numbers as `plane_shape` says, all
    /// overwritten). `recent` are the last moves before it, newest first; `repetitions` how often it occurred
    /// before (0, 1, 2).
    fn fill_planes(&self, recent: &[MoveCode], repetitions: u32, planes: &mut [f32]);

    /// Index of a legal move in the policy output.
    fn policy_index(&self, mv: MoveCode) -> usize;
}
