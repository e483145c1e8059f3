"""A sheet to draw on: lines, marks and words as SVG, colours as variables that the page's theme fills in."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup, escape

from mensura.charts.theme import FAMILY, FONT, LABS, RADIUS, lab_colour, lab_of, paint, shape_of, text_width

_MIDDLE = 0.35
"""From the middle of a line of text down to its base line, in heights of its lettering."""
HALF = 0.4
"""Opacity of what was inherited from a predecessor: half full, between measured and estimated."""
LONG = 1000.0
"""Height of a drawing from which it is longer than a printed page, pixels."""

_GREY = 3.6
"""Radius of marks of other models, pixels."""

Point = tuple[float, float]
Place = Callable[[float], float]
"""From values to pixels."""
Ends = tuple[float | None, float | None]
"""Of an interval."""
Look = dict[str, Any]
"""How words look: the further arguments of :meth:`Canvas.words`."""


@dataclass
class Canvas:
    """A sheet to draw on: parts of one drawing, in order from back to front.

    Attributes
    ----------
    width, height : float
        Its size, pixels.
    description : str
        The drawing in words.
    parts : list of str
        What was drawn, as SVG.
    kind : str
        A further class of the drawing, for the style sheet.

    """

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

    def interval(self, at: Place, ends: Ends, y: float, stroke: str, width: float = 2.2, opacity: float = 0.7) -> None:
        """Add the round-ended line of an interval; one without both ends adds nothing."""
        low, high = ends
        if low is not None and high is not None:
            self.line(at(low), y, at(high), y, stroke, width, opacity=opacity, round_ends=True)

    def ticks(
        self,
        at: Place,
        ticks: Iterable[tuple[float, str]],
        level: float,
        top: float,
        bottom: float,
        **look: Any,  # noqa: ANN401
    ) -> None:
        """Write the values of an axis, their middle at a level, each with a thin line from top to bottom."""
        for value, text in ticks:
            self.line(at(value), top, at(value), bottom, paint.grid)
            self.words(at(value), level, text, fill=paint.soft, weight="600", anchor="middle", **look)

    def people_line(self, x: float, top: float, bottom: float) -> None:
        """Add the dotted warm line at which the average person stands."""
        self.line(x, top, x, bottom, paint.people_strong, 1.25, "2 3")

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
        fill: str = paint.ink,
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
            ("fill", fill, paint.ink),
            ("font-size", size, FONT),
            ("font-weight", weight, ""),
            ("class", name, ""),
            ("stroke", paint.surface if halo else "", ""),
        )
        own = "".join(f' {name}="{value}"' for name, value, usual in look if value != usual)
        if halo:
            own += ' stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
        more = f' <tspan dx="2" fill="{paint.soft}" font-weight="400">{escape(after)}</tspan>' if after else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y + _MIDDLE * size:.1f}"{own}>{escape(text)}{more}</text>')

    def lines(self, x: float, y: float, texts: Iterable[str], step: float, **look: Any) -> None:  # noqa: ANN401
        """Add lines of text below each other, so many pixels apart."""
        for place, text in enumerate(texts):
            self.words(x, y + step * place, text, **look)

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
        self, label: str, *, href: str = "", subject: str = "", provider: str | None = None, kind: str = ""
    ) -> Iterator[None]:
        """Make one mark of all that is drawn inside: it has words, may be a link, and its subject names its card."""
        tag, start = ("a", f'a href="{escape(href)}"') if href else ("g", 'g role="img"')
        for name, value in (("class", kind), ("data-subject", subject), ("data-provider", provider)):
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
        ink, shape = (lab_colour(provider), lab_of(provider)) if provider else (paint.accent, LABS[0])
        fill = paint.surface if status == "estimated" else ink
        look = f' fill-opacity="{HALF}"' if status == "inherited" else ""
        look += f' opacity="{opacity:g}"' if opacity < 1 else ""
        self.parts.append(
            f'<path class="sign" transform="translate({x:.1f},{y:.1f})" d="{shape_of(shape, radius)}" '
            f'fill="{fill}" stroke="{ink}" stroke-width="1.5"{look}/>'
        )

    def grey_signs(self, marks: Iterable[tuple[str | None, float, float]]) -> None:
        """Add the marks of other models (provider, x, y), which say nothing."""
        path = "".join(f"M{x:.1f},{y:.1f}{shape_of(lab_of(provider), _GREY)}" for provider, x, y in marks)
        look = f'fill="{paint.surface}" stroke="{paint.quiet}" stroke-opacity=".6"'
        self.parts.append(f'<path d="{path}" {look}/>')

    def bar(self, x: float, y: float, status: str) -> None:
        """Add the upright bar of a group of people."""
        fill = paint.people_strong if status == "measured" else paint.surface
        self.parts.append(
            f'<rect x="{x - 3:.1f}" y="{y - 7:.1f}" width="6" height="14" rx="1" fill="{fill}" '
            f'stroke="{paint.people_strong}" stroke-width="1.5"/>'
        )

    def svg(self) -> Markup:
        """Return the drawing; every text in it was escaped where it came in."""
        long = (" long" if self.height > LONG else "") + (f" {self.kind}" if self.kind else "")
        font = FAMILY.replace('"', "")
        return Markup(
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawn{long}" '
            f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" width="{self.width:.0f}" height="{self.height:.0f}" '
            f'role="group" aria-label="{escape(self.description)}" font-family="{font}" font-size="{FONT}" '
            f'fill="{paint.ink}">{"".join(self.parts)}</svg>'
        )


def scale(low: float, high: float, start: float, end: float, *, log: bool = False) -> Place:
    """Return the map from a span of values to pixels; what lies outside stands at the edge."""
    if log:
        inner = scale(math.log(low), math.log(high), start, end)
        return lambda value: inner(math.log(value) if value > 0 else -math.inf)
    length = (high - low) or 1.0
    return lambda value: start + (end - start) * min(max((value - low) / length, 0.0), 1.0)
