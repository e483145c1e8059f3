"""People as a bell of a thousand dots above the line, models with their intervals below it."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from markupsafe import Markup, escape

from mensura.charts.canvas import Canvas, Look, Place, scale
from mensura.charts.plot import Mark, Reference, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.theme import LABS, OTHER, clipped, lab_colour, lab_of, paint, text_width
from mensura.charts.values import CROWD, QUANTILES, counted, crowd_above, listed, people_above, rows_of, said_above

COLUMNS = ("subject", "name", "provider", "iq", "low", "high", "status")
_SIDE = 5.0
"""IQ points left of the lowest model."""
_SHRINK = 1.1
"""A look is drawn so much narrower than it was made for, at most."""
_TICKS = (70, 85, 100, 115, 130, 145)
_NAME, _SMALL = 13, 12
_ROW = 14.0
"""Height of a row of models, pixels."""
_GAP = 5.0
"""Between two models of a row, pixels."""
_LEAST, _MOST = 150.0, 175.0
"""Between these the axis ends, as far out as the names of the leaders need."""
_PIN = 34.0
"""Height of the two lines at the top of a pin, pixels."""
_SHORTEST = 40.0
"""Room that a name takes at least, pixels."""
_LEGEND_ROW = 20.0


@dataclass(frozen=True)
class BellLook:
    """What differs between a screen, a tablet and a phone."""

    width: float
    low: float
    pitch: float
    named: int
    legend: float
    labs: int


LOOKS = {
    "wide": BellLook(1200.0, 55.0, 9.2, 15, 236.0, 2),
    "mid": BellLook(704.0, 52.0, 6.0, 15, 142.0, 1),
    "narrow": BellLook(358.0, 60.0, 3.9, 10, 0.0, 0),
}
"""The widths at which the picture is drawn, by their names in the style sheet."""


def people_columns(at: Place, pitch: float) -> dict[int, list[float]]:
    """Return the IQs of a thousand people in each column of dots, lowest first."""
    columns: dict[int, list[float]] = {}
    for iq in QUANTILES:
        columns.setdefault(int(at(iq) / pitch), []).append(iq)
    return columns


def draw_crowd(
    sheet: Canvas, columns: dict[int, list[float]], pitch: float, ground: float, ink: str, least: float = 0.0
) -> None:
    """Draw the people at or above an IQ: each column is a line of round dashes without length."""
    steps = []
    for column, own in columns.items():
        skipped = bisect_left(own, least)
        if skipped < len(own):
            x, y = (column + 0.5) * pitch, ground - (skipped + 0.6) * pitch
            steps.append(f"M{x:.1f} {y:.1f}v{-(len(own) - 1 - skipped) * pitch - 0.01:.2f}")
    sheet.parts.append(
        f'<path d="{"".join(steps)}" stroke="{ink}" stroke-width="{0.74 * pitch:.1f}" stroke-linecap="round" '
        f'stroke-dasharray="0 {pitch}" fill="none"/>'
    )


def bell_curve(points: object, *, wide: float = 1100.0) -> Drawing:
    """Draw 1,000 people as dots, and models below them by IQ, the leaders with their names.

    Parameters
    ----------
    points : table
        Columns subject, name, provider, iq, low, high, status; ``href`` makes a model a link.
    wide : float, default 1100
        Pixels of the drawing for a screen.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If a column is missing or has an unknown value.

    Examples
    --------
    >>> from mensura import charts
    >>> model = {"subject": ["a"], "name": ["A"], "provider": [None], "iq": [120.0], "low": [115.0], "high": [125.0]}
    >>> charts.bell_curve({**model, "status": ["measured"]}).description[:43]
    'Bell curve of 1,000 people with 1 model bel'

    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "iq"], optional=["href"])
    if not rows:
        return draw_nothing("no model has an IQ here")
    rows.sort(key=lambda row: -row["iq"])
    models = [replace(Mark.of(row, row["iq"], 0.0, ""), status=row["status"]) for row in rows]
    estimated, iq = sum(row["status"] == "estimated" for row in rows), round(rows[0]["iq"])
    top = listed(f"{one.name} (IQ {one.x:.0f})" for one in models)
    about = (
        f"Bell curve of 1,000 people with {counted(len(rows), 'model')} below it, from IQ {models[-1].x:.0f} to "
        f"{models[0].x:.0f}; highest: {top}. {estimated} of them estimated, drawn hollow."
    )

    def draw(width: float) -> Markup:
        look = look_at(width)
        look = replace(look, low=min(look.low, models[-1].ends[0] - _SIDE))
        return FirstBell(look, models, still=True).draw(said_above(iq, short=not look.labs), about)

    return Drawing(draw, about, tuple({key: row[key] for key in COLUMNS} for row in rows), screen=wide)


