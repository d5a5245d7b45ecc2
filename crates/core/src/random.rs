//! The seeded random source: SplitMix64, small, documented, the same in core and reference.
//!
//! All chance of a search comes from one of these, so equal seeds give equal searches.

/// The odd constant that SplitMix64 counts by.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A SplitMix64 generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    /// The whole state.
    pub state: u64,
}

/// The finaliser of SplitMix64 as a hash of one number.
pub const fn mix(x: u64) -> u64 {
    let z = x.wrapping_add(GOLDEN);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// A generator with the given seed.
    pub const fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let out = mix(self.state);
        self.state = self.state.wrapping_add(GOLDEN);
        out
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// An index below `count`.
    pub fn index(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    /// A gamma variate of the given shape and scale 1 (Marsaglia and Tsang, boosted from shape + 1).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape + 1.0 - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        let body = loop {
            let x = self.normal();
            let t = 1.0 + c * x;
            if t <= 0.0 {
                continue;
            }
            let v = t * t * t;
            let u = self.uniform();
            if u > 0.0 && libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                break d * v;
            }
        };
        body * libm::pow(self.uniform(), 1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_matches_its_published_stream() {
        let mut random = Random::new(1234567);
        assert_eq!(random.bits(), 6457827717110365317);
        assert_eq!(random.bits(), 3203168211198807973);
    }

    #[test]
    fn gamma_has_the_mean_of_its_shape() {
        let mut random = Random::new(7);
        let mean = (0..20000).map(|_| random.gamma(0.3)).sum::<f64>() / 20000.0;
        assert!((mean - 0.3).abs() < 0.02, "{mean}");
    }
}
