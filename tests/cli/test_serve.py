"""The command `ald serve`."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")


def test_a_port_that_is_taken(run: Any) -> None:
    """A port that somebody else has is an error with the way out."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run("serve", "--no-open", "--port", str(taken.getsockname()[1]))
    assert result.code == 2
    assert "--port 0" in result.err


def test_a_file_that_is_not_there(run: Any, tmp_path: Path) -> None:
    """A file that is not there is an error before anything is served."""
    result = run("serve", "--no-open", "--port", "0", tmp_path / "none.csv")
    assert result.code == 2
    assert "there is no file" in result.err


def test_without_the_extra(run: Any, monkeypatch: Any) -> None:
    """Without the packages of the page the command says how to install them."""
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    result = run("serve", "--no-open")
    assert result.code == 2
    assert "ald-audit[web]" in result.err
