"""Guarantees of the page and its folder:

- the same report gives the same bytes, and a second one replaces the first whole, with the digests of all
  files in its record
- every figure has its title, caption, picture with alternative text, claims with verdict, value, interval,
  reasons and place, the table of theory, parameters that differ, provenance and cost
- what stands in results is text, never markup
- nothing is asked for outside the folder; identifiers are unique, every fragment exists, headings skip none
- a folder that cannot be written is named
"""

from __future__ import annotations

import itertools
import json
import re
from html.parser import HTMLParser

import pytest
from tests.report.synthetic_report import make_report

from onset.errors import OnsetError
from onset.report.folder import replace_folder
from onset.report.render import render_page
from onset.store.digest import digest_file
from onset.store.record import read_record

VOID = {"meta", "link", "img", "input", "br", "path", "rect"}


class Reader(HTMLParser):
    """Tags in order, and what is wrong with their nesting."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"/{tag} in line {self.getpos()[0]}")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return make_report(tmp_path_factory.mktemp("figures"))


@pytest.fixture(scope="module")
def page(report):
    return render_page(report)


def test_the_same_report_gives_the_same_bytes(report, tmp_path):
    for name in ("one", "two"):
        replace_folder(tmp_path / name / "index.html", report, "{}\n")
    (tmp_path / "two" / "left.txt").touch()
    replace_folder(tmp_path / "two" / "index.html", report, "{}\n")

    def read(name):
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        return {path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in files}

    assert read("one") == read("two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
    page = tmp_path / "one" / "index.html"
    record = json.loads((tmp_path / "one" / "index.html.prov.json").read_text())
    assert record["files"] == {
        name: digest_file(tmp_path / "one" / name) for name in read("one") if name != "index.html.prov.json"
    }
    assert read_record(page)["recipe"] == report.recipe


def test_each_figure_has_all_it_should(page):
    cards = re.findall(r'<article class="figure".*?</article>', page, re.S)
    assert len(cards) == 5
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", cards[0]))
    for part in (
        "alpha fig1: What fig1 of alpha shows",
        "Loss against steps . Source: nowhere.",
        "✗ failed",
        "Measured 0.1235 nats , accepted ≤ 0.2 nats: scatter of seeds.",
        "Figure 1, caption. The paper&#39;s statement.",
        "Reason of undecided.",
        "Why it fails: known to fail",
        "Theory against experiment",
        "runs.steps 1000 10",
        "runs.rates absent [0.1, 0.2]",
        "e" * 40,
        "numpy 2.0",
        "75.0 s without 1 step that did not run here",
        "not run here",
    ):
        assert part in text, part
    assert 'alt="alpha fig1: What fig1 of alpha shows. Loss against `steps`."' in cards[0]
    assert "Seeds: 0-1" in cards[2] and "∅" in cards[2]
    assert "Stale." in cards[3] and "<img" not in cards[3]
    assert "Not built." in cards[4]


def test_results_are_text(page):
    assert "The sentence of claim-held &amp; &lt;others&gt;." in page
    assert "<others>" not in page


def test_structure(page):
    reader = Reader(page)
    assert not reader.wrong
    identifiers = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(identifiers) == len(set(identifiers))
    for tag, attrs in reader.tags:
        for key in ("aria-labelledby", "for"):
            assert attrs.get(key, identifiers[0]) in identifiers
        address = attrs.get("src") or attrs.get("href") or "#overview"
        assert address.startswith(("#", "images/", "pdf/", "data:,", "claims.json")), address
        if address.startswith("#"):
            assert address[1:] in identifiers, address
        assert tag != "img" or attrs["alt"]
    levels = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert "http" not in re.sub(r"<code>.*?</code>", "", page, flags=re.S)


def test_a_folder_that_cannot_be_written(report, tmp_path):
    (tmp_path / "report").touch()
    with pytest.raises(OnsetError, match=r"report/ci cannot be written"):
        replace_folder(tmp_path / "report" / "ci" / "index.html", report, "{}\n")
