//! The evaluator that counts: material, the centre and a few hints on moves, in integers.
//!
//! It plays sensibly enough to make a search do real work, at a cost of some hundred nanoseconds. All lookups per move are
//! bitboards and small tables that are set up once per position.

use std::sync::atomic::AtomicBool;

use shakmaty::{Bitboard, Color, Role, attacks};

use crate::chess::{Board, CheckInfo, Rules, Variant, moves};
use crate::evaluator::{Evaluator, Leaf};
use crate::game::MoveCode;

/// Material and centre.
#[derive(Clone, Copy, Debug, Default)]
pub struct Material;

/// Centipawns by role; index 0 is no piece.
type Values = [i32; 7];
const CHESS: Values = [0, 100, 300, 310, 500, 900, 0];
const CRAZYHOUSE: Values = [0, 100, 230, 230, 270, 480, 0];

/// d4 e4 d5 e5.
const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);
/// The other squares of c3..f6.
const RING: Bitboard = Bitboard(0x0000_3C24_243C_0000);

const CHECK: i32 = 96;
const CASTLING: i32 = 32;
const QUEENING: i32 = 128;
const UNDERPROMOTION: i32 = -64;
const PAWN_GUARDED: i32 = -64;
const NEAR_KING: i32 = 24;

/// Logit of a capture by attacker and victim, in 1/64.
type Captures = [[i32; 7]; 7];
static CHESS_CAPTURES: Captures = captures(CHESS);
static CRAZYHOUSE_CAPTURES: Captures = captures(CRAZYHOUSE);

const fn captures(values: Values) -> Captures {
    let mut table = [[0; 7]; 7];
    let mut attacker = 0;
    while attacker < 7 {
        let mut victim = 0;
        while victim < 7 {
            table[attacker][victim] = 64 + values[victim] * 16 / 100 - values[attacker] * 4 / 100;
            victim += 1;
        }
        attacker += 1;
    }
    table
}

/// Material, centre and what the variant adds, of one side.
fn worth<P: Rules>(position: &P, values: &Values, color: Color) -> i32 {
    let board = position.board();
    let own = board.by_color(color);
    let pieces = own & !board.kings();
    let mut sum = 10 * (pieces & CENTRE).count() as i32 + 4 * (pieces & RING).count() as i32;
    for role in [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        let mut count = (own & board.by_role(role)).count() as i32;
        if let Some(pockets) = position.pockets() {
            count += i32::from(pockets[color][role]);
        }
        sum += count * values[role as usize];
    }
    sum
}

/// What the rules of some variants make of king and checks.
fn variant_worth<P: Rules>(position: &P, variant: Variant, color: Color) -> i32 {
    let king = position.board().king_of(color);
    match variant {
        Variant::ThreeCheck => position.remaining_checks().map_or(0, |checks| 150 * (3 - i32::from(checks[color]))),
        Variant::KingOfTheHill => king.map_or(0, |king| {
            let steps = CENTRE.into_iter().map(|square| king.distance(square)).min();
            15 * (3 - steps.unwrap_or(3) as i32)
        }),
        Variant::RacingKings => king.map_or(0, |king| 60 * i32::from(u8::from(king.rank()))),
        _ => 0,
    }
}

/// The value in centipawns for the side to move.
fn score<P: Rules>(position: &P, variant: Variant) -> i32 {
    let values = match variant {
        Variant::Crazyhouse => &CRAZYHOUSE,
        _ => &CHESS,
    };
    let turn = position.turn();
    let mut score = worth(position, values, turn) - worth(position, values, !turn);
    match variant {
        Variant::Antichess => score = -score,
        Variant::ThreeCheck | Variant::KingOfTheHill | Variant::RacingKings => {
            score += variant_worth(position, variant, turn) - variant_worth(position, variant, !turn);
        }
        _ => {}
    }
    score + 10
}

/// What the logits of all moves of a position need to know.
struct Hints<'a, P> {
    board: &'a Board<P>,
    roles: [u8; 64],
    own: Bitboard,
    checks: Option<CheckInfo>,
    checks_by_playing: bool,
    pawn_guarded: Bitboard,
    near_king: Bitboard,
    captures: &'static Captures,
}

fn role(index: u8) -> Role {
    match index {
        2 => Role::Knight,
        3 => Role::Bishop,
        4 => Role::Rook,
        5 => Role::Queen,
        6 => Role::King,
        _ => Role::Pawn,
    }
}

