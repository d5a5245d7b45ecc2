//! Network input: a position as planes of 8 x 8 numbers, seen by the side to move.
//!
//! The layouts are the published ones of CrazyAra, so that its networks drop in: chess version 3 (52
//! planes), crazyhouse version 3 (64), crazyhouse version 1 (34, the paper's), and for the other variants
//! chess version 3 with two planes for the checks still to give. Chess has Lc0's layout too (`lc0`). Rows
//! are flipped for black, columns are not; row 0 is the mover's first rank. The moves of the past come from
//! the path that the caller walked.

use shakmaty::{Bitboard, CastlingSide, Color, Position, Role, Square};

use super::board::Board;
use super::rules::Rules;
use super::variant::Variant;
use super::{lc0, moves, policy};
use crate::game::{Game, MoveCode, Trail};

/// Planes of crazyhouse version 1.
pub const CRAZYHOUSE_V1_COUNT: usize = 34;
const HISTORY: usize = 8;
const MATERIAL: [Role; 5] = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

/// A published layout of planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// The paper's, of crazyhouse alone.
    One,
    /// With the last moves and the material.
    #[default]
    Three,
    /// Lc0's, of chess alone: with the last positions, and a policy of its own.
    Lc0,
}

/// There is no such layout for the variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are no planes {name:?} for {variant}; its versions are {}", versions(*variant))]
pub struct UnknownVersion {
    /// The refused name, clipped.
    pub name: String,
    /// The variant that has no such planes.
    pub variant: Variant,
}

/// The versions of the planes of a variant, in words.
const fn versions(variant: Variant) -> &'static str {
    match variant {
        Variant::Chess => "v3 and lc0",
        Variant::Crazyhouse => "v1 and v3",
        _ => "v3",
    }
}

impl Version {
    /// Reads a name: `v1`, `v3` or `lc0`.
    pub fn parse(name: &str, variant: Variant) -> Result<Version, UnknownVersion> {
        match (name, variant) {
            ("v1", Variant::Crazyhouse) => Ok(Version::One),
            ("v3", _) => Ok(Version::Three),
            ("lc0", Variant::Chess) => Ok(Version::Lc0),
            _ => Err(UnknownVersion { name: name.chars().take(40).collect(), variant }),
        }
    }

    /// Number of planes.
    pub const fn count(self, variant: Variant) -> usize {
        match self {
            Version::One => CRAZYHOUSE_V1_COUNT,
            Version::Three => count(variant),
            Version::Lc0 => lc0::PLANES,
        }
    }

    /// Whether the planes show positions of the past.
    pub const fn uses_past(self) -> bool {
        matches!(self, Version::Lc0)
    }

    /// Size of the policy of networks that take these planes.
    pub const fn policy_size(self, variant: Variant) -> usize {
        match self {
            Version::Lc0 => lc0::MOVES,
            _ => policy::size(variant),
        }
    }

    /// Index of a legal move in that policy.
    pub fn policy_index<P: Rules>(self, board: &Board<P>, mv: MoveCode) -> usize {
        match self {
            Version::Lc0 => lc0::index(board.position().turn(), mv),
            _ => board.policy_index(mv),
        }
    }

    /// Fills the planes of this layout, `count * 64` numbers.
    pub fn fill<P: Rules>(self, board: &Board<P>, trail: &Trail<'_, Board<P>>, planes: &mut [f32]) {
        match self {
            Version::One => fill_crazyhouse_v1(board, trail.repetitions, planes),
            Version::Three => fill(board, trail.recent, trail.repetitions, planes),
            Version::Lc0 => lc0::fill(board, trail, planes),
        }
    }
}

/// Number of planes of a variant (version 3).
pub const fn count(variant: Variant) -> usize {
    match variant {
        Variant::Chess => 52,
        Variant::Crazyhouse => 64,
        _ => 54,
    }
}

/// Writes planes one after another.
struct Writer<'a> {
    rest: &'a mut [f32],
    turn: Color,
}

impl Writer<'_> {
    fn skip(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        self.rest = &mut rest[64..];
    }

    fn squares(&mut self, squares: Bitboard) {
        let seen = self.turn.fold_wb(squares, squares.flip_vertical());
        for square in seen {
            self.rest[square.to_usize()] = 1.0;
        }
        self.skip();
    }

    fn square(&mut self, square: Option<Square>) {
        self.squares(square.map_or(Bitboard::EMPTY, Bitboard::from_square));
    }

    fn number(&mut self, number: f32) {
        if number != 0.0 {
            self.rest[..64].fill(number);
        }
        self.skip();
    }

    fn flag(&mut self, flag: bool) {
        self.number(if flag { 1.0 } else { 0.0 });
    }
}

