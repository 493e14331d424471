"""The page in a real browser, without a network: a made-up report, and this checkout's own if there is one.

- it loads without a complaint and asks for files alone; every picture appears, in the size that it is given
- search, paper and verdict, used by keyboard, reduce the figures and claims that are shown, and say so;
  a link to a hidden figure brings it back
- everything is reached with the keyboard alone, and what has the focus can be seen to have it
- on a phone nothing but tables and graphs, in frames of their own, is wider than the window
- text has a contrast of at least 4.5; what can be used has a name that a screen reader says
- printed, details are there though they were closed; without scripts, everything is there
"""

from __future__ import annotations

import io
from pathlib import Path

import pypdf
import pytest
from tests.report.browser import Browser, find_browser
from tests.report.synthetic_report import make_report

from onset.report.folder import replace_folder

OWN = Path(__file__).resolve().parents[2] / "report" / "ci" / "index.html"
PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium is installed, and $ONSET_CHROMIUM names none"
)

VISIBLE = "[...document.querySelectorAll('{}')].filter((each) => each.checkVisibility())"
CONTRAST = """
(() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const bright = ([r, g, b]) => {
    const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (each) => {
    for (; each; each = each.parentElement) {
      const box = each.tagName === "g" ? each.querySelector("rect") : null;
      const found = parse(box ? getComputedStyle(box).fill : getComputedStyle(each).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const low = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const each = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !each.checkVisibility()) continue;
    const style = getComputedStyle(each);
    const ink = parse(each.closest("svg") ? style.fill : style.color);
    const [dark, light] = [bright(ink), bright(behind(each))].sort((a, b) => a - b);
    seen += 1;
    if ((light + 0.05) / (dark + 0.05) < 4.5) low.add(`${each.tagName} ${each.textContent.slice(0, 30)}`);
  }
  return {seen, low: [...low]};
})()
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "a report" / "index.html"
    replace_folder(page, make_report(folder / "figures"), "{}\n")
    return page


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(PROGRAM, tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(params=["made-up", "own"])
def page(request, small):
    if request.param == "own" and not OWN.exists():
        pytest.skip("this checkout has no report; `make report-ci` makes it")
    return small if request.param == "made-up" else OWN


def shown(browser, selector="article.figure"):
    return browser.value(f"{VISIBLE.format(selector)}.length")


def status(browser):
    return browser.value("document.getElementById('status').textContent")


def focus(browser):
    return browser.value("document.activeElement.id || document.activeElement.tagName")


def choose(browser, select, value):
    """Focus a list of choices and go to one with the arrow keys."""
    browser.value(f"document.getElementById('{select}').focus()")
    options = browser.value(f"[...document.getElementById('{select}').options].map((each) => each.value)")
    here, there = browser.value(f"document.getElementById('{select}').selectedIndex"), options.index(value)
    browser.press(*["ArrowDown" if there > here else "ArrowUp"] * abs(there - here))
    assert browser.value(f"document.getElementById('{select}').value") == value


def test_loads_and_shows_every_picture(browser, page):
    browser.open(page)
    assert browser.complaints == []
    assert browser.requested and all(each.startswith(("file:", "data:")) for each in browser.requested)
    images = browser.value(
        "[...document.images].map((each) => [each.naturalWidth, each.naturalHeight, each.width, each.height,"
        " +each.getAttribute('width'), +each.getAttribute('height'), each.alt])"
    )
    assert images
    for natural_width, natural_height, width, height, given_width, given_height, text in images:
        assert natural_width > 0 and (natural_width, natural_height) == (given_width, given_height)
        assert width / height == pytest.approx(natural_width / natural_height, rel=0.02)
        assert len(text) > 10


def test_filters_reduce_what_is_shown(browser, small):
    browser.open(small)
    assert (shown(browser), shown(browser, "li.claim")) == (5, 6)
    assert status(browser) == "5 of 5 figures, 6 claims shown"
    choose(browser, "verdict", "failed")
    assert (shown(browser), shown(browser, "li.claim")) == (1, 1)
    assert shown(browser, "section.paper") == 1
    assert status(browser) == "1 of 5 figures, 1 claim shown"
    choose(browser, "verdict", "vacuous")
    assert browser.value(f"{VISIBLE.format('article.figure')}.map((each) => each.id)") == ["beta-fig1"]
    choose(browser, "verdict", "")
    choose(browser, "paper", "alpha")
    assert shown(browser) == 2
    browser.value("document.getElementById('words').focus()")
    browser.type("fig2 ALPHA")
    assert browser.value(f"{VISIBLE.format('article.figure')}.map((each) => each.id)") == ["alpha-fig2"]
    browser.type("zzz")
    assert shown(browser) == 0 and shown(browser, "#nothing") == 1
    browser.value("document.querySelector('#nothing button').focus()")
    browser.press("Enter")
    assert status(browser) == "5 of 5 figures, 6 claims shown"


def test_filters_on_the_checkouts_own_report(browser):
    if not OWN.exists():
        pytest.skip("this checkout has no report; `make report-ci` makes it")
    browser.open(OWN)
    figures, claims = shown(browser), shown(browser, "li.claim")
    by_paper = 0
    for paper in browser.value("[...document.querySelectorAll('#paper option')].map((each) => each.value)")[
        1:
    ]:
        browser.value(f"(document.getElementById('paper').value = '{paper}', 0)")
        browser.value("document.getElementById('paper').dispatchEvent(new Event('input'))")
        by_paper += shown(browser)
    assert by_paper == figures > 0
    browser.value("document.querySelector('#filters .reset').click()")
    choose(browser, "verdict", "held")
    assert 0 < shown(browser, "li.claim") < claims
    assert shown(browser, "li.claim.failed") == 0


def test_a_link_to_a_hidden_figure_shows_it(browser, small):
    browser.open(small)
    choose(browser, "verdict", "failed")
    browser.value("location.hash = '#beta-fig3'")
    browser.settle()
    assert shown(browser) == 5
    browser.open(small, "#beta-fig3")
    assert browser.value("document.getElementById('beta-fig3').getBoundingClientRect().top < innerHeight")


def test_by_keyboard_alone(browser, page):
    browser.open(page)
    browser.press("Tab")
    assert browser.value("document.activeElement.className") == "skip"
    assert browser.value("document.activeElement.getBoundingClientRect().left") >= 0
    browser.press("Enter")
    browser.settle()
    assert focus(browser) == "figures"
    browser.open(page)
    wanted = shown(browser, "a[href], input, select, button, summary, .scroll")
    reached, marked = set(), True
    for _ in range(min(wanted, 60)):
        browser.press("Tab")
        reached.add(focus(browser))
        marked = marked and browser.value(
            "(() => { const style = getComputedStyle(document.activeElement);"
            " return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2; })()"
        )
    assert marked
    assert {"words", "paper", "verdict", "unfold", "BUTTON", "A", "DIV"} <= reached
    browser.value("document.querySelector('summary').focus()")
    browser.press("Enter")
    assert browser.value("document.querySelector('details').open")
    browser.press("Space")
    assert not browser.value("document.querySelector('details').open")


def test_fits_a_phone(browser, page):
    browser.open(page, width=360, height=740)
    browser.value("document.getElementById('unfold').click()")
    browser.settle()
    assert browser.value("document.scrollingElement.scrollWidth") <= 360
    assert browser.value("innerWidth") == 360
    small = browser.value(
        f"{VISIBLE.format('button, select, input')}.filter((each) => each.offsetHeight < 40).length"
    )
    assert small == 0, "a finger hits them"


def test_can_be_read_and_said(browser, page):
    browser.open(page)
    browser.value("document.getElementById('unfold').click()")
    browser.settle()
    contrast = browser.value(CONTRAST)
    assert contrast["seen"] > 100
    assert contrast["low"] == []
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    used = {"link", "button", "searchbox", "combobox", "image", "region", "navigation", "search", "table"}
    nameless = [
        (node["role"]["value"], node.get("backendDOMNodeId"))
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in used
        if not node.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []


def test_printed_it_has_what_was_folded(browser, small):
    browser.open(small)
    pages = pypdf.PdfReader(io.BytesIO(browser.pdf())).pages
    text = " ".join(" ".join(page.extract_text().split()) for page in pages)
    assert "runs.steps" in text and "b" * 16 in text
    assert "Open all details" not in text
    assert not browser.value("[...document.querySelectorAll('details')].some((each) => each.open)")


def test_without_scripts_everything_is_there(browser, small):
    browser.open(small, scripts=False)
    assert (shown(browser), shown(browser, "li.claim"), shown(browser, "#filters")) == (5, 6, 0)
