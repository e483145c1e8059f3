"""How surely a model scores above people: one rule for the errors of both, whoever asks."""

from __future__ import annotations

from math import erfc, sqrt

MODEL_ERROR = 0.02
"""Least standard error of a model's score: two runs of one model on one test differ by about as much."""
ASSUMED_ERROR = 0.05
"""Standard error taken for a group's score where the source gives neither range nor number of people or items."""
PRIOR_TRIALS = 20
"""The rate behind a binomial error is drawn towards ½ by one success and one failure beside so many trials, so that a
perfect score still errs."""


def people_error(score: float, status: str, n: float | None) -> float:
    """Return the standard error of people's rate (0 to 1): binomial if measured, ``n`` people or else items."""
    if status != "measured" or not n:
        return ASSUMED_ERROR
    p = (score * PRIOR_TRIALS + 1) / (PRIOR_TRIALS + 2)
    return sqrt(p * (1 - p) / n)


def chance_over(own: float, variance: float, score: float, stderr: float) -> float:
    """Probability that a true score is above another, ``own`` known with a variance, ``score`` with a standard error.

    The former is never known better than two runs of a model agree.
    """
    ahead = float(own - score) / sqrt(max(variance, MODEL_ERROR**2) + stderr**2)
    return 0.5 * erfc(-ahead / sqrt(2))  # exact in both tails
