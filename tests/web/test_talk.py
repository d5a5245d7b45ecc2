"""What is said on a socket: searches, refusals of messages, crowds, readers that do not read, and leaving."""

import asyncio
import contextlib
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.web.connection import GAME, HANDSHAKE, HASTY, START, Server, analyse, closing_of, hear, until
from websockets.exceptions import ConnectionClosed

from anabranch import Engine
from anabranch.web.client import Client, ClientGoneError
from anabranch.web.messages import Analyse, MessageError, read_message
from anabranch.web.proof import tree_of
from anabranch.web.searches import ClientSearches, Resources
from anabranch.web.server import ServerOptions, greeting


def test_an_analysis_tells_lines_and_a_graph_and_ends(server: Server) -> None:
    view = {"nodes": 50, "depth": 4, "visits": 1}
    with server.asked(analyse(7, seconds=1.0, lines=2, view=view)) as line:
        news = [hear(line)]
        while news[-1]["type"] != "done":
            news.append(hear(line))
    reports = [item for item in news if item["type"] == "report"]
    graphs = [item for item in news if item["type"] == "graph"]
    assert {item["id"] for item in news} == {7}
    assert len(reports) >= 2
    assert len(reports[-1]["lines"]) == 2
    assert reports[-1]["statistics"]["visits"] > reports[0]["statistics"]["visits"]
    assert sum(reports[-1]["lines"][0]["wdl"]) == 1000
    assert len(graphs[-1]["nodes"]["position"]) == 50
    assert len(graphs[-1]["edges"]["move"]) >= 49


@pytest.mark.parametrize(("evaluator", "c_init"), [(None, 1.5), ("material", 2.5), ("crazyhouse", 1.5)])
def test_the_page_gets_the_settings_of_preset_variant_and_evaluator(
    evaluator: str | None, c_init: float
) -> None:
    presets = greeting(ServerOptions(evaluator=evaluator))["presets"]
    assert presets["default"]["chess"]["c_init"] == c_init
    assert presets["default"]["crazyhouse"]["c_init"] == presets["mcgs"]["chess"]["c_init"] == 2.5


def test_two_recipes_search_in_turn(server: Server) -> None:
    configs = [{"preset": "default"}, {"preset": "alphazero", "changes": {"solver": True}}]
    with server.asked(analyse(1, configs=configs, seconds=0.5)) as line:
        sides = set()
        while (news := hear(line))["type"] != "done":
            sides.add(news["side"])
            if news["side"] == 1:
                assert news["statistics"]["transpositions"] == 0  # AlphaZero's is a tree
    assert sides == {0, 1}


@pytest.mark.parametrize(
    "level",
    [
        {"by": "elo", "elo": 500},
        {"by": "elo", "elo": 2000},
        {"by": "evaluations", "evaluations": 50},
        {"by": "seconds", "seconds": 0.2},
        {"by": "clock", "left": 3.0, "increment": 0.0},
    ],
)
@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_the_engine_moves_at_every_level(server: Server, level: dict[str, Any], variant: str) -> None:
    fen = START if variant == "chess" else START.replace(" ", "[] ", 1)
    game = {"variant": variant, "fen": fen, "moves": ["e2e4"]}
    with server.asked({"type": "play", "id": 3, "game": game, "level": level}) as line:
        answer = until(line, "move")
    assert answer["id"] == 3
    assert answer["move"][1] in "5678" or answer["move"][3] in "5678"


def test_a_proof_is_told(server: Server) -> None:
    game = {**GAME, "fen": "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"}
    with server.asked(analyse(1, game=game)) as line:
        report = until(line, "report")
        assert report["solved"] == {"state": "win", "plies": 1, "mate": 1}
        assert until(line, "done")["finish"] == "solved"


