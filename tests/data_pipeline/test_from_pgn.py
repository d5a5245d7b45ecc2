"""PGN files: what python-chess reads, we read; what is left out is counted; what was interrupted goes on."""

import bz2
import gzip
import io
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import chess.variant
import pytest
import zstandard
from tests.support.commands import Commands

from anabranch.cli import run
from anabranch.data.check import check_folders
from anabranch.data.jobs import PgnJob
from anabranch.data.pgn import import_pgn
from anabranch.data.shards import find_shards, game_number, read_shards
from anabranch.data.text import read_pieces
from anabranch.errors import DataError
from anabranch.match.game import GameRecord, Ply
from anabranch.match.pgn import pgn_of

RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}


def random_game(chance: random.Random, variant: str, plies: int) -> chess.pgn.Game:
    """A game with all that PGN allows: comments, evaluations, clocks, variations, glyphs, odd headers."""
    if variant == "crazyhouse":
        board: chess.Board = chess.variant.CrazyhouseBoard()
    elif variant == "chess960":
        board = chess.Board.from_chess960_pos(chance.randrange(960))
    else:
        board = chess.Board()
    for _ in range(chance.choice([0, 0, 3]) if variant != "chess960" else 0):
        board.push(chance.choice(list(board.legal_moves)))
    game = chess.pgn.Game()
    game.setup(board.copy(stack=False))
    game.headers["Event"] = chance.choice(["Rated game", 'A "quoted" \\ name', "Ünïcode ♞", ""])
    game.headers["WhiteElo"] = str(chance.randint(1000, 2800))
    game.headers["BlackElo"] = chance.choice([str(chance.randint(1000, 2800)), "?", ""])
    game.headers["TimeControl"] = chance.choice(["60+0", "300+3", "1800+20", "-", "?"])
    game.headers["X-Odd"] = chance.choice(["[", "]", "{", "1. e4 e5", "; x"])
    node: chess.pgn.GameNode = game
    board = game.board()
    for _ in range(plies):
        legal = sorted(board.legal_moves, key=str)
        if not legal:
            break
        drops = [move for move in legal if move.drop]
        move = chance.choice(drops) if drops and chance.random() < 0.4 else chance.choice(legal)
        if chance.random() < 0.1:
            other = node.add_variation(chance.choice(legal), comment="not [%eval 9.99] played")
            other.add_variation(chance.choice(list(other.board().legal_moves) or [chess.Move.null()]))
            node.variations.insert(0, node.variations.pop())
        if node.variations and node.variations[0].move == move:
            node = node.variations[0]
        else:
            node = node.add_main_variation(move)
        if chance.random() < 0.5:
            mate = chance.random() < 0.2
            score = chess.engine.Mate(chance.choice([-7, -1, 2, 30])) if mate else None
            node.set_eval(chess.engine.PovScore(score or chess.engine.Cp(chance.randint(-900, 900)), True))
        if chance.random() < 0.3:
            node.set_clock(chance.uniform(0, 999))
        if chance.random() < 0.1:
            node.comment += " (a) [b] 1-0 * "
        if chance.random() < 0.1:
            node.nags.add(chance.randint(1, 20))
        board.push(move)
    game.headers["Result"] = chance.choice(["1-0", "0-1", "1/2-1/2", "1-0", "*"])
    return game


def expected(games: list[chess.pgn.Game], variant: str) -> list[dict[str, Any]]:
    """The rows, by python-chess."""
    rows = []
    for game in games:
        moves = [move.uci() for move in game.mainline_moves()]
        if game.headers["Result"] == "*" or not moves:
            continue
        white = RESULTS[game.headers["Result"]]
        start = game.board()
        start.chess960 = variant == "chess960"
        number = game_number(variant, start.fen(en_passant="legal"), moves)
        node: chess.pgn.GameNode = game
        for ply, move in enumerate(moves):
            board = node.board()
            sign = 1 if board.turn else -1
            score = node.eval()
            cp = None
            if score is not None:
                pov = score.white()
                mate = pov.mate()
                cp = pov.score() if mate is None else (32000 - mate if mate > 0 else -32000 - mate)
            rows.append(
                {
                    "game": number,
                    "ply": ply,
                    "fen": board.fen(en_passant="legal"),
                    "move": move,
                    "moves": [move],
                    "weights": [1.0],
                    "score": None if cp is None else cp * sign,
                    "result": white * sign,
                }
            )
            node = node.variations[0]
    return rows


