"""What a run writes down: sums over every iteration, and measurements at chosen ones."""

from __future__ import annotations

import numpy as np

from onset.papers.gmc.maxmargin import diagnostics
from onset.papers.gmc.maxmargin.geometry import Array, Geometry
from onset.papers.gmc.maxmargin.gradient import weigh_rivals


def list_doublings(iterations: int) -> list[int]:
    """`iterations` halved again and again (rounded down) down to 1, in increasing order."""
    found = [iterations]
    while found[-1] > 1:
        found.append(found[-1] // 2)
    return found[::-1]


def list_records(iterations: int, points: int) -> list[int]:
    """Iterations that are recorded: `points` evenly spaced in the logarithm and as many evenly spaced.

    All lie in 1..iterations; those of `list_doublings` and the tenth of the last are among them.
    """
    spaced = np.concatenate([np.geomspace(1, iterations, points), np.linspace(1, iterations, points)])
    extra = [*list_doublings(iterations), max(1, iterations // 10)]
    return sorted({*np.rint(spaced).astype(int).tolist(), *extra})


class Records:
    """Sums and records of a batch of seeds, as arrays that are changed in place and can be saved.

    Two passes over the same iterations tau = 0..N fill them: deviations of h need its limit, the mean over
    the last iterations of the first pass.  Sums take in every iteration, recorded or not: those of
    `gradient2` from 0 on, those of X/tau from 1 on, each up to and with the iteration of the record.

    Records are (record, seed), those of h and of the margins (record, seed, n, R); `coefficients`
    (seed, n, R) are those of W in the x~.
    """

    def __init__(
        self, geometry: Geometry, at: list[int], eta: float, factor: float, tail: int, limit: Array
    ) -> None:
        """`at` are the recorded iterations, the last one N; `tail` how many of the last enter the mean of h.

        `limit` (seed, n, R) is the limit of h by theory, NaN where it is not known.
        """
        self.margin_gram, self.value_gram = geometry.margin_gram, geometry.value_gram
        self.at, self.eta, self.factor = np.asarray(at), eta, factor
        self.last, self.tail, self.limit = at[-1], tail, limit
        shape = geometry.keys.shape[:-1]
        sums = ("gradient2", "tail_proxy", "h_deviation", "h_deviation_mean", "limit_deviation")
        each: tuple[str, ...] = ("loss", "norm", "gradient2", "tail_proxy")
        each += ("h_deviation_max", "h_deviation_mean", "limit_deviation_max", *(f"{n}_sum" for n in sums))
        self.arrays: dict[str, Array] = {name: np.zeros((len(at), shape[0])) for name in each}
        self.arrays |= {name: np.zeros((len(at), *shape)) for name in ("h", "margin")}
        self.arrays |= {name: np.zeros(shape) for name in ("coefficients", "h_inf")}
        self.arrays |= {f"running.{name}": np.zeros(shape[0]) for name in sums}
        self.arrays |= {"loss_before": np.full(shape[0], np.inf), "rises": np.zeros(shape[0])}

    def _pick(self, iteration: Array) -> tuple[slice, Array]:
        """The records within consecutive iterations, and their places among these."""
        kept = slice(*np.searchsorted(self.at, [iteration[0], iteration[-1] + 1]))
        return kept, self.at[kept] - iteration[0]

    def _sum(self, name: str, terms: Array, kept: slice, places: Array) -> None:
        """Go on with a sum of terms (iteration, seed) and record it."""
        running = self.arrays[f"running.{name}"] + np.cumsum(terms, axis=0)
        self.arrays[f"{name}_sum"][kept] = running[places]
        self.arrays[f"running.{name}"][...] = running[-1]

    def write_first(self, iteration: Array, history: Array, support: Array) -> None:
        """Take in margins (iteration, seed, n, R) of consecutive iterations, in the first pass.

        `support` (seed, n, R) says which rivals are support vectors.
        """
        arrays, (kept, places) = self.arrays, self._pick(iteration)
        loss = diagnostics.measure_loss(history, self.value_gram, self.factor)
        arrays["rises"] += (np.diff(loss, axis=0, prepend=arrays["loss_before"][None]) > 0).sum(0)
        arrays["loss_before"][...] = loss[-1]
        gradient2 = diagnostics.measure_gradient2(history, self.margin_gram, self.value_gram, self.factor)
        self._sum("gradient2", gradient2, kept, places)
        tail = diagnostics.measure_tail(history, support, iteration)
        self._sum("tail_proxy", _over_tau(tail, iteration), kept, places)
        for name, values in (("loss", loss), ("gradient2", gradient2), ("tail_proxy", tail)):
            arrays[name][kept] = values[places]
        arrays["margin"][kept] = history[places]
        arrays["h"][kept] = diagnostics.measure_h(history[places], self.value_gram)
        late = history[iteration > self.last - self.tail]
        arrays["h_inf"] += diagnostics.measure_h(late, self.value_gram).sum(0) / self.tail
        self._write_norm(iteration, history, kept, places)

    def _write_norm(self, iteration: Array, history: Array, kept: slice, places: Array) -> None:
        pi = weigh_rivals(history, self.value_gram)
        after = self.arrays["coefficients"] + self.eta * np.cumsum(pi, axis=0)
        before = after - self.eta * pi
        squared = (before[places] * history[places]).sum((-2, -1))
        self.arrays["norm"][kept] = np.sqrt(np.maximum(squared, 0.0))
        self.arrays["coefficients"][...] = before[-1] if iteration[-1] == self.last else after[-1]

    def write_second(self, iteration: Array, history: Array) -> None:
        """Take in the same margins again, in the second pass, now that the limit of h is known."""
        arrays, (kept, places) = self.arrays, self._pick(iteration)
        h = diagnostics.measure_h(history, self.value_gram)
        largest, mean = diagnostics.measure_deviation(h, arrays["h_inf"])
        from_limit, _ = diagnostics.measure_deviation(h, self.limit)
        for name, values, recorded in (
            ("h_deviation", largest, "h_deviation_max"),
            ("h_deviation_mean", mean, "h_deviation_mean"),
            ("limit_deviation", from_limit, "limit_deviation_max"),
        ):
            self._sum(name, _over_tau(values, iteration), kept, places)
            arrays[recorded][kept] = values[places]


def _over_tau(values: Array, iteration: Array) -> Array:
    """values (iteration, seed) over tau, 0 at tau = 0."""
    return np.where(iteration[:, None] > 0, values / np.maximum(iteration, 1)[:, None], 0.0)
