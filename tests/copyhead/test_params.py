"""Guarantees of the copy head's parameters: bad input is refused before a job starts, with key and value.

- each value out of its range: variances, sizes, widths, grids, step sizes, also inside a run's overrides;
- sections that do not go together: runs beyond the sequences, few records, minibatches, phases without a
  theory, figures of what is not sampled, copy states of too narrow heads;
- the file itself is accepted at every scale.
"""

from pathlib import Path

import pytest
import yaml

from onset.errors import OnsetError
from onset.params.plotting import Plotting
from onset.params.resolve import load_parameters
from onset.pipeline.catalogue import load_catalogue

ROOT = Path(__file__).resolve().parents[2]
PAPER = {"copyhead": load_catalogue(ROOT / "workflow/catalogue.yaml").schemas()["copyhead"]}


def load(tmp_path, changes):
    """Load params.yaml, this paper alone, with values put at dotted paths."""
    raw = yaml.safe_load((ROOT / "params.yaml").read_text())
    raw = {key: raw[key] for key in ("scale", "device", "plotting", "copyhead", "scales")}
    raw["scales"] = {
        scale: {k: v for k, v in (overlay or {}).items() if k in ("copyhead", "plotting")}
        for scale, overlay in raw["scales"].items()
    }
    for path, value in changes.items():
        *keys, last = path.split(".")
        node = raw["copyhead"]
        for key in keys:
            node = node[key]
        node[last] = value
    file = tmp_path / "params.yaml"
    file.write_text(yaml.safe_dump(raw, sort_keys=False))
    return load_parameters(file, PAPER, Plotting)


def test_the_file_is_accepted(tmp_path):
    assert {"paper", "ci"} <= set(load(tmp_path, {}).scales)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("prior.sigma2", 0.0, "greater than 0"),
        ("prior.sigma2", -1.0, "greater than 0"),
        ("prior.g_OV", 0.0, "greater than 0"),
        ("prior.d_k", 0, "greater than or equal to 1"),
        ("task.V", 1, "greater than or equal to 2"),
        ("task.L", 2, "greater than or equal to 3"),
        ("linear_sgld.P", [], "at least 1"),
        ("linear_sgld.P", [50, 40], "strictly increasing"),
        ("linear_sgld.step_size", 0.0, "greater than 0"),
        ("linear_sgld.step_size", 1.0, "less than 1"),
        ("linear_sgld.batch", 0, "greater than or equal to 1"),
        ("linear_sgld.weights", "half", "integrated"),
        ("variant_sgld.runs.linear_half", {"step_size": 1.0}, "less than 1"),
        ("qk_sgld.runs.linear512", {"d_k": 0}, "greater than or equal to 1"),
        ("phase_sgld.runs.L12_prior", {"L": 2}, "greater than or equal to 3"),
        ("qk_adam.d_k", 0, "greater than or equal to 1"),
        ("hysteresis.P", [40], "at least 2"),
        ("hysteresis.step_size", 1.5, "less than 1"),
        ("phase_theory.v", [1.0, 0.5], "strictly increasing"),
        ("phase_theory.g_OV", [0.0, 0.5], "greater than 0"),
        ("landscapes.softmax_P", [], "at least 1"),
    ],
)
def test_value_out_of_range(tmp_path, path, value, told):
    with pytest.raises(OnsetError) as error:
        load(tmp_path, {path: value})
    assert any(f"copyhead.{path}" in line and told in line for line in str(error.value).splitlines())


@pytest.mark.parametrize(
    ("changes", "path", "told"),
    [
        ({"cluster_adam.P": [100, 700]}, "cluster_adam.P", "700 exceeds sequences.samples = 600"),
        ({"variant_sgld.runs.linear_copy": {"P": [900]}}, "variant_sgld.runs.linear_copy.P", "900 exceeds"),
        ({"qk_sgld.record_every": 400}, "qk_sgld.record_every", "leaves 10 records"),
        (
            {"variant_sgld.runs.linear_half": {"step_size": 0.01, "steps": 20000}},
            "variant_sgld.runs",
            "same number of records",
        ),
        (
            {"variant_sgld.runs.linear_collapsed": {"weights": "integrated", "batch": 5}},
            "variant_sgld.runs.linear_collapsed.batch",
            "all sequences at once",
        ),
        ({"linear_sgld.batch": 45}, "linear_sgld.batch", "45 exceeds the smallest P = 40"),
        ({"phase_sgld.runs.v_low_prior": {"v": 0.45}}, "phase_sgld.runs.v_low_prior.v", "phase_theory.v"),
        ({"fig1.linear_at": [55]}, "fig1.linear_at", "55, which is not among linear_sgld.P"),
        ({"fig7.at": [55]}, "fig7.at", "55, which is not among softmax_adam.P"),
        ({"prior.d_k": 12}, "softmax_sgld_copy.start", "d_k = 12, below L = 24"),
        ({"prior.d_k": 12}, "hysteresis.P", "d_k = 12, below L = 24"),
    ],
)
def test_sections_that_do_not_go_together(tmp_path, changes, path, told):
    with pytest.raises(OnsetError) as error:
        load(tmp_path, changes)
    assert any(f"copyhead.{path} " in line and told in line for line in str(error.value).splitlines())
