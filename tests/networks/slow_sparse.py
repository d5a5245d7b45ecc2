"""The sparse networks once more, from `docs/networks.md` alone, on python-chess boards and NumPy arrays.

Slow and plain: what the core computes with bitboards is asked square by square here.
"""

import math
from typing import Any, TypeAlias

import chess
import chess.variant
import numpy as np
from numpy.typing import NDArray

Tensors: TypeAlias = dict[str, NDArray[Any]]

ROLES = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)
WORTH = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 100}
RING = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
KNIGHT = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))


def make_board(variant: str, fen: str) -> chess.Board:
    """A board of chess, chess960 or crazyhouse."""
    if variant == "crazyhouse":
        return chess.variant.CrazyhouseBoard(fen)
    return chess.Board(fen, chess960=variant == "chess960")


def view(board: chess.Board, square: int) -> int:
    """The square as the side to move sees it."""
    return square if board.turn == chess.WHITE else square ^ 56


def features(board: chess.Board) -> list[int]:
    """The active features, ascending."""
    found = []
    for square, piece in board.piece_map().items():
        side = int(piece.color != board.turn)
        attacked = board.is_attacked_by(not piece.color, square)
        defended = board.is_attacked_by(piece.color, square)
        kind = (side * 6 + piece.piece_type - 1) * 4 + attacked + 2 * defended
        found.append(kind * 64 + view(board, square))
        if isinstance(board, chess.variant.CrazyhouseBoard) and board.promoted & chess.BB_SQUARES[square]:
            found.append(3072 + side * 64 + view(board, square))
    for side, color in enumerate((board.turn, not board.turn)):
        if isinstance(board, chess.variant.CrazyhouseBoard):
            for role in ROLES[:5]:
                held = board.pockets[color].count(role)
                found += [3200 + (side * 5 + role - 1) * 8 + i for i in range(8) if held > i]
        if board.has_kingside_castling_rights(color):
            found.append(3280 + side * 2)
        if board.has_queenside_castling_rights(color):
            found.append(3280 + side * 2 + 1)
        found += ring(board, side, color)
    if board.has_legal_en_passant():
        assert board.ep_square is not None
        found.append(3284 + chess.square_file(board.ep_square))
    if board.is_check():
        found.append(3292)
    return sorted(found)


def ring(board: chess.Board, side: int, color: chess.Color) -> list[int]:
    """The states around a king."""
    king = board.king(color)
    assert king is not None
    found = []
    for direction, (rows, columns) in enumerate(RING):
        rank = chess.square_rank(king) + (rows if board.turn == chess.WHITE else -rows)
        file = chess.square_file(king) + columns
        state = 12
        if 0 <= rank < 8 and 0 <= file < 8:
            square = chess.square(file, rank)
            piece = board.piece_at(square)
            occupant = 0 if piece is None else 1 if piece.color == color else 2
            attacked = board.is_attacked_by(not color, square)
            defended = bool(board.attackers(color, square) & ~chess.BB_SQUARES[king])
            state = occupant * 4 + attacked + 2 * defended
        found.append(3293 + (side * 8 + direction) * 16 + state)
    return found


def king_target(board: chess.Board, move: chess.Move) -> int | None:
    """Where a castling king ends; none when the move is another."""
    if not board.is_castling(move):
        return None
    file = 6 if board.is_kingside_castling(move) else 2
    return chess.square(file, chess.square_rank(move.from_square))


def context(board: chess.Board, move: chess.Move) -> int:
    """What kind of move it is."""
    us, them = board.turn, not board.turn
    castled = king_target(board, move)
    target = move.to_square if castled is None else castled
    if move.drop is not None:
        kind, role, others = 6 + move.drop - 1, move.drop, board.attackers(us, target)
    else:
        found = board.piece_type_at(move.from_square)
        assert found is not None
        kind, role = found - 1, found
        others = board.attackers(us, target) & ~chess.BB_SQUARES[move.from_square]
    victim = 0
    if board.is_en_passant(move):
        victim = 1
    elif castled is None:
        victim = board.piece_type_at(target) or 0
    enemies = [board.piece_type_at(square) for square in board.attackers(them, target)]
    danger = 0
    if enemies:
        danger = 2 if any(WORTH[enemy] < WORTH[role] for enemy in enemies if enemy) else 1
    hit = move.drop is None and board.is_attacked_by(them, move.from_square)
    board.push(move)
    check = board.is_check()
    board.pop()
    return (((kind * 6 + victim) * 3 + danger) * 2 + bool(others)) * 4 + check + 2 * hit


