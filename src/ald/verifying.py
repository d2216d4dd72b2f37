"""Whether a report is true of its data: the audit is done again, and every number compared."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ald._core.version import __version__
from ald.auditing import audit_with
from ald.data.inputs.fingerprint import note_file
from ald.errors import InputError, SettingError, nearest, shorten, shown
from ald.groups.criterion import visible
from ald.options.table import AUDIT_OPTIONS, of_command
from ald.report.html import to_html
from ald.report.identity import identify
from ald.results.audit import Audit
from ald.results.document import CANDIDATES, DOCUMENT, SCHEMA
from ald.results.shapes import check_shape

# What no audit decides, or what depends on how the columns were named.
_ASIDE = ("version", "config")
_SHOWN = 10
_TRACE = {"title", "notes", "date", "file", "sha256"}
# Bytes that a report may have: more would fill the memory, and no report is so long.
_LONGEST = 2**30
_EMBEDDED = re.compile(r'<script type="application/json" id="(audit|provenance)">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Different:
    """A place of the report's document that is not as it should be: what it says, and what the audit found again."""

    place: str
    told: Any
    found: Any


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What doing an audit again says of its report.

    compared: how many numbers were. differences: all places that are not the same. same_file: whether the data is the
    file of the report by its SHA-256; None where the report does not know it. same_page: whether the page is byte for
    byte what this version makes of the audit; None of a document, or of a page by another version.
    version: of ALD that made the report.
    """

    compared: int
    differences: tuple[Different, ...]
    same_file: bool | None
    same_page: bool | None
    version: str

    @property
    def is_same(self) -> bool:
        """Whether every number is the same, and the page shows no other."""
        return not self.differences and self.same_page is not False

    def __str__(self) -> str:
        lines = [self._verdict()]
        lines += [
            f"  {visible(one.place)}: the report has {shown(one.told)}, the audit {shown(one.found)}"
            for one in self.differences[:_SHOWN]
        ]
        left = len(self.differences) - _SHOWN
        lines += [f"  and {left:,} more"] if left > 0 else []
        if self.same_page is not None:
            how = "byte for byte what the audit gives" if self.same_page else "not what the audit gives"
            lines.append(f"The page is {how}.")
        if self.version != __version__:
            lines.append(f"The report was made by ALD {visible(self.version)}, and this is ALD {__version__}.")
        if self.same_file is None:
            lines.append("The report does not say which file was audited.")
        else:
            which = "the file that was audited" if self.same_file else "another file than the one that was audited"
            lines.append(f"By its SHA-256 the data is {which}.")
        return "\n".join(lines)

    def _verdict(self) -> str:
        if not self.differences:
            return f"Every number is the same: {self.compared:,} numbers and words compared."
        return f"{len(self.differences):,} of {self.compared:,} numbers and words are not the same."


def verify(report: str | os.PathLike[str], data: Any, **reading: Any) -> Verification:
    """Does the audit of a report again, and says whether every number is the same.

    report: an HTML report or a JSON document of an audit.
    data: what was audited, as for `ald.audit`; two data sets where two were given.
    reading: how it was read, where that has to be said: query, engine, memory_limit, threads, kinds, attributes_from,
        on, weights.

    >>> import ald, tempfile
    >>> audit = ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     audit.save(f"{folder}/audit.html")
    ...     verify(f"{folder}/audit.html", ald.datasets.load_berkeley()).is_same
    True
    """
    known = of_command("verify")
    for key, value in reading.items():
        if key not in known:
            raise SettingError(f"ald.verify has no option {key!r}. {nearest(key, known)}")
        known[key].check_form(value)
    text = _read(report)
    document, provenance = _parts(text)
    file = note_file(data)
    best = _again(document, data, reading)
    compared = list(_compare(_as_told(document, best), document))
    differences = tuple(one for one in compared if one is not None)
    sha256 = None if file is None else file.sha256()
    told_sha256 = provenance.get("sha256")
    same_page = None
    if provenance and document["version"] == __version__ and not differences:
        identity = identify(provenance["title"], provenance["notes"], provenance["date"])
        named = replace(best, input_name=provenance["file"], input_sha256=told_sha256)
        same_page = to_html(named.summarise(identity)) == text
    return Verification(
        compared=len(compared),
        differences=differences,
        same_file=None if told_sha256 is None else told_sha256 == sha256,
        same_page=same_page,
        version=document["version"],
    )


def _read(report: str | os.PathLike[str]) -> str:
    path = os.fspath(report)
    try:
        with open(path, "rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise InputError(f"the report {shorten(path, 120)!r} cannot be read: {error.strerror}") from None
    if len(content) > _LONGEST:
        raise InputError(f"the report {shorten(path, 120)!r} has more than {_LONGEST / 2**20:,.0f} MB: this is none")
    return content.decode("utf-8", errors="replace")


def _parts(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document of a report, and where it is from; nothing of that in a document by itself."""
    parts = dict(_EMBEDDED.findall(text)) if text.lstrip().startswith("<") else {}
    try:
        document = json.loads(parts.get("audit", text))
        provenance = json.loads(parts.get("provenance", "{}"))
    except (ValueError, RecursionError):
        raise InputError(
            "this is neither an HTML report nor a JSON document of an audit: others cannot be verified"
        ) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or "kind" in document:
        kind = document.get("kind") if isinstance(document, dict) else None
        what = f"a {kind}" if isinstance(kind, str) else f"no document of schema {SCHEMA}"
        raise InputError(f"this is {shown(what)}: only audits can be verified")
    check_shape(document, DOCUMENT)
    if provenance and not (isinstance(provenance, dict) and set(provenance) >= _TRACE):
        raise InputError("this report is damaged: it does not say where it is from")
    return document, provenance


