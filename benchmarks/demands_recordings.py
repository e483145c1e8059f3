"""What recorded demand levels are worth: their agreement, their price, and what they say about people.

``python -m benchmarks.demands_recordings``. Two recorded runs of one language model (about 75 mixed items
in a prompt) on real items with human success rates. They are a test–retest of one model, not an agreement of models or
with people; the published figures beside them are those of one call per cell on other items.
"""

from __future__ import annotations

import json

import polars as pl

from benchmarks import development_data, run
from mensura.core.frames import text_table
from mensura.demands import check_demands, measure_agreement, plan_annotation, read_demands
from mensura.demands.protocols import PROTOCOLS
from mensura.llm import estimate

PUBLISHED_RETEST = {"exact": (0.81, 0.86), "within_one": (0.98, 0.98)}
"""Test–retest of one call per cell: 42 cells of two judges on agentic tasks (ADeLe toolkit, swebench-30)."""
VOCABULARY = ("viqt", "word-prevalence")


def agreement_figures(readings: pl.DataFrame) -> dict[str, object]:
    found = measure_agreement(readings)
    print(found.heading)
    wide = found.agreement.pivot("statistic", index="dimension", values="value", maintain_order=True)
    kappa = found.agreement.filter(statistic="kappa").select("dimension", kappa_low="low", kappa_high="high")
    print(text_table(wide.join(kappa, on="dimension", maintain_order="left"), rows=30))
    means = {name: found.shown[name][-1] for name in ("exact", "within_one", "kappa", "alpha_ordinal")}
    print(f"published test–retest of one call per cell, other items: {PUBLISHED_RETEST}\n")
    return {"agreement_mean": means, "published_retest": PUBLISHED_RETEST, "agreement": found.agreement.to_dicts()}


def stumbling_figures(readings: pl.DataFrame, items: pl.DataFrame) -> dict[str, object]:
    """Exact agreement on knowledge dimensions, vocabulary items against the others."""
    both = readings.pivot("annotator", index=["item", "dimension"], values="level").drop_nulls()
    first, second = both.columns[2:]
    kind = pl.when(pl.col("pool").is_in(VOCABULARY)).then(pl.lit("vocabulary")).otherwise(pl.lit("other items"))
    table = (
        both.filter(pl.col("dimension").str.starts_with("KN"))
        .join(items.select("item", "pool"), on="item")
        .group_by("dimension", kind.alias("items"))
        .agg(n=pl.len(), exact=(pl.col(first) == pl.col(second)).mean())
        .sort("dimension", "items")
    )
    print("Where annotators stumble: exact agreement on knowledge, vocabulary against other items")
    print(text_table(table, rows=12), "\n")
    return {"stumbling": table.to_dicts()}


def price_figures(items: pl.DataFrame) -> dict[str, object]:
    plans = {name: plan_annotation(items, protocol=name) for name in PROTOCOLS}
    rows = []
    for name, plan in plans.items():
        told = estimate(plan.questions, "any/model", max_tokens=plan.max_tokens, tokens_out=plan.usual_tokens)
        rows.append((name, len(plan.views), told.calls, told.tokens_in, told.tokens_out))
    table = pl.DataFrame(rows, schema=["protocol", "items", "calls", "tokens_in", "tokens_out"], orient="row")
    print("Packet once, tokens guessed from the length of texts")
    print(text_table(table), "\n")
    return {"protocols": table.to_dicts()}


def meaning_figures(readings: pl.DataFrame, items: pl.DataFrame) -> dict[str, object]:
    found = check_demands(items, readings)
    print(found.heading)
    print(text_table(found.overall, rows=20))
    print("\nSum of levels against logit rates, pool by pool")
    sums = found.correlations.filter(dimension="sum").drop("dimension", "note").sort("r")
    print(text_table(sums, rows=20))
    print("\nPools left out, predicted from the others (mean absolute error of rates)")
    print(text_table(found.prediction.drop("penalty"), rows=30))
    print(text_table(found.verdicts))
    return {
        "overall": found.overall.to_dicts(),
        "sum_by_pool": sums.to_dicts(),
        "prediction": found.verdicts.to_dicts(),
    }


def main() -> None:
    items = pl.read_csv(development_data("items", "items.csv"))
    readings = read_demands(development_data("items", "annotations.csv"))
    first = readings.filter(annotator=readings["annotator"][0])
    figures = {
        **agreement_figures(readings),
        **stumbling_figures(readings, items),
        **price_figures(items),
        **meaning_figures(first, items),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    run(main)
