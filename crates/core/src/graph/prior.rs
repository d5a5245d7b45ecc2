//! Priors as IEEE half-precision numbers, and the list of candidate moves of a node sorted by them.
//!
//! A candidate packs prior and move into 32 bits whose descending order is the order of edges: prior down,
//! move code up. Does not depend on nodes.

use crate::game::MoveCode;

/// A non-negative number as the bits of the nearest IEEE half, ties to even.
#[inline(always)]
pub fn to_half(number: f64) -> u16 {
    debug_assert!((0.0..65504.0).contains(&number));
    // Both kinds at once, without branches or calls: a loop over this does several.
    let bits = number.to_bits();
    let rounded = bits + 0x1FF_FFFF_FFFF + ((bits >> 42) & 1);
    let normal = (rounded >> 42).wrapping_sub(1008 << 10) as u16;
    let subnormal = (number * 16_777_216.0 + WHOLE).to_bits() as u16;
    if number < 6.103515625e-05 { subnormal } else { normal }
}

/// 2^52: a sum with it is rounded to a whole number, in the last bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// 2^112: what the exponent of a half lacks when its bits are read as an `f32`.
const HALF_SCALE: f32 = f32::from_bits((112 + 127) << 23);

/// The number that the bits of a non-negative half denote.
#[inline(always)]
pub fn from_half(half: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(half) << 13) * HALF_SCALE)
}

/// Candidates kept per node by evaluators in the core: the rest is derived again where it is needed.
pub const HEAD: usize = 16;

/// How many candidates the first list of a node with `moves` legal moves has: `head`, or all where few more
/// would be missing.
pub fn most_listed(moves: usize, head: usize) -> usize {
    if moves <= head + head / 2 { usize::MAX } else { head }
}

/// A move that may be opened, with its prior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate(u32);

impl Candidate {
    /// Packs a prior (bits of a half) and a move.
    pub const fn new(prior: u16, mv: MoveCode) -> Candidate {
        Candidate(((prior as u32) << 16) | (0xFFFF - mv.0) as u32)
    }

    /// The packed bits: a slot that holds no candidate may hold a number.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// From packed bits.
    pub const fn from_bits(bits: u32) -> Candidate {
        Candidate(bits)
    }

    /// The prior as the bits of a half.
    pub const fn half(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The prior as a number.
    pub fn prior(self) -> f64 {
        from_half(self.half())
    }

    /// The move.
    pub const fn mv(self) -> MoveCode {
        MoveCode(0xFFFF - self.0 as u16)
    }
}

/// Scratch of [`rank`], kept between calls.
#[derive(Clone, Debug, Default)]
pub struct RankScratch {
    list: Vec<f64>,
    keys: Vec<i32>,
    places: Vec<i32>,
}

/// What pushes the fraction of a number out of its mantissa: 1.5 * 2^52.
const SHIFT: f64 = 6_755_399_441_055_744.0;
/// The upper bits of ln 2, whose products with small whole numbers are exact, and the rest of it.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `e^x` for `x` of at most 0, to two units in the last place or so; nothing below -700. No branches and no
/// tables: a loop over this does several at once, and every machine gets the same numbers.
#[inline(always)]
fn exponential(x: f64) -> f64 {
    let x = x.max(-700.0);
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let power = shifted - SHIFT;
    let rest = (x - power * LN2_HIGH) - power * LN2_LOW;
    let mut sum = 1.0 / 479_001_600.0;
    for factorial in
        [39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]
    {
        sum = sum * rest + 1.0 / factorial;
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// Moves up to which each finds its place by comparison with all others.
const FEW: usize = 64;
/// Keys that are compared at a time.
const LANES: usize = 8;

/// Replaces `candidates` by the moves with their priors: softmax of `logits / temperature`, sorted; only the
/// best `limit` are kept. No two moves may be the same.
pub fn rank(
    moves: &[MoveCode],
    logits: &[f32],
    temperature: f64,
    limit: usize,
    candidates: &mut Vec<Candidate>,
    weights: &mut RankScratch,
) {
    debug_assert_eq!(moves.len(), logits.len());
    let task = Task { moves, logits, temperature, limit, candidates, weights };
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) = pulp::x86::V3::try_new() {
        return machine.vectorize(task);
    }
    task.run();
}

/// The arguments of [`rank`]. It is compiled twice, once for AVX2; the numbers are the same, because nothing
/// is fused.
struct Task<'a> {
    moves: &'a [MoveCode],
    logits: &'a [f32],
    temperature: f64,
    limit: usize,
    candidates: &'a mut Vec<Candidate>,
    weights: &'a mut RankScratch,
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.run();
    }
}

impl Task<'_> {
    #[inline(always)]
    fn run(self) {
        let Task { moves, logits, temperature, limit, candidates, weights } = self;
        let RankScratch { list, keys, places } = weights;
        let largest = f64::from(logits.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b)));
        let sharpness = 1.0 / temperature;
        list.clear();
        list.resize(logits.len(), 0.0);
        for (weight, &logit) in list.iter_mut().zip(logits) {
            *weight = exponential((f64::from(logit) - largest) * sharpness);
        }
        let scale = 1.0 / list.iter().sum::<f64>();
        keys.clear();
        keys.resize(moves.len().next_multiple_of(LANES), i32::MIN);
        for ((key, &weight), &mv) in keys.iter_mut().zip(&*list).zip(moves) {
            *key = Candidate::new(to_half(weight * scale), mv).0 as i32;
        }
        candidates.clear();
        if moves.len() <= FEW {
            sort_by_comparison(keys, moves.len(), places, candidates);
            candidates.truncate(limit);
        } else {
            keys.truncate(moves.len());
            sort_by_insertion(keys, limit, candidates);
        }
    }
}

