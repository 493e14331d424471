"""What the claims about the task measure (figure 1), each in standard errors of its own estimate."""

from __future__ import annotations

import numpy as np

from onset.claims.claim import Measured
from onset.papers.gmc.claims.measures import Inputs
from onset.papers.gmc.selection import read_section


def target_identity(inputs: Inputs) -> Measured:
    """|mean square of v - W_V e_{t0+1}, over sigma_noise^2, less 1| in standard errors."""
    test = inputs["test"]
    tokens, match = test["tokens"].values.astype(np.float64), test["match"].values
    exact = tokens[np.arange(len(tokens)), match + 1] @ test["value_map"].values.T
    noise = test["targets"].values - exact
    expected = float(read_section(test, "task")["sigma_noise"]) ** 2
    if expected == 0:
        return Measured(None, absent="targets have no noise at this scale")
    return _compare_square(noise, expected, "mean square of the target's noise")


def query_norm(inputs: Inputs) -> Measured:
    """|mean square of the query's entries, over a token's, less 1| in standard errors."""
    test = inputs["test"]
    query = test["tokens"].values[:, -1].astype(np.float64)
    expected = float(read_section(test, "task")["sigma_token"]) ** 2 / query.shape[1]
    return _compare_square(query, expected, "mean square of the query's entries")


def query_residual(inputs: Inputs) -> Measured:
    """|mean square of e - C e_t0, whitened, less 1| in standard errors."""
    test = inputs["test"]
    tokens, match = test["tokens"].values.astype(np.float64), test["match"].values
    C = test["C"].values
    residual = tokens[:, -1] - tokens[np.arange(len(tokens)), match] @ C.T
    values, vectors = np.linalg.eigh(np.eye(len(C)) - C @ C.T)
    free = values > 1e-9
    if not free.any():
        return Measured(None, absent="the query equals C times its match at this scale")
    scale = float(read_section(test, "task")["sigma_token"]) ** 2 / len(C)
    whitened = (residual @ vectors[:, free]) / np.sqrt(values[free] * scale)
    return _compare_square(whitened, 1.0, "mean square of the whitened residual")


def match_frequencies(inputs: Inputs) -> Measured:
    """Largest departure of a match's frequency from 1/(T-1), in standard errors; infinite beyond T-2."""
    test = inputs["test"]
    match, T = test["match"].values, test.sizes["position"] - 1
    if match.min() < 0 or match.max() > T - 2:
        return Measured(np.inf, f"matches from {match.min()} to {match.max()}, T = {T}")
    share = np.bincount(match, minlength=T - 1) / len(match)
    even = 1 / (T - 1)
    error = np.sqrt(even * (1 - even) / len(match))
    worst = float(np.abs(share - even).max() / error)
    return Measured(worst, f"shares {share.min():.3f} to {share.max():.3f} of {len(match)} sequences")


def _compare_square(values: np.ndarray, expected: float, what: str) -> Measured:
    """|mean square / expected - 1| over its standard error, sqrt(2/n) for n independent normal entries."""
    ratio = float((values**2).mean()) / expected
    return Measured(
        abs(ratio - 1) / np.sqrt(2 / values.size), f"{what}: {ratio:.4f} of the expected {expected:.4g}"
    )
