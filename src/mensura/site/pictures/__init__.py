"""Every picture of the report by name, for pages and for ``mensura figure``."""

from mensura.site.pictures import cost, people, stitched
from mensura.site.pictures.iq import benchmark_bars, dimension_bell, iq_bell
from mensura.site.pictures.profile import profile, profile_picture
from mensura.site.pictures.registry import PICTURES, Figure, Picture, draw

__all__ = [
    "PICTURES",
    "Figure",
    "Picture",
    "benchmark_bars",
    "cost",
    "dimension_bell",
    "draw",
    "iq_bell",
    "people",
    "profile",
    "profile_picture",
    "stitched",
]
