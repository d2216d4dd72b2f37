"""The HTML report in a real browser: Debian's chromium, driven by Playwright, with axe-core for accessibility."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ald
from tests.browsing import AXE, missing
from tests.results.test_comparison import scored
from tests.tables import decisions, hostile, people
from tests.watching.test_watching import decisions as watched

# How a report begins.
VERDICT = re.compile("People with |Of those with |No significant disparity found.")
WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 380, "height": 740}
HOSTILE = ["<script>document.title='hacked'</script>", "</style><img src=x onerror=alert(1)>", '"onload="alert(1)',
           "\u202eright", "x" * 5000]  # fmt: skip


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of an outcome, of predictions, of nothing found, and of hostile names."""
    rng = np.random.default_rng(5)
    nothing = {"x": rng.integers(0, 5, 1000), "y": rng.integers(0, 2, 1000)}
    audits = {
        "outcome": ald.audit(people(4000), outcome="y", search=ald.Search(trees=8), seed=2),
        "odds": ald.audit(
            decisions(3000), prediction="predicted", truth="true", notion="equalized odds", search=ald.Search(trees=8)
        ),
        "berkeley": ald.audit(ald.datasets.load_berkeley(), outcome="admitted", favourable="yes"),
        "several": ald.audit(several(), outcome="y", search=ald.Search(trees=5)),
        "nothing": ald.audit(nothing, outcome="y", search=ald.Search(trees=2)),
        "hostile": ald.audit(hostile(HOSTILE, HOSTILE), outcome="y", search=ald.Search(trees=3)),
    }
    assert [len(audit.groups) > 0 for audit in audits.values()] == [True, True, True, True, False, True]
    others = {
        "comparison": ald.compare(scored(), predictions=["old", "new"], truth="repaid"),
        "watch": ald.watch(watched(0.3, n=200), by="month", named_groups=["sex = f", "region = n"], outcome="approved"),
    }
    folder = tmp_path_factory.mktemp("reports")
    for name, result in (audits | others).items():
        result.save(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in audits | others}


def several() -> dict[str, Any]:
    """A small group with a large disparity, and a large group with a smaller one."""
    rng = np.random.default_rng(6)
    a, b = rng.random(6000) < 0.5, rng.random(6000) < 0.04
    y = rng.random(6000) < 0.3 + 0.2 * a + 0.35 * b
    return {"a": np.where(a, "x", "z"), "b": np.where(b, "x", "z"), "y": y.astype(int)}


EVERY = pytest.mark.parametrize("name", ["outcome", "odds", "nothing", "hostile"])


