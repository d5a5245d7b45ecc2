"""`anabranch games`: the games besides chess, with their rules and parameters.

All of it comes from the core.
"""

from __future__ import annotations

from dataclasses import asdict

from anabranch.cli.options import JsonOption


def games(as_json: JsonOption = False) -> None:
    """List the games besides chess: rules, moves, parameters.

    A game is named with its parameters: --game go:size=5,komi=0.5

    Example: anabranch analyse --game hex:size=5 --time 2
    """
    from anabranch.catalogue import games as all_games
    from anabranch.cli.output import output, print_json

    rows = all_games()
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    console = output()
    for row in rows:
        console.print(f"{row.name}: {row.rules}", highlight=False)
        console.print(f"  a move is {row.moves}", highlight=False)
        for parameter in row.parameters:
            console.print(
                f"  {parameter.name}={parameter.default}: {parameter.meaning}; {parameter.takes}",
                highlight=False,
            )
