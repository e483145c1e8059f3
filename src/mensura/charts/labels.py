"""Where the names go: greedy, deterministic label placement that never overlaps.

Positions are pixels at nominal plot widths. When the plot grows wider, dots move apart and a label keeps its distance
in pixels from its dot; as no label may stand beyond a neighbour at its height, a placement that is free of overlaps at
a nominal width stays so above it. Each chart carries one placement per nominal width and shows the widest that fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy

from mensura.charts.theme import FONT_SIZE
from mensura.core.arrays import Floats, Ints, Mask

#: Nominal widths of the plot itself, in pixels: desktop, half a page, phone.
WIDTHS = (720, 460, 250)
#: Diameter of a model's mark at each nominal width, in pixels.
DIAMETERS = (10.0, 9.0, 7.0)
#: Vega expression for the placement in force, an index into a list with one entry per nominal width.
WIDTH_INDEX = f"(width >= {WIDTHS[0]} ? 0 : width >= {WIDTHS[1]} ? 1 : 2)"

LINE = FONT_SIZE + 2.0  # height of one line of text, pixels
GAP = 3.0  # between a dot and its label
_LOW = (20, 30, 42, 56)  # how far up or down a label may move from its dot, pixels
_RUNS = (0, 12, -12, 28, -28, 48, -48, 72, -72)  # and how far aside
_HIGH = tuple(range(20, 120, 12))  # where the sky above the dots is free
_NEIGHBOURS = 160.0  # how near, in pixels, a label may be asked to move for another
_NARROW = set("iljtfrI.,:;'|!()[]/- ")
_WIDE = set("mwMW@%")


class _LetterWidths(dict[str, float]):
    """Width of each letter, in letter heights."""

    def __missing__(self, letter: str) -> float:
        self[letter] = 0.36 if letter in _NARROW else 0.95 if letter in _WIDE else 0.72 if letter.isupper() else 0.61
        return self[letter]


_LETTER_WIDTHS = _LetterWidths()

Box = tuple[float, float, float, float]  # left, top, right, bottom
Segment = tuple[float, float, float, float]  # x and y of its start, x and y of its end


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Return the approximate width of a text in pixels, generous enough for the wider system faces."""
    return sum(map(_LETTER_WIDTHS.__getitem__, text)) * size + 2


@dataclass(frozen=True)
class Spot:
    """A label's place: offset in pixels from its dot, alignment, and whether a leader line joins the two."""

    dx: float
    dy: float
    align: str
    leader: bool

    def box(self, x: float, y: float, width: float) -> Box:
        """Return the rectangle the label covers when its dot is at x, y."""
        left = x + self.dx - {"left": 0.0, "center": width / 2, "right": width}[self.align]
        return left, y + self.dy - LINE / 2, left + width, y + self.dy + LINE / 2

    def line(self, x: float, y: float) -> Segment:
        """Return the leader line from the dot to the near edge of the label."""
        return x, y, x + self.dx, y + self.dy + (LINE / 2 if self.dy < 0 else -LINE / 2)

    def datum(self) -> dict[str, object]:
        """Return the place as the chart's data carry it."""
        return {"dx": round(self.dx, 1), "dy": round(self.dy, 1), "align": self.align, "leader": self.leader}


def place(
    x: Sequence[float],
    y: Sequence[float],
    texts: Sequence[str],
    wanted: Sequence[int],
    *,
    width: float,
    height: float,
    radius: float = 5.0,
    blocked: Sequence[Box] = (),
    upward: bool = False,
) -> dict[int, Spot]:
    """Place the labels of the ``wanted`` dots, most important first; one that finds no room is left out.

    ``x`` and ``y`` are the pixels of all dots (y grows downward); no label covers a dot, another label, a leader
    line, a ``blocked`` rectangle or the edge of the plot, and no leader line crosses a label, a leader line or a dot
    other than its own. ``upward`` tries only places above the dot.
    """
    board = _Board(list(x), list(y), [text_width(text) for text in texts], width, height, radius, blocked, upward)
    for index in wanted:
        if not board.settle(index):
            board.make_room(index)
    return {index: board.spots[index] for index in wanted if index in board.spots}


