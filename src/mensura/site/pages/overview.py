"""The first page: a sentence, the bell of people with every ranked model, and four questions with short answers."""

from __future__ import annotations

from mensura.site.pages.page import Page
from mensura.site.pictures.first_screen import FirstScreen
from mensura.study.study import Study


def overview(study: Study) -> Page:
    """Who leads and how surely, among which people, how fast, and at what cost."""
    context = FirstScreen.of(study).context()
    return Page(
        "index.html",
        "How good is this AI, compared with people?",
        "AI models, benchmarks and groups of people on common, human-anchored scales, with intervals and a source "
        "for every number.",
        "index.html",
        context,
        scripts=("first",),
        shared=("", (context["sentence"],)),
    )
