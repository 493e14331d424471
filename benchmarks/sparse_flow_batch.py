"""The regression flow from 64 starts: one batch by fixed steps against a loop of solve_ivp, at equal error.

Both sides go from t = 0 to t = 1000 through all three stages and are compared with DOP853 at 1e-12 at ten
times, over all starts and entries of the state.  The loop has the loosest of the listed tolerances whose
error is within the batch's; its rates are written for one start, as one vector, without anything that it does
not need.  The fine steps are those of start_sweep.  Run with `python benchmarks/sparse_flow_batch.py`.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from onset.dynamics.fixed_step import choose_records, integrate_steps, plan_times
from onset.papers.sparse.flows.features import Features
from onset.papers.sparse.flows.regression import flow_regression
from onset.papers.sparse.flows.starts import draw_attention
from onset.params.sparse import FlowNoise
from onset.randomness import Streams
from timing import describe_machine, report, report_ratio, time_alternating

STARTS, END, REPEATS = 64, 1000.0, 3
FEATURES = Features(1.7 ** np.array([2.0, 1.0, 0.0]), 40)
NOISE = FlowNoise(noise="uniform", epsilon=1e-3)
STREAMS = Streams(0, "benchmarks", "sparse_flow_batch")
SEGMENTS = {
    "coarse": [(50.0, 0.25), (END, 1.0)],
    "fine": [(50.0, 0.25), (200.0, 0.5), (END, 1.0)],
}
TOLERANCES = (1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 7e-8, 5e-8, 3e-8, 1e-8, 3e-9)
COMPARED = np.array([10.0, 20.0, 40.0, 60.0, 80.0, 100.0, 200.0, 400.0, 700.0, 1000.0])

Array = np.ndarray


def rate_one(_: float, y: Array) -> Array:
    """Rates of one start: V (h, h) and s (h, T) as one vector."""
    h, T = FEATURES.h, FEATURES.T
    V, s = y[: h * h].reshape(h, h), y[h * h :].reshape(h, T)
    residual = -V.T @ s
    residual[range(h), range(h)] += FEATURES.strengths
    pull = V @ residual
    for _ in range(2):
        pull = s * (pull - (s * pull).sum(1, keepdims=True))
    return np.concatenate([(s @ residual.T).ravel(), pull.ravel()])


def solve_loop(s: Array, method: str, rtol: float) -> Array:
    """States (times, starts, n) by solve_ivp, start by start."""
    still = np.zeros(FEATURES.h**2)
    found = [
        solve_ivp(
            rate_one,
            (0, END),
            np.concatenate([still, one.ravel()]),
            method=method,
            t_eval=COMPARED,
            rtol=rtol,
            atol=1e-3 * rtol,
        ).y
        for one in s
    ]
    return np.moveaxis(np.stack(found), -1, 0)


def compare(name: str, s: Array, exact: Array, loops: dict[float, Array]) -> None:
    """Print errors, rates and the ratio for one choice of steps; stop where the sides disagree."""
    times = plan_times(SEGMENTS[name])
    records = choose_records(times, COMPARED)[1:]

    def in_one_batch() -> Array:
        found = integrate_steps(
            lambda _, state: flow_regression(**state, features=FEATURES),
            {"V": np.zeros((STARTS, FEATURES.h, FEATURES.h)), "s": s},
            times,
            records,
            label="batch",
            method="dopri5",
        )
        return np.concatenate([part.reshape(len(COMPARED), STARTS, -1) for part in found.values()], axis=-1)

    batch = in_one_batch()
    error = float(np.abs(batch - exact).max())
    errors = {rtol: float(np.abs(loop - exact).max()) for rtol, loop in loops.items()}
    within = [rtol for rtol in TOLERANCES if errors[rtol] <= error]
    if not within:
        raise SystemExit(f"the batch's error, {error:.1e}, is below the loop's at every tolerance")
    rtol = within[0]
    difference = float(np.abs(batch - loops[rtol]).max())
    print(
        f"{name} steps, {len(times) - 1} of them: largest error {error:.1e}, of RK45 at rtol {rtol:g} "
        f"{errors[rtol]:.1e}, largest difference {difference:.1e}"
    )
    if not difference <= error + errors[rtol] + 1e-12:
        raise SystemExit("both sides should agree to their errors")
    taken = time_alternating(in_one_batch, lambda: solve_loop(s, "RK45", rtol), REPEATS)
    for label, one in zip(("one batch, fixed steps", "solve_ivp, start by start"), taken, strict=True):
        report(label, one, STARTS, "starts")
    report_ratio(taken[1], taken[0])


def main() -> None:
    describe_machine()
    s = np.stack([draw_attention(STREAMS, NOISE, FEATURES, seed) for seed in range(STARTS)])
    exact = solve_loop(s, "DOP853", 1e-12)
    loops = {rtol: solve_loop(s, "RK45", rtol) for rtol in TOLERANCES}
    print(f"{STARTS} starts to t = {END:g}, h = {FEATURES.h}, T = {FEATURES.T}, float64")
    for name in SEGMENTS:
        compare(name, s, exact, loops)


if __name__ == "__main__":
    main()
