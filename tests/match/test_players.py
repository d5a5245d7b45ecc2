"""Players: described, asked, watched."""

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import chess
import chess.variant
import pytest
from tests.support.fake_engine import FakeEngine, check_ended, ranked_moves

from anabranch.errors import MatchError, ProgramMissingError, SettingError, VariantError
from anabranch.evaluators.onnx_runtime import OnnxEvaluator
from anabranch.formats.scores import MATE, mate_of
from anabranch.jobs.program import options_of
from anabranch.match import uci_player
from anabranch.match.engine_player import EnginePlayer
from anabranch.match.player import Budget, Fault, MoveLimits, PlayerSpec, read_player
from anabranch.match.players import make_player
from anabranch.match.uci_player import UciPlayer, read_answer

TINY_GYAL = Path(__file__).parents[1] / "data" / "lc0" / "tinygyal-8.pb.gz"


def test_players_in_words() -> None:
    player = read_player("mine=preset:mcgs-combined,c_init=2.5,seed=3,time=0.5")
    assert player == PlayerSpec(
        "mine", "preset", "mcgs-combined", {"c_init": "2.5", "seed": "3"}, Budget(time=0.5)
    )
    program = read_player("sf=uci:stockfish --quiet,Hash=64,Skill Level=3,clock=10+0.1")
    assert program.command == ["stockfish", "--quiet"]
    assert program.options == {"Hash": "64", "Skill Level": "3"}
    assert program.budget == Budget(clock=10.0, increment=0.1)
    assert pickle.loads(pickle.dumps(program)) == program
    assert read_player("uci:stockfish --quiet").name == "stockfish"
    assert read_player("a=preset:mcgs").with_budget(Budget(nodes=5)).budget.nodes == 5
    assert player.with_budget(Budget(nodes=5)) == player


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mcgs", "a player is NAME=preset"),
        ("a=b:c", "a player is NAME=preset"),
        ("a=preset:", "a player is NAME=preset"),
        ("a=preset:mcgs,c_init", "an option of a player is NAME=VALUE"),
        ("a=preset:mcgs,nodes=many", "nodes takes a number, not 'many'"),
        ("a=preset:mcgs,nodes=0", "nodes must be at least 1"),
        ("a=preset:mcgs,time=0", "above 0"),
        ("a=preset:mcgs,time=1,clock=5", "not both"),
        ("a=preset:mcgs,increment=1", "needs a clock"),
        ("a=preset:mcgs,c_init=1,c_init=2", "stands twice"),
        ('a"b=preset:mcgs', "cannot stand in a PGN file"),
        ("a=uci:x,Op\ntion=3", "not one line"),
    ],
)
def test_words_that_are_no_player(text: str, sentence: str) -> None:
    with pytest.raises(MatchError, match=sentence):
        read_player(text)


def test_our_engine_plays_by_its_settings() -> None:
    player = EnginePlayer(read_player("a=preset:mcgs-combined,evaluator=material,simulations=200"), "chess")
    board = chess.Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    answer = player.play(board, MoveLimits(Budget(simulations=200)))
    assert answer.move == chess.Move.from_uci("a1a8")
    assert answer.score == MATE - 1
    assert mate_of(answer.score) == 1
    with pytest.raises(SettingError, match="player a: there is no setting"):
        EnginePlayer(read_player("a=preset:mcgs,bogus=1"), "chess")


def test_our_engine_counts_what_it_spends() -> None:
    player = EnginePlayer(read_player("a=preset:mcgs,evaluator=uniform,reuse=off"), "crazyhouse")
    board = chess.variant.CrazyhouseBoard()
    player.new_game(1)
    answer = player.play(board, MoveLimits(Budget(simulations=300, nodes=120)))
    assert answer.nodes == 120
    timed = player.play(board, MoveLimits(Budget(clock=2.6), (2.6, 2.6)))
    assert 0.05 < timed.seconds < 1.5  # a 29th of the clock, on a machine that has other things to do
    player.close()


def test_the_seed_of_a_game_is_the_engine_s_unless_it_has_one() -> None:
    board = chess.Board()

    def visits(text: str, seed: int) -> tuple[int | None, int | None]:
        player = EnginePlayer(read_player(text), "chess")
        player.new_game(seed)
        answer = player.play(board, MoveLimits(Budget(evaluations=300)))
        return answer.score, answer.nodes

    noisy = "a=preset:mcgs-combined,dirichlet_epsilon=0.9"
    assert visits(noisy, 1) == visits(noisy, 1)
    assert visits(noisy, 1) != visits(noisy, 2)
    assert visits(f"{noisy},seed=5", 1) == visits(f"{noisy},seed=5", 2)


def test_a_network_of_a_file_is_opened_once_and_games_do_not_depend_on_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count, begin = Counter[str](), OnnxEvaluator.__init__

    def counted(self: OnnxEvaluator, *arguments: Any, **options: Any) -> None:
        count["opened"] += 1
        begin(self, *arguments, **options)

    monkeypatch.setattr(OnnxEvaluator, "__init__", counted)
    text = f"a=preset:mcgs-combined,dirichlet_epsilon=0.9,evaluator={TINY_GYAL}"

    def play(
        player: EnginePlayer, seed: int, plies: int = 3
    ) -> list[tuple[chess.Move, int | None, int | None]]:
        player.new_game(seed)
        board, found = chess.Board(), []
        for _ in range(plies):
            answer = player.play(board, MoveLimits(Budget(evaluations=60)))
            found.append((answer.move, answer.score, answer.nodes))
            board.push(answer.move)
        return found

    player = EnginePlayer(read_player(text), "chess")
    games = [play(player, seed) for seed in (1, 2, 1)]
    assert count["opened"] == 1
    assert games[0] == games[2] != games[1]
    assert games[1] == play(EnginePlayer(read_player(text), "chess"), 2)
    own = EnginePlayer(read_player(f"{text},seed=5"), "chess")
    assert play(own, 1, plies=1) == play(own, 2, plies=1)  # the graph of the same position is not kept


