"""Jobs of figures 3 and 4 on made-up results."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.figures import copyhead_results as results
from tests.figures.reading import PLOTTING

from onset.job.context import Job
from onset.params.copyhead import OrderParameterFigure


@pytest.fixture
def make_job() -> Callable[..., Job]:
    """`make_job("fig3", maps_at)`: a figure's job, at the size that it has in print."""

    def make(name: str, maps_at: list[int]) -> Job:
        own = OrderParameterFigure(maps_at=maps_at, width=7.0, height=3.2)
        inputs = results.linear_inputs() if name == "fig3" else results.softmax_inputs()
        return Job("copyhead", name, "test", "-", own, {"plotting": PLOTTING}, inputs)

    return make