class _Board:
    """The plot while labels are placed: all dots, and the labels settled so far."""

    def __init__(
        self,
        x: list[float],
        y: list[float],
        sizes: list[float],
        width: float,
        height: float,
        radius: float,
        blocked: Sequence[Box],
        upward: bool,
    ) -> None:
        self.x, self.y, self.sizes, self.width, self.height = x, y, sizes, width, height
        self.dots: list[Box] = [(a - radius, b - radius, a + radius, b + radius) for a, b in zip(x, y, strict=True)]
        self.blocked = list(blocked)
        self.candidates = _candidates(radius, upward)
        self.spots: dict[int, Spot] = {}
        self.options: dict[int, list[tuple[Spot, Box]]] = {}

    def settle(self, index: int) -> bool:
        """Give a label the first place that is free; false if there is none."""
        labels = [(self.x[other], self._box(other)) for other in self.spots]
        boxes = [box for _, box in labels]
        lines = [self._line(other) for other in self.spots if self.spots[other].leader]
        possible = self._possible(index)
        led = [spot.line(self.x[index], self.y[index]) for spot, _ in possible]
        covers = np.any(crossings(lines, [box for _, box in possible]), axis=0).tolist()
        crosses = np.any(crossings(led, boxes), axis=1).tolist()
        for (spot, box), line, covered, crossed in zip(possible, led, covers, crosses, strict=True):
            if covered or any(boxes_clash(self.x[index], box, *other) for other in labels):
                continue
            if spot.leader and (crossed or any(boxes_meet(line, other) for other in lines)):
                continue
            self.spots[index] = spot
            return True
        return False

    def make_room(self, index: int) -> None:
        """Try to place a label by moving one settled neighbour; nothing changes unless both find a place."""
        near = [other for other in self.spots if abs(self.x[other] - self.x[index]) < _NEIGHBOURS]
        for other in sorted(near, key=lambda o: (abs(self.x[o] - self.x[index]) + abs(self.y[o] - self.y[index]), o)):
            before = self.spots.pop(other)
            if self.settle(index):
                if self.settle(other):
                    return
                del self.spots[index]
            self.spots[other] = before

    def _possible(self, index: int) -> list[tuple[Spot, Box]]:
        """Return the places clear of the plot's edge, dots and blocked rectangles, found once per label."""
        if index not in self.options:
            boxes = [spot.box(self.x[index], self.y[index], self.sizes[index]) for spot in self.candidates]
            lines = [spot.line(self.x[index], self.y[index]) for spot in self.candidates]
            others = [*self.dots[:index], *self.dots[index + 1 :]]
            free = is_inside(boxes, self.width, self.height) & is_clear(boxes, self.x[index], self.dots, self.x)
            free &= is_clear(boxes, self.x[index], self.blocked, [(box[0] + box[2]) / 2 for box in self.blocked])
            led = np.array([spot.leader for spot in self.candidates])
            free &= ~(led & np.any(crossings(lines, others), axis=1))
            self.options[index] = [(self.candidates[i], boxes[i]) for i in np.flatnonzero(free)]
        return self.options[index]

    def _box(self, index: int) -> Box:
        return self.spots[index].box(self.x[index], self.y[index], self.sizes[index])

    def _line(self, index: int) -> Segment:
        return self.spots[index].line(self.x[index], self.y[index])