impl Writer<'_> {
    fn pieces<P: Position>(&mut self, position: &P) {
        for color in [self.turn, !self.turn] {
            for role in Role::ALL {
                self.squares(position.board().by_piece(role.of(color)));
            }
        }
    }

    fn repetitions(&mut self, repetitions: u32) {
        self.flag(repetitions >= 1);
        self.flag(repetitions >= 2);
    }

    fn castling<P: Position>(&mut self, position: &P) {
        for color in [self.turn, !self.turn] {
            for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
                self.flag(position.castles().has(color, side));
            }
        }
    }

    fn pockets<P: Position>(&mut self, position: &P) {
        for color in [self.turn, !self.turn] {
            for role in MATERIAL {
                let held = position.pockets().map_or(0, |pockets| pockets[color][role]);
                self.number(f32::from(held) / 32.0);
            }
        }
    }

    fn promoted<P: Position>(&mut self, position: &P) {
        for color in [self.turn, !self.turn] {
            self.squares(position.promoted() & position.board().by_color(color));
        }
    }

    fn history(&mut self, recent: &[MoveCode]) {
        for age in 0..HISTORY {
            let mv = recent.get(age).copied();
            self.square(mv.filter(|mv| moves::dropped(*mv).is_none()).map(moves::origin));
            self.square(mv.map(moves::target));
        }
    }

    fn material<P: Position>(&mut self, position: &P) {
        let board = position.board();
        let count = |color: Color, role: Role| board.by_piece(role.of(color)).count() as f32;
        for role in MATERIAL {
            self.number((count(self.turn, role) - count(!self.turn, role)) / 8.0);
        }
        let single = |color: Color| board.by_piece(color.bishop()).single_square();
        let opposite = match (single(Color::White), single(Color::Black)) {
            (Some(white), Some(black)) => white.is_light() != black.is_light(),
            _ => false,
        };
        self.flag(opposite);
        self.squares(position.checkers());
        for role in MATERIAL {
            self.number(count(self.turn, role) / 8.0);
        }
    }
}

/// Fills the version 3 planes of the board's variant, `count(variant) * 64` numbers.
pub(super) fn fill<P: Rules>(board: &Board<P>, recent: &[MoveCode], repetitions: u32, planes: &mut [f32]) {
    let position = board.position();
    let variant = board.variant();
    let planes = &mut planes[..count(variant) * 64];
    planes.fill(0.0);
    let turn = position.turn();
    let mut writer = Writer { rest: planes, turn };
    writer.pieces(position);
    writer.repetitions(repetitions);
    writer.square(position.legal_ep_square());
    writer.castling(position);
    let no_progress = if variant == Variant::Crazyhouse { 40.0 } else { 50.0 };
    writer.number(board.clock() as f32 / no_progress);
    writer.history(recent);
    writer.flag(board.is_chess960());
    for color in [turn, !turn] {
        writer.squares(position.board().by_color(color));
    }
    // The checkerboard belongs to the network's view and is not flipped with the board.
    writer.squares(turn.fold_wb(Bitboard::LIGHT_SQUARES, Bitboard::DARK_SQUARES));
    writer.material(position);
    match variant {
        Variant::Chess => {}
        Variant::Crazyhouse => {
            writer.pockets(position);
            writer.promoted(position);
        }
        _ => {
            for color in [turn, !turn] {
                let left = position.remaining_checks().map_or(0, |checks| u8::from(checks[color]));
                writer.number(f32::from(left) / 3.0);
            }
        }
    }
}