def policy_index(board: chess.Board, move: chess.Move) -> int:
    """The place in the policy."""
    target = view(board, move.to_square)
    if move.drop is not None:
        return (76 + move.drop - 1) * 64 + target
    origin = view(board, move.from_square)
    rows, columns = target // 8 - origin // 8, target % 8 - origin % 8
    if move.promotion is not None:
        plane = 64 + (move.promotion - 2) * 3 + columns + 1
    elif (rows, columns) in KNIGHT:
        plane = 56 + KNIGHT.index((rows, columns))
    else:
        length = max(abs(rows), abs(columns))
        plane = RING.index((rows // length, columns // length)) * 7 + length - 1
    return plane * 64 + origin


def bucket(board: chess.Board) -> int:
    """The value head."""
    return min((len(board.piece_map()) - 1) // 4, 7)


# The arithmetic, in NumPy: integers exactly, the rest in float32 in the order of the contract.


def sums(tensors: Tensors, part: str, active: list[int]) -> NDArray[np.int16]:
    """The accumulator of a part, `policy` or `value`."""
    rows = tensors[f"{part}.inputs.weight"][active].astype(np.int64).sum(0)
    found: NDArray[np.int64] = rows + tensors[f"{part}.inputs.bias"]
    return found.astype(np.int16)  # wraps


def activations(accumulator: NDArray[np.int16]) -> NDArray[np.int64]:
    """Products of pairs; 16,384 is 1."""
    first, second = np.split(np.clip(accumulator.astype(np.int64), 0, 128), 2)
    return first * second


def scaled(number: int | np.int64) -> np.float32:
    """An exact sum of products as a number."""
    return np.float32(np.int32(number)) * np.float32(2.0**-20)


def squared(number: np.float32) -> np.float32:
    clipped = min(max(number, np.float32(0.0)), np.float32(1.0))
    return np.float32(clipped * clipped)


def layer(
    inputs: list[np.float32], weight: NDArray[np.float32], bias: NDArray[np.float32]
) -> list[np.float32]:
    """Bias first, then the inputs in their order."""
    found = []
    for row, start in zip(weight, bias, strict=True):
        total = np.float32(start)
        for number, unit in zip(row, inputs, strict=True):
            total = np.float32(total + np.float32(number * unit))
        found.append(total)
    return found


def evaluate(tensors: Tensors, board: chess.Board) -> tuple[float, list[float], dict[str, np.float32]]:
    """Value, chances of win, draw and loss, and the logits of the legal moves."""
    active = features(board)
    policy = activations(sums(tensors, "policy", active))
    logits = {}
    for move in board.legal_moves:
        index, kind = policy_index(board, move), context(board, move)
        weight = tensors["policy.moves.weight"][index].astype(np.int64)
        weight = weight + tensors["policy.contexts.weight"][kind]
        logit = scaled(policy @ weight) + tensors["policy.moves.bias"][index]
        logits[move.uci()] = np.float32(logit + tensors["policy.contexts.bias"][kind])
    head = bucket(board)
    value = activations(sums(tensors, "value", active))
    first = [
        squared(scaled(value @ row.astype(np.int64)) + bias)
        for row, bias in zip(
            tensors["value.hidden1.weight"][head], tensors["value.hidden1.bias"][head], strict=True
        )
    ]
    second = layer(first, tensors["value.hidden2.weight"][head], tensors["value.hidden2.bias"][head])
    output = layer(
        [squared(unit) for unit in second],
        tensors["value.output.weight"][head],
        tensors["value.output.bias"][head],
    )
    powers = [math.exp(float(logit) - float(max(output))) for logit in output]
    chances = [power / sum(powers) for power in powers]
    return chances[0] - chances[2], chances, logits
