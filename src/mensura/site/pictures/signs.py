"""Small signs for lines of text: a maker's shape, and a share of people in words."""

from __future__ import annotations

from markupsafe import Markup

from mensura.charts.canvas import SURFACE, lab_colour, shape_of
from mensura.charts.theme import lab_of
from mensura.scale import iq_to_rate


def said_share(iq: float) -> str:
    """Say how many people reach an IQ: of a thousand, or of a hundred where they are many."""
    share = iq_to_rate(iq)
    if share >= 0.1:
        return f"{100 * share:.0f} in 100 people"
    return f"{1000 * share:.0f} in 1,000 people" if share >= 0.002 else f"{1e6 * share:,.0f} in a million people"


def sign(provider: str, *, full: bool) -> Markup:
    """Return a maker's shape as a small drawing for a line of text."""
    ink = lab_colour(provider)
    return Markup(
        f'<svg viewBox="-7 -7 14 14" aria-hidden="true"><path d="{shape_of(lab_of(provider), 5.0)}" '
        f'fill="{ink if full else SURFACE}" stroke="{ink}" stroke-width="1.6"/></svg>'
    )
