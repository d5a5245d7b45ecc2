//! Legal moves where pieces move as in chess, drops included, straight into ascending move codes.
//!
//! Codes order by kind, then target, then origin. Plain moves are gathered as one set of origins per target
//! square, so that reading the sets in order needs no sorting; promotions and drops follow in the order of
//! their kinds. There is no limit on the number of moves, unlike shakmaty's list, so puzzle positions cannot
//! overflow anything.

use shakmaty::{Bitboard, ByRole, CastlingSide, Color, Position, Rank, Role, Square, attacks};

use super::moves;
use crate::game::MoveCode;

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;

/// Origins per target: of plain moves by square, of promotions by file.
struct Arrivals {
    plain: [Bitboard; 64],
    plain_targets: Bitboard,
    plain_count: usize,
    promotions: [Bitboard; 8],
    promotion_targets: Bitboard,
}

impl Arrivals {
    #[inline]
    fn add(&mut self, from: Square, targets: Bitboard) {
        self.plain_targets |= targets;
        for to in targets {
            self.plain[to.to_usize()].add(from);
            self.plain_count += 1;
        }
    }

    /// Adds the moves of a set of pawns that all travel by the same offset.
    #[inline]
    fn add_pawns(&mut self, targets: Bitboard, offset: i32) {
        let promotions = targets & Bitboard::BACKRANKS;
        let plain = targets ^ promotions;
        self.plain_targets |= plain;
        for to in plain {
            self.plain[to.to_usize()].add(behind(to, offset));
            self.plain_count += 1;
        }
        if promotions.any() {
            self.promotion_targets |= promotions;
            for to in promotions {
                self.promotions[to.to_usize() & 7].add(behind(to, offset));
            }
        }
    }
}

#[inline]
fn behind(to: Square, offset: i32) -> Square {
    Square::new((to.to_u32() as i32 - offset) as u32 & 63)
}

#[inline]
fn shift(squares: u64, offset: i32) -> u64 {
    if offset > 0 { squares << offset } else { squares >> -offset }
}

