"""Annotated games: what is written into them, what is kept, what is refused."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import chess
import chess.pgn
import pytest
from tests.support.commands import Commands

from anabranch import Engine, Limits
from anabranch.annotate import MATE_POSITIONS, MoveJudgement, annotate_game, name_of, summarise
from anabranch.cli import annotate as command
from anabranch.cli import run
from anabranch.errors import AnnotationError
from anabranch.formats.pgn import brace_comments, format_game, parse_game, split_games
from anabranch.result import Result

pytestmark = pytest.mark.usefixtures("material_by_default")

SCHOLAR = """[Event "Casual"]
[White "Anna"]
[Black "Ben"]
[Result "1-0"]
[Opening "King's Pawn"]

{Before the game} 1. e4 e5 2. Qh5 {early [%clk 0:01:00]} (2. Nf3 Nc6 (2... d6 3. d4) 3. Bb5 {Spanish})
2... Nc6 ; to the end of the line
3. Bc4 Nf6 4. Qxf7# {over} 1-0
"""
CRAZYHOUSE = """[Variant "Crazyhouse"]
[White "C"]
[Black "D"]

1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 4. P@e5 Nc6 5. d4 P@b4 *
"""
CHESS960 = """[Variant "Chess960"]
[SetUp "1"]
[FEN "rnbnqkrb/pppppppp/8/8/8/8/PPPPPPPP/RNBNQKRB w GAga - 0 1"]

1. f4 f5 2. O-O O-O 3. d4 d5 *
"""
FROM_POSITION = """[SetUp "1"]
[FEN "6k1/5ppp/8/8/8/8/5PPP/R5K1 b - - 0 1"]

