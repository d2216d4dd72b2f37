"""Public data sets: from a folder, from their homes by way of a cache, and nothing that was not checked."""

from __future__ import annotations

import csv
import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import ald
from ald.datasets import PUBLIC, adult, compas, german, public
from ald.datasets.adult import ADULT
from ald.datasets.compas import COMPAS
from ald.datasets.german import GERMAN_CREDIT
from ald.datasets.public import PublicData, RemoteFile, check_structure, obtain
from tests.tables import public_data


class Home:
    """A public home on this machine: serves the files of a folder and counts what was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        handler = functools.partial(_Handler, self.asked, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serves(self, name: str, content: bytes) -> RemoteFile:
        (self.folder / name).write_bytes(content)
        url = f"http://127.0.0.1:{self.server.server_address[1]}/{name}"
        return RemoteFile(name=name, url=url, sha256=sha256(content).hexdigest())

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, asked: list[str], *args: object, directory: str) -> None:
        self.asked = asked
        super().__init__(*args, directory=directory)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home on this machine, no folder of data, and a cache of its own."""
    monkeypatch.delenv("ALD_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "home").mkdir()
    served = Home(tmp_path / "home")
    yield served
    served.close()


def data_of(*files: RemoteFile) -> PublicData:
    return replace(GERMAN_CREDIT, files=files)


def german_line(status: str = "A93", risk: int = 1) -> str:
    return f"A11 6 A34 A43 1169 A65 A75 4 {status} A101 4 A121 67 A143 A152 2 A173 1 A192 A201 {risk}"


GERMAN_FILE = "\n".join([german_line()] * 700 + [german_line("A92", 2)] * 300).encode() + b"\n"


def test_files_are_fetched_once(home: Home, tmp_path: Path) -> None:
    """A file is fetched from its home the first time and read from the cache from then on, even without a network."""
    data = data_of(home.serves("german.data", b"content"))
    (path,) = obtain(data, tmp_path / "cache")
    assert path.read_bytes() == b"content"
    home.close()
    assert obtain(data, tmp_path / "cache") == [path]
    assert home.asked == ["/german.data"]


def test_another_file_than_expected_is_refused(home: Home, tmp_path: Path) -> None:
    """A home that serves other bytes than those known is an error, and nothing of it is kept."""
    file = replace(home.serves("german.data", b"other content"), sha256="0" * 64)
    with pytest.raises(ald.InputError, match="does not serve the file that ALD knows"):
        obtain(data_of(file), tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("german*"))


@pytest.mark.parametrize("gone", ["server", "file"])
def test_offline_says_two_ways_out(home: Home, tmp_path: Path, gone: str) -> None:
    """Without a network or a folder the error names the network and the variable with the files it must hold."""
    file = home.serves("german.data", b"content")
    if gone == "server":
        home.close()
    else:
        (home.folder / "german.data").unlink()
    with pytest.raises(ald.InputError) as error:
        obtain(data_of(file), tmp_path / "cache")
    for words in ("Two ways out", "connect to the network", "ALD_DATA", "german.data", "german_credit.csv"):
        assert words in str(error.value)


def test_without_pooch(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the error prints how to install it, beside the other way out."""
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ald.InputError, match=r"pip install 'ald-audit\[data\]'.*ALD_DATA"):
        ald.datasets.load_german_credit()


def test_a_folder_wins(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the folder that ALD_DATA names is used instead of its home, if its checksum is right."""
    file = home.serves("german.data", b"content")
    monkeypatch.setenv("ALD_DATA", str(tmp_path))
    (tmp_path / "german.data").write_bytes(b"content")
    assert obtain(data_of(file)) == [tmp_path / "german.data"]
    assert home.asked == []
    (tmp_path / "german.data").write_bytes(b"forged")
    with pytest.raises(ald.InputError, match="is not the file of"):
        obtain(data_of(file))


def test_german_credit_from_its_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of the repository becomes columns: numbers, and codes in the words of their documentation."""
    monkeypatch.setattr(german, "GERMAN_CREDIT", data_of(home.serves("german.data", GERMAN_FILE)))
    columns = ald.datasets.load_german_credit()
    assert tuple(columns) == GERMAN_CREDIT.columns
    assert columns["amount"].tolist() == [1169] * 1000
    assert columns["personal_status_and_sex"][[0, -1]].tolist() == [
        "male, single",
        "female, divorced, separated or married",
    ]
    assert (columns["risk"] == "good").sum() == 700


def test_structure_is_checked(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with the right checksum and other totals than the data set has is refused all the same."""
    wrong = GERMAN_FILE.replace(b" 2\n", b" 1\n", 1)
    monkeypatch.setattr(german, "GERMAN_CREDIT", data_of(home.serves("german.data", wrong)))
    with pytest.raises(ald.InputError, match="its column 'risk' has"):
        ald.datasets.load_german_credit()


@pytest.fixture
def adult_table() -> Path:
    """The prepared table of Adult, found before a test hides the folder."""
    return public_data("adult.csv")


def raw_adult(table: Path) -> tuple[bytes, bytes]:
    """The two files of the repository, rebuilt from the prepared table."""
    with table.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    lines = [", ".join(word or "?" for word in row) for row in rows]
    train = "\n".join(lines[:32_561]) + "\n\n"
    test = "|1x3 Cross validator\n" + "".join(f"{line}.\n" for line in lines[32_561:]) + "\n"
    return train.encode(), test.encode()


def test_adult_from_its_home(adult_table: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prepared table of Adult says what the repository's two files say, whose checksums are the published ones."""
    contents = raw_adult(adult_table)
    assert [sha256(content).hexdigest() for content in contents] == [file.sha256 for file in ADULT.files]
    files = tuple(home.serves(file.name, content) for file, content in zip(ADULT.files, contents, strict=True))
    monkeypatch.setattr(adult, "ADULT", replace(ADULT, files=files))
    fetched = ald.datasets.load_adult()
    monkeypatch.setenv("ALD_DATA", str(adult_table.parent))
    prepared = ald.datasets.load_adult()
    assert home.asked == ["/adult.data", "/adult.test"]
    assert all(np.array_equal(fetched[name], prepared[name]) for name in ADULT.columns)
    assert fetched["age"].dtype.kind == "i"
    assert sum(word is None for word in fetched["workclass"]) == 2799


def test_compas_keeps_who_counts(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ProPublica's file those count who were charged within 30 days, not for traffic, with a known outcome."""
    head = "race,sex,age_cat,priors_count,c_charge_degree,score_text,two_year_recid,days_b_screening_arrest,is_recid\n"
    kept = "Other,Male,Greater than 45,0,F,Low,0,-1.0,0\nAsian,Female,25 - 45,3,M,Medium,1,30,1\n"
    dropped = (
        "Other,Male,25 - 45,0,F,Low,0,31,0\nOther,Male,25 - 45,0,F,Low,0,,0\nOther,Male,25 - 45,0,F,Low,0,1,-1\n"
        "Other,Male,25 - 45,0,O,Low,0,1,0\nOther,Male,25 - 45,0,F,N/A,0,1,0\n"
    )
    file = home.serves("compas-scores-two-years.csv", (head + kept + dropped).encode())
    monkeypatch.setattr(compas, "COMPAS", replace(COMPAS, files=(file,), rows=2, totals={}))
    columns = {name: values.tolist() for name, values in ald.datasets.load_compas().items()}
    assert columns == {
        "race": ["Other", "Asian"],
        "sex": ["Male", "Female"],
        "age_band": ["above 45", "25 to 45"],
        "priors": [0, 3],
        "charge": ["felony", "misdemeanor"],
        "predicted_high_risk": [0, 1],
        "reoffended": [0, 1],
    }


def test_compas_from_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prepared table of COMPAS is read from the folder that ALD_DATA names."""
    monkeypatch.setenv("ALD_DATA", str(public_data("compas.csv").parent))
    columns = ald.datasets.load_compas()
    assert len(columns["race"]) == 6172
    assert columns["predicted_high_risk"].sum() == 2751


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        (["a", "z"], [["x", "1"], ["y", "0"]], "has the columns a, z"),
        (["a", "b"], [["x", "1"]], "has 1 rows"),
        (["a", "b"], [["x", "1"], ["y"]], "2 of 2 values"),
        (["a", "b"], [["x", "1"], ["y", "1"]], "its column 'b' has"),
    ],
)
def test_prepared_tables_are_checked(header: list[str], rows: list[list[str]], message: str) -> None:
    """A prepared table needs the columns, the number of rows and the totals of its data set."""
    data = replace(COMPAS, columns=("a", "b"), rows=2, totals={"b": {"1": 1, "0": 1}})
    check_structure(data, ["a", "b"], [["x", "1"], ["y", "0"]], "table.csv")
    with pytest.raises(ald.InputError, match=message):
        check_structure(data, header, rows, "table.csv")


def test_unreadable_prepared_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prepared table that is no text, or empty, is an error that names the file."""
    monkeypatch.setenv("ALD_DATA", str(tmp_path))
    for content in (b"\xff\xfe\x00", b""):
        (tmp_path / "compas.csv").write_bytes(content)
        with pytest.raises(ald.InputError, match=r"compas\.csv"):
            public.prepared_rows(COMPAS)


def test_every_data_set_states_source_and_licence() -> None:
    """Every public data set has a title, a source, a licence and checksums of all its files."""
    for data in PUBLIC:
        assert data.title
        assert data.licence
        assert data.source.startswith("https://")
        assert all(len(file.sha256) == 64 and file.url.startswith("https://") for file in data.files)
