//! The networks of the core: what they see of a position and of its moves, exactly as `docs/networks.md` has it.
//!
//! `attacks` are computed once per position; `features` and `context` read them. `encode` does the same to many positions at once, for
//! training. Nothing here knows the search.

mod attacks;
mod context;
mod encode;
mod features;

pub use attacks::{Attacks, Side};
pub use context::{CONTEXTS, Contexts};
pub use encode::{EncodeError, Planes, Samples, Sparse, encode_planes, encode_sparse};
pub use features::{FEATURES, Features, bucket};
