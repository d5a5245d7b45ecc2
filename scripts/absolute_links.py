"""Makes the links of the long description absolute, in the wheels and source packages named as arguments.

The README is the long description. Its links and images lead to files beside it, which is right in a clone.
The page of a package index has no such files. There they lead to the repository, whose address is in
pyproject.toml.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
BRANCH = "main"
LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?!https?://|mailto:|#)([^()\s]+)\)")


def absolute(text: str, repository: str) -> str:
    """Markdown with its links to files replaced by links to the repository."""

    def replace(link: re.Match[str]) -> str:
        image, words, target = link.groups()
        return f"{image}[{words}]({repository}/{'raw' if image else 'blob'}/{BRANCH}/{target})"

    return LINK.sub(replace, text)


def _described(metadata: bytes, repository: str) -> bytes:
    head, blank, description = metadata.decode().partition("\n\n")
    return (head + blank + absolute(description, repository)).encode()


def _write_beside(path: Path, content: bytes) -> None:
    beside = path.with_name(path.name + ".part")
    beside.write_bytes(content)
    beside.replace(path)


def finish_wheel(path: Path, repository: str) -> None:
    """Rewrite METADATA, and its hash in RECORD; all other files stay as they are."""
    with zipfile.ZipFile(path) as wheel:
        files = [(entry, wheel.read(entry)) for entry in wheel.infolist()]
    changed: dict[str, bytes] = {}
    for entry, content in files:
        if re.fullmatch(r"[^/]+\.dist-info/METADATA", entry.filename):
            changed[entry.filename] = _described(content, repository)
    for entry, content in files:
        if re.fullmatch(r"[^/]+\.dist-info/RECORD", entry.filename):
            lines = content.decode().splitlines()
            for name, new in changed.items():
                digest = base64.urlsafe_b64encode(hashlib.sha256(new).digest()).rstrip(b"=").decode()
                lines = [
                    f"{name},sha256={digest},{len(new)}" if line.startswith(f"{name},") else line
                    for line in lines
                ]
            changed[entry.filename] = ("\n".join(lines) + "\n").encode()
    if len(changed) != 2:
        sys.exit(f"{path} is not a wheel: it has no METADATA and RECORD.")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        for entry, content in files:
            wheel.writestr(entry, changed.get(entry.filename, content))
    _write_beside(path, packed.getvalue())


def finish_source(path: Path, repository: str) -> None:
    """Rewrite PKG-INFO; all other files stay as they are, the README among them."""
    packed = io.BytesIO()
    found = False
    with tarfile.open(path) as before, tarfile.open(fileobj=packed, mode="w") as after:
        for member in before:
            stream = before.extractfile(member) if member.isfile() else None
            content = stream.read() if stream is not None else b""
            if re.fullmatch(r"[^/]+/PKG-INFO", member.name):
                content, found = _described(content, repository), True
                member.size = len(content)
            after.addfile(member, io.BytesIO(content))
    if not found:
        sys.exit(f"{path} is not a source package: it has no PKG-INFO.")
    _write_beside(path, gzip.compress(packed.getvalue(), mtime=0))


def main() -> None:
    """Finish each of the packages."""
    repository = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["urls"]["Repository"]
    for name in sys.argv[1:]:
        finish = finish_wheel if name.endswith(".whl") else finish_source
        finish(Path(name), repository)


if __name__ == "__main__":
    main()
