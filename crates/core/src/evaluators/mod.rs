//! Evaluators without a network: `uniform`, `material` and `hash`, exactly as `docs/algorithm.md`, section
//! 10, has them.
//!
//! They make tests and benchmarks exact and fast; the Python reference computes the same numbers to the last
//! bit.

mod evaluator;
mod hash;
mod material;
mod uniform;

use std::sync::Arc;

pub use evaluator::{Evaluator, Leaf};
pub use hash::Hash;
pub use material::Material;
pub use uniform::Uniform;

use crate::games::chess::{Board, Rules};

/// The name is not that of a built-in evaluator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("There is no built-in evaluator named {name:?}; they are uniform, material and hash.")]
pub struct UnknownEvaluator {
    /// The refused name, clipped.
    pub name: String,
}

/// The built-in evaluator of that name. `hash_cost_us` is the artificial cost of one evaluation by `hash`.
pub fn by_name<P: Rules>(
    name: &str,
    hash_cost_us: u32,
) -> Result<Arc<dyn Evaluator<Board<P>>>, UnknownEvaluator> {
    match name {
        "uniform" => Ok(Arc::new(Uniform)),
        "material" => Ok(Arc::new(Material)),
        "hash" => Ok(Arc::new(Hash { cost_us: hash_cost_us })),
        _ => Err(UnknownEvaluator { name: name.chars().take(40).collect() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_or_refused() {
        for name in ["uniform", "material", "hash"] {
            assert!(by_name::<shakmaty::Chess>(name, 0).is_ok());
        }
        let refused = by_name::<shakmaty::Chess>("stockfish", 0).err().unwrap();
        assert!(refused.to_string().contains("\"stockfish\""));
    }
}
