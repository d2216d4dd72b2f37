"""The page in a real browser: Debian's chromium, driven by Playwright, with axe-core for accessibility."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ald.cli.main import cli
from tests.browsing import AXE, missing
from tests.tables import decisions, hostile, people
from tests.web.client import berkeley, csv_of
from tests.web.test_app import SLOW

WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 380, "height": 740}
HOSTILE = ["<script>document.title='hacked'</script>", "</style><img src=x onerror=alert(1)>", '"onload="alert(1)',
           "\u202eright", "x" * 500]  # fmt: skip
# Milliseconds within which an audit is done, also on a machine that has much else to do.
DONE = 300_000


@pytest.fixture
def open_page(browser: Any, server: Any) -> Iterator[Callable[..., Any]]:
    """Opens the first page; at the end no other host was asked for anything, and nothing was said or thrown."""
    contexts, troubles = [], []

    def opened(path: str = "/", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": WIDE} | options)
        contexts.append(context)
        page = context.new_page()
        ours = (server.address, "data:,", "blob:")
        page.on("request", lambda request: None if request.url.startswith(ours) else troubles.append(request.url))
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        page.set_default_timeout(DONE)
        page.goto(server.address + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def ready(page: Any, selector: str) -> None:
    """Waits until the page has this, its scripts have run, and nothing is being looked at again."""
    page.wait_for_selector(selector)
    page.wait_for_load_state()
    page.wait_for_selector("[aria-busy=true]", state="detached")


def drop(page: Any, name: str, content: bytes) -> None:
    """Drops a file onto the page, and waits for the form of its data."""
    transfer = page.evaluate_handle(
        """([name, content]) => {
          const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
          const transfer = new DataTransfer();
          transfer.items.add(new File([bytes], name));
          return transfer;
        }""",
        [name, base64.b64encode(content).decode()],
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": transfer})
    ready(page, "#ask")


def run(page: Any) -> None:
    """Runs the audit, and waits for its report."""
    page.get_by_role("button", name="Run the audit").click()
    ready(page, "#take")


def choose(page: Any, field: str, **how: Any) -> None:
    """Chooses from a list, and waits until the data was looked at again."""
    form = page.locator("#ask").element_handle()
    page.locator(f"[name={field}]").select_option(**how)
    page.wait_for_function("(form) => !form.isConnected", arg=form)
    ready(page, "#ask")


def violations(page: Any) -> list[Any]:
    """What axe-core finds, with everything opened that can be opened."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"]) for each in found]


