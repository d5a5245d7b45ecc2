"""Commands in a terminal: whatever shows progress there ends well, and so does Ctrl-C."""

import tarfile
from pathlib import Path

import pytest
from tests.support.fake_engine import write_fake_engine
from tests.support.tables import TABLES
from tests.support.terminal import all_in_terminal, in_terminal

from anabranch.cli import run
from anabranch.formats import tablebases
from anabranch.match.results import read_results
from anabranch.networks.shipped import bundled

DATA = Path(__file__).parent.parent / "data"
NETWORK = bundled("crazyhouse", "onnx")
GAME = '[White "Anna"]\n[Black "Ben"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n'
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
QUEEN = "8/8/8/4k3/8/8/3QK3/8 w - - 0 1"
PLAYERS = ["-p", "a=preset:mcgs,evaluator=uniform", "-p", "b=preset:alphazero,evaluator=uniform"]
TEACHER = ["--engine", "./teacher", "--nodes", "5"]
JUDGE = "preset:mcgs,evaluations=4"
HERE = ["-w", "0"]


def fill(folder: Path) -> Path:
    """Put something of all kinds that commands read into a folder."""
    (folder / "game.pgn").write_text(GAME)
    (folder / "book.fen").write_text(f"{START}\n")
    (folder / "empty").mkdir()
    write_fake_engine(folder / "teacher")
    with tarfile.open(folder / "chess.tar.gz", "w:gz", compresslevel=1) as package:
        for file in sorted(TABLES.glob("*.rtb?")):
            package.add(file, f"chess/{tablebases.FOLDER}/{file.name}")
    return folder


CALLS = [
    (["analyse", "--time", "0.5"], "visits"),
    (["annotate", "game.pgn", "-o", "out.pgn", "-n", "50"], "accuracy"),
    (["annotate", "game.pgn", "-n", "50"], "accuracy"),
    (["suite", str(DATA / "mates-chess.epd"), "-n", "50"], "solved"),
    (["bench", "--quick", "--only", "border"], "Python / Rust"),
    (["bench", "--network", "--quick", "--width", "32"], "eval/s"),
    (["perft", "3"], "8,902 nodes"),
    (["settings"], "c_init"),
    (["network", "info", str(NETWORK)], "crazyhouse"),
    (["network", "verify", str(NETWORK)], "sound"),
    (["network", "bench", str(NETWORK), "--seconds", "0.2"], "in a search"),
    (["match", *PLAYERS, "--evaluations", "4", "--pairs", "1", "--longest", "6", "-o", "m", *HERE], "2 of 2"),
    (["study", "list"], "ablation"),
    (["study", "run", "leak", "--scale", "tiny", "-o", "s", "-w", "1"], "10 of 10 measurements"),
    (["study", "run", "leak", "-o", "s", "-w", "0"], "10 of 10 measurements"),
    (["study", "run", "ablation", "--scale", "tiny", "--only", "mcgs", "-o", "a", "-w", "0"], "games"),
    (["study", "summarise", "s"], "Leak over simulations"),
    (["study", "draw", "s"], "svg"),
    (["study", "report", "s"], "html"),
    (["openings", "make", "-n", "2", "--judge", JUDGE, "-o", "o.epd", *HERE], "candidates"),
    (["openings", "check", "book.fen"], "each once"),
    (["openings", "convert", "book.fen", "book.epd"], "1 position"),
    (["data", "generate", *TEACHER, "--games", "3", "--longest", "8", *HERE, "-o", "generated"], "3 games"),
    (["data", "label", "book.fen", *TEACHER, *HERE, "-o", "labelled"], "1 position"),
    (["data", "from-pgn", "game.pgn", "--min-plies", "2", "-o", "d"], "1 kept"),
    (["data", "stats", "d"], "undecided"),
    (["data", "check", "d"], "1 shard"),
    (["data", "check", "empty"], "0 shards"),
    (["tablebases", "fetch", "--to", "t", "--archive", "chess.tar.gz"], "70 files"),
    (["tablebases", "check", str(TABLES)], "70 sound files"),
    (["tablebases", "probe", QUEEN, "--path", str(TABLES)], "win"),
]


def test_commands_end_well_in_a_terminal(tmp_path: Path) -> None:
    seen = all_in_terminal([arguments for arguments, _ in CALLS], fill(tmp_path))
    for (arguments, word), (code, text) in zip(CALLS, seen, strict=True):
        assert (code, "Traceback" in text) == (0, False), f"{arguments}\n{text}"
        assert word in text, arguments


def test_ctrl_c_ends_an_analysis_with_its_result() -> None:
    code, text = in_terminal("analyse", "--time", "100", interrupt_at="visits")
    assert (code, "Traceback" in text) == (0, False), text
    assert "simulations/s" in text


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(("moment", "least"), [("0 of 1000 games", 0), ("games ended by", 1)])
def test_ctrl_c_ends_a_match_that_goes_on_later(
    tmp_path: Path, workers: str, moment: str, least: int
) -> None:
    """At its start, and as soon as games have ended; how many there are then depends on the machine."""
    out = tmp_path / "m"
    call = ["match", *PLAYERS, "--evaluations", "50", "--longest", "8", "-o", str(out)]
    code, text = in_terminal(*call, "-w", workers, "--pairs", "500", interrupt_at=moment)
    assert (code, "Traceback" in text) == (130, False), text
    assert "interrupted; the same command continues" in text
    played = len(read_results(out))
    assert least <= played < 1000
    assert run([*call, "-w", "0", "--pairs", str(played // 2 + 1)]) == 0


@pytest.mark.parametrize(("recipe", "workers"), [("leak", "0"), ("leak", "2"), ("ablation", "2")])
def test_ctrl_c_ends_a_study_that_goes_on_later(tmp_path: Path, recipe: str, workers: str) -> None:
    call = ["study", "run", recipe, "--scale", "small", "-o", str(tmp_path / "s"), "-w", workers]
    code, text = in_terminal(*call, interrupt_at="0 of ")
    assert (code, "Traceback" in text) == (130, False), text
    assert "interrupted; the same command continues" in text
