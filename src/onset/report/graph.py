"""A layered drawing of what is made from what: places of boxes and the curves between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 164, 24
"""Of a box, in units of the drawing."""
ACROSS, DOWN = 250, 30
"""From one layer to the next, and from one box of a layer to the next."""
MARGIN = 12
SWEEPS = 8
ENDS = ("figures", "tables")
"""Kinds that nothing is made from."""


@dataclass(frozen=True)
class Node:
    """A box: its name, what kind of step it is, its layer and its upper left corner."""

    name: str
    kind: str
    layer: int
    x: float
    y: float


@dataclass(frozen=True)
class Drawing:
    """Boxes in the order in which they are read, curves as paths of SVG, and the size of the whole."""

    nodes: tuple[Node, ...]
    curves: tuple[str, ...]
    width: float
    height: float


def draw_graph(needs: Mapping[str, Sequence[str]], kinds: Mapping[str, str]) -> Drawing:
    """The graph in which each name needs the names that it is given, none in a circle, left to right.

    A name stands one layer right of the last that it needs, those of the kinds `ENDS` in the last layer.
    Within a layer, boxes are ordered by the mean place of their neighbours, in sweeps to the right and back;
    ties keep the given order, so that the same graph is always drawn the same.
    """
    layers = find_layers(needs)
    last = max(layers.values(), default=0)
    layers |= {name: last for name in needs if kinds[name] in ENDS and last > 0}
    columns: list[list[str]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for name in needs:
        columns[layers[name]].append(name)
    _order(columns, needs)
    tallest = max(map(len, columns), default=0)
    places: dict[str, Node] = {}
    for layer, column in enumerate(columns):
        top = MARGIN + (tallest - len(column)) * DOWN / 2
        for row, name in enumerate(column):
            places[name] = Node(name, kinds[name], layer, MARGIN + layer * ACROSS, top + row * DOWN)
    curves = tuple(
        _curve(places[need], places[name]) for column in columns for name in column for need in needs[name]
    )
    width = 2 * MARGIN + max(len(columns) - 1, 0) * ACROSS + WIDTH
    return Drawing(tuple(places.values()), curves, width, 2 * MARGIN + tallest * DOWN - (DOWN - HEIGHT))


def find_layers(needs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The layer of each name: 0 where it needs nothing, else one more than the highest that it needs."""
    layers: dict[str, int] = {}

    def visit(name: str) -> int:
        if name not in layers:
            layers[name] = max((visit(need) + 1 for need in needs[name]), default=0)
        return layers[name]

    for name in needs:
        visit(name)
    return layers


def _order(columns: list[list[str]], needs: Mapping[str, Sequence[str]]) -> None:
    """Sort each column by the mean relative place of its neighbours in all other columns."""
    neighbours: dict[str, list[str]] = {name: list(found) for name, found in needs.items()}
    for name, found in needs.items():
        for need in found:
            neighbours[need].append(name)
    place = {}

    def settle(column: list[str]) -> None:
        for row, name in enumerate(column):
            place[name] = (row + 0.5) / len(column)

    for column in columns:
        settle(column)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            means = {
                name: sum(place[other] for other in neighbours[name]) / len(neighbours[name])
                if neighbours[name]
                else place[name]
                for name in column
            }
            column.sort(key=lambda name: round(means[name], 9))
            settle(column)


def _curve(start: Node, end: Node) -> str:
    x0, y0 = start.x + WIDTH, start.y + HEIGHT / 2
    x1, y1 = end.x, end.y + HEIGHT / 2
    bend = (ACROSS - WIDTH) * 0.6
    return f"M{x0:g} {y0:g}C{x0 + bend:g} {y0:g} {x1 - bend:g} {y1:g} {x1:g} {y1:g}"
