"""How every picture looks: one configuration per theme, one colour and shape per provider.

Charts name styles and colour ranges only; the colours themselves live here, so that a page can change the theme
without touching a chart or its data.
"""

from __future__ import annotations

from dataclasses import dataclass
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

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
PRINT_FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
FONT_SIZE = PIXEL_SIZE  # label placement counts on it


@dataclass(frozen=True)
class Theme:
    """The colours of one theme: surfaces, ink from strong to faint, and one colour per provider and for others."""

    name: str
    surface: str
    ink: str
    quiet: str
    line: str
    grid: str
    people: str
    accent: str
    labs: tuple[str, ...]
    diverging: tuple[str, ...]


# After Okabe and Ito, darkened or lightened until each colour has a contrast of 3:1 with its surface.
LIGHT = Theme(
    name="light",
    surface="#ffffff",
    ink="#1b1f24",
    quiet="#59626e",
    line="#8d96a1",
    grid="#e7eaee",
    people="#8f3f71",
    accent="#0b5cad",
    labs=(
        "#009270",
        "#d55e00",
        "#0072b2",
        "#1b1f24",
        "#2f9bd8",
        "#5b4bb0",
        "#b07a00",
        "#8b1a1a",
        "#c2619a",
        "#6b7a00",
        "#858d97",
    ),
    diverging=("#b2521a", "#e39a5d", "#f6d9be", "#f4f5f6", "#c3dcec", "#6aa9d2", "#1567a3"),
)
DARK = Theme(
    name="dark",
    surface="#12161b",
    ink="#eef1f4",
    quiet="#a7b0bb",
    line="#6d7783",
    grid="#2a3038",
    people="#e39ac6",
    accent="#6cb2f2",
    labs=(
        "#1fc29a",
        "#ff8a3d",
        "#3f9fe0",
        "#f2f4f7",
        "#8fd0f7",
        "#a596f5",
        "#f2b632",
        "#f07178",
        "#f2a3cf",
        "#c3d04a",
        "#87909b",
    ),
    diverging=("#f2a05f", "#b8672d", "#5f3d26", "#232930", "#22465f", "#3884b8", "#7fc4f2"),
)
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
            "people": {"color": theme.people, "strokeWidth": 1.25},
            "people-band": {"color": theme.people, "opacity": 0.08},
            "people-dot": {"color": theme.people},
            "people-label": {**text, "color": theme.people},
            "reference": {"color": theme.quiet, "strokeWidth": 1, "strokeDash": [4, 3]},
            "crowd": {"color": theme.line, "opacity": 0.22},
            "crowd-edge": {"color": theme.line, "strokeWidth": 1.25},
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
