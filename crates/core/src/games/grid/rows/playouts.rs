//! Random playouts of many positions at once: in every step all games that go on play one action.
//!
//! Each game has a random source of its own, so its result does not depend on the others.

use super::RowGame;
use crate::game::Game;
use crate::random::{Random, mix};

/// A game under way.
struct Playout {
    /// The position that it began at.
    place: usize,
    player: u8,
    random: Random,
}

/// The mean values of some playouts for the sides to move; `None` where the rules fail or a stop comes.
pub(super) fn play(games: &[&RowGame], count: u64, seed: u64, stop: &dyn Fn() -> bool) -> Option<Vec<f32>> {
    let mut sums = vec![0.0; games.len()];
    let Some(first) = games.first() else { return Some(Vec::new()) };
    let (rules, shape) = (first.store.rules(), first.store.shape());
    let (bytes, legal_bytes) = (shape.bytes, shape.actions.len().div_ceil(8));
    let mut running: Vec<Playout> = Vec::new();
    let (mut rows, mut legal) = (Vec::new(), Vec::new());
    let mut least_ply = u32::MAX;
    for (place, game) in games.iter().enumerate() {
        least_ply = least_ply.min(game.ply);
        let random = Random::new(mix(seed) ^ game.fingerprint());
        for number in 0..count {
            let random = if number == 0 { random.clone() } else { Random::new(mix(random.state ^ number)) };
            running.push(Playout { place, player: game.player, random });
            game.with_record(|record| {
                rows.extend_from_slice(&record[..bytes]);
                legal.extend_from_slice(&record[bytes..bytes + legal_bytes]);
            });
        }
    }
    let mut actions = Vec::new();
    for _ in least_ply..shape.most_moves {
        if running.is_empty() || stop() {
            break;
        }
        actions.clear();
        for (playout, bits) in running.iter_mut().zip(legal.chunks_exact(legal_bytes)) {
            actions.push(draw(bits, &mut playout.random));
        }
        let after = rules.play(&rows, &actions)?;
        rows.clear();
        legal.clear();
        let mut index = 0;
        running.retain(|playout| {
            let (at, value) = (index, after.values[index]);
            index += 1;
            if value.is_nan() {
                rows.extend_from_slice(&after.rows[at * bytes..(at + 1) * bytes]);
                legal.extend_from_slice(&after.legal[at * legal_bytes..(at + 1) * legal_bytes]);
                return true;
            }
            sums[playout.place] += if after.players[at] == playout.player { value } else { -value };
            false
        });
    }
    if stop() {
        return None;
    }
    if !running.is_empty() {
        rules.has_no_end();
        return None;
    }
    Some(sums.into_iter().map(|sum| (sum / count as f64) as f32).collect())
}

/// One of the legal actions.
fn draw(bits: &[u8], random: &mut Random) -> u16 {
    let total: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
    let mut left = random.index(total as usize) as u32;
    for (at, &byte) in bits.iter().enumerate() {
        let here = byte.count_ones();
        if left < here {
            let mut rest = byte;
            for _ in 0..left {
                rest &= rest - 1;
            }
            return (8 * at) as u16 + rest.trailing_zeros() as u16;
        }
        left -= here;
    }
    0
}
