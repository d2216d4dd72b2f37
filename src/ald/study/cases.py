"""The cases of the study: a scenario and a system, with the outcomes of its runs kept on disk.

A finished run is never computed again: a case's file holds the outcomes of seeds 0, 1, 2, ... and is replaced as a
whole, so the study may be interrupted at any time and goes on where it was.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from ald._core.threads import available_threads
from ald.report.whole import write_whole
from ald.study.location import Task
from ald.study.systems import COMPARED, Result

# Runs that are computed at a time: about this much is lost by an interruption.
_BLOCK = 10
# Modules that show results and do not decide them.
_SHOWS = frozenset({"report", "cli", "commands", "comparing", "version", "page", "figures", "statements", "judging",
                    "study", "grids", "public_tables", "validity", "designs", "cases"})  # fmt: skip
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# Called with what was done, the share of all runs, and the seconds left (None: not known yet).
Progress = Callable[[str, float, float | None], None]


class Scenario(NamedTuple):
    """A data set with its parameters, whatever system looks at it."""

    dataset: int
    rho: float
    width: float


@dataclass(frozen=True, kw_only=True, order=True)
class Case:
    """A scenario, and the system that looks at it."""

    dataset: int
    rho: float
    width: float
    system: str

    @property
    def name(self) -> str:
        return f"{self.system}-{self.dataset}-{self.rho:g}-{self.width:g}"

    @property
    def scenario(self) -> Scenario:
        return Scenario(self.dataset, self.rho, self.width)

    @property
    def task(self) -> Task:
        return Task(dataset=self.dataset, rho=self.rho, width=self.width)


def compute(case: Case, first: int, last: int) -> list[Result]:
    """The outcomes of seeds first to last - 1."""
    return [COMPARED[case.system].run(case.task, seed) for seed in range(first, last)]


@cache
def code_digest() -> str:
    """What the code that decides results says: with other code, kept outcomes are not those of this ALD."""
    package = Path(__file__).parents[1]
    files = [path for path in package.rglob("*") if path.suffix in (".py", ".c")]
    decisive = sorted(path for path in files if not _SHOWS & set(path.relative_to(package).with_suffix("").parts))
    digest = sha256()
    for path in decisive:
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def read(case: Case, folder: Path) -> list[Result]:
    """The outcomes kept so far: of this code, and whole; otherwise none."""
    try:
        entry = json.loads((folder / f"{case.name}.json").read_text("utf-8"))
        if entry["code"] != code_digest() or entry["case"] != asdict(case):
            return []
        return [Result(**result) for result in entry["runs"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write(case: Case, folder: Path, results: Sequence[Result]) -> None:
    """Keeps the outcomes of a case."""
    entry = {"code": code_digest(), "case": asdict(case), "runs": [asdict(result) for result in results]}
    write_whole(str(folder / f"{case.name}.json"), (json.dumps(entry) + "\n").encode())


def measure(
    cases: Sequence[Case], runs: int, folder: Path, *, jobs: int | None = None, progress: Progress | None = None
) -> dict[Case, list[Result]]:
    """The outcomes of all cases, computing what is not on disk yet."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = sorted(set(cases))
    kept = {case: read(case, folder) for case in cases}
    missing = {case: runs - len(kept[case]) for case in cases if len(kept[case]) < runs}
    clock = _Clock(sum(missing.values()), progress)
    for case, results in _compute(kept, missing, jobs or available_threads()):
        kept[case] += results
        write(case, folder, kept[case])
        clock.tick(case, len(results))
    return {case: results[:runs] for case, results in kept.items()}


def _compute(
    kept: dict[Case, list[Result]], missing: dict[Case, int], jobs: int
) -> Iterator[tuple[Case, list[Result]]]:
    """Blocks of consecutive seeds as they get ready; of one case in order."""
    ahead = {case: len(kept[case]) for case in missing}
    ends = {case: ahead[case] + count for case, count in missing.items()}

    def block(case: Case) -> tuple[int, int]:
        first = ahead[case]
        ahead[case] = min(first + _BLOCK, ends[case])
        return first, ahead[case]

    if jobs == 1:
        for case in missing:
            while ahead[case] < ends[case]:
                yield case, compute(case, *block(case))
        return
    waiting = list(missing)
    with _one_thread_each(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(compute, case, *block(case)): case for case in waiting[:jobs]}
        waiting = waiting[jobs:]
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    case = running.pop(future)
                    following = case if ahead[case] < ends[case] else waiting.pop(0) if waiting else None
                    if following is not None:
                        running[pool.submit(compute, following, *block(following))] = following
                    yield case, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Every process computes with one thread: more would only get in each other's way."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Clock:
    """Tells how much is done and how long the rest will take, by the pace so far."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total, self.progress = total, progress
        self.done, self.start = 0, time.monotonic()

    def tick(self, case: Case, runs: int) -> None:
        self.done += runs
        if self.progress is not None:
            pace = (time.monotonic() - self.start) / self.done
            self.progress(case.name, self.done / self.total, pace * (self.total - self.done))


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A share of runs with its standard error."""

    hits: int
    runs: int

    @property
    def share(self) -> float:
        return self.hits / self.runs

    @property
    def error(self) -> float:
        return sqrt(self.share * (1 - self.share) / self.runs)

    def __str__(self) -> str:
        return f"{self.share:.2f}"


def rate(results: Sequence[Result], key: str) -> Rate:
    """The share of runs in which something is so (`listed`: in which anything is listed)."""
    return Rate(hits=sum(bool(getattr(result, key)) for result in results), runs=len(results))
