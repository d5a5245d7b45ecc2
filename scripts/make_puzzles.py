"""Make puzzles, positions with a forced win, from games that the teachers play for this purpose.

python -m scripts.make_puzzles checks tests/data/won-by-checks.epd       crazyhouse, won by a series of checks
python -m scripts.make_puzzles chess tests/data/chess-mates.epd          mates in 3 to 10, on either side
python -m scripts.make_puzzles variants tests/data/variant-wins.epd      wins in 1 to 4 in other variants

Only the teachers decide what is a puzzle, and nothing is searched by our engine. `dm 3` is a win in three
moves by the side to move, `dm -2` a loss in two, at the distance that the teacher sees: a bound, not always
the shortest way.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

import chess
import chess.variant
from scripts.make_mates import epd

from anabranch.data.teacher import Teacher, TeacherError
from anabranch.formats.scores import mate_of, read_score
from anabranch.jobs.files import write_atomic

FEWEST, MOST = 300, 100_000
"""Nodes for a move in games of crazyhouse; those of each side are drawn between them, low ones more often."""
EASY_NODES = 2_000
"""A win by checks that a new search sees with that many nodes is too easy."""
WALKING_NODES = 1_000_000
GLANCING_NODES = 200_000
"""For positions where the game itself went on with checks only, and for others."""
CHECKS_NODES = 400_000
CHESS_NODES = 2_000_000
VARIANT_NODES = 300_000
PATIENCE = 120.0
LONGEST_GAME = 200

CHECKS = 150
CHECKS_OF = {3: 12, 4: 30, 5: 40, 6: 40}
"""At most so many wins by checks of a distance; of longer ones any number, of shorter ones none."""
CHESS, PLAIN = 97, 65
"""Mates of chess; the first of them are from single searches, the others from games followed backwards."""
CHESS_OF = {**dict.fromkeys(range(3, 11), 10), **dict.fromkeys(range(-8, -2), 7)}
"""At most so many of each distance; all of them are more than are wanted."""
LOUD = 5
"""Of a distance at most so many mates by the side to move begin with a check or capture."""
VARIANTS = {"3check": 7, "kingofthehill": 7, "antichess": 7, "horde": 6, "racingkings": 6}
LONGEST_WIN = 4
ATOMIC_OF = {1: 5, 2: 2}
ATOMIC_PLIES = 10

HEADERS = {
    "checks": f"""\
# Crazyhouse positions won by a series of checks, from games that Fairy-Stockfish 11.1 played for this
# purpose, made by scripts/make_puzzles.py. Levels from {FEWEST:,} to {MOST:,} nodes a move, some random
# moves. Games that ended in mate were followed backwards while Fairy-Stockfish (hash kept, up to
# {WALKING_NODES:,} nodes) saw a mate, and the game or its line consisted of checks. Taken are the earliest
# position and one in the middle. dm is the distance that it then sees with {CHECKS_NODES:,} nodes, a bound;
# a new search with {EASY_NODES:,} nodes sees no mate. Nothing was selected by what our engine finds. That
# checks alone win is what the lines show; it is not proven.
""",
    "chess": f"""\
# Mates from games that Stockfish 15.1 played for this purpose, made by scripts/make_puzzles.py. dm is the
# distance in moves that it sees with {CHESS_NODES:,} nodes, a bound; below zero the side to move is mated.
# {CHESS - PLAIN} of them are from games that it followed backwards, with the hash kept. "quiet" in the id:
# its first move is neither check nor capture. Nothing was selected by what our engine finds.
""",
    "variants": f"""\
