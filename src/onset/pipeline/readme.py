"""The README's table of figures, generated from the catalogue."""

from __future__ import annotations

from onset.errors import OnsetError
from onset.pipeline.catalogue import Catalogue
from onset.pipeline.reference import resolve_code

BEGIN, END = "<!-- figures: made by `onset readme --write` -->", "<!-- end of figures -->"


def fill_readme(text: str, catalogue: Catalogue) -> str:
    """The README's text with the table between its two marks made anew.

    Raises OnsetError where the marks are missing.
    """
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise OnsetError(f"README.md lacks the marks {BEGIN} and {END}")
    return f"{head}{BEGIN}\n{format_figures(catalogue)}\n{END}{tail}"


def format_figures(catalogue: Catalogue) -> str:
    """A row for each figure: paper, what it shows, the path that builds it, its claims."""
    lines = ["| paper | figure | what it shows | claims |", "|---|---|---|---|"]
    headlines = {target: name for name, target in catalogue.headlines.items()}
    for name, paper in catalogue.papers.items():
        for figure, entry in paper.figures.items():
            path = f"`figures/{name}/{figure}.pdf`"
            if short := headlines.get(f"{name}/{figure}"):
                path += f" = `figures/{short}.pdf`"
            count = len(resolve_code(entry.claims)) if entry.claims else 0
            lines.append(f"| `{name}` ({paper.reference}) | {path} | {entry.title} | {count} |")
    return "\n".join(lines)
