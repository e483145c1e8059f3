"""What a page is, and which of them the bar at the top names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from mensura.site.pictures import Figure, draw
from mensura.study.study import Study

NAVIGATION = (
    ("iq.html", "IQ"),
    ("people.html", "People"),
    ("models/index.html", "Models"),
    ("benchmarks/index.html", "Benchmarks"),
    ("pick.html", "Pick"),
    ("compare.html", "Compare"),
)
MORE = (
    ("index.html", "Start"),
    ("stitched.html", "Scale and time"),
    ("cost.html", "Cost"),
    ("human.html", "The ruler"),
    ("data.html", "Data"),
    ("changes.html", "What changed"),
    ("method.html", "Method"),
)


@dataclass(frozen=True)
class Page:
    """One page: where it goes, how it is drawn, what it shows, and the picture that stands for it when shared.

    ``shared``: a whole sentence and the models (provider, IQ) of that picture; ``listed`` is false for pages that
    search engines and the sitemap leave out.
    """

    file: str
    title: str
    summary: str
    template: str
    context: dict[str, Any] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()
    shared: tuple[str, tuple[tuple[str, float], ...]] = ("", ())
    listed: bool = True

    @property
    def figures(self) -> Iterator[Figure]:
        """Every figure on the page."""
        yield from self.context.get("pictures", [])
        for section in self.context.get("sections", []):
            yield from section.get("pictures", [])
            yield from section.get("further", [])

    @property
    def root(self) -> str:
        """The way back to the folder of the report."""
        return "../" * self.file.count("/")


def figures_of(study: Study, *names: str) -> list[Figure]:
    """Return pictures by name, for a page."""
    return [replace(draw(study, name), paged=True) for name in names]
