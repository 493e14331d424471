"""Table 1: hyperparameters of every run, from the parameters themselves, beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from onset.job.context import Job

TABLE, TEXT, OURS, FORMULA = "Table 1", "text", "our choice", "closed formula"
"""Where a value comes from; a formula's numbers follow from the sizes."""
ALL = "all runs"
ARCHITECTURES = {"llama": "Llama-3-style", "gpt2": "GPT-2-style"}


class Row(NamedTuple):
    """A line of the table: which runs, what, here, in the paper (empty where it says nothing), and whence."""

    run: str
    item: str
    value: str
    paper: str
    source: str


def tabulate(job: Job) -> pd.DataFrame:
    """Hyperparameters of all training runs at this scale: columns run, item, value, paper, source.

    `job.sections` holds the sections of params.yaml by name: `backbone`, `optimiser`, tasks (`<x>_task`),
    test sets (`<x>_test`) and training sections (`<x>_runs`); runs without a task of their own are on
    `base_task`.  Values are what the code is given; `source` says whether the paper fixes them.
    Source: arXiv 2602.07562, Table 1; parameter counts by closed formula.
    """
    import pandas as pd

    sections = job.sections
    rows = [
        *_list_backbone(sections["backbone"]),
        *_list_optimiser(sections["optimiser"]),
        *(row for name in _list_runs(sections) for row in _list_run(name, sections)),
    ]
    return pd.DataFrame(rows, columns=Row._fields)


def _list_runs(sections: Mapping[str, Any]) -> list[str]:
    """Names of the training sections, base runs first."""
    names = [name for name in sections if name.endswith("_runs")]
    return sorted(names, key=lambda name: (name != "base_runs", name.startswith("depth"), names.index(name)))


def _list_backbone(backbone: Any) -> Iterator[Row]:
    yield Row(ALL, "d_model", f"{backbone.width}", "288", TABLE)
    yield Row(ALL, "heads", f"{backbone.heads}", "9", TABLE)
    yield Row(ALL, "d_head", f"{backbone.width // backbone.heads}", "32", TABLE)
    yield Row(ALL, "FFN hidden units", f"{backbone.ffn}", "1152", TABLE)
    yield Row(ALL, "initialisation", f"N(0, {backbone.init_std:g}^2)", "N(0, 0.02^2)", TABLE)
    yield Row(ALL, "initialisation of input and output map", backbone.projections, "", OURS)
    yield Row(ALL, "RoPE base (Llama)", f"{backbone.rope_theta:g}", "", OURS)
    yield Row(ALL, "dropout", "0", "", OURS)


def _list_optimiser(optimiser: Any) -> Iterator[Row]:
    betas = f"{optimiser.beta1:g}, {optimiser.beta2:g}"
    yield Row(ALL, "optimiser", "AdamW", "AdamW", TABLE)
    yield Row(ALL, "beta1, beta2", betas, "0.9, 0.95", TABLE)
    yield Row(ALL, "epsilon", f"{optimiser.epsilon:g}", "", OURS)
    yield Row(ALL, "learning rate", f"{optimiser.learning_rate:g}", "0.001", TABLE)
    yield Row(ALL, "schedule", "linear warm-up, cosine", "linear warm-up, cosine", TABLE)
    yield Row(ALL, "final rate, share of the largest", f"{optimiser.final_rate:g}", "", OURS)
    yield Row(ALL, "batch size", f"{optimiser.batch}", "512", TABLE)
    yield Row(ALL, "weight decay", f"{optimiser.weight_decay:g}", "", OURS)
    clip = "none" if optimiser.clip is None else f"{optimiser.clip:g}"
    yield Row(ALL, "gradient clipping", clip, "", OURS)


def _list_run(name: str, sections: Mapping[str, Any]) -> Iterator[Row]:
    own, backbone = sections[name], sections["backbone"]
    stem = name.removesuffix("_runs")
    task = sections.get(f"{stem}_task", sections["base_task"])
    test = sections.get(f"{stem}_test", sections.get("base_test"))
    yield Row(name, "architecture", ARCHITECTURES[own.architecture], "Llama-3-style, GPT-2-style", TABLE)
    yield Row(name, "layers", f"{own.layers}", "2; depth sweep 1, 2, 4, 8, 16, 32", TABLE)
    yield Row(name, "T", f"{task.T}", "8, 16", TABLE)
    yield Row(name, "d_in = d_out", f"{task.d_in}", "16, 32", TABLE)
    yield Row(name, "c", describe_covariance(task), "1.1, 1.2, 1.3", TABLE)
    yield Row(name, "sigma_token", f"{task.sigma_token:g}", "1", TEXT)
    yield Row(name, "sigma_noise", f"{task.sigma_noise:g}", "0.1", TEXT)
    yield Row(name, "steps", f"{own.steps}", "1000", TABLE)
    yield Row(name, "warm-up steps", f"{own.warmup}", "200", TABLE)
    yield Row(name, "seeds", f"{own.seeds}", "", OURS)
    yield Row(name, "steps between evaluations", f"{own.evaluate_every}", "", OURS)
    K = task.T
    if test is not None:
        K = test.K or task.T
        yield Row(name, "test sequences along training", f"{test.curve_samples}", "128", TEXT)
        yield Row(name, "test sequences at the end", f"{test.samples}", "", OURS)
    sizes = {"layers": own.layers, "width": backbone.width, "ffn": backbone.ffn}
    if own.architecture == "llama":
        backbone_count, known = count_llama(**sizes), "2.66M (2 layers)"
    else:
        backbone_count = count_gpt2(**sizes, length=max(task.T + 1, 2 * K))
        known = "2.47M (2 layers, d_model 320)"
    yield Row(name, "parameters of the backbone", f"{backbone_count}", known, FORMULA)
    maps = count_maps(task.d_in, task.d_in, backbone.width)
    yield Row(name, "parameters of input and output map", f"{maps}", "", FORMULA)


def describe_covariance(task: Any) -> str:
    """c, or how C is given otherwise."""
    if task.c is not None:
        return f"{task.c:g}"
    return "C by singular values" if task.singular_values is not None else "C as a matrix"


def count_llama(layers: int, width: int, ffn: int) -> int:
    """Parameters of a Llama-3-style backbone: four and three matrices and two norms a layer, a last norm.

    2,655,648 for two layers of width 288 and FFN 1152; 2.66M in arXiv 2602.07562, Table 3.
    """
    return layers * (4 * width**2 + 3 * width * ffn + 2 * width) + width


def count_gpt2(layers: int, width: int, ffn: int, length: int = 0) -> int:
    """Parameters of a GPT-2-style backbone: six matrices with biases and two norms a layer, a last norm.

    `length` learned positions come on top.  2,466,560 without any for two layers of width 320 and FFN 1280;
    2.47M in arXiv 2602.07562, Table 3.
    """
    attention, feed_forward = 4 * (width**2 + width), 2 * width * ffn + ffn + width
    return layers * (attention + feed_forward + 4 * width) + 2 * width + length * width


def count_maps(d_in: int, d_out: int, width: int) -> int:
    """Parameters of the linear maps of inputs and outputs, with biases."""
    return (d_in + 1) * width + (width + 1) * d_out
