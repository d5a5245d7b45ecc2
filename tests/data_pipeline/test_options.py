"""Options that are built from the dataclass they fill."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from tests.support.commands import Commands
from typer.testing import CliRunner

from anabranch.cli.from_settings import FromSettings, with_settings


@dataclass(frozen=True)
class Bread:
    """What to bake."""

    flour: str
    """Kind of flour."""
    rye_share: float = 0.5
    """Share of rye,
    by weight.
    """
    loaves: tuple[int, int] = (1, 2)
    salt: int | None = None
    seeds: bool = False


def test_each_field_is_an_option() -> None:
    app = typer.Typer(rich_markup_mode=None)
    baked: list[Bread] = []

    @app.command()
    @with_settings
    def bake(
        *, given: Annotated[dict[str, Any], FromSettings(Bread, skip=("salt",))], salt: str = "10"
    ) -> None:
        baked.append(Bread(salt=int(salt), **given))

    run = CliRunner().invoke
    help_text = run(app, ["--help"]).output
    for part in (
        "Kind of flour.",
        "Share of rye, by weight.  [default: 0.5]",
        "--rye-share X",
        "--loaves N N",
    ):
        assert part in " ".join(help_text.split()).replace("weight. [", "weight.  [")
    assert "--no-seeds" not in help_text
    assert run(app, ["--flour", "rye", "--loaves", "3", "4", "--seeds", "--salt", "7"]).exit_code == 0
    assert asdict(baked[0]) == {"flour": "rye", "rye_share": 0.5, "loaves": (3, 4), "salt": 7, "seeds": True}
    assert run(app, []).exit_code == 2


@pytest.mark.parametrize(
    "command", ["generate --games 1", "label FILE", "sample .", "expand .", "from-pgn FILE"]
)
@pytest.mark.parametrize("name", ["hex", "hexx"])
def test_games_without_training_data_are_refused_with_one_sentence(
    command: str, name: str, tmp_path: Path, cli: Commands
) -> None:
    file = tmp_path / "games.pgn"
    file.write_text("")
    words = [str(file) if word == "FILE" else word for word in command.split()]
    said = cli.refuses("data", *words, "--game", name, "--out", tmp_path / "out")
    others = ", racingkings, horde or chess960" if words[0] == "from-pgn" else ", racingkings or horde"
    known = f"chess, crazyhouse, atomic, antichess, kingofthehill, 3check{others}"
    assert said == f"anabranch: training data are positions of {known}, not of {name}\n"
    assert not (tmp_path / "out").exists()
    shown = cli.shows("data", words[0], "--help")
    assert "racingkings" in shown
    assert "anabranch games" not in shown
