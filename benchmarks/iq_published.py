"""Agreement with the published IQs: composite, dimensions, and the fitted constants under cross-validation.

``python -m benchmarks.iq_published``. Only scores of the publisher's own snapshot are used, which is development data.
Without it the published composites (benchmarks/data/iq_published.csv) are met with the embedded evidence; the rest is
left out.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import optional_data, run
from benchmarks.measured import record
from mensura.core.frames import text_table
from mensura.evidence import Evidence, load
from mensura.iq import IqResult, IqRules, read_rules, score_costs, score_iq
from tools.facts import import_facts

EMBEDDED = Path(__file__).parent / "data" / "iq_published.csv"
GRID = {
    "shrinkage": (4.0, 8.0, 12.0),
    "penalty": (0.75, 1.0, 1.25),
    "penalty_single": (1.0, 1.25, 1.5),
    "margin": (5.0, 8.0),
    "margin_single": (7.0, 9.0, 11.0),
    "band": (3.0, 4.0, 6.0),
}
FOLDS = 5


def meet_embedded() -> None:
    """Compare composites of the embedded evidence with the published ones: what every clone can check."""
    published = pl.read_csv(EMBEDDED)
    figures: dict[str, object] = {}
    for ladders in ("published", "recut"):
        result = score_iq(as_publisher_has_it(load()), method="published", source="aiiq", ladders=ladders)
        errors = composite_errors(result, published)["error"]
        size = errors.abs()
        print(f"Ladders {ladders}: composite of {errors.len()} models, mean absolute error {size.mean():.2f}, ", end="")
        print(f"bias {errors.mean():+.2f}, largest {size.max()}, within 1 point {(size <= 1).mean():.0%}")
        figures[ladders] = {"n": errors.len(), "composite_mae": size.mean(), "composite_bias": errors.mean()}
    print("Dimensions, costs and the cross-validated constants need the publisher's own table (development data)")
    print(json.dumps(figures))


def as_publisher_has_it(evidence: Evidence) -> Evidence:
    """Put both versions of FrontierMath back into one test: the publisher does not separate them."""
    one = pl.col("benchmark").str.replace("frontiermath_v1_", "frontiermath_", literal=True)
    return replace(evidence, scores=evidence.scores.with_columns(one))


def composite_errors(result: IqResult, published: pl.DataFrame) -> pl.DataFrame:
    both = published.drop_nulls("published").select("subject", "published").join(result.composites, on="subject")
    return both.select("subject", "published", "iq", error=pl.col("iq") - pl.col("published"))


def dimension_table(result: IqResult, published: pl.DataFrame) -> pl.DataFrame:
    """One row per dimension and kind: error, bias, and exact agreement after rounding."""
    rows = []
    for dimension in result.matrix.dimensions:
        column = dimension.replace("-", "_")
        theirs = published.select("subject", theirs=f"{column}_iq", imputed=f"{column}_imputed").drop_nulls("theirs")
        ours = result.dimensions.filter(pl.col("dimension") == dimension)
        joined = theirs.join(ours, on="subject").with_columns(error=pl.col("iq") - pl.col("theirs"))
        kinds = {
            "every benchmark measured": joined.filter(pl.col("status") == "measured"),
            "some measured or inherited": joined.filter(
                pl.col("status").is_in(["partly measured", "inherited"]) & (pl.col("imputed") == "no")
            ),
            "estimated": joined.filter(
                ~pl.col("status").is_in(["measured", "partly measured", "inherited"]) | (pl.col("imputed") == "yes")
            ),
        }
        for kind, part in kinds.items():
            if part.height:
                exact = int(((part["iq"] + 0.5).floor() == part["theirs"]).sum())
                size = part["error"].abs().mean()
                rows.append((dimension, kind, part.height, exact, size, part["error"].mean()))
    return pl.DataFrame(rows, schema=["dimension", "kind", "n", "exact", "mae", "bias"], orient="row")


def cross_validated(evidence: Evidence, published: pl.DataFrame, rules: IqRules) -> tuple[float, float, int]:
    """Choose constants on four fifths of the models, measure on the rest: MAE, MAE of the best, settings tried."""
    errors = []
    for values in product(*GRID.values()):
        named = dict(zip(GRID, values, strict=True))
        band = replace(rules.dimension, band=named.pop("band"))
        tried = replace(rules, correlation=replace(rules.correlation, **named), dimension=band)
        errors.append(
            composite_errors(score_iq(evidence, method="published", source="aiiq", rules=tried), published)[
                "error"
            ].abs()
        )
    table = np.array([series.to_numpy() for series in errors])
    order = np.random.default_rng(0).permutation(table.shape[1])
    held = np.empty(table.shape[1])
    for fold in np.array_split(order, FOLDS):
        rest = np.setdiff1d(order, fold)
        held[fold] = table[int(np.argmin(table[:, rest].mean(axis=1)))][fold]
    return float(held.mean()), float(table.mean(axis=1).min()), len(table)


def cost_agreement(evidence: Evidence, published: pl.DataFrame) -> tuple[int, float, float]:
    """Effective costs beside the published: how many, the median factor between them, r of log usage multipliers."""
    theirs = published.select("subject", theirs="effective_cost_usd_per_1m_io").drop_nulls()
    both = score_costs(evidence).costs.join(theirs, on="subject").drop_nulls("effective_cost")
    factor = np.log((both["effective_cost"] / both["theirs"]).to_numpy())
    multipliers = (both["usage_multiplier"], both["theirs"] / both["sticker_price"])
    correlation = np.corrcoef(*(np.log(one.to_numpy()) for one in multipliers))[0, 1]
    return both.height, float(np.exp(np.median(np.abs(factor)))), float(correlation)


def abstract_without_peers(evidence: Evidence, published: pl.DataFrame, rules: IqRules) -> tuple[int, float, float]:
    """Abstract values the publisher marks as imputed: how many, and our error with and without the peer step."""
    theirs = published.filter(pl.col("abstract_reasoning_imputed") == "yes").select("subject", "abstract_reasoning_iq")
    errors = []
    for tried in (rules, replace(rules, peers=replace(rules.peers, minimum=10**6))):
        ours = score_iq(evidence, method="published", source="aiiq", ladders="recut", rules=tried).dimensions
        both = theirs.join(ours.filter(pl.col("dimension") == "abstract-reasoning"), on="subject")
        errors.append(float((both["iq"] - both["abstract_reasoning_iq"]).abs().to_numpy().mean()))
    return theirs.height, errors[0], errors[1]


def main() -> None:
    facts = optional_data("models")
    if facts is None:
        meet_embedded()
        return
    published = pl.read_csv(facts / "aiiq_published.csv").rename({"model_id": "subject", "composite_iq": "published"})
    evidence = import_facts(facts)
    figures: dict[str, Any] = {}
    for ladders in ("published", "recut"):
        result = score_iq(evidence, method="published", source="aiiq", ladders=ladders)
        errors = composite_errors(result, published)["error"]
        table = dimension_table(result, published)
        print(
            f"Ladders {ladders}: composite of {errors.len()} models, mean absolute error {errors.abs().mean():.2f}, ",
            end="",
        )
        print(
            f"bias {errors.mean():+.2f}, largest {errors.abs().max()}, within 1 point {(errors.abs() <= 1).mean():.0%}"
        )
        print(text_table(table, rows=30, digits=2))
        measured = table.filter(pl.col("kind") == "every benchmark measured")
        others = measured.filter(pl.col("dimension") != "mathematical-reasoning")
        maths = measured.filter(pl.col("dimension") == "mathematical-reasoning")
        figures[ladders] = {
            "composite_mae": errors.abs().mean(),
            "composite_bias": errors.mean(),
            "composite_largest": errors.abs().max(),
            "exact_measured_but_maths": f"{others['exact'].sum()}/{others['n'].sum()}",
            "exact_measured_maths": f"{maths['exact'].sum()}/{maths['n'].sum()}",
        }
    count, factor, correlation = cost_agreement(load(), published)
    print(f"Effective cost of {count} models beside the published: median factor {factor:.2f}, ", end="")
    print(f"correlation of log usage multipliers {correlation:.2f}")
    figures["cost"] = cost = {"n": count, "median_factor": factor, "multiplier_r": correlation}
    held, best, tried = cross_validated(evidence, published, read_rules())
    print(f"Constants chosen by {FOLDS}-fold cross-validation among {tried} settings: ", end="")
    print(f"mean absolute error {held:.2f} on models kept out (best setting on all: {best:.2f})")
    count, peers, alone = abstract_without_peers(evidence, published, read_rules())
    print(f"Abstract Reasoning of {count} models the publisher marks as imputed, mean absolute error: ", end="")
    print(f"by peers as the page says {peers:.2f}, filled as a missing dimension {alone:.2f}")
    figures["abstract_imputed"] = {"n": count, "by_peers_mae": peers, "as_missing_dimension_mae": alone}
    print(json.dumps({**figures, "cross_validated_mae": held, "best_mae": best, "settings_tried": tried}))
    record("iq.published_error", f"{figures['published']['composite_mae']:.2f}")
    record("iq.published_held_out", f"{held:.2f}")
    record("cost.factor", f"{cost['median_factor']:.2f}")
    record("cost.correlation", f"{cost['multiplier_r']:.2f}")


if __name__ == "__main__":
    run(main)
