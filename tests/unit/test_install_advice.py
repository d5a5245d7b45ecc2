"""What documents and messages say about installing the package works."""

import re
import tomllib
from pathlib import Path

import pytest

from anabranch.optional import lacking

REPOSITORY = Path(__file__).parents[2]
KINDS = {"", ".md", ".py", ".pyi", ".rs", ".toml", ".ts", ".html"}
PLACES = ("python", "docs", "web/src", "scripts", "tests", "crates", ".ci")
FROM_THE_INDEX = re.compile(r"\bpip[0-9.]*\s+install\s+(?:-\S+\s+)*[\"'`]?anabranch(?![-\w])")
EXTRAS = re.compile(r"[\"'](?:\.|dist/[^\"'\[]*)\[([a-z,]+)\][\"']")


def texts() -> dict[str, str]:
    files = [
        path for path in REPOSITORY.iterdir() if path.suffix in {".md", ".toml"} or path.name == "Makefile"
    ]
    for place in PLACES:
        files += [path for path in (REPOSITORY / place).rglob("*") if path.suffix in KINDS and path.is_file()]
    return {
        path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8")
        for path in files
        if "static" not in path.parts and path != Path(__file__)
    }


@pytest.mark.parametrize(
    "advice",
    [
        "pip install anabranch",
        "pip install 'anabranch[web]'",
        "pip3 install --upgrade anabranch.",
        "pip  install\nanabranch",
    ],
)
def test_advice_that_names_the_index_is_found(advice: str) -> None:
    assert FROM_THE_INDEX.search(advice)


@pytest.mark.parametrize(
    "advice",
    ["pip install '.[web]'", "pip install dist/anabranch-0.1.0.whl", "pip install anabranch-0.1.0.whl"],
)
def test_advice_that_works_is_not_found(advice: str) -> None:
    assert not FROM_THE_INDEX.search(advice)


def test_nobody_is_sent_to_the_index() -> None:
    """The package is not there. Once it is, this test goes, and the sentence of `lacking` changes."""
    everything = texts()
    assert {"README.md", "docs/uci.md", "python/anabranch/optional.py", "scripts/check-clean"} <= set(
        everything
    )
    assert [name for name, text in everything.items() if FROM_THE_INDEX.search(text)] == []


def test_one_place_says_how_an_extra_is_installed() -> None:
    package = {name: text for name, text in texts().items() if name.startswith("python/")}
    assert [name for name, text in package.items() if "pip install" in text] == [
        "python/anabranch/optional.py"
    ]
    assert str(lacking("this needs ray", "cluster")).count("[cluster]") == 2


def test_extras_that_are_named_exist() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named: set[str] = set()
    for name, text in texts().items():
        if not name.startswith("tests/"):
            named.update(extra for found in EXTRAS.findall(text) for extra in found.split(","))
    used = re.findall(r"\b(?:require|lacking)\([^)]*\"([a-z]+)\"\)", "".join(texts().values()))
    assert {"onnx", "train", "study"} <= named
    assert {"onnx", "cluster", "data", "graph", "study", "train", "web"} <= set(used)
    assert named | (set(used) - {"none"}) <= set(project["optional-dependencies"])
