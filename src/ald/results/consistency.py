"""Whether the parts of a document fit one another; `shapes` says what each must be by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from types import NoneType
from typing import Any

from ald.errors import InputError, shown
from ald.notions import AMOUNT_CELLS, MOST_DECIMALS
from ald.results.shapes import PEOPLE, SHARE, check_shape
from ald.results.spreads import SHARES

_SIDE = {"people": (PEOPLE, NoneType), "score": (SHARE, NoneType), "truth": (SHARE, NoneType)}
_AREA = {"value": (SHARE, NoneType), "interval": [(SHARE, NoneType)]}
RELIABILITY = {
    "bands": [{"first": SHARE, "last": SHARE, "inside": _SIDE, "outside": _SIDE}],
    "auc_inside": _AREA,
    "auc_outside": _AREA,
}


def check_consistency(document: dict[str, Any]) -> None:
    """Raises where parts of the document do not fit one another."""
    check_shape(document["config"].get("classes", []), [str], "config.classes.")
    check_shape(document["config"].get("score"), (str, NoneType), "config.score.")
    rates = {notion["name"]: {rate["key"] for rate in notion["rates"]} for notion in document["notions"]}
    of_amounts = _check_added(document)
    findings = [entry for name in ("giveaways", "groups", "named_groups", "candidates") for entry in document[name]]
    for entry in findings:
        keys = rates.get(entry["notion"])
        by_rate = ("parts", "rates_inside", "rates_outside", "ratios", "part_intervals")
        bounds = [entry["interval"], entry["interval_unadjusted"], *entry["part_intervals"].values()]
        strata = [stratum[name] for stratum in entry["strata"] for name in ("rates_inside", "rates_outside", "parts")]
        rated = [*(entry[name] for name in by_rate), *strata]
        whole = all(set(values) == keys for values in rated) and all(is_interval(pair) for pair in bounds)
        counts = entry["counts_inside"]
        if not whole or entry["size"] != (counts["people"] if of_amounts else sum(counts.values())):
            raise InputError(
                f"this audit document is damaged: a finding does not fit the notion: {shown(entry['criterion'])}"
            )
    check_outcomes(document, [*findings, *document["gaps"]["rows"], *document["detectable"]])
    significant = document["significant"]
    whole = all(a < b for a, b in pairwise([-1, *significant, len(document["candidates"])]))
    if not whole or len(significant) < len(document["groups"]):
        raise InputError("this audit document is damaged: `significant` does not fit its groups and candidates")
    if "forest" in document:
        _check_forest(document["forest"])
    _check_gaps(document, rates)
    _check_details(document)
    _check_profile(document)
    _check_origins(document)


def check_outcomes(document: dict[str, Any], about: Sequence[dict[str, Any]]) -> None:
    """Raises where the audited columns are not those that were asked for, or where something is about none of them."""
    config = document["config"]
    named = config["outcome"] or [config.get("score") or config["prediction"], config["truth"]]
    audited = dict.fromkeys([named] if isinstance(named, str) else [name for name in named if name is not None])
    if [entry["name"] for entry in document["data"]["outcomes"]] != list(audited):
        raise InputError("this audit document is damaged: `outcomes` of `data` are not those of `config`")
    known = {None, *audited, *config.get("classes", ())}
    for entry in about:
        if entry.get("outcome") not in known:
            raise InputError(f"this audit document is damaged: nothing is known of outcome {shown(entry['outcome'])}")


def _check_added(document: dict[str, Any]) -> bool:
    """Whether amounts are added up; raises where that is not told as it must be, or fewer than nobody are counted."""
    rates = [rate for notion in document["notions"] for rate in notion["rates"]]
    of_amounts = any("per_one" in rate for rate in rates)
    if of_amounts and not (len(rates) == 1 and all(_is_mean(rate) for rate in rates)):
        raise InputError("this audit document is damaged: its notion is no mean of amounts")
    findings = [entry for name in ("giveaways", "groups", "named_groups", "candidates") for entry in document[name]]
    details, forest = document["details"], document.get("forest", {"counts": []})
    named = [
        document["data"]["cells"],
        *(entry[f"counts_{side}"] for entry in findings for side in ("inside", "outside")),
    ]
    listed = [bin_["counts"] for curve in details["curves"] for bin_ in curve["bins"]]
    listed += [counts for group in details["dropped"] for entry in group for counts in entry["within"]]
    listed += [*forest["counts"], *(cells for tree in details.get("trees", ()) for cells in tree["counts"])]
    listed = [cells for cells in listed if cells is not None]
    if of_amounts:
        ends = document["data"]["outcomes"][0]
        if not all(_is_number(ends[name]) for name in ("negative", "positive")):
            raise InputError("this audit document is damaged: the ends of its amounts are no numbers")
        whole = all(tuple(cells) == AMOUNT_CELLS for cells in named)
        whole &= all(len(cells) == len(AMOUNT_CELLS) for cells in listed)
        tables = [*(tuple(cells.values()) for cells in named), *map(tuple, listed)]
        whole = whole and all(min(people, high, low) >= 0 for people, _, high, low in tables)
    else:
        whole = all(min([0, *cells.values()]) >= 0 for cells in named) and all(
            min([0, *cells]) >= 0 for cells in listed
        )
    if not whole:
        raise InputError("this audit document is damaged: some of its counts cannot be right")
    return of_amounts


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _is_mean(rate: dict[str, Any]) -> bool:
    """Whether this says how amounts are counted and written."""
    per_one, origin, decimals = (rate.get(name) for name in ("per_one", "origin", "decimals"))
    return (
        isinstance(per_one, float)
        and 0.0 < per_one < 1e300
        and type(origin) is int
        and abs(origin) < 2**62
        and type(decimals) is int
        and 0 <= decimals <= MOST_DECIMALS
        and isinstance(rate.get("unit"), str)
        and isinstance(rate.get("is_share"), bool)
        and isinstance(rate.get("is_signed"), bool)
    )


def is_interval(pair: list[float | None]) -> bool:
    """Whether these are a lower and an upper bound, or neither."""
    if len(pair) != 2 or (pair[0] is None) != (pair[1] is None):
        return False
    return pair[0] is None or pair[1] is None or pair[0] <= pair[1]


def _check_forest(forest: dict[str, Any]) -> None:
    """Raises where nodes are no trees: each in preorder, its children below it, each with people of its parent."""
    columns = ("tree", "node", "parent", "left", "right", "counts", "attribute", "cut", "statistic", "log_p")
    n, books = len(forest["tree"]), forest["attributes"]
    whole = all(len(forest[name]) == n for name in columns) and len({len(cells) for cells in forest["counts"]}) <= 1
    whole &= all(0 <= tree < forest["trees"] for tree in forest["tree"])
    whole &= all(i.isdecimal() and int(i) < n and len(sides) == 2 for i, sides in forest["sides"].items())
    if not whole or not all(_is_node(forest, i, books) for i in range(n)):
        raise InputError("this audit document is damaged: the columns of its forest do not fit one another")


def _is_node(forest: dict[str, Any], i: int, books: list[dict[str, Any]]) -> bool:
    """Whether a node is where preorder has it, and splits as its attribute does."""
    tree, node, parent, left, right, attribute, cut = (
        forest[name][i] for name in ("tree", "node", "parent", "left", "right", "attribute", "cut")
    )
    same: list[int] = forest["tree"]
    n, sides = len(same), forest["sides"].get(str(i))
    starts = i == 0 or same[i - 1] < tree
    if not starts and (same[i - 1] != tree or node != forest["node"][i - 1] + 1):
        return False
    if (starts and (parent != -1 or node != 1)) or (not starts and i not in _children(forest, parent, i)):
        return False
    if attribute < 0:
        return left == right == -1 and sides is None
    if not (attribute < len(books) and left == i + 1 < right < n and same[left] == same[right] == tree):
        return False
    if forest["parent"][left] != i or forest["parent"][right] != i:
        return False
    if any(a != b + c for a, b, c in zip(*(forest["counts"][at] for at in (i, left, right)), strict=True)):
        return False
    book = books[attribute]
    if sides is not None:
        codes = [code for side in sides for code in side]
        known = len(book.get("levels", ()))
        return len(set(codes)) == len(codes) and all(code < known for code in codes)
    values: list[Any] = book["cuts"] if "cuts" in book else book["levels"]
    return bool(0 <= cut < len(values))


def _children(forest: dict[str, Any], parent: int, below: int) -> tuple[int, ...]:
    return (forest["left"][parent], forest["right"][parent]) if 0 <= parent < below else ()


def _check_origins(document: dict[str, Any]) -> None:
    """Raises where a finding comes from a node that there is not."""
    if "forest" not in document:
        return
    nodes = Counter(document["forest"]["tree"])
    searched = [*document["groups"], *([] if document.get("reduced") else document["candidates"])]
    for entry in searched:
        tree, node = entry["tree"], entry["node"]
        if (tree is None) != (node is None) or (tree is not None and not 1 <= node <= nodes[tree]):
            raise InputError(f"this audit document is damaged: no tree has the node of {shown(entry['criterion'])}")


def _check_gaps(document: dict[str, Any], rates: dict[str, set[str]]) -> None:
    """Raises where gaps do not fit the notions, or are not along one attribute each."""
    for entry in document["gaps"]["rows"]:
        by_rate = ("parts", "rates_inside", "rates_outside", "part_intervals")
        whole = all(set(entry[name]) == rates.get(entry["notion"]) for name in by_rate)
        whole &= all(is_interval(pair) for pair in (entry["interval"], *entry["part_intervals"].values()))
        if not whole or len(entry["conditions"]) != 1:
            raise InputError(
                f"this audit document is damaged: a gap does not fit the notion: {shown(entry['criterion'])}"
            )


def _check_details(document: dict[str, Any]) -> None:
    """Raises where the details do not fit the groups, the cells or one another."""
    curves = {(curve["attribute"], curve["outcome"]): curve for curve in document["details"]["curves"]}
    cells = {len(group["counts_inside"]) for group in document["groups"]}
    n_cells = max(cells, default=0)
    whole = len(cells) <= 1
    whole &= all(len(bin_["counts"]) == n_cells for curve in curves.values() for bin_ in curve["bins"])
    dropped = document["details"]["dropped"]
    whole &= len(dropped) == len(document["groups"])
    for group, entries in zip(document["groups"], dropped, strict=False):
        used = [condition["attribute"] for condition in group["conditions"]]
        whole &= all((name, group["outcome"]) in curves for name in used)
        shown = [entry["attribute"] for entry in entries]
        whole &= shown == [name for name in used if name in shown] and (len(used) > 1 or not shown)
        for entry in entries:
            bins = curves.get((entry["attribute"], group["outcome"]), {"bins": ()})["bins"]
            within = [counts for counts in entry["within"] if counts is not None]
            whole &= len(entry["within"]) == len(bins) and all(len(counts) == n_cells for counts in within)
            whole &= is_interval(entry["interval"]) and set(entry["rates_inside"]) == set(group["rates_inside"])
            whole &= set(entry["rates_outside"]) == set(group["rates_outside"])
    spreads = document["details"].get("spreads", ())
    whole &= len(spreads) in (0, len(document["groups"])) and all(_is_spread(spread) for spread in spreads)
    told = document["details"].get("reliabilities", ())
    whole &= len(told) in (0, len(document["groups"]))
    for one in told:
        check_shape(one, RELIABILITY, "details.reliabilities.")
    whole &= _fits_beside(document)
    nodes = Counter(document["forest"]["tree"]) if "forest" in document else Counter()
    for tree in document["details"].get("trees", ()):
        known = [cells for cells in tree["counts"] if cells is not None]
        whole &= len(tree["counts"]) == nodes[tree["tree"]] and all(len(cells) == n_cells for cells in known)
        whole &= bool(known) and tree["counts"][0] is not None
    if not whole:
        raise InputError("this audit document is damaged: its `details` do not fit its groups")


def _is_spread(spread: Any) -> bool:
    """Whether these are ascending quantiles inside and outside."""
    if not isinstance(spread, dict) or set(spread) != {"inside", "outside"}:
        return False
    sides = list(spread.values())
    if not all(isinstance(side, list) and all(type(value) in (int, float) for value in side) for side in sides):
        return False
    return all(len(side) in (0, len(SHARES)) and all(a <= b for a, b in pairwise(side)) for side in sides)


def _check_profile(document: dict[str, Any]) -> None:
    """Raises where the counts of the profile cannot be right."""
    profile = document["profile"] or {"columns": {}, "tables": []}
    for table in profile["tables"]:
        whole = bool(table["roles"]) and set(table["roles"]) <= set(profile["columns"])
        for category in table["categories"]:
            whole &= len(category["names"]) == len(table["roles"])
            whole &= 0 <= category["selected"] <= category["people"] > 0
        if not whole:
            raise InputError("this audit document is damaged: the counts of its `profile` do not fit one another")


def _fits_beside(document: dict[str, Any]) -> bool:
    """Whether the gaps among people who are alike otherwise are of the groups' rates."""
    held, groups = document["details"]["beside"], document["groups"]
    if len(held) != len(groups):
        return False
    for one, group in zip(held, groups, strict=True):
        if one is None:
            continue
        parts = [one["crude"], *(each["gaps"] for each in (*one["factors"], *one["attributes"]))]
        parts += [] if one["together"] is None else [one["together"]["gaps"]]
        for gaps in parts:
            if [gap["rate"] for gap in gaps] != list(group["parts"]) or not all(
                is_interval(gap["interval"]) for gap in gaps
            ):
                return False
    return True
