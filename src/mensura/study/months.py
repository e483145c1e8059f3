"""Who led in each month: the models that were out by then, judged by today's evidence and the same joint draws."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from mensura.scale.ranking import rank_subjects
from mensura.study.study import Study

FIRST = date(2022, 11, 1)
"""The month from which on there is anything to tell: that of ChatGPT."""


@dataclass(frozen=True)
class Month:
    """A month: its first day, the models ranked by its end with their chances of being first, highest IQ first."""

    start: date
    subjects: tuple[str, ...]
    p_first: tuple[float, ...]

    @property
    def name(self) -> str:
        """The month in words."""
        return f"{self.start:%B %Y}"

    @property
    def by_chance(self) -> list[tuple[str, float]]:
        """Models and chances, the likeliest first."""
        return sorted(zip(self.subjects, self.p_first, strict=True), key=lambda pair: -pair[1])


def lead_by_month(study: Study) -> list[Month]:
    """Return every month from the first release (2022 or later) to the newest one, each with who led."""
    ranked = study.ranked.drop_nulls("released")
    if ranked.is_empty():
        return []
    drawn = study.iq.drawn
    released = dict(ranked.select("subject", "released").iter_rows())
    subjects = [name for name in drawn.subjects if name in released]
    draws = np.asarray(drawn.composites)[:, [drawn.places[name] for name in subjects]].astype(np.float64)
    iqs = dict(ranked.select("subject", "exact_iq").iter_rows())
    estimates = np.array([iqs[name] for name in subjects])
    days = np.array([released[name] for name in subjects])
    months, start = [], max(FIRST, days.min().replace(day=1))
    while start <= days.max():
        after = (start + timedelta(days=32)).replace(day=1)
        table = rank_subjects(subjects, estimates, draws, days < after)
        months.append(Month(start, tuple(table["subject"]), tuple(table["p_first"])))
        start = after
    return months
