"""Guarantees of the paper's parameters: bad input is refused with key, value and what is allowed, and

- the file's own values pass at every scale, and both scales have every section;
- any covariance of norm at most 1 is accepted, as a number, as singular values, or as a matrix;
- other sizes, depths, seeds, steps and evaluation intervals are accepted.
"""

from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML
from tests.gmc.small_gmc import general_covariance

from onset.errors import OnsetError
from onset.papers.gmc.task import read_task
from onset.params.resolve import load_parameters
from onset.pipeline.catalogue import load_catalogue, resolve_code

ROOT = Path(__file__).parents[2]
PAPERS = {"gmc": load_catalogue(ROOT / "workflow/catalogue.yaml").schemas()["gmc"]}
PLOTTING = resolve_code("onset.params.plotting:Plotting")


def load(tmp_path, changes, scale="paper"):
    """Parameters of the paper after setting dotted keys."""
    everything = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text())
    raw = {key: everything[key] for key in ("scale", "device", "plotting", "gmc")}
    overlay = everything["scales"]["ci"]["gmc"]
    raw["scales"] = {"paper": {}, **({"ci": {"gmc": overlay}} if scale == "ci" else {})}
    for key, value in changes.items():
        *path, last = key.split(".")
        place = raw["gmc"]
        for part in path:
            place = place[part]
        place[last] = value
    file = tmp_path / "params.yaml"
    with open(file, "w") as stream:
        YAML(typ="safe", pure=True).dump(raw, stream)
    return load_parameters(file, PAPERS, PLOTTING).sections[scale]["gmc"]


def given(**covariance):
    """A base task with a small d_in whose covariance is given otherwise than by c."""
    return {"base_task": {"T": 8, "d_in": 3, "sigma_token": 1.0, "sigma_noise": 0.1, **covariance}}


REFUSED = {
    "c below 1": ({"base_task.c": 0.9}, ["gmc.base_task.c = 0.9", "greater than or equal to 1"]),
    "short context": ({"long_task.T": 2}, ["gmc.long_task.T = 2", "greater than or equal to 3"]),
    "no noise below zero": ({"base_task.sigma_noise": -0.1}, ["gmc.base_task.sigma_noise = -0.1"]),
    "no covariance": (given(), ["gmc.base_task should have exactly one of c, singular_values", "has none"]),
    "two covariances": (
        given(c=1.2, singular_values=[0.5] * 3),
        ["gmc.base_task should have exactly one of", "has c and singular_values"],
    ),
    "singular value above 1": (
        given(singular_values=[0.5, 1.02, 0.1]),
        ["gmc.base_task.singular_values has spectral norm 1.02; should be at most 1"],
    ),
    "negative singular value": (
        given(singular_values=[0.5, -0.5, 0.1]),
        ["gmc.base_task.singular_values[1] = -0.5", "greater than or equal to 0"],
    ),
    "too few singular values": (
        given(singular_values=[0.5, 0.5]),
        ["gmc.base_task.singular_values has 2 entries; should have base_task.d_in = 3"],
    ),
    "matrix of norm above 1": (
        given(matrix=[[0.7, 0.7, 0.0], [0.7, 0.7, 0.0], [0.0, 0.0, 0.1]]),
        ["gmc.base_task.matrix has spectral norm 1.4; should be at most 1"],
    ),
    "matrix that is not square": (
        given(matrix=[[0.7, 0.7], [0.7, 0.7]]),
        ["gmc.base_task.matrix has 2 rows of 2 entries; should have 3 of base_task.d_in = 3"],
    ),
    "heads": ({"backbone.heads": 7}, ["gmc.backbone.heads = 7: should divide backbone.width = 288"]),
    "odd heads": (
        {"backbone.width": 27},
        ["gmc.backbone.heads = 9: makes heads of 3 entries", "base_runs", "even number"],
    ),
    "architecture": ({"gpt2_runs.architecture": "gpt3"}, ["gmc.gpt2_runs.architecture = 'gpt3'", "'gpt2'"]),
    "no layers": ({"depth1_runs.layers": 0}, ["gmc.depth1_runs.layers = 0", "greater than or equal to 1"]),
    "no seeds": ({"base_runs.seeds": 0}, ["gmc.base_runs.seeds = 0", "greater than or equal to 1"]),
    "beta": ({"optimiser.beta2": 1.0}, ["gmc.optimiser.beta2 = 1.0", "less than 1"]),
    "clip": ({"optimiser.clip": 0.0}, ["gmc.optimiser.clip = 0.0", "greater than 0"]),
    "warm-up": (
        {"base_runs.warmup": 1000},
        ["gmc.base_runs.warmup = 1000: should be less than base_runs.steps = 1000"],
    ),
    "evaluation interval": (
        {"wide_runs.evaluate_every": 30},
        ["gmc.wide_runs.evaluate_every = 30: should divide wide_runs.steps = 1000"],
    ),
    "map between evaluations": (
        {"base_runs.map_steps": [0, 125, 1000]},
        [
            "gmc.base_runs.map_steps has 125, which is not evaluated",
            "multiple of base_runs.evaluate_every = 10",
        ],
    ),
    "map after the end": ({"gpt2_runs.map_steps": [1010]}, ["gmc.gpt2_runs.map_steps has 1010"]),
    "map twice": ({"gpt2_runs.map_steps": [10, 10]}, ["gmc.gpt2_runs.map_steps", "more than once: 10"]),
    "curve longer than the set": (
        {"base_test.curve_samples": 4096},
        ["gmc.base_test.curve_samples = 4096: exceeds base_test.samples = 2048"],
    ),
    "repeat": ({"base_test.K": 1}, ["gmc.base_test.K = 1", "greater than or equal to 2"]),
    "few draws": ({"floors.draws": 10}, ["gmc.floors.draws = 10", "1000"]),
    "score step": ({"fig7.before": 117}, ["gmc.fig7.before = 117: should be a multiple of base_runs"]),
    "score order": ({"fig7.before": 300}, ["gmc.fig7.before = 300: should be less than fig7.after = 200"]),
    "map step": ({"fig8.step": 990}, ["gmc.fig8.step = 990: should be one of base_runs.map_steps"]),
    "drawn seed": ({"fig8.seed": 4}, ["gmc.fig8.seed = 4: should be below base_runs.seeds = 4"]),
    "drawn data": ({"fig10.seed": 17}, ["gmc.fig10.seed = 17: should be one of maxmargin_data.seeds"]),
    "repeated data": ({"maxmargin_data.seeds": [0, 2, 2]}, ["gmc.maxmargin_data.seeds", "more than once: 2"]),
    "max-margin context": (
        {"maxmargin_task.T": 2},
        ["gmc.maxmargin_task.T = 2", "greater than or equal to 3"],
    ),
    "a typo": (
        {"optimiser.lerning_rate": 0.1},
        ["gmc.optimiser.lerning_rate", "did you mean 'learning_rate'"],
    ),
}