def play_three_moves(player: UciPlayer, limits: MoveLimits) -> None:
    player.new_game(0)
    for _ in range(3):
        player.play(chess.Board(), limits)


FAULTS = [
    ("crash", "crash"), ("dies at once", "crash"), ("never ready", "not ready"), ("symbols", "garbage"),
    ("empty", "garbage"), ("null move", "illegal"), ("illegal move", "illegal"), ("endless line", "endless"),
    ("hang", "hang"), ("late", "time"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "kind"), FAULTS)
def test_faults_have_names_and_the_next_game_goes_on(
    mock: FakeEngine, mode: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_player, "HANG_TIMEOUT", 0.2 if mode == "hang" else 30.0)
    spec = read_player(f"bad=uci:{mock(mode)}")
    player = UciPlayer(spec, "chess", margin=0.1, timeout=1.0 if mode == "never ready" else 30.0)
    limits = MoveLimits(Budget(time={"late": 0.1, "hang": 1.0}.get(mode, 30.0)))
    try:
        for _ in range(2):
            with pytest.raises(Fault) as fault:
                play_three_moves(player, limits)
            assert fault.value.kind == kind
            assert player.process_id is None
    finally:
        player.close()


def test_a_good_program_is_heard_and_kept(mock: FakeEngine) -> None:
    player = UciPlayer(read_player(f"good=uci:{mock('')},Hash=2"), "crazyhouse", timeout=30.0)
    board = chess.variant.CrazyhouseBoard()
    try:
        player.new_game(0)
        process = player.process_id
        answer = player.play(board, MoveLimits(Budget(nodes=9)))
        assert (answer.score, answer.depth, answer.nodes) == (ranked_moves(board)[0][0], 2, 7)
        assert answer.move in board.legal_moves
        player.new_game(1)
        assert player.process_id == process is not None
        assert player.title == "Mock 1"
    finally:
        player.close()
    assert player.process_id is None


def test_programs_that_cannot_play_are_refused_not_beaten(mock: FakeEngine) -> None:
    with pytest.raises(ProgramMissingError, match="there is no program no-such-engine"):
        make_player(read_player("a=uci:no-such-engine"), "chess")
    player = make_player(read_player("a=uci:stockfish"), "crazyhouse")
    with pytest.raises(VariantError, match="plays chess only, not crazyhouse"):
        player.new_game(0)
    player.close()
    player = make_player(read_player(f"a=uci:{mock('')}"), "antichess")
    with pytest.raises(VariantError, match="Mock 1 does not play antichess"):
        player.new_game(0)
    player.close()


def test_variants_are_looked_up_however_they_are_written() -> None:
    line = b"option name UCI_Variant type combo var Chess var crazyhouse default Chess\n"
    assert options_of(line) == {"uci_variant": ["Chess", "crazyhouse"]}


def test_a_program_may_have_its_own_name_for_a_variant(mock: FakeEngine) -> None:
    player = make_player(read_player(f"a=uci:{mock('')},UCI_Variant=Crazyhouse"), "antichess")
    player.new_game(0)
    player.close()


def test_an_engine_behind_a_script_ends_with_it(
    mock: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_player, "HANG_TIMEOUT", 0.2)
    engine = mock("hang")
    script = tmp_path / "run-engine.sh"
    script.write_text(f"#!/bin/sh\n{engine}\necho ended\n")
    script.chmod(0o755)
    player = UciPlayer(read_player(f"a=uci:{script}"), "chess", margin=0.1, timeout=30.0)
    with pytest.raises(Fault) as fault:
        play_three_moves(player, MoveLimits(Budget(time=1.0)))
    assert fault.value.kind == "hang"
    check_ended(engine)


def test_what_a_program_says_besides_is_no_harm() -> None:
    said = (
        b"\xff\xfe noise\ninfo depth 5 score cp 12 lowerbound nodes 3 pv d2d4\ninfo nodes many\n"
        b"info string score cp 999\ninfo depth 9 multipv 2 score cp -5\ninfo score\n"
        b"bestmove d2d4 ponder d7d5\n"
    )
    answer = read_answer(said, chess.Board())
    assert (answer.move.uci(), answer.score, answer.depth, answer.nodes) == ("d2d4", 12, 5, 3)
    assert read_answer(b"bestmove d2d4\n", chess.Board()).score is None
    mate = read_answer(b"info depth 5 score mate -4 pv d2d4\nbestmove d2d4\n", chess.Board())
    assert mate.score == 4 - MATE


def test_castling_is_understood_in_either_way() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    usual = read_answer(b"bestmove e1g1\n", chess.Board(fen))
    other = read_answer(b"bestmove e1h1\n", chess.Board(fen, chess960=True))
    assert chess.Board(fen).san(usual.move) == "O-O"
    assert chess.Board(fen, chess960=True).san(other.move) == "O-O"
