"""Write src/mensura/baseline/data: the learned errors of language models, and the recorded estimates without texts.

Run: python -m tools.embed_baseline (needs the development data). The twelve inverted cells of the vocabulary checklist
are turned round first (see benchmarks/baseline_pools.py). True rates, texts and ids that contain words stay out.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from benchmarks import development_data
from benchmarks.baseline import USUAL_SPREAD, leave_pools_out, summarise
from benchmarks.baseline_ai import learn_raters, leave_out, read_benchmarks, summarise_ai
from benchmarks.baseline_learning import learn
from benchmarks.baseline_persons import learn_persons
from benchmarks.baseline_pools import FACTS, MODELS, RUNS, TESTS, read, recorded_estimates
from mensura.baseline.recordings import FILE, Learned
from mensura.core.files import write_csv, write_text

_SEVERAL_PEOPLE = ("aser_india", "aser_pakistan_2012", "vocab_checklist_web", "wellcome_2018_144c", "hq_trivia_2018")
"""Pools in which nearly every item was asked of other people: no single population to try them with."""
_TOLD = ("item_error", "item_error_tests", "mean_error", "mean_held", "item_held", "item_width")


def write_learned() -> None:
    """Learn from all pools and write the parameters, with the errors on pools left out (as recorded)."""
    mended = read(mend=True)
    base = learn(mended.cells, runs=RUNS, models=MODELS, usual_spread=USUAL_SPREAD)
    benchmarks, _ = read_benchmarks()
    errors = learn_raters(base, benchmarks)
    known = summarise_ai(leave_out(base, benchmarks, benchmarks))
    spread = learn_persons()
    validation = summarise(leave_pools_out(read()))
    stored = {
        "origin": f"{len(mended.pooled.items)} estimates of {len(FACTS)} pools ({len(TESTS)} of tests), 2026-11",
        "estimators": sorted(recorded_estimates()["model"].str.to_lowercase().unique()),
        "errors": _rounded(errors),
        "persons": {
            "log_sd": round(spread.log_sd, 4),
            "log_sd_spread": round(spread.log_sd_spread, 4),
            "log_slope_spread": round(spread.log_slope_spread, 4),
        },
        "validation": {
            **{name: round(validation[name], 3) for name in _TOLD},
            **{name: round(value, 3) for name, value in known.items()},
            "ai_benchmarks": len(benchmarks),
        },
    }
    write_text(FILE, json.dumps(stored, indent=1) + "\n")
    print(f"wrote {FILE.name}: {errors.mean.size} effects")


def _rounded(errors: Learned) -> dict[str, object]:
    """Return learned errors as plain numbers for JSON, rounded to five digits."""
    return {
        "names": list(errors.names),
        "mean": np.round(errors.mean, 5).tolist(),
        "covariance": np.round(errors.covariance, 5).tolist(),
        "spreads": {name: round(value, 5) for name, value in errors.spreads.items()},
        "runs": errors.runs,
        "models": errors.models,
        "usual_spread": errors.usual_spread,
        "centre": errors.centre,
    }


def write_recordings() -> None:
    """Write the estimates of pools with one population: numbered items, people, model, run, rate and interval."""
    raw = pl.read_csv(development_data("items", "zero_shot.csv"), infer_schema_length=None)
    kept = raw.filter(~pl.col("pool").is_in(_SEVERAL_PEOPLE))
    numbers = kept.select("pool", "item").unique(maintain_order=True)
    numbers = numbers.with_columns(number=pl.int_range(1, pl.len() + 1).over("pool"))
    options = pl.col("pool").replace_strict({pool: facts[0] for pool, facts in FACTS.items()}, return_dtype=pl.Int64)
    domains = pl.col("pool").replace_strict({pool: facts[1] for pool, facts in FACTS.items()}, return_dtype=pl.String)
    table = kept.join(numbers, on=["pool", "item"], how="left", maintain_order="left").select(
        item=pl.format("{}-{}", "pool", pl.col("number").cast(pl.String).str.zfill(3)),
        pool="pool",
        people="people",
        model="model",
        run="run",
        rate="estimate",
        low="low",
        high="high",
        remembered="remembered",
        n_options=options,
        domain=domains,
    )
    write_csv(table, FILE.parent / "zero_shot.csv")
    print(f"wrote zero_shot.csv: {table.height} estimates of {table['pool'].n_unique()} pools")


if __name__ == "__main__":
    write_learned()
    write_recordings()
