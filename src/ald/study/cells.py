"""Cells of the study: one data set's parameters and one system, with the outcomes of its runs kept on disk.

A finished run is never computed again: a cell's file holds the outcomes of seeds 0, 1, 2, ... and is replaced as a
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

from ald._core.threads import available_threads
from ald.report.whole import write_whole
from ald.study.location import Task
from ald.study.systems import COMPARED, Result

# Runs that are computed at a time: about this much is lost by an interruption.
_BLOCK = 10
# Modules that show results and do not decide them.
_SHOWS = frozenset({"report", "cli", "commands", "comparing", "version", "page", "figures", "statements", "judging",
                    "study", "grids", "public_tables", "validity", "designs", "cells"})  # fmt: skip
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# Called with what was done, the share of all runs, and the seconds left (None: not known yet).
Progress = Callable[[str, float, float | None], None]


@dataclass(frozen=True, kw_only=True, order=True)
class Cell:
    """A data set with its parameters, and the system that looks at it."""

    dataset: int
    rho: float
    width: float
    system: str

    @property
    def name(self) -> str:
        return f"{self.system}-{self.dataset}-{self.rho:g}-{self.width:g}"

    @property
    def task(self) -> Task:
        return Task(dataset=self.dataset, rho=self.rho, width=self.width)


def compute(cell: Cell, first: int, last: int) -> list[Result]:
    """The outcomes of seeds first to last - 1."""
    return [COMPARED[cell.system].run(cell.task, seed) for seed in range(first, last)]


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


def read(cell: Cell, folder: Path) -> list[Result]:
    """The outcomes kept so far: of this code, and whole; otherwise none."""
    try:
        entry = json.loads((folder / f"{cell.name}.json").read_text("utf-8"))
        if entry["code"] != code_digest() or entry["cell"] != asdict(cell):
            return []
        return [Result(**result) for result in entry["runs"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write(cell: Cell, folder: Path, results: Sequence[Result]) -> None:
    """Keeps the outcomes of a cell."""
    entry = {"code": code_digest(), "cell": asdict(cell), "runs": [asdict(result) for result in results]}
    write_whole(str(folder / f"{cell.name}.json"), (json.dumps(entry) + "\n").encode())


def measure(
    cells: Sequence[Cell], runs: int, folder: Path, *, jobs: int | None = None, progress: Progress | None = None
) -> dict[Cell, list[Result]]:
    """The outcomes of all cells, computing what is not on disk yet."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = sorted(set(cells))
    kept = {cell: read(cell, folder) for cell in cells}
    missing = {cell: runs - len(kept[cell]) for cell in cells if len(kept[cell]) < runs}
    clock = _Clock(sum(missing.values()), progress)
    for cell, results in _compute(kept, missing, jobs or available_threads()):
        kept[cell] += results
        write(cell, folder, kept[cell])
        clock.tick(cell, len(results))
    return {cell: results[:runs] for cell, results in kept.items()}


def _compute(
    kept: dict[Cell, list[Result]], missing: dict[Cell, int], jobs: int
) -> Iterator[tuple[Cell, list[Result]]]:
    """Blocks of consecutive seeds as they get ready; of one cell in order."""
    ahead = {cell: len(kept[cell]) for cell in missing}
    ends = {cell: ahead[cell] + count for cell, count in missing.items()}

    def block(cell: Cell) -> tuple[int, int]:
        first = ahead[cell]
        ahead[cell] = min(first + _BLOCK, ends[cell])
        return first, ahead[cell]

    if jobs == 1:
        for cell in missing:
            while ahead[cell] < ends[cell]:
                yield cell, compute(cell, *block(cell))
        return
    waiting = list(missing)
    with _one_thread_each(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(compute, cell, *block(cell)): cell for cell in waiting[:jobs]}
        waiting = waiting[jobs:]
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    cell = running.pop(future)
                    following = cell if ahead[cell] < ends[cell] else waiting.pop(0) if waiting else None
                    if following is not None:
                        running[pool.submit(compute, following, *block(following))] = following
                    yield cell, future.result()
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

    def tick(self, cell: Cell, runs: int) -> None:
        self.done += runs
        if self.progress is not None:
            pace = (time.monotonic() - self.start) / self.done
            self.progress(cell.name, self.done / self.total, pace * (self.total - self.done))


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
