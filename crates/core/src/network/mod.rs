//! The networks of the core, exactly as `docs/networks.md` has them.
//!
//! `attacks` are computed once per position; `features` and `context` read them, and `encode` does the same
//! to many positions at once, for training. `patterns` are the features of games on a grid. `file` takes a
//! network file apart, `weights` lays it out, `forward` computes with `lanes`; `sparse` is the evaluator.
//! Nothing here depends on the search.

mod attacks;
mod features;
mod context;
mod encode;
mod lanes;
mod patterns;
mod plays;
mod file;
mod weights;
mod forward;
mod sparse;

pub use attacks::{Attacks, SideAttacks};
pub use context::{CONTEXTS, Contexts};
pub use encode::{EncodeError, Planes, Samples, Sparse, encode_planes, encode_sparse};
pub use features::{FEATURES, Features, bucket};
pub use sparse::{Network, NetworkError, NetworkSpeed, Opinion, Unreadable};
