//! The arithmetic of training that is sparse: sums of feature rows, logits of legal moves, and their gradients.
//!
//! General tensor libraries spend most of a training step of the `sparse` network on these. All arrays are row-major `f32`; ragged ones
//! come flat with offsets, one more than there are samples. Work is split so that no two threads write to the same row and every sum has
//! one order: results do not depend on the number of threads.

use std::thread;

/// A ragged index: what sample `b` has is `items[offsets[b]..offsets[b + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct Ragged<'a> {
    /// Row numbers.
    pub items: &'a [i32],
    /// Where each sample begins, and the end.
    pub offsets: &'a [i64],
}

/// An index points outside of its table, or shapes do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Arrays of a training batch do not fit together.")]
pub struct Misfit;

impl<'a> Ragged<'a> {
    fn samples(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    #[inline]
    fn range(&self, sample: usize) -> std::ops::Range<usize> {
        self.offsets[sample] as usize..self.offsets[sample + 1] as usize
    }

    #[inline]
    fn of(&self, sample: usize) -> &'a [i32] {
        &self.items[self.range(sample)]
    }

    fn check(&self, rows: usize) -> Result<(), Misfit> {
        let ascending = self.offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let whole = self.offsets.first() == Some(&0) && self.offsets.last().is_some_and(|end| *end as usize == self.items.len());
        let inside = self.items.iter().all(|item| (*item as usize) < rows && *item >= 0);
        if ascending && whole && inside { Ok(()) } else { Err(Misfit) }
    }
}

#[inline]
fn add(into: &mut [f32], row: &[f32]) {
    for (sum, value) in into.iter_mut().zip(row) {
        *sum += value;
    }
}

#[inline]
fn add_scaled(into: &mut [f32], scale: f32, row: &[f32]) {
    for (sum, value) in into.iter_mut().zip(row) {
        *sum += scale * value;
    }
}

/// The dot product of `left` and the sum of two rows, in eight partial sums.
#[inline]
fn dot_sum(left: &[f32], first: &[f32], second: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for ((l, f), s) in left.chunks_exact(8).zip(first.chunks_exact(8)).zip(second.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += l[lane] * (f[lane] + s[lane]);
        }
    }
    sums.iter().sum()
}

/// Runs `work` over contiguous ranges of samples, each with its part of `out` (`width` numbers a sample).
fn by_samples(samples: usize, width: usize, out: &mut [f32], threads: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    let share = samples.div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        for (number, part) in out.chunks_mut(share * width).enumerate() {
            let work = &work;
            scope.spawn(move || {
                pulp::Arch::new().dispatch(|| {
                    for (offset, row) in part.chunks_mut(width).enumerate() {
                        work(number * share + offset, row);
                    }
                })
            });
        }
    });
}

/// Splits the rows of a table into ranges with about equal numbers of uses.
fn shares(items: &[i32], rows: usize, threads: usize) -> Vec<usize> {
    let mut uses = vec![0_usize; rows];
    for item in items {
        uses[*item as usize] += 1;
    }
    let mut ends = Vec::new();
    let mut sum = 0;
    for (row, count) in uses.iter().enumerate() {
        sum += count;
        if ends.len() + 1 < threads && sum * threads >= items.len() * (ends.len() + 1) {
            ends.push(row + 1);
        }
    }
    ends.push(rows);
    ends
}

/// Runs `work` over ranges of the rows of `table`, each with its first row and its part.
fn by_rows(table: &mut [f32], width: usize, ends: &[usize], work: impl Fn(usize, &mut [f32]) + Sync) {
    thread::scope(|scope| {
        let mut rest = table;
        let mut first = 0;
        for end in ends {
            let (part, tail) = rest.split_at_mut((end - first) * width);
            rest = tail;
            let work = &work;
            let begin = first;
            scope.spawn(move || pulp::Arch::new().dispatch(|| work(begin, part)));
            first = *end;
        }
    });
}

/// `out[b]` = bias + the sum of the rows of sample `b`.
pub fn bag_forward(weight: &[f32], bias: &[f32], features: Ragged, out: &mut [f32], threads: usize) -> Result<(), Misfit> {
    let width = bias.len();
    if width == 0 || weight.len() % width != 0 || out.len() != features.samples() * width {
        return Err(Misfit);
    }
    features.check(weight.len() / width)?;
    by_samples(features.samples(), width, out, threads, |sample, row| {
        row.copy_from_slice(bias);
        for feature in features.of(sample) {
            let begin = *feature as usize * width;
            add(row, &weight[begin..begin + width]);
        }
    });
    Ok(())
}

