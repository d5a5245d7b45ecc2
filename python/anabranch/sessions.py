"""Sessions of the core, opened by the name of a game: one that ships, or one that is written in Python."""

from __future__ import annotations

from typing import Any

from anabranch import _core
from anabranch.errors import VariantError
from anabranch.named_games import Adapter, is_reference, loaded_reference
from anabranch.rows import RowsAdapter


def open_session(
    variant: str,
    chess960: bool,
    settings: dict[str, Any],
    external: bool,
    network: _core.Network | None = None,
    adapter: Adapter | None = None,
) -> _core.Session:
    """A session for the game of `adapter`, or for a game by name; a module is not imported here."""
    if adapter is None and is_reference(variant):
        adapter = loaded_reference(variant)
    if adapter is None:
        return _core.Session(variant, chess960, settings, external, network)
    if network is not None:
        raise VariantError(f"{network.path} is for {network.variant}, and this engine plays {adapter.name}")
    of_game = _core.Session.of_rows if isinstance(adapter, RowsAdapter) else _core.Session.of_object
    return of_game(adapter.name, adapter, settings, external)
