"""Weights of transformers' LlamaModel and GPT2Model under our names.

Nothing here imports transformers: the functions read the `state_dict()` of a model that the caller made.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

LLAMA = {
    "attention_gain": "input_layernorm",
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "out": "self_attn.o_proj",
    "ffn_gain": "post_attention_layernorm",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}


def convert_llama(state: Mapping[str, Tensor], layers: int, heads: int) -> dict[str, Tensor]:
    """Parameters of a `Llama` without its maps of inputs and outputs, from a LlamaModel of as many heads.

    Rows of query and key are put in the order of our rotary pairs, (2j, 2j+1) for (j, j + size/2).
    """
    found = {"gain": state["norm.weight"]}
    for layer in range(layers):
        for ours, theirs in LLAMA.items():
            weight = state[f"layers.{layer}.{theirs}.weight"]
            if ours in ("query", "key"):
                weight = weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)
            found[f"blocks.{layer}.{ours}"] = weight
    return found


def convert_gpt2(state: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Parameters of a `GPT2` without its maps of inputs and outputs, from a GPT2Model."""
    found = {"positions": state["wpe.weight"], "gain": state["ln_f.weight"], "shift": state["ln_f.bias"]}
    for layer in range(layers):
        prefix = f"h.{layer}."
        theirs = {name.removeprefix(prefix): t for name, t in state.items() if name.startswith(prefix)}
        query, key, value = theirs["attn.c_attn.weight"].T.chunk(3)
        query_bias, key_bias, value_bias = theirs["attn.c_attn.bias"].chunk(3)
        block = {
            "attention_gain": theirs["ln_1.weight"],
            "attention_shift": theirs["ln_1.bias"],
            "query": query,
            "key": key,
            "value": value,
            "query_bias": query_bias,
            "key_bias": key_bias,
            "value_bias": value_bias,
            "out": theirs["attn.c_proj.weight"].T,
            "out_bias": theirs["attn.c_proj.bias"],
            "ffn_gain": theirs["ln_2.weight"],
            "ffn_shift": theirs["ln_2.bias"],
            "up": theirs["mlp.c_fc.weight"].T,
            "up_bias": theirs["mlp.c_fc.bias"],
            "down": theirs["mlp.c_proj.weight"].T,
            "down_bias": theirs["mlp.c_proj.bias"],
        }
        found |= {f"blocks.{layer}.{name}": tensor for name, tensor in block.items()}
    return found
