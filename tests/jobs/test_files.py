"""Files that appear whole or not at all."""

from pathlib import Path

import pytest

from anabranch.jobs.files import remove_files, replacing, write_atomic, write_json


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, "old \u00e9\n")
    assert path.read_bytes() == "old \u00e9\n".encode()
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text(encoding="utf-8") == "old \u00e9\n"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    write_json(path, {"a": [1]})
    remove_files(tmp_path, "file", "missing")
    assert not tmp_path.exists()
    with pytest.raises(OSError, match="No such file"):
        write_atomic(path, b"")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_no_part(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")

    def fail(part: Path) -> None:
        part.write_text("half")
        raise error

    with pytest.raises(error), replacing(path) as part:
        fail(part)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(error), replacing(path, tmp_path / "file.part", keep=(error,)) as part:
        fail(part)
    assert (path.read_text(), part.read_text()) == ("old", "half")
