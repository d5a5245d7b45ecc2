"""What set-up installs: the requirements of pyproject.toml, with those of the extras that extras name."""

import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from scripts.install_requirements import PROJECT, main, requirements

SMALL: dict[str, Any] = {
    "name": "river",
    "dependencies": ["numpy>=1.26"],
    "optional-dependencies": {
        "boat": ["oar>=2", "river[ sail ]"],
        "sail": ["mast", "numpy>=1.26", "river-bed[sail]"],
        "all": ["river[boat,sail]", "anchor; python_version >= '3.11'"],
        "circle": ["river[circle]", "wheel"],
    },
}


def test_without_extras_it_is_what_the_package_needs() -> None:
    assert requirements(SMALL, []) == ["numpy>=1.26"]


def test_an_extra_that_names_others_stands_for_them() -> None:
    assert requirements(SMALL, ["boat"]) == ["numpy>=1.26", "oar>=2", "mast", "river-bed[sail]"]
    assert set(requirements(SMALL, ["all"])) == {
        "numpy>=1.26",
        "anchor; python_version >= '3.11'",
        "oar>=2",
        "mast",
        "river-bed[sail]",
    }


def test_nothing_is_named_twice_and_circles_end() -> None:
    assert requirements(SMALL, ["sail", "boat", "sail"]).count("mast") == 1
    assert requirements(SMALL, ["circle"]) == ["numpy>=1.26", "wheel"]


def test_an_unknown_extra_is_one_sentence() -> None:
    with pytest.raises(SystemExit) as refused:
        requirements(SMALL, ["anchor"])
    assert refused.value.code == "pyproject.toml has no extra 'anchor'; it has all, boat, circle, sail."


def test_no_extra_of_the_package_names_the_package() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    for extra in project["optional-dependencies"]:
        found = requirements(project, [extra])
        assert set(project["dependencies"]) <= set(found)
        assert [name for name in found if re.match(r"anabranch\b", name)] == []
    development = requirements(project, ["dev"])
    for extra in ("data", "graph", "onnx", "openvino", "study", "web"):
        assert set(requirements(project, [extra])) <= set(development)


def test_pip_builds_them_the_ordinary_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dependency without a wheel is built with the tools that it asks for: isolated."""
    asked: list[list[str]] = []

    class Done:
        returncode = 3

    def run(command: list[str], check: bool) -> Done:
        asked.append(command)
        return Done()

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["install_requirements.py", "graph"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 3
    [command] = asked
    assert command[command.index("install") + 1 :] == requirements(
        tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"], ["graph"]
    )
    assert "--no-build-isolation" not in command
