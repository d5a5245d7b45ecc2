"""Where the networks of this user lie: those that were installed, and those that were converted."""

from __future__ import annotations

import os
from pathlib import Path

SUFFIXES = (".onnx", ".safetensors", ".pb.gz")
"""How the names of network files end."""


def network_directory() -> Path:
    """The folder of installed networks: below XDG_DATA_HOME, or ~/.local/share without it.

    >>> network_directory().parts[-2:]
    ('anabranch', 'networks')
    """
    return _base("XDG_DATA_HOME", ".local/share") / "anabranch" / "networks"


def cache_directory() -> Path:
    """The folder of converted networks: below XDG_CACHE_HOME, or ~/.cache without it. It may be removed.

    >>> cache_directory().parts[-2:]
    ('anabranch', 'networks')
    """
    return _base("XDG_CACHE_HOME", ".cache") / "anabranch" / "networks"


def installed_networks(folder: Path | None = None) -> dict[str, Path]:
    """The network files of a folder by their names without the ending, sorted; without one, of the folder of
    installed networks. Where two files have one name, the first ending of `SUFFIXES` counts.
    """
    place = network_directory() if folder is None else folder
    found: dict[str, Path] = {}
    try:
        files = sorted(path for path in place.iterdir() if path.is_file())
    except OSError:
        return {}
    for suffix in SUFFIXES:
        for path in files:
            if path.name.lower().endswith(suffix) and len(path.name) > len(suffix):
                found.setdefault(path.name[: -len(suffix)], path)
    return dict(sorted(found.items()))


def _base(variable: str, otherwise: str) -> Path:
    given = os.environ.get(variable, "")
    return Path(given) if os.path.isabs(given) else Path.home() / otherwise
