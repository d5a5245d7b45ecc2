"""The window: which positions, how equal ones are merged, and the symmetries of every game."""

import dataclasses
import random

import numpy as np
import pytest

from anabranch import _core
from anabranch.errors import SelfPlayError
from anabranch.networks.grid import GridInputs, inputs_of
from anabranch.selfplay.chess_records import ChessSamples, ChessWriter
from anabranch.selfplay.records import GridSamples, GridWriter, read_board
from anabranch.selfplay.symmetries import symmetries_of
from anabranch.selfplay.window import canonical, merged, merged_chess, newest, transformed

GAMES = ("connect-four", "tic-tac-toe", "othello:size=6", "hex:size=4", "breakthrough:width=4,height=5")


def session_of(game: str) -> _core.Session:
    return _core.Session(game, False, {"evaluator": "uniform"}, False)


def random_game(game: str, source: random.Random, plies: int) -> _core.Session:
    session = session_of(game)
    for _ in range(plies):
        if session.ending() is None:
            session.play(source.choice(session.legal_moves()))
    return session


def text_of(cells: np.ndarray, inputs: GridInputs, side: str) -> str:
    own, other = (side, "o" if side == "x" else "x")
    rows = np.array([".", own, other])[cells].reshape(inputs.height, inputs.width)
    return "/".join("".join(row) for row in rows) + f" {side}"


@pytest.mark.parametrize("game", [*GAMES, "go:size=3,ko=simple"])
def test_a_symmetry_keeps_the_rules(game: str) -> None:
    """Moves of the transformed position are the transformed moves, and lead to transformed positions."""
    inputs, source = inputs_of(game), random.Random(game)
    for _ in range(6):
        session = random_game(game, source, source.randrange(2, 9))
        if session.ending() is not None:
            continue
        text, places = session.fen(), dict(session.places())
        if "pass" in places and game.startswith("go") and text.split()[2:]:
            continue
        cells, _ = read_board(text, inputs)
        for symmetry in symmetries_of(inputs):
            other = session_of(game)
            other.set_position(text_of(cells[symmetry.source], inputs, text.split()[1]), [])
            others = {place: move for move, place in other.places()}
            legal = np.zeros(inputs.actions, bool)
            legal[list(places.values())] = True
            assert set(np.flatnonzero(legal[symmetry.places])) == set(others)
            target = int(source.choice(sorted(others)))
            [move] = [move for move, place in places.items() if place == symmetry.places[target]]
            mine = session_of(game)
            mine.set_position(text, [move])
            other.play(others[target])
            after, after_other = (read_board(one.fen(), inputs)[0] for one in (mine, other))
            assert after[symmetry.source].tolist() == after_other.tolist()


def some_samples() -> tuple[GridInputs, GridSamples]:
    inputs = inputs_of("tic-tac-toe")
    writer = GridWriter(inputs)
    start = ".../.../... x"
    nine = list(range(9))
    writer.add(start, nine, np.full(9, 1 / 9), 0.2, False, 1.0)
    writer.add(start, nine, np.eye(9)[4], 0.6, False, 3.0)
    writer.add("x../.../... o", nine[1:], np.full(8, 1 / 8), -0.5, False, 1.0)
    writer.end_game(1.0)
    writer.add("..x/.../... o", [0, 1, *range(3, 9)], np.eye(8)[3], 0.0, True, 1.0)
    writer.end_game(0.0)
    return inputs, writer.samples()


def test_results_belong_to_the_side_to_move() -> None:
    _, samples = some_samples()
    assert samples.result.tolist() == [1.0, 1.0, -1.0, 0.0]


def test_equal_positions_are_averaged_with_a_weight_that_grows_by_the_logarithm() -> None:
    _, samples = some_samples()
    found = merged(samples)
    assert len(found) == 3
    assert found.value[0] == pytest.approx((0.2 * 1.0 + 0.6 * 3.0) / 4.0)
    assert found.policy[0, 4] == pytest.approx((1 / 9 + 3.0) / 4.0)
    assert found.weight.tolist() == pytest.approx([2.0 * 2.0, 1.0, 1.0])


def test_symmetric_positions_are_merged_and_exact_values_win() -> None:
    inputs, samples = some_samples()
    found = merged(canonical(samples, symmetries_of(inputs)))
    assert len(found) == 2
    assert found.exact.tolist() == [False, True]
    assert found.value[1] == 0.0
    assert found.policy[1].max() == 1.0, "the policy is that of the exact one"


