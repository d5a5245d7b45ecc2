"""`anabranch analyse --file`: forms of lines, JSON lines, refusals, exit codes, continuing after a break."""

import io
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

from anabranch.formats.epd import read_positions
from anabranch.jobs.lines import appending, last_line

pytestmark = pytest.mark.usefixtures("material_by_default")

BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - -"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LINES = f"""# a remark

{BACK_RANK} bm Ra8#; id "back rank; mate";
{START}
startpos moves e2e4 c7c5
"""
BAD = f"""nonsense
{BACK_RANK} id "sound";
R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - id "over";
8/8/8/4k3/8/8/3QK3/8 w - - bm "no end
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "positions.epd"
    path.write_text("\ufeff" + LINES, encoding="utf-8")
    return path


def documents(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def untimed(document: dict[str, Any]) -> dict[str, Any]:
    document = {**document, "statistics": dict(document["statistics"])}
    del document["elapsed"], document["statistics"]["simulations_per_second"]
    return document


def test_json_lines_have_the_fields_of_one_position(cli: Commands, file: Path) -> None:
    found = documents(cli.shows("analyse", "--file", file, "-n", "200", "--json", "--multipv", "2"))
    assert [(one["line"], one["id"]) for one in found] == [(3, "back rank; mate"), (4, None), (5, None)]
    assert [one["input"] for one in found] == LINES.splitlines()[2:]
    for document, position in zip(
        found, [f"{BACK_RANK} 0 1", START, "startpos moves e2e4 c7c5"], strict=True
    ):
        alone = cli.json("analyse", position, "-n", "200", "--multipv", "2")
        assert untimed(document) | untimed(alone) == untimed(document)
    assert found[0]["mate"] == 1
    assert found[1]["limits"]["simulations"] == 200


def test_rows_for_people(cli: Commands, file: Path) -> None:
    rows = cli.shows("analyse", "-f", file, "--evaluations", "50").splitlines()
    assert len(rows) == 3
    assert rows[0].split() == ["3", "back", "rank;", "mate", "mate", "1", "1.", "Ra8#"]
    assert rows[2].split()[0] == "5"


def test_positions_of_the_standard_input(cli: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(LINES))
    assert len(documents(cli.shows("analyse", "--file", "-", "-n", "20", "--json"))) == 3


def test_a_bad_line_says_so_and_the_others_go_on(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "bad.epd"
    path.write_bytes(BAD.encode() + b"\xff\xfe w - -\n")
    said = cli.run("analyse", "--file", path, "-n", "50", "--json", code=1)
    found = documents(said.out)
    assert "four fields" in found[0]["error"]
    assert "already over" in found[2]["error"]
    assert "no end" in found[3]["error"]
    assert found[1]["best_move"] == "a1a8"
    assert "FEN" in found[4]["error"]
    assert said.err == "4 positions refused\n"
    rows = cli.run("analyse", "--file", path, "-n", "50", code=1).out.splitlines()
    assert sum("refused: " in row for row in rows) == 4


def test_lines_of_another_game(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "moves.txt"
    path.write_text("4 4 3\n1 2 9\n", encoding="utf-8")
    game = ["analyse", "--file", str(path), "--game", "connect-four", "--simulations", "10"]
    found, refused = documents(cli.run(*game, "--json", code=1).out)
    assert found["position"].startswith("......./......./......./......./...o.../..xx...")
    assert "9" in refused["error"]
    assert "refused" in cli.run(*game, code=1).out


def test_the_same_command_continues(cli: Commands, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.jsonl"
    command = ("analyse", "--file", file, "-n", "100", "--out", out)
    cli.shows(*command)
    whole = out.read_text()
    assert [untimed(one) for one in documents(whole)] == [
        untimed(one) for one in documents(cli.shows("analyse", "--file", file, "-n", "100", "--json"))
    ]
    cli.shows(*command, "--threads", "3")
    assert out.read_text() == whole
    first = whole.splitlines(keepends=True)[0]
    out.write_text(first + '{"line": 4, "cut sh')
    cli.shows(*command)
    assert out.read_text().startswith(first)
    assert [untimed(one) for one in documents(out.read_text())] == [untimed(one) for one in documents(whole)]


def test_results_of_something_else_are_not_continued(cli: Commands, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.jsonl"
    cli.shows("analyse", "--file", file, "-n", "10", "--out", out)
    before = out.read_text()
    again = ("analyse", "--file", file, "--out", out)
    assert "other limits or settings" in cli.refuses(*again, "-n", "20")
    assert "other limits or settings" in cli.refuses(*again, "-n", "10", "--set", "c_init=3")
    assert "standard input" in cli.refuses("analyse", "--file", "-", "-n", "10", "--out", out)
    file.write_text(START)
    assert "not in" in cli.refuses(*again, "-n", "10")
    assert out.read_text() == before
    out.write_text("something else\n")
    assert "does not hold results" in cli.refuses(*again, "-n", "10")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--file", "no/such/file"], "cannot be read"),
        (["--file", "."], "cannot be read"),
        (["--file", os.devnull], "no position"),
        (["--file", os.devnull, "startpos"], "--file goes with no position"),
        (["--file", os.devnull, "--save", "x"], "--file goes with no position"),
        (["--out", "x"], "--out takes the results of --file"),
    ],
)
def test_refusals(cli: Commands, arguments: list[str], word: str) -> None:
    assert word in cli.refuses("analyse", "-n", "10", *arguments)


def test_ctrl_c_keeps_what_was_found(tmp_path: Path) -> None:
    path, out = tmp_path / "many.epd", tmp_path / "found.jsonl"
    path.write_text(f"{START}\n" * 1000)
    command = ["analyse", "--file", str(path), "--out", str(out), "--time", "0.1", "--evaluator", "material"]
    with subprocess.Popen([sys.executable, "-m", "anabranch", *command], stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while (not out.exists() or out.read_bytes().count(b"\n") < 3) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"the same command continues" in said
    found = documents(out.read_text())
    assert [one["line"] for one in found] == list(range(1, len(found) + 1))


def test_lines_of_positions() -> None:
    named = read_positions([f'{BACK_RANK} id "all moves win";', f"{START} moves e2e4", " ", "#"])
    assert [(one.number, one.id, one.position) for one in named] == [
        (1, "all moves win", f"{BACK_RANK} 0 1"),
        (2, None, f"{START} moves e2e4"),
    ]


@pytest.mark.parametrize("size", [1, 10, 70_000, 200_000])
def test_files_of_long_lines_are_continued(tmp_path: Path, size: int) -> None:
    path = tmp_path / "lines"
    assert last_line(path) is None
    for number in range(3):
        with appending(path) as file:
            file.write(f"{number}{'x' * size}\n")
        assert last_line(path) == f"{number}{'x' * size}"
        with path.open("a") as raw:
            raw.write("cut short" * size)
    with appending(path):
        pass
    assert path.read_text() == "".join(f"{number}{'x' * size}\n" for number in range(3))
