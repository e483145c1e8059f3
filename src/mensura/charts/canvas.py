"""A sheet to draw on: lines, marks and words as SVG, colours as variables that the page's theme fills in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache

from markupsafe import Markup, escape

from mensura.charts.labels import text_width
from mensura.charts.theme import DARK, FONT as WEB_FONT, LABS, LIGHT, OTHER, SHAPES, lab_of

FONT = 12
"""Height of the lettering, pixels."""
RADIUS = 5.0
"""Of a model's mark, pixels; the touch area around it is larger."""
TOUCH = 12.0
"""Radius of the area that answers to a finger: 24 pixels across."""
_MIDDLE = 0.35
"""From the middle of a line of text down to its base line, in heights of its lettering."""
HALF = 0.4
"""Opacity of what was inherited from a predecessor: half full, between measured and estimated."""
ROOT = "%ROOT%"
"""Stands in a link of a drawing for the way from its page to the folder of the report."""
LONG = 1000.0
"""Height of a drawing from which it is longer than a printed page, pixels."""
_MEASURED_AT = 11
"""Height of the lettering for which the widths of texts are known, pixels."""
_HEX = re.compile(r"#[0-9a-f]{6}\b", re.IGNORECASE)
_VARIABLE = re.compile(r"var\(--v-([0-9a-f]{6})\)")


@dataclass(frozen=True)
class Drawing:
    """A picture at two widths, for screens and for phones, with the words that describe it.

    ``draw`` draws it at any width in pixels, as a figure for print needs.
    """

    wide: Markup
    narrow: Markup
    draw: Callable[[float], Markup]

    @classmethod
    def of(cls, draw: Callable[[float], Markup], wide: float = 1040.0, narrow: float = 358.0) -> Drawing:
        """Draw at the width of a screen and at that of a phone."""
        return cls(draw(wide), draw(narrow), draw)

    def _repr_svg_(self) -> str:
        """Show the drawing in a notebook."""
        return resolve(self.wide)

    @property
    def html(self) -> Markup:
        """Both widths; the style sheet shows the one that fits."""
        return Markup('<div class="only-wide">{}</div><div class="only-narrow">{}</div>').format(self.wide, self.narrow)


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


def themed(svg: str) -> str:
    """Return a light drawing with its colours as variables; colours no theme names stay as they are."""
    known = {value.lower() for value in _pairs()}
    return _HEX.sub(lambda match: colour(match[0]) if match[0].lower() in known else match[0], svg)


def resolve(svg: str) -> str:
    """Return a drawing with the colours of the light theme, for a file of its own."""
    return _VARIABLE.sub(lambda match: f"#{match[1]}", svg).replace(ROOT, "")


def palette_css() -> str:
    """Return the variables of both themes as a style sheet."""
    pairs = _pairs()
    light = "".join(f"--v-{one.lstrip('#').lower()}:{one};" for one in pairs)
    dark = "".join(f"--v-{one.lstrip('#').lower()}:{other};" for one, other in pairs.items())
    rules = [f":root{{{light}}}", f':root[data-theme="dark"]{{{dark}}}']
    rules += [f"@media print{{:root,:root[data-theme=dark]{{{light}}}}}"]
    return "\n".join(rules) + "\n"


def _pairs() -> dict[str, str]:
    names = [one.name for one in fields(LIGHT) if one.name not in ("name", "labs", "diverging")]
    pairs = dict(zip(LIGHT.labs, DARK.labs, strict=True))
    pairs |= dict(zip(LIGHT.diverging, DARK.diverging, strict=True))
    return pairs | {getattr(LIGHT, name): getattr(DARK, name) for name in names}


def clipped(text: str, room: float) -> str:
    """Return a text that fits the room in pixels, cut with an ellipsis where it must be."""
    widest = room * _MEASURED_AT / FONT
    if text_width(text) <= widest:
        return text
    kept = min(len(text), int(widest))  # no letter is narrower than a pixel
    while kept > 1 and text_width(text[:kept] + "…") > widest:
        kept -= 1
    return text[:kept].rstrip() + "…"


