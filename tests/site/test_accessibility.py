"""Accessibility of one page of each kind, by axe in a real browser, light and dark, on a screen and on a phone.

Each kind is looked at in two of the four looks, in turn, so that every look meets every template within two kinds;
``python -m benchmarks.site_size`` looks at all of them.
"""

import pytest

ONE_OF_EACH_KIND = [
    "index.html",
    "models/index.html?provider=Google",  # axe looks at every visible cell, and all rows are alike
    "models/claude-opus-4.8.html",
    "models/claude-opus-5.5.html",  # two scores, no IQ
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


TURNS = [[("light", 1280), ("dark", 390)], [("light", 390), ("dark", 1280)]]
LOOKS = [(name, *look) for place, name in enumerate(ONE_OF_EACH_KIND) for look in TURNS[place % 2]]
_LAID_OUT = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { content-visibility: visible !important; }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""
"""Lays the whole page out at once: axe, asking for every place, would have parts of it laid out again each time."""


@pytest.mark.parametrize(("name", "theme", "width"), LOOKS)
def test_no_serious_fault(visit, draw_all, name, theme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page = draw_all(visit(name, theme=theme, width=width), most=2)
    page.evaluate(_LAID_OUT)
    results = axe.run(page, options={"preload": False})
    serious = [
        (violation["id"], violation["nodes"][0]["html"][:160])
        for violation in results.response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]
    assert serious == []
