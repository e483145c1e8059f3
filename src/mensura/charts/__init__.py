"""Charts: one function per picture, from plain tables to a drawing.

In: tables with named columns, or rows. Out: a picture, which ``render`` draws for a page or for print. Pictures with
labels that must find a place, colour scales or many panels are Altair charts. Rows with marks, of which a report draws
hundreds, are a :class:`Drawing` of our own: it takes a millisecond where Altair takes a tenth of a second.
Read first: ``theme`` (colours and shapes), ``labels`` (where names go), ``marks`` and ``rows`` (common parts of Altair
charts), ``canvas`` (our own drawings), one file per picture, ``render``.
"""

from mensura.charts.alignment import alignment_clusters
from mensura.charts.among_people import among_people
from mensura.charts.bars import bars
from mensura.charts.bell import bell_curve
from mensura.charts.canvas import Canvas, Drawing, resolve, themed
from mensura.charts.curves import level_curves
from mensura.charts.estimates import bases, difficulties, drivers, progress, regions
from mensura.charts.forest import Reference, Strip, draw_forest
from mensura.charts.heatmap import heatmap
from mensura.charts.human_ladder import LadderPlace, draw_human_ladder, draw_radar
from mensura.charts.item_curves import information_curve, item_characteristic, item_differences
from mensura.charts.item_map import item_map
from mensura.charts.ladders import draw_history, draw_ladder
from mensura.charts.level_panels import level_panels
from mensura.charts.one_axis import one_axis
from mensura.charts.render import drawn, paper, save, web_spec
from mensura.charts.scatter import scatter
from mensura.charts.sensors import sensors
from mensura.charts.share_card import draw_share_card
from mensura.charts.stages import calibration_stages
from mensura.charts.theme import LABS, THEMES
from mensura.charts.timeline import timeline
from mensura.charts.watch import watch
from mensura.charts.worlds import world_scatter

__all__ = [
    "LABS",
    "THEMES",
    "Canvas",
    "Drawing",
    "LadderPlace",
    "Reference",
    "Strip",
    "alignment_clusters",
    "among_people",
    "bars",
    "bases",
    "bell_curve",
    "calibration_stages",
    "difficulties",
    "draw_forest",
    "draw_history",
    "draw_human_ladder",
    "draw_ladder",
    "draw_radar",
    "draw_share_card",
    "drawn",
    "drivers",
    "heatmap",
    "information_curve",
    "item_characteristic",
    "item_differences",
    "item_map",
    "level_curves",
    "level_panels",
    "one_axis",
    "paper",
    "progress",
    "regions",
    "resolve",
    "save",
    "scatter",
    "sensors",
    "themed",
    "timeline",
    "watch",
    "web_spec",
    "world_scatter",
]
