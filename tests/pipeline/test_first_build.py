"""Building a figure from nothing, then the rest.

- one figure runs all that it needs and nothing else; asked for again, nothing is done
- `dvc repro` afterwards runs only what that figure did not need, and `dvc status` is clean
- every published file carries the recipe that parameters and source give, in its record and inside
- a build from nothing gives the same PDF and checkpoint bytes and the same content of every result
"""

import json

import pytest

NEEDED = ["claims/fig1", "paper/fig1", "paper/fit", "paper/fit.seed0-1", "paper/fit.seed2-3", "paper/line"]


@pytest.fixture(scope="module")
def told(built):
    return {
        label: (text, ran) for label, text, ran in json.loads((built.base / "first_build.json").read_text())
    }


def test_a_figure_runs_all_it_needs(told):
    assert told["figure"][1] == [*NEEDED, "paper/points"]


def test_asked_for_again_nothing_is_done(told):
    text, ran = told["again"]
    assert "Nothing to be done" in text
    assert ran == []


def test_dvc_repro_runs_only_what_the_figure_did_not_need(told):
    assert told["repro"][1] == ["paper/fig2"]
    assert "Data and pipelines are up to date" in told["status"][0]


def test_every_published_file_carries_its_recipe(told):
    assert told["audit"][0] == [
        "figures/fig4.pdf",
        "figures/paper/toy/fig1.pdf",
        "figures/paper/toy/fig2.pdf",
        "figures/toy/fig1.pdf",
        "figures/toy/fig2.pdf",
        "results/paper/toy/checkpoints/fit.safetensors",
        "results/paper/toy/claims/fig1.json",
        "results/paper/toy/data/points.nc",
        "results/paper/toy/fit.nc",
        "results/paper/toy/line.nc",
    ]


def test_after_dvc_repro_everything_is_there(told):
    assert told["all"][1] == []


def test_a_second_build_gives_the_same(toy):
    before = contents(toy.project)
    toy.forget(".onset", ".snakemake", "results", "figures")
    toy.snakemake("all")
    assert len(toy.ran()) == len(NEEDED) + 2
    assert contents(toy.project) == before


def contents(project):
    """Bytes of PDFs, checkpoints and claims; of netCDF files the content digest."""
    import netCDF4

    found = {}
    for folder in ("results", "figures"):
        for path in (project / folder).rglob("*.*"):
            if path.suffix == ".nc":
                with netCDF4.Dataset(path) as file:
                    found[path.relative_to(project)] = file.onset_content
            elif path.suffix in (".pdf", ".safetensors") or path.parent.name == "claims":
                found[path.relative_to(project)] = path.read_bytes()
    return {path: value for path, value in found.items() if not path.name.endswith(".prov.json")}
