"""`python -m anabranch`: the command line."""

import sys


def main() -> None:
    """Run the command line. The engine for GUIs starts without the import of all other commands."""
    if sys.argv[1:] == ["uci"]:
        from anabranch.uci import process

        process.main()
    else:
        from anabranch import cli

        cli.main()


if __name__ == "__main__":
    main()
