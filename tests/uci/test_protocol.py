"""The protocol, command by command and in every order; the validator judges all that the engine says."""

import itertools
import time

import pytest
from tests.support.dialogue import NoAnswer
from tests.support.engine_process import EngineProcess
from tests.support.engine_session import Session

MATE_IN_1 = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
MATED = "R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
ONE_MOVE = "7k/8/8/8/8/8/1q6/K7 w - - 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
CHESS960 = "nrbbkqrn/pppppppp/8/8/8/8/PPPPPPPP/NRBBKQRN w GBgb - 0 1"
CHESS960_CASTLING = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1"
DROPS = "rnbqkbnr/pppp1ppp/8/8/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3"
WHILE = 0.3
"""Seconds after which an engine that answers too early has done so."""


def info_lines(session: Session | EngineProcess, since: int) -> list[str]:
    return [line for line in session.said("info", since) if not line.startswith("info string")]


def best(answer: str) -> str:
    return answer.split()[1]


def number(line: str, word: str) -> int:
    words = line.split()
    return int(words[words.index(word) + 1])


# Greeting and the like.


def test_the_greeting_comes_at_once_with_the_options_that_interfaces_know(session: Session) -> None:
    begun = time.monotonic()
    session.ask("uci", answer="uciok", seconds=1.0)
    assert time.monotonic() - begun < 1.0
    names = {line.split(" type ")[0].removeprefix("option name ") for line in session.said("option")}
    wanted = """Threads, Hash, Clear Hash, Ponder, MultiPV, Move Overhead, UCI_Chess960, UCI_Variant,
        UCI_ShowWDL, UCI_AnalyseMode, UCI_LimitStrength, UCI_Elo, UCI_Opponent, UCI_EngineAbout, SyzygyPath,
        SyzygyProbeLimit, Syzygy50MoveRule, OwnBook, BookFile, Contempt, EvalFile, WeightsFile, Backend,
        Debug Log File, VerboseMoveStats, Preset"""
    assert {" ".join(name.split()) for name in wanted.split(",")} <= names


def test_isready_is_answered_at_once_before_and_in_a_search(session: Session) -> None:
    session.settle(1.0)
    session.send("go infinite")
    for _ in range(20):
        session.settle(1.0)
    assert not session.said("bestmove")
    session.ask("stop")


def test_debug_and_register_are_heard_without_an_answer(session: Session) -> None:
    session.send("debug on", "debug off", "debug", "debug maybe", "register later", "register name A code 1")
    session.ask("go nodes 20")
    assert not session.said("registration")


@pytest.mark.parametrize(
    "command", ["d", "eval", "moves", "help", "perft 3", "go perft 2", "bench 50", "graph 1"]
)
def test_a_command_for_people_answers_and_leaves_the_game_alone(session: Session, command: str) -> None:
    session.send("position startpos moves e2e4")
    session.ask("go nodes 50")
    since = len(session.transcript)
    session.send(command)
    session.rest(60)
    assert len(session.transcript) > since + 1
    assert best(session.ask("go nodes 20"))[1] in "78"


@pytest.mark.parametrize(("command", "total"), [("perft 3", 8902), ("go perft 3", 8902), ("go perft 1", 20)])
def test_perft_counts(session: Session, command: str, total: int) -> None:
    session.send(command)
    session.wait_until(lambda text: text == f"Nodes searched: {total}")


# Forms of lines.


ODD_FORMS = [
    "go nodes 20", "  go   nodes\t20  ", "\tgo\tnodes\t20", "joho go nodes 20",
    "go nodes 20 and some more", "go now nodes 20", "go nodes 20 depth", "go nodes twenty nodes 20",
    "go nodes 20 movetime x", "go nodes +20", "go \x00 nodes 20", "go ü nodes 20",
]  # fmt: skip


@pytest.mark.parametrize("line", ODD_FORMS)
def test_white_space_and_unknown_words_do_not_matter(session: Session, line: str) -> None:
    since = len(session.transcript)
    session.ask(line)
    assert number(info_lines(session, since)[-1], "nodes") <= 60


def test_every_end_of_a_line_is_known_and_bytes_that_are_no_text_do_not_matter(engine: EngineProcess) -> None:
    for end in (b"\n", b"\r\n", b" \r\n", b"\r\r\n", b"\n\n\r\n"):
        for command, answer in (("uci", "uciok"), ("isready", "readyok"), ("go nodes 20", "bestmove")):
            engine.send_as(command, command.encode() + end)
            engine.wait_for(answer)
    engine.send_as("position startpos", b"\xff\xfe position startpos \xc3\x28\n")
    engine.send_as("", b"\x00\x80\n")
    engine.ask("isready", answer="readyok")
    engine.ask("go nodes 20")


