"""One option, one meaning: what `evaluator` takes, at every door."""

from pathlib import Path
from typing import Any

import chess
import pytest
from tests.support.commands import Commands

from anabranch import Engine, _core
from anabranch.defaults import is_in_core
from anabranch.errors import NetworkError, SettingError, VariantError
from anabranch.evaluators.onnx_runtime import OnnxEvaluator
from anabranch.evaluators.openvino import OpenVinoEvaluator
from anabranch.evaluators.resolve import evaluator_names, network_file, resolve_evaluator
from anabranch.match.openings import default_openings
from anabranch.match.player import Budget, read_player
from anabranch.match.runner import check_match, networks_of
from anabranch.match.schedule import MatchSpec
from anabranch.networks.shipped import FOLDER
from anabranch.web.searches import ClientSearches, Resources

CHESS, CRAZYHOUSE = FOLDER / "chess.safetensors", FOLDER / "crazyhouse.safetensors"
CRAZYHOUSE_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A network of our own, in a file of its own."""
    path = tmp_path / "new.safetensors"
    path.write_bytes(CRAZYHOUSE.read_bytes())
    return path


def test_names_mean_evaluators_and_networks() -> None:
    for name in ("material", "uniform", "hash"):
        assert resolve_evaluator(name) == name
        assert Engine(evaluator=name).evaluator == name
    for name in ("chess", "network"):
        network = Engine("chess", evaluator=name).evaluator
        assert isinstance(network, _core.Network)
        assert network.path == str(CHESS)
    assert "crazyhouse-rise.onnx" in repr(Engine("crazyhouse", evaluator="crazyhouse-rise").evaluator)
    assert network_file("crazyhouse") == CRAZYHOUSE
    assert {"network", "material", "chess", "crazyhouse", "crazyhouse-rise"} <= set(evaluator_names())


def test_a_runtime_before_the_name_evaluates_the_network(tmp_path: Path) -> None:
    rise = FOLDER / "crazyhouse-rise.onnx"
    for name in ("openvino:crazyhouse-rise", f"openvino:{rise}"):
        assert network_file(name) == rise
        assert isinstance(Engine("crazyhouse", evaluator=name).evaluator, OpenVinoEvaluator)
    assert isinstance(Engine("crazyhouse", evaluator="onnxruntime:crazyhouse-rise").evaluator, OnnxEvaluator)
    assert not is_in_core("openvino:crazyhouse-rise")
    for name in ("openvino:network", "openvino:material", "openvino:chess", f"openvino:{CHESS}"):
        for variant in (None, "chess"):
            with pytest.raises(
                SettingError, match=f"a runtime is for ONNX networks, and {name!r} names none"
            ):
                resolve_evaluator(name, variant)
    for name in ("abacus:chess", "openvino:", "openvino:openvino:chess"):
        with pytest.raises(
            SettingError, match=f"no evaluator {name!r}: .*; a runtime before a colon is one of onnxruntime, "
        ):
            Engine(evaluator=name)


def test_commands_take_a_runtime_or_refuse_it(cli: Commands, tmp_path: Path) -> None:
    rise = FOLDER / "chess-rise.onnx"
    deep = tmp_path / ("deep" * 40) / "rise.onnx"
    deep.parent.mkdir()
    deep.symlink_to(rise)
    shown = cli.shows("network", "bench", f"openvino:{deep}", "--seconds", "0.1")
    assert f"openvino:{deep}: chess, batch 16, threads 1, CPU\n" in shown
    refusal = cli.refuses("network", "bench", f"openvino:{rise}", "--runtime", "onnxruntime")
    assert "--runtime onnxruntime name two runtimes; leave one of them out" in refusal
    for command in ("info", "verify"):
        said = cli.run("network", command, "openvino:chess-rise", code=2)
        assert "names a runtime, which this does not need; leave out openvino:" in said.err + said.out
    for name in ("openvino:chess", f"openvino:{rise}", rise):
        assert "takes a network of the core here" in cli.refuses("bench", "--evaluator", name, "--quick")
    link = tmp_path / "rise.onnx"
    link.symlink_to(rise)
    for name in (f"openvino:{link}", link):
        found = cli.json("analyse", "--network", name, "--evaluations", "20")
        assert found["statistics"]["evaluations"] >= 20


def test_what_is_refused_says_why_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        SettingError, match=r"no evaluator 'nonsense': it is one of network, material, .* path"
    ):
        Engine(evaluator="nonsense")
    with pytest.raises(NetworkError, match=r"there is no network file none\.safetensors"):
        Engine(evaluator="none.safetensors")
    Path("text").write_text("no network")
    with pytest.raises(SettingError, match=r"write \./text"):
        Engine(evaluator="text")
    with pytest.raises(NetworkError, match="text is refused"):
        Engine(evaluator="./text")
    with pytest.raises(VariantError, match=r"crazyhouse\.safetensors .*crazyhouse.*chess"):
        Engine("chess", evaluator="crazyhouse")
    engine = Engine("chess", evaluator="hash")
    with pytest.raises(SettingError, match="no evaluator 'nonsense'"):
        engine.configure(evaluator="nonsense")
    assert engine.evaluator == "hash"


def test_analyse_takes_files_and_names(cli: Commands, copy: Path, tmp_path: Path) -> None:
    common = ("analyse", "--variant", "crazyhouse", "--evaluations", "60")

    def table(*options: str | Path) -> Any:
        return cli.json(*common, *options)["moves"]

    own = table()
    for option in ("--evaluator", "-e", "--network"):
        assert table(option, copy) == own
    assert table("--set", f"evaluator={copy}") == own
    assert table("--evaluator", "crazyhouse") == own
    assert table("--evaluator", "crazyhouse-rise") != own
    assert table("--evaluator", "material") != own
    saved = tmp_path / "saved"
    cli.shows(*common, "--evaluator", copy, "--save", saved)
    again = cli.json("analyse", "--load", saved, "--evaluations", "60", "--evaluator", copy)
    assert again["statistics"]["root_visits"] > 100
    none = tmp_path / "none.safetensors"
    assert f"there is no network file {none}\n" in cli.refuses(*common, "--evaluator", none)
    assert "is for crazyhouse" in cli.refuses("analyse", "-e", "crazyhouse-rise")
    assert cli.shows("analyse", "--help").count("--network") == 0


def test_suite_annotate_and_bench_take_files(cli: Commands, copy: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite.epd"
    suite.write_text('6k1/5ppp/8/8/8/8/5PPP/R5K1[] w - - bm Ra8; id "mate";\n')
    found = cli.json("suite", suite, "-v", "crazyhouse", "-n", "50", "-e", copy)
    assert found["settings"]["evaluator"] == "network"
    assert "plays crazyhouse" in cli.refuses("suite", suite, "-e", copy)
    game = tmp_path / "game.pgn"
    game.write_text('[Variant "Crazyhouse"]\n\n1. e4 e5 *\n')
    assert "[%eval" in cli.run("annotate", game, "-e", copy, "-n", "30").out
    assert "plays chess" in cli.run("annotate", game, "-e", CHESS, "-n", "30", code=2).err
    rows = cli.json("bench", "--evaluator", copy, "--quick")["sections"]["network"]
    assert [(row["network"], row["variant"]) for row in rows] == [(str(copy), "crazyhouse")]
    assert "takes a network of the core here" in cli.refuses("bench", "--evaluator", "hash")


def match(*players: str, variant: str = "crazyhouse") -> MatchSpec:
    specs = tuple(read_player(text).with_budget(Budget(evaluations=10)) for text in players)
    return MatchSpec(specs, tuple(default_openings(variant)), 1, variant)


def test_players_take_files_and_names(copy: Path, tmp_path: Path) -> None:
    check_match(match(f"new=preset:mcgs,evaluator={copy}", "old=preset:mcgs,evaluator=crazyhouse"))
    known = networks_of(match(f"new=preset:mcgs,evaluator={copy}", "old=preset:mcgs,evaluator=crazyhouse"))
    assert len(set(known.values())) == 1
    assert set(known) == {str(copy), "crazyhouse"}
    for text, words in (
        (str(tmp_path / "none.onnx"), "player a: there is no network file"),
        ("nonsense", "player a: there is no evaluator 'nonsense'"),
        ("chess", "player a: .*chess.*crazyhouse"),
    ):
        with pytest.raises(Exception, match=words):
            check_match(match(f"a=preset:mcgs,evaluator={text}", "b=preset:mcgs"))


def test_a_study_takes_a_file(cli: Commands, tmp_path: Path) -> None:
    none = tmp_path / "none.onnx"
    call = ("study", "run", "leak", "--scale", "tiny", "--out", tmp_path / "out", "-e", none)
    assert f"there is no network file {none}" in cli.refuses(*call)


def test_the_web_board_plays_with_a_network_where_it_fits(copy: Path) -> None:
    from anabranch.web.messages import Game, SearchConfig

    searches = ClientSearches(Resources(memory=64 << 20), None, str(copy))
    found = searches._engine(0, Game(variant="crazyhouse", fen=CRAZYHOUSE_START), SearchConfig()).evaluator
    assert isinstance(found, _core.Network)
    assert found.path == str(copy)
    other = searches._engine(0, Game(variant="chess", fen=chess.STARTING_FEN), SearchConfig()).evaluator
    assert isinstance(other, _core.Network)
    assert other.path == str(CHESS)
