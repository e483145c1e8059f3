"""Accessibility of one page of each kind, by axe in a real browser."""

import pytest

ONE_OF_EACH_KIND = [
    "index.html",
    "stitched.html",  # IQ and cost are made from the same template
    "human.html",
    "compare.html",
    "data.html#score-table-search=opus+4.8",  # axe looks at every visible cell, and all rows are alike
    "method.html",
    "models/claude-opus-4.8.html",
]


@pytest.mark.parametrize(("name", "theme"), [*((name, "light") for name in ONE_OF_EACH_KIND), ("index.html", "dark")])
def test_no_serious_fault(visit, draw_all, name, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page = draw_all(visit(name, theme=theme), most=6)
    results = axe.run(page, options={"preload": False})
    serious = [
        (violation["id"], violation["nodes"][0]["html"][:120])
        for violation in results.response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]
    assert serious == []
