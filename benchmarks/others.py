"""Compares our versions of other systems with independent packages, in an environment that this script makes.

python benchmarks/others.py FOLDER

Makes FOLDER/env with pip, writes tables to FOLDER, runs benchmarks/others_inside.py there and prints what agreed.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

import ald
from ald.baselines.chaid import log_ways, merge_levels
from ald.baselines.gerrymandering import audit_rate
from ald.baselines.subset_scan import Observed, scan
from ald.datasets import make_synthetic
from ald.notions import SELECTION, RateCounter

PACKAGES = ("aif360", "CHAID", "divexplorer", "pysubgroup", "sliceline")
PARITY = RateCounter([SELECTION], 2)

Columns = dict[str, Any]


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/others.py FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    python = environment(folder / "env")
    write_tables(folder)
    subprocess.run([python, str(Path(__file__).with_name("others_inside.py")), str(folder)], check=True)
    theirs = json.loads((folder / "others.json").read_text("utf-8"))
    compare_scans(folder, theirs["bias_scan"])
    compare_chaid(folder, theirs["chaid"])
    compare_linear(folder, theirs["gerryfair"])
    compare_first(folder, theirs["first"])


def environment(folder: Path) -> str:
    """The Python of the other packages' environment, made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return str(python)


def write(path: Path, columns: Columns) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def write_tables(folder: Path) -> None:
    """The tables of all comparisons."""
    for seed in range(5):
        columns = make_synthetic(2, n=2000, rho=0.2, irrelevant=5, seed=seed)
        columns = {name: values for name, values in columns.items() if values.dtype.kind != "f"}
        write(folder / f"first-{seed}.csv", columns)
        rng = np.random.default_rng(seed)
        # Two levels of probability: the scan's original form.
        write(folder / f"scan-{seed}.csv", columns | {"expected": rng.choice([0.4, 0.6], 2000)})
        one = make_synthetic(1, n=4000, rho=0.4, seed=seed)
        chaid = one | {"age": np.char.add("about ", (np.rint(one["age"] / 12) * 12).astype(int).astype(str))}
        write(folder / f"chaid-{seed}.csv", chaid)
        x = rng.normal(size=(1000, 3))
        truth = rng.integers(2, size=1000)
        wrong = rng.random(1000) < np.where(x[:, 0] - x[:, 1] > 0.5, 0.5, 0.1)
        write(folder / f"linear-{seed}.csv", {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "truth": truth,
                                              "prediction": np.where(wrong, 1 - truth, truth)})  # fmt: skip


def read(path: Path) -> dict[str, np.ndarray]:
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return {name: np.array(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)}


def failed(name: str, theirs: dict[str, Any]) -> bool:
    if "failed" in theirs:
        print(f"{name}: could not be run ({theirs['failed']})")
        return True
    return False


def compare_scans(folder: Path, theirs: dict[str, Any]) -> None:
    """Both scans are heuristics over starts: they agree if the scores do, and ours may be higher."""
    if failed("aif360 bias scan", theirs):
        return
    same = higher = lower = 0
    for key, found in theirs.items():
        table, direction, penalty = key.split()
        columns = read(folder / f"{table}.csv")
        names = [name for name in columns if name not in ("y", "expected")]
        coded = [np.unique(columns[name], return_inverse=True) for name in names]
        y, expected = columns["y"].astype(float), columns["expected"].astype(float)
        observed = Observed(
            codes=np.stack([codes for _, codes in coded]),
            sizes=tuple(len(levels) for levels, _ in coded),
            people=np.ones(len(y)),
            hits=y,
            log_odds=special.logit(expected),
        )
        sign = 1 if direction == "positive" else -1
        best = scan(observed, np.random.default_rng(0), penalty=float(penalty), directions=[sign])[0]
        difference = best.score - found["score"]
        same += abs(difference) <= 1e-3
        higher += difference > 1e-3
        lower += difference < -1e-3
    print(f"aif360 bias scan: {same} of {len(theirs)} best scores equal to 0.001, {higher} higher, {lower} lower here")


def compare_chaid(folder: Path, theirs: dict[str, Any]) -> None:
    """The root's split of the attribute that the package chose: the same groups of levels and the same p-value."""
    if failed("CHAID", theirs):
        return
    groups_agree = p_agree = chosen_agree = 0
    for table, found in theirs.items():
        columns = read(folder / f"{table}.csv")
        y = columns["y"].astype(int)
        values = {}
        for name in columns:
            if name == "y":
                continue
            levels, codes = np.unique(columns[name], return_inverse=True)
            counts = np.bincount(codes * 2 + y, minlength=2 * len(levels)).reshape(-1, 2)
            merged = merge_levels(counts, False, PARITY, least=7)
            words = [sorted(str(levels[code]) for code in group) for group in merged.groups]
            ways = log_ways(len(levels), len(merged.groups), ordered=False)
            values[name] = (merged.log_p, sorted(words), merged.log_p - ways)
        best = min(values, key=lambda name: values[name][0])
        chosen_agree += best == found["attribute"]
        _, words, log_p = values[found["attribute"]]
        groups_agree += words == found["groups"]
        p_agree += bool(np.isclose(np.exp(log_p), found["p"], rtol=1e-6, atol=1e-300))
    n = len(theirs)
    print(f"CHAID: same attribute at the root in {chosen_agree} of {n} tables, same merged levels in {groups_agree}, "
          f"same p before Kass's correction, which the package does not make, in {p_agree}")  # fmt: skip


def compare_linear(folder: Path, theirs: dict[str, Any]) -> None:
    """The same people in one of our two groups (above and below)."""
    if failed("aif360 gerryfair auditor", theirs):
        return
    agree = 0
    for key, found in theirs.items():
        table, definition = key.split()
        columns = read(folder / f"{table}.csv")
        x = np.stack([columns[name].astype(float) for name in ("a", "b", "c")], axis=1)
        truth, said = columns["truth"].astype(int), columns["prediction"].astype(int)
        rows = truth == (0 if definition == "FP" else 1)
        hits = (said != truth)[rows].astype(int)
        ours = [
            x[rows] @ group.weights > group.threshold for group in audit_rate(x[rows], np.ones(rows.sum(), int), hits)
        ]
        members = np.array(found["members"], dtype=bool)
        agree += any(np.mean(mask == members) > 0.999 for mask in ours)
    print(
        f"aif360 gerryfair auditor: one of our two half-spaces has the same people in {agree} of {len(theirs)} audits"
    )


def compare_first(folder: Path, theirs: dict[str, Any]) -> None:
    """Whether the first group is one of race and gender, and the one that ALD lists first."""
    for name in ("divexplorer", "pysubgroup", "sliceline"):
        answers = {key.split()[0]: found for key, found in theirs.items() if key.endswith(name)}
        broken = [found["failed"] for found in answers.values() if "failed" in found]
        if broken:
            print(f"{name}: could not be run ({broken[0]})")
            continue
        right = same = 0
        for table, found in answers.items():
            items = str(found["items"])
            columns = read(folder / f"{table}.csv")
            names = [attribute for attribute in columns if attribute != "y"]
            named = {attribute for attribute in names if attribute in items}
            right += named == {"race", "gender"}
            group = ald.audit(columns, outcome="y").groups[:1]
            words = [level for condition in (group[0].criterion if group else ()) for level in condition.levels]
            same += bool(words) and named == {"race", "gender"} and all(word in items for word in words)
        print(
            f"{name}: first group is one race and one gender in {right} of {len(answers)} tables, ALD's first in {same}"
        )


if __name__ == "__main__":
    main()
