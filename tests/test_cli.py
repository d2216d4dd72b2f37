"""The command: every option, every error, and nothing half done."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ald
import ald.findings
from ald import cli, commands
from tests.tables import decisions, hostile, people, write_csv


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


def python_m_ald(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own."""
    command = [sys.executable, "-m", "ald", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


class TestCommands:
    """Every command and its help."""

    @pytest.mark.parametrize("command", [[], ["audit"], ["demo"], ["notions"], ["version"]])
    @pytest.mark.parametrize("flag", ["--help", "-h"])
    def test_help(self, run: Any, command: list[str], flag: str) -> None:
        """Every command explains itself and ends well."""
        result = run(*command, flag)
        assert (result.code, result.err) == (0, "")
        assert result.out.startswith("Usage: ald")

    def test_help_is_light(self) -> None:
        """--help imports neither NumPy nor other heavy libraries."""
        code = (
            "import sys; sys.argv = ['ald', '--help']\n"
            "from ald.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "print([m for m in ('numpy', 'scipy', 'rich', 'duckdb', 'narwhals', 'pandas') if m in sys.modules])"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert out.stdout.splitlines()[-1] == "[]"

    def test_version(self, run: Any) -> None:
        """The version is that of the package."""
        assert run("version").out == f"ald {ald.__version__}\n"

    def test_notions(self, run: Any) -> None:
        """All notions are listed."""
        result = run("notions")
        assert result.code == 0
        assert all(name.split()[0] in result.out for name in ald.NOTIONS)

    def test_demo(self, run: Any, tmp_path: Path) -> None:
        """The demo prints a finding and writes reports."""
        result = run("demo", "-o", tmp_path / "x.json", "-o", tmp_path / "x.md")
        assert result.code == 0
        assert "department" in result.out
        expected = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
        assert ald.Audit.from_json((tmp_path / "x.json").read_text()) == expected
        assert "Wrote" in result.err

    @pytest.mark.parametrize("arguments", [["nothing"], ["audit"], ["audit", "--nothing"], ["--nothing"], []])
    def test_usage_errors(self, run: Any, arguments: list[str]) -> None:
        """A command line that cannot be understood ends with 2 and says so on stderr."""
        result = run(*arguments)
        assert (result.code, result.out) == (2, "")
        assert "Usage: ald" in result.err

    def test_as_a_module(self) -> None:
        """python -m ald is the command."""
        assert python_m_ald("version").stdout == f"ald {ald.__version__}\n"


class TestFormats:
    """What is printed and written."""

    def test_json(self, run: Any, file: Path) -> None:
        """--format json prints the document and nothing else."""
        result = run("audit", file, "--outcome", "y", "--trees", "3", "--format", "json")
        assert result.out == ald.audit(file, outcome="y", trees=3).to_json()
        assert (result.code, result.err) == (0, "")

    def test_csv(self, run: Any, file: Path) -> None:
        """--format csv prints the table."""
        result = run("audit", file, "--outcome", "y", "--trees", "3", "--format", "csv")
        assert result.out == ald.audit(file, outcome="y", trees=3).to_csv()

    def test_markdown(self, run: Any, file: Path) -> None:
        """--format markdown prints the report."""
        result = run("audit", file, "--outcome", "y", "--trees", "3", "--format", "markdown")
        assert result.out == ald.audit(file, outcome="y", trees=3).to_markdown()

    def test_table(self, run: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The table is complete at 80 columns: no p-value is cut."""
        monkeypatch.setenv("COLUMNS", "80")
        result = run("audit", file, "--outcome", "y", "--trees", "3")
        audit = ald.audit(file, outcome="y", trees=3)
        assert audit.groups
        for finding in audit.groups:
            assert ald.findings.p_text(finding.log10_p_adjusted).removeprefix("p = ") in result.out
            assert f"{finding.size:,}" in result.out
        assert max(map(len, result.out.splitlines())) <= 80

    def test_several_outputs(self, run: Any, file: Path, tmp_path: Path) -> None:
        """-o may be repeated, and each ending has its format."""
        targets = [tmp_path / f"x.{ending}" for ending in ("json", "csv", "md", "txt")]
        options = [part for target in targets for part in ("-o", target)]
        assert run("audit", file, "--outcome", "y", "--trees", "3", *options).code == 0
        audit = ald.audit(file, outcome="y", trees=3)
        expected = [audit.to_json(), audit.to_csv(), audit.to_markdown(), f"{audit}\n"]
        assert [target.read_text() for target in targets] == expected

    def test_all_options(self, run: Any, tmp_path: Path) -> None:
        """Every option reaches the audit."""
        path = write_csv(tmp_path / "d.csv", decisions() | {"w": [2] * 800})
        result = run(
            "audit",
            path,
            "--prediction",
            "predicted",
            "--truth",
            "true",
            "--favourable",
            "1",
            "--attributes",
            "group, x",
            "--weights",
            "w",
            "--kind",
            "group=c<b<a",
            "--notion",
            "equalized odds",
            "--ranking",
            "magnitude",
            "--groups",
            "2",
            "--trees",
            "4",
            "--alpha",
            "0.2",
            "--level",
            "0.1",
            "--adjust",
            "by",
            "--preset",
            "paper",
            "--seed",
            "5",
            "--threads",
            "2",
            "--format",
            "json",
        )
        expected = ald.audit(
            path,
            prediction="predicted",
            truth="true",
            favourable="1",
            attributes=["group", "x"],
            weights="w",
            kinds={"group": ["c", "b", "a"]},
            notion="equalized odds",
            ranking="magnitude",
            groups=2,
            trees=4,
            alpha=0.2,
            level=0.1,
            adjust="by",
            preset="paper",
            seed=5,
        )
        assert result.out == expected.to_json()


class TestConfig:
    """Options in a file."""

    def test_the_command_line_wins(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A file sets options, and the command line overrides them."""
        config = tmp_path / "c.toml"
        config.write_text(
            'outcome = "y"\ntrees = 9\nalpha = 1\nattributes = ["age", "sex"]\n[kinds]\nsex = ["M", "F"]\n'
        )
        result = run("audit", file, "--config", config, "--trees", "3", "--format", "json")
        expected = ald.audit(file, outcome="y", trees=3, alpha=1, attributes=["age", "sex"], kinds={"sex": ["M", "F"]})
        assert result.out == expected.to_json()

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("outcome = ", "is not valid TOML"),
            ('outcom = "y"', "unknown option 'outcom'. Did you mean 'outcome'"),
            ('outcome = "y"\ntrees = "3"', "option 'trees' .* must be of type int, not '3'"),
            ('outcome = "y"\ntrees = true', "trees must be a whole number"),
            ('outcome = "y"\nattributes = "age"', "must be of type list"),
            ('outcome = "y"\nattributes = [1]', "go by names of columns"),
            ('outcome = "y"\n[kinds]\nage = 3', "the kind of column 'age' must be a word"),
            ('outcome = "y"\nfavourable = [1]', "option 'favourable'"),
            ("outcome = '\xff'".encode("latin-1"), "is not valid TOML"),
        ],
    )
    def test_bad_files(self, run: Any, file: Path, tmp_path: Path, text: str | bytes, problem: str) -> None:
        """A bad file ends with 2 and says what is wrong."""
        config = tmp_path / "c.toml"
        config.write_bytes(text.encode() if isinstance(text, str) else text)
        result = run("audit", file, "--config", config)
        assert (result.code, result.out) == (2, "")
        assert re.search(problem, result.err)

    def test_no_such_file(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A missing file, or a folder, ends with 2."""
        assert run("audit", file, "--config", tmp_path / "none.toml").code == 2
        assert run("audit", file, "--config", tmp_path).code == 2


class TestErrors:
    """Exit code 2, a sentence on stderr, no traceback, nothing written."""

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ([], "name the column to audit"),
            (["--outcome", "why"], "there is no column 'why'"),
            (["--outcome", "sex"], "which value of outcome 'sex' is the favourable one"),
            (["--outcome", "age", "--favourable", "30"], "it must have two"),
            (["--outcome", "y", "--trees", "0"], "trees must be a whole number from 1 on"),
            (["--outcome", "y", "--trees", "x"], "is not a valid integer"),
            (["--outcome", "y", "--alpha", "nan"], "alpha must be above 0"),
            (["--outcome", "y", "--notion", "odds"], "unknown notion 'odds'"),
            (["--outcome", "y", "--format", "xml"], "xml"),
            (["--outcome", "y", "--kind", "age"], "is not of the form COLUMN=KIND"),
            (["--outcome", "y", "--kind", "age=fuzzy"], "unknown kind 'fuzzy'"),
            (["--outcome", "y", "--attributes", "agee"], "Did you mean 'age'"),
            (["--outcome", "y", "-o", "none/x.json"], "the folder of the report 'none/x.json' does not exist"),
            (["--outcome", "y", "-o", "x.pdf"], "cannot tell the format of the report"),
            (["--outcome", "y", "--weights", "score"], "must be whole numbers"),
        ],
    )
    def test_bad_options(
        self, run: Any, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], problem: str
    ) -> None:
        """Each option that makes no sense is refused."""
        monkeypatch.chdir(tmp_path)
        result = run("audit", file, *options, "-o", "report.json")
        assert (result.code, result.out) == (2, "")
        assert problem in result.err
        assert "Traceback" not in result.err
        assert os.listdir(tmp_path) == ["people.csv"]

    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("x.csv", "", "is empty"),
            ("x.csv", "a,y\n", "has no rows"),
            ("x.csv", "a,y\n1,0\n2,1\n", "too few to audit"),
            ("x.csv", "y,y\n1,0\n", "more than one column named 'y'"),
            ("x.xyz", "a", "cannot tell the format"),
            ("x.parquet", "abc", "cannot be read as PARQUET"),
            ("x.csv", "a,y\n" + "1,0\n2,\n" * 50, "50 missing values of 100"),
            ("x.csv", "a,y\n" + "1,0\n2,0\n" * 50, "in every row"),
            ("x.csv", "a,y\n" + "1,0\n1,1\n" * 50, "no attribute is left to audit"),
        ],
    )
    def test_bad_files(self, run: Any, tmp_path: Path, name: str, content: str, problem: str) -> None:
        """Each file that cannot be audited is refused."""
        (tmp_path / name).write_text(content)
        result = run("audit", tmp_path / name, "--outcome", "y", "-o", tmp_path / "report.json")
        assert (result.code, result.out) == (2, "")
        assert problem in result.err
        assert os.listdir(tmp_path) == [name]

    def test_no_such_file(self, run: Any, tmp_path: Path) -> None:
        """A missing file is refused with the nearest name."""
        (tmp_path / "people.csv").touch()
        result = run("audit", tmp_path / "poeple.csv", "--outcome", "y")
        assert result.code == 2
        assert "Did you mean 'people.csv'" in result.err

    def test_errors_show_control_characters(self, run: Any, file: Path) -> None:
        """A hostile name in an error cannot act on the terminal."""
        result = run("audit", file, "--outcome", "a\x1b[31mb\nc")
        assert result.code == 2
        assert "\x1b" not in result.err
        assert result.err.count("\n") == 1

    def test_data_is_never_overwritten(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A report may not replace the data, also not through another path to it."""
        before = file.read_bytes()
        (tmp_path / "link.csv").symlink_to(file)
        for target in (file, tmp_path / "link.csv"):
            result = run("audit", file, "--outcome", "y", "-o", target)
            assert result.code == 2
            assert "would overwrite the data" in result.err
        assert file.read_bytes() == before

    def test_writing_that_fails(self, run: Any, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An error of the system while writing ends with 2 and keeps the old report."""
        target = tmp_path / "x.json"
        target.write_text("old")

        def full(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("ald.report.files.os.fsync", full)
        result = run("audit", file, "--outcome", "y", "--trees", "2", "-o", target)
        assert (result.code, result.out) == (2, "")
        assert "No space left on device" in result.err
        assert target.read_text() == "old"


class TestHostileData:
    """Names and levels that try to act on who prints them."""

    WORDS = ("\x1b[31mred", "=1+1", "[bold]x[/bold]", ":smile:", "a|b", "<script>", "x\ny", "ünï")

    @pytest.mark.parametrize("word", WORDS)
    def test_the_table(self, run: Any, tmp_path: Path, word: str) -> None:
        """The table shows names and levels as they are, without control characters or markup."""
        path = tmp_path / "x.jsonl"
        columns = hostile([f"n {word}"], [f"l {word}", "other", "third"])
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = run("audit", path, "--outcome", "y", "--trees", "2")
        assert result.code == 0
        assert "\x1b" not in result.out
        assert ald.criterion.visible(word) in result.out.replace("\n", " ") or len(word) > 8 or "x\ny" in word
        table = run("audit", path, "--outcome", "y", "--trees", "2", "--format", "csv").out
        assert not any(cell.startswith(("=", "@")) for row in csv.reader(io.StringIO(table)) for cell in row)

    def test_narrow_encodings(self, tmp_path: Path) -> None:
        """Where the terminal knows only ASCII, nothing fails: other characters are escapes or UTF-8."""
        path = write_csv(tmp_path / "x.csv", hostile(["größe"], ["ü", "ö", "ä"]))
        for format_ in ("table", "csv", "markdown", "json"):
            environment = os.environ | {"PYTHONIOENCODING": "ascii"}
            out = python_m_ald(
                "audit", path, "--outcome", "y", "--trees", "2", "--format", format_, env=environment, encoding="utf-8"
            )
            assert (out.returncode, out.stderr) == (0, "")
            assert any(name in out.stdout for name in ("größe", "gr\\xf6\\xdfe", "gr\\u00f6\\u00dfe"))


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4))
def test_quoted_names(names: list[str]) -> None:
    """Any names can be given to --attributes in double quotes."""
    text = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    assert commands.split_names(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ["a", "b"]),
        (" a , b ", ["a", "b"]),
        ("a b,,c", ["a b", "c"]),
        ("", []),
        ('" a","b,c"', [" a", "b,c"]),
        ("a\nb", ["a\nb"]),
    ],
)
def test_plain_names(text: str, names: list[str]) -> None:
    """Names are separated by commas, and spaces around them do not count."""
    assert commands.split_names(text) == names


def test_closed_pipes(tmp_path: Path) -> None:
    """A reader that stops early is no error."""
    path = write_csv(tmp_path / "x.csv", people(2000))
    command = [sys.executable, "-m", "ald", "audit", str(path), "--outcome", "y", "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait(60)
    assert b"Traceback" not in errors


def interrupt(command: list[str], started: Path) -> tuple[int, str]:
    """Runs a command, sends it SIGINT once this file is there, and gives its exit code and errors."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if started.exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


@pytest.mark.parametrize("step", ["load", "search", "assess", "write"])
def test_interrupts(tmp_path: Path, step: str) -> None:
    """Ctrl-C at any step ends with 130, keeps the old report and leaves no other file."""
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "x.json").write_text("old")
    data = write_csv(tmp_path / "x.csv", people(500))
    started, report = tmp_path / "started", str(folder / "x.json")
    # The step tells that it has begun, and then takes as long as it needs to be interrupted.
    code = f"""
import sys, time
from pathlib import Path
import ald.auditing, ald.report.files
target = {{"load": (ald.auditing, "load"), "search": (ald.auditing, "grow_forest"), "assess": (ald.auditing, "assess"),
          "write": (ald.report.files.os, "fsync")}}[{step!r}]
def wait(*args, **options):
    Path({str(started)!r}).touch()
    time.sleep(60)
setattr(*target, wait)
from ald.cli import main
sys.argv = ["ald", "audit", {str(data)!r}, "--outcome", "y", "--preset", "paper", "--trees", "2", "-o", {report!r}]
main()
"""
    code_, errors = interrupt([sys.executable, "-c", code], started)
    assert code_ == 130
    assert errors.strip() == "Interrupted; no file is half written."
    assert os.listdir(folder) == ["x.json"]
    assert (folder / "x.json").read_text() == "old"


def test_interrupts_in_the_midst_of_work(tmp_path: Path) -> None:
    """Ctrl-C while threads count ends with 130 and without a traceback."""
    data = write_csv(tmp_path / "x.csv", people(20_000))
    started = tmp_path / "started"
    code = f"""
import sys, threading
from pathlib import Path
import ald.auditing
grow = ald.auditing.grow_forest
def announce(*args, **options):
    Path({str(started)!r}).touch()
    return grow(*args, **options)
ald.auditing.grow_forest = announce
from ald.cli import main
sys.argv = ["ald", "audit", {str(data)!r}, "--outcome", "y", "--trees", "3000", "-o", {str(tmp_path / "y.json")!r}]
main()
"""
    code_, errors = interrupt([sys.executable, "-c", code], started)
    assert (code_, errors.strip()) == (130, "Interrupted; no file is half written.")
    assert not (tmp_path / "y.json").exists()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("notion", ["statistical parity", "equalized odds"])
def test_tables_never_cut_a_number(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int, notion: str
) -> None:
    """At every width the whole p-value, psi and size of every listed group can be read."""
    monkeypatch.setenv("COLUMNS", str(width))
    data = ald.datasets.make_synthetic(3, rho=0.6)
    path = write_csv(tmp_path / "errors.csv", data)
    roles = ["--prediction", "prediction", "--truth", "truth"]
    audit = ald.audit(data, prediction="prediction", truth="truth", notion=notion)
    shown = run("audit", path, *roles, "--notion", notion)
    assert shown.code == 0
    words = set(re.split(r"\s+", shown.out))
    for finding in audit.groups:
        assert f"{finding.psi:+.3f}" in words
        assert f"{finding.size:,}" in words
        assert ald.findings.p_text(finding.log10_p_adjusted).removeprefix("p = ") in words


def test_config_file_sets_every_option(run: Any, tmp_path: Path, file: Path) -> None:
    """Threshold, repeats and explore can stand in the config file like all other options."""
    config = tmp_path / "audit.toml"
    config.write_text('outcome = "y"\nthreshold = 0.05\nrepeats = 2\nexplore = false\n', encoding="utf-8")
    settings = json.loads(run("audit", file, "--config", config, "--format", "json").out)["config"]
    assert (settings["threshold"], settings["repeats"], settings["explore"]) == (0.05, 2, False)


def test_foreign_encodings_are_named(run: Any, tmp_path: Path) -> None:
    """A file in another encoding than UTF-8 is refused with the advice to save it as UTF-8."""
    path = tmp_path / "latin.csv"
    path.write_bytes("name,y\nMüller,1\nGroß,0\n".encode("latin-1") * 50)
    shown = run("audit", path, "--outcome", "y")
    assert shown.code == 2
    assert "UTF-8" in shown.err
