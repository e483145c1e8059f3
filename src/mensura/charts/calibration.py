"""How often claims came true, by the chance they were made with, and one dot per claim: ink only."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from mensura.charts.canvas import Canvas, scale
from mensura.charts.render import Drawing
from mensura.charts.theme import paint

Row = Mapping[str, Any]
_LEFT, _TOP = 46.0, 22.0
_DOT = 4.5
"""Step of the dots that stand for one claim each, pixels."""
_COLUMNS = 7
"""Dots beside each other in a pile of claims."""


def calibration_curve(groups: Sequence[Row], claims: Sequence[Row]) -> Drawing:
    """Draw the share of claims that came true against the chance they were made with.

    Parameters
    ----------
    groups : sequence of mapping
        said, came_true, low, high (shares from 0 to 1) and n, lowest chance first.
    claims : sequence of mapping
        chance and came_true of every settled claim.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Examples
    --------
    >>> from mensura import charts
    >>> group = {"said": 0.8, "came_true": 0.76, "low": 0.6, "high": 0.9, "n": 33}
    >>> charts.calibration_curve([group], []).description
    'Claims made with a chance of 80% came true 76% of the time (33 claims).'

    """
    about = " ".join(
        f"Claims made with a chance of {row['said']:.0%} came true {row['came_true']:.0%} of the time "
        f"({row['n']} claims)."
        for row in groups
    )

    def draw(width: float) -> Markup:
        side = min(width - _LEFT - 10, 420.0)
        piles = _piles(claims)
        tallest = max(len(true) for true, _, _ in piles) + max(len(false) for _, false, _ in piles)
        height = _TOP + side + 30 + _DOT * (tallest // _COLUMNS + 8)
        sheet = Canvas(width, height, about)
        x, y = scale(0, 1, _LEFT, _LEFT + side), scale(0, 1, _TOP + side, _TOP)
        for share in (0, 0.25, 0.5, 0.75, 1):
            sheet.line(_LEFT, y(share), _LEFT + side, y(share), paint.grid)
            sheet.words(_LEFT - 8, y(share), f"{share:.0%}", anchor="end", size=12)
            anchor = "start" if share == 0 else "end" if share == 1 else "middle"
            sheet.words(
                x(share), _TOP + side + 16, f"said {share:.0%}" if share == 0 else f"{share:.0%}", anchor=anchor
            )
        sheet.line(x(0), y(0), x(1), y(1), paint.ink, 1.25, "2 4")
        sheet.words(x(0.04), y(0.94), "came true more often than we said", fill=paint.soft, size=11)
        sheet.words(x(0.98), y(0.06), "less often: too sure", fill=paint.soft, size=11, anchor="end")
        sheet.path([(x(row["said"]), y(row["came_true"])) for row in groups], paint.ink, 1.25)
        for row in groups:
            sheet.line(x(row["said"]), y(row["low"]), x(row["said"]), y(row["high"]), paint.quiet, 2.2)
            sheet.dot(x(row["said"]), y(row["came_true"]), paint.ink, 2.5 + min(row["n"], 400) ** 0.5 / 2.5)
        _claim_dots(sheet, piles, x, _TOP + side + 34)
        return sheet.svg()

    return Drawing(draw, about, tuple(dict(row) for row in groups), screen=560.0)


def _piles(claims: Sequence[Row]) -> list[tuple[list[Row], list[Row], float]]:
    """Return the claims of each tenth of the chances: those that came true, those that did not, and the middle."""
    piles = []
    for tenth in range(10):
        own = [one for one in claims if min(int(10 * one["chance"]), 9) == tenth]
        true = [one for one in own if one["came_true"]]
        piles.append((true, [one for one in own if not one["came_true"]], (tenth + 0.5) / 10))
    return piles


def _claim_dots(sheet: Canvas, piles: Sequence[tuple[list[Row], list[Row], float]], x: Any, top: float) -> None:  # noqa: ANN401
    """Draw one dot per claim: those that came true above a line, the others, hollow, below it."""
    tallest = max(len(pile[0]) for pile in piles) // _COLUMNS + 1
    line = top + _DOT * tallest + 4
    sheet.line(_LEFT, line, x(1), line, paint.ink)
    sheet.words(_LEFT - 8, line - 9, "true", anchor="end", size=11)
    sheet.words(_LEFT - 8, line + 9, "not", anchor="end", size=11)
    for true, false, middle in piles:
        for way, pile in ((-1, true), (1, false)):
            for place in range(len(pile)):
                row, column = divmod(place, _COLUMNS)
                across, up = x(middle) + _DOT * (column - _COLUMNS // 2), line + way * (4 + _DOT * row)
                sheet.dot(across, up, paint.ink, 1.7, 1.0 if way < 0 else 0.35)
