"""What touches data, in a process of its own: it can be killed, and has a limit of memory.

It reads one task as a line of JSON from standard input, and writes lines of JSON: how far it is, and how it ended.
Results are files in the folder of the task. Where its standard input ends, whoever wanted the result is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ald._core.arrays import BoolArray, IntArray
    from ald.data.columns import Column
    from ald.data.table import Table
    from ald.groups.criterion import Criterion
    from ald.groups.tree import Forest
    from ald.results.look import Look

Tell = Callable[..., None]

# Of the data that pages show: rows, columns, and values to choose from.
ROWS, COLUMNS, VALUES = 6, 200, 60
# Where results lie in the folder of a task.
LOOK, AUDIT, PARTS, REPORT, NODE = "look.json", "audit.json", "parts.json", "report", "node.json"
# Values of an attribute that are told of a node's people.
VALUES_TOLD = 6


def main() -> None:
    """Does the one task."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints does not get between the lines

    def tell(event: str, **told: Any) -> None:
        out.write(json.dumps({"event": event, **told}) + "\n")
        out.flush()

    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.umask(0o077)
    limit_memory(task["memory"])
    from ald._core.shortage import shortage_in_words
    from ald.errors import AldError
    from ald.groups.criterion import visible

    try:
        with shortage_in_words():
            TASKS[task["kind"]](task, tell)
    except AldError as error:
        tell("failed", message=visible(str(error)))
    except Exception as error:
        # Whatever else fails shall be told, and be one audit that failed.
        tell(
            "failed",
            message=visible(f"this did not work, and should not have failed so: {type(error).__name__}: {error}"),
        )
    else:
        tell("done")
    # Threads of libraries need not come to an end.
    os._exit(0)


def _end_with_parent() -> None:
    """Ends this process where the one that started it is gone."""
    with contextlib.suppress(OSError):
        while os.read(0, 1024):
            pass
    os._exit(1)


def limit_memory(most: int) -> None:
    """No more memory than this many bytes; where the machine runs out of it, this process goes first (Linux)."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def data_of(source: Mapping[str, Any]) -> Any:
    """The data as `ald.audit` takes it: a file, or the address of a database; or an embedded data set."""
    from ald import datasets

    if "embedded" in source:
        return getattr(datasets, source["embedded"])(*source["arguments"])
    return source["path"]


def look_at(task: Mapping[str, Any], tell: Tell) -> None:
    """Writes what there is to see in the data before an audit."""
    from ald.data.inputs.fingerprint import note_file
    from ald.looking import load_source, look
    from ald.options.objects import Source

    data, kinds = data_of(task["source"]), task["asked"].get("kinds") or {}
    tell("progress", step="load", share=0.0)
    seen = note_file(data)
    table = load_source(Source(data=data, query=task["asked"].get("query"), kinds=kinds))
    tell("progress", step="look", share=0.5)
    columns = {key: value for key, value in task["asked"].items() if key not in ("kinds", "query")}
    found = look(Source(data=table, kinds=kinds), **columns)
    shown = list(table.columns.values())[:COLUMNS]
    asked = {name for name in (found.outcome, found.prediction, found.truth) if name}
    told = {
        "look": found.to_dict(),
        "needs_favourable": _needs_favourable(found, table),
        "sha256": None if seen is None else seen.sha256(),
        "preview": [[_value(column, row) for column in shown[:30]] for row in range(min(ROWS, table.n_rows))],
        "values": {
            name: column.words()
            for name, column in table.columns.items()
            if (name in asked or len(shown) < COLUMNS or column in shown) and column.n_codes <= VALUES
        },
    }
    write(task, LOOK, json.dumps(told))


def _needs_favourable(found: Look, table: Table) -> bool:
    """Whether nobody can tell which of the two values of what is audited counts."""
    from ald.data.outcomes import counted_value

    name = found.outcome or found.prediction
    if name is None or found.favourable is not None:
        return False
    return table[name].n_codes == 2 and counted_value(table[name]) is None


def _value(column: Any, row: int) -> str:
    code = int(column.codes[row])
    if code == column.n_codes:
        return ""
    if column.values is None:
        return str(column.levels[code])
    from ald.groups.criterion import format_bound

    return format_bound(float(column.values[code]), column.kind)


def audit_data(task: Mapping[str, Any], tell: Tell) -> None:
    """Writes the document of an audit, and its report as parts of a page."""
    from ald.auditing import audit_with

    def progress(step: str, share: float) -> None:
        tell("progress", step=step, share=share)

    found = audit_with(task["options"] | {"data": data_of(task["source"]), "progress": progress})
    tell("progress", step="report", share=1.0)
    found = replace(found, input_name=task["name"], ledger=_ledger(task))
    write(task, AUDIT, found.to_json())
    _write_parts(task, found)


def render(task: Mapping[str, Any], tell: Tell) -> None:
    """Writes a report of an earlier audit in one of the formats of files, or as parts of a page."""
    from ald.report.files import RENDERERS
    from ald.report.identity import identify
    from ald.report.summary.report import summarise
    from ald.results.audit import Audit

    with open(task["document"], "rb") as file:
        audit = Audit.from_json(file.read())
    audit = replace(audit, input_name=task["name"], input_sha256=task["sha256"], ledger=_ledger(task))
    if task["format"] == "parts":
        _write_parts(task, audit)
    elif task["format"] == "json":
        write(task, REPORT, audit.to_json())
    else:
        write(task, REPORT, RENDERERS[task["format"]](summarise(audit, identify())))


def describe_node(task: Mapping[str, Any], tell: Tell) -> None:
    """Writes who the people of a tree's node are, beside everyone: shares of values, and quarters of numbers."""
    import numpy as np

    from ald.groups.wording import readable
    from ald.looking import load_source
    from ald.options.objects import Source
    from ald.results.audit import Audit

    with open(task["document"], "rb") as file:
        audit = Audit.from_json(file.read())
    forest, least = audit.forest, audit.config.min_group_size
    criterion = criterion_of_node(forest, task["tree"], task["node"])
    table = load_source(Source(data=data_of(task["source"]), query=task["query"], kinds=task["kinds"]))
    inside = criterion.mask(table)
    counts = np.ones(table.n_rows, np.int64) if table.counts is None else table.counts
    rows = [row for attribute in forest.attributes for row in compare(table[attribute.name], counts, inside, least)]
    told = {
        "criterion": readable(criterion) if len(criterion) else "everyone",
        "people": int(counts[inside].sum()),
        "of": int(counts.sum()),
        "rows": rows,
    }
    write(task, NODE, json.dumps(told))