/// Replaces `list` by the legal moves of a position with one king a side.
pub(super) fn legal_moves<P: Position>(position: &P, list: &mut Vec<MoveCode>) {
    list.clear();
    let board = position.board();
    let turn = position.turn();
    let Some(king) = board.king_of(turn) else {
        return;
    };
    let occupied = board.occupied();
    let own = board.by_color(turn);
    let checkers = board.attacks_to(king, !turn, occupied);
    let mut arrivals = Arrivals {
        plain: [Bitboard::EMPTY; 64],
        plain_targets: Bitboard::EMPTY,
        plain_count: 0,
        promotions: [Bitboard::EMPTY; 8],
        promotion_targets: Bitboard::EMPTY,
    };

    let without_king = occupied.without(king);
    let mut steps = Bitboard::EMPTY;
    for to in attacks::king_attacks(king) & !own {
        if board.attacks_to(to, !turn, without_king).is_empty() {
            steps.add(to);
        }
    }
    arrivals.add(king, steps);

    // Where a piece other than the king may go while a check has to be met.
    let allowed = match (checkers.first(), checkers.more_than_one()) {
        (None, _) => Bitboard::FULL,
        (Some(checker), false) => attacks::between(king, checker).with(checker),
        (Some(_), true) => Bitboard::EMPTY,
    };
    if allowed.any() {
        let pinned = pinned(board, turn, king);
        let targets = allowed & !own;
        for from in board.knights() & own & !pinned {
            arrivals.add(from, attacks::knight_attacks(from) & targets);
        }
        for from in board.bishops_and_queens() & own {
            let mut reach = attacks::bishop_attacks(from, occupied) & targets;
            if pinned.contains(from) {
                reach &= attacks::ray(king, from);
            }
            arrivals.add(from, reach);
        }
        for from in board.rooks_and_queens() & own {
            let mut reach = attacks::rook_attacks(from, occupied) & targets;
            if pinned.contains(from) {
                reach &= attacks::ray(king, from);
            }
            arrivals.add(from, reach);
        }
        let pawns = board.pawns() & own;
        pawn_moves(board, turn, pawns & !pinned, allowed, &mut arrivals);
        for from in pawns & pinned {
            let line = attacks::ray(king, from);
            pawn_moves(board, turn, from.into(), allowed & line, &mut arrivals);
        }
    }
    if let Some(to) = position.maybe_ep_square() {
        for from in board.pawns() & own & attacks::pawn_attacks(!turn, to) {
            let taken = Square::from_coords(to.file(), from.rank());
            let after = occupied.without(from).without(taken).with(to);
            if board.attacks_to(king, !turn, after).without(taken).is_empty() {
                arrivals.add(from, to.into());
            }
        }
    }
    if checkers.is_empty() && position.castles().has_color(turn) {
        for side in CastlingSide::ALL {
            if let Some(rook) = castling_rook(position, king, side) {
                arrivals.add(king, rook.into());
            }
        }
    }

    // Writing into a slice spares the list's test for room at each move.
    list.resize(arrivals.plain_count, MoveCode::default());
    let mut places = list.iter_mut();
    for to in arrivals.plain_targets {
        for from in arrivals.plain[to.to_usize()] {
            if let Some(place) = places.next() {
                *place = moves::plain(from, to);
            }
        }
    }
    if arrivals.promotion_targets.any() {
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            for to in arrivals.promotion_targets {
                for from in arrivals.promotions[to.to_usize() & 7] {
                    list.push(moves::promoting(from, to, role));
                }
            }
        }
    }
    if let Some(pockets) = position.pockets() {
        let squares = match (checkers.first(), checkers.more_than_one()) {
            (None, _) => !occupied,
            (Some(checker), false) => attacks::between(king, checker),
            (Some(_), true) => Bitboard::EMPTY,
        };
        drops(pockets.get(turn), squares, list);
    }
}

fn drops(pocket: &ByRole<u8>, squares: Bitboard, list: &mut Vec<MoveCode>) {
    if pocket.pawn > 0 {
        list.extend((squares & !Bitboard::BACKRANKS).into_iter().map(|to| moves::dropping(Role::Pawn, to)));
    }
    // The pieces share their squares: the codes of the second kind are those of the first, moved up.
    let mut first: Option<(usize, Role)> = None;
    for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        if *pocket.get(role) == 0 {
            continue;
        }
        let start = list.len();
        if let Some((first_start, first_role)) = first {
            let kinds_up = (role as u16 - first_role as u16) << 12;
            list.extend_from_within(first_start..first_start + squares.count());
            for code in &mut list[start..] {
                code.0 += kinds_up;
            }
        } else {
            first = Some((start, role));
            list.extend(squares.into_iter().map(|to| moves::dropping(role, to)));
        }
    }
}

/// Own pieces that an enemy slider pins to the king.
#[inline]
fn pinned(board: &shakmaty::Board, turn: Color, king: Square) -> Bitboard {
    let own = board.by_color(turn);
    let enemies = board.by_color(!turn);
    // Through own pieces, but not through the enemy's.
    let snipers = enemies
        & ((attacks::rook_attacks(king, enemies) & board.rooks_and_queens())
            | (attacks::bishop_attacks(king, enemies) & board.bishops_and_queens()));
    let mut pinned = Bitboard::EMPTY;
    for sniper in snipers {
        let screen = attacks::between(king, sniper) & own;
        if !screen.more_than_one() {
            pinned |= screen;
        }
    }
    pinned
}

