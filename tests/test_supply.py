"""What development and CI install: by hash, with licences that go with ours."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements" / "dev.lock").read_text("utf-8")
PAGE = (ROOT / "docs" / "licences.md").read_text("utf-8")
# What a licence of a package may be: none of these asks anything of who only uses it.
KNOWN = ("MIT", "BSD", "Apache", "MPL", "Mozilla", "PSF", "ISC", "Zlib", "CC0", "Python Software Foundation")


@pytest.fixture
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_lock", ROOT / "docs" / "generate_lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_package_is_pinned_by_hash() -> None:
    """A line is a name, a version and a SHA-256, and no line says where a file came from."""
    lines = [line for line in LOCK.splitlines() if not line.startswith("#")]
    assert len(lines) > 50
    assert all(re.fullmatch(r"[\w.-]+==[\w.+-]+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert "//" not in LOCK


def test_what_is_asked_for_is_locked() -> None:
    """Every package that pyproject.toml names is in the lock file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    names = {plain(re.split(r"[\[<>=!~ ]", one)[0]) for one in asked} - {"ald-audit"}
    assert names <= {plain(line.partition("==")[0]) for line in LOCK.splitlines()}


def test_licences_are_listed_and_known(made: ModuleType) -> None:
    """The page has every locked package with a licence that goes with ours."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and "| version |" not in line]
    rows = [line.strip("| ").split(" | ") for line in lines]
    listed = {plain(row[0]): row[2] if len(row) > 2 else "" for row in rows}
    for name in made.names_in(LOCK):
        if name not in ("setuptools", "wheel"):
            assert any(known in listed[plain(name)] for known in KNOWN), name


def test_a_lock_names_nothing_but_files(made: ModuleType) -> None:
    """What pip reports becomes names, versions and hashes, in order."""
    found = [
        {
            "metadata": {"name": name, "version": "1.0"},
            "download_info": {"url": "https://x/y.whl", "archive_info": {"hashes": {"sha256": "0" * 64}}},
        }
        for name in ("b", "A")
    ]
    pin = f"==1.0 --hash=sha256:{'0' * 64}"
    assert made.lock(found, "here").splitlines()[1:] == [f"A{pin}", f"b{pin}"]
    assert made.names_in(made.lock(found, "here")) == ["A", "b"]
