"""A strict judge of a whole UCI dialogue: it hears both sides line by line and notes the engine's faults.

It knows the rules of the game from python-chess, so lines must be legal and mates must mate. It starts no
process and asks no questions; who holds the dialogue feeds it. Times are seconds of one clock, or None.
"""

import contextlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import chess
import chess.variant

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
LONG_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][nbrqk]?|[PNBRQ]@[a-h][1-8]")
COMMANDS = {
    "uci", "debug", "isready", "setoption", "register", "ucinewgame", "position", "go", "stop", "ponderhit",
    "quit",
}  # fmt: skip
TALKS = {"d", "eval", "bench", "perft", "graph", "moves", "help"}
"""Commands outside UCI, answered with free text."""
GO_WORDS = {
    "searchmoves", "ponder", "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate",
    "movetime", "infinite", "perft",
}  # fmt: skip
RANGES = {
    "depth": (0, 100_000),
    "seldepth": (0, 100_000),
    "time": (0, 10**9),
    "nodes": (0, 10**13),
    "nps": (0, 10**9),
    "multipv": (1, 1000),
    "hashfull": (0, 1000),
    "tbhits": (0, 10**13),
    "cpuload": (0, 1000),
    "currmovenumber": (1, 1000),
}
LARGEST_CP = 100_000
LARGEST_MULTIPV = 500
TRUE = frozenset({"true", "on", "1", "yes"})
FALSE = frozenset({"false", "off", "0", "no"})
VARIANTS = dict.fromkeys(("standard", "normal", "fischerandom", "chess960"), "chess") | {
    kind.uci_variant: kind.uci_variant for kind in chess.variant.VARIANTS if kind.uci_variant
}
CLEAR_CP = 100
"""From this score on, wins and losses of `wdl` must lean to the same side."""
CLOCK_SLACK = 0.05


class Fault(NamedTuple):
    """A broken rule, by its short name, and what was said."""

    rule: str
    text: str


class Event(NamedTuple):
    """A line of the dialogue."""

    at: float | None
    to_engine: bool
    text: str


@dataclass(frozen=True)
class Rules:
    """What may be relaxed for engines that are known to do otherwise."""

    exact_mates: bool = True
    best_is_first: bool = True
    free_text: bool = False


STRICT = Rules()
TEACHER = Rules(exact_mates=False, best_is_first=False, free_text=True)


class Score(NamedTuple):
    """A score as the engine gives it."""

    kind: str
    number: int
    bound: str | None

    @property
    def order(self) -> tuple[int, int]:
        """Larger is better for the side to move: winning mates by distance, centipawns, lost mates."""
        if self.kind == "cp":
            return 0, self.number
        return (1, -self.number) if self.number > 0 else (-1, -self.number)


@dataclass
class Info:
    """What one `info` line holds."""

    numbers: dict[str, int] = field(default_factory=dict)
    score: Score | None = None
    wdl: tuple[int, int, int] | None = None
    pv: list[str] | None = None
    current: str | None = None


@dataclass
class Search:
    """A `go` that has no `bestmove` yet."""

    boards: list[chess.Board]
    only: frozenset[str] | None
    lines: int
    plain: bool
    shows_wdl: bool | None
    infinite: bool
    pondering: bool
    at: float | None
    nodes: int = 0
    time: int = 0
    block: list[tuple[Info, str]] = field(default_factory=list)
    scored: bool = False
    first: str | None = None


