"""Add newer models, scores, prices and the kind of every score: ``python -m tools.embed_newer``, after embed_evidence.

Reads ``models_2026_11`` of the development data. Scores whose ``use`` is score are taken. Artificial Analysis moved its
scale of two tests between July and October; models measured both times (``use`` overlap) give the mean shift, which is
taken off the later scores and named in their note.
"""

from __future__ import annotations

import math

import polars as pl

from benchmarks import development_data
from mensura.core.files import write_csv
from mensura.evidence import EMBEDDED
from mensura.evidence.store import read_text_csv

LINES = {
    "claude-sonnet-5.5": ("claude-sonnet", -1, "claude-sonnet-5"),
    "claude-haiku-5.5": ("claude-haiku", -2, "claude-haiku-4.5"),
    "gemini-4-argon": ("gemini-pro", 0, "gemini-3.1-pro"),
    "gemini-3.5-flash-lite": ("gemini-flash-lite", -2, None),
    "gemini-3.6-flash": ("gemini-flash", -1, "gemini-3.5-flash"),
    "gemini-3.7-flash": ("gemini-flash", -1, "gemini-3.6-flash"),
    "gpt-6-sol": ("gpt", 0, "gpt-5.6-sol"),
    "gpt-6.1-sol": ("gpt", 0, "gpt-6-sol"),
    "gpt-6-luna": ("gpt-luna", -2, "gpt-5.6-luna"),
    "muse-spark-1.1": ("muse-spark", 0, "muse-spark"),
    "muse-spark-1.2": ("muse-spark", 0, "muse-spark-1.1"),
    "muse-spark-1.3": ("muse-spark", 0, "muse-spark-1.2"),
    "grok-4.6": ("grok", 0, "grok-4.5"),
    "grok-4.7": ("grok", 0, "grok-4.6"),
    "mimo-v2.6-pro": ("mimo-pro", 0, "mimo-v2.5-pro"),
    "mimo-v2.6-flash": ("mimo", -1, "mimo-v2.5"),
    "qwen3.8-max-0803": ("qwen-max", 0, "qwen3.7-max"),
    "qwen3.8-max": ("qwen-max", 0, "qwen3.8-max-0803"),
    "qwen3.8-2.4t-a95b": ("qwen-open", 0, None),
    "qwen3.8-flash-next": ("qwen-flash", -2, None),
    "qwen3.8-27b": ("qwen-27b", -2, None),
    "glm-5.3": ("glm", 0, "glm-5.2"),
    "glm-5.3-flash": ("glm-flash", -1, None),
    "step-5-preview": ("step", 0, None),
    "deepseek-v4-pro-0813": ("deepseek-v", 0, "deepseek-v4-pro"),
    "deepseek-v4.1-flash": ("deepseek-flash", -1, "deepseek-v4-flash"),
    "mistral-large-4-preview": ("mistral-large", 0, "mistral-large-3"),
    "inkling": ("inkling", 0, None),
}
"""Product line, tier and predecessor of each new model, read off its name and its maker's earlier ones."""
SUCCESSORS = {"gemini-3.8-flash": "gemini-3.7-flash"}
"""Models of the evidence whose predecessor is new."""
SOURCES = {
    "aa1003": ("fstandhartinger/model-market-comparison", "2026-10-03", "Artificial Analysis API, October"),
    "aa0722": ("fstandhartinger/model-market-comparison", "2026-07-22", "Artificial Analysis API, July"),
    "arena1010": ("AmigaMeow/llm-leaderboard-data", None, "LMArena text leaderboard of October"),
    "webdev1001": ("arielshakaramiro/llm-leaderboard-tracker", None, "LMArena WebDev leaderboard"),
    "aanotes": (
        "delirium-dj/modelcomp (notes quoting Artificial Analysis)",
        None,
        "Notes that quote Artificial Analysis",
    ),
    "mspec10": ("turbobeest/modelspec", None, "ModelSpec evidence record of October"),
    "tracker10": ("alloevil/llm-benchmarks-tracker", None, "LLM benchmarks tracker"),
    "epoch10": ("Epoch AI benchmark_data.zip", None, "Epoch AI benchmark runs of October"),
    "deepswe11": (
        "DeepSWE 1.1 notes with links to the vendors (2026-10-09)",
        None,
        "DeepSWE 1.1 notes with vendor links",
    ),
    "haiku55": (
        "Anthropic, System Card: Claude Haiku 5.5 (2026-10-07), full text",
        None,
        "Claude Haiku 5.5 system card",
    ),
    "mimocard": ("Xiaomi model card, quoted", None, "Xiaomi MiMo-V2.6 model card, quoted"),
    "arcquoted": ("ARC Prize Verified, quoted", None, "ARC Prize verified results, quoted"),
    "argon": ("Google's table", None, "Google's table for Gemini 4 Argon"),
    "argonvals": ("Google's table, which takes it from Vals AI", None, "Google's table, quoting Vals AI"),
}
"""Our keys of the sources: the name in the development data, the date where one name has two, a name for people."""
EVALUATORS = {"aa1003": "Artificial Analysis", "aa0722": "Artificial Analysis", "aanotes": "Artificial Analysis"}
COLUMNS = ("subject", "benchmark", "score", "unit", "n", "measured_by", "primary", "source", "date", "variant", "note")
KEY = ["subject", "benchmark", "source"]
NOT_COMPARABLE = [("gpt-6-astra", "arc_agi_3", "mspec")]
"""Scores that go: this one was reached with an adapter of its maker, where the standard harness gives 62.7."""
KINDS = {"aggregator copy of vendor": "vendor"}
OF_SOURCES = {"independent evaluator": "independent", "vendor report": "vendor"}
ARENAS = "^Arena|^DesignArena"
NOBODY = "reports$"
"""How an aggregator's note names arenas, and reports of which it does not say whose they are."""
MAKERS = r"(?i)vendor|maker|system card|model card|launch|announcement|self-report"
"""How an aggregator's note names a maker's own figure."""


