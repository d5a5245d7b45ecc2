"""Every Markdown file: wrapped at about 100 columns, links that resolve, single blank lines."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from typer.main import get_group

from anabranch.cli import make_app

REPOSITORY = Path(__file__).parents[2]
FILES = [
    path
    for place in (".", "docs", "docs/examples", "docs/reference", "python/anabranch")
    for path in sorted((REPOSITORY / place).glob("*.md"))
]
FILES += sorted((REPOSITORY / "python/anabranch/networks/files").glob("*.md"))
WIDTH = 100
TOLERANCE = 5
"""For code that cannot be broken."""
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(path: Path) -> list[str]:
    """The lines of a file; a placeholder for those of code blocks."""
    lines, is_code = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        is_fence = line.lstrip().startswith("```")
        is_code ^= is_fence
        lines.append("code" if is_code or is_fence else line)
    return lines


def anchors(path: Path) -> set[str]:
    """The names of the headings in links."""
    headings = (line.lstrip("# ").lower() for line in prose(path) if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_lines_are_wrapped(path: Path) -> None:
    lines = prose(path)
    texts = (line for line in lines if not line.startswith("|"))
    assert [line for line in texts if len(LINK.sub("]", line)) > WIDTH + TOLERANCE] == []
    assert ("", "") not in list(pairwise(lines))
    raw = zip(path.read_text(encoding="utf-8").splitlines(), lines, strict=True)
    assert [line for line, text in raw if text == "code" and len(line) > WIDTH + TOLERANCE] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_links_resolve(path: Path) -> None:
    for target in LINK.findall("\n".join(prose(path))):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_every_command_is_listed() -> None:
    listed = re.findall(
        r"^\| `anabranch ([\w-]+)` ", (REPOSITORY / "docs/commands.md").read_text(), re.MULTILINE
    )
    assert sorted(listed) == sorted(get_group(make_app()).commands)


def test_the_paths_in_contributing_exist() -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:crates|python|tests|web|scripts|docs)/[\w./-]+)`", text)
    assert len(paths) > 40
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []
