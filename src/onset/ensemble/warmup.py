"""A learning rate that rises linearly and then falls along a cosine."""

from __future__ import annotations

from onset.ensemble.schedules import cosine


def warm_up_then_cosine(largest: float, step: int, warmup: int, total: int, final: float = 0.0) -> float:
    """Learning rate of `step` (0..total-1): largest * step/warmup, from `warmup` on a cosine.

    Starts at 0 (at `largest` without warm-up), is `largest` at step `warmup` and would reach `final` at
    `total`, one step past the last.  With final = 0 it is transformers' get_cosine_schedule_with_warmup.
    Raises ValueError where the warm-up is not shorter than the whole.
    """
    if not 0 <= warmup < total:
        raise ValueError(f"warmup = {warmup}: should be at least 0 and less than the {total} steps")
    if step < warmup:
        return largest * step / warmup
    return final + cosine(largest - final, step - warmup, total - warmup)
