//! The evaluator that counts: material, the centre and a few hints on moves, in integers.
//!
//! It plays sensibly enough to make a search do real work, at a cost of some hundred nanoseconds. All lookups
//! per move are bitboards and small tables that are set up once per position.

use std::sync::atomic::AtomicBool;

use shakmaty::{Bitboard, Color, Role, Square, attacks};

use super::evaluator::{Evaluator, Leaf};
use crate::game::MoveCode;
use crate::games::chess::{Board, CheckRule, Rules, Variant, moves};

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

/// What a piece gains from its square.
static PLACES: [i32; 64] = places();

const fn places() -> [i32; 64] {
    let mut table = [0; 64];
    let mut square = 0;
    while square < 64 {
        if CENTRE.0 >> square & 1 == 1 {
            table[square] = 10;
        } else if RING.0 >> square & 1 == 1 {
            table[square] = 4;
        }
        square += 1;
    }
    table
}

// Logits are whole numbers of 1/64, so sums of them are exact.
const CHECK: f32 = 96.0 / 64.0;
const CASTLING: f32 = 32.0 / 64.0;
const QUEENING: f32 = 128.0 / 64.0;
const UNDERPROMOTION: f32 = -64.0 / 64.0;
const PAWN_GUARDED: f32 = -64.0 / 64.0;
const NEAR_KING: f32 = 24.0 / 64.0;

/// Sums of check (1), guarded by a pawn (2) and near the king (4).
static BONUSES: [f32; 8] = [
    0.0,
    CHECK,
    PAWN_GUARDED,
    PAWN_GUARDED + CHECK,
    NEAR_KING,
    NEAR_KING + CHECK,
    NEAR_KING + PAWN_GUARDED,
    NEAR_KING + PAWN_GUARDED + CHECK,
];

/// Logit of a capture by attacker and victim; 0 without a victim.
type Captures = [[f32; 8]; 8];
static CHESS_CAPTURES: Captures = captures(CHESS);
static CRAZYHOUSE_CAPTURES: Captures = captures(CRAZYHOUSE);

const fn captures(values: Values) -> Captures {
    let mut table = [[0.0; 8]; 8];
    let mut attacker = 1;
    while attacker < 7 {
        let mut victim = 1;
        while victim < 7 {
            let logit = 64 + values[victim] * 16 / 100 - values[attacker] * 4 / 100;
            table[attacker][victim] = logit as f32 / 64.0;
            victim += 1;
        }
        attacker += 1;
    }
    table
}

/// What the rules of some variants make of king and checks.
fn variant_worth<P: Rules>(position: &P, variant: Variant, color: Color) -> i32 {
    let king = position.board().king_of(color);
    match variant {
        Variant::ThreeCheck => {
            position.remaining_checks().map_or(0, |checks| 150 * (3 - i32::from(checks[color])))
        }
        Variant::KingOfTheHill => king.map_or(0, |king| {
            let steps = CENTRE.into_iter().map(|square| king.distance(square)).min();
            15 * (3 - steps.unwrap_or(3) as i32)
        }),
        Variant::RacingKings => king.map_or(0, |king| 60 * i32::from(u8::from(king.rank()))),
        _ => 0,
    }
}

/// What the logits of all moves of a position need to know.
struct Hints<'a, P> {
    board: &'a Board<P>,
    /// Role on each square, 0 for none.
    roles: [u8; 64],
    /// By role of a piece that moves, and from 8 by kind of a drop.
    rows: [BonusSquares; 16],
    own: Bitboard,
    near_king: Bitboard,
    /// Where moves start that may uncover a check, or whose check is known only after they are played.
    rare_origins: Bitboard,
    /// Where castling and en passant go.
    rare_targets: Bitboard,
    captures: &'static Captures,
    /// Material and centre, own minus the opponent's.
    balance: i32,
}

/// Squares where a kind of piece gets a bonus or a malus.
#[derive(Clone, Copy)]
struct BonusSquares {
    checks: Bitboard,
    guarded: Bitboard,
}

