"""Gradient flow on the population loss: tau dW/dt = -1/2 dL/dW for every weight, time in units of tau.

A step of plain gradient descent at learning rate eta advances t/tau by 2 eta.  Side blocks (vvec, u, the
label entries of keys) are 0 and stay so: the loss is even in each under w -> -w.
Source: arXiv 2501.16265 (gradient flow of its two models); components in docs/theory/linattn.md section 3.
"""

from __future__ import annotations

import numpy as np

from onset.papers.linattn.theory.landscape import Array, Landscape, compute_force


def compose_merged_map(v: Array, U: Array) -> Array:
    """A = sum_i v_i U_i (..., D, D) from v (..., H) and U (..., H, D, D)."""
    return np.einsum("...h,...hij->...ij", v, U)


def compose_separate_map(v: Array, K: Array, Q: Array) -> Array:
    """A = sum_i v_i sum_r k_ir q_ir^T (..., D, D) from v (..., H), K and Q (..., H, R, D)."""
    return np.einsum("...hri,...hrj->...ij", v[..., None, None] * K, Q)


def flow_merged(v: Array, U: Array, landscape: Landscape) -> dict[str, Array]:
    """Rates of ATTN_M: tau dv_i/dt = <U_i, G>, tau dU_i/dt = v_i G, G = -1/2 dL/dA.

    v (H,), U (H, D, D) in the eigenbasis; the MLP on the cubic feature obeys the same equations.
    """
    G = compute_force(compose_merged_map(v, U), landscape)
    return {"v": np.einsum("hij,ij->h", U, G), "U": v[:, None, None] * G}


def flow_separate(v: Array, K: Array, Q: Array, landscape: Landscape) -> dict[str, Array]:
    """Rates of ATTN_S: tau dv_i = sum_r k_ir^T G q_ir, tau dk_ir = v_i G q_ir, tau dq_ir = v_i G^T k_ir.

    v (H,), K and Q (H, R, D) in the eigenbasis.
    """
    D, scale = K.shape[-1], v[:, None, None]
    G = compute_force((scale * K).reshape(-1, D).T @ Q.reshape(-1, D), landscape)
    pushed = Q @ G.T
    return {"v": np.sum(K * pushed, axis=(1, 2)), "K": scale * pushed, "Q": scale * (K @ G)}


def flow_aligned(v: Array, landscape: Landscape) -> Array:
    """Rates of heads of rank one that carry one direction each: tau dv/dt = b v^2 - a lam v^5, (..., D).

    Entry d of v is the value of the head that learned direction d, its key and query being v_d e_d.
    Source: arXiv 2501.16265, Eq. 21.
    """
    return landscape.b * v**2 - landscape.pull * v**5
