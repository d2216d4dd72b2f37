"""The command in processes of its own: streams, outputs, signals, forks, locales, and files that change under it."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

from benchmarks.torturing.checking import PATIENCE, Check, LackingError, as_csv, environment, people

import ald

ENDINGS = ("html", "json", "csv", "md", "txt", "xlsx", "pdf")


@functools.cache
def has_namespaces() -> bool:
    """Whether a process may have mounts of its own: a full disk then needs no disk."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0


def need_namespaces() -> None:
    if not has_namespaces():
        raise LackingError("without full and read-only folders: user namespaces are not permitted here")


def is_whole(path: Path) -> bool:
    """Whether a report begins and ends as it should."""
    content = path.read_bytes()
    if path.suffix == ".json":
        try:
            return isinstance(json.loads(content), dict)
        except ValueError:
            return False
    if path.suffix == ".xlsx":
        try:
            return zipfile.ZipFile(io.BytesIO(content)).testzip() is None
        except zipfile.BadZipFile:
            return False
    if path.suffix == ".html":
        return content.startswith(b"<!") and content.rstrip().endswith(b"</html>")
    if path.suffix == ".pdf":
        return content.startswith(b"%PDF") and content.rstrip().endswith(b"%%EOF")
    return content.endswith(b"\n")


def _data(folder: Path, n: int = 300) -> Path:
    path = folder / f"people{n}.csv"
    if not path.exists():
        path.write_bytes(as_csv(people(n)))
    return path


def _said(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stderr, f"a traceback: {done.stderr.splitlines()[-1][:100]}"
    assert done.returncode >= 0, f"ended by signal {-done.returncode}"


STREAMS = [
    ">&-",
    "2>&-",
    ">&- 2>&-",
    "<&-",
    "<&- >&- 2>&-",
    "| true",
    "| head -c 10",
    "2>&1 | true",
    "full",
    "2>full",
    "",
]


def streams(check: Check, rng: random.Random, folder: Path) -> None:
    """The command with streams that are closed, full or left early, in several locales, with and without -O."""
    data = _data(folder)
    way = rng.choice(STREAMS)
    locale, optimised = rng.choice(["C", "C.UTF-8", "POSIX"]), rng.choice(["", "-O"])
    form = rng.choice(["table", "json", "csv", "markdown"])
    report = folder / "stream.html"
    line = f"{shlex.quote(sys.executable)} {optimised} -m ald audit {data} --outcome y --trees 2 --format {form}"
    line += f" -o {report}"

    def run() -> None:
        report.unlink(missing_ok=True)
        if "full" in way:
            need_namespaces()
            full = folder / "full"
            full.mkdir(exist_ok=True)
            begin = f"mount -t tmpfs -o size=4k none {full} && head -c 4096 /dev/zero > {full}/most"
            command = ["unshare", "-rm", "bash", "-c", f"{begin}; {line} {'2' if way[0] == '2' else ''}>{full}/said"]
        else:
            command = ["bash", "-c", f"set -o pipefail; {line} {way}"]
        told = environment(LC_ALL=locale)
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=told)
        _said(done)
        expected = (2,) if way == "full" else (0,)
        assert done.returncode in expected, f"exit code {done.returncode}: {done.stderr[-120:]}"
        assert report.exists(), "no report"
        assert is_whole(report), "half of a report"

    check.attempt(way or "plain", run)


OUTPUTS = ["fifo", "fifo left", "terminal", "folder", "missing folder", "mode 444", "link", "dangling link", "loop",
           "full", "nearly full", "read-only", "long name", "odd name"]  # fmt: skip
ODD = ["k=v", "~", "*", "[x]", "'", '"', "a b", "new\nline", "ü", "-o", "$HOME", "\udcff", "%s", ";true"]


def outputs(check: Check, rng: random.Random, folder: Path) -> None:
    """Reports into pipes, a terminal of its own, folders, links, full and read-only folders, and under odd names."""
    ending, way = rng.choice(ENDINGS), rng.choice(OUTPUTS)
    check.attempt(f"{way} .{ending}", lambda: _write(folder, ending, way, rng))


