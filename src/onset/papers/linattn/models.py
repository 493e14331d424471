"""ATTN_M, ATTN_S of any rank and the MLP on cubic features as maps from weights to coefficients.

Every model is linear in features of the data, so it is two maps: from weights to coefficients, and from the
gradient with respect to coefficients back to weights.  Weights are dictionaries of float64 arrays with a
leading member axis B.  Only what reaches the prediction is kept: of the value matrix its last row, of the
key-query matrix its first D columns.

    name     shape            what
    v        (B, H)           value weight of the label
    U        (B, H, D, D)     merged key-query, row = key side, column = query side
    K, Q     (B, H, R, D)     key and query
    v_side   (B, H, D)        value weights of the input
    u_side   (B, H, D)        row of the merged key-query that reads the label
    k_side   (B, H, R)        key weights of the label

Without side blocks yhat = beta^T A x_q, A = sum_i v_i U_i, U_i = K_i^T Q_i.
Source: arXiv 2501.16265, the models section; gradients are ours, tested against autograd on raw data.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from onset.papers.linattn.features import pair_indices
from onset.papers.linattn.losses import Loss

Weights = dict[str, np.ndarray]
SIDE = ("v_side", "u_side", "k_side")


def merge(weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """Key-query matrix U_i of each head (B, H, D, D): itself, or K_i^T Q_i."""
    if "U" in weights:
        return weights["U"]
    return np.matmul(weights["K"].swapaxes(-1, -2), weights["Q"])


def function_matrix(weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """A = sum_i v_i U_i (B, D, D), side blocks left out."""
    v = weights["v"]
    if "U" in weights:
        B, H, D, _ = weights["U"].shape
        return np.matmul(v[:, None, :], weights["U"].reshape(B, H, D * D)).reshape(B, D, D)
    B, H, R, D = weights["K"].shape
    scaled = weights["K"] * v[:, :, None, None]
    return np.matmul(scaled.reshape(B, H * R, D).swapaxes(1, 2), weights["Q"].reshape(B, H * R, D))


class Reduced:
    """Any model without side blocks; its coefficients are vec A (B, D^2), row-major."""

    def coefficients(self, weights: Mapping[str, np.ndarray]) -> np.ndarray:
        """Coefficients of z = vec(beta x_q^T)."""
        A = function_matrix(weights)
        return A.reshape(len(A), -1)

    def pull_back(self, weights: Mapping[str, np.ndarray], g: np.ndarray) -> Weights:
        """Gradients of the weights from that of the coefficients, g (B, D^2)."""
        v = weights["v"]
        if "U" in weights:
            U = weights["U"]
            B, H = v.shape
            flat = U.reshape(B, H, -1)
            return {
                "v": np.matmul(flat, g[:, :, None])[..., 0],
                "U": (v[:, :, None] * g[:, None, :]).reshape(U.shape),
            }
        K, Q = weights["K"], weights["Q"]
        B, H, R, D = K.shape
        g = g.reshape(B, D, D)
        toward_k = np.matmul(Q.reshape(B, H * R, D), g.swapaxes(1, 2)).reshape(K.shape)
        toward_q = np.matmul(K.reshape(B, H * R, D), g).reshape(Q.shape)
        dv = (K * toward_k).reshape(B, H, R * D).sum(-1)
        toward_k *= v[:, :, None, None]
        toward_q *= v[:, :, None, None]
        return {"v": dv, "K": toward_k, "Q": toward_q}


class Full:
    """ATTN_M or ATTN_S with its side blocks; coefficients of phi (B, (D+1)(D+2)/2 * D).

    C_abc = sum_i vt_ia Ut_ibc, with vt = (v_side, v) and Ut = [U; u_side] (or [K, k_side]^T Q), folded over
    the symmetric pair (a, b).
    """

    def __init__(self, D: int) -> None:
        a, b = pair_indices(D)
        n = D + 1
        self.D, self.upper, self.lower = D, a * n + b, b * n + a
        self.twice = np.repeat((a != b).astype(np.float64), D)
        pair = np.empty((n, n), dtype=np.int64)
        pair[a, b] = pair[b, a] = np.arange(len(a))
        self.unfold = pair.ravel()
        # Entries (a, b, c) of g in the order b, c, a: BLAS is slow on the transpose of such small matrices.
        self.turned = (pair[:, :, None] * D + np.arange(D)).transpose(1, 2, 0).ravel()

    def _extended(self, weights: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        vt = np.concatenate([weights["v_side"], weights["v"][..., None]], -1)
        if "U" in weights:
            return vt, np.concatenate([weights["U"], weights["u_side"][:, :, None, :]], 2)
        return vt, np.matmul(self._keys(weights).swapaxes(-1, -2), weights["Q"])

    def _keys(self, weights: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.concatenate([weights["K"], weights["k_side"][..., None]], -1)

    def coefficients(self, weights: Mapping[str, np.ndarray]) -> np.ndarray:
        """Coefficients of phi."""
        vt, Ut = self._extended(weights)
        B, H, n = vt.shape
        C = np.matmul(vt.swapaxes(1, 2), Ut.reshape(B, H, -1)).reshape(B, n * n, self.D)
        folded = C.take(self.lower, 1).reshape(B, -1)
        folded *= self.twice
        folded += C.take(self.upper, 1).reshape(B, -1)
        return folded

    def pull_back(self, weights: Mapping[str, np.ndarray], g: np.ndarray) -> Weights:
        """Gradients of the weights from that of the coefficients."""
        vt, Ut = self._extended(weights)
        B, H, n = vt.shape
        D = self.D
        gC = g.reshape(B, -1, D).take(self.unfold, 1).reshape(B, n, n * D)
        dvt = np.matmul(Ut.reshape(B, H, -1), g.take(self.turned, 1).reshape(B, n * D, n))
        found = {"v": dvt[..., D], "v_side": dvt[..., :D]}
        if "U" in weights:
            dU, du = np.matmul(vt, gC[:, :, : D * D]), np.matmul(vt, gC[:, :, D * D :])
            return {**found, "U": dU.reshape(B, H, D, D), "u_side": du}
        Q, dUt = weights["Q"], np.matmul(vt, gC).reshape(B, H, n, D)
        return {
            **found,
            "K": np.matmul(Q, dUt[:, :, :D].swapaxes(-1, -2)),
            "k_side": np.matmul(Q, dUt[:, :, D, :, None])[..., 0],
            "Q": np.matmul(self._keys(weights), dUt),
        }


def descend(model: Reduced | Full, loss: Loss, weights: Weights, learning_rate: float | np.ndarray) -> None:
    """One full-batch step of plain gradient descent on all members, in place; one rate, or one each (B,)."""
    gradients = model.pull_back(weights, loss.gradient(model.coefficients(weights)))
    for name, gradient in gradients.items():
        if isinstance(learning_rate, np.ndarray):
            gradient *= learning_rate.reshape(-1, *[1] * (gradient.ndim - 1))
        else:
            gradient *= learning_rate
        weights[name] -= gradient
