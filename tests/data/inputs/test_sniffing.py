"""What our reader finds in a text file, for engines that read it: the same values as without one."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ald import InputError
from ald.data.inputs.sniffing import TextFile, sniff
from tests.engine_data import awkward


def kinds(file: TextFile) -> dict[str, str]:
    return {column.name: column.kind for column in file.columns}


def test_kinds(tmp_path: Path) -> None:
    """Columns are what our reader finds: zip codes are words, words for nothing do not hide numbers."""
    awkward(tmp_path / "a.csv")
    file = sniff(str(tmp_path / "a.csv"))
    assert kinds(file) == {
        "zip": "words", "word": "words", "truth": "boolean", "amount": "number", "comma": "number", "day": "date",
        "at": "time", "instant": "time", "clock": "words", "text": "words", 'of "birth".x': "words",
        "year": "integer", "ok": "integer",
    }  # fmt: skip
    assert (file.delimiter, file.quote, file.escape, file.has_breaks) == (",", '"', '"', True)
    assert set(file.notes) == {"amount", "comma"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_dialect(tmp_path: Path, delimiter: str) -> None:
    """The delimiter is found; a file without line breaks in quotes may be read in blocks."""
    awkward(tmp_path / "a.csv", delimiter=delimiter, breaks=False)
    file = sniff(str(tmp_path / "a.csv"))
    assert file.delimiter == delimiter
    assert not file.has_breaks


def test_values(tmp_path: Path) -> None:
    """Texts become values, whatever partition they are on; times with a zone become those of UTC."""
    path = tmp_path / "a.csv"
    path.write_text("d,at,z,n,w\n13/02/2024,2024-01-01 23:00:00,2024-01-01 10:00:00+02,NA,\n14/02/2024,,,1.5,NA\n")
    file = sniff(str(path))
    texts = [["13/02/2024"], ["2024-01-01 23:00:00"], ["2024-01-01 10:00:00+02"], [" na "], [""]]
    (row,) = file.values(pa.table(texts, names=file.texts)).to_pylist()
    assert list(row.values()) == [date(2024, 2, 13), datetime(2024, 1, 1, 23), datetime(2024, 1, 1, 8), None, None]
    with pytest.raises(InputError, match=r"cannot be read: .*14th of May"):
        file.values(pa.table([["14th of May"], ["x"], ["x"], ["x"], ["x"]], names=file.texts))


def test_json(tmp_path: Path) -> None:
    """Keys of any name, nested values and values of several types are what they are in the file."""
    rows = [{"a/b~c.d": 1, "o": {"x": 1}, "m": 1, "n": None}, {"a/b~c.d": 2, "o": {"x": 2}, "m": "a", "n": None}]
    path = tmp_path / "a.jsonl"
    path.write_text("\n\n".join(map(json.dumps, rows)))
    file = sniff(str(path))
    assert kinds(file) == {"a/b~c.d": "integer", "o": "words", "m": "words", "n": "words"}
    found = file.read_all(str(path)).to_pylist()
    assert [list(row.values()) for row in found] == [[1, "{'x': 1}", "1", None], [2, "{'x': 2}", "a", None]]
    lines = pa.table([path.read_text().split("\n")], names=["value"])
    assert file.values(lines).to_pylist() == found


def test_json_that_is_not_lines(tmp_path: Path) -> None:
    """One array over all lines is refused: engines split files into lines."""
    (tmp_path / "a.json").write_text(json.dumps([{"a": 1}, {"a": 2}], indent=1))
    with pytest.raises(InputError, match="one object per line"):
        sniff(str(tmp_path / "a.json"))


def test_infinite_dates(tmp_path: Path) -> None:
    """Infinite dates, which engines do not have, are missing, and it is said how many."""
    path = tmp_path / "a.csv"
    path.write_text("day,ok\n2024-01-01,1\ninfinity,0\n2024-03-01,1\n")
    file = sniff(str(path))
    assert file.read_all(str(path)).column(0).to_pylist() == [date(2024, 1, 1), None, date(2024, 3, 1)]
    assert file.notes == {"day": ("1 infinite values of 'day' count as missing",)}
