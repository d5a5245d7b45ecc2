"""Runs matches: an executor plays the missing games, and their results are kept, until a match is over.

Games that are in the folder are not played again. Ctrl-C ends a match at once; games in flight are lost,
finished ones are not, and the same call continues the match. Several matches can be played side by side,
together with other jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain, groupby, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.catalogue import is_grid
from anabranch.evaluators.resolve import NETWORK, network_file
from anabranch.jobs.executor import Executor, Processes
from anabranch.jobs.files import checksum, write_atomic, write_json
from anabranch.jobs.journal import Journal
from anabranch.jobs.program import find_program
from anabranch.match.adjudication import open_tables
from anabranch.match.engine_player import check_player
from anabranch.match.game import GameRecord, GameSpec, play_game
from anabranch.match.game_text import text_of
from anabranch.match.pgn import pgn_of
from anabranch.match.player import PlayerSpec
from anabranch.match.players import close_players
from anabranch.match.results import FOLDER, GAMES, GAMES_TEXT, JOURNAL, RESULTS, SUMMARY, read_results
from anabranch.match.schedule import MatchSpec
from anabranch.match.standings import Standings, Tally

OnGame = Callable[[Standings, GameRecord | None], object]
"""Receives the standings: at the beginning, and with every game."""


def run_match(
    spec: MatchSpec,
    folder: Path,
    workers: int | Executor = 1,
    on_game: OnGame = lambda standings, record: None,
    on_start: Callable[[Sequence[GameSpec], Sequence[GameRecord]], object] = lambda missing, played: None,
) -> Standings:
    """Play the missing games of a match, with some processes or any executor; with 0, in this process.

    `on_start` receives the missing and the played games, unless the match is over.

    >>> from tempfile import TemporaryDirectory
    >>> from anabranch.match import read_player
    >>> from anabranch.match.openings import Opening
    >>> texts = ("a=preset:mcgs,simulations=5", "b=preset:alphazero,simulations=5")
    >>> players, openings = tuple(map(read_player, texts)), (Opening("b2 a1"),)
    >>> with TemporaryDirectory() as folder:
    ...     spec = MatchSpec(players, openings, pairs=1, variant="tic-tac-toe")
    ...     run_match(spec, Path(folder) / "match", workers=0).games
    2
    """
    FOLDER.check(folder, describe(spec))
    check_match(spec)
    with open_match(spec, folder) as match:
        on_game(match.standings, None)
        if not match.standings.is_over:
            on_start(match.missing, match.played)
            executor = Processes(workers) if isinstance(workers, int) else workers
            play_matches({"": match}, executor, lambda _, record: on_game(match.standings, record))
    return Tally.of(spec, read_results(folder)).standings()


class MatchRun:
    """A match under way: the journal of its folder, and its standings."""

    def __init__(self, spec: MatchSpec, folder: Path, journal: Journal[tuple[int, int], GameRecord]) -> None:
        self._folder = folder
        self._journal = journal
        self._tally = Tally.of(spec, journal.records)
        self.standings = self._tally.standings()
        self.missing = [game for game in spec.schedule() if game.key not in journal.records]
        """At the beginning."""

    @property
    def played(self) -> list[GameRecord]:
        """All games of the folder."""
        return list(self._journal.records.values())

    def add(self, record: GameRecord) -> None:
        """Write a game to the disk, unless it is there already."""
        if self._journal.add(record.key, record):
            with (self._folder / games_file(record.variant)).open("a", encoding="utf-8") as games:
                games.write(written(record))
            self._tally.add(record)
            self.standings = self._tally.standings()


@contextmanager
def open_match(spec: MatchSpec, folder: Path) -> Iterator[MatchRun]:
    """The match of a folder, new or to be continued; refused if the folder holds another one."""
    with FOLDER.open(folder, describe(spec)), JOURNAL.open(folder / RESULTS) as journal:
        # The games are written again, because their file may have been cut short anywhere.
        write_atomic(folder / games_file(spec.variant), "".join(map(written, journal.records.values())))
        try:
            yield MatchRun(spec, folder, journal)
        finally:
            # From the file: Ctrl-C may have come between a record and its tally.
            write_json(folder / SUMMARY, summary(spec, Tally.of(spec, read_results(folder))))


def games_file(variant: str) -> str:
    """The name of the file of games."""
    return GAMES_TEXT if is_grid(variant) else GAMES


def written(record: GameRecord) -> str:
    """A game as it stands in the file of games."""
    return (text_of(record) if is_grid(record.variant) else pgn_of(record)) + "\n"


class GameJob(NamedTuple):
    """A game of one of several matches."""

    match: str
    game: GameSpec


class GameDone(NamedTuple):
    """The record of a game of one of several matches."""

    match: str
    record: GameRecord


def play_job(job: GameJob) -> GameDone:
    """Play a game, in this process."""
    return GameDone(job.match, play_game(job.game))


def play_matches(
    matches: Mapping[str, MatchRun],
    executor: Executor,
    on_game: Callable[[str, GameRecord], object],
    *,
    skip_pair: Callable[[str], bool] = lambda match: False,
    work: Callable[[Any], Any] = play_job,
    other_jobs: Sequence[Any] = (),
    on_other: Callable[[Any], object] = lambda result: None,
) -> None:
    """Play the missing games of matches, pair by pair and side by side, until all matches are over.

    `on_game` receives the key of the match and the record. `skip_pair` decides before each whole pair whether
    its match leaves it out. Other jobs follow after the games; `work` does both kinds, and `on_other`
    receives the results of the others.
    """

    def jobs() -> Iterator[GameJob]:
        """Drawn one by one as workers are free, so that `skip_pair` knows the latest results."""
        for pair in _side_by_side(matches):
            if len(pair) == 1 or not skip_pair(pair[0].match):
                yield from pair

    with closing(executor.run(work, chain(jobs(), other_jobs), close_players)) as results:
        for done in results:
            if not isinstance(done, GameDone):
                on_other(done)
                continue
            matches[done.match].add(done.record)
            on_game(done.match, done.record)
            if not other_jobs and all(match.standings.is_over for match in matches.values()):
                break


def _side_by_side(matches: Mapping[str, MatchRun]) -> Iterable[list[GameJob]]:
    """The first missing pair of every match, then the next one. Of a pair one game may be left."""
    pairs = (
        [
            [GameJob(key, game) for game in games]
            for _, games in groupby(match.missing, lambda game: game.pair)
        ]
        for key, match in matches.items()
    )
    return filter(None, chain.from_iterable(zip_longest(*pairs)))


def check_match(spec: MatchSpec) -> None:
    """Refuse players that cannot be made and tables that are missing, before anything is played."""
    if spec.adjudication.tablebases is not None:
        open_tables(spec.adjudication.tablebases, spec.variant)
    for player in spec.players:
        check_any_player(player, spec.variant, spec.chess960, spec.game)


def check_any_player(player: PlayerSpec, variant: str, chess960: bool = False, game: object = None) -> None:
    """Refuse a player that cannot be made, ours or a program."""
    if player.kind == "preset":
        check_player(player, variant, chess960, game)
    elif player.command:
        find_program(player.command[0])


def describe(spec: MatchSpec) -> dict[str, Any]:
    """What identifies a match: its description, and the networks of our players."""
    return {**spec.to_dict(), "networks": networks_of(spec)}


def networks_of(spec: MatchSpec) -> dict[str, str]:
    """The checksums of the network files of our players."""
    given = {player.options.get("evaluator", NETWORK) for player in spec.players if player.kind == "preset"}
    files = {name: network_file(name, spec.variant) for name in sorted(given)}
    return {name: checksum(path) for name, path in files.items() if path is not None and path.is_file()}


def summary(spec: MatchSpec, tally: Tally) -> dict[str, Any]:
    """A match as one document: its description, version, standings and ratings."""
    from anabranch import __version__

    return {
        "version": __version__,
        "spec": spec.to_dict(),
        **tally.standings().to_dict(),
        "ratings": {name: rating.to_dict() for name, rating in tally.ratings().items()},
    }
