"""The long description of a package: every link of the README leads somewhere from anywhere."""

import base64
import hashlib
import io
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from scripts.absolute_links import PROJECT, absolute, finish_source, finish_wheel

AT = "https://example.org/river"
README = (
    "# River\n\n![A map](docs/map.png), [the guide](docs/guide.md#start), [the sea](https://sea.example/)\n"
)
FINISHED = (
    f"# River\n\n![A map]({AT}/raw/main/docs/map.png), [the guide]({AT}/blob/main/docs/guide.md#start), "
    "[the sea](https://sea.example/)\n"
)
METADATA = f"Metadata-Version: 2.4\nName: river\nSummary: [not](a/link)\n\n{README}"


def test_links_lead_to_the_repository() -> None:
    assert absolute(README, AT) == FINISHED
    assert absolute(FINISHED, AT) == FINISHED
    assert absolute("[here](#idea) `a[0](b)` [two\nlines](x.md)", AT) == (
        f"[here](#idea) `a[0]({AT}/blob/main/b)` [two\nlines]({AT}/blob/main/x.md)"
    )


def test_no_link_of_the_readme_is_left() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    readme = (PROJECT.parent / project["readme"]).read_text(encoding="utf-8")
    finished = absolute(readme, project["urls"]["Repository"])
    links = re.findall(r"\]\(([^)]*)\)", finished)
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []
    assert f"]({project['urls']['Repository']}/raw/main/docs/images/" in finished


def test_a_wheel_keeps_everything_else(tmp_path: Path) -> None:
    path = tmp_path / "river-1.0-py3-none-any.whl"
    other = zipfile.ZipInfo("river/run")
    other.external_attr = 0o100755 << 16
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(other, b"#!/bin/sh\n")
        wheel.writestr("river-1.0.dist-info/METADATA", METADATA)
        wheel.writestr(
            "river-1.0.dist-info/RECORD",
            "river/run,sha256=abc,10\nriver-1.0.dist-info/METADATA,sha256=old,1\n"
            "river-1.0.dist-info/RECORD,,\n",
        )
    finish_wheel(path, AT)
    with zipfile.ZipFile(path) as wheel:
        assert wheel.testzip() is None
        assert wheel.namelist() == ["river/run", "river-1.0.dist-info/METADATA", "river-1.0.dist-info/RECORD"]
        assert wheel.getinfo("river/run").external_attr == 0o100755 << 16
        metadata = wheel.read("river-1.0.dist-info/METADATA")
        record = wheel.read("river-1.0.dist-info/RECORD").decode().splitlines()
    assert metadata.decode() == METADATA.replace(README, FINISHED)
    digest = base64.urlsafe_b64encode(hashlib.sha256(metadata).digest()).decode().rstrip("=")
    assert record == [
        "river/run,sha256=abc,10",
        f"river-1.0.dist-info/METADATA,sha256={digest},{len(metadata)}",
        "river-1.0.dist-info/RECORD,,",
    ]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_source_package_keeps_everything_else(tmp_path: Path) -> None:
    path = tmp_path / "river-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as package:
        for name, text in (("PKG-INFO", METADATA), ("README.md", README), ("inner/PKG-INFO", README)):
            member = tarfile.TarInfo(f"river-1.0/{name}")
            member.size = len(text)
            package.addfile(member, io.BytesIO(text.encode()))
    finish_source(path, AT)
    with tarfile.open(path) as package:
        texts = {member.name: package.extractfile(member) for member in package}
        contents = {name: file.read().decode() for name, file in texts.items() if file is not None}
    assert contents == {
        "river-1.0/PKG-INFO": METADATA.replace(README, FINISHED),
        "river-1.0/README.md": README,
        "river-1.0/inner/PKG-INFO": README,
    }


def test_other_files_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "empty.whl", "w"):
        pass
    with pytest.raises(SystemExit, match="is not a wheel"):
        finish_wheel(tmp_path / "empty.whl", AT)
    with tarfile.open(tmp_path / "empty.tar.gz", "w:gz"):
        pass
    with pytest.raises(SystemExit, match="is not a source package"):
        finish_source(tmp_path / "empty.tar.gz", AT)


def test_the_addresses_of_the_project_are_those_of_one_repository() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    repository = project["urls"]["Repository"]
    assert {address.startswith(repository) for address in project["urls"].values()} == {True}
    assert project["authors"]
    versions = {
        line for line in project["classifiers"] if line.startswith("Programming Language :: Python :: 3.")
    }
    assert versions == {f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 15)}
