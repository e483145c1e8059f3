"""Models below the bell: leaders with names, links where an address is given, and nothing that needs a script."""

import re

import polars as pl
import pytest

from mensura import MensuraError, charts
from mensura.charts.values import people_above

MODELS = 30
POINTS = pl.DataFrame(
    {
        "subject": [f"m{at}" for at in range(MODELS)],
        "name": [f"Model {at}" for at in range(MODELS)],
        "provider": ["OpenAI", "Google", "Somebody"] * 10,
        "iq": [70.0 + 2 * at for at in range(MODELS)],
        "status": ["measured", "estimated"] * 15,
    }
).with_columns(low=pl.col("iq") - 3, high=pl.when(pl.col("iq") > 80).then(pl.col("iq") + 3))


@pytest.fixture(scope="module")
def drawing():
    return charts.bell_curve(POINTS)


def test_a_thousand_people_stand_above_every_model(drawing):
    for svg in (drawing.wide, drawing.narrow):
        columns, pitch = re.search(r'<path d="([^"]*)"[^>]*stroke-dasharray="0 ([\d.]+)"', svg).groups()
        assert sum(1 + round(float(height) / float(pitch)) for height in re.findall(r"v-([\d.]+)", columns)) == 1000
        assert svg.count('class="model-row') == MODELS
    assert 'aria-label="Model 29, IQ 128, 90% 125 to 131, mostly estimated"' in drawing.wide


def test_the_leaders_alone_have_names_so_that_a_file_needs_no_style_sheet(drawing):
    assert re.findall(r'font-weight="600" class="name">(Model \d+) <', drawing.wide)[-3:] == [
        "Model 27",
        "Model 28",
        "Model 29",
    ]
    assert drawing.wide.count('class="name"') == 15
    assert drawing.narrow.count('class="name"') == 10


def test_a_model_with_an_address_is_a_link(drawing):
    linked = charts.bell_curve(POINTS.with_columns(href=pl.format("models/{}.html", "subject"))).wide
    assert '<a href="models/m3.html"' in linked
    assert "<a " not in drawing.wide


def test_the_axis_reaches_whoever_is_lowest():
    low = charts.bell_curve(POINTS.with_columns(iq=pl.col("iq") - 40, low=pl.col("low") - 40, high=None))
    drawn = re.findall(r'translate\(([\d.]+),\d+\)"><path class="line" d="M(-?[\d.]+) 0', low.wide)
    starts = [float(x) + float(left) for x, left in drawn]  # the interval is drawn from the mark
    assert len(set(starts)) == MODELS
    assert min(starts) > 0


def test_no_model_is_said_in_words():
    assert "no model has an IQ here" in charts.bell_curve(POINTS.clear()).wide


def test_unknown_status_and_missing_column_are_refused():
    with pytest.raises(MensuraError, match="status 'guess' is unknown; expected 'measured' or 'estimated'"):
        charts.bell_curve(POINTS.with_columns(status=pl.lit("guess")))
    with pytest.raises(MensuraError, match="missing column 'iq'"):
        charts.bell_curve(POINTS.drop("iq"))


@pytest.mark.parametrize(
    ("iq", "said"), [(70, "98%"), (100, "50%"), (115, "1 in 6"), (145, "1 in 741"), (160, "1 in 32k")]
)
def test_an_axis_says_how_many_people_are_above(iq, said):
    assert people_above(iq) == said
