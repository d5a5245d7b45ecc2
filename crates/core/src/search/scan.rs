//! The scan over the opened edges of a node, four at a time, with AVX2 where the machine has it.
//!
//! The operations on the numbers are those of `select` and `wave/split`, in the same order and none of them
//! fused, so the choice does not depend on the machine.

use crate::graph::Edge;

/// Edges from which on four at a time pay.
const FEWEST: usize = 8;

/// What scores depend on beside the edges themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// c * sqrt(sum).
    pub scale: f64,
    /// The value of an edge without visits.
    pub unvisited: f64,
    /// Virtual loss; `None` where trajectories in flight count as visits, or nothing is in flight.
    pub loss: Option<f64>,
}

/// What a scan found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Best {
    /// The largest score of the edges that are not pruned, or minus infinity.
    pub score: f64,
    /// The first slot that has it.
    pub slot: u16,
    /// Whether the value of an unvisited edge was looked at.
    pub has_unvisited: bool,
    /// The sum of all priors.
    pub tried: f64,
}

/// The sum of the priors. Priors are whole multiples of 2^-24, so every order gives the same sum, exactly.
pub(super) fn sum_priors(edges: &[Edge]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = edges.as_chunks::<4>();
    for four in fours {
        for (sum, edge) in sums.iter_mut().zip(four) {
            *sum += edge.prior();
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(Edge::prior).sum::<f64>()
}

/// The machine's way to scan, as found out when a search starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    #[cfg(target_arch = "x86_64")]
    machine: Option<pulp::x86::V3>,
}

impl Scan {
    /// The best that this machine can do.
    pub fn detect() -> Scan {
        Scan {
            #[cfg(target_arch = "x86_64")]
            machine: pulp::x86::V3::try_new(),
        }
    }

    /// The first of the largest scores; `None` where plain code has to find it.
    #[inline]
    pub fn best(self, edges: &[Edge], terms: Terms) -> Option<Best> {
        if edges.len() < FEWEST {
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        return self.machine.map(|machine| machine.vectorize(avx2::FindBest { machine, edges, terms }));
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// For a split of `count` visits, which come when the scale is that of `terms` to `last`: writes what
    /// each edge can score at most, and returns what some edge scores at least. `None` where plain code has
    /// to.
    #[inline]
    pub fn bounds(
        self,
        edges: &[Edge],
        terms: Terms,
        last: f64,
        count: u32,
        most: &mut Vec<f64>,
    ) -> Option<f64> {
        if edges.len() < FEWEST {
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        return self
            .machine
            .map(|machine| machine.vectorize(avx2::FindBounds { machine, edges, terms, last, count, most }));
        #[cfg(not(target_arch = "x86_64"))]
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{__m256d, __m256i};

    use pulp::x86::V3;
    use pulp::{NullaryFnOnce, cast};

    use super::{Best, Terms};
    use crate::game::MoveCode;
    use crate::graph::{Edge, NONE, edge_flag};

    const GREATER: i32 = 30;
    /// 2^52 as a number and as bits: what is added to a whole number to make it a double.
    const SHIFT: f64 = 4_503_599_627_370_496.0;
    /// Least half that is not subnormal.
    const LEAST_NORMAL: u64 = 1 << 10;

    const _: () = assert!(edge_flag::PRUNED == 1);

    /// Fills up the last four; it is never chosen.
    const FILLER: Edge = Edge {
        q: 0.0,
        child: NONE,
        visits: 1,
        draws: 0,
        explored: 0,
        half: 0,
        mv: MoveCode(0),
        in_flight: 0,
        flags: edge_flag::PRUNED,
    };

    /// Four edges, a lane for each.
    #[derive(Clone, Copy)]
    struct Four {
        q: __m256d,
        visits: __m256d,
        flying: __m256d,
        prior: __m256d,
        /// Negative in the lanes of pruned edges.
        pruned: __m256d,
    }

    // Functions, not closures: all of this has to be inlined where AVX2 may be used.
    /// Child and visits: neighbours in memory, one load of eight bytes.
    #[inline(always)]
    fn counts(edge: &Edge) -> u64 {
        u64::from(edge.child) | u64::from(edge.visits) << 32
    }

    /// Prior, move, marks and flags: one load as well.
    #[inline(always)]
    fn words(edge: &Edge) -> u64 {
        u64::from(edge.half)
            | u64::from(edge.mv.0) << 16
            | u64::from(edge.in_flight) << 32
            | u64::from(edge.flags) << 48
    }

    /// Whole numbers below 2^32.
    #[inline(always)]
    fn to_double(machine: V3, whole: __m256i) -> __m256d {
        let bits = machine.avx2._mm256_or_si256(whole, cast([SHIFT; 4]));
        machine.avx._mm256_sub_pd(cast(bits), machine.avx._mm256_set1_pd(SHIFT))
    }

    /// Bits of a half become bits of a double; a subnormal one has no hidden bit.
    #[inline(always)]
    fn to_prior(machine: V3, words: __m256i) -> __m256d {
        let V3 { avx, avx2, .. } = machine;
        let halves = avx2._mm256_and_si256(words, cast([0xFFFFu64; 4]));
        let bits = avx2._mm256_add_epi64(avx2._mm256_slli_epi64::<42>(halves), cast([1008u64 << 52; 4]));
        let normal: __m256d = cast(bits);
        let twice = avx._mm256_add_pd(normal, normal);
        let subnormal = avx._mm256_sub_pd(twice, avx._mm256_set1_pd(1.0 / 16384.0));
        let is_subnormal = avx2._mm256_cmpgt_epi64(cast([LEAST_NORMAL; 4]), halves);
        avx._mm256_blendv_pd(normal, subnormal, cast(is_subnormal))
    }

    impl Four {
        #[inline(always)]
        fn load(machine: V3, [a, b, c, d]: [&Edge; 4]) -> Four {
            let avx2 = machine.avx2;
            let counts: __m256i = cast([counts(a), counts(b), counts(c), counts(d)]);
            let words: __m256i = cast([words(a), words(b), words(c), words(d)]);
            Four {
                q: cast([a.q, b.q, c.q, d.q]),
                visits: to_double(machine, avx2._mm256_srli_epi64::<32>(counts)),
                flying: to_double(machine, avx2._mm256_srli_epi64::<48>(avx2._mm256_slli_epi64::<16>(words))),
                prior: to_prior(machine, words),
                pruned: cast(avx2._mm256_slli_epi64::<15>(words)),
            }
        }

        /// Some edges from `at` on, the last four filled up.
        #[inline(always)]
        fn at(machine: V3, edges: &[Edge], at: usize) -> Four {
            match &edges[at..] {
                [a, b, c, d, ..] => Four::load(machine, [a, b, c, d]),
                [a, b, c] => Four::load(machine, [a, b, c, &FILLER]),
                [a, b] => Four::load(machine, [a, b, &FILLER, &FILLER]),
                [a] => Four::load(machine, [a, &FILLER, &FILLER, &FILLER]),
                [] => Four::load(machine, [&FILLER; 4]),
            }
        }

        /// The value as selection sees it with `flying` in flight, and the lanes that are unvisited.
        #[inline(always)]
        fn value(&self, machine: V3, terms: &Terms, flying: __m256d) -> (__m256d, __m256d) {
            let avx = machine.avx;
            let zero = avx._mm256_setzero_pd();
            let is_visited = avx._mm256_cmp_pd::<GREATER>(self.visits, zero);
            let unvisited = avx._mm256_set1_pd(terms.unvisited);
            let plain = avx._mm256_blendv_pd(unvisited, self.q, is_visited);
            let Some(loss) = terms.loss else { return (plain, is_visited) };
            let mass = avx._mm256_sub_pd(
                avx._mm256_mul_pd(self.visits, self.q),
                avx._mm256_mul_pd(avx._mm256_set1_pd(loss), flying),
            );
            let all = avx._mm256_add_pd(self.visits, flying);
            let mean = avx._mm256_mul_pd(mass, avx._mm256_div_pd(avx._mm256_set1_pd(1.0), all));
            let is_flying = avx._mm256_cmp_pd::<GREATER>(flying, zero);
            (avx._mm256_blendv_pd(plain, mean, is_flying), avx._mm256_or_pd(is_visited, is_flying))
        }

        /// `value + scale * P / (1 + N + k)`; of pruned edges minus infinity.
        #[inline(always)]
        fn score(&self, machine: V3, value: __m256d, scale: f64, flying: __m256d) -> __m256d {
            let avx = machine.avx;
            let one = avx._mm256_set1_pd(1.0);
            let visits = avx._mm256_add_pd(avx._mm256_add_pd(self.visits, one), flying);
            let share = avx._mm256_div_pd(one, visits);
            let weight = avx._mm256_mul_pd(avx._mm256_set1_pd(scale), self.prior);
            let score = avx._mm256_add_pd(value, avx._mm256_mul_pd(weight, share));
            avx._mm256_blendv_pd(score, avx._mm256_set1_pd(f64::NEG_INFINITY), self.pruned)
        }
    }

    pub(super) struct FindBest<'a> {
        pub machine: V3,
        pub edges: &'a [Edge],
        pub terms: Terms,
    }

    impl NullaryFnOnce for FindBest<'_> {
        type Output = Best;

        #[inline(always)]
        fn call(self) -> Best {
            let FindBest { machine, edges, terms } = self;
            let avx = machine.avx;
            let mut best = avx._mm256_set1_pd(f64::NEG_INFINITY);
            let (mut slots, mut here) = (avx._mm256_setzero_pd(), cast([0.0, 1.0, 2.0, 3.0]));
            let mut is_visited: __m256d = cast([u64::MAX; 4]);
            let mut tried = avx._mm256_setzero_pd();
            for at in (0..edges.len()).step_by(4) {
                let four = Four::at(machine, edges, at);
                let (value, visited) = four.value(machine, &terms, four.flying);
                is_visited = avx._mm256_and_pd(is_visited, visited);
                tried = avx._mm256_add_pd(tried, four.prior);
                let score = four.score(machine, value, terms.scale, four.flying);
                let is_better = avx._mm256_cmp_pd::<GREATER>(score, best);
                best = avx._mm256_blendv_pd(best, score, is_better);
                slots = avx._mm256_blendv_pd(slots, here, is_better);
                here = avx._mm256_add_pd(here, avx._mm256_set1_pd(4.0));
            }
            let (best, slots) = (cast::<__m256d, [f64; 4]>(best), cast::<__m256d, [f64; 4]>(slots));
            let mut first = 0;
            for lane in 1..4 {
                let is_better = best[lane] > best[first];
                if is_better || (best[lane] == best[first] && slots[lane] < slots[first]) {
                    first = lane;
                }
            }
            let has_unvisited = avx._mm256_movemask_pd(is_visited) != 0b1111;
            let [a, b, c, d] = cast::<__m256d, [f64; 4]>(tried);
            let tried = (a + b) + (c + d);
            Best { score: best[first], slot: slots[first] as u16, has_unvisited, tried }
        }
    }

    pub(super) struct FindBounds<'a> {
        pub machine: V3,
        pub edges: &'a [Edge],
        pub terms: Terms,
        pub last: f64,
        pub count: u32,
        pub most: &'a mut Vec<f64>,
    }

    impl NullaryFnOnce for FindBounds<'_> {
        type Output = f64;

        #[inline(always)]
        fn call(self) -> f64 {
            let FindBounds { machine, edges, terms, last, count, most } = self;
            let avx = machine.avx;
            let none = avx._mm256_set1_pd(f64::NEG_INFINITY);
            let count = avx._mm256_set1_pd(f64::from(count));
            let mut least = none;
            most.clear();
            for at in (0..edges.len()).step_by(4) {
                let four = Four::at(machine, edges, at);
                let (value, _) = four.value(machine, &terms, four.flying);
                let score = four.score(machine, value, last, four.flying);
                most.extend_from_slice(&cast::<__m256d, [f64; 4]>(score));
                let flying = avx._mm256_add_pd(four.flying, count);
                let (value, _) = four.value(machine, &terms, flying);
                let score = four.score(machine, value, terms.scale, flying);
                let is_visited = avx._mm256_cmp_pd::<GREATER>(four.visits, avx._mm256_setzero_pd());
                least = avx._mm256_max_pd(least, avx._mm256_blendv_pd(none, score, is_visited));
            }
            most.truncate(edges.len());
            let [a, b, c, d] = cast::<__m256d, [f64; 4]>(least);
            a.max(b).max(c.max(d))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::MoveCode;
    use crate::graph::edge_flag;
    use crate::graph::prior::to_half;
    use crate::random::Random;

    /// Edges by chance, many of them equal, some without visits, some pruned.
    fn edges(random: &mut Random, count: usize, least_visits: u32) -> Vec<Edge> {
        (0..count)
            .map(|slot| Edge {
                q: random.index(5) as f64 / 4.0 - 0.6,
                child: slot as u32,
                visits: least_visits + [0, 1, 3, 4_000_000_000][random.index(4)],
                draws: 7,
                explored: 9,
                half: to_half([0.25, 0.125, 0.000_02, 0.000_000_06, 0.0][random.index(5)]),
                mv: MoveCode(random.index(65536) as u16),
                in_flight: [0, 0, 2, 65_535][random.index(4)],
                flags: edge_flag::ZEROING | if random.index(6) == 0 { edge_flag::PRUNED } else { 0 },
            })
            .collect()
    }

    /// Eq. (3), (4) for one edge.
    fn score(edge: &Edge, terms: Terms, scale: f64, more: u32) -> f64 {
        let (n, k) = (f64::from(edge.visits), f64::from(u32::from(edge.in_flight) + more));
        let q = match terms.loss {
            Some(loss) if k > 0.0 => (n * edge.q - loss * k) * (1.0 / (n + k)),
            _ if edge.visits > 0 => edge.q,
            _ => terms.unvisited,
        };
        if edge.has(edge_flag::PRUNED) {
            f64::NEG_INFINITY
        } else {
            q + (scale * edge.prior()) * (1.0 / (1.0 + n + k))
        }
    }

    #[test]
    fn a_scan_finds_what_plain_code_finds() {
        let (scan, mut random) = (Scan::detect(), Random::new(5));
        let mut found = 0;
        for round in 0..2000u32 {
            let edges = edges(&mut random, 1 + round as usize % 41, round % 2);
            let loss = [None, Some(1.0)][round as usize / 2 % 2];
            let terms = Terms { scale: 2.7, unvisited: -0.3, loss };
            let scores: Vec<f64> = edges.iter().map(|edge| score(edge, terms, terms.scale, 0)).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let slot = scores.iter().position(|&score| score == most).unwrap_or(0);
            let tried: f64 = edges.iter().map(Edge::prior).sum();
            assert_eq!(sum_priors(&edges).to_bits(), tried.to_bits());
            if let Some(best) = scan.best(&edges, terms) {
                found += 1;
                assert_eq!((best.score.to_bits(), best.slot), (most.to_bits(), slot as u16), "{round}");
                assert_eq!(best.tried.to_bits(), tried.to_bits());
                let is_new = |edge: &Edge| edge.visits == 0 && (loss.is_none() || edge.in_flight == 0);
                assert_eq!(best.has_unvisited, edges.iter().any(is_new));
            }
            let mut bounds = Vec::new();
            if let Some(least) = scan.bounds(&edges, terms, 3.1, 50, &mut bounds) {
                let visited = edges.iter().filter(|edge| edge.visits > 0);
                let expected = visited.map(|edge| score(edge, terms, terms.scale, 50));
                assert_eq!(least, expected.fold(f64::NEG_INFINITY, f64::max));
                let most: Vec<f64> = edges.iter().map(|edge| score(edge, terms, 3.1, 0)).collect();
                assert_eq!(bounds, most);
            }
        }
        // Where the machine can do it at all, most of them are long enough.
        assert!(found == 0 || found > 1000);
    }
}