def criterion_of_node(forest: Forest, tree: int, node: int) -> Criterion:
    """The conditions on the way to a node, by its place in its tree, in a forest as documents hold it."""
    import numpy as np

    from ald.errors import InputError
    from ald.groups.rules import decode

    places = np.flatnonzero(forest.tree == tree)
    if not 0 <= node < len(places):
        raise InputError("there is no such node")
    # Documents hold the cut points that were used; above the last of them is one more part.
    attributes = tuple(
        one if one.values is None else replace(one, values=np.append(one.values, np.inf)) for one in forest.attributes
    )
    return decode(forest.criteria([one.size for one in attributes])[int(places[node])], attributes)


def compare(column: Column, counts: IntArray, inside: BoolArray, least: int = 1) -> list[list[str]]:
    """Rows of a table: an attribute, one of its values, and how many have it inside and among everyone.

    least: values of fewer people inside are not shown.
    """
    from ald.data.coded import weighted_bincount
    from ald.report.words import percent

    known = ~column.missing
    people = [int(counts[known & who].sum()) for who in (inside, known)]
    if column.values is not None and column.n_codes > VALUES_TOLD:
        rows = []
        for part, said in ((0.25, "a quarter below"), (0.5, "half below"), (0.75, "three quarters below")):
            at = [_quantile(column, counts * who, part) for who in (inside & known, known)]
            rows.append([column.name, said, *at])
        return rows
    words = column.words()
    sizes = [weighted_bincount(column.codes[who], counts[who], column.n_codes + 1) for who in (inside & known, known)]
    large = [code for code in range(column.n_codes) if not 0 < int(sizes[0][code]) < least]
    first = sorted(large, key=lambda code: (-int(sizes[0][code]), code))[:VALUES_TOLD]
    return [
        [
            column.name,
            words[code],
            *(percent(size[code] / n) if n else "" for size, n in zip(sizes, people, strict=True)),
        ]
        for code in sorted(first)
    ]


def _quantile(column: Column, weights: IntArray, part: float) -> str:
    """The value below which this part of the people is."""
    import numpy as np

    from ald.data.coded import weighted_bincount

    sizes = np.cumsum(weighted_bincount(column.codes, weights, column.n_codes + 1)[:-1])
    if not len(sizes) or sizes[-1] == 0:
        return ""
    return column.words()[int(np.searchsorted(sizes, part * sizes[-1]))]


def _ledger(task: Mapping[str, Any]) -> Any:
    """The questions that were asked so far."""
    from ald.results.ledger import Ledger

    return Ledger.from_dict(task["ledger"])


def _write_parts(task: Mapping[str, Any], audit: Any) -> None:
    """The report as a page shows it, and its pictures as files."""
    from ald.report.html import report_content, report_header
    from ald.report.identity import identify
    from ald.report.summary.report import summarise

    report = summarise(audit, identify())
    figures = draw_figures(audit)
    for name, (_, svg) in figures.items():
        write(task, name, svg)
    parts = {
        "title": report.headline,
        "header": report_header(report),
        "content": report_content(report),
        "figures": {name: title for name, (title, _) in figures.items()},
        "sha256": audit.input_sha256,
        "trees": [None if card.tree is None else card.tree.number for card in report.cards],
    }
    write(task, PARTS, json.dumps(parts))


def draw_figures(audit: Any) -> dict[str, tuple[str, str]]:
    """Every picture of an audit by the name of its file, with what it shows."""
    if not audit.groups:
        return {}
    found = {"groups.svg": ("All listed groups", str(audit.plot()))}
    cards = audit.report().cards
    for card in cards:
        group = card.finding
        found[f"group-{card.rank}.svg"] = (f"Group {card.rank}", str(audit.plot(group)))
        for i, view in enumerate(card.curves, 1):
            title = f"Group {card.rank} along {view.attribute}"
            found[f"group-{card.rank}-along-{i}.svg"] = (title, str(audit.plot_along(group, view.attribute)))
        if group.tree is not None and group.node is not None:
            found[f"group-{card.rank}-tree.svg"] = (
                f"The search tree of group {card.rank}",
                str(audit.plot_tree(group)),
            )
    return found


def write(task: Mapping[str, Any], name: str, content: str | bytes) -> None:
    """A file in the folder of the task, for its owner alone."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle = os.open(os.path.join(task["folder"], name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


TASKS: Mapping[str, Callable[[Mapping[str, Any], Tell], None]] = {
    "look": look_at,
    "audit": audit_data,
    "render": render,
    "node": describe_node,
}

if __name__ == "__main__":
    main()
