"""What is measured of a model on fixed validation sequences: loss, divergences, attention, head masses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from onset.papers.sparse.chain import Chain, Floats, Tokens, mark_groups
from onset.papers.sparse.models.model import PART, Model
from onset.papers.sparse.predictors import FLOOR, cross_entropy, entropy, prefix_log_probabilities


@dataclass(frozen=True)
class Evaluation:
    """Validation sequences of one seed of a chain, with the predictors that a model is compared to.

    tokens        (n, w+T), on the device of the run
    references    (k, n, T * d) probabilities, clamped at 1e-10: f_{A_1:i} for i = 1..h, then learned ones
    self_terms    (k,) mean over sequences and T positions of sum p log p of each
    matrices      (h, d, d) of the chain, in units of its squared norms: A_k / |A_k|_F^2
    marks         (T, L, h) whether a key is a lag of I(k), as numbers
    teacher_loss  cross-entropy of the chain itself on these sequences
    entropy       its mean conditional entropy there
    """

    tokens: Tensor
    references: Tensor
    self_terms: Floats
    matrices: Floats
    marks: Floats
    teacher_loss: float
    entropy: float


def prepare_evaluation(
    chain: Chain, matrices: Floats, tokens: Tokens, learned: Floats, dtype: torch.dtype, device: str = "cpu"
) -> Evaluation:
    """An evaluation on tokens (n, w+T), beside `learned` log-probabilities (c, n, T, d), c = 0 for none."""
    log_p = prefix_log_probabilities(chain, matrices, tokens)
    clamped = np.maximum(np.concatenate([log_p, learned]), np.log(FLOOR))
    p = np.exp(clamped)
    return Evaluation(
        tokens=torch.from_numpy(tokens).to(device),
        references=torch.from_numpy(p).to(device, dtype).flatten(2),
        self_terms=(p * clamped).sum(-1).mean((1, 2)),
        matrices=matrices / np.square(matrices).sum((1, 2), keepdims=True),
        marks=mark_groups(chain).astype(np.float64),
        teacher_loss=cross_entropy(log_p[-1], tokens),
        entropy=float(entropy(log_p[-1]).mean()),
    )


def evaluate(model: Model, parameters: Mapping[str, Tensor], data: Evaluation) -> dict[str, Floats]:
    """Measures of one member, float64.

    loss ()                      mean cross-entropy of the T predicted tokens
    KL (k,)                      KL(reference || model), mean over sequences and the T positions
    attention (layer, H, T, L)   mean over sequences, at the predicting queries, over all keys
    mass (layer, H, h)           attention on the lags of I(k), mean over queries and sequences
    Source: arXiv 2602.19143, section 2.3; direction and clamp of the divergence: authors' code (facts).
    """
    n, T = len(data.tokens), model.shape.queries
    losses, crosses, attentions = [], [], []
    with torch.no_grad():
        prepared = model.prepare(parameters)
        for begin in range(0, n, PART):
            tokens = data.tokens[begin : begin + PART]
            log_q, maps = model.observe(prepared, tokens[:, :-1])
            losses.append(-log_q.gather(-1, tokens[:, -T:, None]).sum(dtype=torch.float64))
            # Sequence after sequence, so that float32 sums are short: (B, k, T d) times (B, T d, 1).
            part = data.references[:, begin : begin + PART].transpose(0, 1)
            crosses.append(torch.bmm(part, log_q.flatten(1)[..., None])[..., 0].sum(0, dtype=torch.float64))
            attentions.append(maps.sum(0, dtype=torch.float64))
    loss, cross, attention = (torch.stack(sums).sum(0) for sums in (losses, crosses, attentions))
    mean = attention.cpu().numpy() / n
    return {
        "loss": loss.cpu().numpy() / (n * T),
        "KL": data.self_terms - cross.cpu().numpy() / (n * T),
        "attention": mean,
        "mass": np.einsum("ahql,qlk->ahk", mean, data.marks) / T,
    }


def align_values(V: Floats, data: Evaluation) -> Floats:
    """<V_h[:, :d], A_k>_F / |A_k|_F^2 as (H, h), for V (H, d, D): how much of A_k a head's values hold."""
    d = data.matrices.shape[-1]
    return np.einsum("hoi,koi->hk", V[:, :, :d], data.matrices)


def measure_head_difference(per_head: Mapping[str, Tensor]) -> float:
    """Largest difference between two heads in an entry of their weights (H, ...)."""
    return max(float((tensor.amax(0) - tensor.amin(0)).max()) for tensor in per_head.values())


def predict_log_probabilities(model: Model, parameters: Mapping[str, Tensor], tokens: Tensor) -> Floats:
    """Log-probabilities (n, T, d) of sequences (n, w+T), clamped at log 1e-10, float64."""
    with torch.no_grad():
        prepared = model.prepare(parameters)
        parts = [model.observe(prepared, part[:, :-1])[0] for part in tokens.split(PART)]
    return torch.cat(parts).double().clamp_(min=float(np.log(FLOOR))).cpu().numpy()
