"""`ald audit`, `ald profile` and `ald demo`: every option reaches the audit, and every format shows it."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ald
import ald.report.words
from ald.report.words import format_signed
from tests.flat import audit_flat
from tests.tables import decisions, people, write_csv


def test_demo(run: Any, tmp_path: Path) -> None:
    """The demo shows departments first, then women given the department, and writes reports of the latter."""
    result = run("demo", "-o", tmp_path / "x.json", "-o", tmp_path / "x.md")
    assert result.code == 0
    plain, given = result.out.split("Are women treated differently when compared within their department?")
    assert "department in {A, B}" in plain
    assert "gender = female   1,835  30.4% / 44.5%  -14.2" in plain
    told = " ".join(given.split())
    assert "Named group gender = female: +1.8 points" in told
    assert "corrected p = 0.22: not significant (1,835 people" in told
    assert "Unadjusted gap: -14.2 points; adjusted: +1.8 points." in told
    assert "department = A 108 825 82.4% 62.1% +20.3" in told
    assert len(result.out.splitlines()) <= 45
    expected = ald.audit(
        ald.datasets.load_berkeley(),
        outcome="admitted",
        favourable="yes",
        given="department",
        named_groups="gender = female",
    )
    assert ald.Audit.from_json((tmp_path / "x.json").read_text()) == expected
    assert "Wrote" in result.err


@pytest.mark.parametrize("format_", ["json", "csv", "markdown"])
def test_demo_in_other_formats(run: Any, format_: str) -> None:
    """In other formats the demo prints one document: that of the audit given the department."""
    result = run("demo", "--format", format_)
    options: dict[str, Any] = {"given": "department", "named_groups": "gender = female"}
    audit = audit_flat(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", **options)
    assert result.out == {"json": audit.to_json, "csv": audit.to_csv, "markdown": audit.to_markdown}[format_]()


class TestFormats:
    """What is printed and written."""

    def test_json(self, run: Any, file: Path) -> None:
        """--format json prints the document and nothing else."""
        result = run("audit", file, "--outcome", "y", "--trees", "3", "--format", "json")
        assert result.out == ald.audit(file, outcome="y", search=ald.Search(trees=3)).to_json()
        assert (result.code, result.err) == (0, "")

    def test_csv(self, run: Any, file: Path) -> None:
        """--format csv prints the table."""
        result = run("audit", file, "--outcome", "y", "--trees", "3", "--format", "csv")
        assert result.out == ald.audit(file, outcome="y", search=ald.Search(trees=3)).to_csv()

    def test_markdown(self, run: Any, file: Path) -> None:
        """--format markdown prints the report."""
        result = run("audit", file, "--outcome", "y", "--trees", "3", "--format", "markdown")
        assert result.out == ald.audit(file, outcome="y", search=ald.Search(trees=3)).to_markdown()

    def test_table(self, run: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The table is complete at 80 columns: no p-value is cut."""
        monkeypatch.setenv("COLUMNS", "80")
        result = run("audit", file, "--outcome", "y", "--trees", "3")
        audit = ald.audit(file, outcome="y", search=ald.Search(trees=3))
        assert audit.groups
        for finding in audit.groups:
            assert ald.report.words.p_value(finding.log10_p_adjusted) in result.out
            assert f"{finding.size:,}" in result.out
        assert max(map(len, result.out.splitlines())) <= 80

    def test_several_outputs(self, run: Any, file: Path, tmp_path: Path) -> None:
        """-o may be repeated, and each ending has its format."""
        targets = [tmp_path / f"x.{ending}" for ending in ("json", "csv", "md", "txt", "html", "pdf", "xlsx")]
        options = [part for target in targets for part in ("-o", target)]
        assert run("audit", file, "--outcome", "y", "--trees", "3", *options).code == 0
        audit = ald.audit(file, outcome="y", search=ald.Search(trees=3))
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
        """`ald profile` counts by the columns that --column or a config file names, and prints the tables."""
        config = tmp_path / "c.toml"
        config.write_text('outcome = "y"\ntrees = 3\n[columns]\nsex = "sex"\n')
        options = ["--outcome", "y", "--trees", "3", "--column", "sex=sex"]
        expected = ald.profile("nyc-ll144", file, outcome="y", search=ald.Search(trees=3), columns={"sex": "sex"})
        assert run("profile", "nyc-ll144", file, *options, "--format", "json").out == expected.to_json()
        assert run("profile", "nyc-ll144", file, "--config", config, "--format", "json").out == expected.to_json()
        printed = run("profile", "nyc-ll144", file, *options).out
        assert "Not legal advice" in printed
        assert "Impact ratios by sex" in printed

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (["nyc"], "unknown profile 'nyc'. Did you mean 'nyc-ll144'"),
            (["nyc-ll144"], "--column sex=COLUMN --column race=COLUMN"),
            (["nyc-ll144", "--column", "sex"], "is not of the form ROLE=COLUMN, such as sex=gender"),
        ],
    )
    def test_wrong_profiles(self, run: Any, file: Path, arguments: list[str], problem: str) -> None:
        """A profile that there is not, or without its columns, is refused."""
        result = run("profile", arguments[0], file, "--outcome", "y", *arguments[1:])
        assert (result.code, result.out) == (2, "")
        assert problem in result.err

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
            "--search",
            "paper",
            "--seed",
            "5",
            "--threads",
            "2",
            "--format",
            "json",
        )
        expected = ald.audit(
            ald.source(path, kinds={"group": ["c", "b", "a"]}),
            prediction="predicted",
            truth="true",
            favourable="1",
            attributes=["group", "x"],
            weights="w",
            notion="equalized odds",
            ranking="magnitude",
            groups=2,
            search=ald.Search("paper", trees=4, alpha=0.2),
            level=0.1,
            adjust="by",
            seed=5,
        )
        assert result.out == expected.to_json()


