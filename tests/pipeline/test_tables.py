"""Tables of the catalogue, published as CSV.

- a table is made from sections of experiments and from results, with its recipe in it and in its record
- it is made again when a number that it reads changes, and not when another does; it goes by its scale
- a damaged one is named by `onset verify` and published again
- dvc.yaml has it, and `onset list` shows it; a section that does not exist is refused
"""

import pandas as pd
import pytest
from tests.pipeline.copy_project import copy_toy_project
from tests.pipeline.sandbox import Sandbox

TABLE = """\
    tables:
      sizes:
        title: How far the walk went
        code: onset.papers.toy.sizes:tabulate
        needs: {fit: fit}
        reads: {walk: fit}
headlines:
"""
CODE = """\
import pandas as pd
from onset.papers.toy.tell import tell


def tabulate(job):
    tell(job)
    rows = {"steps": job.sections["walk"].steps, "end": float(job.inputs["fit"]["place"][0, -1])}
    return pd.DataFrame({"item": list(rows), "value": list(rows.values())})
"""
PATH = "results/paper/toy/sizes.csv"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    sandbox = Sandbox(tmp_path_factory.mktemp("tables"))
    copy_toy_project(sandbox.project)
    sandbox.edit("workflow/catalogue.yaml", "headlines:\n", TABLE)
    (sandbox.project / "src/onset/papers/toy/sizes.py").write_text(CODE)
    sandbox.snakemake(PATH)
    assert sandbox.ran() == [
        "paper/fit",
        "paper/fit.seed0-1",
        "paper/fit.seed2-3",
        "paper/points",
        "paper/sizes",
    ]
    return sandbox


def read(toy, path=PATH):
    return pd.read_csv(toy.project / path, comment="#").set_index("item")["value"]


def test_holds_parameters_and_results(toy):
    table = read(toy)
    assert table["steps"] == 40
    assert 1.5 < table["end"] < 2.5
    head = (toy.project / PATH).read_text().splitlines()
    assert head[0] == "# title: How far the walk went"
    assert PATH in toy.audit(PATH)
    recipe = next(line.split()[-1] for line in head if line.startswith("# onset_recipe: "))
    assert recipe in toy.onset("show", PATH)
    assert "sizes" in toy.onset("list")
    toy.onset("dvc", "--write")
    assert "results/${item.scale}/toy/sizes.csv" in (toy.project / "dvc.yaml").read_text()


def test_follows_what_it_reads_alone(toy):
    toy.edit("params.yaml", "offset: 0.0", "offset: 0.5")
    toy.snakemake(PATH)
    assert toy.ran() == []
    toy.edit("params.yaml", "offset: 0.5", "offset: 0.0")
    toy.edit("params.yaml", "steps: 40", "steps: 30")
    toy.snakemake(PATH, "results/ci/toy/sizes.csv")
    assert "paper/sizes" in toy.ran()
    assert (read(toy)["steps"], read(toy, "results/ci/toy/sizes.csv")["steps"]) == (30, 10)


def test_a_damaged_table_is_named_and_mended(toy):
    toy.snakemake(PATH)
    before = (toy.project / PATH).read_text()
    (toy.project / PATH).write_text(before.replace("steps", "stops"))
    assert f"{PATH}: damaged" in toy.onset("verify", fails=True)
    toy.snakemake(PATH)
    assert (toy.project / PATH).read_text() == before


def test_an_unknown_section_is_refused(toy):
    toy.edit("workflow/catalogue.yaml", "reads: {walk: fit}", "reads: {walk: fot}")
    assert "toy.sizes reads 'fot', which is no section of toy" in toy.snakemake("-n", PATH, fails=True)
    toy.edit("workflow/catalogue.yaml", "reads: {walk: fot}", "reads: {walk: fit}")