1... h6 2. h3 *
"""
DAMAGED = '[White "X"]\n[Black "Y"]\n\n1. e4 e5 2. Ke3 Nc6 *\n'


def read(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    return game


def moves(game: chess.pgn.Game) -> list[str]:
    return [move.uci() for move in game.mainline_moves()]


def node_at(game: chess.pgn.Game, ply: int) -> chess.pgn.ChildNode:
    return list(game.mainline())[ply - 1]


@pytest.fixture
def scholar() -> chess.pgn.Game:
    game = parse_game(SCHOLAR)
    annotate_game(game, Engine(improve=True), Limits(simulations=500))
    return read(format_game(game))


def test_the_blunder_is_marked_with_a_better_line(scholar: chess.pgn.Game) -> None:
    blunder = node_at(scholar, 6)
    assert blunder.san() == "Nf6"
    assert blunder.nags == {chess.pgn.NAG_BLUNDER}
    better = [node for node in blunder.parent.variations if node is not blunder]
    assert len(better) == 1
    assert better[0].san() in ("g6", "Qe7", "Qf6", "Nh6")
    evaluation = better[0].eval()
    assert evaluation is not None
    assert not evaluation.is_mate()


def test_a_mate_is_written_for_white(scholar: chess.pgn.Game) -> None:
    assert "[%eval #1]" in node_at(scholar, 6).comment
    assert node_at(scholar, 7).comment == "over"  # nothing is left to evaluate
    black_mates = parse_game("1. f3 e5 2. g4 *")
    annotate_game(black_mates, Engine(improve=True), Limits(simulations=500))
    assert node_at(black_mates, 3).comment == "[%eval #-1]"
    assert node_at(black_mates, 3).nags == {chess.pgn.NAG_BLUNDER}


def test_every_other_move_has_an_evaluation(scholar: chess.pgn.Game) -> None:
    assert all(node.eval() is not None for node in list(scholar.mainline())[:-1])


def test_comments_variations_and_headers_are_kept(scholar: chess.pgn.Game) -> None:
    before = parse_game(SCHOLAR)
    assert moves(scholar) == moves(before)
    assert set(before.headers.items()) <= set(scholar.headers.items())
    assert scholar.headers["Opening"] == "King's Pawn"
    assert scholar.comment == "Before the game"
    assert node_at(scholar, 3).comment.startswith("early [%clk 0:01:00]")
    assert node_at(scholar, 4).comment.startswith("to the end of the line")
    knight = scholar.mainline().__iter__().__next__().next()
    assert knight is not None
    spanish = knight.variation(chess.Move.from_uci("g1f3"))
    assert [node.san() for node in spanish.mainline()] == ["Nc6", "Bb5"]
    assert spanish.variations[1].san() == "d6"
    assert spanish.variations[0].variations[0].comment == "Spanish"


def test_annotating_again_adds_nothing_twice() -> None:
    once = parse_game(SCHOLAR)
    annotate_game(once, Engine(), Limits(simulations=300))
    first = format_game(once)
    again = parse_game(first)
    annotate_game(again, Engine(), Limits(simulations=300))
    assert format_game(again) == first


def test_judgements_of_people_stay() -> None:
    game = parse_game("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6! 4. Qxf7# 1-0")
    annotated = annotate_game(game, Engine(), Limits(simulations=300))
    assert node_at(game, 6).nags == {chess.pgn.NAG_GOOD_MOVE}
    assert annotated.black.blunders == 1


@pytest.mark.parametrize("text", [CRAZYHOUSE, CHESS960, FROM_POSITION])
def test_variants_and_set_up_positions(text: str) -> None:
    game = parse_game(text)
    board = game.board()
    engine = Engine(board.uci_variant or "chess", chess960=board.chess960)
    annotated = annotate_game(game, engine, Limits(simulations=200), which="every-move")
    again = read(format_game(game))
    assert moves(again) == moves(parse_game(text))
    assert again.headers.get("Variant") == parse_game(text).headers.get("Variant")
    assert again.board().fen() == board.fen()
    assert len(annotated.judgements) == len(moves(again))
    assert all(node.eval() is not None for node in again.mainline())
    assert annotated.white.moves + annotated.black.moves == len(moves(again))


def test_drops_and_castling_are_judged_by_their_names() -> None:
    crazyhouse = annotate_game(parse_game(CRAZYHOUSE), Engine("crazyhouse"), Limits(simulations=50))
    assert crazyhouse.judgements[6].move == "@e5"
    castling = annotate_game(parse_game(CHESS960), Engine(chess960=True), Limits(simulations=50))
    assert [judgement.move for judgement in castling.judgements[2:4]] == ["O-O", "O-O"]


def test_a_back_rank_mate_that_is_left_out_is_a_loss_of_a_player() -> None:
    game = parse_game(FROM_POSITION)
    annotated = annotate_game(game, Engine(improve=True), Limits(simulations=500))
    assert annotated.white.accuracy is not None
    assert annotated.judgements[1].move == "h3"
    assert annotated.black.moves == 1


def test_blunders_only_writes_nothing_else() -> None:
    game = parse_game(SCHOLAR)
    annotated = annotate_game(game, Engine(), Limits(simulations=300), which="blunders-only")
    blunders = [judgement.name == "blunder" for judgement in annotated.judgements]
    assert [node.eval() is not None for node in game.mainline()] == blunders
    assert [bool(node.nags) for node in game.mainline()] == blunders
    assert blunders[5]
    assert not all(blunders)


def test_every_move_has_lines_where_the_engine_disagrees() -> None:
    game = parse_game("1. a4 h5 2. h4 a5 *")
    annotated = annotate_game(game, Engine(), Limits(simulations=300), which="every-move")
    for node, judgement in zip(game.mainline(), annotated.judgements, strict=True):
        others = [other.san() for other in node.parent.variations[1:]]
        assert others == ([] if judgement.move == judgement.best else [judgement.best])


def test_more_lines() -> None:
    game = parse_game(SCHOLAR)
    annotate_game(game, Engine(), Limits(simulations=500), lines=3)
    assert len(node_at(game, 6).parent.variations) == 4


def test_a_game_without_moves() -> None:
    annotated = annotate_game(parse_game('[White "A"]\n\n*'), Engine(), Limits(simulations=50))
    assert annotated.judgements == ()
    assert annotated.white.accuracy is None


def test_null_moves_are_refused() -> None:
    game = parse_game("1. e4 -- 2. d4 *")
    with pytest.raises(AnnotationError, match="null move"):
        annotate_game(game, Engine(), Limits(simulations=50))


def test_a_game_may_go_on_after_a_repetition() -> None:
    text = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4 *"
    annotated = annotate_game(read(text), Engine(), Limits(simulations=50))
    assert len(annotated.judgements) == 9
    assert len(annotated.evaluations) == 10


def test_the_search_of_positions_can_be_replaced() -> None:
    seen: list[str] = []

    def search(engine: Engine) -> Result:
        seen.append(engine.position)
        return engine.search(simulations=50)

    annotate_game(read("1. e4 e5 *"), Engine(), Limits(simulations=1), search=search)
    assert [position.split()[1] for position in seen] == ["w", "b", "w"]


def test_names_of_losses() -> None:
    assert [name_of(loss) for loss in (0.0, 0.09, 0.1, 0.2, 0.3, 2.0)] == [
        None, None, "inaccuracy", "mistake", "blunder", "blunder",
    ]  # fmt: skip


def test_summaries() -> None:
    clean = summarise([MoveJudgement("e4", "e4", 0.0, None)] * 3)
    assert (clean.accuracy, clean.mean_loss, clean.blunders) == (100.0, 0.0, 0)
    mixed = summarise([MoveJudgement("e4", "e4", 0.0, None), MoveJudgement("f3", "d4", 0.4, "blunder")])
    assert mixed.mean_loss == 10.0
    assert mixed.blunders == 1
    assert mixed.accuracy is not None
    assert 50 < mixed.accuracy < 100


def test_texts_are_cut_into_games() -> None:
    games = split_games(f"\n\n{SCHOLAR}\n\n\n{CRAZYHOUSE}\n{DAMAGED}\n1. d4 d5 *\n\n")
    assert [len(game) for game in games] == [len(SCHOLAR), len(CRAZYHOUSE), len(DAMAGED), len("1. d4 d5 *\n")]
    assert games[2] == DAMAGED
    assert split_games("") == split_games("\n \n") == split_games("Dear Sir,\n") == []


def test_games_after_lines_of_the_file_are_not_lost(tmp_path: Path) -> None:
    source, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    source.write_text(f'; my games\n% escape\n\n[White "A"]\n\n*\n\n; more\n\n{SCHOLAR}')
    assert len(split_games(source.read_text())) == 2
    assert run(["annotate", str(source), "-o", str(out), "-n", "50"]) == 0
    written = out.read_text()
    assert written.startswith("; my games\n% escape\n\n[Event")
    assert "\n; more\n\n[Event" in written
    assert [moves(read(game)) for game in split_games(written)] == [[], moves(parse_game(SCHOLAR))]


def test_semicolons_inside_braces_and_headers_are_no_comments() -> None:
    text = '[Event "a; b"]\n\n1. e4 {c; d\n; e} e5 ; f {g}\n; h\n2. d4 *'
    assert brace_comments(text) == '[Event "a; b"]\n\n1. e4 {c; d\n; e} e5 { f {g)}\n{ h}\n2. d4 *'


def test_a_given_variant_is_for_games_that_name_none() -> None:
    game = parse_game("1. e4 d5 2. exd5 Qxd5 3. P@e5 *", "crazyhouse")
    assert game.board().uci_variant == "crazyhouse"
    assert game.headers["Variant"] == "Crazyhouse"
    with pytest.raises(AnnotationError, match="one of crazyhouse, not of atomic"):
        parse_game(CRAZYHOUSE, "atomic")


# The command


def test_the_command_writes_a_file(tmp_path: Path, cli: Commands) -> None:
    source, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    source.write_text(f"{SCHOLAR}\n{CRAZYHOUSE}\n{CHESS960}\n")
    assert "Anna" in cli.shows("annotate", source, "-o", out, "-n", "200")
    games = split_games(out.read_text())
    assert [moves(read(game)) for game in games] == [
        moves(parse_game(game)) for game in (SCHOLAR, CRAZYHOUSE, CHESS960)
    ]
    assert read(games[0]).headers["Annotator"].startswith("anabranch ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.pgn", "out.pgn"]


def test_a_file_may_be_annotated_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_text(SCHOLAR)
    assert run(["annotate", str(path), "-o", str(path), "-n", "100"]) == 0
    assert "[%eval" in path.read_text()


def test_standard_input_and_output() -> None:
    command = [sys.executable, "-m", "anabranch", "annotate", "-", "-n", "100", "-e", "material"]
    done = subprocess.run(command, input=SCHOLAR, capture_output=True, text=True, check=True)
    assert moves(read(done.stdout)) == moves(parse_game(SCHOLAR))
    assert "Ben" in done.stderr


def test_damaged_games_are_named_and_passed_on(tmp_path: Path, cli: Commands) -> None:
    source, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    nothing = '[Variant "Chinese Chess"]\n\n1. e4 *\n'
    source.write_text(f"{DAMAGED}\n{nothing}\n{SCHOLAR}\n")
    said = cli.run("annotate", source, "-o", out, "-n", "100").err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("anabranch: game 1 (X - Y) is passed on as it was: illegal san: 'Ke3'")
    assert said[1].startswith("anabranch: game 2 is passed on as it was:")
    written = out.read_text()
    assert written.startswith(f"{DAMAGED}\n{nothing}\n")
    assert "[%eval #1]" in written


def test_old_encodings_are_read(tmp_path: Path) -> None:
    source, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    source.write_bytes('[White "Müller"]\r\n\r\n1. e4 {schön} *\r\n'.encode("latin-1"))
    assert run(["annotate", str(source), "-o", str(out), "-n", "50"]) == 0
    assert "Müller" in out.read_text(encoding="utf-8")
    assert "schön" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", [], "there is no game in "),
        (b"\n\n", [], "there is no game in "),
        (b"\x00\x01\x02", [], "it is not text"),
        (DAMAGED.encode(), [], "no game could be annotated"),
        (SCHOLAR.encode(), ["--time", "0"], "time must be a number of seconds"),
        (SCHOLAR.encode(), ["-n", "0"], "simulations must be a whole number"),
        (SCHOLAR.encode(), ["--lines", "0"], "--lines must be at least 1"),
        (SCHOLAR.encode(), ["--variant", "draughts"], "there is no variant 'draughts'"),
        (SCHOLAR.encode(), ["--every-move", "--blunders-only"], "cannot both be given"),
        (SCHOLAR.encode(), ["-e", "oracle"], "oracle"),
    ],
)
def test_bad_files_and_options_are_one_sentence(
    tmp_path: Path, cli: Commands, content: bytes, options: list[str], message: str
) -> None:
    source, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    source.write_bytes(content)
    said = cli.run("annotate", source, "-o", out, *options, code=2).err.splitlines()
    assert message in said[-1]
    assert said[-1].startswith("anabranch: ")
    assert [path.name for path in tmp_path.iterdir()] == ["games.pgn"]


def test_files_that_are_not_there(tmp_path: Path, cli: Commands) -> None:
    assert "there is no file" in cli.refuses("annotate", tmp_path / "none.pgn")
    source = tmp_path / "game.pgn"
    source.write_text(SCHOLAR)
    assert "there is no directory" in cli.refuses("annotate", source, "-o", tmp_path / "nowhere" / "out.pgn")


def test_ctrl_c_keeps_finished_games(tmp_path: Path) -> None:
    source, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    part = tmp_path / "out.pgn.part"
    endless = "1. e4 e5 2. Nf3 Nc6 *"
    # A game that is over by its second position costs no time; the next one takes all there is.
    source.write_text(
        f'[SetUp "1"]\n[FEN "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"]\n\n1. Ra8# *\n\n{endless}\n'
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "anabranch", "annotate", str(source), "-o", str(out), "--time", "100"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not (part.exists() and "Ra8#" in part.read_text()):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert said == f"anabranch: interrupted; the finished games are in {part}\n"
    assert moves(read(part.read_text())) == ["a1a8"]
    assert not out.exists()


def test_json_has_everything_about_every_game(tmp_path: Path, cli: Commands) -> None:
    source, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    source.write_text(f"{DAMAGED}\n{SCHOLAR}\n")
    said = cli.run("annotate", source, "-n", "300", "--json")
    document = json.loads(said.out)
    assert said.err.count("\n") == 1  # the damaged one
    assert [one["game"].partition(" ")[0] for one in document["passed_on"]] == ["game"]
    (game,) = document["games"]
    assert game["headers"]["White"] == "Anna"
    assert [move["move"] for move in game["moves"]][-2:] == ["Nf6", "Qxf7#"]
    assert game["moves"][-2]["name"] == "blunder"
    assert (game["white"]["moves"], game["black"]["blunders"]) == (4, 1)
    assert moves(read(game["pgn"])) == moves(parse_game(SCHOLAR))
    document = cli.json("annotate", source, "-n", "300", "-o", out)
    assert document["file"] == str(out)
    assert "pgn" not in document["games"][0]
    assert "[%eval" in out.read_text()


# Missed mates

MISSED = """[SetUp "1"]
[FEN "7k/8/8/8/8/8/R7/1R5K w - - 0 1"]

