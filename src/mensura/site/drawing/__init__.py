"""Pictures that the pages draw by themselves as SVG: quick to make, there before any script runs, in both themes."""

from mensura.site.drawing.canvas import Canvas, Drawing, resolve, themed
from mensura.site.drawing.forest import Reference, Strip, draw_forest
from mensura.site.drawing.ladders import draw_history, draw_ladder
from mensura.site.drawing.people import LadderPlace, draw_human_ladder, draw_radar
from mensura.site.drawing.share_card import draw_share_card

__all__ = [
    "Canvas",
    "Drawing",
    "LadderPlace",
    "Reference",
    "Strip",
    "draw_forest",
    "draw_history",
    "draw_human_ladder",
    "draw_ladder",
    "draw_radar",
    "draw_share_card",
    "resolve",
    "themed",
]