def wrapped(text: str, room: float, size: int = FONT) -> list[str]:
    """Return a text as lines that fit the room in pixels, broken between words; a longer word is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(clipped(word, room))
    return lines


def round_ticks(low: float, high: float, most: int = 6, *, log: bool = False) -> list[float]:
    """Return round values inside a span, at most so many; with ``log`` 1, 2 and 5 times powers of ten."""
    if high <= low:
        return [low]
    if log:
        return _log_ticks(low, high, most)
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw - 1e-12)
    first = math.ceil(low / step - 1e-9)
    return [step * k for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
        if len(found) <= most:
            return found or [low, high]
    return found[:: math.ceil(len(found) / most)]


@dataclass
class Canvas:
    """Parts of one drawing, in order from back to front."""

    width: float
    height: float
    description: str
    parts: list[str] = field(default_factory=list)
    kind: str = ""
    """A further class of the drawing, for the style sheet."""

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1.0, dash: str = "") -> None:
        """Add a straight line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
            f'stroke-width="{width}"{dashes}/>'
        )

    def band(self, x: float, y: float, width: float, height: float, fill: str, opacity: float) -> None:
        """Add a rectangle."""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" height="{height:.1f}" fill="{fill}" '
            f'fill-opacity="{opacity}"/>'
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
    ) -> None:
        """Add a line of text, its middle at y; a halo keeps it readable over lines and marks; a script may name it."""
        said = (
            ("text-anchor", anchor, "start"),
            ("fill", fill, INK),
            ("font-size", size, FONT),
            ("font-weight", weight, ""),
            ("class", name, ""),
        )
        own = "".join(f' {name}="{value}"' for name, value, usual in said if value != usual)
        place, letters = f'x="{x:.1f}" y="{y + _MIDDLE * size:.1f}"', escape(text)
        if halo:  # a text of its own below: not every renderer paints the outline of letters first
            edge = f'stroke="{SURFACE}" stroke-width="4" stroke-linejoin="round" aria-hidden="true"'
            self.parts.append(f"<text {place}{own} {edge}>{letters}</text>")
        self.parts.append(f"<text {place}{own}>{letters}</text>")

    def dot(self, x: float, y: float, fill: str, radius: float = 3.0) -> None:
        """Add a small full circle."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}"/>')

    def path(self, points: Sequence[tuple[float, float]], stroke: str, width: float = 1.75) -> None:
        """Add a line through points."""
        if points:
            steps = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
            self.parts.append(f'<path d="M{steps}" fill="none" stroke="{stroke}" stroke-width="{width}"/>')

    def model(
        self, x: float, y: float, *, provider: str | None, status: str, label: str, href: str = "", subject: str = ""
    ) -> None:
        """Add a model's mark: colour and shape say who made it; full is measured, half inherited, hollow estimated."""
        ink = lab_colour(provider)
        fill, opacity = (SURFACE, 1.0) if status == "estimated" else (ink, HALF if status == "inherited" else 1.0)
        body = (
            f'<circle r="{TOUCH}" fill="transparent"/><path d="{shape_of(lab_of(provider))}" fill="{fill}" '
            f'fill-opacity="{opacity}" stroke="{ink}" stroke-width="1.5"/>'
        )
        self._marked(x, y, body, label, href, subject)

    def estimate(self, x: float, y: float, *, label: str) -> None:
        """Add the mark of an estimate that is no model's."""
        self._marked(x, y, f'<circle r="{RADIUS}" fill="{ACCENT}"/>', label, "", "")

    def people(self, x: float, y: float, *, status: str, label: str, href: str = "", subject: str = "") -> None:
        """Add a group's mark: an upright bar, full when measured, hollow when judged; its subject names its card."""
        fill = PEOPLE_STRONG if status == "measured" else SURFACE
        body = (
            f'<circle r="{TOUCH}" fill="transparent"/>'
            f'<rect x="-3" y="-7" width="6" height="14" rx="1" fill="{fill}" stroke="{PEOPLE_STRONG}" '
            'stroke-width="1.5"/>'
        )
        self._marked(x, y, body, label, href, subject)

    def _marked(self, x: float, y: float, body: str, label: str, href: str, subject: str) -> None:
        place, said = f'transform="translate({x:.1f},{y:.1f})"', escape(label)
        if not href:
            self.parts.append(f'<g {place} role="img" aria-label="{said}">{body}</g>')
            return
        known = f' data-subject="{escape(subject)}"' if subject else ""
        self.parts.append(f'<a href="{escape(href)}" {place}{known} aria-label="{said}" class="mark-link">{body}</a>')

    def svg(self) -> Markup:
        """Return the drawing; every text in it was escaped where it came in."""
        long = (" long" if self.height > LONG else "") + (f" {self.kind}" if self.kind else "")
        font = WEB_FONT.replace('"', "")
        return Markup(
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawn{long}" '
            f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" width="{self.width:.0f}" height="{self.height:.0f}" '
            f'role="group" aria-label="{escape(self.description)}" font-family="{font}" font-size="{FONT}" '
            f'fill="{INK}">{"".join(self.parts)}</svg>'
        )


def scale(low: float, high: float, start: float, end: float, *, log: bool = False) -> Callable[[float], float]:
    """Return the map from a span of values to pixels; what lies outside stands at the edge."""
    if log:
        inner = scale(math.log(low), math.log(high), start, end)
        return lambda value: inner(math.log(value) if value > 0 else -math.inf)
    length = (high - low) or 1.0

    def place(value: float) -> float:
        return start + (end - start) * min(max((value - low) / length, 0.0), 1.0)

    return place


@cache
def shape_of(lab: str, radius: float = RADIUS) -> str:
    """Return the path of a maker's shape around 0, 0."""
    kind = SHAPES[[*LABS, OTHER].index(lab)]
    r = radius
    simple = {
        "circle": f"M{r},0A{r},{r} 0 1 1 {-r},0A{r},{r} 0 1 1 {r},0Z",
        "square": f"M{-r},{-r}H{r}V{r}H{-r}Z",
        "diamond": f"M0,{-1.3 * r:.1f}L{1.1 * r:.1f},0L0,{1.3 * r:.1f}L{-1.1 * r:.1f},0Z",
        "cross": f"M{-r},-2H-2V{-r}H2V-2H{r}V2H2V{r}H-2V2H{-r}Z",
        "triangle-down": f"M{-r},{-r}H{r}L0,{r}Z",
        "triangle-up": f"M{-r},{r}H{r}L0,{-r}Z",
        "triangle-right": f"M{-r},{-r}L{r},0L{-r},{r}Z",
        "triangle-left": f"M{r},{-r}L{-r},0L{r},{r}Z",
    }
    if kind in simple:
        return simple[kind]
    return re.sub(r"-?\d*\.?\d+", lambda number: f"{float(number[0]) * r:.1f}", kind)
