"""Accessibility of a page in a real browser, by axe: what it finds that is serious, quickly.

axe looks at every element of a page, and a page here has thousands that are alike: rows of a table, words and shapes of
a drawing. What has the same elements with the same classes, colours and roles as a neighbour before it cannot fail
where the neighbour holds, so it is taken out of the page before axe looks; so are bare shapes of drawings, for which
axe has no rule. The page is laid out as a whole first: axe, asking for every place, would have skipped parts laid out
again each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Page

GRAVE = frozenset({"serious", "critical"})
_OPTIONS = {"preload": False, "resultTypes": ["violations"]}
_RUN = """async (options) =>
  (await axe.run(document, options)).violations.map((one) => [one.id, one.impact, one.nodes[0].html])"""
_LONGEST_QUOTE = 160  # characters of the element a finding quotes

_LAID_OUT = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { content-visibility: visible !important; }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""

_WITHOUT_REPEATS = """() => {
  const told = new Set(['class', 'style', 'role', 'fill', 'fill-opacity', 'opacity', 'font-size', 'tabindex']);
  const attribute = (one) => told.has(one.name) ? one.name + '=' + one.value : one.name;
  const shape = (node) => `${node.localName}(${[...node.attributes].map(attribute)})${[...node.children].map(shape)}`;
  const spoken = (one) => /^(role|tabindex|aria-)/.test(one.name);
  const bare = (node) => !node.children.length && ![...node.attributes].some(spoken);
  const gone = [...document.querySelectorAll('svg :is(path, line, rect, circle)')].filter(bare);
  for (const group of document.querySelectorAll('tbody, svg')) {
    const seen = new Set();
    for (const one of group.localName === 'svg' ? group.querySelectorAll('text') : group.rows) {
      const kind = shape(one);
      if (seen.has(kind)) gone.push(one);
      seen.add(kind);
    }
  }
  gone.forEach((one) => one.remove());
  return gone.length;
}"""


class Finding(NamedTuple):
    """A rule that a page breaks, and the first element that breaks it."""

    rule: str
    element: str


def thin_out(page: Page) -> int:
    """Lay a page out as a whole and take out of it what repeats; return how many elements went."""
    page.evaluate(_LAID_OUT)
    return int(page.evaluate(_WITHOUT_REPEATS))


def grave_findings(page: Page) -> list[Finding]:
    """Return what axe finds on a page, as it stands in the browser now, that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    if not page.evaluate("'axe' in window"):  # half a megabyte: a page that is looked at again has it
        page.evaluate(Axe().axe_script)
    found = page.evaluate(_RUN, _OPTIONS)
    return [Finding(rule, element[:_LONGEST_QUOTE]) for rule, impact, element in found if impact in GRAVE]
