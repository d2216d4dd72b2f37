"""`ald verify`: whether a report is true of its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.tables import people, write_csv


def test_the_exit_code_says_it(run: Any, file: Path, tmp_path: Path) -> None:
    """0 where every number is the same, 1 where one is not, 2 where something cannot be read."""
    run("audit", file, "--outcome", "y", "--trees", "3", "-o", tmp_path / "a.html")
    result = run("verify", tmp_path / "a.html", file)
    assert (result.code, result.out.splitlines()[1]) == (0, "The page is byte for byte what the audit gives.")
    assert "Every number is the same" in result.out
    other = write_csv(tmp_path / "other.csv", people(300))
    result = run("verify", tmp_path / "a.html", other)
    assert result.code == 1
    assert "By its SHA-256 the data is another file" in result.out
    result = run("verify", other, file)
    assert result.code == 2
    assert "neither an HTML report" in result.err


def test_how_the_data_was_read_is_said_again(run: Any, tmp_path: Path) -> None:
    """Options of reading are those of the audit."""
    columns = {"size": ["S", "M", "L", "S"] * 150, "y": [0, 1, 1, 1] * 150}
    file = write_csv(tmp_path / "sizes.csv", columns)
    kind = ("--kind", "size=S<M<L")
    run("audit", file, "--outcome", "y", "--trees", "3", *kind, "-o", tmp_path / "a.json")
    assert run("verify", tmp_path / "a.json", file, *kind).code == 0
    assert run("verify", tmp_path / "a.json", file).code == 1
