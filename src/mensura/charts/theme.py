"""How every picture looks: colours and shapes, the width of letters, and where names go so that nothing overlaps."""

import json
import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FONTS = Path(__file__).parent / "data"
"""The sans font of the pages by weight, and the widths of its letters; ``python -m tools.subset_fonts`` makes them."""
_LOOK: dict[str, Any] = tomllib.loads((FONTS / "themes.toml").read_text(encoding="utf-8"))
LABS: tuple[str, ...] = tuple(maker["name"] for maker in _LOOK["makers"][:-1])
"""Providers with a colour and shape of their own; every other one is drawn as "other"."""
OTHER = "other"
SHAPES = tuple(maker["shape"] for maker in _LOOK["makers"])
"""Of the providers and of the others: paths for a radius of 1."""
FAMILY = '"Mensura Sans", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
FONT = 12
"""Height of the lettering, pixels."""
LINE = 14.0
"""Height of one line of a name, pixels."""
_LIFTS = 5
"""Lines that a name may rise above its mark, where it has the sky above it."""
_RADIUS = 6.0
"""Room around the middle of a mark, pixels."""
_WIDEST = 1000
"""Width of a letter that the font lacks, such as a Chinese one, in thousandths of the height."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, pixels."""


@dataclass(frozen=True)
class Theme:
    """The colours of one theme: surfaces, ink from strong to faint, people, and one colour per provider and for others.

    Warm means people, always and only: ``people`` for their words, ``people_strong`` for marks, ``people_dot`` for the
    thousand dots of the bell. Six providers have a hue, one has the ink, the others share a grey and keep their shape.
    """

    name: str
    surface: str
    ink: str
    soft: str
    quiet: str
    line: str
    grid: str
    people: str
    people_strong: str
    people_dot: str
    accent: str
    labs: tuple[str, ...]


LIGHT, DARK = (
    Theme(name, labs=tuple(maker[name] for maker in _LOOK["makers"]), **_LOOK[name]) for name in ("light", "dark")
)
PRINT = replace(LIGHT, name="print", surface="#ffffff")
"""The light theme on white paper."""
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}
RADIUS = 5.0
"""Of a model's mark, pixels; a press takes the nearest mark within 24 pixels."""
ROOT = "%ROOT%"
"""Stands in a link of a drawing for the way from its page to the folder of the report."""
_VARIABLE = re.compile(r"var\(--v-([0-9a-f]{6})\)")
_COLOURS = [one.name for one in fields(LIGHT) if one.name not in ("name", "labs")]


def _variable(hexadecimal: str) -> str:
    """Return a light theme's colour as the variable that both themes define."""
    return f"var(--v-{hexadecimal.lstrip('#')})"


paint = replace(
    LIGHT, labs=tuple(map(_variable, LIGHT.labs)), **{name: _variable(getattr(LIGHT, name)) for name in _COLOURS}
)
"""The colours that drawings are made in: variables, which the theme of the page fills in."""


def lab_of(provider: str | None) -> str:
    """Return the provider itself when it has a colour of its own, else "other"."""
    return provider if provider in LABS else OTHER


@cache
def lab_colour(provider: str | None) -> str:
    """Return a provider's colour, the same everywhere."""
    return paint.labs[[*LABS, OTHER].index(lab_of(provider))]


@cache
def shape_of(lab: str, radius: float = RADIUS) -> str:
    """Return the path of a maker's shape in relative steps: around 0, 0, or around where a longer path has come."""
    kind, r = SHAPES[[*LABS, OTHER].index(lab)], radius
    if kind == "circle":
        return f"m{r:g},0a{r:g},{r:g} 0 1 1 {-2 * r:g},0a{r:g},{r:g} 0 1 1 {2 * r:g},0z"
    return re.sub(r"-?\d*\.?\d+", lambda number: f"{round(float(number[0]) * r, 2):g}", kind)


def resolve(svg: str, theme: Theme = LIGHT) -> str:
    """Return a drawing with the colours of a theme, for a file of its own.

    Parameters
    ----------
    svg : str
        A drawing, its colours as variables.
    theme : Theme
        One of :data:`THEMES`, light when not given.

    Returns
    -------
    str
        The drawing as SVG text.

    Examples
    --------
    >>> from mensura import charts
    >>> sheet = charts.Canvas(10, 10, "a dot")
    >>> "var(" in charts.resolve(sheet.svg(), charts.THEMES["dark"])
    False

    """
    colours = _pairs(theme)
    return _VARIABLE.sub(lambda match: colours[f"#{match[1]}"], svg).replace(ROOT, "")


def palette_css() -> str:
    """Return the variables of both themes as a style sheet: the page says which one is in force."""
    light, dark = (
        "".join(f"--v-{one.lstrip('#')}:{other};" for one, other in _pairs(theme).items()) for theme in (LIGHT, DARK)
    )
    rules = [f":root{{{light}}}", f':root[data-theme="dark"]{{{dark}}}']
    rules += [f"@media print{{:root,:root[data-theme=dark]{{{light}}}}}"]
    return "\n".join(rules) + "\n"


def _pairs(theme: Theme) -> dict[str, str]:
    """Return the colours of the light theme, and what each of them is in another one."""
    return dict(zip(LIGHT.labs, theme.labs, strict=True)) | {
        getattr(LIGHT, name): getattr(theme, name) for name in _COLOURS
    }


