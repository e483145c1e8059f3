"""Words in a picture: how wide they are, where they break, and where names go so that nothing overlaps."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

FONT = 12
"""Height of the lettering, pixels."""
FONTS = Path(__file__).parent / "data"
"""The sans font of the pages by weight, and the widths of its letters; ``python -m tools.subset_fonts`` makes them."""
LINE = 14.0
"""Height of one line of a name, pixels."""
_LIFTS = 5
"""Lines that a name may rise above its mark, where it has the sky above it."""
_WIDEST = 1000
"""Width of a letter that the font lacks, such as a Chinese one, in thousandths of the height."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, pixels."""


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
    radius: float = 6.0,
    blocked: Sequence[Box] = (),
    best: Collection[int] = (),
    side: str = "end",
) -> dict[int, Spot]:
    """Place names beside the ``wanted`` marks, the most important first; one that finds no room is left out.

    ``x`` and ``y`` are the middles of all marks, ``sizes`` the width and height of their names, in pixels. No name
    covers a mark, another name, a ``blocked`` rectangle or the edge of the ``frame``. Names stand right of their marks
    if they can; those of the ``best`` above and left of them (``side="start"``: right of them).
    """
    marks = [(a - radius, b - radius, a + radius, b + radius) for a, b in zip(x, y, strict=True)]
    taken = np.array([*marks, *blocked], dtype=float).reshape(-1, 4)
    spots: dict[int, Spot] = {}
    for index in wanted:
        options = _options(x[index], y[index], *sizes[index], radius, side if index in best else "")
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


def _options(x: float, y: float, width: float, height: float, radius: float, upper: str) -> list[Spot]:
    """Return the places around a mark, the best first; ``upper``: the side above the mark that is tried first."""
    side, over, half = radius + 3, radius + height / 2, width / 2
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
