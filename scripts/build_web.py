"""Builds the page of the web board into the package, if its sources have changed.

The build is in the repository, so that installing and running the package needs no Node. It contains a hash
of its sources.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUILT = ROOT / "python" / "anabranch" / "web" / "static" / "sources"


def hash_of_sources(folder: Path = WEB) -> str:
    """The hash of `web/sources.ts`: names and contents of everything that the page is built from."""
    files = [path for path in (folder / "src").rglob("*") if path.is_file()]
    files += [folder / name for name in ("index.html", "package-lock.json", "vite.config.ts")]
    names = sorted(path.relative_to(folder).as_posix() for path in files)
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes() + b"\0")
    return digest.hexdigest()


def is_built() -> bool:
    """Whether the build is up to date."""
    return BUILT.is_file() and BUILT.read_text().strip() == hash_of_sources()


def main() -> None:
    """Build the page, if it is not up to date."""
    if is_built():
        return
    print("Building the page of the web board ...", flush=True)
    for command in (
        [str(ROOT / "scripts" / "check-node")],
        ["npm", "--prefix", str(WEB), "ci", "--silent", "--no-audit", "--no-fund"],
        ["npm", "--prefix", str(WEB), "run", "--silent", "build"],
    ):
        code = subprocess.run(command, check=False).returncode
        if code != 0:
            sys.exit(code)
    if not is_built():
        sys.exit("The sources of the page have changed during the build.")


if __name__ == "__main__":
    main()