@pytest.mark.parametrize(
    "line", ["", "   ", "hello", "Go nodes 5", "bestmove e2e4", "info depth 1", "uciok", "\x00"]
)
def test_other_lines_are_passed_over(session: Session, line: str) -> None:
    session.send(line)
    session.settle()
    assert not session.said("bestmove")


def test_after_quit_the_session_does_not_go_on(session: Session) -> None:
    session.send("isready")
    assert session.goes_on
    session.send("quit")
    assert not session.goes_on


# Orders.


SIX = ("uci", "isready", "ucinewgame", "position startpos moves e2e4", "go nodes 50", "stop")


def test_the_720_orders_of_six_commands(session: Session) -> None:
    for order in itertools.permutations(SIX):
        since = len(session.transcript)
        session.send(*order)
        session.wait_for("bestmove")
        session.rest(20)
        assert len(session.said("bestmove", since)) == 1, order
        assert len(session.said("uciok", since)) == 1, order
        assert len(session.said("readyok", since)) == 1, order


def test_the_720_orders_in_one_breath(engine: EngineProcess) -> None:
    orders = list(itertools.permutations(SIX))
    for order in orders:
        engine.send(*order)
    for _ in orders:
        engine.wait_for("bestmove", 60)
    engine.settle()
    assert len(engine.said("bestmove")) == len(engine.said("uciok")) == len(orders)
    engine.quit()


# Limits.


LIMITS = [
    "wtime 200 btime 200",
    "wtime 200 btime 200 winc 10 binc 10",
    "wtime 1000 btime 1000 movestogo 40",
    "wtime 300 btime 300 winc 20 binc 20 movestogo 1",
    "movetime 50",
    "nodes 200",
    "depth 3",
    "mate 1",
]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("fen", [None, MATE_IN_1, MATED, STALEMATE, ONE_MOVE])
def test_every_limit_ends_by_itself(session: Session, limit: str, fen: str | None) -> None:
    session.send("position startpos" if fen is None else f"position fen {fen}")
    if limit == "mate 1" and fen != MATE_IN_1:
        limit += " movetime 100"  # a search for a mate that is not there ends by nothing else
    session.ask(f"go {limit}", seconds=10)


@pytest.mark.parametrize(
    "limits",
    [f"{one} {other}" for one, other in itertools.combinations(LIMITS[4:], 2)],
    ids=lambda text: text,
)
def test_combined_limits_end_with_the_first(session: Session, limits: str) -> None:
    session.ask(f"go {limits}", seconds=10)
    session.ask(f"go wtime 200 btime 200 {limits}", seconds=10)


ODD_NUMBERS = [
    "wtime 0 btime 0", "wtime -50 btime -50", "wtime 1 btime 1 winc 0 binc 0",
    "wtime -1 btime -1 winc -1 binc -1 movestogo -1", "wtime 100 btime 100 movestogo 0", "movetime 0",
    "movetime -1", "movetime 1", "nodes 0", "nodes -5", "nodes 1", "depth 0", "depth -3", "depth 1",
    "mate 0 movetime 50", "mate -2 movetime 50", "wtime 99999999999999999999999 btime 5 nodes 10",
    "nodes 99999999999999999999999 movetime 30", "btime 100", "wtime 100", "winc 100 binc 100 nodes 20",
]  # fmt: skip


@pytest.mark.parametrize("limit", ODD_NUMBERS)
def test_odd_numbers_give_a_move_soon(session: Session, limit: str) -> None:
    session.settle()
    begun = time.monotonic()
    session.ask(f"go {limit}", seconds=5)
    assert time.monotonic() - begun < 2.0


@pytest.mark.parametrize("milliseconds", [50, 300])
def test_movetime_is_used_and_kept(session: Session, milliseconds: int) -> None:
    session.ask("go nodes 10")
    begun = session.send(f"go movetime {milliseconds}")
    taken = session.wait_for("bestmove").at
    assert taken is not None
    assert milliseconds / 2000 <= taken - begun <= milliseconds / 1000 + 0.25


@pytest.mark.parametrize("nodes", [1, 10, 500, 3000])
def test_nodes_are_what_was_asked_for(session: Session, nodes: int) -> None:
    since = len(session.transcript)
    session.ask("ucinewgame", f"go nodes {nodes}")
    assert nodes <= number(info_lines(session, since)[-1], "nodes") <= max(2 * nodes, nodes + 64)


