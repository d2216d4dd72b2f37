"""The command: every option, every error, and nothing half done."""

from __future__ import annotations

import csv
import importlib.util
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
import ald.results.finding
from ald.cli import main as cli
from ald.cli.main import commands
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

    @pytest.mark.parametrize("command", [[], ["audit"], ["test"], ["demo"], ["report"], ["notions"], ["version"]])
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
            "from ald.cli.main import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "print([m for m in ('numpy', 'scipy', 'rich', 'duckdb', 'narwhals', 'pandas') if m in sys.modules])"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert out.stdout.splitlines()[-1] == "[]"

    def test_version(self, run: Any) -> None:
        """The version is that of the package."""
        assert run("version").out == run("--version").out == f"ald {ald.__version__}\n"

    def test_notions(self, run: Any) -> None:
        """All notions are listed."""
        result = run("notions")
        assert result.code == 0
        assert all(name.split()[0] in result.out for name in ald.NOTIONS)

    def test_demo(self, run: Any, tmp_path: Path) -> None:
        """The demo shows departments first, then women given the department, and writes reports of the latter."""
        result = run("demo", "-o", tmp_path / "x.json", "-o", tmp_path / "x.md")
        assert result.code == 0
        plain, given = result.out.split("Are women treated differently given the department?")
        assert "department in {A, B}" in plain
        assert "no group was found with a significant disparity" in given
        told = " ".join(given.split())
        assert "Asked about gender = female: psi +0.018" in told
        assert "corrected p 0.22: not significant (1,835 people" in told
        assert "Unadjusted psi: -0.142; adjusted: +0.018." in told
        assert "given department = A: selection 82.4% against 62.1% (+0.203)" in told
        expected = ald.audit(
            ald.datasets.load_berkeley(),
            outcome="admitted",
            favourable="yes",
            given="department",
            groups_of_interest="gender = female",
        )
        assert ald.Audit.from_json((tmp_path / "x.json").read_text()) == expected
        assert "Wrote" in result.err

    @pytest.mark.parametrize("format_", ["json", "csv", "markdown"])
    def test_demo_in_other_formats(self, run: Any, format_: str) -> None:
        """In other formats the demo prints one document: that of the audit given the department."""
        result = run("demo", "--format", format_)
        options: dict[str, Any] = {"given": "department", "groups_of_interest": "gender = female"}
        audit = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", **options)
        assert result.out == {"json": audit.to_json, "csv": audit.to_csv, "markdown": audit.to_markdown}[format_]()

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
            assert ald.results.finding.p_text(finding.log10_p_adjusted).removeprefix("p = ") in result.out
            assert f"{finding.size:,}" in result.out
        assert max(map(len, result.out.splitlines())) <= 80

    def test_several_outputs(self, run: Any, file: Path, tmp_path: Path) -> None:
        """-o may be repeated, and each ending has its format."""
        targets = [tmp_path / f"x.{ending}" for ending in ("json", "csv", "md", "txt", "html", "pdf", "xlsx")]
        options = [part for target in targets for part in ("-o", target)]
        assert run("audit", file, "--outcome", "y", "--trees", "3", *options).code == 0
        audit = ald.audit(file, outcome="y", trees=3)
        texts = [audit.to_json(), audit.to_csv(), audit.to_markdown(), f"{audit}\n", audit.to_html()]
        expected = [*(text.encode() for text in texts), audit.to_pdf(), audit.to_excel()]
        assert [target.read_bytes() for target in targets] == expected

    @pytest.mark.parametrize(
        ("target", "package", "problem"),
        [
            ("x.pdf", "typst", "pip install 'ald-audit[pdf]'"),
            ("x.xlsx", "xlsxwriter", "pip install 'ald-audit[excel]'"),
        ],
    )
    def test_missing_packages_are_told_first(
        self, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, package: str, problem: str
    ) -> None:
        """A format that cannot be written is refused before the data is even looked for."""
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find_spec(name))
        result = run("audit", tmp_path / "none.csv", "--outcome", "y", "-o", tmp_path / target)
        assert (result.code, result.out) == (2, "")
        assert problem in result.err

    def test_profiles(self, run: Any, file: Path, tmp_path: Path) -> None:
        """--profile counts by the columns that --profile-column or a config file names, and prints the tables."""
        config = tmp_path / "c.toml"
        config.write_text('outcome = "y"\ntrees = 3\nprofile = "nyc-ll144"\n[profile_columns]\nsex = "sex"\n')
        options = ["--outcome", "y", "--trees", "3", "--profile", "nyc-ll144", "--profile-column", "sex=sex"]
        expected = ald.audit(file, outcome="y", trees=3, profile="nyc-ll144", profile_columns={"sex": "sex"})
        assert run("audit", file, *options, "--format", "json").out == expected.to_json()
        assert run("audit", file, "--config", config, "--format", "json").out == expected.to_json()
        printed = run("audit", file, *options).out
        assert "Not legal advice" in printed
        assert "Impact ratios by sex" in printed

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


