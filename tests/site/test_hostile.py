"""Names that are markup, addresses, endless or written from the right: nothing runs, nothing overflows, links work."""

from urllib.parse import unquote

import pytest

from mensura.evidence import slug
from tests.site import hostile

KINDS = [
    "index.html",
    "models/index.html",
    "models/step-3.7-flash.html",
    "models/qwen3.7-plus.html",
    "models/grok-4.3.html",
    f"models/{slug(hostile.ID)}.html",
    "benchmarks/index.html",
    "benchmarks/toolathlon.html",
    "benchmarks/mcp_atlas.html",
    "people.html",
    "pick.html?open=1",
    "compare.html?with=step-3.7-flash&with=qwen3.7-plus&with=glm-5.1&with=grok-4.3&with=constructor",
    "models/constructor.html",
    "iq.html",
    "stitched.html",
    "cost.html",
    "human.html",
    "data.html?q=script",
    "changes.html",
    "method.html",
    "404.html",
    "charts/iq-bell.html",
]


PHONE = (390, 844, "dark")
SCREEN = (1280, 900, "light")
MOST_SCREENS = 20  # of scrolling on a phone


@pytest.mark.parametrize("name", KINDS)
def test_nothing_runs_nothing_overflows_and_links_lead_somewhere(visit, report, name):
    for width, height, theme in (PHONE, SCREEN):
        page = visit(name, width=width, height=height, theme=theme)
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} at {width}"
        assert page.evaluate("document.documentElement.scrollHeight") <= MOST_SCREENS * height
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        assert page.evaluate("document.querySelectorAll('main script, img').length") == 0
    links = page.eval_on_selector_all("a[href]", "all => all.map(a => new URL(a.getAttribute('href'), location).href)")
    base = report.as_uri()
    inside = {link.split("#")[0].split("?")[0] for link in links if link.startswith("file:")}
    assert all(link.startswith(base) for link in inside)
    missing = {link for link in inside if not (report / unquote(link.removeprefix(base + "/"))).is_file()}
    assert missing == set()


def test_names_are_shown_as_they_are(visit):
    page = visit("models/index.html")
    shown = page.inner_text("#models")
    for name in hostile.NAMES.values():
        assert name in shown
    assert hostile.PROVIDER in shown
    page.fill("[name=q]", "<script>")
    page.wait_for_function("document.querySelector('[data-count=models]').textContent.startsWith('1 of')")
    page.click("#models tbody tr:not([hidden]) a")
    page.wait_for_load_state()
    assert page.inner_text("h1") == hostile.SCRIPT


def test_names_with_commas_and_signs_are_found_and_compared(visit):
    page = visit("compare.html?with=gpt-5.5")
    for typed, wanted in (("glm #1, or", "glm-5.1"), ("שפה", "grok-4.3"), ("people, (a/b)", "people:")):
        page.fill("#add-subject", typed)
        page.press("#add-subject", "Enter")
        page.wait_for_function(
            "wanted => [...document.querySelectorAll('[data-drop]')].some(b => b.dataset.drop.startsWith(wanted))",
            arg=wanted,
        )
    assert page.locator("[data-drop]").count() == 4
    assert hostile.NAMES["glm-5.1"] in page.inner_text("#compare-table")
    page.reload()
    page.wait_for_function("document.querySelectorAll('[data-drop]').length === 4")


def test_a_card_of_a_hostile_name_holds_text_only(visit):
    page = visit("benchmarks/gpqa_diamond.html")
    page.evaluate("mensura.card.open('step-3.7-flash', document.querySelector('h1'))")
    card = page.wait_for_selector(".card")
    assert card.query_selector("h2").inner_text() == hostile.SCRIPT
    assert page.evaluate("window.hacked") is None


def test_two_groups_of_people_give_a_picture_and_a_model_called_as_every_object_is(visit):
    page = visit("compare.html?with=constructor")
    for typed in ("crowd workers", "graduates in science"):
        page.fill("#add-subject", typed)
        page.press("#add-subject", "Enter")
    page.wait_for_function("document.querySelectorAll('[data-drop]').length === 3")
    assert "native code" not in page.inner_text("main")
    page.click("[data-drop=constructor]")
    page.wait_for_function("document.querySelectorAll('[data-drop]').length === 2")
    drawn = page.locator("#shared-chart svg")
    assert 40 < float(drawn.get_attribute("height")) < 2000
    assert page.locator("#shared-chart svg g[role=img]").count() >= 4, "two in the legend, two on the test they share"
    assert "Nothing to draw" in page.inner_text("#dims-chart")
    said = page.inner_text("#chosen")
    assert "ARC-AGI-1, measured" in said, "no group without its test and how its score came about"
