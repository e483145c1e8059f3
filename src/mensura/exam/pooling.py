"""The answers of people as a pool for :mod:`mensura.people`."""

from __future__ import annotations

import polars as pl

from mensura.exam.gathering import PEOPLE, TAKERS
from mensura.exam.report import ExamReport
from mensura.exam.small_groups import hidden_groups
from mensura.people import ItemPool


def to_pool(report: ExamReport, takers: pl.DataFrame) -> ItemPool:
    """Return the people of a report as a pool; those left out are in its log of exclusions.

    Partial credit counts as wrong below a half. A level of a covariate that is hidden as a small group is null.
    """
    exam = report.exam
    items = pl.DataFrame(
        {
            "item": [item.item for item in exam.scored],
            "domain": [item.domain or item.section or None for item in exam.scored],
            "text": [item.text for item in exam.scored],
            "n_options": [len(item.options) or None for item in exam.scored],
            "needs_picture": [bool(item.picture) for item in exam.scored],
            "language": [exam.settings.language] * len(exam.scored),
        },
        schema_overrides={"domain": pl.String, "n_options": pl.Int64},
    )
    answers = report.responses.filter((pl.col("group") == PEOPLE) & pl.col("correct").is_not_null()).select(
        pl.col("subject").alias("person"), "item", (pl.col("correct") >= 0.5).cast(pl.Int8).alias("correct")
    )
    covariates = [name for name in takers.columns if name not in TAKERS]
    kept = takers.filter(pl.col("subject").is_in(answers["person"].unique().to_list()))
    persons = kept.select(
        pl.col("subject").alias("person"),
        *(pl.when(~pl.col(name).is_in(_hidden(kept[name]))).then(name).alias(name) for name in covariates),
    )
    pool = ItemPool.from_answers(exam.settings.title, items, answers, persons)
    log = report.exclusions.select(
        pl.lit("person").alias("kind"), pl.col("subject").alias("id"), pl.col("rule").alias("reason")
    )
    return ItemPool(pool.name, pool.items, pool.rates, pool.persons, pool.responses, log)


def _hidden(told: pl.Series) -> list[str]:
    """Return the levels that stay out; people who declined are a group as well."""
    counts = dict(told.to_frame("level").group_by("level").len().iter_rows())
    return [level for level in hidden_groups(counts) if level is not None]
