"""Files that cannot be used are named and skipped; the rest is used, and nothing crashes."""

import random
import shutil
from pathlib import Path

import pytest

from anabranch import Engine, _core

QUEEN = "8/8/8/4k3/8/8/3QK3/8 w - - 0 1"
ROOK = "8/8/8/4k3/8/8/3RK3/8 w - - 0 1"


@pytest.fixture
def copied(directory: Path, tmp_path: Path) -> Path:
    shutil.copytree(directory, tmp_path / "tables")
    return tmp_path / "tables"


def damage(file: Path, kind: str) -> str:
    """Spoil a file; what must be said of it."""
    content = bytearray(file.read_bytes())
    if kind == "missing":
        file.unlink()
        return "is missing"
    if kind == "directory":
        file.unlink()
        file.mkdir()
        return "not a regular file"
    if kind == "link":
        file.unlink()
        file.symlink_to("nowhere")
        return "cannot be read"
    if kind == "empty":
        file.write_bytes(b"")
        return "0 bytes"
    if kind == "cut":
        file.write_bytes(content[:-100])
        return "truncated"
    if kind == "cut to a size that tables have":
        file.write_bytes(content[:-128])
        return "checksum"
    if kind == "first byte":
        content[0] ^= 1
        file.write_bytes(content)
        return "begin like a table"
    if kind == "layout":
        content[4] ^= 1
        file.write_bytes(content)
        return "another ending"
    content[len(content) // 2] ^= 64
    file.write_bytes(content)
    return "checksum"


KINDS = ["missing", "directory", "link", "empty", "cut", "cut to a size that tables have", "first byte"]
KINDS += ["layout", "one bit"]


@pytest.mark.parametrize("suffix", ["rtbw", "rtbz"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_named_and_the_rest_is_used(copied: Path, kind: str, suffix: str) -> None:
    file = copied / f"KQvK.{suffix}"
    reason = damage(file, kind)
    tables = _core.Tablebases([copied])
    assert len(tables.files) == 68
    assert not any(Path(name).stem == "KQvK" for name in tables.files)
    partner = copied / ("KQvK.rtbz" if suffix == "rtbw" else "KQvK.rtbw")
    named = [
        text for text in tables.problems if text.startswith(str(file) if kind != "missing" else str(partner))
    ]
    assert len(named) == 1
    assert reason in named[0]
    assert any(text.startswith(str(partner)) and file.name in text for text in tables.problems)
    assert any(text.startswith("The tables of KQvK are missing") for text in tables.problems)
    assert all(text.endswith(".") for text in tables.problems)
    assert tables.probe_wdl(QUEEN) is None
    assert tables.probe_wdl(ROOK) == 2
    engine = Engine(tablebases=tables, evaluator="material")
    assert engine.search(ROOK, simulations=20).solved is not None
    assert engine.search(QUEEN, simulations=20).best_move


def test_a_file_that_fails_later_gives_no_answer_and_is_named_once(copied: Path) -> None:
    tables = _core.Tablebases([copied])
    assert tables.problems == []
    for file in copied.glob("KRvK.*"):
        file.write_bytes(b"nothing")
    engine = Engine(tablebases=tables, evaluator="material")
    result = engine.search(ROOK, simulations=200)
    assert result.best_move
    assert tables.probe_wdl(ROOK) is None
    assert tables.probe_wdl(QUEEN) == 2
    assert tables.failed_probes > 0
    failed = [text for text in tables.problems if "gave no answer" in text]
    assert failed == [f"{copied / 'KRvK.rtbw'} gave no answer: it is damaged or cannot be read."]


def test_any_bytes_are_survived(copied: Path) -> None:
    """Flipped after opening, when no checksum helps: answers may be wrong, but come or fail in peace."""
    rng = random.Random(1)
    for _ in range(60):
        tables = _core.Tablebases([copied])
        for name in ("KQvK", "KPvK"):
            for suffix in ("rtbw", "rtbz"):
                file = copied / f"{name}.{suffix}"
                content = bytearray(file.read_bytes())
                sound = bytes(content)
                for _ in range(rng.choice([1, 3, 20])):
                    content[rng.randrange(len(content) if rng.random() < 0.5 else 64)] = rng.randrange(256)
                file.write_bytes(content)
                for fen in (QUEEN, "8/8/8/4k3/8/8/3PK3/8 b - - 0 1", "8/P7/8/4k3/8/8/4K3/8 w - - 0 1"):
                    tables.probe_dtz(fen)
                file.write_bytes(sound)
        Engine(tablebases=tables, evaluator="material").search(
            "8/8/8/4k3/8/8/3PK3/8 w - - 0 1", simulations=30
        )


def test_directories_are_put_together(directory: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, ending in ((one, "KQvK"), (two, "KRvK")):
        folder.mkdir()
        for suffix in ("rtbw", "rtbz"):
            shutil.copy(directory / f"{ending}.{suffix}", folder)
    (one / "notes.txt").write_text("not a table")
    (one / "KXvK.rtbw").write_text("not a table either")
    tables = _core.Tablebases([one, two, one])
    assert (tables.men, len(tables.files), tables.problems) == (3, 4, [])
    assert (tables.probe_wdl(QUEEN), tables.probe_wdl(ROOK)) == (2, 2)
    missing = _core.Tablebases([one, tmp_path / "three"])
    assert len(missing.files) == 2
    assert missing.problems[0].startswith(f"The directory {tmp_path / 'three'} cannot be read")
    nothing = _core.Tablebases([])
    assert (nothing.men, nothing.files, nothing.problems) == (0, [], [])
    assert Engine(tablebases=[], evaluator="material").search(QUEEN, simulations=10).best_move