def test_depth_grows_with_the_depth_that_is_asked_for(session: Session) -> None:
    for depth in (1, 2, 4, 6):
        since = len(session.transcript)
        session.ask("ucinewgame", f"go depth {depth}")
        assert number(info_lines(session, since)[-1], "depth") >= min(depth, 4)


# Waiting for leave.


@pytest.mark.parametrize("fen", [MATE_IN_1, MATED, STALEMATE, ONE_MOVE, CASTLING])
@pytest.mark.parametrize(
    "go",
    ["go infinite", "go", "go ponder wtime 100 btime 100", "go ponder", "go infinite nodes 5 movetime 5"],
)
def test_no_answer_before_stop(session: Session, fen: str, go: str) -> None:
    session.send(f"position fen {fen}", go)
    time.sleep(WHILE)
    assert not session.said("bestmove")
    session.ask("stop", seconds=1.0)


@pytest.mark.parametrize(
    "limit", ["movetime 10", "nodes 10", "depth 1", "wtime 50 btime 50", "mate 1 nodes 50"]
)
@pytest.mark.parametrize("fen", [MATE_IN_1, MATED, CASTLING])
def test_ponderhit_turns_a_ponder_search_into_a_common_one(session: Session, limit: str, fen: str) -> None:
    session.send(f"position fen {fen}", f"go ponder {limit}")
    time.sleep(WHILE / 3)
    assert not session.said("bestmove")
    session.ask("ponderhit", seconds=2.0)


def test_stop_and_ponderhit_without_a_search_do_nothing(session: Session) -> None:
    session.send("stop", "ponderhit", "stop")
    session.settle()
    assert not session.said("bestmove")
    session.ask("go nodes 20")
    session.send("stop", "ponderhit")
    session.settle()
    assert len(session.said("bestmove")) == 1


def test_ponderhit_does_not_end_an_infinite_search(session: Session) -> None:
    session.send("go infinite", "ponderhit")
    time.sleep(WHILE)
    assert not session.said("bestmove")
    session.ask("stop")


def test_what_was_thought_in_ponder_counts(session: Session) -> None:
    session.ask("go nodes 10")
    session.send("position startpos moves e2e4", "go ponder wtime 4000 btime 4000")
    time.sleep(1.0)
    begun = session.send("ponderhit")
    taken = session.wait_for("bestmove").at
    assert taken is not None
    assert taken - begun < 0.5


def test_a_new_go_ends_the_old_one_which_answers_first(session: Session) -> None:
    session.send("go infinite", f"position fen {MATE_IN_1}", "go nodes 50")
    assert best(session.wait_for("bestmove").text)[1] in "12"
    assert session.wait_for("bestmove").text == "bestmove a1a8"


@pytest.mark.parametrize("line", ["ucinewgame", "position startpos moves d2d4", "uci", "debug on", "hello"])
def test_other_commands_do_not_end_a_search(session: Session, line: str) -> None:
    session.send("go infinite", line)
    time.sleep(WHILE)
    assert not session.said("bestmove")
    assert best(session.ask("stop"))[1] in "12"


# Positions.


@pytest.mark.parametrize(
    "bad",
    [
        "position",
        "position e2e4",
        "position fen",
        "position fen nonsense",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNRR w KQkq - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w KQkq - 0 1",
        "position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
        "position startpos moves e2e5",
        "position startpos moves d2d4 d7d5 e7e5",
        "position startpos moves d2d4 nonsense",
        "position startpos moves d2d4 0000",
    ],
)
def test_a_bad_position_is_named_and_the_old_one_kept(session: Session, bad: str) -> None:
    session.send("position startpos moves e2e4")
    since = len(session.transcript)
    session.send(bad)
    session.rest(10)
    named = [line for line in session.said("info", since) if line.startswith("info string")]
    assert len(named) == 1
    since = len(session.transcript)
    session.ask("go nodes 50")
    assert best(session.said("bestmove", since)[0])[1] in "78"


@pytest.mark.parametrize(
    "position",
    [
        "position startpos moves",
        "position  startpos  moves  e2e4  e7e5",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves e2e4",
        f"position fen {CASTLING} moves e1g1 e8c8",
        "position please startpos moves e2e4",
        "position fen 8/8/8/8/8/5k2/5p2/5K2 w - - 99 120",
        "position fen 7k/8/8/8/8/8/8/R6K w - - 149 120",
        "position fen 8/8/4k3/8/8/4K3/8/8 w - - 0 1",
        "position startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8",
        "position startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8",
        "position fen 7k/8/8/8/8/8/8/R6K w - - 100 120",
        "position fen 7k/8/8/8/8/8/8/R6K w - - 150 120",
    ],
)
def test_a_move_is_played_wherever_there_is_one(session: Session, position: str) -> None:
    session.ask(position, "go nodes 50")


