"""The first page: a sentence, the bell of people with every ranked model, and four questions with short answers."""

from __future__ import annotations

from mensura.site.pages.page import Page
from mensura.site.pictures.first_screen import screen_of
from mensura.study.study import Study

_MARKS = 15
"""Leading models in the picture of a shared link."""


def leader_marks(study: Study) -> tuple[tuple[str, float], ...]:
    """Return provider and IQ of the leading models, lowest first, for the picture of a shared link."""
    rows = study.ranked.head(_MARKS).select("provider", "exact_iq").rows()
    return tuple(rows[::-1])


def overview(study: Study) -> Page:
    """Who leads and how surely, among which people, how fast, and at what cost."""
    context = screen_of(study).context()
    return Page(
        "index.html",
        "How good is this AI, compared with people?",
        "AI models, benchmarks and groups of people on common, human-anchored scales, with intervals and a source "
        "for every number.",
        "index.html",
        context,
        scripts=("first",),
        shared=(context["sentence"], leader_marks(study)),
    )