def comparable(fen: str) -> str:
    """A FEN with its pocket in one order, and there without the clock, which drops reset for some."""
    board, bracket, rest = fen.partition("[")
    if not bracket:
        return fen
    pocket, _, rest = rest.partition("]")
    turn, castling, passant, _, number = rest.split()
    return f"{board}[{''.join(sorted(pocket))}] {turn} {castling} {passant} {number}"


def rows_of(folder: Path) -> list[dict[str, Any]]:
    names = ["game", "ply", "fen", "move", "moves", "weights", "score", "result"]
    return [row for _, table in read_shards([folder]) for row in table.select(names).to_pylist()]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("variant", ["chess", "crazyhouse", "chess960"])
def test_games_are_those_that_python_chess_reads(tmp_path: Path, variant: str, ends: str) -> None:
    chance = random.Random(f"{variant}{ends}")
    text = "\n\n".join(str(random_game(chance, variant, chance.randint(0, 90))) for _ in range(60)) + "\n"
    path = tmp_path / "games.pgn"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", ends).encode())
    stream = io.StringIO(text)
    games = []
    while (game := chess.pgn.read_game(stream)) is not None:
        assert not game.errors
        games.append(game)
    assert len(games) == 60
    import_pgn(PgnJob(variant, min_plies=1), [path], tmp_path / "out")
    want, have = expected(games, variant), rows_of(tmp_path / "out")
    assert len(have) > 1000
    for row in [*want, *have]:
        row["fen"] = comparable(row["fen"])
        if variant == "crazyhouse":
            del row["game"]  # the order of a pocket is another there
    assert have == want
    assert check_folders([tmp_path / "out"], every_position=True).faults == []
    if variant == "crazyhouse":
        assert any("@" in row["move"] for row in have)
    assert any(abs(row["score"] or 0) > 31000 for row in have)