def test_a_mate_by_proof_numbers_is_told_with_its_line(server: Server) -> None:
    game = {**GAME, "fen": "8/7k/3n3p/4B1p1/6P1/8/R5P1/5RK1 w - - 0 1"}
    config = {"changes": {"mate_root": 20.0, "mate_growth": 1.0}}
    with server.asked(analyse(1, game=game, configs=[config])) as line:
        report = until(line, "report")
        while report["solved"] is None:
            report = until(line, "report")
    assert report["solved"]["state"] == "win"
    assert report["solved"]["mate"] == report["lines"][0]["mate"] == 4
    assert report["solved"]["plies"] == len(report["lines"][0]["moves"]) == 7


def test_tablebases_speak_up_where_they_are_wanted(server: Server) -> None:
    game = {**GAME, "fen": "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1"}
    with server.asked(analyse(1, game=game)) as line:
        report = until(line, "report")
        assert report["statistics"]["tablebase_hits"] > 0
        assert any(row["state"].startswith("tb-") for row in report["moves"])
        line.send(json.dumps(analyse(2, game=game, machine={"tablebases": False}, seconds=0.1)))
        while (report := until(line, "report"))["id"] != 2:
            pass
        assert not any(row["state"].startswith("tb-") for row in report["moves"])


def test_a_proof_is_sent_as_a_tree(server: Server) -> None:
    game = {**GAME, "fen": "8/7k/3n3p/4B1p1/6P1/8/R5P1/5RK1 w - - 0 1"}
    with server.asked({"type": "prove", "id": 3, "game": game}) as line:
        proof = until(line, "proof")
        tree = proof["tree"]
        assert (proof["id"], proof["result"], proof["mate"]) == (3, "win", 4)
        assert proof["proof"] == len(tree["move"]) == 26
        for place, parent in enumerate(tree["parent"]):
            assert (parent is None) == (place == 0)
            assert place == 0 or tree["plies"][place] < tree["plies"][parent]
        grid = {"name": "tic-tac-toe", "moves": ["a1", "b1", "a2"]}
        line.send(json.dumps({"type": "grid-prove", "id": 4, "game": grid}))
        assert until(line, "proof")["result"] == "loss"
        line.send(json.dumps({"type": "prove", "id": 5, "game": GAME, "seconds": 0.1}))
        open_still = until(line, "proof")
        assert (open_still["result"], open_still["tree"]["move"]) == (None, [])


def test_a_long_proof_is_cut_and_says_so() -> None:
    solution = Engine().solve("8/7k/3n3p/4B1p1/6P1/8/R5P1/5RK1 w - - 0 1", positions=10_000)
    tree = tree_of(solution, most=8)["tree"]
    assert len(tree["move"]) <= 8
    assert sum(tree["hidden"]) > 0


def test_a_server_keeps_time_and_memory_of_its_browsers(server: Server) -> None:
    searches = ClientSearches(Resources(seconds=0.4, memory=64 << 20, threads=1))
    told: list[dict[str, Any]] = []
    much = {"memory": 4096, "threads": 2}  # more than the server gives
    message = read_message(json.dumps(analyse(1, seconds=60, configs=[{}, {}], machine=much)))
    assert isinstance(message, Analyse)
    begun = time.monotonic()
    searches.analyse(message, told.append)
    assert time.monotonic() - begun < 10
    assert told[-1] == {"type": "done", "id": 1, "finish": "time"}
    engines = [engine for engine in searches._engines if engine is not None]
    assert sum(engine.settings.memory for engine in engines) == 64 << 20
    assert [engine.settings.threads for engine in engines] == [1, 1]
    less = read_message(json.dumps(analyse(1, seconds=0.1, machine={"memory": 32, "threads": 1})))
    assert isinstance(less, Analyse)
    searches.analyse(less, told.append)
    assert engines[0].settings.memory == 16 << 20


def test_a_new_order_ends_the_old_one(server: Server) -> None:
    with server.asked(analyse(1)) as line:
        until(line, "report")
        line.send(json.dumps(analyse(2, seconds=0.3)))
        seen = []
        while (news := hear(line))["type"] != "done" or news["id"] == 1:
            seen.append(news["id"])
    assert news["id"] == 2
    assert seen == sorted(seen), "the old search went on beside the new one"


