"""How the process ends, how soon it stops, and what memory it takes.

Times are judged by the transcript's own clock. A machine may sleep through a test of latency once: such a
test has two tries.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import pytest
from tests.support.engine_process import EngineProcess, our_command, our_environment

EXIT = 2.0
STOPS = 100
IDLE_LATENCY = 0.050
LOADED_LATENCY = 0.250
HASH_MB = 16
ABOVE_HASH_MB = 260
"""What a process may take above the cap of Hash: the interpreter, NumPy, the network and its runtime."""
INFINITE_SECONDS = float(os.environ.get("UCI_INFINITE_SECONDS", "7"))


def is_alive(pid: int) -> bool:
    """Whether a process runs. One that is dead and not yet waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def assert_dies(pid: int, seconds: float = EXIT) -> None:
    deadline = time.monotonic() + seconds
    while is_alive(pid):
        assert time.monotonic() < deadline, f"process {pid} is still there after {seconds:g} s"
        time.sleep(0.01)


def begin(engine: EngineProcess, busy: bool) -> None:
    """Bring the engine to life, and perhaps into a search."""
    engine.greet()
    engine.ask("go nodes 10")
    if busy:
        engine.send("go infinite")
        engine.wait_for("info")


BUSY = pytest.mark.parametrize("busy", [False, True], ids=["idle", "searching"])


@BUSY
def test_end_of_input_ends_the_process(busy: bool) -> None:
    with EngineProcess() as engine:
        begin(engine, busy)
        engine.end_input()
        assert engine.wait_for_exit(EXIT) == 0
        assert not engine.error_text


@BUSY
def test_quit_ends_the_process(busy: bool) -> None:
    with EngineProcess() as engine:
        begin(engine, busy)
        engine.quit(EXIT)


def test_end_of_input_before_anything_was_said() -> None:
    with EngineProcess() as engine:
        engine.end_input()
        assert engine.wait_for_exit(EXIT + 18) == 0  # the interpreter starts first
        assert not engine.error_text
        assert not engine.said("info")


@BUSY
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_the_process(busy: bool, number: signal.Signals) -> None:
    with EngineProcess() as engine:
        begin(engine, busy)
        engine.process.send_signal(number)
        engine.wait_for_exit(EXIT)
        assert "Traceback" not in engine.error_text


@BUSY
def test_closed_output_ends_the_process(busy: bool) -> None:
    read, write = os.pipe()
    process = subprocess.Popen(
        our_command(),
        stdin=subprocess.PIPE,
        stdout=write,
        stderr=subprocess.PIPE,
        env=our_environment(),
        bufsize=0,
    )
    os.close(write)
    try:
        assert process.stdin is not None
        process.stdin.write(b"isready\n" + (b"go infinite\n" if busy else b""))
        assert os.read(read, 100).startswith(b"readyok")
        os.close(read)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"isready\n")
        process.wait(EXIT)
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()


@BUSY
def test_the_engine_ends_when_its_parent_is_killed(busy: bool) -> None:
    """A shell holds the engine's input, as a GUI would; killed, it cannot say goodbye."""
    program = (
        "import subprocess, sys\n"
        "engine = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
        "print('pid', engine.pid, flush=True)\n"
        "for line in sys.stdin: engine.stdin.write(line.encode()); engine.stdin.flush()\n"
    )
    with EngineProcess([sys.executable, "-c", program, *our_command()]) as parent:
        pid = int(parent.wait_for("pid").text.split()[1])
        try:
            begin(parent, busy)
            parent.process.kill()
            parent.process.wait()
            assert_dies(pid)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_no_thread_or_child_outlives_the_engine() -> None:
    with EngineProcess() as engine:
        begin(engine, busy=True)
        with open(f"/proc/{engine.process.pid}/task/{engine.process.pid}/children", encoding="ascii") as file:
            children = [int(pid) for pid in file.read().split()]
        engine.quit(EXIT)
        for pid in children:
            assert_dies(pid)


@contextlib.contextmanager
def load(processes: int) -> Iterator[None]:
    """Busy loops beside us."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def latencies(engine: EngineProcess, seed: int) -> list[float]:
    """Seconds from `stop` to `bestmove`, in searches of all kinds and positions."""
    source = random.Random(seed)
    found = []
    positions = [
        "startpos",
        "startpos moves e2e4 e7e5 g1f3 b8c6",
        "fen r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 9",
        "fen 8/5pk1/6p1/8/3R4/6P1/5PK1/2r5 w - - 0 40",
    ]
    goes = [
        "go infinite",
        "go ponder wtime 9000 btime 9000",
        "go movetime 60000",
        "go wtime 900000 btime 900000",
    ]
    for _ in range(STOPS):
        engine.send(f"position {source.choice(positions)}", source.choice(goes))
        time.sleep(source.uniform(0.0, 0.06))
        stopped = engine.send("stop")
        answered = engine.wait_for("bestmove").at
        assert answered is not None
        found.append(answered - stopped)
    return found


def percentile(values: Sequence[float], part: float) -> float:
    """The value that so many do not exceed.

    >>> percentile([3, 1, 2, 4], 0.5)
    2
    """
    ordered = sorted(values)
    return ordered[max(0, -int(-part * len(ordered) // 1) - 1)]


@pytest.mark.parametrize(("loops", "limit"), [(0, IDLE_LATENCY), (2, LOADED_LATENCY)], ids=["idle", "loaded"])
def test_stop_is_obeyed_at_once(loops: int, limit: float) -> None:
    with EngineProcess() as engine:
        engine.greet(Hash=64)
        engine.ask("go nodes 200")
        worst = []
        for attempt in range(2):
            with load(loops):
                worst.append(percentile(latencies(engine, attempt), 0.99))
            if worst[-1] <= limit:
                break
        assert min(worst) <= limit, f"p99 of {STOPS} stops in two tries: {worst}"
        engine.check()


@pytest.mark.timeout(INFINITE_SECONDS + 120)
@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_an_infinite_search_keeps_to_its_memory_and_goes_on(variant: str) -> None:
    with EngineProcess() as engine:
        engine.greet(Hash=HASH_MB, UCI_Variant=variant)
        engine.send("go infinite")
        memory = 0
        end = time.monotonic() + INFINITE_SECONDS
        while time.monotonic() < end:
            time.sleep(0.25)
            memory = max(memory, engine.memory())
            assert not engine.said("bestmove")
        engine.ask("stop")
        engine.check()
        nodes = [
            int(line.split(" nodes ")[1].split()[0]) for line in engine.said("info") if " nodes " in line
        ]
        assert len(nodes) >= INFINITE_SECONDS / 2
        half = len(nodes) // 2
        assert nodes[0] < nodes[half] < nodes[-1]
        # The second half of the time brings a fair part of the visits, whatever the memory holds.
        assert nodes[-1] - nodes[half] > nodes[-1] // 10
        assert memory <= (HASH_MB + ABOVE_HASH_MB) << 20, f"{memory >> 20} MB"
        engine.quit()
