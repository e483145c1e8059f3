"""How every picture looks: the colours of each theme, one colour and shape per provider."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from functools import cache

#: Providers with a colour and shape of their own; every other one is drawn as "other".
LABS = (
    *("OpenAI", "Anthropic", "Google", "xAI", "Meta"),
    *("DeepSeek", "Alibaba", "Mistral", "Moonshot AI", "Z.ai"),
)
OTHER = "other"
SHAPES = (
    "circle",
    "M-1,-1H1V1H-1Z",
    "M0,-1.3L1.1,0L0,1.3L-1.1,0Z",
    "M-1,-0.4H-0.4V-1H0.4V-0.4H1V0.4H0.4V1H-0.4V0.4H-1Z",
    "M-1,-1H1L0,1Z",
    "M-1,1H1L0,-1Z",
    "M-1,-1L1,0L-1,1Z",
    "M-1,-0.8L1,0.8L1,-0.8L-1,0.8Z",
    "M0,-1.15L0.27,-0.37L1.09,-0.36L0.43,0.14L0.68,0.93L0,0.46L-0.68,0.93L-0.43,0.14L-1.09,-0.36L-0.27,-0.37Z",
    "M1,-1L-1,0L1,1Z",
    "M0,-1L0.87,-0.5L0.87,0.5L0,1L-0.87,0.5L-0.87,-0.5Z",
)
"""Of the providers and of the others: paths for a radius of 1."""

FONT = '"Mensura Sans", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'


@dataclass(frozen=True)
class Theme:
    """The colours of one theme: surfaces, ink from strong to faint, people, and one colour per provider and for others.

    Warm means people, always and only: ``people`` for their words, ``people_strong`` for marks, ``people_dot`` for the
    thousand dots of the bell. Six providers have a hue, one has the ink, the others share a grey and keep their shape.
    """

    name: str
    surface: str
    ink: str
    soft: str
    quiet: str
    line: str
    grid: str
    people: str
    people_strong: str
    people_dot: str
    accent: str
    labs: tuple[str, ...]


# Hues searched for the largest smallest distance between two makers, and between a maker and people, for all kinds of
# colour vision (Machado 2009); each has a contrast of 3:1 or more with its surface.
LIGHT = Theme(
    name="light",
    surface="#fcfbf8",
    ink="#16181d",
    soft="#474c56",
    quiet="#666b75",
    line="#a5a49d",
    grid="#e7e4dc",
    people="#b3470d",
    people_strong="#c8560f",
    people_dot="#efc6a0",
    accent="#3a4f86",
    labs=(
        *("#04563a", "#8468e8", "#2350a5", "#16181d", "#74777d", "#74777d"),
        *("#1c8ba8", "#74777d", "#7a2466", "#74777d", "#74777d"),
    ),
)
DARK = Theme(
    name="dark",
    surface="#101216",
    ink="#f3f1ec",
    soft="#bfc2c9",
    quiet="#969ba5",
    line="#5d626c",
    grid="#2a2e36",
    people="#ffae73",
    people_strong="#ff9a4d",
    people_dot="#855632",
    accent="#a3b7e8",
    labs=(
        *("#3f9a68", "#9e98f0", "#2f83f6", "#f3f1ec", "#adb0b6", "#adb0b6"),
        *("#83ddfe", "#adb0b6", "#c0609f", "#adb0b6", "#adb0b6"),
    ),
)
PRINT = replace(LIGHT, name="print", surface="#ffffff")
"""The light theme on white paper."""
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}
RADIUS = 5.0
"""Of a model's mark, pixels; a press takes the nearest mark within 24 pixels."""
ROOT = "%ROOT%"
"""Stands in a link of a drawing for the way from its page to the folder of the report."""
_VARIABLE = re.compile(r"var\(--v-([0-9a-f]{6})\)")
_COLOURS = [one.name for one in fields(LIGHT) if one.name not in ("name", "labs")]


def _variable(hexadecimal: str) -> str:
    """Return a light theme's colour as the variable that both themes define."""
    return f"var(--v-{hexadecimal.lstrip('#')})"


paint = replace(
    LIGHT,
    labs=tuple(map(_variable, LIGHT.labs)),
    **{name: _variable(getattr(LIGHT, name)) for name in _COLOURS},
)
"""The colours that drawings are made in: variables, which the theme of the page fills in."""


def lab_of(provider: str | None) -> str:
    """Return the provider itself when it has a colour of its own, else "other"."""
    return provider if provider in LABS else OTHER


@cache
def lab_colour(provider: str | None) -> str:
    """Return a provider's colour, the same everywhere."""
    return paint.labs[[*LABS, OTHER].index(lab_of(provider))]


@cache
def shape_of(lab: str, radius: float = RADIUS) -> str:
    """Return the path of a maker's shape around 0, 0."""
    kind, r = SHAPES[[*LABS, OTHER].index(lab)], radius
    if kind == "circle":
        return f"M{r:g},0A{r:g},{r:g} 0 1 1 {-r:g},0A{r:g},{r:g} 0 1 1 {r:g},0Z"
    return re.sub(r"-?\d*\.?\d+", lambda number: f"{float(number[0]) * r:.1f}", kind)


def resolve(svg: str, theme: Theme = LIGHT) -> str:
    """Return a drawing with the colours of a theme, for a file of its own."""
    colours = _pairs(theme)
    return _VARIABLE.sub(lambda match: colours[f"#{match[1]}"], svg).replace(ROOT, "")


def palette_css(*, follow_system: bool = False) -> str:
    """Return the variables of both themes as a style sheet: the page says which one is in force, or the system."""
    light, dark = (
        "".join(f"--v-{one.lstrip('#')}:{other};" for one, other in _pairs(theme).items()) for theme in (LIGHT, DARK)
    )
    if follow_system:
        return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    rules = [f":root{{{light}}}", f':root[data-theme="dark"]{{{dark}}}']
    rules += [f"@media print{{:root,:root[data-theme=dark]{{{light}}}}}"]
    return "\n".join(rules) + "\n"


def _pairs(theme: Theme) -> dict[str, str]:
    """Return the colours of the light theme, and what each of them is in another one."""
    return dict(zip(LIGHT.labs, theme.labs, strict=True)) | {
        getattr(LIGHT, name): getattr(theme, name) for name in _COLOURS
    }
