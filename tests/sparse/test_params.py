"""Guarantees of the paper's parameters: bad input is refused with key, value and what is allowed, and

- the file's own values pass at every scale, and both scales have every section;
- the settings that are facts of the paper or its code stand in the file;
- other chains, models, seeds, steps and batches are accepted;
- each chain's data are those of one experiment, and every figure's run exists.
"""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from onset.errors import OnsetError
from onset.papers.sparse.chain import read_chain
from onset.params.resolve import load_parameters
from onset.params.sparse import Chain, Training
from onset.params.sparse_checks import FIGURE_RUNS, name_sequences
from onset.params.variants import expand_variants
from onset.pipeline.catalogue import load_catalogue, resolve_code

ROOT = Path(__file__).parents[2]
CATALOGUE = load_catalogue(ROOT / "workflow/catalogue.yaml")
PAPERS = {"sparse": CATALOGUE.schemas()["sparse"]}
PLOTTING = resolve_code("onset.params.plotting:Plotting")


def load(tmp_path, changes, scale="paper"):
    """Parameters of the paper after setting keys, given as paths with slashes (runs have dots in names)."""
    everything = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text())
    raw = {key: everything[key] for key in ("scale", "device", "plotting", "sparse")}
    overlay = everything["scales"]["ci"]["sparse"]
    raw["scales"] = {"paper": {}, **({"ci": {"sparse": overlay}} if scale == "ci" else {})}
    for key, value in changes.items():
        *path, last = key.split("/")
        place = raw["sparse"]
        for part in path:
            place = place[part]
        place[last] = value
    file = tmp_path / "params.yaml"
    with open(file, "w") as stream:
        YAML(typ="safe", pure=True).dump(raw, stream)
    return load_parameters(file, PAPERS, PLOTTING).sections[scale]["sparse"]


