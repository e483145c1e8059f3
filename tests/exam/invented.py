"""Invented takers: people and models of known ability, with outcomes as the report reads them."""

import numpy as np
import polars as pl

from mensura.exam import make_form
from mensura.exam.gathering import OUTCOMES, TAKERS
from mensura.exam.scoring import MODELS, PEOPLE


def chances(exam, ability, seed=0):
    """Chance of a right answer, takers × items; difficulties run from −1.5 to 1.5 in the order of the items."""
    difficulty = np.linspace(-1.5, 1.5, len(exam.scored))
    return 1.0 / (1.0 + np.exp(-(np.asarray(ability)[:, None] - difficulty)))


def invent(exam, people, models=(), *, seed=0, repeats=1, about=None):
    """Outcomes and takers of people (abilities) and models (abilities); everybody pays attention."""
    rng = np.random.default_rng(seed)
    names = [item.item for item in exam.scored]
    rows, takers, forms = [], [], []
    for number, chance in enumerate(chances(exam, people)):
        form = make_form(exam, number, forms)
        forms.append(form.items)
        own = [name for name in form.items if name in names]
        person = f"person-{number}"
        for name in own:
            right = float(rng.random() < chance[names.index(name)])
            rows.append((person, PEOPLE, 0, name, right, "right" if right else "wrong", 10.0, None, "x"))
        told = about(number) if about else {question.name: None for question in exam.settings.questions}
        takers.append((person, len(own), len(own), 0, True, 10.0, 0, 0, exam.settings.language, *told.values()))
    for number, chance in enumerate(chances(exam, models) if len(models) else []):
        for repeat in range(repeats):
            for name, p in zip(names, chance, strict=True):
                right = float(rng.random() < p)
                outcome = "right" if right else "wrong"
                rows.append((f"model-{number}", MODELS, repeat, name, right, outcome, 2.0, 0.001, "x"))
    schema = TAKERS | {question.name: pl.String for question in exam.settings.questions}
    return pl.DataFrame(rows, schema=OUTCOMES, orient="row"), pl.DataFrame(takers, schema=schema, orient="row")
