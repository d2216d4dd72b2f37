"""The C modules under the sanitizers of addresses and undefined behaviour, in calls that are valid and others.

Audits of many designs tell what the modules are called with. These calls are repeated as they were, and with arrays
that are shorter or longer, of other types or layouts, with other values or nothing in them, and with other numbers.
A call may compute, or raise: what it may not do is to read or write beside an array, or to crash.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import random
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from benchmarks.torturing.checking import ROOT, Check, LackingError, environment, people

import ald
from ald._core import kernels
from ald.data import packing

MODULES = ("_core/_kernel", "_core/_packed", "data/_draw", "data/inputs/_texts", "search/explore/_evidence",
           "data/_tables", "search/everyone/_lanes")  # fmt: skip
# Calls of one function that are kept, bytes that one may have, calls of one process.
KEPT, MOST_BYTES, BATCH = 40, 200_000, 5_000
DESIGNS: tuple[dict[str, Any], ...] = (
    {"split": "random"},
    {"split": "none"},
    {"split": "random", "search": ald.Search("paper", trees=3)},
    {"split": "random", "search": "leaves"},
    {"split": "random", "given": "job"},
    {"split": "none", "given": "job"},
    {"split": "random", "reference": "sex = f"},
    {"split": "random", "cluster": "person"},
    {"split": "random", "weights": "times"},
    {"split": "none", "weights": "times"},
    {"split": "random", "weights": ald.SurveyWeights("weight")},
    {"split": ald.Split(repeats=2)},
    {"split": "random", "threshold": 0.05},
    {"split": "none", "favourable": 1, "direction": "disadvantaged"},
    {"split": "random", "outcome": "pay"},
    {"split": "random", "outcome": "pay", "search": "leaves"},
    {"split": "random", "outcome": "pay", "weights": "times"},
    {"split": "random", "outcome": "pay", "weights": "times", "search": ald.Search("paper", trees=3)},
    {"split": "random", "outcome": "pay", "weights": "times", "packed": False},
    {"split": "random", "outcome": None, "prediction": "said", "truth": "y", "notion": "equalized odds"},
    {"split": "none", "outcome": None, "prediction": "said", "truth": "y", "notion": "equalized odds"},
)


def kernels_under_sanitizers(
    check: Check,
    rng: random.Random,
    folder: Path,
    modules: tuple[str, ...] = MODULES,
    designs: tuple[dict[str, Any], ...] = DESIGNS,
    n: int = BATCH,
) -> None:
    """Kernels under the sanitizers of addresses and undefined behaviour: random calls, valid and not."""
    with contextlib.suppress(FileNotFoundError):
        check.note = (folder / "lacking").read_text("utf-8")
        return
    calls = folder / "calls"
    try:
        if not calls.exists():
            build(folder, modules)
            calls.write_bytes(pickle.dumps(recorded(rng.randrange(100), modules, designs)))
    except LackingError as error:
        check.note = str(error)
        (folder / "lacking").write_text(check.note, "utf-8")
        return
    run_batch(check, folder, rng.randrange(2**31), n)


def run_batch(check: Check, folder: Path, seed: int, n: int) -> None:
    """Many calls in a process under the sanitizers; where it dies, that is one failure, and its last call is told."""
    progress = folder / "progress"
    progress.write_bytes(bytes(16))
    command = [sys.executable, "-m", "benchmarks.torturing.calling", str(folder), str(seed), str(n)]
    libraries = [_library("libasan.so"), _library("libubsan.so")]
    told = environment(
        LD_PRELOAD=" ".join(libraries),
        ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=3000:max_allocation_size_mb=500",
        UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1",
        PYTHONMALLOC="malloc",
        OPENBLAS_NUM_THREADS="1",
    )
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=told, timeout=240, errors="replace")
        code, said = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        code, said = -1, "more than 240 s"
    made, refused = np.frombuffer(progress.read_bytes(), np.int64)
    check.tries += int(made)
    check.refused += int(refused)
    if code != 0:
        lines = said.splitlines()
        line = next((one for one in lines if "runtime error" in one or "ERROR: " in one), said[-200:]).strip()
        line += next((f" ({one.split('/')[-1]})" for one in lines if one.lstrip().startswith("#") and ".c:" in one), "")
        last = (folder / "last").read_text("utf-8") if (folder / "last").exists() else ""
        check.failures[f"seed {seed}, call {made}, {last}: {line[:300]}"] += 1


def build(folder: Path, modules: tuple[str, ...] = MODULES) -> None:
    """C modules with both sanitizers."""
    for name in modules:
        compile_module(ROOT / "src" / "ald" / f"{name}.c", folder / f"{Path(name).name}.so")


def compile_module(source: Path, target: Path) -> None:
    """One C module with both sanitizers."""
    include = sysconfig.get_paths()["include"]
    if not Path(include, "Python.h").exists():
        raise LackingError("skipped: needs the headers of Python")
    command = ["gcc", "-shared", "-fPIC", "-g", "-O1", "-ffp-contract=off", "-fsanitize=address,undefined",
               "-fno-sanitize-recover=all", "-DPy_LIMITED_API=0x030B0000", f"-I{include}", str(source), "-o",
               str(target)]  # fmt: skip
    try:
        _library("libasan.so")
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise LackingError("skipped: needs gcc") from None


@functools.cache
def _library(name: str) -> str:
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
    if not os.path.isabs(found.strip()):
        raise LackingError(f"skipped: needs {name}")
    return found.strip()


def recorded(
    seed: int, modules: tuple[str, ...], designs: tuple[dict[str, Any], ...]
) -> dict[tuple[str, str], list[Any]]:
    """What audits call the C modules with, by module and function."""
    kept: dict[tuple[str, str], list[Any]] = {}
    seen: dict[tuple[str, str], int] = {}
    rng = random.Random(seed)

    def keep(key: tuple[str, str], arguments: tuple[Any, ...]) -> None:
        seen[key] = seen.get(key, 0) + 1
        own = kept.setdefault(key, [])
        if len(own) < KEPT or rng.random() < KEPT / seen[key]:
            told = _plain(arguments)
            if _bytes(told) <= MOST_BYTES:
                if len(own) < KEPT:
                    own.append(told)
                else:
                    own[rng.randrange(KEPT)] = told

    with _watched(keep, modules):
        for number, design in enumerate(designs):
            _audit(design, seed + number)
    return kept


def _audit(design: dict[str, Any], seed: int) -> None:
    import pandas as pd

    columns = people(400, seed)
    rng = np.random.default_rng(seed)
    columns["city"] = pd.array([f"city {i}" for i in rng.integers(0, 40, 400)], "string[pyarrow]")
    columns["score"] = np.round(rng.normal(size=400), 2)
    roles = {
        "person": rng.integers(0, 200, 400),
        "times": rng.integers(1, 5, 400),
        "weight": rng.uniform(0.5, 2, 400),
        "pay": rng.integers(1000, 9000, 400),
        "said": np.where(rng.random(400) < 0.3, 1 - np.array(columns["y"]), columns["y"]),
    }
    asked = {"outcome": "y", **design}
    # Tables that are too wide are not packed.
    is_packed = asked.pop("packed", True)
    chosen = asked.get("weights")
    used = {asked.get("cluster"), getattr(chosen, "column", chosen), asked["outcome"], asked.get("prediction")}
    if asked["outcome"] == "pay":
        del columns["y"]
    columns |= {name: values for name, values in roles.items() if name in used}
    with contextlib.nullcontext() if is_packed else mock.patch.object(packing, "available", return_value=False):
        ald.audit(pd.DataFrame(columns), seed=seed, **asked)


@contextlib.contextmanager
def _watched(keep: Callable[[tuple[str, str], tuple[Any, ...]], None], modules: tuple[str, ...]) -> Iterator[None]:
    """Within, every call of a C module is told before it is made."""
    changed = []
    for name in modules:
        module = kernels._module(name.replace("/", "."))
        if module is None:
            raise LackingError("skipped: the C modules are not built")
        for what, function in list(vars(module).items()):
            if callable(function) and not what.startswith("__") and what != "use_vectors":

                def call(*arguments: Any, key: tuple[str, str], function: Any) -> Any:
                    keep(key, arguments)
                    return function(*arguments)

                key = (Path(name).name, what)
                setattr(module, what, functools.partial(call, key=key, function=function))
                changed.append((module, what, function))
    try:
        yield
    finally:
        for module, what, function in changed:
            setattr(module, what, function)


def _plain(value: Any) -> Any:
    """A copy without what only the package knows."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, list):
        return list(map(_plain, value))
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    return np.frombuffer(value, np.uint8).copy()


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(_bytes, value)) if isinstance(value, (tuple, list)) else 8
