"""JSON documents as lines of text. Numbers that JSON cannot represent become null."""

from __future__ import annotations

import json
import math
from typing import Any


def dump_line(document: object) -> str:
    """A document as one line, without its end.

    >>> dump_line({"value": float("nan"), "moves": ("e2e4",)})
    '{"value": null, "moves": ["e2e4"]}'
    """
    try:
        return json.dumps(document, allow_nan=False, ensure_ascii=False)
    except ValueError:
        return json.dumps(finite(document), allow_nan=False, ensure_ascii=False)


def finite(value: Any) -> Any:
    """The same without infinities and NaN, and with plain containers.

    >>> finite({"a": (1, float("nan"))})
    {'a': [1, None]}
    """
    match value:
        case dict():
            return {str(key): finite(item) for key, item in value.items()}
        case list() | tuple():
            return [finite(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value
