"""`make torture`: what must never happen, tried as often as time allows, and docs/reliability.md written from it.

It needs no rights, touches no device, keeps below a limit of memory, and ends after `--minutes`. Each check says how
many it tried and what failed; a check that was cut short says so by its number. Same seed, same tries.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import datetime
import gzip
import io
import json
import os
import platform
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ald
from ald.results.audit import Audit

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
# Seconds that one try may take, and bytes that all of it may use.
PATIENCE, MEMORY = 60, 6 * 2**30


class TooSlowError(BaseException):
    """A try took too long."""


def people(n: int = 300, seed: int = 0) -> dict[str, Any]:
    """A table with every kind of column."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    return {
        "sex": rng.choice(["f", "m"], n).tolist(),
        "age": age.tolist(),
        "job": rng.choice(["a", "b", "c", "d"], n).tolist(),
        "day": [str(np.datetime64("2026-01-01") + int(d)) for d in rng.integers(0, 300, n)],
        "y": (rng.random(n) < np.where(age > 45, 0.7, 0.35)).astype(int).tolist(),
    }


def as_csv(columns: dict[str, Any]) -> bytes:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


class Check:
    """One kind of torture: how many tries, how many of them were refused in words, and what failed."""

    def __init__(self, name: str) -> None:
        self.name, self.tries, self.refused, self.seconds, self.failures = name, 0, 0, 0.0, collections.Counter[str]()

    def attempt(self, what: str, run: Callable[[], Any]) -> None:
        """Runs one try: whatever ends it but an AldError is a failure."""
        self.tries += 1
        signal.alarm(PATIENCE)
        try:
            run()
        except ald.AldError as error:
            self.refused += 1
            str(error)
        except TooSlowError:
            self.failures[f"{what}: more than {PATIENCE} s"] += 1
        except AssertionError as error:
            self.failures[f"{what}: {str(error)[:80]}"] += 1
        except BaseException as error:  # whatever it is, it must not reach a user
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f"{os.sep}ald{os.sep}" in f.filename]
            place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "elsewhere"
            self.failures[f"{what}: {type(error).__name__} in {place}"] += 1
        finally:
            signal.alarm(0)


def _render(audit: Audit, formats: tuple[str, ...] = ("text", "html", "json", "markdown", "csv")) -> None:
    made = {"text": audit.__str__, "html": audit.to_html, "json": audit.to_json, "markdown": audit.to_markdown,
            "csv": audit.to_csv, "excel": audit.to_excel, "pdf": audit.to_pdf}  # fmt: skip
    for name in formats:
        made[name]()


def files(check: Check, rng: random.Random, folder: Path) -> None:
    """Damaged and odd files: bytes changed, lines cut, repeated or quoted, other encodings, compressed or not."""
    data = bytearray(as_csv(people(300, rng.randrange(5))))
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        at = rng.randrange(len(data))
        way = rng.randrange(6)
        if way == 0:
            data[at] = rng.randrange(256)
        elif way == 1:
            del data[at : at + rng.randrange(1, 40)]
        elif way == 2:
            data[at:at] = data[at : at + rng.randrange(1, 400)]
        elif way == 3:
            data[at:at] = rng.choice([b'"', b"\0", b"\r", b"\n", b"\xff", b"\xef\xbb\xbf", b",,", b"NaN", b"1e999"])
        elif way == 4:
            data[at:at] = b"x" * rng.randrange(5000)
        else:
            data = data[: rng.randrange(len(data)) + 1]
    ending = rng.choice([*[".csv"] * 9, ".tsv", ".csv.gz", ".jsonl", ".parquet"])
    name = rng.choice(["d", "k=v", "~d", "a*b", "q'uote", 'do"uble', "new\nline", "[x]", "ü", "-d"])
    path = folder / f"{name}{ending}"
    content = bytes(data)
    path.write_bytes(gzip.compress(content)[: rng.choice([None, None, 50])] if ending.endswith("gz") else content)
    check.attempt(
        ending, lambda: _render(ald.audit(str(path), outcome="y", search=ald.Search(trees=2), split="random"))
    )


_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**63, -(2**63), 10**400, 0.5, float("nan"), float("inf"), "", "sex", "nosuch",
    "a\0b", "\ud800", "x" * 10000, "a\nb", b"sex", [], ["sex"], [1], [None], [["sex"]], (), {}, {"sex": "nominal"},
    {1: 2}, set(), object(), int, lambda *a: None, np.array(5), np.array(["sex", "age"]), np.zeros((3, 2)),
    np.int64(3), np.str_("sex"), 1j, datetime.date(2020, 1, 1), range(3), ..., ald.Split(repeats=2**63),
    ald.Given("age", bins=2**63), ald.SurveyWeights("y"), ald.Search(trees=2**63), ald.Criterion.parse("sex = f"),
]  # fmt: skip


