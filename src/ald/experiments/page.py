"""The study on paper: CSV, figures as SVG, one HTML page without pictures in pixels, one Markdown page."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import isnan, sqrt

import numpy as np

from ald.datasets import make_synthetic
from ald.experiments.cells import Cell, rate
from ald.experiments.figures import Point, bar_chart, line_chart
from ald.experiments.grids import LOCATION, NULLS, REFERENCE, SWEEPS, VARIANTS, WIDTH
from ald.experiments.public_tables import PublicTable, Row
from ald.experiments.statements import Measured, Statement, statements, sweep_rates
from ald.experiments.systems import COMPARED

DISAGREEMENTS = (
    (
        "alpha",
        "The published package passes alpha on, but its forest sets its own criterion to 0, which wins: "
        "trees grow to the end whatever alpha is. We honour alpha.",
    ),
    (
        "the correctness flag",
        "The column called ground truth in the published COMPAS file says whether the prediction was "
        "correct. Read as the truth it gives other error rates; read as that flag it gives the published "
        "table.",
    ),
    (
        "the COMPAS table needs alpha 1",
        "Whether a prediction is wrong hardly depends on race, because false positives and false "
        "negatives differ in opposite directions. With alpha 0.1 honoured, most trees that split on the error "
        "indicator stop at the root, and whether the published groups are found depends on the halving. ALD's own "
        "trees test both error rates, and find them.",
    ),
    (
        "phantom rows",
        "In the published package a leaf that nobody of D2 reaches has p = 0 and is ranked first. Here it "
        "is undefined and never listed.",
    ),
    (
        "Adult's labels",
        "In the file behind the published Adult numbers all 16,281 rows of the test file have outcome 0: it "
        'writes ">50K." with a full stop. With correct labels the same groups have a psi of about 0.35 '
        "instead of 0.23.",
    ),
    (
        "three rows, one finding",
        "The three groups of the Adult table are nearly the same people. ALD lists each finding once.",
    ),
)


_HOW = (
    'A system searches on half of the data and its list is tested on the other half, unless it says "untested" or "as '
    'published": those are not tested, and their first three groups count, whether or not chance explains them. "As '
    'published" also sees all of the data. Where a list names ages one by one, the interval from the lowest to the '
    "highest counts. A half-space of the linear auditor counts if its people are nearly those of a true group. "
    "Standard errors behind verdicts are those with one run more of each kind: not 0 where all runs agree."
)


_ENOUGH = 100
_FEW = "With so few runs the verdicts below mean little: the study proper has 100."


@dataclass(frozen=True, kw_only=True)
class Study:
    """What was measured; parts that were not asked for are empty."""

    runs: int
    command: str
    measured: Measured = field(default_factory=dict)
    figures: Sequence[str] = ()
    tables: Sequence[PublicTable] = ()


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of a page: a heading, a paragraph, a table or a figure."""

    kind: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


def files(study: Study) -> dict[str, str]:
    """All files of the study, by name, as text."""
    figures = _figures(study)
    blocks = _blocks(study, figures)
    out = {f"results/{name}.svg": svg for name, svg in figures.items()}
    if study.measured:
        out["results/location.csv"] = _csv(study.measured)
    out["results/results.html"] = _html(blocks, figures)
    out["results.md"] = _markdown(blocks)
    return out


def _csv(measured: Measured) -> str:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["data_set", "rho", "width", "system", "runs", "located", "located_error", "strict", "strict_error",
                     "lists_anything", "names_race"])  # fmt: skip
    for cell, results in sorted(measured.items()):
        located, strict = rate(results, "located"), rate(results, "strict")
        writer.writerow([cell.dataset, f"{cell.rho:g}", f"{cell.width:g}", cell.system, len(results),
                         f"{located.share:.4f}", f"{located.error:.4f}", f"{strict.share:.4f}", f"{strict.error:.4f}",
                         f"{rate(results, 'listed').share:.4f}", f"{rate(results, 'race').share:.4f}"])  # fmt: skip
    return target.getvalue()


def _figures(study: Study) -> dict[str, str]:
    out = {}
    for figure, systems in (("fig-location", LOCATION), ("fig-variants", VARIANTS)):
        if figure not in study.figures:
            continue
        for sweep in SWEEPS:
            series = {
                COMPARED[system].label: [Point(x=value, y=found.share, error=found.error) for value, found in line]
                for system in systems
                if (line := sweep_rates(study.measured, sweep.key, system, "located"))
            }
            label = "rho" if sweep.parameter == "rho" else "width of the band in years"
            out[f"{figure}-{sweep.key}"] = line_chart(sweep.title, label, "location rate", series)
    if "fig-data" in study.figures:
        out["fig-data-1"], out["fig-data-2"] = _data_one(), _data_two()
    return out


