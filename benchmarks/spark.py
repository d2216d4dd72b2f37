"""Audits on a Spark cluster of two workers on loopback, against plain group-bys of the same cluster.

.venv/bin/python benchmarks/spark.py [--rows 20000000] [--memory 3g]

Two data sets: one whose rows are often alike, so that their counts come back; and one whose rows hardly are, so that
all counting stays on the cluster, level by level. Prints for each the time of the audit and its ratio to one group-by
with count over the same columns, whether the result is that of one machine, whether it stays the same when a worker is
killed in the middle, and the driver's peak memory for a tenth of the rows and for all. Every audit is a process of its
own. Files are made once, in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from benchmarks.parquet import common_rows, level, make, uniform  # noqa: E402
from tests.spark_cluster import SparkCluster, running  # noqa: E402

# Counts of the second data set shall not fit.
LIMIT = "500MB"


def different_rows() -> dict[str, str]:
    """Attributes with up to 2,000 values each, none of which is cut: hardly two rows are alike."""
    columns = {f"n{k}": level(k, 2000) for k in range(4)}
    columns |= {f"c{k}": f"'level ' || {level(k + 4, 50)}" for k in range(4)}
    chance = f"0.4 + 0.1 * ({level(0, 2000)} > 1500)::INT + 0.15 * ({level(1, 2000)} < 600 AND {level(4, 50)} < 9)::INT"
    columns["approved"] = f"({chance} > {uniform(8)})::INTEGER"
    return columns


DRIVER = """
import json, os, resource, sys, time
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
import ald
from tests.spark_cluster import joined
address, folder, path, limit, what, memory = sys.argv[3:9]
session = joined(address, folder, 2, memory)
frame = session.read.parquet(path)
started = time.perf_counter()
audit = None
if what == "group-by":
    distinct = frame.groupBy(*frame.columns).count().agg({"count": "count"}).collect()[0][0]
else:
    levels = []
    def progress(step, share):
        if step == "search" and 0 < share < 0.5:
            levels.append(time.perf_counter())
        print(json.dumps([step, share]), flush=True)
    audit = ald.audit(ald.source(frame, memory_limit=limit), outcome="approved", progress=progress)
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
java = [line for pid in Path("/proc").glob("[0-9]*/status") for text in [pid.read_text()]
        if f"PPid:\\t{os.getpid()}\\n" in text for line in text.splitlines() if line.startswith("VmHWM")]
java = sum(int(line.split()[1]) for line in java) / 2**20
if audit is not None:
    found = audit.to_dict()
    found["data"].pop("warnings")
    found.pop("input_sha256", None)
    Path(sys.argv[9]).write_text(json.dumps(found, sort_keys=True))
said = {"seconds": seconds, "peak": peak, "java": java}
if audit is not None and len(levels) > 1:
    said |= {"levels": len(levels), "per_level": (levels[-1] - levels[0]) / (len(levels) - 1)}
print(json.dumps(said), flush=True)
session.stop()
"""
ALONE = """
import json, sys, time
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
import ald
started = time.perf_counter()
found = ald.audit(sys.argv[3], outcome="approved").to_dict()
found["data"].pop("warnings")
found.pop("input_sha256", None)
Path(sys.argv[4]).write_text(json.dumps(found, sort_keys=True))
print(json.dumps({"seconds": time.perf_counter() - started}), flush=True)
"""


def run(code: str, *arguments: str, kill: SparkCluster | None = None) -> dict[str, float]:
    """What a process of its own prints last. kill: the cluster one of whose workers ends while trees grow."""
    command = [sys.executable, "-c", code, str(ROOT / "src"), str(ROOT), *arguments]
    last: dict[str, float] = {}
    killed = kill is None
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said = json.loads(line)
            if isinstance(said, dict):
                last = said
            elif not killed and said[0] == "search" and said[1] > 0.05:
                assert kill is not None
                kill.kill_worker()
                killed = True
    if process.returncode or not killed:
        raise SystemExit(f"the process failed (code {process.returncode})")
    return last


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--memory", default="3g")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "ald-benchmarks")
    options = parser.parse_args()
    rows, folder = int(options.rows), options.folder
    folder.mkdir(exist_ok=True)
    print(f"{rows:,} rows; two workers of one core and {options.memory}; {os.cpu_count()} cores on this machine")
    print(f"load before: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")
    for name, columns in (("alike", common_rows()), ("different", different_rows())):
        paths = {n: folder / f"spark-{name}-{n}.parquet" for n in (rows // 10, rows)}
        for n, path in paths.items():
            make(path, columns, n)
        limit = LIMIT if name == "different" else "8GB"

        def driver(cluster: SparkCluster, what: str, n: int, limit: str = limit, kill: bool = False,
                   paths: dict[int, Path] = paths, name: str = name) -> dict[str, float]:  # fmt: skip
            target = folder / f"spark-{name}-{what}-{n}.json"
            return run(DRIVER, cluster.address, str(cluster.folder), str(paths[n]), limit, what, options.memory,
                       str(target), kill=cluster if kill else None)  # fmt: skip

        with running(options.memory) as cluster:
            grouping = driver(cluster, "group-by", rows)
            small, large = (driver(cluster, "audit", n) for n in paths)
            print(f"rows {name}: audit {large['seconds']:.1f} s, one group-by {grouping['seconds']:.1f} s, "
                  f"ratio {large['seconds'] / grouping['seconds']:.2f}")  # fmt: skip
            if name == "different":
                print(f"  {large['levels']:.0f} levels of 25 trees, {large['per_level']:.1f} s each; with a tenth of "
                      f"the rows {small['per_level']:.1f} s")  # fmt: skip
            for what, key in (("Python", "peak"), ("Java", "java")):
                print(f"  driver's peak memory ({what}): {small[key]:.2f} GiB with {rows // 10:,} rows, "
                      f"{large[key]:.2f} GiB with {rows:,}; ratio {large[key] / small[key]:.2f}")  # fmt: skip
            if name == "different":
                killed = driver(cluster, "killed", rows, kill=True)
        alone = folder / f"spark-{name}-alone-{rows}.json"
        single = run(ALONE, str(paths[rows]), str(alone))
        audit = folder / f"spark-{name}-audit-{rows}.json"
        print(f"  one machine: {single['seconds']:.1f} s; same result: {alone.read_bytes() == audit.read_bytes()}")
        if name == "different":
            same = (folder / f"spark-{name}-killed-{rows}.json").read_bytes() == audit.read_bytes()
            print(f"  a worker killed while trees grow: {killed['seconds']:.1f} s; same result: {same}")
    print(f"load after: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


if __name__ == "__main__":
    main()
