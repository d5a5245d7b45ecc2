//! Settings and limits in, reports and graphs out, as dictionaries of plain Python values.

use std::time::Duration;

use anabranch_core::report::{EdgeExport, Line, Meters, MoveReport, NodeExport, Report, Statistics};
use anabranch_core::run::drive::Limits;
use anabranch_core::run::session::SolveReport;
use anabranch_core::search::Solved;
use anabranch_core::settings::{Settings, Value, table};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::errors;

/// A dictionary of pairs, then of fields of structures under their own names.
macro_rules! dict {
    ($py:expr, { $($key:literal: $value:expr),* $(,)? } $(, $source:ident: $($field:ident)+)*) => {{
        let dict = PyDict::new($py);
        $( dict.set_item(pyo3::intern!($py, $key), $value)?; )*
        $($( dict.set_item(pyo3::intern!($py, stringify!($field)), &$source.$field)?; )+)*
        dict
    }};
}
pub(crate) use dict;

/// A dictionary of fields of a structure, which become arrays.
macro_rules! arrays {
    ($py:expr, $source:ident: $($field:ident)+) => {{
        let dict = PyDict::new($py);
        $( dict.set_item(pyo3::intern!($py, stringify!($field)), $source.$field.into_pyarray($py))?; )+
        dict
    }};
}
pub(crate) use arrays;

/// A value of a setting.
pub fn value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Flag(flag) => flag.into_bound_py_any(py),
        Value::Integer(number) => number.into_bound_py_any(py),
        Value::Float(number) => number.into_bound_py_any(py),
        Value::Text(text) => text.into_bound_py_any(py),
    }
}

/// All settings by name.
pub fn settings<'py>(py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for row in table() {
        if let Some(setting) = settings.get(row.name) {
            dict.set_item(row.name, value(py, &setting)?)?;
        }
    }
    Ok(dict)
}

/// The default settings changed by those of a dictionary.
pub fn read_settings(dict: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let mut settings = Settings::default();
    for (name, given) in dict {
        let name: String = name.extract()?;
        let value = if given.is_instance_of::<PyBool>() {
            Value::Flag(given.extract()?)
        } else if given.is_instance_of::<PyInt>() {
            // An integer beyond 128 bits is beyond every range as well.
            Value::Integer(given.extract().unwrap_or(i128::MAX))
        } else if given.is_instance_of::<PyFloat>() {
            Value::Float(given.extract()?)
        } else if given.is_instance_of::<PyString>() {
            Value::Text(given.extract()?)
        } else {
            return Err(errors::setting_value(&name, &given.get_type().name()?.to_string_lossy()));
        };
        settings.set(&name, &value).map_err(errors::setting)?;
    }
    settings.check().map_err(errors::setting)?;
    Ok(settings)
}

/// Limits of a search.
pub fn limits(
    simulations: Option<u64>,
    evaluations: Option<u64>,
    time: Option<f64>,
    mate: Option<u32>,
) -> PyResult<Limits> {
    let mut limits = Limits { mate, ..Limits::default() };
    limits.budget.simulations = simulations;
    limits.budget.evaluations = evaluations;
    if let Some(seconds) = time {
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|_| errors::limit("the time must be a number of seconds above 0"))?;
        limits.time = Some(time);
    }
    Ok(limits)
}

/// The range of the meters, by name.
pub fn meters(name: &str) -> PyResult<Meters> {
    match name {
        "off" => Ok(Meters::Off),
        "sample" => Ok(Meters::Sample),
        "whole" => Ok(Meters::Whole),
        _ => Err(errors::limit("the meters are off, sample or whole")),
    }
}

fn move_report<'py>(py: Python<'py>, row: &MoveReport) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py, { "move": &row.mv, "state": row.state.as_str() },
        row: visits q prior policy improved raw child_value child_visits plies draws explored))
}

fn line<'py>(py: Python<'py>, line: &Line) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py, { "state": line.state.as_str() }, line: moves value visits plies))
}

fn solved<'py>(py: Python<'py>, solved: &Solved) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py, { "state": solved.state.as_str() }, solved: plies exact))
}

fn statistics<'py>(py: Python<'py>, numbers: &Statistics) -> PyResult<Bound<'py, PyDict>> {
    let counters = &numbers.counters;
    let mean_depth = counters.depth_sum as f64 / counters.simulations.max(1) as f64;
    Ok(dict!(py, { "mean_depth": mean_depth },
        counters: simulations evaluations batches transposition_links corrections stops shared collisions
            terminals path_draws explorations max_depth reclaims tablebase_hits mates,
        numbers: nodes edges root_visits transposition_nodes solved_nodes leak node_leak bytes
            reserved_bytes))
}

/// What was found out about a position by solving it.
pub fn solve_report<'py>(py: Python<'py>, report: &SolveReport) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py, {},
        report: result plies line is_shortest proof_positions positions no_win certificate))
}

/// The result so far.
pub fn report<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let moves = report.moves.iter().map(|row| move_report(py, row)).collect::<PyResult<Vec<_>>>()?;
    let lines = report.lines.iter().map(|row| line(py, row)).collect::<PyResult<Vec<_>>>()?;
    Ok(dict!(py, {
        "best_move": &report.best_move,
        "value": report.value,
        "moves": moves,
        "lines": lines,
        "solved": report.solved.as_ref().map(|verdict| solved(py, verdict)).transpose()?,
        "statistics": statistics(py, &report.statistics)?,
    }))
}

/// A node of an export.
pub fn node<'py>(py: Python<'py>, node: &NodeExport) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py, { "state": node.state.as_str() },
        node: id position depth visits value raw plies transposition legal))
}

/// An edge of an export.
pub fn edge<'py>(py: Python<'py>, edge: &EdgeExport) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py, { "source": edge.from, "target": edge.to, "move": &edge.mv, "child_value": edge.target },
        edge: visits q prior pruned in_flight))
}
