"""The analysis server: answers are those of `Engine`; games, priorities, cancelling, partial results."""

import time
from itertools import pairwise
from typing import Any

import pytest
from tests.serve.support import OfPositions, Talk, found_in, talking

from anabranch import Engine
from anabranch.bench.workload import positions
from anabranch.serve.engines import MOST_KEYS
from anabranch.serve.waiting import MOST_UNREAD

MATE_IN_1 = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
ENDLESS = {"simulations": 10**9}


def as_engine(engine: Engine, position: Any, lines: int = 3, **limits: Any) -> dict[str, Any]:
    found = engine.search(position, lines=lines, **limits).to_dict()
    del found["elapsed"]
    return found


class TestEqualToEngine:
    def test_with_the_network_and_settings(self) -> None:
        places = positions("chess", 6)
        settings: dict[str, Any] = {"epsilon_greedy": 0.1, "seed": 7, "temperature": 0.5}
        queries = [
            {"id": str(n), "position": place, "limits": {"evaluations": 120, "simulations": 300},
             "lines": n, "preset": "mcgs", "settings": settings}
            for n, place in enumerate(places)
        ]  # fmt: skip
        with talking(evaluator=None) as talk:
            found = {answer["id"]: found_in(answer) for answer in talk.ask(*queries)}
        assert found == {
            str(n): as_engine(Engine(preset="mcgs", **settings), place, n, evaluations=120, simulations=300)
            for n, place in enumerate(places)
        }

    @pytest.mark.parametrize(
        ("query", "engine", "position"),
        [
            ({"variant": "crazyhouse"}, {"variant": "crazyhouse"}, "startpos"),
            ({"variant": "antichess"}, {"variant": "antichess"}, "startpos"),
            ({"variant": "connect-four", "position": "4 4 3"}, {"variant": "connect-four"}, "4 4 3"),
            ({"variant": "connect-four", "moves": [4, 4]}, {"variant": "connect-four"}, [4, 4]),
            ({"variant": "hex:size=5", "moves": "c3"}, {"variant": "hex:size=5"}, "c3"),
            ({"moves": "Nf3 d5"}, {"evaluator": "material"}, ("startpos", ["g1f3", "d7d5"])),
            ({"evaluator": "hash", "chess960": True}, {"evaluator": "hash", "chess960": True}, "startpos"),
        ],
    )
    def test_in_variants_and_other_games(
        self, query: dict[str, Any], engine: dict[str, Any], position: Any
    ) -> None:
        with talking() as talk:
            (answer,) = talk.ask({"id": "a", "limits": {"simulations": 150}, **query})
        assert found_in(answer) == as_engine(Engine(**engine), position, simulations=150)

    def test_with_root_moves_a_mate_and_fewer_moves(self) -> None:
        limits: dict[str, Any] = {"simulations": 200, "mate": 3, "root_moves": ["g1f1", "a1a8"]}
        with talking() as talk:
            (answer,) = talk.ask({"id": "a", "position": MATE_IN_1, "limits": limits, "top": 1})
        expected = as_engine(Engine(evaluator="material"), MATE_IN_1, **limits)
        assert found_in(answer) == {**expected, "moves": expected["moves"][:1]}
        assert (answer["best_move"], answer["mate"]) == ("a1a8", 1)

    def test_with_an_evaluator_of_python_in_shared_batches(self) -> None:
        places = [MATE_IN_1, *positions("chess", 12)]
        evaluator = OfPositions()
        with talking(evaluator) as talk:
            queries = [
                {"id": str(n), "position": place, "limits": {"simulations": 40 + n}, "lines": n % 3}
                for n, place in enumerate(places)
            ]
            found = {answer["id"]: found_in(answer) for answer in talk.ask(*queries)}
        assert max(evaluator.sizes) > 8
        for n, place in enumerate(places):
            engine = Engine(evaluator=OfPositions())
            assert found[str(n)] == as_engine(engine, place, n % 3, simulations=40 + n)


class TestGames:
    def test_selected_plies_of_moves_and_all_of_a_game(self) -> None:
        game = "1. f3 e5 2. g4 Qh4#"
        with talking() as talk:
            answers = talk.ask(
                {"id": "some", "moves": ["f2f3", "e7e5", "g2g4"], "plies": [3, 0]},
                {"id": "all", "pgn": game, "plies": "all"},
                {"id": "last", "position": "startpos moves f2f3", "moves": "e5"},
            )
        plies = sorted((answer["id"], answer["ply"], answer["type"]) for answer in answers)
        assert plies == [
            ("all", 0, "result"), ("all", 1, "result"), ("all", 2, "result"), ("all", 3, "result"),
            ("all", 4, "error"), ("last", 2, "result"), ("some", 0, "result"), ("some", 3, "result"),
        ]  # fmt: skip
        found = {(answer["id"], answer["ply"]): answer for answer in answers}
        assert found["all", 4]["code"] == "game_over"
        assert found["all", 3]["best_move"] == "d8h4"
        assert found_in(found["all", 3]) == found_in(found["some", 3])

    def test_of_a_variant_by_its_headers(self) -> None:
        with talking() as talk:
            (answer,) = talk.ask({"id": "a", "pgn": '[Variant "Crazyhouse"]\n\n1. e4 d5 2. exd5 *'})
        assert answer["variant"] == "crazyhouse"
        assert "[P]" in answer["position"]