def main() -> None:
    folder = development_data("models_2026_11")
    tables = {name: read_text_csv(EMBEDDED / f"{name}.csv") for name in ("models", "scores", "sources")}
    newer = {name: read_text_csv(folder / f"{name}.csv") for name in ("models", "scores", "prices", "kinds")}
    models = add_models(tables["models"], newer["models"], newer["prices"])
    rows = keyed(newer["scores"].filter(pl.col("use") != "no", pl.col("subject").is_in(models["subject"].implode())))
    sources = add_sources(tables["sources"], rows)
    scores = add_scores(with_kinds(tables["scores"], tables["sources"], newer["kinds"]), rows)
    for name, table in (("models", models), ("sources", sources), ("scores", scores)):
        write_csv(table, EMBEDDED / f"{name}.csv")


def add_models(models: pl.DataFrame, newer: pl.DataFrame, prices: pl.DataFrame) -> pl.DataFrame:
    """Append the dated models with line, predecessor and list price; correct prices that changed."""
    lines = pl.DataFrame(
        [(name, line, str(tier), before) for name, (line, tier, before) in LINES.items()],
        schema=["subject", "line", "tier", "predecessor"],
        orient="row",
    )
    priced = prices.select("subject", "input_price", "output_price")
    fresh = (
        newer.drop_nulls("released")
        .join(lines, on="subject", how="left", maintain_order="left")
        .join(priced, on="subject", how="left", maintain_order="left")
        .with_columns(predecessor2=pl.lit(None, pl.String), source=pl.format("release and price: {}", "source"))
        .select(models.columns)
    )
    kept = models.filter(~pl.col("subject").is_in(fresh["subject"].implode()))
    changed = kept.join(priced, on="subject", how="left", suffix="_new", maintain_order="left").with_columns(
        **{name: pl.coalesce(f"{name}_new", name) for name in ("input_price", "output_price")},
        predecessor=pl.col("subject").replace_strict(SUCCESSORS, default=pl.col("predecessor")),
    )
    return pl.concat([changed.select(models.columns), fresh])


def keyed(scores: pl.DataFrame) -> pl.DataFrame:
    """Give every newer score the key of its source and its kind."""
    key = pl.lit(None, pl.String)
    for name, (said, day, _) in SOURCES.items():
        here = pl.col("source") == said
        key = pl.when(here & (pl.col("date") == day) if day else here).then(pl.lit(name)).otherwise(key)
    keyed = scores.with_columns(key=key, kind=pl.col("kind").replace(KINDS))
    if keyed["key"].null_count():
        raise SystemExit(f"SOURCES: {keyed.filter(pl.col('key').is_null())['source'][0]!r} has no key; add one")
    return keyed