REFUSED = {
    "lag 0": (
        {"base_chain/groups": [[0, 1], [2, 3]]},
        ["sparse.base_chain.groups has lag 0; lags go from 1, the latest token, to base_chain.window = 6"],
    ),
    "negative lag": ({"base_chain/groups": [[-1, 1], [2]]}, ["sparse.base_chain.groups has lag -1"]),
    "lag beyond the window": (
        {"base_chain/window": 5},
        ["sparse.base_chain.groups has lag 6; lags go from 1", "base_chain.window = 5"],
    ),
    "overlap": (
        {"wide_chain/groups": [[1, 2, 3, 4], [3, 4, 5, 6], [5, 6, 7, 8]]},
        ["sparse.wide_chain.groups overlap at lag 3, 4, 5, 6; should be disjoint", "wide_chain.overlap"],
    ),
    "a lag twice in a group": (
        {"overlap_chain/groups": [[1, 1], [2]]},
        ["sparse.overlap_chain.groups[0]", "more than once: 1"],
    ),
    "empty group": ({"base_chain/groups": [[1], []]}, ["sparse.base_chain.groups[1]", "at least 1 item"]),
    "no group": ({"base_chain/groups": []}, ["sparse.base_chain.groups", "at least 1 item"]),
    "alpha below one": (
        {"uneven_chain/alpha": [[0.7, 0.3], [0.7, 0.2], [0.7, 0.3]]},
        ["sparse.uneven_chain.alpha of I(2) sums to 0.9; should sum to 1"],
    ),
    "alpha above one": (
        {"uneven_chain/alpha": [[0.7, 0.3], [0.7, 0.3], [7, 3]]},
        ["sparse.uneven_chain.alpha of I(3) sums to 10; should sum to 1"],
    ),
    "alpha of another size": (
        {"uneven_chain/alpha": [[0.7, 0.3], [1.0], [0.7, 0.3]]},
        ["sparse.uneven_chain.alpha has [2, 1, 2] weights; should have one for each lag", "[2, 2, 2]"],
    ),
    "negative alpha": (
        {"uneven_chain/alpha": [[1.3, -0.3], [0.7, 0.3], [0.7, 0.3]]},
        ["sparse.uneven_chain.alpha[0][1] = -0.3", "greater than 0"],
    ),
    "alpha where tokens are added": (
        {"reversed_chain/alpha": [[0.5, 0.5], [0.25] * 4, [0.125] * 8]},
        ["sparse.reversed_chain.alpha should be null where reversed_chain.scaling is sum"],
    ),
    "m below 1": ({"base_chain/m": 0.9}, ["sparse.base_chain.m = 0.9", "greater than or equal to 1"]),
    "b0": ({"base_chain/b0": 0.0}, ["sparse.base_chain.b0 = 0.0", "greater than 0"]),
    "one symbol": ({"base_chain/d": 1}, ["sparse.base_chain.d = 1", "greater than or equal to 2"]),
    "scaling": ({"base_chain/scaling": "max"}, ["sparse.base_chain.scaling = 'max'", "'mean' or 'sum'"]),
    "unlike chains in one dataset": ({"m13_chain/T": 19}, ["sparse.m1_chain should share d, T, window"]),
    "no heads": ({"base_runs/heads": 0}, ["sparse.base_runs.heads = 0", "greater than or equal to 1"]),
    "no heads of a run": (
        {"overlap_runs/runs/heads4/heads": 0},
        ["sparse.overlap_runs.runs.heads4.heads = 0", "greater than or equal to 1"],
    ),
    "heads that do not divide": (
        {"full_runs/heads": 4},
        ["sparse.full_runs.heads = 4: should divide full_model.width = 255"],
    ),
    "narrow": (
        {"full_model/width": 48},
        ["sparse.full_model.width = 48: should be at least wide_chain.d = 50", "orthonormal"],
    ),
    "no layers": ({"two_block_runs/layers": 0}, ["sparse.two_block_runs.layers = 0"]),
    "dropout": ({"full_model/dropout": 1.0}, ["sparse.full_model.dropout = 1.0", "less than 1"]),
    "single precision": (
        {"base_runs/dtype": "float32"},
        ["sparse.base_runs.dtype = 'float32': rounding removes differences between heads of 1e-09"],
    ),
    "single precision of a run": (
        {"scale_runs/runs/u1e-6/dtype": "float32"},
        ["sparse.scale_runs.runs.u1e-6.dtype = 'float32'", "1e-06; should be float64"],
    ),
    "negative start": (
        {"base_runs/init_scale": -1e-9},
        ["sparse.base_runs.init_scale = -1e-09", "greater than or equal to 0"],
    ),
    "small start of the full model": (
        {"full_runs/init_scale": 0.1},
        ["sparse.full_runs.init_scale = 0.1: the full model has no such start"],
    ),
    "switch of the full model": (
        {"minimal_variants/runs/heads5/residual": False},
        ["sparse.minimal_variants.runs.heads5.residual = False: a switch of the full model"],
    ),
    "model": ({"base_runs/model": "mini"}, ["sparse.base_runs.model = 'mini'", "'minimal' or 'full'"]),
    "optimiser": ({"sgd_runs/optimiser": "adam"}, ["sparse.sgd_runs.optimiser = 'adam'", "'adamw' or 'sgd'"]),
    "learning rate": ({"sgd_runs/learning_rate": 0.0}, ["sparse.sgd_runs.learning_rate = 0.0"]),
    "context": (
        {"base_references/runs/gram2/context": 26},
        ["sparse.base_references.runs.gram2.context = 26: exceeds the 25 tokens"],
    ),
    "no such chain": (
        {"m_runs/runs/m1/chain": "m2_chain"},
        ["sparse.m_runs.runs.m1.chain = 'm2_chain': should be one of base_chain, blocks_chain"],
    ),
    "chain of other data": (
        {"base_runs/runs/main/chain": "wide_chain"},
        ["sparse.base_runs.runs.main.chain = 'wide_chain': base_runs trains on base_sequences"],
    ),
    "too few sequences": (
        {"size_runs/runs/n9000/samples": 10000},
        ["sparse.size_runs.runs.n9000.samples = 10000: exceeds base_sequences.samples = 9000"],
    ),
    "too few validation sequences": (
        {"sgd_sequences/validation": 400},
        ["sparse.sgd_runs.evaluation_samples = 500: exceeds sgd_sequences.validation = 400"],
    ),
    "too few seeds of the data": (
        {"base_runs/seeds": 6},
        ["sparse.base_runs.seeds = 6: base_sequences.seeds has no 4, 5"],
    ),
    "repeated seeds": ({"base_sequences/seeds": [0, 1, 1, 2, 3]}, ["sparse.base_sequences.seeds", "once: 1"]),
    "no seeds": ({"base_runs/seeds": 0}, ["sparse.base_runs.seeds = 0", "greater than or equal to 1"]),
    "no steps": ({"base_runs/steps": 0}, ["sparse.base_runs.steps = 0", "greater than or equal to 1"]),
    "steps between evaluations": (
        {"base_runs/steps": 1105},
        ["sparse.base_runs.steps = 1105: should be a multiple of base_runs.evaluate_every"],
    ),
    "map between evaluations": (
        {"full_runs/map_steps": [0, 65, 300, 1000]},
        ["sparse.full_runs.map_steps has 65, which is not evaluated", "full_runs.evaluate_every = 10"],
    ),
    "map after the end": ({"m_runs/map_steps": [1010]}, ["sparse.m_runs.map_steps has 1010"]),
    "no run": (
        {"online_runs/runs": {"main": None}, "fig9/run": "main"},
        ["sparse.online_runs.runs leaves out every run"],
    ),
    "references without predictions": (
        {"full_references/predictions": False},
        ["sparse.full_references.predictions = false", "should be true"],
    ),
    "reference without a context": (
        {"full_references/runs": {"gram4": {}}},
        ["sparse.full_references.runs.gram4.context is missing"],
    ),
    "references on other sequences": (
        {"full_references/evaluation_samples": 400},
        ["sparse.full_references.evaluation_samples = 400: should equal full_runs.evaluation_samples = 500"],
    ),
    "fewer seeds of references": (
        {"base_references/seeds": 1},
        ["sparse.base_references.seeds = 1: should be at least size_runs.seeds = 2"],
    ),
    "drawn run": ({"fig13/run": "main"}, ["sparse.fig13.run names 'main'", "two_block_runs: full, minimal"]),
    "drawn seed": ({"fig2/seed": 1}, ["sparse.fig2.seed = 1: should be below full_runs.seeds = 1"]),
    "drawn step": (
        {"fig2/steps": [0, 70]},
        ["sparse.fig2.steps has 70; should be among full_runs.map_steps"],
    ),
    "no drawn step": ({"fig2/steps": []}, ["sparse.fig2.steps", "at least 1 item"]),
    "drawn sizes": ({"fig5/runs": ["n601"]}, ["sparse.fig5.runs names 'n601'", "runs of size_runs"]),
    "features": ({"features/T": 2}, ["sparse.features.h = 3: should be at most features.T = 2"]),
    "equal features": ({"features/m": 1.0}, ["sparse.features.m = 1.0", "greater than 1"]),
    "noise": ({"flow_starts/runs/uniform/epsilon": 0.0}, ["sparse.flow_starts.runs.uniform"]),
    "tolerance": (
        {"flow_solver/rtol": 0.1},
        ["sparse.flow_solver.rtol = 0.1", "less than or equal to 0.001"],
    ),
    "boundaries": (
        {"stage_flow/boundaries": [300.0, 25.0]},
        ["sparse.stage_flow.boundaries should increase"],
    ),
    "a typo": ({"base_runs/lerning_rate": 0.1}, ["sparse.base_runs.lerning_rate", "'learning_rate'"]),
    "a typo in a run": (
        {"size_runs/runs/n600/sample": 600},
        ["sparse.size_runs.runs.n600.sample", "unknown key"],
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
    assert set(sections) == set(PAPERS["sparse"].sections)


def test_the_paper_s_settings(tmp_path):
    sections = load(tmp_path, {})
    base, wide = sections["base_chain"], sections["wide_chain"]
    assert (base.d, base.T, base.window, base.m, len(base.groups)) == (50, 20, 6, 1.7, 3)
    assert (wide.window, [len(group) for group in wide.groups]) == (12, [4, 4, 4])
    assert [sections[f"{name}_chain"].m for name in ("m1", "m13", "m15", "blocks", "sgd")] == [
        1.0,
        1.3,
        1.5,
        1.8,
        2.0,
    ]
    assert sections["base_sequences"].samples == 9000
    minimal, full, sgd = (sections[f"{name}_runs"] for name in ("base", "full", "sgd"))
    assert (minimal.learning_rate, full.learning_rate, sgd.learning_rate) == (0.08, 0.003, 0.2)
    assert (sections["full_model"].width, sections["full_model"].ffn) == (255, 64)
    two = expand_variants(sections["two_block_runs"], "runs")
    assert (two["minimal"].learning_rate, two["minimal"].samples) == (0.04, 27000)
    scales = expand_variants(sections["scale_runs"], "runs")
    assert {run.init_scale for run in scales.values()} == {None, 1e-3, 1e-6, 1e-9, 0.0}
    assert sections["reversed_chain"].groups[0] == (13, 14)
    assert sections["fig2"].steps == (0, 60, 300, 1000)


@pytest.mark.parametrize("scale", ["paper", "ci"])
def test_every_chain_can_be_built_and_has_data(tmp_path, scale):
    sections = load(tmp_path, {}, scale)
    for name, section in sections.items():
        if isinstance(section, Chain):
            chain = read_chain(section)
            assert chain.h == 3
            experiment = CATALOGUE.papers["sparse"].experiments[name_sequences(name)]
            assert name in experiment.reads.values()


@pytest.mark.parametrize("scale", ["paper", "ci"])
def test_every_run_reads_its_chain(tmp_path, scale):
    sections = load(tmp_path, {}, scale)
    for name, section in sections.items():
        if isinstance(section, Training):
            entry = CATALOGUE.papers["sparse"].experiments[name]
            for run in expand_variants(section, "runs").values():
                assert run.chain in entry.reads
                assert entry.needs["sequences"] == name_sequences(run.chain)


def test_figures_of_one_run_need_the_experiment_that_is_checked():
    figures = CATALOGUE.papers["sparse"].figures
    assert len(figures) == 21
    for name, experiment in FIGURE_RUNS.items():
        assert figures[name].needs["runs"] == experiment


def test_other_settings_are_accepted(tmp_path):
    sections = load(
        tmp_path,
        {
            "base_chain/groups": [[6], [1, 3], [2]],
            "base_chain/m": 1,
            "base_chain/alpha": [[1.0], [0.1, 0.9], [1]],
            "wide_chain/overlap": True,
            "wide_chain/groups": [[1, 2], [2, 3]],
            "overlap_chain/mutually_orthogonal": True,
            "base_sequences/seeds": [0, 1, 2, 3, 9],
            "base_runs/heads": 7,
            "base_runs/batch": 3000,
            "base_runs/layers": 3,
            "base_runs/init_scale": 1.0e-5,
            "base_runs/dtype": "float32",
            "scale_runs/runs/u0/dtype": "float32",
            "full_runs/heads": 5,
            "full_runs/dtype": "float64",
            "full_runs/runs/short": {"steps": 500, "normalise": False, "context": 8},
            "full_model/dropout": 0.0,
            "optimiser/clip": None,
            "m_runs/map_steps": [],
        },
    )
    assert sections["full_runs"].runs["short"].steps == 500
