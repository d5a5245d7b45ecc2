//! The PyO3 binding of the core: arrays in and out, errors mapped once, no logic of its own.

use pyo3::prelude::*;

/// The private native module of the package.
#[pymodule]
fn _core(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
