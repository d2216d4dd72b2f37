"""The command: every option, every error, and nothing half done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ald
import ald.results.finding
from ald.cli import main as cli
from tests.cli.running import python_m_ald
from tests.tables import people, write_csv


class TestCommands:
    """Every command and its help."""

    @pytest.mark.parametrize("command", [[], *([name] for name in cli.cli.commands)])
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

    @pytest.mark.parametrize("arguments", [["nothing"], ["audit"], ["audit", "--nothing"], ["--nothing"], []])
    def test_usage_errors(self, run: Any, arguments: list[str]) -> None:
        """A command line that cannot be understood ends with 2 and says so on stderr."""
        result = run(*arguments)
        assert (result.code, result.out) == (2, "")
        assert "Usage: ald" in result.err

    def test_as_a_module(self) -> None:
        """python -m ald is the command."""
        assert python_m_ald("version").stdout == f"ald {ald.__version__}\n"


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


class TestStreams:
    """Streams that are closed, full or not read."""

    def shell(self, data: Path, line: str) -> subprocess.CompletedProcess[str]:
        audit = f"{sys.executable} -m ald audit {data} --outcome y --trees 2"
        return subprocess.run(["bash", "-c", line.format(audit=audit)], capture_output=True, text=True, timeout=300)

    def test_closed_stderr(self, tmp_path: Path) -> None:
        """An audit that cannot say anything on the side writes its report and prints its result."""
        data = write_csv(tmp_path / "x.csv", people(200))
        done = self.shell(data, f"{{audit}} -o {tmp_path}/x.html --format json 2>&-")
        assert done.returncode == 0
        assert done.stdout.startswith("{")
        assert (tmp_path / "x.html").read_text("utf-8").startswith("<!DOCTYPE html>")

    def test_errors_without_a_stderr(self, tmp_path: Path) -> None:
        """An error that nobody can read is still an exit code."""
        assert self.shell(tmp_path / "none.csv", "{audit} 2>&-").returncode == 2

    def test_closed_stdout(self, tmp_path: Path) -> None:
        """An audit that cannot print writes its report, and nothing else into it."""
        data = write_csv(tmp_path / "x.csv", people(200))
        done = self.shell(data, f"{{audit}} -o {tmp_path}/x.md >&-")
        assert (done.returncode, done.stdout) == (0, "")
        assert (tmp_path / "x.md").read_text("utf-8").startswith("# ")

    def test_a_reader_that_has_gone(self, tmp_path: Path) -> None:
        """Who reads only the beginning, or nothing, makes no error of it."""
        data = write_csv(tmp_path / "x.csv", people(200))
        for reader in ("true", "head -c 1"):
            for form in ("json", "table"):
                done = self.shell(data, f"{{audit}} --format {form} | {reader}; exit ${{{{PIPESTATUS[0]}}}}")
                assert (done.returncode, done.stderr) == (0, "")

    def test_a_stderr_that_nobody_reads(self, tmp_path: Path) -> None:
        """What is said on the side is lost, the report and the result are not."""
        data = write_csv(tmp_path / "x.csv", people(200))
        done = self.shell(data, f"{{audit}} -o {tmp_path}/x.md --format csv 2> >(true)")
        assert done.returncode == 0
        assert done.stdout.startswith("rank,")
        assert (tmp_path / "x.md").exists()
