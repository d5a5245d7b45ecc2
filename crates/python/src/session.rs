//! The class `Session`: a session of the core behind a lock, with a stop flag that needs none.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use anabranch_core::games::grid::catalogue::Named;
use anabranch_core::report::Part;
use anabranch_core::report::progress::Progress;
use anabranch_core::run::any::{AnySession, open, open_named};
use anabranch_core::run::drive::Finish;
use anabranch_core::run::external::LeafText;
use anabranch_core::run::session::{SolveLimits, Source};
use anabranch_core::settings::Value;
use anabranch_core::with_session;
use numpy::ndarray::{Dimension, Ix1, Ix2};
use numpy::{Element, PyArray, PyArray4, PyArrayMethods, PyReadonlyArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, dict};
use crate::errors;
use crate::faults::Faults;
use crate::network::Network;
use crate::tablebases::Tablebases;
use crate::watch::watch;
use crate::{object, rows};

/// A search on one game. One call at a time; `stop` may be called at any time from any thread.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Session {
    session: Mutex<AnySession>,
    stop: Arc<AtomicBool>,
    /// The errors of a game written in Python.
    faults: Option<Arc<Faults>>,
}

/// Reads from the session: `read!(self.fen())`.
macro_rules! read {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        with_session!(&*$self.lock()?, session => session.$method($($argument),*))
    };
}

/// Calls a method of the session while Python continues: `call!(py, self.play(mv))`.
macro_rules! call {
    ($py:expr, $self:ident.$method:ident($($argument:expr),*)) => {
        $self.apart($py, |any| with_session!(any, session => session.$method($($argument),*)))?
    };
}

/// Gives a session that a panic left in an unknown state a new graph.
fn rebuild(any: &mut AnySession) {
    with_session!(any, session => session.renew());
}

impl Session {
    /// Runs a closure on the session while Python continues.
    fn apart<T: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut AnySession) -> T + Send) -> PyResult<T> {
        let mut guard = self.lock()?;
        let session = &mut *guard;
        let result = py.detach(move || act(session));
        self.check(&mut guard)?;
        Ok(result)
    }

    /// Raises what a game written in Python raised meanwhile; its graph is dropped then.
    fn check(&self, any: &mut AnySession) -> PyResult<()> {
        let Some(error) = self.faults.as_ref().and_then(|faults| faults.take()) else { return Ok(()) };
        rebuild(any);
        if self.faults.as_ref().is_some_and(|faults| faults.take().is_some()) {
            // The position itself cannot be reached again.
            let _ = with_session!(any, session => session.set_position(None, &[]));
        }
        Err(error)
    }

    /// A session of a game that is written in Python.
    fn of_named(
        named: Named,
        settings: &Bound<'_, PyDict>,
        external: bool,
        stop: Arc<AtomicBool>,
        faults: Arc<Faults>,
    ) -> PyResult<Session> {
        let source = Source::new(external, None);
        let session =
            open_named(named, convert::read_settings(settings)?, source).map_err(errors::session)?;
        Ok(Session { session: Mutex::new(session), stop, faults: Some(faults) })
    }

    /// The flag that `stop` sets.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Reads from the session.
    pub fn read<T>(&self, act: impl FnOnce(&AnySession) -> T) -> PyResult<T> {
        Ok(act(&*self.lock()?))
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, AnySession>> {
        match self.session.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => Err(errors::busy()),
            Err(TryLockError::Poisoned(poison)) => {
                let mut guard = poison.into_inner();
                self.session.clear_poison();
                rebuild(&mut guard);
                Ok(guard)
            }
        }
    }
}

/// Shape of the network's input, size of its policy.
fn shape(any: &AnySession, version: Option<&str>) -> PyResult<([usize; 3], usize)> {
    with_session!(any, session => {
        Ok(session.shape(session.planes(version).map_err(errors::session)?))
    })
}

