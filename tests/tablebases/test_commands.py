"""`anabranch tablebases`: fetch, check, probe; and where tables lie."""

import json
import tarfile
from pathlib import Path

import pytest
from tests.support.commands import Commands

from anabranch.cli import run
from anabranch.errors import TablebaseError
from anabranch.formats import tablebases

pytestmark = pytest.mark.usefixtures("material_by_default")

QUEEN = "8/8/8/4k3/8/8/3QK3/8 w - - 0 1"


@pytest.fixture
def archive(directory: Path, tmp_path: Path) -> Path:
    """A package like that on PyPI, with some other files in it."""
    path = tmp_path / "chess.tar.gz"
    other = tmp_path / "setup.py"
    other.write_text("raise SystemExit('nobody runs this')")
    with tarfile.open(path, "w:gz") as package:
        package.add(other, "chess/setup.py")
        package.add(other, f"chess/{tablebases.FOLDER}/../../../evil.rtbw")
        for file in sorted(directory.glob("*.rtb?")):
            package.add(file, f"chess/{tablebases.FOLDER}/{file.name}")
    return path


def test_fetch_takes_only_tables_and_repeats_what_is_damaged(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    assert tablebases.fetch(target, archive) == 70
    assert sorted(file.name for file in target.iterdir()) == sorted(tablebases.small_tables())
    assert tablebases.fetch(target, archive) == 0
    (target / "KQvK.rtbw").write_bytes(b"half a tab")
    (target / "KPvKP.rtbz").unlink()
    # Both files of an ending are fetched again where one is bad.
    assert tablebases.fetch(target, archive) == 4
    assert tablebases.open_tablebases(target, whole=True).problems == []
    (target / "KQvK.rtbw").unlink()
    (target / "KQvK.rtbw").mkdir()
    with pytest.raises(TablebaseError, match="is a directory"):
        tablebases.fetch(target, archive)
    assert not list(target.glob(".fetch-*"))


def test_a_bad_archive_leaves_nothing_behind(archive: Path, directory: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    bad = tmp_path / "bad.tar.gz"
    bad.write_bytes(archive.read_bytes()[:200_000])
    with pytest.raises(TablebaseError, match="cannot be unpacked"):
        tablebases.fetch(target, bad)
    with tarfile.open(bad, "w:gz") as package:
        for file in sorted(directory.glob("KQ*.rtb?")):
            package.add(file, f"chess/{tablebases.FOLDER}/{file.name}")
    with pytest.raises(TablebaseError, match=r"damaged tables|lacks"):
        tablebases.fetch(target, bad)
    assert list(target.iterdir()) == []


def test_pip_that_fails_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Commands
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "no-index").as_uri())
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    error = cli.refuses("tablebases", "fetch", "--to", tmp_path / "target")
    assert "pip could not download the source package chess==" in error
    assert len(error.splitlines()) == 1
    assert list((tmp_path / "target").iterdir()) == []


def test_commands(directory: Path, archive: Path, tmp_path: Path, cli: Commands) -> None:
    target = tmp_path / "target"
    assert "70 files fetched" in cli.shows("tablebases", "fetch", "--to", target, "--archive", archive)
    assert "all tables of three and four men are there" in cli.shows("tablebases", "fetch", "--to", target)
    assert cli.shows("tablebases", "check", target).splitlines() == ["chess: up to 4 men", "70 sound files"]
    assert cli.shows("tablebases", "probe", QUEEN, "--path", target).startswith("win, ")
    (target / "KQvK.rtbw").write_bytes(b"")
    document = json.loads(cli.run("tablebases", "check", target, "--json", code=2).out)
    assert document["men"] == {"chess": 4}
    assert len(document["files"]) == 68
    assert any("KQvK.rtbw is skipped" in text for text in document["problems"])
    assert "do not know" in cli.run("tablebases", "probe", QUEEN, "--path", target, code=2).err
    assert cli.json("tablebases", "probe", QUEEN, "--path", directory)["wdl"] == 2
    assert run(["tablebases", "probe", "rubbish", "--path", str(directory)]) == 2
    assert run(["tablebases", "check", str(tmp_path / "nowhere")]) == 2


def test_the_default_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, archive: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert tablebases.default_directory() == tmp_path / "anabranch" / "syzygy"
    assert run(["tablebases", "fetch", "--archive", str(archive)]) == 0
    assert run(["tablebases", "probe", QUEEN]) == 0
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tablebases.default_directory() == tmp_path / ".local" / "share" / "anabranch" / "syzygy"
