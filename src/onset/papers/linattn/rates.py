"""Warnings about params.yaml: learning rates above the bound of stability, told before a build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from onset.papers.linattn.spectrum import list_eigenvalues, mean_label_square, square_context_covariance
from onset.papers.linattn.stability import bound_learning_rate, bound_run
from onset.params.linattn import MixtureTraining, Training
from onset.params.variants import expand_variants


def warn_of_rates(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Learning rates above the bound of stability at the minimum, as (path of the key, warning) pairs.

    `sections` are the paper's at one scale, by name.  Such a rate is allowed: heads that share a direction
    are more stable than the bound says.  Softmax attention has no bound here.
    """
    with np.errstate(all="ignore"):
        found = list(_list_warnings(sections))
    yield from found


def _list_warnings(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, section in sections.items():
        if isinstance(section, Training):
            yield from _warn_of_runs(name, section, sections)
    mixture, sets = sections["fig14_runs"], sections["mixture_sets"]
    if isinstance(mixture, MixtureTraining) and 1.0 in sets.shares:
        rate, bound = mixture.learning_rate, _bound_in_context(sections["white_task"])
        if rate > bound:
            yield "fig14_runs.learning_rate", _spell(rate, bound, "in-context sequences alone")


def _warn_of_runs(name: str, section: Training, sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    above: dict[str, list[tuple[float, str, float]]] = {}
    for label, run in expand_variants(section, "runs").items():
        bound = bound_run(run, sections[run.task], sections["next_token"])
        if run.learning_rate > bound:
            override = section.runs[label]
            own = override is not None and override.learning_rate is not None
            key = f"{name}.runs.{label}.learning_rate" if own else f"{name}.learning_rate"
            above.setdefault(key, []).append((bound, label, run.learning_rate))
    for key, found in above.items():
        bound, label, rate = min(found)
        others = f" (and above that of {len(found) - 1} other runs)" if len(found) > 1 else ""
        yield key, _spell(rate, bound, f"run {label}{others}")


def _bound_in_context(task: Any) -> float:
    """The bound of merged attention with side blocks where every sequence has a task vector of its own."""
    eigenvalues = list_eigenvalues(task)
    second = square_context_covariance(eigenvalues, task.N)
    label_square = mean_label_square(eigenvalues, task.N)
    return bound_learning_rate("merged", eigenvalues, second, label_square=label_square)


def _spell(rate: float, bound: float, of: str) -> str:
    return (
        f"= {rate:g}: is above {bound:.4g}, the bound of stability at the minimum of {of}; "
        "training may oscillate or diverge"
    )
