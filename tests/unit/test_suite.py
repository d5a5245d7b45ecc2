"""Test suites: reading EPD, judging answers, and mates that are proven with their true distance."""

from pathlib import Path

import pytest
from tests.support.commands import Commands
from tests.support.judge import Judge

from anabranch import Engine, Limits
from anabranch.bench.solving import solve_task, summarise_mates
from anabranch.bench.suite import Attempt, Task, attempt, read_suite, read_task
from anabranch.errors import SuiteError
from anabranch.formats.epd import read_operations
from anabranch.result import board_of

pytestmark = pytest.mark.usefixtures("material_by_default")

DATA = Path(__file__).parents[1] / "data"
VARIANTS = ("chess", "crazyhouse")
BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - -"


def mates(variant: str) -> list[Task]:
    return read_suite(DATA / f"mates-{variant}.epd", Engine(variant))


# Reading


def test_operations_are_read_with_quotes_and_without_a_last_semicolon() -> None:
    text = 'bm Qd5+ O-O; id "a; b \'c\'" ; c0 ""; draw_reject; dm 3'
    assert read_operations(text) == {
        "bm": ["Qd5+", "O-O"],
        "id": ["a; b 'c'"],
        "c0": [""],
        "draw_reject": [],
        "dm": ["3"],
    }


def test_a_task_has_answers_name_and_counters() -> None:
    line = f'{BACK_RANK} bm Ra8# a1a7; am Kf1; dm 1; hmvc 7; fmvn 30; id "back rank";'
    task = read_task(line, Engine(), "here:1")
    assert task == Task(
        "here:1", "back rank", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 7 30", ("a1a8", "a1a7"), ("g1f1",), 1
    )
    assert read_task(f"{BACK_RANK} 7 30 bm Ra8;", Engine()).position == task.position
    assert read_task(f"{BACK_RANK} dm 1", Engine(), "here:1").id == "here:1"


@pytest.mark.parametrize(
    ("move", "uci"),
    [
        ("P@e4", "P@e4"),
        ("@e4", "P@e4"),
        ("N@f6+", "N@f6"),
        ("Ng1!", "f3g1"),
        ("f3g1", "f3g1"),
        ("O-O", "e1g1"),
    ],
)
def test_moves_are_san_or_uci_with_drops(move: str, uci: str) -> None:
    position = "rnbqkb1r/pppppppp/8/8/8/4PN2/PPPPBPPP/RNBQK2R[PN] w KQkq -"
    assert read_task(f"{position} bm {move};", Engine("crazyhouse")).best == (uci,)


def test_variants_and_chess960_are_read() -> None:
    line = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 3+3 0 1 bm e4;"
    assert read_task(line, Engine("3check")).best == ("e2e4",)
    line = "k7/8/8/8/8/8/8/1R2K1R1 w GB - bm O-O;"
    assert read_task(line, Engine(chess960=True)).best == ("e1g1",)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("garbage", "four fields"),
        (f"{BACK_RANK}", "bm, am or dm"),
        (f'{BACK_RANK} id "nothing to find";', "bm, am or dm"),
        (f"{BACK_RANK} bm Qa8;", "Qa8"),
        (f"{BACK_RANK} bm Ra8; bm Ra7;", "twice"),
        (f"{BACK_RANK} dm 0;", "dm"),
        (f"{BACK_RANK} dm soon;", "dm"),
        (f"{BACK_RANK} dm;", "dm"),
        (f'{BACK_RANK} dm 1; id "open;', "no end"),
        (f"{BACK_RANK} ;", "operation"),
        ("6k1/5ppp/8/8/8/8/5PPP/R7 w - - dm 1;", "king"),
        ("R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - dm 1;", "over"),
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1[Qq] w - - dm 1;", ""),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, word: str) -> None:
    path = tmp_path / "bad.epd"
    path.write_text(f"# a comment\n\n{BACK_RANK} dm 1;\n{line}\n", encoding="utf-8")
    with pytest.raises(SuiteError, match=r"bad\.epd:4: ") as caught:
        read_suite(path, Engine())
    assert word in str(caught.value)


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.epd").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(SuiteError, match="no text"):
        read_suite(tmp_path / "binary.epd", Engine())
    with pytest.raises(SuiteError, match="cannot be read"):
        read_suite(tmp_path, Engine())


