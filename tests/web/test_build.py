"""The page in the package is what the sources give, and needs nothing from elsewhere."""

import re
import sys
from pathlib import Path

import pytest
from scripts.build_web import WEB, hash_of_sources, is_built
from tests.support.commands import Commands

from anabranch.optional import lacking
from anabranch.web.listener import listen
from anabranch.web.server import STATIC, read_page


def test_the_build_is_that_of_the_sources() -> None:
    assert is_built(), "the sources of the page have changed; 'make web' builds it"


def test_every_file_of_the_sources_counts(tmp_path: Path) -> None:
    (tmp_path / "src" / "view").mkdir(parents=True)
    for name in ("index.html", "package-lock.json", "vite.config.ts", "src/a.ts", "src/view/b.ts"):
        (tmp_path / name).write_text(name)
    before = hash_of_sources(tmp_path)
    (tmp_path / "src" / "view" / "b.ts").write_text("changed")
    assert hash_of_sources(tmp_path) != before


def test_the_page_works_offline() -> None:
    files = read_page()
    assert {"index.html", "page.js", "page.css"} <= set(files)
    for name in ("index.html", "page.css"):
        text = files[name].content.decode()
        assert re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?(?:https?:)?//", text) == []
    addresses = set(re.findall(rb"https?://[\w./-]+", files["page.js"].content))
    assert {address for address in addresses if b"www.w3.org/" not in address} == set()


def test_there_is_no_code_in_the_page_itself() -> None:
    text = (STATIC / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*src=)", text) == []
    assert " style=" not in text
    assert (WEB / "index.html").is_file()


def test_a_port_in_use_is_one_sentence(cli: Commands) -> None:
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        said = cli.refuses("play", "--no-browser", "--port", str(taken.getsockname()[1]))
    assert said.startswith("anabranch: the server cannot listen at 127.0.0.1")


def test_a_missing_package_is_one_sentence(cli: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    expected = f"anabranch: {lacking('this needs the package fastapi', 'web')}\n"
    assert cli.refuses("play") == expected


@pytest.mark.parametrize(
    "options",
    [["--port", "70000"], ["--clients", "0"], ["--memory", "1"], ["--host", "0.0.0.0"], ["--seconds", "0"]],
)
def test_bad_options_are_one_sentence(cli: Commands, options: list[str]) -> None:
    said = cli.refuses("play", "--no-browser", *options)
    assert said.startswith(f"anabranch: {options[0]} takes")