class TestOrder:
    queries = tuple(
        {"id": str(number), "priority": priority, "limits": {"simulations": 30}}
        for number, priority in enumerate([0, 5, -5, 5, 0])
    )

    def test_is_that_of_priorities_then_of_arrival(self) -> None:
        with talking(threads=1) as talk:
            talk.send({"id": "long", "limits": ENDLESS})
            begun(talk, 1)
            talk.send(*self.queries, {"action": "cancel", "query": "long"})
            talk.service.drain(talk.client)
            names = [answer["id"] for answer in talk.answers if answer["type"] == "result"]
            assert names == ["long", "1", "3", "0", "4", "2"]

    def test_in_shared_batches_is_the_same(self) -> None:
        evaluator = OfPositions()
        evaluator.gate.clear()
        with talking(evaluator, batch=1) as talk:  # two searches at once
            talk.send(*({"id": name, "limits": {"simulations": 30}} for name in ("first", "second")))
            begun(talk, 2)
            talk.send(*self.queries)
            evaluator.gate.set()
            talk.service.drain(talk.client)
            names = [answer["id"] for answer in talk.answers]
            assert names == ["first", "second", "1", "3", "0", "4", "2"]

    def test_an_id_is_free_again_when_its_query_is_answered(self) -> None:
        with talking() as talk:
            talk.send({"id": "a", "limits": ENDLESS}, {"id": "a", "limits": {"simulations": 5}})
            (error,) = talk.wait_for(1, "error")
            assert (error["id"], error["field"]) == ("a", "id")
            talk.send({"action": "cancel_all"})
            talk.service.drain(talk.client)
            (answer,) = talk.ask({"id": "a", "limits": {"simulations": 5}})
            assert answer["statistics"]["simulations"] == 5

    def test_engines_of_many_settings_are_forgotten(self) -> None:
        with talking() as talk:
            for n in range(MOST_KEYS + 8):
                talk.ask({"id": "a", "settings": {"seed": n}, "limits": {"simulations": 2}})
            assert len(talk.service._store._kinds) == MOST_KEYS
            assert [answer["type"] for answer in talk.answers] == ["result"] * (MOST_KEYS + 8)


def begun(talk: Talk, count: int) -> None:
    """Wait until so many searches are under way."""
    for _ in range(3000):
        talk.answers.clear()
        talk.send({"action": "status"})
        if talk.answers[-1]["running"] >= count:
            talk.answers.clear()
            return
        time.sleep(0.005)
    raise AssertionError("no search has begun")


class TestSearchesAtOnce:
    def running(self, talk: Talk) -> int:
        time.sleep(0.1)
        talk.answers.clear()
        talk.send({"action": "status"})
        return int(talk.answers[-1]["running"])

    def test_one_more_than_threads_if_none_has_a_limit_on_time(self) -> None:
        with talking("material", threads=2) as talk:
            talk.send(*({"id": str(n), "limits": ENDLESS} for n in range(5)))
            begun(talk, 3)
            assert self.running(talk) == 3

    @pytest.mark.parametrize("timed", [0, 2])
    def test_as_many_as_threads_with_a_limit_on_time(self, timed: int) -> None:
        limits = [{"time": 1000} if n == timed else ENDLESS for n in range(3)]
        with talking("material", threads=2) as talk:
            talk.send(*({"id": str(n), "limits": one} for n, one in enumerate(limits)))
            begun(talk, 2)
            assert self.running(talk) == 2
            # The next one begins when a search has ended.
            talk.send({"action": "cancel", "query": "0"}, {"action": "cancel", "query": "1"})
            begun(talk, 1)
            assert self.running(talk) == 1

    def test_one_that_waits_behind_a_cancelled_one_begins(self) -> None:
        with talking("material", threads=2) as talk:
            talk.send(*({"id": str(n), "limits": ENDLESS} for n in range(2)))
            begun(talk, 2)
            talk.send({"id": "timed", "limits": {"time": 1000}}, {"id": "last", "limits": ENDLESS})
            assert self.running(talk) == 2
            talk.send({"action": "cancel", "query": "timed"})
            begun(talk, 3)

    def test_one_with_one_thread(self) -> None:
        with talking("material", threads=1) as talk:
            talk.send(*({"id": str(n), "limits": ENDLESS} for n in range(3)))
            begun(talk, 1)
            assert self.running(talk) == 1


