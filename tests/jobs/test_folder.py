"""Folders of jobs: whole or not at all, and never two jobs in one place."""

from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import FolderBusyError, JobError
from anabranch.jobs.folder import FolderKind, differences, locked
from anabranch.jobs.journal import has_records


def kind(**changes: Any) -> FolderKind:
    def clear(folder: Path) -> None:
        (folder / "results").unlink(missing_ok=True)

    def has_results(folder: Path) -> bool:
        return has_records(folder / "results")

    return FolderKind("sum", "sum.json", has_results, clear, lambda stored: "numbers" in stored, **changes)


def test_a_folder_with_results_belongs_to_its_job(tmp_path: Path) -> None:
    folder, job = tmp_path / "job", {"numbers": [1, 2], "pairs": 3}
    with kind().open(folder, job):
        (folder / "results").write_text("3\n")
    with pytest.raises(
        JobError, match="holds another sum: its numbers 2 was 2, now is 3; take another folder"
    ):
        kind().check(folder, {"numbers": [1, 3], "pairs": 3})
    grown = kind(may_differ=lambda place, stored, wanted: place == ("pairs",) and wanted > stored)
    with grown.open(folder, {**job, "pairs": 4}) as document:
        assert document == grown.read(folder) == {**job, "pairs": 4}
    with pytest.raises(JobError, match="its pairs was 4, now is 3"):
        grown.check(folder, job)
    with pytest.raises(JobError, match="its seed was null, now is 0"):
        kind().check(folder, {**job, "pairs": 4, "seed": 0})
    kind(upgrade=lambda stored: {"seed": 0, **stored}).check(folder, {**job, "pairs": 4, "seed": 0})
    (folder / "sum.json").unlink()
    with pytest.raises(JobError, match=r"results without sum\.json"):
        kind().check(folder, job)
    (folder / "results").unlink()
    kind().check(folder, job)
    (folder / "table").touch()
    with pytest.raises(JobError, match="holds a table that is of no sum"):
        kind(outputs=("table",)).check(folder, job)


def test_a_folder_without_results_is_free(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    with (
        pytest.raises(TypeError),
        kind().open(folder, {"numbers": []}),
        (folder / "results").open("w") as file,
    ):
        file.write(7)  # type: ignore[arg-type]
    assert not folder.exists()
    with pytest.raises(KeyboardInterrupt), kind().open(folder, {"numbers": []}):
        raise KeyboardInterrupt
    assert kind().check(folder, {"numbers": []}) == {"numbers": []}
    with kind().open(folder, {"numbers": [1]}):
        assert kind().read(folder) == {"numbers": [1]}
    (folder / "sum.json").write_text('{"name": "mine"}')
    with (
        pytest.raises(JobError, match=r"sum\.json does not describe a sum"),
        kind().open(folder, {"numbers": []}),
    ):
        pass
    assert (folder / "sum.json").exists()


def test_one_process_at_a_time_works_in_a_folder(tmp_path: Path) -> None:
    with kind().open(tmp_path, {"numbers": []}):
        with (
            pytest.raises(FolderBusyError, match="another process is at work"),
            kind().open(tmp_path, {"numbers": []}),
        ):
            pass
        with pytest.raises(FolderBusyError), locked(tmp_path / ".lock"):
            pass
    assert list(differences({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})) == [(("a", 1, "b"), 2, 3)]
    assert list(differences([1], [1, 2])) == [((), [1], [1, 2])]
