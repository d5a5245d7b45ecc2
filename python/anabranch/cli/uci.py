"""`anabranch uci`: the engine for chess programs."""

from __future__ import annotations


def uci() -> None:
    """Be a UCI engine for chess programs (GUIs, bots, match runners); `help` lists its commands."""
    from anabranch.uci.process import main

    main()
