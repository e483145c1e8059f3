"""Out of Python: pictures for pages and notebooks, and files for print."""

import re
import struct
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from mensura import charts
from mensura.charts.render import check_figure, pixels_of, to_png, write_drawing
from mensura.charts.theme import DARK, LIGHT
from mensura.core.errors import MensuraError

POINTS_PER_INCH, MM_PER_INCH = 72, 25.4
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


@pytest.fixture(scope="module")
def chart():
    return charts.timeline(ROWS, y_title="IQ")


def png_size(png):
    return struct.unpack(">II", png[16:24])


def test_a_page_shows_the_drawing_that_fits_and_its_colours_follow_the_theme(chart):
    html = chart.html
    assert html.index('class="only-wide"') < html.index('viewBox="0 0 1100') < html.index('class="only-narrow"')
    assert 'viewBox="0 0 358' in html
    assert not re.search(r'(fill|stroke)="#', html)


def test_a_notebook_shows_it_in_the_light_theme(chart):
    assert chart._repr_svg_().startswith("<svg")
    assert "var(--" not in chart._repr_svg_()


def test_a_drawing_brings_the_rows_behind_its_marks(chart):
    assert [row["subject"] for row in chart.rows] == ["b", "a"]
    assert chart.rows[0]["released"] == "2026-01-01"


def test_light_is_on_white_and_dark_in_its_own_colours(chart):
    light, dark = chart.svg(), chart.svg(theme="dark")
    assert '<rect width="100%" height="100%" fill="#ffffff"/>' in light
    assert f'<rect width="100%" height="100%" fill="{DARK.surface}"/>' in dark
    assert LIGHT.ink in light and DARK.ink in dark and LIGHT.soft not in dark
    assert re.sub("#[0-9a-f]{6}", "", light) == re.sub("#[0-9a-f]{6}", "", dark)
    with pytest.raises(MensuraError, match="theme 'sepia' is unknown; expected 'light' or 'dark'"):
        chart.svg(theme="sepia")


@pytest.mark.parametrize("width", [89, 183])
def test_figures_have_the_width_asked_for(chart, tmp_path, width):
    svg = chart.save(tmp_path / "x.svg", width_mm=width).read_text(encoding="utf-8")
    wide, high = (float(value) for value in re.search(r'width="([\d.]+)mm" height="([\d.]+)mm"', svg).groups())
    assert wide == pytest.approx(width, abs=0.3)
    assert 0.3 * wide < high < 2 * wide
    ElementTree.fromstring(svg)
    png = chart.save(tmp_path / "x.png", width_mm=width, dpi=150).read_bytes()
    assert png_size(png)[0] == pytest.approx(width / MM_PER_INCH * 150, abs=3)


def test_a_pdf_has_the_width_asked_for_and_its_text_in_our_font(chart, tmp_path):
    pytest.importorskip("typst", reason="the extra pdf is not installed")
    pdf = chart.save(tmp_path / "x.pdf", width_mm=89).read_bytes()
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert float(box[1]) == pytest.approx(89 / MM_PER_INCH * POINTS_PER_INCH, abs=1)
    assert b"MensuraSans" in pdf


def test_a_pdf_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "typst", None)
    with pytest.raises(MensuraError, match=r"a PDF needs the package typst; run: pip install 'mensura\[pdf\]'"):
        check_figure(Path("x.pdf"), 89)


def test_unknown_format_and_width_are_named(chart, tmp_path):
    with pytest.raises(MensuraError, match=r"unknown format '\.gif'; expected a name ending in \.svg, \.png, \.pdf"):
        chart.save(tmp_path / "x.gif")
    with pytest.raises(MensuraError, match="width 3 mm: expected 40 to 420 mm"):
        chart.save(tmp_path / "x.svg", width_mm=3)
    for dpi in (0, -300, 100_000):
        with pytest.raises(MensuraError, match=f"dpi {dpi}: expected 36 to 1200"):
            chart.save(tmp_path / "x.png", dpi=dpi)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("width", "dpi"), [(40, 36), (420, 1200), (89.0, 300), (183.0, 600)])
def test_what_can_be_printed_is_taken_the_bounds_included(width, dpi):
    check_figure(Path("figure.PNG"), width, dpi)


@pytest.mark.parametrize(
    ("width", "dpi", "message"),
    [
        (89, 35, "dpi 35: expected 36 to 1200"),
        (89, 1201, "dpi 1201: expected 36 to 1200"),
        (39.9, 300, "width 39.9 mm: expected 40 to 420 mm"),
        (420.1, 300, "width 420.1 mm: expected 40 to 420 mm"),
    ],
)
def test_what_cannot_is_refused_with_what_can(width, dpi, message):
    with pytest.raises(MensuraError, match=message):
        check_figure(Path("a.png"), width, dpi)


def test_lettering_of_eleven_pixels_is_seven_points_high_on_paper(tmp_path):
    pixels = pixels_of(183)
    assert 11 * 183 / pixels * POINTS_PER_INCH / MM_PER_INCH == pytest.approx(7)
    inner = '<rect width="5" height="5"/>'
    write_drawing(f'<svg width="{pixels}" height="110">{inner}</svg>', tmp_path / "a.svg")
    height = 70 / POINTS_PER_INCH * MM_PER_INCH
    assert (tmp_path / "a.svg").read_text() == f'<svg width="183.00mm" height="{height:.2f}mm">{inner}</svg>'


def test_an_inch_has_as_many_dots_as_are_asked_for(tmp_path):
    pixels = pixels_of(MM_PER_INCH)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{pixels:.9f}" height="{2 * pixels:.9f}"></svg>'
    for dpi in (72, 300, 600):
        write_drawing(svg, tmp_path / "a.PNG", dpi)
        assert png_size((tmp_path / "a.PNG").read_bytes()) == (dpi, 2 * dpi)


def test_a_letter_that_our_font_lacks_is_drawn_with_another_font():
    """Ours alone would leave it blank; so would a machine without any font for it."""
    sheet = charts.Canvas(60, 30, "")
    sheet.words(5, 15, "≥ 5")
    latin = charts.Canvas(60, 30, "")
    latin.words(5, 15, "  5")
    assert to_png(charts.resolve(sheet.svg()), 1.0) != to_png(charts.resolve(latin.svg()), 1.0)
