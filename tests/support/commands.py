"""The command line in this process: what a command prints, and the sentence with which it refuses."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anabranch.cli import run


class Said(NamedTuple):
    """What a command wrote."""

    out: str
    err: str


class Commands:
    """Runs `anabranch` without a process of its own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str | Path, code: int = 0) -> Said:
        """All that a command wrote, which must leave with this code."""
        self._capsys.readouterr()
        found = run([str(argument) for argument in arguments])
        said = Said(*self._capsys.readouterr())
        assert found == code, said
        return said

    def shows(self, *arguments: str | Path) -> str:
        """What a command prints, which must succeed and have nothing to complain of."""
        said = self.run(*arguments)
        assert said.err == ""
        return said.out

    def json(self, *arguments: str | Path) -> Any:
        """The JSON document that a command prints; NaN and infinities are no JSON."""

        def refuse(word: str) -> None:
            raise AssertionError(word)

        return json.loads(self.run(*arguments, "--json").out, parse_constant=refuse)

    def refuses(self, *arguments: str | Path) -> str:
        """The one sentence of a command that fails."""
        said = self.run(*arguments, code=2).err
        assert said.startswith("anabranch: ")
        assert said.count("\n") == 1
        return said
