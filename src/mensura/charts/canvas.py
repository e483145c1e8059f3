"""A sheet to draw on: lines, marks and words as SVG, colours as variables that the page's theme fills in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache

from markupsafe import Markup, escape

from mensura.charts.labels import FONT, text_width
from mensura.charts.theme import DARK, FONT as FAMILY, LABS, LIGHT, OTHER, SHAPES, Theme, lab_of

RADIUS = 5.0
"""Of a model's mark, pixels; a press takes the nearest mark within 24 pixels."""
_MIDDLE = 0.35
"""From the middle of a line of text down to its base line, in heights of its lettering."""
HALF = 0.4
"""Opacity of what was inherited from a predecessor: half full, between measured and estimated."""
ROOT = "%ROOT%"
"""Stands in a link of a drawing for the way from its page to the folder of the report."""
LONG = 1000.0
"""Height of a drawing from which it is longer than a printed page, pixels."""
_VARIABLE = re.compile(r"var\(--v-([0-9a-f]{6})\)")

Point = tuple[float, float]
Place = Callable[[float], float]
"""From values to pixels."""


def colour(hexadecimal: str) -> str:
    """Return a light theme's colour as the variable that both themes define."""
    return f"var(--v-{hexadecimal.lstrip('#').lower()})"


INK, SOFT, QUIET, LINE, GRID, ACCENT, SURFACE = (
    colour(part) for part in (LIGHT.ink, LIGHT.soft, LIGHT.quiet, LIGHT.line, LIGHT.grid, LIGHT.accent, LIGHT.surface)
)
PEOPLE, PEOPLE_STRONG, PEOPLE_DOT = (colour(part) for part in (LIGHT.people, LIGHT.people_strong, LIGHT.people_dot))


@cache
def lab_colour(provider: str | None) -> str:
    """Return a provider's colour, the same everywhere."""
    return colour(LIGHT.labs[[*LABS, OTHER].index(lab_of(provider))])


def resolve(svg: str, theme: Theme = LIGHT) -> str:
    """Return a drawing with the colours of a theme, for a file of its own."""
    colours = _pairs(theme)
    return _VARIABLE.sub(lambda match: colours[f"#{match[1]}"], svg).replace(ROOT, "")


def palette_css(*, follow_system: bool = False) -> str:
    """Return the variables of both themes as a style sheet: the page says which one is in force, or the system."""
    light, dark = (
        "".join(f"--v-{one.lstrip('#')}:{other};" for one, other in _pairs(theme).items()) for theme in (LIGHT, DARK)
    )
    if follow_system:
        return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    rules = [f":root{{{light}}}", f':root[data-theme="dark"]{{{dark}}}']
    rules += [f"@media print{{:root,:root[data-theme=dark]{{{light}}}}}"]
    return "\n".join(rules) + "\n"


def _pairs(theme: Theme) -> dict[str, str]:
    """Return the colours of the light theme, and what each of them is in another one."""
    names = [one.name for one in fields(LIGHT) if one.name not in ("name", "labs")]
    return dict(zip(LIGHT.labs, theme.labs, strict=True)) | {
        getattr(LIGHT, name): getattr(theme, name) for name in names
    }


