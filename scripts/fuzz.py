"""Fuzz the core: build the targets of fuzz/, and run each for some seconds on seeds made by the package.

A target fails when the core panics, overflows or hangs; the input is kept, and named at the end. The layout
is that of cargo-fuzz, and `cargo fuzz run TARGET` works too, but it is not needed: libFuzzer comes with a
crate, and the flags of cargo-fuzz without a sanitizer (the core has no unsafe code) are those of a stable
compiler.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from anabranch import Engine, variants
from anabranch.bench.positions import POSITIONS
from anabranch.networks.sparse import random_tensors, write_sparse

ROOT = Path(__file__).parents[1]
FUZZ = ROOT / "fuzz"
TARGETS = {"fen": 128, "moves": 512, "network": 1 << 20, "graph": 1 << 16}
"""The targets, each with the longest input that is tried."""
COVERAGE = ("level=4", "inline-8bit-counters", "pc-table", "trace-compares")
FLAGS = [
    "-Cpasses=sancov-module",
    *(f"-Cllvm-args=-sanitizer-coverage-{name}" for name in COVERAGE),
    "--cfg=fuzzing",
    "-Ccodegen-units=1",
]


def build(folder: Path) -> Path:
    """Build all targets; returns the folder of the programs."""
    version = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    host = next(line.split()[1] for line in version.splitlines() if line.startswith("host:"))
    # With --target the flags are not used for build scripts.
    subprocess.run(
        ["cargo", "build", "--locked", "--quiet", "--release", "--bins", "--target", host],
        check=True,
        cwd=FUZZ,
        env={**os.environ, "RUSTFLAGS": " ".join(FLAGS), "CARGO_TARGET_DIR": str(folder)},
    )
    return folder / host / "release"


def make_seeds(folder: Path) -> None:
    """Inputs that the targets accept, for the fuzzer to change."""
    for target in TARGETS:
        (folder / target).mkdir()
    for number, variant in enumerate(variants()):
        engine = Engine(variant, evaluator="material")
        for place, position in enumerate(POSITIONS.get(variant, (engine.position,))):
            seed = bytes([number]) + position.encode()
            moves = engine.search(position, simulations=50).lines[0].moves
            (folder / "fen" / f"{variant}-{place}").write_bytes(seed)
            (folder / "moves" / f"{variant}-{place}").write_bytes(b"\n".join([seed, *map(str.encode, moves)]))
        saved = folder / "graph" / variant
        engine.save(saved)
        saved.write_bytes(saved.read_bytes()[8:-4])  # the target adds the first bytes and the checksum
    (folder / "moves" / "san").write_bytes(b"\0\ne4\ne5\nNf3\nNc6\nBb5\na6\nO-O\n")
    facts = {"variant": "chess", "step": "0", "licence": "none"}
    write_sparse(folder / "network" / "chess", random_tensors("chess", 32, 32), facts, POSITIONS["chess"][:2])


def main() -> int:
    """Run the targets that the arguments name; returns the exit code."""
    parser = argparse.ArgumentParser(description="Fuzz the core.")
    known = ", ".join(TARGETS)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {known}; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    given = parser.parse_args()
    if unknown := [name for name in given.targets if name not in TARGETS]:
        parser.error(f"there is no target {unknown[0]}; there are {known}")
    programs = build(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target" / "fuzz")))
    failed = []
    with tempfile.TemporaryDirectory() as seeds:
        make_seeds(Path(seeds))
        for name in given.targets or TARGETS:
            corpus, artifacts = FUZZ / "corpus" / name, FUZZ / "artifacts" / name
            for folder in (corpus, artifacts):
                folder.mkdir(parents=True, exist_ok=True)
            print(f"== fuzz {name}, {given.seconds} s", flush=True)
            options = [f"-max_total_time={given.seconds}", f"-max_len={TARGETS[name]}", "-timeout=10"]
            options += [
                "-rss_limit_mb=4096",
                "-print_final_stats=1",
                "-verbosity=0",
                f"-artifact_prefix={artifacts}/",
            ]
            ended = subprocess.run([programs / name, *options, corpus, Path(seeds) / name], check=False)
            if ended.returncode != 0:
                failed.append(name)
    for name in failed:
        print(f"The target {name} failed; its inputs are in {FUZZ / 'artifacts' / name}.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
