"""Pictures: one function each, plain tables in, an Altair chart out."""

from mensura.charts.bars import bars
from mensura.charts.bell import bell_curve
from mensura.charts.render import paper, save, web_spec
from mensura.charts.scatter import scatter
from mensura.charts.theme import THEMES
from mensura.charts.timeline import timeline

__all__ = ["THEMES", "bars", "bell_curve", "paper", "save", "scatter", "timeline", "web_spec"]
