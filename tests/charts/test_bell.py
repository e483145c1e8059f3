"""The curve that people make on the bell chart is the normal distribution of IQ."""

import polars as pl
import pytest
from scipy.stats import norm

from mensura import charts


def test_the_human_curve_is_normal_with_mean_100_and_standard_deviation_15():
    model = {"subject": ["m"], "name": ["M"], "provider": ["P"], "iq": [131.0], "low": [None], "high": [None]}
    points = pl.DataFrame({**model, "status": ["measured"], "label": [True]}, schema_overrides={"low": pl.Float64})
    datasets = charts.web_spec(charts.bell_curve(points))["datasets"]
    curve = [row for row in datasets["people"] if not row.get("text")]
    people = norm(100, 15)
    assert len(curve) > 100
    for row in curve:
        assert row["curve"] == pytest.approx(people.pdf(row["iq"]) / people.pdf(100), abs=1e-5)
    assert datasets["points"][0]["curve"] == pytest.approx(people.pdf(131) / people.pdf(100), abs=1e-5)
