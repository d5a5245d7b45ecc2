//! The loops that cost: sums of rows and products of a vector with rows, in whole cache lines of 64 weights.
//!
//! Once in plain Rust, once with AVX2 where the machine has it, found out at run time. All of it is integer
//! arithmetic that wraps, so both give the same numbers.

use std::ops::Range;

/// What 1.0 is in an accumulator.
const ONE: i16 = 128;

/// 64 weights, a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Bytes(pub [[i8; 16]; 4]);

/// 64 sums or activations.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Words(pub [[i16; 16]; 4]);

/// Rows of weights, each of the same number of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    lines: Vec<Bytes>,
    stride: usize,
}

impl Rows {
    /// Rows of zeros.
    pub fn new(count: usize, lines: usize) -> Rows {
        Rows { lines: vec![Bytes::default(); count * lines], stride: lines }
    }

    /// Lines of a row.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Writes numbers into a row, from a lane on that is a multiple of 16.
    pub fn write(&mut self, row: usize, lane: usize, numbers: impl Iterator<Item = i8>) {
        let first = row * self.stride;
        for (place, number) in (lane..).zip(numbers) {
            self.lines[first + place / 64].0[place / 16 % 4][place % 16] = number;
        }
    }

    /// A row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[Bytes] {
        &self.lines[row * self.stride..(row + 1) * self.stride]
    }
}

/// What a machine does with lanes.
pub(super) trait Lanes: Copy {
    /// `sums = bias + the rows of the features`, for some lines of them.
    fn accumulate(
        self,
        bias: &[Words],
        rows: &Rows,
        features: &[u16],
        lines: Range<usize>,
        sums: &mut [Words],
    );

    /// The product of activations with a row, as long as each other.
    fn dot(self, activations: &[Words], row: &[Bytes]) -> i32;

    /// Products of numbers that are clipped to 0 and 128 first.
    fn multiply(self, a: [i16; 16], b: [i16; 16]) -> [i16; 16];
}

/// Any machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