class TestReport:
    """Reports of earlier audits."""

    def test_the_same_report(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A report from the document and the file is byte for byte the one made with the audit."""
        run("audit", file, "--outcome", "y", "--trees", "3", "-o", tmp_path / "a.json", "-o", tmp_path / "a.html")
        result = run("report", tmp_path / "a.json", "-o", tmp_path / "b.html", "--data", file, "-o", tmp_path / "b.md")
        assert (result.code, result.out) == (0, "")
        assert result.err.count("Wrote ") == 2
        assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()
        assert (tmp_path / "b.md").exists()

    def test_without_the_file(self, run: Any, file: Path, tmp_path: Path) -> None:
        """Without the file, the report has no SHA-256 and says so."""
        run("audit", file, "--outcome", "y", "--trees", "3", "-o", tmp_path / "a.json")
        run("report", tmp_path / "a.json", "-o", tmp_path / "b.html")
        assert "SHA-256 of the input: none" in (tmp_path / "b.html").read_text("utf-8")

    @pytest.mark.parametrize(
        ("content", "options", "problem"),
        [
            (None, [], "there is no file"),
            ("{", [], "not a JSON document"),
            ("", ["--data", "nothing.csv"], "there is no file 'nothing.csv'"),
        ],
    )
    def test_errors(self, run: Any, tmp_path: Path, content: str | None, options: list[str], problem: str) -> None:
        """What cannot be read is a sentence, and nothing is written."""
        if content is not None:
            (tmp_path / "a.json").write_text(content)
        result = run("report", tmp_path / "a.json", "-o", tmp_path / "b.html", *options)
        assert result.code == 2
        assert problem in result.err
        assert not (tmp_path / "b.html").exists()

    def test_the_document_is_never_overwritten(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A report that would replace its own document is an error."""
        run("audit", file, "--outcome", "y", "--trees", "3", "-o", tmp_path / "a.json")
        before = (tmp_path / "a.json").read_bytes()
        result = run("report", tmp_path / "a.json", "-o", tmp_path / "a.json")
        assert "would overwrite the document" in result.err
        assert (tmp_path / "a.json").read_bytes() == before


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
            (["--outcome", "y", "-o", "x.docx"], "cannot tell the format of the report"),
            (["--outcome", "y", "-o", "report.json"], "the report 'report.json' is asked for twice"),
            (["--outcome", "y", "--profile", "nyc"], "unknown profile 'nyc'"),
            (["--outcome", "y", "--profile", "nyc-ll144"], "--profile-column sex=COLUMN --profile-column race=COLUMN"),
            (["--outcome", "y", "--profile-column", "sex"], "is not of the form ROLE=COLUMN, such as sex=gender"),
            (["--outcome", "y", "--profile-column", "sex=sex"], "given without a profile"),
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
            ("x.csv", "a,y\n" + "1,0\n2,\n" * 50, "has the value '0' in every row"),
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


class TestNamedGroups:
    """ald test: groups that the user names."""

    def test_json(self, run: Any, file: Path) -> None:
        """--format json prints the document of ald.assess, whether or not a group differs."""
        result = run("test", file, "--outcome", "y", "--group", "sex = F", "--group", "age > 45", "--format", "json")
        assert (result.code, result.err) == (0, "")
        assert result.out == ald.assess(file, ["sex = F", "age > 45"], outcome="y").to_json()

    def test_table(self, run: Any, file: Path) -> None:
        """The table names every group with its disparity, and no search."""
        result = run("test", file, "--outcome", "y", "--group", "sex = F")
        (found,) = ald.assess(file, "sex = F", outcome="y").named
        assert result.code == 0
        told = " ".join(result.out.split())
        assert f"Asked about sex = F: psi {found.psi:+.3f}" in told
        assert f"({found.size:,} people, tested on all data)" in told
        assert "trees" not in result.out

    def test_csv(self, run: Any, file: Path) -> None:
        """--format csv prints a row per named group."""
        result = run("test", file, "--outcome", "y", "--group", "sex = F", "--group", "age > 45", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(result.out)))
        assert [row["criterion"] for row in rows] == ["sex = F", "age > 45"]

    def test_reports_are_written(self, run: Any, file: Path, tmp_path: Path) -> None:
        """-o writes the report of the named groups."""
        assert run("test", file, "--outcome", "y", "--group", "sex = F", "-o", tmp_path / "x.json").code == 0
        expected = ald.assess(file, "sex = F", outcome="y")
        assert ald.Audit.from_json((tmp_path / "x.json").read_text()) == expected

    def test_config(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A config file may name groups and settings; --group on the command line wins."""
        config = tmp_path / "c.toml"
        config.write_text('outcome = "y"\ngiven = ["member"]\ngroups_of_interest = ["sex = F"]\nlevel = 0.01\n')
        options: dict[str, Any] = {"outcome": "y", "given": "member", "level": 0.01}
        result = run("test", file, "--config", config, "--format", "json")
        assert result.out == ald.assess(file, "sex = F", **options).to_json()
        result = run("test", file, "--config", config, "--group", "age > 45", "--format", "json")
        assert result.out == ald.assess(file, "age > 45", **options).to_json()

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ([], "name at least one group"),
            (["--group", "sx = F"], "Did you mean 'sex'"),
            (["--group", "sex = X"], "sex = X"),
            (["--group", "sex ="], "sex ="),
            (["--group", "age > 1000"], "is empty"),
            (["--group", "age > 0"], "is everyone"),
            (["--group", "sex = F", "--cluster", "nobody"], "there is no column 'nobody'"),
            (["--group", "sex = F", "--survey-weights", "score"], "must not be negative"),
            (["--group", "sex = F", "--weights", "score"], "whole numbers"),
            (["--group", "sex = F", "--given", "y"], "cannot be both outcome and given"),
            (["--group", "sex = F", "--direction", "down"], "unknown direction"),
            (["--group", "sex = F", "--given-bins", "0"], "given_bins must be a whole number from 2 on"),
        ],
    )
    def test_bad_groups(self, run: Any, file: Path, tmp_path: Path, options: list[str], problem: str) -> None:
        """What cannot be tested ends with 2, a sentence and no report."""
        result = run("test", file, "--outcome", "y", *options, "-o", tmp_path / "report.json")
        assert (result.code, result.out) == (2, "")
        assert problem in result.err
        assert "Traceback" not in result.err
        assert not (tmp_path / "report.json").exists()

    def test_options_of_the_search(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A config file with options of the search is refused: nothing is searched."""
        config = tmp_path / "c.toml"
        config.write_text('outcome = "y"\ntrees = 3\n')
        result = run("test", file, "--config", config, "--group", "sex = F")
        assert result.code == 2
        assert "searches nothing and takes no option 'trees'" in result.err


class TestDesigns:
    """The options of ald audit that say what is compared with what."""

    def test_all_of_them(self, run: Any, tmp_path: Path) -> None:
        """Every option reaches the audit."""
        columns = people(900) | {"person": [f"p{i // 3}" for i in range(900)], "w": [1.5, 0.5, 1.0] * 300}
        path = write_csv(tmp_path / "x.csv", columns)
        result = run(
            *("audit", path, "--outcome", "y", "--trees", "3", "--given", "score,member", "--given-bins", "3"),
            *("--given-in-criteria", "--cluster", "person", "--survey-weights", "w", "--direction", "advantaged"),
            *("--favourable", "1"),
            *("--reference", "sex = M", "--group-of-interest", "age > 45", "--group-of-interest", "age <= 30"),
            *("--fraction", "0.4", "--format", "json"),
        )
        expected = ald.audit(
            path,
            outcome="y",
            trees=3,
            given=["score", "member"],
            given_bins=3,
            given_in_criteria=True,
            cluster="person",
            survey_weights="w",
            favourable="1",
            direction="advantaged",
            reference="sex = M",
            groups_of_interest=["age > 45", "age <= 30"],
            fraction=0.4,
        )
        assert result.out == expected.to_json()

    def test_several_notions(self, run: Any, tmp_path: Path) -> None:
        """--notion may be repeated."""
        path = write_csv(tmp_path / "d.csv", decisions())
        roles = ("--prediction", "predicted", "--truth", "true", "--trees", "2")
        names = ["accuracy", "equalized odds"]
        chosen = [part for name in names for part in ("--notion", name)]
        result = run("audit", path, *roles, *chosen, "--format", "json")
        assert result.out == ald.audit(path, prediction="predicted", truth="true", trees=2, notion=names).to_json()
        assert run("audit", path, *roles, *chosen).code == 0

    def test_several_outcomes_in_a_file(self, run: Any, tmp_path: Path) -> None:
        """--outcome may be repeated; a config file gives each its favourable value."""
        columns = people() | {"z": ["up" if i % 3 else "down" for i in range(600)]}
        path = write_csv(tmp_path / "x.csv", columns)
        config = tmp_path / "c.toml"
        config.write_text('trees = 2\n[favourable]\nz = "up"\n')
        result = run("audit", path, "--outcome", "y", "--outcome", "z", "--config", config, "--format", "json")
        expected = ald.audit(path, outcome=["y", "z"], favourable={"z": "up"}, trees=2)
        assert result.out == expected.to_json()

    def test_splits(self, run: Any, tmp_path: Path) -> None:
        """--split names a column; --assess-on a second file, which is never overwritten."""
        paths = [write_csv(tmp_path / f"{i}.csv", people(seed=i)) for i in (1, 2)]
        result = run("audit", paths[0], "--assess-on", paths[1], "--outcome", "y", "--trees", "2", "--format", "json")
        assert result.out == ald.audit(split=tuple(paths), outcome="y", trees=2).to_json()
        both = write_csv(tmp_path / "both.csv", people() | {"half": [1, 2] * 300})
        result = run("audit", both, "--split", "half", "--outcome", "y", "--trees", "2", "--format", "json")
        assert result.out == ald.audit(both, split="half", outcome="y", trees=2).to_json()
        result = run("audit", paths[0], "--assess-on", paths[1], "--outcome", "y", "-o", paths[1])
        assert result.code == 2
        assert "would overwrite the data" in result.err

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            (["--given", "row"], "puts each of 600 people into a stratum of one"),
            (["--given", "copy"], "determines the outcome"),
            (["--cluster", "big"], "more than half of the data"),
            (["--survey-weights", "negative"], "must not be negative"),
            (["--survey-weights", "gaps"], "missing or infinite values"),
            (["--survey-weights", "nothing"], "are all 0"),
            (["--weights", "negative"], "must be whole numbers from 0 on"),
            (["--split", "half", "--cluster", "pairs"], "are in both halves"),
            (["--split", "half", "--assess-on", "x.csv"], "give either --split or --assess-on"),
            (["--assess-on", "x.csv"], "are the same"),
            (["--group-of-interest", "age > 1000"], "is empty"),
            (["--reference", "age > 0"], "is everyone"),
            (["--fraction", "1"], "fraction must be below 1"),
        ],
    )
    def test_bad_designs(
        self, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], problem: str
    ) -> None:
        """Each design that cannot be audited ends with 2, a sentence and no report."""
        monkeypatch.chdir(tmp_path)
        columns = people() | {"row": [f"r{i}" for i in range(600)], "big": ["a"] * 400 + [f"b{i}" for i in range(200)]}
        columns |= {"copy": ["good" if y else "bad" for y in columns["y"]], "half": [1, 2] * 300}
        columns |= {"pairs": [f"p{i // 2}" for i in range(600)], "nothing": [0] * 600}
        columns |= {"negative": [-1.0, 1.0] * 300, "gaps": [1.0, None] * 300}
        write_csv(Path("x.csv"), columns)
        result = run("audit", "x.csv", "--outcome", "y", *options, "-o", "report.json")
        assert (result.code, result.out) == (2, "")
        assert problem in result.err
        assert "Traceback" not in result.err
        assert os.listdir(tmp_path) == ["x.csv"]


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
        assert ald.groups.criterion.visible(word) in result.out.replace("\n", " ") or len(word) > 8 or "x\ny" in word
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


