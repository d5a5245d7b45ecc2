"""The defaults of a run: help and guide have those of every game."""

import re
from pathlib import Path

import pytest
from tests.support.commands import Commands

from anabranch.cli.from_settings import text_of
from anabranch.selfplay.plan import USUAL, LoopPlan, plan_of

GUIDE = Path(__file__).parents[2] / "docs" / "selfplay.md"


@pytest.mark.parametrize("command", ["run", "play"])
def test_the_help_has_the_defaults_of_every_game(command: str, cli: Commands) -> None:
    shown = re.sub(r"-\s+", "-", cli.shows("selfplay", command, "--help"))
    shown = " ".join(shown.split())
    for part in (
        "--games N Games of a generation. [default: 512; 1600 in connect-four; 128 in tic-tac-toe; 1000 in "
        "chess, crazyhouse]",
        "[default: 8; 14 in connect-four; 4 in tic-tac-toe, hex, go; 12 in chess, crazyhouse]",
        "[default: rollout, first; first in chess, crazyhouse]",
        "--outsiders NAME|FILE|uci:COMMAND",
        "--seed N Seed of games, weights and order. [default: 1]",
    ):
        assert part in shown
    assert ("--initial NAME|FILE" in shown) == ("--data DIR" in shown) == (command == "run")


def test_the_guide_has_the_defaults_of_every_game() -> None:
    section = GUIDE.read_text().partition("## Defaults of a game")[2].partition("\n## ")[0]
    head, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    games = [cell.split(" and ") for cell in head[2:]]
    assert {name for names in games for name in names} == set(USUAL)
    named = [row[0].strip("`").removeprefix("--").replace("-", "_") for row in rows]
    assert set(named) == {
        name
        for game, usual in USUAL.items()
        for name in usual
        if usual[name] != getattr(LoopPlan(game), name)
    }
    for field, (_, default, *cells) in zip(named, rows, strict=True):
        assert plain(default) == plain(text_of(getattr(LoopPlan("breakthrough"), field)))
        for names, cell in zip(games, cells, strict=True):
            for name in names:
                # An empty cell stands for the first column.
                assert plain(cell or default) == plain(text_of(getattr(plan_of(name), field))), (field, name)


def plain(text: str) -> str:
    """A cell without the commas of its thousands."""
    return text.replace(",", "")
