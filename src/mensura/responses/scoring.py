"""New subjects on the items of a fit that stays as it is: their abilities from their answers, nobody else moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.responses.adaptive import Aim
from mensura.responses.bank import ItemBank
from mensura.responses.irt.shards import dense
from mensura.responses.result import ResponseFit, ability_table
from mensura.responses.table import ResponseTable


def score_new(fit: ResponseFit, answers: ResponseTable, *, aim: Aim | None = None) -> ResponseFit:
    """Return a fit whose subjects are those of ``answers``, on the unchanged scale and items of ``fit``.

    ``aim``: the normal prior of an ability, by default wider than the people, because a model can exceed them all.
    Intervals contain the errors of the items. Raises :class:`MensuraError` if no item is known.
    """
    aim = aim or Aim()
    right, trials = counts_in_bank(answers, fit.bank)
    for name, taken in zip(answers.subjects["subject"], trials.sum(axis=1), strict=True):
        if not taken:
            raise foreign_items(name, fit.bank)
    places = [fit.bank.place(*one, mean=aim.mean, sd=aim.sd) for one in zip(right, trials, strict=True)]
    ability, se = (np.array([getattr(place, name) for place in places]) for name in ("ability", "se"))
    subjects = answers.subjects.select("subject", "group").with_columns(
        n=pl.Series([place.n for place in places]), rate=pl.Series(right.sum(axis=1) / trials.sum(axis=1))
    )
    return replace(fit, subjects=ability_table(subjects, ability, se))


def counts_in_bank(answers: ResponseTable, bank: ItemBank) -> tuple[Floats, Floats]:
    """Return right answers and trials of each subject on the items of a bank; an item ``TASK:ID`` may be ``ID`` there.

    Other items are left out.
    """
    places = {item: place for place, item in enumerate(bank.items)}
    found = [places.get(item, places.get(item.partition(":")[2], -1)) for item in answers.items["item"]]
    taken = np.flatnonzero(np.array(found) >= 0)
    into = np.array(found)[taken]
    right, trials = np.zeros((2, answers.subjects.height, len(bank.items)))
    right[:, into] = dense(answers.right[:, taken])
    trials[:, into] = 1.0 if answers.trials is None else dense(answers.trials[:, taken])
    return right, trials


def foreign_items(name: str, bank: ItemBank) -> MensuraError:
    """Return the error for answers to items that a bank does not have."""
    others = f" or one of {len(bank.items) - 1} others" if len(bank.items) > 1 else ""
    return MensuraError(
        f"{name}: none of its items is in the bank; expected {bank.items[0]!r}{others}. Use the names of items.csv"
    )
