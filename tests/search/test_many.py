"""Many searches at once: the results of new engines one by one, in order; errors, stops, the iterator."""

import gc
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import chess
import chess.variant
import numpy as np
import pytest

from anabranch import Engine, Limits, Result, errors
from anabranch.bench.workload import positions as game_positions
from anabranch.evaluators import Leaf
from anabranch.many import AHEAD

MATE_IN_1 = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
MATED = "R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 1 1"


def as_found(result: Result) -> Result:
    """A result without the time that it took."""
    return replace(result, elapsed=0.0)


def one_by_one(make: Callable[[], Engine], positions: Sequence[Any], **limits: Any) -> list[Result]:
    return [as_found(make().search(position, **limits)) for position in positions]


def at_once(engine: Engine, positions: Sequence[Any], **given: Any) -> list[Result]:
    return [as_found(result) for result in engine.search_many(positions, **given)]


class Hashing:
    """An evaluator of planes whose answers depend on nothing but the planes; notes the sizes of batches."""

    def __init__(self, engine: Engine) -> None:
        planes, policy_size = engine.shape
        random = np.random.default_rng(5)
        self._weights = random.normal(0.0, 0.4, (planes * 64, 8)).astype(np.float32)
        self._logits = random.normal(0.0, 1.0, (8, policy_size)).astype(np.float32)
        self.sizes: list[int] = []

    def evaluate(self, planes: Any) -> tuple[Any, Any]:
        self.sizes.append(len(planes))
        # One row at a time: the order of a sum must not depend on the size of a batch.
        hidden = [np.tanh(row.reshape(-1) @ self._weights) for row in planes]
        return (
            np.array([0.5 * row[0] for row in hidden], np.float32),
            np.stack([row @ self._logits for row in hidden]),
        )


class OfPositions:
    """An evaluator of positions."""

    inputs: Literal["positions"] = "positions"

    def evaluate(self, leaves: Sequence[Leaf]) -> tuple[list[float], list[list[float]]]:
        values = [(sum(map(ord, leaf.fen)) % 41) / 50.0 - 0.4 for leaf in leaves]
        return values, [[(sum(map(ord, move)) % 13) / 4.0 for move in leaf.moves] for leaf in leaves]


class TestEqualToNewEngines:
    @pytest.mark.parametrize("threads", [1, 2, 8])
    @pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
    def test_with_the_bundled_networks(self, variant: str, threads: int) -> None:
        positions = game_positions(variant, 12)
        expected = one_by_one(lambda: Engine(variant), positions, evaluations=300)
        assert at_once(Engine(variant, threads=threads), positions, evaluations=300) == expected

    @pytest.mark.parametrize("preset", ["default", "mcgs-combined", "alphazero"])
    def test_with_chance_proofs_and_every_limit(self, preset: str) -> None:
        settings: dict[str, Any] = {
            "evaluator": "hash", "epsilon_greedy": 0.1, "dirichlet_epsilon": 0.2, "temperature": 0.5,
            "seed": 7,
        }  # fmt: skip
        positions = [MATE_IN_1, *game_positions("chess", 12), MATE_IN_1]
        for limits in (
            {"simulations": 400},
            {"evaluations": 150, "simulations": 500},
            {"mate": 1, "simulations": 99},
        ):
            expected = one_by_one(lambda: Engine(preset=preset, **settings), positions, **limits)
            assert at_once(Engine(preset=preset, threads=3, **settings), positions, **limits) == expected

    def test_at_the_memory_cap_of_each(self) -> None:
        settings: dict[str, Any] = {"evaluator": "material", "memory": 4 << 20}
        positions = game_positions("chess", 4)
        expected = one_by_one(lambda: Engine(**settings), positions, simulations=30_000)
        assert expected[0].statistics.reclaims > 0
        found = at_once(Engine(threads=2, **settings), [*positions, *positions], simulations=30_000)
        assert found == [*expected, *expected]

    def test_after_each_other_whatever_was_searched_before(self) -> None:
        engine = Engine(threads=1)
        engine.search("startpos", simulations=500)
        graph = engine.result()
        positions = game_positions("chess", 6)
        first = at_once(engine, positions, evaluations=200)
        assert at_once(engine, list(reversed(positions)), evaluations=200) == list(reversed(first))
        assert engine.result() == graph  # the engine's own graph is left alone

    @pytest.mark.parametrize("batch", [1, 5, 64, 1000])
    def test_with_an_evaluator_of_planes(self, batch: int) -> None:
        evaluator = Hashing(Engine("crazyhouse", evaluator="hash"))
        positions = [*game_positions("crazyhouse", 12), "startpos"]
        settings: dict[str, Any] = {"variant": "crazyhouse", "evaluator": evaluator, "batch_size": 4}
        expected = one_by_one(lambda: Engine(**settings), positions, evaluations=120)
        evaluator.sizes.clear()
        assert at_once(Engine(**settings), positions, evaluations=120, batch=batch) == expected
        assert max(evaluator.sizes) <= batch + 3
        if batch == 64:
            assert np.mean(evaluator.sizes) > 30

    def test_with_an_evaluator_of_positions(self) -> None:
        positions = [MATE_IN_1, *game_positions("chess", 12)]
        expected = one_by_one(lambda: Engine(evaluator=OfPositions()), positions, simulations=90)
        assert at_once(Engine(evaluator=OfPositions()), positions, simulations=90) == expected

    def test_with_a_wide_search_of_two_batches_in_flight(self) -> None:
        evaluator = Hashing(Engine(evaluator="hash"))
        settings: dict[str, Any] = {"evaluator": evaluator, "width_visits": 0, "batch_size": 16}
        positions = game_positions("chess", 9)
        expected = one_by_one(lambda: Engine(**settings), positions, evaluations=333)
        for batch in (1, 16, 40):
            assert at_once(Engine(**settings), positions, evaluations=333, batch=batch) == expected


