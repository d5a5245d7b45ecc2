"""The networks that come with the package, each with a page about its making and its strength."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from anabranch import _core
from anabranch.errors import EvaluatorError

FOLDER = Path(__file__).parent / "files"

TUNED: dict[str, dict[str, bool | int | float | str]] = {"chess": {"c_init": 1.5}}
"""By variant, settings that are better than those of the preset `default` with networks of the core; found by
matches (docs/performance.md, docs/training.md)."""


def bundled(variant: str, family: str = "sparse") -> Path | None:
    """The file of the network for a variant; none where there is no such network. The families are those of
    `anabranch.networks`: `sparse` and `onnx`.

    >>> bundled("crazyhouse").name
    'crazyhouse.safetensors'
    >>> bundled("crazyhouse", "onnx").name
    'crazyhouse-rise.onnx'
    >>> bundled("antichess") is None
    True
    """
    path = FOLDER / (f"{variant}.safetensors" if family == "sparse" else f"{variant}-rise.onnx")
    return path if path.exists() else None


def bundled_names() -> tuple[str, ...]:
    """The names of the networks, each the name of its file without the ending.

    >>> bundled_names()
    ('chess', 'chess-rise', 'crazyhouse', 'crazyhouse-rise')
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*") if path.suffix in (".safetensors", ".onnx")))


def named_network(name: str) -> Path | None:
    """The file of the network of a name, if there is such a network.

    >>> named_network("crazyhouse-rise").name
    'crazyhouse-rise.onnx'
    """
    if name not in bundled_names():
        return None
    path = FOLDER / f"{name}.safetensors"
    return path if path.exists() else path.with_suffix(".onnx")


def bundled_network(variant: str) -> _core.Network:
    """The network for a variant, opened and checked; engines share it."""
    path = bundled(variant)
    if path is None:
        raise EvaluatorError(f"no network for {variant} comes with the package")
    return _open(path)


@cache
def _open(path: Path) -> _core.Network:
    return _core.Network(path)
