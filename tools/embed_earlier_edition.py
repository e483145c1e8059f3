"""Make the edition that the package ships, so that "What changed" has something to compare with from the first build.

``python -m tools.embed_earlier_edition``. It scores the embedded evidence as it was at the end of ``UNTIL``: the scores
whose source gives that month or an earlier one, and the models released by then. Kept are the IQ and the number of
scores of each model, who led, and which groups of people were passed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

import mensura
from mensura.core.files import write_text
from mensura.evidence import Evidence
from mensura.iq import score_iq
from mensura.site.editions import SHIPPED, claims_of, count_scores, edition_of, editions_json
from mensura.study.study import Study

UNTIL = "2026-07-31"


def as_of(evidence: Evidence, until: str) -> Evidence:
    """Return the evidence as it was on a day: its scores, models, and what is said of these models."""
    scores = evidence.scores.filter(pl.col("date").str.slice(0, 10) <= until)
    known = evidence.models.filter(
        pl.col("released") <= pl.lit(until).str.to_date(), pl.col("subject").is_in(scores["subject"].unique().to_list())
    )["subject"].to_list()
    tables = {
        name: table.filter(pl.col("subject").is_in(known))
        for name, table in (evidence.tables() | {"scores": scores}).items()
        if "subject" in table.columns
    }
    there = {name: pl.when(pl.col(name).is_in(known)).then(pl.col(name)) for name in ("predecessor", "predecessor2")}
    return replace(evidence, **{**tables, "models": tables["models"].with_columns(**there)})


def main() -> None:
    """Score the earlier evidence and write its edition."""
    earlier = as_of(mensura.load(), UNTIL)
    study = Study.run(earlier)
    iqs = dict(score_iq(earlier).exact.drop_nulls().iter_rows())
    made = edition_of(earlier, iqs, UNTIL, ("The edition that this package ships, for comparison.",))
    made = replace(made, claims=claims_of(study))
    write_text(Path(SHIPPED), editions_json([made]) + "\n")
    counted = count_scores(earlier.scores)
    print(f"{SHIPPED.name}: {len(iqs)} IQs, {len(counted)} models, {earlier.scores.height} scores")


if __name__ == "__main__":
    main()
