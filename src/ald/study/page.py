"""The study on paper: CSV, figures as SVG, one HTML page without pictures in pixels, one Markdown page."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from math import isnan

import numpy as np

from ald._core.arrays import AnyArray, BoolArray
from ald.datasets import make_synthetic
from ald.datasets.synthetic import true_rate
from ald.study.cases import Case, rate
from ald.study.figures import Counted, Point, count_chart, line_chart
from ald.study.grids import LOCATION, NULLS, REFERENCE, REFERENCE_RUNS, SWEEPS, VARIANTS, WIDTH, Sweep
from ald.study.judging import LEVEL
from ald.study.public_tables import PublicTable, Row, Search
from ald.study.statements import (
    SMALL_RHO,
    SMALL_WIDTH,
    Contest,
    Measured,
    Statement,
    contests,
    list_scenarios,
    statements,
    sweep_rates,
)
from ald.study.systems import COMPARED, SAME_PEOPLE

DISAGREEMENTS = (
    (
        "alpha",
        "The published package passes alpha on, but its forest sets its own criterion to 0, which wins: "
        "trees grow to the end whatever alpha is. We honour alpha, and so does the reference software on this page.",
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
        "chi2 in the paper's appendix A",
        "The paper's appendix A misprints the chi2 of fpr and fnr: where it prints 70.0, Pearson's is 113.9. We use "
        "Pearson's.",
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
    "highest counts. A half-space of the linear auditor counts if its people are nearly those of a true group.",
    'The subset scan "as published" is that of its authors\' software, which has practically no penalty and ten starts '
    'unless told otherwise. The scans called "subset scan" and "subset scan (our penalty, untested)" are ours: every '
    "level named costs 1 unit of the log-likelihood ratio, and there are 100 starts. The paper does not claim a lead "
    "over these.",
)
_JUDGED = (
    "Every claim is judged scenario by scenario. Two systems have looked at the same data sets, so that they are "
    "compared by McNemar's exact test; a share is compared with a bound by the exact binomial test, and with the "
    "reference software, which had data sets of its own, by Fisher's exact test. All tests are two-sided, and their "
    "p-values are corrected by Holm's method for the scenarios of one system against another on one data set (or of "
    f'one bound), at level {LEVEL:g}. "Significantly" below means just that. What the paper claims for very small rho '
    f"or width is judged at rho up to {SMALL_RHO:g} and width up to {SMALL_WIDTH:g}, and only there.",
    '"Reproduced": a lead is significant in every scenario, a bound is kept in every scenario. "Not contradicted": '
    'that is not so, but no scenario is significantly against the claim. "Not reproduced": some scenario is.',
)


Columns = dict[str, AnyArray]

_DATA = (
    "One data set of each kind: how many people of each age or group have the favourable and the unfavourable outcome, "
    "and the true probability from which outcomes were drawn."
)
_TREE = (
    "The tree of the group that ALD with the paper's settings, alpha 1, lists first on COMPAS (equalized odds by "
    "race): every node with psi, people and share."
)
_CONTESTS = (
    "In how many scenarios its location rate is higher than that of the other system, and in how many of these "
    "significantly; the same for lower; and the scenarios in which it is significantly lower."
)
_REFERENCE = (
    f"The reference software is R's partykit with the paper's settings and alpha 0.1, which is honoured here: a node "
    "splits where the smallest p-value is below it. (The published package does not honour it.) Its rates are those of "
    f"{REFERENCE_RUNS} data sets of its own per scenario, by benchmarks/reference.R."
)
_COUNTED = (
    "People and p are those of all rows where groups are counted (Pearson's chi2; for two error rates Fisher's "
    "method), and where ALD lists them those of the half that tests, or of everyone if nobody was kept apart (p is "
    "corrected). For a later group of ALD, psi is that within the strata of the groups before it, and crude psi "
    "compares it with everyone else. The paper gives shares, and p below 0.001 for every group."
)

_ENOUGH = 100
_FEW = "With so few runs the verdicts below mean little: the study proper has 100."


@dataclass(frozen=True, kw_only=True)
class Study:
    """What was measured; parts that were not asked for are empty. `pictures`: figures that need public data, as SVG."""

    runs: int
    command: str
    measured: Measured = field(default_factory=dict)
    figures: Sequence[str] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
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
        out["results/comparisons.csv"] = _comparisons(study.measured)
    out["results/results.html"] = _html(blocks, figures)
    out["results.md"] = _markdown(blocks)
    return out


def _csv(measured: Measured) -> str:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["data_set", "rho", "width", "system", "runs", "located", "located_error", "strict", "strict_error",
                     "lists_anything", "names_race"])  # fmt: skip
    for case, results in sorted(measured.items()):
        located, strict = rate(results, "located"), rate(results, "strict")
        writer.writerow([case.dataset, f"{case.rho:g}", f"{case.width:g}", case.system, len(results),
                         f"{located.share:.4f}", f"{located.error:.4f}", f"{strict.share:.4f}", f"{strict.error:.4f}",
                         f"{rate(results, 'listed').share:.4f}", f"{rate(results, 'race').share:.4f}"])  # fmt: skip
    return target.getvalue()


def _comparisons(measured: Measured) -> str:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["data_set", "rho", "width", "first", "other", "runs", "first_located", "other_located",
                     "only_first", "only_other", "scenarios", "p", "p_holm"])  # fmt: skip
    for found in contests(measured):
        for one in found.comparisons:
            dataset, rho, width = one.scenario
            writer.writerow([dataset, f"{rho:g}", f"{width:g}", found.first, found.other, one.first.runs,
                             one.first.hits, one.other.hits, one.only_first, one.only_other,
                             len(found.comparisons), f"{one.p:.4g}", f"{one.p_adjusted:.4g}"])  # fmt: skip
    return target.getvalue()


def _figures(study: Study) -> dict[str, str]:
    out = dict(study.pictures)
    for figure, systems in (("fig-location", LOCATION), ("fig-variants", VARIANTS)):
        if figure not in study.figures:
            continue
        for sweep in SWEEPS:
            series = {
                COMPARED[system].label: [Point(x=value, y=found.share, error=found.error) for value, found in line]
                for system in systems
                if (line := sweep_rates(study.measured, sweep, system, "located"))
            }
            label = "rho" if sweep.parameter == "rho" else "width of the band in years"
            out[f"{figure}-{sweep.key}"] = line_chart(sweep.title, label, "location rate", series)
    if "fig-data" in study.figures:
        out["fig-data-1"], out["fig-data-2"] = _data_one(), _data_two()
    return out


def _data_one() -> str:
    """Data set 1 as an example: both outcomes by age, and the true probability by age and race."""
    columns = make_synthetic(1, seed=0)
    edges = np.arange(18, 91, 6)
    at = np.digitize(columns["age"], edges) - 1
    places = [(f"{low}-{high}", at == i) for i, (low, high) in enumerate(pairwise(edges))]
    # The edges are ends of the band too, so that the probability is one number per bar and race.
    lines = {f"true probability, {race}": columns["race"] == race for race in ("r1", "r2", "r3")}
    return _counts("Data set 1 (rho 0.2, width 24): outcomes by age", "age", columns, 1, places, lines)


def _data_two() -> str:
    """Data set 2 as an example: both outcomes and the true probability by race and gender, alone and together."""
    columns = make_synthetic(2, seed=0)
    alone = [(word, columns[name] == word) for name, word in
             (("race", "r1"), ("race", "r2"), ("gender", "g1"), ("gender", "g2"))]  # fmt: skip
    both = [(f"{r} {g}", mine & yours) for r, mine in alone[:2] for g, yours in alone[2:]]
    everyone = {"true probability": np.ones(len(columns["y"]), dtype=bool)}
    title = "Data set 2 (rho 0.2): outcomes by race, gender and both"
    return _counts(title, "race and gender", columns, 2, alone + both, everyone)


def _counts(
    title: str,
    x_label: str,
    columns: Columns,
    dataset: int,
    places: Sequence[tuple[str, BoolArray]],
    lines: Mapping[str, BoolArray],
) -> str:
    """Both outcomes counted in groups of people, and the mean true probability there of each kind of people."""
    rate, y = true_rate(dataset, columns), columns["y"]
    bars = {
        label: Counted(favourable=int(y[inside].sum()), unfavourable=int((1 - y[inside]).sum()))
        for label, inside in places
    }
    series = {label: [float(rate[inside & kind].mean()) for _, inside in places] for label, kind in lines.items()}
    return count_chart(title, x_label, bars, series)


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
                kind="text",
                text=f"Location rates are shares of {study.runs} random data sets of 10,000 people. {_HOW[0]}",
            ),
            *(Block(kind="text", text=text) for text in (*_HOW[1:], *_JUDGED)),
            *([] if study.runs >= _ENOUGH else [Block(kind="text", text=_FEW)]),
            _statement_table(found),
        ]
    fought = contests(study.measured)
    if fought:
        out += _contest_blocks(fought)
    for figure, systems, words in (
        ("fig-location", LOCATION, "Location rate of all systems"),
        ("fig-variants", VARIANTS, "Location rate of ALD with other searches"),
    ):
        if figure in study.figures:
            out.append(Block(kind="heading", text=words))
            for sweep in SWEEPS:
                out.append(Block(kind="figure", text=f"{figure}-{sweep.key}"))
                out.append(_rate_table(study.measured, sweep, systems))
    if study.measured:
        out += _null_blocks(study.measured)
        out += _reference_blocks(study.measured)
    if "fig-data" in study.figures:
        out.append(Block(kind="heading", text="The synthetic data (the paper's figures 3 and 4)"))
        out.append(Block(kind="text", text=_DATA))
        out += [Block(kind="figure", text=name) for name in figures if name.startswith("fig-data")]
    for table in study.tables:
        out += _public_blocks(table)
    for name in study.pictures:
        out += [
            Block(kind="heading", text="A search tree (the paper's figure 1)"),
            Block(kind="text", text=_TREE),
            Block(kind="figure", text=name),
        ]
    out.append(Block(kind="heading", text="Where we do not agree, and why"))
    out.append(Block(kind="table", rows=(("what", "why"), *DISAGREEMENTS)))
    return out


def _statement_table(found: Sequence[Statement]) -> Block:
    rows = [("statement", "measured", "verdict")]
    rows += [(entry.statement, entry.measured, entry.verdict) for entry in found]
    return Block(kind="table", rows=tuple(rows))


def _contest_blocks(fought: Sequence[Contest]) -> list[Block]:
    """A table for each of the two systems that are compared with all others: scenarios ahead and behind."""
    out = []
    for first in dict.fromkeys(entry.first for entry in fought):
        rows: list[tuple[str, ...]] = [
            ("data set", "against", "scenarios", "higher", "significantly", "lower", "significantly", "at")
        ]
        rows += [
            (
                str(entry.dataset),
                entry.label,
                str(len(entry.comparisons)),
                *(str(n) for sign in (1, -1) for n in (entry.higher(sign), len(entry.where(sign)))),
                list_scenarios(entry.where(-1)),
            )
            for entry in fought
            if entry.first == first
        ]
        out += [
            Block(kind="heading", text=f"{COMPARED[first].label} against every other system"),
            Block(kind="text", text=_CONTESTS),
            Block(kind="table", rows=tuple(rows)),
        ]
    text = "results/comparisons.csv has every comparison: data sets that only one of the two locates, p, corrected p."
    return [*out, Block(kind="text", text=text)]


def _rate_table(measured: Measured, sweep: Sweep, systems: Sequence[str]) -> Block:
    rows: list[tuple[str, ...]] = [(f"any / strict, by {sweep.parameter}", *(f"{value:g}" for value in sweep.values))]
    for system in systems:
        located = dict(sweep_rates(measured, sweep, system, "located"))
        strict = dict(sweep_rates(measured, sweep, system, "strict"))
        if located:
            rates = (f"{located[value]} / {strict[value]}" if value in located else "" for value in sweep.values)
            rows.append((COMPARED[system].label, *rates))
    return Block(kind="table", rows=tuple(rows))


def _null_blocks(measured: Measured) -> list[Block]:
    rows: list[tuple[str, ...]] = [("lists anything where nothing is (rho 0)", *(f"data set {d}" for d, _ in NULLS))]
    for system in COMPARED:
        cases = [Case(dataset=dataset, rho=rho, width=WIDTH, system=system) for dataset, rho in NULLS]
        if all(case in measured for case in cases):
            rows.append((COMPARED[system].label, *(str(rate(measured[case], "listed")) for case in cases)))
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
        case = Case(dataset=dataset, rho=rho, width=float(width), system="ald-paper")
        if case in measured:
            ours = f"{rate(measured[case], 'located')} / {rate(measured[case], 'strict')}"
            wide = f"{width:g}" if dataset == 1 else ""
            rows.append((str(dataset), f"{rho:g}", wide, ours, f"{known[0]:.2f} / {known[1]:.2f}"))
    if len(rows) == 1:
        return []
    return [
        Block(kind="heading", text="The paper's settings against the reference software"),
        Block(kind="text", text=f"Any / strict. {_REFERENCE}"),
        Block(kind="table", rows=tuple(rows)),
    ]


def _public_blocks(table: PublicTable) -> list[Block]:
    out = [Block(kind="heading", text=table.title), Block(kind="text", text=_COUNTED)]
    for words, rows in (("the paper", table.paper), *table.counted):
        out += _group_blocks(words, rows)
    out += _search_blocks(table.searches)
    for words, rows in table.listed:
        out += _group_blocks(words, rows)
    return [*out, *(Block(kind="text", text=note) for note in table.notes)]


def _group_blocks(words: str, rows: Sequence[Row]) -> list[Block]:
    text = f"{words[0].upper()}{words[1:]}" + (":" if rows else ": no group is listed.")
    return [Block(kind="text", text=text), *([_group_table(rows)] if rows else [])]


def _search_blocks(searches: Sequence[Search]) -> list[Block]:
    """Whether the search finds what the paper prints, beside what it counts there."""
    if not searches:
        return []
    first = searches[0]
    told = (
        "The recount is that of the paper's groups; the search is another matter. "
        f"With {first.setting}, ALD with the paper's settings lists one of the paper's groups among its first three in "
        f"{first.exactly} of {first.halvings} random halvings"
        + (": the published list is not reproduced." if first.exactly <= first.halvings / 20 else ".")
        + " A listed group has nearly the same people as one of them if memberships of all rows correlate at "
        f"{SAME_PEOPLE:g} or more."
    )
    rows = [("ALD with the paper's settings", "halvings", "list one of the paper's groups", "or nearly its people")]
    rows += [(one.setting, str(one.halvings), str(one.exactly), str(one.nearly)) for one in searches]
    return [Block(kind="text", text=told), Block(kind="table", rows=tuple(rows))]


def _group_table(rows: Sequence[Row]) -> Block:
    people, crude, parts, notes = (
        any(getattr(row, key) not in (None, (), "") for row in rows) for key in ("people", "crude", "parts", "note")
    )
    header = (
        "group",
        *(("people",) if people else ()),
        "share",
        "psi",
        *(("crude psi",) if crude else ()),
        *(("fpr", "fnr") if parts else ()),
        "p",
        *(("ranking",) if notes else ()),
    )
    body = [
        (
            row.group,
            *((f"{row.people:,}",) if people else ()),
            f"{100 * row.share:.1f} %",
            "" if isnan(row.psi) else f"{row.psi:.3f}",
            *(("" if row.crude is None else f"{row.crude:.3f}",) if crude else ()),
            *(f"{value:+.3f}" for value in row.parts),
            row.p,
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
            lines += [_line(header), "|" + "---|" * len(header), *map(_line, rows), ""]
        else:
            lines += [block.text, ""]
    return "\n".join(lines)


def _line(row: Sequence[str]) -> str:
    return "| " + " | ".join(entry.replace("|", "\\|").replace("\n", " ") for entry in row) + " |"


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
            head = "".join(f"<th>{escape(entry)}</th>" for entry in header)
            body = "".join("<tr>" + "".join(f"<td>{escape(entry)}</td>" for entry in row) + "</tr>\n" for row in rows)
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
