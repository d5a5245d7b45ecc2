"""Installs what the package depends on, with the extras named as arguments, and not the package itself.

pip would install both with `pip install --editable '.[web]'`. The package is built without isolation, so that
a change of the core is built again without the network; pip then builds every dependency that has no wheel in
the same way, without the tools which that dependency asks for. So dependencies are installed here, the
ordinary way, and the package by itself afterwards.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def requirements(project: dict[str, Any], extras: list[str]) -> list[str]:
    """The requirements of a `[project]` table with extras; an extra that names others stands for them."""
    optional = project["optional-dependencies"]
    found = list(project["dependencies"])
    waiting, seen = list(extras), set()
    while waiting:
        extra = waiting.pop(0)
        if extra in seen:
            continue
        seen.add(extra)
        if extra not in optional:
            sys.exit(f"pyproject.toml has no extra {extra!r}; it has {', '.join(sorted(optional))}.")
        for requirement in optional[extra]:
            own = re.fullmatch(rf"{re.escape(project['name'])}\[([^\]]*)\]", requirement)
            if own:
                waiting += [name.strip() for name in own[1].split(",")]
            else:
                found.append(requirement)
    return list(dict.fromkeys(found))


def main() -> None:
    """Install them into the environment of this Python."""
    wanted = requirements(tomllib.loads(PROJECT.read_text())["project"], sys.argv[1:])
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    sys.exit(subprocess.run([*pip, *wanted], check=False).returncode)


if __name__ == "__main__":
    main()
