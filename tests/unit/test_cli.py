"""The command line: what it prints, what it refuses, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Commands
from tests.support.terminal import in_terminal
from typer.testing import CliRunner

import anabranch
from anabranch import Engine, presets, settings_table
from anabranch.cli import COMMANDS, make_app
from anabranch.optional import lacking

pytestmark = pytest.mark.usefixtures("material_by_default")

MIDDLEGAME = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
COMMAND = [sys.executable, "-m", "anabranch"]


def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


@pytest.mark.parametrize("command", ["", *COMMANDS, "network info", "data generate"])
def test_help_is_given_everywhere(command: str) -> None:
    result = CliRunner().invoke(make_app(), [*command.split(), "--help"])
    assert result.exit_code == 0
    assert "Usage: " in result.output


def test_without_arguments_there_is_help(cli: Commands) -> None:
    assert "analyse" in cli.shows()


def test_the_version(cli: Commands) -> None:
    assert cli.shows("--version") == f"anabranch {anabranch.__version__}\n"


def test_the_module_is_the_command() -> None:
    done = subprocess.run([*COMMAND, "perft", "3"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "8,902 nodes" in done.stdout


def test_analyse_shows_moves_lines_and_statistics(cli: Commands) -> None:
    text = cli.shows("analyse", "-v", "crazyhouse", "-n", "3000", "--multipv", "2", "--top", "5", MIDDLEGAME)
    for word in (
        *("visits", "prior", "policy", "verdict", "[NBBnbb]", "1. ", "2. ", "14. ", "3,000 simulations"),
        *("transposition links", "corrections", "bytes per node", "leak", "mean depth", "simulations/s"),
    ):
        assert word in text
    engine = Engine("crazyhouse")
    result = engine.search(MIDDLEGAME, simulations=3000)
    rows = [line.split() for line in text.splitlines()]
    for row in result.moves[:5]:
        assert any(row.move in words and f"{row.visits:,}" in words for words in rows)


def test_analyse_says_what_is_proven(cli: Commands) -> None:
    text = cli.shows("analyse", "-n", "500", BACK_RANK)
    assert "Ra8# (a1a8)" in text
    assert "proven win in 1" in text
    assert "win in 1 ply" in text


def test_analyse_as_json_is_the_result(cli: Commands) -> None:
    document = cli.json(
        "analyse", "--moves", "e2e4 e5", "--preset", "mcgs", "--set", "q_epsilon=0.02",
        "--set", "seed=5", "-n", "700", "--multipv", "3", "--threads", "2", "--evaluator", "hash",
    )  # fmt: skip
    engine = Engine(preset="mcgs", q_epsilon=0.02, seed=5, evaluator="hash")
    result = engine.search("startpos moves e2e4 e7e5", simulations=700)
    assert document["best_move"] == result.best_move
    assert [row["visits"] for row in document["moves"]] == [row.visits for row in result.moves]
    assert [line["san"] for line in document["lines"]] == [line.san for line in result.lines]
    assert document["statistics"]["nodes"] == result.statistics.nodes
    assert document["settings"]["q_epsilon"] == 0.02
    assert document["settings"]["threads"] == 2
    assert document["position"].split()[1] == "w"


def test_analyse_of_an_unsearched_move_has_no_nan(cli: Commands) -> None:
    document = cli.json("analyse", "-n", "1")
    assert any(row["q"] is None for row in document["moves"])


@pytest.mark.parametrize("limit", [["--evaluations", "200"], ["--time", "0.05"], ["--mate", "1"]])
def test_analyse_takes_every_limit(cli: Commands, limit: list[str]) -> None:
    assert cli.json("analyse", BACK_RANK, *limit)["best_move"] == "a1a8"


def test_analyse_of_chess960(cli: Commands) -> None:
    fen = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w KQkq - 0 1"
    assert cli.json("analyse", fen, "--chess960", "-n", "100")["chess960"] is True


@pytest.mark.parametrize("suffix", ["dot", "gv", "json", "graphml"])
def test_analyse_writes_the_graph(cli: Commands, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"search.{suffix}"
    cli.shows("analyse", "-n", "300", "--graph", str(path))
    text = path.read_text(encoding="utf-8")
    assert {"dot": "digraph", "gv": "digraph", "json": '"nodes"', "graphml": "<graphml"}[suffix] in text


def test_a_saved_search_goes_on(cli: Commands, tmp_path: Path) -> None:
    path = str(tmp_path / "search.anabranch")
    cli.shows("analyse", "-v", "crazyhouse", "-n", "500", "--save", path, MIDDLEGAME)
    document = cli.json("analyse", "--load", path, "-n", "500")
    assert document["variant"] == "crazyhouse"
    assert document["statistics"]["root_visits"] > 900


def test_on_a_terminal_there_is_a_live_table() -> None:
    code, text = in_terminal("analyse", "--time", "1.2")
    assert code == 0
    assert text.count("visits") >= 3  # on the way, and at the end


def wait_until_busy(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a process has computed for so long; start-up takes about a second of that."""
    spent = 0.0
    while spent < seconds:
        assert process.poll() is None, "it ended by itself"
        time.sleep(0.05)
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(*arguments: str) -> tuple[int, str, str]:
    """What becomes of a command when Ctrl-C comes some time after its start."""
    process = start(*arguments)
    wait_until_busy(process, 2.0)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - begun < 5
    return process.returncode, out, err


