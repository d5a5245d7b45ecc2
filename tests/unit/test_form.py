"""Form that no formatter holds: rustfmt and prettier leave long strings, comments and macros as they are."""

import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
COLUMNS = 110


def test_no_line_of_source_is_too_long() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "*.rs", "*.py", "*.pyi", "web/*.ts", "web/*.js", "web/*.css"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listed.stdout.splitlines() if (REPOSITORY / name).exists()]
    assert len(names) > 300
    long = [
        f"{name}:{number}: {len(line)} columns"
        for name in names
        for number, line in enumerate((REPOSITORY / name).read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > COLUMNS and "://" not in line and "noqa: E501" not in line
    ]
    assert not long, "\n".join(long)
