"""`anabranch uci`: the engine for chess programs."""

from __future__ import annotations


def uci() -> None:
    """Run as a UCI engine on stdin and stdout, for GUIs, bots and match runners.

    Its command `help` lists the others.

    Example: anabranch uci
    """
    from anabranch.uci.process import main

    main()