class Validator:
    """Feed it with `command` and `line`, end with `finish`; `faults` says what was wrong."""

    def __init__(self, rules: Rules = STRICT) -> None:
        self.rules = rules
        self.faults: list[Fault] = []
        self.options: dict[str, str] = {}
        """Announced options: lower-case name to type."""
        self.bestmoves = 0
        self.infos = 0
        self.variant = "chess"
        self.boards: list[chess.Board] = [chess.Board()]
        """Where the game may stand. More than one where it is not clear that a FEN is sound."""
        self._position = ["startpos"]
        self._searches: list[Search] = []
        self._flags = dict.fromkeys(("uci_chess960", "uci_showwdl", "uci_limitstrength", "ownbook"), False)
        self._lines = 1
        self._greetings: list[set[str]] = []
        self._ready = 0
        self._free = rules.free_text
        self._quit = False
        self._read_moves: tuple[str, list[str], chess.Board] | None = None

    # What the client says.

    def command(self, text: str, at: float | None = None) -> None:
        """A line to the engine. Unknown words before a command do not count."""
        words = text.split()
        while words and words[0] not in COMMANDS | TALKS:
            del words[0]
        if not words or self._quit:
            return
        match words[0]:
            case talk if talk in TALKS:
                self._free = True  # from now on, as its answer may come late
            case "uci":
                self._greetings.append(set())
            case "isready":
                self._ready += 1
            case "setoption":
                self._set_option(words[1:])
            case "position":
                self._set_position(words[1:])
            case "go":
                self._go(words[1:], at)
            case "stop":
                for search in self._searches:
                    search.infinite = search.pondering = False
            case "ponderhit":
                for search in self._searches:
                    search.pondering = False
            case "quit":
                self._quit = True
                for search in self._searches:
                    search.infinite = search.pondering = False

    def _set_option(self, words: list[str]) -> None:
        if words[:1] != ["name"]:
            return
        split = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:split]).lower(), " ".join(words[split + 1 :]).lower()
        for search in self._searches:
            search.shows_wdl = None
        if name in self._flags and value in TRUE | FALSE:
            self._flags[name] = value in TRUE
        elif name == "multipv":
            with contextlib.suppress(ValueError):  # engines read numbers as Python does, or more strictly
                self._lines = int(value) if 1 <= int(value) <= LARGEST_MULTIPV else self._lines
        elif name == "uci_variant" and value in VARIANTS:
            self._set_variant(VARIANTS[value])
        if name == "uci_chess960":
            for board in self.boards:
                board.chess960 = self.chess960
            self._read_moves = None

    @property
    def chess960(self) -> bool:
        """Whether castling is written as the king taking the rook."""
        return self._flags["uci_chess960"]

    def _set_variant(self, variant: str) -> None:
        if variant != self.variant:
            self.variant = variant
            self._read_moves = None
            doubtful = self.boards if len(self.boards) > 1 else []
            self.boards = [chess.variant.find_variant(variant)(chess960=self.chess960)]
            if self._position != ["startpos"]:  # kept where the variant knows such a position
                self._set_position(list(self._position))
            for board in doubtful:
                with contextlib.suppress(ValueError):
                    self.boards.append(_board(variant, board.fen(), self.chess960))

    def _set_position(self, words: list[str]) -> None:
        while words and words[0] not in ("startpos", "fen"):
            del words[0]
        split = words.index("moves") if "moves" in words else len(words)
        start, moves = words[:split], words[split + 1 :]
        if start[:1] == ["startpos"] or start == ["fen", "startpos"]:
            fen = chess.variant.find_variant(self.variant).starting_fen
        elif start[:1] == ["fen"] and len(start) > 1:
            fen = _repaired(start[1:])
        else:
            return
        board = self._play(fen, moves)
        if board is None:
            return  # the old position is kept
        self._position = [*start, "moves", *moves]
        sound = all(LONG_MOVE.fullmatch(move) for move in moves) and (
            start[0] == "startpos"
            or (fen == " ".join(start[1:]) and _is_sound(self.variant, fen, self.chess960))
        )
        self.boards = [board] if sound else [*self.boards[:4], board]

    def _play(self, fen: str, moves: list[str]) -> chess.Board | None:
        """The position after the moves, None where something is wrong. The last game is not read again."""
        known = self._read_moves
        if known and known[0] == fen and known[1] == moves[: len(known[1])]:
            board, rest = known[2].copy(), moves[len(known[1]) :]
        else:
            try:
                board, rest = _board(self.variant, fen, self.chess960), moves
            except ValueError:
                return None
        for move in rest:
            parsed = _read_move(board, move)
            if parsed is None:
                return None
            board.push(parsed)
        self._read_moves = fen, list(moves), board.copy()
        return board

    def _go(self, words: list[str], at: float | None) -> None:
        only: set[str] = set()
        flags: set[str] = set()
        current = ""
        for word in words:
            if word in GO_WORDS:
                current = word
                flags.add(word)
            elif current == "searchmoves" and LONG_MOVE.fullmatch(word):
                only.add(word)
            elif current == "searchmoves":
                current = ""  # what is no move may end the list
            elif current == "perft" and word.isdigit():
                flags.add("perft depth")
        if "perft depth" in flags:
            self._free = True
            return
        for earlier in self._searches:  # the new one takes its place
            earlier.infinite = earlier.pondering = False
        self._searches.append(
            Search(
                boards=[board.copy(stack=False) for board in self.boards],
                only=frozenset(only) or None,
                lines=self._lines,
                plain=not (self._flags["uci_limitstrength"] or self._flags["ownbook"]),
                shows_wdl=self._flags["uci_showwdl"],
                infinite="infinite" in flags,
                pondering="ponder" in flags,
                at=at,
            )
        )

    # What the engine says.

    def line(self, text: str, at: float | None = None) -> None:
        """A line from the engine."""
        words = text.split()
        is_bound = (
            words[:1] not in (["option"], ["id"]) and words[:2] != ["info", "string"] and not self._free
        )
        if is_bound and text != " ".join(words):
            self._fault("white space", text)
        match words[:1]:
            case ["id"]:
                self._id(words, text)
            case ["option"]:
                self._option(words, text)
            case ["uciok"]:
                self._uciok(words, text)
            case ["readyok"]:
                self._readyok(words, text)
            case ["bestmove"]:
                self._bestmove(words, text)
            case ["info"]:
                if words[1:2] != ["string"]:
                    self._info(words[1:], text, at)
                elif "internal error" in text:
                    self._fault("internal error", text)
            case _ if not self._free:
                self._fault("not UCI", text)

    def _fault(self, rule: str, text: str) -> None:
        self.faults.append(Fault(rule, text))

    def _id(self, words: list[str], text: str) -> None:
        if not self._greetings:
            self._fault("id unasked", text)
        elif words[1:2] not in (["name"], ["author"]) or len(words) < 3 or words[1] in self._greetings[0]:
            self._fault("id form", text)
        else:
            self._greetings[0].add(words[1])

    def _option(self, words: list[str], text: str) -> None:
        if not self._greetings:
            self._fault("option unasked", text)
            return
        if not {"name", "author"} <= self._greetings[0]:
            self._fault("option before id", text)
        read = _read_option(text)
        if read is None:
            self._fault("option form", text)
            return
        name, kind, wrong = read
        if wrong:
            self._fault(wrong, text)
        if "option " + name.lower() in self._greetings[0]:
            self._fault("option twice", text)
        self._greetings[0].add("option " + name.lower())
        self.options[name.lower()] = kind

    def _uciok(self, words: list[str], text: str) -> None:
        if not self._greetings:
            self._fault("uciok unasked", text)
            return
        if not {"name", "author"} <= self._greetings.pop(0):
            self._fault("uciok without id", text)
        if len(words) != 1:
            self._fault("not UCI", text)

    def _readyok(self, words: list[str], text: str) -> None:
        if self._ready == 0:
            self._fault("readyok unasked", text)
            return
        self._ready -= 1
        if len(words) != 1:
            self._fault("not UCI", text)

    def _info(self, words: list[str], text: str, at: float | None) -> None:
        self.infos += 1
        try:
            info = _read_info(words)
        except _FormError as error:
            self._fault(error.rule, text)
            return
        if not self._searches:
            self._fault("info unasked", text)
            return
        search = self._searches[0]
        self._progress(search, info, text, at)
        if info.current is not None and not _narrow(search, [info.current]):
            self._fault("currmove", text)
        if info.pv is not None:
            self._check_pv(search, info.pv, text)
        if info.score is not None:
            self._check_score(search, info, info.score, text)

    def _progress(self, search: Search, info: Info, text: str, at: float | None) -> None:
        nodes, time = info.numbers.get("nodes", search.nodes), info.numbers.get("time", search.time)
        if nodes < search.nodes:
            self._fault("nodes fall", text)
        if time < search.time:
            self._fault("time falls", text)
        if at is not None and search.at is not None and time / 1000 > at - search.at + CLOCK_SLACK:
            self._fault("time ahead", text)
        if "nps" in info.numbers and "nodes" in info.numbers and "time" in info.numbers:
            # Nodes of an earlier search may count among nodes, so nps may be smaller, but not larger.
            # Time is cut to milliseconds.
            fastest = nodes * 1000 / max(time, 1)
            if time > 0 and info.numbers["nps"] > fastest * 1.05 + 1000:
                self._fault("nps", text)
        search.nodes, search.time = nodes, time

    def _check_pv(self, search: Search, pv: list[str], text: str) -> None:
        if not _narrow(search, pv):
            self._fault("pv", text)
        elif pv and not _is_among(search, pv[0]):
            self._fault("searchmoves", text)

    def _check_score(self, search: Search, info: Info, score: Score, text: str) -> None:
        search.scored = True
        if info.wdl is not None:
            self._check_wdl(search, info.wdl, score, text)
        elif search.shows_wdl and info.pv:
            self._fault("wdl missing", text)
        over = any(_is_over(board) for board in search.boards)
        if not info.pv and not over and score.bound is None:
            self._fault("score without pv", text)
        if score.kind == "mate" and score.bound is None:
            self._check_mate(search, score.number, info.pv or [], text)
        self._rank(search, info, score, text)

    def _check_wdl(self, search: Search, wdl: tuple[int, int, int], score: Score, text: str) -> None:
        win, draw, loss = wdl
        if search.shows_wdl is False:
            self._fault("wdl unasked", text)
        if min(wdl) < 0 or win + draw + loss != 1000:
            self._fault("wdl sum", text)
        elif score.kind == "mate":
            if score.bound is None and wdl != ((1000, 0, 0) if score.number > 0 else (0, 0, 1000)):
                self._fault("wdl sign", text)
        elif (score.number >= CLEAR_CP and win < loss) or (score.number <= -CLEAR_CP and win > loss):
            self._fault("wdl sign", text)

    def _check_mate(self, search: Search, number: int, pv: list[str], text: str) -> None:
        if number == 0:
            if not any(_is_over(board) and _is_decided(board) for board in search.boards):
                self._fault("mate 0", text)
            return
        if not self.rules.exact_mates:
            return
        length = 2 * number - 1 if number > 0 else -2 * number
        if len(pv) != length:
            self._fault("mate length", text)
        elif not any(_mates(board, pv) for board in search.boards):
            self._fault("mate line", text)

    def _rank(self, search: Search, info: Info, score: Score, text: str) -> None:
        """The place of a line in its block of MultiPV lines."""
        rank = info.numbers.get("multipv", 1)
        block = search.block
        if rank == 1:
            block.clear()
        elif rank != len(block) + 1:
            self._fault("multipv order", text)
            return
        if rank > 1 and rank > min(search.lines, max(_choices(search, board) for board in search.boards)):
            self._fault("multipv count", text)
        first = info.pv[0] if info.pv else ""
        if any(first == other for _, other in block):
            self._fault("multipv twice", text)
        if block:
            above = block[-1][0].score
            assert above is not None
            if above.bound is None and score.bound is None and score.order > above.order:
                self._fault("multipv score", text)
        block.append((info, first))
        if rank == 1 and first:
            search.first = first

    def _bestmove(self, words: list[str], text: str) -> None:
        self.bestmoves += 1
        if not self._searches:
            self._fault("bestmove unasked", text)
            return
        search = self._searches.pop(0)
        if search.infinite or search.pondering:
            self._fault("bestmove early", text)
        match words[1:]:
            case ["(none)"]:
                if not any(_is_over(board) for board in search.boards):
                    self._fault("bestmove none", text)
            case [best]:
                self._check_best(search, best, text)
            case [best, "ponder", reply]:
                self._check_best(search, best, text)
                if not _narrow(search, [best, reply]):
                    self._fault("ponder illegal", text)
            case _:
                self._fault("bestmove form", text)
        if not search.scored and search.plain:
            self._fault("no score", text)

    def _check_best(self, search: Search, best: str, text: str) -> None:
        if not _narrow(search, [best]):
            self._fault("bestmove illegal", text)
        elif not _is_among(search, best):
            self._fault("searchmoves", text)
        if self.rules.best_is_first and search.plain and search.first not in (None, best):
            self._fault("bestmove other", f"{text} after pv {search.first}")

    def finish(self) -> list[Fault]:
        """The end of the dialogue: all questions must have their answers, unless the client quit."""
        if not self._quit:
            if self._searches:
                self._fault("go unanswered", f"{len(self._searches)} without bestmove")
            if self._ready:
                self._fault("isready unanswered", f"{self._ready} without readyok")
            if self._greetings:
                self._fault("uci unanswered", f"{len(self._greetings)} without uciok")
        return self.faults


