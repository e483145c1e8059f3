"""Charts out of Python: specifications for pages, figures for papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import altair as alt

from mensura.charts.canvas import Drawing, resolve
from mensura.charts.theme import LIGHT, PRINT, PRINT_FONT, THEMES, config
from mensura.core.drawings import check_figure, draw_spec, pixels_of, write_drawing
from mensura.core.errors import MensuraError

Chart = alt.LayerChart | alt.FacetChart
Picture = Chart | Drawing


def web_spec(chart: Chart, theme: Literal["light", "dark"] = "light", *, legend: bool = True) -> dict[str, Any]:
    """Return the Vega-Lite specification for a page: as wide as its container, in the theme, no hover tooltip.

    Data stand under ``datasets`` by name, the rows that a page may filter as ``points``. A chart of small panels has
    ``usermeta.panels`` and a fixed panel width; the page sets ``columns`` and ``spec.width`` from its own width, by
    the rule in docs/figures.md.
    ``legend=False`` leaves out legends where the page has its own.
    """
    if theme not in THEMES:
        raise MensuraError(f"theme {theme!r} is unknown; expected {' or '.join(map(repr, THEMES))}")
    spec = _spec(chart)
    spec["config"] = config(THEMES[theme])
    if not legend:
        spec["config"]["legend"]["disable"] = True
    if "facet" in spec:
        spec["autosize"] = {"type": "pad"}
    else:
        spec["width"] = "container"
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    _arrange_legends(spec, "(isFinite(containerSize()[0]) ? containerSize()[0] : 360)")
    return spec


def paper(chart: Chart, width_mm: float = 89.0) -> dict[str, Any]:
    """Return the specification of a figure for print: light, drawn so that 7-point type fits ``width_mm``.

    Usual widths are 89 mm (one column) and 183 mm (two columns).
    """
    spec = _spec(chart)
    pixels = pixels_of(width_mm)
    spec["config"] = {**config(PRINT, font=PRINT_FONT), "background": PRINT.surface}
    if "facet" in spec:
        spec["columns"], spec["spec"]["width"] = _panels(spec["usermeta"]["panels"], pixels)
    else:
        spec["width"] = round(pixels)
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    _arrange_legends(spec, f"{pixels:.0f}")
    return spec


def save(chart: Picture, path: str | Path, *, width_mm: float = 89.0, dpi: int = 300) -> Path:
    """Write a chart as SVG, PNG or PDF, told apart by the file's name, without a browser; return the path."""
    target = Path(path)
    check_figure(target, width_mm, dpi)
    write_drawing(drawn(chart, width_mm), target, dpi)
    return target


def drawn(chart: Picture, width_mm: float = 89.0) -> str:
    """Return a figure for print as SVG text, in pixels (:mod:`mensura.core.drawings` gives it its size)."""
    if isinstance(chart, Drawing):
        svg = resolve(chart.draw(pixels_of(width_mm))).replace(LIGHT.surface, PRINT.surface)
        head, end, parts = svg.partition(">")
        return f'{head}{end}<rect width="100%" height="100%" fill="{PRINT.surface}"/>{parts}'
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return draw_spec(paper(chart, width_mm), version)


def _spec(chart: Chart) -> dict[str, Any]:
    """Return the specification; the data go round Altair, which would copy every value of every row several times."""
    data = chart.datasets
    chart.datasets = alt.Undefined
    try:
        spec: dict[str, Any] = chart.to_dict(validate=False)
    finally:
        chart.datasets = data
    spec["datasets"] = {name: [dict(row) for row in rows] for name, rows in data.items()}
    return spec


def _panels(sizes: dict[str, int], width: float) -> tuple[int, int]:
    """Return how many panels stand in a row of this width, and the width of each."""
    room = width - sizes["frame"] + sizes["gap"]
    columns = max(1, int(room / (sizes["least"] + sizes["gap"])))
    return columns, int(room / columns) - sizes["gap"]


def _arrange_legends(spec: dict[str, Any], width: str) -> None:
    """Give every legend as many entries in a row as fit; ``width`` is an expression in pixels.

    The plot's own width will not do: it depends on the layout, which depends on the legend.
    """
    sizes = spec["usermeta"].get("legend")
    if sizes is None:
        return
    room, column = f"({width} - {sizes['inset']})", sizes["column"]
    few = f"max(1, floor({room} / {1.2 * column:g}))"  # a column is as wide as its widest entry
    for layer in spec.get("layer") or spec["spec"]["layer"]:
        for channel in layer["encoding"].values():
            if isinstance(channel, dict) and (legend := channel.get("legend")):
                entries = len(legend.get("values", ()))
                row = f"{room} >= {entries * column} ? {entries} : {few}" if entries else few
                legend["columns"] = {"expr": row}
