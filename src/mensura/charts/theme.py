"""How every picture looks: one configuration per theme, one colour and shape per provider.

Charts name styles and colour ranges only; the colours themselves live here, so that a page can change the theme
without touching a chart or its data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mensura.core.drawings import PIXEL_SIZE

#: Providers with a colour and shape of their own; every other one is drawn as "other".
LABS = (
    "OpenAI",
    "Anthropic",
    "Google",
    "xAI",
    "Meta",
    "DeepSeek",
    "Alibaba",
    "Mistral",
    "Moonshot AI",
    "Z.ai",
)
OTHER = "other"
_HEXAGON = "M0,-1L0.87,-0.5L0.87,0.5L0,1L-0.87,0.5L-0.87,-0.5Z"
_BOW = "M-1,-0.8L1,0.8L1,-0.8L-1,0.8Z"
_STAR = "M0,-1.15L0.27,-0.37L1.09,-0.36L0.43,0.14L0.68,0.93L0,0.46L-0.68,0.93L-0.43,0.14L-1.09,-0.36L-0.27,-0.37Z"
SHAPES = (
    "circle",
    "square",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-up",
    "triangle-right",
    _BOW,
    _STAR,
    "triangle-left",
    _HEXAGON,
)

FONT = '"Mensura Sans", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
PRINT_FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
FONT_SIZE = PIXEL_SIZE  # label placement counts on it


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
    diverging: tuple[str, ...]


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
        "#04563a",
        "#8468e8",
        "#2350a5",
        "#16181d",
        "#74777d",
        "#74777d",
        "#1c8ba8",
        "#74777d",
        "#7a2466",
        "#74777d",
        "#74777d",
    ),
    diverging=("#4f6d0a", "#94ad55", "#dbe4c3", "#f4f2ec", "#dcd6f3", "#a08fe0", "#5b3fc4"),
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
        "#3f9a68",
        "#9e98f0",
        "#2f83f6",
        "#f3f1ec",
        "#adb0b6",
        "#adb0b6",
        "#83ddfe",
        "#adb0b6",
        "#c0609f",
        "#adb0b6",
        "#adb0b6",
    ),
    diverging=("#b7d267", "#7a9138", "#3a4620", "#1a1d23", "#332b5c", "#6f5fc0", "#a99bf5"),
)
PRINT = replace(LIGHT, name="print", surface="#ffffff")
"""The light theme on white paper."""
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def config(theme: Theme, *, font: str = FONT) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a theme: transparent ground, quiet grid, titles at the axis ends."""
    text = {"font": font, "fontSize": FONT_SIZE}
    return {
        "font": font,
        "background": "transparent",
        "lineBreak": "\n",
        "padding": {"left": 4, "right": 10, "top": 4, "bottom": 4},
        "view": {"stroke": None},
        "range": {"category": list(theme.labs), "symbol": list(SHAPES), "diverging": list(theme.diverging)},
        "axis": {
            "labelColor": theme.quiet,
            "labelFontSize": FONT_SIZE,
            "titleColor": theme.quiet,
            "titleFontSize": FONT_SIZE,
            "titleFontWeight": 500,
            "gridColor": theme.grid,
            "gridWidth": 1,
            "domainColor": theme.line,
            "tickColor": theme.line,
            "tickSize": 4,
            "labelPadding": 5,
            "labelOverlap": "greedy",
            "labelSeparation": 8,
            "labelLimit": 0,  # none: to cut a text, the library measures it many times
            "titleLimit": 0,
        },
        "axisX": {"titleAnchor": "end", "titleAlign": "right", "titlePadding": 8, "grid": False},
        "axisY": {
            "titleAngle": 0,
            "titleAnchor": "end",
            "titleAlign": "left",
            "titleBaseline": "bottom",
            "titleX": 0,
            "titleY": -9,
            "domain": False,
            "ticks": False,
        },
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "title": None,
            "labelColor": theme.quiet,
            "labelFontSize": FONT_SIZE,
            "labelLimit": 0,
            "symbolStrokeColor": "transparent",
            "titleColor": theme.quiet,
            "titleFontSize": FONT_SIZE,
            "titleFontWeight": 500,
            "columnPadding": 12,
            "rowPadding": 3,
            "offset": 16,
        },
        "header": {
            "labelColor": theme.ink,
            "labelFontSize": FONT_SIZE,
            "labelFontWeight": 600,
            "labelAnchor": "start",
            "labelBaseline": "bottom",
        },
        "title": {"color": theme.ink, "fontSize": 13, "anchor": "start"},
        "style": {
            "label": {**text, "color": theme.ink},
            "halo": {
                **text,
                "color": theme.surface,
                "stroke": theme.surface,
                "strokeWidth": 3,
                "strokeJoin": "round",
                "opacity": 0.85,
            },
            "hint": {**text, "color": theme.quiet},
            "leader": {"color": theme.line, "strokeWidth": 0.75},
            "interval": {"strokeWidth": 1, "opacity": 0.28},
            "people": {"color": theme.people_strong, "strokeWidth": 1.25},
            "people-band": {"color": theme.people_strong, "opacity": 0.08},
            "people-dot": {"color": theme.people_strong},
            "people-label": {**text, "color": theme.people},
            "reference": {"color": theme.quiet, "strokeWidth": 1, "strokeDash": [4, 3]},
            "crowd": {"color": theme.people_dot, "opacity": 0.45},
            "crowd-edge": {"color": theme.people_strong, "strokeWidth": 1.25},
            "fan": {"color": theme.accent, "opacity": 0.15},
            "trend": {"color": theme.accent, "strokeWidth": 1.75},
            "plain": {"color": theme.accent},
            "plain-rule": {"color": theme.accent, "strokeWidth": 1.75},
            "span": {"color": theme.accent, "opacity": 0.3},
            "heading": {**text, "color": theme.ink, "fontWeight": 600},
            "peak": {"color": theme.accent},
            "rung": {"color": theme.line},
            "tick": {"color": theme.ink},
        },
    }


def lab_of(provider: str | None) -> str:
    """Return the provider itself when it has a colour of its own, else "other"."""
    return provider if provider in LABS else OTHER
