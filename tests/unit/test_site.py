"""The documentation site: built without a warning, loads nothing from elsewhere, has every public name; the
notebooks run.
"""

import inspect
import json
import os
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import pytest

import anabranch
from anabranch import annotate, evaluators, examples, match, networks, openspiel, serve, verify
from anabranch.formats import tablebases

REPOSITORY = Path(__file__).parents[2]
CHOSEN = {
    annotate: ("annotate_game", "Annotated", "MoveJudgement", "Summary", "Evaluation"),
    networks: ("describe_network", "list_networks", "bundled"),
    openspiel: ("load_game", "wrap_game"),
    tablebases: ("open_tablebases", "default_directory"),
}
"""Public names of modules that export more than these."""
METHODS = (property, cached_property, classmethod)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?([^"' >]+)""", text)
        loaded += re.findall(
            r"""<link\b[^>]*\brel="(?:stylesheet|icon|preconnect)"[^>]*href="([^"]+)""", text
        )
        assert [address for address in loaded if address.startswith(("http", "//"))] == [], page


PUBLIC = [
    *((anabranch, name) for name in anabranch.__all__ if name != "__version__"),
    *((module, name) for module in (evaluators, examples, match, serve, verify) for name in module.__all__),
    *((module, name) for module, names in CHOSEN.items() for name in names),
]


def test_every_public_name_is_there(site: Path) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    for _, name in PUBLIC:
        assert re.search(rf'id="anabranch(\.\w+)*\.{name}"', text), name
    assert "&gt;&gt;&gt; </span>" in text
    assert "<blockquote>" not in text  # an example that is not set as code


def test_every_public_name_has_an_example() -> None:
    for module, name in PUBLIC:
        member = getattr(module, name)
        if inspect.ismodule(member) or inspect.isclass(member) or inspect.isfunction(member):
            assert ">>> " in (inspect.getdoc(member) or ""), name
    owners = [getattr(anabranch, name) for name in anabranch.__all__]
    for owner in filter(inspect.isclass, owners):
        for name in dir(owner):
            member = inspect.getattr_static(owner, name)
            is_method = inspect.isfunction(member) or isinstance(member, METHODS)
            if is_method and not name.startswith("_"):
                assert ">>> " in (inspect.getdoc(member) or ""), f"{owner.__name__}.{name}"


def test_the_examples_are_notebooks_that_run(site: Path) -> None:
    names = sorted(page.stem for page in (REPOSITORY / "docs/examples").glob("*.md"))
    assert [file.stem for file in sorted((site / "examples").glob("*.ipynb"))] == names
    for name in names:
        assert f'href="{name}.ipynb"' in (site / f"examples/{name}.html").read_text(encoding="utf-8")
    cells = json.loads((site / "examples/game.ipynb").read_text(encoding="utf-8"))["cells"]
    known: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile(cell["source"], cell["id"], "exec"), known)
    assert known["result"].best_move == "a2"  # type: ignore[attr-defined]
    assert all(">>>" not in cell["source"] and "](." not in cell["source"] for cell in cells)


def test_formulas_and_links_out_of_the_guides(site: Path) -> None:
    assert (site / "matches.html").read_text(encoding="utf-8").count("<math") > 10
    front = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="uci.html"' in front
    assert 'href="cards/chess.html"' in front
    assert "/blob/main/LICENSE" in front