def spread(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions apart on a line until neighbours are ``gap`` apart, as little as possible, within low…high.

    Least squares under order constraints (pool adjacent violators); if the line is too short for all, the gap
    shrinks to what fits.
    """
    n = len(positions)
    if n == 0:
        return []
    gap = min(gap, (high - low) / max(n - 1, 1))
    order = np.argsort(np.asarray(positions, dtype=float), kind="stable")
    shifted = np.asarray(positions, dtype=float)[order] - gap * np.arange(n)
    fitted = np.clip(scipy.optimize.isotonic_regression(shifted).x, low, high - gap * (n - 1)) + gap * np.arange(n)
    moved = np.empty(n)
    moved[order] = fitted
    return [float(value) for value in moved]


def swarm(x: Sequence[float], ground: Sequence[float], diameter: float, last: Sequence[bool]) -> list[float]:
    """Return how far each dot rises above its ``ground`` so that no two of this diameter overlap; x stays exact.

    Dots marked ``last`` settle after the others, on top, where a label can reach them.
    """
    lifts = [0.0] * len(x)
    across, up = np.empty(len(x)), np.empty(len(x))  # dots settled so far
    first, in_order = 0, len(x) - sum(map(bool, last))
    for done, index in enumerate(sorted(range(len(x)), key=lambda i: (last[i], x[i], i))):
        if done < in_order:  # from left to right: neighbours are the last ones settled
            while first < done and x[index] - across[first] >= diameter:
                first += 1
            near: slice | Ints = slice(first, done)
        else:
            near = np.flatnonzero(np.abs(across[:done] - x[index]) < diameter)
        lifts[index] = _lowest_free(across[near] - x[index], up[near] - ground[index], diameter)
        across[done], up[done] = x[index], ground[index] + lifts[index]
    return lifts


_STEPS = 8  # of a diameter: how finely a dot looks for room as it rises
_TOUCHING = 1e-6  # of a step: dots nearer than this may touch or overlap, which is then tested


def _lowest_free(aside: Floats, above: Floats, diameter: float) -> float:
    """Return the least rise, in eighths of the diameter, to a place clear of dots so far aside and above.

    Each dot takes the rises from one to another; the first that none takes is free.
    """
    if not aside.size:
        return 0.0
    step, square, flat = diameter / _STEPS, diameter**2, aside**2
    half = np.sqrt(square - flat)
    low, high = np.ceil((above - half) / step - _TOUCHING), np.floor((above + half) / step + _TOUCHING)
    low += flat + (above - low * step) ** 2 >= square  # the ends are tested: rounding decides what touches
    high -= flat + (above - high * step) ** 2 >= square
    order = low.argsort()
    taken = np.maximum.accumulate(high[order], out=high).clip(min=-1)  # as far up as all dots that begin before
    starts = low[order]
    if starts[0] > 0:
        return 0.0
    gaps = starts[1:] > taken[:-1] + 1
    return (float(taken[gaps.argmax() if gaps.any() else -1]) + 1) * step


def _candidates(radius: float, upward: bool) -> list[Spot]:
    """Places from near to far: beside, above and below the dot, then farther away with a leader line."""
    side, over = radius + GAP, radius + LINE / 2
    right, left = Spot(side, 0, "left", False), Spot(-side, 0, "right", False)
    above, below = Spot(0, -over, "center", False), Spot(0, over, "center", False)
    corners = [Spot(sign * side, -over + 3, align, False) for sign, align in ((1, "left"), (-1, "right"))]
    under = [Spot(spot.dx, -spot.dy, spot.align, False) for spot in corners]
    near = [corners[0], right, above, corners[1], left] if upward else [right, left, above, below, *corners, *under]
    far = [
        Spot(run, sign * rise, "center" if run == 0 else "left" if run > 0 else "right", True)
        for rise, sign, run in product(_HIGH if upward else _LOW, (-1,) if upward else (-1, 1), _RUNS)
    ]
    return near + sorted(far, key=lambda spot: abs(spot.dy) + 1.5 * abs(spot.dx) + (spot.dx < 0) * 20)


def is_inside(boxes: Sequence[Box], width: float, height: float) -> Mask:
    """Tell for each rectangle whether it lies inside the picture."""
    left, top, right, bottom = np.asarray(boxes, dtype=float).T
    return np.asarray((left >= 0) & (top >= 0) & (right <= width) & (bottom <= height))


def is_clear(boxes: Sequence[Box], x: float, taken: Sequence[Box], anchors: Sequence[float]) -> Mask:
    """Tell for each place of the label of a dot at ``x`` whether it clashes with none of the taken rectangles."""
    ours = np.asarray(boxes, dtype=float)[:, None, :]
    theirs = np.asarray(taken, dtype=float).reshape(1, -1, 4)
    anchor = np.asarray(anchors, dtype=float)
    level = (theirs[..., 1] < ours[..., 3]) & (theirs[..., 3] > ours[..., 1])
    before, after = theirs[..., 2] <= ours[..., 0], theirs[..., 0] >= ours[..., 2]
    ordered = np.where(anchor < x, before, np.where(anchor > x, after, before | after))
    return np.asarray((~level | ordered).all(axis=1))


def boxes_clash(x: float, box: Box, other_x: float, other: Box) -> bool:
    """Tell whether two labels overlap, or would when the plot grows wider: they must stand in their dots' order."""
    if other[1] >= box[3] or other[3] <= box[1]:
        return False
    before, after = other[2] <= box[0], other[0] >= box[2]
    return not (before if other_x < x else after if other_x > x else before or after)


def crossings(lines: Sequence[Segment], boxes: Sequence[Box]) -> Mask:
    """Tell for each segment and rectangle whether they meet (Liang and Barsky's clipping)."""
    x0, y0, x1, y1 = np.asarray(lines, dtype=float).reshape(-1, 4).T[:, :, None]
    left, top, right, bottom = np.asarray(boxes, dtype=float).reshape(-1, 4).T[:, None, :]
    enter, leave = np.zeros((x0.size, left.size)), np.ones((x0.size, left.size))
    for start, delta, low, high in ((x0, x1 - x0, left, right), (y0, y1 - y0, top, bottom)):
        step = np.where(np.abs(delta) < 1e-9, 1e-9, delta)
        ends = (low - start) / step, (high - start) / step
        enter, leave = np.maximum(enter, np.minimum(*ends)), np.minimum(leave, np.maximum(*ends))
    return np.asarray(enter < leave)


def boxes_meet(one: Segment, other: Segment) -> bool:
    """Tell whether two segments cross."""

    def side(line: Segment, x: float, y: float) -> float:
        return (line[2] - line[0]) * (y - line[1]) - (line[3] - line[1]) * (x - line[0])

    return (
        side(one, other[0], other[1]) * side(one, other[2], other[3]) < 0
        and side(other, one[0], one[1]) * side(other, one[2], one[3]) < 0
    )
