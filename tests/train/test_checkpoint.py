import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.support.commands import Commands

from anabranch.errors import TrainingError
from anabranch.train.checkpoint import KEPT, find_checkpoints, read_checkpoint, read_newest, write_checkpoint

CONTENT: dict[str, Any] = {
    "recipe": {"variant": "chess"},
    "network": {"weight": torch.ones(3)},
    "optimiser": {},
    "step": 7,
    "random": torch.get_rng_state(),
    "shards": [],
    "value_scale": 300.0,
    "draw_share": 0.1,
}


class Trap:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return Path.touch, (Path("/tmp/anabranch-was-trapped"),)  # type: ignore[return-value]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    for step in (7, 8, 900):
        write_checkpoint(tmp_path, {**CONTENT, "step": step})
    found = find_checkpoints(tmp_path)
    assert [path.name for path in found] == ["step-00000900.pt", "step-00000008.pt"]
    assert len(found) == KEPT
    assert read_checkpoint(found[0])["network"]["weight"].tolist() == [1, 1, 1]
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not a checkpoint"),
        (b"garbage" * 100, "not a checkpoint"),
        (pickle.dumps({"format": "anabranch-checkpoint"}), "not a checkpoint"),
        (pickle.dumps(Trap()), "not a checkpoint"),
    ],
)
def test_garbage_is_one_sentence(tmp_path: Path, cli: Commands, content: bytes, sentence: str) -> None:
    path = tmp_path / "step-00000001.pt"
    path.write_bytes(content)
    with pytest.raises(TrainingError, match=sentence):
        read_checkpoint(path)
    cli.refuses("train", "evaluate", path)


def test_truncated_and_flipped_files_are_refused(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, CONTENT)
    whole = path.read_bytes()
    for length in (10, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:length])
        with pytest.raises(TrainingError, match="not a checkpoint, or is damaged"):
            read_checkpoint(path)
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(TrainingError, match="not a checkpoint, or is damaged"):
        read_checkpoint(path)
    torch.save([1, 2], path)
    with pytest.raises(TrainingError, match="not a checkpoint of anabranch"):
        read_checkpoint(path)
    torch.save({"format": "anabranch-checkpoint", "version": 99}, path)
    with pytest.raises(TrainingError, match="another version"):
        read_checkpoint(path)
    torch.save({"format": "anabranch-checkpoint", "version": 1, "recipe": {}}, path)
    with pytest.raises(TrainingError, match="lacks its network"):
        read_checkpoint(path)


def test_code_in_disguise_is_refused_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "step-00000001.pt"
    torch.save({**CONTENT, "format": "anabranch-checkpoint", "version": 1, "trap": Trap()}, path)
    with pytest.raises(TrainingError, match="holds more than tensors and numbers"):
        read_checkpoint(path)
    assert not Path("/tmp/anabranch-was-trapped").exists()


def test_damaged_newest_falls_back_to_the_one_before(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, CONTENT)
    newest = write_checkpoint(tmp_path, {**CONTENT, "step": 8})
    newest.write_bytes(newest.read_bytes()[:100])
    said: list[str] = []
    assert read_newest(tmp_path, said.append)["step"] == 7
    assert "step-00000008.pt" in said[0]
    (tmp_path / "none").mkdir()
    with pytest.raises(TrainingError, match="no checkpoint in"):
        read_newest(tmp_path / "none", said.append)