# Judging


def answer(line: str, *, mates: bool = False, **settings: bool | str) -> Attempt:
    engine = Engine("chess", "mcgs-combined", False, evaluator=None, tablebases=None, **settings)
    return attempt(engine, read_task(line, engine), Limits(simulations=2000), mates=mates)


def test_best_moves_and_moves_to_avoid_decide() -> None:
    hanging = "3qk3/8/8/8/8/8/8/3RK3 w - -"
    assert answer(f"{hanging} bm Rxd8+;").solved
    assert not answer(f"{hanging} bm Rd2;").solved
    assert not answer(f"{hanging} am Rxd8+;").solved
    assert answer(f"{hanging} am Rd2 Ke2;").solved


def test_a_solution_has_its_simulations_and_time() -> None:
    found = answer("3qk3/8/8/8/8/8/8/3RK3 w - - bm Rxd8+;")
    assert found.simulations_to_solution is not None
    assert found.seconds_to_solution is not None
    assert found.simulations_to_solution <= found.simulations <= 2000
    assert 0 < found.seconds_to_solution <= found.seconds
    missed = answer("3qk3/8/8/8/8/8/8/3RK3 w - - bm Rd2;")
    assert missed.simulations_to_solution is None
    assert missed.simulations == 2000


def test_only_a_proof_solves_a_mate() -> None:
    assert answer(f"{BACK_RANK} dm 1;").solved
    assert not answer(f"{BACK_RANK} dm 1;", solver=False).solved
    assert answer(f"{BACK_RANK} bm Ra8#;", solver=False).solved
    assert not answer(f"{BACK_RANK} bm Ra8#;", solver=False, mates=True).solved
    assert answer(f"{BACK_RANK} bm Ra8#;", mates=True).solved


def test_a_mate_that_takes_longer_than_it_should_is_no_solution() -> None:
    ladder = "7k/8/8/8/8/8/R7/1R5K w - -"
    assert answer(f"{ladder} dm 2;").mate == 2
    assert not answer(f"{ladder} dm 1;").solved


