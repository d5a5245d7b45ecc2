//! The checksum in the last sixteen bytes of a tablebase file: whether the file is what its maker wrote.
//!
//! The format demands CityHashCrc256 (by Pike and Alakuijala, built on CRC-32C) of every 16 MiB of the file,
//! and a 128-bit hash over these. It is no protection against malice, but finds every accident. Knows bytes
//! only.

use std::io::{self, Read};

/// Bytes of the checksum.
pub const SIZE: u64 = 16;

const PIECE: u64 = 1 << 24;
/// Bytes that one round of the long hash takes.
const ROUND: usize = 40;
/// Shortest input of the long hash: six rounds.
const LEAST: usize = 6 * ROUND;
/// Inputs up to this length are hashed by the short 128-bit hash in the end.
const MOST_SHORT: usize = 900;

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K3: u64 = 0xc949_d7c7_509e_6557;
const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;

/// Whether a file of this length ends with the checksum of its content.
pub fn matches(file: &mut dyn Read, length: u64) -> io::Result<bool> {
    let Some(mut left) = length.checked_sub(SIZE) else { return Ok(false) };
    let mut digests = Vec::new();
    let mut piece = vec![0; left.min(PIECE) as usize];
    while left > 0 {
        let size = left.min(PIECE) as usize;
        file.read_exact(&mut piece[..size])?;
        for word in hash_256(&piece[..size]) {
            digests.extend(word.to_le_bytes());
        }
        left -= size as u64;
    }
    let mut stored = [0; SIZE as usize];
    file.read_exact(&mut stored)?;
    let (low, high) = if digests.len() <= MOST_SHORT {
        hash_128(&digests)
    } else {
        let [.., low, high] = hash_256(&digests);
        (low, high)
    };
    Ok(stored[..8] == low.to_le_bytes() && stored[8..] == high.to_le_bytes())
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn fold(value: u64) -> u64 {
    value ^ (value >> 47)
}

fn combine(low: u64, high: u64) -> u64 {
    let a = fold((low ^ high).wrapping_mul(MULTIPLIER));
    fold((high ^ a).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER)
}

/// CRC-32C of one byte, for each byte, and of the same byte followed by up to seven zero bytes.
static CRC: [[u32; 256]; 8] = crc_tables();

const fn crc_tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[zeros - 1][byte];
            tables[zeros][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        zeros += 1;
    }
    tables
}

/// Takes eight more bytes into a CRC-32C, without the inversions at its ends.
fn crc(state: u64, word: u64) -> u64 {
    let mixed = (word ^ (state & 0xffff_ffff)).to_le_bytes();
    let sum =
        mixed.iter().zip(CRC.iter().rev()).fold(0, |sum, (&byte, table)| sum ^ table[usize::from(byte)]);
    u64::from(sum)
}

/// The state of the long hash: five words that go round with a sixth, and five running CRCs.
struct Long {
    ring: [u64; 6],
    crcs: [u64; 5],
}

impl Long {
    /// Takes forty bytes.
    fn take(&mut self, bytes: &[u8], multiplier: u64, twist: u32) {
        const TURNS: [u32; 5] = [41, 27, 41, 33, 25];
        let [a, b, c, d, e, t] = self.ring;
        for (i, source) in [b, c, d, e, t].into_iter().enumerate() {
            self.ring[i] = source
                .rotate_right(TURNS[i] ^ twist)
                .wrapping_mul(multiplier)
                .wrapping_add(word(bytes, 8 * i));
            self.crcs[i] = crc(self.crcs[i], self.ring[i]);
        }
        self.ring[5] = a;
    }
}

/// CityHashCrc256.
fn hash_256(bytes: &[u8]) -> [u64; 4] {
    if bytes.len() >= LEAST {
        return hash_long(bytes, 0);
    }
    let mut padded = [0; LEAST];
    padded[..bytes.len()].copy_from_slice(bytes);
    hash_long(&padded, !(bytes.len() as u32))
}

fn hash_long(bytes: &[u8], seed: u32) -> [u64; 4] {
    let (length, seed) = (bytes.len() as u64, u64::from(seed));
    let a = word(bytes, 56).wrapping_add(K0);
    let b = word(bytes, 96).wrapping_add(K0);
    let first = combine(b, length);
    let second = word(bytes, 120).wrapping_mul(K0).wrapping_add(length);
    let e = word(bytes, 184).wrapping_add(seed);
    let mut state =
        Long { ring: [a, b, first, second, e, first.wrapping_add(second)], crcs: [seed, 0, 0, 0, 0] };
    let whole = bytes.len() / LEAST * LEAST;
    for (i, round) in bytes[..whole].chunks_exact(ROUND).enumerate() {
        let (multiplier, twist) = if i % 2 == 0 { (1, 1) } else { (K0, 0) };
        state.take(round, multiplier, twist);
    }
    let rest = bytes[whole..].chunks_exact(ROUND);
    let is_ragged = !rest.remainder().is_empty();
    for round in rest {
        state.take(round, K0, 0);
    }
    if is_ragged {
        state.take(&bytes[bytes.len() - ROUND..], K0, 0);
    }
    state.finish(first, second)
}