/// Fills the planes of crazyhouse version 1, `CRAZYHOUSE_V1_COUNT * 64` numbers.
pub fn fill_crazyhouse_v1<P: Rules>(board: &Board<P>, repetitions: u32, planes: &mut [f32]) {
    let position = board.position();
    let planes = &mut planes[..CRAZYHOUSE_V1_COUNT * 64];
    planes.fill(0.0);
    let turn = position.turn();
    let mut writer = Writer { rest: planes, turn };
    writer.pieces(position);
    writer.repetitions(repetitions);
    writer.pockets(position);
    writer.promoted(position);
    writer.square(position.legal_ep_square());
    writer.flag(turn.is_white());
    writer.number(position.fullmoves().get() as f32 / 500.0);
    writer.castling(position);
    writer.number(board.clock() as f32 / 40.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::chess::{ChessBoard, CrazyhouseBoard, VariantBoard};

    /// Compares planes with the squares that are set in them, as the side to move sees these.
    fn check_squares(planes: &[f32], expected: &[(usize, &str)]) {
        for (plane, squares) in expected {
            let set = (0..64).filter(|place| planes[plane * 64 + place] != 0.0);
            let names: Vec<String> = set.map(|place| Square::new(place as u32).to_string()).collect();
            assert_eq!(names.join(" "), *squares, "plane {plane}");
        }
    }

    /// Compares planes from `first` on with the numbers that fill them.
    fn check_numbers(planes: &[f32], first: usize, expected: &[f32]) {
        for (plane, number) in (first..).zip(expected) {
            assert_eq!(planes[plane * 64..][..64], [*number; 64], "plane {plane}");
        }
    }

    fn planes<P: Rules>(board: &Board<P>, recent: &[MoveCode], repetitions: u32) -> Vec<f32> {
        let mut planes = vec![f32::NAN; board.plane_shape().iter().product()];
        board.fill_planes(recent, repetitions, &mut planes);
        assert!(planes.iter().all(|number| number.is_finite()));
        planes
    }

    const LIGHT: &str = "b1 d1 f1 h1 a2 c2 e2 g2 b3 d3 f3 h3 a4 c4 e4 g4 b5 d5 f5 h5 a6 c6 e6 g6 b7 d7 f7 h7 \
        a8 c8 e8 g8";

    #[test]
    fn chess_for_white() {
        let text = "4k3/p7/8/2pP4/8/8/P6B/R3K3 w Q c6 0 9";
        let board = ChessBoard::from_fen(Variant::Chess, text, false).unwrap();
        let recent = [moves::plain(Square::C7, Square::C5), moves::plain(Square::E1, Square::H1)];
        let planes = planes(&board, &recent, 1);
        assert_eq!(planes.len(), 52 * 64);
        check_squares(&planes, &[(0, "a2 d5"), (2, "h2"), (3, "a1"), (5, "e1"), (6, "c5 a7"), (11, "e8")]);
        check_numbers(&planes, 12, &[1.0, 0.0]);
        check_squares(&planes, &[(14, "c6"), (20, "c7"), (21, "c5"), (22, "e1"), (23, "h1")]);
        check_numbers(&planes, 15, &[0.0, 1.0, 0.0, 0.0, 0.0]);
        check_numbers(&planes, 24, &[0.0; 13]);
        check_squares(&planes, &[(37, "a1 e1 a2 h2 d5"), (38, "c5 a7 e8"), (39, LIGHT)]);
        check_numbers(&planes, 40, &[0.0, 0.0, 0.125, 0.125, 0.0, 0.0, 0.0]);
        check_numbers(&planes, 47, &[0.25, 0.0, 0.125, 0.125, 0.0]);
    }

    #[test]
    fn chess_for_black() {
        let text = "r3k2r/p7/8/b7/8/8/P1B5/R3K3 w kq - 25 9";
        let mut board = ChessBoard::from_fen(Variant::Chess, text, true).unwrap();
        let mv = board.parse_move("Kf1").unwrap();
        board.play(mv);
        let planes = planes(&board, &[mv], 2);
        check_squares(&planes, &[(0, "a2"), (2, "a4"), (3, "a1 h1"), (5, "e1"), (11, "f8"), (39, LIGHT)]);
        check_numbers(&planes, 12, &[1.0, 1.0]);
        check_numbers(&planes, 15, &[1.0, 1.0, 0.0, 0.0, 26.0 / 50.0]);
        check_squares(&planes, &[(20, "e8"), (21, "f8")]);
        check_numbers(&planes, 36, &[1.0]);
        check_numbers(&planes, 43, &[0.125, 0.0, 1.0]);
    }

    #[test]
    fn crazyhouse_versions() {
        let text = "4k3/8/8/8/8/8/3q~4/4K3[PPn] w - - 20 51";
        let board = CrazyhouseBoard::from_fen(Variant::Crazyhouse, text, false).unwrap();
        let three = planes(&board, &[moves::dropping(Role::Knight, Square::A1)], 0);
        assert_eq!(three.len(), 64 * 64);
        let pockets = [0.0625, 0.0, 0.0, 0.0, 0.0, 0.0, 0.03125, 0.0, 0.0, 0.0];
        check_numbers(&three, 19, &[0.5]);
        check_squares(&three, &[(20, ""), (21, "a1"), (46, "d2"), (62, ""), (63, "d2")]);
        check_numbers(&three, 52, &pockets);

        let mut one = vec![f32::NAN; CRAZYHOUSE_V1_COUNT * 64];
        fill_crazyhouse_v1(&board, 0, &mut one);
        check_squares(&one, &[(10, "d2"), (25, "d2")]);
        check_numbers(&one, 14, &pockets);
        check_numbers(&one, 27, &[1.0, 0.102]);
        check_numbers(&one, 33, &[0.5]);
    }

    #[test]
    fn versions_by_name() {
        assert_eq!(Version::parse("v1", Variant::Crazyhouse), Ok(Version::One));
        assert_eq!(Version::parse("v3", Variant::Atomic), Ok(Version::Three));
        assert_eq!((Version::One.count(Variant::Crazyhouse), Version::Three.count(Variant::Chess)), (34, 52));
        let refused = Version::parse("v1", Variant::Chess).unwrap_err();
        assert_eq!(refused.to_string(), "there are no planes \"v1\" for chess; its versions are v3 and lc0");
        assert!(Version::parse("v2", Variant::Crazyhouse).is_err());
        assert_eq!(Version::parse("lc0", Variant::Chess), Ok(Version::Lc0));
        assert!(Version::parse("lc0", Variant::Crazyhouse).is_err());
    }

    #[test]
    fn checks_still_to_give() {
        let text = "4k3/8/8/8/8/8/8/4K2R b - - 3+1 0 1";
        let board = VariantBoard::from_fen(Variant::ThreeCheck, text, false).unwrap();
        let planes = planes(&board, &[], 0);
        assert_eq!(planes.len(), 54 * 64);
        check_numbers(&planes, 52, &[1.0 / 3.0, 1.0]);
    }
}