def pgn(moves: str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 1-0", **tags: str) -> str:
    tags = {"Event": "?", "Result": "1-0", **tags}
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + f"\n{moves}\n\n"


def read(tmp_path: Path, text: str, **options: Any) -> tuple[dict[str, int], int]:
    path = tmp_path / "games.pgn"
    path.write_text(text)
    done = import_pgn(PgnJob(**options), [path], tmp_path / "out")
    return {name: count for name, count in done.counts.items() if count}, done.positions


@pytest.mark.parametrize(
    ("tags", "options", "reason"),
    [
        ({"Result": "*"}, {}, "unfinished"),
        ({"Variant": "Atomic"}, {}, "variant"),
        ({"Variant": "Crazyhouse"}, {}, "variant"),
        ({}, {"variant": "crazyhouse"}, "variant"),
        ({}, {"min_rating": 1000}, "rating"),
        ({"WhiteElo": "2500", "BlackElo": "1999"}, {"min_rating": 2000}, "rating"),
        ({"TimeControl": "60+1"}, {"min_time": 180}, "time"),
        ({"TimeControl": "-"}, {"max_time": 600}, "time"),
        ({"BlackTitle": "BOT"}, {}, "bots"),
        ({"Termination": "Abandoned"}, {}, "abandoned"),
        ({"Termination": "Rules infraction"}, {}, "abandoned"),
        ({}, {"min_plies": 11}, "short"),
        ({}, {"evaluated": True}, "unevaluated"),
        ({"FEN": "8/8/8/8/8/8/8/8 w - - 0 1"}, {}, "illegal"),
    ],
)
def test_games_are_left_out_and_counted(
    tmp_path: Path, tags: dict[str, str], options: dict[str, Any], reason: str
) -> None:
    assert read(tmp_path, pgn(**tags), **options) == ({"games": 1, reason: 1}, 0)


@pytest.mark.parametrize(
    ("tags", "options"),
    [
        ({"WhiteElo": "2500", "BlackElo": "2000"}, {"min_rating": 2000}),
        ({"TimeControl": "180+0"}, {"min_time": 180}),
        ({}, {"min_time": 180}),  # KingBase
        ({"TimeControl": "-"}, {"min_time": 180}),
        ({"BlackTitle": "BOT"}, {"bots": True}),
        ({"Termination": "Abandoned"}, {"abandoned": True}),
        ({"Termination": "Time forfeit"}, {}),
        ({"Variant": "Standard"}, {}),
        ({"Variant": "From Position", "SetUp": "1", "FEN": chess.STARTING_FEN}, {}),
    ],
)
def test_games_that_pass(tmp_path: Path, tags: dict[str, str], options: dict[str, Any]) -> None:
    counts, positions = read(tmp_path, pgn(**tags), **options)
    assert (counts["kept"], positions) == (1, 10)


def test_games_that_are_not_understood_cost_only_themselves(tmp_path: Path) -> None:
    text = (
        pgn("1. e4 e5 2. Nf6 1-0")
        + pgn("1. e4 { never closed 1-0")
        + pgn("1. d4 d5 { closed } 1-0")
        + pgn("1. e4 -- 2. d4 1-0")
        + pgn("1. c4 c5 1-0")
        + pgn("1. c4 c5 2. Nc3 0-1")
        + pgn("1. e4 e5")
        + pgn("1. c4 c5 1-0")
    )
    counts, positions = read(tmp_path, text, min_plies=1)
    assert positions == 2
    assert counts["kept"] == counts["twice"] == 1
    assert counts["illegal"] == 2
    assert counts["unreadable"] == 1
    assert counts["unfinished"] == 2


def test_plies_are_skipped(tmp_path: Path) -> None:
    assert read(tmp_path, pgn(), skip_plies=4)[1] == 6
    assert [row["ply"] for row in rows_of(tmp_path / "out")] == [4, 5, 6, 7, 8, 9]


def many(count: int) -> str:
    chance = random.Random(2)
    boards = []
    for number in range(count):
        board = chess.Board()
        moves = []
        for ply in range(12):
            move = chance.choice(list(board.legal_moves))
            moves.append((f"{ply // 2 + 1}. " if ply % 2 == 0 else "") + board.san(move))
            board.push(move)
        boards.append(pgn(" ".join(moves) + " 1-0", Round=str(number)))
    return "".join(boards)


@pytest.mark.parametrize("form", ["plain", "zst", "frames", "bz2", "gz"])
def test_compressed_files_hold_the_same(tmp_path: Path, form: str) -> None:
    content = many(40).encode()
    tool = zstandard.ZstdCompressor()
    half = len(content) // 2
    packed = {
        "plain": content,
        "zst": tool.compress(content),
        "frames": tool.compress(content[:half]) + tool.compress(content[half:]),
        "bz2": bz2.compress(content),
        "gz": gzip.compress(content),
    }
    path = tmp_path / f"games.{form}"
    path.write_bytes(packed[form])
    assert b"".join(piece.text for piece in read_pieces(path, size=1000)) == content
    assert import_pgn(PgnJob(), [path], tmp_path / "out").positions == 480


def test_standard_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "anabranch", "data", "from-pgn", "-", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, input=many(20).encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"20 games read, 20 kept with 240 positions")


