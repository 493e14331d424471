"""Both architectures written out plainly, as references: heads in a loop, one-hots, torch.nn."""

import math

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.functional import one_hot


def see(length, context):
    """True where a query (row) may not look: the future, and what is `context` tokens back or more."""
    q, k = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    hidden = k > q
    return hidden if context is None else hidden | (k <= q - context)


def run_minimal(shape, parameters, tokens):
    """Logits (B, T, d) and attention of each block (B, H, L, L) of the minimal model, head by head."""
    L = shape.length
    dtype = parameters["blocks.0.A"].dtype
    positions = torch.eye(L, dtype=dtype).expand(len(tokens), L, L)
    h = torch.cat([one_hot(tokens, shape.d).to(dtype), positions], -1)
    maps = []
    for block in range(shape.layers):
        A, V = parameters[f"blocks.{block}.A"], parameters[f"blocks.{block}.V"]
        out, attention = 0, []
        for head in range(shape.heads):
            scores = torch.einsum("bqi,ij,bkj->bqk", h, A[head], h) / math.sqrt(shape.inputs)
            scores = scores.masked_fill(see(L, shape.context), -math.inf)
            weights = torch.softmax(scores, -1)
            out = out + weights @ (h @ V[head].T)
            attention.append(weights)
        h = out
        maps.append(torch.stack(attention, 1))
    return h[:, -shape.queries :], maps


def run_full(shape, parts, parameters, tokens):
    """Logits (B, T, d) and attention of each block (B, H, L, L) of the full model, by torch.nn."""
    width, H, L = parts.width, shape.heads, shape.length
    dtype = parameters["embedding"].dtype
    h = nn.functional.embedding(tokens, parameters["embedding"]) + parameters["positions"]
    maps = []
    for block in range(shape.layers):
        own = {
            n.removeprefix(f"blocks.{block}."): p for n, p in parameters.items() if f"blocks.{block}." in n
        }
        hidden = see(L, shape.context)
        if parts.merged:
            scores = torch.stack([h @ own["merged"][head] @ h.mT for head in range(H)], 1) / width**0.5
            attention = torch.softmax(scores.masked_fill(hidden, -math.inf), -1)
            values = (h @ own["value"].T).unflatten(-1, (H, -1)).transpose(1, 2)
            branch = (attention @ values).transpose(1, 2).flatten(2) @ own["out"].T
        else:
            module = nn.MultiheadAttention(width, H, bias=False, batch_first=True, dtype=dtype)
            stacked = torch.cat([own["query"], own["key"], own["value"]])
            weights = {"in_proj_weight": stacked, "out_proj.weight": own["out"]}
            settings = {"attn_mask": hidden, "average_attn_weights": False}
            branch, attention = functional_call(module, weights, (h, h, h), settings)
        maps.append(attention)
        h = join(parts, h, branch, own, "attention")
        if parts.feed_forward:
            mlp = nn.functional.relu(h @ own["up"].T + own["up_bias"]) @ own["down"].T + own["down_bias"]
            h = join(parts, h, mlp, own, "ffn")
    return (h @ parameters["unembedding"].T)[:, -shape.queries :], maps


def join(parts, h, branch, own, name):
    """The stream after a branch."""
    h = h + branch if parts.residual else branch
    if not parts.normalise:
        return h
    weights = {"weight": own[f"{name}_gain"], "bias": own[f"{name}_shift"]}
    return functional_call(nn.LayerNorm(parts.width, dtype=h.dtype), weights, h)