/// A contiguous array, or an error with its name.
pub fn read_array<'py, T: Element, D: Dimension>(
    array: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    let refuse = || errors::evaluation(format!("the evaluator's {name} must be a contiguous float32 array"));
    let array = array.cast::<PyArray<T, D>>().map_err(|_| refuse())?;
    let array = array.try_readonly().map_err(|_| refuse())?;
    if array.as_slice().is_ok() { Ok(array) } else { Err(refuse()) }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (variant, chess960, settings, external, network=None))]
    fn new(
        variant: &str,
        chess960: bool,
        settings: &Bound<'_, PyDict>,
        external: bool,
        network: Option<&Network>,
    ) -> PyResult<Session> {
        let source = Source::new(external, network.map(Network::share));
        let session =
            open(variant, chess960, convert::read_settings(settings)?, source).map_err(errors::session)?;
        Ok(Session { session: Mutex::new(session), stop: Arc::new(AtomicBool::new(false)), faults: None })
    }

    /// A session of a game that is written in Python, behind its adapter.
    #[staticmethod]
    fn of_object(
        py: Python<'_>,
        name: &str,
        adapter: Py<PyAny>,
        settings: &Bound<'_, PyDict>,
        external: bool,
    ) -> PyResult<Session> {
        let stop = Arc::new(AtomicBool::new(false));
        let (start, faults) = object::start(py, adapter, &stop)?;
        Session::of_named(Named::of_object(name, start), settings, external, stop, faults)
    }

    /// A session of a game of rows that is written in Python, behind its adapter.
    #[staticmethod]
    fn of_rows(
        py: Python<'_>,
        name: &str,
        adapter: Py<PyAny>,
        settings: &Bound<'_, PyDict>,
        external: bool,
    ) -> PyResult<Session> {
        let stop = Arc::new(AtomicBool::new(false));
        let (start, faults) = rows::start(py, adapter, &stop)?;
        Session::of_named(Named::of_rows(name, start), settings, external, stop, faults)
    }

    /// Ends the search under way as soon as possible. Never waits.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Takes back a stop: done before every search.
    fn clear_stop(&self) {
        self.stop.store(false, Ordering::Relaxed);
    }

    /// Raises what a game written in Python raised in searches beside this one.
    fn raise_fault(&self) -> PyResult<()> {
        self.check(&mut *self.lock()?)
    }

    /// Whether `stop` was called.
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The name of the variant or game, and whether castling is written as the king takes the rook.
    fn variant(&self) -> PyResult<(String, bool)> {
        Ok(with_session!(&*self.lock()?, session => (session.name().to_owned(), session.is_chess960())))
    }

    /// The board in lines of text.
    fn picture(&self, py: Python<'_>) -> PyResult<String> {
        Ok(call!(py, self.picture()))
    }

    /// Whether evaluations come from outside.
    fn is_external(&self) -> PyResult<bool> {
        Ok(read!(self.is_external()))
    }

    /// The settings in force.
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        convert::settings(py, read!(self.settings()))
    }

    /// Takes new settings; the graph is kept where it still means the same.
    #[pyo3(signature = (settings, external, network=None))]
    fn configure(
        &self,
        py: Python<'_>,
        settings: &Bound<'_, PyDict>,
        external: bool,
        network: Option<&Network>,
    ) -> PyResult<()> {
        let settings = convert::read_settings(settings)?;
        let source = Source::new(external, network.map(Network::share));
        call!(py, self.configure(settings, source)).map_err(errors::session)
    }

    /// Another weight of the noise from the next search on; noise that a root has stays.
    fn set_noise(&self, py: Python<'_>, share: f64) -> PyResult<()> {
        let mut changed = read!(self.settings()).clone();
        changed.set("dirichlet_epsilon", &Value::Float(share)).map_err(errors::setting)?;
        changed.check().map_err(errors::setting)?;
        call!(py, self.set_noise(share));
        Ok(())
    }

    /// Takes tablebases, or leaves them aside; the graph is kept where they are the same.
    #[pyo3(signature = (tablebases=None))]
    fn set_tablebases(&self, py: Python<'_>, tablebases: Option<&Tablebases>) -> PyResult<()> {
        let tablebases = tablebases.map(Tablebases::share);
        Ok(call!(py, self.set_tablebases(tablebases)))
    }

    /// The tablebases.
    fn tablebases(&self) -> PyResult<Option<Tablebases>> {
        Ok(read!(self.tablebases()).map(Tablebases::wrap))
    }

    /// Moves to a position. Returns whether the graph was kept.
    fn set_position(&self, py: Python<'_>, fen: Option<&str>, moves: Vec<String>) -> PyResult<bool> {
        call!(py, self.set_position(fen, &moves)).map_err(errors::session)
    }

    /// Moves to a position and forgets everything else: the next search is that of a new session.
    fn start_at(&self, py: Python<'_>, fen: Option<&str>, moves: Vec<String>) -> PyResult<()> {
        call!(py, self.start_at(fen, &moves)).map_err(errors::session)
    }

    /// Plays a move. Returns whether the graph below it was kept.
    fn play(&self, py: Python<'_>, r#move: &str) -> PyResult<bool> {
        call!(py, self.play(r#move)).map_err(errors::session)
    }

    /// Frees what the position does not reach any more; `stop` ends that, and the next search does the rest.
    fn tidy(&self, py: Python<'_>) -> PyResult<()> {
        Ok(call!(py, self.tidy(&self.stop)))
    }

    /// Forgets the graph, not the position.
    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        Ok(call!(py, self.forget()))
    }

    /// Who moves at the root: 0 for the first player.
    fn player(&self, py: Python<'_>) -> PyResult<u8> {
        Ok(call!(py, self.player()))
    }

    /// The position at the root.
    fn fen(&self, py: Python<'_>) -> PyResult<String> {
        Ok(call!(py, self.fen()))
    }

    /// Where the game began, and the moves since.
    fn game(&self) -> PyResult<(String, Vec<String>)> {
        Ok(read!(self.game()))
    }

    /// The legal moves at the root.
    fn legal_moves(&self) -> PyResult<Vec<String>> {
        Ok(read!(self.legal_moves()))
    }

    /// The legal moves at the root with their places in the policy.
    fn places(&self) -> PyResult<Vec<(String, usize)>> {
        Ok(read!(self.places()))
    }

    /// The value for the side to move of a game that is over at the root.
    fn ending(&self) -> PyResult<Option<f64>> {
        Ok(read!(self.ending()))
    }

    /// Runs the Rust loop; returns why it ended. `progress` is called with a report of up to `lines` lines
    /// every `interval` seconds, and as soon as another move would be chosen. With `root_moves` the search
    /// chooses among these only.
    #[pyo3(signature = (
        simulations=None, evaluations=None, time=None, mate=None, progress=None, interval=0.5, lines=8,
        root_moves=Vec::new(),
    ))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        simulations: Option<u64>,
        evaluations: Option<u64>,
        time: Option<f64>,
        mate: Option<u32>,
        progress: Option<Py<PyAny>>,
        interval: f64,
        lines: usize,
        root_moves: Vec<String>,
    ) -> PyResult<&'static str> {
        let limits = convert::limits(simulations, evaluations, time, mate)?;
        let interval = Duration::try_from_secs_f64(interval)
            .map_err(|_| errors::limit("the interval of progress must be at least 0 seconds"))?;
        let mut guard = self.lock()?;
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        let callback = |py: Python<'_>, report| match &progress {
            Some(progress) => progress.call1(py, (convert::report(py, &report)?,)).map(drop),
            None => Ok(()),
        };
        let any = &mut *guard;
        let reports = progress.is_some();
        let watched = watch(py, &self.stop, deadline, &callback, |send| {
            let progress = reports.then(|| Progress::new(interval, lines, send));
            with_session!(any, session => session.run(limits, &root_moves, &self.stop, progress))
        });
        let (finish, timed_out) = watched.settle(|| rebuild(&mut guard))?;
        self.check(&mut guard)?;
        let finish = finish.map_err(errors::session)?;
        Ok(if timed_out && finish == Finish::Stopped { Finish::Time } else { finish }.as_str())
    }

    /// Starts a search whose evaluations come from outside. With `root_moves` it chooses among these only.
    #[pyo3(signature = (simulations=None, evaluations=None, time=None, mate=None, root_moves=Vec::new()))]
    fn begin(
        &self,
        py: Python<'_>,
        simulations: Option<u64>,
        evaluations: Option<u64>,
        time: Option<f64>,
        mate: Option<u32>,
        root_moves: Vec<String>,
    ) -> PyResult<()> {
        let limits = convert::limits(simulations, evaluations, time, mate)?;
        call!(py, self.begin(limits, &root_moves, &self.stop)).map_err(errors::session)
    }

    /// Looks for a forced win or loss of the side to move with the rules alone. `stop` ends it.
    #[pyo3(signature = (
        positions=None, time=None, wins=true, losses=true, checks_only=false,
        shortest=false,
    ))]
    #[allow(clippy::too_many_arguments)]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        positions: Option<u64>,
        time: Option<f64>,
        wins: bool,
        losses: bool,
        checks_only: bool,
        shortest: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let time = convert::limits(None, None, time, None)?.time;
        let limits =
            SolveLimits { positions: positions.unwrap_or(u64::MAX), wins, losses, checks_only, shortest };
        let mut guard = self.lock()?;
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        let any = &*guard;
        let watched = watch(
            py,
            &self.stop,
            deadline,
            &|_, ()| Ok(()),
            |_| with_session!(any, session => session.solve(&limits, &self.stop)),
        );
        let (report, _) = watched.settle(|| rebuild(&mut guard))?;
        self.check(&mut guard)?;
        convert::solve_report(py, &report.map_err(errors::session)?)
    }

    /// The move that would be played now, if anything is known.
    fn best_move(&self) -> PyResult<Option<String>> {
        Ok(read!(self.best_move()))
    }

    /// Collects the next batch and fills its planes: number of leaves, whether the oldest batch must be
    /// applied before the next collection, and why the search should end, in which case nothing was
    /// collected.
    #[pyo3(signature = (planes, version=None))]
    fn collect(
        &self,
        py: Python<'_>,
        planes: Option<&Bound<'_, PyAny>>,
        version: Option<&str>,
    ) -> PyResult<(usize, bool, Option<&'static str>)> {
        let mut guard = self.lock()?;
        let any = &mut *guard;
        if let Some(finish) = with_session!(&*any, session => session.finish(&self.stop)) {
            return Ok((0, false, Some(finish.as_str())));
        }
        let stop = &*self.stop;
        let collected = match planes {
            None => py.detach(|| with_session!(any, session => session.collect(stop, None))),
            Some(array) => {
                let [count, rows, columns] = shape(any, version)?.0;
                let batch = with_session!(&*any, session => session.settings().batch_size) as usize;
                let refuse = || {
                    errors::evaluation(format!(
                        "the planes go into a writable contiguous float32 array \
                         [{batch}, {count}, {rows}, {columns}]"
                    ))
                };
                let array = array.cast::<PyArray4<f32>>().map_err(|_| refuse())?;
                if array.shape() != [batch, count, rows, columns] {
                    return Err(refuse());
                }
                let mut borrowed = array.try_readwrite().map_err(|_| refuse())?;
                let slice = borrowed.as_slice_mut().map_err(|_| refuse())?;
                py.detach(|| {
                    with_session!(any, session => {
                        let layout = session.planes(version)?;
                        session.collect(stop, Some((slice, layout)))
                    })
                })
            }
        };
        self.check(&mut guard)?;
        let collected = collected.map_err(errors::session)?;
        Ok((collected.size, collected.must_apply, None))
    }

    /// The newest batch: for each leaf its position, and the legal moves with their policy indices.
    fn newest_leaves(&self, py: Python<'_>) -> PyResult<Vec<LeafText>> {
        Ok(call!(py, self.newest_leaves()))
    }

    /// Applies the evaluator's results to the oldest batch in flight.
    fn apply(&self, py: Python<'_>, values: &Bound<'_, PyAny>, logits: &Bound<'_, PyAny>) -> PyResult<()> {
        let (values, logits) =
            (read_array::<f32, Ix1>(values, "values [B]")?, read_array::<f32, Ix2>(logits, "logits [B, A]")?);
        let (values, logits) = (values.as_slice()?, logits.as_slice()?);
        call!(py, self.apply(values, logits)).map_err(errors::session)
    }

    /// Takes back the marks of all batches in flight.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        Ok(call!(py, self.abandon()))
    }

    /// Looks for a mate after the move to play: the end of every search.
    fn check_choice(&self, py: Python<'_>) -> PyResult<()> {
        Ok(call!(py, self.check_choice()))
    }

    /// Ends a solved search: searches for a shorter proof if the settings or limits want it. Ctrl-C and
    /// `stop` end it.
    fn conclude(&self, py: Python<'_>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let any = &mut *guard;
        let watched = watch(py, &self.stop, None, &|_, ()| Ok(()), |_| {
            with_session!(any, session => session.conclude(&self.stop));
        });
        watched.settle(|| rebuild(&mut guard)).map(drop)
    }

    /// Planes of the network's input, size of its policy.
    #[pyo3(signature = (version=None))]
    fn shape(&self, version: Option<&str>) -> PyResult<(usize, usize)> {
        shape(&*self.lock()?, version).map(|([planes, ..], policy)| (planes, policy))
    }

    /// Planes, rows and columns of the network's input.
    #[pyo3(signature = (version=None))]
    fn plane_shape(&self, version: Option<&str>) -> PyResult<(usize, usize, usize)> {
        shape(&*self.lock()?, version).map(|([planes, rows, columns], _)| (planes, rows, columns))
    }

    /// The result so far. `meters` is the range of the statistics of the graph: off, sample or whole.
    #[pyo3(signature = (lines, meters="whole"))]
    fn report<'py>(&self, py: Python<'py>, lines: usize, meters: &str) -> PyResult<Bound<'py, PyDict>> {
        let meters = convert::meters(meters)?;
        let report = call!(py, self.report(lines, meters));
        convert::report(py, &report)
    }

    /// The nodes and edges of a part of the graph.
    #[pyo3(signature = (depth, visits, nodes))]
    #[allow(clippy::type_complexity)]
    fn export<'py>(
        &self,
        py: Python<'py>,
        depth: Option<usize>,
        visits: u32,
        nodes: usize,
    ) -> PyResult<(Vec<Bound<'py, PyDict>>, Vec<Bound<'py, PyDict>>)> {
        let (nodes, edges) = call!(py, self.export(&Part { depth, visits, nodes }));
        let nodes = nodes.iter().map(|node| convert::node(py, node)).collect::<PyResult<_>>()?;
        let edges = edges.iter().map(|edge| convert::edge(py, edge)).collect::<PyResult<_>>()?;
        Ok((nodes, edges))
    }

    /// Number of in-flight marks in the graph.
    fn in_flight_marks(&self) -> PyResult<u64> {
        Ok(read!(self.in_flight_marks()))
    }

    /// Number of move sequences of a length, in all and per first move.
    fn perft(&self, py: Python<'_>, depth: u32) -> PyResult<(u64, Vec<(String, u64)>)> {
        Ok(call!(py, self.perft(depth)))
    }

    /// Writes the graph to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        call!(py, self.save(&path)).map_err(errors::session)
    }

    /// Replaces position, graph and settings by those of a file of the same variant. The hash of the network
    /// that made the graph, if it is not the one given.
    #[pyo3(signature = (path, network=None))]
    fn load(&self, py: Python<'_>, path: PathBuf, network: Option<&Network>) -> PyResult<Option<String>> {
        let network = network.map(Network::share);
        call!(py, self.load(&path, network)).map_err(errors::session)
    }

    /// Times of a search, and of the rules and the evaluator alone on its trajectories, in seconds.
    fn bench_measure<'py>(&self, py: Python<'py>, simulations: u64) -> PyResult<Bound<'py, PyDict>> {
        let measured = call!(py, self.measure(simulations)).map_err(errors::session)?;
        let seconds = |time: Duration| time.as_secs_f64();
        let (search, rules) = (seconds(measured.search), seconds(measured.rules));
        Ok(dict!(py, { "search": search, "rules": rules, "evaluator": seconds(measured.evaluator) },
            measured: simulations evaluations edges))
    }

    /// Seconds of a search on a new graph, and of each of its phases, as the search's own thread sees them.
    fn bench_phases<'py>(&self, py: Python<'py>, evaluations: u64) -> PyResult<Bound<'py, PyDict>> {
        let (time, phases) = call!(py, self.measure_phases(evaluations)).map_err(errors::session)?;
        let seconds = |time: Duration| time.as_secs_f64();
        Ok(dict!(py, {
            "seconds": seconds(time),
            "collect": seconds(phases.collect),
            "trunk": seconds(phases.trunk),
            "twigs": seconds(phases.twigs),
            "commit": seconds(phases.commit),
            "evaluate": seconds(phases.evaluate),
            "apply": seconds(phases.apply)
        }))
    }

    /// Time of the Rust loop made to fill the planes of every leaf, in seconds.
    fn bench_planes<'py>(&self, py: Python<'py>, simulations: u64) -> PyResult<Bound<'py, PyDict>> {
        let (time, simulations) = call!(py, self.measure_planes(simulations)).map_err(errors::session)?;
        Ok(dict!(py, { "seconds": time.as_secs_f64(), "simulations": simulations }))
    }
}
