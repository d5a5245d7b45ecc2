"""An extension of Griffe: the examples of docstrings as blocks of code, on the documentation site."""

from __future__ import annotations

from typing import Any

from griffe import Extension, Object


def fenced(text: str) -> str:
    r"""A docstring whose examples stand in fences.

    >>> fenced("Adds.\n\n>>> 1 + 1\n2\n\nThat is all.")
    'Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nThat is all.'
    """
    lines: list[str] = []
    in_example = False
    for line in text.splitlines():
        if line.startswith(">>> ") and not in_example:
            in_example = True
            lines.append("```pycon")
        elif not line.strip() and in_example:
            in_example = False
            lines.append("```")
        lines.append(line)
    return "\n".join([*lines, "```"] if in_example else lines)


class FencedExamples(Extension):
    """Puts the examples of all docstrings in fences."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