@pytest.mark.parametrize("fen", [MATED, STALEMATE])
def test_where_the_game_is_over_there_is_no_move(session: Session, fen: str) -> None:
    assert session.ask(f"position fen {fen}", "go nodes 50") == "bestmove (none)"


def test_the_only_move_is_played_quickly_on_the_clock(session: Session) -> None:
    session.ask("go nodes 10")
    begun = session.send(f"position fen {ONE_MOVE}", "go wtime 60000 btime 60000")
    taken = session.wait_for("bestmove").at
    assert taken is not None
    assert taken - begun < 1.0


# Which moves, how many lines.


@pytest.mark.parametrize("order", ["searchmoves {} nodes 200", "nodes 200 searchmoves {}"])
@pytest.mark.parametrize("moves", ["a2a3", "a2a3 h2h3", "a2a3 e2e5 h2h4", "a2a3 a2a3"])
def test_searchmoves_are_respected(session: Session, order: str, moves: str) -> None:
    assert best(session.ask("go " + order.format(moves))) in moves.split()


def test_searchmoves_holds_for_one_search(session: Session) -> None:
    assert best(session.ask("go nodes 200 searchmoves a2a3")) == "a2a3"
    assert best(session.ask("go nodes 2000")) != "a2a3"


def test_searchmoves_without_a_legal_move_is_passed_over(session: Session) -> None:
    session.ask("go searchmoves e2e5 nodes 50")
    session.ask("go searchmoves nodes 50")


@pytest.mark.parametrize("lines", [1, 2, 5, 20, 256])
def test_multipv_gives_that_many_lines(session: Session, lines: int) -> None:
    session.greet(MultiPV=lines)
    since = len(session.transcript)
    session.ask("go nodes 1000")
    ranks = [number(line, "multipv") for line in info_lines(session, since)]
    final = ranks[len(ranks) - 1 - ranks[::-1].index(1) :]
    assert final == list(range(1, len(final) + 1))
    # A move that was never looked at has no line.
    assert min(lines, 10) <= len(final) <= min(lines, 20)


def test_multipv_with_a_mate_and_searchmoves(session: Session) -> None:
    session.greet(MultiPV=4, UCI_ShowWDL=True)
    session.ask(f"position fen {MATE_IN_1}", "go nodes 2000")
    since = len(session.transcript)
    session.ask("position startpos", "go nodes 500 searchmoves e2e4 d2d4 c2c4")
    assert number(info_lines(session, since)[-1], "multipv") == 3


def test_wdl_is_shown_when_it_is_wanted(session: Session) -> None:
    session.ask("go nodes 100")
    session.greet(UCI_ShowWDL=True)
    for position in ("startpos", f"fen {MATE_IN_1}", f"fen {MATED}", f"fen {STALEMATE}", f"fen {ONE_MOVE}"):
        session.ask(f"position {position}", "go nodes 100")
    session.send("setoption name UCI_ShowWDL value false")
    session.ask("position startpos", "go nodes 100")


def test_the_table_of_moves_has_a_line_for_every_move(session: Session) -> None:
    session.greet(VerboseMoveStats=True)
    since = len(session.transcript)
    session.ask("go nodes 500")
    table = [line for line in session.said("info", since) if "N:" in line and "P:" in line]
    assert {line.split()[2] for line in table} >= {"e2e4", "d2d4", "a2a3", "g1f3"}
    assert any(line.split()[2] == "node" for line in table)


def test_an_infinite_search_speaks_every_second(session: Session) -> None:
    session.ask("go nodes 10")
    since = len(session.transcript)
    session.send("go infinite")
    time.sleep(3.2)
    session.ask("stop")
    times = [event.at or 0.0 for event in session.transcript[since:] if not event.to_engine]
    assert max(later - earlier for earlier, later in itertools.pairwise(times)) < 1.5
    nodes = [number(line, "nodes") for line in info_lines(session, since)]
    assert nodes[-1] > nodes[0]


# Options.


GOOD_OPTIONS = [
    "name Hash value 16", "name Threads value 2", "name MultiPV value 3", "name Clear Hash",
    "name Preset value mcgs", "name UCI_ShowWDL value true", "name Backend value material",
    "name Contempt value 20", "name UCI_AnalyseMode value true",
    "name UCI_Opponent value GM 2800 human Somebody", "name hash value 32",
    "name  Move   Overhead  value  100",
]  # fmt: skip


