"""Drawings for print: their bounds, and their size on paper."""

from pathlib import Path

import pytest

from mensura.core.drawings import check_figure, draw_jobs, draw_spec, pixels_of, write_drawing
from mensura.core.errors import MensuraError

pytestmark = pytest.mark.slow

POINTS_PER_INCH, MM_PER_INCH = 72, 25.4


@pytest.mark.parametrize(("width", "dpi"), [(40, 36), (420, 1200), (89.0, 300), (183.0, 600)])
def test_what_can_be_printed_is_taken_the_bounds_included(width, dpi):
    check_figure(Path("figure.PDF"), width, dpi)


@pytest.mark.parametrize(
    ("name", "width", "dpi", "message"),
    [
        ("a.png", 89, 35, "dpi 35: expected 36 to 1200"),
        ("a.png", 89, 1201, "dpi 1201: expected 36 to 1200"),
        ("a.png", 39.9, 300, "width 39.9 mm: expected 40 to 420 mm"),
        ("a.png", 420.1, 300, "width 420.1 mm: expected 40 to 420 mm"),
        ("a.gif", 89, 300, "unknown format '.gif'"),
    ],
)
def test_what_cannot_is_refused_with_what_can(name, width, dpi, message):
    with pytest.raises(MensuraError, match=message):
        check_figure(Path(name), width, dpi)


def test_lettering_of_eleven_pixels_is_seven_points_high_on_paper(tmp_path):
    pixels = pixels_of(183)
    assert 11 * 183 / pixels * POINTS_PER_INCH / MM_PER_INCH == pytest.approx(7)
    inner = '<rect width="5" height="5"/>'
    write_drawing(f'<svg width="{pixels}" height="110">{inner}</svg>', tmp_path / "a.svg")
    height = 70 / POINTS_PER_INCH * MM_PER_INCH
    assert (tmp_path / "a.svg").read_text() == f'<svg width="183.00mm" height="{height:.2f}mm">{inner}</svg>'


def test_a_chart_that_cannot_be_drawn_is_reported_in_a_sentence():
    with pytest.raises(MensuraError, match=r"without a browser: .*99\.9"):
        draw_spec({"mark": "bar"}, "99.9")


def test_jobs_become_svg_and_png_in_their_order():
    spec = {"mark": "bar", "data": {"values": [{"a": "é"}]}, "encoding": {"x": {"field": "a", "type": "nominal"}}}
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"></svg>'
    jobs = [{"kind": "svg", "spec": spec}, {"kind": "png", "svg": svg, "scale": 2}]
    drawing, picture = draw_jobs(jobs)
    assert drawing.decode() == draw_spec(spec)
    assert int.from_bytes(picture[16:20], "big") == 8


def test_an_inch_has_as_many_dots_as_are_asked_for_and_72_points(tmp_path):
    pixels = pixels_of(MM_PER_INCH)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{pixels:.9f}" height="{2 * pixels:.9f}"></svg>'
    for dpi in (72, 300, 600):
        write_drawing(svg, tmp_path / "a.PNG", dpi)
        head = (tmp_path / "a.PNG").read_bytes()[16:24]
        assert (int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")) == (dpi, 2 * dpi)
    write_drawing(svg, tmp_path / "b.png")
    assert int.from_bytes((tmp_path / "b.png").read_bytes()[16:20], "big") == 300
    write_drawing(svg, tmp_path / "a.pdf")
    assert b"/MediaBox [0 0 72 144]" in (tmp_path / "a.pdf").read_bytes()
