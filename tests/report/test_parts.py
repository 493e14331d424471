"""Guarantees of what the page is put together from:

- the graph puts each step right of all that it needs, figures last, no two boxes in one place, and a curve
  for each need; it is the same whatever was drawn before
- a caption has the sentences of a drawing function's docstring about what is shown, and no others
- a table is read without its comments, with four digits, and refused where it is none
- experiments of equal name in two papers are two steps above a figure
- a verdict's counts add up; a vacuous claim counts beside its verdict; whatever else a row has is shown
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.report.synthetic_report import VERDICTS, make_row

from onset.claims.verdict import VERDICTS as ALL
from onset.errors import OnsetError
from onset.report.captions import read_caption, select_sentences
from onset.report.claims import OUTCOMES, count_outcomes, describe_verdict
from onset.report.graph import HEIGHT, WIDTH, draw_graph
from onset.report.lineage import steps_above
from onset.report.render import end_sentence, mark_code
from onset.report.tables import read_table

NEEDS = {"a": [], "b": [], "c": ["a"], "d": ["c", "b"], "early": ["a"], "late": ["d", "a"]}
KINDS = {"a": "data", "b": "data", "c": "train", "d": "train", "early": "figures", "late": "figures"}


def test_the_graph_is_layered():
    drawing = draw_graph(NEEDS, KINDS)
    place = {node.name: node for node in drawing.nodes}
    assert [place[name].layer for name in NEEDS] == [0, 0, 1, 2, 3, 3]
    assert len(drawing.curves) == sum(map(len, NEEDS.values()))
    for name, needs in NEEDS.items():
        assert all(place[need].x + WIDTH < place[name].x for need in needs)
    for one in drawing.nodes:
        for two in drawing.nodes:
            assert one is two or one.x != two.x or abs(one.y - two.y) > HEIGHT
    assert max(node.x for node in drawing.nodes) + WIDTH <= drawing.width
    assert max(node.y for node in drawing.nodes) + HEIGHT <= drawing.height
    assert draw_graph(NEEDS, KINDS) == drawing


def test_neighbours_stand_side_by_side():
    needs = {"a": [], "b": [], "x": ["b"], "y": ["a"]}
    place = {node.name: node.y for node in draw_graph(needs, dict.fromkeys(needs, "data")).nodes}
    assert (place["a"] < place["b"]) == (place["y"] < place["x"]), "no curves cross that need not"


def test_no_steps_at_all():
    assert draw_graph({}, {}).nodes == ()


@pytest.mark.parametrize(
    ("docstring", "sentences"),
    [
        ("", []),
        ("Loss against steps.", ["Loss against steps."]),
        (
            "|c1| by theory.\n\nInputs by role: `theory`, `sgld`.  Raises KeyError where it is not.\n"
            "Panel c is ours.   Source: arXiv 1, figure 3, Eq. 19.",
            ["|c1| by theory.", "Panel c is ours.", "Source: arXiv 1, figure 3, Eq. 19."],
        ),
    ],
)
def test_a_caption_is_what_a_reader_wants(docstring, sentences):
    assert select_sentences(docstring) == sentences


def test_a_caption_is_read_without_importing(tmp_path):
    (tmp_path / "broken.py").write_text('import nothing_there\n\ndef draw(job):\n    """Two lines."""\n')
    assert read_caption(tmp_path, "broken:draw") == ["Two lines."]
    assert read_caption(tmp_path, "broken:other") == []


def test_a_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('# title: T\nname,value,at\n"a, b",0.123456789,3\nc,,4\n')
    table = read_table(path)
    assert table.columns == ("name", "value", "at")
    assert table.rows == (("a, b", "0.1235", "3"), ("c", "", "4"))
    assert table.numeric == (False, True, True)
    assert read_table(tmp_path / "none.csv") is None


@pytest.mark.parametrize("content", [b"", b"# only: comments\n", b"a,b\n1\n", b"\xff\xfe\x00"])
def test_what_is_no_table(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(OnsetError, match=r"t\.csv is not a table; remove it and build it again"):
        read_table(tmp_path / "t.csv")


def test_counts():
    verdicts = [describe_verdict(make_row(name, name), "known") for name in VERDICTS]
    verdicts.append(describe_verdict(make_row("empty", "held", vacuous=True), ""))
    assert count_outcomes(verdicts) == {"held": 2, "failed": 1, "undecided": 1, "not-run": 1, "vacuous": 1}
    assert [verdict.known for verdict in verdicts] == ["", "known", "", "", ""]


def test_every_verdict_has_words():
    assert set(ALL) <= set(OUTCOMES)
    assert len({outcome.sign for outcome in OUTCOMES.values()}) == len(OUTCOMES)


def test_more_of_a_row_is_shown():
    control = {
        "name": "untrained",
        "what": "no training",
        "value": 0.12345678,
        "verdict": "failed",
        "why": "",
    }
    row = make_row(
        "a", "held", seeds={"runs": [0, 1, 2, 3], "few": [0, 2]}, spread=[0.1, 0.15], control=control
    )
    verdict = describe_verdict(row, "")
    assert verdict.more == (("seeds", "runs 0-3; few 0, 2"),)
    assert verdict.control == "no training: failed, measured 0.1235"
    assert verdict.spread == "0.1 to 0.15"


def test_words():
    assert mark_code("at `steps` < 3") == "at <code>steps</code> &lt; 3"
    assert end_sentence("at step 7") == "At step 7." and end_sentence("Why?") == "Why?"


def test_equal_names_of_two_papers_are_two_steps():
    first = SimpleNamespace(paper="one", name="runs", members=None, needs={})
    second = SimpleNamespace(paper="two", name="runs", members=None, needs={})
    above = steps_above(
        SimpleNamespace(paper="atlas", name="fig1", members=None, needs={"a": first, "b": second})
    )
    assert [(step.paper, step.name) for step in above] == [("one", "runs"), ("two", "runs")]
