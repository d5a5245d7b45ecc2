"""What `evaluator` means: for `Engine`, on the command line, in UCI options, for players of matches.

A text is the name of an evaluator of the core, the name of a network that comes with the package or is
installed, or the path of a network file; a runtime and a colon may come before a network. Everything that
takes an evaluator resolves it here, so that a text has one meaning.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.errors import EvaluatorError, SettingError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.open import DEFAULT_RUNTIME, RUNTIMES, open_network, split_runtime
from anabranch.networks import is_network_path
from anabranch.networks.folders import installed_networks
from anabranch.networks.shipped import bundled, bundled_names, bundled_network, named_network

NETWORK = "network"
"""The network that comes with the package for the variant."""
BUILT_IN = ("material", "uniform", "hash", "rollout")
"""Evaluators of the core that need no file."""


def evaluator_names() -> tuple[str, ...]:
    """Every name of an evaluator.

    >>> evaluator_names()[:7]
    ('network', 'material', 'uniform', 'hash', 'rollout', 'chess', 'chess-rise')
    """
    return (NETWORK, *BUILT_IN, *bundled_names())


def network_file(given: str | os.PathLike[str], variant: str | None = None) -> Path | None:
    """The file that a text means; none for evaluators without one. It need not exist.

    >>> network_file("network", "chess").name, network_file("./new.onnx").name, network_file("hash")
    ('chess.safetensors', 'new.onnx', None)
    """
    text = given
    if isinstance(given, str):
        given = split_runtime(given)[1]
    if is_network_path(given):
        return Path(given)
    if given == NETWORK:
        return None if variant is None else bundled(variant)
    named = named_network(str(given)) or installed_networks().get(str(given))
    if named is None and given not in BUILT_IN:
        hint = f" (for the file of that name, write ./{given})" if Path(str(given)).is_file() else ""
        if ":" in str(text):
            hint = f"{hint}; a runtime before a colon is one of {', '.join(RUNTIMES)}"
        names = ", ".join((*evaluator_names(), *installed_networks()))
        raise SettingError(
            f"there is no evaluator {str(text)[:200]!r}: it is one of {names}, "
            f"or the path of a .safetensors, .onnx or .pb.gz file{hint}"
        )
    return named


def display_name(given: str | os.PathLike[str]) -> str:
    """How people are shown what they named: files without their folders.

    >>> display_name("openvino:/nets/new.onnx"), display_name("maia-1500")
    ('openvino:new.onnx', 'maia-1500')
    """
    runtime, rest = split_runtime(os.fspath(given))
    name = Path(rest).name if is_network_path(rest) else rest
    return name if runtime is None else f"{runtime}:{name}"


def resolve_evaluator(
    given: object,
    variant: str | None = None,
    *,
    threads: int | None = None,
    runtime: str | None = None,
) -> str | _core.Network | AnyEvaluator:
    """What evaluates positions: the name of an evaluator of the core, a network, or an evaluator in Python.

    `variant` is needed for `"network"`; `threads` and `runtime` are for ONNX files, and a runtime that a text
    names takes precedence. A `torch.nn.Module` is wrapped as by
    `anabranch.evaluators.pytorch.TorchEvaluator`; PyTorch is not imported for anything else.

    >>> resolve_evaluator("material"), resolve_evaluator("network", "crazyhouse").variant
    ('material', 'crazyhouse')
    """
    if isinstance(given, (str, os.PathLike)):
        if given == NETWORK and variant is not None:
            return bundled_network(variant)
        file = network_file(given, variant)
        named = split_runtime(given)[0] if isinstance(given, str) else None
        opened = (
            str(given)
            if file is None
            else open_network(file, runtime=named or runtime or DEFAULT_RUNTIME, threads=threads)
        )
        if named is not None and isinstance(opened, (str, _core.Network)):
            raise SettingError(f"a runtime is for ONNX networks, and {str(given)!r} names none")
        return opened
    if isinstance(given, _core.Network):
        return given
    has_method = callable(getattr(given, "evaluate", None))
    if not has_method and _is_module(given):
        from anabranch.evaluators.pytorch import TorchEvaluator

        return TorchEvaluator(given)
    if has_method or callable(given):
        inputs = getattr(given, "inputs", "planes")
        if inputs not in ("planes", "positions"):
            raise EvaluatorError(f"an evaluator's inputs are 'planes' or 'positions', not {inputs!r}")
        return given  # type: ignore[return-value]
    raise SettingError(
        "setting 'evaluator' takes a name, the path of a network, a PyTorch module, a function or an object "
        f"with a method 'evaluate', not {type(given).__name__}"
    )


def _is_module(given: object) -> bool:
    """Whether this is a module of PyTorch. A module exists only where PyTorch is imported."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(given, torch.nn.Module)