class TestPositions:
    def test_take_every_form_and_come_in_order(self) -> None:
        board = chess.Board()
        board.push_san("e4")
        forms: list[Any] = ["startpos", board, ("startpos", ["e2e4", "c7c5"]), f"{MATE_IN_1} moves a1a8"]
        results = Engine(threads=2).search_many(forms[:3], simulations=50)
        assert [result.position.split()[1] for result in results] == ["w", "b", "w"]

    def test_are_read_as_they_are_needed(self) -> None:
        read = 0

        def endless() -> Iterator[str]:
            nonlocal read
            for number in itertools.count():
                read = number + 1
                yield "startpos"

        for engine in (Engine(threads=2, evaluator="material"), Engine(evaluator=OfPositions())):
            results = engine.search_many(endless(), simulations=2)
            for count, _ in enumerate(itertools.islice(results, 300), start=1):
                assert read - count <= 2 * AHEAD + 1
            results.close()
            assert engine.search("startpos", simulations=20).statistics.simulations == 20

    def test_progress_has_the_total_where_it_is_known(self) -> None:
        seen: list[tuple[int, int | None]] = []
        engine = Engine(evaluator="material")
        given: dict[str, Any] = {"simulations": 5, "progress": lambda *numbers: seen.append(numbers)}
        list(engine.search_many(["startpos"] * 3, **given))
        list(engine.search_many(iter(["startpos"] * 2), **given))
        assert seen == [(1, 3), (2, 3), (3, 3), (1, None), (2, None)]

    def test_none_are_no_error(self) -> None:
        assert list(Engine().search_many([], simulations=5)) == []

    @pytest.mark.parametrize("given", ["startpos", chess.Board(), 7])
    def test_must_be_several(self, given: Any) -> None:
        with pytest.raises(errors.PositionError, match="search_many takes a list"):
            Engine().search_many(given, simulations=5)

    def test_limits_are_checked_at_once(self) -> None:
        with pytest.raises(errors.LimitError, match="needs a limit"):
            Engine().search_many(["startpos"])
        with pytest.raises(errors.LimitError, match="batch"):
            Engine().search_many(["startpos"], simulations=5, batch=0)

    def test_time_is_that_of_each(self) -> None:
        for engine in (Engine(threads=2), Engine(evaluator=OfPositions())):
            begun = time.monotonic()
            found = list(engine.search_many(["startpos"] * 4, Limits(time=0.2)))
            assert [result.finish for result in found] == ["time"] * 4
            assert all(0.2 <= result.elapsed < 0.6 for result in found)
            assert time.monotonic() - begun < 3.0

    def test_time_ends_a_search_while_it_evaluates(self) -> None:
        engine = Engine(evaluator="hash", hash_cost_us=2_000_000, threads=2, width_visits=0)
        found = list(engine.search_many(["startpos"] * 2, time=0.1))
        assert [result.finish for result in found] == ["time", "time"]
        assert max(result.elapsed for result in found) < 0.6


