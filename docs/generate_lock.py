"""Writes requirements/dev.lock: every package of development and CI by version and hash; and docs/licences.md.

Run it in an environment that is up to date: .venv/bin/python docs/generate_lock.py
pip reports which files it would install of the installed versions, and their hashes, on this platform.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK, PAGE = ROOT / "requirements" / "dev.lock", ROOT / "docs" / "licences.md"
OWN = ("ald-audit", "pip", "setuptools")
BUILD = ("setuptools>=77", "wheel")


def installed() -> list[str]:
    """The packages of this environment with their versions, but for what comes with every environment."""
    found = {name_of(each): each.version for each in metadata.distributions()}
    return [f"{name}=={version}" for name, version in sorted(found.items()) if name not in OWN]


def name_of(each: metadata.Distribution) -> str:
    return re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower()


def missing() -> list[str]:
    """What pyproject.toml asks for and this environment lacks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    have = {line.partition("==")[0] for line in installed()} | set(OWN)
    return [one for one in asked if re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~ ]", one)[0]).lower() not in have]


def report(packages: Iterable[str], *options: str) -> list[dict[str, Any]]:
    """What pip would install for these, as it reports it."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, told = Path(folder, "wanted.txt"), Path(folder, "report.json")
        wanted.write_text("\n".join(packages))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", *options]
        subprocess.run([*command, "--report", str(told), "-r", str(wanted)], check=True)  # noqa: S603 - pip itself
        return list(json.loads(told.read_text())["install"])


def lock(found: Iterable[dict[str, Any]], where: str) -> str:
    """The lock file: names, versions and hashes, and nothing of where the files came from."""
    lines = [f"# Made by docs/generate_lock.py for {where}; installed with --require-hashes: no file can be another."]
    for entry in sorted(found, key=lambda each: each["metadata"]["name"].casefold()):
        hashes = entry["download_info"]["archive_info"]["hashes"]
        lines.append(f"{entry['metadata']['name']}=={entry['metadata']['version']} --hash=sha256:{hashes['sha256']}")
    return "\n".join(lines) + "\n"


def licences(names: Iterable[str]) -> str:
    """The page of licences: what the packages say of themselves, as far as they are installed."""
    lines = [
        "# Licences of what ALD stands on",
        "",
        "ALD itself is under the MIT licence. These are the packages of development and CI; users install those that",
        "`pyproject.toml` names, and what these need. Licences are those that the packages name themselves. Made by",
        "`docs/generate_lock.py`.",
        "",
        "| package | version | licence |",
        "|---|---|---|",
    ]
    for name in names:
        told = metadata.metadata(name)
        lines.append(f"| {told['Name']} | {told['Version']} | {licence_of(told)} |")
    return "\n".join(lines) + "\n"


def licence_of(told: Any) -> str:
    """The licence that a package names: as an expression, by its classifiers, or as text of one line."""
    classified = [
        line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or () if line.startswith("License ::")
    ]
    text = (told["License"] or "").strip()
    return told["License-Expression"] or ", ".join(classified) or (text if text and "\n" not in text else "see package")


def names_in(text: str) -> list[str]:
    """The packages of a lock file."""
    return [line.partition("==")[0] for line in text.splitlines() if not line.startswith("#")]


if __name__ == "__main__":
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = report([*installed(), *BUILD], "--no-deps")
    known = {entry["metadata"]["name"] for entry in found}
    found += [entry for entry in (report(missing()) if missing() else []) if entry["metadata"]["name"] not in known]
    LOCK.parent.mkdir(exist_ok=True)
    LOCK.write_text(lock(found, f"Python {version} on {platform.system()} {platform.machine()}"), encoding="utf-8")
    own = [name for name in names_in(LOCK.read_text("utf-8")) if name not in ("setuptools", "wheel")]
    PAGE.write_text(licences(own), encoding="utf-8")
