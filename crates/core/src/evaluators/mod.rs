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

/// The built-in evaluator of that name, if there is one. `hash_cost_us` is the artificial cost of one
/// evaluation by `hash`.
pub fn by_name<P: Rules>(name: &str, hash_cost_us: u32) -> Option<Arc<dyn Evaluator<Board<P>>>> {
    match name {
        "uniform" => Some(Arc::new(Uniform)),
        "material" => Some(Arc::new(Material)),
        "hash" => Some(Arc::new(Hash { cost_us: hash_cost_us })),
        _ => None,
    }
}
