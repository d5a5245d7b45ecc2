"""Commands in a terminal: whatever shows progress there ends well, and so does Ctrl-C."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import pytest
from tests.support.fake_engine import write_fake_engine
from tests.support.terminal import in_terminal

from anabranch.formats import tablebases
from anabranch.match.results import read_results
from anabranch.networks.shipped import bundled

DATA = Path(__file__).parent.parent / "data"
TABLES = Path(sys.prefix) / "share" / "syzygy"
NETWORK = bundled("crazyhouse", "onnx")
GAME = '[White "Anna"]\n[Black "Ben"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n'
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
QUEEN = "8/8/8/4k3/8/8/3QK3/8 w - - 0 1"
PLAYERS = ["-p", "a=preset:mcgs,evaluator=uniform", "-p", "b=preset:alphazero,evaluator=uniform"]
TEACHER = ["--engine", "./teacher", "--nodes", "5"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with something of all kinds that commands read."""
    (tmp_path / "game.pgn").write_text(GAME)
    (tmp_path / "book.fen").write_text(f"{START}\n")
    (tmp_path / "empty").mkdir()
    write_fake_engine(tmp_path / "teacher")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["analyse", "--time", "0.5"], "visits"),
        (["annotate", "game.pgn", "-o", "out.pgn", "-n", "50"], "accuracy"),
        (["annotate", "game.pgn", "-n", "50"], "accuracy"),
        (["suite", str(DATA / "mates-chess.epd"), "-n", "50"], "solved"),
        (["bench", "--quick", "--only", "signature"], "signature"),
        (["bench", "--network", "--quick", "--width", "32"], "eval/s"),
        (["perft", "3"], "8,902 nodes"),
        (["settings"], "c_init"),
        (["network", "info", str(NETWORK)], "crazyhouse"),
        (["network", "verify", str(NETWORK)], "sound"),
        (["network", "bench", str(NETWORK), "--seconds", "0.2"], "in a search"),
        (["match", *PLAYERS, "--evaluations", "4", "--pairs", "1", "--longest", "6", "-o", "m"], "2 of 2"),
        (["study", "list"], "ablation"),
        (["study", "run", "leak", "--scale", "tiny", "-o", "s", "-w", "1"], "10 of 10 measurements"),
        (["study", "run", "ablation", "--scale", "tiny", "--only", "mcgs", "-o", "s", "-w", "0"], "games"),
        (
            ["openings", "make", "-n", "2", "--judge", "preset:mcgs,evaluations=4", "-o", "o.epd"],
            "candidates",
        ),
        (["openings", "check", "book.fen"], "each once"),
        (["openings", "convert", "book.fen", "book.epd"], "1 position"),
        (["data", "generate", *TEACHER, "--games", "3", "-w", "1", "-o", "d"], "3 games"),
        (["data", "label", "book.fen", *TEACHER, "-w", "1", "-o", "d"], "1 position"),
        (["data", "from-pgn", "game.pgn", "--min-plies", "2", "-o", "d"], "1 kept"),
        (["data", "check", "empty"], "0 shards"),
        (["tablebases", "fetch", "--to", "t", "--archive", "chess.tar.gz"], "70 files"),
        (["tablebases", "check", str(TABLES)], "70 sound files"),
        (["tablebases", "probe", QUEEN, "--path", str(TABLES)], "win"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else None,
)
def test_a_command_ends_well_in_a_terminal(place: Path, arguments: list[str], word: str) -> None:
    if "chess.tar.gz" in arguments:
        with tarfile.open(place / "chess.tar.gz", "w:gz") as package:
            for file in sorted(TABLES.glob("*.rtb?")):
                package.add(file, f"chess/{tablebases.FOLDER}/{file.name}")
    code, text = in_terminal(*arguments, cwd=place)
    assert "Traceback" not in text, text
    assert code == 0, text
    assert word in text


def test_what_reads_shards_and_studies_ends_well_in_a_terminal(place: Path) -> None:
    """What needs the work of another command first."""
    for arguments in (
        ["data", "from-pgn", "game.pgn", "--min-plies", "2", "-o", "d"],
        ["data", "stats", "d"],
        ["data", "check", "d"],
        ["study", "run", "leak", "--scale", "tiny", "-o", "s", "-w", "0"],
        ["study", "run", "leak", "-o", "s", "-w", "0"],
        ["study", "summarise", "s"],
        ["study", "draw", "s"],
        ["study", "report", "s"],
    ):
        code, text = in_terminal(*arguments, cwd=place)
        assert (code, "Traceback" in text) == (0, False), text


def test_ctrl_c_ends_an_analysis_with_its_result(place: Path) -> None:
    code, text = in_terminal("analyse", "--time", "100", cwd=place, interrupt_at="visits")
    assert (code, "Traceback" in text) == (0, False), text
    assert "simulations/s" in text


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("moment", ["0 of 1000 games", "4 of 1000 games"])
def test_ctrl_c_ends_a_match_that_goes_on_later(place: Path, workers: str, moment: str) -> None:
    call = ["match", *PLAYERS, "--evaluations", "50", "--longest", "8", "-o", "m", "-w", workers]
    code, text = in_terminal(*call, "--pairs", "500", cwd=place, interrupt_at=moment)
    assert (code, "Traceback" in text) == (130, False), text
    assert "interrupted; the same command continues" in text
    played = len(read_results(place / "m"))
    assert played >= int(moment.split(maxsplit=1)[0])
    code, text = in_terminal(*call, "--pairs", str(played // 2 + 1), cwd=place)
    assert (code, "Traceback" in text) == (0, False), text


@pytest.mark.parametrize(("recipe", "workers"), [("leak", "0"), ("leak", "2"), ("ablation", "2")])
def test_ctrl_c_ends_a_study_that_goes_on_later(place: Path, recipe: str, workers: str) -> None:
    call = ["study", "run", recipe, "--scale", "small", "-o", "s", "-w", workers]
    code, text = in_terminal(*call, cwd=place, interrupt_at="0 of ")
    assert (code, "Traceback" in text) == (130, False), text
    assert "interrupted; the same command continues" in text
