"""Letters as outlines: a picture without a browser then looks the same on every machine, and is drawn faster.

``data/letters.json`` holds width and outline of each letter by weight, in thousandths of the letter height. An outline
is a path of relative steps. ``python -m tools.subset_fonts`` makes the file from the sans font of the pages, whose
licence lies beside that font.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from markupsafe import Markup

_FILE = Path(__file__).parent / "data" / "letters.json"
_OTHER_FONTS = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
_UNITS = 1000
"""Of the outlines, per letter height."""


@cache
def _letters(weight: int) -> dict[str, tuple[int, str]]:
    found: dict[str, tuple[int, str]] = json.loads(_FILE.read_text(encoding="utf-8"))[str(weight)]
    return found


def outlined(x: float, y: float, text: str, size: float, fill: str, weight: int = 400) -> Markup:
    """Return a line of text as outlines, its start on the ground line at x, y; ``weight`` is 400 or 700.

    A text with a letter that has no outline here, such as a Chinese one, stays text in a font of the machine.
    """
    letters = _letters(weight)
    if any(letter not in letters for letter in text):
        template = '<text x="{}" y="{}" font-family="{}" font-size="{}" font-weight="{}" fill="{}">{}</text>'
        return Markup(template).format(x, y, _OTHER_FONTS, size, weight, fill, text)
    parts, reached = [], 0
    for letter in text:
        width, outline = letters[letter]
        if outline:
            parts.append(f"M{reached} 0{outline}")
        reached += width
    place = f"translate({x} {y}) scale({size / _UNITS:g})"
    template = '<path role="img" aria-label="{}" transform="{}" fill="{}" d="{}"/>'
    return Markup(template).format(text, place, fill, "".join(parts))
