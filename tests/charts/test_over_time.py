"""Values over time: models by release, the records of a test, and the watch for acceleration."""

from datetime import date

import pytest

from mensura import charts
from tests.charts.reading import SVG, marks_of, place_of, tree_of, words_of

MODELS = {
    "subject": ["old", "new"],
    "name": ["Old", "New"],
    "provider": ["OpenAI", "Google"],
    "released": ["2025-01-01", "2026-01-01"],
    "value": [100.0, 120.0],
    "low": [None, 115.0],
    "high": [None, 125.0],
    "status": ["estimated", "measured"],
    "label": [True, True],
}
FORECAST = {
    "date": ["2026-02-01", "2027-01-01"],
    "value": [121.0, 140.0],
    "low": [120.0, 130.0],
    "high": [122.0, 150.0],
}


def test_later_models_stand_right_and_higher_values_above():
    marks = marks_of(tree_of(charts.timeline(MODELS, y_title="IQ")))
    old = place_of(marks["Old, IQ 100, estimated, released January 2025"])
    new = place_of(marks["New, IQ 120, 115 to 125, measured, released January 2026"])
    assert old[0] < new[0] and old[1] > new[1]


def test_the_words_of_a_forecast_name_its_last_day_whatever_the_order_of_the_rows():
    turned = {name: values[::-1] for name, values in FORECAST.items()}
    for forecast in (FORECAST, turned):
        drawing = charts.timeline(MODELS, y_title="IQ", forecast=forecast)
        assert drawing.description.endswith("Forecast for January 2027: 140, 130 to 150.")
    assert "Forecast" not in charts.timeline(MODELS, y_title="IQ").description


@pytest.mark.parametrize(("today", "shown"), [(date(2025, 6, 1), True), (date(2030, 1, 1), False)])
def test_the_divider_stands_only_where_its_day_is_on_the_axis(today, shown):
    assert ("newest release" in words_of(tree_of(charts.timeline(MODELS, y_title="IQ", today=today)))) == shown


def history(*scores):
    days = [date(2024, 1 + place, 1).toordinal() for place in range(len(scores))]
    marks = [
        charts.Mark(f"m{k}", None, float(day), score, f"m{k}: {score}")
        for k, (day, score) in enumerate(zip(days, scores, strict=True))
    ]
    return tree_of(charts.draw_history(marks, (), tick=str, description="scores"))


def test_only_models_that_set_a_record_are_named():
    """A model that repeats the best score sets none."""
    words = words_of(history(30.0, 25.0, 61.0, 61.0))
    assert [name for name in ("m0", "m1", "m2", "m3") if name in words] == ["m0", "m2"]


def test_of_two_models_of_one_day_the_better_sets_the_record():
    day = float(date(2024, 1, 1).toordinal())
    both = [charts.Mark("less", None, day, 20.0, "less"), charts.Mark("more", None, day, 30.0, "more")]
    words = words_of(tree_of(charts.draw_history(both, (), tick=str, description="scores")))
    assert "more" in words and "less" not in words


def watched(*statistics):
    days = [f"2026-0{month}-01" for month in range(1, len(statistics) + 1)]
    return charts.watch({"date": days, "statistic": list(statistics), "boundary": [2.0] * len(statistics)})


def test_the_first_day_beyond_the_boundary_is_said_and_has_a_large_dot():
    drawing = watched(0.5, 2.5, 2.0)
    assert "; beyond it first in February 2026; last value 2, boundary 2." in drawing.description
    sizes = [float(node.get("r")) for node in tree_of(drawing).iter(f"{SVG}circle")]
    assert sizes[1] > sizes[0] == sizes[2], "at the boundary is not beyond it"


def test_a_watch_without_an_alarm_says_so():
    assert "; never beyond it; " in watched(0.5, 1.0).description
