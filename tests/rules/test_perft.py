"""Move sequences counted by the core against exact published counts, in every variant."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch import Engine, _core

# Variant (960 where castling is that of Chess960), position and the counts for 1, 2, 3 ... plies.
TABLE = """
chess | rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 | 20 400 8902 197281 4865609
chess | r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 | 48 2039 97862 4085603
chess | 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 | 14 191 2812 43238 674624
chess | r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1 | 6 264 9467 422333
chess | rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8 | 44 1486 62379 2103487
chess | r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10 | 46 2079 89890 3894594
chess | 8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1 | 6 121 711
chess | 1b1k4/8/8/1rPpK3/8/8/8/8 w - d6 0 1 | 5 100 555
chess960 | bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9 | 21 528 12189 326672
chess960 | 2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9 | 21 807 18002 667366
chess960 | qbbnnrkr/2pp2pp/p7/1p2pp2/8/P3PP2/1PPP1KPP/QBBNNR1R w hf - 0 9 | 22 593 13440 382958
chess960 | r2r3k/p7/3p4/8/8/P6P/8/R3K2R b KQq - 0 1 | 14 206 3672 64639 1320962
crazyhouse | 2k5/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - - 0 1 | 301 75353
crazyhouse | 2k5/8/8/8/8/8/8/4K3[Qn] w - - 0 1 | 67 3083 88634 932554
crazyhouse | r1bqk2r/pppp1ppp/2n1p3/4P3/1b1Pn3/2NB1N2/PPP2PPP/R1BQK2R[] b KQkq - 0 1 | 42 1347 58057 2083382
crazyhouse | 4k3/1Q~6/8/8/4b3/8/Kpp5/8/ b - - 0 1 | 20 360 5445 132758
atomic | rn2kb1r/1pp1p2p/p2q1pp1/3P4/2P3b1/4PN2/PP3PPP/R2QKB1R b KQkq - 0 1 | 40 1238 45237 1434825
atomic960 | 8/8/8/8/8/8/2k5/rR4KR w KQ - 0 1 | 18 180 4364 61401 1603055
antichess | rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1 | 20 400 8067 153299
antichess | 8/1p6/8/8/8/8/P7/8 w - - 0 1 | 2 4 4 3 1 0
antichess | 8/2p5/8/8/8/8/P7/8 w - - 0 1 | 2 4 4 4 4 4 4 4 12 36 312 2557 30873
kingofthehill | 8/8/2k5/8/8/4K3/8/8 w - - 0 1 | 8 48 332 2362
3check | r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 1+1 0 1 | 48 2039 97848
racingkings | 8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1 | 21 421 11264 296242
racingkings | 4brn1/2K2k2/8/8/8/8/8/8 w - - 0 1 | 6 33 178 3151 12981 265932
horde | rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 1 | 8 128 1274 23310 265223
horde | 4k3/pp4q1/3P2p1/8/P3PP2/PPP2r2/PPP5/PPPP4 b - - 0 1 | 30 241 6633 56539
"""


def published() -> Iterator[tuple[str, bool, str, list[int]]]:
    for row in TABLE.strip().splitlines():
        variant, position, counts = row.split(" | ")
        name = variant.removesuffix("960")
        yield name, name != variant, position, [int(count) for count in counts.split()]


PUBLISHED = list(published())

# Published files that may lie beside the repository, with the most sequences counted in any one position.
FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "perft"
FILES = [
    ("random", "chess", False, 3_000), ("tricky", "chess", True, 1_000_000),
    ("chess960", "chess", True, 15_000), ("crazyhouse", "crazyhouse", False, 2_500_000),
    ("atomic", "atomic", True, 1_000_000), ("giveaway", "antichess", False, 1_000_000),
    ("3check", "3check", False, 1_000_000), ("racingkings", "racingkings", False, 1_000_000),
    ("horde", "horde", False, 1_000_000),
]  # fmt: skip


def read_perft(path: Path) -> Iterator[tuple[str, int, int]]:
    """Position, depth and count of every line of a file."""
    position = ""
    for line in path.read_text(encoding="ascii").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "epd":
            position = rest
        elif word == "perft":
            depth, count = rest.split()
            yield position, int(depth), int(count)


@pytest.mark.parametrize(
    ("variant", "chess960", "position", "counts"),
    PUBLISHED,
    ids=[f"{row[0]}-{row[2][:24]}" for row in PUBLISHED],
)
def test_published_counts(variant: str, chess960: bool, position: str, counts: list[int]) -> None:
    session = _core.Session(variant, chess960, {}, False)
    session.set_position(position, [])
    for depth, count in enumerate(counts, start=1):
        total, shares = session.perft(depth)
        assert total == count, depth
        assert sum(number for _, number in shares) == count
        assert len(shares) == counts[0]


@pytest.mark.parametrize(("name", "variant", "chess960", "most"), FILES, ids=[row[0] for row in FILES])
def test_published_files(name: str, variant: str, chess960: bool, most: int) -> None:
    """Every count in the file up to the limit; where the files are missing the counts above have to do."""
    session = _core.Session(variant, chess960, {}, False)
    path = FOLDER / f"{name}.perft"
    rows = [row for row in read_perft(path) if row[2] <= most] if path.is_file() else []
    deepest = {position: (depth, count) for position, depth, count in rows}
    for position, (depth, count) in deepest.items():
        session.set_position(position, [])
        assert session.perft(depth)[0] == count, position
    assert len(deepest) > 0 or not path.is_file()


def test_every_variant_has_counts() -> None:
    assert set(_core.variants()) == {variant for variant, *_ in PUBLISHED}


def test_the_engine_counts_by_first_move() -> None:
    shares = Engine("crazyhouse").perft(4)
    assert sum(shares.values()) == 197281
    assert (shares["e2e4"], shares["b1a3"], len(shares)) == (13160, 8885, 20)
