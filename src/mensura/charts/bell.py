"""Models below the bell curve of human IQ."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from mensura.charts.bell_subjects import LOOKS, BellLook, BellModel, crowd_above
from mensura.charts.canvas import Canvas, Drawing
from mensura.charts.first_bell import FirstBell
from mensura.charts.rows import Row, counted, listed, rows_of
from mensura.intake.tables import as_frame

COLUMNS = ("subject", "name", "provider", "iq", "low", "high", "status")
_ROOM = 5.0
"""IQ points left of the lowest model."""
_SHRINK = 1.1
"""A look is drawn so much narrower than it was made for, at most."""


def bell_curve(points: object, *, wide: float = 1100.0) -> Drawing:
    """Draw 1,000 people as dots, and models below them by IQ, the leaders with their names.

    ``points``: subject, name, provider, iq, low, high, status; an optional ``href`` makes a model a link.
    ``wide``: pixels of the drawing for a screen.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "iq"])
    frame = as_frame(points, name="points")
    links = dict(frame.select("subject", "href").iter_rows()) if "href" in frame.columns else {}
    rows.sort(key=lambda row: -row["iq"])
    models = [_model(row, links.get(row["subject"], "")) for row in rows]
    about = _describe(rows)
    return Drawing.of(lambda width: draw_bell(width, models, about), wide)


def draw_bell(width: float, models: list[BellModel], about: str) -> Markup:
    """Draw models (highest IQ first) below the bell at any width, with nothing left to a script."""
    if not models:
        sheet = Canvas(width, 60, about)
        sheet.words(width / 2, 30, "no model has an IQ here", anchor="middle")
        return sheet.svg()
    look = look_at(width)
    look = replace(look, low=min(look.low, models[-1].low - _ROOM))
    iq = round(models[0].iq)
    people = f"{crowd_above(iq)} in 1,000"
    said = (f"{people} people", f"at {iq} or above") if look.labs else (people, f"at {iq}+")
    return FirstBell(look, models, still=True).draw(range(len(models)), said, about)


def look_at(width: float) -> BellLook:
    """Return the widest look that fits, stretched to the width asked for."""
    fits = [look for look in LOOKS.values() if look.width <= _SHRINK * width]
    look = fits[0] if fits else LOOKS["narrow"]
    return replace(look, width=width, pitch=look.pitch * width / look.width)


def _model(row: Row, href: str) -> BellModel:
    low, high = (row["iq"] if row[end] is None else row[end] for end in ("low", "high"))
    full = row["status"] == "measured"
    return BellModel(row["subject"], row["name"], row["provider"], row["iq"], low, high, full, href)


def _describe(rows: list[Row]) -> str:
    if not rows:
        return "Bell curve of 1,000 people; no model has an IQ here."
    top = listed(f"{row['name']} (IQ {row['iq']:.0f})" for row in rows)
    estimated = sum(row["status"] == "estimated" for row in rows)
    return (
        f"Bell curve of 1,000 people with {counted(len(rows), 'model')} below it, from IQ {rows[-1]['iq']:.0f} to "
        f"{rows[0]['iq']:.0f}; highest: {top}. {estimated} of them estimated, drawn hollow."
    )
