"""Syzygy tablebases: where they are."""

from pathlib import Path


def default_directory() -> Path:
    """Where tables are looked for."""
    return Path.home() / ".local" / "share" / "anabranch" / "syzygy"
