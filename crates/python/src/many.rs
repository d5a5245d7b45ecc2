//! The classes `Searches` and `Gather`: many searches at once, with evaluators of the core and with others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anabranch_core::run::external::LeafText;
use anabranch_core::run::gather::{Gather as CoreGather, Leaves};
use anabranch_core::run::job::{self, Found, Job, Outcome};
use anabranch_core::run::many::Many;
use numpy::ndarray::{Ix1, Ix2};
use numpy::{PyArray4, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, dict};
use crate::errors;
use crate::session::{Session, read_array};

/// How long a signal may wait for the interpreter.
const SLICE: Duration = Duration::from_millis(5);

/// The number of a job, and what was found, or the exception that says why nothing was.
type OutcomePair<'py> = (u64, Bound<'py, PyAny>);

fn found<'py>(py: Python<'py>, found: &Found) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py, {
        "fen": &found.fen,
        "player": found.player,
        "report": convert::report(py, &found.report)?,
        "finish": found.finish.as_str(),
        "elapsed": found.elapsed.as_secs_f64(),
        "raw": found.raw.map(<(f32, f32, f32)>::from),
    }))
}

fn outcomes(py: Python<'_>, outcomes: Vec<Outcome>) -> PyResult<Vec<OutcomePair<'_>>> {
    outcomes
        .into_iter()
        .map(|(number, outcome)| {
            let value = match outcome {
                Ok(result) => found(py, &result)?.into_any(),
                Err(error) => errors::session(error).into_value(py).into_bound(py).into_any(),
            };
            Ok((number, value))
        })
        .collect()
}

fn closed() -> PyErr {
    errors::state("these searches have ended")
}

/// How each of many positions is searched: limits, and lines of the report.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Order {
    order: job::Order,
}

#[pymethods]
impl Order {
    #[new]
    #[pyo3(signature = (
        lines, simulations=None, evaluations=None, time=None, mate=None, root_moves=Vec::new(),
    ))]
    fn new(
        lines: usize,
        simulations: Option<u64>,
        evaluations: Option<u64>,
        time: Option<f64>,
        mate: Option<u32>,
        root_moves: Vec<String>,
    ) -> PyResult<Order> {
        let limits = convert::limits(simulations, evaluations, time, mate)?;
        Ok(Order { order: job::Order { limits, root_moves, lines } })
    }
}

/// Searches on threads of their own, with an evaluator of the core. `stop` of the session ends them.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Searches {
    many: Mutex<Option<Many>>,
    stop: Arc<AtomicBool>,
}

impl Searches {
    fn lock(&self) -> MutexGuard<'_, Option<Many>> {
        self.many.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Searches {
    #[new]
    fn new(session: &Session, order: &Order, threads: usize) -> PyResult<Searches> {
        let (order, stop) = (order.order.clone(), session.stop_flag());
        let many = session.read(|any| Many::new(any, order, threads, &stop))?.map_err(errors::session)?;
        Ok(Searches { many: Mutex::new(Some(many)), stop })
    }

    /// Gives out a position under a number.
    fn add(&self, number: u64, fen: Option<String>, moves: Vec<String>) -> PyResult<()> {
        self.lock().as_ref().ok_or_else(closed)?.add(Job { number, fen, moves });
        Ok(())
    }

    /// What was found since the last call, in any order; waits for something. Nothing after a stop.
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Vec<OutcomePair<'py>>> {
        loop {
            let new = py.detach(|| self.lock().as_ref().map(|many| many.outcomes(SLICE)));
            let new = new.ok_or_else(closed)?;
            py.check_signals()?;
            if !new.is_empty() || self.stop.load(Ordering::Relaxed) {
                return outcomes(py, new);
            }
        }
    }

    /// Ends all searches and their threads.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().take()));
    }
}

/// Searches whose leaves share batches, for an evaluator outside the core. `stop` of the session ends them.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Gather {
    gather: Mutex<CoreGather>,
}

impl Gather {
    fn lock(&self) -> MutexGuard<'_, CoreGather> {
        self.gather.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Gather {
    #[new]
    fn new(session: &Session, most: usize) -> PyResult<Gather> {
        let stop = session.stop_flag();
        let gather = session.read(|any| CoreGather::new(any, most, &stop))?;
        Ok(Gather { gather: Mutex::new(gather.map_err(errors::session)?) })
    }

    /// Takes a position under a number; its search begins when there is room for it. The numbers grow.
    fn add(&self, number: u64, fen: Option<String>, moves: Vec<String>, order: &Order) {
        self.lock().add(Job { number, fen, moves }, order.order.clone());
    }

    /// Ends a search under way: what it has found is its outcome. A position that waits is forgotten, without
    /// an outcome. Whether there was a search to end.
    fn cancel(&self, py: Python<'_>, number: u64) -> bool {
        py.detach(|| self.lock().cancel(number))
    }

    /// What a search under way has found so far; nothing if it is not under way.
    fn report<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Option<Bound<'py, PyDict>>> {
        let report = py.detach(|| self.lock().report(number));
        report.map(|report| found(py, &report)).transpose()
    }

    /// Collects a shared batch and fills its planes: number of leaves. Zero when nothing can be collected
    /// before an answer comes, or everything is done.
    #[pyo3(signature = (planes, version=None))]
    fn collect(&self, py: Python<'_>, planes: &Bound<'_, PyAny>, version: Option<&str>) -> PyResult<usize> {
        let (shape, _) = self.lock().shape(version).map_err(errors::session)?;
        let refuse = || {
            let [count, rows, columns] = shape;
            errors::evaluation(format!(
                "the planes go into a writable contiguous float32 array [B, {count}, {rows}, {columns}]"
            ))
        };
        let array = planes.cast::<PyArray4<f32>>().map_err(|_| refuse())?;
        if array.shape()[1..] != shape {
            return Err(refuse());
        }
        let mut borrowed = array.try_readwrite().map_err(|_| refuse())?;
        let slice = borrowed.as_slice_mut().map_err(|_| refuse())?;
        py.detach(|| self.lock().collect(&mut Leaves::Planes(slice, version))).map_err(errors::session)
    }

    /// The same with at most so many leaves as texts: for each its position, and the legal moves with their
    /// policy indices.
    fn collect_texts(&self, py: Python<'_>, most: usize) -> PyResult<Vec<LeafText>> {
        let mut texts = Vec::new();
        py.detach(|| self.lock().collect(&mut Leaves::Texts(&mut texts, most))).map_err(errors::session)?;
        Ok(texts)
    }

    /// Applies the evaluator's results to the oldest shared batch in flight.
    fn apply(&self, py: Python<'_>, values: &Bound<'_, PyAny>, logits: &Bound<'_, PyAny>) -> PyResult<()> {
        let (values, logits) =
            (read_array::<f32, Ix1>(values, "values [B]")?, read_array::<f32, Ix2>(logits, "logits [B, A]")?);
        let (values, logits) = (values.as_slice()?, logits.as_slice()?);
        py.detach(|| self.lock().apply(values, logits)).map_err(errors::session)
    }

    /// What was found since the last call, in any order.
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Vec<OutcomePair<'py>>> {
        let new = self.lock().take_outcomes();
        outcomes(py, new)
    }
}