def validate(dialogue: Iterable[Event], rules: Rules = STRICT) -> list[Fault]:
    """All faults of a dialogue that has ended."""
    validator = Validator(rules)
    for event in dialogue:
        (validator.command if event.to_engine else validator.line)(event.text, event.at)
    return validator.finish()


class _FormError(Exception):
    def __init__(self, rule: str) -> None:
        self.rule = rule


def _read_option(text: str) -> tuple[str, str, str | None] | None:
    """Name, type and what is wrong with the rest; None where it is no option at all."""
    found = re.fullmatch(r"option name (\S.*?) type (check|spin|combo|button|string)(?: (.*))?", text)
    if found is None:
        return None
    name, kind, rest = found[1], found[2], found[3] or ""
    checks: dict[str, Callable[[str], str | None]] = {
        "check": lambda rest: None if rest in ("default true", "default false") else "option default",
        "spin": _wrong_spin,
        "combo": _wrong_combo,
        "button": lambda rest: "option form" if rest else None,
        "string": lambda rest: None if re.fullmatch(r"default( .*)?", rest) else "option default",
    }
    return name, kind, checks[kind](rest)


def _wrong_spin(rest: str) -> str | None:
    found = re.fullmatch(r"default (-?\d+) min (-?\d+) max (-?\d+)", rest)
    if found is None:
        return "option form"
    default, least, most = (int(number) for number in found.groups())
    return None if least <= default <= most else "option range"


