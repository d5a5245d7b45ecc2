"""Whole matches: score and reasons, the schedule, files, how they end."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import chess
import chess.pgn
import chess.syzygy
import pytest
from tests.match.matches import START, openings, quick, spec
from tests.support.fake_engine import FakeEngine
from tests.support.tables import TABLES

from anabranch.errors import FolderBusyError, MatchError
from anabranch.match import uci_player
from anabranch.match.adjudication import Adjudication
from anabranch.match.game import GameRecord, play_game
from anabranch.match.openings import Opening
from anabranch.match.player import Budget, read_player
from anabranch.match.results import GAMES, RESULTS, SPEC, SUMMARY, read_results
from anabranch.match.runner import open_match, run_match
from anabranch.match.schedule import MatchSpec
from anabranch.match.standings import Tally
from anabranch.match.statistics import Sprt
from anabranch.networks.shipped import bundled

# Score and reasons


def test_a_match_with_engines_that_misbehave(
    mock: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_player, "HANG_TIMEOUT", 0.3)
    modes = {
        "crash": "crash",
        "hang": "hang",
        "illegal move": "illegal",
        "symbols": "garbage",
        "endless line": "endless",
        "never ready": "not ready",
    }
    bad = [read_player(f"{mode}=uci:{mock(mode)},time=5") for mode in modes]
    bad[1] = replace(bad[1], budget=Budget(time=0.2))
    good = read_player(f"good=uci:{mock('')},nodes=5,Hash=2")
    asked = spec(quick("ours"), *bad, good, mode="gauntlet", timeout=3.0, margin=1.0)
    heard: list[str | None] = []
    standings = run_match(
        asked, tmp_path, 0, lambda _, record: heard.append(None if record is None else record.fault)
    )
    assert standings.games == 14
    for matchup, mode in zip(standings.matchups[:-1], modes, strict=True):
        assert (matchup.wins, matchup.draws, matchup.losses) == (2, 0, 0), mode
        assert matchup.pairs == (0, 0, 0, 0, 1)
    assert standings.matchups[-1].draws == 2  # by length: nobody was at fault
    assert standings.faults == {mode: {kind: 2} for mode, kind in modes.items()}
    assert standings.reasons == {**dict.fromkeys(modes.values(), 2), "length": 2}
    assert sum(fault is not None for fault in heard) == 12
    records = read_results(tmp_path)
    assert records[2, 0].fault == "the engine played e7e4, which is illegal in " + _fen(records[2, 0])
    crashed = records[0, 1]
    assert (crashed.white, crashed.result, crashed.reason, len(crashed.plies)) == ("crash", "0-1", "crash", 2)
    games = (tmp_path / GAMES).read_text()
    assert "crash: crash: the engine has ended" in games.replace("\n", " ")


def _fen(record: GameRecord) -> str:
    board = chess.Board(record.fen)
    for ply in record.plies:
        board.push_uci(ply.move)
    return board.fen()


def test_a_player_that_is_late_loses_on_time(
    mock: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_player, "HANG_TIMEOUT", 30.0)
    slow = read_player(f"slow=uci:{mock('late')},clock=0.75+0.05")
    standings = run_match(spec(slow, quick("b"), margin=0.05), tmp_path, 0)
    assert standings.faults == {"slow": {"time": 2}}
    # 0.35 s a move: the third cannot be in time.
    assert all(len(record.plies) <= 5 for record in read_results(tmp_path).values())


def test_a_margin_is_one_for_the_whole_game(
    mock: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci_player, "HANG_TIMEOUT", 30.0)
    # 0.35 s a move with 0.05 s back: every move is within the margin of what is left, all together are not.
    slow = read_player(f"slow=uci:{mock('late')},clock=0.5+0.05")
    rules = Adjudication(longest=16)
    standings = run_match(spec(slow, quick("b"), margin=0.45, adjudication=rules), tmp_path, 0)
    assert standings.faults == {"slow": {"time": 2}}


def test_games_end_when_both_agree(mock: FakeEngine, tmp_path: Path) -> None:
    winning = read_player(f"winning=uci:{mock('winning')},nodes=1")
    resigned = read_player(f"resigned=uci:{mock('resigned')},nodes=1")
    silent = read_player(f"silent=uci:{mock('silent')},nodes=1")
    rules = Adjudication(resign_score=1000, resign_plies=4, longest=10)
    both = run_match(spec(winning, resigned, adjudication=rules), tmp_path / "both", 0)
    assert both.reasons == {"resignation": 2}
    assert both.matchups[0].wins == 2
    assert {len(record.plies) for record in read_results(tmp_path / "both").values()} == {4}
    one = run_match(spec(winning, silent, adjudication=rules), tmp_path / "one", 0)
    assert one.reasons == {"length": 2}
    off = run_match(spec(winning, resigned), tmp_path / "off", 0)
    assert off.reasons == {"length": 2}


def test_rules_of_adjudication() -> None:
    board = chess.Board()
    rules = Adjudication(draw_score=10, draw_plies=4, draw_after=6, longest=8)
    assert rules.verdict(board, [50, 5, -5, 5, -5]) is None  # too early
    assert rules.verdict(board, [50, 50, 5, -5, 5, -5]) == ("1/2-1/2", "agreement")
    assert rules.verdict(board, [50, 50, 5, None, 5, -5]) is None
    assert rules.verdict(board, [50] * 8) == ("1/2-1/2", "length")
    resign = Adjudication(resign_score=500, resign_plies=3)
    assert resign.verdict(board, [-500, -600, -700]) == ("0-1", "resignation")
    assert resign.verdict(board, [500, 600, 700]) == ("1-0", "resignation")
    assert resign.verdict(board, [499, 600, 700]) is None
    assert resign.verdict(board, [-600, 600, 600]) is None
    assert Adjudication().verdict(board, [30_000] * 500) is None
    with pytest.raises(MatchError, match="two plies are the least"):
        Adjudication(resign_score=500, resign_plies=1)


def test_tablebases_end_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = {"8/8/8/8/8/2k5/8/K1q5": -2, "8/8/8/8/8/2k5/8/KB6": 0, "8/8/8/8/8/2k5/7P/K7": 1}

    def probe_wdl(self: object, board: chess.Board) -> int:
        return known[board.board_fen()]

    monkeypatch.setattr(chess.syzygy.Tablebase, "probe_wdl", probe_wdl)
    monkeypatch.setattr(chess.syzygy.Tablebase, "add_directory", lambda self, folder: 1)
    rules = Adjudication(tablebases=str(tmp_path))

    def verdict(board: str, rest: str = "w - - 0 60") -> tuple[str, str] | None:
        return rules.verdict(chess.Board(f"{board} {rest}"), [])

    lost, drawn, cursed = known
    assert verdict(lost) == ("0-1", "tablebase")
    assert verdict(lost, "w - - 3 60") is None  # who knows how many of the 50 moves it takes
    assert verdict(drawn, "w - - 3 60") == ("1/2-1/2", "tablebase")
    assert verdict(cursed) == ("1/2-1/2", "tablebase")
    assert verdict("8/8/8/8/8/2k5/8/K1r5") is None  # a table that is not there
    assert rules.verdict(chess.Board(), []) is None


def test_real_tables_end_a_game(tmp_path: Path) -> None:
    # White takes a rook and has king and queen against king: won, as soon as it is done.
    start = Opening("8/8/8/3r4/8/k7/8/3Q3K w - - 0 1")
    rules = Adjudication(tablebases=str(TABLES), longest=40)
    player = read_player(f"a=preset:mcgs-combined,evaluations=50,tablebases={TABLES}")
    other = read_player("b=preset:mcgs-combined,evaluations=50")
    run_match(spec(player, other, openings=(start,), adjudication=rules), tmp_path, 0)
    for record in read_results(tmp_path).values():
        assert (record.result, record.reason) == ("1-0", "tablebase")


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    rules = Adjudication(tablebases=str(tmp_path))
    with pytest.raises(MatchError, match="no tablebase for chess in"):
        rules.verdict(chess.Board("8/8/8/8/8/2k5/8/K1q5 w - - 0 60"), [])
    missing = Adjudication(tablebases=str(tmp_path / "nowhere"))
    for variant, asked, sentence in (
        ("chess", rules, "no tablebase for chess in"),
        ("chess", missing, "nowhere cannot be read: No such file"),
        ("crazyhouse", rules, "no tablebases for crazyhouse"),
    ):
        with pytest.raises(MatchError, match=sentence):
            run_match(spec(variant=variant, adjudication=asked), tmp_path / "match", 0)
    assert not (tmp_path / "match").exists(), "refused after the match had begun"


# Schedule


def test_every_opening_is_played_twice_with_colours_reversed() -> None:
    asked = spec(quick("a"), quick("b"), quick("c"), pairs=4, openings=openings("chess", 3), seed=5)
    games = list(asked.schedule())
    assert len(games) == asked.games == 24
    assert len({game.key for game in games}) == 24
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert first.pair == second.pair
        assert first.opening == second.opening
        assert (first.white, first.black) == (second.black, second.white)
        assert first.seed == second.seed
    rounds = [{game.opening for game in games[at : at + 6]} for at in range(0, 24, 6)]
    assert all(len(once) == 1 for once in rounds)
    assert rounds[0] == rounds[3]
    assert len(rounds[0] | rounds[1] | rounds[2]) == 3
    assert list(replace(asked, pairs=2).schedule()) == games[:12]
    assert len(list(replace(asked, mode="gauntlet").schedule())) == 16


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: spec(quick("a")), "needs two players"),
        (lambda: spec(quick("a"), quick("a")), "two players are called a"),
        (lambda: spec(quick("a"), read_player("b=preset:mcgs")), "player b has no limit"),
        (lambda: spec(pairs=0), "at least one pair"),
        (lambda: spec(variant="shogi"), "no variant shogi"),
        (lambda: spec(openings=()), "needs an opening"),
        (lambda: spec(quick("a"), quick("b"), quick("c"), sprt=Sprt(0, 5)), "for two players"),
    ],
)
def test_matches_that_make_no_sense(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(MatchError, match=sentence):
        make()


# Files


def test_pgn_is_read_again(tmp_path: Path) -> None:
    rules = Adjudication(longest=60)
    for variant, chess960, start in (
        ("chess", False, openings("chess", 2)),
        ("crazyhouse", False, openings("crazyhouse", 2)),
        ("chess", True, (Opening("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w FHfh - 2 9"),)),
    ):
        folder = tmp_path / f"{variant}-{chess960}"
        players = (
            read_player("a=preset:mcgs,evaluations=8"),
            read_player("b=preset:alphazero,evaluations=8"),
        )
        asked = spec(
            *players, variant=variant, chess960=chess960, openings=start, pairs=2, adjudication=rules
        )
        run_match(asked, folder, 0)
        records = list(read_results(folder).values())
        stream = io.StringIO((folder / GAMES).read_text())
        for record in records:
            game = chess.pgn.read_game(stream)
            assert game is not None
            assert not game.errors
            assert (game.headers["White"], game.headers["Result"]) == (record.white, record.result)
            assert game.board().uci_variant == variant
            assert [game.board().uci(move) for move in game.mainline_moves()][:1] == [record.plies[0].move]
            nodes = list(game.mainline())
            assert len(nodes) == len(record.plies)
            board = game.board()
            for node, ply in zip(nodes, record.plies, strict=True):
                assert board.uci(node.move) == ply.move
                board.push(node.move)
                assert ply.score is not None
                assert node.comment.endswith(f" {ply.seconds:.2f}s")
                assert node.comment.startswith(("+M", "-M", f"{ply.score / 100:+.2f}/{ply.depth}"))
        assert chess.pgn.read_game(stream) is None
        assert records[0].opening == "" or f'[Opening "{records[0].opening}"]' in stream.getvalue()


def test_a_game_is_a_function_of_its_description() -> None:
    player = read_player("a=preset:mcgs-combined,evaluations=20")
    other = replace(player, name="b", options={"c_init": "1.5"})
    game = next(iter(spec(player, other, adjudication=Adjudication(longest=30)).schedule()))
    first, second = play_game(game), play_game(game)
    assert [ply.move for ply in first.plies] == [ply.move for ply in second.plies]
    assert [ply.score for ply in first.plies] == [ply.score for ply in second.plies]
    assert GameRecord.from_dict(json.loads(json.dumps(first.to_dict()))).to_dict() == first.to_dict()


def test_a_match_goes_on_and_grows(tmp_path: Path) -> None:
    run_match(spec(pairs=2), tmp_path, 0)
    before = (tmp_path / RESULTS).read_bytes()
    run_match(spec(pairs=2), tmp_path, 0)
    assert (tmp_path / RESULTS).read_bytes() == before
    assert run_match(spec(pairs=3), tmp_path, 2).games == 6
    assert (tmp_path / RESULTS).read_bytes().startswith(before)
    assert run_match(spec(pairs=1), tmp_path, 0).games == 2  # later games are kept, not counted
    assert len(read_results(tmp_path)) == 6
    assert json.loads((tmp_path / SUMMARY).read_text())["games"] == 2


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (spec(quick("a", ",c_init=1.0"), quick("b")), 'players 1 options c_init was null, now is "1.0"'),
        (spec(seed=1), "its seed was 0, now is 1"),
        (spec(openings=(START, *openings("chess", 1))), "its openings count was 1, now is 2"),
        (spec(adjudication=Adjudication(longest=7)), "its adjudication longest was 6, now is 7"),
        (spec(sprt=Sprt(0, 5)), "its sprt was null, now is"),
    ],
)
def test_another_match_is_refused(tmp_path: Path, other: MatchSpec, sentence: str) -> None:
    run_match(spec(), tmp_path, 0)
    with pytest.raises(MatchError, match="holds another match") as error:
        run_match(other, tmp_path, 0)
    assert sentence in str(error.value)


def test_another_network_makes_another_match(tmp_path: Path) -> None:
    network = tmp_path / "net.safetensors"
    asked = spec(*(read_player(f"{name}=preset:mcgs,simulations=1,evaluator={network}") for name in "ab"))
    for variant in ("chess", "crazyhouse"):
        source = bundled(variant)
        assert source is not None
        network.write_bytes(source.read_bytes())
        if variant == "chess":
            run_match(asked, tmp_path / "match", 0)
            description = tmp_path / "match" / SPEC
            known = json.loads(description.read_text())
            assert len(known.pop("networks")) == 1
            description.write_text(json.dumps(known))  # as earlier versions wrote it
            run_match(asked, tmp_path / "match", 0)
    with pytest.raises(MatchError, match=r"holds another match: its networks .*net.safetensors was"):
        run_match(asked, tmp_path / "match", 0)


def test_torn_and_foreign_lines(tmp_path: Path) -> None:
    run_match(spec(pairs=2), tmp_path, 0)
    path = tmp_path / RESULTS
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for cut in (1, len(lines[-1]) // 2, len(lines[-1]) - 1):
        path.write_bytes(whole[: len(whole) - cut])
        assert len(read_results(tmp_path)) == 3
        assert run_match(spec(pairs=2), tmp_path, 0).games == 4
        assert len(path.read_bytes().splitlines()) == 4
    path.write_bytes(whole + lines[0])
    assert run_match(spec(pairs=2), tmp_path, 0).games == 4  # the same game twice counts once
    path.write_bytes(b"nonsense\n" + whole)
    with pytest.raises(MatchError, match=r"line 1 of .* is not the record of a game"):
        run_match(spec(pairs=2), tmp_path, 0)
    (tmp_path / SPEC).unlink()
    with pytest.raises(MatchError, match="holds results without match"):
        run_match(spec(pairs=2), tmp_path, 0)


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    asked = spec()
    with open_match(asked, tmp_path), pytest.raises(FolderBusyError, match="another process"):
        run_match(asked, tmp_path, 0)


# The end


def test_an_sprt_ends_a_match(mock: FakeEngine, tmp_path: Path) -> None:
    bad = read_player(f"bad=uci:{mock('dies at once')},nodes=1")
    asked = spec(quick("a"), bad, pairs=500, sprt=Sprt(0.0, 400.0))
    standings = run_match(asked, tmp_path, 0)
    assert standings.verdict == "accepted"
    assert standings.games < 60
    assert standings.ratio is not None
    assert standings.ratio >= 2.94
    lost = run_match(replace(asked, players=asked.players[::-1]), tmp_path / "other", 0)
    assert lost.verdict == "rejected"


def test_an_sprt_sees_pairs_in_their_order(tmp_path: Path) -> None:
    """Workers finish in any order; the verdict is that of the first pairs all the same."""
    run_match(spec(), tmp_path, 0)
    games = list(read_results(tmp_path).values())
    asked = spec(pairs=60, sprt=Sprt(0.0, 200.0))

    def result(white: str, pair: int) -> str:
        a_wins = pair >= 20  # first twenty pairs that a loses, then forty that it wins
        return "1-0" if (white == "a") == a_wins else "0-1"

    records = [
        replace(game, pair=pair, result=result(game.white, pair)) for pair in range(60) for game in games
    ]
    in_order, in_reverse = (Tally(asked, some).standings() for some in (records, records[::-1]))
    assert in_order.verdict == in_reverse.verdict == "rejected"
    assert in_order.tested == in_reverse.tested
    assert sum(in_order.tested) <= 20
    assert Tally(asked, records[60:]).standings().verdict == "continue", "the first pairs are missing"
    part = Tally(replace(asked, pairs=30, first=30), records[60:]).standings()
    assert part.verdict == "accepted", "a part begins with its own first pair"


def test_a_part_has_the_games_of_the_whole_match_from_its_first_pair_on() -> None:
    whole = list(spec(pairs=5, seed=3).schedule())
    assert list(spec(pairs=2, seed=3, first=3).schedule()) == whole[6:]
    with pytest.raises(MatchError, match="the number of the first pair is 0 or more, not -1"):
        spec(first=-1)


def test_players_of_two_camps_are_not_rated(tmp_path: Path) -> None:
    asked = spec(*(quick(name) for name in "abcd"))
    run_match(asked, tmp_path, 0)
    records = read_results(tmp_path)
    assert set(Tally.of(asked, records).ratings()) == set("abcd")
    camps = {key: one for key, one in records.items() if {one.white, one.black} in ({"a", "b"}, {"c", "d"})}
    assert len(camps) == 4
    assert Tally.of(asked, camps).ratings() == {}


def test_ratings_of_a_round_robin(tmp_path: Path) -> None:
    players = [
        read_player(f"{name}=preset:alphazero,evaluations={n}") for name, n in (("a", 60), ("b", 8), ("c", 2))
    ]
    asked = spec(
        *players, pairs=4, openings=openings("chess", 4), adjudication=Adjudication(500, 4, longest=120)
    )
    run_match(asked, tmp_path, 0)
    summary = json.loads((tmp_path / SUMMARY).read_text())
    ratings = {name: rating["value"] for name, rating in summary["ratings"].items()}
    assert ratings["c"] == 0.0
    assert ratings["a"] > ratings["c"]
    assert summary["games"] == 24
    assert [matchup["games"] for matchup in summary["meetings"]] == [8, 8, 8]


def test_counting_needs_whole_pairs_only_where_pairs_count(tmp_path: Path) -> None:
    run_match(spec(pairs=2), tmp_path, 0)
    records = list(read_results(tmp_path).values())[:3]
    standings = Tally(spec(pairs=2), records).standings()
    assert standings.games == 3
    assert sum(standings.matchups[0].pairs) == 1
    assert standings.matchups[0].games == 3