ONLY = ("--search", "none")


class TestNamedGroups:
    """--search none: only groups that the user names."""

    def test_json(self, run: Any, file: Path) -> None:
        """--format json prints the document, whether or not a group differs."""
        result = run(
            "audit",
            file,
            *ONLY,
            "--outcome",
            "y",
            "--named-group",
            "sex = F",
            "--named-group",
            "age > 45",
            "--format",
            "json",
        )
        assert (result.code, result.err) == (0, "")
        assert result.out == ald.audit(file, search="none", named_groups=["sex = F", "age > 45"], outcome="y").to_json()

    def test_table(self, run: Any, file: Path) -> None:
        """The table names every group with its disparity, and no search."""
        result = run("audit", file, *ONLY, "--outcome", "y", "--named-group", "sex = F")
        (found,) = ald.audit(file, search="none", named_groups="sex = F", outcome="y").named_groups
        assert result.code == 0
        told = " ".join(result.out.split())
        assert f"Named group sex = F: {format_signed(found.psi)} points" in told
        assert f"({found.size:,} people, tested on all data)" in told
        assert "trees" not in result.out

    def test_csv(self, run: Any, file: Path) -> None:
        """--format csv prints a row per named group."""
        result = run(
            "audit",
            file,
            *ONLY,
            "--outcome",
            "y",
            "--named-group",
            "sex = F",
            "--named-group",
            "age > 45",
            "--format",
            "csv",
        )
        rows = list(csv.DictReader(io.StringIO(result.out)))
        assert [row["criterion"] for row in rows] == ["sex = F", "age > 45"]

    def test_reports_are_written(self, run: Any, file: Path, tmp_path: Path) -> None:
        """-o writes the report of the named groups."""
        assert (
            run("audit", file, *ONLY, "--outcome", "y", "--named-group", "sex = F", "-o", tmp_path / "x.json").code == 0
        )
        expected = ald.audit(file, search="none", named_groups="sex = F", outcome="y")
        assert ald.Audit.from_json((tmp_path / "x.json").read_text()) == expected

    def test_config(self, run: Any, file: Path, tmp_path: Path) -> None:
        """A config file may name groups and settings; --named-group on the command line wins."""
        config = tmp_path / "c.toml"
        config.write_text('outcome = "y"\ngiven = ["member"]\nnamed_groups = ["sex = F"]\nlevel = 0.01\n')
        options: dict[str, Any] = {"outcome": "y", "given": "member", "level": 0.01}
        result = run("audit", file, *ONLY, "--config", config, "--format", "json")
        assert result.out == audit_flat(file, search="none", named_groups="sex = F", **options).to_json()
        result = run("audit", file, *ONLY, "--config", config, "--named-group", "age > 45", "--format", "json")
        assert result.out == audit_flat(file, search="none", named_groups="age > 45", **options).to_json()

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ([], "name at least one group"),
            (["--named-group", "sx = F"], "Did you mean 'sex'"),
            (["--named-group", "sex = X"], "sex = X"),
            (["--named-group", "sex ="], "sex ="),
            (["--named-group", "age > 1000"], "is empty"),
            (["--named-group", "age > 0"], "is everyone"),
            (["--named-group", "sex = F", "--cluster", "nobody"], "there is no column 'nobody'"),
            (["--named-group", "sex = F", "--survey-weights", "score"], "must not be negative"),
            (["--named-group", "sex = F", "--weights", "score"], "whole numbers"),
            (["--named-group", "sex = F", "--given", "y"], "cannot be both outcome and given"),
            (["--named-group", "sex = F", "--direction", "down"], "unknown direction"),
            (["--named-group", "sex = F", "--given-bins", "0"], "given_bins must be a whole number from 2 on"),
        ],
    )
    def test_bad_groups(self, run: Any, file: Path, tmp_path: Path, options: list[str], problem: str) -> None:
        """What cannot be tested ends with 2, a sentence and no report."""
        result = run("audit", file, *ONLY, "--outcome", "y", *options, "-o", tmp_path / "report.json")
        assert (result.code, result.out) == (2, "")
        assert problem in result.err
        assert "Traceback" not in result.err
        assert not (tmp_path / "report.json").exists()

    def test_options_of_the_search(self, run: Any, file: Path, tmp_path: Path) -> None:
        """Options of the search are refused: nothing is searched."""
        config = tmp_path / "c.toml"
        config.write_text('outcome = "y"\ntrees = 3\n')
        result = run("audit", file, *ONLY, "--config", config, "--named-group", "sex = F")
        assert result.code == 2
        assert "searches nothing, so that the option 'trees' has no effect" in result.err


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
            *("--reference", "sex = M", "--named-group", "age > 45", "--named-group", "age <= 30"),
            *("--fraction", "0.4", "--format", "json"),
        )
        expected = ald.audit(
            path,
            outcome="y",
            search=ald.Search(trees=3),
            given=ald.Given(["score", "member"], bins=3, in_criteria=True),
            cluster="person",
            weights=ald.SurveyWeights("w"),
            favourable="1",
            direction="advantaged",
            reference="sex = M",
            named_groups=["age > 45", "age <= 30"],
            split=ald.Split(fraction=0.4),
        )
        assert result.out == expected.to_json()

    def test_several_notions(self, run: Any, tmp_path: Path) -> None:
        """--notion may be repeated."""
        path = write_csv(tmp_path / "d.csv", decisions())
        roles = ("--prediction", "predicted", "--truth", "true", "--trees", "2")
        names = ["accuracy", "equalized odds"]
        chosen = [part for name in names for part in ("--notion", name)]
        result = run("audit", path, *roles, *chosen, "--format", "json")
        assert (
            result.out
            == ald.audit(path, prediction="predicted", truth="true", search=ald.Search(trees=2), notion=names).to_json()
        )
        assert run("audit", path, *roles, *chosen).code == 0

    def test_several_outcomes_in_a_file(self, run: Any, tmp_path: Path) -> None:
        """--outcome may be repeated; a config file gives each its favourable value."""
        columns = people() | {"z": ["up" if i % 3 else "down" for i in range(600)]}
        path = write_csv(tmp_path / "x.csv", columns)
        config = tmp_path / "c.toml"
        config.write_text('trees = 2\n[favourable]\nz = "up"\n')
        result = run("audit", path, "--outcome", "y", "--outcome", "z", "--config", config, "--format", "json")
        expected = ald.audit(path, outcome=["y", "z"], favourable={"z": "up"}, search=ald.Search(trees=2))
        assert result.out == expected.to_json()

    def test_splits(self, run: Any, tmp_path: Path) -> None:
        """--split names a column; --assess-on a second file, which is never overwritten."""
        paths = [write_csv(tmp_path / f"{i}.csv", people(seed=i)) for i in (1, 2)]
        result = run("audit", paths[0], "--assess-on", paths[1], "--outcome", "y", "--trees", "2", "--format", "json")
        assert result.out == ald.audit(split=tuple(paths), outcome="y", search=ald.Search(trees=2)).to_json()
        both = write_csv(tmp_path / "both.csv", people() | {"half": [1, 2] * 300})
        result = run("audit", both, "--split", "half", "--outcome", "y", "--trees", "2", "--format", "json")
        assert result.out == ald.audit(both, split="half", outcome="y", search=ald.Search(trees=2)).to_json()
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
            (["--named-group", "age > 1000"], "is empty"),
            (["--reference", "age > 0"], "is everyone"),
            (["--fraction", "1"], "fraction must be above 0 and below 1"),
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