@pytest.mark.parametrize("option", GOOD_OPTIONS)
def test_an_option_set_in_a_search_keeps_game_and_search(session: Session, option: str) -> None:
    session.send("position startpos moves e2e4", "go infinite", f"setoption {option}")
    time.sleep(WHILE / 2)
    assert not session.said("bestmove")
    assert best(session.ask("stop"))[1] in "78"
    assert best(session.ask("go nodes 50"))[1] in "78"
    assert not [line for line in session.said("info") if line.startswith("info string")]


BAD_OPTIONS = [
    "", "name", "value 3", "name Nonsense value 3", "name Nonsense", "name Hash", "name Hash value",
    "name Hash value many", "name Hash value -1",
    "name Hash value 99999999999999999999999999999999999999999999999999", "name MultiPV value 0",
    "name UCI_Variant value checkers", "name UCI_Chess960 value perhaps",
    "name EvalFile value nowhere.onnx", "name EvalFile value nonsense",
    "name WeightsFile value crazyhouse", "name SyzygyPath value nowhere",
    "name BookFile value nowhere.bin", "name Preset value nonsense", "name Backend value nonsense",
]  # fmt: skip


@pytest.mark.parametrize("option", BAD_OPTIONS)
def test_a_bad_option_is_named_and_changes_nothing(session: Session, option: str) -> None:
    session.send("position startpos moves e2e4")
    session.ask("go nodes 20")
    since = len(session.transcript)
    session.send(f"setoption {option}")
    session.rest(20)
    assert [line for line in session.said("info", since) if line.startswith("info string")]
    assert best(session.ask("go nodes 20"))[1] in "78"


def test_variants_take_turns(session: Session) -> None:
    for variant, position in [
        ("crazyhouse", f"position fen {DROPS} moves P@e5"),
        ("chess", f"position fen {CASTLING} moves e1g1"),
        ("crazyhouse", "position startpos moves e2e4 d7d5 e4d5 d8d5"),
        ("standard", "position startpos"),
        ("normal", f"position fen {MATE_IN_1}"),
        ("atomic", "position startpos moves e2e4"),
        ("antichess", "position startpos moves e2e3"),
        ("kingofthehill", "position startpos"),
        ("3check", "position startpos"),
        ("racingkings", "position startpos"),
        ("horde", "position startpos"),
        ("crazyhouse", "position startpos"),
    ]:
        session.send(f"setoption name UCI_Variant value {variant}", "ucinewgame")
        session.settle()
        session.ask(position, "go nodes 100")


def test_a_variant_set_in_a_search_waits_for_its_end(session: Session) -> None:
    session.send("position startpos moves e2e4", "go infinite", "setoption name UCI_Variant value crazyhouse")
    time.sleep(WHILE / 2)
    session.ask("stop")
    session.ask("position startpos moves e2e4 d7d5 e4d5 d8d5", "go nodes 50 searchmoves P@e4")
    assert best(session.said("bestmove")[-1]) == "P@e4"


def test_castling_is_written_as_the_mode_wants(session: Session) -> None:
    session.send(f"position fen {CASTLING}")
    assert best(session.ask("go nodes 50 searchmoves e1g1")) == "e1g1"
    session.greet(UCI_Chess960=True)
    assert best(session.ask("go nodes 50 searchmoves e1h1")) == "e1h1"
    session.send(f"position fen {CASTLING} moves e1a1 e8h8")
    session.ask("go nodes 200")
    session.send(f"position fen {CHESS960}")
    session.ask("go nodes 200")
    session.send(f"position fen {CHESS960_CASTLING}")
    assert best(session.ask("go nodes 50 searchmoves e1g1")) == "e1g1"
    assert best(session.ask("go nodes 50 searchmoves e1b1")) == "e1b1"


def test_limited_strength_still_plays(session: Session) -> None:
    session.greet(UCI_LimitStrength=True, UCI_Elo=800)
    for _ in range(10):
        session.ask("go wtime 1000 btime 1000")


# The process.


def test_the_last_line_needs_no_end(engine: EngineProcess) -> None:
    engine.send_as("isready", b"isready")
    engine.end_input()
    engine.wait_for("readyok")
    engine.wait_for_exit(5.0)
    assert engine.said("readyok") == ["readyok"]


def test_waiting_in_vain_fails(session: Session) -> None:
    """The tests above would not notice a silent engine otherwise."""
    with pytest.raises(NoAnswer):
        session.wait_for("bestmove", 0.05)
