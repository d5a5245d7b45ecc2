"""The settings of an engine: those of the preset, with a thread for every usable core, then the tuned ones of
variant and evaluator, then the changes of the user.

The only place that decides this, for `Engine`, the UCI engine, the web board and studies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from anabranch import _core
from anabranch.catalogue import base_name, is_grid
from anabranch.evaluators.resolve import BUILT_IN, NETWORK, network_file
from anabranch.jobs.executor import cores
from anabranch.named_games import ROWS
from anabranch.networks.container import family_of, read_bytes
from anabranch.networks.onnx_file import LC0, read_onnx
from anabranch.networks.shipped import TUNED, bundled
from anabranch.settings import Settings

OUTSIDE = {"width_visits": 8, "width_linear": 0, "batch_size": 16}
"""What goes better with evaluators in Python, which gain by batches: their batches fill within some hundred
visits, and are no larger than a CPU needs (docs/performance.md)."""

OF_LC0 = {"c_init": 1.75, "node_temperature": 1.36, "urgency_reduction": 0.33}
"""What goes better with networks that have the planes of Lc0: the values of its own search, tuned for its
networks (docs/lc0.md)."""

MOST_THREADS = 256
GRID: dict[str, int | float] = {"idle_collections": 1 << 20, "mate_root": 0.0}
"""What games on a grid need: near the end most trajectories end at proven draws, without an evaluation. Their
evaluations are cheap, so the search proves as much as a search for mates would."""
PROVING = {"skip_draws": True, "mate_leaf": 100}
"""What goes better with the evaluator uniform, which knows nothing, so that only proofs count
(docs/games.md)."""
OF_ROWS: dict[str, bool | int | float | str] = {
    "batch_size": 256,
    "batches_in_flight": 1,
    "width_visits": 8,
    "width_linear": 0,
    "epsilon_checks": 0.0,
}
"""What goes better with games of rows: a call of their rules costs nearly the same for one row and for a
hundred, so batches fill within some hundred visits (docs/games.md)."""
ROLLOUT = "rollout"
"""What evaluates games on a grid where no evaluator is given."""


def resolve(preset: str, variant: str, evaluator: object, changes: Mapping[str, object]) -> Settings:
    """The settings of an engine that plays a variant with an evaluator, with `changes` by the user.

    >>> resolve("default", "chess", "network", {}).c_init
    1.5
    >>> resolve("default", "chess", "material", {}).c_init
    2.5
    >>> resolve("default", "chess", "network", {"c_init": "3"}).c_init
    3.0
    """
    usual = {"threads": min(cores(), MOST_THREADS), **tuned(preset, variant, evaluator)}
    return Settings.preset(preset).changed({**usual, **changes})


def tuned(preset: str, variant: str, evaluator: object) -> dict[str, bool | int | float | str]:
    """What differs from the preset for a variant and an evaluator.

    `evaluator` is what an engine takes or has: a name, a path, a network or an evaluator in Python; `None` is
    the network that comes with the package, where there is one.

    >>> tuned("default", "chess", None), tuned("mcgs", "chess", None), tuned("default", "antichess", None)
    ({'c_init': 1.5}, {}, {})
    """
    found = required(variant)
    if preset != "default":
        return found
    is_rows = base_name(variant) == ROWS
    if is_grid(variant):
        found.update(GRID)
        if evaluator == "uniform" and not is_rows:
            found.update(PROVING)
    if variant in TUNED and _is_sparse(evaluator, variant):
        found.update(TUNED[variant])
    if not is_in_core(evaluator):
        found.update(OUTSIDE)
        if _is_lc0(evaluator):
            found.update(OF_LC0)
    if is_rows:
        found.update(OF_ROWS)
    return found


def required(variant: str) -> dict[str, bool | int | float | str]:
    """What a variant needs in every preset: games on a grid have no material to count.

    >>> required("hex:size=7"), required("chess")
    ({'evaluator': 'rollout'}, {})
    """
    return {"evaluator": ROLLOUT} if is_grid(variant) else {}


def changes_of_saved(session: _core.Session, evaluator: object, missing: str | None) -> dict[str, object]:
    """What the user had set in a saved search: the settings that differ from those of its evaluator.

    `evaluator` is the one that the search was loaded with, unless the network with the checksum `missing` is
    needed.
    """
    stored, (variant, _) = session.settings(), session.variant()
    if missing is not None:
        evaluator = NETWORK  # stands for any network of the core
    elif session.is_external():
        if is_in_core(evaluator):
            evaluator = len  # stands for any function of Python
    elif stored["evaluator"] != NETWORK:
        evaluator = stored["evaluator"]
    usual = resolve("default", variant, evaluator, {}).to_dict()
    return {name: value for name, value in stored.items() if name == "evaluator" or value != usual[name]}


def is_in_core(evaluator: object) -> bool:
    """Whether evaluations need no Python: a built-in evaluator or a network of the core.

    >>> is_in_core("material"), is_in_core("./net.safetensors"), is_in_core("./net.onnx")
    (True, True, False)
    """
    if isinstance(evaluator, (str, os.PathLike)):
        if evaluator in (NETWORK, *BUILT_IN):
            return True
        file = network_file(evaluator)
        return file is None or file.suffix == ".safetensors"
    return evaluator is None or isinstance(evaluator, _core.Network)


def _is_sparse(evaluator: object, variant: str) -> bool:
    """Whether an evaluator is a network of the core: that of the package for a variant, a file, or an opened
    one.
    """
    if evaluator is None or evaluator == NETWORK:
        return bundled(variant) is not None
    if isinstance(evaluator, (str, os.PathLike)):
        file = network_file(evaluator, variant)
        return file is not None and file.suffix == ".safetensors"
    return isinstance(evaluator, _core.Network)


def _is_lc0(evaluator: object) -> bool:
    """Whether an evaluator has the planes of Lc0, opened or as a file: one of Lc0, or ONNX."""
    if not isinstance(evaluator, (str, os.PathLike)):
        planes = getattr(evaluator, "planes", None)
        return isinstance(planes, str) and planes == LC0
    file = network_file(evaluator)
    if file is None or not file.is_file():
        return False
    content = read_bytes(file)
    family = family_of(file, content)
    return family == "lc0" or (family == "onnx" and read_onnx(file, content).metadata.inputs == LC0)