@pytest.mark.parametrize("evaluator", ["material", OfPositions()])
class TestCancel:
    def test_ends_what_runs_with_its_result(self, evaluator: Any) -> None:
        with talking(evaluator) as talk:
            talk.send({"id": "a", "limits": ENDLESS, "progress": 0.05})
            part = talk.wait_for(1, "progress")[0]
            talk.send({"action": "cancel", "query": "nothing"}, {"action": "cancel", "query": "a"})
            (result,) = talk.wait_for(1, "result")
            assert (result["id"], result["finish"]) == ("a", "stopped")
            assert result["statistics"]["simulations"] >= part["statistics"]["simulations"] > 0
            assert [answer["positions"] for answer in talk.wait_for(2, "done")] == [0, 1]
            (answer,) = talk.ask({"id": "a", "limits": {"simulations": 20}})
            assert answer["statistics"]["simulations"] == 20

    def test_ends_what_waits_without_a_result(self, evaluator: Any) -> None:
        with talking(evaluator, threads=1) as talk:
            talk.send({"id": "a", "limits": ENDLESS, "evaluator": "hash"})
            begun(talk, 1)
            game = {"id": "game", "moves": "e2e4 e7e5", "plies": "all", "limits": ENDLESS}
            talk.send({**game, "evaluator": "hash"}, {"action": "cancel", "query": "game", "plies": [0, 2]})
            assert [answer["ply"] for answer in talk.wait_for(2, "cancelled")] == [0, 2]
            talk.send({"id": "all", "action": "cancel_all"})
            talk.service.drain(talk.client)
            assert talk.wait_for(3, "cancelled")[2]["ply"] == 1
            assert [answer["id"] for answer in talk.wait_for(1, "result")] == ["a"]
            assert [answer["positions"] for answer in talk.wait_for(2, "done")] == [2, 2]

    def test_at_once_after_the_query_every_time(self, evaluator: Any) -> None:
        with talking(evaluator) as talk:
            for n in range(40):
                talk.send({"id": str(n), "limits": ENDLESS}, {"action": "cancel", "query": str(n)})
            talk.service.drain(talk.client)
            last = [answer["id"] for answer in talk.answers if answer["type"] in ("result", "cancelled")]
            assert sorted(last, key=int) == [str(n) for n in range(40)]

    def test_partial_results_come_at_intervals(self, evaluator: Any) -> None:
        with talking(evaluator) as talk:
            talk.send({"id": "a", "limits": ENDLESS, "progress": 0.05, "lines": 1, "top": 2})
            parts = talk.wait_for(3, "progress")
            talk.send({"action": "cancel_all"})
            (result,) = talk.wait_for(1, "result")
        simulations = [part["statistics"]["simulations"] for part in (*parts, result)]
        assert simulations == sorted(simulations)
        assert simulations[0] < simulations[2]
        assert all(len(part["moves"]) <= 2 and len(part["lines"]) <= 1 for part in parts)
        assert (len(parts[2]["moves"]), len(parts[2]["lines"])) == (2, 1)  # the first may have none
        gaps = [after["elapsed"] - before["elapsed"] for before, after in pairwise(parts)]
        assert min(gaps) >= 0.04


class TestClients:
    def test_one_that_does_not_read_delays_no_other(self) -> None:
        with talking() as talk:
            lines: list[str] = []
            silent = talk.service.connect(lines.append)
            for n in range(3 * MOST_UNREAD):
                message = f'{{"id": "silent {n}", "priority": 9, "limits": {{"simulations": 2}}}}'
                talk.service.receive(silent, message)
            answers = talk.ask(*({"id": str(n), "limits": {"simulations": 5}} for n in range(20)))
            assert len(answers) == 20
            assert MOST_UNREAD <= len(lines) <= MOST_UNREAD + 2
            talk.service.read(silent, len(lines))
            talk.service.disconnect(silent)
            (status,) = talk.ask({"action": "status"})
            assert status["waiting"] == 0

    def test_an_evaluator_that_raises_fails_its_queries_only(self) -> None:
        class Failing(OfPositions):
            def evaluate(self, leaves: Any) -> Any:
                if len(self.sizes) == 5:
                    self.sizes.append(0)
                    raise ZeroDivisionError("by zero")
                return super().evaluate(leaves)

        with talking(Failing()) as talk:
            (answer,) = talk.ask({"id": "a", "limits": {"simulations": 200}})
            assert (answer["type"], answer["code"]) == ("error", "evaluator")
            assert "by zero" in answer["error"]
            (answer,) = talk.ask({"id": "a", "limits": {"simulations": 50}})
            assert answer["type"] == "result"

    def test_closing_ends_searches_under_way(self) -> None:
        begin = time.monotonic()
        with talking() as talk:
            talk.send({"id": "a", "limits": ENDLESS}, {"id": "b", "limits": ENDLESS})
            begun(talk, 2)
        assert time.monotonic() - begin < 20