@pytest.mark.parametrize("changes, texts", REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, changes, texts):
    with pytest.raises(OnsetError) as refused:
        load(tmp_path, changes)
    for text in texts:
        assert text in str(refused.value)


@pytest.mark.parametrize("scale", ["paper", "ci"])
def test_the_given_values_pass(tmp_path, scale):
    sections = load(tmp_path, {}, scale)
    assert set(sections) == set(PAPERS["gmc"].sections)


def test_the_paper_s_sizes(tmp_path):
    sections = load(tmp_path, {})
    backbone, optimiser = sections["backbone"], sections["optimiser"]
    assert (backbone.width, backbone.heads, backbone.ffn, backbone.init_std) == (288, 9, 1152, 0.02)
    assert (optimiser.batch, optimiser.learning_rate) == (512, 1e-3)
    assert (optimiser.beta1, optimiser.beta2) == (0.9, 0.95)
    for name, layers in {"base": 2, "gpt2": 2, "depth1": 1, "depth8": 8, "depth32": 32}.items():
        runs = sections[f"{name}_runs"]
        assert (runs.layers, runs.steps, runs.warmup) == (layers, 1000, 200)
    sizes = {
        name: (s.T, s.d_in, s.c) for name, s in sections.items() if name.endswith("_task") and hasattr(s, "c")
    }
    assert sizes["base_task"] == (8, 16, 1.2)
    assert {size[0] for size in sizes.values()} == {8, 16}
    assert {size[1] for size in sizes.values()} == {16, 32}
    assert {size[2] for size in sizes.values()} == {1.1, 1.2, 1.3}


@pytest.mark.parametrize(
    "covariance",
    [
        {"c": 1.0},
        {"c": 7},
        {"singular_values": [1.0, 0.5, 0.0]},
        {"matrix": general_covariance(3, norm=1.0).tolist()},
        {"matrix": [[0, -1, 0], [1, 0, 0], [0, 0, 0.5]]},
    ],
    ids=["exact", "whole number", "diagonal", "general", "rotation"],
)
def test_any_covariance_of_norm_at_most_one_is_accepted(tmp_path, covariance):
    task = read_task(load(tmp_path, given(**covariance))["base_task"])
    np.testing.assert_allclose(task.S @ task.S, np.eye(3) - task.C @ task.C.T, atol=1e-8)


def test_other_sizes_are_accepted(tmp_path):
    sections = load(
        tmp_path,
        {
            "base_task.T": 3,
            "base_task.d_in": 1,
            "backbone": {
                "width": 30,
                "heads": 3,
                "ffn": 7,
                "init_std": 0.1,
                "projections": "normal",
                "rope_theta": 5e5,
            },
            "depth8_runs.layers": 5,
            "base_runs.seeds": 1,
            "base_runs.block": 3,
            "base_runs.steps": 999,
            "base_runs.evaluate_every": 3,
            "optimiser.clip": 1.0,
            "base_test.K": 20,
            "maxmargin_data.seeds": [9, 0],
            "fig7.before": 3,
            "fig7.after": 6,
            "fig8.step": 0,
            "base_runs.map_steps": [0],
        },
    )
    assert sections["maxmargin_data"].seeds == (9, 0) and sections["optimiser"].clip == 1.0


def test_heads_of_odd_size_are_accepted_without_rotary_embedding(tmp_path):
    names = [name for name in PAPERS["gmc"].sections if name.endswith("_runs")]
    sections = load(tmp_path, {"backbone.width": 27, **{f"{name}.architecture": "gpt2" for name in names}})
    assert sections["backbone"].width // sections["backbone"].heads == 3
