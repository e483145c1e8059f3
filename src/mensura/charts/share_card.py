"""The picture that stands for a page where its link is shared: 1200 × 630, the light theme."""

from __future__ import annotations

from collections.abc import Sequence

from mensura.charts.canvas import Canvas, resolve
from mensura.charts.labels import text_width
from mensura.charts.letters import outlined
from mensura.charts.standing import draw_curve
from mensura.charts.theme import LIGHT

WIDTH, HEIGHT = 1200, 630
_MARGIN, _ROOM = 70, WIDTH - 140
_LETTER = 11
"""Height at which widths of texts are known, pixels."""
_GROUND = 585
"""Where the line under the people is, pixels."""
_MOST_LINES = 4


def draw_share_card(title: str, sentence: str, marks: Sequence[tuple[str, float]] = ()) -> str:
    """Return the picture: the product's name, the title, a whole sentence, and models among all people.

    ``marks``: provider and IQ of the models; without any there are only words.
    """
    sheet = Canvas(WIDTH, HEIGHT, title)
    sheet.parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{LIGHT.surface}"/>')
    if marks:
        draw_curve(sheet, (_MARGIN, WIDTH - _MARGIN), _GROUND, marks)
    sheet.parts.append(outlined(_MARGIN, 74, "Mensura", 30, LIGHT.quiet, 700))
    rows = wrapped_lines(title, 56, _ROOM)[:2]
    for step, row in enumerate(rows):
        sheet.parts.append(outlined(_MARGIN, 146 + 64 * step, row, 56, LIGHT.ink, 700))
    y, size = 146 + 64 * len(rows), 34
    for step, row in enumerate(wrapped_lines(sentence, size, _ROOM)[:_MOST_LINES]):
        sheet.parts.append(outlined(_MARGIN, y + 44 * step, row, size, LIGHT.soft, 400))
    return resolve(sheet.svg())


def wrapped_lines(text: str, size: int, room: float) -> list[str]:
    """Return the text in lines that fit; a word longer than a line is cut."""
    lines = [""]
    for word in text.split() or [""]:
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer) * size / _LETTER * 1.08 <= room:
            lines[-1] = longer
        else:
            while text_width(word) * size / _LETTER * 1.08 > room:
                word = word[:-2]
            lines = [*lines, word] if lines[-1] else [word]
    return lines
