"""Every picture of the report by name, for pages and for ``mensura figure``."""

from mensura.iq import read_rules
from mensura.site.pictures import calibration, cost, people, published, stitched
from mensura.site.pictures.benchmark import (
    benchmark_keys,
    benchmark_picture,
    benchmark_scores,
    group_subject,
    history_figure,
    ladder_figure,
    people_on,
    said_group,
    scores_figure,
)
from mensura.site.pictures.first_screen import FirstScreen
from mensura.site.pictures.human_ladder import beside_figure, ladder_figure as human_ladder_figure
from mensura.site.pictures.iq import dimension_bell, iq_bell
from mensura.site.pictures.maker import maker_keys, maker_picture
from mensura.site.pictures.passed import passed_figure, passed_words
from mensura.site.pictures.registry import (
    FAMILIES,
    PICTURES,
    Family,
    Figure,
    draw,
    find_picture,
    picture_table,
)
from mensura.site.pictures.standing import against_people, among_people, model_picture, profile, what_it_costs

FAMILIES.update(
    {
        "iq-bell-": Family(
            dimension_bell, lambda _: ((key, rule.name) for key, rule in read_rules().dimensions.items()), "DIMENSION"
        ),
        "scores-": Family(benchmark_picture(scores_figure), benchmark_keys, "BENCHMARK"),
        "ladder-": Family(benchmark_picture(ladder_figure), benchmark_keys, "BENCHMARK"),
        "history-": Family(benchmark_picture(history_figure), benchmark_keys, "BENCHMARK"),
        "observed-world-": Family(people.observed_pool, people.pool_keys, "POOL"),
        "maker-": Family(maker_picture, maker_keys, "MAKER"),
        **{
            prefix: Family(
                model_picture(build), lambda evidence: evidence.models.select("subject", "name").iter_rows(), "MODEL"
            )
            for prefix, build in (
                ("among-", among_people),
                ("profile-", profile),
                ("against-", against_people),
                ("price-", what_it_costs),
            )
        },
    }
)

__all__ = [
    "PICTURES",
    "Figure",
    "FirstScreen",
    "benchmark_scores",
    "beside_figure",
    "calibration",
    "cost",
    "dimension_bell",
    "draw",
    "find_picture",
    "group_subject",
    "history_figure",
    "human_ladder_figure",
    "iq_bell",
    "ladder_figure",
    "passed_figure",
    "passed_words",
    "people",
    "people_on",
    "picture_table",
    "profile",
    "published",
    "said_group",
    "scores_figure",
    "stitched",
]
