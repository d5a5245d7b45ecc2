"""The validator itself: a sound dialogue passes, and each rule has a dialogue that breaks it alone."""

import re
from pathlib import Path

import pytest
from tests.support import validator
from tests.support.validator import STRICT, TEACHER, Event, Rules, validate

MATE_IN_1 = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
MATE_IN_2 = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"
MATED = "R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
DROPS = "rnbqkbnr/pppp1ppp/8/8/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3"


def dialogue(text: str) -> list[Event]:
    """`> ` goes to the engine, `< ` comes from it; `3.5> ` does so at 3.5 seconds."""
    events = []
    for line in filter(str.strip, text.splitlines()):
        head, _, said = line.strip().partition(" ")
        events.append(Event(float(head[:-1]) if head[:-1] else None, head.endswith(">"), said))
    return events


def rules_broken(text: str, rules: Rules = STRICT) -> list[str]:
    return [fault.rule for fault in validate(dialogue(text), rules)]


GREETING = """
> uci
< id name Anabranch 1.0
< id author somebody
< option name Hash type spin default 16 min 1 max 1024
< option name Ponder type check default false
< option name Clear Hash type button
< option name EvalFile type string default <empty>
< option name Debug Log File type string default
< option name UCI_Variant type combo default chess var chess var crazyhouse
< uciok
"""

