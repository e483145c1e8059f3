"""Pages that answer a reader's own question: which model to pick, and how two or more compare."""

from __future__ import annotations

from mensura.site.pages.page import Page
from mensura.study.study import Study

_COMPARED = 3
"""Providers whose best models open the compare page: a picture that is still easy to read."""
MOST_COMPARED = 5


def pick(study: Study) -> Page:
    """Three models for a task, a budget, a speed and a licence, with reasons."""
    return Page(
        "pick.html",
        "Pick a model",
        "Say what matters: the task, the budget, the speed, open weights. Three models answer, with reasons and "
        "with how "
        "sure it is.",
        "pick.html",
        {"dimensions": list(study.dimension_names.items())},
        scripts=("data/models", "data/chances", "odds", "pick"),
        shared=("Task, budget, speed, open weights: three models with reasons.", ()),
    )


def compare(study: Study) -> Page:
    """Two to five models or groups side by side."""
    first = study.ranked.unique("provider", keep="first", maintain_order=True)["subject"]
    return Page(
        "compare.html",
        "Compare",
        "Two to five models or groups of people side by side, on the tests they share; the address keeps your choice.",
        "compare.html",
        {"compared": first.head(_COMPARED).to_list(), "most": MOST_COMPARED},
        scripts=("data/models", "data/compare", "data/chances", "themes", "odds", "compare"),
        shared=("The chance that one model is above the other, on the tests they share.", ()),
    )
