"""Charts out of Python: specifications for pages, figures for papers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import altair as alt

from mensura.charts.theme import FONT_SIZE, LIGHT, PRINT_FONT, THEMES, config
from mensura.errors import MensuraError
from mensura.files import atomic_path

Picture = alt.LayerChart | alt.FacetChart
FORMATS = (".svg", ".png", ".pdf")
POINT_SIZE = 7.0  # of the lettering in a printed figure
_POINTS_PER_MM = 72 / 25.4
_SCALE = POINT_SIZE / FONT_SIZE  # points per pixel of the drawing
_DPI = (36, 1200)
"""Beyond the upper bound a wide figure takes gigabytes; below the lower nobody can read it."""


def web_spec(chart: Picture, theme: Literal["light", "dark"] = "light", *, legend: bool = True) -> dict[str, Any]:
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


def paper(chart: Picture, width_mm: float = 89.0) -> dict[str, Any]:
    """Return the specification of a figure for print: light, drawn so that 7-point type fits ``width_mm``.

    Usual widths are 89 mm (one column) and 183 mm (two columns).
    """
    spec = _spec(chart)
    pixels = width_mm * _POINTS_PER_MM / _SCALE
    spec["config"] = {**config(LIGHT, font=PRINT_FONT), "background": LIGHT.surface}
    if "facet" in spec:
        spec["columns"], spec["spec"]["width"] = _panels(spec["usermeta"]["panels"], pixels)
    else:
        spec["width"] = round(pixels)
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    _arrange_legends(spec, f"{pixels:.0f}")
    return spec


def check_figure(path: Path, width_mm: float, dpi: int = 300) -> None:
    """Refuse a figure that could not be written, before anything is computed for it."""
    least, most = _DPI
    if not least <= dpi <= most:
        raise MensuraError(f"dpi {dpi}: expected {least} to {most} dots per inch; print takes 300, a poster 600")
    if path.suffix.lower() not in FORMATS:
        raise MensuraError(f"{path}: unknown format {path.suffix!r}; expected a name ending in {', '.join(FORMATS)}")
    if not 40 <= width_mm <= 420:
        raise MensuraError(f"width {width_mm:g} mm: a figure is 40 to 420 mm wide; columns are usually 89 or 183 mm")


def save(chart: Picture, path: str | Path, *, width_mm: float = 89.0, dpi: int = 300) -> Path:
    """Write a chart as SVG, PNG or PDF, told apart by the file's name, without a browser; return the path."""
    import vl_convert

    target = Path(path)
    check_figure(target, width_mm, dpi)
    spec = paper(chart, width_mm)
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    svg = vl_convert.vegalite_to_svg(spec, vl_version=version)
    with atomic_path(target) as part:
        if target.suffix.lower() == ".png":
            part.write_bytes(vl_convert.svg_to_png(svg, scale=_SCALE * dpi / 72, ppi=72))
        elif target.suffix.lower() == ".pdf":
            part.write_bytes(vl_convert.svg_to_pdf(_resized(svg, _SCALE, "")))
        else:
            part.write_text(_resized(svg, _SCALE / _POINTS_PER_MM, "mm"), encoding="utf-8")
    return target


def _spec(chart: Picture) -> dict[str, Any]:
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


def _resized(svg: str, factor: float, unit: str) -> str:
    """Return the drawing with its outer size multiplied and in a unit; the inner coordinates stay pixels."""

    def size(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) * factor:.2f}{unit}"'

    head, tag, rest = svg.partition(">")
    return re.sub(r'\b(width|height)="([\d.]+)"', size, head) + tag + rest