def _wrong_combo(rest: str) -> str | None:
    found = re.fullmatch(r"default (.+?)((?: var .+?)+)", rest)
    if found is None:
        return "option form"
    choices = found[2].split(" var ")[1:]
    if len(set(choices)) != len(choices):
        return "option form"
    return None if found[1] in choices else "option range"


def _read_info(words: list[str]) -> Info:
    info = Info()
    seen: set[str] = set()
    rest = list(words)
    if not rest:
        raise _FormError("info token")
    while rest:
        word = rest.pop(0)
        if word in seen:
            raise _FormError("info twice")
        seen.add(word)
        if word in RANGES:
            number = _integer(rest)
            least, most = RANGES[word]
            if not least <= number <= most:
                raise _FormError("info range")
            info.numbers[word] = number
        elif word == "score":
            info.score = _read_score(rest)
        elif word == "wdl":
            info.wdl = _integer(rest), _integer(rest), _integer(rest)
        elif word == "currmove" and rest:
            info.current = rest.pop(0)
        elif word == "pv":
            info.pv, rest = rest, []
        elif word == "string":
            break
        else:
            raise _FormError("info token")
    return info


def _integer(rest: list[str]) -> int:
    if not rest or not INTEGER.fullmatch(rest[0]):
        raise _FormError("info number")
    return int(rest.pop(0))


