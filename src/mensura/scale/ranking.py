"""Who is ranked and who leads: one rule for every scale. How chances are said.

A model is ranked when enough of it was measured: at least three tests, in two dimensions where tests have one. Ranks
follow the estimates. A chance of being first comes from joint draws of all ranked models.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from mensura.core.arrays import DIGITS, Floats, Mask

FEWEST_TESTS, FEWEST_DIMENSIONS = 3, 2
"""Tests on which a ranked model was measured, and dimensions to which they belong, at least."""
WIDEST_SPREAD = 0.9
"""Widest 90% interval of a ranked capability, in standard deviations among the models."""
TAIL = 0.05
"""Share of draws left out at either end of an interval."""
_SURE, _LIKELY = 0.95, 0.5
"""Chances of being first from which a model almost certainly leads, and probably leads."""
_CERTAIN = 0.99
"""Chances above this, and below its complement, are said as bounds."""
_AN = {8, 11, 18, *range(80, 90)}
"""Percents that are spoken with a vowel first: an 8% chance."""


def rank_subjects(subjects: Sequence[str], estimates: Floats, draws: Floats | None, ranked: Mask) -> pl.DataFrame:
    """Rank those that are ``ranked`` by their estimates, best first; what differs only in last bits keeps its order.

    ``draws``: first axis draws, second subjects; None where nothing was drawn. Columns: rank, subject, rank_low,
    rank_high (the middle 90% of the draws, and the rank itself), p_first (share of draws in which it is highest).
    """
    order = np.argsort(np.where(ranked, -estimates.round(DIGITS), np.inf), kind="stable")[: int(ranked.sum())]
    rank = np.arange(1, order.size + 1)
    low = high = first = np.full(order.size, np.nan)
    if draws is not None and order.size:
        drawn: Floats = 1.0 + np.argsort(np.argsort(-draws[:, order], axis=1, kind="stable"), axis=1).astype(np.float64)
        low, high = rank_interval(drawn)
        low, high, first = np.minimum(low, rank), np.maximum(high, rank), (drawn == 1).mean(axis=0)
    return pl.DataFrame(
        {
            "rank": rank,
            "subject": [subjects[place] for place in order],
            "rank_low": pl.Series(low, nan_to_null=True).cast(pl.Int64),
            "rank_high": pl.Series(high, nan_to_null=True).cast(pl.Int64),
            "p_first": pl.Series(first, nan_to_null=True),
        },
        schema_overrides={"subject": pl.String},
    )


def rank_interval(ranks: Floats) -> tuple[Floats, Floats]:
    """Return the best and the worst rank, with at most 5% of the draws (first axis) beyond either.

    Ranks are whole, so the two contain 90% of the draws or more. A rank that is as likely as 5% is never left out:
    an interval never contradicts the chance of being first.
    """
    best, worst = np.quantile(ranks, [TAIL, 1 - TAIL], axis=0, method="inverted_cdf")
    return best, worst


def say_leader(name: str, chances: Sequence[float | None], ranked: int, when: str = "") -> str:
    """Say in a sentence that a model leads, with its chance of being first among all ranked models.

    ``chances``: one for each way of reckoning; the least sure way decides how strongly the sentence speaks. ``when``: a
    past month in words, such as March 2025; the sentence then says who led.
    """
    numbers = [chance for chance in chances if chance is not None]
    if not numbers:
        return f"{name} has the highest estimate of {ranked:,} models; without draws nobody knows how sure that is."
    low, high = min(numbers), max(numbers)
    verbs = ("led", "have led") if when else ("leads", "lead")
    sure = "almost certainly " if low > _SURE else "probably " if low > _LIKELY else ""
    verb = f"{sure}{verbs[0]}" if sure else f"may {verbs[1]}"
    article = "an" if low > _CERTAIN or round(100 * low) in _AN else "a"
    models = f"all {ranked:,} ranked models" if ranked > 1 else "1 ranked model"
    chance, by_method = say_chance(low), ""
    if say_chance(high) != chance:
        chance, by_method = f"{chance.removesuffix('%')} to {say_chance(high)}", ", by method"
    sentence = f"{name} {verb}: {article} {chance} chance of being first among {models}{by_method}."
    return f"In {when}, {sentence}" if when else sentence


def say_chance(chance: float) -> str:
    """Return a chance in percent; draws cannot tell the last percent from certainty."""
    if chance > _CERTAIN:
        return "over 99%"
    return "under 1%" if 1 - chance > _CERTAIN else f"{chance:.0%}"
