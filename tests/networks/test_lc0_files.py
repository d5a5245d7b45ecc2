"""Network files of Lc0: described, damaged, converted once and cached, named."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import Commands
from tests.support.lc0_writer import MAGIC, Writer, integer, message, varint

from anabranch import Engine
from anabranch.defaults import OF_LC0
from anabranch.errors import EvaluatorError, NetworkError, VariantError
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.evaluators.open import open_network
from anabranch.networks import describe_network, folders, list_networks
from anabranch.networks.container import fields
from anabranch.networks.lc0_convert import open_lc0
from anabranch.networks.lc0_file import read_lc0
from anabranch.networks.lc0_tower import read_tower
from anabranch.networks.planes import encode

NETWORK = Path(__file__).parents[1] / "data" / "lc0" / "tinygyal-8.pb.gz"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache and a folder of networks of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folders.network_directory().mkdir(parents=True)
    return tmp_path


def test_info_names_what_is_in_the_file(cli: Commands) -> None:
    facts = cli.json("network", "info", NETWORK)
    assert (facts["family"], facts["variant"], facts["value"]) == ("lc0", "chess", "classical")
    assert facts["architecture"] == "Lc0, residual with squeeze-excitation, 2 x 16"
    assert (facts["step"], facts["moves_left"], facts["least_lc0_version"]) == (200_000, "no", "0.21.0")
    assert facts["parameters"] > 50_000
    assert "policy" in cli.shows("network", "info", NETWORK)
    assert cli.shows("network", "verify", NETWORK) == f"{NETWORK}: sound\n"


def _message(change: Callable[[bytes], bytes]) -> bytes:
    return gzip.compress(change(gzip.decompress(NETWORK.read_bytes())))


DAMAGES: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda given: given[: len(given) // 2], "it is cut short: its gzip data have no end"),
    (lambda given: given[:5000] + b"\0\0\0\0" + given[5004:], "its gzip data are damaged"),
    (lambda _: b"no gzip", "it is not gzip, as networks of Lc0 are"),
    (lambda _: gzip.compress(b"no message"), "its message is damaged, or it is not a network of Lc0"),
    (lambda _: gzip.compress(b""), "it is not a network of Lc0"),
    (lambda _: _message(lambda body: body[:-100]), "its message is damaged, or it is not a network of Lc0"),
    (lambda _: gzip.compress(varint(13) + MAGIC.to_bytes(4, "little")), "it has no weights"),
    (
        lambda _: gzip.compress(
            varint(13) + MAGIC.to_bytes(4, "little") + message(4, message(2, integer(3, 99)))
        ),
        "its structure has the number 99, which this version does not know",
    ),
]


@pytest.mark.parametrize(("damage", "reason"), DAMAGES, ids=[reason[:30] for _, reason in DAMAGES])
def test_damage_is_named(
    damage: Callable[[bytes], bytes], reason: str, cli: Commands, tmp_path: Path
) -> None:
    path = tmp_path / "net.pb.gz"
    path.write_bytes(damage(NETWORK.read_bytes()))
    for command in ("info", "verify"):
        said = cli.run("network", command, path, code=2)
        assert f"{path} is refused: {reason}" in said.out + said.err
    with pytest.raises(NetworkError, match="is refused"):
        Engine(evaluator=path)


def test_an_unpacked_file_is_the_same_network(tmp_path: Path) -> None:
    path = tmp_path / "net.pb"
    path.write_bytes(gzip.decompress(NETWORK.read_bytes()))
    facts, packed = describe_network(path), describe_network(NETWORK)
    own = ("file", "bytes", "sha256")
    assert [facts[name] for name in facts if name not in own] == [
        packed[name] for name in packed if name not in own
    ]


def test_layers_that_do_not_fit_are_named(tmp_path: Path) -> None:
    """The input convolution of one network before the rest of another."""
    narrow, wide = Writer(1).network(filters=8, blocks=1), Writer(1).network(filters=16, blocks=1)
    weights = part_of(narrow, 10)
    rest = b"".join(bytes(field.raw) for field in fields(weights) if field.number != 1)
    path = tmp_path / "mixed.pb.gz"
    head = b"".join(bytes(field.raw) for field in fields(narrow) if field.number != 10)
    path.write_bytes(gzip.compress(head + message(10, message(1, part_of(part_of(wide, 10), 1)) + rest)))
    with pytest.raises(
        NetworkError, match=r"its layer 'block 1, first .*' has 576 numbers, which are not 16 x 16"
    ):
        read_tower(read_lc0(path))


def part_of(content: bytes, number: int) -> bytes:
    """A field of a message."""
    return next(bytes(field.value) for field in fields(content) if field.number == number)


def test_the_planes_of_other_kinds_are_refused_with_a_sentence(tmp_path: Path) -> None:
    network = Writer(1).network(filters=8, blocks=1)
    path = tmp_path / "net.pb.gz"
    path.write_bytes(
        gzip.compress(network.replace(integer(1, 1) + integer(2, 2), integer(1, 3) + integer(2, 2)))
    )
    with pytest.raises(NetworkError, match="its planes are of the kind 'canonical', and only 'classical' is"):
        open_network(path)


def test_a_network_is_converted_once(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_lc0(NETWORK)
    [stored] = folders.cache_directory().iterdir()
    assert stored.name.startswith("tinygyal-8-")
    written = stored.stat().st_mtime_ns
    assert open_lc0(NETWORK).content == first.content
    assert stored.stat().st_mtime_ns == written

    # A damaged file of the cache is made again.
    content = bytearray(stored.read_bytes())
    content[len(content) // 2] ^= 8
    stored.write_bytes(content)
    assert open_lc0(NETWORK).content == first.content
    assert stored.read_bytes() == first.content

    # Where nothing can be written, it is converted every time.
    blocked = places / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert open_lc0(NETWORK).content == first.content


def test_installed_networks_have_names(places: Path, cli: Commands) -> None:
    folder = folders.network_directory()
    (folder / "tiny.pb.gz").write_bytes(NETWORK.read_bytes())
    (folder / "broken.pb.gz").write_bytes(b"\x1f\x8b broken")
    (folder / "notes.txt").write_text("no network")
    rows = {row["name"]: row for row in list_networks()}
    assert set(rows) == {"tiny", "broken"}
    assert rows["tiny"]["variant"] == "chess"
    assert "damaged" in rows["broken"]["problem"]
    assert "tiny    chess, Lc0, residual" in cli.shows("network", "list")
    assert cli.json("network", "info", "tiny")["file"] == str(folder / "tiny.pb.gz")
    assert "rollout, chess, chess-rise, crazyhouse, crazyhouse-rise, broken, tiny, or" in cli.refuses(
        "analyse", "-e", "tin"
    )
    assert Engine(evaluator="tiny").search(evaluations=4).statistics.evaluations == 4


def test_many_searches_share_batches() -> None:
    """Results are those of the searches alone, so planes and places of moves are the same."""
    engine = Engine(evaluator=NETWORK, threads=1)
    positions = ["startpos moves e2e4 e7e5 g1f3", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "startpos"]
    for position, result in zip(positions, engine.search_many(positions, evaluations=60), strict=True):
        alone = Engine(evaluator=NETWORK, threads=1).search(position, evaluations=60)
        shown = [(row.move, row.visits, round(row.prior, 3)) for row in result.moves]
        assert shown == [(row.move, row.visits, round(row.prior, 3)) for row in alone.moves]


def test_a_network_of_lc0_plays_chess_only() -> None:
    with pytest.raises(VariantError, match="is for chess, and this engine plays crazyhouse"):
        Engine("crazyhouse", evaluator=NETWORK)
    with pytest.raises(EvaluatorError, match="there are no planes"):
        encode(["startpos"], "crazyhouse", "lc0")


def test_the_command_line_searches_with_it(cli: Commands) -> None:
    found = cli.json("analyse", "--evaluator", NETWORK, "--moves", "e4 e5", "--evaluations", "40", "-t", "1")
    assert found["statistics"]["evaluations"] == 40
    priors = {row["move"]: row["prior"] for row in found["moves"]}
    planes, moves = encode(["startpos moves e2e4 e7e5"], "chess", "lc0")
    network = open_network(NETWORK, threads=1)
    assert isinstance(network, OnnxNetwork)
    _, logits = network.evaluate(planes)
    weights = np.exp(logits[0, list(moves[0].values())] / OF_LC0["node_temperature"])
    best = max(zip(weights / weights.sum(), moves[0], strict=True))
    assert priors[best[1]] == pytest.approx(best[0], abs=2e-3)


def test_describe_without_the_package_onnx_reads_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    assert describe_network(NETWORK)["family"] == "lc0"
