"""Files of curves: which can be drawn, and how they are written. The same curves give the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anabranch.errors import SelfPlayError
from anabranch.jobs.files import replacing
from anabranch.optional import require

FORMATS = (".png", ".svg")


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before the work of which it shows the results.

    >>> check_picture(Path("elo.txt"))
    Traceback (most recent call last):
    ...
    anabranch.errors.SelfPlayError: curves are drawn as .png or .svg, not as elo.txt
    """
    if path.suffix not in FORMATS:
        raise SelfPlayError(f"curves are drawn as {' or '.join(FORMATS)}, not as {path.name}")
    require("matplotlib", "study")


def write_picture(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib to a file."""
    matplotlib = require("matplotlib", "study")
    check_picture(path)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    with (
        matplotlib.rc_context({"svg.hashsalt": "anabranch"}),
        replacing(path, path.with_name(f".{path.stem}.part{path.suffix}")) as part,
    ):
        figure.savefig(part, metadata=metadata)