def keywords(check: Check, rng: random.Random, folder: Path) -> None:
    """Every keyword with every kind of value."""
    import inspect

    names = [name for name in inspect.signature(ald.audit).parameters if name not in ("data", "progress")]
    name, value = rng.choice(names), rng.choice(_VALUES)
    options = {"outcome": "y", "search": ald.Search(trees=2), name: value}
    given = None if name == "split" and isinstance(value, tuple) else people(200)
    check.attempt(name, lambda: ald.audit(given, **options))


def documents(check: Check, rng: random.Random, folder: Path) -> None:
    """Documents with a value changed, removed, repeated or moved: refused, or rendered whole."""
    text = _DOCUMENTS[rng.randrange(len(_DOCUMENTS))] if _DOCUMENTS else ""
    if not text:
        ways: tuple[dict[str, Any], ...] = (
            {"split": "random"},
            {"split": "none"},
            {"search": "none", "named_groups": "sex = f"},
        )
        for options in ways:
            audit = ald.audit(people(400), outcome="y", **options)
            _DOCUMENTS.append(audit.to_json())
        text = _DOCUMENTS[0]
    document = json.loads(text)
    parent, key = rng.choice(list(_places(document)))
    way = rng.randrange(4)
    if way == 0:
        del parent[key]
    elif way == 1 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif way == 2 and isinstance(parent[key], (int, float)):
        parent[key] += rng.choice([-1, 1, 0.25, 1e308])
    else:
        parent[key] = rng.choice([None, -1, 2**62, 1e308, "", "x" * 999, [], {}, True, [None], "\ud800"])

    def read() -> None:
        audit = Audit.from_json(json.dumps(document))
        try:
            _render(audit, ("text", "html", "json", "markdown", "csv", "excel"))
        except ald.AldError as error:
            raise AssertionError(f"read, and refused later: {error}") from None

    check.attempt("document", read)


_DOCUMENTS: list[str] = []


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def kills(check: Check, rng: random.Random, folder: Path) -> None:
    """The command killed at any moment, while it writes PDF and Excel too: no report is half there."""
    data = folder / "kill.csv"
    if not data.exists():
        data.write_bytes(as_csv(people(3000)))
    targets = [folder / f"kill.{ending}" for ending in ("html", "json", "xlsx", "pdf")]
    command = [sys.executable, "-m", "ald", "audit", str(data), "--outcome", "y", "--trees", "5"]
    for target in targets:
        command += ["-o", str(target)]
    whole = {target: target.read_bytes() for target in targets if target.exists()}

    def run() -> None:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.2, 4.0))
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.wait(20)
        for target in targets:
            if target.exists():
                end = target.read_bytes()[-16:]
                ended = {".html": b"</html>", ".json": b"}\n", ".xlsx": b"PK\x05\x06", ".pdf": b"%%EOF"}[target.suffix]
                content = target.read_bytes()
                assert ended in (content[-64:] if target.suffix != ".html" else end), f"half of a {target.suffix}"
        assert set(whole) <= {target for target in targets if target.exists()}, "a report is gone"

    check.attempt("kill", run)


