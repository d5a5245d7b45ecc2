"""A hook of MkDocs: the examples of the documentation as Jupyter notebooks, beside their pages on the site.

The examples are Markdown with doctests, which the tests run. A notebook has the same text and the same code:
a cell for each result that an example shows, with the result below it.
"""

from __future__ import annotations

import json
import re
from doctest import DocTestParser, Example
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

EXAMPLES = "examples/"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)\n*")
INSIDE = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")

Cell = dict[str, Any]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the notebooks."""
    for path in sorted((Path(config.docs_dir) / EXAMPLES).glob("*.md")):
        notebook = notebook_of(path.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"{EXAMPLES}{path.stem}.ipynb", content=notebook))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link a page to its notebook."""
    if not page.file.src_uri.startswith(EXAMPLES):
        return markdown
    link = f"[This page as a notebook]({Path(page.file.src_uri).stem}.ipynb)"
    return markdown.replace("\n\n", f"\n\n{link}\n\n", 1)


def notebook_of(markdown: str) -> str:
    r"""The notebook of an example, as JSON. Links within the documentation become plain text.

    >>> text = "[Sums](../sums.md)\n\n```python\n>>> a = 1\n>>> a + 1\n2\n```\n\nThe end.\n"
    >>> cells = json.loads(notebook_of(text))["cells"]
    >>> [(cell["cell_type"], cell["source"]) for cell in cells]
    [('markdown', 'Sums'), ('code', 'a = 1\na + 1'), ('markdown', 'The end.')]
    >>> cells[1]["outputs"][0]["text"]
    '2\n'
    """
    cells: list[Cell] = []
    for number, part in enumerate(FENCE.split(markdown)):
        text = INSIDE.sub(r"\1", IMAGE.sub("", part)).strip()
        if number % 2:
            cells += _code_cells(part)
        elif text:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": text})
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _code_cells(block: str) -> list[Cell]:
    """A cell for each example that shows a result, with those before it that show none."""
    cells: list[Cell] = []
    source = ""
    examples = [part for part in DocTestParser().parse(block) if isinstance(part, Example)]
    for example in examples:
        source += example.source
        if example.want or example is examples[-1]:
            shown = [{"output_type": "stream", "name": "stdout", "text": example.want}]
            cells.append(
                {
                    "cell_type": "code",
                    "metadata": {},
                    "execution_count": None,
                    "source": source.rstrip("\n"),
                    "outputs": shown if example.want else [],
                }
            )
            source = ""
    return cells
