"""The frame of a picture that leaves the site: finding, doubt, source, day of the evidence, licence and address."""

import re
from typing import NamedTuple

from mensura.charts.canvas import Canvas
from mensura.charts.theme import paint, resolve, wrapped

_MARGIN = 36.0
_TITLE, _ABOUT, _SMALL = (24.0, 31.0), (15.0, 21.0), (13.0, 18.0)
"""Height of letters and of lines, pixels."""
_SIZE = re.compile(r' (width|height)="([\d.]+)"')
_NARROWEST = 640.0
"""A frame is at least so wide, so that its words have room."""


class FrameWords(NamedTuple):
    """What stands around a picture."""

    finding: str
    about: str
    doubt: str
    source: str
    day: str
    licence: str
    address: str = ""


def frame_picture(svg: str, words: FrameWords) -> str:
    """Put a drawing into its frame.

    Parameters
    ----------
    svg : str
        The drawing, its size in pixels.
    words : FrameWords
        What stands around it.

    Returns
    -------
    str
        The framed picture as SVG text, in the light theme.

    Examples
    --------
    >>> from mensura import charts
    >>> words = charts.FrameWords("A leads.", "Scores.", "Few tests.", "Own scores", "1 May 2026", "CC BY 4.0")
    >>> "A leads." in charts.frame_picture(str(charts.Canvas(100, 50, "dot").svg()), words)
    True

    """
    head, _, inner = svg.partition(">")
    width, height = (float(size) for _, size in _SIZE.findall(head))
    room = max(width, _NARROWEST)
    credit = f"Evidence of {words.day}. Picture: {words.licence}, credit Mensura" + (
        f", {words.address}" if words.address else ""
    )
    above = [(words.finding, _TITLE, paint.ink, "600"), (words.about, _ABOUT, paint.soft, "")]
    below = [
        (f"{label}: {text}", _SMALL, paint.soft, "")
        for label, text in (("Doubt", words.doubt), ("Source", words.source))
    ]
    below.append((credit, _SMALL, paint.soft, ""))
    parts = [
        [(wrapped(text, room, look[0], weight), look, ink, weight) for text, look, ink, weight in lines]
        for lines in (above, below)
    ]
    heights = [sum(len(rows) * look[1] for rows, look, _, _ in part) for part in parts]
    sheet = Canvas(room + 2 * _MARGIN, 2 * _MARGIN + sum(heights) + height + 40, words.finding)
    sheet.parts.append(f'<rect width="100%" height="100%" fill="{paint.surface}"/>')
    bottom = _write(sheet, parts[0], _MARGIN) + 12
    plain = re.sub(r' class="[^"]*"', "", head)
    sheet.parts.append(f'{plain} x="{_MARGIN}" y="{bottom}">{inner}')
    rule = bottom + height + 10
    sheet.line(_MARGIN, rule, _MARGIN + room, rule, paint.ink, 2)
    _write(sheet, parts[1], rule + 12)
    return resolve(str(sheet.svg()))


def _write(sheet: Canvas, part: list[tuple[list[str], tuple[float, float], str, str]], y: float) -> float:
    for rows, (size, step), ink, weight in part:
        for row in rows:
            sheet.words(_MARGIN, y + step / 2, row, fill=ink, size=int(size), weight=weight)
            y += step
    return y