impl Lanes for Plain {
    #[inline(always)]
    fn accumulate(
        self,
        bias: &[Words],
        rows: &Rows,
        features: &[u16],
        lines: Range<usize>,
        sums: &mut [Words],
    ) {
        let sums = &mut sums[lines.clone()];
        sums.copy_from_slice(&bias[lines.clone()]);
        for &feature in features {
            for (sum, line) in sums.iter_mut().zip(&rows.row(feature.into())[lines.clone()]) {
                for (sum, block) in sum.0.iter_mut().zip(&line.0) {
                    for (sum, &weight) in sum.iter_mut().zip(block) {
                        *sum = sum.wrapping_add(weight.into());
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn dot(self, activations: &[Words], row: &[Bytes]) -> i32 {
        let mut sum = 0i32;
        for (words, line) in activations.iter().zip(row) {
            for (words, block) in words.0.iter().zip(&line.0) {
                for (&word, &weight) in words.iter().zip(block) {
                    sum = sum.wrapping_add(i32::from(word) * i32::from(weight));
                }
            }
        }
        sum
    }

    #[inline(always)]
    fn multiply(self, a: [i16; 16], b: [i16; 16]) -> [i16; 16] {
        std::array::from_fn(|lane| a[lane].clamp(0, ONE) * b[lane].clamp(0, ONE))
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{__m128i, __m256i};
    use std::ops::Range;

    use pulp::cast;
    use pulp::x86::V3;

    use super::{Bytes, Lanes, ONE, Rows, Words};

    #[inline(always)]
    fn widen(machine: V3, block: [i8; 16]) -> __m256i {
        machine.avx2._mm256_cvtepi8_epi16(cast::<[i8; 16], __m128i>(block))
    }

    /// The sums of `N` lines stay in registers while all rows pass.
    #[inline(always)]
    fn tile<const N: usize>(
        machine: V3,
        bias: &[Words; N],
        rows: &Rows,
        at: usize,
        features: &[u16],
    ) -> [Words; N] {
        let mut sums = bias.map(|line| line.0.map(cast::<[i16; 16], __m256i>));
        for &feature in features {
            let start = usize::from(feature) * rows.stride + at;
            let Some(lines) = rows.lines[start..].first_chunk::<N>() else { continue };
            for (sums, line) in sums.iter_mut().zip(lines) {
                for (sum, block) in sums.iter_mut().zip(line.0) {
                    *sum = machine.avx2._mm256_add_epi16(*sum, widen(machine, block));
                }
            }
        }
        sums.map(|line| Words(line.map(cast::<__m256i, [i16; 16]>)))
    }

    impl Lanes for V3 {
        #[inline(always)]
        fn accumulate(
            self,
            bias: &[Words],
            rows: &Rows,
            features: &[u16],
            lines: Range<usize>,
            sums: &mut [Words],
        ) {
            let first = lines.start;
            let (pairs, last) = bias[lines.clone()].as_chunks::<2>();
            let (pair_sums, last_sum) = sums[lines].as_chunks_mut::<2>();
            for (number, (pair, sum)) in pairs.iter().zip(pair_sums).enumerate() {
                *sum = tile(self, pair, rows, first + number * 2, features);
            }
            if let ([line], [sum]) = (last, last_sum) {
                [*sum] = tile(self, &[*line], rows, first + pairs.len() * 2, features);
            }
        }

        #[inline(always)]
        fn dot(self, activations: &[Words], row: &[Bytes]) -> i32 {
            let zero = self.avx._mm256_setzero_si256();
            let mut sums = [zero; 4];
            for (words, line) in activations.iter().zip(row) {
                for (sum, (words, block)) in sums.iter_mut().zip(words.0.into_iter().zip(line.0)) {
                    let products =
                        self.avx2._mm256_madd_epi16(cast::<[i16; 16], __m256i>(words), widen(self, block));
                    *sum = self.avx2._mm256_add_epi32(*sum, products);
                }
            }
            let [a, b, c, d] = sums;
            let sum = self
                .avx2
                ._mm256_add_epi32(self.avx2._mm256_add_epi32(a, b), self.avx2._mm256_add_epi32(c, d));
            let [low, high]: [__m128i; 2] = cast::<__m256i, [__m128i; 2]>(sum);
            let four = cast::<__m128i, [i32; 4]>(self.sse2._mm_add_epi32(low, high));
            four[0].wrapping_add(four[1]).wrapping_add(four[2].wrapping_add(four[3]))
        }

        #[inline(always)]
        fn multiply(self, a: [i16; 16], b: [i16; 16]) -> [i16; 16] {
            let (zero, one) = (self.avx._mm256_setzero_si256(), self.avx._mm256_set1_epi16(ONE));
            let [a, b] = [a, b].map(|numbers| {
                let numbers = cast::<[i16; 16], __m256i>(numbers);
                self.avx2._mm256_min_epi16(self.avx2._mm256_max_epi16(numbers, zero), one)
            });
            cast(self.avx2._mm256_mullo_epi16(a, b))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn words(random: &mut Random, lines: usize, most: usize) -> Vec<Words> {
        let mut draw = || (random.index(2 * most + 1) as i32 - most as i32) as i16;
        (0..lines).map(|_| Words(std::array::from_fn(|_| std::array::from_fn(|_| draw())))).collect()
    }

    fn flat(words: &[Words]) -> Vec<i16> {
        words.iter().flat_map(|line| line.0.as_flattened().to_vec()).collect()
    }

    fn agrees_with_plain(lanes: impl Lanes) {
        let mut random = Random::new(17);
        for lines in [1, 2, 3, 8, 17] {
            let mut rows = Rows::new(50, lines);
            for row in 0..50 {
                let numbers: Vec<i8> =
                    (0..lines * 64).map(|_| (random.index(256) as i32 - 128) as i8).collect();
                rows.write(row, 0, numbers.into_iter());
            }
            let bias = words(&mut random, lines, 16_384);
            let features: Vec<u16> = (0..random.index(120)).map(|_| random.index(50) as u16).collect();
            let (mut sums, mut expected) = (vec![Words::default(); lines], vec![Words::default(); lines]);
            lanes.accumulate(&bias, &rows, &features, 0..lines, &mut sums);
            Plain.accumulate(&bias, &rows, &features, 0..lines, &mut expected);
            assert_eq!(flat(&sums), flat(&expected));
            for some in [0..lines / 2, lines / 2..lines] {
                let mut part = vec![Words::default(); lines];
                lanes.accumulate(&bias, &rows, &features, some.clone(), &mut part);
                assert_eq!(flat(&part[some.clone()]), flat(&expected[some]));
            }
            let activations = words(&mut random, lines, 16_384);
            for row in 0..50 {
                assert_eq!(lanes.dot(&activations, rows.row(row)), Plain.dot(&activations, rows.row(row)));
            }
            for (a, b) in sums.iter().zip(&bias) {
                assert_eq!(lanes.multiply(a.0[1], b.0[2]), Plain.multiply(a.0[1], b.0[2]));
            }
        }
        assert_eq!(lanes.multiply([-5; 16], [200; 16]), [0; 16]);
        assert_eq!(lanes.multiply([300; 16], [129; 16]), [16_384; 16]);
        assert_eq!(lanes.multiply([3; 16], [7; 16]), [21; 16]);
    }

    #[test]
    fn machines_agree() {
        agrees_with_plain(Plain);
        #[cfg(target_arch = "x86_64")]
        if let Some(machine) = pulp::x86::V3::try_new() {
            agrees_with_plain(machine);
        }
    }
}