def _write(folder: Path, ending: str, way: str, rng: random.Random) -> None:
    place = folder / f"out{rng.randrange(10**9)}"
    place.mkdir()
    target, before, script = place / f"report.{ending}", b"before\n", ""
    reading, ends = contextlib.ExitStack(), (2,)
    if way.startswith("fifo"):
        os.mkfifo(target)
        reading.enter_context(_reader(target, leaves=way == "fifo left"))
    elif way == "terminal":
        ours, theirs = os.openpty()
        reading.callback(os.close, ours)
        reading.callback(os.close, theirs)
        target = Path(os.ttyname(theirs))
    elif way == "folder":
        target.mkdir()
    elif way == "missing folder":
        target = place / "none" / target.name
    elif way == "mode 444":
        target.write_bytes(before)
        target.chmod(0o444)
    elif way == "link":
        (place / "real").write_bytes(before)
        target.symlink_to("real")
        ends = (0,)
    elif way == "dangling link":
        target.symlink_to("new")
        ends = (0, 2)
    elif way == "loop":
        target.symlink_to(target.name)
    elif way == "long name":
        target = place / f"{'x' * rng.choice([200, 240, 300])}.{ending}"
        ends = (0, 2)
    elif way == "odd name":
        target = place / f"{rng.choice(ODD)}.{ending}"
        ends = (0,)
    else:
        need_namespaces()
        size = "16k" if way == "full" else f"{rng.choice([24, 40, 64, 100])}k"
        fill = f"head -c 12k /dev/zero > {place}/filler;" if way == "full" else ""
        script = f"mount -t tmpfs -o size={size} none {place} && {fill} printf 'before\\n' > {target} && "
        if way == "read-only":
            script += f"mount -o remount,ro {place} && "
        ends = (2,) if way == "read-only" else (0, 2)
    command = [sys.executable, "-m", "ald", "audit", str(_data(folder)), "--outcome", "y", "--trees", "2",
               "-o", str(target)]  # fmt: skip
    if script:
        # The namespace is gone with the shell: it looks itself at what is there, and copies it out.
        kept = folder / f"kept.{ending}"
        script += f"{shlex.join(command)}; code=$?; cp {target} {kept}; ls -A {place} | grep -c '^[.]ald-'; exit $code"
        command = ["unshare", "-rm", "bash", "-c", script]
    with reading:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment())
    _said(done)
    assert done.returncode in ends, f"exit code {done.returncode}: {done.stderr[-120:]!r}"
    if script:
        assert done.stdout.splitlines()[-1:] == ["0"], "a leftover"
        target = kept
    if way in ("terminal", "fifo", "fifo left", "folder", "missing folder", "loop"):
        assert not list(place.glob(".ald-*")), "a leftover"
        return
    if done.returncode == 0:
        assert is_whole(target), "half of a report"
    elif way not in ("long name", "dangling link"):
        assert target.read_bytes() == before, "what was there is gone"
    assert not list(place.glob(".ald-*")), "a leftover"


@contextlib.contextmanager
def _reader(path: Path, *, leaves: bool) -> Any:
    """Somebody who reads a pipe, or leaves it at once."""
    process = subprocess.Popen(["head", "-c", "1" if leaves else "1G", str(path)], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def kills(check: Check, rng: random.Random, folder: Path) -> None:
    """The command killed at any moment, while it writes PDF and Excel too: no report is half there or gone."""
    data, document = _data(folder, 3000), folder / "document.json"
    audit = [sys.executable, "-m", "ald", "audit", str(data), "--outcome", "y", "--trees", "5"]
    if not document.exists():
        start = time.monotonic()
        subprocess.run([*audit, "-o", str(document)], check=True, capture_output=True, env=environment())
        (folder / "seconds").write_text(str(time.monotonic() - start))
    # Half of them only render: PDF and Excel are most of what they do.
    renders = rng.random() < 0.5
    command = [sys.executable, "-m", "ald", "report", str(document), "--data", str(data)] if renders else audit
    targets = [folder / f"kill.{ending}" for ending in ENDINGS]
    rng.shuffle(targets)
    for target in targets:
        command = [*command, "-o", str(target)]
    there = {target for target in targets if target.exists()}
    number, pause = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]), rng.random()

    def run() -> None:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
        try:
            # The whole run is about twice as long as that with one format.
            process.wait(0.1 + pause * 2 * float((folder / "seconds").read_text()))
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert b"Traceback" not in said, f"a traceback: {said.splitlines()[-1][:100]!r}"
        for target in targets:
            assert target.exists() or target not in there, f"{target.name} is gone"
            assert not target.exists() or is_whole(target), f"half of {target.name}"
        if number != signal.SIGKILL and process.returncode != -signal.SIGKILL:
            left = [path.name for path in folder.glob(".ald-*")]
            assert not left or process.returncode in (-signal.SIGTERM, -signal.SIGINT), f"left behind: {left}"
        if rng.random() < 0.05:
            done = subprocess.run([*audit, "-o", str(targets[0])], capture_output=True, env=environment())
            assert done.returncode == 0, "the next run fails"
            assert not list(folder.glob(".ald-*")), "the next run leaves what was left behind"

    check.attempt(f"{signal.Signals(number).name} {'report' if renders else 'audit'}", run)