/// Adds to `gradient` of the weights what `upstream` gives for each use of a row.
pub fn bag_backward(upstream: &[f32], features: Ragged, gradient: &mut [f32], width: usize, threads: usize) -> Result<(), Misfit> {
    if width == 0 || gradient.len() % width != 0 || upstream.len() != features.samples() * width {
        return Err(Misfit);
    }
    let rows = gradient.len() / width;
    features.check(rows)?;
    let ends = shares(features.items, rows, threads);
    by_rows(gradient, width, &ends, |first, part| {
        let count = part.len() / width;
        for (sample, row) in upstream.chunks_exact(width).enumerate() {
            for feature in features.of(sample) {
                let local = (*feature as usize).wrapping_sub(first);
                if local < count {
                    add(&mut part[local * width..(local + 1) * width], row);
                }
            }
        }
    });
    Ok(())
}

/// The legal moves of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Moves<'a> {
    /// Policy index of each move.
    pub index: Ragged<'a>,
    /// Context of each move, parallel to the indices.
    pub context: &'a [i32],
}

/// The two tables of the policy head, rows of the same width.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// By policy index.
    pub moves: &'a [f32],
    /// By context.
    pub contexts: &'a [f32],
}

impl Moves<'_> {
    fn check(&self, tables: Tables, width: usize) -> Result<(), Misfit> {
        if width == 0 || width % 8 != 0 || self.context.len() != self.index.items.len() {
            return Err(Misfit);
        }
        let contexts = tables.contexts.len() / width;
        self.index.check(tables.moves.len() / width)?;
        if self.context.iter().all(|context| *context >= 0 && (*context as usize) < contexts) { Ok(()) } else { Err(Misfit) }
    }
}

/// Logits of legal moves: `h[b] . (moves[index] + contexts[context])`.
pub fn moves_forward(hidden: &[f32], width: usize, tables: Tables, moves: Moves, out: &mut [f32], threads: usize) -> Result<(), Misfit> {
    moves.check(tables, width)?;
    let samples = moves.index.samples();
    if hidden.len() != samples * width || out.len() != moves.context.len() {
        return Err(Misfit);
    }
    let share = samples.div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        let mut rest = out;
        let mut done = 0;
        for first in (0..samples).step_by(share) {
            let last = (first + share).min(samples);
            let end = moves.index.offsets[last] as usize;
            let (part, tail) = rest.split_at_mut(end - done);
            rest = tail;
            let begin = done;
            done = end;
            scope.spawn(move || {
                pulp::Arch::new().dispatch(|| {
                    for sample in first..last {
                        let row = &hidden[sample * width..(sample + 1) * width];
                        for number in moves.index.range(sample) {
                            let index = moves.index.items[number] as usize * width;
                            let context = moves.context[number] as usize * width;
                            part[number - begin] =
                                dot_sum(row, &tables.moves[index..index + width], &tables.contexts[context..context + width]);
                        }
                    }
                })
            });
        }
    });
    Ok(())
}