@dataclass
class Canvas:
    """Parts of one drawing, in order from back to front."""

    width: float
    height: float
    description: str
    parts: list[str] = field(default_factory=list)
    kind: str = ""
    """A further class of the drawing, for the style sheet."""

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        stroke: str,
        width: float = 1.0,
        dash: str = "",
        *,
        opacity: float = 1.0,
        round_ends: bool = False,
    ) -> None:
        """Add a straight line."""
        look = (f' stroke-dasharray="{dash}"' if dash else "") + (' stroke-linecap="round"' if round_ends else "")
        look += f' stroke-opacity="{opacity:g}"' if opacity < 1 else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
            f'stroke-width="{width:g}"{look}/>'
        )

    def band(self, x: float, y: float, width: float, height: float, fill: str, opacity: float) -> None:
        """Add a rectangle."""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" height="{height:.1f}" fill="{fill}" '
            f'fill-opacity="{opacity:g}"/>'
        )

    def words(
        self,
        x: float,
        y: float,
        text: str,
        *,
        fill: str = INK,
        anchor: str = "start",
        weight: str = "",
        size: int = FONT,
        halo: bool = False,
        name: str = "",
        after: str = "",
    ) -> None:
        """Add a line of text, its middle at y; a halo keeps it readable over lines and marks; a script may name it.

        ``after`` follows it in plain soft letters, such as the value after a name. A text around x stays on the sheet.
        """
        if anchor == "middle" and self.width:
            half = text_width(text, size, weight) / 2
            x = min(max(x, half), self.width - half)
        look = (
            ("text-anchor", anchor, "start"),
            ("fill", fill, INK),
            ("font-size", size, FONT),
            ("font-weight", weight, ""),
            ("class", name, ""),
            ("stroke", SURFACE if halo else "", ""),
        )
        own = "".join(f' {name}="{value}"' for name, value, usual in look if value != usual)
        if halo:
            own += ' stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
        more = f' <tspan dx="2" fill="{SOFT}" font-weight="400">{escape(after)}</tspan>' if after else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y + _MIDDLE * size:.1f}"{own}>{escape(text)}{more}</text>')

    def dot(self, x: float, y: float, fill: str, radius: float = 3.0, opacity: float = 1.0) -> None:
        """Add a small full circle."""
        look = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}"{look}/>')

    def path(
        self, points: Sequence[Point], stroke: str, width: float = 1.75, dash: str = "", *, opacity: float = 1.0
    ) -> None:
        """Add a line through points."""
        if points:
            steps = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
            look = (f' stroke-dasharray="{dash}"' if dash else "") + (f' opacity="{opacity:g}"' if opacity < 1 else "")
            self.parts.append(f'<path d="M{steps}" fill="none" stroke="{stroke}" stroke-width="{width:g}"{look}/>')

    def area(self, points: Sequence[Point], fill: str, opacity: float) -> None:
        """Fill the inside of a line through points."""
        steps = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<path d="M{steps}Z" fill="{fill}" fill-opacity="{opacity:g}"/>')

    @contextmanager
    def marked(
        self, label: str, *, href: str = "", subject: str = "", provider: str | None = None, kind: str = "mark-link"
    ) -> Iterator[None]:
        """Make one mark of all that is drawn inside: it has words, may be a link, and its subject names its card."""
        tag, start = ("a", f'a class="{kind}" href="{escape(href)}"') if href else ("g", 'g role="img"')
        for name, value in (("data-subject", subject), ("data-provider", provider)):
            start += f' {name}="{escape(value)}"' if value and href else ""
        self.parts.append(f'<{start} aria-label="{escape(label)}">')
        yield
        self.parts.append(f"</{tag}>")

    def sign(
        self,
        x: float,
        y: float,
        provider: str | None,
        status: str = "measured",
        radius: float = RADIUS,
        opacity: float = 1.0,
    ) -> None:
        """Add a maker's shape in its colour; full is measured, half full inherited, hollow estimated.

        What nobody made is a circle.
        """
        ink, shape = (lab_colour(provider), lab_of(provider)) if provider else (ACCENT, LABS[0])
        fill = SURFACE if status == "estimated" else ink
        look = f' fill-opacity="{HALF}"' if status == "inherited" else ""
        look += f' opacity="{opacity:g}"' if opacity < 1 else ""
        self.parts.append(
            f'<path class="sign" transform="translate({x:.1f},{y:.1f})" d="{shape_of(shape, radius)}" '
            f'fill="{fill}" stroke="{ink}" stroke-width="1.5"{look}/>'
        )

    def bar(self, x: float, y: float, status: str) -> None:
        """Add the upright bar of a group of people."""
        fill = PEOPLE_STRONG if status == "measured" else SURFACE
        self.parts.append(
            f'<rect x="{x - 3:.1f}" y="{y - 7:.1f}" width="6" height="14" rx="1" fill="{fill}" '
            f'stroke="{PEOPLE_STRONG}" stroke-width="1.5"/>'
        )

    def svg(self) -> Markup:
        """Return the drawing; every text in it was escaped where it came in."""
        long = (" long" if self.height > LONG else "") + (f" {self.kind}" if self.kind else "")
        font = FAMILY.replace('"', "")
        return Markup(
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawn{long}" '
            f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" width="{self.width:.0f}" height="{self.height:.0f}" '
            f'role="group" aria-label="{escape(self.description)}" font-family="{font}" font-size="{FONT}" '
            f'fill="{INK}">{"".join(self.parts)}</svg>'
        )


def scale(low: float, high: float, start: float, end: float, *, log: bool = False) -> Place:
    """Return the map from a span of values to pixels; what lies outside stands at the edge."""
    if log:
        inner = scale(math.log(low), math.log(high), start, end)
        return lambda value: inner(math.log(value) if value > 0 else -math.inf)
    length = (high - low) or 1.0

    def to_pixels(value: float) -> float:
        return start + (end - start) * min(max((value - low) / length, 0.0), 1.0)

    return to_pixels


@cache
def shape_of(lab: str, radius: float = RADIUS) -> str:
    """Return the path of a maker's shape around 0, 0."""
    kind, r = SHAPES[[*LABS, OTHER].index(lab)], radius
    if kind == "circle":
        return f"M{r:g},0A{r:g},{r:g} 0 1 1 {-r:g},0A{r:g},{r:g} 0 1 1 {r:g},0Z"
    return re.sub(r"-?\d*\.?\d+", lambda number: f"{float(number[0]) * r:.1f}", kind)
