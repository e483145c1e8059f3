"""The best model on each test beside people: one table, from which the headline and every page take their words."""

import numpy as np
import polars as pl

from mensura.evidence import Evidence
from mensura.evidence.passing import comparable_people
from mensura.iq import IqResult

_PEOPLE = ("measured", "estimated")
_WORDS = {"estimated": "judged"}


def leaders_beside_people(evidence: Evidence) -> pl.DataFrame:
    """Return one row per benchmark with scores: the leader, and the best group of people comparable with it.

    Comparable are groups who could be expected to take the test, whose score is in the benchmark's own metric and was
    measured or judged (``human_status``); measured ones go before judged ones. A panel (the union of its members) and
    what follows from the scoring rule are no people. Without such a group the human columns are null.
    """
    names = evidence.models.select("subject", "name", "released")
    best = (
        evidence.primary_scores.join(names, on="subject")
        .sort("benchmark", "score", "released", descending=[False, True, False])
        .unique("benchmark", keep="first", maintain_order=True)
        .select("benchmark", "unit", "subject", "score", model="name")
    )
    units = evidence.benchmarks.select("benchmark", "unit")
    people = (
        evidence.human_references.join(comparable_people(), on=["benchmark", "group"], how="left")
        .join(units, on=["benchmark", "unit"])
        .filter(
            pl.col("comparable").fill_null(value=True),
            pl.col("status").is_in(_PEOPLE),
            ~pl.col("group").str.contains("panel"),
        )
        .sort("benchmark", pl.col("status") != "measured", "score", descending=[False, False, True])
        .unique("benchmark", keep="first", maintain_order=True)
        .select("benchmark", people="group", human_score="score", human_status=pl.col("status").replace(_WORDS))
    )
    named = evidence.benchmarks.select("benchmark", title="name")
    return named.join(best, on="benchmark", maintain_order="left").join(
        people, on="benchmark", how="left", maintain_order="left"
    )


# How much of each model was measured: the mark beside its rank.
#
# Who is ranked and who leads is one rule for all scales (:mod:`mensura.scale.ranking`). A model is well measured when
# two or more of its own scores stand behind most of its dimensions. That stands beside its rank and is a filter, no
# reason to leave it out.
#
# The mean of the measured benchmarks alone is given too, and never ranked by: models were measured on different tests,
# and a gap where a model is weak would lift it.

OWN_SCORES = 2
"""Measured benchmarks from which a dimension is a model's own: one source alone is drawn as an estimate."""
MOST_DIMENSIONS = 4
"""Dimensions of its own from which a model is well measured: most of seven."""


def measure_own(iq: IqResult) -> pl.DataFrame:
    """Return subject, own_dimensions, own_iq (mean over them of measured benchmarks) and well_measured."""
    matrix = iq.matrix
    members = np.asarray(matrix.members, dtype=np.float64)
    measured = np.asarray(matrix.measured, dtype=bool)
    sizes = measured @ members
    counted = sizes >= OWN_SCORES
    means = np.where(measured, iq.filled.iqs[0], 0.0) @ members / np.maximum(sizes, 1.0)
    own = counted.sum(axis=1)
    own_mean = np.where(own > 0, np.where(counted, means, 0.0).sum(axis=1) / np.maximum(own, 1), np.nan)
    return pl.DataFrame(
        {
            "subject": matrix.subjects,
            "own_dimensions": own,
            "own_iq": pl.Series(own_mean, nan_to_null=True),
            "well_measured": own >= MOST_DIMENSIONS,
        }
    )
