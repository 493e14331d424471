"""Guarantees of Table 1:

- every value is the parameters', and a changed parameter changes its lines alone
- parameter counts are those of the models, and of the paper's Table 3
- at the paper's scale, values agree with the paper's where it states one number
- every training section has its lines, and the table is the same after CSV
"""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
import torch

from onset.job.context import Job
from onset.papers.gmc.models.registry import TRANSFORMERS, count_backbone
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.table1 import count_gpt2, count_llama, count_maps, tabulate
from onset.params.gmc import Backbone, Optimiser, Sets, Task, Training
from onset.params.overlay import merge
from onset.params.yamlfile import read_yaml

PARAMETERS = Path(__file__).parents[2] / "params.yaml"
TYPES = {"backbone": Backbone, "optimiser": Optimiser, "task": Task, "test": Sets, "runs": Training}


def load_sections(scale: str) -> dict:
    """The sections that the table reads, by name, as params.yaml has them."""
    raw = read_yaml(PARAMETERS)
    given = merge(raw["gmc"], raw["scales"][scale].get("gmc", {}))
    kinds = {name: TYPES.get(name.rpartition("_")[2]) for name in given if not name.startswith("maxmargin")}
    return {name: kind.model_validate(given[name]) for name, kind in kinds.items() if kind}


def table_of(sections: dict) -> pd.DataFrame:
    return tabulate(Job("gmc", "table1", "test", "-", None, sections))


def value(table: pd.DataFrame, run: str, item: str) -> str:
    (found,) = table[(table.run == run) & (table["item"] == item)]["value"]
    return found


@pytest.fixture(scope="module")
def sections():
    return load_sections("paper")


@pytest.mark.parametrize("scale", ("paper", "ci"))
def test_values_are_the_parameters(scale):
    sections = load_sections(scale)
    table = table_of(sections)
    assert list(table.columns) == ["run", "item", "value", "paper", "source"]
    assert set(table.run) == {"all runs", *(name for name in sections if name.endswith("_runs"))}
    assert value(table, "all runs", "d_model") == str(sections["backbone"].width)
    assert float(value(table, "all runs", "learning rate")) == sections["optimiser"].learning_rate
    for name in ("base", "close", "long", "wide"):
        task = sections[f"{name}_task"]
        assert float(value(table, f"{name}_runs", "c")) == task.c
        assert int(value(table, f"{name}_runs", "T")) == task.T
        assert int(value(table, f"{name}_runs", "d_in = d_out")) == task.d_in
    assert value(table, "depth8_runs", "T") == str(sections["base_task"].T)
    assert int(value(table, "depth32_runs", "layers")) == 32
    assert int(value(table, "depth32_runs", "steps")) == sections["depth32_runs"].steps


def test_the_papers_own_numbers(sections):
    table = table_of(sections)
    single = table[table.source.isin(["Table 1", "text"]) & ~table.paper.str.contains(r"[,;]|\^")]
    assert len(single) > 20
    assert (single["value"] == single.paper).all()
    assert value(table, "all runs", "beta1, beta2") == "0.9, 0.95"
    assert value(table, "all runs", "initialisation") == "N(0, 0.02^2)"
    ours = table[table.source == "our choice"]
    assert (ours.paper == "").all()


def test_a_parameter_changes_its_lines_alone(sections):
    before = table_of(sections)
    changed = sections | {"optimiser": sections["optimiser"].model_copy(update={"clip": 1.0})}
    after = table_of(changed)
    (line,) = before.index[(before != after).any(axis=1)]
    assert before.loc[line, "value"] == "none" and after.loc[line, "value"] == "1"


def test_a_covariance_that_is_no_multiple_of_one(sections):
    task = sections["base_task"].model_copy(update={"c": None, "singular_values": (0.5,) * 16})
    table = table_of(sections | {"base_task": task})
    assert value(table, "base_runs", "c") == "C by singular values"


def test_counts_of_the_papers_table_3():
    assert count_llama(2, 288, 1152) == 2_655_648
    assert count_gpt2(2, 320, 1280) == 2_466_560
    assert count_gpt2(2, 320, 1280, length=9) == 2_469_440


@pytest.mark.parametrize("layers", (1, 3))
@pytest.mark.parametrize("architecture", ("llama", "gpt2"))
def test_counts_are_those_of_the_models(architecture, layers):
    shape = Shape(d_in=5, d_out=5, length=11, layers=layers, width=12, heads=3, ffn=20)
    with torch.device("meta"):
        model = TRANSFORMERS[architecture](shape)
    expected = (
        count_llama(layers, 12, 20) if architecture == "llama" else count_gpt2(layers, 12, 20, length=11)
    )
    assert count_backbone(model) == expected
    assert sum(p.numel() for p in model.parameters()) == expected + count_maps(5, 5, 12)


def test_positions_are_those_of_the_longest_sequence(sections):
    table = table_of(sections)
    found = int(value(table, "gpt2_runs", "parameters of the backbone"))
    # repeated sequences of 2K = 16 positions are longer than the 9 of the task
    assert found == count_gpt2(2, 288, 1152, length=16)


def test_the_table_survives_csv(sections):
    table = table_of(sections)
    text = table.to_csv(index=False)
    assert "#" not in text
    read = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(read, table)
