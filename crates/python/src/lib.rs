//! The PyO3 binding of the core: arrays in and out, errors mapped once, no logic of its own.

mod connect_four;
mod convert;
mod encode;
mod errors;
mod faults;
mod many;
mod network;
mod object;
mod pgn;
mod rows;
mod session;
mod tablebases;
mod watch;

use std::path::PathBuf;

use anabranch_core::games::chess::Variant;
use anabranch_core::games::chess::planes::Version;
use anabranch_core::games::chess::policy;
use anabranch_core::games::grid::catalogue::GAMES;
use anabranch_core::network::{CONTEXTS, FEATURES};
use anabranch_core::run::session as core_session;
use anabranch_core::settings::{PRESETS, Settings, table};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::dict;

/// Every setting: name, symbol, default, range, minimum, maximum, choices, meaning.
#[pyfunction]
fn settings_table(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = PyList::empty(py);
    for row in table() {
        let default = convert::value(py, &row.default)?;
        let entry = dict!(py, { "default": default, "choices": row.choices.to_vec() },
            row: name symbol range minimum maximum meaning);
        rows.append(entry)?;
    }
    Ok(rows)
}

/// The names of the presets.
#[pyfunction]
fn presets() -> Vec<&'static str> {
    PRESETS.to_vec()
}

/// The settings of a preset.
#[pyfunction]
fn preset<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    convert::settings(py, &Settings::preset(name).map_err(errors::setting)?)
}

/// The default settings changed by those given, checked.
#[pyfunction]
fn check_settings<'py>(py: Python<'py>, settings: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    convert::settings(py, &convert::read_settings(settings)?)
}

/// The names of the variants.
#[pyfunction]
fn variants() -> Vec<&'static str> {
    Variant::ALL.iter().map(|variant| variant.name()).collect()
}

/// Cores that this process may use: by its affinity, and by the quota of its control group.
#[pyfunction]
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The variant of a saved graph, and whether it is Chess960.
#[pyfunction]
fn saved_variant(path: PathBuf) -> PyResult<(String, bool)> {
    core_session::saved_variant(&path).map_err(errors::session)
}

/// The games on a grid: name, rules, how moves are written, and their parameters.
#[pyfunction]
fn grid_games(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let games = PyList::empty(py);
    for game in GAMES {
        let parameters = PyList::empty(py);
        for row in game.parameters {
            parameters.append(dict!(py, { "takes": row.takes() }, row: name default meaning))?;
        }
        games.append(dict!(py, { "parameters": parameters }, game: name rules moves))?;
    }
    Ok(games)
}

/// The sizes of formats: inputs of the core's networks, planes and policies by variant.
fn add_sizes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let (planes, policies) = (PyDict::new(module.py()), PyDict::new(module.py()));
    for variant in Variant::ALL {
        let counts = PyDict::new(module.py());
        for name in ["v1", "v3", "lc0"] {
            if let Ok(version) = Version::parse(name, variant) {
                counts.set_item(name, version.count(variant))?;
            }
        }
        planes.set_item(variant.name(), counts)?;
        policies.set_item(variant.name(), policy::size(variant))?;
    }
    module.add("FEATURES", FEATURES)?;
    module.add("CONTEXTS", CONTEXTS)?;
    module.add("PLANES", planes)?;
    module.add("POLICY_SIZES", policies)
}

/// The private native module of the package.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<session::Session>()?;
    module.add_class::<many::Order>()?;
    module.add_class::<many::Searches>()?;
    module.add_class::<many::Gather>()?;
    module.add_class::<network::Network>()?;
    module.add_class::<connect_four::ConnectFourSolver>()?;
    module.add_class::<tablebases::Tablebases>()?;
    add_sizes(module)?;
    for function in [
        wrap_pyfunction!(settings_table, module)?,
        wrap_pyfunction!(presets, module)?,
        wrap_pyfunction!(preset, module)?,
        wrap_pyfunction!(check_settings, module)?,
        wrap_pyfunction!(variants, module)?,
        wrap_pyfunction!(cores, module)?,
        wrap_pyfunction!(saved_variant, module)?,
        wrap_pyfunction!(grid_games, module)?,
        wrap_pyfunction!(pgn::read_pgn, module)?,
        wrap_pyfunction!(pgn::examine_samples, module)?,
        wrap_pyfunction!(encode::encode_sparse, module)?,
        wrap_pyfunction!(encode::encode_planes, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
