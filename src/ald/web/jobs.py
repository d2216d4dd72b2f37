"""Work on data in processes of its own: started when there is room, followed, and killed where nobody wants it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ald._core.steps import share_of_whole

State = Literal["waiting", "running", "done", "failed", "cancelled"]

# Audits at once, and other work at once, which is short.
AUDITS, OTHERS = 2, 2
# Bytes of a line that a process may say.
_LONGEST = 2**20


@dataclass(eq=False)
class Job:
    """Work that was asked for: how far it is, and how it ended. Its results are files in its folder."""

    kind: str
    task: Mapping[str, Any]
    folder: str
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    state: State = "waiting"
    step: str = ""
    share: float = 0.0
    message: str = ""
    started: float | None = None
    seconds: float = 0.0
    process: asyncio.subprocess.Process | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _steps_began: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    @property
    def done(self) -> float | None:
        """The share of the whole that is done, as far as anyone knows."""
        return 1.0 if self.step == "report" else share_of_whole(self.step, self.share)

    def seconds_left(self) -> float | None:
        """How long it may still take, judged by how long it took so far; None while that says nothing."""
        done = self.done
        if done is None or self.started is None or done < 0.03:
            return None
        return (time.monotonic() - self._steps_began) * (1 - done) / done

    def file(self, name: str) -> str:
        """Where one of its results lies."""
        return os.path.join(self.folder, name)

    def read(self, name: str) -> Any:
        """One of its results that is JSON."""
        with open(self.file(name), encoding="utf-8") as file:
            return json.load(file)

    def hear(self, told: Mapping[str, Any]) -> None:
        """What its process says."""
        if told["event"] == "progress":
            if share_of_whole(self.step, self.share) is None:
                self._steps_began = time.monotonic()
            self.step, self.share = str(told["step"]), float(told["share"])
        elif told["event"] == "failed":
            self.end("failed", str(told["message"]))
        elif told["event"] == "done":
            self.end("done")
        self._tell()

    def end(self, state: State, message: str = "") -> None:
        """Has it be over, if it is not yet."""
        if not self.is_over:
            self.state, self.message = state, message
            self.seconds = 0.0 if self.started is None else time.monotonic() - self.started
            self._tell()

    def _tell(self) -> None:
        """Wakes up everyone who waits for news."""
        self.changed.set()
        self.changed = asyncio.Event()
        if self.is_over:
            self.ended.set()

    def kill(self) -> None:
        """Ends its process, and what that has started."""
        if self.process is not None and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()


class Jobs:
    """All work of a server. memory: bytes that each process may take."""

    def __init__(self, folder: str, memory: int) -> None:
        self.folder, self.memory = folder, memory
        self.by_id: dict[str, Job] = {}
        self._room = {"audit": asyncio.Semaphore(AUDITS), "other": asyncio.Semaphore(OTHERS)}
        self._followers: set[asyncio.Task[None]] = set()

    def start(self, kind: str, **task: Any) -> Job:
        """Starts work as soon as there is room for it."""
        job = Job(kind=kind, task=task, folder="")
        job.folder = os.path.join(self.folder, f"job-{job.id}")
        os.mkdir(job.folder, 0o700)
        self.by_id[job.id] = job
        follower = asyncio.create_task(self._follow(job))
        self._followers.add(follower)
        follower.add_done_callback(self._followers.discard)
        return job

    def cancel(self, job: Job) -> None:
        """Stops work that nobody wants any more."""
        job.end("cancelled")
        job.kill()

    def forget(self, job: Job) -> None:
        """Stops work and removes its results."""
        self.cancel(job)
        self.by_id.pop(job.id, None)
        _remove(job.folder)

    def kill_all(self) -> None:
        """Ends all processes at once."""
        for job in list(self.by_id.values()):
            job.kill()

    async def close(self) -> None:
        """Stops everything."""
        for job in list(self.by_id.values()):
            self.cancel(job)
        await asyncio.gather(*self._followers, return_exceptions=True)

    async def _follow(self, job: Job) -> None:
        async with self._room["audit" if job.kind == "audit" else "other"]:
            if job.is_over:
                return
            try:
                await self._run(job)
            except OSError as error:
                job.end("failed", f"no process could be started: {error}")
            finally:
                job.kill()

    async def _run(self, job: Job) -> None:
        # Temporary files of libraries lie in the folder too, and are removed with it.
        environment = os.environ | {"TMPDIR": job.folder}
        job.process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # nothing is imported from the folder that one happens to be in
            "-m",
            "ald.web.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
            limit=_LONGEST,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        if job.is_over:  # cancelled meanwhile
            return
        job.state, job.started = "running", time.monotonic()
        job._steps_began = job.started
        job._tell()
        with contextlib.suppress(ConnectionError):
            task = {"kind": job.kind, "folder": job.folder, "memory": self.memory, **job.task}
            process.stdin.write(json.dumps(task).encode() + b"\n")
            await process.stdin.drain()
            async for line in process.stdout:
                job.hear(json.loads(line))
                if job.is_over:
                    break
        if not job.is_over:
            code = await process.wait()
            job.end("failed", _words_of_end(code, self.memory))
        process.stdin.close()


def _words_of_end(code: int, memory: int) -> str:
    """Why a process that said nothing may have ended."""
    how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    return (
        f"The process that did the work {how} before it was done. It may have needed more than the "
        f"{memory / 10**9:.1f} GB of memory that it may take (ald serve --memory-limit), or the file may be damaged."
    )


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
