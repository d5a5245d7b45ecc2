"""The networks that come with the package, each with a card that says how it was made and what it can do."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "files"


def bundled(variant: str, family: str = "sparse") -> Path | None:
    """The file of the network for a variant; none where there is no such network.

    >>> bundled("crazyhouse").name
    'crazyhouse.safetensors'
    >>> bundled("antichess") is None
    True
    """
    path = FOLDER / f"{variant}{'.safetensors' if family == 'sparse' else '.onnx'}"
    return path if path.exists() else None
