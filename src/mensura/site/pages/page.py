"""What a page is, its words from ``data/pages.toml``, and which pages the bar at the top names."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from mensura.charts import Mark
from mensura.site.pictures import Figure, draw
from mensura.site.pictures.registry import iq_mark
from mensura.study.headlines import say_lead
from mensura.study.study import Study

_WORDS: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "pages.toml").read_text(encoding="utf-8")
)
NAVIGATION, MORE = (tuple((file, label) for file, label in _WORDS["menus"][menu]) for menu in ("navigation", "more"))
HEADS: dict[str, str] = _WORDS["heads"]
"""What the head of a table says for the key of a column."""
WORDS: dict[str, dict[str, str]] = _WORDS["words"]
"""What pages say for the key of a kind."""
_MARKS = 3
"""Leading models in the picture of a shared link."""


class Shared(NamedTuple):
    """The picture of a shared link: a sentence, the leader's chances, a note in place of the page's title, and models.

    A page without a sentence has the picture of the first page, one without models shows the leading ones.
    """

    sentence: str = ""
    chances: tuple[float, float] | None = None
    note: str = ""
    marks: tuple[Mark, ...] = ()


_PLAIN = Shared()


@dataclass(frozen=True)
class Page:
    """One page: where it goes, how it is drawn, what it shows, and the picture that stands for it when shared.

    ``listed`` is false for pages that search engines and the sitemap leave out.
    """

    file: str
    title: str
    summary: str
    template: str
    context: dict[str, Any] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()
    shared: Shared = _PLAIN
    listed: bool = True

    @property
    def figures(self) -> Iterator[Figure]:
        """Every figure on the page."""
        yield from self.context.get("pictures", [])
        for section in self.context.get("sections", []):
            yield from section.get("pictures", [])

    @property
    def root(self) -> str:
        """The way back to the folder of the report."""
        return "../" * self.file.count("/")


def page_of(
    file: str,
    context: dict[str, Any] | None = None,
    *,
    of: str = "",
    shared: Shared = _PLAIN,
    listed: bool = True,
    **facts: object,
) -> Page:
    """Return a page with its words from ``data/pages.toml``, their braces filled in by ``facts``.

    ``file``: of the page, or its folder where it is one of a kind, whose own name is then ``of``.
    """
    words = _WORDS[file]
    title, summary = (words[key].format(**facts) for key in ("title", "summary"))
    scripts = tuple(words.get("scripts", ()))
    name = f"{file}{of}.html" if of else file
    return Page(name, title, summary, words["template"], context or {}, scripts, shared, listed)


def section_of(
    key: str, rows: Sequence[dict[str, Any]] = (), *, facts: Mapping[str, object] | None = None, **shown: object
) -> dict[str, Any]:
    """Return a section of a page with its words from ``data/pages.toml``, their braces filled in by ``facts``.

    ``rows``: of its table, where it has one; ``shown``: what else it shows, such as pictures.
    """
    words = _WORDS["sections"][key]
    section = {name: text.format(**facts or {}) if isinstance(text, str) else text for name, text in words.items()}
    columns = [(*column, None)[:3] for column in words.get("columns", ())]
    table = {"rows": rows, "columns": columns, "id": words.get("table"), "caption": words.get("caption")}
    return {**section, "id": key, "table": table if columns else None, **shown}


def figures_of(study: Study, *names: str) -> list[Figure]:
    """Return pictures by name, for a page."""
    return [replace(draw(study, name), paged=True) for name in names]


def leader_marks(study: Study) -> tuple[Mark, ...]:
    """Return the leading models for the picture of a shared link."""
    return tuple(map(iq_mark, study.rows.ranked_rows[:_MARKS]))


def shared_lead(study: Study) -> Shared:
    """Return the picture of a shared link that says who leads and how surely."""
    if study.lead is None:
        return Shared(say_lead(study)[0])
    measured, chances = study.rows.ranked_rows[0]["measured"], study.lead.chances.values()
    note = f"{measured} of the leader’s {len(study.iq.matrix.benchmarks)} tests are measured"
    return Shared(say_lead(study)[0], (min(chances), max(chances)), note)
