"""What gradient descent on W_KQ sees of the data: inner products of a few difference vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Geometry:
    """The data of section 4 as differences from the match; leading axes (seeds) may precede all shapes.

    A sample is a context e_0..e_(T-1), a match y in 0..T-2, the query e = e_y and the target e_(y+1).  Its
    rivals are the R = T-2 other candidates t != y, in order of position.  Two different differences are
    called d in the paper; here they are the keys' and the values':

    keys     (n, R, d)  e_y - e_t, which the margins see
    queries  (n, d)     e_y
    values   (n, R, d)  d_t = e_(t+1) - e_(y+1), which the residuals see

    Units: token units.
    """

    keys: Array
    queries: Array
    values: Array

    @property
    def value_gram(self) -> Array:
        """<d_s, d_t> within each sample, (n, R, R)."""
        return self.values @ self.values.swapaxes(-1, -2)

    @property
    def margin_gram(self) -> Array:
        """<x~_(i,t), x~_(j,s)> over all pairs of sample and rival, (K, K) with K = n R, samples first.

        x~_(i,t) = vec((e_y - e_t) e^T), so that a product is one of keys times one of queries.
        """
        rivals, width = self.keys.shape[-2:]
        keys = self.keys.reshape(*self.keys.shape[:-3], -1, width)
        queries = np.repeat(self.queries, rivals, axis=-2)
        return (keys @ keys.swapaxes(-1, -2)) * (queries @ queries.swapaxes(-1, -2))

    @property
    def margin_vectors(self) -> Array:
        """x~_(i,t) themselves, (K, d²): w.x~ = (e_y - e_t)^T W e is the margin of rival t in sample i."""
        outer = self.keys[..., :, None] * self.queries[..., None, None, :]
        return outer.reshape(*self.keys.shape[:-3], -1, outer.shape[-1] ** 2)

    def combine(self, coefficients: Array) -> Array:
        """sum over (i, t) of coefficients times x~_(i,t) as a matrix W (d, d); coefficients (n, R)."""
        rows = np.einsum("...nr,...nrd->...nd", coefficients, self.keys)
        return rows.swapaxes(-1, -2) @ self.queries


def list_rivals(match: Array, T: int) -> Array:
    """Positions t != y among the candidates 0..T-2, increasing, (..., n, T-2); match is (..., n)."""
    places = np.arange(T - 2)
    return places + (places >= match[..., None])


def describe_geometry(tokens: Array, match: Array) -> Geometry:
    """Differences of contexts `tokens` (..., n, T, d) with matches `match` (..., n), 0-based.

    Raises ValueError where T < 3 (no rival) or a match lies outside 0..T-2.
    """
    T = tokens.shape[-2]
    if T < 3:
        raise ValueError(f"contexts of T = {T} tokens have no rival candidate; T should be at least 3")
    if match.min() < 0 or match.max() > T - 2:
        raise ValueError(f"matches should lie in 0..{T - 2}, found {match.min()} to {match.max()}")
    rivals = list_rivals(match, T)

    def take(positions: Array) -> Array:
        return np.take_along_axis(tokens, positions[..., None], axis=-2)

    matched = take(match[..., None])
    keys = matched - take(rivals)
    values = take(rivals + 1) - take(match[..., None] + 1)
    return Geometry(keys, matched[..., 0, :], values)
