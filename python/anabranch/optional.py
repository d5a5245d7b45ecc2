"""Packages that only some uses need: imported when they are needed, with a sentence where they lack."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(name: str, extra: str) -> Any:
    """A module, or the sentence that says which extra of this package brings it.

    >>> require("math", "none").floor(1.5)
    1
    """
    from anabranch.errors import MissingPackageError

    try:
        return import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != name.partition(".")[0]:
            reason = f"the package {name} cannot be used: {error}"
        else:
            reason = f"this needs the package {name}"
        raise MissingPackageError(f"{reason}; 'pip install anabranch[{extra}]' brings it") from None
