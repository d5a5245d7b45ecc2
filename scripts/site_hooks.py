"""Hooks of MkDocs: the guides as GitHub shows them, on the site.

The guides are written for GitHub. Here their links to files outside `docs` get pages of the site or of the
repository, and what GitHub's Markdown allows and MkDocs' does not is rewritten: formulas become MathML, lists
get the indentation and blank lines that they need. Nothing is fetched.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from posixpath import normpath, relpath
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    **{
        f"python/anabranch/networks/files/{name}.md": f"cards/{name}.md"
        for name in ("chess", "chess-rise", "crazyhouse", "crazyhouse-rise")
    },
}
"""Files outside `docs` that are pages of the site."""
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^ *```")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +\S")
INLINE_MATH = re.compile(r"\$`([^`]+)`\$")
BLOCK_MATH = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ORDER = re.compile(r"^```order \S+$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name headings in links as GitHub does."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside `docs`."""
    for source, page in PAGES.items():
        content = (REPOSITORY / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page for MkDocs."""
    return prepare(markdown, page.file.src_uri)


def prepare(text: str, page: str) -> str:
    r"""The text of a guide, given its path on the site.

    >>> prepare("[a](docs/uci.md#output), [b](LICENSE)", "index.md")
    '[a](uci.md#output), [b](https://github.com/anabranch/anabranch/blob/main/LICENSE)\n'
    >>> prepare("Some:\n- one\n  more", "uci.md")
    'Some:\n\n- one\n    more\n'
    >>> prepare("- one\n\n  | a |\n- two", "uci.md")
    '- one\n\n    | a |\n\n- two\n'
    """
    text = BLOCK_MATH.sub(lambda found: f"{convert(found[1], display='block')}\n", text)
    text = ORDER.sub("```text", text)
    lines: list[str] = []
    in_code = in_list = False
    for line in text.splitlines():
        is_fence = FENCE.match(line) is not None
        if is_fence or in_code:
            in_code ^= is_fence
            lines.append(_indented(line) if in_list else line)
            continue
        is_item = ITEM.match(line) is not None
        before = lines[-1].strip() if lines else ""
        if is_item and before and (not in_list or before.startswith("|")):
            lines.append("")
        in_list = is_item or (in_list and (not line.strip() or line.startswith(" ")))
        lines.append(LINK.sub(lambda found: _target(found, page), _indented(line) if in_list else line))
    # A line that begins with <math> would be a block of its own.
    return INLINE_MATH.sub(lambda found: f"<span>{convert(found[1])}</span>", "\n".join(lines) + "\n")


def slug(heading: str, separator: str) -> str:
    """The name of a heading in links, as GitHub makes it.

    >>> slug("Speed & memory", "-")
    'speed--memory'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def _indented(line: str) -> str:
    """A line of a list with four spaces for each level."""
    width = len(line) - len(line.lstrip(" "))
    level = 0 if width < 2 else 1 if width < 4 else 2
    return " " * (4 * level) + line.lstrip(" ") if width < 7 else line


def _target(found: re.Match[str], page: str) -> str:
    """Where a link of a page leads."""
    here = SOURCES.get(page, f"docs/{page}")
    file = normpath(f"{here}/../{found[1]}")
    anchor = found[2] or ""
    inside = PAGES.get(file) or (file.removeprefix("docs/") if file.startswith("docs/") else None)
    if inside is not None and (REPOSITORY / file).is_file():
        return relpath(inside, f"{page}/..") + anchor
    kind = "tree" if (REPOSITORY / file).is_dir() else "blob"
    return f"{_address()}/{kind}/main/{file}{anchor}"


def _address() -> str:
    project: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["urls"]["Repository"])
