"""Audits of Parquet files that are larger than memory should be, against one DuckDB group-by over the same columns.

.venv/bin/python benchmarks/parquet.py [--rows 100000000] [--distinct]

Prints the time of the whole audit (in a process of its own, from its start to the ranked list), that of the group-by
(also in its own process), their ratio and the peak memory of the audit. With --distinct: 5 x 10^7 rows of which hardly
two are alike. Files are made once, in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

ROWS = {False: 100_000_000, True: 50_000_000}
LIMITS = {False: "3GB", True: "6GB"}


def level(column: int, levels: int) -> str:
    """A column of so many equally frequent levels, the same for every run."""
    return f"(hash(i * 16 + {column}) % {levels})::INTEGER"


def common_rows() -> dict[str, str]:
    """Attributes as logs of decisions have them: few values each, so that many rows are alike."""
    columns = {
        "age": f"20 + 5 * {level(0, 12)}",
        "sex": f"['f', 'm'][1 + {level(1, 2)}]",
        "race": f"'race ' || {level(2, 5)}",
        "education": level(3, 6),
        "region": f"'region ' || {level(4, 4)}",
        "contract": f"'contract ' || {level(5, 3)}",
        "channel": f"'channel ' || {level(6, 3)}",
        "year": f"2020 + {level(7, 4)}",
    }
    chance = f"0.4 + 0.1 * ({level(1, 2)} = 0)::INT + 0.01 * {level(0, 12)}"
    columns["approved"] = f"({chance} - 0.15 * ({level(2, 5)} = 3 AND {level(4, 4)} = 1)::INT > {uniform(8)})::INTEGER"
    return columns


def distinct_rows() -> dict[str, str]:
    """Numbers that hardly repeat, and names with many levels."""
    columns = {f"x{k}": f"{uniform(k)} * 1000" for k in range(4)}
    columns |= {f"c{k}": f"'level ' || {level(k + 4, 500)}" for k in range(4)}
    columns["approved"] = f"(0.4 + 0.2 * ({uniform(0)} > 0.7)::INT > {uniform(8)})::INTEGER"
    return columns


def uniform(column: int) -> str:
    return f"(hash(i * 16 + {column}) % 1000000007) / 1000000007.0"


def make(path: Path, columns: dict[str, str], rows: int) -> None:
    """Writes the file, unless it is there."""
    if path.exists():
        return
    selected = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    part = path.with_suffix(".part")
    duckdb.execute(f"COPY (SELECT {selected} FROM range({rows}) t(i)) TO '{part}' (FORMAT parquet)")
    part.rename(path)


AUDIT = """
import json, resource, sys, time
started = time.perf_counter()
import ald
found = ald.audit(ald.source(sys.argv[1], memory_limit=sys.argv[2]), outcome="approved")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps([time.perf_counter() - started, peak, [str(group.criterion) for group in found.groups]]))
"""
GROUP_BY = """
import json, sys, time
started = time.perf_counter()
import duckdb
grouped = f"SELECT {sys.argv[2]}, count(*) FROM '{sys.argv[1]}' GROUP BY ALL"
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
distinct = connection.execute(f"SELECT count(*) FROM ({grouped})").fetchone()[0]
print(json.dumps([time.perf_counter() - started, distinct]))
"""


def run(code: str, *arguments: str) -> list:
    """What a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float)
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "ald-benchmarks")
    options = parser.parse_args()
    rows = int(options.rows or ROWS[options.distinct])
    columns = distinct_rows() if options.distinct else common_rows()
    options.folder.mkdir(exist_ok=True)
    path = options.folder / f"{'distinct' if options.distinct else 'common'}-{rows}.parquet"
    make(path, columns, rows)
    limit = LIMITS[options.distinct]
    print(
        f"{rows:,} rows, {len(columns) - 1} attributes, {path.stat().st_size / 2**20:,.0f} MiB; {os.cpu_count()} cores"
    )
    print(f"load before: {', '.join(f'{value:.1f}' for value in os.getloadavg())}; memory_limit {limit}")
    audits, groupings = [], []
    for _ in range(options.repeats):
        if not options.distinct:
            groupings.append(run(GROUP_BY, str(path), ", ".join(columns)))
        audits.append(run(AUDIT, str(path), limit))
    seconds, peak = statistics.median(a[0] for a in audits), max(a[1] for a in audits)
    print(f"audit: {seconds:.1f} s, peak {peak:.2f} GiB; listed: {'; '.join(audits[0][2])}")
    if groupings:
        grouping = statistics.median(g[0] for g in groupings)
        print(f"one group-by: {grouping:.1f} s, {groupings[0][1]:,} distinct rows; ratio {seconds / grouping:.2f}")
    print(f"load after: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


if __name__ == "__main__":
    main()
