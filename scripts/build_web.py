"""Builds the page of the web board into the package, where its sources are not those of the build there.

The build is in the repository, so that nobody needs Node to install or run the package. It carries a hash of
the sources it was made from; only where they have changed is it made again.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUILT = ROOT / "python" / "anabranch" / "web" / "static" / "sources"


def hash_of_sources(folder: Path = WEB) -> str:
    """The hash that `web/sources.ts` computes: names and contents of all that the page is built from."""
    files = [path for path in (folder / "src").rglob("*") if path.is_file()]
    files += [folder / name for name in ("index.html", "package-lock.json", "vite.config.ts")]
    names = sorted(path.relative_to(folder).as_posix() for path in files)
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes() + b"\0")
    return digest.hexdigest()


def is_built() -> bool:
    """Whether the build is that of the sources."""
    return BUILT.is_file() and BUILT.read_text().strip() == hash_of_sources()


def main() -> None:
    """Build, if need be."""
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
        sys.exit("The page was built, but not from these sources; did they change meanwhile?")


if __name__ == "__main__":
    main()