def interrupt(command: list[str], started: Path, number: int = signal.SIGINT) -> tuple[int, str]:
    """Runs a command, sends it a signal once this file is there, and gives its exit code and errors."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if started.exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(number)
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
import ald.report.files, ald.pipeline
target = {{"load": (ald.pipeline, "load"), "search": (ald.pipeline, "grow_forest"), "assess": (ald.pipeline, "assess"),
          "write": (ald.report.files.os, "fsync")}}[{step!r}]
def wait(*args, **options):
    Path({str(started)!r}).touch()
    time.sleep(60)
setattr(*target, wait)
from ald.cli.main import main
sys.argv = ["ald", "audit", {str(data)!r}, "--outcome", "y", "--preset", "paper", "--trees", "2", "-o", {report!r}]
main()
"""
    code_, errors = interrupt([sys.executable, "-c", code], started)
    assert code_ == 130
    assert errors.strip() == "Interrupted; no file is half written."
    assert os.listdir(folder) == ["x.json"]
    assert (folder / "x.json").read_text() == "old"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_leave_no_rows(tmp_path: Path, number: int, status: int) -> None:
    """SIGTERM and SIGHUP end as Ctrl-C does: temporary rows are removed, and the exit code tells the signal."""
    data = write_csv(tmp_path / "x.csv", people(500))
    started, temporary = tmp_path / "started", tmp_path / "temporary"
    temporary.mkdir()
    code = f"""
import os, sys, tempfile, time
from pathlib import Path
tempfile.tempdir = {str(temporary)!r}
import ald.data.inputs.files, ald.data.inputs.reading
def wait(*args, **options):
    assert os.listdir({str(temporary)!r})
    Path({str(started)!r}).touch()
    time.sleep(60)
ald.data.inputs.reading.Reading.is_large = lambda self, rows, columns: True
ald.data.inputs.files.reduced = wait
from ald.cli.main import main
sys.argv = ["ald", "audit", {str(data)!r}, "--outcome", "y"]
main()
"""
    code_, errors = interrupt([sys.executable, "-c", code], started, number)
    assert (code_, errors.strip()) == (status, "Interrupted; no file is half written.")
    assert not list(temporary.iterdir())