def test_a_proof_that_holds_for_one_history_is_one_value_among_others() -> None:
    inputs, samples = some_samples()
    found = merged(canonical(samples, symmetries_of(inputs)), whole=False)
    assert len(found) == 2
    assert found.exact.tolist() == [False, False]
    assert found.policy[1].max() < 1.0
    writer = GridWriter(inputs)
    for value in (1.0, 1.0, -1.0):
        writer.add_exact("xo./.../... x", value)
    for value in (1.0, 1.0):
        writer.add_exact("x.o/.../... x", value)
    found = merged(dataclasses.replace(writer.samples(), weight=np.ones(5, np.float32)), whole=False)
    assert found.exact.tolist() == [False, True], "proofs that disagree are no draw"
    assert found.result.tolist() == pytest.approx([1 / 3, 1.0])


def test_positions_without_a_policy_change_only_the_value() -> None:
    inputs = inputs_of("tic-tac-toe")
    writer = GridWriter(inputs)
    writer.add("x../.../... o", list(range(1, 9)), np.eye(8)[3], 0.5, False, 1.0)
    writer.end_game(0.0)
    writer.add_exact("x../.../... o", 0.0)
    writer.add_exact("xx./oo./... x", 1.0)
    writer.end_game(-1.0)
    found = merged(writer.samples())
    assert found.value.tolist() == [0.0, 1.0]
    assert found.exact.all()
    assert found.has_policy.tolist() == [True, False]
    assert found.legal[0].sum() == 8
    assert found.policy[0].sum() == pytest.approx(1.0)
    assert writer.samples().result.tolist() == [0.0, 0.0, 1.0]


def test_the_newest_positions_stay() -> None:
    _, samples = some_samples()
    parts = [samples.take(slice(0, 2)), samples.take(slice(2, 4))]
    assert newest(parts, 3).value.tolist() == samples.value[1:].tolist()
    assert newest(parts, 1).value.tolist() == samples.value[3:].tolist()
    assert len(newest(parts, 99)) == 4


def test_forms_are_chosen_one_by_one() -> None:
    inputs, samples = some_samples()
    symmetries = symmetries_of(inputs)
    moved = transformed(samples, symmetries, np.array([0, 0, 1, 1]))
    assert moved.cells[2].tolist() == samples.cells[3].tolist()
    assert moved.cells[3].tolist() == samples.cells[2].tolist()


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
AFTER = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"


def chess_samples() -> ChessSamples:
    writer = ChessWriter()
    writer.add(f"{START} 0 1", ["e2e4", "d2d4", "a2a3"], [0.5, 0.5, 0.0], 0.2, False, 1.0)
    writer.add(f"{AFTER} 0 1", ["e7e5"], [1.0], -0.5, False, 1.0)
    writer.end_game(1.0)
    writer.add(f"{START} 4 3", ["e2e4", "g1f3"], [0.25, 0.75], 0.6, False, 3.0)
    writer.add_exact(f"{AFTER} 0 7", 0.0)
    writer.end_game(-1.0)
    return writer.samples()


def test_positions_of_chess_are_merged_whatever_their_counters() -> None:
    samples = chess_samples()
    assert samples.result.tolist() == [1.0, -1.0, -1.0, 0.0]
    assert samples.count.tolist() == [2, 1, 2, 0]
    found = merged_chess(samples)
    assert found.position.tolist() == [f"{START} 0 1".encode(), f"{AFTER} 0 1".encode()]
    policy = dict(zip(found.moves.tolist(), found.policy.tolist(), strict=True))
    assert policy == pytest.approx(
        {b"d2d4": 0.125, b"e2e4": (0.5 + 3 * 0.25) / 4, b"g1f3": 3 * 0.75 / 4, b"e7e5": 1.0}
    )
    assert found.value.tolist() == pytest.approx([(0.2 + 3 * 0.6) / 4, 0.0])
    assert found.exact.tolist() == [False, True]
    assert found.result[0] == pytest.approx((1.0 - 3.0) / 4)
    assert found.drawn[0] == 0.0, "a win and a loss are no draw"


def test_moves_follow_their_positions() -> None:
    samples = chess_samples()
    some = samples.take(np.array([2, 0]))
    assert some.moves.tolist() == [b"e2e4", b"g1f3", b"e2e4", b"d2d4"]
    assert some.policy.tolist() == pytest.approx([0.25, 0.75, 0.5, 0.5])
    both = newest([samples, samples], 5)
    assert both.count.tolist() == [0, 2, 1, 2, 0]
    assert both.moves.tolist() == samples.moves.tolist()


def test_files_lead_back(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "part.npz"
    for samples in (some_samples()[1], chess_samples()):
        samples.write(path)
        read = type(samples).read(path)
        for field in dataclasses.fields(samples):
            assert np.array_equal(getattr(read, field.name), getattr(samples, field.name)), field.name
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(SelfPlayError, match="does not hold positions"):
        GridSamples.read(path)
