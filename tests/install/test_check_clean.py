"""A clean check sees what a new machine sees: what is committed, no caches, none of this environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
IDENTITY = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
MAKEFILE = """\
run:
\t@env
\t@echo "home: $$(cd $$HOME && find . -type f -o -type l | sort | tr '\\n' ' ')"
\t@echo "files: $$(echo *)"
\t@python3 -c 'import sys; print("prefix", sys.prefix)'
\t@cargo --version
test:
\t@echo '===== 7 passed in 1.23s ====='
broken:
\t@echo '===== 1 failed, 2 passed in 0.50s (0:00:00) ====='; exit 1
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "scripts").mkdir()
    for name in ("check-clean", "check-rust", "find-python"):
        shutil.copy(REPOSITORY / "scripts" / name, folder / "scripts" / name)
    for name in ("pyproject.toml", "Cargo.toml"):
        shutil.copy(REPOSITORY / name, folder / name)
    (folder / "Makefile").write_text(MAKEFILE)
    for command in (["init", "--quiet"], ["add", "."], [*IDENTITY, "commit", "--quiet", "-m", "All"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    (folder / "uncommitted").write_text("")
    return folder


def check(checkout: Path, home: Path, *targets: str, **variables: str) -> subprocess.CompletedProcess[str]:
    rust = {
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
    }
    environment = {**os.environ, **rust, "HOME": str(home), "TMPDIR": str(home.parent), **variables}
    command = ["bash", str(checkout / "scripts" / "check-clean"), *targets]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / ".config" / "pip").mkdir(parents=True)
    (folder / ".config" / "pip" / "pip.conf").write_text("[global]\ntimeout = 60\n")
    (folder / ".npmrc").write_text("fund=false\n")
    (folder / ".cache" / "pip").mkdir(parents=True)
    (folder / ".cache" / "pip" / "wheel").write_text("")
    return folder


def test_the_environment_is_that_of_a_new_machine(checkout: Path, home: Path) -> None:
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir()
    done = check(
        checkout,
        home,
        "run",
        PATH=f"{elsewhere}:{os.environ['PATH']}",
        PIP_INDEX_URL="https://index.example/simple",
        PIP_FIND_LINKS=str(elsewhere),
        PIP_CACHE_DIR=str(elsewhere),
        npm_config_registry="https://npm.example/",
        npm_config_cache=str(elsewhere),
        https_proxy="http://proxy.example:3128",
        CARGO_NET_RETRY="9",
        PYTHONPATH=str(elsewhere),
        RUSTC_WRAPPER="",
        LEAK="this",
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    found = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("="))
    assert found["PIP_INDEX_URL"] == "https://index.example/simple"
    assert found["npm_config_registry"] == "https://npm.example/"
    assert found["https_proxy"] == "http://proxy.example:3128"
    assert found["CARGO_NET_RETRY"] == "9"
    assert found["PIP_NO_CACHE_DIR"] == "1"
    others = ["PIP_FIND_LINKS", "PIP_CACHE_DIR", "PYTHONPATH", "RUSTC_WRAPPER", "LEAK", "VIRTUAL_ENV"]
    assert not set(others) & set(found)
    assert str(elsewhere) not in done.stdout
    for name in ("HOME", "npm_config_cache", "CARGO_HOME"):
        assert Path(found[name]).is_relative_to(home.parent / Path(found["HOME"]).parent.name)
    [files] = [line for line in lines if line.startswith("home: ")]
    assert {"./.config/pip", "./.npmrc"} <= set(files.split()[1:])
    assert ".cache" not in files
    assert "files: Cargo.toml Makefile pyproject.toml scripts" in lines
    assert "Only what is committed is checked; there are changes that are not." in lines
    assert any(line.startswith("cargo ") for line in lines)
    assert [path.name for path in home.parent.iterdir() if "clean" in path.name] == []


def test_the_summary_has_the_closing_line_of_pytest(checkout: Path, home: Path) -> None:
    done = check(checkout, home, "test")
    assert done.returncode == 0
    assert "===== 7 passed in 1.23s =====" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("make test: passed in ")
    assert last.endswith(" s; pytest: 7 passed in 1.23s")


def test_a_target_that_fails_ends_it(checkout: Path, home: Path) -> None:
    done = check(checkout, home, "broken", "test")
    assert done.returncode == 2
    assert "make test" not in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("make broken: failed, code 2 in ")
    assert last.endswith(" s; pytest: 1 failed, 2 passed in 0.50s (0:00:00)")


def test_without_arguments_it_runs_the_commands_of_the_readme(checkout: Path, home: Path) -> None:
    done = check(checkout, home)
    assert done.returncode == 0, done.stderr
    headings = [line for line in done.stdout.splitlines() if line.startswith("== make ")]
    assert headings == ["== make run ==", "== make test =="]
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert "```sh\nmake run " in readme
    assert "\nmake test " in readme
    assert "scripts/check-clean run test " in (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