GOOD = {
    "nothing": "",
    "greeting": GREETING,
    "twice": GREETING + GREETING,
    "search": """
        > isready
        < readyok
        > position startpos moves e2e4
        > go nodes 100
        < info depth 1 seldepth 2 time 1 nodes 10 score cp 12 hashfull 0 tbhits 0 nps 10000 pv e7e5
        < info string anything at all:  1 -- 2
        < info depth 2 seldepth 2 time 3 nodes 30 score cp 10 upperbound nps 10000 pv e7e5 g1f3
        < bestmove e7e5 ponder g1f3""",
    "mate in one": f"""
        > position fen {MATE_IN_1}
        > go depth 3
        < info depth 1 score mate 1 pv a1a8
        < bestmove a1a8""",
    "mate in two, against": f"""
        > setoption name UCI_ShowWDL value true
        > position fen {MATE_IN_2} moves a2a7 h8g8
        > go depth 3
        < info depth 1 score mate 1 wdl 1000 0 0 pv b1b8
        < bestmove b1b8
        > position fen {MATE_IN_2} moves a2a7
        > go depth 3
        < info depth 1 score mate -1 wdl 0 0 1000 pv h8g8 b1b8
        < bestmove h8g8 ponder b1b8""",
    "mated": f"""
        > position fen {MATED}
        > go nodes 5
        < info depth 0 score mate 0
        < bestmove (none)""",
    "stalemate": f"""
        > position fen {STALEMATE}
        > go infinite
        < info depth 0 score cp 0
        > stop
        < bestmove (none)""",
    "ponder": """
        > go ponder wtime 100 btime 100
        < info depth 1 score cp 3 pv e2e4
        > ponderhit
        < bestmove e2e4""",
    "stop ends ponder": """
        > go ponder infinite
        < info depth 1 score cp 3 pv e2e4
        > ponderhit
        > stop
        < bestmove e2e4""",
    "a new go ends the old one": f"""
        > go infinite
        > position fen {MATE_IN_1}
        > go nodes 5
        < info depth 1 score cp 3 pv e2e4
        < bestmove e2e4
        < info depth 1 score mate 1 pv a1a8
        < bestmove a1a8""",
    "quit leaves questions open": "> isready\n> go infinite\n> quit",
    "quit may be answered": "> go infinite\n> quit\n< info score cp 3 pv e2e4\n< bestmove e2e4",
    "unknown words first": """
        > joho isready
        < readyok
        > joho go nodes 1 whatever
        < info depth 1 score cp 3 pv e2e4
        < bestmove e2e4""",
    "multipv": """
        > setoption name MultiPV value 3
        > go nodes 100
        < info depth 1 multipv 1 score cp 12 pv e2e4
        < info depth 1 multipv 2 score cp 12 pv d2d4
        < info depth 1 multipv 3 score cp -3 pv g1f3
        < info depth 2 multipv 1 score cp 1 pv d2d4
        < bestmove d2d4""",
    "castling": f"""
        > position fen {CASTLING}
        > go nodes 5
        < info depth 1 score cp 3 pv e1g1 e8c8
        < bestmove e1g1 ponder e8c8
        > setoption name UCI_Chess960 value true
        > go nodes 5
        < info depth 1 score cp 3 pv e1h1 e8a8
        < bestmove e1h1 ponder e8a8""",
    "crazyhouse": f"""
        > setoption name UCI_Variant value crazyhouse
        > position fen {DROPS} moves P@e5
        > go nodes 5
        < info depth 1 score cp 3 pv P@e4 a2a3
        < bestmove P@e4""",
    "the position stays when the variant allows it": """
        > position startpos moves e2e4 d7d5 e4d5
        > setoption name UCI_Variant value crazyhouse
        > go nodes 5
        < info depth 1 score cp 3 pv d8d5 P@e4
        < bestmove d8d5""",
    "the old position stays": """
        > position startpos moves e2e4
        > position startpos moves e2e5
        > position fen nonsense
        > position fen 8/8/8/8/8/8/8/8 w - -
        > position
        > go nodes 5
        < info depth 1 score cp 3 pv e7e5
        < bestmove e7e5""",
    "a move in short notation may be taken or not": """
        > position startpos moves e4
        > go nodes 5
        < info depth 1 score cp 3 pv e7e5
        < bestmove e7e5
        > go nodes 5
        < info depth 1 score cp 3 pv e2e4
        < bestmove e2e4""",
    "a doubtful position": """
        > position startpos moves e2e4
        > position fen 7k/8/8/8/8/8/8/6KK w - - 0 1
        > go nodes 5
        < info depth 1 score cp 3 pv g1f1
        < bestmove g1f1""",
    "searchmoves": """
        > go searchmoves a2a3 e2e5 nodes 5
        < info depth 1 score cp 3 pv a2a3
        < bestmove a2a3
        > go searchmoves please a2a3 nodes 5
        < info depth 1 score cp 3 pv e2e4
        < bestmove e2e4
        > go nodes 5 searchmoves e2e5
        < info depth 1 score cp 3 pv e2e4
        < bestmove e2e4""",
    "talk": """
        > d
        < +---+
        > isready
        < readyok
        > go perft 1
        < e2e4: 1""",
    "limited strength": """
        > setoption name UCI_LimitStrength value true
        > go nodes 5
        < info depth 1 score cp 3 pv e2e4
        < bestmove a2a3""",
    "currmove": """
        > go nodes 5
        < info currmove e2e4 currmovenumber 1 cpuload 3
        < info depth 1 score cp 3 pv e2e4
        < bestmove e2e4""",
    "clock": """
        1> go nodes 5
        1.6< info time 600 nodes 60 nps 100 score cp 3 pv e2e4
        1.7< bestmove e2e4""",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_sound_dialogue_has_no_fault(name: str) -> None:
    assert rules_broken(GOOD[name]) == []


SCORE = "< info depth 1 score cp 3 pv e2e4\n"
GO = "> go nodes 5\n"
BEST = "< bestmove e2e4"
WDL = "> setoption name UCI_ShowWDL value true\n"
LINES = "> setoption name MultiPV value 3\n"
BAD = [
    ("white space", f"{GO}<  info depth 1 score cp 3 pv e2e4\n{BEST}"),
    ("white space", f"{GO}< info depth 1 score cp 3  pv e2e4\n{BEST}"),
    ("not UCI", "< hello"),
    ("not UCI", "< "),
    ("not UCI", "> isready\n< readyok 1"),
    ("not UCI", GREETING.replace("uciok", "uciok now")),
    ("internal error", "< info string internal error: ValueError: no"),
    ("id unasked", "< id name somebody"),
    ("id form", GREETING.replace("< uciok", "< id name again\n< uciok")),
    ("id form", GREETING.replace("< uciok", "< id colour blue\n< uciok")),
    ("option unasked", "< option name Clear Hash type button"),
    ("option before id", "> uci\n< option name Clear Hash type button\n< id name a\n< id author b\n< uciok"),
    ("option form", GREETING.replace("type spin", "type number")),
    ("option form", GREETING.replace(" max 1024", "")),
    ("option form", GREETING.replace("type button", "type button default false")),
    ("option form", GREETING.replace("var crazyhouse", "var chess")),
    ("option form", GREETING.replace(" var chess var crazyhouse", "")),
    ("option form", GREETING.replace("default 16", "default many")),
    ("option default", GREETING.replace("check default false", "check default no")),
    ("option default", GREETING.replace("string default <empty>", "string <empty>")),
    ("option range", GREETING.replace("default 16", "default 2000")),
    ("option range", GREETING.replace("default chess", "default checkers")),
    ("option twice", GREETING.replace("name Ponder type", "name hash type")),
    ("uciok unasked", GREETING + "< uciok"),
    ("uciok without id", GREETING.replace("< id author somebody\n", "").replace("< option", "> x < option")),
    ("uci unanswered", GREETING.replace("< uciok\n", "")),
    ("readyok unasked", "< readyok"),
    ("readyok unasked", "> isready\n< readyok\n< readyok"),
    ("isready unanswered", "> isready"),
    ("info token", f"{GO}< info dephth 1\n{SCORE}{BEST}"),
    ("info token", f"{GO}< info\n{SCORE}{BEST}"),
    ("info twice", f"{GO}< info depth 1 depth 2\n{SCORE}{BEST}"),
    ("info number", f"{GO}< info depth 1.5\n{SCORE}{BEST}"),
    ("info number", f"{GO}< info depth\n{SCORE}{BEST}"),
    ("info number", f"{GO}< info nodes 1e3\n{SCORE}{BEST}"),
    ("info number", f"{GO}< info score cp None pv e2e4\n{SCORE}{BEST}"),
    ("info range", f"{GO}< info nodes -1\n{SCORE}{BEST}"),
    ("info range", f"{GO}< info hashfull 1001\n{SCORE}{BEST}"),
    ("info range", f"{GO}< info score cp 1000000 pv e2e4\n{SCORE}{BEST}"),
    ("info unasked", SCORE),
    ("info unasked", f"{GO}{SCORE}< bestmove e2e4\n{SCORE}"),
    ("score form", f"{GO}< info score 12 pv e2e4\n{SCORE}{BEST}"),
    ("nodes fall", f"{GO}< info nodes 5\n< info nodes 4\n{SCORE}{BEST}"),
    ("time falls", f"{GO}< info time 5\n< info time 4\n{SCORE}{BEST}"),
    ("time ahead", f"1{GO}1.2< info time 400 score cp 3 pv e2e4\n2{BEST}"),
    ("nps", f"{GO}< info time 1000 nodes 1000 nps 9000\n{SCORE}{BEST}"),
    ("currmove", f"{GO}< info currmove e2e5\n{SCORE}{BEST}"),
    ("pv", f"{GO}{SCORE}< info depth 1 score cp 3 pv e2e4 e2e4\n{BEST}"),
    ("pv", f"{GO}{SCORE}< info depth 1 score cp 3 pv e2e4 0000\n{BEST}"),
    ("pv", f"> position startpos moves e2e4\n{GO}{SCORE}< info score cp 1 pv e7e5\n< bestmove e7e5"),
    (
        "pv",
        f"> position fen {CASTLING}\n{GO}< info score cp 3 pv e1h1\n< info score cp 3 pv e1g1\n"
        "< bestmove e1g1",
    ),
    ("score without pv", f"{GO}< info score cp 3\n{SCORE}{BEST}"),
    ("wdl unasked", f"{GO}< info score cp 3 wdl 10 980 10 pv e2e4\n{BEST}"),
    ("wdl missing", f"{WDL}{GO}{SCORE}{BEST}"),
    *[
        (rule, f"{WDL}{GO}< info score {score} wdl {wdl} pv e2e4\n{BEST}")
        for rule, score, wdl in [
            ("wdl sum", "cp 3", "10 980 11"),
            ("wdl sum", "cp 3", "-10 1000 10"),
            ("wdl sign", "cp 200", "10 900 90"),
            ("wdl sign", "cp -200", "90 900 10"),
        ]
    ],
    (
        "wdl sign",
        f"{WDL}> position fen {MATE_IN_1}\n{GO}< info score mate 1 wdl 999 1 0 pv a1a8\n< bestmove a1a8",
    ),
    ("mate 0", f"{GO}< info score mate 0 pv e2e4\n{BEST}"),
    ("mate 0", f"> position fen {STALEMATE}\n{GO}< info depth 0 score mate 0\n< bestmove (none)"),
    ("mate length", f"> position fen {MATE_IN_1}\n{GO}< info score mate 2 pv a1a8\n< bestmove a1a8"),
    (
        "mate length",
        f"> position fen {MATE_IN_2} moves a2a7\n{GO}< info score mate -1 pv h8g8\n< bestmove h8g8",
    ),
    ("mate line", f"> position fen {MATE_IN_1}\n{GO}< info score mate 1 pv a1a7\n< bestmove a1a7"),
    (
        "multipv order",
        f"{LINES}{GO}< info multipv 1 score cp 3 pv e2e4\n< info multipv 3 score cp 2 pv d2d4\n{BEST}",
    ),
    (
        "multipv count",
        f"{GO}< info multipv 1 score cp 3 pv e2e4\n< info multipv 2 score cp 2 pv d2d4\n{BEST}",
    ),
    (
        "multipv count",
        f"{LINES}> go searchmoves e2e4 d2d4\n< info multipv 1 score cp 3 pv e2e4\n"
        f"< info multipv 2 score cp 2 pv d2d4\n< info multipv 3 score cp 1 pv d2d4 d7d5\n{BEST}",
    ),
    (
        "multipv twice",
        f"{LINES}{GO}< info multipv 1 score cp 3 pv e2e4\n< info multipv 2 score cp 2 pv e2e4 e7e5\n{BEST}",
    ),
    *[
        (
            "multipv score",
            f"> setoption name MultiPV value 2\n> position fen {MATE_IN_1}\n{GO}"
            f"< info multipv 1 score {above}\n< info multipv 2 score {below}\n< bestmove {above.split()[-1]}",
        )
        for above, below in [("cp 3 pv a1a7", "cp 4 pv a1a6"), ("cp 3 pv a1a7", "mate 1 pv a1a8")]
    ],
    ("bestmove unasked", BEST),
    ("bestmove unasked", f"{GO}{SCORE}< bestmove e2e4\n{BEST}"),
    ("bestmove early", f"> go infinite\n{SCORE}{BEST}"),
    ("bestmove early", f"> go ponder wtime 1 btime 1\n{SCORE}{BEST}"),
    ("bestmove early", f"> go infinite\n{SCORE}> ponderhit\n{BEST}"),
    ("bestmove early", f"> stop\n> go infinite\n{SCORE}> isready\n< readyok\n{BEST}"),
    ("bestmove none", f"{GO}{SCORE}< bestmove (none)"),
    (
        "bestmove none",  # a draw by the arbiter, but moves are left
        f"> position fen 7k/8/8/8/8/8/8/R6K w - - 150 90\n{GO}"
        "< info depth 0 score cp 0 pv a1a2\n< bestmove (none)",
    ),
    ("bestmove illegal", f"{GO}{SCORE}< bestmove 0000"),
    ("ponder illegal", f"{GO}{SCORE}< bestmove e2e4 ponder e2e4"),
    ("bestmove form", f"{GO}{SCORE}< bestmove"),
    ("bestmove form", f"{GO}{SCORE}< bestmove e2e4 ponder"),
    ("no score", f"{GO}< info depth 1 pv e2e4\n{BEST}"),
    ("no score", f"> position fen {MATED}\n{GO}< bestmove (none)"),
    ("searchmoves", f"> go searchmoves e2e4\n{SCORE}< info depth 1 pv a2a3\n{BEST}"),
    ("bestmove other", f"{GO}{SCORE}< bestmove d2d4"),
    ("go unanswered", f"{GO}{SCORE}"),
    ("go unanswered", f"{GO}> stop\n{GO}{SCORE}{BEST}"),
]


@pytest.mark.parametrize(("rule", "text"), BAD)
def test_a_broken_rule_is_named(rule: str, text: str) -> None:
    broken = rules_broken(text)
    assert rule in broken
    # An illegal best move is by nature also another one than the line's; nothing else may be found.
    # The third line of a search with two moves must repeat one.
    assert set(broken) <= {rule, "bestmove other"} | ({"multipv twice"} if rule == "multipv count" else set())


def test_a_teacher_may_talk_and_cut_mates_short() -> None:
    text = f"""
        < Stockfish 15.1
        > position fen {MATE_IN_2}
        > go nodes 5
        < info depth 1 score mate 2 pv a2a7
        < bestmove b1b7"""
    assert rules_broken(text, TEACHER) == []
    assert set(rules_broken(text)) == {"not UCI", "mate length", "bestmove other"}


def test_a_game_that_grows_is_read_as_if_from_the_start() -> None:
    text = ""
    moves: list[str] = []
    for move in ("e2e4", "e7e5", "g1f3", "b8c6"):
        text += f"> position startpos moves {' '.join(moves)}\n> go nodes 5\n"
        text += f"< info depth 1 score cp 3 pv {move}\n< bestmove {move}\n"
        moves.append(move)
    assert rules_broken(text) == []
    text += "> position startpos moves e2e4\n> go nodes 5\n< info score cp 3 pv d7d5\n< bestmove d7d5\n"
    assert rules_broken(text) == []


def test_every_rule_has_a_dialogue_that_breaks_it() -> None:
    source = Path(validator.__file__).read_text(encoding="utf-8")
    rules = set(re.findall(r'(?:_fault|_FormError)\("([^"]+)"', source))
    rules |= set(re.findall(r'(?:return|else) "(option [^"]+)"', source))
    assert len(rules) > 40
    assert {rule for rule, _ in BAD} == rules
