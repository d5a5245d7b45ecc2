"""Mates by exhaustive search, with nothing but the rules of python-chess."""

import chess

from anabranch import reference


class Judge:
    """Who wins within how many plies, by exhaustive search; draws of the path are not its business."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, int], bool] = {}

    def wins(self, board: chess.Board, plies: int) -> bool:
        """Whether the side to move ends the game as its winner within so many plies."""
        moves = list(board.legal_moves)
        ending = reference.ending(board, moves)
        if ending is not None or plies <= 0:
            return ending == 1.0
        key = (reference.canonical_text(board), plies)
        if key not in self.known:
            moves.sort(key=lambda move: not board.gives_check(move))
            self.known[key] = any(self.after(board, move, plies, self.loses) for move in moves)
        return self.known[key]

    def loses(self, board: chess.Board, plies: int) -> bool:
        """Whether the side to move loses within so many plies, whatever it does."""
        moves = list(board.legal_moves)
        ending = reference.ending(board, moves)
        if ending is not None or plies <= 0:
            return ending == -1.0
        return all(self.after(board, move, plies, self.wins) for move in moves)

    def after(self, board: chess.Board, move: chess.Move, plies: int, question: object) -> bool:
        board.push(move)
        answer = self.loses(board, plies - 1) if question == self.loses else self.wins(board, plies - 1)
        board.pop()
        return answer