# Forced wins in 1 to {LONGEST_WIN} moves from games that Fairy-Stockfish 11.1 played for this purpose, made
# by scripts/make_puzzles.py. dm is the distance in moves that it sees with {VARIANT_NODES:,} nodes. It
# does not play atomic chess: those are from random games, with the distance of an exhaustive search over
# python-chess. The variant is the first word of the id. Nothing was selected by what our engine finds.
""",
}


class Line(NamedTuple):
    """What a teacher sees: moves to the mate, negative for the side that is mated, and its line."""

    mate: int | None
    moves: list[str]


class Judge(Teacher):
    """A teacher that also tells its line."""

    def __init__(self, engine: str, variant: str, megabytes: int) -> None:
        super().__init__(engine, variant, {"Hash": str(megabytes)}, PATIENCE)

    def __enter__(self) -> Self:
        return self

    def see(self, fen: str, nodes: int, any_mate: bool = False) -> Line:
        """Search a position; with `any_mate` until some mate is seen, at most."""
        limits = f"nodes {nodes}" + (" mate 100" if any_mate else "")
        answer = self._ask(f"isready\nposition fen {fen}\ngo {limits}\n", b"readyok", b"bestmove")
        found = Line(None, [])
        for text in answer.decode().splitlines():
            words = text.split()
            if words[:1] != ["info"] or not {"score", "pv"} <= set(words) or "bound" in text:
                continue
            at = words.index("score")
            score = read_score(words[at + 1].encode(), int(words[at + 2]))
            found = Line(mate_of(score), words[words.index("pv") + 1 :])
        if not found.moves:
            raise TeacherError("the engine gave no line")
        return found


class Game(NamedTuple):
    """A game that was played: its positions and moves, and the mates that the player saw."""

    boards: list[chess.Board]
    moves: list[chess.Move]
    mates: list[int | None]
    end: chess.Board


def play(
    board: chess.Board, player: Teacher, source: random.Random, nodes: dict[bool, int], chance: float
) -> Game:
    """A game from a random opening. One side makes a random move now and then."""
    game = Game([], [], [], board)
    opening = source.randint(4, 14)
    careless = source.choice([chess.WHITE, chess.BLACK])
    player.new_game()
    while not board.is_game_over(claim_draw=True) and board.ply() < LONGEST_GAME:
        mate = None
        if board.ply() < opening or (board.turn == careless and source.random() < chance):
            move = source.choice(list(board.legal_moves))
        else:
            best = player.judge(f"fen {board.fen()}", nodes[board.turn])[0]
            mate = mate_of(best.score)
            move = chess.Move.from_uci(best.move)
        if not board.is_legal(move):  # the rules of a variant differ in something
            break
        game.boards.append(board.copy(stack=False))
        game.moves.append(move)
        game.mates.append(mate)
        board.push(move)
    return game


def is_won_by_checks(board: chess.Board, moves: list[str]) -> bool:
    """Whether every other move, from the first on, is a check."""
    board = board.copy(stack=False)
    for number, text in enumerate(moves):
        move = chess.Move.from_uci(text)
        if not board.is_legal(move) or (number % 2 == 0 and not board.gives_check(move)):
            return False
        board.push(move)
    return True


def collect_checks(seed: int) -> Iterator[str]:
    """Crazyhouse positions that are won by checks."""
    source = random.Random(f"won by checks/{seed}")
    taken: Counter[int] = Counter()
    with (
        Judge("fairy-stockfish", "crazyhouse", 16) as player,
        Judge("fairy-stockfish", "crazyhouse", 64) as judge,
    ):
        while taken.total() < CHECKS:
            nodes = {side: draw_nodes(source) for side in (chess.WHITE, chess.BLACK)}
            chance = source.choice([0, 0, 0.05, 0.15])
            game = play(chess.variant.CrazyhouseBoard(), player, source, nodes, chance)
            if not game.end.is_checkmate():
                continue
            found = walk_back(game, judge)
            # The earliest position, and one in the middle where that is another.
            for board, is_checked_through in found[-1:] + found[len(found) // 2 : -1][:1]:
                fen = board.fen()
                player.new_game()
                if player.see(fen, EASY_NODES).mate is not None:
                    continue
                mate, moves = judge.see(fen, CHECKS_NODES)
                if mate is None or mate < 3 or taken[mate] >= CHECKS_OF.get(mate, CHECKS):
                    continue
                is_whole = len(moves) == 2 * mate - 1
                if is_won_by_checks(board, moves) and (is_whole or is_checked_through):
                    taken[mate] += 1
                    yield epd("crazyhouse", fen, mate, taken[mate])


def draw_nodes(source: random.Random) -> int:
    """Nodes for a move."""
    least, most = math.log(FEWEST), math.log(MOST)
    return round(math.exp(source.triangular(least, most, least)))


def walk_back(game: Game, judge: Judge) -> list[tuple[chess.Board, bool]]:
    """The positions of the winner, last first, while the judge sees that checks win; and whether the game
    itself went on with nothing but checks.
    """
    found: list[tuple[chess.Board, bool]] = []
    is_checked_through = True
    judge.new_game()
    for board, move in list(zip(game.boards, game.moves, strict=True))[::-2]:
        is_checked_through &= board.gives_check(move)
        nodes = WALKING_NODES if is_checked_through else GLANCING_NODES
        mate, moves = judge.see(board.fen(), nodes, any_mate=True)
        if mate is None or mate < 0 or not (is_checked_through or is_won_by_checks(board, moves)):
            break
        found.append((board, is_checked_through))
    return found


def collect_chess(seed: int) -> Iterator[str]:
    """Mates of chess."""
    source = random.Random(f"chess mates/{seed}")
    mates = ChessMates()
    with Judge("stockfish", "chess", 16) as player, Judge("stockfish", "chess", 64) as judge:
        while mates.taken.total() < PLAIN:
            nodes = dict.fromkeys((chess.WHITE, chess.BLACK), source.choice([1_000, 4_000, 15_000]))
            game = play(chess.Board(), player, source, nodes, 0.15)
            seen = {ply: mate for ply, mate in enumerate(game.mates) if mate in CHESS_OF}
            wanted = [ply for ply, mate in seen.items() if mates.wants(mate)]
            # Positions where the player saw a mate, and one where it did not yet see it.
            plies = source.sample(wanted, min(2, len(wanted)))
            if seen:
                plies.append(max(0, min(seen) - source.randint(1, 4)))
            for ply in plies:
                board = game.boards[ply]
                judge.new_game()
                if mates.taken.total() == PLAIN:
                    break
                if ply in seen or judge.see(board.fen(), CHESS_NODES // 4).mate is not None:
                    yield from mates.take(board, judge)
        yield from collect_long(seed, mates, player, judge)


def collect_long(seed: int, mates: ChessMates, player: Judge, judge: Judge) -> Iterator[str]:
    """Longer mates of chess: games followed backwards, with the hash kept."""
    source = random.Random(f"long chess mates/{seed}")
    while mates.taken.total() < CHESS:
        game = play(chess.Board(), player, source, dict.fromkeys((chess.WHITE, chess.BLACK), 4_000), 0.15)
        first = next((ply for ply, mate in enumerate(game.mates) if mate is not None and abs(mate) >= 3), 0)
        found: dict[int, chess.Board] = {}
        judge.new_game()
        for board in game.boards[first:0:-1]:
            mate, _ = judge.see(board.fen(), CHESS_NODES // 4, any_mate=True)
            if mate is None:
                break
            found[mate] = board
        wanted = sorted(filter(mates.wants, found), key=abs, reverse=True)
        for mate in wanted[: min(3, CHESS - mates.taken.total())]:
            yield from mates.take(found[mate], judge)


class ChessMates:
    """The mates of chess so far, by their distances."""

    def __init__(self) -> None:
        self.taken: Counter[int] = Counter()
        self._loud: Counter[int] = Counter()

    def wants(self, mate: int | None) -> bool:
        """Whether more mates of a distance are wanted."""
        return mate is not None and self.taken[mate] < CHESS_OF.get(mate, 0)

    def take(self, board: chess.Board, judge: Judge) -> Iterator[str]:
        """The line of a position, if it is a mate that is wanted."""
        mate, moves = judge.see(board.fen(), CHESS_NODES)
        if mate is None or not self.wants(mate):
            return
        first = chess.Move.from_uci(moves[0])
        is_quiet = mate > 0 and not board.is_capture(first) and not board.gives_check(first)
        if mate > 0 and not is_quiet:
            self._loud[mate] += 1
            if self._loud[mate] > LOUD:
                return
        self.taken[mate] += 1
        line = epd("chess", board.fen(), mate, self.taken[mate])
        yield line.replace('";', ' quiet";') if is_quiet else line


def collect_variants(seed: int) -> Iterator[str]:
    """Wins of other variants."""
    for variant, wanted in VARIANTS.items():
        source = random.Random(f"wins of variants/{variant}/{seed}")
        left = Counter(1 + number % LONGEST_WIN for number in range(wanted))
        total = left.copy()
        seen: set[str] = set()
        with Judge("fairy-stockfish", variant, 16) as player, Judge("fairy-stockfish", variant, 16) as judge:
            while +left:
                game = play(
                    chess.variant.find_variant(variant)(),
                    player,
                    source,
                    dict.fromkeys((True, False), 3_000),
                    0.2,
                )
                plies = [ply for ply, mate in enumerate(game.mates) if mate is not None and left[mate] > 0]
                for ply in source.sample(plies, min(1, len(plies))):  # one of a game
                    fen = game.boards[ply].fen()
                    judge.new_game()
                    mate = judge.see(fen, VARIANT_NODES).mate
                    if mate is None or left[mate] <= 0 or fen in seen:
                        continue
                    seen.add(fen)
                    left[mate] -= 1
                    yield epd(variant, fen, mate, total[mate] - left[mate])
    yield from collect_atomic(seed)


def collect_atomic(seed: int) -> Iterator[str]:
    """Wins of atomic chess, one of a game; the teachers do not play it."""
    source = random.Random(f"wins of atomic chess/{seed}")
    taken: Counter[int] = Counter()
    while any(taken[mate] < wanted for mate, wanted in ATOMIC_OF.items()):
        board = chess.variant.AtomicBoard()
        boards = []
        while board.ply() < LONGEST_GAME and any(board.legal_moves):
            boards.append(board.copy(stack=False))
            board.push(source.choice(list(board.legal_moves)))
        # One position of a game, from its last ones; wins in two are rare.
        late = boards[-ATOMIC_PLIES:] if board.is_variant_end() else []
        found = ((board, mate) for mate in (2, 1) if taken[mate] < ATOMIC_OF[mate] for board in late)
        for board, mate in found:
            if is_won(board, mate) and not (mate > 1 and is_won(board, mate - 1)):
                taken[mate] += 1
                yield epd("atomic", board.fen(), mate, taken[mate])
                break


def is_won(board: chess.Board, moves: int) -> bool:
    """Whether the side to move wins in so many moves, whatever the other side does."""
    return any(is_lost_after(board, move, moves - 1) for move in board.legal_moves)


def is_lost_after(board: chess.Board, move: chess.Move, moves: int) -> bool:
    """Whether the other side has lost after a move, or loses in so many moves."""
    board.push(move)
    try:
        if board.is_variant_end() or not any(board.legal_moves):
            return board.is_variant_loss() or board.is_checkmate()
        return moves > 0 and all(is_won_after(board, reply, moves) for reply in board.legal_moves)
    finally:
        board.pop()


def is_won_after(board: chess.Board, move: chess.Move, moves: int) -> bool:
    """Whether the side that moves after a move wins in so many moves."""
    board.push(move)
    try:
        return not board.is_variant_end() and is_won(board, moves)
    finally:
        board.pop()


COLLECTORS: dict[str, Callable[[int], Iterator[str]]] = {
    "checks": collect_checks,
    "chess": collect_chess,
    "variants": collect_variants,
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=COLLECTORS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lines = []
    for line in COLLECTORS[options.kind](options.seed):
        print(line, flush=True)
        lines.append(line)
    lines.sort(key=sort_key)
    write_atomic(options.file, HEADERS[options.kind] + "\n".join(lines) + "\n")
    distances = Counter(sort_key(line)[1] for line in lines)
    print(", ".join(f"{number} in {mate}" for mate, number in sorted(distances.items())))


def sort_key(line: str) -> tuple[str, int, str]:
    """By variant, distance and number."""
    name = line.split('id "')[1]
    return name.split()[0], int(line.split(" dm ")[1].partition(";")[0]), name


if __name__ == "__main__":
    main()
