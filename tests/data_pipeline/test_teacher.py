"""The teacher: what engines say, well or badly."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fake_engine import FakeEngine

from anabranch.data.teacher import Judgement, Teacher, TeacherError, find_engine, read_answer
from anabranch.errors import DataError
from anabranch.formats.scores import LARGEST_SCORE, MATE, read_score

START = "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("always crash", "has ended"),
        ("always hang", "no answer in 0.7 s"),
        ("always garbage", "the engine said 'info depth x"),
        ("always closes", "has ended"),
        ("always endless", "talks without end"),
        ("always none", "played '(none)'"),
        ("always empty", "played ''"),
        ("always no score", "gave no score"),
    ],
)
def test_a_teacher_that_fails_says_how(fake: FakeEngine, mode: str, sentence: str) -> None:
    teacher = Teacher(fake(mode), "chess", timeout=20.0)
    teacher._timeout = 0.7 if "hang" in mode else 20.0
    with teacher, pytest.raises(TeacherError) as error:
        teacher.judge(START, 1)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [("dies at once", "has ended"), ("never greets", "no answer"), ("never ready", "no answer")],
)
def test_a_teacher_that_does_not_start(fake: FakeEngine, mode: str, sentence: str) -> None:
    with pytest.raises(TeacherError, match=sentence):
        Teacher(fake(mode), "chess", timeout=20.0 if mode == "dies at once" else 2.0)


def test_binary_noise_before_the_greeting_is_no_harm(fake: FakeEngine) -> None:
    with Teacher(fake("binary"), "chess") as teacher:
        assert len(teacher.judge(START, 1)) == 2


def test_words_of_an_earlier_answer_are_not_taken_for_this_one(fake: FakeEngine) -> None:
    plain, chatty = Teacher(fake(""), "chess"), Teacher(fake("chatty"), "chess")
    with plain, chatty:
        for moves in ("", " moves e2e4", " moves e2e4 e7e5"):
            assert chatty.judge(START + moves, 1) == plain.judge(START + moves, 1)


def test_what_is_no_engine() -> None:
    with pytest.raises(DataError, match="no program no-such-engine"):
        find_engine("no-such-engine")


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    path.write_bytes(b"\x00\x01\x02")
    path.chmod(0o755)
    with pytest.raises(TeacherError, match="cannot be started"):
        Teacher(str(path), "chess")


def test_stockfish_plays_chess_only() -> None:
    with pytest.raises(DataError, match="plays chess only"):
        Teacher("stockfish", "crazyhouse")


@given(st.integers(), st.sampled_from([b"cp", b"mate"]))
def test_scores_fit_their_column_and_keep_their_order(number: int, kind: bytes) -> None:
    score = read_score(kind, number)
    assert abs(score) <= MATE
    assert (abs(score) > LARGEST_SCORE) == (kind == b"mate")
    if number:
        assert (score > 0) == (number > 0)
    if kind == b"cp":
        assert read_score(kind, number + 1) >= score
    elif number > 0:
        assert read_score(kind, number + 1) <= score
        assert score > LARGEST_SCORE


@given(
    st.lists(
        st.tuples(
            st.integers(1, 3),
            st.integers(-2000, 2000),
            st.sampled_from(["", " lowerbound", " upperbound"]),
            st.sampled_from(["e2e4", "d2d4", "N@f3"]),
        ),
        min_size=1,
    )
)
def test_bounds_count_only_while_nothing_exact_is_known(lines: list[tuple[int, int, str, str]]) -> None:
    text = "".join(
        f"info depth 3 multipv {rank} score cp {score}{bound} nodes 9 pv {move} e7e5\n"
        for rank, score, bound, move in lines
    )
    judgements = read_answer(f"{text}bestmove e2e4 ponder e7e5\n".encode())
    expected: dict[int, tuple[str, int]] = {}
    for rank, score, bound, move in lines:
        if not bound or rank not in expected:
            expected[rank] = (move, score)
    moves = {move for move, _ in expected.values()}
    assert judgements[0].move == "e2e4"
    assert {judgement.move for judgement in judgements} == moves | {"e2e4"}
    assert sorted(judgements, key=lambda judgement: -judgement.score)[0].score == judgements[0].score
    if len(expected) == 1:
        (only,) = expected.values()
        assert Judgement(only[0], min(only[1], judgements[0].score)) in judgements


@given(st.binary(max_size=300))
def test_any_answer_is_read_or_refused(noise: bytes) -> None:
    try:
        judgements = read_answer(noise + b"\nbestmove e2e4\n")
    except TeacherError:
        return
    assert judgements


def test_a_score_may_end_a_line() -> None:
    answer = b"info pv e2e4 depth 3 score cp 12\nbestmove e2e4\n"
    assert read_answer(answer) == [Judgement("e2e4", 12)]
