//! Evaluators without a network: `uniform`, `material`, `hash` and `rollout`, exactly as `docs/algorithm.md`,
//! section 10, has them.
//!
//! They make tests and benchmarks exact and fast; the Python reference computes the same numbers to the last
//! bit.

mod evaluator;
mod hash;
mod material;
mod rollout;
mod uniform;

use std::sync::Arc;

pub use evaluator::{Evaluator, Leaf};
pub use hash::Hash;
pub use material::Material;
pub use rollout::Rollout;
pub use uniform::Uniform;

use crate::game::Game;
use crate::games::chess::{Board, Rules};
use crate::settings::{BuiltIn, Settings};

/// The built-in evaluator of the settings, if it is one for any game.
pub fn of_any_game<G: Game>(settings: &Settings) -> Option<Arc<dyn Evaluator<G>>> {
    match settings.evaluator {
        BuiltIn::Uniform => Some(Arc::new(Uniform)),
        BuiltIn::Hash => Some(Arc::new(Hash { cost_us: settings.hash_cost_us as u32 })),
        BuiltIn::Rollout => Some(Arc::new(Rollout { playouts: settings.rollouts, seed: settings.seed })),
        BuiltIn::Material | BuiltIn::Network => None,
    }
}

/// The built-in evaluator of that name, if there is one for chess. `hash_cost_us` is the artificial cost of
/// one evaluation by `hash`.
pub fn by_name<P: Rules>(name: &str, hash_cost_us: u32) -> Option<Arc<dyn Evaluator<Board<P>>>> {
    match name {
        "uniform" => Some(Arc::new(Uniform)),
        "material" => Some(Arc::new(Material)),
        "hash" => Some(Arc::new(Hash { cost_us: hash_cost_us })),
        _ => None,
    }
}
