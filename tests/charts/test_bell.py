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


def test_no_name_covers_the_words_in_the_curve():
    """A dot on the left flank is as high as the words, and its name could run over them."""
    words = charts.labels.text_width("all people")
    crossed = []
    for iq in (77, 79, 81):
        model = {"subject": ["m"], "name": ["A model of a long name"], "provider": ["P"], "iq": [float(iq)]}
        points = pl.DataFrame({**model, "low": [0.0], "high": [200.0], "status": ["measured"], "label": [True]})
        (row,) = charts.web_spec(charts.bell_curve(points))["datasets"]["points"]
        low = min(70, iq - 3)
        for width, lift, spot in zip(charts.labels.WIDTHS, row["lifts"], row["spots"], strict=True):
            if spot is None:
                continue
            x, centre = ((value - low) / (160 - low) * width for value in (iq, 100))
            above = 190 * (row["curve"] - 0.4) + lift - spot["dy"]  # from the middle of the words, pixels
            left, top, right, bottom = charts.labels.Spot(**spot).box(x, 0.0, charts.labels.text_width(row["name"]))
            beside = right <= centre - words / 2 or left >= centre + words / 2
            if not beside and abs(above) < bottom - top:
                crossed.append((iq, width))
    assert crossed == []


@pytest.mark.parametrize(
    ("iqs", "ends"), [([120.0], [70, 160]), ([60.0, 120.0], [57, 160]), ([66.0, 172.0], [63, 175])]
)
def test_the_axis_runs_from_70_to_160_and_three_points_beyond_whoever_is_further_out(iqs, ends):
    names = [f"m{place}" for place in range(len(iqs))]
    facts = {"subject": names, "name": names, "provider": "P", "iq": iqs, "low": None, "high": None}
    points = pl.DataFrame({**facts, "status": "measured", "label": False}, schema_overrides={"low": pl.Float64})
    layers = charts.web_spec(charts.bell_curve(points))["layer"]
    assert {
        tuple(layer["encoding"]["x"]["scale"]["domain"]) for layer in layers if "scale" in layer["encoding"]["x"]
    } == {tuple(ends)}
