"""The documentation is true: its examples run, and what it names exists; what exists is documented."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import re
import runpy
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import ald
from ald.cli.main import cli
from ald.cli.options import read_config
from ald.options.table import OPTIONS, Option
from tests.results.test_comparison import scored
from tests.watching.test_watching import decisions as watched

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
COMMANDS = {name: cli.commands[name] for name in sorted(cli.commands)}

# Their examples need packages that are no part of the development tools: `make test-integrations` runs them.
INTEGRATIONS = ("mitigation.md",)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def read(page: Path) -> str:
    return page.read_text("utf-8")


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks of a page in one of these languages."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [body for language, body in found if language in languages]


def inline(text: str) -> list[str]:
    """What stands between backticks in running text."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", prose)


def keys(value: Any, skip: frozenset[str]) -> Iterator[str]:
    """All keys of nested dictionaries, but for those inside the entries to skip."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield key
            if key not in skip:
                yield from keys(entry, skip)
    elif isinstance(value, list):
        for entry in value:
            yield from keys(entry, skip)


@each_page
def test_python_examples_run(page: Path) -> None:
    """Every Python example of a page is a doctest session that gives what the page shows."""
    if page.name in INTEGRATIONS:
        pytest.skip("make test-integrations runs it")
    examples = blocks(read(page), "python")
    assert all(example.lstrip().startswith(">>>") for example in examples)
    # A session ends at an empty line, as in the source of the page.
    test = doctest.DocTestParser().get_doctest("\n".join(examples), {}, page.name, str(page), 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.failed == 0, "".join(report)


def test_front_page_has_examples() -> None:
    """The README shows Python that is run, and shell commands."""
    assert blocks(read(ROOT / "README.md"), "python")
    assert blocks(read(ROOT / "README.md"), "sh")


def test_front_page_promises_demo_then_test() -> None:
    """The README's first commands are `make demo` and `make test`."""
    lines = "".join(blocks(read(ROOT / "README.md"), "sh")).splitlines()
    assert lines[:2] == ["make demo", "make test"]


