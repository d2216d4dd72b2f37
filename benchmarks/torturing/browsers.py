"""Hostile names of columns and levels: in every format as text, and in a browser."""

from __future__ import annotations

import contextlib
import random
import shutil
from pathlib import Path
from typing import Any

from benchmarks.torturing.checking import Check, LackingError, people

import ald
from ald.results.audit import Audit

HOSTILE = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "=cmd|' /C calc'!A0", "\x1b[31mred",
    "#let x = 1", "$a$ `b` *c*", "a|b", '"; DROP TABLE x; --', "\u202egnp", "@SUM(1)", "x\ny", "</style><b>", "<!--",
    "]]><svg onload=alert(1)>", "javascript:alert(1)", "&lt;b&gt;&#60;b", "\"onload=\"alert(1)", "' onclick='alert(1)",
    "${alert(1)}", "{{7*7}}", "%0aalert(1)", "#import \"x\"", "\\u003cscript>", "<svg><script>alert(1)</script>",
    "\t=1+1", "+1", "-1", "\r", "<a href=//x.y>z", "x" * 3000,
]  # fmt: skip


def hostile_audit(rng: random.Random) -> Audit:
    one, two, three, four = rng.sample(HOSTILE, 4)
    columns = people(600, rng.randrange(99))
    names: dict[Any, str] = {"f": two, "m": three, "a": four, "b": one, "c": "c", "d": "d"}
    told = {
        one: [names[value] for value in columns["sex"]],
        four: [names[value] for value in columns["job"]],
        "age": columns["age"],
        "y": columns["y"],
    }
    options: dict[str, Any] = {"split": "none"} if rng.random() < 0.3 else {"search": ald.Search(trees=2)}
    if rng.random() < 0.3:
        options["given"] = one
    return ald.audit(told, outcome="y", named_groups=[ald.Criterion.parse("age > 40")], **options)


def names(check: Check, rng: random.Random, folder: Path) -> None:
    """Hostile names of columns and levels in every format: nothing of them is markup or a formula."""

    def run() -> None:
        audit = hostile_audit(rng)
        page = audit.to_html()
        assert "<script>alert" not in page, "a script in HTML"
        assert "<img src=x" not in page, "an element in HTML"
        assert "\x1b" not in str(audit), "a control character on the terminal"
        assert not any(line.startswith(("=", "@", "+")) for line in audit.to_csv().splitlines()), "a formula in CSV"
        audit.to_json()
        assert "\x1b" not in audit.to_markdown(), "a control character in Markdown"
        _no_formulas(audit.to_excel())
        if rng.random() < 0.3:
            audit.to_pdf()

    check.attempt("names", run)


def _no_formulas(book: bytes) -> None:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        for name in parts.namelist():
            if name.startswith("xl/worksheets/"):
                assert b"<f>" not in parts.read(name), "a formula in Excel"


@contextlib.contextmanager
def _browser() -> Any:
    executable = shutil.which("chromium")
    if executable is None:
        raise LackingError("skipped: needs chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise LackingError("skipped: needs playwright") from None
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


PAGES = 10


def pages(check: Check, rng: random.Random, folder: Path) -> None:
    """HTML, notebook, SVG and text with hostile names, opened in chromium: nothing runs, and nothing is fetched."""
    try:
        with _browser() as browser:
            for _ in range(PAGES):
                check.attempt("page", lambda: _open(browser, hostile_audit(rng), folder))
    except LackingError as error:
        check.note = str(error)


def _open(browser: Any, audit: Audit, folder: Path) -> None:
    report = folder / "report.html"
    report.write_text(audit.to_html(), encoding="utf-8", newline="")
    notebook = folder / "notebook.html"
    notebook.write_text(f"<!DOCTYPE html><meta charset=utf-8>{audit._repr_html_()}", encoding="utf-8", newline="")
    pictures = folder / "report.svg"
    with contextlib.suppress(ald.AldError):
        audit.save(pictures)
    # A text file that is opened in a browser is shown as text, whatever is in it.
    texts = [folder / "report.txt", folder / "report.json"]
    for path in texts:
        audit.save(path)
    troubles: list[str] = []
    context = browser.new_context()
    try:
        for path in [report, notebook, *folder.glob("*.svg"), *texts]:
            page, own = context.new_page(), path.as_uri()
            page.on("dialog", lambda dialog: (troubles.append("a dialog"), dialog.dismiss()))
            page.on("pageerror", lambda error: troubles.append(f"an error: {error}"))
            page.on("request", lambda asked, own=own: troubles.append(asked.url) if _is_other(asked.url, own) else None)
            page.goto(own)
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            injected = page.evaluate("document.querySelectorAll('img[src=x], svg[onload], a[href^=\"//\"]').length")
            assert injected == 0, f"elements of names in {path.name}"
            page.close()
            assert not troubles, f"{path.name}: {troubles[0][:80]}"
    finally:
        context.close()


def _is_other(asked: str, own: str) -> bool:
    return asked.split("#")[0] != own and not asked.startswith(("data:", "blob:"))
