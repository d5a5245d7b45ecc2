"""Positions that searches look at, drawn from games: for a teacher, or with the values of longer searches.

python -m scripts.search_positions positions GAMES --out FOLDER --part 0/6
python -m scripts.search_positions values GAMES --out FOLDER --part 3/6 --visits 25 --bases 8

GAMES is a folder of shards (`anabranch data from-selfplay`). From each game some positions are taken, a
share of them after one or two random moves, and searched. `positions` keeps nodes of these searches without
targets, for `anabranch data label`. `values` draws nodes of them, searches each again from an empty graph,
and keeps the nodes of that graph with enough visits, with their value or proven mate as score. A node that
the network sees as decided is drawn less often. No position occurs twice in a part; a part takes every n-th
shard. A run that was interrupted starts again in an empty folder.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from anabranch import Engine, _core
from anabranch.data.shards import about, find_shards, read_shard, write_shard
from anabranch.errors import AnabranchError, DataError
from anabranch.formats.scores import mate_in, read_score, result_scale, score_of, value_at
from anabranch.graph import GraphNode

DECIDED = 0.75
"""A network's value from which on a position counts as decided."""
ROWS_PER_SHARD = 20_000
HIGHEST = 8_000
"""Centipawns of a value that is not proven, at most."""


USUAL = {"positions": (10, 13, (30, 200)), "values": (6, 4, (100, 300))}
"""Positions of a game, nodes of a search and evaluations, unless others are given."""


class Draw(NamedTuple):
    """What is drawn, and how much of it."""

    bases: int
    off_share: float
    decided_share: float
    keep: int
    evaluations: tuple[int, int]
    visits: int


def at_least_one(text: str) -> int:
    """A number of the command line."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def score(node: GraphNode, variant: str) -> int:
    """A node's value in centipawns, or its proven mate as shards have it."""
    mate = mate_in(node.state, node.plies)
    if mate is not None:
        return read_score(b"mate", mate)
    return max(-HIGHEST, min(HIGHEST, score_of(node.value, node.state, variant)))


class Sampler:
    """Searches from positions of games and draws nodes."""

    def __init__(self, variant: str, evaluator: str, draw: Draw, seed: int) -> None:
        self.draw = draw
        self.variant = variant
        self.engine = Engine(variant, evaluator=evaluator, threads=1, seed=seed)
        self.rules = _core.Session(variant, False, {}, False)
        self.seen: set[str] = set()

    def is_over(self, fen: str) -> bool:
        """Whether the game has ended in a position."""
        self.rules.set_position(fen, [])
        return self.rules.ending() is not None

    def is_new(self, fen: str) -> bool:
        """Whether a position occurs for the first time, whatever its counters."""
        key = fen.rsplit(" ", 2)[0]
        is_new = key not in self.seen
        self.seen.add(key)
        return is_new

    def bases(self, rows: list[dict[str, Any]], rng: random.Random) -> Iterator[tuple[str, int]]:
        """Positions of a game, a share of them after one or two random moves, with their plies."""
        for row in rng.sample(rows, min(self.draw.bases, len(rows))):
            fen, ply = row["fen"], row["ply"]
            if rng.random() < self.draw.off_share:
                for _ in range(rng.randint(1, 2)):
                    if self.is_over(fen):
                        break
                    self.rules.set_position(fen, [rng.choice(self.rules.legal_moves())])
                    if self.rules.ending() is None:
                        fen, ply = self.rules.fen(), ply + 1
            if not self.is_over(fen):
                yield fen, ply

    def nodes(self, fen: str, evaluations: int, visits: int) -> list[GraphNode]:
        """The nodes of a search from an empty graph that have moves and so many visits, the root first."""
        self.engine.reset(fen)
        self.engine.search(evaluations=evaluations)
        return [node for node in self.engine.graph(visits=visits, nodes=2000).nodes if node.legal]

    def drawn(self, nodes: list[GraphNode], count: int, rng: random.Random) -> list[GraphNode]:
        """Nodes without a proof, in random order; decided ones less often."""
        share = self.draw.decided_share
        open_ = [node for node in nodes if node.state == "unknown"]
        kept = [node for node in open_ if abs(node.raw) <= DECIDED or rng.random() < share]
        return rng.sample(kept, min(count, len(kept)))

    def positions(self, rows: list[dict[str, Any]], rng: random.Random) -> Iterator[dict[str, Any]]:
        """Nodes of short searches, without targets."""
        least, most = (math.log(number) for number in self.draw.evaluations)
        for fen, ply in self.bases(rows, rng):
            nodes = self.nodes(fen, round(math.exp(rng.uniform(least, most))), 1)
            for node in self.drawn(nodes, self.draw.keep, rng):
                if self.is_new(node.position):
                    yield {"ply": ply + node.depth, "fen": node.position}

    def values(self, rows: list[dict[str, Any]], rng: random.Random) -> Iterator[dict[str, Any]]:
        """Nodes with their values by a longer search."""
        first, evaluations = self.draw.evaluations
        source = f"search, {evaluations} evaluations"
        for fen, ply in self.bases(rows, rng):
            for leaf in self.drawn(self.nodes(fen, first, 1)[1:], self.draw.keep, rng):
                for node in self.nodes(leaf.position, evaluations, self.draw.visits):
                    if self.is_new(node.position):
                        found = score(node, self.variant)
                        value = value_at(found, result_scale(self.variant))
                        place = {"ply": ply + leaf.depth + node.depth, "fen": node.position}
                        yield {**place, "score": found, "value": value, "source": source}


