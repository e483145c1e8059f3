"""Drawing without a browser: specifications become SVG text in pixels, and SVG text becomes a file for print."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.core.files import atomic_path

FORMATS = (".svg", ".png", ".pdf")
POINT_SIZE = 7.0
"""Of the lettering in a printed figure."""
PIXEL_SIZE = 11
"""Of the lettering in a drawing."""
POINTS_PER_PIXEL = POINT_SIZE / PIXEL_SIZE
_POINTS_PER_MM = 72 / 25.4
_DPI = (36, 1200)
"""Beyond the upper bound a wide figure takes gigabytes; below the lower nobody can read it."""
_WIDTHS = (40, 420)
"""Millimetres: from half a column to a poster's page."""


def pixels_of(width_mm: float) -> float:
    """Return how many pixels wide a drawing is whose lettering has its size in a figure of this width."""
    return width_mm * _POINTS_PER_MM / POINTS_PER_PIXEL


def check_figure(path: Path, width_mm: float, dpi: int = 300) -> None:
    """Refuse a figure that could not be written, before anything is computed for it."""
    least, most = _DPI
    if not least <= dpi <= most:
        raise MensuraError(f"dpi {dpi}: expected {least} to {most} dots per inch; print takes 300, a poster 600")
    if path.suffix.lower() not in FORMATS:
        raise MensuraError(f"{path}: unknown format {path.suffix!r}; expected a name ending in {', '.join(FORMATS)}")
    narrow, wide = _WIDTHS
    if not narrow <= width_mm <= wide:
        raise MensuraError(f"width {width_mm:g} mm: expected {narrow} to {wide} mm; columns are usually 89 or 183 mm")


def draw_spec(spec: dict[str, Any], version: str | None = None) -> str:
    """Draw a Vega-Lite specification of a version (such as 6.4; the newest by default) as SVG text."""
    import vl_convert

    try:
        svg: str = vl_convert.vegalite_to_svg(spec, vl_version=version)
    except (RuntimeError, ValueError) as error:
        last = (str(error).strip().splitlines() or ["no message"])[0]
        raise MensuraError(f"a chart could not be drawn without a browser: {last}; please report this error") from error
    return svg


def draw_jobs(jobs: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """Draw one job after the other: a specification as SVG, or an SVG as PNG.

    A job has a ``kind``: ``svg`` with ``spec``, or ``png`` with ``svg`` and ``scale``.
    """
    import vl_convert

    made = []
    for job in jobs:
        if job["kind"] == "svg":
            made.append(draw_spec(job["spec"]).encode())
        else:
            made.append(vl_convert.svg_to_png(job["svg"], scale=job["scale"], ppi=72))
    return made


def write_drawing(svg: str, path: Path, dpi: int = 300) -> None:
    """Write a drawing as SVG, PNG or PDF, told apart by the file's name."""
    with atomic_path(path) as part:
        if path.suffix.lower() == ".svg":
            part.write_text(_resized(svg, POINTS_PER_PIXEL / _POINTS_PER_MM, "mm"), encoding="utf-8")
            return
        import vl_convert

        if path.suffix.lower() == ".png":
            part.write_bytes(vl_convert.svg_to_png(svg, scale=POINTS_PER_PIXEL * dpi / 72, ppi=72))
        else:
            part.write_bytes(vl_convert.svg_to_pdf(_resized(svg, POINTS_PER_PIXEL, "")))


def _resized(svg: str, factor: float, unit: str) -> str:
    """Return the drawing with its outer size multiplied and in a unit; the inner coordinates stay pixels."""

    def size(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) * factor:.2f}{unit}"'

    head, tag, rest = svg.partition(">")
    return re.sub(r'\b(width|height)="([\d.]+)"', size, head) + tag + rest
