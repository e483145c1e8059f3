"""Charts: one function per picture, from plain tables to a drawing.

In: tables with named columns, or rows. Out: a :class:`Drawing`, which a page or a notebook shows and which saves itself
as SVG, PNG or PDF. It draws itself anew at every width: a phone gets its own drawing, not a small one.
Read first: ``theme`` (colours, shapes, words and where names go), ``canvas`` (the sheet), ``values`` (rows, numbers in
words, axes), ``plot`` (two axes), ``forest`` (rows on one axis), ``lengths`` (time in words), ``render`` (files), then
one file per kind of picture.
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.charts.bell import bell_curve as bell_curve
    from mensura.charts.calibration import calibration_curve as calibration_curve
    from mensura.charts.canvas import Canvas as Canvas
    from mensura.charts.card import draw_share_card as draw_share_card
    from mensura.charts.common_axis import item_map as item_map, one_axis as one_axis
    from mensura.charts.forest import Strip as Strip, draw_forest as draw_forest
    from mensura.charts.frame import FrameWords as FrameWords, frame_picture as frame_picture
    from mensura.charts.lengths import draw_judged as draw_judged, draw_lengths as draw_lengths
    from mensura.charts.over_time import draw_history as draw_history, timeline as timeline, watch as watch
    from mensura.charts.panels import (
        level_curves as level_curves,
        level_panels as level_panels,
        world_scatter as world_scatter,
    )
    from mensura.charts.plot import Mark as Mark, Reference as Reference
    from mensura.charts.profiles import among_people as among_people, residuals as residuals
    from mensura.charts.render import Drawing as Drawing
    from mensura.charts.row_charts import (
        bars as bars,
        estimates as estimates,
        item_differences as item_differences,
        sensors as sensors,
    )
    from mensura.charts.theme import LABS as LABS, THEMES as THEMES, resolve as resolve
    from mensura.charts.two_axes import (
        draw_ladder as draw_ladder,
        information_curve as information_curve,
        item_characteristic as item_characteristic,
        scatter as scatter,
    )

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
