"""Openings: read, written, made."""

import bz2
import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Commands

from anabranch.cli import run
from anabranch.errors import MatchError
from anabranch.jobs.executor import Processes
from anabranch.match import balanced_openings
from anabranch.match.balanced_openings import CandidateJob, OpeningsSpec, draw, judge_candidate, make_openings
from anabranch.match.openings import (
    Opening,
    board_of,
    bundled_openings,
    default_openings,
    digest,
    key_of,
    read_openings,
    without_repeats,
    write_openings,
)
from anabranch.match.player import read_player

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
ITALIAN = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
POCKETS = "r1bqkb1r/ppp2ppp/2n2n2/3pp3/8/3P1N2/PPP1PPPP/RNBQKB1R[Np] w KQkq - 0 5"
CHESS960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"

OURS = "ours=preset:default,evaluator=material,simulations=30"
THEIRS = "theirs=uci:stockfish,nodes=200,Hash=1"


@pytest.mark.parametrize("suffix", ["epd", "fen", "pgn"])
@pytest.mark.parametrize(
    ("variant", "chess960", "fens"),
    [
        ("chess", False, [START, ITALIAN]),
        ("crazyhouse", False, [POCKETS]),
        ("chess", True, [CHESS960]),
        ("3check", False, ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 2+3 0 1"]),
    ],
)
def test_what_is_written_is_read(
    tmp_path: Path, suffix: str, variant: str, chess960: bool, fens: list[str]
) -> None:
    openings = [
        Opening(board_of(variant, fen, chess960).fen(), f"line {place}") for place, fen in enumerate(fens)
    ]
    path = tmp_path / f"openings.{suffix}"
    write_openings(path, openings, variant, chess960, ["how they", "were made"])
    again = read_openings(path, variant, chess960)
    assert [opening.fen for opening in again] == [opening.fen for opening in openings]
    if suffix != "fen":
        assert [opening.name for opening in again] == [opening.name for opening in openings]


def test_games_give_their_last_position(tmp_path: Path) -> None:
    path = tmp_path / "book.pgn"
    path.write_text('[Event "?"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 *\n\n[Event "?"]\n\n1. d4 *\n')
    first, second = read_openings(path, "chess")
    assert first.fen == ITALIAN
    assert second.fen.startswith("rnbqkbnr/pppppppp/8/8/3P4")


@pytest.mark.parametrize("kind", ["gz", "bz2", "zip"])
def test_compressed_files_are_read(tmp_path: Path, kind: str) -> None:
    data = f"{ITALIAN}\n".encode()
    path = tmp_path / f"book.epd.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("book.epd", data)
    else:
        path.write_bytes(gzip.compress(data) if kind == "gz" else bz2.compress(data))
    assert [opening.fen for opening in read_openings(path, "chess")] == [ITALIAN]


def test_repeats_are_positions_whatever_their_counters() -> None:
    other = ITALIAN.replace("3 3", "0 9")
    assert without_repeats([Opening(ITALIAN), Opening(other), Opening(START)]) == [
        Opening(ITALIAN),
        Opening(START),
    ]
    assert key_of(Opening(ITALIAN)) == key_of(Opening(other))
    pockets = [Opening(POCKETS), Opening(POCKETS.replace("[Np]", "[np]"))]
    assert len(without_repeats(pockets)) == 2
    assert digest(pockets) != digest(pockets[::-1])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rnbqkbnr/pppppppp w KQkq\n", "book.epd:1"),
        (f"{START}\n\nkk6/8/8/8/8/8/8/KK6 w - - 0 1\n", "book.epd:3: .* against the rules of chess"),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1\n", "already over"),
        ("", "no opening in"),
        ("# nothing\n", "no opening in"),
        ('[Event "?"]\n\n1. e4 e5 2. Ke3 *\n', "game 1: illegal san"),
        ('[Variant "Crazyhouse"]\n\n1. e4 *\n', "game 1 is crazyhouse, not chess"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "book.epd"
    path.write_text(text)
    with pytest.raises(MatchError, match=sentence):
        read_openings(path, "chess")


def test_files_that_are_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(MatchError, match="cannot be read"):
        read_openings(tmp_path / "none.epd", "chess")
    path = tmp_path / "noise.epd"
    path.write_bytes(bytes(range(128, 256)))
    with pytest.raises(MatchError, match="is no text"):
        read_openings(path, "chess")
    with pytest.raises(MatchError, match=r"written as \.epd"):
        write_openings(tmp_path / "x.doc", [Opening(START)], "chess")


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_the_suites_of_the_package(variant: str) -> None:
    path = bundled_openings(variant)
    assert path is not None
    openings = read_openings(path, variant)
    assert len(openings) >= 500
    assert len(without_repeats(openings)) == len(openings)
    assert "130 centipawns" in path.read_text()
    plies = {board_of(variant, opening.fen, False).ply() for opening in openings}
    assert plies == {4, 5, 6, 7, 8}


def test_where_games_begin_when_nobody_says() -> None:
    assert len(default_openings("crazyhouse")) == 500
    assert default_openings("horde")[0].name == "start"
    ranks = default_openings("crazyhouse", chess960=True)
    assert len(without_repeats(ranks)) == 960
    assert board_of("crazyhouse", ranks[518].fen, True).fen().startswith("rnbqkbnr/pppppppp")


def test_a_name_with_quotes_is_written_so_that_it_can_be_read(tmp_path: Path) -> None:
    write_openings(tmp_path / "x.epd", [Opening(START, 'the "main" line')], "chess")
    assert read_openings(tmp_path / "x.epd", "chess")[0].name == "the 'main' line"


def spec(variant: str = "chess", positions: int = 6, **changes: object) -> OpeningsSpec:
    judges = tuple(read_player(text) for text in (OURS, THEIRS))
    return OpeningsSpec(variant, positions, judges, **{"plies": (2, 4), **changes})  # type: ignore[arg-type]


def test_a_suite_is_the_same_however_it_was_made(tmp_path: Path) -> None:
    made = whole, _ = make_openings(spec(), tmp_path / "whole.epd")
    assert len(whole) == 6
    assert read_openings(tmp_path / "whole.epd", "chess") == whole
    assert (tmp_path / "whole.epd").read_text().startswith("# 6 positions of chess")

    def tire(kept: float, positions: float | None, words: str) -> None:
        if words == "4 candidates":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_openings(spec(), tmp_path / "parts.epd", on_progress=tire)
    journal = tmp_path / ".parts.epd.journal"
    with journal.open("a") as file:
        file.write('[4, "torn')
    with pytest.raises(MatchError, match="belongs to other openings"):
        make_openings(spec(seed=2), tmp_path / "parts.epd")
    assert make_openings(spec(), tmp_path / "parts.epd") == made
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts.epd", "whole.epd"]
    assert make_openings(spec(), tmp_path / "crew.epd", executor=Processes(2)) == made


@pytest.mark.parametrize("source", ["random", "policy"])
def test_candidates_have_as_many_plies_as_asked(source: str) -> None:
    asked = spec("crazyhouse", source=source, plies=(3, 5))
    boards = [draw(asked, number) for number in range(30)]
    assert {len(board.move_stack) for board in boards} == {3, 4, 5}
    assert [draw(asked, number).fen() for number in range(30)] == [board.fen() for board in boards]
    assert len({board.fen() for board in boards}) > 15


def test_the_policy_draws_likelier_moves_when_cold() -> None:
    cold, hot = spec(temperature=0.05, plies=(1, 1)), spec(temperature=50.0, plies=(1, 1))
    assert len({draw(cold, number).fen() for number in range(40)}) == 1
    assert len({draw(hot, number).fen() for number in range(40)}) > 10


def test_chess960_begins_anywhere() -> None:
    asked = spec(chess960=True, source="random", plies=(0, 0))
    assert len({draw(asked, number).fen() for number in range(30)}) > 20


def test_what_is_out_of_balance_is_not_kept() -> None:
    none = judge_candidate(CandidateJob(spec(bound=0), 1))
    assert none.fen is None
    assert len(none.scores) == 1  # the second judge was not asked
    assert abs(none.scores[0]) > 0
    all_in = judge_candidate(CandidateJob(spec(bound=30_000), 1))
    assert all_in.fen is not None
    assert len(all_in.scores) == 2


def test_a_suite_that_cannot_be_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balanced_openings, "ATTEMPTS", 60)
    few = spec(source="random", plies=(1, 1), positions=21, bound=30_000)
    for _ in range(2):  # what is known does not change the answer
        with pytest.raises(MatchError, match="20 positions are found, and none of the next 60 candidates"):
            make_openings(few, tmp_path / "few.epd")
    with pytest.raises(MatchError, match="0 positions are found"):
        make_openings(spec(bound=0), tmp_path / "none.epd")
    enough = spec(source="random", plies=(1, 1), positions=5, bound=30_000)
    assert len(make_openings(enough, tmp_path / "few.epd")[0]) == 5


def test_commands(tmp_path: Path, cli: Commands) -> None:
    made = tmp_path / "made.epd"
    judges = ["--judge", OURS, "--judge", THEIRS]
    assert "3 positions of" in cli.shows(
        "openings", "make", "-o", made, "-n", "3", "--plies", "2", "3", "-w", "0", *judges
    )
    assert "Stockfish" in made.read_text()
    assert "3 positions, each once, all balanced" in cli.shows(
        "openings", "check", made, *judges, "--bound", "400"
    )
    assert "out of balance" in cli.refuses("openings", "check", made, *judges, "--bound", "0")
    assert run(["openings", "convert", str(made), str(tmp_path / "made.pgn")]) == 0
    twice = tmp_path / "twice.fen"
    twice.write_text(f"{START}\n{START}\n")
    assert "1 of 2 positions" in cli.refuses("openings", "check", twice)
    assert "1 position, 1 repeated one left out" in cli.shows(
        "openings", "convert", twice, tmp_path / "once.epd"
    )
    assert "'random' or from the 'policy', not by 'luck'" in cli.refuses(
        "openings", "make", "-o", made, "--source", "luck"
    )


def test_a_suite_that_failed_is_not_in_the_way_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["openings", "make", "-o", str(tmp_path / "a.epd"), "-n", "2", "-w", "0", "--judge"]
    for wrong in ("x=preset:mcgs,evaluator=no.onnx,evaluations=4", "x=uci:no-such-engine,nodes=4"):
        assert run([*call, wrong]) == 2
        assert list(tmp_path.iterdir()) == []
    with monkeypatch.context() as patch:
        for kind in (MatchError, KeyboardInterrupt):

            def fail(job: CandidateJob, kind: type[BaseException] = kind) -> Any:
                raise kind("no judgement")

            patch.setattr(balanced_openings, "judge_candidate", fail)
            assert run([*call, OURS]) == (2 if kind is MatchError else 130)
            left = [".a.epd.journal", ".a.epd.lock"] if kind is KeyboardInterrupt else []
            assert sorted(path.name for path in tmp_path.iterdir()) == left
    assert run([*call, OURS.replace("30", "31")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.epd"]


def test_check_answers_in_json(tmp_path: Path, cli: Commands) -> None:
    path = tmp_path / "a.fen"
    path.write_text(f"{START}\n{ITALIAN}\n")
    document = cli.json("openings", "check", path)
    assert (document["positions"], document["repeated"], document["out_of_balance"]) == (2, 0, [])
    lost = "4k3/8/8/8/8/8/8/QQ2K3 b - - 0 1"
    path.write_text(f"{START}\n{START}\n{lost}\n")
    shown, said = cli.run("openings", "check", path, "--json", "--judge", OURS, code=2)
    document = json.loads(shown)
    assert said == ""
    assert (document["positions"], document["repeated"], document["judges"]) == (3, 1, ["ours"])
    assert [one["fen"] for one in document["out_of_balance"]] == [lost]
    path.write_text(f"{START}\n")
    assert cli.shows("openings", "check", path) == "1 position, each once\n"