_FORKS = """
import os, signal, sys, threading, time
import ald
from benchmarks.torturing.checking import people
columns, seed = people(300), int(sys.argv[1])
going = True
for split in ("random", "none"):  # who forks while something is imported may wait for ever: Python's own lock
    ald.audit(columns, outcome="y", split=split).to_html()
def audits():
    n = 0
    while going:
        ald.audit(columns, outcome="y", split=("random", "none")[n % 2], seed=seed + n)
        n += 1
thread = threading.Thread(target=audits)
thread.start()
bad = 0
for turn in range(int(sys.argv[2])):
    time.sleep((seed * 7919 + turn * 104729) % 997 / 3000)
    child = os.fork()
    if child == 0:
        signal.alarm(40)
        ald.audit(columns, outcome="y", split="random", seed=turn).to_html()
        os._exit(0)
    bad += os.waitpid(child, 0)[1] != 0
going = False
thread.join()
sys.exit(bad)
"""
FORKS = 10


def forks(check: Check, rng: random.Random, folder: Path) -> None:
    """Processes forked while another thread audits: their own audits end."""

    def run() -> None:
        command = [sys.executable, "-W", "ignore", "-c", _FORKS, str(rng.randrange(1000)), str(FORKS)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment())
        assert done.returncode == 0, f"{done.returncode} of {FORKS}: {done.stderr[-100:]}"

    check.tries += FORKS - 1
    try:
        run()
        check.tries += 1
    except (AssertionError, subprocess.TimeoutExpired) as error:
        check.tries += 1
        check.failures[f"fork: {error}"[:200]] += 1


_CHANGES = """
import os, random, sys, threading, time
import ald
from benchmarks.torturing.processes import change
path, seed, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
content = open(path, "rb").read()
rng = random.Random(seed)
going = True
start = time.monotonic()
ald.audit(path, outcome="y", split="random", search=ald.Search(trees=2)).to_json()
ald.audit(path, outcome="y", split="random", search=ald.Search(trees=2)).to_json()
lasts = (time.monotonic() - start) / 2
def changes():
    while going:
        change(path, content, rng)
        time.sleep(rng.random() * 5 * lasts)
thread = threading.Thread(target=changes)
thread.start()
refused = 0
try:
    for turn in range(n):
        try:
            ald.audit(path, outcome="y", split="random", search=ald.Search(trees=2), seed=turn).to_json()
        except ald.AldError as error:
            refused += 1
finally:
    going = False
    thread.join()
print(refused)
"""
CHANGED = 20


def change(path: str, content: bytes, rng: random.Random) -> None:
    """Makes a file another one, in place or not."""
    # Mostly it ends up whole: an audit then sees one file, another one, or the change.
    way, cut = rng.choice([0, 1, 2, 2, 2, 2, 3, 4, 4, 4]), rng.randrange(len(content))
    if way == 0:
        with open(path, "r+b") as file:
            file.truncate(cut)
    elif way == 1:
        with open(path, "ab") as file:
            file.write(content[cut:])
    elif way == 2:
        other = f"{path}.new"
        with open(other, "wb") as file:
            file.write(content)
        os.replace(other, path)
    elif way == 3:
        with open(path, "r+b") as file:
            file.seek(cut)
            file.write(bytes(rng.randrange(256) for _ in range(20)))
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with open(path, "wb") as file:
            file.write(content[:cut] + content[cut:])