def write_part(
    games: Path,
    out: Path,
    part: tuple[int, int],
    seed: int,
    variant: str,
    sample: Callable[[list[dict[str, Any]], random.Random], Iterator[dict[str, Any]]],
) -> int:
    """Writes the positions of every n-th shard of games; returns how many."""
    which, parts = part
    held: list[dict[str, Any]] = []
    written = total = 0
    shards = [shard for shard in find_shards(games) if shard.number % parts == which]
    for shard in shards:
        rng = random.Random(f"{seed}-{shard.number}")
        by_game: dict[int, list[dict[str, Any]]] = {}
        table = read_shard(shard)
        if about(table).get("variant") != variant:
            raise DataError(f"{shard.path} has positions of {about(table).get('variant')}, not of {variant}")
        for row in table.select(["game", "ply", "fen"]).to_pylist():
            by_game.setdefault(row["game"], []).append(row)
        for game, rows in by_game.items():
            held += [{"game": game, "moves": [], "weights": [], **row} for row in sample(rows, rng)]
        if held and (len(held) >= ROWS_PER_SHARD or shard is shards[-1]):
            held.sort(key=lambda row: (row["game"], row["ply"]))
            write_shard(out, written * parts + which, held, {"variant": variant})
            written, total, held = written + 1, total + len(held), []
            print(f"{total:,} positions", flush=True)
    return total


def main(arguments: list[str] | None = None) -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=tuple(USUAL))
    parser.add_argument("games", type=Path, help="a folder of shards")
    parser.add_argument("--out", type=Path, required=True, help="a folder without shards")
    parser.add_argument("--variant", choices=("chess", "crazyhouse"), default="crazyhouse")
    parser.add_argument("--evaluator", default="network", help="name or file; network: that of the package")
    parser.add_argument("--part", default="0/1", help="which of how many parts, like 0/4")
    parser.add_argument("--bases", type=at_least_one, help="positions of a game (10; values: 6)")
    parser.add_argument("--keep", type=at_least_one, help="nodes of a search (13; values: 4)")
    evaluations = "least and most of a search (30 200); values: of the first and the second (100 300)"
    parser.add_argument("--evaluations", type=at_least_one, nargs=2, help=evaluations)
    parser.add_argument(
        "--visits", type=at_least_one, default=40, help="of a node with a value, at least (40)"
    )
    parser.add_argument("--off-share", type=float, default=0.3, help="searched after random moves (0.3)")
    parser.add_argument("--decided-share", type=float, default=0.4, help="of decided nodes that count (0.4)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    bases, keep, evaluations_of = USUAL[given.kind]
    draw = Draw(
        bases=given.bases or bases,
        off_share=given.off_share,
        decided_share=given.decided_share,
        keep=given.keep or keep,
        evaluations=tuple(given.evaluations or evaluations_of),
        visits=given.visits,
    )
    which, _, parts = given.part.partition("/")
    if not (which.isdigit() and parts.isdigit() and int(which) < int(parts)):
        parser.error(f"--part is a number below another, like 0/4, and not {given.part}")
    given.out.mkdir(parents=True, exist_ok=True)
    if find_shards(given.out):
        parser.error(f"{given.out} has shards already")
    try:
        sampler = Sampler(given.variant, given.evaluator, draw, given.seed)
        sample = sampler.positions if given.kind == "positions" else sampler.values
        part = int(which), int(parts)
        if write_part(given.games, given.out, part, given.seed, given.variant, sample) == 0:
            parser.error(f"part {given.part} of {given.games} has no positions")
    except AnabranchError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