impl<'a, P: Rules> Hints<'a, P> {
    fn new(board: &'a Board<P>, variant: Variant) -> Hints<'a, P> {
        let position = board.position();
        let pieces = position.board();
        let turn = position.turn();
        let mut roles = [0; 64];
        for role in Role::ALL {
            for square in pieces.by_role(role) {
                roles[square.to_usize()] = role as u8;
            }
        }
        let enemy_pawns = pieces.by_piece((!turn).pawn()).0;
        let not_a = !0x0101_0101_0101_0101_u64;
        let not_h = !0x8080_8080_8080_8080_u64;
        let pawn_guarded =
            turn.fold_wb((enemy_pawns & not_a) >> 9 | (enemy_pawns & not_h) >> 7, (enemy_pawns & not_a) << 7 | (enemy_pawns & not_h) << 9);
        Hints {
            board,
            roles,
            own: pieces.by_color(turn),
            checks: position.check_rule().is_chess().then(|| board.check_info()),
            checks_by_playing: position.check_rule().is_played(),
            pawn_guarded: Bitboard(pawn_guarded),
            near_king: pieces.king_of(!turn).map_or(Bitboard::EMPTY, attacks::king_attacks),
            captures: match variant {
                Variant::Crazyhouse => &CRAZYHOUSE_CAPTURES,
                _ => &CHESS_CAPTURES,
            },
        }
    }

    /// The logit of a move in 1/64.
    #[inline]
    fn logit(&self, code: MoveCode) -> i32 {
        let to = moves::target(code);
        let guarded = self.pawn_guarded.contains(to);
        if let Some(dropped) = moves::dropped(code) {
            let mut logit = 0;
            if self.checks.is_some_and(|checks| checks.attacks_from(dropped, to)) {
                logit += CHECK;
            }
            if guarded && dropped != Role::Pawn {
                logit += PAWN_GUARDED;
            }
            if self.near_king.contains(to) {
                logit += NEAR_KING;
            }
            return logit;
        }
        let from = moves::origin(code);
        let mover = self.roles[from.to_usize()];
        let mut victim = self.roles[to.to_usize()];
        if self.own.contains(to) {
            return CASTLING + self.check_by_playing(code);
        }
        let is_pawn = mover == Role::Pawn as u8;
        let en_passant = is_pawn && victim == 0 && from.file() != to.file();
        if en_passant {
            victim = Role::Pawn as u8;
        }
        let mut logit = 0;
        if victim != 0 {
            logit += self.captures[usize::from(mover)][usize::from(victim)];
        } else if guarded && !is_pawn {
            logit += PAWN_GUARDED;
        }
        let promotion = moves::promotion(code);
        match promotion {
            None => {}
            Some(Role::Queen) => logit += QUEENING,
            Some(_) => logit += UNDERPROMOTION,
        }
        if en_passant {
            return logit + self.check_by_playing(code);
        }
        let gives_check = match (&self.checks, promotion) {
            (None, _) => self.checks_by_playing && self.board.gives_check_when_played(code),
            (Some(checks), Some(role)) => checks.promotion_checks(role, from, to),
            (Some(checks), None) => checks.move_checks(role(mover), from, to),
        };
        if gives_check { logit + CHECK } else { logit }
    }

    /// For moves that change more than two squares.
    #[cold]
    fn check_by_playing(&self, code: MoveCode) -> i32 {
        let possible = self.checks.is_some() || self.checks_by_playing;
        if possible && self.board.gives_check_when_played(code) { CHECK } else { 0 }
    }
}

impl<P: Rules> Evaluator<Board<P>> for Material {
    fn evaluate(&self, leaf: &Leaf<Board<P>>, logits: &mut Vec<f32>, _cancel: &AtomicBool) -> f32 {
        let variant = leaf.game.variant();
        let hints = Hints::new(&leaf.game, variant);
        logits.clear();
        logits.extend(leaf.moves.iter().map(|code| hints.logit(*code) as f32 / 64.0));
        let score = f64::from(score(leaf.game.position(), variant));
        (score / (score.abs() + 400.0)) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{ChessBoard, CrazyhouseBoard, VariantBoard};
    use crate::game::Game;

    fn evaluated<P: Rules>(board: Board<P>) -> (f32, Leaf<Board<P>>, Vec<f32>) {
        let mut moves = Vec::new();
        board.legal_moves(&mut moves);
        let leaf = Leaf { game: board, moves, recent: Vec::new(), repetitions: 0 };
        let mut logits = Vec::new();
        let value = Material.evaluate(&leaf, &mut logits, &AtomicBool::new(false));
        assert_eq!(logits.len(), leaf.moves.len());
        (value, leaf, logits)
    }

    fn logit<P: Rules>(board: &Board<P>, mv: &str) -> f32 {
        let code = board.parse_move(mv).unwrap();
        let (_, leaf, logits) = evaluated(board.clone());
        64.0 * logits[leaf.moves.binary_search(&code).unwrap()]
    }

    fn value_of(score: f64) -> f32 {
        (score / (score.abs() + 400.0)) as f32
    }

    #[test]
    fn values() {
        let value = |variant: Variant, text: &str| match variant {
            Variant::Chess => evaluated(ChessBoard::from_fen(variant, text, false).unwrap()).0,
            Variant::Crazyhouse => evaluated(CrazyhouseBoard::from_fen(variant, text, false).unwrap()).0,
            _ => evaluated(VariantBoard::from_fen(variant, text, false).unwrap()).0,
        };
        let text = "4k3/8/2n5/8/3P4/8/8/R3K3 w - - 0 1";
        assert_eq!(value(Variant::Chess, text), value_of(110.0 + 500.0 - 304.0 + 10.0));
        let black = text.replace(" w ", " b ");
        assert_eq!(value(Variant::Chess, &black), value_of(304.0 - 610.0 + 10.0));
        assert_eq!(value(Variant::Antichess, text), value_of(-306.0 + 10.0));
        assert_eq!(value(Variant::KingOfTheHill, text), value_of(306.0 + 10.0));
        let checks = "4k3/8/8/8/8/8/8/R3K3 b - - 3+1 0 1";
        assert_eq!(value(Variant::ThreeCheck, checks), value_of(300.0 - 500.0 + 10.0));
        let hill = "8/4k3/8/8/8/8/8/R3K3 w - - 0 1";
        assert_eq!(value(Variant::KingOfTheHill, hill), value_of(500.0 - 15.0 + 10.0));
        let race = "8/8/8/4k3/8/8/8/1K5R w - - 0 1";
        assert_eq!(value(Variant::RacingKings, race), value_of(500.0 - 240.0 + 10.0));
        let pocket = "4k3/8/8/3q~4/8/8/8/4K3[PPr] w - - 0 1";
        assert_eq!(value(Variant::Crazyhouse, pocket), value_of(200.0 - 490.0 - 270.0 + 10.0));
    }

    #[test]
    fn logits_by_hand() {
        let text = "r2k4/1P5q/8/3pP3/2p5/3Q4/P2N2P1/R3K3 w Q d6 0 1";
        let board = ChessBoard::from_fen(Variant::Chess, text, false).unwrap();
        assert_eq!(logit(&board, "e5d6"), 64.0 + 16.0 - 4.0);
        assert_eq!(logit(&board, "d3d5"), 64.0 + 16.0 - 36.0 + 96.0);
        assert_eq!(logit(&board, "d3c4"), 64.0 + 16.0 - 36.0);
        assert_eq!(logit(&board, "b7a8q"), 64.0 + 80.0 - 4.0 + 128.0 + 96.0);
        assert_eq!(logit(&board, "b7b8n"), -64.0);
        assert_eq!(logit(&board, "e1c1"), 32.0);
        assert_eq!(logit(&board, "d3e4"), -64.0);
        assert_eq!(logit(&board, "d2b3"), -64.0);
        assert_eq!(logit(&board, "a2a3"), 0.0);
        let text = "4k3/8/8/8/5p2/8/8/4K3[PN] w - - 0 1";
        let board = CrazyhouseBoard::from_fen(Variant::Crazyhouse, text, false).unwrap();
        assert_eq!(logit(&board, "P@d7"), 24.0 + 96.0);
        assert_eq!(logit(&board, "P@e3"), 0.0);
        assert_eq!(logit(&board, "N@e3"), -64.0);
        assert_eq!(logit(&board, "N@f7"), 24.0);
        assert_eq!(logit(&board, "N@c7"), 96.0);
    }
}