@cache
def _widths() -> dict[str, dict[str, int]]:
    widths: dict[str, dict[str, int]] = json.loads((FONTS / "letters.json").read_text(encoding="utf-8"))
    return widths


def text_width(text: str, size: float = FONT, weight: str = "400") -> float:
    """Return the width of a text in pixels, in the font that pages and pictures use."""
    widths = _widths()[weight or "400"]
    return sum(widths.get(letter, _WIDEST) for letter in text) * size / 1000


def has_letters(text: str) -> bool:
    """Tell whether the font has every letter of a text; lines count as letters."""
    return set(text) - {"\n"} <= _widths()["400"].keys()


def clipped(text: str, room: float, size: float = FONT, weight: str = "400") -> str:
    """Return a text that fits the room in pixels, cut with an ellipsis where it must be."""
    if text_width(text, size, weight) <= room:
        return text
    kept = min(len(text), max(int(room), 1))  # no letter is narrower than a pixel
    while kept > 1 and text_width(text[:kept] + "…", size, weight) > room:
        kept -= 1
    return text[:kept].rstrip() + "…"


def wrapped(text: str, room: float, size: float = FONT, weight: str = "400", most: int = 99) -> list[str]:
    """Return a text as lines that fit the room in pixels, broken between words; a longer word is cut.

    The last of ``most`` lines takes what is left, cut where it must be.
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and (text_width(longer, size, weight) <= room or len(lines) == most):
            lines[-1] = longer
        else:
            lines.append(word)
    return [clipped(line, room, size, weight) for line in lines]


class Spot(NamedTuple):
    """Where a name stands: the middle of its first line, which end of it that is, and the room it takes."""

    x: float
    y: float
    anchor: str
    box: Box


def place(
    x: Sequence[float],
    y: Sequence[float],
    sizes: Sequence[tuple[float, float]],
    wanted: Sequence[int],
    frame: Box,
    *,
    blocked: Sequence[Box] = (),
    best: Collection[int] = (),
    side: str = "end",
) -> dict[int, Spot]:
    """Place names beside the ``wanted`` marks, the most important first; one that finds no room is left out.

    ``x`` and ``y`` are the middles of all marks, ``sizes`` the width and height of their names, in pixels. No name
    covers a mark, another name, a ``blocked`` rectangle or the edge of the ``frame``. Names stand right of their marks
    if they can; those of the ``best`` above and left of them (``side="start"``: right of them).
    """
    marks = [(a - _RADIUS, b - _RADIUS, a + _RADIUS, b + _RADIUS) for a, b in zip(x, y, strict=True)]
    taken = np.array([*marks, *blocked], dtype=float).reshape(-1, 4)
    spots: dict[int, Spot] = {}
    for index in wanted:
        options = _options(x[index], y[index], *sizes[index], side if index in best else "")
        boxes = np.array([option.box for option in options])
        inside = (boxes[:, :2] >= frame[:2]).all(axis=1) & (boxes[:, 2:] <= frame[2:]).all(axis=1)
        across = (boxes[:, None, 0] < taken[:, 2]) & (boxes[:, None, 2] > taken[:, 0])
        upright = (boxes[:, None, 1] < taken[:, 3]) & (boxes[:, None, 3] > taken[:, 1])
        free = np.flatnonzero(inside & ~(across & upright).any(axis=1))
        if free.size:
            spots[index] = options[free[0]]
            taken = np.vstack([taken, boxes[free[0]]])
    return spots


def pack(spans: Sequence[tuple[float, float]], gap: float = 6.0) -> list[int]:
    """Return a row for each span of pixels, in their order: the first row in which it touches no other one."""
    rows: list[list[tuple[float, float]]] = []
    places = []
    for start, end in spans:
        free = (
            at for at, row in enumerate(rows) if all(end + gap <= other[0] or start - gap >= other[1] for other in row)
        )
        place_at = next(free, len(rows))
        rows += [[]] * (place_at == len(rows))
        rows[place_at] = [*rows[place_at], (start, end)]
        places.append(place_at)
    return places


def _options(x: float, y: float, width: float, height: float, upper: str) -> list[Spot]:
    """Return the places around a mark, the best first; ``upper``: the side above the mark that is tried first."""
    side, over, half = _RADIUS + 3, _RADIUS + height / 2, width / 2
    near = [(side, 0.0, "start"), (-side, 0.0, "end")]
    corners = [(side - 4, -over, "start"), (side - 4, over, "start"), (4 - side, -over, "end"), (4 - side, over, "end")]
    above = [(0.0, -over, "middle"), (0.0, over, "middle")]
    order = [*near, *corners, *above]
    if upper:
        lifted = [(0.0, -over - LINE * step, upper) for step in range(1, _LIFTS)]
        order = sorted([*order, *lifted], key=lambda option: (option[2] != upper, option[1] >= 0))
    spots = []
    for dx, dy, anchor in order:
        start = x + dx - {"start": 0.0, "middle": half, "end": width}[anchor]
        top = y + dy - height / 2
        spots.append(Spot(x + dx, top + LINE / 2, anchor, (start, top, start + width, top + height)))
    return spots