def _read_score(rest: list[str]) -> Score:
    if rest[:1] not in (["cp"], ["mate"]):
        raise _FormError("score form")
    kind, number = rest.pop(0), _integer(rest)
    if abs(number) > LARGEST_CP:
        raise _FormError("info range")
    bound = rest.pop(0) if rest[:1] in (["lowerbound"], ["upperbound"]) else None
    return Score(kind, number, bound)


def _board(variant: str, fen: str, chess960: bool) -> chess.Board:
    return chess.variant.find_variant(variant)(fen, chess960=chess960)


def _repaired(words: list[str]) -> str:
    """A FEN with gaps filled, repetitions left out, and castling rights put in order, as a lenient engine
    may do.
    """
    while len(words) > 1 and words[0] == "fen":
        words = words[1:]
    board, *rest = [*words, *["w", "-", "-", "0", "1"][len(words) - 1 :]]
    if "[" in board and "]" not in board:
        board = board + "]" if board[-1] != "[" else board[:-1]
    board = board.removesuffix("/")
    rights = sorted(dict.fromkeys(rest[1]), key=str.islower)
    for side in (str.isupper, str.islower):
        if sum(map(side, rights)) > 2:  # a rook by its file and by its side
            rights = [letter for letter in rights if not side(letter) or letter in "KQkq"]
    rest[1] = "".join(rights)
    return " ".join([board, *rest])