impl BonusSquares {
    /// Check and guard as an index of [`BONUSES`].
    #[inline]
    fn bonus(&self, to: Square) -> usize {
        moves::bit(self.checks, to) + 2 * moves::bit(self.guarded, to)
    }
}

/// The kind of a drop is the role and this.
const DROPS: usize = 7;

impl<'a, P: Rules> Hints<'a, P> {
    fn new(board: &'a Board<P>, variant: Variant) -> Hints<'a, P> {
        let position = board.position();
        let pieces = position.board();
        let turn = position.turn();
        let own = pieces.by_color(turn);
        let (values, captures) = match variant {
            Variant::Crazyhouse => (&CRAZYHOUSE, &CRAZYHOUSE_CAPTURES),
            _ => (&CHESS, &CHESS_CAPTURES),
        };

        let mut roles = [0; 64];
        let mut balance = 0;
        for role in Role::ALL {
            for square in pieces.by_role(role) {
                roles[square.to_usize()] = role as u8;
                if role != Role::King {
                    let worth = values[role as usize] + PLACES[square.to_usize()];
                    balance += worth * (2 * moves::bit(own, square) as i32 - 1);
                }
            }
        }
        if let Some(pockets) = position.pockets() {
            for role in Role::ALL {
                let more = i32::from(pockets[turn][role]) - i32::from(pockets[!turn][role]);
                balance += more * values[role as usize];
            }
        }

        let (left, right) = moves::pawn_attacks(pieces, !turn);
        let guarded = left | right;
        let checks = board.check_info();
        let check_rule = position.check_rule();
        let empty = BonusSquares { checks: Bitboard::EMPTY, guarded: Bitboard::EMPTY };
        let mut rows = [empty; 16];
        for role in Role::ALL {
            let row = BonusSquares {
                checks: if check_rule == CheckRule::Chess {
                    checks.squares_of(role)
                } else {
                    Bitboard::EMPTY
                },
                guarded: if role == Role::Pawn { Bitboard::EMPTY } else { guarded & !pieces.occupied() },
            };
            rows[role as usize] = row;
            rows[role as usize + DROPS] = row;
        }
        Hints {
            board,
            roles,
            rows,
            own,
            near_king: pieces.king_of(!turn).map_or(Bitboard::EMPTY, attacks::king_attacks),
            rare_origins: match check_rule {
                CheckRule::Chess => checks.discoverers(),
                CheckRule::Never => Bitboard::EMPTY,
                CheckRule::Play => Bitboard::FULL,
            },
            rare_targets: position.maybe_ep_square().map_or(own, |square| own.with(square)),
            captures,
            balance,
        }
    }

    #[inline]
    fn logit(&self, code: MoveCode) -> f32 {
        let to = moves::target(code);
        let kind = usize::from(code.0 >> 12);
        if kind > DROPS {
            let row = &self.rows[kind];
            let near = moves::bit(self.near_king, to);
            return BONUSES[row.bonus(to) + 4 * near];
        }
        let from = moves::origin(code);
        let mover = usize::from(self.roles[from.to_usize()] & 7);
        let victim = usize::from(self.roles[to.to_usize()] & 7);
        if kind + moves::bit(self.rare_origins, from) + moves::bit(self.rare_targets, to) != 0 {
            return self.rare_logit(code, mover, victim);
        }
        BONUSES[self.rows[mover].bonus(to)] + self.captures[mover][victim]
    }

    /// Promotions, castling, en passant, discovered checks, and the checks of variants.
    #[cold]
    fn rare_logit(&self, code: MoveCode, mover: usize, victim: usize) -> f32 {
        let to = moves::target(code);
        let check = if self.board.gives_check(code) { CHECK } else { 0.0 };
        if self.own.contains(to) {
            return CASTLING + check;
        }
        let is_pawn = mover == Role::Pawn as usize;
        let is_en_passant = is_pawn && victim == 0 && moves::origin(code).file() != to.file();
        let victim = if is_en_passant { Role::Pawn as usize } else { victim };
        let promotion = match moves::promotion(code) {
            None => 0.0,
            Some(Role::Queen) => QUEENING,
            Some(_) => UNDERPROMOTION,
        };
        check
            + promotion
            + PAWN_GUARDED * moves::bit(self.rows[mover].guarded, to) as f32
            + self.captures[mover][victim]
    }
}

/// The value in centipawns for the side to move.
fn score<P: Rules>(position: &P, variant: Variant, balance: i32) -> i32 {
    let turn = position.turn();
    let balance = match variant {
        Variant::Antichess => -balance,
        Variant::ThreeCheck | Variant::KingOfTheHill | Variant::RacingKings => {
            balance + variant_worth(position, variant, turn) - variant_worth(position, variant, !turn)
        }
        _ => balance,
    };
    balance + 10
}

impl<P: Rules> Evaluator<Board<P>> for Material {
    fn evaluate(&self, leaf: &Leaf<Board<P>>, logits: &mut Vec<f32>, _cancel: &AtomicBool) -> f32 {
        let variant = leaf.game.variant();
        let hints = Hints::new(&leaf.game, variant);
        logits.clear();
        logits.extend(leaf.moves.iter().map(|code| hints.logit(*code)));
        let score = f64::from(score(leaf.game.position(), variant, hints.balance));
        (score / (score.abs() + 400.0)) as f32
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::variant::VariantPosition;

    use super::*;
    use crate::game::Game;
    use crate::games::chess::random_games::{STARTS, check_all_starts, play_randomly};
    use crate::games::chess::{ChessBoard, CrazyhouseBoard, VariantBoard};

    fn evaluated<P: Rules>(board: Board<P>) -> (f32, Leaf<Board<P>>, Vec<f32>) {
        let mut moves = Vec::new();
        board.legal_moves(&mut moves);
        let leaf = Leaf { game: board, moves, line: Vec::new(), repetitions: 0 };
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

    /// Section 10 of the algorithm, word by word.
    fn logit_by_the_book<P: Rules>(board: &Board<P>, code: MoveCode) -> i32 {
        let position = board.position();
        let (pieces, turn) = (position.board(), position.turn());
        let mv = moves::resolve(position, code);
        let worth = |role: Role| match board.variant() {
            Variant::Crazyhouse => CRAZYHOUSE[role as usize],
            _ => CHESS[role as usize],
        };
        let mut logit = 0;
        if let Some(victim) = mv.capture() {
            logit += 64 + worth(victim) * 16 / 100 - worth(mv.role()) * 4 / 100;
        } else if mv.role() != Role::Pawn && !mv.is_castle() {
            let pawns = pieces.by_piece((!turn).pawn());
            if (attacks::pawn_attacks(turn, mv.to()) & pawns).any() {
                logit -= 64;
            }
        }
        let mut after = position.clone();
        after.play_unchecked(mv);
        if after.is_check() {
            logit += 96;
        }
        match mv.promotion() {
            Some(Role::Queen) => logit += 128,
            Some(_) => logit -= 64,
            None => {}
        }
        if mv.is_castle() {
            logit += 32;
        }
        let enemy_king = pieces.king_of(!turn);
        if mv.is_put() && enemy_king.is_some_and(|king| king.distance(mv.to()) == 1) {
            logit += 24;
        }
        logit
    }

    fn goes_by_the_book<P: Rules>(variant: Variant, text: &str, chess960: bool) {
        play_randomly::<P>((variant, text, chess960), 11, 100, |board, moves| {
            let (value, _, logits) = evaluated(board.clone());
            assert!(value.abs() < 1.0);
            for (code, logit) in moves.iter().zip(logits) {
                let expected = logit_by_the_book(board, *code) as f32 / 64.0;
                assert_eq!(logit, expected, "{} {}", board.fen(), board.uci(*code));
            }
        });
    }

    #[test]
    fn logits_go_by_the_book() {
        check_all_starts!(goes_by_the_book);
        for text in STARTS {
            goes_by_the_book::<VariantPosition>(Variant::Atomic, text, true);
            goes_by_the_book::<VariantPosition>(Variant::Antichess, text, false);
        }
    }
}
