"""One kind of torture: what it tries on, how it counts, and when it gives up waiting."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ald

ROOT = Path(__file__).parents[2]
# Seconds that one try may take, and bytes that a process may use.
PATIENCE, MEMORY = 90, 6 * 2**30


class TooSlowError(BaseException):
    """A try took too long."""


class LackingError(Exception):
    """What a check needs is not on this machine: it is skipped, with this reason."""


def too_slow(*_: Any) -> None:
    raise TooSlowError


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


def environment(**more: str) -> dict[str, str]:
    """That of a process that runs this working copy."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path.rstrip(os.pathsep)} | more


class Check:
    """How many tries there were, how many of them were refused in words, and what failed."""

    def __init__(self, name: str) -> None:
        self.name, self.tries, self.refused, self.seconds, self.note = name, 0, 0, 0.0, ""
        self.failures = collections.Counter[str]()

    def attempt(self, what: str, run: Callable[[], Any], seconds: int = PATIENCE) -> None:
        """Runs one try: whatever ends it but an AldError is a failure, and so is that it takes longer."""
        self.tries += 1
        try:
            with patience(seconds):
                run()
        except ald.AldError as error:
            self.refused += 1
            str(error)
        except LackingError as error:
            self.tries -= 1
            self.note = str(error)
        except TooSlowError:
            self.failures[f"{what}: more than {seconds} s"] += 1
        except AssertionError as error:
            self.failures[f"{what}: {str(error)[:200]}"] += 1
        except BaseException as error:  # whatever it is, it must not reach a user
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f"{os.sep}ald{os.sep}" in f.filename]
            place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "elsewhere"
            self.failures[f"{what}: {type(error).__name__} in {place}"] += 1

    def add(self, other: Check) -> None:
        """Counts what was tried elsewhere, too."""
        self.tries, self.refused = self.tries + other.tries, self.refused + other.refused
        self.seconds, self.failures = self.seconds + other.seconds, self.failures + other.failures
        self.note = other.note

    def dump(self) -> str:
        return json.dumps({**vars(self), "failures": dict(self.failures)})

    @classmethod
    def read(cls, text: str) -> Check:
        told = json.loads(text)
        check = cls(told["name"])
        vars(check).update(told | {"failures": collections.Counter(told["failures"])})
        return check


@contextlib.contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Raises TooSlowError in what takes longer."""
    before = signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