impl Long {
    fn finish(self, first: u64, second: u64) -> [u64; 4] {
        let add = u64::wrapping_add;
        let shift_mix = |value: u64| fold(value.wrapping_mul(K0)).wrapping_mul(K0);
        let [a, b, c, d, e, t] = self.ring;
        let [f, g, h, i, j] = self.crcs;
        let j = add(j, i << 32);
        let a = combine(a, j);
        let h = add(h, g << 32);
        let b = add(b, h);
        let c = add(combine(c, f), i);
        let d = combine(d, add(e, first));
        let j = add(j, e);
        let i = add(i, combine(h, t));
        let e = add(combine(a, d), j);
        let f = add(combine(b, c), a);
        let g = add(combine(j, i), c);
        let one = add(add(e, f), add(g, h));
        let a = add(shift_mix(add(a, g)), b);
        let two = add(second, add(a, one));
        let a = add(shift_mix(a), c);
        let three = add(a, two);
        let a = shift_mix(add(a, e));
        [one, two, three, add(a, three)]
    }
}

/// CityHash128, for inputs of 32 bytes and more.
fn hash_128(bytes: &[u8]) -> (u64, u64) {
    let (low, high) = (word(bytes, 0) ^ K3, word(bytes, 8));
    let rest = &bytes[16..];
    if rest.len() < 128 { murmur(rest, low, high) } else { hash_128_long(rest, low, high) }
}

fn murmur(bytes: &[u8], low: u64, high: u64) -> (u64, u64) {
    let (mut a, mut b) = (low, high);
    let length = bytes.len();
    let (mut c, mut d);
    let stir = |value: u64| fold(value.wrapping_mul(K1)).wrapping_mul(K1);
    if length <= 16 {
        // Digests come in 32 bytes: what is left after the seed has 16.
        let (first, last) = (word(bytes, 0), word(bytes, length - 8));
        let short = combine(first, last.wrapping_add(length as u64).rotate_right(length as u32)) ^ last;
        a = stir(a);
        c = b.wrapping_mul(K1).wrapping_add(short);
        d = fold(a.wrapping_add(first));
    } else {
        c = combine(word(bytes, length - 8).wrapping_add(K1), a);
        d = combine(b.wrapping_add(length as u64), c.wrapping_add(word(bytes, length - 16)));
        a = a.wrapping_add(d);
        for at in (0..length - 1).step_by(16).take((length - 16).div_ceil(16)) {
            a = (a ^ stir(word(bytes, at))).wrapping_mul(K1);
            b ^= a;
            c = (c ^ stir(word(bytes, at + 8))).wrapping_mul(K1);
            d ^= c;
        }
    }
    let (a, b) = (combine(a, c), combine(d, b));
    (a ^ b, combine(b, a))
}

type Pair = (u64, u64);

fn weak(bytes: &[u8], at: usize, a: u64, b: u64) -> Pair {
    let last = word(bytes, at + 24);
    let a = a.wrapping_add(word(bytes, at));
    let b = b.wrapping_add(a).wrapping_add(last).rotate_right(21);
    let sum = a.wrapping_add(word(bytes, at + 8)).wrapping_add(word(bytes, at + 16));
    (sum.wrapping_add(last), b.wrapping_add(sum.rotate_right(44)).wrapping_add(a))
}

fn hash_128_long(bytes: &[u8], low: u64, high: u64) -> Pair {
    let add = u64::wrapping_add;
    let (mut x, mut y, mut z) = (low, high, (bytes.len() as u64).wrapping_mul(K1));
    let first = add((y ^ K1).rotate_right(49).wrapping_mul(K1), word(bytes, 0));
    let mut v = (first, add(first.rotate_right(42).wrapping_mul(K1), word(bytes, 8)));
    let mut w = (
        add(add(y, z).rotate_right(35).wrapping_mul(K1), x),
        add(x, word(bytes, 88)).rotate_right(53).wrapping_mul(K1),
    );
    let whole = bytes.len() / 128 * 128;
    for at in (0..whole).step_by(64) {
        x = add(add(x, y), add(v.0, word(bytes, at + 8))).rotate_right(37).wrapping_mul(K1) ^ w.1;
        y = add(y, add(v.1, word(bytes, at + 48))).rotate_right(42).wrapping_mul(K1);
        y = add(y, add(v.0, word(bytes, at + 40)));
        z = add(z, w.0).rotate_right(33).wrapping_mul(K1);
        v = weak(bytes, at, v.1.wrapping_mul(K1), add(x, w.0));
        w = weak(bytes, at + 32, add(z, w.1), add(y, word(bytes, at + 16)));
        (x, z) = (z, x);
    }
    x = add(x, add(v.0, z).rotate_right(49).wrapping_mul(K0));
    z = add(z, w.0.rotate_right(37).wrapping_mul(K0));
    let mut done = 0;
    while done < bytes.len() - whole {
        done += 32;
        let at = bytes.len() - done;
        y = add(add(x, y).rotate_right(42).wrapping_mul(K0), v.1);
        w.0 = add(w.0, word(bytes, at + 16));
        x = add(x.wrapping_mul(K0), w.0);
        z = add(z, add(w.1, word(bytes, at)));
        w.1 = add(w.1, v.0);
        v = weak(bytes, at, add(v.0, z), v.1);
    }
    let x = combine(x, v.0);
    let y = combine(add(y, z), w.0);
    (add(combine(add(x, v.1), w.1), y), combine(add(x, w.1), add(y, v.1)))
}
