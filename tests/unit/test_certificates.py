"""Certificates of proofs: those that hold are accepted, and every kind of damage is refused."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import chess.variant
import pytest

from anabranch.cli import run
from anabranch.errors import ProofError
from anabranch.formats.certificates import LONGEST_LINE, Certificate, Header, write_certificate
from anabranch.verify import ending, identity, verify_proof

Lines = list[dict[str, Any]]

LADDER = "6k1/8/8/8/8/8/R7/1R4K1 w - - 0 1"
AFTER_LADDER = "5k2/R7/8/8/8/8/8/1R4K1 w - - 0 1"
"""The position after a2a7 g8f8."""


def header(variant: str, fen: str, result: str, plies: int, nodes: int, moves: str = "") -> dict[str, Any]:
    return {
        "format": "anabranch-proof",
        "version": 1,
        "variant": variant,
        "chess960": False,
        "fen": fen,
        "moves": moves.split(),
        "result": result,
        "plies": plies,
        "nodes": nodes,
    }


def ladder(fen: str = LADDER, moves: str = "") -> Lines:
    """Mate in two in chess: Ra7, the king goes either way, Rb8."""
    return [
        header("chess", fen, "win", 3, 6, moves),
        {"id": 0, "plies": 3, "move": "a2a7", "to": 1},
        {"id": 1, "plies": 2, "moves": {"g8f8": 2, "g8h8": 3}},
        {"id": 2, "plies": 1, "move": "b1b8", "to": 4},
        {"id": 3, "plies": 1, "move": "b1b8", "to": 5},
        {"id": 4, "plies": 0},
        {"id": 5, "plies": 0},
    ]


def drops() -> Lines:
    """Mate in two in crazyhouse: a rook is dropped, a knight or bishop comes between and is taken."""
    return [
        header("crazyhouse", "6k1/5ppp/8/8/8/B7/8/6K1[Rbn] w - - 0 1", "win", 3, 6),
        {"id": 0, "plies": 3, "move": "R@e8", "to": 1},
        {"id": 1, "plies": 2, "moves": {"N@f8": 2, "B@f8": 3}},
        {"id": 2, "plies": 1, "move": "e8f8", "to": 4},
        {"id": 3, "plies": 1, "move": "e8f8", "to": 5},
        {"id": 4, "plies": 0},
        {"id": 5, "plies": 0},
    ]


def taken_rook(rook: str) -> Lines:
    """Mate in three in crazyhouse, by the rook that was taken with the first move."""
    return [
        header("crazyhouse", f"4{rook}1k1/5ppp/8/8/B7/8/8/4R1K1[n] w - - 0 1", "win", 5, 6),
        {"id": 0, "plies": 5, "move": "e1e8", "to": 1},
        {"id": 1, "plies": 4, "moves": {"N@f8": 2}},
        {"id": 2, "plies": 3, "move": "e8f8", "to": 3},
        {"id": 3, "plies": 2, "moves": {"g8f8": 4}},
        {"id": 4, "plies": 1, "move": "R@e8", "to": 5},
        {"id": 5, "plies": 0},
    ]


def hill() -> Lines:
    """King of the hill in two moves, without any material."""
    return [
        header("kingofthehill", "7k/8/8/8/8/8/4K3/8 w - - 0 1", "win", 3, 8),
        {"id": 0, "plies": 3, "move": "e2e3", "to": 1},
        {"id": 1, "plies": 2, "moves": {"h8g8": 2, "h8g7": 3, "h8h7": 4}},
        {"id": 2, "plies": 1, "move": "e3e4", "to": 5},
        {"id": 3, "plies": 1, "move": "e3e4", "to": 6},
        {"id": 4, "plies": 1, "move": "e3e4", "to": 7},
        *({"id": number, "plies": 0} for number in (5, 6, 7)),
    ]


def atomic() -> Lines:
    """The king explodes beside the pawn that is taken."""
    return [
        header("atomic", "7k/6p1/8/8/8/8/6Q1/K7 w - - 0 1", "win", 1, 2),
        {"id": 0, "plies": 1, "move": "g2g7", "to": 1},
        {"id": 1, "plies": 0},
    ]


def antichess() -> Lines:
    """The last piece is given away: the end is a win for the side that would be to move."""
    return [
        header("antichess", "8/8/8/8/8/1p6/8/R7 w - - 0 1", "win", 2, 3),
        {"id": 0, "plies": 2, "move": "a1a2", "to": 1},
        {"id": 1, "plies": 1, "moves": {"b3a2": 2}},
        {"id": 2, "plies": 0},
    ]


def write(folder: Path, lines: Lines) -> Path:
    path = folder / "proof.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def refusal(folder: Path, lines: Lines) -> str:
    """The sentence of a refusal, without the file."""
    path = write(folder, lines)
    with pytest.raises(ProofError) as caught:
        verify_proof(path)
    return str(caught.value).replace(f" of {path}", "")


@pytest.mark.parametrize("make", [ladder, drops, hill, atomic, antichess, lambda: taken_rook("r")])
def test_proofs_hold(tmp_path: Path, make: Callable[[], Lines]) -> None:
    lines = make()
    verdict = verify_proof(write(tmp_path, lines))
    assert (verdict.variant, verdict.result) == (lines[0]["variant"], "win")
    assert (verdict.plies, verdict.positions) == (lines[0]["plies"], len(lines) - 1)
    assert verdict.moves == (verdict.plies + 1) // 2


def test_a_loss_is_the_defenders_position(tmp_path: Path) -> None:
    first, _, *rest = ladder()
    first |= {"fen": "6k1/R7/8/8/8/8/8/1R4K1 b - - 0 1", "result": "loss", "plies": 2, "nodes": 5}
    ids = {1: 0, 2: 1, 3: 2, 4: 3, 5: 4}
    for line in rest:
        line["id"] = ids[line["id"]]
        if "to" in line:
            line["to"] = ids[line["to"]]
        if "moves" in line:
            line["moves"] = {move: ids[to] for move, to in line["moves"].items()}
    verdict = verify_proof(write(tmp_path, [first, *rest]))
    assert (verdict.result, verdict.moves, verdict.plies) == ("loss", 1, 2)
    first["result"] = "win"
    assert refusal(tmp_path, [first, *rest]) == (
        "line 2: position 0 has the moves of the defender, who is not to move"
    )


def test_the_order_of_lines_is_free_after_the_root(tmp_path: Path) -> None:
    first, root, *rest = ladder()
    assert verify_proof(write(tmp_path, [first, root, *reversed(rest)])).positions == 6
    assert "the first position is 5, not the root, 0" in refusal(tmp_path, [first, *reversed(rest), root])


def put(line: int, **fields: Any) -> Callable[[Lines], None]:
    """A change of one line."""
    return lambda lines: lines[line].update(fields)


def remove(line: int, name: str | None = None) -> Callable[[Lines], None]:
    """A line less, or a field."""

    def change(lines: Lines) -> None:
        if name is None:
            del lines[line]
        else:
            del lines[line][name]

    return change


def loop(lines: Lines) -> None:
    """After Kf8 the rook goes back, and so does the king."""
    lines[0]["nodes"] = 7
    lines[3] = {"id": 2, "plies": 1, "move": "a7a2", "to": 6}
    lines[6:7] = [{"id": 5, "plies": 0}, {"id": 6, "plies": 1, "moves": {"f8g8": 0}}]


REFUSED: list[tuple[str, Callable[[Lines], None], str]] = [
    ("missing defence", put(2, moves={"g8f8": 2}), "line 3: the defence g8h8 in position 1 is missing"),
    (
        "illegal defence",
        put(2, moves={"g8f8": 2, "g8h8": 3, "g8g7": 3}),
        "line 3: the move 'g8g7' in position 1 is illegal",
    ),
    ("illegal move", put(1, move="a2b3"), "line 2: the move 'a2b3' in position 0 is illegal"),
    ("no move", put(1, move="hello"), "line 2: the move 'hello' in position 0 is illegal"),
    ("null move", put(1, move="0000"), "line 2: the move '0000' in position 0 is illegal"),
    ("more plies", put(3, plies=2), "line 3: g8f8 leads from position 1, 2 plies before the end"),
    ("longer than its lines", put(1, plies=4), "line 2: the root has 4 plies, the header 3"),
    ("an end with plies", put(5, plies=1), "line 4: b1b8 leads from position 2, 1 plies before the end"),
    (
        "another move",
        put(3, move="b1b7"),
        "line 6: position 4 is no end of the game",
    ),
    ("stalemate", put(4, move="b1b7"), "line 7: position 5 is no end of the game"),
    ("wrong result", put(0, result="loss"), "line 2: position 0 has the moves of the attacker"),
    ("a cycle", loop, "line 4: a7a2 leads from position 2, 1 plies before the end, to position 6"),
    (
        "one position for two",
        put(4, to=4),
        "line 5: position 4 is 1R5k/R7/8/8/8/8/8/6K1 b - - 0 1 here and 1R3k2/R7/",
    ),
    ("a missing line", remove(6), "line 7: the file ends after 5 of 6 positions"),
    ("a missing id", remove(6, "id"), "line 7: there is no id"),
    (
        "fewer lines than ids",
        put(0, nodes=5),
        "line 5: the position after 'b1b8' is 5, no number from 0 to 4",
    ),
    (
        "one line too many",
        lambda lines: lines.append({"id": 6}),
        "line 8: the file goes on after its 6 positions",
    ),
    ("more positions than bytes", put(0, nodes=1000), "line 1: the file is too short for 1000 positions"),
    ("far too many", put(0, nodes=1 << 40), "line 1: nodes is 1099511627776, no number from"),
    ("an id twice", put(6, id=4), "line 7: position 4 is already in line 6"),
    ("an unknown id", put(3, to=6), "line 4: the position after 'b1b8' is 6, no number from 0 to 5"),
    ("a negative id", put(3, to=-1), "line 4: the position after 'b1b8' is -1, no number"),
    ("a truth as a number", put(3, to=True), "line 4: the position after 'b1b8' is True, no number"),
    ("a fraction", put(3, plies=1.0), "line 4: plies is 1.0, no number"),
    ("an unknown field", put(6, hint=1), "line 7: 'hint' does not belong here"),
    ("no moves", put(2, moves={}), "line 3: the moves have the wrong form"),
    ("moves in a list", put(2, moves=["g8f8"]), "line 3: the moves have the wrong form"),
    ("another format", put(0, format="proof"), "line 1: the format is not 'anabranch-proof'"),
    ("another version", put(0, version=2), "line 1: the version is 2; only 1 can be read"),
    ("an unknown variant", put(0, variant="chess2"), "line 1: there is no variant 'chess2'"),
    ("an alias", put(0, variant="Standard"), "line 1: there is no variant 'Standard'"),
    ("no FEN", put(0, fen="hello"), "line 1: 'hello' is no FEN of chess"),
    ("no king", put(0, fen="8/8/8/8/8/8/R7/1R4K1 w - - 0 1"), "line 1: the position '8/8/8/8/8/8/R7/"),
    ("a long FEN", put(0, fen=LADDER + " " * 1000), "line 1: the FEN has 1"),
    ("an illegal game", put(0, moves=["e2e4"]), "line 1: the move 'e2e4' of the game is illegal"),
    ("a game that was over", put(0, fen="6kR/8/6K1/8/8/8/8/8 b - - 0 1", moves=["g8f8"]), "line 1: the move"),
    ("no list of moves", put(0, moves="e2e4"), "line 1: moves is no list of texts"),
    ("another result", put(0, result="draw"), "line 1: the result is 'draw', neither 'win' nor 'loss'"),
    ("no truth", put(0, chess960=0), "line 1: chess960 is 0, neither true nor false"),
    ("no plies", put(0, plies=0), "line 1: plies is 0, no number from 1"),
]


@pytest.mark.parametrize(
    ("change", "sentence"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_damage_is_refused(tmp_path: Path, change: Callable[[Lines], None], sentence: str) -> None:
    lines = ladder()
    change(lines)
    assert refusal(tmp_path, lines).startswith(sentence)


def test_a_position_that_nothing_leads_to(tmp_path: Path) -> None:
    lines = [*ladder(), {"id": 6, "plies": 0}]
    lines[0]["nodes"] = 7
    assert refusal(tmp_path, lines) == "line 8: position 6 is not reached from the root"


def test_ends_belong_to_the_attacker(tmp_path: Path) -> None:
    stalemate = [
        header("chess", "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "win", 1, 2),
        {"id": 0, "plies": 1, "move": "f1f7", "to": 1},
        {"id": 1, "plies": 0},
    ]
    assert refusal(tmp_path, stalemate) == "line 3: position 1 is drawn"
    given = [
        header("antichess", "8/8/8/8/8/1p6/8/R7 w - - 0 1", "loss", 2, 3),
        {"id": 0, "plies": 2, "moves": {f"a1{square}": 1 for square in ("a2",)}},
        {"id": 1, "plies": 1, "move": "b3a2", "to": 2},
        {"id": 2, "plies": 0},
    ]
    assert "is missing" in refusal(tmp_path, given)
    given[0] |= {"fen": "8/8/8/8/8/1p6/R7/8 b - - 0 1", "result": "win", "plies": 1, "nodes": 2}
    given[1:] = [{"id": 0, "plies": 1, "move": "b3a2", "to": 1}, {"id": 1, "plies": 0}]
    assert refusal(tmp_path, given) == "line 3: position 1 is lost for the attacker"


def test_the_proof_does_not_go_on_after_the_end(tmp_path: Path) -> None:
    lines = hill()
    lines[0]["fen"] = "8/8/8/8/8/4k3/8/4K2B w - - 0 1"
    lines[0]["variant"] = "chess"
    lines[1]["move"] = "h1g2"
    assert refusal(tmp_path, lines) == "line 2: the game is over in position 0, but the proof goes on"


@pytest.mark.parametrize(
    ("clock", "holds"), [(96, True), (97, True), (98, False), (100, False), (10**9, False)]
)
def test_the_move_count_rule(tmp_path: Path, clock: int, holds: bool) -> None:
    """Mate with the hundredth ply counts; anything else at clock 100 is drawn."""
    lines = ladder(LADDER.replace("- 0 1", f"- {clock} 80"))
    if holds:
        assert verify_proof(write(tmp_path, lines)).plies == 3
    else:
        number = 2 if clock == 98 else 0
        assert f"the game is drawn in position {number}: 100 plies" in refusal(tmp_path, lines)


def test_crazyhouse_has_no_move_count_rule(tmp_path: Path) -> None:
    lines = drops()
    lines[0]["fen"] = lines[0]["fen"].replace("- 0 1", "- 150 100")
    assert verify_proof(write(tmp_path, lines)).plies == 3


def test_the_history_counts(tmp_path: Path) -> None:
    """A position that occurred twice must not occur again; the root counts as an occurrence in the game."""
    once, again = "a7a2 f8g8", "a2a7 g8f8 a7a2 f8g8"
    assert verify_proof(write(tmp_path, ladder(AFTER_LADDER, once))).plies == 3
    sentence = refusal(tmp_path, ladder(AFTER_LADDER, f"{once} {again}"))
    assert sentence == "line 4: position 2 occurs for the third time, which is a draw"
    sentence = refusal(tmp_path, ladder(AFTER_LADDER, f"{once} {again} {again}"))
    assert sentence == "line 2: position 0 occurs for the third time, which is a draw"


def test_a_root_that_occurred_before_is_no_draw(tmp_path: Path) -> None:
    game = "a2a3 g8g7 a3a2 g7g8"
    assert verify_proof(write(tmp_path, ladder(moves=game))).plies == 3
    assert "position 0 occurs for the third time" in refusal(tmp_path, ladder(moves=f"{game} {game}"))


def test_a_promoted_piece_is_taken_as_a_pawn(tmp_path: Path) -> None:
    assert refusal(tmp_path, taken_rook("r~")) == "line 6: the move 'R@e8' in position 4 is illegal"


def test_what_identifies_a_position() -> None:
    def one(variant: str, fen: str) -> str:
        return identity(chess.variant.find_variant(variant)(fen))

    plain = "6k1/8/8/8/8/8/8/Q5K1[N] w - - 3 9"
    assert one("crazyhouse", plain) == one("crazyhouse", plain.replace("3 9", "0 1"))
    for other in ("Q~5K1[N] w", "Q5K1[] w", "Q5K1[n] w", "Q5K1[N] b"):
        assert one("crazyhouse", plain) != one("crazyhouse", plain.replace("Q5K1[N] w", other))
    # En passant counts where the capture is legal.
    idle, useful = "4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"
    assert one("chess", idle) == one("chess", idle.replace("e3", "-"))
    assert one("chess", useful) != one("chess", useful.replace("e3", "-"))
    rights = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert one("chess", rights) != one("chess", rights.replace("KQkq", "KQk"))
    checks = "4k3/8/8/8/8/8/8/4K2R w - - 3+2 0 1"
    assert one("3check", checks) != one("3check", checks.replace("3+2", "2+3"))


@pytest.mark.parametrize(("chess960", "right", "wrong"), [(False, "e1g1", "e1h1"), (True, "e1h1", "e1g1")])
def test_castling_has_one_form(tmp_path: Path, chess960: bool, right: str, wrong: str) -> None:
    lines = [
        header("chess", "5k2/8/8/8/8/8/4R1R1/4K2R w K - 0 1", "win", 1, 2) | {"chess960": chess960},
        {"id": 0, "plies": 1, "move": right, "to": 1},
        {"id": 1, "plies": 0},
    ]
    assert verify_proof(write(tmp_path, lines)).plies == 1
    lines[1]["move"] = wrong
    assert f"the move '{wrong}' in position 0 is illegal" in refusal(tmp_path, lines)


def prove(start: chess.Board, limit: int) -> Lines:
    """The certificate of a shortest win within some plies, with one line for each position."""
    distances: dict[tuple[str, int], int | None] = {}
    lines: Lines = [{}]
    ids: dict[str, int] = {}
    attacker, fen = start.turn, start.fen()

    def plies_to_win(board: chess.Board, left: int) -> int | None:
        """Plies to the win of the side that begins, if there are at most so many."""
        end = ending(board)
        if end is not None:
            return 0 if end.winner == attacker else None
        key = identity(board), left
        if left > 0 and key not in distances:
            found = []
            for move in board.legal_moves:
                board.push(move)
                found.append(plies_to_win(board, left - 1))
                board.pop()
            won = [plies for plies in found if plies is not None]
            is_attacker = board.turn == attacker
            is_won = bool(won) if is_attacker else len(won) == len(found)
            distances[key] = (1 + (min if is_attacker else max)(won)) if is_won else None
        return distances.get(key)

    def write_down(board: chess.Board, plies: int) -> int:
        text = identity(board)
        if text in ids:
            return ids[text]
        line: dict[str, Any] = {"id": ids.setdefault(text, len(ids)), "plies": plies}
        lines.append(line)
        after = {}
        for move in board.legal_moves if plies else ():
            board.push(move)
            left = plies_to_win(board, plies - 1)
            if left is not None and (board.turn == attacker or left == plies - 1):
                after[move.uci()] = write_down(board, left)
            board.pop()
            if after and board.turn == attacker:
                break
        if after and board.turn == attacker:
            ((line["move"], line["to"]),) = after.items()
        elif after:
            line["moves"] = after
        return int(line["id"])

    plies = next(plies for plies in range(1, limit + 1) if plies_to_win(start, plies) is not None)
    assert start.uci_variant is not None
    write_down(start.copy(stack=False), plies)
    lines[0] = header(start.uci_variant, fen, "win", plies, len(ids))
    return lines


def to_the_hill(clock: int = 0) -> Lines:
    """Three moves of the king to the hill; different lines lead to the same positions."""
    return prove(chess.variant.KingOfTheHillBoard(f"7k/8/8/8/8/8/8/4K3 w - - {clock} 90"), 5)


def shared_position(lines: Lines) -> tuple[int, list[dict[str, Any]]]:
    """A position that several lines lead to, and those lines."""
    parents: dict[int, list[dict[str, Any]]] = {}
    for line in lines[1:]:
        for child in line.get("moves", {}).values():
            parents.setdefault(child, []).append(line)
    return next((child, found) for child, found in parents.items() if len(found) > 1)


def test_lines_may_meet(tmp_path: Path) -> None:
    lines = to_the_hill()
    verdict = verify_proof(write(tmp_path, lines))
    assert (verdict.plies, verdict.positions) == (5, len(lines) - 1)
    assert len(shared_position(lines)[1]) > 1


def test_one_position_has_one_id(tmp_path: Path) -> None:
    lines = to_the_hill()
    child, (_, parent, *_) = shared_position(lines)
    new = lines[0]["nodes"]
    lines[0]["nodes"] += 1
    (move,) = (move for move, to in parent["moves"].items() if to == child)
    parent["moves"][move] = new
    lines.append({**lines[1 + child], "id": new})
    assert f"positions {child} and {new} are the same: " in refusal(tmp_path, lines)


def test_the_clock_goes_on_where_lines_meet(tmp_path: Path) -> None:
    assert verify_proof(write(tmp_path, to_the_hill(95))).plies == 5
    assert "100 plies without progress" in refusal(tmp_path, to_the_hill(96))


@pytest.mark.parametrize("make", [ladder, hill, atomic, antichess])
def test_small_proofs_are_the_shortest(tmp_path: Path, make: Callable[[], Lines]) -> None:
    first = make()[0]
    lines = prove(chess.variant.find_variant(first["variant"])(first["fen"]), 3)
    assert lines[0]["plies"] == first["plies"]
    assert verify_proof(write(tmp_path, lines)).plies == first["plies"]


DAMAGED: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "this is no JSON object"),
    ("no JSON", b"hello\n", "this is no JSON object"),
    ("half a line", b'{"format": "anabr', "this is no JSON object"),
    ("a list", b"[]\n", "this is no JSON object"),
    ("no UTF-8", b'{"format": "\xff"}\n', "this is no JSON object"),
    ("deep", b"[" * 500_000 + b"\n", "this is no JSON object"),
    ("a long number", b'{"version": ' + b"1" * 100_000 + b"}\n", "this is no JSON object"),
    ("a name twice", b'{"format": "a", "format": "b"}\n', "'format' stands twice in an object"),
    ("a long line", b'{"format": "' + b"a" * LONGEST_LINE + b'"}\n', "a line has at most 1,048,576 bytes"),
]


@pytest.mark.parametrize(
    ("content", "sentence"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED]
)
@pytest.mark.parametrize("line", [1, 4])
def test_damaged_lines_are_refused(tmp_path: Path, content: bytes, sentence: str, line: int) -> None:
    path = write(tmp_path, ladder())
    before = b"".join(path.read_bytes().splitlines(keepends=True)[: line - 1])
    after = b"".join(path.read_bytes().splitlines(keepends=True)[line:]) if content else b""
    path.write_bytes(before + content + (after if content.endswith(b"\n") else b""))
    if not content and line > 1:
        sentence = "the file ends after 2 of 6 positions"
    with pytest.raises(ProofError) as caught:
        verify_proof(path)
    assert str(caught.value) in (
        f"line {line} of {path}: {sentence}",
        f"line 1 of {path}: the file is too short for 6 positions",
    )


def test_a_defence_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ladder())
    path.write_text(path.read_text().replace('"g8f8": 2,', '"g8f8": 2, "g8f8": 2,'))
    with pytest.raises(ProofError, match="'g8f8' stands twice"):
        verify_proof(path)


@pytest.mark.parametrize("make", [ladder, drops, hill, antichess, lambda: taken_rook("r")])
def test_random_damage_is_a_sentence_or_does_no_harm(tmp_path: Path, make: Callable[[], Lines]) -> None:
    """A changed byte may leave the proof sound, as one in the number of the move does."""
    source = random.Random(7)
    path = write(tmp_path, make())
    content = path.read_bytes()
    refused = []
    for _ in range(150):
        damaged = bytearray(content)
        damaged[source.randrange(len(damaged))] = source.choice(b'0123456789abcdefghQ@~"{}[],: /\n\xff')
        path.write_bytes(damaged)
        try:
            verify_proof(path)
        except ProofError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert all(sentence.startswith("line ") for sentence in refused)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "proof.jsonl"
    first, *nodes = drops()
    fields = {name: value for name, value in first.items() if name not in ("format", "version")}
    write_certificate(path, Header(**fields), nodes)
    with Certificate(path) as certificate:
        assert certificate.header == Header(**fields)
        assert list(certificate.plies) == [3, 2, 1, 1, 0, 0]
        assert certificate.node(1).moves == {"N@f8": 2, "B@f8": 3}
        assert [certificate.node(id).kind for id in (0, 1, 4)] == ["attacker", "defender", "end"]
    assert verify_proof(path).plies == 3


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, ladder())
    with Certificate(path) as certificate:
        path.write_text(path.read_text().replace('"id": 2', '"id": 3'))
        with pytest.raises(ProofError, match="the file has changed"):
            certificate.node(2)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(tmp_path, ladder()))
    assert run(["verify-proof", path]) == 0
    assert capsys.readouterr() == ("The proof holds: win in 2 moves (3 plies), 6 positions.\n", "")
    assert run(["verify-proof", path, "--json"]) == 0
    document = {"holds": True, "variant": "chess", "result": "win", "plies": 3, "positions": 6, "moves": 2}
    assert json.loads(capsys.readouterr().out) == document
    path = str(write(tmp_path, atomic()))
    assert run(["verify-proof", path]) == 0
    assert capsys.readouterr() == ("The proof holds: win in 1 move (1 ply), 2 positions.\n", "")


def test_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ladder()
    lines[2]["moves"].pop("g8h8")
    path = str(write(tmp_path, lines))
    reason = f"line 3 of {path}: the defence g8h8 in position 1 is missing"
    assert run(["verify-proof", path]) == 1
    assert capsys.readouterr() == ("", f"anabranch: {reason}\n")
    assert run(["verify-proof", path, "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"holds": False, "error": reason}


def test_the_command_needs_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify-proof", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"anabranch: there is no file {tmp_path / 'none'}\n"
    assert run(["verify-proof", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"anabranch: {tmp_path} cannot be read: Is a directory\n"
    assert run(["verify-proof", os.devnull]) == 2
    assert capsys.readouterr().err == f"anabranch: {os.devnull} is no regular file\n"
    assert run(["verify-proof"]) == 2
    assert run(["verify-proof", "a", "b"]) == 2