def test_ctrl_c_ends_the_search_and_shows_the_result() -> None:
    code, out, err = interrupted("analyse", "--time", "60", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["finish"] == "stopped"
    assert document["statistics"]["simulations"] > 0


def test_a_reader_that_leaves_is_no_error() -> None:
    process = start("settings")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 0
    process.stderr.close()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["analyse", "garbage", "-n", "1"], "FEN"),
        (["analyse", "8/8/8/8/8/8/8/7K w - - 0 1", "-n", "1"], "king"),
        (["analyse", "x" * 100_000, "-n", "1"], "FEN"),
        (["analyse", "-n", "0"], "simulations"),
        (["analyse", "-n", "-5"], "simulations"),
        (["analyse", "-n", "many"], "simulations"),
        (["analyse", "--evaluations", "0"], "evaluations"),
        (["analyse", "--time", "0"], "time"),
        (["analyse", "--time", "-1"], "time"),
        (["analyse", "--time", "nan"], "time"),
        (["analyse", "--mate", "0"], "mate"),
        (["analyse", "--multipv", "0"], "multipv"),
        (["analyse", "--top", "-1"], "top"),
        (["analyse", "--threads", "0"], "threads"),
        (["analyse", "--moves", "e2e5"], "e2e5"),
        (["analyse", "--variant", "checkers"], "checkers"),
        (["analyse", "--preset", "best"], "best"),
        (["analyse", "--evaluator", "oracle"], "oracle"),
        (["analyse", "--set", "bacth_size=8"], "batch_size"),
        (["analyse", "--set", "batch_size=0"], "batch_size"),
        (["analyse", "--set", "batch_size"], "name=value"),
        (["analyse", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"], "over"),
        (["analyse", "--load", "/nowhere/search"], "the graph file /nowhere/search cannot be read"),
        (["analyse", "--load", __file__], f"the graph file {__file__} is damaged"),
        (["analyse", "--load", __file__, "--variant", "chess"], "--load"),
        (["analyse", "--graph", "search.png", "-n", "10"], "search.png"),
        (["analyse", "--graph", "/nowhere/search.dot", "-n", "10"], "/nowhere"),
        (["analyse", "--save", "/nowhere/search", "-n", "10"], "/nowhere"),
        (["analyse", "one", "two", "three"], "extra"),
        (["perft"], "DEPTH"),
        (["perft", "0"], "depth"),
        (["perft", "3", "8/8"], "ranks"),
        (["settings", "--preset", "best"], "best"),
        (["bench", "--only", "weather"], "weather"),
        (["suite"], "FILE"),
        (["suite", "/nowhere/mates.epd"], "cannot be read"),
        (["suite", __file__], "test_cli.py:1: "),
        (["analyse", *BACK_RANK.split()], "put the FEN in quotes"),
        (["analyse", *MIDDLEGAME.split(), "-v", "crazyhouse"], "put the FEN in quotes"),
        (["perft", "3", *BACK_RANK.split()], "put the FEN in quotes"),
        (["tablebases", "probe", *BACK_RANK.split()], "put the FEN in quotes"),
        (["openings", "check", *BACK_RANK.split()], "put the FEN in quotes"),
        (["suite", *BACK_RANK.split()], "its FEN in quotes"),
        (["suite", BACK_RANK], "its FEN in quotes"),
        (["tablebases", "probe", BACK_RANK, "--path", "/nowhere"], "'anabranch tablebases fetch'"),
        (["divine"], "divine"),
        (["--wrong"], "--wrong"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else None,
)
def test_an_error_is_one_sentence(cli: Commands, arguments: list[str], word: str) -> None:
    said = cli.run(*arguments, code=2)
    assert said.out == ""
    assert said.err.startswith("anabranch: ")
    assert said.err.count("\n") == 1
    assert word in said.err


def test_errors_of_a_process_go_to_stderr_with_code_2() -> None:
    done = subprocess.run([*COMMAND, "analyse", "garbage"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_file_that_cannot_be_written_does_not_lose_the_result(cli: Commands, tmp_path: Path) -> None:
    (tmp_path / "taken.dot").mkdir()
    said = cli.run("analyse", "-n", "50", "--graph", tmp_path / "taken.dot", code=2)
    assert "50 simulations" in said.out
    assert said.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["taken.dot"]


def test_perft_divides(cli: Commands) -> None:
    lines = cli.shows("perft", "3", "--divide").splitlines()
    assert "e2e4: 600" in lines
    assert len(lines) == 21


def test_perft_of_a_position_as_json(cli: Commands) -> None:
    fen = "rnb1kbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNB1KBNR[Qq] w KQkq - 0 3"
    document = cli.json("perft", "2", fen, "--variant", "crazyhouse")
    engine = Engine("crazyhouse")
    engine.position = fen
    assert document["moves"] == engine.perft(2)
    assert document["nodes"] == sum(document["moves"].values())
    assert any("@" in move for move in document["moves"])


def test_settings_lists_every_setting(cli: Commands) -> None:
    text = cli.shows("settings")
    for row in settings_table():
        assert row.name in text
    documents = cli.json("settings", "--preset", "alphazero")["settings"]
    assert [document["name"] for document in documents] == [row.name for row in settings_table()]
    assert {document["name"]: document["default"] for document in documents}["backup"] == "tree"
    assert all(document["meaning"] and document["range"] for document in documents)


def test_settings_shows_what_presets_change(cli: Commands) -> None:
    changes = cli.json("settings", "--presets")
    assert tuple(changes) == presets()
    assert changes["default"] == {}
    assert changes["alphazero"]["solver"] is False
    assert "solver=false" in cli.shows("settings", "--presets")


def test_ctrl_c_ends_work_that_knows_no_stop() -> None:
    assert interrupted("perft", "12") == (130, "", "")


def test_what_a_graph_needs_is_checked_before_the_search(
    cli: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)  # as if it were not installed
    said = cli.run("analyse", "-n", "10", "--graph", tmp_path / "x.graphml", code=2)
    assert said.out == ""  # nothing was searched
    assert str(lacking("this needs the package networkx", "graph")) in said.err
    cli.shows("analyse", "-n", "10", "--graph", tmp_path / "x.dot")


def test_probe_without_tables_says_how_to_get_them(
    cli: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    said = cli.refuses("tablebases", "probe", BACK_RANK)
    assert str(tmp_path / "anabranch" / "syzygy") in said
    assert "'anabranch tablebases fetch'" in said


def test_a_variant_and_a_game_are_refused_together(cli: Commands) -> None:
    assert "give one of them" in cli.refuses("analyse", "--game", "hex", "--variant", "chess", "-n", "10")
