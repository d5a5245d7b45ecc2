"""`python -m anabranch`: the command line."""

import sys


def main() -> None:
    """Run the command line. The engine for GUIs starts without the import of all other commands."""
    if sys.argv[1:] == ["uci"]:
        from anabranch.uci.process import main as run
    else:
        from anabranch.cli import main as run
    run()


if __name__ == "__main__":
    main()
