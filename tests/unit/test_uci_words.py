"""The words of the protocol: commands read from text, options and their values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import SettingError
from anabranch.uci.commands import LARGEST, read_go, read_position, read_setoption
from anabranch.uci.options import Option, OptionError, UciOptions

WORDS = [
    "go", "wtime", "btime", "nodes", "depth", "mate", "infinite", "ponder", "searchmoves", "e2e4", "P@e4",
    "1", "-5", "99999999999999999999999", "x", "moves", "fen", "startpos", "name", "value", "movetime",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=30))
def test_go_reads_anything(words: list[str]) -> None:
    go = read_go(words)
    numbers = (go.wtime, go.btime, go.movetime, go.nodes, go.depth, go.mate)
    assert all(number is None or abs(number) <= LARGEST for number in numbers)
    assert all(number is None or number >= 1 for number in (go.nodes, go.depth, go.mate))


@given(st.lists(st.text(max_size=8), max_size=12))
def test_nothing_raises(words: list[str]) -> None:
    read_go(words)
    read_position(words)
    read_setoption(words)


def test_every_limit_of_go() -> None:
    limits = "wtime 1 btime 2 winc 3 binc 4 movestogo 5 movetime 6 nodes 7 depth 8 mate 9 perft 2"
    go = read_go(limits.split())
    assert (go.wtime, go.btime, go.winc, go.binc, go.movestogo) == (1, 2, 3, 4, 5)
    assert (go.movetime, go.nodes, go.depth, go.mate, go.perft) == (6, 7, 8, 9, 2)
    assert not go.is_endless
    assert read_go([]).is_endless
    assert read_go(["infinite", "nodes", "5"]).is_endless
    assert not read_go(["ponder", "wtime", "100"]).is_endless


def test_a_missing_clock_is_that_of_the_other_side() -> None:
    assert read_go(["wtime", "500", "winc", "7", "binc", "9"]).clock(white=False) == (500, 9)
    assert read_go(["wtime", "-500"]).clock(white=True) == (0, 0)
    assert read_go(["movetime", "5"]).clock(white=True) is None


def test_searchmoves_end_where_moves_end() -> None:
    go = read_go(["searchmoves", "e2e4", "N@f3", "a7a8q", "infinite"])
    assert go.searchmoves == ("e2e4", "N@f3", "a7a8q")
    assert go.infinite


def test_positions() -> None:
    assert read_position(["startpos", "moves"]) == (None, [])
    assert read_position(["fen", "8/8", "w", "moves", "a", "b"]) == ("8/8 w", ["a", "b"])
    assert read_position(["nonsense", "startpos"]) == (None, [])
    assert read_position([]) is None


def test_every_option_is_declared_and_takes_its_default_back() -> None:
    options = UciOptions()
    for option in options.all():
        words = option.declaration.split()
        assert words[:2] == ["option", "name"]
        if option.kind == "button":
            continue
        text = option.declaration.split(" default ")[1].split(" min ")[0].split(" var ")[0]
        before = options.text(option.name)
        options.set(option, text)
        assert options.text(option.name) == before
        if option.kind == "combo":
            assert option.default in option.choices
    assert options.settings == {}


def test_settings_of_the_search_are_options() -> None:
    """The names that interfaces know are tested in tests/uci/test_protocol.py."""
    names = {option.name for option in UciOptions().all()}
    assert {
        "c_init",
        "q_epsilon",
        "epsilon_greedy",
        "epsilon_checks",
        "q_weight",
        "solver",
        "backup",
    } <= names
    assert len({name.lower() for name in names}) == len(names)


def test_two_names_of_one_network() -> None:
    options = UciOptions()

    def put(name: str, text: str) -> str | None:
        option = options.find(name)
        assert option is not None
        options.set(option, text)
        return options.evaluator

    assert options.evaluator is None
    assert put("EvalFile", "a.onnx") == "a.onnx"
    assert put("WeightsFile", "<bundled>") == "a.onnx"  # sent back by an interface, as it was shown
    assert put("WeightsFile", "<autodiscover>") == "a.onnx"
    assert put("WeightsFile", "b.onnx") == "b.onnx"
    assert put("EvalFile", "<bundled>") == "b.onnx"
    assert put("EvalFile", "c.onnx") == "c.onnx"
    assert put("EvalFile", "<empty>") is None
    assert options.evaluator is None


def test_options_are_found_whatever_their_case() -> None:
    options = UciOptions()
    found = options.find("  move   OVERHEAD ")
    assert found is not None
    assert options.set(found, "7") == 7
    assert options.number("Move Overhead") == 7
    assert options.find("nonsense") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Hash", "lots"),
        ("Hash", "0"),
        ("Hash", "1" * 100),
        ("Ponder", "perhaps"),
        ("UCI_Variant", "shogi"),
        ("Preset", "x"),
    ],
)
def test_a_bad_value_is_refused_and_the_old_one_stays(name: str, text: str) -> None:
    options = UciOptions()
    option = options.find(name)
    assert option is not None
    before = options.text(name)
    with pytest.raises(OptionError, match=name):
        options.set(option, text)
    assert options.text(name) == before


def test_settings_of_the_search_are_checked() -> None:
    options = UciOptions()
    option = options.find("c_init")
    assert option is not None
    options.set(option, "3.5")
    assert options.settings == {"c_init": "3.5"}
    with pytest.raises(SettingError, match="c_init"):
        options.set(option, "-1")
    options.set(option, "<preset>")
    assert options.settings == {}


def test_aliases_of_variants() -> None:
    options = UciOptions()
    option = options.find("UCI_Variant")
    assert option is not None
    for alias in ("standard", "normal", "chess"):
        options.set(option, alias)
        assert options.variant == "chess"
    options.set(option, "Crazyhouse")
    assert options.variant == "crazyhouse"


def test_a_check_reads_the_words_people_use() -> None:
    option = Option("Ponder", "check", False)
    assert [option.read(text) for text in ("true", "FALSE", "on", "0")] == [True, False, True, False]
