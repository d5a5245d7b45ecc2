"""Files told apart by their content."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(path: Path | None) -> str | None:
    """The beginning of the SHA-256 of a file, long enough that no two are mistaken for each other."""
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()[:16]