def _read_move(board: chess.Board, text: str) -> chess.Move | None:
    """A legal move, None where it is none. Engines may take the short notation too."""
    for read in (board.parse_uci, board.parse_san):
        try:
            move = read(text)
        except ValueError:
            continue
        # python-chess passes over a promotion of castling.
        is_other = LONG_MOVE.fullmatch(text) and len(text) == 5 and not move.promotion
        return move if move and not is_other else None
    return None


def _is_sound(variant: str, fen: str, chess960: bool) -> bool:
    """Whether every engine must take it: valid, and with counters that a game may have."""
    board = _board(variant, fen, chess960)
    return (
        re.fullmatch(r"[!-~]+ [wb] \S+ \S+ \d+ \d+", fen, re.ASCII) is not None
        and board.status() == chess.STATUS_VALID
        and max(board.halfmove_clock, board.fullmove_number) < 10_000
    )


def _play_line(board: chess.Board, line: list[str]) -> chess.Board | None:
    """The position after a line, None unless every move is legal and written as it must be."""
    board = board.copy(stack=False)
    for text in line:
        try:
            move = chess.Move.from_uci(text)
        except ValueError:
            return None
        if not move or not board.is_legal(move) or board.uci(move) != text:
            return None
        board.push(move)
    return board


def _narrow(search: Search, line: list[str]) -> bool:
    """Is the line legal? Positions where it is not are out of question from now on."""
    possible = [board for board in search.boards if _play_line(board, line) is not None]
    if possible:
        search.boards = possible
    return bool(possible)


def _is_over(board: chess.Board) -> bool:
    """No move can be made. Draws that are claimed, or that an arbiter declares, leave moves to be made."""
    return board.is_variant_end() or not any(board.legal_moves)


def _is_decided(board: chess.Board) -> bool:
    return board.is_checkmate() or board.is_variant_win() or board.is_variant_loss()


def _mates(board: chess.Board, line: list[str]) -> bool:
    end = _play_line(board, line)
    return end is not None and (end.is_checkmate() or end.is_variant_loss())


def _is_among(search: Search, move: str) -> bool:
    """Is the move one of `searchmoves`? Where none of those is legal, all moves are free."""
    if search.only is None or move in search.only:
        return True
    return not any(_legal_only(search, board) for board in search.boards)


def _legal_only(search: Search, board: chess.Board) -> set[str]:
    return {board.uci(move) for move in board.legal_moves} & (search.only or frozenset())


def _choices(search: Search, board: chess.Board) -> int:
    return len(_legal_only(search, board)) or board.legal_moves.count()
