"""Where the networks of this user lie: those that were installed, and those that were converted."""

from __future__ import annotations

import re
from pathlib import Path

from anabranch.jobs.files import user_folder

SUFFIXES = (".onnx", ".safetensors", ".pb.gz")
"""How the names of network files end."""
MAIA = re.compile(r"maia-?(\d{3,4})$")


def network_directory() -> Path:
    """The folder of installed networks: below XDG_DATA_HOME, or ~/.local/share without it.

    >>> network_directory().parts[-2:]
    ('anabranch', 'networks')
    """
    return user_folder("XDG_DATA_HOME", ".local/share") / "networks"


def cache_directory() -> Path:
    """The folder of converted networks: below XDG_CACHE_HOME, or ~/.cache without it. It may be removed.

    >>> cache_directory().parts[-2:]
    ('anabranch', 'networks')
    """
    return user_folder("XDG_CACHE_HOME", ".cache") / "networks"


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


def human_networks(folder: Path | None = None) -> dict[int, Path]:
    """The installed Maia networks by the rating of the players that they imitate."""
    found = ((MAIA.search(name), path) for name, path in installed_networks(folder).items())
    return dict(sorted((int(match[1]), path) for match, path in found if match is not None))