/// Gradients of [`moves_forward`]: sets that of the hidden units, adds to those of the tables.
pub fn moves_backward(
    upstream: &[f32],
    hidden: &[f32],
    width: usize,
    tables: Tables,
    moves: Moves,
    gradients: (&mut [f32], &mut [f32], &mut [f32]),
    threads: usize,
) -> Result<(), Misfit> {
    moves.check(tables, width)?;
    let samples = moves.index.samples();
    let (of_hidden, of_moves, of_contexts) = gradients;
    if hidden.len() != samples * width
        || of_hidden.len() != hidden.len()
        || upstream.len() != moves.context.len()
        || of_moves.len() != tables.moves.len()
        || of_contexts.len() != tables.contexts.len()
    {
        return Err(Misfit);
    }
    by_samples(samples, width, of_hidden, threads, |sample, row| {
        row.fill(0.0);
        for number in moves.index.range(sample) {
            let index = moves.index.items[number] as usize * width;
            let context = moves.context[number] as usize * width;
            let scale = upstream[number];
            let pair = tables.moves[index..index + width].iter().zip(&tables.contexts[context..context + width]);
            for (sum, (first, second)) in row.iter_mut().zip(pair) {
                *sum += scale * (first + second);
            }
        }
    });
    for (gradient, items) in [(of_moves, moves.index.items), (of_contexts, moves.context)] {
        let ends = shares(items, gradient.len() / width, threads);
        by_rows(gradient, width, &ends, |first, part| {
            let count = part.len() / width;
            for sample in 0..samples {
                let row = &hidden[sample * width..(sample + 1) * width];
                for number in moves.index.range(sample) {
                    let local = (items[number] as usize).wrapping_sub(first);
                    if local < count {
                        add_scaled(&mut part[local * width..(local + 1) * width], upstream[number], row);
                    }
                }
            }
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16) as f32 / 65_536.0 - 0.5
            })
            .collect()
    }

    #[test]
    fn bags_and_their_gradients() {
        let (rows, width) = (5, 8);
        let weight = numbers(rows * width, 1);
        let bias = numbers(width, 2);
        let features = Ragged { items: &[0, 3, 3, 4, 1], offsets: &[0, 3, 3, 5] };
        for threads in [1, 2, 3] {
            let mut out = vec![0.0; 3 * width];
            bag_forward(&weight, &bias, features, &mut out, threads).unwrap();
            for unit in 0..width {
                let at = |row: usize| weight[row * width + unit];
                assert!((out[unit] - (bias[unit] + at(0) + 2.0 * at(3))).abs() < 1e-6);
                assert_eq!(out[width + unit], bias[unit]);
            }
            let mut gradient = vec![0.0; rows * width];
            bag_backward(&out, features, &mut gradient, width, threads).unwrap();
            for unit in 0..width {
                assert!((gradient[3 * width + unit] - 2.0 * out[unit]).abs() < 1e-6);
                assert_eq!(gradient[2 * width + unit], 0.0);
                assert_eq!(gradient[4 * width + unit], out[2 * width + unit]);
            }
        }
    }

    #[test]
    fn moves_and_their_gradients() {
        let width = 16;
        let (table, contexts) = (numbers(7 * width, 3), numbers(4 * width, 4));
        let tables = Tables { moves: &table, contexts: &contexts };
        let moves = Moves { index: Ragged { items: &[6, 0, 2, 6], offsets: &[0, 2, 4] }, context: &[1, 1, 3, 0] };
        let hidden = numbers(2 * width, 5);
        let upstream = [0.5, -1.0, 2.0, 0.25];
        let loss = |hidden: &[f32], tables: Tables| {
            let mut logits = vec![0.0; 4];
            moves_forward(hidden, width, tables, moves, &mut logits, 2).unwrap();
            logits.iter().zip(upstream).map(|(logit, weight)| f64::from(logit * weight)).sum::<f64>()
        };
        let mut of_hidden = vec![9.0; hidden.len()];
        let (mut of_moves, mut of_contexts) = (vec![0.0; table.len()], vec![0.0; contexts.len()]);
        let gradients = (&mut of_hidden[..], &mut of_moves[..], &mut of_contexts[..]);
        moves_backward(&upstream, &hidden, width, tables, moves, gradients, 2).unwrap();
        let step = 0.01;
        let base = loss(&hidden, tables);
        for unit in 0..hidden.len() {
            let mut other = hidden.clone();
            other[unit] += step;
            assert!(((loss(&other, tables) - base) / f64::from(step) - f64::from(of_hidden[unit])).abs() < 1e-3);
        }
        for unit in 0..table.len() {
            let mut other = table.clone();
            other[unit] += step;
            let changed = loss(&hidden, Tables { moves: &other, contexts: &contexts });
            assert!(((changed - base) / f64::from(step) - f64::from(of_moves[unit])).abs() < 1e-3);
        }
        for unit in 0..contexts.len() {
            let mut other = contexts.clone();
            other[unit] += step;
            let changed = loss(&hidden, Tables { moves: &table, contexts: &other });
            assert!(((changed - base) / f64::from(step) - f64::from(of_contexts[unit])).abs() < 1e-3);
        }
    }

    #[test]
    fn misfits_are_refused() {
        let features = Ragged { items: &[0, 9], offsets: &[0, 2] };
        assert_eq!(bag_forward(&[0.0; 16], &[0.0; 8], features, &mut [0.0; 8], 1), Err(Misfit));
        let features = Ragged { items: &[0, -1], offsets: &[0, 2] };
        assert_eq!(bag_forward(&[0.0; 16], &[0.0; 8], features, &mut [0.0; 8], 1), Err(Misfit));
        let features = Ragged { items: &[0, 1], offsets: &[0, 3] };
        assert_eq!(bag_forward(&[0.0; 16], &[0.0; 8], features, &mut [0.0; 8], 1), Err(Misfit));
    }
}
