//! The arithmetic of `docs/networks.md`: from features and moves to logits and the chances of win, draw and
//! loss.
//!
//! Whatever depends on the widths is integer and wraps; the rest is `f32` in a fixed order. Every machine
//! gives the same numbers.

use super::file::{HIDDEN1, HIDDEN2};
use super::lanes::{Lanes, Plain, Words};
use super::weights::{Head, Weights};

/// 1 / (16384 * 64): activations times weights as a number.
const SCALE: f32 = 1.0 / 1_048_576.0;

/// A legal move as indices of the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// In the policy.
    pub index: u16,
    /// Kind of move.
    pub context: u16,
}

/// What a thread keeps between evaluations, for one network at a time.
#[derive(Debug, Default)]
pub(super) struct ForwardScratch {
    widths: (usize, usize),
    sums: Vec<Words>,
    policy: Vec<Words>,
    value: Vec<Words>,
    /// Products with contexts, valid where their stamp is that of the evaluation.
    contexts: Vec<(u32, i32)>,
    stamp: u32,
}

impl ForwardScratch {
    /// Makes room; lanes beyond the widths stay 0.
    fn fit(&mut self, weights: &Weights) {
        let widths = (weights.policy_width, weights.value_width);
        if self.widths != widths || self.stamp == u32::MAX {
            *self = ForwardScratch {
                widths,
                sums: vec![Words::default(); weights.inputs.stride()],
                policy: vec![Words::default(); weights.moves.stride()],
                value: vec![Words::default(); weights.hidden1.stride()],
                contexts: vec![(0, 0); super::context::CONTEXTS],
                stamp: 0,
            };
        }
        self.stamp += 1;
    }
}

/// Products of paired clipped sums, from the block `first` on.
#[inline(always)]
fn activate(lanes: impl Lanes, sums: &[Words], first: usize, width: usize, out: &mut [Words]) {
    let half = width / 32;
    let block = |place: usize| sums[place / 4].0[place % 4];
    for number in 0..half {
        out[number / 4].0[number % 4] = lanes.multiply(block(first + number), block(first + half + number));
    }
}

/// `min(max(z, 0), 1)^2`.
#[inline(always)]
fn squared(number: f32) -> f32 {
    let clipped = number.clamp(0.0, 1.0);
    clipped * clipped
}

#[inline(always)]
fn judge(head: &Head, sums: [i32; HIDDEN1]) -> [f32; 3] {
    let mut second = head.hidden2_bias;
    for ((sum, bias), row) in sums.into_iter().zip(head.hidden1_bias).zip(&head.hidden2) {
        let unit = squared(sum as f32 * SCALE + bias);
        for (out, weight) in second.iter_mut().zip(row) {
            *out += weight * unit;
        }
    }
    let second: [f32; HIDDEN2] = second.map(squared);
    let mut logits = head.output_bias;
    for (logit, row) in logits.iter_mut().zip(&head.output) {
        for (weight, unit) in row.iter().zip(second) {
            *logit += weight * unit;
        }
    }
    softmax(logits)
}

fn softmax(logits: [f32; 3]) -> [f32; 3] {
    let largest = logits[0].max(logits[1]).max(logits[2]);
    let powers = logits.map(|logit| libm::expf(logit - largest));
    let sum = powers[0] + powers[1] + powers[2];
    powers.map(|power| power / sum)
}

/// What is computed: the two halves of a network share nothing but the features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halves {
    /// Logits and chances.
    Both,
    /// The logits; the chances are 0.
    Policy,
    /// The chances; the logits stay as they are.
    Value,
}

/// What one evaluation works on.
pub(super) struct Forward<'a> {
    pub halves: Halves,
    pub weights: &'a Weights,
    pub features: &'a [u16],
    pub bucket: usize,
    pub places: &'a [Place],
    pub scratch: &'a mut ForwardScratch,
    pub logits: &'a mut Vec<f32>,
}

impl Forward<'_> {
    #[inline(always)]
    fn run(self, lanes: impl Lanes) -> [f32; 3] {
        let Forward { halves, weights, features, bucket, places, scratch, logits } = self;
        scratch.fit(weights);
        let policy = weights.policy_width;
        let lines = match halves {
            Halves::Both => 0..weights.inputs.stride(),
            Halves::Policy => 0..policy.div_ceil(64),
            Halves::Value => policy / 64..weights.inputs.stride(),
        };
        lanes.accumulate(&weights.inputs_bias, &weights.inputs, features, lines, &mut scratch.sums);
        if halves != Halves::Value {
            activate(lanes, &scratch.sums, 0, policy, &mut scratch.policy);
            logits.clear();
            logits.extend(places.iter().map(|place| {
                let (index, context) = (usize::from(place.index), usize::from(place.context));
                let known = &mut scratch.contexts[context];
                if known.0 != scratch.stamp {
                    *known = (scratch.stamp, lanes.dot(&scratch.policy, weights.contexts.row(context)));
                }
                let sum = lanes.dot(&scratch.policy, weights.moves.row(index)).wrapping_add(known.1);
                sum as f32 * SCALE + weights.moves_bias[index] + weights.contexts_bias[context]
            }));
        }
        if halves == Halves::Policy {
            return [0.0; 3];
        }
        activate(lanes, &scratch.sums, policy / 16, weights.value_width, &mut scratch.value);
        let mut sums = [0; HIDDEN1];
        for (unit, sum) in sums.iter_mut().enumerate() {
            *sum = lanes.dot(&scratch.value, weights.hidden1.row(bucket * HIDDEN1 + unit));
        }
        judge(&weights.heads[bucket], sums)
    }
}

/// The machine, as found out when a network is loaded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Machine {
    /// Nothing special.
    Plain,
    /// AVX2 and what comes with it.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

#[cfg(target_arch = "x86_64")]
struct Vectorized<'a>(pulp::x86::V3, Forward<'a>);

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Vectorized<'_> {
    type Output = [f32; 3];

    #[inline(always)]
    fn call(self) -> [f32; 3] {
        self.1.run(self.0)
    }
}

impl Machine {
    /// The best that this machine can do.
    pub fn detect() -> Machine {
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = pulp::x86::V3::try_new() {
            return Machine::Avx2(machine);
        }
        Machine::Plain
    }

    /// Chances of win, draw and loss; the logits go where they should.
    pub fn run(self, forward: Forward<'_>) -> [f32; 3] {
        match self {
            Machine::Plain => forward.run(Plain),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx2(machine) => machine.vectorize(Vectorized(machine, forward)),
        }
    }
}
