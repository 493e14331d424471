"""The verbs that look, on the toy project: each says what is asked, and bad input ends with 2 and one line.

- `show` reads results, figures and claims, also a figure that was copied elsewhere
- `verify FILE` computes digests again and names each parameter, source and input that differs
- `why` names the first difference, and the nearest target where there is none of that name
- `diff` compares results within tolerances and ledgers by verdict; 0 where they agree, 1 where they differ
- a truncated or foreign netCDF, a PDF or a JSON without provenance, an unknown path, scale or paper: exit
  code 2, one line, and the nearest known name
"""

import shutil

import netCDF4
import pytest

FIT = "results/paper/toy/fit.nc"
CLAIMS = "results/paper/toy/claims/fig1.json"


def look(sandbox, *words):
    """Exit code and output of an `onset` verb."""
    sandbox.settings["PYTHONPATH"] = str(sandbox.project / "src")
    process = sandbox.start("python", "-m", "onset", *words)
    text, _ = process.communicate(timeout=120)
    del sandbox.settings["PYTHONPATH"]
    return process.returncode, text


def test_show(toy):
    code, text = look(toy, "show", FIT)
    assert code == 0
    for part in ("onset_recipe", "steps: 40", "variables:", "record:", "made from:", "toy/points"):
        assert part in text
    moved = toy.base / "moved.pdf"
    shutil.copy(toy.project / "figures/paper/toy/fig1.pdf", moved)
    code, text = look(toy, "show", str(moved))
    assert code == 0 and "step: toy/fig1" in text and "toy/fit" in text
    toy.forget(".onset")
    code, text = look(toy, "show", str(moved))
    assert code == 0 and "its record is neither beside it nor in the store" in text
    assert look(toy, "show", CLAIMS)[0] == 0


def test_verify_names_what_differs(toy):
    figure = "figures/paper/toy/fig1.pdf"
    code, text = look(toy, "verify", FIT, figure, CLAIMS)
    assert code == 0 and text.count(": ok (recipe ") == 3
    toy.edit("params.yaml", "rate: 0.1", "rate: 0.2")
    code, text = look(toy, "verify", FIT, figure)
    assert code == 1
    first, second = text.strip().splitlines()
    assert first.startswith(f"{FIT}: rate 0.1 -> 0.2; input toy/fit.seed0-1: recipe ")
    assert second.startswith(f"{figure}: input toy/fit: recipe ")
    toy.edit("params.yaml", "rate: 0.2", "rate: 0.1")
    toy.edit("src/onset/papers/toy/theory.py", "def solve_line", "MORE = 1\n\n\ndef solve_line")
    code, text = look(toy, "verify", "results/paper/toy/line.nc")
    assert code == 1 and "source of onset.papers.toy.theory" in text


def test_why_names_the_nearest(toy):
    assert look(toy, "why", "figures/fig4.pdf")[0] == 0
    toy.edit("params.yaml", "rate: 0.1", "rate: 0.2")
    code, text = look(toy, "why", "figures/fig4.pdf")
    assert code == 0 and "rate 0.1 -> 0.2" in text


def test_diff(toy):
    code, text = look(toy, "diff", FIT, FIT)
    assert code == 0 and "bit for bit" in text
    code, text = look(toy, "diff", FIT, "results/paper/toy/line.nc")
    assert code == 1 and "parameter steps: 40 -> None" in text and "place: only in the first" in text
    old = toy.base / "old.nc"
    shutil.copy(toy.project / FIT, old)
    toy.edit("params.yaml", "rate: 0.1", "rate: 0.10001")
    toy.snakemake(FIT)
    code, text = look(toy, "diff", str(old), FIT)
    assert code == 1 and "place: largest difference" in text and "beyond the tolerance" in text
    code, text = look(toy, "diff", "--rtol", "0.01", str(old), FIT)
    assert code == 0 and "within the tolerance" in text
    code, text = look(toy, "diff", CLAIMS, CLAIMS)
    assert code == 0 and "claim(s) with the same verdict, 0 with another" in text


@pytest.fixture(scope="module")
def odd(tmp_path_factory, built):
    """Files that are no results: truncated, foreign, without provenance."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "truncated.nc").write_bytes((built.project / FIT).read_bytes()[:-100])
    with netCDF4.Dataset(folder / "foreign.nc", "w") as file:
        file.createDimension("x", 2)
    (folder / "plain.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    (folder / "other.json").write_text('{"a": 1}')
    return folder


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("show", "{odd}/truncated.nc"), "truncated.nc is damaged"),
        (("verify", "{odd}/truncated.nc"), "truncated.nc is damaged"),
        (("diff", "{odd}/truncated.nc", FIT), "truncated.nc is damaged"),
        (("show", "{odd}/foreign.nc"), "not a result of this pipeline"),
        (("verify", "{odd}/foreign.nc"), "not a result of this pipeline"),
        (("show", "{odd}/plain.pdf"), "carries no provenance of this pipeline"),
        (("verify", "{odd}/plain.pdf"), "carries no provenance of this pipeline"),
        (("verify", "{odd}/other.json"), "carries no provenance of this pipeline"),
        (("diff", "{odd}/other.json", CLAIMS), "other.json does not hold claims"),
        (("diff", FIT, CLAIMS), "cannot be compared"),
        (("show", "figures/paper/toy/fig3.pdf"), "did you mean 'figures/paper/toy/fig"),
        (("verify", "results/paper/toy/fitt.nc"), "did you mean 'results/paper/toy/fit.nc'"),
        (("why", "fig99"), "did you mean 'figures/fig4.pdf'"),
        (("why", "figures/paper/toy/fig3.pdf"), "did you mean 'figures/paper/toy/fig"),
        (("list", "--scale", "papr"), "did you mean 'paper'"),
        (("claims", "--scale", "papr"), "did you mean 'paper'"),
        (("claims", "toyy"), "did you mean 'toy'"),
        (("report", "--scale", "papr"), "did you mean 'paper'"),
    ],
)
def test_bad_input(built, odd, words, told):
    code, text = look(built, *(word.format(odd=odd) for word in words))
    assert code == 2
    assert text.startswith("onset: ") and text.count("\n") == 1
    assert told in text
