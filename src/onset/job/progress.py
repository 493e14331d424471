"""Progress of a long computation: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm


class Reporter:
    """Writes progress to the terminal, where there is one, and to a log.

    `log` receives one plain line at the start, at most one every `every` seconds, and one at the
    end.  `terminal` shows a tqdm bar when it is a terminal.
    """

    def __init__(
        self, label: str, log: TextIO | None = None, terminal: TextIO | None = None, every: float = 10.0
    ) -> None:
        self.label = label
        self.log = log
        self.terminal = sys.stderr if terminal is None else terminal
        self.every = every

    def line(self, text: str) -> None:
        """Write one line to the log (to the terminal's stream where there is no log)."""
        print(f"{self.label}: {text}", file=self.log or self.terminal, flush=True)

    @contextmanager
    def steps(self, total: int, unit: str, start: int = 0) -> Iterator[_Counter]:
        """Count steps up to `total`, beginning at `start` (more than 0 after a resume)."""
        bar = self._bar(total, unit, start) if self.terminal.isatty() else None
        counter = _Counter(self, bar, total, unit, start)
        self.line(f"{start} of {total} {unit} done" if start else f"{total} {unit} to do")
        try:
            yield counter
        finally:
            if bar is not None:
                bar.close()
        seconds = time.monotonic() - counter.began
        self.line(f"{counter.done} of {total} {unit} done in {seconds:.1f} s")

    def _bar(self, total: int, unit: str, start: int) -> tqdm:
        from tqdm import tqdm

        return tqdm(
            total=total,
            initial=start,
            desc=self.label,
            unit=f" {unit}",
            file=self.terminal,
            leave=False,
            dynamic_ncols=True,
        )


class _Counter:
    def __init__(self, reporter: Reporter, bar: tqdm | None, total: int, unit: str, start: int) -> None:
        self.reporter, self.bar, self.total, self.unit = reporter, bar, total, unit
        self.start = self.done = start
        self.began = self.told = time.monotonic()

    def advance(self, steps: int = 1) -> None:
        """Tell that `steps` more are done."""
        self.done += steps
        if self.bar is not None:
            self.bar.update(steps)
        now = time.monotonic()
        if now - self.told >= self.reporter.every and self.done < self.total:
            self.told = now
            rate = (self.done - self.start) / (now - self.began)
            left = (self.total - self.done) / rate
            pace = f"{rate:.3g} {self.unit} a second, {left:.0f} s left"
            self.reporter.line(f"{self.done} of {self.total} {self.unit} done, {pace}")