def replaced(check: Check, rng: random.Random, folder: Path) -> None:
    """Files that are cut, overwritten, replaced and removed while they are read."""
    import pandas as pd

    ending = rng.choice(["csv", "csv", "csv.gz", "parquet", "jsonl", "xlsx", "sqlite"])
    path, frame = folder / f"changing.{ending}", pd.DataFrame(people(2000))
    path.unlink(missing_ok=True)
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == "xlsx":
        frame.head(300).to_excel(path, index=False)
    elif ending == "sqlite":
        import sqlite3

        with contextlib.closing(sqlite3.connect(path)) as made:
            frame.to_sql("people", made, index=False)
    else:
        frame.to_csv(path, index=False)
    told = [sys.executable, "-W", "ignore", "-c", _CHANGES, str(path), str(rng.randrange(1000)), str(CHANGED)]
    check.tries += CHANGED
    try:
        done = subprocess.run(told, capture_output=True, text=True, timeout=300, env=environment())
        if done.returncode == 0:
            check.refused += int(done.stdout)
        else:
            said = done.stderr.strip().splitlines()[-1:] or [f"ended by {done.returncode}"]
            check.failures[f"{ending}: {said[0]}"[:200]] += 1
    except subprocess.TimeoutExpired:
        check.failures[f"{ending}: more than 300 s"] += 1


def locales(check: Check, rng: random.Random, folder: Path) -> None:
    """Any locale, time zone, seed of hashes, number of threads and -O: the same bytes."""
    data, form = _data(folder, 1000), rng.choice(["json", "csv", "markdown"])
    known = folder / f"known.{form}"
    settings = {
        "LC_ALL": rng.choice(["C", "POSIX", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"]),
        "TZ": rng.choice(["UTC", "Asia/Kathmandu", "America/St_Johns", "nonsense"]),
        "PYTHONHASHSEED": str(rng.randrange(1000)),
        "PYTHONUTF8": rng.choice(["0", "1"]),
        "OMP_NUM_THREADS": rng.choice(["1", "3"]),
        "SOURCE_DATE_EPOCH": "1763510400",
    }
    optimised, threads = rng.choice([[], ["-O"], ["-OO"]]), rng.choice(["1", "2", "5"])

    def run() -> None:
        command = [sys.executable, *optimised, "-m", "ald", "audit", str(data), "--outcome", "y", "--threads", threads,
                   "--format", form]  # fmt: skip
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, env=environment(**settings))
        assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-100:]!r}"
        if not known.exists():
            known.write_bytes(done.stdout)
        assert done.stdout == known.read_bytes(), f"other bytes under {settings}"

    check.attempt(f"{settings['LC_ALL']} {' '.join(optimised)}", run)


def together(check: Check, rng: random.Random, folder: Path) -> None:
    """Audits in several threads at once, with any number of threads each: the documents of audits one by one."""
    tables = [people(rng.choice([200, 1000, 3000]), rng.randrange(99)) for _ in range(3)]
    asked = [{"seed": rng.randrange(99), "split": rng.choice(["random", "none"])} for _ in tables]

    def document(i: int, threads: int) -> str:
        return ald.audit(ald.source(tables[i], threads=threads), outcome="y", **asked[i]).to_json()

    def run() -> None:
        alone = [document(i, 1) for i in range(3)]
        found: dict[tuple[int, int], str] = {}

        def work(i: int, threads: int) -> None:
            found[i, threads] = document(i, threads)

        workers = [threading.Thread(target=work, args=(i, n)) for i in range(3) for n in (2, 7)]
        for one in workers:
            one.start()
        for one in workers:
            one.join()
        for (i, n), text in found.items():
            assert text == alone[i], f"{n} threads differ"
        assert len(found) == 6, "a thread failed"

    check.attempt("threads", run)
