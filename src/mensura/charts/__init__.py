"""Charts: one function per picture, from plain tables to a drawing.

In: tables with named columns, or rows. Out: a :class:`Drawing`, which a page or a notebook shows and which saves itself
as SVG, PNG, PDF or HTML. It draws itself anew at every width: a phone gets its own drawing, not a small one.
Read first: ``theme`` (colours and shapes), ``canvas`` (the sheet), ``labels`` (words and where names go), ``axes``,
``plot`` (two axes), ``forest`` (rows on one axis), ``render`` (files), then one file per kind of picture.
"""

from mensura.charts.among_people import among_people
from mensura.charts.bell import bell_curve
from mensura.charts.canvas import Canvas, resolve
from mensura.charts.estimates import bars, bases, difficulties, drivers, progress, regions, sensors
from mensura.charts.forest import Strip, draw_forest
from mensura.charts.items import information_curve, item_characteristic, item_differences, item_map
from mensura.charts.one_axis import one_axis
from mensura.charts.panels import calibration_stages, level_curves, level_panels, world_scatter
from mensura.charts.plot import Mark, Reference
from mensura.charts.render import Drawing
from mensura.charts.residuals import residuals
from mensura.charts.scatter import alignment_clusters, draw_ladder, scatter
from mensura.charts.share_card import draw_share_card
from mensura.charts.theme import LABS, THEMES
from mensura.charts.timeline import draw_history, timeline, watch

__all__ = [
    "LABS",
    "THEMES",
    "Canvas",
    "Drawing",
    "Mark",
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
    "draw_ladder",
    "draw_share_card",
    "drivers",
    "information_curve",
    "item_characteristic",
    "item_differences",
    "item_map",
    "level_curves",
    "level_panels",
    "one_axis",
    "progress",
    "regions",
    "residuals",
    "resolve",
    "scatter",
    "sensors",
    "timeline",
    "watch",
    "world_scatter",
]
