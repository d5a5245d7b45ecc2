//! Searches under way: the loop that drives them, its threads, sessions for the binding, saved graphs and
//! benchmarks.

pub mod bench;
pub mod drive;
pub mod pool;
pub mod save;
pub mod session;
