"""How much of an attention matrix lies in the plane of the two order parameters, and along the theory's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from onset.papers.copyhead.selection import free_attention, kept_means, signed_final, signed_means, theory_at

Inputs = Mapping[str, xr.Dataset]

IN_PHASE = 0.1
"""Largest difference of aG from a branch of the theory in whose phase it counts."""
NAMES = {"linear": ("c1", "cG"), "softmax": ("a1", "aG")}
"""Pooling and copy order parameter of each attention kind."""


def cover_order(pooling: xr.DataArray, copy: xr.DataArray, s2: xr.DataArray, L: int) -> xr.DataArray:
    """Share of |A| in the plane of J/L and G - J/L, sqrt((c1² + (L-1) cG²)/s2), s2 = |A|²."""
    return ((pooling**2 + (L - 1) * copy**2) / s2) ** 0.5


def cover_samples(sgld: xr.Dataset, kind: str, free: xr.DataArray | None = None) -> xr.DataArray:
    """The share of a single posterior sample, from means over kept records and free chains: (P,)."""
    pooling, copy = (sgld[name].astype(np.float64) for name in NAMES[kind])
    L = sgld.sizes["query"]
    inside, whole = kept_means(pooling**2 + (L - 1) * copy**2), kept_means(sgld.s2)
    if free is not None:
        inside, whole = inside.where(free), whole.where(free)
    return (inside.mean("chain") / whole.mean("chain")) ** 0.5


def cover_attention(attention: xr.DataArray) -> xr.DataArray:
    """The share of attention matrices (..., query, key): (...)."""
    pooling, copy = measure_plane(attention)
    return cover_order(
        pooling, copy, (attention.astype(np.float64) ** 2).sum(("query", "key")), _size(attention)
    )


def measure_plane(attention: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """c1 and cG of attention matrices (..., query, key), with G[a, a-1] = 1 cyclically."""
    L = _size(attention)
    A = attention.astype(np.float64)
    total = A.sum(("query", "key"))
    copied = (A * copy_matrix(A)).sum(("query", "key"))
    pooling = total / L
    return pooling, (copied - pooling) / (L - 1)


def copy_matrix(attention: xr.DataArray) -> xr.DataArray:
    """G on the query and key of an attention matrix."""
    G = np.roll(np.eye(_size(attention)), 1, axis=0)
    return xr.DataArray(G, dims=("query", "key"), coords={d: attention[d] for d in ("query", "key")})


def align_attention(attention: xr.DataArray, pooling: xr.DataArray, copy: xr.DataArray) -> xr.DataArray:
    """Cosine between attention (..., query, key) and the matrix of a theory's order parameters (P,).

    NaN where the theory's matrix is 0, in the trivial state, or does not exist.
    """
    L = _size(attention)
    own_pooling, own_copy = measure_plane(attention)
    norm = (attention.astype(np.float64) ** 2).sum(("query", "key")) ** 0.5
    length = (pooling**2 + (L - 1) * copy**2) ** 0.5
    return (own_pooling * pooling + (L - 1) * own_copy * copy) / (norm * length.where(length > 1e-6))


def expect_linear(theory: xr.Dataset, P: xr.DataArray, form: str) -> tuple[xr.DataArray, xr.DataArray]:
    """c1 and cG of a theory's global saddle at given P."""
    curve = theory.sel(theory=form)
    return tuple(_label(theory_at(curve[name], P).values, P) for name in ("c1", "cG"))  # type: ignore[return-value]


def expect_softmax(theory: xr.Dataset, aG: xr.DataArray, form: str) -> tuple[xr.DataArray, xr.DataArray]:
    """a1 = 1 and the aG of that branch of a theory which is nearer to a measured aG (P,).

    NaN where neither is within 0.1: there the chains, or seeds, are not in one phase of the theory.
    """
    branches = theory_at(theory.aG.sel(theory=form), aG.P).transpose("branch", "P").values
    distance = np.where(np.isnan(branches), np.inf, abs(branches - aG.values))
    nearest = np.take_along_axis(branches, distance.argmin(0)[None], 0)[0]
    return xr.ones_like(aG), _label(np.where(distance.min(0) < IN_PHASE, nearest, np.nan), aG.P)


def mean_attention(inputs: Inputs, kind: str) -> xr.DataArray:
    """Attention averaged over kept steps and free chains, linear times sign c1: (P, query, key)."""
    sgld = inputs[f"{kind}_sgld"]
    free = signed_means(sgld).free if kind == "linear" else None
    return xr.concat([free_attention(sgld, int(P), free) for P in sgld.P.values], sgld.P)


def free_seeds(inputs: Inputs, kind: str) -> xr.DataArray:
    """Seeds that enter means: (seed, P); all of softmax attention."""
    adam = inputs[f"{kind}_adam"]
    return (
        signed_final(adam).free if kind == "linear" else xr.ones_like(adam.aG.isel(epoch=-1, drop=True), bool)
    )


def align_with_theory(inputs: Inputs, kind: str, attention: xr.DataArray) -> xr.DataArray:
    """Cosine of attention (..., P, query, key) with the dressed theory's matrix at each P."""
    theory = inputs[f"{kind}_theory"]
    pooling, copy = measure_plane(attention)
    if kind == "linear":
        expected = expect_linear(theory, attention.P, "dressed")
        sign = np.sign(pooling)
        return align_attention(attention * sign, *expected)
    mean = copy if copy.dims == ("P",) else copy.mean([d for d in copy.dims if d != "P"])
    return align_attention(attention, *expect_softmax(theory, mean, "dressed"))


def _label(values: np.ndarray, P: xr.DataArray) -> xr.DataArray:
    return xr.DataArray(values, coords={"P": P.values}, dims="P")


def _size(dataset: xr.Dataset | xr.DataArray) -> int:
    return int(dataset.sizes["query"])