def _data_one() -> str:
    """Data set 1 as an example: the rate by age and race."""
    columns = make_synthetic(1, rho=0.2, width=24.0, seed=0)
    bins = np.arange(18, 91, 6)
    at = np.digitize(columns["age"], bins) - 1
    series = {}
    for race in ("r1", "r2", "r3"):
        points = []
        for i, start in enumerate(bins[:-1]):
            y = columns["y"][(at == i) & (columns["race"] == race)]
            share = float(y.mean())
            points.append(Point(x=float(start + 3), y=share, error=sqrt(share * (1 - share) / len(y))))
        series[race] = points
    return line_chart("Data set 1 (rho 0.2, width 24): favourable outcomes by age and race", "age", "rate", series)


def _data_two() -> str:
    """Data set 2 as an example: the rate by race and gender, alone and together."""
    columns = make_synthetic(2, rho=0.2, seed=0)
    groups = {word: columns[name] == word for name, word in
              (("race", "r1"), ("race", "r2"), ("gender", "g1"), ("gender", "g2"))}  # fmt: skip
    groups |= {f"{r} {g}": groups[r] & groups[g] for r in ("r1", "r2") for g in ("g1", "g2")}
    bars = {}
    for label, inside in groups.items():
        y = columns["y"][inside]
        bars[label] = Point(x=0.0, y=float(y.mean()), error=float(sqrt(y.mean() * (1 - y.mean()) / len(y))))
    return bar_chart("Data set 2 (rho 0.2): favourable outcomes by race, gender and both", "rate", bars)


def _blocks(study: Study, figures: Mapping[str, str]) -> list[Block]:
    out = [
        Block(kind="title", text="Results"),
        Block(kind="text", text="This page is written by the study itself. Command:"),
        Block(kind="code", text=study.command),
    ]
    found = statements(study.measured)
    if found:
        out += [
            Block(kind="heading", text="What the paper states, and what we measure"),
            Block(
                kind="text", text=f"Location rates are shares of {study.runs} random data sets of 10,000 people. {_HOW}"
            ),
            *([] if study.runs >= _ENOUGH else [Block(kind="text", text=_FEW)]),
            _statement_table(found),
        ]
    for figure, systems, words in (
        ("fig-location", LOCATION, "Location rate of all systems"),
        ("fig-variants", VARIANTS, "Location rate of ALD with other searches"),
    ):
        if figure in study.figures:
            out.append(Block(kind="heading", text=words))
            for sweep in SWEEPS:
                out.append(Block(kind="figure", text=f"{figure}-{sweep.key}"))
                out.append(_rate_table(study.measured, sweep.key, systems))
    if study.measured:
        out += _null_blocks(study.measured)
        out += _reference_blocks(study.measured)
    if "fig-data" in study.figures:
        out.append(Block(kind="heading", text="The synthetic data"))
        out += [Block(kind="figure", text=name) for name in figures if name.startswith("fig-data")]
    for table in study.tables:
        out += _public_blocks(table)
    out.append(Block(kind="heading", text="Where we do not agree, and why"))
    out.append(Block(kind="table", rows=(("what", "why"), *DISAGREEMENTS)))
    return out


def _statement_table(found: Sequence[Statement]) -> Block:
    rows = [("statement", "measured", "verdict")]
    rows += [(entry.statement, entry.number, entry.verdict) for entry in found]
    return Block(kind="table", rows=tuple(rows))


def _rate_table(measured: Measured, sweep_key: str, systems: Sequence[str]) -> Block:
    (sweep,) = (sweep for sweep in SWEEPS if sweep.key == sweep_key)
    rows: list[tuple[str, ...]] = [(f"any / strict, by {sweep.parameter}", *(f"{value:g}" for value in sweep.values))]
    for system in systems:
        located = dict(sweep_rates(measured, sweep_key, system, "located"))
        strict = dict(sweep_rates(measured, sweep_key, system, "strict"))
        if located:
            cells = (f"{located[value]} / {strict[value]}" if value in located else "" for value in sweep.values)
            rows.append((COMPARED[system].label, *cells))
    return Block(kind="table", rows=tuple(rows))


