"""What tests of the command share: a way to run it in this process, and a file to audit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ald.cli import main as cli
from tests.tables import people, write_csv


class Result:
    """What a run of the command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command in this process, as its entry point does."""

    def runner(*arguments: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["ald", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            cli.main()
        captured = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return Result(caught.value.code, captured.out, captured.err)

    return runner


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "people.csv", people())
