"""A training step of Gaussian Match-and-Copy: ours against transformers' LlamaModel and GPT2Model.

Both sides start from the same weights and see the same batches, drawn inside the timed step; both make AdamW
steps by torch's fused kernel, and must have the same loss curve.  Theirs has its faster attention (sdpa) and
the same two linear maps.  Needs transformers, which is among the test dependencies.
Run with `python benchmarks/gmc_training_step.py`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2Model, LlamaConfig, LlamaModel

from onset.ensemble.adamw import AdamW
from onset.papers.gmc.models.huggingface import convert_gpt2, convert_llama
from onset.papers.gmc.models.registry import TRANSFORMERS, count_backbone
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.models.start import draw_start
from onset.papers.gmc.task import build_task, draw_batch, draw_value_map
from onset.randomness import Streams
from timing import describe_machine, report, report_ratio, time_alternating

STREAMS = Streams(0, "benchmarks", "gmc_training_step")
TASK = build_task(8, np.eye(16) / 1.2**2)
VALUE_MAP = draw_value_map(STREAMS, 16)
BETAS, RATE, CURVE = (0.9, 0.95), 1e-3, 10


class Theirs(nn.Module):
    """A bare transformers model between two linear maps, all positions of all layers, read at the last."""

    def __init__(self, name: str, shape: Shape) -> None:
        super().__init__()
        self.inputs, self.outputs = nn.Linear(16, shape.width), nn.Linear(shape.width, 16)
        self.backbone: nn.Module
        if name == "llama":
            llama = LlamaConfig(
                vocab_size=4,
                hidden_size=shape.width,
                intermediate_size=shape.ffn,
                num_hidden_layers=shape.layers,
                num_attention_heads=shape.heads,
                attn_implementation="sdpa",
                use_cache=False,
            )
            self.backbone = LlamaModel(llama)
            del self.backbone.embed_tokens
        else:
            gpt2 = GPT2Config(
                vocab_size=4,
                bos_token_id=1,
                eos_token_id=2,
                n_embd=shape.width,
                n_inner=shape.ffn,
                n_layer=shape.layers,
                n_head=shape.heads,
                n_positions=shape.length,
                attn_implementation="sdpa",
                use_cache=False,
                resid_pdrop=0.0,
                embd_pdrop=0.0,
                attn_pdrop=0.0,
            )
            self.backbone = GPT2Model(gpt2)
            del self.backbone.wte

    def forward(self, x: Tensor) -> Tensor:
        """Predictions (B, 16) at the last position of sequences x (B, L, 16)."""
        return self.outputs(self.backbone(inputs_embeds=self.inputs(x)).last_hidden_state[:, -1])


def build(name: str, shape: Shape) -> tuple[nn.Module, nn.Module]:
    """Ours and theirs with equal weights."""
    torch.manual_seed(0)
    ours, theirs = TRANSFORMERS[name](shape), Theirs(name, shape)
    draw_start(ours, STREAMS, 0, 0.02)
    state = theirs.backbone.state_dict()
    if name == "llama":
        weights = convert_llama(state, shape.layers, shape.heads)
    else:
        weights = convert_gpt2(state, shape.layers)
    ours.load_state_dict(weights, strict=False)
    for projection in ("inputs", "outputs"):
        theirs.get_submodule(projection).load_state_dict(ours.get_submodule(projection).state_dict())
    return ours, theirs


def step_of(model: nn.Module, batch: int, own: bool) -> Callable[[int], float]:
    """Step i of a model: draw a batch, differentiate, AdamW; gives the loss."""
    parameters = dict(model.named_parameters())
    if own:
        ours = AdamW(parameters, BETAS)
    else:
        theirs = torch.optim.AdamW(parameters.values(), lr=RATE, betas=BETAS, fused=True)

    def step(i: int) -> float:
        drawn = draw_batch(STREAMS, TASK, VALUE_MAP, 0, i, batch)
        x, y = torch.from_numpy(drawn.tokens), torch.from_numpy(drawn.targets)
        loss = (model(x) - y).square().mean()
        if own:
            gradient = torch.autograd.grad(loss, list(parameters.values()), materialize_grads=True)
            ours.step(dict(zip(parameters, gradient, strict=True)), RATE)
        else:
            theirs.zero_grad()
            loss.backward()
            theirs.step()
        return float(loss.detach())

    return step


def compare(name: str, shape: Shape, batch: int, repeats: int) -> None:
    """Print both rates, their ratio, and the largest difference of the two loss curves."""
    ours, theirs = build(name, shape)
    print(
        f"{name}, width {shape.width}, {shape.heads} heads, {shape.layers} layers, batch {batch}: "
        f"{count_backbone(ours):,} parameters in the backbone"
    )
    curves = [
        [step(i) for i in range(CURVE)]
        for step in (
            step_of(copy.deepcopy(ours), batch, own=True),
            step_of(copy.deepcopy(theirs), batch, own=False),
        )
    ]
    difference = float(np.abs(np.subtract(*curves)).max())
    first, last = curves[0][0], curves[0][-1]
    print(f"  loss {first:.4f} to {last:.4f} in {CURVE} steps; largest difference {difference:.0e}")
    if not difference < 1e-4:
        raise SystemExit("both sides should have the same loss curve to 1e-4")
    own, other = step_of(ours, batch, own=True), step_of(theirs, batch, own=False)
    fast, slow = time_alternating(lambda: own(0), lambda: other(0), repeats)
    report("ours", fast, batch, "sequences")
    report("transformers", slow, batch, "sequences")
    report_ratio(slow, fast)


def main() -> None:
    describe_machine()
    for name in ("llama", "gpt2"):
        compare(name, Shape(16, 16, 9, 2, 288, 9, 1152), 512, 7)
        compare(name, Shape(16, 16, 9, 2, 96, 3, 384), 128, 60)
    compare("llama", Shape(16, 16, 9, 8, 288, 9, 1152), 128, 5)


if __name__ == "__main__":
    main()
