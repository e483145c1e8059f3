"""The pages in a real browser: every chart draws, cards, filter, compare, converter and tables work."""

import re

import pytest

PAGES = [
    "index.html",
    "iq.html",
    "stitched.html",
    "human.html",
    "cost.html",
    "compare.html",
    "data.html",
    "method.html",
]


def settle(page):
    """Wait until a scroll has been dispatched: the browser tells of it with its next frame."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def reach(page, selector):
    """Scroll to the bell curve, where charts are drawn as they come near, and wait for one of its marks."""
    page.locator('figure[data-chart="iq-bell"]').scroll_into_view_if_needed()
    return page.wait_for_selector(f'figure[data-chart="iq-bell"] {selector}')


@pytest.mark.parametrize("name", [*PAGES, "models/claude-opus-4.8.html"])
def test_every_chart_draws_with_a_description(visit, draw_all, name):
    page = draw_all(visit(name))
    assert page.title().endswith("Mensura")
    for chart in page.query_selector_all(".chart"):
        assert len(chart.get_attribute("aria-label")) > 20
        assert chart.query_selector("svg path, svg circle, svg rect") is not None


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_a_phone(visit, draw_all, name):
    page = draw_all(visit(name, width=380, theme="dark"), most=14)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_card_opens_by_click_and_closes_by_escape_outside_click_and_scroll(visit):
    page = visit("index.html")
    dot = reach(page, '[data-subject][role="button"]')
    dot.scroll_into_view_if_needed()
    dot.hover()
    assert page.query_selector(".card") is None, "hover alone opens nothing"
    for close in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.mouse.click(5, 300),
        lambda: page.mouse.wheel(0, 400),
    ):
        dot.scroll_into_view_if_needed()
        settle(page)
        dot.click(force=True)
        card = page.wait_for_selector(".card")
        assert [tab.inner_text() for tab in card.query_selector_all("[role=tab]")] == ["Summary", "IQ", "Cost"]
        close()
        page.wait_for_selector(".card", state="detached")


def test_card_shows_the_summary_in_its_fixed_order_and_is_reached_by_keyboard(visit):
    page = visit("index.html")
    dot = reach(page, '[data-subject][tabindex="0"]')
    dot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    card = page.wait_for_selector(".card")
    terms = [term.inner_text() for term in card.query_selector_all("dt")]
    assert terms == ["IQ", "Emotional reasoning (EQ)", "Effective cost / 1M I/O", "Task efficiency", "Release date"]
    page.keyboard.press("ArrowRight")
    assert "Mathematical" in card.query_selector("[role=tabpanel]").inner_text()
    page.keyboard.press("ArrowRight")
    assert "Sticker price" in card.query_selector("[role=tabpanel]").inner_text()


def test_provider_filter_applies_to_charts_and_tables_and_stays_in_the_address(visit):
    page = visit("index.html")
    reach(page, "[data-subject]")
    count = "document.querySelectorAll('figure[data-chart=\"iq-bell\"] [data-subject][role=button]').length"
    everyone = page.evaluate(count)
    page.click("text=Three labs")
    page.wait_for_function(f"{count} < {everyone}")
    assert "providers=Anthropic%2CGoogle%2COpenAI" in page.url
    rows = page.query_selector_all("#leader-table tbody tr")
    shown = {row.get_attribute("data-row-provider") for row in rows if row.is_visible()}
    assert shown == {"Anthropic", "Google", "OpenAI"}
    page.click(".nav >> text=Cost")
    page.wait_for_selector('[data-three-labs][aria-pressed="true"]')


def test_theme_can_be_chosen(visit):
    page = visit("index.html")
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert "theme=dark" in page.url


def test_converter_follows_every_field(visit):
    page = visit("human.html")
    page.fill("[name=iq]", "130")
    assert float(page.input_value("[name=one_in]")) == pytest.approx(43.956, abs=0.01)
    assert float(page.input_value("[name=rate]")) == pytest.approx(2.275, abs=0.001)
    page.fill("[name=rate]", "3.8")
    assert float(page.input_value("[name=iq]")) == pytest.approx(126.62, abs=0.01)
    assert float(page.input_value("[name=level]")) == pytest.approx(1.9202, abs=1e-4)
    page.select_option("[name=dimension]", "volume")
    assert float(page.input_value("[name=level]")) == pytest.approx((1.9202 + 0.55) / 1.5, abs=1e-3)
    page.fill("[name=rate]", "140")
    assert page.get_attribute("[name=rate]", "aria-invalid") == "true"
    assert "Out of range" in page.inner_text("output")


def test_converter_is_the_ruler(visit):
    from mensura.scale import rate_to_iq

    page = visit("human.html")
    for rate in (1e-12, 1e-4, 0.02, 0.3, 0.5, 0.77, 0.999):
        page.fill("[name=rate]", str(100 * rate))
        assert float(page.input_value("[name=iq]")) == pytest.approx(rate_to_iq(rate), abs=0.01)


def test_compare_adds_removes_and_remembers(visit):
    page = visit("compare.html#compare=claude-opus-4.8,gpt-5.5")
    assert len(page.query_selector_all("#chosen [data-drop]")) == 2
    page.fill("#add-subject", "People: experts in the field")
    page.dispatch_event("#add-subject", "change")
    page.wait_for_function("document.querySelectorAll('#chosen [data-drop]').length === 3")
    assert "experts in the field" in page.inner_text("#compare-table")
    assert "GPQA Diamond" in page.inner_text("#compare-table")
    page.click("#chosen [data-drop] >> nth=0")
    page.wait_for_function("document.querySelectorAll('#chosen [data-drop]').length === 2")
    assert "claude-opus-4.8" not in page.url


def test_data_table_searches_and_sorts(visit):
    page = visit("data.html")
    page.fill('[data-search="score-table"]', "opus 4.8 gpqa")
    page.wait_for_function("document.querySelector('[data-count=\"score-table\"]').textContent.startsWith('2 ')")
    page.fill('[data-search="score-table"]', "nothing like this")
    page.wait_for_function("document.querySelector('[data-count=\"score-table\"]').textContent === 'Nothing matches.'")
    page.fill('[data-search="score-table"]', "gpqa primary")
    page.wait_for_function("document.querySelector('[data-count=\"score-table\"]').textContent !== 'Nothing matches.'")
    page.click("#score-table th:nth-child(4) button")
    cells = page.eval_on_selector_all(
        "#score-table tbody tr",
        "rows => rows.filter(r => r.style.display === '').map(r => Number(r.cells[3].textContent))",
    )
    assert len(cells) > 10
    assert cells == sorted(cells, reverse=True)


def test_model_page_holds_the_whole_derivation(visit):
    page = visit("models/claude-opus-4.8.html")
    page.click(".tree details details summary >> nth=0")
    assert re.search(r"FrontierMath", page.inner_text(".tree"))
    assert "second source" in page.inner_text("#model-scores")
