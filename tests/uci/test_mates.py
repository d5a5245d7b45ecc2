"""Known mates: what our engine claims is true, and it finds most of the short ones.

The teachers made the positions (scripts/make_mates.py). A claim of the same distance or a longer one is true
because a mate is there; its line, and the exactness of its length, are for the validator. A claim of a shorter
one than the teacher saw must convince the teacher, with many times the nodes.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.uci.session import Session

from anabranch.data.teacher import LARGEST, MATE, Teacher

FILE = Path(__file__).parents[1] / "data" / "known-mates.epd"
TEACHERS = {"chess": "stockfish", "crazyhouse": "fairy-stockfish"}
NODES = 8000
PROVING_NODES = 4_000_000
FLOORS = {1: 1.0, 2: 0.8, 3: 0.5, -1: 0.9, -2: 0.5}
"""Parts of the mates of a distance that must be claimed."""


class KnownMate(NamedTuple):
    """A position and the distance of its mate; below zero the side to move is mated."""

    name: str
    fen: str
    distance: int


def known_mates(variant: str) -> list[KnownMate]:
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        position, _, rest = line.partition(" dm ")
        fields = dict(field.strip().split(" ", 1) for field in f"dm {rest}".split(";") if field.strip())
        name = fields["id"].strip('"')
        if name.split()[0] == variant:
            fen = f"{position} {fields['hmvc']} {fields['fmvn']}"
            found.append(KnownMate(name, fen, int(fields["dm"])))
    return found


def claims(session: Session, mate: KnownMate, go: str) -> list[int]:
    """All distances that the engine claims on its way."""
    since = len(session.transcript)
    session.ask("ucinewgame", f"position fen {mate.fen}", go, seconds=60)
    lines = [line for line in session.said("info", since) if " score mate " in line]
    return [int(line.split(" score mate ")[1].split()[0]) for line in lines]


def is_true(variant: str, fen: str, claim: int) -> bool:
    """Whether the teacher sees a mate at least as short."""
    with Teacher(TEACHERS[variant], variant, patience=120) as teacher:
        score = teacher.judge(f"fen {fen}", PROVING_NODES)[0].score
    seen = MATE - score if score > LARGEST else -(score + MATE) if score < -LARGEST else 0
    return seen * claim > 0 and abs(seen) <= abs(claim)


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_there_are_mates_enough_to_try(variant: str) -> None:
    mates = known_mates(variant)
    assert len({mate.fen for mate in mates}) == len(mates) >= 60
    assert {mate.distance for mate in mates} >= {1, 2, 3, 4, 5}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_every_claim_of_a_mate_is_true_and_the_short_ones_are_found(variant: str) -> None:
    false: list[str] = []
    found: dict[int, list[bool]] = defaultdict(list)
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=64)
        for mate in known_mates(variant):
            made = claims(session, mate, f"go nodes {NODES}")
            found[mate.distance].append(bool(made))
            for claim in set(made):
                if claim * mate.distance <= 0:
                    false.append(f"{mate.name}: mate {claim} where the other side mates")
                elif abs(claim) < abs(mate.distance) and not is_true(variant, mate.fen, claim):
                    false.append(f"{mate.name}: mate {claim}, the teacher sees {mate.distance}")
        session.check()
    assert not false
    parts = {distance: sum(hits) / len(hits) for distance, hits in found.items()}
    assert all(parts[distance] >= floor for distance, floor in FLOORS.items()), parts


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_go_mate_ends_with_a_mate_of_that_length(variant: str) -> None:
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=64)
        for mate in known_mates(variant):
            if mate.distance in (1, 2):
                made = claims(session, mate, f"go mate {mate.distance} movetime 20000")
                assert made, mate
                assert made[-1] == mate.distance, mate
        session.check()


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_a_mate_in_one_is_played_at_once(variant: str) -> None:
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=64)
        for mate in known_mates(variant):
            if mate.distance == 1:
                assert claims(session, mate, "go nodes 800")[-1:] == [1], mate
        session.check()
