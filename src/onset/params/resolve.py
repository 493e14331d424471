"""From params.yaml to the typed parameters of every scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from onset.errors import OnsetError
from onset.params.overlay import holds, merge
from onset.params.validate import Problem, check_keys, check_section, nearest, spell
from onset.params.yamlfile import read_yaml

DEVICES = ("auto", "cpu", "cuda")

Check = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class PaperSchema:
    """The sections that a paper has in params.yaml, and the conditions that join them."""

    sections: Mapping[str, type[BaseModel]]
    check: Check | None = None


@dataclass(frozen=True)
class Parameters:
    """params.yaml, validated.

    `sections[scale][paper][name]` is the typed section `name` of `paper` at `scale`.
    `seeds[scale][paper]` is the paper's root seed.  `plotting[scale]` is the shared look of the figures.
    `overlays[scale]` is what the scale sets differently, as it stands in the file.
    """

    scale: str
    device: str
    sections: Mapping[str, Mapping[str, Mapping[str, BaseModel]]]
    seeds: Mapping[str, Mapping[str, int]]
    plotting: Mapping[str, BaseModel]
    overlays: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def scales(self) -> tuple[str, ...]:
        """The names of all scales, `paper` first."""
        return tuple(self.sections)

    def advise(self, scale: str, paper: str, check: Check) -> list[str]:
        """What `check` says about a paper's sections at one scale, one line each, under the keys' paths."""
        found = [((paper, *where.split(".")), what) for where, what in check(self.sections[scale][paper])]
        placed = [_placed(problem, scale, self.overlays.get(scale, {})) for problem in found]
        return [f"{spell(where)} {what}" for where, what in placed]


def load_parameters(path: Path, papers: Mapping[str, PaperSchema], plotting: type[BaseModel]) -> Parameters:
    """Read and validate params.yaml at every scale.

    Raises OnsetError that lists every problem, one a line, with the path of the key, its value and what
    is allowed.
    """
    raw = read_yaml(path)
    problems: list[Problem] = list(check_keys(raw, ["scale", "device", "plotting", *papers, "scales"]))
    if not isinstance(raw, Mapping):
        raise _refused(path, problems)
    scales = raw.get("scales")
    if not isinstance(scales, Mapping) or "paper" not in scales:
        problems.append((("scales",), "should be a mapping with at least the entry `paper: {}`"))
        raise _refused(path, problems)
    problems += _check_choices(raw, scales, papers)
    sections: dict[str, dict] = {}
    seeds: dict[str, dict[str, int]] = {}
    looks: dict[str, BaseModel] = {}
    for scale in sorted(scales, key=lambda name: (name != "paper", str(name))):
        overlay = scales[scale] or {}
        found: list[Problem] = []
        if not isinstance(overlay, Mapping):
            problems.append((("scales", scale), "should be a mapping of overlays"))
            continue
        known = ["plotting", *papers]
        found += [((key,), f"unknown key; {nearest(str(key), known)}") for key in overlay if key not in known]
        look, wrong = check_section(plotting, _lay(raw.get("plotting"), overlay, "plotting"), ("plotting",))
        found += wrong
        if look is not None:
            looks[scale] = look
        sections[scale], seeds[scale] = {}, {}
        for paper, schema in papers.items():
            if paper not in raw:
                continue
            merged = _lay(raw[paper], overlay, paper)
            typed, seed, wrong = _check_paper(paper, schema, merged)
            found += wrong
            sections[scale][paper], seeds[scale][paper] = typed, seed
        problems += [_placed(problem, scale, overlay) for problem in found]
    problems = list(dict.fromkeys(problems))
    if problems:
        raise _refused(path, problems)
    overlays = {scale: overlay or {} for scale, overlay in scales.items()}
    return Parameters(raw["scale"], raw["device"], sections, seeds, looks, overlays)


def _lay(base: Any, overlay: Mapping, key: str) -> Any:
    return merge(base, overlay[key]) if key in overlay else base


def _check_choices(raw: Mapping, scales: Mapping, papers: Mapping) -> list[Problem]:
    problems: list[Problem] = []
    if "scale" in raw and raw["scale"] not in list(scales):
        problems.append(
            (("scale",), f"= {raw['scale']!r}: unknown scale; {nearest(str(raw['scale']), scales)}")
        )
    if "device" in raw and raw["device"] not in DEVICES:
        problems.append((("device",), f"= {raw['device']!r}: should be one of {', '.join(DEVICES)}"))
    for scale in scales:
        if not str(scale).isidentifier():
            problems.append((("scales", scale), "a scale's name is letters, digits and underscores"))
        elif scale in papers:
            problems.append((("scales", scale), "a scale cannot have the name of a paper"))
    return problems


def _check_paper(paper: str, schema: PaperSchema, found: Any) -> tuple[dict, int, list[Problem]]:
    problems = list(check_keys(found, ["seed", *schema.sections], (paper,)))
    if not isinstance(found, Mapping):
        return {}, 0, problems
    seed = found.get("seed", 0)
    if type(seed) is not int or seed < 0:
        problems.append(((paper, "seed"), f"= {seed!r}: should be an integer of at least 0 (root seed)"))
    typed = {}
    for name, model in schema.sections.items():
        if name in found:
            section, wrong = check_section(model, found[name], (paper, name))
            problems += wrong
            if section is not None:
                typed[name] = section
    if schema.check is not None and not problems:
        problems += [((paper, *where.split(".")), what) for where, what in schema.check(typed)]
    return typed, seed, problems


def _placed(problem: Problem, scale: str, overlay: Mapping) -> Problem:
    """The problem under the overlay's path where the overlay sets the value, else under the base's."""
    where, what = problem
    return (("scales", scale, *where), what) if holds(overlay, where) else problem


def _refused(path: Path, problems: list[Problem]) -> OnsetError:
    lines = [f"  {spell(where)} {what}" if where else f"  {what}" for where, what in problems]
    count = f"{len(lines)} problem{'s' if len(lines) != 1 else ''}"
    return OnsetError("\n".join([f"{path.name} is refused ({count}):", *lines]))
