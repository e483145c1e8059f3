"""Accessibility of one page of each kind, by axe in a real browser, light and dark, on a screen and on a phone.

Each page is opened once per width and turned dark in place, as a reader's system would turn it.
"""

import pytest

from benchmarks.site_axe import grave_findings, thin_out
from mensura.evidence import slug

ONE_OF_EACH_KIND = [
    "index.html",
    "models/index.html?provider=Google",
    "models/claude-opus-4.8.html",
    "models/claude-opus-5.5.html",  # two scores, no IQ
    "benchmarks/index.html?q=arc",
    "benchmarks/osworld_verified.html",
    "people.html",
    "pick.html",
    "compare.html",
    f"makers/{slug('OpenAI')}.html",
    "index.html?view=jagged",
    "stitched.html",  # IQ and cost are made from the same template
    "human.html",
    "horizon.html",
    "data.html?q=opus+4.8",
    "changes.html",
    "method.html",
    "404.html",
    "charts/acceleration.html",
]


@pytest.fixture(autouse=True)
def _axe():
    pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")


@pytest.mark.parametrize(
    ("name", "width"), [(name, (1280, 390)[place % 2]) for place, name in enumerate(ONE_OF_EACH_KIND)]
)
def test_no_serious_fault_light_and_dark(visit, name, width):
    """One width per kind, in turn; ``python -m benchmarks.site_size`` looks at all four looks of each."""
    page = visit(name, width=width)
    thin_out(page)
    found = {"light": grave_findings(page)}
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    found["dark"] = grave_findings(page)
    assert found == {"light": [], "dark": []}


def test_a_faint_cell_far_down_a_table_and_a_drawing_without_a_name_are_found(visit):
    page = visit("changes.html")
    page.evaluate(
        """() => {
          const table = document.createElement('table');
          const plain = '<tr><td>plain</td></tr>'.repeat(30), faint = '<tr><td style="color: #ccc">faint</td></tr>';
          table.innerHTML = '<tbody>' + plain + faint + '</tbody>';
          const drawing = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
          drawing.setAttribute('role', 'img');
          document.querySelector('main').append(table, drawing);
        }"""
    )
    assert thin_out(page) >= 29
    found = {one.rule: one.element for one in grave_findings(page)}
    assert set(found) == {"color-contrast", "svg-img-alt"}
    assert "faint" in found["color-contrast"]
