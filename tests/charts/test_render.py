"""Out of Python: specifications for pages and figures for print."""

import re
import struct
from datetime import date

import polars as pl
import pytest

from mensura import charts
from mensura.core.errors import MensuraError

ROWS = pl.DataFrame(
    {
        "subject": ["a", "b"],
        "name": ["A", "B"],
        "provider": ["OpenAI", "Google"],
        "value": [110.0, 120.0],
        "released": [date(2025, 1, 1), date(2026, 1, 1)],
        "low": [105.0, 118.0],
        "high": [115.0, 122.0],
        "status": ["measured", "estimated"],
        "label": [True, True],
    }
)
OUTCOMES = pl.DataFrame(
    {"subject": ["m"] * 6, "dimension": list("abcdef"), "level": [1] * 6, "rate": [0.5] * 6}
).with_columns(low=pl.lit(0.4), high=pl.lit(0.6))


@pytest.fixture(scope="module")
def chart():
    return charts.timeline(ROWS, y_title="IQ")


def test_page_fills_its_container_in_either_theme(chart):
    light, dark = charts.web_spec(chart, "light"), charts.web_spec(chart, "dark")
    assert light["width"] == "container"
    assert light["config"] != dark["config"]
    assert {key: value for key, value in light.items() if key != "config"} == {
        key: value for key, value in dark.items() if key != "config"
    }


def test_page_data_stand_by_name_once(chart):
    spec = charts.web_spec(chart)
    assert [row["subject"] for row in spec["datasets"]["points"]] == ["b", "a"]
    assert '"values"' not in str(spec["layer"])


def test_page_may_have_its_own_legend(chart):
    assert charts.web_spec(chart, legend=False)["config"]["legend"]["disable"] is True


def test_unknown_theme_is_named(chart):
    with pytest.raises(MensuraError, match="theme 'sepia' is unknown; expected 'light' or 'dark'"):
        charts.web_spec(chart, "sepia")


@pytest.mark.parametrize("width", [89, 183])
def test_figures_have_the_width_asked_for(chart, tmp_path, width):
    svg = charts.save(chart, tmp_path / "x.svg", width_mm=width).read_text(encoding="utf-8")
    wide, high = (float(value) for value in re.search(r'width="([\d.]+)mm" height="([\d.]+)mm"', svg).groups())
    assert wide == pytest.approx(width, abs=0.3)
    assert 0.3 * wide < high < 2 * wide
    pdf = charts.save(chart, tmp_path / "x.pdf", width_mm=width).read_bytes()
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert float(box[1]) == pytest.approx(width / 25.4 * 72, abs=1)
    png = charts.save(chart, tmp_path / "x.png", width_mm=width, dpi=150).read_bytes()
    assert struct.unpack(">I", png[16:20])[0] == pytest.approx(width / 25.4 * 150, abs=3)


def test_figures_are_lettered_for_print(chart):
    spec = charts.paper(chart, 89)
    points_per_pixel = 89 / 25.4 * 72 / spec["width"]
    sizes = [style["fontSize"] for style in spec["config"]["style"].values() if "fontSize" in style]
    assert all(6.9 <= size * points_per_pixel <= 8 for size in (*sizes, spec["config"]["axis"]["labelFontSize"]))
    assert spec["config"]["background"] == "#ffffff"


def test_panels_fill_the_width_of_a_figure(tmp_path):
    chart = charts.level_curves(OUTCOMES)
    assert charts.paper(chart, 89)["columns"] < charts.paper(chart, 183)["columns"]
    svg = charts.save(chart, tmp_path / "x.svg", width_mm=183).read_text(encoding="utf-8")
    assert float(re.search(r'width="([\d.]+)mm"', svg)[1]) == pytest.approx(183, rel=0.06)


def test_unknown_format_and_width_are_named(chart, tmp_path):
    with pytest.raises(MensuraError, match=r"unknown format '\.gif'; expected a name ending in \.svg, \.png, \.pdf"):
        charts.save(chart, tmp_path / "x.gif")
    with pytest.raises(MensuraError, match="width 3 mm: expected 40 to 420 mm"):
        charts.save(chart, tmp_path / "x.svg", width_mm=3)
    for dpi in (0, -300, 100_000):
        with pytest.raises(MensuraError, match=f"dpi {dpi}: expected 36 to 1200"):
            charts.save(chart, tmp_path / "x.png", dpi=dpi)
    assert not list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []
