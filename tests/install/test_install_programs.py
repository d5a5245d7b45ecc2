"""What tests need from the system is installed at once, or named at once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "scripts" / "install-programs"
PACKAGES = ["stockfish", "fairy-stockfish", "polyglot", "uci2wb", "xboard", "xvfb", "chromium"]
PROGRAMS = [*PACKAGES[:-2], "Xvfb", "chromium"]
ALL = " ".join([*PACKAGES, "fonts-dejavu-core"])


class Machine:
    """A directory that is all there is on PATH, with the programs that a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.asked = folder / "asked"
        self.bin.mkdir()
        (self.bin / "tail").symlink_to(shutil.which("tail") or "")

    def put(self, name: str, script: str = "exit 0") -> None:
        program = self.bin / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def apt_get(self, script: str = "exit 0") -> None:
        self.put("apt-get", f'echo "$*" >> {self.asked}\n{script}')

    def run(self) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.bin), "GAMES": str(self.bin)}
        return subprocess.run(
            ["/bin/sh", str(SCRIPT)], env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_root_one_sentence_names_all_packages(machine: Machine) -> None:
    machine.put("id", "echo 1000")
    machine.apt_get()
    done = machine.run()
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "The tests need programs that are not here; "
        f"on Debian, root installs them with: apt-get install {ALL}\n"
    )
    assert not machine.asked.exists()


def test_without_apt_get_one_sentence_names_what_is_missing(machine: Machine) -> None:
    machine.put("id", "echo 0")
    for program in ("stockfish", "polyglot", "google-chrome"):
        machine.put(program)
    done = machine.run()
    assert done.returncode == 1
    assert done.stderr.endswith(": apt-get install fairy-stockfish uci2wb xboard xvfb\n")
    assert done.stderr.count("\n") == 1


def test_root_installs_all_of_them_at_once(machine: Machine) -> None:
    machine.put("id", "echo 0")
    machine.apt_get()
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.asked.read_text().splitlines() == [
        "-qq update",
        f"-qq install --yes --no-install-recommends {ALL}",
    ]


def test_what_apt_get_said_is_in_the_sentence(machine: Machine) -> None:
    machine.put("id", "echo 0")
    machine.apt_get("echo first; echo 'E: no network' >&2; exit 100")
    done = machine.run()
    assert done.returncode == 1
    assert "apt-get could not install them (E: no network); " in done.stderr
    assert done.stderr.count("\n") == 1


def test_nothing_is_asked_where_all_is_there(machine: Machine) -> None:
    for program in PROGRAMS:
        machine.put(program)
    done = machine.run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_make_asks_before_anything_is_made(machine: Machine, tmp_path: Path) -> None:
    """Nobody waits for a build to be told then what is missing."""
    clone = tmp_path / "clone"
    shutil.copytree(REPOSITORY / "scripts", clone / "scripts")
    for name in ("Makefile", "pyproject.toml", "Cargo.toml"):
        shutil.copy(REPOSITORY / name, clone / name)
    (clone / "crates").mkdir()
    before = sorted(clone.rglob("*"))
    for name in ("awk", "cargo", "dirname", "find", "node", "npm", "rustc", "sed", "sh"):
        found = shutil.which(name)
        assert found is not None, name
        machine.put(name, f'exec {found} "$@"')
    machine.put("python3", f'exec {sys.executable} "$@"')
    machine.put("id", "echo 1000")
    done = subprocess.run(
        [shutil.which("make") or "make", "--no-print-directory", "test"],
        cwd=clone,
        env={**os.environ, "PATH": str(machine.bin), "GAMES": str(machine.bin), "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    sentence, make = done.stderr.splitlines()
    assert sentence.endswith(f": apt-get install {ALL}")
    assert "programs" in make
    assert done.stdout == ""
    assert sorted(clone.rglob("*")) == before
