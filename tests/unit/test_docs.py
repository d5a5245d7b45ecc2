"""The documents point at things that exist."""

import ast
import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAPER = (REPOSITORY / "docs" / "paper.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the paper page, without its head."""
    section = PAPER.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table[2:]]


def test_the_paper_page_is_complete() -> None:
    assert [row[0] for row in rows("Equations")] == [f"({number})" for number in range(1, 16)]
    assert [row[0] for row in rows("Algorithms")] == [f"Algorithm {number}" for number in range(1, 4)]
    assert len(rows("Hyperparameters")) == 14


def test_every_departure_is_explained_once_and_used() -> None:
    explained = re.findall(r"^- \*\*([a-z])\. ", PAPER, flags=re.MULTILINE)
    used = {
        letter
        for letters in re.findall(r"\[([a-z, ]+)\]\(#departures\)", PAPER)
        for letter in letters.split(", ")
    }
    assert explained == sorted(used)


def test_what_the_paper_page_names_exists() -> None:
    constants = (REPOSITORY / "crates/core/src/settings.rs").read_text(encoding="utf-8")
    for number, _, settings, reference, core, test, _ in rows("Equations") + rows("Algorithms"):
        if reference == "none":
            continue
        file, function = reference.split(": ")
        tree = ast.parse((REPOSITORY / "python/anabranch/reference" / file).read_text(encoding="utf-8"))
        found = [
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function
        ]
        assert found, f"{file} has no {function}"
        assert number in (ast.get_docstring(found[0]) or ""), f"{function} does not name {number}"
        file, function = core.split(": ")
        source = (REPOSITORY / "crates/core/src" / file).read_text(encoding="utf-8")
        assert f"fn {function}" in source, f"{file} has no {function}"
        assert number in source, f"{file} does not name {number}"
        assert (REPOSITORY / "tests" / test).is_file(), number
        for setting in re.findall(r"[a-z_]+", settings.replace("none", "")):
            assert f"{setting}: " in constants, f"{number}: {setting}"
