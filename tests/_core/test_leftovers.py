"""What must not outlive the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from ald._core.leftovers import remove_leftovers, removed, removing_when_ended, to_be_removed


def test_files_and_folders_are_removed(tmp_path: Path) -> None:
    """Whatever is to be removed is, with what it holds; what was taken back stays."""
    folder, file, kept = tmp_path / "folder", tmp_path / "file", tmp_path / "kept"
    folder.mkdir()
    for path in (folder / "inside", file, kept):
        path.touch()
    removing_when_ended(str(file))
    removing_when_ended(str(kept))
    removed(str(kept))
    with to_be_removed(str(folder)):
        remove_leftovers()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    removed(str(file))


def test_only_meanwhile(tmp_path: Path) -> None:
    """After its block nothing is removed, also after an error."""
    with pytest.raises(KeyboardInterrupt), to_be_removed(str(tmp_path)):
        raise KeyboardInterrupt
    remove_leftovers()
    assert tmp_path.exists()
