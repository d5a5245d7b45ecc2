//! The weights of a network, laid out for the arithmetic: a feature's policy and value weights side by side,
//! rows padded to cache lines.

use super::file::{BUCKETS, HIDDEN1, HIDDEN2, Tensors};
use super::lanes::{Rows, Words};

/// One of the value heads after the first layer.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub hidden1_bias: [f32; HIDDEN1],
    /// By input, then unit.
    pub hidden2: [[f32; HIDDEN2]; HIDDEN1],
    pub hidden2_bias: [f32; HIDDEN2],
    pub output: [[f32; HIDDEN2]; 3],
    pub output_bias: [f32; 3],
}

/// All weights.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// Width of the policy's accumulator, P.
    pub policy_width: usize,
    /// Width of the value's accumulator, V.
    pub value_width: usize,
    /// By feature: P weights of the policy, V of the value.
    pub inputs: Rows,
    pub inputs_bias: Vec<Words>,
    pub moves: Rows,
    pub moves_bias: Vec<f32>,
    pub contexts: Rows,
    pub contexts_bias: Vec<f32>,
    /// By bucket and unit.
    pub hidden1: Rows,
    pub heads: Vec<Head>,
}

impl Weights {
    /// Lays out tensors whose types and shapes fit the game.
    pub fn new(tensors: &Tensors<'_>) -> Weights {
        let sizes = tensors.sizes();
        let (policy_width, value_width) = (tensors.policy_width(), tensors.value_width());
        let lines = (policy_width + value_width).div_ceil(64);
        let mut inputs = Rows::new(sizes.features, lines);
        fill(&mut inputs, 0, tensors.bytes("policy.inputs.weight"), policy_width);
        fill(&mut inputs, policy_width, tensors.bytes("value.inputs.weight"), value_width);
        let mut inputs_bias = vec![Words::default(); lines];
        let biases = tensors.words("policy.inputs.bias").chain(tensors.words("value.inputs.bias"));
        for (lane, bias) in biases.enumerate() {
            inputs_bias[lane / 64].0[lane / 16 % 4][lane % 16] = bias;
        }
        let rows = |name: &str, count: usize, width: usize| {
            let mut rows = Rows::new(count, width.div_ceil(64));
            fill(&mut rows, 0, tensors.bytes(name), width);
            rows
        };
        Weights {
            policy_width,
            value_width,
            inputs,
            inputs_bias,
            moves: rows("policy.moves.weight", sizes.moves, policy_width / 2),
            moves_bias: tensors.floats("policy.moves.bias").collect(),
            contexts: rows("policy.contexts.weight", sizes.contexts, policy_width / 2),
            contexts_bias: tensors.floats("policy.contexts.bias").collect(),
            hidden1: rows("value.hidden1.weight", BUCKETS * HIDDEN1, value_width / 2),
            heads: heads(tensors),
        }
    }
}

fn fill(rows: &mut Rows, lane: usize, bytes: &[u8], width: usize) {
    for (row, numbers) in bytes.chunks_exact(width).enumerate() {
        rows.write(row, lane, numbers.iter().map(|&byte| byte.cast_signed()));
    }
}

fn heads(tensors: &Tensors<'_>) -> Vec<Head> {
    let [mut hidden1_bias, mut hidden2, mut hidden2_bias, mut output, mut output_bias] = [
        "value.hidden1.bias",
        "value.hidden2.weight",
        "value.hidden2.bias",
        "value.output.weight",
        "value.output.bias",
    ]
    .map(|name| tensors.floats(name));
    let next = |from: &mut dyn Iterator<Item = f32>| from.next().unwrap_or(0.0);
    let mut heads = Vec::with_capacity(BUCKETS);
    for _ in 0..BUCKETS {
        let mut head = Head {
            hidden1_bias: [0.0; HIDDEN1],
            hidden2: [[0.0; HIDDEN2]; HIDDEN1],
            hidden2_bias: [0.0; HIDDEN2],
            output: [[0.0; HIDDEN2]; 3],
            output_bias: [0.0; 3],
        };
        head.hidden1_bias.iter_mut().for_each(|bias| *bias = next(&mut hidden1_bias));
        for unit in 0..HIDDEN2 {
            head.hidden2.iter_mut().for_each(|row| row[unit] = next(&mut hidden2));
        }
        head.hidden2_bias.iter_mut().for_each(|bias| *bias = next(&mut hidden2_bias));
        head.output.iter_mut().flatten().for_each(|weight| *weight = next(&mut output));
        head.output_bias.iter_mut().for_each(|bias| *bias = next(&mut output_bias));
        heads.push(head);
    }
    heads
}
