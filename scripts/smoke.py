"""A wheel that was just installed works: the package, its native module and its metadata agree."""

import sys
from importlib.metadata import version
from pathlib import Path
from shutil import which

import anabranch
import anabranch._core


def main() -> None:
    """Fail loudly where the installed package is not the one that was asked for."""
    assert which("cargo") is None, "Rust is on PATH: this proves nothing"
    assert Path(anabranch.__file__).is_relative_to(sys.prefix), anabranch.__file__
    assert Path(anabranch._core.__file__).is_relative_to(sys.prefix), anabranch._core.__file__
    assert anabranch.__version__ == version("anabranch")
    page = Path(anabranch.__file__).parent / "web" / "static"
    assert (page / "index.html").is_file(), "the page of the web board is not in the wheel"
    assert (page / "page.js").stat().st_size > 50_000, page
    engine = anabranch.Engine("chess")
    assert engine.settings.evaluator == "network", engine
    mate = engine.search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=500)
    assert mate.best_move == "a1a8", mate
    assert mate.solved is not None, mate
    assert mate.solved.mate == 1, mate
    print(f"anabranch {anabranch.__version__} works from its wheel.")


if __name__ == "__main__":
    main()
