"""Everything that is known before a job starts: catalogue, parameters, and the steps of every scale."""

from __future__ import annotations

from functools import cached_property

from onset.errors import OnsetError
from onset.params.plotting import Plotting
from onset.params.resolve import Parameters, load_parameters
from onset.params.validate import nearest
from onset.pipeline.catalogue import Catalogue, load_catalogue
from onset.pipeline.project import Project
from onset.pipeline.reference import resolve_code
from onset.pipeline.steps import Step, Steps


class Plan:
    """The plan of a project; what is not asked for is not computed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._steps: dict[str, Steps] = {}

    @cached_property
    def catalogue(self) -> Catalogue:
        """The catalogue, validated."""
        return load_catalogue(self.project.catalogue)

    @cached_property
    def parameters(self) -> Parameters:
        """params.yaml, validated at every scale."""
        return load_parameters(self.project.parameters, self.catalogue.schemas(), Plotting)

    def warnings(self) -> list[str]:
        """What the papers' `warn` functions say about params.yaml, a line each with key, value and bound."""
        warned = {name: paper.warn for name, paper in self.catalogue.papers.items() if paper.warn}
        lines = [
            line
            for name, code in warned.items()
            for scale in self.scales
            for line in self.parameters.advise(scale, name, resolve_code(code))
        ]
        return list(dict.fromkeys(lines))

    @property
    def scales(self) -> tuple[str, ...]:
        """All scales."""
        return self.parameters.scales

    def steps(self, scale: str) -> Steps:
        """The steps at one scale.  Raises OnsetError, with the list of scales, where there is no such."""
        if scale not in self.scales:
            raise OnsetError(f"there is no scale '{scale}'; {nearest(scale, self.scales)}")
        if scale not in self._steps:
            self._steps[scale] = Steps(self.catalogue, self.parameters, scale, self.project.source)
        return self._steps[scale]

    def published(self) -> dict[str, tuple[Step, str]]:
        """Every published path of every scale, with its step and extension."""
        return {
            path: (step, extension)
            for scale in self.scales
            for step in self.steps(scale)
            for extension, path in step.published().items()
        }

    def links(self) -> dict[str, str]:
        """Shorter paths of figures (without the paper's scale, and headlines) and what they stand for."""
        links: dict[str, str] = {}
        for path, (step, extension) in self.published().items():
            if step.kind != "figures":
                continue
            if step.scale == "paper":
                links[f"figures/{step.paper}/{step.name}.{extension}"] = path
            folder = "figures" if step.scale == "paper" else f"figures/{step.scale}"
            for headline, figure in self.catalogue.headlines.items():
                if figure == f"{step.paper}/{step.name}":
                    links[f"{folder}/{headline}.{extension}"] = path
        return links