1. Kg2 {slow} Kg7 2. Rb6 Kf7 3. Ra7+ Ke8 4. Rb8# 1-0
"""
THROWN_AWAY = """[SetUp "1"]
[FEN "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"]

1. Ra7 h6 2. Kh1 *
"""


def test_a_missed_mate_is_named_with_its_line() -> None:
    game = parse_game(THROWN_AWAY)
    annotated = annotate_game(game, Engine(), Limits(simulations=30))
    played = node_at(game, 1)
    assert "mate in 1 missed: Ra8#" in played.comment
    assert played.eval() is not None
    assert "Ra8#" in [node.san() for node in game.variations[1:]]
    assert [judgement.missed_mate for judgement in annotated.judgements] == [1, None, None]


def test_a_mate_that_is_still_there_is_not_missed() -> None:
    game = parse_game(MISSED)
    annotated = annotate_game(game, Engine(), Limits(simulations=30), mates=200_000)
    assert all(judgement.missed_mate is None for judgement in annotated.judgements)
    assert "missed" not in format_game(game)
    assert node_at(game, 1).comment.startswith("slow")


def test_a_stalemate_misses_a_mate() -> None:
    game = parse_game('[SetUp "1"]\n[FEN "7k/5K2/8/6Q1/8/8/8/8 w - - 0 1"]\n\n1. Qg6 *')
    annotated = annotate_game(game, Engine(), Limits(simulations=30))
    assert annotated.judgements[0].missed_mate == 1
    assert node_at(game, 1).nags == {chess.pgn.NAG_BLUNDER}
    assert "mate in 1 missed: " in node_at(game, 1).comment


def test_missed_mates_are_written_once_and_can_be_left_out() -> None:
    game = parse_game(THROWN_AWAY)
    annotate_game(game, Engine(), Limits(simulations=30))
    first = format_game(game)
    again = parse_game(first)
    annotate_game(again, Engine(), Limits(simulations=30))
    assert format_game(again) == first
    plain = parse_game(THROWN_AWAY)
    annotate_game(plain, Engine(), Limits(simulations=30), mates=0)
    assert "missed" not in format_game(plain)
    quiet = parse_game(THROWN_AWAY)
    annotate_game(quiet, Engine(), Limits(simulations=30), which="blunders-only")
    assert "missed" not in format_game(quiet) or node_at(quiet, 1).nags == {chess.pgn.NAG_BLUNDER}


def test_the_command_reports_missed_mates(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_text(THROWN_AWAY, encoding="utf-8")
    document = cli.json("annotate", path, "-n", "30")
    assert [move["missed_mate"] for move in document["games"][0]["moves"]] == [1, None, None]
    assert "mate in 1 missed: Ra8#" in document["games"][0]["pgn"]
    assert "--mates" in cli.refuses("annotate", path, "-n", "30", "--mates", "-1")
    assert command.MATE_POSITIONS == MATE_POSITIONS
