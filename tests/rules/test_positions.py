"""Positions as text, sound and malformed: accepted and searched, or refused with one sentence; no crash."""

import random
import re

import pytest

from anabranch import Engine, _core
from anabranch.errors import AnabranchError, PositionError

pytestmark = pytest.mark.usefixtures("material_by_default")

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

REFUSED = {
    "empty": "",
    "blank": "   \t ",
    "garbage": "this is not a position",
    "no white king": "4k3/8/8/8/8/8/8/4Q3 w - - 0 1",
    "no black king": "8/8/8/8/8/8/8/4K2Q w - - 0 1",
    "no kings": "8/8/8/3q4/8/8/8/3Q4 w - - 0 1",
    "empty board": "8/8/8/8/8/8/8/8 w - - 0 1",
    "two white kings": "4k3/8/8/8/8/8/8/K3K3 w - - 0 1",
    "two black kings": "4k2k/8/8/8/8/8/8/4K3 w - - 0 1",
    "nine files": "rnbqkbnrr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "nine files in digits": "4k3/8/8/54/8/8/8/4K3 w - - 0 1",
    "seven files": "rnbqkbn/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "seven ranks": "4k3/8/8/8/8/8/4K3 w - - 0 1",
    "nine ranks": "4k3/8/8/8/8/8/8/8/4K3 w - - 0 1",
    "ten ranks": "4k3/8/8/8/8/8/8/8/8/4K3 w - - 0 1",
    "digit nine": "4k3/9/8/8/8/8/8/4K3 w - - 0 1",
    "digit nought": "4k3/80/8/8/8/8/8/4K3 w - - 0 1",
    "white pawn on the last rank": "P3k3/8/8/8/8/8/8/4K3 w - - 0 1",
    "black pawn on the last rank": "4k3/8/8/8/8/8/8/p3K3 w - - 0 1",
    "white pawn on the first rank": "4k3/8/8/8/8/8/8/P3K3 b - - 0 1",
    "black pawn on its first rank": "p3k3/8/8/8/8/8/8/4K3 b - - 0 1",
    "unknown piece": "4k3/8/8/8/3x4/8/8/4K3 w - - 0 1",
    "promoted nothing": "4k3/~7/8/8/8/8/8/4K3 w - - 0 1",
    "side to move": "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
    "castling letters": "4k3/8/8/8/8/8/8/4K3 w z! - 0 1",
    "en passant beyond the board": "4k3/8/8/8/8/8/8/4K3 w - z9 0 1",
    "clock of letters": "4k3/8/8/8/8/8/8/4K3 w - - zero 1",
    "negative clock": "4k3/8/8/8/8/8/8/4K3 w - - -1 1",
    "huge clock": "4k3/8/8/8/8/8/8/4K3 w - - 99999999999999999999 1",
    "large move number": "4k3/8/8/8/8/8/8/4K3 w - - 0 4294967295",
    "a field too many": START + " 7 8 9",
    "opponent in check": "4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1",
    "kings side by side": "8/8/8/3kK3/8/8/8/8 w - - 0 1",
    "100 KB of digits": "8" * 100_000,
    "100 KB of pieces": "/".join(["rnbqkbnr"] * 12_000),
    "100 KB after a position": START + " " * 10 + "x" * 100_000,
    "not ASCII": "4k3/8/8/8/8/8/8/4♔3 w - - 0 1",
    "an emoji": "\N{FIRE}",
    "a lone surrogate's cousin": "4k3/8/8/8/8/8/8/4K3 w \u00e9 - 0 1",
    "control characters": "4k3/8/8/8/\x00\x018/8/8/4K3 w - - 0 1",
    "escape sequences": "\x1b[31m4k3/8/8/8/8/8/8/4K3 w - - 0 1",
    "pocket in chess": "4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1",
}

CRAZYHOUSE_REFUSED = {
    "king in the pocket": "4k3/8/8/8/8/8/8/4K3[K] w - - 0 1",
    "letters in the pocket": "4k3/8/8/8/8/8/8/4K3[xyz] w - - 0 1",
    "open pocket of letters": "4k3/8/8/8/8/8/8/4K3[QX w - - 0 1",
    "pocket too large": f"4k3/8/8/8/8/8/8/4K3[{'Q' * 65}] w - - 0 1",
    "pocket far too large": f"4k3/8/8/8/8/8/8/4K3[{'Qq' * 200}] w - - 0 1",
    "more pieces than squares": f"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[{'P' * 40}] w - - 0 1",
    "two pockets": "4k3/8/8/8/8/8/8/4K3[Q][q] w - - 0 1",
}