class TestRefusals:
    bad = (
        "startpos",
        "no position",
        MATED,
        "startpos moves e2e5",
        chess.variant.CrazyhouseBoard(),
        MATE_IN_1,
    )
    kinds = (errors.PositionError, errors.GameOverError, errors.MoveError, errors.VariantError)

    @pytest.mark.parametrize("evaluator", ["material", OfPositions()])
    def test_take_the_place_of_results(self, evaluator: Any) -> None:
        engine = Engine(evaluator=evaluator, threads=2)
        found = list(engine.search_many(list(self.bad), simulations=30, return_exceptions=True))
        assert [type(one) for one in (found[0], found[-1])] == [Result, Result]
        assert tuple(type(one) for one in found[1:-1]) == self.kinds

    @pytest.mark.parametrize("evaluator", ["material", OfPositions()])
    def test_are_raised_in_their_place_with_their_index(self, evaluator: Any) -> None:
        engine = Engine(evaluator=evaluator, threads=2)
        for number, kind in enumerate(self.kinds, start=1):
            results = engine.search_many(
                ["startpos"] * 3 + [self.bad[number]] + ["startpos"] * 9, simulations=30
            )
            assert sum(1 for _ in itertools.islice(results, 3)) == 3
            with pytest.raises(kind, match=r"positions\[3\]: "):
                next(results)
            assert engine.search("startpos", simulations=20).statistics.simulations == 20

    def test_an_error_of_the_iterable_comes_after_the_results_before_it(self) -> None:
        def broken() -> Iterator[str]:
            yield from ["startpos"] * 5
            raise KeyError("line 6")

        results = Engine(threads=2, evaluator="material").search_many(broken(), simulations=20)
        assert sum(1 for _ in itertools.islice(results, 5)) == 5
        with pytest.raises(KeyError, match="line 6"):
            next(results)

    def test_an_evaluator_that_raises_or_answers_wrongly(self) -> None:
        class Failing(OfPositions):
            calls = 0

            def evaluate(self, leaves: Sequence[Leaf]) -> tuple[list[float], list[list[float]]]:
                self.calls += 1
                if self.calls == 5:
                    raise ZeroDivisionError("by zero")
                values, logits = super().evaluate(leaves)
                return ([7.0] * len(leaves) if self.calls == 9 else values), logits

        engine = Engine(evaluator=Failing())
        with pytest.raises(errors.EvaluatorError, match="raised ZeroDivisionError: by zero"):
            list(engine.search_many(["startpos"] * 3, simulations=200, return_exceptions=True))
        with pytest.raises(errors.EvaluatorError, match="which is not in"):
            list(engine.search_many(["startpos"] * 3, simulations=200, return_exceptions=True))
        assert len(list(engine.search_many(["startpos"] * 3, simulations=50))) == 3


def slow_engine(kind: str) -> Engine:
    return Engine(threads=2) if kind == "core" else Engine(evaluator=OfPositions())


@pytest.mark.parametrize("kind", ["core", "python"])
class TestEnds:
    def test_stop_ends_all_and_gives_up_what_is_under_way(self, kind: str) -> None:
        engine = slow_engine(kind)
        moments: list[float] = []

        def stop() -> None:
            moments.append(time.monotonic())
            engine.stop()

        threading.Timer(0.3, stop).start()
        found = list(engine.search_many(itertools.repeat("startpos"), time=60))
        assert found == []
        assert time.monotonic() - moments[0] < 0.25
        assert engine.search("startpos", simulations=20).statistics.simulations == 20

    def test_closing_and_dropping_end_the_threads(self, kind: str) -> None:
        engine = slow_engine(kind)
        before = threading.active_count()
        for result in engine.search_many(itertools.repeat("startpos"), simulations=200):
            assert result.finish == "limit"
            break
        gc.collect()
        begun = time.monotonic()
        results = engine.search_many([MATE_IN_1, "startpos"], simulations=10**9)
        assert next(results).mate == 1
        with pytest.raises(errors.SearchBusyError):
            engine.search("startpos", simulations=20)
        results.close()
        assert time.monotonic() - begun < 2.0
        assert threading.active_count() <= before + 1
        assert engine.search("startpos", simulations=20).statistics.simulations == 20

    def test_an_exception_in_the_loop_leaves_the_engine_usable(self, kind: str) -> None:
        engine = slow_engine(kind)

        def fail(done: int, total: int | None) -> None:
            raise RuntimeError(f"{done} of {total}")

        with pytest.raises(RuntimeError, match="1 of 3"):
            list(engine.search_many(["startpos"] * 3, simulations=50, progress=fail))
        assert len(list(engine.search_many(["startpos"] * 3, simulations=50))) == 3
