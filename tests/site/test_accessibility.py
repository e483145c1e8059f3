"""Accessibility of one page of each kind, by axe in a real browser, light and dark, on a screen and on a phone."""

import pytest

ONE_OF_EACH_KIND = [
    "index.html",
    "models/index.html?provider=Google",  # axe looks at every visible cell, and all rows are alike
    "models/claude-opus-4.8.html",
    "benchmarks/index.html?q=arc",
    "benchmarks/osworld_verified.html",
    "people.html",
    "pick.html",
    "compare.html",
    "stitched.html",  # IQ and cost are made from the same template
    "human.html",
    "data.html?q=opus+4.8",
    "changes.html",
    "method.html",
    "404.html",
    "charts/acceleration.html",
]


@pytest.mark.parametrize("name", ONE_OF_EACH_KIND)
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_no_serious_fault(visit, draw_all, name, theme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page = draw_all(visit(name, theme=theme, width=width), most=2)
    results = axe.run(page, options={"preload": False})
    serious = [
        (violation["id"], violation["nodes"][0]["html"][:160])
        for violation in results.response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]
    assert serious == []
