"""Why a score is there: reported by the model's maker, or measured by somebody without a stake."""

from __future__ import annotations

import polars as pl

from mensura.evidence import Evidence

MOST = 0.5
"""A model with a larger share of its scores from its maker counts as reported by the maker."""
FEWEST = 5
"""Scores that such a model must have: the correction was tested with five (``benchmarks.iq_selected``), and with one or
two, the models entered in its place differ too much from it."""


def reported_by_makers(evidence: Evidence) -> list[str]:
    """Return the models with five scores or more, most of them measured by their makers.

    A score whose kind nobody says counts as independent.
    """
    own = pl.col("measured_by") == "vendor"
    shares = evidence.primary_scores.group_by("subject").agg(pl.len(), share=own.fill_null(False).mean())
    return sorted(shares.filter(pl.col("share") > MOST, pl.col("len") >= FEWEST)["subject"])
