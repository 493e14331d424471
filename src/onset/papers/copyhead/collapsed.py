"""The posterior of the logits alone, with the output-value weights integrated out (collapsed sampler).

Given A, the weights W are Gaussian with mean (M + ridge)^-1 N and covariance sigma^2 (M + ridge)^-1 in
each of V independent columns, ridge = V sigma^2/g_OV.  The gradient of -log p(D|A) is that of the misfit,
averaged over them: it needs E W and E W W^T alone.

Source: reconstruction, docs/theory/copyhead.md section 3.
"""

from __future__ import annotations

import torch
from torch import Tensor

from onset.papers.copyhead.gram import Gram, attention_gradient, contract_attention
from onset.papers.copyhead.model import CopyHead, Parameters
from onset.papers.copyhead.order import measure_head


def solve_weights(head: CopyHead, gram: Gram, A: Tensor) -> tuple[Tensor, Tensor]:
    """Mean of W given A, and the covariance that every column shares; A is (P, member, L, L), both
    results (P, member, V, V), in actual units."""
    M, N_transposed = contract_attention(gram, A)
    ridge = head.V * head.sigma2 / head.g_OV
    inverse = torch.linalg.inv(M + ridge * torch.eye(head.V, dtype=A.dtype, device=A.device))
    return inverse @ N_transposed.mT, inverse * head.sigma2


def integrated_misfit(head: CopyHead, gram: Gram, parameters: Parameters) -> Tensor:
    """-log p(D|A) less its value for a head that outputs 0, up to P L/(2 sigma^2): (member, P), in nats.

    V/2 ln det(1 + M/ridge) + [P L - Tr N^T (M + ridge)^-1 N]/(2 sigma^2).
    """
    A = head.attend(head.logits(parameters)).transpose(0, 1)
    M, N_transposed = contract_attention(gram, A)
    ridge = head.V * head.sigma2 / head.g_OV
    mean, _ = solve_weights(head, gram, A)
    one = torch.eye(head.V, dtype=A.dtype, device=A.device)
    residual = head.L * gram.counts[:, None] - (N_transposed.mT * mean).sum((-2, -1))
    return (head.V / 2 * torch.logdet(one + M / ridge) + residual / (2 * head.sigma2)).mT


def integrated_gradient(head: CopyHead, gram: Gram, parameters: Parameters) -> Parameters:
    """Gradient of `integrated_misfit` with respect to the parameters of the logits, in their shapes."""
    A = head.attend(head.logits(parameters).transpose(0, 1).contiguous())
    mean, covariance = solve_weights(head, gram, A)
    dA = attention_gradient(gram, A, mean @ mean.mT + head.V * covariance, mean)
    return head.pull_back(parameters, A.transpose(0, 1), dA.transpose(0, 1), None)


def measure_integrated(head: CopyHead, gram: Gram, A: Tensor) -> dict[str, Tensor]:
    """What is recorded of a head, with the test loss averaged over W given A.

    A is (member, P, L, L); each result is (member, P).
    """
    mean, covariance = (part.transpose(0, 1) for part in solve_weights(head, gram, A.transpose(0, 1)))
    values = measure_head(head.attention, A, mean)
    L, V = head.L, head.V
    row_sums = A.sum(-1).square().sum(-1)
    # The variance of W adds V tr(covariance) to |W|^2 and V 1^T covariance 1 to the squared column sums.
    same = values["s2"] / V * covariance.diagonal(dim1=-2, dim2=-1).sum(-1)
    other = (row_sums - values["s2"]) / V**2 * covariance.sum((-2, -1))
    return {**values, "test_loss": values["test_loss"] + V * (same + other) / L}
