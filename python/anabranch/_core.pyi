"""The private native module of the package: what it offers is declared here."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Network",
    "Session",
    "bag_backward",
    "bag_forward",
    "check_settings",
    "encode_planes",
    "encode_sparse",
    "examine_samples",
    "moves_backward",
    "moves_forward",
    "preset",
    "presets",
    "read_pgn",
    "saved_variant",
    "settings_table",
    "variants",
]

def settings_table() -> list[dict[str, Any]]: ...
def presets() -> list[str]: ...
def preset(name: str) -> dict[str, Any]: ...
def check_settings(settings: Mapping[str, object]) -> dict[str, Any]: ...
def variants() -> list[str]: ...
def saved_variant(path: str | PathLike[str]) -> tuple[str, bool]: ...
def bag_forward(
    weight: NDArray[np.float32],
    bias: NDArray[np.float32],
    features: NDArray[np.int32],
    offsets: NDArray[np.int64],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
def bag_backward(
    upstream: NDArray[np.float32],
    features: NDArray[np.int32],
    offsets: NDArray[np.int64],
    gradient: NDArray[np.float32],
    width: int,
    threads: int,
) -> None: ...
def moves_forward(
    hidden: NDArray[np.float32],
    moves: NDArray[np.float32],
    contexts: NDArray[np.float32],
    index: NDArray[np.int32],
    context: NDArray[np.int32],
    offsets: NDArray[np.int64],
    out: NDArray[np.float32],
    width: int,
    threads: int,
) -> None: ...
def moves_backward(
    upstream: NDArray[np.float32],
    hidden: NDArray[np.float32],
    moves: NDArray[np.float32],
    contexts: NDArray[np.float32],
    index: NDArray[np.int32],
    context: NDArray[np.int32],
    offsets: NDArray[np.int64],
    of_hidden: NDArray[np.float32],
    of_moves: NDArray[np.float32],
    of_contexts: NDArray[np.float32],
    width: int,
    threads: int,
) -> None: ...
def read_pgn(
    text: bytes,
    variant: str,
    *,
    min_rating: int | None = None,
    min_time: int | None = None,
    max_time: int | None = None,
    min_plies: int = 0,
    skip_plies: int = 0,
    bots: bool = True,
    abandoned: bool = True,
    evaluated: bool = False,
) -> dict[str, Any]: ...
def examine_samples(
    variant: str, fens: list[str], moves: list[list[str]]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint8]]: ...
def encode_sparse(
    variant: str,
    fens: list[str],
    moves: list[list[str]],
    weights: list[list[float]],
    mirror: NDArray[np.bool_] | None,
    threads: int,
) -> dict[str, NDArray[Any]]: ...
def encode_planes(
    variant: str,
    version: str,
    fens: list[str],
    moves: list[list[str]],
    weights: list[list[float]],
    mirror: NDArray[np.bool_] | None,
    threads: int,
) -> dict[str, NDArray[Any]]: ...

@final
class Network:
    def __new__(cls, path: str | PathLike[str]) -> Network: ...
    @staticmethod
    def without_canaries(content: bytes) -> Network: ...
    @property
    def metadata(self) -> dict[str, str]: ...
    @property
    def variant(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def widths(self) -> tuple[int, int]: ...
    def evaluate(
        self, fens: list[str]
    ) -> list[tuple[float, tuple[float, float, float], list[tuple[str, float]]]]: ...
    def measure(self, fens: list[str], seconds: float) -> tuple[int, float, float, float]: ...

@final
class Session:
    def __new__(
        cls,
        variant: str,
        chess960: bool,
        settings: Mapping[str, object],
        external: bool,
        network: Network | None = None,
    ) -> Session: ...
    def stop(self) -> None: ...
    def clear_stop(self) -> None: ...
    def is_stopped(self) -> bool: ...
    def variant(self) -> str: ...
    def is_chess960(self) -> bool: ...
    def is_external(self) -> bool: ...
    def settings(self) -> dict[str, Any]: ...
    def configure(
        self, settings: Mapping[str, object], external: bool, network: Network | None = None
    ) -> None: ...
    def set_position(self, fen: str | None, moves: list[str]) -> bool: ...
    def play(self, move: str) -> bool: ...
    def forget(self) -> None: ...
    def fen(self) -> str: ...
    def game(self) -> tuple[str, list[str]]: ...
    def legal_moves(self) -> list[str]: ...
    def ending(self) -> float | None: ...
    def run(
        self,
        simulations: int | None = None,
        evaluations: int | None = None,
        time: float | None = None,
        mate: int | None = None,
        progress: Callable[[dict[str, Any]], object] | None = None,
        interval: float = 0.5,
    ) -> str: ...
    def begin(
        self,
        simulations: int | None = None,
        evaluations: int | None = None,
        time: float | None = None,
        mate: int | None = None,
    ) -> None: ...
    def finish(self) -> str | None: ...
    def collect(
        self, planes: NDArray[np.float32] | None, version: str = "v3"
    ) -> tuple[int, bool, str | None]: ...
    def newest_leaves(self) -> list[tuple[str, list[tuple[str, int]]]]: ...
    def apply(self, values: NDArray[np.float32], logits: NDArray[np.float32]) -> None: ...
    def abandon(self) -> None: ...
    def in_flight(self) -> int: ...
    def conclude(self) -> None: ...
    def shape(self, version: str = "v3") -> tuple[int, int]: ...
    def report(self, lines: int, meters: Literal["off", "sample", "whole"] = "whole") -> dict[str, Any]: ...
    def export(
        self, depth: int | None, visits: int, nodes: int
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]: ...
    def in_flight_marks(self) -> int: ...
    def perft(self, depth: int) -> tuple[int, list[tuple[str, int]]]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def load(self, path: str | PathLike[str], network: Network | None = None) -> str | None: ...
    def bench_measure(self, simulations: int) -> dict[str, Any]: ...
    def bench_planes(self, simulations: int) -> dict[str, Any]: ...