def test_from_drop_to_download(open_page: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """A file is dropped, looked at, audited and taken along; the numbers are those of the command that is shown."""
    page = open_page()
    drop(page, "berkeley-browser.csv", berkeley())
    assert page.locator("h1").inner_text() == "berkeley-browser.csv"
    assert page.locator("[name=favourable]").input_value() == "yes"
    run(page)
    assert page.locator("h1").inner_text().startswith("People with")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    document = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert document.pop("ledger")["number"] == 1
    words = shlex.split(page.locator("pre[aria-label='Command line']").inner_text())
    monkeypatch.chdir(tmp_path)
    (tmp_path / words[2]).write_bytes(berkeley())
    assert document == json.loads(CliRunner().invoke(cli, [*words[1:], "--format", "json"]).output)
    with page.expect_download() as download:
        page.get_by_role("link", name="PDF").click()
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF")


def test_four_clicks_on_embedded_data(open_page: Any) -> None:
    """A new user reaches the report of data that comes with ALD by two clicks."""
    page = open_page()
    page.get_by_role("button", name="Admissions at Berkeley").click()
    page.get_by_role("button", name="Run the audit").click()
    ready(page, "#take")


def test_choosing_a_file(open_page: Any, tmp_path: Path) -> None:
    """An own file takes choosing it and one click more; a prediction and its truth are recognised."""
    path = tmp_path / "scores.csv"
    path.write_bytes(csv_of(decisions(900, 41)))
    page = open_page()
    page.set_input_files("input[type=file]", path)
    ready(page, "#ask")
    assert page.locator("[name=about]:checked").input_value() == "prediction"
    assert page.get_by_label("equalized odds").is_checked()
    run(page)
    assert "Of those with" in page.locator("h1").inner_text()


def test_a_number_as_outcome(open_page: Any) -> None:
    """An outcome that is a number is asked for where it is good."""
    columns = people(1200, 42)
    columns["pay"] = [20 + a / 10 + (5 if s == "F" else 0) for a, s in zip(columns["age"], columns["sex"], strict=True)]
    page = open_page()
    drop(page, "pay.csv", csv_of({name: columns[name] for name in ("sex", "member", "pay")}))
    choose(page, "outcome", label="pay")
    page.locator("[name=favourable]").fill(">= 26")
    page.locator("[name=favourable]").blur()
    page.locator("section", has=page.locator("#recipe"), has_text=">= 26").wait_for()
    run(page)
    assert "sex = F" in page.locator("main").inner_text()


def test_hostile_names(open_page: Any) -> None:
    """Hostile names and values are text on every page."""
    page = open_page()
    drop(page, "<img src=x onerror=alert(1)>.csv", csv_of(hostile(HOSTILE, HOSTILE)))
    run(page)
    assert page.locator("img, iframe, object, embed").count() == 0
    assert "hacked" not in page.title()[:20]


def test_wrong_roles(open_page: Any) -> None:
    """What does not go together is said at its field; put right, it runs."""
    page = open_page()
    drop(page, "roles.csv", csv_of(people(700, 43)))
    choose(page, "part-0", value="cluster")
    choose(page, "part-5", value="cluster")
    assert "Only one column" in page.locator("#problem-part-5").inner_text()
    assert page.locator("[name=part-5]").get_attribute("aria-invalid") == "true"
    assert page.evaluate("document.activeElement.name") == "part-5"
    choose(page, "part-0", value="")
    choose(page, "part-5", value="exclude")
    assert page.locator(".problem").count() == 0
    run(page)


def slow(page: Any) -> None:
    """Asks for an audit of minutes."""
    page.locator("summary", has_text="Settings").click()
    for name, value in SLOW:
        field = page.locator(f"[name={name}]")
        if field.evaluate("(each) => each.tagName") == "SELECT":
            if field.input_value() != value:
                choose(page, name, value=value)
        else:
            form = page.locator("#ask").element_handle()
            field.fill(value)
            field.blur()
            page.wait_for_function("(form) => !form.isConnected", arg=form)
    page.get_by_role("button", name="Run the audit").click()
    page.wait_for_selector("progress")


def test_reloading_and_cancelling(open_page: Any) -> None:
    """While it runs the page follows; it survives a reload; cancelled, it says so and leads back to the form."""
    page = open_page()
    drop(page, "slow.csv", csv_of(people(3000, 44)))
    slow(page)
    page.wait_for_function("() => document.querySelector('progress')?.value > 0")
    page.reload()
    page.wait_for_function("() => document.querySelector('#left')?.textContent.includes('left')")
    page.get_by_role("button", name="Cancel").click()
    page.locator("h1", has_text="The audit was cancelled").wait_for()
    page.get_by_role("link", name="Back to the data").click()
    assert page.locator("[name=set-repeats]").input_value() == "5000"


def test_a_large_file(open_page: Any, tmp_path: Path) -> None:
    """Of a file of 100 MB one sees how much has gone, and may stop it; sent, it is looked at."""
    path = tmp_path / "large.csv"
    line = "F,north,34,1\nM,south,51,0\nF,south,22,1\nM,north,43,1\n" * 100
    with path.open("w", encoding="ascii") as file:
        file.write("sex,region,age,approved\n")
        while file.tell() < 100_000_000:
            file.write(line)
    page = open_page()
    said = """() => {
      window.told = [];
      const box = document.querySelector('.sending');
      new MutationObserver(() => window.told.push(box.textContent))
        .observe(box, {childList: true, subtree: true, characterData: true});
      window.addEventListener('pagehide', () => sessionStorage.setItem('told', JSON.stringify(window.told)));
    }"""
    page.evaluate(said)
    page.set_input_files("input[type=file]", path)
    page.wait_for_selector("#ask, #progress")
    told = json.loads(page.evaluate("sessionStorage.getItem('told')"))
    shares = {int(share) for text in told for share in re.findall(r"(\d+) %", text)}
    assert len(shares) > 2
    ready(page, "#ask")
    assert re.search(r"[\d,]{9,} rows, 4 columns", page.locator("header").inner_text())
    page.goto(page.url.split("/data")[0])
    with page.expect_navigation():
        page.locator("li", has_text="large.csv").get_by_role("button", name="Close it").click()
    assert "large.csv" not in page.locator("body").inner_text()


def test_nothing_found(open_page: Any) -> None:
    """An audit that lists nothing says so, and what it could have seen."""
    rng = np.random.default_rng(45)
    page = open_page()
    drop(page, "nothing.csv", csv_of({"x": rng.integers(0, 5, 1000).tolist(), "y": rng.integers(0, 2, 1000).tolist()}))
    assert page.locator("#power").is_visible()
    run(page)
    assert page.locator("h1").inner_text().startswith("No significant disparity found.")


def test_own_group_and_ledger(open_page: Any) -> None:
    """A group composed by menus is one more question: numbered, exploratory, its p-value corrected for both."""
    page = open_page()
    drop(page, "ledger.csv", csv_of(people(800, 46)))
    run(page)
    assert "question 1 of 1 asked of this data" in page.locator("header").inner_text()
    first = page.url
    page.locator("[name=column-0]").select_option(label="sex")
    assert page.locator("[name=value-0]").get_attribute("list")
    page.locator("[name=value-0]").fill("F")
    page.get_by_role("button", name="Ask about this group").click()
    page.wait_for_url(lambda url: url not in (first, f"{first}#own"))
    ready(page, "#take")
    assert "question 2 of 2 asked of this data" in page.locator("header").inner_text()
    assert "exploratory" in page.locator("header").inner_text()
    cells = page.locator("#section-ledger-p").locator("..").locator("tbody tr", has_text="sex = F").first
    values = cells.locator("td").all_inner_texts()
    assert values[0] == "named"
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    document = json.loads(Path(download.value.path()).read_text("utf-8"))
    p = document["named_groups"][0]["p_adjusted"]
    shown = [float(value.lstrip("<")) for value in values[1:]]
    for value, text, exact in zip(shown, values[1:], (p, min(2 * p, 1.0)), strict=True):
        assert exact < value if text.startswith("<") else float(f"{exact:.2g}") == value
    page.goto(first)
    ready(page, "#take")
    assert "question 1 of 2 asked of this data" in page.locator("header").inner_text()


def test_order_number_and_nodes(open_page: Any) -> None:
    """The list is ordered and shortened in place; a node of a tree opens and says who its people are."""
    rng = np.random.default_rng(6)
    a, b = rng.random(6000) < 0.5, rng.random(6000) < 0.04
    y = (rng.random(6000) < 0.3 + 0.2 * a + 0.35 * b).astype(int)
    page = open_page()
    columns = {"a": np.where(a, "x", "z").tolist(), "b": np.where(b, "x", "z").tolist(), "y": y.tolist()}
    drop(page, "order.csv", csv_of(columns))
    page.locator("summary", has_text="Settings").click()
    if page.locator("[name=set-split]").input_value() != "random":
        choose(page, "set-split", value="random")
    run(page)
    rows = page.locator(".ranking tbody tr:visible")
    n = rows.count()
    assert n > 1
    before = rows.locator("th").all_inner_texts()
    page.get_by_label("magnitude").check()
    assert rows.locator("th").all_inner_texts() != before
    page.locator("#number").select_option("1")
    assert rows.count() == page.locator("article.card:visible").count() == 1
    page.locator("#number").select_option(str(n))
    page.locator("details.outline > summary").first.click()
    page.locator(".describe").nth(1).click()
    page.wait_for_selector("dialog table")
    assert "There is no p-value here" in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("dialog").count() == 0


def test_keyboard_only(open_page: Any) -> None:
    """With the keyboard alone one opens data, changes a role, runs the audit, and takes the report along."""
    page = open_page()

    def go_to(condition: str) -> None:
        for _ in range(300):
            page.keyboard.press("Tab")
            if page.evaluate(f"(({condition}))(document.activeElement)"):
                return
        raise AssertionError(condition)

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    go_to("(e) => e.textContent === 'Made-up data: a hidden combination'")
    page.keyboard.press("Enter")
    ready(page, "#ask")
    go_to("(e) => e.name === 'part-2'")
    form = page.locator("#ask").element_handle()
    page.keyboard.type("is left")
    page.keyboard.press("Tab")
    page.wait_for_function("(form) => !form.isConnected", arg=form)
    go_to("(e) => e.textContent === 'Run the audit'")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"
    page.keyboard.press("Enter")
    ready(page, "#take")
    go_to("(e) => e.textContent.startsWith('HTML')")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "audit.html"
    assert "--exclude age" in page.locator("pre[aria-label='Command line']").inner_text()


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["wide light", "narrow dark"])
def test_every_page_fits_and_is_accessible(open_page: Any, scheme: str, viewport: Any) -> None:
    """No page scrolls sideways or hides a control, wide or narrow, light or dark, and axe-core finds nothing."""
    if not AXE.exists():
        missing("axe-core (make tools)")
    page = open_page(viewport=viewport, color_scheme=scheme, bypass_csp=True)
    ground = "rgb(247, 247, 245)" if scheme == "light" else "rgb(15, 20, 25)"

    def check() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
        assert violations(page) == []

    check()
    drop(page, "access.csv", csv_of(people(700, 47)))
    check()
    run(page)
    check()
    page.goto(page.url.split("/questions")[0])
    page.get_by_role("link", name="access.csv").first.click()
    ready(page, "#ask")
    page.locator("[name=outcome]").select_option("")
    ready(page, "#problem-outcome")
    check()


def test_without_javascript(open_page: Any, tmp_path: Path) -> None:
    """Without JavaScript buttons do what scripts do: everything can be asked and read."""
    path = tmp_path / "plain.csv"
    path.write_bytes(csv_of(people(600, 48)))
    page = open_page(java_script_enabled=False)
    page.set_input_files("input[type=file]", path)
    page.get_by_role("button", name="Open it").click()
    ready(page, "#ask")
    page.locator("[name=part-0]").select_option("exclude")
    page.get_by_role("button", name="Look again").click()
    ready(page, "#ask")
    assert "--exclude age" in page.locator("pre[aria-label='Command line']").inner_text()
    run(page)
    assert page.locator("h1").inner_text()
