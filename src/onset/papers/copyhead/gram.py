"""The pair statistics of the training sequences, and the squared error that they determine.

For the network f(X) = A X W and the target Y_a = X_{a-1} (indices modulo L), the data enter only through

    C[c,d,v,w] = sum over sequences of X_cv X_dw,

so that the full-batch error and its gradient cost about 4 L^2 V^2 multiplications, whatever the number
of sequences.  With M = sum_cd (A^T A)_cd C[c,d] and N = sum_ac A_ac C[c,a-1], both V x V,

    sum |A X W - Y|^2 = Tr W^T M W - 2 Tr W^T N + P L.

Here a batch has axes (P, member, ...), since each P has statistics of its own.  Products with C take
the rows of both sums at once, so that C is read once on the way up and once on the way down; its
symmetry C[c,d,v,w] = C[d,c,w,v] stands in for a shifted or transposed copy of it.

Source: our reconstruction (docs/theory) of the model of arXiv 2606.12058.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from onset.errors import OnsetError


@dataclass(frozen=True)
class Gram:
    """Pair statistics of nested sets of sequences.

    pairs   (P, L^2, V^2): C[c,d,v,w] with (c,d) and (v,w) flattened
    counts  (P,): numbers of sequences
    """

    pairs: Tensor
    counts: Tensor
    L: int
    V: int


def count_pairs(
    tokens: np.ndarray,
    P: Sequence[int],
    V: int,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> Gram:
    """Pair statistics of the first P sequences for each of the increasing `P`.

    `tokens` is (samples, L).  Counts are whole numbers, exact in float32 up to 2^24 sequences.
    Raises OnsetError where there are fewer sequences than the largest P.
    """
    samples, L = tokens.shape
    if samples < max(P):
        raise OnsetError(f"expected at least {max(P)} sequences, found {samples}; raise sequences.samples")
    one_hot = torch.nn.functional.one_hot(torch.from_numpy(tokens[: max(P)].astype(np.int64)), V)
    flat = one_hot.reshape(-1, L * V).to(torch.float64)
    bounds = [0, *P]
    parts = [flat[b:e].T @ flat[b:e] for b, e in pairwise(bounds)]
    counts = torch.stack(parts).cumsum(0)  # nested sets: each P adds to the one before
    pairs = counts.view(-1, L, V, L, V).permute(0, 1, 3, 2, 4).reshape(-1, L * L, V * V)
    return Gram(
        pairs.to(device=device, dtype=dtype).contiguous(),
        torch.tensor(P, dtype=dtype, device=device),
        L,
        V,
    )


def contract_attention(gram: Gram, A: Tensor) -> tuple[Tensor, Tensor]:
    """M and the transpose of N for A (P, member, L, L); each (P, member, V, V)."""
    n, k, L = A.shape[0], A.shape[1], gram.L
    rows = A.new_empty(n, 2, k, L, L)
    rows[:, 0] = A.mT @ A
    rows[:, 1, :, :-1] = A[:, :, 1:]  # N^T = sum_dc A_{d+1,c} C[d,c], by the symmetry of C
    rows[:, 1, :, -1] = A[:, :, 0]
    out = torch.bmm(rows.view(n, 2 * k, L * L), gram.pairs).view(n, 2, k, gram.V, gram.V)
    return out[:, 0], out[:, 1]


def squared_error(gram: Gram, A: Tensor, W: Tensor) -> Tensor:
    """Sum over sequences and positions of |A X W - Y|^2, of shape (P, member).

    A is (P, member, L, L) and W is (P, member, V, V).
    """
    M, N_transposed = contract_attention(gram, A)
    quadratic = ((M @ W) * W).sum((-2, -1))
    return quadratic - 2 * (N_transposed.mT * W).sum((-2, -1)) + gram.L * gram.counts[:, None]


def attention_gradient(gram: Gram, A: Tensor, second: Tensor, mean: Tensor) -> Tensor:
    """Gradient with respect to A of the squared error, averaged over read-outs W; in the shape of A.

    2 (A K - R), with K_cd = sum_vw C[c,d,v,w] second_vw and R_ac = sum_vw C[c,a-1,v,w] mean_vw, where
    `mean` is E W and `second` is E W W^T, both (P, member, V, V).
    """
    n, k, L, V = A.shape[0], A.shape[1], gram.L, gram.V
    rows = torch.stack((second, mean.mT), 1).view(n, 2 * k, V * V)
    out = torch.bmm(rows, gram.pairs.mT).view(n, 2, k, L, L)
    dA = A @ out[:, 0]
    dA[:, :, 1:] -= out[:, 1, :, :-1]  # R_a = (W^T contracted with C)_{a-1}, by the symmetry of C
    dA[:, :, 0] -= out[:, 1, :, -1]
    return dA.mul_(2)


def squared_error_gradient(gram: Gram, A: Tensor, W: Tensor) -> tuple[Tensor, Tensor]:
    """Gradient of `squared_error` with respect to A and W, in their shapes.

    dE/dA is `attention_gradient` at this W; dE/dW = 2 (M W - N).
    """
    M, N_transposed = contract_attention(gram, A)
    dW = (M @ W).sub_(N_transposed.mT).mul_(2)
    return attention_gradient(gram, A, W @ W.mT, W), dW