/// The place of a candidate is the number of those before it. No branch depends on the keys.
#[inline(always)]
fn sort_by_comparison(keys: &[i32], count: usize, places: &mut Vec<i32>, candidates: &mut Vec<Candidate>) {
    places.clear();
    places.resize(keys.len(), 0);
    for (some, their_places) in keys.as_chunks::<LANES>().0.iter().zip(places.as_chunks_mut::<LANES>().0) {
        let mut before = [0; LANES];
        for &key in &keys[..count] {
            for (before, &one) in before.iter_mut().zip(some) {
                *before += i32::from(key > one);
            }
        }
        *their_places = before;
    }
    candidates.resize(count, Candidate::default());
    for (&key, &place) in keys[..count].iter().zip(&*places) {
        candidates[place as usize] = Candidate(key as u32);
    }
}

/// Insertion into the best so far: most moves are no better than the last of them, and are done with after
/// one comparison.
fn sort_by_insertion(keys: &[i32], limit: usize, candidates: &mut Vec<Candidate>) {
    if keys.len() <= limit {
        candidates.extend(keys.iter().map(|&key| Candidate(key as u32)));
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        return;
    }
    for candidate in keys.iter().map(|&key| Candidate(key as u32)) {
        if candidates.len() == limit {
            if candidates.last().is_some_and(|&last| candidate < last) {
                continue;
            }
            candidates.pop();
        }
        let mut place = candidates.len();
        candidates.push(candidate);
        while place > 0 && candidates[place - 1] < candidate {
            candidates[place] = candidates[place - 1];
            place -= 1;
        }
        candidates[place] = candidate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_and_halves_round_to_even() {
        for half in 0..=0x3C00u16 {
            assert_eq!(to_half(from_half(half)), half);
        }
        for half in 0..0x3C00u16 {
            let middle = (from_half(half) + from_half(half + 1)) / 2.0;
            assert_eq!(to_half(middle), half + (half & 1), "{half}");
            assert_eq!(to_half(middle * (1.0 + 1e-12)), half + 1);
        }
    }

    #[test]
    fn exponentials_are_exact_to_the_last_bits() {
        assert_eq!(exponential(0.0), 1.0);
        for i in 0..100_000 {
            let x = -f64::from(i) * 0.005_123_7;
            let expected = libm::exp(x);
            assert!((exponential(x) / expected - 1.0).abs() < 5e-16, "{x}: {} {expected}", exponential(x));
        }
        assert!(exponential(-1e300) < 1e-300 && exponential(f64::NEG_INFINITY) > 0.0);
    }

    #[test]
    fn priors_do_not_depend_on_the_machine() {
        for count in [1, 7, 16, 35, 64, 65, 140] {
            let moves: Vec<MoveCode> = (0..count).map(|i| MoveCode((i * 37 % 1001) as u16)).collect();
            let logits: Vec<f32> = (0..count).map(|i| (i * i % 37) as f32 * 0.731 - 9.0).collect();
            let run = |limit: usize, is_plain: bool| {
                let (mut list, mut weights) = (vec![Candidate(7)], RankScratch::default());
                let (candidates, weights) = (&mut list, &mut weights);
                let task =
                    Task { moves: &moves, logits: &logits, temperature: 1.3, limit, candidates, weights };
                if is_plain {
                    task.run();
                } else {
                    rank(&moves, &logits, 1.3, limit, task.candidates, task.weights);
                }
                list
            };
            let all = run(usize::MAX, true);
            assert!(all.is_sorted_by(|a, b| a > b) && all.len() == count);
            assert_eq!(run(usize::MAX, false), all);
            assert_eq!(run(16, false), all[..count.min(16)]);
        }
    }

    #[test]
    fn halves_round_to_the_nearest_and_ties_to_even() {
        for half in 0..0x3C00u16 {
            let (low, high) = (from_half(half), from_half(half + 1));
            let middle = (low + high) / 2.0;
            assert_eq!(to_half(low), half);
            assert_eq!(to_half(middle), half + (half & 1));
            assert_eq!(to_half(middle.next_down()), half);
            assert_eq!(to_half(middle.next_up()), half + 1);
        }
    }

    #[test]
    fn candidates_sort_by_prior_then_code() {
        let moves: Vec<MoveCode> = (0..40).map(MoveCode).collect();
        let logits: Vec<f32> = (0..40).map(|i| ((i * 7) % 5) as f32).collect();
        let (mut all, mut best, mut weights) = (Vec::new(), Vec::new(), RankScratch::default());
        rank(&moves, &logits, 1.7, 1000, &mut all, &mut weights);
        rank(&moves, &logits, 1.7, 16, &mut best, &mut weights);
        assert_eq!(&all[..16], &best[..]);
        assert!(
            all.windows(2)
                .all(|w| w[0].prior() > w[1].prior()
                    || (w[0].prior() == w[1].prior() && w[0].mv() < w[1].mv()))
        );
        let total: f64 = all.iter().map(|c| c.prior()).sum();
        assert!((total - 1.0).abs() < 1e-3);
    }
}
