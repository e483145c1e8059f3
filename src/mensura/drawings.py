"""A drawing for print as a file: its width, lettering and format. The drawing itself is SVG text in pixels."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mensura.errors import MensuraError
from mensura.files import atomic_path

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

Draw = Callable[[dict[str, Any], str], str]
"""Makes SVG text of a Vega-Lite specification and its version."""
_ENGINE = """
import json, sys, vl_convert
vl_convert.vegalite_to_svg({"mark": "text", "data": {"values": [{}]}})  # the first drawing takes most of a second
spec, version = json.load(sys.stdin)
try:
    drawn = vl_convert.vegalite_to_svg(spec, vl_version=version)
except (RuntimeError, ValueError) as fault:
    sys.exit(str(fault).splitlines()[0])
sys.stdout.buffer.write(drawn.encode())
"""


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
        raise MensuraError(
            f"width {width_mm:g} mm: a figure is {narrow} to {wide} mm wide; columns are usually 89 or 183 mm"
        )


def draw_here(spec: dict[str, Any], version: str) -> str:
    """Draw a Vega-Lite specification of a version (such as 6.4) as SVG text."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(spec, vl_version=version)
    return svg


def undrawn(said: str) -> MensuraError:
    """Return the error of a program that ended before its chart was drawn, with the last that it said."""
    last = (said.strip().splitlines() or ["no message"])[-1]
    return MensuraError(f"a chart could not be drawn without a browser: {last}")


@contextmanager
def drawing_engine() -> Iterator[Draw]:
    """Yield what draws as :func:`draw_here` does, once, in a process that gets ready while the chart is computed."""
    command = [sys.executable, "-c", _ENGINE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as engine:

        def draw(spec: dict[str, Any], version: str) -> str:
            drawn, said = engine.communicate(json.dumps([spec, version]).encode())
            if engine.returncode:
                raise undrawn(said.decode(errors="replace"))
            return drawn.decode()

        try:
            yield draw
        finally:
            engine.kill()


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
