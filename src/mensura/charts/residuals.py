"""Residual profiles: on which tests each model is better or worse than its own level."""

from __future__ import annotations

from markupsafe import Markup

from mensura.charts.axes import Axis
from mensura.charts.canvas import GRID, INK, SOFT, Canvas, Place
from mensura.charts.labels import clipped, text_width
from mensura.charts.plot import NARROW, WIDE, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.rows import Row, counted, rows_of, say

COLUMNS = ("subject", "name", "provider", "benchmark", "residual")
_ROW, _TALL = 30.0, 62.0
"""Height of a row on a screen, and on a phone, where words stand above and below the strokes, pixels."""


def residuals(points: object, *, x_title: str = "Score minus what the model's level predicts") -> Drawing:
    """Draw one row per model and one stroke per test: right of the line it is better than its level, left of it worse.

    ``points``: subject, name, provider, benchmark, residual, and perhaps href, in the order to draw. The farthest test
    on each side has its name.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "benchmark", "residual"], optional=["href"])
    if not rows:
        return draw_nothing("no model has a residual")
    models: dict[str, list[Row]] = {}
    for row in rows:
        models.setdefault(row["subject"], []).append(row)
    up, down = max(rows, key=lambda row: row["residual"]), min(rows, key=lambda row: row["residual"])
    tests = counted(len({row["benchmark"] for row in rows}), "benchmark")
    about = (
        f"Residuals of {counted(len(models), 'model')} on {tests}: "
        f"furthest above its level is {up['name']} on {up['benchmark']} ({say(up['residual'])}), furthest below "
        f"{down['name']} on {down['benchmark']} ({say(down['residual'])})."
    )
    edge = max(abs(row["residual"]) for row in rows) or 1.0
    axis = Axis(x_title, -edge, edge, _signed)

    def draw(width: float) -> Markup:
        narrow = width < NARROW
        row_height = _TALL if narrow else _ROW
        left = 0.0 if narrow else min(max(text_width(own[0]["name"], 12, "600") for own in models.values()) + 34, 200)
        sheet = Canvas(width, 44 + row_height * len(models), about)
        room = 12.0 if narrow else 150.0  # for the names of the farthest tests
        at = axis.scale(left + room, width - room)
        sheet.words(0, 8, x_title, fill=SOFT, size=11)
        for value, text in axis.ticks(4 if narrow else 6):
            sheet.words(at(value), 28, text, fill=SOFT, weight="600", anchor="middle")
            sheet.line(at(value), 40, at(value), sheet.height, INK if value == 0 else GRID, 1.25 if value == 0 else 1)
        sheet.line(0, 40, width, 40, INK, 1.5)
        for place, own in enumerate(models.values()):
            top = 40 + row_height * place
            _row(sheet, own, at, top, top + (33 if narrow else row_height / 2), left, narrow=narrow)
            sheet.line(0, top + row_height, width, top + row_height, GRID)
        return sheet.svg()

    return Drawing(draw, about, tuple({key: row[key] for key in COLUMNS} for row in rows), screen=WIDE)


def _signed(value: float) -> str:
    return "0" if abs(value) < 1e-9 else f"{100 * value:+.0f}%".replace("-", "−")


def _row(sheet: Canvas, own: list[Row], at: Place, top: float, level: float, left: float, *, narrow: bool) -> None:
    """Draw the strokes of one model, the farthest with their names."""
    first = own[0]
    with sheet.marked(first["name"], href=first["href"] or "", subject=first["subject"], provider=first["provider"]):
        sheet.sign(6, top + 12 if narrow else level, first["provider"] or "")
        sheet.words(18, top + 12 if narrow else level, clipped(first["name"], 160, 12, "600"), weight="600")
    ends = {id(max(own, key=lambda row: row["residual"])): 1, id(min(own, key=lambda row: row["residual"])): -1}
    for row in own:
        x, side = at(row["residual"]), ends.get(id(row), 0)
        way = "above" if row["residual"] > 0 else "below"
        with sheet.marked(f"{row['name']} on {row['benchmark']}, {say(abs(row['residual']))} {way} its level"):
            sheet.line(x, level - 6, x, level + 6, INK, 2.5, opacity=1.0 if side else 0.45)
            if side * row["residual"] > 0:
                start, end = ("start", "end") if side > 0 else ("end", "start")
                if narrow:
                    text = clipped(row["benchmark"], sheet.width / 2 - 6, 11)
                    sheet.words(sheet.width * (side > 0), level + 17, text, fill=SOFT, anchor=end, size=11)
                else:
                    text = clipped(row["benchmark"], (sheet.width - x if side > 0 else x - left) - 10, 11)
                    sheet.words(x + 7 * side, level, text, fill=SOFT, anchor=start, size=11, halo=True)
