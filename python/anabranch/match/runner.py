"""Runs matches: games are given to an executor and their results kept, until all are played or the SPRT ends.

Games that are in the folder are not played again. Ctrl-C ends a match at once; games in flight are lost,
finished ones are not, and the same call continues the match.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from anabranch.evaluators.resolve import NETWORK, network_file
from anabranch.jobs.executor import Executor, Processes
from anabranch.jobs.files import checksum, write_json
from anabranch.jobs.program import find_program
from anabranch.match.adjudication import open_tables
from anabranch.match.engine_player import check_player
from anabranch.match.game import GameRecord, GameSpec, close_players, play_game
from anabranch.match.results import SUMMARY, check_folder, open_results, read_results
from anabranch.match.schedule import MatchSpec
from anabranch.match.standings import Standings, Tally

OnGame = Callable[[Standings, GameRecord | None], object]
"""Receives the standings: at the beginning, and with every game."""
OnStart = Callable[[Sequence[GameSpec], Sequence[GameRecord]], object]
"""Receives the missing and the played games, before the first of the missing ones is played."""


def run_match(
    spec: MatchSpec,
    folder: Path,
    workers: int | Executor = 1,
    on_game: OnGame = lambda standings, record: None,
    on_start: OnStart = lambda missing, played: None,
) -> Standings:
    """Play what is missing of a match, with so many processes or on a cluster; with no worker, here."""
    asked = {**spec.to_dict(), "networks": networks_of(spec)}
    check_folder(folder, asked)
    check_match(spec)
    with open_results(folder, asked) as results:
        planned = {game.key: game for game in spec.schedule()}
        tally = Tally.of(spec, results.records)
        standings = tally.standings()
        on_game(standings, None)

        def take(record: GameRecord) -> bool:
            if results.add(record):
                tally.add(record)
            standings = tally.standings()
            on_game(standings, record)
            return not standings.is_over

        try:
            if not standings.is_over:
                missing = [game for key, game in planned.items() if key not in results.records]
                on_start(missing, list(results.records.values()))
                executor = Processes(workers) if isinstance(workers, int) else workers
                with closing(executor.run(play_game, missing, close_players)) as records:
                    for record in records:
                        if not take(record):
                            break
        finally:
            # From the file: Ctrl-C may have come between a game that was written and its count.
            tally = Tally.of(spec, read_results(folder))
            write_json(folder / SUMMARY, summary(spec, tally))
    return tally.standings()


def check_match(spec: MatchSpec) -> None:
    """Refuse players that cannot be made and tables that are not there, before anything is played."""
    if spec.adjudication.tablebases is not None:
        open_tables(spec.adjudication.tablebases, spec.variant)
    for player in spec.players:
        if player.kind == "preset":
            check_player(player, spec.variant, spec.chess960)
        elif player.command:
            find_program(player.command[0])


def networks_of(spec: MatchSpec) -> dict[str, str | None]:
    """The files that our players think with, by checksum: with another one it is another match."""
    given = {player.options.get("evaluator", NETWORK) for player in spec.players if player.kind == "preset"}
    files = {name: network_file(name, spec.variant) for name in sorted(given)}
    return {name: checksum(path) for name, path in files.items() if path is not None and path.is_file()}


def summary(spec: MatchSpec, tally: Tally) -> dict[str, Any]:
    """One document about a match: what was asked for, by which version, and what came of it."""
    from anabranch import __version__

    ratings = tally.ratings()
    found = {
        "version": __version__,
        "spec": spec.to_dict(),
        **tally.standings().to_dict(),
        "ratings": {name: {"value": rating.value, "error": rating.error} for name, rating in ratings.items()},
    }
    finite: dict[str, Any] = _finite(found)
    return finite


def _finite(value: Any) -> Any:
    """The same without infinities, which JSON has no word for."""
    match value:
        case dict():
            return {str(key): _finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value