#[inline]
fn pawn_moves(
    board: &shakmaty::Board,
    turn: Color,
    pawns: Bitboard,
    allowed: Bitboard,
    arrivals: &mut Arrivals,
) {
    let forward = turn.fold_wb(8, -8);
    let enemies = board.by_color(!turn);
    let empty = !board.occupied();
    let single = Bitboard(shift(pawns.0, forward)) & empty;
    let third = Bitboard::from_rank(turn.fold_wb(Rank::Third, Rank::Sixth));
    let double = Bitboard(shift((single & third).0, forward)) & empty;
    let towards_a = Bitboard(shift(pawns.0 & !FILE_A, forward - 1)) & enemies;
    let towards_h = Bitboard(shift(pawns.0 & !FILE_H, forward + 1)) & enemies;
    arrivals.add_pawns(single & allowed, forward);
    arrivals.add_pawns(double & allowed, 2 * forward);
    arrivals.add_pawns(towards_a & allowed, forward - 1);
    arrivals.add_pawns(towards_h & allowed, forward + 1);
}

/// The rook of a legal castling move, while the king is not in check.
fn castling_rook<P: Position>(position: &P, king: Square, side: CastlingSide) -> Option<Square> {
    let turn = position.turn();
    let castles = position.castles();
    let rook = castles.rook(turn, side)?;
    let board = position.board();
    let occupied = board.occupied();
    if (castles.path(turn, side) & occupied).any() {
        return None;
    }
    // In Chess960 the rook may have covered the king's new square.
    let king_to = side.king_to(turn);
    let after = occupied ^ king ^ rook ^ side.rook_to(turn);
    if board.attacks_to(king_to, !turn, after).any() {
        return None;
    }
    for step in attacks::between(king, king_to) {
        if board.attacks_to(step, !turn, occupied.without(king)).any() {
            return None;
        }
    }
    Some(rook)
}

#[cfg(test)]
mod tests {
    use shakmaty::Chess;
    use shakmaty::variant::{Crazyhouse, VariantPosition};

    use super::*;
    use crate::game::Game;
    use crate::games::chess::random_games::{STARTS, play_randomly};
    use crate::games::chess::{Board, Rules, Variant};

    fn agrees_with_shakmaty<P: Rules>(variant: Variant, games: usize) {
        for game in 0..games {
            let start = (variant, STARTS[game % STARTS.len()], game % 2 == 1);
            play_randomly::<P>(start, game as u64, 150, |board, list| {
                let theirs = board.position().legal_moves();
                let mut codes: Vec<_> = theirs.iter().map(|mv| moves::encode(*mv)).collect();
                codes.sort_unstable();
                assert_eq!(list, codes, "{}", board.fen());
                for mv in theirs {
                    assert_eq!(moves::resolve(board.position(), moves::encode(mv)), mv);
                }
            });
        }
    }

    #[test]
    fn moves_are_those_of_shakmaty() {
        agrees_with_shakmaty::<Chess>(Variant::Chess, 300);
        agrees_with_shakmaty::<Crazyhouse>(Variant::Crazyhouse, 300);
        agrees_with_shakmaty::<VariantPosition>(Variant::KingOfTheHill, 100);
        agrees_with_shakmaty::<VariantPosition>(Variant::ThreeCheck, 100);
    }

    /// Shakmaty's list would overflow here.
    #[test]
    fn puzzles_may_have_any_number_of_moves() {
        let text = "3Q2bk/Q4Qpp/2Q4Q/4Q3/1Q4Q1/3Q4/Q4Q2/K1Q4Q[QRBNP] w - - 0 1";
        let mut board = Board::<Crazyhouse>::from_fen(Variant::Crazyhouse, text, false).unwrap();
        let mut list = Vec::new();
        board.legal_moves(&mut list);
        assert!(list.len() > 450, "{}", list.len());
        assert!(list.is_sorted());
        assert_eq!(board.ending(&list), None);
        assert_eq!(board.san(list[0]), board.san(board.parse_move(&board.uci(list[0])).unwrap()));
        board.play(list[list.len() - 1]);
        board.legal_moves(&mut list);
        assert!(list.len() < 100);
    }
}
