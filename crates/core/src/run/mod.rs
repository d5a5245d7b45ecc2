//! A search under way: the loops that drive it, threads, sessions for the binding, saved graphs, benchmarks.
//!
//! The Rust loop serves evaluators of the core, the external one all others; both follow the same rules, so
//! that the graph depends on seed and settings alone.

pub mod flight;
pub mod pool;
pub mod drive;
pub mod save;
pub mod errors;
pub mod kind;
pub mod external;
pub mod bench;
pub mod session;
pub mod any;
pub mod job;
pub mod many;
pub mod gather;
