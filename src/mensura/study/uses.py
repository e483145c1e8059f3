"""What a score counts for: the IQ, the IQ of models with few scores, the capability, or nothing, and why."""

from __future__ import annotations

import polars as pl

from mensura.evidence import Evidence
from mensura.iq import ENOUGH, TEACHERS, count_teachers
from mensura.stitching.links import LINKED

IQ, FEW, CAPABILITY, NEITHER = "IQ", "IQ (few scores)", "capability", "neither"
"""What a benchmark counts for; those that count for the IQ count for the capability too."""


def list_benchmarks(evidence: Evidence) -> pl.DataFrame:
    """Return one row per benchmark: benchmark, name, counts_for, dimension, unit, models, newest, because.

    ``models``: how many have a score on it; ``newest``: date of the newest score. Those of the IQ come first.
    """
    counted = evidence.primary_scores.group_by("benchmark").agg(pl.len().alias("models"), newest=pl.col("date").max())
    taught = count_teachers(evidence)
    found = evidence.benchmarks.join(counted, on="benchmark", how="left", maintain_order="left")
    found = found.with_columns(pl.col("models").fill_null(0).cast(pl.Int64))
    uses = [_use(row, taught.get(row["benchmark"])) for row in found.iter_rows(named=True)]
    order = {IQ: 0, FEW: 1, CAPABILITY: 2, NEITHER: 3}
    return (
        found.with_columns(
            pl.Series("counts_for", [use for use, _ in uses], dtype=pl.String),
            pl.Series("because", [why for _, why in uses], dtype=pl.String),
        )
        .sort(pl.col("counts_for").replace_strict(order, return_dtype=pl.Int64), maintain_order=True)
        .select("benchmark", "name", "counts_for", "dimension", "unit", "models", "newest", "because")
    )


def say_uses(evidence: Evidence, scores: pl.DataFrame) -> pl.DataFrame:
    """Return what each score (subject, benchmark) counts for in an evidence that has it, and why.

    ``scores`` keeps its columns and gets ``counts_for`` and ``because``.
    """
    listed = list_benchmarks(evidence).select("benchmark", "counts_for", "because")
    part = evidence.benchmarks.filter("in_composite")["benchmark"].implode()
    own = evidence.primary_scores.filter(pl.col("benchmark").is_in(part)).group_by("subject").agg(own=pl.len())
    enough = (pl.col("counts_for") == FEW) & (pl.col("own") >= ENOUGH)
    said = pl.lit("no part of the IQ, and its model has enough scores on tests that are")
    return (
        scores.join(listed, on="benchmark", how="left", maintain_order="left")
        .join(own, on="subject", how="left", maintain_order="left")
        .with_columns(
            counts_for=pl.when(enough).then(pl.lit(CAPABILITY)).otherwise("counts_for"),
            because=pl.when(enough).then(said).otherwise("because"),
        )
        .drop("own")
    )


def _use(row: dict[str, object], taught: int | None) -> tuple[str, str]:
    """Say what one benchmark counts for; ``taught``: models through which it is read, None where it never is."""
    if row["in_composite"]:
        return IQ, f"part of {row['dimension']}"
    if row["unit"] not in LINKED:
        return NEITHER, f"no link from its unit ({row['unit']}) to a success rate is known"
    if taught is not None and taught >= TEACHERS:
        return FEW, f"no ladder; read through {taught} models while a model has fewer than {ENOUGH} scores of the IQ"
    if row["models"] == 1:
        return NEITHER, "only one model took it, so that it compares nobody"
    if taught is None:
        return CAPABILITY, f"a {row['kind']} test of {row['dimension'] or 'no dimension'}, never part of the IQ"
    return (
        CAPABILITY,
        f"no ladder; for the IQ {TEACHERS} models with {ENOUGH} of its scores must take it (now {taught})",
    )
