"""The picture of a shared link: the finding, a thousand people, and three models with their numbers."""

from collections.abc import Sequence

from mensura.charts.bell import draw_crowd, people_columns
from mensura.charts.canvas import Canvas, Place, scale
from mensura.charts.plot import Mark
from mensura.charts.theme import LIGHT, lab_colour, paint, resolve, text_width, wrapped
from mensura.charts.values import said_above
from mensura.scale.ranking import say_chance

WIDTH, HEIGHT = 1200, 630
_LEFT, _RIGHT = 56.0, 1144.0
_GROUND, _PITCH = 430.0, 8.0
"""Where the people stand, and between two of their dots, pixels; whole numbers keep the file small."""
_ENDS = (55.0, 152.0)
_SIZES = ((52, 58, 2), (46, 52, 2), (40, 46, 3), (34, 40, 3))
"""Of the sentence: lettering, step and most lines; the largest that takes it whole."""
_NAMED = 3
_LOGO = (
    '<g transform="translate(56,36) scale(1.8)"><path d="M1 16.5C7 16.5 7.5 2 13 2s6 14.5 12 14.5" fill="none" '
    f'stroke="{paint.people_strong}" stroke-width="2" stroke-linecap="round"/>'
    f'<circle cx="19.5" cy="8.5" r="3.2" fill="{paint.ink}"/></g>'
)


def draw_share_card(
    title: str, sentence: str, marks: Sequence[Mark] = (), origin: str = "", chances: tuple[float, float] | None = None
) -> str:
    """Return the picture of a shared link; nothing in it is smaller than 21 pixels, for it is seen at a third.

    Parameters
    ----------
    title, sentence : str
        The name of the page, or what is to know about the chances, and the finding.
    marks : sequence of Mark
        Models by IQ, the first three with their names; without any there are only words.
    origin : str
        Address and day.
    chances : tuple of float, optional
        Lowest and highest chance of the first model to lead, over all methods.

    Returns
    -------
    str
        The picture as SVG text, 1200 × 630 pixels, in the light theme.

    Examples
    --------
    >>> from mensura import charts
    >>> charts.draw_share_card("A title", "A sentence.", [charts.Mark("A", "OpenAI", 130.0)])[:4]
    '<svg'

    """
    sheet = Canvas(WIDTH, HEIGHT, title)
    sheet.parts += [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{LIGHT.surface}"/>', _LOGO]
    sheet.words(114, 55, "Mensura", size=28, weight="700")
    sheet.words(_RIGHT, 57, origin, size=22, anchor="end", fill=paint.soft)
    room = _RIGHT - _LEFT
    size, step, most = next(
        (one for one in _SIZES if len(wrapped(sentence, room, one[0], "serif", 9)) <= one[2]), _SIZES[-1]
    )
    sheet.parts.append('<g font-family="Mensura Serif">')
    sheet.lines(_LEFT, 126, wrapped(sentence, room, size, "serif", most), step, size=size)
    sheet.parts.append("</g>")
    if marks:
        ends = [*_ENDS, *(end for one in marks for end in one.ends)]
        at = scale(min(ends), max(ends), _LEFT, _RIGHT)
        _draw_people(sheet, at, round(marks[0].x))
        for place, one in enumerate(marks[:_NAMED]):
            _draw_model(sheet, at, one, 498 + 40.0 * place)
    if chances and marks:
        _draw_chances(sheet, marks[0], chances)
        sheet.words(_LEFT, 589, title, size=22, fill=paint.soft)
    else:
        sheet.lines(_LEFT, 498, wrapped(title, 520, 28, "600", 3), 36, size=28, weight="600", fill=paint.soft)
    return resolve(sheet.svg())


def _draw_people(sheet: Canvas, at: Place, iq: int) -> None:
    """Draw all people as dots, those at or above the first model dark."""
    columns = people_columns(at, _PITCH)
    draw_crowd(sheet, columns, _PITCH, _GROUND, paint.people_dot)
    draw_crowd(sheet, columns, _PITCH, _GROUND, paint.people_strong, iq)
    sheet.words(_LEFT, _GROUND - 172, "1,000 people", size=24, weight="700", fill=paint.people)
    for y, text, weight in zip((58, 30), said_above(iq), ("700", "400"), strict=True):
        sheet.words(_RIGHT, _GROUND - y, text, size=24, weight=weight, fill=paint.people, anchor="end", halo=True)
    sheet.line(_LEFT, _GROUND + 4, _RIGHT, _GROUND + 4, paint.ink, 2)
    sheet.words(_LEFT, _GROUND + 23, "IQ", size=22, weight="600")
    for tick in range(70, 146, 15):
        sheet.words(at(tick), _GROUND + 23, str(tick), size=22, weight="600", anchor="middle")


def _draw_chances(sheet: Canvas, leader: Mark, chances: tuple[float, float]) -> None:
    """Draw the range of the leader's chances on a track from 0 to 100%, tinted while it is mostly estimated."""
    sheet.words(_LEFT, 492, "Chance of being first, by method", size=23, weight="600")
    at, ink = scale(0, 1, _LEFT, _LEFT + 430), lab_colour(leader.provider)
    low, high = map(at, chances)
    tint = 0.25 if leader.status == "estimated" else 1
    for x, width, look in (
        (_LEFT, 430.0, f'fill="{paint.grid}" stroke="{paint.line}"'),
        (low, high - low, f'fill="{paint.surface}"'),
        (low, high - low, f'fill="{ink}" fill-opacity="{tint}" stroke="{ink}" stroke-width="2"'),
    ):
        sheet.parts.append(f'<rect x="{x:.1f}" y="516" width="{max(width, 4):.1f}" height="18" rx="9" {look}/>')
    said = " to ".join(dict.fromkeys(map(say_chance, chances)))
    x = max((low + high) / 2, _LEFT + text_width(said, 23, "600") / 2)
    sheet.words(x, 555, said, size=23, weight="600", anchor="middle")


def _draw_model(sheet: Canvas, at: Place, one: Mark, y: float) -> None:
    """Draw a model with its interval, its name and number on the side with room."""
    low, high = one.ends
    sheet.line(at(low), y, at(high), y, lab_colour(one.provider), 5, opacity=0.55, round_ends=True)
    sheet.sign(at(one.x), y, one.provider, one.status, 10)
    after = f"{one.x:.0f}"
    left = at(low) - text_width(f"{one.name}  {after}", 27, "600") > WIDTH / 2
    x, anchor = (at(low) - 18, "end") if left else (at(high) + 18, "start")
    sheet.words(x, y, one.name, size=27, weight="600", anchor=anchor, after=after)
