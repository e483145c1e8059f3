"""Every picture of the report by name, for pages and for ``mensura figure``."""

from mensura.site.pictures import abilities, calibration, cost, people, stitched
from mensura.site.pictures.benchmark import (
    benchmark_scores,
    group_subject,
    history_figure,
    ladder_figure,
    people_on,
    said_group,
    scores_figure,
)
from mensura.site.pictures.iq import benchmark_bars, dimension_bell, iq_bell
from mensura.site.pictures.profile import profile, profile_picture
from mensura.site.pictures.registry import FAMILIES, PICTURES, Figure, Picture, draw, picture_table

FAMILIES.update(
    {
        "iq-bell-": (dimension_bell, lambda study: list(study.dimension_names), "DIMENSION"),
        "benchmark-": (benchmark_bars, lambda study: study.benchmarks["benchmark"].to_list(), "BENCHMARK"),
        "profile-": (profile_picture, lambda study: study.models.drop_nulls("iq")["subject"].to_list(), "MODEL"),
    }
)

__all__ = [
    "PICTURES",
    "Figure",
    "Picture",
    "abilities",
    "benchmark_bars",
    "benchmark_scores",
    "calibration",
    "cost",
    "dimension_bell",
    "draw",
    "group_subject",
    "history_figure",
    "iq_bell",
    "ladder_figure",
    "people",
    "people_on",
    "picture_table",
    "profile",
    "profile_picture",
    "said_group",
    "scores_figure",
    "stitched",
]
