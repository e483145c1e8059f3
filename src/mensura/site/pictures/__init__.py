"""Every picture of the report by name, for pages and for ``mensura figure``."""

from collections.abc import Iterable

from mensura.evidence import Evidence
from mensura.iq import read_rules
from mensura.site.pictures import benchmark, first_screen, horizon, iq, passed, people, record, standing, stitched
from mensura.site.pictures.registry import FAMILIES, PICTURES, Family, Figure, draw, find_picture, picture_table

__all__ = [
    "PICTURES",
    "Figure",
    "draw",
    "find_picture",
    "first_screen",
    "passed",
    "people",
    "picture_table",
    "record",
    "stitched",
]


def _models(evidence: Evidence) -> Iterable[tuple[str, str]]:
    return evidence.models.select("subject", "name").iter_rows()


def _dimensions(evidence: Evidence) -> Iterable[tuple[str, str]]:
    return ((key, rule.name) for key, rule in read_rules().dimensions.items())


FAMILIES["iq-bell-"] = Family(iq.dimension_bell, _dimensions, "DIMENSION")
for prefix, of_benchmark in (
    ("scores-", benchmark.scores_figure),
    ("ladder-", benchmark.ladder_figure),
    ("history-", benchmark.history_figure),
):
    FAMILIES[prefix] = Family(benchmark.benchmark_picture(of_benchmark), benchmark.benchmark_keys, "BENCHMARK")
FAMILIES["horizon-curve-"] = Family(horizon.horizon_curve, horizon.horizon_keys, "MODEL")
FAMILIES["maker-"] = Family(benchmark.maker_figure, benchmark.maker_keys, "MAKER")
for prefix, of_model in (
    ("among-", standing.among_people),
    ("profile-", standing.profile),
    ("against-", standing.against_people),
    ("price-", standing.what_it_costs),
    ("task-length-", horizon.task_length),
):
    FAMILIES[prefix] = Family(standing.model_picture(of_model), _models, "MODEL")
