"""The sizes of a transformer."""

from __future__ import annotations

from dataclasses import dataclass

from onset.errors import OnsetError


@dataclass(frozen=True)
class Shape:
    """Sizes of a transformer of `layers` blocks between a map of inputs and a map of outputs.

    d_in, d_out  entries of a token and of a prediction
    length       positions of the longest sequence
    width        entries of the residual stream (d_model); `heads` heads of width/heads entries each
    ffn          hidden units of the feed-forward block
    rope_theta   base of the rotary position embedding; read by Llama alone
    Raises OnsetError where a size is below 1 or the heads do not divide the width.
    """

    d_in: int
    d_out: int
    length: int
    layers: int
    width: int
    heads: int
    ffn: int
    rope_theta: float = 10000.0

    def __post_init__(self) -> None:
        for name in ("d_in", "d_out", "length", "layers", "width", "heads", "ffn"):
            if getattr(self, name) < 1:
                raise OnsetError(f"{name} = {getattr(self, name)}: should be at least 1")
        if self.width % self.heads:
            raise OnsetError(f"heads = {self.heads}: should divide width = {self.width}")

    @property
    def head_size(self) -> int:
        """Entries of a head (d_head)."""
        return self.width // self.heads
