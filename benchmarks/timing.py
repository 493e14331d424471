"""Fair timing of two ways to do one thing."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch


def matmul_rate(size: int = 1024, repeats: int = 7) -> float:
    """Best rate of a float32 square matrix product on this machine, in 1e9 floating-point operations/s."""
    x = torch.rand(size, size)
    best = min(seconds(lambda: x @ x) for _ in range(repeats))
    return 2 * size**3 / best / 1e9


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def time_alternating(
    first: Callable[[], object], second: Callable[[], object], repeats: int
) -> tuple[list[float], list[float]]:
    """Wall times of both after one call of each to warm up; they alternate, so that load meets both alike."""
    first()
    second()
    pairs = [(seconds(first), seconds(second)) for _ in range(repeats)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def report(label: str, times: list[float], units: float, unit: str) -> None:
    """Print the rate at the least and at the median wall time."""
    least, median = min(times), statistics.median(times)
    print(f"  {label:<34} {units / least:12,.0f} {unit}/s best {units / median:12,.0f} median")


def report_ratio(slow: list[float], fast: list[float]) -> None:
    """Print the ratio of the two sides, at the least and at the median times."""
    best, middle = min(slow) / min(fast), statistics.median(slow) / statistics.median(fast)
    print(f"  ratio {best:.1f} best, {middle:.1f} median, of {len(slow)} alternating pairs")


def describe_machine() -> None:
    """Set one thread and print what this machine does with it."""
    torch.set_num_threads(1)
    print(f"one thread, torch {torch.__version__}; matrix product {matmul_rate():.0f} GFLOP/s in float32")