def _again(document: dict[str, Any], data: Any, reading: Mapping[str, Any]) -> Audit:
    """The audit of this data with the settings of the document.

    Which columns were named is not told: all were, or those that are in the document.
    """
    settings = _settings(document) | dict(reading)
    if document["config"]["split"] == "own":
        if not isinstance(data, tuple) or len(data) != 2:
            raise InputError("two data sets were audited: give both, the one that was searched first")
        settings["split"] = data
    else:
        settings["data"] = data
    profile = document["profile"]
    counted = {} if profile is None else {"profile": profile["name"], "columns": profile["columns"]}
    names = [entry["name"] for entry in document["data"]["attributes"]]
    excluded = [entry["name"] for entry in document["data"]["left_out"] if entry["reason"] == "excluded"]
    if document["config"]["search"] == "none":
        return audit_with(settings, **counted)
    ways = ({"exclude": excluded}, {"attributes": names, "exclude": excluded})
    found = None
    for way in ways:
        try:
            audit = audit_with(settings | way, **counted)
        except InputError:
            if way is ways[-1] and found is None:
                raise
            continue
        if found is None or _is_alike(audit, document):
            found = audit
        if _is_alike(audit, document):
            break
    assert found is not None
    return found


def _is_alike(audit: Audit, document: dict[str, Any]) -> bool:
    """Whether the same columns were audited."""
    told = document["data"]
    return [(one.name, one.kind) for one in audit.data_summary.attributes] == [
        (one["name"], one["kind"]) for one in told["attributes"]
    ] and [one.name for one in audit.data_summary.left_out] == [one["name"] for one in told["left_out"]]


def _settings(document: dict[str, Any]) -> dict[str, Any]:
    """The options of an audit by the settings of its document."""
    config = document["config"]
    settings = {key: config[key] for key, option in AUDIT_OPTIONS.items() if option.in_document and key in config}
    settings = {key: value for key, value in settings.items() if value is not None}
    if isinstance(settings.get("favourable"), list):
        said = zip(settings["outcome"], settings["favourable"], strict=True)
        settings["favourable"] = {outcome: word for outcome, word in said if word is not None}
    of_amounts = any("per_one" in rate for notion in document["notions"] for rate in notion["rates"])
    if not of_amounts or config.get("score") is not None:
        settings["notion"] = _notions(document)
    return settings


def _notions(document: dict[str, Any]) -> list[Any]:
    """The notions: known ones by their names, others with their rates."""
    from ald.notions import NOTIONS, SCORE_NOTIONS, Notion, rate_from

    return [
        told["name"]
        if told["name"] in {**NOTIONS, **SCORE_NOTIONS}
        else Notion(told["name"], tuple(rate_from(rate) for rate in told["rates"]), told["description"])
        for told in document["notions"]
    ]


def _as_told(document: dict[str, Any], audit: Audit) -> dict[str, Any]:
    """The audit as a document that is reduced as this one."""
    again = audit.to_reduced_dict(CANDIDATES) if "reduced" in document else audit.to_dict()
    return json.loads(json.dumps(again))  # type: ignore[no-any-return]


def _compare(found: Any, told: Any, place: str = "") -> Iterator[Different | None]:
    """Per number or word of either document a difference, or None where they are the same."""
    if isinstance(found, dict) and isinstance(told, dict):
        for key in dict.fromkeys((*told, *found)):
            if place or key not in _ASIDE:
                yield from _compare(found.get(key), told.get(key), f"{place}.{key}" if place else key)
    elif isinstance(found, list) and isinstance(told, list):
        if len(found) != len(told):
            yield Different(place=f"{place} (how many)", told=len(told), found=len(found))
        for i, pair in enumerate(zip(found, told, strict=False)):
            yield from _compare(*pair, f"{place}.{i}")
    else:
        yield None if found == told and type(found) is type(told) else Different(place=place, told=told, found=found)
