"""Gradient descent on W_KQ of six seeds: Gram coordinates in one batch against a loop over seeds in W.

Both sides make the same steps on the same data in float64 and must end in the same W.  The plain side steps
the d x d matrix of one seed after the other; within a seed its samples are batched, and residuals, attention
and update are matrix products.  Run with `python benchmarks/gmc_gram_descent.py`.
"""

from __future__ import annotations

import numpy as np

from onset.papers.gmc.maxmargin.data import draw_problem
from onset.papers.gmc.maxmargin.geometry import describe_geometry
from onset.papers.gmc.maxmargin.gradient import follow_descent, weigh_rivals
from onset.params.gmc import MaxMarginTask
from onset.randomness import Streams
from timing import describe_machine, report, report_ratio, time_alternating

SEEDS, STEPS, REPEATS = 6, 2000, 7
STREAMS = Streams(0, "benchmarks", "gmc_gram_descent")
SIZES = ((16, 4, 4, 1e-3), (16, 8, 4, 1e-3), (16, 8, 8, 1e-3), (32, 4, 4, 1e-4), (32, 8, 8, 1e-4))

Array = np.ndarray


def descend_plain(tokens: Array, match: Array, rate: float, steps: int) -> Array:
    """W (d, d) after `steps` steps from zero; tokens (n, T, d), match (n,)."""
    each = np.arange(len(tokens))
    keys, values = np.ascontiguousarray(tokens[:, :-1]), np.ascontiguousarray(tokens[:, 1:])
    queries, targets = tokens[each, match], tokens[each, match + 1]
    W = np.zeros((tokens.shape[-1],) * 2)
    for _ in range(steps):
        scores = (keys @ (queries @ W.T)[..., None])[..., 0]
        attention = np.exp(scores - scores.max(-1, keepdims=True))
        attention /= attention.sum(-1, keepdims=True)
        found = (attention[:, None] @ values)[:, 0]
        along = (values @ (found - targets)[..., None])[..., 0]
        slope = attention * (along - (attention * along).sum(-1, keepdims=True))
        W -= rate * (slope[:, None] @ keys)[:, 0].T @ queries
    return W


def compare(d: int, T: int, n: int, rate: float) -> None:
    """Print the rates of both sides and their ratio; stop where they disagree."""
    task = MaxMarginTask(d_in=d, T=T, n=n, sigma_token=d**0.5)
    drawn = [draw_problem(STREAMS, task, seed) for seed in range(SEEDS)]
    tokens, match = (np.stack(parts) for parts in zip(*drawn, strict=True))

    def in_gram_coordinates() -> Array:
        geometry = describe_geometry(tokens, match)
        start = np.zeros(geometry.keys.shape[:-1])
        gram = geometry.value_gram
        history, _ = follow_descent(start, geometry.margin_gram, gram, rate, STEPS)
        return geometry.combine(rate * weigh_rivals(history, gram).sum(0))

    def in_a_loop() -> Array:
        return np.stack([descend_plain(e, y, rate, STEPS) for e, y in zip(tokens, match, strict=True)])

    fast, plain = in_gram_coordinates(), in_a_loop()
    difference = np.abs(fast - plain).max() / np.abs(plain).max()
    print(f"d={d}, T={T}, n={n}: largest difference over largest entry of W: {difference:.1e}")
    if not difference < 1e-10:
        raise SystemExit("both sides should agree to 1e-10")
    times = time_alternating(in_gram_coordinates, in_a_loop, REPEATS)
    for label, one in zip(("Gram coordinates, one batch", "W itself, seed by seed"), times, strict=True):
        report(label, one, SEEDS * STEPS, "seed-steps")
    report_ratio(times[1], times[0])


def main() -> None:
    describe_machine()
    print(f"{SEEDS} seeds, {STEPS} steps, float64; the first size is that of figures 10 to 13")
    for size in SIZES:
        compare(*size)


if __name__ == "__main__":
    main()
