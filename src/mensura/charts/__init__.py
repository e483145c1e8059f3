"""Charts: one function per picture, from plain tables to a drawing.

In: tables with named columns. Out: an Altair chart, from which ``render`` makes a specification for a page or a
figure for print.
Read first: ``theme`` (colours and shapes), ``labels`` (where names go), ``marks`` and ``rows`` (common parts), one
file per picture, ``render``.
"""

from mensura.charts.alignment import alignment_clusters
from mensura.charts.among_people import among_people
from mensura.charts.bars import bars
from mensura.charts.bell import bell_curve
from mensura.charts.curves import level_curves
from mensura.charts.forest import bases, drivers, progress, regions
from mensura.charts.heatmap import heatmap
from mensura.charts.item_curves import information_curve, item_characteristic, item_differences
from mensura.charts.item_map import item_map
from mensura.charts.ladder import ladder
from mensura.charts.level_panels import level_panels
from mensura.charts.one_axis import one_axis
from mensura.charts.profile import dots
from mensura.charts.render import drawn, paper, save, web_spec
from mensura.charts.scatter import scatter
from mensura.charts.sensors import sensors
from mensura.charts.stages import calibration_stages
from mensura.charts.theme import LABS, THEMES
from mensura.charts.timeline import timeline
from mensura.charts.watch import watch
from mensura.charts.worlds import world_scatter

__all__ = [
    "LABS",
    "THEMES",
    "alignment_clusters",
    "among_people",
    "bars",
    "bases",
    "bell_curve",
    "calibration_stages",
    "dots",
    "drawn",
    "drivers",
    "heatmap",
    "information_curve",
    "item_characteristic",
    "item_differences",
    "item_map",
    "ladder",
    "level_curves",
    "level_panels",
    "one_axis",
    "paper",
    "progress",
    "regions",
    "save",
    "scatter",
    "sensors",
    "timeline",
    "watch",
    "web_spec",
    "world_scatter",
]
