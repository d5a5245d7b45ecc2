"""Journals after kills, copies and damage."""

from pathlib import Path

import pytest

from anabranch.errors import JobError
from anabranch.jobs.journal import JournalFormat, has_records

SQUARES: JournalFormat[int, int] = JournalFormat(
    "a square", lambda line: (line[0], line[1]), lambda *line: list(line)
)


def test_records_are_kept_and_the_first_of_a_key_counts(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with SQUARES.open(path) as journal:
        assert not path.exists()
        assert journal.add(2, 4)
        assert not journal.add(2, 5)
        assert journal.add_all({2: 6, 3: 9})
        assert SQUARES.read(path) == journal.records == {2: 4, 3: 9}
    assert path.read_text() == "[2,4]\n[3,9]\n"
    path.write_text("[2,4]\n[2,5]\n[3,9]\n")
    assert SQUARES.read(path) == {2: 4, 3: 9}


@pytest.mark.parametrize("end", ["[3,", "[3,9]", "[3]\n", "nonsense\n"])
def test_a_last_line_that_is_no_record_is_removed(tmp_path: Path, end: str) -> None:
    path = tmp_path / "journal"
    path.write_text("[2,4]\n" + end)
    assert SQUARES.read(path) == {2: 4}
    with SQUARES.open(path) as journal:
        assert path.read_text() == "[2,4]\n"
        journal.add(4, 16)
    assert SQUARES.read(path) == {2: 4, 4: 16}


def test_a_bad_line_before_the_last_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text("[2,4]\n[3,\n[4,16]\n")
    with pytest.raises(JobError, match=r"line 2 of .*journal is not a square"):
        SQUARES.read(path)


def test_a_cut_line_alone_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    assert not has_records(path)
    path.write_text("[2,4]")
    assert not has_records(path)
    assert SQUARES.read(path) == {}