def names(check: Check, rng: random.Random, folder: Path) -> None:
    """Hostile names of columns and levels in every format: nothing of them is markup or a formula."""
    hostile = [
        "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "=cmd|' /C calc'!A0", "\x1b[31mred",
        "#let x = 1", "$a$ `b` *c*", "a|b", '"; DROP TABLE x; --', "\u202egnp", "@SUM(1)", "x\ny",
    ]  # fmt: skip
    one, two, three = rng.sample(hostile, 3)
    columns = people(600, rng.randrange(9))
    told = {one: [two if sex == "f" else three for sex in columns["sex"]], "age": columns["age"], "y": columns["y"]}

    def run() -> None:
        audit = ald.audit(told, outcome="y", named_groups=[ald.Criterion.parse("age > 40")], search=ald.Search(trees=2))
        page = audit.to_html()
        assert "<script>alert" not in page, "a script in HTML"
        assert "<img src=x" not in page, "an element in HTML"
        assert "\x1b" not in str(audit), "a control character on the terminal"
        assert not any(line.startswith(("=", "@", "+")) for line in audit.to_csv().splitlines()), "a formula in CSV"
        _render(audit, ("markdown", "excel", "json", "pdf"))

    check.attempt("names", run)


def streams(check: Check, rng: random.Random, folder: Path) -> None:
    """The command with streams that are closed, full or left early, under locales and -O."""
    data = folder / "stream.csv"
    data.write_bytes(as_csv(people(300)))
    way = rng.choice([">&-", "2>&-", ">&- 2>&-", "> /dev/full", "| true", "| head -1", "<&-", ""])
    locale, optimised = rng.choice(["C", "C.UTF-8", "POSIX"]), rng.choice(["", "-O"])
    form = rng.choice(["table", "json", "csv", "markdown"])
    line = f"{sys.executable} {optimised} -m ald audit {data} --outcome y --trees 2 --format {form} {way}"

    def run() -> None:
        environment = {**os.environ, "LC_ALL": locale}
        command = ["bash", "-c", f"set -o pipefail; {line}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)
        assert "Traceback" not in done.stderr, "a traceback"
        assert done.returncode in ((0, 2) if "full" in way else (0,)), f"exit code {done.returncode}"

    check.attempt(way or "plain", run)


def threads(check: Check, rng: random.Random, folder: Path) -> None:
    """Any number of threads gives the same document."""
    columns, seed = people(rng.choice([300, 3000]), rng.randrange(99)), rng.randrange(99)
    options: dict[str, Any] = {"outcome": "y", "seed": seed, "split": rng.choice(["random", "none"])}

    def run() -> None:
        told = {ald.audit(ald.source(columns, threads=n), **options).to_json() for n in (1, 2, 7)}
        assert len(told) == 1, "threads differ"

    check.attempt("threads", run)


def small_groups(check: Check, rng: random.Random, folder: Path) -> None:
    """Tables with groups of few people: no number below the limit in any format."""
    from tests.results.small_groups import random_audit, violations

    seed = rng.randrange(10**6)

    def run() -> None:
        audit, columns = random_audit(seed)
        found = violations(audit, columns, ("text", "markdown", "csv", "html", "json", "notebook", "excel"))
        assert not found, f"table {seed}: {found[:2]}"

    check.attempt("table", run)


def memory(check: Check, rng: random.Random, folder: Path) -> None:
    """Audit after audit in one process: its memory stays flat."""
    columns = people(300)

    def run() -> None:
        for _ in range(20):
            ald.audit(columns, outcome="y", split="random", search=ald.Search(trees=2)).to_html()
        now = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        _PEAKS.append(now)
        grown = now - _PEAKS[min(3, len(_PEAKS) - 1)]
        assert grown < 200_000, f"{grown // 1000} MB more than at first"

    check.attempt("20 audits", run)


_PEAKS: list[int] = []

CHECKS: dict[str, tuple[Callable[[Check, random.Random, Path], None], int]] = {
    "files": (files, 4000),
    "keywords": (keywords, 2500),
    "documents": (documents, 4000),
    "small groups": (small_groups, 1000),
    "hostile names": (names, 200),
    "threads": (threads, 100),
    "streams": (streams, 150),
    "kills": (kills, 200),
    "memory": (memory, 50),
}


def torture(share: float, minutes: float, seed: int = 0, only: tuple[str, ...] = ()) -> list[Check]:
    """All checks: so large a share of their tries, and no longer than that, time shared out evenly."""
    signal.signal(signal.SIGALRM, _alarm)
    out = []
    wanted = [name for name in CHECKS if not only or name in only]
    with tempfile.TemporaryDirectory(prefix="torture-") as folder, contextlib.redirect_stderr(io.StringIO()):
        for number, name in enumerate(wanted):
            run, tries = CHECKS[name]
            check, rng = Check(name), random.Random(f"{seed} {name}")
            left = len(wanted) - number
            end = time.monotonic() + (minutes * 60 - sum(one.seconds for one in out)) / left
            start = time.monotonic()
            place = Path(folder, str(number))
            place.mkdir()
            for _ in range(max(1, round(tries * share))):
                if time.monotonic() > end:
                    break
                run(check, rng, place)
            check.seconds = time.monotonic() - start
            out.append(check)
            print(table([check]).splitlines()[-1], flush=True)
    return out


def _alarm(*_: Any) -> None:
    raise TooSlowError


def table(checks: list[Check]) -> str:
    """What was tried, how often, how often it was refused in words, and what failed."""
    lines = ["| check | tries | refused in words | failed | seconds | what failed |", "|---|--:|--:|--:|--:|---|"]
    for one in checks:
        common = "; ".join(f"{text} ({n})" for text, n in one.failures.most_common(5))
        what, failed = common.replace("|", "\\|").replace("\n", " "), sum(one.failures.values())
        lines.append(f"| {one.name} | {one.tries:,} | {one.refused:,} | {failed:,} | {one.seconds:,.0f} | {what} |")
    return "\n".join(lines)


def page(checks: list[Check], seed: int) -> str:
    """docs/reliability.md."""
    told = "\n".join(f"- *{name}*: {run.__doc__}" for name, (run, _) in CHECKS.items())
    software = f"ALD {ald.__version__}, Python {platform.python_version()}"
    when = f"{datetime.date.today().isoformat()} with seed {seed}, {software}"
    return "\n\n".join(
        [
            "# Reliability: what was tried",
            "`make torture` tries what must never happen: an error that is no sentence, a report that is half there,\n"
            "or that says what of few people must not be told, data that acts. It needs no rights and no device.\n"
            "This page is its last run; continuous integration runs a small part of it.",
            told,
            f"Run on {when} on {platform.system()}.\nRefused in words is an `AldError`: what is no data or no setting "
            "is told so.",
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
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = torture(asked.share, asked.minutes, asked.seed, tuple(asked.only))
    print(table(found))
    if asked.write:
        PAGE.write_text(page(found, asked.seed), encoding="utf-8")
    return 1 if any(one.failures for one in found) else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
