"""The Python loop: what evaluators get and may answer; no answer, however late or wrong, does harm."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.support.proofs import proof_of
from tests.support.stopping import search_until_stopped

from anabranch import Engine, _core, errors
from anabranch.evaluators import Leaf, Planes
from anabranch.loop import Loop

MIDDLEGAME = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"
POLICY = Engine().shape[1]


def zeros(planes: Planes) -> tuple[Any, Any]:
    return np.zeros(len(planes), np.float32), np.zeros((len(planes), POLICY), np.float32)


def works(engine: Engine) -> None:
    assert engine._session.in_flight_marks() == 0
    engine.configure(evaluator=zeros)
    assert engine.search("startpos", simulations=100).statistics.simulations == 100
    assert engine._session.in_flight_marks() == 0
    assert engine._session.in_flight_marks() == 0


def widths_of(settings: dict[str, int], simulations: int) -> Iterator[tuple[int, int]]:
    """The visits of the root at the start of every collection, and the leaves in flight after it."""
    session = _core.Session("chess", False, settings, True)
    session.set_position(MIDDLEGAME, [])
    session.begin(simulations=simulations)
    planes = np.empty((settings["batch_size"], session.shape("v3")[0], 8, 8), np.float32)
    flying: list[int] = []
    while True:
        visits = sum(row["visits"] for row in session.report(1, "off")["moves"])
        size, must_apply, finish = session.collect(planes, "v3")
        if finish is not None:
            break
        flying += [size] if size else []
        yield visits, sum(flying)
        if must_apply:
            session.apply(*zeros(planes[: flying.pop(0)]))
    session.abandon()


class TestInput:
    def test_planes(self) -> None:
        shapes, threads = set(), set()

        def evaluate(planes: Planes) -> tuple[Any, Any]:
            shapes.add(planes.shape[1:])
            threads.add(threading.get_ident())
            assert planes.dtype == np.float32
            assert planes.flags.c_contiguous
            assert 1 <= len(planes) <= 16
            assert np.isfinite(planes).all()
            return zeros(planes)

        engine = Engine(evaluator=evaluate)
        for _ in range(2):
            engine.forget()
            assert engine.search(MIDDLEGAME, simulations=500).statistics.evaluations > 100
        assert shapes == {(engine.shape[0], 8, 8)}
        assert len(threads) == 1

    def test_positions(self) -> None:
        class Judge:
            inputs = "positions"
            seen: list[Leaf] = []  # noqa: RUF012

            def evaluate(self, leaves: list[Leaf]) -> tuple[Any, Any]:
                self.seen += leaves
                return [0.0] * len(leaves), [
                    [float(move == "e1g1") * 5 for move in leaf.moves] for leaf in leaves
                ]

        judge = Judge()
        result = Engine(evaluator=judge).search(MIDDLEGAME, simulations=50)  # type: ignore[arg-type]
        assert judge.seen[0].fen == MIDDLEGAME
        assert max(result.moves, key=lambda row: row.prior).move == "e1g1"

    def test_a_function_may_take_positions_too(self) -> None:
        def evaluate(leaves: list[Leaf]) -> tuple[Any, Any]:
            return np.zeros(len(leaves)), [np.zeros(len(leaf.moves)) for leaf in leaves]

        evaluate.inputs = "positions"  # type: ignore[attr-defined]
        assert Engine(evaluator=evaluate).search(simulations=50).finish == "limit"

    @pytest.mark.parametrize("batch_size", [1, 5, 64])
    @pytest.mark.parametrize("in_flight", [1, 2])
    def test_batches(self, batch_size: int, in_flight: int) -> None:
        sizes = []

        def evaluate(planes: Planes) -> tuple[Any, Any]:
            sizes.append(len(planes))
            return zeros(planes)

        engine = Engine(evaluator=evaluate, batch_size=batch_size, batches_in_flight=in_flight)
        result = engine.search(MIDDLEGAME, evaluations=200)
        assert max(sizes) <= batch_size
        assert sum(sizes) == result.statistics.evaluations == 200

    @pytest.mark.parametrize("width_visits", [0, 4, 32])
    def test_the_width_grows_with_the_visits_of_the_root(self, width_visits: int) -> None:
        settings = {"width_visits": width_visits, "width_linear": 0, "batch_size": 16}
        widths = list(widths_of(settings, simulations=3000))
        for visits, flying in widths:
            assert flying <= (min(32, 1 + (visits + 1) // width_visits) if width_visits else 32)
        widest = [flying for _, flying in widths]
        assert widest[0] == 1
        assert max(widest) == 32
        assert (max(widest[:width_visits]) == 1) if width_visits else (32 in widest[:5])

    def test_a_large_width_grows_as_a_square_root(self) -> None:
        settings = {"width_visits": 10, "width_linear": 4, "batch_size": 512}
        widths = list(widths_of(settings, simulations=5000))
        # 4 at 40 visits; from there 2 * sqrt(visits / 10): 20 at 1,000 and 40 at 4,000, and 1 everywhere.
        assert all(flying <= 1 + (visits + 1) // 10 for visits, flying in widths if visits < 40)
        assert all(flying <= 1 + 2 * ((visits + 1) / 10) ** 0.5 for visits, flying in widths if visits > 50)
        assert 18 <= max(flying for visits, flying in widths if visits <= 1000) <= 21
        assert 36 <= max(flying for visits, flying in widths if visits <= 4000) <= 41

    def test_a_width_of_one_is_the_sequential_search(self) -> None:
        graphs = []
        for settings in ({"width_visits": 10**9}, {"batch_size": 1, "batches_in_flight": 1}):
            engine = Engine("crazyhouse", evaluator="hash", **settings)  # type: ignore[arg-type]
            result = engine.search(simulations=800)
            assert result.statistics.collisions == 0
            graphs.append(engine.graph(visits=0, nodes=10**9))
        assert graphs[0] == graphs[1]

    def test_double_precision_lists_and_strides_are_fine(self) -> None:
        def evaluate(planes: Planes) -> tuple[Any, Any]:
            return [0.25] * len(planes), np.zeros((POLICY, len(planes))).T

        assert Engine(evaluator=evaluate).search(simulations=50).moves[0].raw == -0.25


BAD: dict[str, Callable[[Planes], Any]] = {
    "nan value": lambda planes: (zeros(planes)[0] * np.nan, zeros(planes)[1]),
    "nan logit": lambda planes: (zeros(planes)[0], zeros(planes)[1] * np.nan),
    "infinite logit": lambda planes: (zeros(planes)[0], zeros(planes)[1] + np.inf),
    "infinite double": lambda planes: (zeros(planes)[0], np.full((len(planes), POLICY), 1e300)),
    "value out of range": lambda planes: (zeros(planes)[0] + 2, zeros(planes)[1]),
    "too few values": lambda planes: (zeros(planes)[0][1:], zeros(planes)[1]),
    "values in columns": lambda planes: (zeros(planes)[0][:, None], zeros(planes)[1]),
    "too few logits": lambda planes: (zeros(planes)[0], zeros(planes)[1][:, 1:]),
    "flat logits": lambda planes: (zeros(planes)[0], zeros(planes)[1].ravel()),
    "nothing": lambda planes: None,
    "one array": lambda planes: zeros(planes)[0],
    "three arrays": lambda planes: (*zeros(planes), 1),
    "words": lambda planes: ("good", "bad"),
    "ragged": lambda planes: (zeros(planes)[0], [[1.0], [1.0, 2.0]]),
    "complex": lambda planes: (zeros(planes)[0].astype(complex) + 1j, zeros(planes)[1]),
}


class TestBadAnswers:
    @pytest.mark.parametrize("later", [False, True], ids=["first", "later"])
    @pytest.mark.parametrize("name", BAD)
    def test_they_are_refused(self, name: str, later: bool) -> None:
        calls = [0]

        def evaluate(planes: Planes) -> Any:
            calls[0] += 1
            return zeros(planes) if later and calls[0] < 5 else BAD[name](planes)

        engine = Engine(evaluator=evaluate)
        with pytest.raises(errors.EvaluatorError, match="evaluator"):
            engine.search(MIDDLEGAME, simulations=1000)
        works(engine)

    def test_they_are_refused_from_slow_evaluators(self) -> None:
        calls = [0]

        def evaluate(planes: Planes) -> Any:
            calls[0] += 1
            time.sleep(0.005)
            values, logits = zeros(planes)
            return (values * np.nan if calls[0] == 6 else values), logits

        engine = Engine(evaluator=evaluate)
        with pytest.raises(errors.EvaluatorError, match="value NaN"):
            engine.search(MIDDLEGAME, simulations=1000)
        works(engine)

    @pytest.mark.parametrize("rows", [[], [[0.0]], "none", None], ids=str)
    def test_logits_of_positions(self, rows: Any) -> None:
        def evaluate(leaves: list[Leaf]) -> tuple[Any, Any]:
            return np.zeros(len(leaves)), rows

        evaluate.inputs = "positions"  # type: ignore[attr-defined]
        engine = Engine(evaluator=evaluate)
        with pytest.raises(errors.EvaluatorError, match="must return"):
            engine.search(simulations=10)
        works(engine)

    def test_exceptions_come_with_their_cause(self) -> None:
        def evaluate(planes: Planes) -> Any:
            raise KeyError("weights")

        engine = Engine(evaluator=evaluate)
        with pytest.raises(errors.EvaluatorError, match="raised KeyError: 'weights'") as caught:
            engine.search(simulations=10)
        assert isinstance(caught.value.__cause__, KeyError)
        works(engine)

    @pytest.mark.parametrize("evaluator", [3, [], object()])
    def test_what_is_no_evaluator(self, evaluator: Any) -> None:
        with pytest.raises(errors.SettingError, match="evaluator"):
            Engine(evaluator=evaluator)

    def test_unknown_inputs(self) -> None:
        def evaluate(planes: Planes) -> Any:
            return zeros(planes)

        evaluate.inputs = "sounds"  # type: ignore[attr-defined]
        with pytest.raises(errors.EvaluatorError, match="sounds"):
            Engine(evaluator=evaluate)


class Sleeper:
    """Sleeps through every evaluation but the first few."""

    def __init__(self, seconds: float, quick: int = 0) -> None:
        self.seconds, self.quick, self.calls, self.running, self.most = seconds, quick, 0, 0, 0

    def evaluate(self, planes: Planes) -> tuple[Any, Any]:
        self.calls += 1
        self.running += 1
        self.most = max(self.most, self.running)
        if self.calls > self.quick:
            time.sleep(self.seconds)
        self.running -= 1
        return zeros(planes)


class TestStopping:
    @pytest.mark.parametrize("quick", [0, 20])
    def test_a_sleeping_evaluator_does_not_hold_it_up(self, quick: int) -> None:
        sleeper = Sleeper(1.0, quick)
        engine = Engine(evaluator=sleeper)
        result = search_until_stopped(engine, MIDDLEGAME, 0.2)
        assert (result.statistics.evaluations > 0) == (quick > 0)
        assert engine._session.in_flight_marks() == 0
        # The next search waits for the evaluator to wake up, and never calls it twice at once.
        sleeper.seconds = 0
        assert engine.search(simulations=200).statistics.simulations == 200
        assert sleeper.most == 1

    def test_the_deadline_does_not_wait_either(self) -> None:
        engine = Engine(evaluator=Sleeper(1.0))
        begun = time.monotonic()
        result = engine.search(MIDDLEGAME, time=0.1)
        assert time.monotonic() - begun < 0.35
        assert result.finish == "time"
        assert result.best_move

    def test_a_late_answer_changes_nothing(self) -> None:
        engine = Engine(evaluator=Sleeper(0.3, quick=5))
        engine.search(MIDDLEGAME, time=0.1)
        before = engine.graph(nodes=100_000)
        time.sleep(0.4)
        assert engine.graph(nodes=100_000) == before

    def test_a_quick_one_stops_at_once(self) -> None:
        search_until_stopped(Engine(evaluator=zeros), MIDDLEGAME, 0.2)

    def test_progress_and_what_it_raises(self) -> None:
        seen: list[object] = []
        engine = Engine(evaluator=zeros)
        engine.search(MIDDLEGAME, time=0.3, progress=seen.append, progress_interval=0.05)
        assert len(seen) >= 2

        def fail(progress: object) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            engine.search(MIDDLEGAME, time=20, progress=fail, progress_interval=0.05)
        works(engine)

    def test_engines_leave_no_threads_behind(self) -> None:
        before = threading.active_count()
        for _ in range(5):
            Engine(evaluator=zeros).search(simulations=50)
        deadline = time.monotonic() + 5
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert threading.active_count() <= before


class TestOrder:
    def test_slow_and_quick_evaluators_make_the_same_graph(self) -> None:
        """Which thread applies and collects depends on time; the graph does not."""
        generator = np.random.default_rng(3)

        def sometimes(planes: Planes) -> tuple[Any, Any]:
            if generator.random() < 0.5:
                time.sleep(0.001)
            return zeros(planes)

        graphs = []
        for evaluator in (zeros, sometimes):
            engine = Engine(evaluator=evaluator)
            engine.search(MIDDLEGAME, simulations=2000)
            graphs.append(engine.graph(nodes=100_000))
        assert graphs[0] == graphs[1]

    @pytest.mark.parametrize("batches", [1, 2])
    def test_an_evaluator_may_use_its_arrays_again(self, batches: int) -> None:
        """Answers that are not applied yet must not change with the next one, quick or slow."""
        values, logits = np.empty(4, np.float32), np.empty((4, 4864), np.float32)

        def fresh(planes: Planes) -> tuple[Any, Any]:
            sums = planes.reshape(len(planes), -1)[:, :4864]
            wide = np.zeros((len(planes), 4864), np.float32)
            wide[:, : sums.shape[1]] = sums
            return planes.mean((1, 2, 3)), wide

        def again(planes: Planes) -> tuple[Any, Any]:
            size = len(planes)
            values[:size], logits[:size] = fresh(planes)
            return values[:size], logits[:size]

        def slowly(planes: Planes) -> tuple[Any, Any]:
            time.sleep(0.001)
            return again(planes)

        graphs = []
        for evaluator in (fresh, again, slowly):
            engine = Engine(evaluator=evaluator, batch_size=4, batches_in_flight=batches, width_visits=0)
            engine.search(MIDDLEGAME, simulations=300)
            graphs.append(engine.graph(nodes=100_000))
        assert graphs[0] == graphs[1] == graphs[2]

    def test_evaluation_and_search_overlap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """While a slow evaluator works on one batch, this thread applies the one before and collects."""
        collectors = []
        collect = Loop._collect

        def recorded(loop: Loop) -> None:
            collectors.append(threading.current_thread() is threading.main_thread())
            collect(loop)

        monkeypatch.setattr(Loop, "_collect", recorded)
        Engine(evaluator=Sleeper(0.02)).search(MIDDLEGAME, evaluations=320)
        assert sum(collectors) > len(collectors) // 2
        collectors.clear()
        Engine(evaluator=Sleeper(0)).search(MIDDLEGAME, evaluations=320)
        assert sum(collectors) <= len(collectors) // 2

    def test_a_proof_ends_it(self) -> None:
        engine = Engine(evaluator=zeros)
        result = engine.search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=5000)
        assert result.finish == "solved"
        assert proof_of(result).mate == 1
        assert engine._session.in_flight_marks() == 0


def test_arrays_of_the_wrong_kind_are_sentences() -> None:
    engine = Engine(evaluator=zeros)
    session = engine._session
    planes = engine.shape[0]
    session.begin(100)
    shape = (16, planes, 8, 8)
    bad: list[Any] = [
        np.empty(shape, np.float64),
        np.empty((16, planes, 64), np.float32),
        np.empty((15, planes, 8, 8), np.float32),
        np.empty((16, 8, 8, planes), np.float32).transpose(0, 3, 1, 2),
        np.broadcast_to(np.float32(0), shape),
        "planes",
    ]
    for array in bad:
        with pytest.raises(errors.EvaluatorError, match="float32 array"):
            session.collect(array)
    size, _, _ = session.collect(np.empty(shape, np.float32))
    bad_answers: list[tuple[Any, Any]] = [
        (np.zeros(size), np.zeros((size, POLICY), np.float32)),
        (np.zeros(size, np.float32), np.zeros((size, 2 * POLICY), np.float32)[:, ::2]),
        (np.zeros((size, 1), np.float32), np.zeros((size, POLICY), np.float32)),
    ]
    for values, logits in bad_answers:
        with pytest.raises(errors.EvaluatorError, match="float32 array"):
            session.apply(values, logits)
    session.apply(np.zeros(size, np.float32), np.zeros((size, POLICY), np.float32))
    with pytest.raises(errors.SearchStateError, match="no batch is in flight"):
        session.apply(np.zeros(size, np.float32), np.zeros((size, POLICY), np.float32))
    works(engine)
