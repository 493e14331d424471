"""Order parameters of an attention matrix, and the exact loss on fresh sequences."""

from __future__ import annotations

from torch import Tensor

LONG_NAMES = {
    "c1": "pooling order parameter",
    "cG": "copy order parameter",
    "a1": "pooling order parameter",
    "aG": "copy order parameter",
    "s2": "squared norm of the attention matrix",
    "test_loss": "test loss per position",
}


def order_parameters(A: Tensor) -> dict[str, Tensor]:
    """Order parameters of A (..., L, L), query by key; each of shape (...).

    c1 = 1^T A 1/L                  pooling: 1 where every row averages over the keys with weights of sum 1
    t  = sum_a A[a,a-1]             weight on the correct keys
    cG = (t - c1)/(L - 1)           copy: 1 for the copying permutation G, 0 for pooling
    s2 = |A|_F^2,  m = |A 1|^2,  u = 1^T A 1

    so that A = c1 J/L + cG (G - J/L) + rest, an orthogonal decomposition (J = 1 1^T).  For softmax
    attention c1 is exactly 1.  Source: c1 and cG are the order parameters of arXiv 2606.12058;
    their definition here is our reconstruction (docs/theory).
    """
    L = A.shape[-1]
    rows = A.sum(-1)
    u = rows.sum(-1)
    t = A.roll(1, -1).diagonal(dim1=-2, dim2=-1).sum(-1)
    c1 = u / L
    return {
        "c1": c1,
        "t": t,
        "cG": (t - c1) / (L - 1),
        "s2": A.square().sum((-2, -1)),
        "m": rows.square().sum(-1),
        "u": u,
    }


def expected_loss(A: Tensor, W: Tensor) -> Tensor:
    """E |A X W - Y|^2/L over fresh sequences, of shape (...); no test set is drawn.

    A is (..., L, L) and W is (..., V, V), in actual units.  Exact: for uniform tokens the mean of
    x_c x_d^T is I/V where c = d and J/V^2 elsewhere, so that with a the column sums of W

        E = 1 + [ s2/V |W|^2 + (m - s2)/V^2 |a|^2 - 2 t/V Tr W - 2 (u - t)/V^2 sum W ]/L.

    Units: squared target units per position (1 for a network that outputs 0).
    Source: our reconstruction (docs/theory).
    """
    order = order_parameters(A)
    L, V = A.shape[-1], W.shape[-1]
    columns = W.sum(-2)
    same = order["s2"] / V * W.square().sum((-2, -1)) - 2 * order["t"] / V * W.diagonal(dim1=-2, dim2=-1).sum(
        -1
    )
    other = (order["m"] - order["s2"]) * columns.square().sum(-1) - 2 * (
        order["u"] - order["t"]
    ) * columns.sum(-1)
    return 1 + (same + other / V**2) / L


def measure_head(attention: str, A: Tensor, W: Tensor) -> dict[str, Tensor]:
    """What is recorded of a head: c1 and cG (linear) or a1 and aG (softmax), s2, and test_loss.

    A is (..., L, L) and W is (..., V, V), in actual units; each result has shape (...).
    """
    order = order_parameters(A)
    pooling, copy = ("c1", "cG") if attention == "linear" else ("a1", "aG")
    return {
        pooling: order["c1"],
        copy: order["cG"],
        "s2": order["s2"],
        "test_loss": expected_loss(A, W),
    }
