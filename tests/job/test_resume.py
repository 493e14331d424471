"""A loop that was killed goes on bit for bit.

- killed after any chunk and resumed, it ends with the bits of an uninterrupted run, and repeats no chunk
- a state of another recipe, or of other tensors, is refused with what to remove; it is left as it was
- a damaged state is set aside and the run starts afresh
- saves are as rare as asked for, replace the file as a whole, and are forgotten after success
"""

import contextlib
import io

import pytest
import torch

from onset.errors import OnsetError
from onset.job.context import Job
from onset.job.loop import run_resumable
from onset.job.progress import Reporter
from onset.job.state import SavedState

TOTAL, CHUNK = 23, 4


class Killed(Exception):
    pass


def run(folder, recipe="r", kill_at=None, every=0.0):
    """A loop with momentum; its tensors, and the steps that were computed."""
    tensors = {
        "weights": torch.ones(3, 2),
        "moment": torch.zeros(3, 2, dtype=torch.float64),
        "count": torch.zeros((), dtype=torch.int64),
    }
    done = []

    def advance(begin, end):
        for step in range(begin, end):
            if step == kill_at:
                raise Killed
            noise = torch.randn(3, 2, generator=torch.Generator().manual_seed(step))
            tensors["moment"].mul_(0.9).add_(noise)
            tensors["weights"].sub_(0.01 * tensors["moment"].float() * tensors["weights"])
            tensors["count"].add_(1)
            done.append(step)

    saved = SavedState(folder, recipe, every)
    reporter = Reporter("toy", io.StringIO(), io.StringIO())
    job = Job("toy", "fit", "ci", recipe, None, reporter=reporter, saved=saved)
    with contextlib.suppress(Killed):
        run_resumable(job, TOTAL, CHUNK, tensors, advance)
    return tensors, done


@pytest.mark.parametrize("kill_at", [0, 3, 4, 11, 20, 22])
def test_resumed_equals_uninterrupted(tmp_path, kill_at):
    expected, _ = run(tmp_path / "whole")
    _, before = run(tmp_path / "killed", kill_at=kill_at)
    found, after = run(tmp_path / "killed")
    assert after == list(range(kill_at // CHUNK * CHUNK, TOTAL))
    assert before == list(range(kill_at))
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name


def test_a_state_of_another_recipe_is_refused(tmp_path):
    run(tmp_path, kill_at=11)
    kept = (tmp_path / "state.safetensors").read_bytes()
    with pytest.raises(OnsetError, match=f"another configuration; remove {tmp_path} to start afresh"):
        run(tmp_path, recipe="other")
    assert (tmp_path / "state.safetensors").read_bytes() == kept


@pytest.mark.parametrize(
    "tensors",
    [
        {"a": torch.zeros(2), "b": torch.zeros(1)},
        {"a": torch.zeros(3)},
        {"a": torch.zeros(2, dtype=torch.float64)},
    ],
)
def test_a_state_of_other_tensors_is_refused(tmp_path, tensors):
    saved = SavedState(tmp_path, "r")
    saved.save(3, {"a": torch.ones(2)})
    with pytest.raises(OnsetError, match="another configuration"):
        saved.restore(tensors)
    assert all(not tensor.any() for tensor in tensors.values())


def test_a_damaged_state_is_set_aside(tmp_path, capsys):
    run(tmp_path, kill_at=11)
    path = tmp_path / "state.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    found, done = run(tmp_path)
    assert done == list(range(TOTAL))
    assert torch.equal(found["weights"], run(tmp_path / "whole")[0]["weights"])
    assert (tmp_path / "state.damaged").exists()
    said = capsys.readouterr()
    assert "damaged; set aside as state.damaged, starting from step 0" in said.out + said.err


def test_saves_are_as_rare_as_asked_for(tmp_path):
    run(tmp_path, kill_at=20, every=3600.0)
    assert not tmp_path.joinpath("state.safetensors").exists()
    saved = SavedState(tmp_path / "now", "r", every=0.0)
    assert saved.due()
    saved.save(4, {"a": torch.ones(2)})
    assert [path.name for path in (tmp_path / "now").iterdir()] == ["state.safetensors"]
    saved.remove()
    assert not (tmp_path / "now").exists()
    saved.remove()


def test_nothing_saved_starts_from_zero(tmp_path):
    assert SavedState(tmp_path, "r").restore({"a": torch.ones(2)}) == 0


def test_without_a_reporter_the_loop_is_as_safe(tmp_path):
    job = Job("toy", "fit", "ci", "r", None, saved=SavedState(tmp_path, "r", every=0.0))
    tensors = {"a": torch.zeros(1)}

    def advance(begin, end):
        if begin >= 8:
            raise Killed
        tensors["a"].add_(end - begin)

    with pytest.raises(Killed):
        run_resumable(job, TOTAL, CHUNK, tensors, advance)
    restored = {"a": torch.zeros(1)}
    assert SavedState(tmp_path, "r").restore(restored) == 8
    assert restored["a"] == 8