def look_at(width: float) -> BellLook:
    """Return the widest look that fits, stretched to the width asked for."""
    fits = [look for look in LOOKS.values() if look.width <= _SHRINK * width]
    look = fits[0] if fits else LOOKS["narrow"]
    return replace(look, width=width, pitch=look.pitch * width / look.width)


@dataclass(frozen=True)
class FirstBell:
    """The picture at one width for models (highest IQ first) and landmarks of people.

    ``rows`` arranges any choice of the models; only the leaders of the choice have their name in the drawing, so that
    a page stays light. ``label_place`` tells a script where the name of another one belongs. ``still``: the drawing
    has no style sheet and carries the looks of its lines.
    """

    look: BellLook
    models: Sequence[Mark]
    landmarks: Sequence[Reference] = field(default=())
    still: bool = False

    @cached_property
    def at(self) -> Place:
        """The map from IQ to pixels; the axis ends where the names of today's leaders fit."""
        high = max([_LEAST, *(math.ceil(model.ends[1]) + 1 for model in self.models)])
        while high < _MOST:
            at = scale(self.look.low, high, 0.0, self.look.width)
            if all(self._label(model, at)[1] <= self.look.width for model in self.models[: self.look.named]):
                return at
            high += 0.5
        return scale(self.look.low, _MOST, 0.0, self.look.width)

    def rows(self, shown: Sequence[int]) -> list[int]:
        """Return the row of each shown model: leaders one to a row in order, the others where there is room."""
        beside = math.ceil(self._legend_height / _ROW - 0.5) if self.look.legend else 0  # rows right of the legend
        edges = np.full(len(shown) + beside + 1, math.inf)  # where a row's last model begins; the next is left of it
        rows: list[int] = []
        for place, index in enumerate(shown):
            model = self.models[index]
            x, start, end = (self.at(value) for value in (model.x, *model.ends))
            if place < self.look.named:
                row, start = place, min(start, self._label(model, self.at)[0])
            else:
                start, end = min((x + start) / 2, x - 7), max((x + end) / 2, x + 7)
                first = 0 if start >= self.look.legend + _GAP else beside
                row = first + int(np.argmax(end + _GAP <= edges[first:]))
            edges[row] = start
            rows.append(row)
        return rows

    def draw(self, dark_words: tuple[str, str], description: str) -> Markup:
        """Draw all models; ``dark_words``: two lines about the dark dots, those at or above the leader."""
        rows = self.rows(range(len(self.models)))
        columns = people_columns(self.at, self.look.pitch)
        pins = self._pin_places(columns, dark_words)
        tallest = max(map(len, columns.values())) * self.look.pitch
        ground = max(tallest + 46.0, 6.0 - min((top for _, top, _ in pins), default=0.0))
        first = ground + (56.0 if self.look.legend else 78.0)  # a phone's legend is a line of its own
        sheet = Canvas(self.look.width, first + (max([*rows, 14]) + 1) * _ROW + 8, description, kind="bell-chart")
        self._axis(sheet, ground, first)
        self._crowd(sheet, columns, ground, crowd_above(round(self.models[0].x)) if self.models else 0)
        self._pins(sheet, pins, ground, dark_words)
        self._legend(sheet, first, len(self.models))
        for place in reversed(range(len(self.models))):  # the leaders on top
            self._model(sheet, self.models[place], first + _ROW * (rows[place] + 0.5), place < self.look.named)
        sheet.parts.append(f'<desc data-first="{first:.0f}" data-row="{_ROW:.0f}"></desc>')
        return sheet.svg()

    def label_place(self, model: Mark) -> tuple[float, str]:
        """Return where the name of a model stands, counted from its mark, and which end of the name stands there."""
        start, end = self._label(model, self.at)
        left = start < self.at(model.ends[0])
        return round((end if left else start) - self.at(model.x), 1), "end" if left else "start"

    def label_name(self, model: Mark) -> str:
        """Return the name as far as there is room: whole, without what stands in brackets, or cut."""
        if self.look.labs:
            return model.name
        low, high = map(self.at, model.ends)
        room = max(low - self.look.legend, self.look.width - high) - text_width(f"  {model.x:.0f}", _NAME) - 8
        short = model.name.partition(" (")[0]
        whole = text_width(model.name, _NAME, "600") <= room
        return model.name if whole else clipped(short, max(room, _SHORTEST), _NAME, "600")

    def _label(self, model: Mark, at: Place) -> tuple[float, float]:
        """Return where the name of a model starts and ends: right of its interval, on a phone left of it."""
        number = text_width(f"  {model.x:.0f}", _NAME) + 8
        size = text_width(model.name, _NAME, "600") + number
        low, high = map(at, model.ends)
        left, right = (low - size, low - 8), (high + 8, high + size)
        if self.look.labs:
            return right
        if left[0] >= self.look.legend or low - self.look.legend >= self.look.width - high:
            return max(left[0], self.look.legend), left[1]
        return right[0], min(right[1], self.look.width)

    @property
    def _legend_height(self) -> float:
        return 84.0 + _LEGEND_ROW * -(-(len(self._makers) + 1) // self.look.labs)

    @cached_property
    def _makers(self) -> list[str]:
        """The makers with a shape of their own that occur, in the order of the palette."""
        present = {lab_of(model.provider) for model in self.models}
        return [name for name in LABS if name in present]

    def _crowd(self, sheet: Canvas, columns: dict[int, list[float]], ground: float, dark: int) -> None:
        """Draw a dot as a line of no length with round ends: a script finds that the last ones are the highest."""
        pitch = self.look.pitch
        if self.still:
            draw_crowd(sheet, columns, pitch, ground, paint.people_dot)
            draw_crowd(sheet, columns, pitch, ground, paint.people_strong, round(self.models[0].x))
            return
        dots = sorted(
            (iq, (column + 0.5) * pitch, ground - (step + 0.6) * pitch)
            for column, own in columns.items()
            for step, iq in enumerate(own)
        )
        steps = [f"M{x:.1f} {y:.1f}h0" for _, x, y in dots]
        for name, ink, path in (
            ("crowd", paint.people_dot, steps),
            ("reached", paint.people_strong, steps[CROWD - dark :]),
        ):
            sheet.parts.append(
                f'<path class="{name}" d="{"".join(path)}" stroke="{ink}" stroke-width="{0.74 * pitch:.1f}" '
                'stroke-linecap="round" fill="none"/>'
            )

    def _axis(self, sheet: Canvas, ground: float, first: float) -> None:
        wide = self.look.labs > 0
        sheet.line(0, ground + 5, self.look.width, ground + 5, paint.ink, 1.5)
        if wide:
            sheet.words(0, ground + 18, "IQ", weight="600", size=_NAME)
            sheet.words(0, ground + 34, "people above" if self.look.labs > 1 else "above", fill=paint.quiet)
        for iq in _TICKS:
            x = self.at(iq)
            if iq != 100:
                sheet.line(x, first - 4, x, sheet.height, paint.grid)
            sheet.words(x, ground + 18, str(iq), weight="600", size=_NAME, anchor="middle")
            share = people_above(iq) if wide else people_above(iq).replace("1 in ", "1/")
            sheet.words(x, ground + 34, share, fill=paint.quiet, anchor="middle", size=_SMALL if wide else 11)
        sheet.people_line(self.at(100), first - 4, sheet.height)

    def _pin_places(
        self, columns: dict[int, list[float]], dark_words: tuple[str, str]
    ) -> list[tuple[Reference, float, bool]]:
        """Return each landmark with its top, counted down from the line, and whether its words stand left of it.

        From right to left, each is as low as the dots and the words right of it allow.
        """
        width, pitch = self.look.width, self.look.pitch
        boxes = [(width - max(text_width(line, _NAME) for line in dark_words), -58.0)]
        pins = []
        for mark in sorted(self.landmarks, key=lambda one: -one.value):
            x = self.at(mark.value)
            size = max(text_width(mark.label, _NAME), text_width(mark.note, _SMALL)) + 10
            left = x + size > width
            start, end = (x - size, x) if left else (x, x + size)
            tall = max((len(own) for column, own in columns.items() if start <= column * pitch <= end), default=0)
            top = -tall * pitch - _PIN - 8
            for edge, height in boxes:
                top = min(top, height - _PIN - 2) if end > edge else top
            boxes.append((start, top))
            pins.append((mark, top, left))
        return pins

    def _pins(
        self, sheet: Canvas, pins: Sequence[tuple[Reference, float, bool]], ground: float, dark_words: tuple[str, str]
    ) -> None:
        wide = self.look.labs > 0
        head = ("1,000 people", "Each dot is one in a thousand,", "placed by the definition of IQ")
        for line, text in enumerate(head if wide else ("1,000 people", "one dot each")):
            weight, size = ("600", _NAME + 1) if line == 0 else ("", _SMALL)
            sheet.words(0, 10 + 17 * line, text, fill=paint.people, weight=weight, size=size)
        words: Look = {"fill": paint.people, "anchor": "end", "halo": True}
        sheet.words(self.look.width, ground - 48, dark_words[0], weight="600", size=_NAME, name="said", **words)
        sheet.words(self.look.width, ground - 32, dark_words[1], size=_SMALL, name="said", **words)
        for mark, top, left in reversed(pins):  # words to the left of a line cross the lines of lower landmarks
            x, y = self.at(mark.value), ground + top
            side, words["anchor"] = (-8, "end") if left else (8, "start")
            link = sheet.marked(f"{mark.label}: {mark.note}", href=mark.href, subject=mark.subject, kind="pin")
            with link if mark.href else nullcontext():
                sheet.line(x, y, x, ground + 5, paint.people_strong, 1.25)
                sheet.parts.append(f'<path d="M{x - 4:.1f},{y:.1f}h8l-4,7z" fill="{paint.people_strong}"/>')
                sheet.words(x + side, y + 5, mark.label, weight="600", size=_NAME, **words)
                sheet.words(x + side, y + 21, mark.note, size=_SMALL, **words)

    def _legend(self, sheet: Canvas, first: float, models: int) -> None:
        y = first + 6 if self.look.legend else first - 18
        sheet.words(0, y, f"{models:,} AI models", weight="600", size=_NAME + 1, name="counted")
        if not self.look.legend:
            for x, status in ((116.0, "measured"), (200.0, "estimated")):
                sheet.sign(x, y, OTHER, status, 4.6)
                sheet.words(x + 12, y, status, fill=paint.soft)
            sheet.words(sheet.width, y, "line: 90%", fill=paint.soft, anchor="end")
            return
        for line, status in enumerate(("measured", "estimated")):
            level = y + _LEGEND_ROW * (line + 1)
            sheet.line(0, level, 28, level, paint.quiet, 2)
            sheet.sign(14, level, OTHER, status, 4.6)
            sheet.words(36, level, f"mostly {status}", fill=paint.soft)
        sheet.words(0, y + 3 * _LEGEND_ROW, "Line: 90% interval", fill=paint.soft)
        for place, name in enumerate([*self._makers, OTHER]):
            row, column = divmod(place, self.look.labs)
            x, level = 6 + 118 * column, y + _LEGEND_ROW * (row + 4) + 8
            sheet.sign(x, level, name, radius=4.6)
            sheet.words(x + 13, level, "other makers" if name == OTHER else name, fill=paint.soft)

    def _model(self, sheet: Canvas, model: Mark, y: float, named: bool) -> None:
        """Draw a model as a link: its interval, its sign, and its name if it is among the leaders."""
        ink, x, (low, high) = lab_colour(model.provider), self.at(model.x), model.ends
        words = f"{model.name}, IQ {model.x:.0f}, 90% {low:.0f} to {high:.0f}, mostly {model.status}"
        tag = f'a href="{escape(model.href)}"' if model.href else 'g role="img"'
        line = f' stroke-width="{2.2 if named else 1.5}" stroke-opacity="{0.7 if named else 0.3}"' if self.still else ""
        made_by = f' data-provider="{escape(model.provider)}"' if self.still else ""
        sheet.parts.append(
            f'<{tag} class="model-row{" named" if named else ""}" data-subject="{escape(model.subject)}"{made_by} '
            f'aria-label="{escape(words)}" transform="translate({x:.1f},{y:.0f})">'
            f'<path class="line" d="M{self.at(low) - x:.1f} 0H{self.at(high) - x:.1f}" stroke="{ink}"{line}/>'
        )
        sheet.sign(0, 0, model.provider or OTHER, model.status, 4.0)
        if named:
            at, anchor = self.label_place(model)
            look: Look = {"weight": "600", "size": _NAME, "name": "name", "after": f"{model.x:.0f}"}
            sheet.words(at, 0, self.label_name(model), anchor=anchor, **look)
        sheet.parts.append(f"</{tag[0]}>")
