"""Guarantees of the paper's parameters: bad input is refused with key, value and what is allowed, and

- a run overrides its section, null leaves it out, and a spectrum is a list or a law;
- any dimension, context length, spectrum, rank, heads and list of seeds is accepted.
"""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from onset.errors import OnsetError
from onset.params.linattn import Training
from onset.params.resolve import load_parameters
from onset.params.variants import expand_variants
from onset.pipeline.catalogue import load_catalogue, resolve_code

ROOT = Path(__file__).parents[2]
CATALOGUE = load_catalogue(ROOT / "workflow/catalogue.yaml")
PAPERS = {"linattn": CATALOGUE.schemas()["linattn"]}
RAW = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text())


def load(tmp_path, changes):
    """Parameters of the paper after setting dotted keys; None as a whole section's entry stays null."""
    raw = {key: RAW[key] for key in ("scale", "device", "plotting")}
    raw["linattn"] = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text())["linattn"]
    raw["scales"] = {"paper": {}}
    for key, value in changes.items():
        *path, last = key.split(".")
        place = raw["linattn"]
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    file = tmp_path / "params.yaml"
    with open(file, "w") as stream:
        YAML(typ="safe", pure=True).dump(raw, stream)
    plotting = resolve_code("onset.params.plotting:Plotting")
    return load_parameters(file, PAPERS, plotting).sections["paper"]["linattn"]


REFUSED = {
    "zero eigenvalue": (
        {"base_task.eigenvalues": [0.4, 0.3, 0.0]},
        ["linattn.base_task.eigenvalues[2] = 0.0", "greater than 0"],
    ),
    "negative eigenvalue": (
        {"base_task.eigenvalues": [0.4, -0.3]},
        ["linattn.base_task.eigenvalues[1] = -0.3", "greater than 0"],
    ),
    "increasing eigenvalues": (
        {"base_task.eigenvalues": [0.1, 0.4]},
        ["linattn.base_task.eigenvalues = [0.1, 0.4]", "decreasing"],
    ),
    "list and law": ({"base_task.law": "white"}, ["linattn.base_task", "either `eigenvalues` or `law`"]),
    "rank above D": (
        {"fig3_runs.rank": 5},
        ["linattn.fig3_runs.rank = 5: should be at most D = 4 of base_task"],
    ),
    "rank of a run above D": (
        {"fig11_runs.runs.rank4": {"rank": 9}},
        ["linattn.fig11_runs.runs.rank4.rank = 9: should be at most D = 4"],
    ),
    "softmax rank above D": (
        {"fig5_separate.rank": 7},
        ["linattn.fig5_separate.rank = 7: should be at most D = 4"],
    ),
    "no rank": ({"fig3_runs.rank": None}, ["linattn.fig3_runs.rank is missing"]),
    "zero heads": ({"fig3_runs.heads": 0}, ["linattn.fig3_runs.heads = 0", "greater than or equal to 1"]),
    "zero heads of a run": (
        {"fig6_runs.runs.separate_1": {"heads": 0}},
        ["linattn.fig6_runs.runs.separate_1.heads = 0", "greater than or equal to 1"],
    ),
    "repeated seeds": (
        {"fig3_runs.seeds": [0, 1, 0]},
        ["linattn.fig3_runs.seeds = [0, 1, 0]", "more than once: 0"],
    ),
    "no seeds": ({"fig3_runs.seeds": 0}, ["linattn.fig3_runs.seeds = 0", "at least 1"]),
    "seeds without a set": (
        {"fig3_runs.seeds": [0, 9]},
        ["linattn.fig3_runs.seeds", "base_sets.seeds has no 9"],
    ),
    "samples without a set": (
        {"fig3_runs.samples": 70000},
        ["linattn.fig3_runs.samples = 70000: should be 0 or one of base_sets.samples = [5000, 80000]"],
    ),
    "unknown task": ({"fig3_runs.task": "bse_task"}, ["linattn.fig3_runs.task = 'bse_task'", "base_task"]),
    "unknown model": ({"fig3_runs.model": "merge"}, ["linattn.fig3_runs.model = 'merge'", "'merged'"]),
    "side blocks of a population": (
        {"fig3_population.free_side_blocks": True},
        ["linattn.fig3_population.free_side_blocks = true", "should be false"],
    ),
    "aligned separate": ({"fig3_runs.start": "aligned"}, ["linattn.fig3_runs.start = 'aligned'"]),
    "records": ({"fig3_runs.record_every": 20000}, ["linattn.fig3_runs.record_every", "exceeds"]),
    "snapshots": ({"fig3_runs.snapshot_every": 15}, ["linattn.fig3_runs.snapshot_every = 15", "multiple"]),
    "share": (
        {"mixture_sets.shares": [0.0, 1.2]},
        ["linattn.mixture_sets.shares[1] = 1.2", "less than or equal to 1"],
    ),
    "repeated shares": (
        {"mixture_sets.shares": [0.5, 0.5]},
        ["linattn.mixture_sets.shares = [0.5, 0.5]", "distinct"],
    ),
    "zero rate": (
        {"fig14_runs.learning_rate": 0.0},
        ["linattn.fig14_runs.learning_rate = 0.0", "greater than 0"],
    ),
    "a typo in a run": ({"fig4_runs.runs.rank2": {"rnk": 2}}, ["linattn.fig4_runs.runs.rank2.rnk", "rnk"]),
    "no runs": ({"fig3_runs.runs": {"set": None}}, ["linattn.fig3_runs.runs leaves out every run"]),
}


@pytest.mark.parametrize("changes, texts", REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, changes, texts):
    with pytest.raises(OnsetError) as refused:
        load(tmp_path, changes)
    for text in texts:
        assert text in str(refused.value)


def test_other_sizes_are_accepted(tmp_path):
    changes = {
        "base_task": {"N": 20, "eigenvalues": [0.5, 0.2, 0.15, 0.1, 0.05]},
        "fig11_runs.rank": 5,
        "fig11_runs.heads": 2,
        "base_sets.seeds": [4, 1, 7, 0, 2, 3, 5],
        "fig3_runs.seeds": [7, 4],
    }
    sections = load(tmp_path, changes)
    assert sections["base_task"].dimension == 5
    assert sections["fig3_runs"].seeds == (7, 4)
    assert expand_variants(sections["fig11_runs"], "runs")["rank2"].rank == 5


def test_a_run_overrides_its_section_and_null_leaves_it_out(tmp_path):
    sections = load(tmp_path, {"fig4_runs.runs.rank1": None})
    runs = expand_variants(sections["fig4_runs"], "runs")
    assert "rank1" not in runs and isinstance(runs["rank8"], Training)
    assert (runs["rank8"].rank, runs["rank8"].heads) == (8, sections["fig4_runs"].heads)
    starts = expand_variants(sections["fig4_population"], "runs")
    assert (starts["small4"].rank, starts["small4"].init_std) == (4, 0.005)
    assert starts["rank4"].init_std == sections["fig4_population"].init_std