def test_command_reference_is_generated() -> None:
    """docs/cli.md holds exactly what its generator makes of the current --help."""
    generator = runpy.run_path(str(ROOT / "docs" / "generate_cli.py"))
    page = read(ROOT / "docs" / "cli.md")
    assert page == generator["replaced"](page, generator["generated"]()), "run docs/generate_cli.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    """Every command has a section in docs/cli.md that names all its options and arguments."""
    section = read(ROOT / "docs" / "cli.md").split(f"### ald {name}\n")[1].split("### ald ")[0]
    for parameter in COMMANDS[name].params:
        names = parameter.opts if isinstance(parameter, click.Option) else [str(parameter.name).upper()]
        assert all(option in section for option in names)


@each_page
def test_command_lines_parse(page: Path) -> None:
    """Every `ald` command line of a page has a known command, known options and values of the right type."""
    for line in "".join(blocks(read(page), "sh")).splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["ald"]:
            parent = click.Context(cli, **cli.context_settings)
            COMMANDS[words[1]].make_context(words[1], words[2:], parent=parent)


def test_config_example_is_accepted(tmp_path: Path) -> None:
    """The config file that docs/cli.md shows is one that the command reads."""
    (example,) = blocks(read(ROOT / "docs" / "cli.md"), "toml")
    path = tmp_path / "audit.toml"
    path.write_text(example, "utf-8")
    assert read_config(str(path), "audit")["kinds"]["size"] == ["S", "M", "L"]


@pytest.mark.parametrize("name", ald.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    """docs/python.md names everything that the package exports."""
    assert re.search(rf"\bald\.{name}\b", read(ROOT / "docs" / "python.md"))


@pytest.mark.parametrize("option", [option for option in OPTIONS if option.form != "object"], ids=lambda o: o.key)
def test_every_option_is_documented(option: Option) -> None:
    """The pages of the interface name every option of the table, as a keyword or on the command line."""
    pages = " ".join(read(ROOT / "docs" / f"{name}.md") for name in ("python", "audits", "profiles", "cli"))
    is_first = option.is_parameter or option.attribute == "column"  # of its object, and goes without a keyword
    assert option.flag in pages
    assert f"{option.parameter if is_first else option.attribute}=" in pages


@each_page
def test_dotted_names_exist(page: Path) -> None:
    """Every dotted name of the package that a page mentions is a module or an attribute of one."""
    for text in inline(read(page)):
        match = re.match(r"ald(\.\w+)+", text)
        if match:
            assert resolves(match.group()), text


def resolves(dotted: str) -> bool:
    found: Any = ald
    name = "ald"
    for part in dotted.split(".")[1:]:
        name = f"{name}.{part}"
        try:
            found = importlib.import_module(name)
        except ModuleNotFoundError:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
    return True


@pytest.mark.parametrize("benchmark", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_benchmarks_import_what_there_is(benchmark: Path) -> None:
    """What a benchmark imports of the package is there, whether or not the other libraries that it needs are."""
    for node in ast.walk(ast.parse(read(benchmark))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "ald":
            for alias in node.names:
                assert resolves(f"{node.module}.{alias.name}"), f"{node.module}.{alias.name}"


def test_tables_of_modules_are_generated() -> None:
    """docs/architecture.md describes every folder and module of the package, in the words of the module itself."""
    generator = runpy.run_path(str(ROOT / "docs" / "generate_modules.py"))
    page = read(ROOT / "docs" / "architecture.md")
    assert page == generator["written"](page), "run docs/generate_modules.py"


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    """Every link of a page leads to a file of the project."""
    for target in re.findall(r"\]\(([^)]+)\)", read(page)):
        assert (page.parent / target.partition("#")[0]).exists(), target


@each_page
def test_named_files_exist(page: Path) -> None:
    """Every file or folder of the project that a page names is there."""
    named = r"(?:src|docs|tests|benchmarks)/[\w./-]*|[A-Z]+\.md|Makefile|LICENSE|pyproject\.toml|setup\.py"
    for text in inline(read(page)):
        for path in re.findall(rf"(?<![\w./-])(?:{named})(?![\w/])", text):
            assert (ROOT / path).exists(), path


@each_page
def test_named_make_targets_exist(page: Path) -> None:
    """Every make target that a page names is one of the Makefile's."""
    targets = set(re.findall(r"^([\w-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    text = "\n".join([*inline(read(page)), *blocks(read(page), "sh")])
    assert set(re.findall(r"^make ([\w-]+)", text, re.MULTILINE)) <= targets


def run_make(folder: Path, *arguments: str) -> str:
    """What make prints."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    # An outer make tells its children about itself; this one is not its child.
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in outer}
    done = subprocess.run([make, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("target", "installs", "runs"), [("demo", "'.'", "ald demo"), ("test", "'.[dev]'", "pytest")])
def test_make_installs_what_a_target_needs(target: str, installs: str, runs: str, tmp_path: Path) -> None:
    """From a fresh clone the demonstration installs what users install, and the tests everything, once."""
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, tmp_path)
    planned = run_make(tmp_path, "-n", target)
    assert re.findall(r"--editable (\S+)", planned) == [installs]
    assert runs in planned


def test_make_notices_changed_kernels() -> None:
    """Whatever the kernels are built from is a reason to install again."""
    sources = set(run_make(ROOT, "--eval", "sources:;@echo $(SOURCES)", "sources").split())
    kernels = {str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.[ch]")}
    assert kernels
    assert sources == kernels | {"pyproject.toml", "setup.py"}


def test_changelog_names_the_version() -> None:
    """The newest entry of the changelog is the current version."""
    newest = re.search(r"^## (\S+)", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == ald.__version__


@pytest.mark.parametrize("notion", ald.NOTIONS.values(), ids=lambda notion: notion.name)
def test_every_notion_is_in_the_method(notion: ald.Notion) -> None:
    """docs/method.md has a row for every notion, with all its rates and what it needs."""
    (row,) = re.findall(rf"^\| {notion.name} \|.*$", read(ROOT / "docs" / "method.md"), re.MULTILINE)
    assert all(f"{rate.key}:" in row for rate in notion.rates)
    assert ("| an outcome" in row) != notion.needs_truth


def test_constants_in_the_method() -> None:
    """docs/method.md gives the constants of the search and of the tests as they are in the code."""
    rows = re.findall(r"^\| `(ald\.[\w.]+)\.(\w+)` \| ([\d./]+) \|", read(ROOT / "docs" / "method.md"), re.MULTILINE)
    assert rows
    for module, name, value in rows:
        assert getattr(importlib.import_module(module), name) == pytest.approx(float(Fraction(value))), name


def test_the_factor_of_several_rates_against_a_threshold() -> None:
    """The pages say that p is multiplied by 2^R for R rates, as `ald.assess.threshold` does, and not by 2R."""
    for page, words in (("method", "p is multiplied by 2^R for R rates"), ("audits", "p times 2^R for R rates")):
        assert words in " ".join(read(ROOT / "docs" / f"{page}.md").split())


def test_every_key_of_the_document_is_documented() -> None:
    """docs/schema.md names every key of the documents of both kinds of audits."""
    rng = np.random.default_rng(0)
    n = 1000
    age, truth = rng.integers(18, 90, n), rng.integers(0, 2, n)
    wrong = rng.random(n) < np.where(age > 50, 0.5, 0.1)
    columns = {"age": age, "sex": rng.choice(["F", "M"], n), "same": ["x"] * n, "truth": truth, "said": truth ^ wrong}
    audits = [
        ald.profile(
            "nyc-ll144", ald.datasets.load_berkeley(), outcome="admitted", favourable="yes", columns={"sex": "gender"}
        ),
        ald.audit(columns, prediction="said", truth="truth", notion="equalized odds"),
        ald.audit(columns, outcome="said", given="sex", named_groups="age > 50", seed=1),
    ]
    # Dictionaries by rate, by position in a list or by names of the user, not by key.
    keyed = frozenset({"parts", "rates_inside", "rates_outside", "ratios", "part_intervals", "sides", "columns"})
    page = set(inline(read(ROOT / "docs" / "schema.md")))
    for audit in audits:
        assert audit.groups
        assert set(keys(audit.to_dict(), keyed)) - page == set()


def test_every_key_of_comparisons_and_watches_is_documented() -> None:
    """docs/schema.md names every key of their documents."""
    results = [
        ald.compare(scored(2000), predictions=["old", "new"], truth="repaid"),
        ald.watch(watched(n=60), by="month", named_groups="sex = f", outcome="approved"),
    ]
    page = set(inline(read(ROOT / "docs" / "schema.md")))
    for result in results:
        assert set(keys(result.to_dict(), frozenset({"overall", "cells"}))) - page == set()
