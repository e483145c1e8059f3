"""Pictures out of Python: on a page, in a notebook, as SVG, PNG or PDF files, and as a card for shared links."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from mensura.charts.theme import DARK, FONTS, PRINT, has_letters, resolve
from mensura.core.errors import MensuraError
from mensura.core.files import atomic_path

FORMATS = (".svg", ".png", ".pdf")
_POINTS_PER_PIXEL = 7 / 11
"""Lettering of 11 pixels is 7 points high in print."""
_POINTS_PER_MM = 72 / 25.4
_DPI = (36, 1200)
"""Beyond the upper bound a wide figure takes gigabytes; below the lower nobody can read it."""
_WIDTHS = (40, 420)
"""Millimetres: from half a column to a poster's page."""
_SIZE = re.compile(r'\b(width|height)="([\d.]+)"')
_TYPST = b"""#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")"""
Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Drawing:
    """A picture that can be drawn at any width, the words that describe it, and the rows behind its marks.

    Attributes
    ----------
    draw : callable
        Draws the picture at a width in pixels.
    description : str
        The picture in words.
    rows : tuple of dict
        The table behind its marks.
    screen, phone : float
        The two widths at which pages show it, pixels.

    """

    draw: Callable[[float], Markup]
    description: str = ""
    rows: tuple[dict[str, Any], ...] = ()
    screen: float = 1040.0
    phone: float = 358.0

    @cached_property
    def wide(self) -> Markup:
        """The drawing for a screen."""
        return self.draw(self.screen)

    @cached_property
    def narrow(self) -> Markup:
        """The drawing for a phone."""
        return self.draw(self.phone)

    @property
    def html(self) -> Markup:
        """Both widths; the style sheet shows the one that fits. A drawing as wide as a phone serves both."""
        if self.screen == self.phone:
            return self.narrow
        return Markup('<div class="only-wide">{}</div><div class="only-narrow">{}</div>').format(self.wide, self.narrow)

    def _repr_svg_(self) -> str:
        """Show the drawing in a notebook."""
        return resolve(self.wide)

    def svg(self, width_mm: float = 183.0, theme: Theme = "light") -> str:
        """Return the picture as SVG text, drawn so that its text is 7 points high in a figure of this width.

        Parameters
        ----------
        width_mm : float
            Width of the figure; columns are usually 89 or 183 mm.
        theme : {"light", "dark"}
            Light is for print, on white.

        Returns
        -------
        str
            The drawing, its size in pixels.

        """
        if theme not in ("light", "dark"):
            raise MensuraError(f"theme {theme!r} is unknown; expected 'light' or 'dark'")
        look = PRINT if theme == "light" else DARK
        head, end, parts = resolve(self.draw(pixels_of(width_mm)), look).partition(">")
        return f'{head}{end}<rect width="100%" height="100%" fill="{look.surface}"/>{parts}'

    def save(self, path: str | Path, *, width_mm: float = 89.0, dpi: int = 300, theme: Theme = "light") -> Path:
        """Write the picture as SVG, PNG or PDF, without a browser.

        Parameters
        ----------
        path : str or Path
            File to write; its ending chooses the format. PDF needs the extra ``pdf``.
        width_mm : float
            Width of the figure; columns are usually 89 or 183 mm.
        dpi : int
            Dots per inch of a PNG.
        theme : {"light", "dark"}
            Light is for print, on white.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        MensuraError
            If the format is unknown, or the width or the resolution is out of bounds.

        Examples
        --------
        >>> import mensura
        >>> mensura.figure("bases").save("bases.svg", width_mm=183)  # doctest: +SKIP

        """
        target = Path(path)
        check_figure(target, width_mm, dpi)
        write_drawing(self.svg(width_mm, theme), target, dpi)
        return target


def pixels_of(width_mm: float) -> float:
    """Convert a figure width from millimetres to pixels, so that text prints at its set size."""
    return width_mm * _POINTS_PER_MM / _POINTS_PER_PIXEL


def check_figure(path: Path, width_mm: float, dpi: int = 300) -> None:
    """Reject a figure that could not be written, before anything is computed for it."""
    least, most = _DPI
    if not least <= dpi <= most:
        raise MensuraError(f"dpi {dpi}: expected {least} to {most} dots per inch; print takes 300, a poster 600")
    if path.suffix.lower() not in FORMATS:
        raise MensuraError(f"{path}: unknown format {path.suffix!r}; expected a name ending in {', '.join(FORMATS)}")
    narrow, wide = _WIDTHS
    if not narrow <= width_mm <= wide:
        raise MensuraError(f"width {width_mm:g} mm: expected {narrow} to {wide} mm; columns are usually 89 or 183 mm")
    if path.suffix.lower() == ".pdf":
        _typst()


def write_drawing(svg: str, path: Path, dpi: int = 300) -> None:
    """Write a drawing, its size in pixels, as SVG, PNG or PDF by the file's name."""
    with atomic_path(path) as part:
        if path.suffix.lower() == ".svg":
            part.write_text(_resized(svg, _POINTS_PER_PIXEL / _POINTS_PER_MM, "mm"), encoding="utf-8")
        elif path.suffix.lower() == ".png":
            part.write_bytes(to_png(svg, _POINTS_PER_PIXEL * dpi / 72))
        else:
            inputs = {"svg": _resized(svg, _POINTS_PER_PIXEL, "pt")}
            part.write_bytes(_typst().compile(_TYPST, font_paths=[FONTS], sys_inputs=inputs))


def to_png(svg: str, zoom: float) -> bytes:
    """Return a drawing as PNG, in the font of the pages; letters that it lacks come from the system's fonts."""
    import resvg_py

    fonts = [str(file) for file in sorted(FONTS.glob("*.ttf"))]
    width, height = (round(float(size) * zoom) for _, size in _SIZE.findall(svg.partition(">")[0]))
    look: dict[str, Any] = {"font_files": fonts, "skip_system_fonts": has_letters(svg)}
    try:
        return resvg_py.svg_to_bytes(svg_string=svg, width=width, height=height, **look)
    except ValueError as error:
        raise MensuraError(
            f"the picture is not readable ({error}); expected names without control characters. Correct its names"
        ) from error


def _typst() -> Any:  # noqa: ANN401
    try:
        import typst
    except ImportError:
        raise MensuraError("a PDF needs the package typst; run: pip install 'mensura[pdf]', or write .svg") from None
    return typst


def _resized(svg: str, factor: float, unit: str) -> str:
    """Return the drawing with its outer size multiplied and in a unit; the inner coordinates stay pixels."""

    def size(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) * factor:.2f}{unit}"'

    head, tag, rest = svg.partition(">")
    return _SIZE.sub(size, head) + tag + rest