def add_sources(sources: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Append the sources that a newer score has."""
    used = (
        rows.filter(use="score").group_by("key", maintain_order=True).agg(pl.col("date").max(), pl.col("kind").unique())
    )
    kinds = {"vendor": "vendor report", "independent": "independent evaluator", "arena": "independent evaluator"}
    fresh = [
        {
            "source": key,
            "name": SOURCES[key][2],
            "url": f"read at {SOURCES[key][0]}",
            "date": day,
            "kind": kinds[own[0]] if len(own) == 1 else "aggregator",
            "evaluator": EVALUATORS.get(key),
            "licence": "Facts only; credit the evaluator that the row names.",
        }
        for key, day, own in used.iter_rows()
    ]
    kept = sources.filter(~pl.col("source").is_in([row["source"] for row in fresh]))
    return pl.concat([kept, pl.DataFrame(fresh, schema=sources.schema)])


def with_kinds(scores: pl.DataFrame, sources: pl.DataFrame, kinds: pl.DataFrame) -> pl.DataFrame:
    """Say of every score who measured it: by its source, by the upstream that an aggregator names, or row by row."""
    of_source = {key: OF_SOURCES.get(kind) for key, kind in sources.select("source", "kind").iter_rows()} | {
        "ameow": "arena"
    }
    upstream = pl.col("note").str.extract(r"^upstream: (.+)$")
    by_upstream = (
        pl.when(upstream.str.contains(MAKERS)).then(pl.lit("vendor"))
        .when(upstream.str.contains(ARENAS)).then(pl.lit("arena"))
        .when(~upstream.str.contains(NOBODY)).then(pl.lit("independent"))
    )  # fmt: skip
    told = kinds.with_columns(source=pl.lit("mspec")).select("subject", "benchmark", "source", told="kind")
    return (
        scores.drop("measured_by", strict=False)
        .join(told, on=["subject", "benchmark", "source"], how="left", maintain_order="left")
        .with_columns(
            measured_by=pl.coalesce("told", pl.col("source").replace_strict(of_source, default=None), by_upstream)
        )
        .drop("told")
    )


def add_scores(scores: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Append the newer scores, moved to the scale of the earlier ones where models measured twice show a shift."""
    shifts = find_shifts(scores, rows)
    fresh = []
    for row in rows.filter(use="score").iter_rows(named=True):
        shift = shifts.get((row["key"], row["benchmark"]))
        note = (
            None if shift is None else f"printed {row['score']}; less {shift:.1f}, the shift of models measured twice"
        )
        fresh.append(
            {
                "subject": row["subject"],
                "benchmark": row["benchmark"],
                "score": row["score"] if shift is None else f"{float(row['score']) - shift:.2f}",
                "unit": row["unit"],
                "measured_by": row["kind"],
                "n": answers(row["n"]) if row["unit"] == "percent" else None,
                "source": row["key"],
                "date": row["date"],
                "variant": row["conditions"],
                "note": note,
            }
        )
    kept = scores.filter(~pl.col("source").is_in(list(SOURCES)))
    table = pl.concat([kept, pl.DataFrame(fresh).cast(pl.String)], how="diagonal").select(COLUMNS)
    table = table.unique(["subject", "benchmark", "source"], keep="first", maintain_order=True)
    return choose_primary(table.join(pl.DataFrame(NOT_COMPARABLE, schema=KEY, orient="row"), on=KEY, how="anti"))


def choose_primary(scores: pl.DataFrame) -> pl.DataFrame:
    """Mark the score that counts of each model and test with a newer one: a maker's own figure only if it is alone."""
    new, vendor = pl.col("source").is_in(list(SOURCES)), (pl.col("measured_by") == "vendor").fill_null(False)
    place = vendor.cast(pl.Int64) * 2 + new.cast(pl.Int64) + (pl.col("primary") == "no").fill_null(False) * 4
    pair = ("subject", "benchmark")
    best = place.rank("ordinal").over(*pair) == 1
    chosen = pl.when(best).then(pl.lit("yes")).otherwise(pl.lit("no"))
    return scores.with_columns(primary=pl.when(new.any().over(*pair)).then(chosen).otherwise("primary"))


def find_shifts(scores: pl.DataFrame, rows: pl.DataFrame) -> dict[tuple[str, str], float]:
    """Return the mean difference between both readings of the models that a source measured twice."""
    points = pl.col("score").cast(pl.Float64) * pl.when(pl.col("unit") == "fraction").then(100.0).otherwise(1.0)
    before = scores.filter(source="aa0710").select("subject", "benchmark", earlier=points)
    both = rows.filter(use="overlap").join(before, on=["subject", "benchmark"])
    means = both.group_by("key", "benchmark").agg((pl.col("score").cast(pl.Float64) - pl.col("earlier")).mean())
    return {(key, benchmark): shift for key, benchmark, shift in means.iter_rows()}


def answers(text: str | None) -> str | None:
    """Return the number of answers in a text such as 89 x 3."""
    return None if not text else str(math.prod(int(part) for part in text.split(" x ")))


if __name__ == "__main__":
    main()
