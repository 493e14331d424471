"""Test losses that the theory predicts, per position, for fresh sequences."""

from __future__ import annotations

from typing import Any

from onset.papers.copyhead.theory.data_average import Overlaps
from onset.papers.copyhead.theory.model import Model


def predict_test_loss(overlaps: Overlaps, P: Any, model: Model, sampled: bool = True) -> Any:
    """Expected |A X W - Y|²/L of a fresh sequence; 1 for a network that outputs 0.

    The read-out is w_t = (P t/V)/(P s2/V + ridge) on traceless directions and w_u = (P u/V)/(P m/V + ridge)
    on the uniform one, so that the posterior mean of W (or Adam's) loses
    1 + [(V-1)/V (w_t² s2 - 2 w_t t) + (w_u² m - 2 w_u u)/V]/L.
    `sampled` adds the variance of one posterior sample of W,
    V sigma2/L [(V-1)(s2/V)/(P s2/V + ridge) + (m/V)/(P m/V + ridge)].
    P and the overlaps broadcast.  Holds for P L >> V, like the averaged likelihood.
    Source: reconstruction, docs/theory/copyhead.md section 9.
    """
    s2, t, m, u = overlaps
    L, V = model.L, model.V
    stiffness_t, stiffness_u = P * s2 / V + model.ridge, P * m / V + model.ridge
    w_t, w_u = P * t / V / stiffness_t, P * u / V / stiffness_u
    traceless, uniform = w_t**2 * s2 - 2 * w_t * t, w_u**2 * m - 2 * w_u * u
    loss = 1 + ((V - 1) * traceless + uniform) / (V * L)
    if sampled:
        loss = loss + model.sigma2 / L * ((V - 1) * s2 / stiffness_t + m / stiffness_u)
    return loss