def test_interrupts_in_the_midst_of_work(tmp_path: Path) -> None:
    """Ctrl-C while threads count ends with 130 and without a traceback."""
    data = write_csv(tmp_path / "x.csv", people(20_000))
    started = tmp_path / "started"
    code = f"""
import sys, threading
from pathlib import Path
import ald.pipeline
grow = ald.pipeline.grow_forest
def announce(*args, **options):
    Path({str(started)!r}).touch()
    return grow(*args, **options)
ald.pipeline.grow_forest = announce
from ald.cli.main import main
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
        assert ald.results.finding.p_text(finding.log10_p_adjusted).removeprefix("p = ") in words


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


def test_engines(run: Any, file: Path) -> None:
    """An engine reads the file; one that there is not is named, with those that there are."""
    asked = ["--outcome", "y", "--attributes", "age,sex", "--trees", "2", "--format", "json"]
    plain, dask = run("audit", file, *asked), run("audit", file, *asked, "--engine", "dask")
    assert (plain.code, dask.code) == (0, 0)
    assert json.loads(dask.out)["groups"] == json.loads(plain.out)["groups"]
    unknown = run("audit", file, *asked, "--engine", "sparck")
    assert (unknown.code, unknown.out) == (2, "")
    assert "Did you mean 'spark'?" in unknown.err


def test_american_spelling(run: Any, file: Path, tmp_path: Path) -> None:
    """`favorable` is `favourable` as an option and in a config file; both together are an error."""
    config = tmp_path / "audit.toml"
    config.write_text('outcome = "y"\nfavorable = "1"\n')
    expected = run("audit", file, "--outcome", "y", "--favourable", "1", "--trees", "2", "--format", "json").out
    for options in (["--config", config], ["--outcome", "y", "--favorable", "1"]):
        assert run("audit", file, *options, "--trees", "2", "--format", "json").out == expected
    config.write_text('favourable = "1"\nfavorable = "1"\n')
    assert "give favourable or favorable, not both" in run("audit", file, "--config", config).err
