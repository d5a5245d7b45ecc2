//! Priors as IEEE half-precision numbers, and the list of candidate moves of a node sorted by them.
//!
//! A candidate packs prior and move into 32 bits whose descending order is the order of edges: prior down,
//! move code up. Does not depend on nodes.

use crate::game::MoveCode;

/// A non-negative number as the bits of the nearest IEEE half, ties to even.
pub fn to_half(number: f64) -> u16 {
    debug_assert!((0.0..65504.0).contains(&number));
    if number < 6.103515625e-05 {
        return (number * 16777216.0).round_ties_even() as u16;
    }
    let bits = number.to_bits();
    let rounded = bits + 0x1FF_FFFF_FFFF + ((bits >> 42) & 1);
    ((rounded >> 42) - (1008 << 10)) as u16
}

/// 2^112: what the exponent of a half lacks when its bits are read as an `f32`.
const HALF_SCALE: f32 = f32::from_bits((112 + 127) << 23);

/// The number that the bits of a non-negative half denote.
#[inline(always)]
pub fn from_half(half: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(half) << 13) * HALF_SCALE)
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

/// `e^((logit - largest) * sharpness)` of all logits, with AVX2 where the machine has it. The numbers do not
/// depend on that: nothing is fused.
struct Exponentials<'a> {
    logits: &'a [f32],
    largest: f64,
    sharpness: f64,
    list: &'a mut Vec<f64>,
}

impl Exponentials<'_> {
    fn compute(self) {
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = pulp::x86::V3::try_new() {
            return machine.vectorize(self);
        }
        self.run();
    }

    #[inline(always)]
    fn run(self) {
        let Exponentials { logits, largest, sharpness, list } = self;
        list.clear();
        list.resize(logits.len(), 0.0);
        for (weight, &logit) in list.iter_mut().zip(logits) {
            *weight = exponential((f64::from(logit) - largest) * sharpness);
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.run();
    }
}

/// Replaces `candidates` by the moves with their priors: softmax of `logits / temperature`, sorted; only the
/// best `limit` are kept.
pub fn rank(
    moves: &[MoveCode],
    logits: &[f32],
    temperature: f64,
    limit: usize,
    candidates: &mut Vec<Candidate>,
    weights: &mut RankScratch,
) {
    debug_assert_eq!(moves.len(), logits.len());
    candidates.clear();
    let largest = f64::from(logits.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b)));
    let sharpness = 1.0 / temperature;
    Exponentials { logits, largest, sharpness, list: &mut weights.list }.compute();
    let scale = 1.0 / weights.list.iter().sum::<f64>();
    let ranked =
        moves.iter().zip(&weights.list).map(|(&mv, &weight)| Candidate::new(to_half(weight * scale), mv));
    if moves.len() <= limit {
        candidates.extend(ranked);
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        return;
    }
    // Insertion into the best so far: most moves are no better than the last of them, and are done with after
    // one comparison.
    for candidate in ranked {
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
    fn exponentials_do_not_depend_on_the_machine() {
        let logits: Vec<f32> = (0..99).map(|i| (i * i % 37) as f32 * -0.731).collect();
        let mut list = vec![3.0];
        Exponentials { logits: &logits, largest: 0.25, sharpness: 0.7, list: &mut list }.compute();
        let plain = logits.iter().map(|&logit| exponential((f64::from(logit) - 0.25) * 0.7).to_bits());
        assert!(list.iter().map(|number| number.to_bits()).eq(plain));
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