def _null_blocks(measured: Measured) -> list[Block]:
    rows: list[tuple[str, ...]] = [("lists anything where nothing is (rho 0)", *(f"data set {d}" for d, _ in NULLS))]
    for system in COMPARED:
        cells = [Cell(dataset=dataset, rho=rho, width=WIDTH, system=system) for dataset, rho in NULLS]
        if all(cell in measured for cell in cells):
            rows.append((COMPARED[system].label, *(str(rate(measured[cell], "listed")) for cell in cells)))
    if len(rows) == 1:
        return []
    note = "In data set 1 race matters whatever rho is, so something is there to be listed; in data set 2 nothing is."
    return [
        Block(kind="heading", text="Where there is nothing to find"),
        Block(kind="text", text=note),
        Block(kind="table", rows=tuple(rows)),
    ]


def _reference_blocks(measured: Measured) -> list[Block]:
    rows: list[tuple[str, ...]] = [("data set", "rho", "width", "ALD with the paper's settings", "reference software")]
    for (dataset, rho, width), known in REFERENCE.items():
        cell = Cell(dataset=dataset, rho=rho, width=float(width), system="ald-paper")
        if cell in measured:
            ours = f"{rate(measured[cell], 'located')} / {rate(measured[cell], 'strict')}"
            wide = f"{width:g}" if dataset == 1 else ""
            rows.append((str(dataset), f"{rho:g}", wide, ours, f"{known[0]:.2f} / {known[1]:.2f}"))
    if len(rows) == 1:
        return []
    return [
        Block(kind="heading", text="The paper's settings against the reference software"),
        Block(
            kind="text", text="Any / strict; the reference is R's partykit with the paper's settings, 100 data sets."
        ),
        Block(kind="table", rows=tuple(rows)),
    ]


def _public_blocks(table: PublicTable) -> list[Block]:
    out = [Block(kind="heading", text=table.title)]
    for words, rows in (("the paper", table.paper), *table.counted, *table.listed):
        out.append(
            Block(kind="text", text=f"{words[0].upper()}{words[1:]}" + (":" if rows else ": no group is listed."))
        )
        if rows:
            out.append(_group_table(rows))
    return [*out, *(Block(kind="text", text=note) for note in table.notes)]


def _group_table(rows: Sequence[Row]) -> Block:
    parts = any(row.parts for row in rows)
    notes = any(row.note for row in rows)
    header = ("group", "share", "psi", *(("fpr", "fnr") if parts else ()), *(("ranking",) if notes else ()))
    body = [
        (
            row.group,
            f"{100 * row.share:.1f} %",
            "" if isnan(row.psi) else f"{row.psi:.3f}",
            *(f"{value:+.3f}" for value in row.parts),
            *((row.note,) if notes else ()),
        )
        for row in rows
    ]
    return Block(kind="table", rows=(header, *body))


def _markdown(blocks: Sequence[Block]) -> str:
    lines: list[str] = []
    for block in blocks:
        if block.kind == "title":
            lines += [f"# {block.text}", ""]
        elif block.kind == "heading":
            lines += [f"## {block.text}", ""]
        elif block.kind == "code":
            lines += ["```sh", block.text, "```", ""]
        elif block.kind == "figure":
            lines += [f"![{block.text}](results/{block.text}.svg)", ""]
        elif block.kind == "table":
            header, *rows = block.rows
            lines += [_cells(header), "|" + "---|" * len(header), *map(_cells, rows), ""]
        else:
            lines += [block.text, ""]
    return "\n".join(lines)


def _cells(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"


def _html(blocks: Sequence[Block], figures: Mapping[str, str]) -> str:
    parts = []
    for block in blocks:
        text = escape(block.text)
        if block.kind == "title":
            parts.append(f"<h1>{text}</h1>")
        elif block.kind == "heading":
            parts.append(f"<h2>{text}</h2>")
        elif block.kind == "code":
            parts.append(f"<pre>{text}</pre>")
        elif block.kind == "figure":
            parts.append(figures[block.text])
        elif block.kind == "table":
            header, *rows = block.rows
            head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
            body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
            parts.append(f"<table>\n<tr>{head}</tr>\n{body}</table>")
        else:
            parts.append(f"<p>{text}</p>")
    style = (
        "body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}"
        "th,td{border:1px solid #ccc;padding:.25rem .5rem;text-align:left;vertical-align:top}"
        "svg{max-width:100%;height:auto}"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Results</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )
