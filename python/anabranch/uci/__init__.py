"""The UCI engine: a protocol for chess programs, spoken over lines of text.

`UciSession` is the engine without a process: lines in by `handle`, lines out by the function it was given.
`process` puts it between stdin and stdout.
"""

from anabranch.uci.session import UciSession

__all__ = ["UciSession"]