@pytest.fixture
def open_page(browser: Any, reports: dict[str, Path]) -> Iterator[Any]:
    """Opens a report; at the end there was no request but for the file, no message, no error and no dialog."""
    contexts, troubles = [], []

    def opened(name: str, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": WIDE} | options)
        contexts.append(context)
        page = context.new_page()
        url = reports[name].as_uri()
        page.on("request", lambda request: troubles.append(request.url) if not allowed(request.url, url) else None)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", ["comparison", "watch"])
def test_reports_of_other_results(open_page: Any, name: str, viewport: Any) -> None:
    """Comparisons and watches have one picture in sight, tables that sort, and never scroll sideways."""
    page = open_page(name, viewport=viewport)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.locator("svg:visible").count() == 1
    assert page.locator("#groups").count() == 1
    if viewport is NARROW:  # where tables are lists
        return
    page.locator(".ranking thead th button").first.click()
    assert page.locator(".ranking th[aria-sort]").count() == 1


def allowed(requested: str, page: str) -> bool:
    return requested == page or requested.startswith(("data:,", "blob:"))


def order(page: Any) -> list[str]:
    return page.locator(".ranking tbody th").all_inner_texts()  # type: ignore[no-any-return]


@EVERY
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_it_opens(open_page: Any, name: str, scheme: str, viewport: Any) -> None:
    """The page opens, says its headline, and never scrolls sideways, wide and narrow, light and dark."""
    page = open_page(name, viewport=viewport, color_scheme=scheme)
    assert VERDICT.match(page.locator("h1").inner_text())
    assert VERDICT.match(page.title().removeprefix("Audit for disparities: "))
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(247, 247, 245)" if scheme == "light" else "rgb(15, 20, 25)")


@pytest.mark.parametrize("name", ["outcome", "odds", "nothing", "hostile", "comparison", "watch"])
@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["wide light", "narrow dark"])
def test_accessibility(open_page: Any, name: str, scheme: str, viewport: Any) -> None:
    """axe-core finds nothing, with everything opened that can be opened."""
    if not AXE.exists():
        missing("axe-core (make tools)")
    page = open_page(name, viewport=viewport, color_scheme=scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.add_script_tag(content=AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(each["id"], each["impact"], each["nodes"][0]["html"][:200]) for each in found] == []


def test_sorting(open_page: Any) -> None:
    """A click on a header sorts the table by it, upwards and then downwards; the header says so."""
    page = open_page("outcome")
    assert len(order(page)) > 1
    for header in ("people", "gap", "adj. p", "group"):
        head = page.locator(".ranking thead th", has_text=header).first
        values = []
        for way in ("ascending", "descending"):
            head.locator("button").click()
            assert head.get_attribute("aria-sort") == way
            at = page.evaluate("(head) => [...head.parentNode.children].indexOf(head)", head.element_handle())
            of_row = "(rows, at) => rows.map((row) => row.children[at].dataset.value)"
            values.append(page.eval_on_selector_all(".ranking tbody tr", of_row, at))
        numbers = [float(value) for value in values[0]] if header != "group" else values[0]
        assert numbers == sorted(numbers)
        assert values[1] == values[0][::-1]
    assert page.locator(".ranking th[aria-sort]").count() == 1


def test_switching_the_ranking(open_page: Any) -> None:
    """Confidence and magnitude order the table, the picture and the cards; switching back restores them."""
    page = open_page("several")
    first = order(page)
    ranks = page.eval_on_selector_all(".ranking tbody tr", "(rows) => rows.map((row) => Number(row.dataset.m))")
    page.get_by_label("magnitude").check()
    expected = [text for _, text in sorted(zip(ranks, first, strict=True))]
    assert order(page) == expected
    assert expected != first
    assert page.locator("article h2").all_inner_texts() == expected
    rows = page.eval_on_selector_all(
        ".for-wide .row", "(rows) => rows.map((row) => [row.transform.baseVal[0].matrix.f, row.dataset.m])"
    )
    assert [m for _, m in sorted(rows)] == [str(i + 1) for i in range(len(rows))]
    page.get_by_label("confidence").check()
    assert order(page) == first


def test_opening_a_tree(open_page: Any) -> None:
    """The whole tree opens by a click, its inner nodes one by one, and the group is named in it."""
    page = open_page("outcome")
    outline = page.locator("details.outline").first
    assert not outline.locator("li").first.is_visible()
    outline.locator("summary").first.click()
    assert outline.locator("li").first.is_visible()
    assert outline.locator("em", has_text="group 1").is_visible()
    closed = outline.locator("li details:not([open])")
    before = closed.count()
    assert before
    closed.first.locator("summary").first.click()
    assert closed.count() == before - 1


def test_focus_by_keyboard(open_page: Any) -> None:
    """The tab key reaches every control; a node of a tree shows its details when it has the focus, and only then."""
    page = open_page("outcome")
    node = page.locator(".tree .node").nth(1)
    assert not node.locator(".tip").is_visible()
    page.locator(".tree .node").first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == node.get_attribute("aria-label")
    assert node.locator(".tip").is_visible()
    assert page.locator(".tip:visible").count() == 1
    page.keyboard.press("Tab")
    assert not node.locator(".tip").is_visible()
    page.reload()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    reached = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName + '.' + (document.activeElement.type || '')"))
        if page.evaluate("document.activeElement.id") == "save":
            break
    assert {"INPUT.radio", "BUTTON.button", "SUMMARY.", "A.", "g."} <= reached


def test_hovering(open_page: Any) -> None:
    """A node of a tree shows its details when one points at it."""
    page = open_page("odds")
    node = page.locator(".tree .node").nth(2)
    node.locator(".in").first.hover()
    assert node.locator(".tip").is_visible()
    assert re.search(r"[\d,]+ people \(\d+\.\d%\), gap \d", node.locator(".tip").inner_html())


def test_sorting_by_keyboard(open_page: Any) -> None:
    """Enter on a header sorts."""
    page = open_page("outcome")
    page.locator(".ranking thead button").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator(".ranking thead th").nth(1).get_attribute("aria-sort") == "ascending"


@EVERY
def test_without_javascript(open_page: Any, name: str) -> None:
    """Without JavaScript everything is there, lists open, and controls that would do nothing are not shown."""
    page = open_page(name, java_script_enabled=False)
    assert VERDICT.match(page.locator("h1").inner_text())
    assert page.locator(".switch:visible").count() == 0
    assert page.locator("#save:visible").count() == 0
    assert page.locator("main h2").count() > 3
    if page.locator("details.outline").count():
        page.locator("details.outline summary").first.click()
        assert page.locator("details.outline li").first.is_visible()


def test_narrow_windows(open_page: Any) -> None:
    """In a narrow window the table is a list with labels, and narrow pictures take the place of wide ones."""
    page = open_page("outcome", viewport=NARROW)
    assert not page.locator(".for-wide").first.is_visible()
    assert page.locator(".for-narrow").first.is_visible()
    assert not page.locator(".ranking thead").is_visible()
    label = page.evaluate("getComputedStyle(document.querySelector('.ranking td'), '::before').content")
    assert label == '"people"'
    for picture in page.locator(".for-narrow svg:visible").all():
        assert picture.bounding_box()["width"] <= 380


def test_the_group_is_in_sight(open_page: Any) -> None:
    """Where a tree is wider than the window, the group's node is in sight."""
    page = open_page("outcome", viewport=NARROW)
    boxes = page.locator(".tree .scroll").all()
    assert boxes
    for box in boxes:
        frame, node = box.bounding_box(), box.locator(".target > .box").bounding_box()
        assert frame["x"] <= node["x"] + 1
        assert node["x"] + node["width"] <= frame["x"] + frame["width"] + 1


@EVERY
def test_printing(open_page: Any, name: str, tmp_path: Path) -> None:
    """Printed, the page is light, without controls and closed lists, and a PDF of a few pages."""
    page = open_page(name, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink')") == "#17212b"
    for control in (".switch", "#save", "details:not([open])"):
        assert page.locator(f"{control}:visible").count() == 0
    page.pdf(path=str(tmp_path / "x.pdf"), format="A4")
    content = (tmp_path / "x.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert 1 <= content.count(b"/Type /Page\n") <= 30


def test_saving_the_document(open_page: Any, reports: dict[str, Path]) -> None:
    """The button saves the document inside the page, and it can be read."""
    page = open_page("outcome")
    with page.expect_download() as download:
        page.locator("#save").click()
    document = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert download.value.suggested_filename == "audit.json"
    assert ald.Audit.from_json(json.dumps(document)).groups


def test_hostile_names_do_nothing(open_page: Any) -> None:
    """Hostile names are shown and do not act: the title is ours, and every element is one of ours."""
    page = open_page("hostile")
    assert page.title().startswith("Audit for disparities")
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.locator("script:not([type])").count() == 1
    assert page.locator("script").count() == 3


def test_a_notebook_fragment(browser: Any) -> None:
    """A fragment beside other output changes nothing of it, and its tree shows details on focus."""
    audit = ald.audit(people(2000), outcome="y", search=ald.Search(trees=4))
    page = browser.new_page()
    beside = "<table id=other><tr><td class=number>1</td></tr></table><p id=words class=note>words</p>"
    look = "(id) => JSON.stringify(Object.entries(getComputedStyle(document.getElementById(id))))"
    page.set_content(beside)
    before = [page.evaluate(look, name) for name in ("other", "words")]
    page.set_content(f"{beside}{audit._repr_html_()}{audit.groups[0]._repr_html_()}{audit.groups[0].plot_tree()}")
    assert [page.evaluate(look, name) for name in ("other", "words")] == before
    page.locator(".node").first.focus()
    assert page.locator(".tip:visible").count() == 1
    page.close()