# Mates


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_suites_say_what_they_should(variant: str) -> None:
    tasks = mates(variant)
    assert [task.mate for task in tasks] == [1] * 5 + [2] * 5 + [3] * 5 + [4] * 5
    for task in tasks:
        board = board_of(variant, task.position, chess960=False)
        assert board.is_valid()
        assert Judge().wins(board, 1) == (task.mate == 1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_mates_are_proven(variant: str) -> None:
    engine = Engine(variant, "mcgs-combined")
    attempts = [attempt(engine, task, Limits(simulations=60_000), mates=True) for task in mates(variant)]
    unsolved = [done.task.id for done in attempts if not done.solved]
    assert all(name.startswith(f"{variant} 4.") for name in unsolved)
    assert len(unsolved) <= 2
    for done in attempts:
        assert done.state in (None, "win")
        assert done.mate is None or done.task.mate is None or done.mate >= done.task.mate


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_improved_proof_has_the_true_distance(variant: str) -> None:
    engine = Engine(variant, "mcgs-combined", improve=True)
    proven = 0
    for task in mates(variant):
        engine.forget()
        result = engine.search(task.position, simulations=60_000, lines=1)
        if result.solved is None:
            continue
        proven += 1
        assert (result.solved.state, result.solved.mate, result.solved.exact) == ("win", task.mate, True)
        board = result.root.board()
        for move in result.lines[0].moves:
            board.push_uci(move)
        assert board.is_checkmate()
        assert len(result.lines[0].moves) == result.solved.plies
    assert proven >= 18


def test_a_mated_side_is_a_task_too() -> None:
    mated = "7k/8/8/8/8/8/R7/2K3R1 b - - dm -1;"
    task = read_task(mated, Engine())
    assert task.mate == -1
    found = answer(mated, improve=True)
    assert (found.solved, found.mate) == (True, -1)


# The solver


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_solver_proves_all_short_mates(variant: str) -> None:
    engine = Engine(variant)
    attempts = [solve_task(engine, task, None, 1_000_000) for task in mates(variant)]
    assert [done.task.id for done in attempts if not done.solved] == []
    for done in attempts:
        assert done.mate is not None
        assert done.task.mate is not None
        assert done.mate >= done.task.mate
    summary = summarise_mates(attempts)
    assert [row["mate"] for row in summary["by_distance"]] == [1, 2, 3, 4]
    assert [row["solved"] for row in summary["by_distance"]] == [5, 5, 5, 5]
    assert 5 <= summary["within_dm"] <= summary["solved"] == 20
    assert summary["mean_seconds"] == pytest.approx(summary["seconds"] / 20)


def test_the_solver_proves_losses_and_leaves_others_open() -> None:
    engine = Engine()
    lost = solve_task(engine, read_task("7k/8/8/8/8/8/R7/2K3R1 b - - dm -1;", engine), None, 200_000)
    assert (lost.solved, lost.result) == (True, "loss")
    wrong = solve_task(engine, read_task("7k/8/8/8/8/8/R7/2K3R1 b - - dm 1;", engine), None, 200_000)
    assert not wrong.solved
    assert not wrong.is_within
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4;"
    left = solve_task(engine, read_task(start, engine), None, 1000)
    assert (left.solved, left.result, left.move, left.proof_positions) == (False, None, None, 0)


# The command


def test_the_command_prints_a_table(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "two.epd"
    path.write_text(f'{BACK_RANK} dm 1; id "back rank";\n{BACK_RANK} bm h3; id "wrong";\n', encoding="utf-8")
    shown = cli.shows("suite", path, "-n", "500")
    assert "solved 1 of 2 positions" in shown
    for word in ("back rank", "dm 1", "bm h3", "Ra8#", "win in 1", "yes", "no"):
        assert word in shown


def test_the_command_prints_json(cli: Commands) -> None:
    path = str(DATA / "mates-crazyhouse.epd")
    document = cli.json("suite", path, path, "-v", "crazyhouse", "-n", "300", "--proofs")
    assert document["positions"] == document["attempted"] == len(document["attempts"]) == 40
    assert document["solved"] == sum(row["solved"] for row in document["attempts"]) >= 16
    row = document["attempts"][0]
    assert (row["mate"], row["found_mate"], row["simulations_to_solution"]) == (1, 1, row["simulations"])


def test_the_command_solves_mates(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "two.epd"
    path.write_text(f'{BACK_RANK} dm 1; id "back rank";\n{BACK_RANK} bm Ra8; id "any";\n', encoding="utf-8")
    shown = cli.shows("suite", path, "--mates")
    assert "solved 2 of 2 positions, 2 within dm" in shown
    for word in ("back rank", "dm 1", "Ra8#", "win in 1", "none", "mean s"):
        assert word in shown
    document = cli.json("suite", path, "--mates", "--positions", "5000")
    assert (document["attempted"], document["solved"], document["positions"]) == (2, 2, 2)
    assert document["limits"] == {"positions": 5000, "time": None}
    assert [row["mate"] for row in document["by_distance"]] == [1, None]
    row = document["attempts"][0]
    assert (row["mate"], row["found_mate"], row["result"], row["is_within"]) == (1, 1, "win", True)


@pytest.mark.parametrize(
    "options",
    [["--mates", "-n", "100"], ["--positions", "100"], ["--mates", "--proofs"], ["--mates", "--time", "0"]],
)
def test_limits_that_do_not_fit_are_refused(cli: Commands, options: list[str]) -> None:
    cli.refuses("suite", DATA / "mates-chess.epd", *options)


def test_the_command_takes_time_as_limit(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "one.epd"
    path.write_text("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - am f3;\n", encoding="utf-8")
    assert 0.08 < cli.json("suite", path, "--time", "0.1")["seconds"] < 5


@pytest.mark.parametrize("text", ["", "# nothing\n", "garbage\n"])
def test_the_command_refuses_what_it_cannot_read(cli: Commands, tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.epd"
    path.write_text(text, encoding="utf-8")
    said = cli.run("suite", path, code=2)
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "bad.epd" in said.err