def test_engines(run: Any, file: Path) -> None:
    """An engine reads the file; one that there is not is named, with those that there are."""
    asked = ["--outcome", "y", "--attributes", "age,sex", "--trees", "2", "--format", "json"]
    plain, dask = run("audit", file, *asked), run("audit", file, *asked, "--engine", "dask")
    assert (plain.code, dask.code) == (0, 0)
    assert json.loads(dask.out)["groups"] == json.loads(plain.out)["groups"]
    unknown = run("audit", file, *asked, "--engine", "sparck")
    assert (unknown.code, unknown.out) == (2, "")
    assert "Did you mean 'spark'?" in unknown.err


def test_foreign_encodings_are_named(run: Any, tmp_path: Path) -> None:
    """A file in another encoding than UTF-8 is refused with the advice to save it as UTF-8."""
    path = tmp_path / "latin.csv"
    path.write_bytes(("name,y\n" + "Müller,1\nGroß,0\n" * 50).encode("utf-16"))
    shown = run("audit", path, "--outcome", "y")
    assert shown.code == 2
    assert "UTF-8" in shown.err


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "jsonl"])
def test_standard_input(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """What is piped into the command is audited as the file that it is, whatever its format, and nothing is left."""
    data, plain = tmp_path / f"x.{kind}", write_csv(tmp_path / "plain.csv", people(300))
    written = {"csv": "csv", "csv.gz": "csv", "parquet": "parquet", "jsonl": "json"}[kind]
    duckdb.sql(f"COPY (FROM read_csv('{plain}')) TO '{data}' (FORMAT {written})")
    (tmp_path / "left").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "left"))
    options = ("--outcome", "y", "--trees", "2", "--format", "csv")
    with data.open() as piped:
        monkeypatch.setattr("sys.stdin", piped)
        result = run("audit", "-", *options)
    assert (result.code, result.out) == (0, run("audit", plain, *options).out)
    assert not list((tmp_path / "left").iterdir())


def test_nothing_on_standard_input(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without anything piped into it the command does not wait."""
    monkeypatch.setattr("sys.stdin", None)
    result = run("audit", "-", "--outcome", "y")
    assert result.code == 2
    assert "nothing comes from standard input" in result.err


def test_several_files(run: Any, tmp_path: Path) -> None:
    """Files that are named one after the other are audited together, and no report takes the place of one of them."""
    columns = people(300)
    halves = [{name: values[i::2] for name, values in columns.items()} for i in range(2)]
    paths = [write_csv(tmp_path / f"{i}.csv", half) for i, half in enumerate(halves)]
    whole = write_csv(tmp_path / "whole.csv", columns)
    options = ("--outcome", "y", "--trees", "2", "--format", "csv")
    assert run("audit", *paths, *options).out == run("audit", whole, *options).out
    result = run("audit", *paths, *options, "-o", paths[1])
    assert result.code == 2
    assert "would overwrite the data" in result.err