def test_pieces_end_between_games_wherever_one_begins(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(many(40))
    pieces = list(read_pieces(path, size=1000))
    assert len(pieces) == 4
    assert all(piece.text.startswith(b"[Event ") for piece in pieces)
    for at in (0, 2):
        again = list(read_pieces(path, pieces[at].end, size=1000))
        assert [piece.text for piece in again] == [piece.text for piece in pieces[at + 1 :]]


def test_reading_goes_on_after_the_last_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.data.pgn.read_pieces", lambda path, begin: read_pieces(path, begin, 2000))
    first, second = tmp_path / "a.pgn", tmp_path / "b.pgn"
    text = many(120)
    first.write_text(text)
    second.write_text(text[len(text) // 2 :] + pgn())
    job = PgnJob(positions_per_shard=100)
    whole = import_pgn(job, [first, second], tmp_path / "whole", threads=3)
    assert whole.counts["kept"] == 121
    names = [shard.path.name for shard in find_shards(tmp_path / "whole")]
    assert len(names) > 5

    class Stop(Exception):  # noqa: N818
        pass

    for stop in (1, 2, 4, 3):
        calls = 0

        def advance(*_: object, stop: int = stop) -> None:
            nonlocal calls
            calls += 1
            if calls == stop:
                raise Stop

        with pytest.raises(Stop):
            import_pgn(job, [first, second], tmp_path / "broken", advance)
    assert import_pgn(job, [first, second], tmp_path / "broken") == whole
    assert [shard.path.name for shard in find_shards(tmp_path / "broken")] == names
    find_shards(tmp_path / "broken")[2].path.unlink()
    with pytest.raises(DataError, match="lacks shard 2"):
        import_pgn(job, [first, second], tmp_path / "broken")
    for shard in find_shards(tmp_path / "broken")[2:]:
        shard.path.unlink()
    assert import_pgn(job, [first, second], tmp_path / "broken").positions == whole.positions
    assert [shard.path.name for shard in find_shards(tmp_path / "broken")] == names


def test_more_games_and_files_extend_the_data(tmp_path: Path) -> None:
    first, second = tmp_path / "a.pgn", tmp_path / "b.pgn"
    first.write_text(many(50))
    second.write_text(pgn())
    out = tmp_path / "out"
    for most, files, kept in (
        (7, [first], 7),
        (7, [first], 7),
        (20, [first], 20),
        (None, [first, second], 51),
    ):
        done = import_pgn(PgnJob(max_games=most), files, out)
        assert (done.counts["kept"], done.positions) == (kept, min(kept, 50) * 12 + (10 if kept > 50 else 0))
    assert done.counts["games"] == 51
    assert done.counts["twice"] == 0
    assert check_folders([out], every_position=True).faults == []
    with pytest.raises(DataError, match="another job"):
        import_pgn(PgnJob(min_rating=2000), [first, second], out)
    with pytest.raises(DataError, match="another job"):
        import_pgn(PgnJob(), [second], out)


def test_a_damaged_file_keeps_what_was_finished(tmp_path: Path, cli: Commands) -> None:
    path = tmp_path / "games.pgn.gz"
    packed = bytearray(gzip.compress(many(60).encode()))
    packed[len(packed) // 2] ^= 255
    path.write_bytes(packed)
    assert f"{path} is damaged" in cli.refuses("data", "from-pgn", path, "--out", tmp_path / "out")
    assert "there is no file" in cli.refuses("data", "from-pgn", tmp_path / "none", "--out", tmp_path / "out")


def test_notes_say_where_the_games_are_from(tmp_path: Path) -> None:
    read(tmp_path, pgn())
    ((_, table),) = read_shards([tmp_path / "out"], "chess")
    assert set(table.column("source").to_pylist()) == {"games.pgn"}
    assert json.loads((tmp_path / "out" / "job.json").read_text())["files"][0][0] == "games.pgn"


def test_scores_of_our_matches_are_read(tmp_path: Path) -> None:
    said = [35, -20, None, 31998, 12, -31997, 0, 5, 250, -250]
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1", "f8e7"]
    record = GameRecord(
        0, 0, "a", "b", "chess", False, chess.STARTING_FEN, "", "1-0", "mate", None, ("A", "B"), "2026-01-01",
        1.0, tuple(Ply(move, score, 12, 800, 0.1) for move, score in zip(moves, said, strict=True)),
    )  # fmt: skip
    counts, positions = read(tmp_path, pgn_of(record), evaluated=True)
    assert (counts, positions) == ({"games": 1, "taken": 1, "kept": 1}, 10)
    assert [row["score"] for row in rows_of(tmp_path / "out")] == said
    assert check_folders([tmp_path / "out"], every_position=True).faults == []


@pytest.mark.parametrize(
    ("comments", "scores"),
    [
        (
            ("-0.35/12 0.10s", "+0.40/9 1.2s, n=100", "book", "+M1/3 0.02s, Black mates"),
            [-35, 40, None, 31999],
        ),
        (("+0.10/14/20 3", "0.00/1", "-M2/5, n=1", "1/2"), [10, 0, -31998, None]),
        (("[%eval 0.3]", "0.1s", "[%eval #-1]", "x"), [None, -30, None, 31999]),
    ],
    ids=["cutechess and fastchess", "xboard", "lichess"],
)
def test_scores_as_others_write_them(
    tmp_path: Path, comments: tuple[str, ...], scores: list[int | None]
) -> None:
    moves = zip(("1. f3", "1... e5", "2. g4", "2... Qh4#"), comments, strict=True)
    text = " ".join(f"{move} {{{comment}}}" for move, comment in moves)
    read(tmp_path, pgn(f"{text} 0-1", Result="0-1"), min_plies=1)
    assert [row["score"] for row in rows_of(tmp_path / "out")] == scores


HOUSE = pgn("1. e4 d5 2. exd5 Qxd5 3. P@e4 Qxe4+ 4. Qe2 Qxe2+ 5. Bxe2 P@h3 1-0", Variant="Crazyhouse")
POCKET = "rnb1kbnr/ppp1pppp/8/3q4/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3"


@pytest.mark.parametrize("text", [HOUSE, pgn("3. P@e4 Qxe4+ 1-0", FEN=POCKET)], ids=["tag", "position"])
def test_games_of_another_variant_are_named_and_do_not_block(
    tmp_path: Path, cli: Commands, text: str
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text)
    command = ["data", "from-pgn", str(path), "--out", str(tmp_path / "out"), "--min-plies", "1"]
    said = cli.run(*command, code=2)
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "none of 1 game was kept: " in said.err
    assert "the games are of crazyhouse, so give --variant crazyhouse" in said.err
    path.write_text(HOUSE)
    assert run([*command, "--variant", "crazyhouse"]) == 0
    assert len(rows_of(tmp_path / "out")) == 10
    assert "another job" in cli.refuses(*command)  # what has samples is kept
    assert len(rows_of(tmp_path / "out")) == 10


def test_a_filter_that_leaves_nothing_does_not_block(tmp_path: Path, cli: Commands) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(pgn())
    command = ["data", "from-pgn", str(path), "--out", str(tmp_path / "out")]
    assert "none of 1 game was kept: rating 1\n" in cli.refuses(*command, "--min-rating", "2000")
    assert run(command) == 0


def test_a_file_that_is_not_ours_stays(tmp_path: Path, cli: Commands) -> None:
    (tmp_path / "games.pgn").write_text(pgn())
    (tmp_path / "out").mkdir()
    foreign = tmp_path / "out" / "job.json"
    foreign.write_text('{"name": "mine"}')
    assert "does not describe a job" in cli.refuses(
        "data", "from-pgn", tmp_path / "games.pgn", "--out", tmp_path / "out"
    )
    assert foreign.read_text() == '{"name": "mine"}'