def test_stop_stops(server: Server) -> None:
    with server.asked(analyse(1)) as line:
        until(line, "report")
        begun = time.monotonic()
        line.send(json.dumps({"type": "stop"}))
        assert until(line, "done")["finish"] == "stopped"
        assert time.monotonic() - begun < 2.0
        with pytest.raises(TimeoutError):
            line.recv(0.5)  # longer than the time between two reports


MALFORMED: list[Any] = [
    "", "hello", "null", "[]", "1e999", "{", '{"type": "stop", "type": "open"}', "[" * 10_000, {},
    {"type": None}, {"type": "open", "path": "/etc/passwd"}, {"type": "exec", "command": "id"},
    {"type": "stop", "more": 1}, {"type": "watch", "view": {"nodes": 1_000_000}},
    {"type": "watch", "view": {"nodes": 0}}, {"type": "watch", "view": {"nodes": "9"}}, analyse(-1),
    analyse(1, machine={"threads": 0}), analyse(1, machine={"memory": 1}),
    analyse(1, machine={"tablebases": "/"}),
    {"type": "prove", "id": 1, "game": GAME, "seconds": 100.0}, {"type": "prove", "id": 1, "game": {}},
    analyse(1, lines=10_000), analyse(1, lines=2.5), analyse(1, seconds=-1), analyse(1, seconds="1"),
    analyse(1, configs=[]), analyse(1, configs=[{"preset": "default"}] * 3),
    analyse(1, configs=[{"preset": "../../etc/passwd"}]),
    analyse(1, configs=[{"preset": "default", "changes": {"evaluator": "/etc/passwd"}}]),
    analyse(1, configs=[{"preset": "default", "changes": {"memory": 1 << 60}}]),
    analyse(1, configs=[{"preset": "default", "changes": {"threads": 256}}]),
    analyse(1, configs=[{"preset": "default", "changes": {"solver": "rubbish"}}]),
    analyse(1, configs=[{"preset": "default", "changes": {"q_epsilon": 1e300}}]),
    analyse(1, game={**GAME, "variant": "atomic"}), analyse(1, game={**GAME, "fen": ""}),
    analyse(1, game={**GAME, "fen": "x" * 201}), analyse(1, game={**GAME, "fen": "/etc/passwd"}),
    analyse(1, game={**GAME, "fen": "8/8/8/8/8/8/8/8 w - - 0 1"}),
    analyse(1, game={**GAME, "fen": START + "\x00"}), analyse(1, game={**GAME, "moves": ["e2e5"]}),
    analyse(1, game={**GAME, "moves": ["e2e4; rm -rf /"]}),
    analyse(1, game={**GAME, "moves": [["e2e4"]]}), analyse(1, game={**GAME, "moves": "e2e4"}),
    analyse(1, game={**GAME, "moves": ["e2e4"] * 3000}),
    analyse(1, game={**GAME, "fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}),  # stalemate
    {"type": "play", "id": 1, "game": GAME, "level": {"by": "elo", "elo": 9000}},
    {"type": "play", "id": 1, "game": GAME, "level": {"by": "seconds", "seconds": 1e9}},
    {"type": "play", "id": 1, "game": GAME, "level": {"by": "magic"}},
    {"type": "play", "id": 1, "game": GAME},
    {"type": "grid-position", "id": 1, "game": {"name": "antigravity:fly"}},
]  # fmt: skip


def test_a_browser_cannot_have_a_module_imported() -> None:
    """A game by name is one that ships; the other names of games are modules (`anabranch.named_games`)."""
    message = {"type": "grid-position", "id": 1, "game": {"name": "hex:size=5"}}
    read_message(json.dumps(message))
    with pytest.raises(MessageError, match="one of those that ship"):
        read_message(json.dumps(message | {"game": {"name": "antigravity:fly"}}))
    assert "antigravity" not in sys.modules


def test_what_makes_no_sense_is_refused_in_a_sentence_and_the_line_stays(server: Server) -> None:
    with server.asked() as line:
        for said in MALFORMED:
            line.send(said if isinstance(said, str) else json.dumps(said))
            answer = hear(line)
            assert answer["type"] == "error", (said, answer)
            assert 10 < len(answer["message"]) < 500
            assert "Traceback" not in answer["message"]
            assert "root:" not in answer["message"]
            time.sleep(0.03)
        line.send(json.dumps(analyse(9, seconds=0.1)))
        assert until(line, "done")["id"] == 9


def test_the_message_of_a_refusal_does_not_repeat_much() -> None:
    with pytest.raises(MessageError) as error:
        read_message(json.dumps({"type": "stop", "x" * 5000: 1}))
    assert len(str(error.value)) < 200


def test_a_message_that_is_too_large_ends_the_line_and_nothing_else(server: Server) -> None:
    with server.asked() as other:
        with server.asked() as line:
            line.send("x" * 100_000)
            assert closing_of(line)[0] == 1009
        other.send(json.dumps(analyse(1, seconds=0.1)))
        assert until(other, "done")["id"] == 1


def test_bytes_and_floods_end_the_line(server: Server) -> None:
    with server.asked() as line:
        line.send(b"\x00\x01")
        assert closing_of(line) == (1008, "messages are text")
    with server.talk() as line:
        with contextlib.suppress(ConnectionClosed):
            for _ in range(2000):
                line.send('{"type":"stop"}')
        assert closing_of(line) == (1008, "too many messages")
    server.is_well()


def test_fifty_come_eight_are_served_and_they_are_unharmed(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(server.asked(analyse(1)))
        served, refused = [first], 0
        for _ in range(50):
            line = stack.enter_context(server.talk())
            try:
                assert hear(line)["type"] == "hello"
                served.append(line)
                line.send(json.dumps(analyse(2)))
            except ConnectionClosed:
                refused += 1
                assert closing_of(line) == (1013, "8 browsers are connected; no more are served")
        assert (len(served), refused) == (8, 43)
        for line in served:  # all of them search
            assert until(line, "report")["statistics"]["visits"] > 0
        before = until(first, "report")
        until(first, "report")
        assert until(first, "report")["elapsed"] > before["elapsed"]
    for _ in range(50):  # the places become free as soon as the server has noticed
        with contextlib.suppress(ConnectionClosed), server.talk() as line:
            hear(line)
            break
        time.sleep(0.1)
    server.is_well()


def _memory(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_who_does_not_read_is_cut_off_and_fills_nothing(hasty: Server) -> None:
    lines = [
        "GET /ws HTTP/1.1",
        f"Host: 127.0.0.1:{hasty.port}",
        f"Origin: {hasty.origin}",
        f"Cookie: {hasty.cookie}",
    ]
    lines += [f"{name}: {value}" for name, value in HANDSHAKE]
    message = json.dumps(analyse(1, view={"nodes": 2000, "depth": 50, "visits": 0})).encode()
    mask = b"\x00\x00\x00\x00"
    frame = b"\x81" + bytes([0x80 | 126]) + len(message).to_bytes(2, "big") + mask + message
    sleeper = socket.socket()
    sleeper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with contextlib.closing(sleeper), hasty.asked() as other:
        sleeper.connect(("127.0.0.1", hasty.port))
        sleeper.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + frame)
        time.sleep(1.0)
        before = _memory(hasty.process.pid)
        other.send(json.dumps(analyse(5, seconds=2.0 + HASTY)))
        assert until(other, "done")["finish"] == "time"
        grown = _memory(hasty.process.pid) - before
        assert grown < 400 << 20, "reports pile up"  # both graphs may grow meanwhile
        # Its search has ended: the place is free, and the server has nothing to do.
        expect_rest(hasty)
    hasty.is_well()


def _busy(process: int, seconds: float) -> float:
    """Share of a core that a process uses."""

    def used() -> float:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = used()
    time.sleep(seconds)
    return (used() - before) / seconds


def expect_rest(server: Server) -> None:
    """Fail unless the server has soon nothing more to do."""
    deadline = time.monotonic() + 10
    while _busy(server.process.pid, 0.5) >= 0.4:
        assert time.monotonic() < deadline, "a search goes on"


def test_leaving_ends_the_search(server: Server) -> None:
    with server.asked(analyse(1)) as line:
        until(line, "report")
    expect_rest(server)


def test_a_change_of_view_that_comes_before_the_search_began_counts() -> None:
    small, large = ({"nodes": nodes, "depth": 9, "visits": 1} for nodes in (20, 80))
    messages = [json.dumps({"type": "watch", "view": large}), json.dumps(analyse(1, view=small))]

    async def receive() -> str:
        if messages:
            return messages.pop()
        await asyncio.sleep(3600)
        raise AssertionError

    async def send(text: str) -> None:
        news = json.loads(text)
        if news["type"] == "graph" and len(news["nodes"]["visits"]) > small["nodes"]:
            raise ClientGoneError("seen")

    with pytest.raises(ClientGoneError, match="seen"):
        asyncio.run(
            asyncio.wait_for(Client(ClientSearches(Resources()), receive, send).serve({"type": "hello"}), 60)
        )


@pytest.mark.parametrize(
    "message",
    [analyse(1), {"type": "play", "id": 1, "game": GAME, "level": {"by": "seconds", "seconds": 60}}],
)
def test_a_client_that_goes_is_gone_within_a_second(message: dict[str, Any]) -> None:
    messages = [json.dumps(message)]
    searching = asyncio.Event()

    async def receive() -> str:
        if messages:
            return messages.pop()
        await asyncio.sleep(0.5)
        raise ClientGoneError("gone")

    async def send(text: str) -> None:
        searching.set()

    async def live() -> float:
        client = Client(ClientSearches(Resources()), receive, send)
        begun = time.monotonic()
        with pytest.raises(ClientGoneError, match="gone"):
            await client.serve({"type": "hello"})
        return time.monotonic() - begun

    assert asyncio.run(live()) < 0.5 + 1.0
    assert searching.is_set()


def test_a_game_is_judged_by_the_rules_of_annotate(server: Server) -> None:
    moves = ["e2e4", "e7e5", "d1h5", "e8e7", "h5e5"]
    with server.asked({"type": "judge", "id": 7, "game": {**GAME, "moves": moves}, "seconds": 0.1}) as line:
        for ply in range(5):
            news = hear(line)
            assert (news["type"], news["ply"]) == ("judging", ply)
        judged = until(line, "judged")
    assert [row["nags"] for row in judged["moves"]][3:] == [[4], []]
    assert judged["moves"][3]["name"] == "blunder"
    assert judged["moves"][3]["lines"][0][0] != "e8e7"
    assert judged["moves"][4]["best"]
    assert judged["evaluations"][-1]["value"] == 1.0
    assert judged["black"]["blunders"] == 1
    assert judged["white"]["moves"] == 3


def test_a_judgement_can_be_stopped_and_refused(server: Server) -> None:
    order = {"type": "judge", "id": 1, "game": {**GAME, "moves": ["e2e4"] * 1}, "seconds": 30.0}
    with server.asked(order, {"type": "stop"}, analyse(2, seconds=0.2)) as line:
        assert until(line, "report")["id"] == 2
    with server.asked({**order, "seconds": 100.0}) as line:
        assert "less than or equal to 60" in hear(line)["message"]
    with server.asked({**order, "game": {**GAME, "moves": ["e2e5"]}}) as line:
        assert "e2e5" in hear(line)["message"]
