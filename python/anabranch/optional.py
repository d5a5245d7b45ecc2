"""Packages that only some uses need: imported when they are needed, with a sentence where they lack."""

from __future__ import annotations

import importlib.util
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch.errors import MissingPackageError


def lacking(reason: str, extra: str) -> MissingPackageError:
    """The error for a package that is not installed: the reason, and how to install the extra that brings it.

    >>> print(lacking("this needs the package onnx", "onnx"))
    this needs the package onnx; pip install '.[onnx]' in a clone of Anabranch brings it,
    or pip install 'FILE[onnx]' with its wheel
    """
    from anabranch.errors import MissingPackageError

    return MissingPackageError(
        f"{reason}; pip install '.[{extra}]' in a clone of Anabranch brings it, "
        f"or pip install 'FILE[{extra}]' with its wheel"
    )


def require(name: str, extra: str) -> Any:
    """A module, or an error that names the extra of this package that brings it.

    >>> require("math", "none").floor(1.5)
    1
    """
    try:
        return import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != name.partition(".")[0]:
            reason = f"the package {name} cannot be used: {error}"
        else:
            reason = f"this needs the package {name}"
        raise lacking(reason, extra) from None


def check_installed(what: str, extra: str, *packages: str) -> None:
    """Refuse work for want of a package. None is imported.

    >>> check_installed("arithmetic", "none", "math")
    """
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise lacking(f"{what} needs the package {package}", extra)
