"""What stands where a file of the pipeline belongs and is none.

- an index that is no mapping is made anew
- a folder in place of a published file is told by `verify`, with the other files still checked
"""


def test_an_index_that_is_no_mapping_is_made_anew(toy):
    (toy.project / ".onset" / "index.json").write_text("[]")
    assert "toy" in toy.onset("list")
    toy.snakemake("figures/fig4.pdf")
    assert toy.ran() == []


def test_a_folder_in_place_of_a_result_is_told(toy):
    path = toy.project / "results/paper/toy/line.nc"
    path.unlink()
    path.mkdir()
    text = toy.onset("verify", fails=True)
    assert "results/paper/toy/line.nc: damaged: it is no file; remove it" in text
    assert "10 published file(s) checked, 9 ok" in text
    assert "toy" in toy.onset("list")
