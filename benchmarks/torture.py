"""`make torture`: what must never happen, tried as often as time allows, and docs/reliability.md written from it.

It needs no rights and touches no device. Every check runs in a process of its own, below a limit of memory, two at a
time, and stops when time is up: its number of tries says so. What a machine lacks is skipped, and said. Same seed,
same tries.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import os
import platform
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.torturing import browsers, commands, engines, inside, kernels, processes
from benchmarks.torturing.checking import MEMORY, ROOT, Check, environment

import ald

PAGE = ROOT / "docs" / "reliability.md"
PROCESSES = 2

# What is tried, and how often at full size; kernels, forks, changing files, pages and audits in one process many at a
# time. What needs least comes first: what it leaves of its share of the time is for the others.
CHECKS: dict[str, tuple[Callable[[Check, random.Random, Path], None], int]] = {
    "page": (commands.serving, 500),
    "PostgreSQL": (engines.postgresql, 40),
    "Dask": (engines.dask_partitions, 60),
    "keywords": (inside.keywords, 2600),
    "changing files": (processes.replaced, 25),
    "forks": (processes.forks, 10),
    "threads": (processes.together, 25),
    "locales": (processes.locales, 60),
    "browser": (browsers.pages, 8),
    "Spark": (engines.spark_partitions, 10),
    "hostile names": (browsers.names, 100),
    "outputs": (processes.outputs, 200),
    "streams": (processes.streams, 120),
    "documents": (inside.documents, 3600),
    "memory": (inside.memory, 50),
    "commands": (commands.commands, 800),
    "kills": (processes.kills, 200),
    "files": (inside.files, 2500),
    "kernels": (kernels.kernels_under_sanitizers, 60),
    "small groups": (inside.small_groups, 400),
}
# At least half of what these damage must be readable, so that what comes after reading is tried.
READABLE = ("files", "commands")
# Sanitizers, browsers and Java set apart far more addresses than they use: what they use is limited, or they limit it.
OWN_LIMIT, OF_DATA = ("kernels",), ("browser", "Spark")


def run_check(name: str, share: float, seed: int, end: float) -> Check:
    """One check, until so large a share of its tries is done, or time is up."""
    run, tries = CHECKS[name]
    check, rng = Check(name), random.Random(f"{seed} {name}")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as folder:
        for _ in range(max(1, round(tries * share))):
            run(check, rng, Path(folder))
            if time.time() > end:
                check.note = f"{check.note}; time was up".lstrip("; ")
                break
            if check.note.startswith("skipped"):
                break
    check.seconds = time.monotonic() - start
    if name in READABLE and 2 * check.refused > check.tries > 100:
        check.failures["more than half could not be read"] += 1
    return check


def limit_memory(name: str) -> None:
    """Limits what this process and its children may have."""
    if name not in OWN_LIMIT:
        kind = resource.RLIMIT_DATA if name in OF_DATA else resource.RLIMIT_AS
        resource.setrlimit(kind, (MEMORY, MEMORY))


def torture(share: float, minutes: float, seed: int, names: list[str]) -> list[Check]:
    """All checks, each in a process of its own."""
    end = time.time() + 60 * minutes

    def work(number: int) -> Check:
        name, now = names[number], time.time()
        own = now + max(end - now, 0) * PROCESSES / max(len(names) - number, PROCESSES)
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            result, said = Path(folder, "result"), Path(folder, "said")
            command = [sys.executable, "-m", "benchmarks.torture", "--inside", str(result), "--only", name, "--share",
                       str(share), "--seed", str(seed), "--end", str(own)]  # fmt: skip
            with said.open("wb") as file:
                done = subprocess.run(command, env=environment(), stdout=file, stderr=file, cwd=ROOT)
            if done.returncode == 0 and result.exists():
                check = Check.read(result.read_text("utf-8"))
            else:
                check = Check(name)
                lines = said.read_text("utf-8", "replace").strip().splitlines()
                check.failures[f"its process ended with {done.returncode}: {lines[-1:]}"] += 1
        print(table([check]).splitlines()[-1], flush=True)
        return check

    with ThreadPoolExecutor(PROCESSES) as pool:
        return list(pool.map(work, range(len(names))))


def added(kept: Path, checks: list[Check]) -> list[Check]:
    """The results in the file, with these added to them, there and here."""
    known = [Check.read(line) for line in kept.read_text("utf-8").splitlines()] if kept.exists() else []
    by_name = {one.name: one for one in known}
    for one in checks:
        if one.name in by_name:
            by_name[one.name].add(one)
        else:
            by_name[one.name] = one
    found = [by_name[name] for name in CHECKS if name in by_name]
    kept.write_text("".join(f"{one.dump()}\n" for one in found), "utf-8")
    return found


def table(checks: list[Check]) -> str:
    """What was tried, how often, how often it was refused in words, and what failed."""
    lines = ["| check | tries | refused in words | failed | seconds | what failed, and notes |",
             "|---|--:|--:|--:|--:|---|"]  # fmt: skip
    for one in checks:
        common = [f"{text} ({n})" for text, n in one.failures.most_common(5)]
        what = "; ".join([*common, *filter(None, [one.note])])
        what, failed = what.replace("|", "\\|").replace("\n", " "), sum(one.failures.values())
        lines.append(f"| {one.name} | {one.tries:,} | {one.refused:,} | {failed:,} | {one.seconds:,.0f} | {what} |")
    return "\n".join(lines)


def page(checks: list[Check]) -> str:
    """docs/reliability.md."""
    told = "\n".join(f"- *{name}*: {(run.__doc__ or '').strip()}" for name, (run, _) in CHECKS.items())
    software = f"ALD {ald.__version__}, Python {platform.python_version()} on {platform.system()}"
    spent = sum(one.seconds for one in checks) / 60
    when = f"{datetime.date.today().isoformat()}, {spent:,.0f} minutes of {PROCESSES} processes, {software}"
    total, failed = sum(one.tries for one in checks), sum(sum(one.failures.values()) for one in checks)
    return "\n\n".join(
        [
            "# Reliability: what was tried",
            "`make torture` tries what must never happen: an error that is no sentence, a report that is half there,\n"
            "or that says what of few people must not be told, data that acts. It needs no rights and no device.\n"
            "This page is its last run; continuous integration runs a small part of it.",
            told,
            f"Run on {when}:\n{total:,} tries, {failed:,} failed. Refused in words is what ends with an error of ALD's "
            "own: what is no data or no\nsetting is told so. Of kernels these are errors of Python that refuse an "
            "argument.",
            table(checks) + "\n",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=55.0)
    parser.add_argument("--share", type=float, default=1.0, help="share of the tries")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--write", action="store_true", help="write docs/reliability.md")
    parser.add_argument("--kept", help="a file of results, to which those of this run, of another seed, are added")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--end", type=float, default=0.0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        (name,) = asked.only
        limit_memory(name)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            check = run_check(name, asked.share, asked.seed, asked.end)
        Path(asked.inside).write_text(check.dump(), "utf-8")
        return 0
    kept = Path(asked.kept) if asked.kept else None
    found = torture(asked.share, asked.minutes, asked.seed, [name for name in CHECKS if name in (asked.only or CHECKS)])
    if kept:
        found = added(kept, found)
    print(table(found))
    if asked.write:
        PAGE.write_text(page(found), encoding="utf-8")
    return 1 if any(one.failures for one in found) else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