# Odd, and still positions: what they mean, as a FEN.
SAME = ""
ACCEPTED: dict[str, tuple[str, str]] = {
    "missing counters": ("4k3/8/8/8/8/8/8/R3K3 w Q -", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
    "board and side": ("4k3/8/8/8/8/8/8/R3K3 b", "4k3/8/8/8/8/8/8/R3K3 b - - 0 1"),
    "board alone": ("4k3/8/8/8/8/8/8/R3K3", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"),
    "spaces": ("  4k3/8/8/8/8/8/8/R3K3   w  - -  3  9 ", "4k3/8/8/8/8/8/8/R3K3 w - - 3 9"),
    "a line break": ("4k3/8/8/8/8/8/8/R3K3 w - - 3 9\r\n", "4k3/8/8/8/8/8/8/R3K3 w - - 3 9"),
    "rights without rooks": ("4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
    "rights of a king gone": ("4k3/8/8/8/8/8/8/R4K1R w KQ - 0 1", "4k3/8/8/8/8/8/8/R4K1R w - - 0 1"),
    "en passant behind nothing": ("4k3/8/8/8/8/8/8/4K2R w - e6 0 1", "4k3/8/8/8/8/8/8/4K2R w - - 0 1"),
    "en passant of the wrong side": ("4k3/8/8/8/4P3/8/8/4K2R w - e3 0 1", "4k3/8/8/8/4P3/8/8/4K2R w - - 0 1"),
    "en passant in the middle": ("4k3/8/8/8/8/8/8/4K2R w - d4 0 1", "4k3/8/8/8/8/8/8/4K2R w - - 0 1"),
    "en passant that nobody takes": (
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    ),
    "en passant that a pin forbids": (
        "8/8/8/K2pP2q/8/8/8/4k3 w - d6 0 1",
        "8/8/8/K2pP2q/8/8/8/4k3 w - - 0 1",
    ),
    "nine queens a side": ("qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1", SAME),
    "sixteen pawns": ("4k3/8/8/8/PPPPPPPP/PPPPPPPP/8/4K3 w - - 0 1", SAME),
    "forty knights": ("7k/8/8/NNNNNNNN/NNNNNNNN/NNNNNNNN/NNNNNNNN/NNNNKNNN w - - 0 1", SAME),
    "three checkers": ("4k3/8/3N4/8/1B6/8/8/3KR3 b - - 0 1", SAME),
    "clock beyond the limit": ("4k3/8/8/8/8/8/8/R3K3 w - - 99 80", SAME),
    "move number nought": ("4k3/8/8/8/8/8/8/R3K3 w - - 0 0", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"),
}

DIALECTS = {
    "r3k3/8/8/8/8/8/8/4K2R[QNPp] w - - 0 1": [
        "r3k3/8/8/8/8/8/8/4K2R[QNPp] w - - 0 1",
        "r3k3/8/8/8/8/8/8/4K2R[PNQp] w - - 0 1",
        "r3k3/8/8/8/8/8/8/4K2R[pPNQ] w - - 0 1",
        "r3k3/8/8/8/8/8/8/4K2R/QNPp w - - 0 1",
        "r3k3/8/8/8/8/8/8/4K2R/pQPN w - - 0 1",
    ],
    "r3k3/8/8/8/8/8/8/4K2R[] w - - 0 1": [
        "r3k3/8/8/8/8/8/8/4K2R[] w - - 0 1",
        "r3k3/8/8/8/8/8/8/4K2R[-] w - - 0 1",
        "r3k3/8/8/8/8/8/8/4K2R w - - 0 1",
        "r3k3/8/8/8/8/8/8/4K2R/ w - - 0 1",
        "r3k3/8/8/8/8/8/8/4K2R/- w - - 0 1",
    ],
}


def refusal(engine: Engine, position: str) -> str:
    before = engine.position
    with pytest.raises(PositionError) as caught:
        engine.position = position
    assert engine.position == before
    return str(caught.value)


def assert_one_sentence(text: str) -> None:
    assert 10 < len(text) < 160, text
    assert text[0].isupper() or text[0].islower() or text[0].isdigit()
    assert text.isprintable(), text
    assert not re.search(r"[.!?] +[A-Z].*[.!?]", text), text


@pytest.mark.parametrize("position", REFUSED.values(), ids=list(REFUSED))
def test_malformed_positions_are_refused_with_a_sentence(position: str) -> None:
    engine = Engine()
    engine.play("e2e4")
    assert_one_sentence(refusal(engine, position))
    assert engine.search(simulations=20).statistics.simulations == 20


@pytest.mark.parametrize("position", CRAZYHOUSE_REFUSED.values(), ids=list(CRAZYHOUSE_REFUSED))
def test_malformed_pockets_are_refused_with_a_sentence(position: str) -> None:
    assert_one_sentence(refusal(Engine("crazyhouse"), position))


@pytest.mark.parametrize(("given", "meant"), ACCEPTED.values(), ids=list(ACCEPTED))
def test_odd_positions_are_accepted_and_searched(given: str, meant: str) -> None:
    engine = Engine()
    result = engine.search(given, simulations=50)
    assert engine.position == (meant or given)
    assert result.statistics.root_visits > 0
    assert result.best_move in engine.legal_moves
    again = Engine().search(engine.position, simulations=50)
    assert again.moves == result.moves


@pytest.mark.parametrize(("canonical", "dialects"), DIALECTS.items(), ids=["filled", "empty"])
def test_pocket_dialects_mean_the_same(canonical: str, dialects: list[str]) -> None:
    results = []
    for text in dialects:
        engine = Engine("crazyhouse")
        results.append(engine.search(text, simulations=60).moves)
        board, pocket = engine.position.split("]")[0].split("[")
        expected = canonical.partition("]")[0].split("[")
        assert (board, sorted(pocket)) == (expected[0], sorted(expected[1]))
    assert all(moves == results[0] for moves in results)


def test_promoted_pieces_go_back_to_the_pocket_as_pawns() -> None:
    for mark, pocket in (("~", "p"), ("", "q")):
        engine = Engine("crazyhouse")
        engine.position = f"3rk3/8/8/8/8/8/8/3Q{mark}K3[] b - - 0 1"
        assert ("~" in engine.position) == bool(mark)
        engine.play("d8d1")
        assert engine.position.startswith(f"4k3/8/8/8/8/8/8/3rK3[{pocket}] w")
    # The mark means nothing in chess.
    engine = Engine()
    engine.position = "3rk3/8/8/8/8/8/8/3Q~K3 b - - 0 1"
    engine.play("d8d1")
    assert "~" not in engine.position


def test_large_pockets_can_be_searched() -> None:
    engine = Engine("crazyhouse")
    result = engine.search(
        "4k3/8/8/8/8/8/8/4K3[QQQQQQQQRRRRBBBBNNNNPPPPPPPPqqqqrrrrpppp] w - - 0 1", simulations=50
    )
    assert len(result.moves) > 250
    assert result.statistics.root_visits > 0


@pytest.mark.parametrize(
    ("given", "rights"),
    [
        ("1r2k1r1/8/8/8/8/8/8/RR2K2R w BHg - 0 1", "KBk"),
        ("rk5r/8/8/8/8/8/8/RK5R w KQkq - 0 1", "KQkq"),
        ("rk5r/8/8/8/8/8/8/RK5R w HAha - 0 1", "KQkq"),
        ("rk5r/8/8/8/8/8/8/RK5R w DE - 0 1", "-"),
        ("4k3/8/8/8/8/8/8/1R1K2R1 w GB - 0 1", "KQ"),
    ],
)
def test_chess960_castling_rights(given: str, rights: str) -> None:
    engine = Engine(chess960=True)
    result = engine.search(given, simulations=50)
    assert engine.position.split()[2] == rights
    castling = [
        move for move in engine.legal_moves if move in ("e1h1", "e1b1", "b1h1", "b1a1", "d1g1", "d1b1")
    ]
    assert bool(castling) == (rights != "-")
    assert result.statistics.root_visits > 0


@pytest.mark.parametrize("variant", _core.variants())
def test_every_variant_refuses_what_makes_no_sense(variant: str) -> None:
    engine = Engine(variant)
    names = ["empty", "garbage", "nine files", "unknown piece", "100 KB of digits", "not ASCII"]
    for name in [*names, "nine ranks"]:
        position = REFUSED[name]
        if name == "nine ranks" and variant == "crazyhouse":
            continue  # the ninth rank is a pocket; "8" in it is refused below
        assert_one_sentence(refusal(engine, position))
    assert engine.search(simulations=20).statistics.simulations == 20


def test_the_ninth_rank_of_crazyhouse_is_a_pocket_and_nothing_else() -> None:
    assert_one_sentence(refusal(Engine("crazyhouse"), REFUSED["nine ranks"]))


SOUND = {
    "chess": [
        START,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1",
    ],
    "crazyhouse": [
        "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14",
        "4k3/1Q~6/8/8/4b3/8/Kpp5/8/ b - - 0 1",
    ],
    "3check": ["r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 1+1 0 1"],
    "horde": ["rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 1"],
    "atomic": ["rn2kb1r/1pp1p2p/p2q1pp1/3P4/2P3b1/4PN2/PP3PPP/R2QKB1R b KQkq - 0 1"],
    "antichess": ["8/1p6/8/8/8/8/P7/8 w - - 0 1"],
    "racingkings": ["8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1"],
    "kingofthehill": ["rnbq1bnr/pppp1ppp/4k3/8/8/3K4/PPPP1PPP/RNBQ1BNR w - - 0 1"],
}
ALPHABET = "pnbrqkPNBRQK12345678/9 0wb-[]~@+KQkqabcdefgh_x\t\x00\n\u00e9♞"


def mutated(text: str, rng: random.Random) -> str:
    letters = list(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        place = rng.randrange(len(letters) + 1)
        kind = rng.random()
        if kind < 0.35 and place < len(letters):
            letters[place] = rng.choice(ALPHABET)
        elif kind < 0.6:
            letters.insert(place, rng.choice(ALPHABET))
        elif kind < 0.85 and letters:
            del letters[place % len(letters)]
        elif letters:
            other = rng.randrange(len(letters))
            place %= len(letters)
            letters[place], letters[other] = letters[other], letters[place]
    return "".join(letters)


@pytest.mark.parametrize("variant", sorted(SOUND))
def test_mutated_positions_never_crash(variant: str) -> None:
    rng = random.Random(variant)
    rounds = 6000 if variant in ("chess", "crazyhouse") else 1500
    sessions = [_core.Session(variant, chess960, {"batch_size": 4}, False) for chess960 in (False, True)]
    accepted = refused = 0
    sentences: set[str] = set()
    for _ in range(rounds):
        text = mutated(rng.choice(SOUND[variant]), rng)
        session = sessions[rng.random() < 0.2]
        try:
            session.set_position(text, [])
        except PositionError as error:
            sentences.add(str(error))
            refused += 1
            continue
        accepted += 1
        # What was accepted has one spelling that means the same.
        spelled = session.fen()
        moves = session.legal_moves()
        session.set_position(spelled, [])
        assert (session.fen(), session.legal_moves()) == (spelled, moves), text
        if session.ending() is None:
            session.run(simulations=8)
            assert session.in_flight_marks() == 0
            assert session.report(1)["statistics"]["root_visits"] > 0
    assert accepted > rounds // 20
    assert refused > rounds // 20
    assert all(sentence.isprintable() for sentence in sentences)


def test_mutated_games_never_crash() -> None:
    rng = random.Random(5)
    session = _core.Session("crazyhouse", False, {}, False)
    moves = ["e2e4", "d7d5", "e4d5", "d8d5", "P@e6", "d5e6"]
    sentences: set[str] = set()
    for _ in range(2000):
        game = [mutated(move, rng) if rng.random() < 0.3 else move for move in moves[: rng.randrange(1, 7)]]
        try:
            session.set_position(None, game)
        except AnabranchError as error:
            sentences.add(str(error))
    assert len(sentences) > 20
    assert all(sentence.isprintable() for sentence in sentences)
    session.set_position(None, moves)
    assert len(session.game()[1]) == 6
