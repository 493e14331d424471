"""Killed, failing and competing runs leave nothing wrong behind, and the next run finishes the work.

- one block raises: the exit code says so, the others are kept, and after the mend only that one runs
- `kill -9` of a job leaves no final file; the next run goes on from the saved state, and its result has the
  content of one that was never interrupted
- `kill -9` of Snakemake: the next run names the lock, and after `--unlock` completes; a job that outlived it
  is waited for and not computed a second time
- two Snakemakes at once in one folder: the second is refused with the lock, the first is not disturbed
"""

import os
import re
import signal
import time
from pathlib import Path

import netCDF4
import pytest

RESULT = "results/paper/toy/fit.nc"


def test_one_failing_block_keeps_the_others(toy):
    toy.edit("params.yaml", "rate: 0.1", "rate: 0.3")
    toy.settings["TOY_FAIL_SEED"] = "3"
    text = toy.snakemake(RESULT, fails=True)
    assert "seed 3 was told to fail" in logs(toy)
    assert ".log" in text, "the message should name the log"
    assert toy.ran() == ["paper/fit.seed0-1", "paper/fit.seed2-3"]
    del toy.settings["TOY_FAIL_SEED"]
    toy.snakemake(RESULT)
    assert toy.ran() == ["paper/fit", "paper/fit.seed2-3"]
    toy.audit(RESULT)


@pytest.mark.parametrize("victim", ["job", "snakemake"])
def test_killed_runs_go_on_where_they_were(toy, victim):
    uninterrupted = content(toy)  # the pause makes another recipe and changes no number
    toy.edit("params.yaml", "pause: 0.0", "pause: 0.05")
    toy.settings["ONSET_SAVE_EVERY"] = "0"
    build = toy.start("snakemake", "--cores", "2", RESULT)
    wait_until(lambda: len(saved(toy)) == 2, build)
    jobs = training_jobs(toy)
    assert len(jobs) == 2
    if victim == "job":
        for pid in jobs:
            os.kill(pid, signal.SIGKILL)
        text, _ = build.communicate(timeout=60)
        assert build.returncode != 0, text
        assert not unfinished(toy)
        toy.snakemake(RESULT)
        resumed = re.findall(r"fit\.seed\d-\d: (\d+) of 40 steps done\n", logs(toy))
        assert len(resumed) == 2
        assert all(0 < int(step) < 40 for step in resumed)
        assert toy.ran() == sorted(["paper/fit", *["paper/fit.seed0-1", "paper/fit.seed2-3"] * 2])
    else:
        os.kill(build.pid, signal.SIGKILL)
        build.wait()
        assert "lock" in toy.snakemake(RESULT, fails=True)
        toy.snakemake("--unlock")
        toy.snakemake(RESULT)
        assert toy.ran() == ["paper/fit", "paper/fit.seed0-1", "paper/fit.seed2-3"]
    assert saved(toy) == []
    assert content(toy) == uninterrupted
    toy.audit(RESULT)


def test_two_snakemakes_at_once(toy):
    toy.edit("params.yaml", "rate: 0.1, pause: 0.0", "rate: 0.3, pause: 0.05")
    first = toy.start("snakemake", "--cores", "2", RESULT)
    wait_until(lambda: (toy.project / ".snakemake/locks").exists() and training_jobs(toy), first)
    assert "lock" in toy.snakemake("all", fails=True)
    text, _ = first.communicate(timeout=120)
    assert first.returncode == 0, text
    assert toy.ran() == ["paper/fit", "paper/fit.seed0-1", "paper/fit.seed2-3"]
    toy.audit(RESULT)


def content(toy):
    with netCDF4.Dataset(toy.project / RESULT) as file:
        return file.onset_content


def logs(toy):
    return "".join(path.read_text() for path in (toy.project / "logs").rglob("*.log"))


def saved(toy):
    """Saved states of interrupted runs."""
    return list((toy.project / ".onset/state").glob("*/state.safetensors"))


def unfinished(toy):
    """Files of training blocks with the paused parameters."""
    blocks = (toy.project / ".onset/store/paper/toy/blocks").glob("*.nc")
    found = []
    for path in blocks:
        with netCDF4.Dataset(path) as file:
            if '"pause":0.05' in file.onset_params:
                found.append(path)
    return found


def training_jobs(toy):
    """Process ids of the training jobs of this project."""
    found = []
    for folder in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{folder}/cmdline").read_bytes().split(b"\0")
            here = os.readlink(f"/proc/{folder}/cwd")
        except OSError:
            continue
        if here == str(toy.project) and words[1:4] == [b"-m", b"onset", b"train"]:
            found.append(int(folder))
    return found


def wait_until(condition, process):
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "what the test waits for did not happen"
        time.sleep(0.05)
