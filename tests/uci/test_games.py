"""Games against Debian's engines at one second and 0.01 per move: no forfeit, no illegal move, no crash.

They are played by tests/support/run_games.py, two at a time, as a longer run of it would. The clock is ours
alone: the other side searches some nodes, so that a game takes half as long.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.engine_process import our_environment

ROOT = Path(__file__).parents[2]
GAMES = 6


def run_games(out: Path, variant: str, games: int) -> tuple[int, dict[str, object]]:
    command = [sys.executable, "-m", "tests.support.run_games", "--games", str(games), "--variant", variant]
    command += ["--opponent-nodes", "500"]
    done = subprocess.run(
        [*command, "--out", str(out)],
        cwd=ROOT,
        env=our_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    figures = json.loads(done.stdout)
    assert isinstance(figures, dict)
    return done.returncode, figures


@pytest.mark.timeout(600)
@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_games_without_a_fault(tmp_path: Path, variant: str) -> None:
    out = tmp_path / "games.jsonl"
    code, figures = run_games(out, variant, GAMES)
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    failed = [record for record in records if record["transcript"]]
    shown = "\n\n".join(
        f"{r['number']} {r['reason']} {r['faults'][:3]}\n{r['transcript']}" for r in failed[:3]
    )
    assert code == 0, f"{figures}\n{shown}"
    assert figures["games"] == GAMES == len(records)
    assert isinstance(figures["smallest_clock_ms"], float)
    assert figures["smallest_clock_ms"] >= 0
    assert all(record["plies"] > 8 for record in records)
    # Nothing is played twice, and the figures stay.
    assert run_games(out, variant, GAMES) == (0, figures)
