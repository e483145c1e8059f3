"""Importing a folder of model facts, as collected from leaderboards, into the evidence schema.

The facts form names its keys ``model_id`` and ``benchmark_id``, keeps the printed figure in ``source_value`` and
says in ``via`` columns how each figure was obtained. Only rows obtained in an accepted way are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.evidence.checks import RawTable
from mensura.evidence.evidence import Evidence, completed, from_raw, load
from mensura.evidence.store import read_text_csv

WAYS = ("lookup", "fetch", "seed")
"""How a figure may have been obtained: typed in from a look-up, read from a snapshot, or from a method page."""

_UNITS = {"index_-100_100": "index"}
_VARIANT = r"variant:? (\S+(?: \d+K)?)|(?:^|\W)(?:(\w+) effort|(version [\d.]+|no tools))"
"""How a note names what was scored: the source's variant, an effort, a version or a rule."""
_EVALUATORS = ("Artificial Analysis", "ARC Prize")
"""Evaluators of whom facts hold several printings, as the names of their sources begin."""
_MISSING_RULES = {
    "zero if missing": "zero",
    "zero if missing and released before 2025-04": "zero-before-2025-04",
    "peer estimate": "peers",
    "peer estimate, then zero if missing": "peers-then-zero",
    "never imputed": "never",
}

_NEEDED = {
    "models": "model_id name provider release_date release_via reasoning open_weights model_line provider_tier "
    "predecessor_id predecessor2_id input_usd_per_m output_usd_per_m price_via context_tokens context_via source",
    "benchmarks": "benchmark_id name dimension kind unit in_composite missing_value_rule what_it_is",
    "scores": "model_id benchmark_id source_value source_unit primary source_key source_date note via",
    "ladders": "benchmark_id",
    "eq_ladders": "component source_value eq",
    "human_references": "benchmark_id human_group score unit range_or_remark source",
    "costs": "model_id metric value unit source_key source_date note via",
    "sources": "source_key name url date kind licence_note",
}
"""Columns that each file of facts must have."""


def import_facts(folder: str | Path, via: Collection[str] = WAYS) -> Evidence:
    """Read a folder of model facts; the evidence it gives is checked like any other."""
    unknown = sorted(set(via) - set(WAYS))
    if unknown:
        raise MensuraError(f"via: got {', '.join(unknown)}; expected some of {', '.join(WAYS)}")
    folder = Path(folder)
    raws: dict[str, RawTable] = {}
    for name, reader in _READERS.items():
        file = folder / f"{name}.csv"
        if not file.is_file():
            raise MensuraError(f"{file}: no such file; expected a folder of model facts with {', '.join(_READERS)}")
        facts = read_text_csv(file)
        require_columns(facts, _NEEDED[name].split(), name=str(file))
        raws[name] = RawTable(f"{file} (rows as imported)", reader(facts, via))
    return from_raw(completed(raws), origin=str(folder))


def _models(facts: pl.DataFrame, via: Collection[str]) -> pl.DataFrame:
    accepted = {field: pl.col(f"{field}_via").is_in(list(via)) for field in ("release", "price", "context")}

    def kept(column: str, field: str) -> pl.Expr:
        return pl.when(accepted[field]).then(pl.col(column))

    parts = [pl.when(accepted[field]).then(pl.col("source").str.extract(rf"({field}: [^;]+)")) for field in accepted]
    return facts.filter(accepted["release"]).select(
        pl.col("model_id").alias("subject"),
        "name",
        "provider",
        pl.col("release_date").alias("released"),
        "reasoning",
        "open_weights",
        pl.col("model_line").alias("line"),
        pl.col("provider_tier").alias("tier"),
        pl.col("predecessor_id").alias("predecessor"),
        pl.col("predecessor2_id").alias("predecessor2"),
        kept("input_usd_per_m", "price").alias("input_price"),
        kept("output_usd_per_m", "price").alias("output_price"),
        kept("context_tokens", "context").alias("context_tokens"),
        pl.concat_str(parts, separator="; ", ignore_nulls=True).alias("source"),
    )


def _benchmarks(facts: pl.DataFrame, via: Collection[str]) -> pl.DataFrame:
    known = load().benchmarks.select("benchmark", "chance", "ceiling", "items", "repeats").cast(pl.String)
    return (
        facts.select(
            pl.col("benchmark_id").alias("benchmark"),
            "name",
            "dimension",
            "kind",
            _unit("unit"),
            pl.when(pl.col("in_composite") == "yes").then(pl.lit("yes")).otherwise(pl.lit("no")).alias("in_composite"),
            pl.col("missing_value_rule").replace(_MISSING_RULES).alias("missing_rule"),
            pl.col("what_it_is")
            .str.replace("no ladder in the seed", "without a published ladder")
            .alias("description"),
        )
        .join(known, on="benchmark", how="left", maintain_order="left")
        .select(
            *("benchmark", "name", "dimension", "kind", "unit", "in_composite", "missing_rule"),
            *("chance", "ceiling", "items", "repeats", "description"),
        )
    )


def _scores(facts: pl.DataFrame, via: Collection[str]) -> pl.DataFrame:
    return facts.filter(pl.col("via").is_in(list(via))).select(
        pl.col("model_id").alias("subject"),
        pl.col("benchmark_id").alias("benchmark"),
        pl.col("source_value").str.strip_suffix("%").alias("score"),
        _unit("source_unit").alias("unit"),
        "primary",
        pl.col("source_key").alias("source"),
        pl.col("source_date").alias("date"),
        variant=pl.coalesce(pl.col("note").str.extract(_VARIANT, group) for group in (1, 2, 3)),
        note="note",
    )


def _ladders(facts: pl.DataFrame, via: Collection[str]) -> pl.DataFrame:
    levels = [name for name in facts.columns if name.startswith("iq")]
    return facts.select(pl.lit("published").alias("set"), pl.col("benchmark_id").alias("benchmark"), *levels)


def _eq_ladders(facts: pl.DataFrame, via: Collection[str]) -> pl.DataFrame:
    return facts.select(pl.col("component").alias("benchmark"), pl.col("source_value").alias("score"), "eq")


def _human_references(facts: pl.DataFrame, via: Collection[str]) -> pl.DataFrame:
    """Join the two ends of a range into one row whose central value is their middle."""
    remark = pl.col("range_or_remark")
    low, high = (remark.str.extract(r"([\d.]+)-([\d.]+)", end).cast(pl.Float64, strict=False) for end in (1, 2))
    source = pl.col("source")
    status = (
        pl.when(source.str.contains("seed estimate"))
        .then(pl.lit("estimated"))
        .when(source.str.contains("by construction"))
        .then(pl.lit("constructed"))
        .otherwise(pl.lit("measured"))
    )
    return (
        facts.select(
            pl.col("benchmark_id").alias("benchmark"),
            pl.col("human_group").str.replace(r", (low|high) end$", "").alias("group"),
            pl.coalesce(_rounded((low + high) / 2), _rounded(pl.col("score")), "score").alias("score"),
            low.alias("low"),
            high.alias("high"),
            _unit("unit"),
            status.alias("status"),
            remark.str.extract(r"of (\d+) plays").alias("n"),
            remark.str.replace(r"^(low|high) end of ", "").alias("remark"),
            source.str.replace("seed estimate", "AI IQ estimate").str.replace("in the seed", "by AI IQ"),
        )
        .unique(["benchmark", "group"], keep="first", maintain_order=True)
        .select(pl.all().cast(pl.String))
    )


def _costs(facts: pl.DataFrame, via: Collection[str]) -> pl.DataFrame:
    return facts.filter(pl.col("via").is_in(list(via))).select(
        pl.col("model_id").alias("subject"),
        *("metric", "value", "unit"),
        pl.col("source_key").alias("source"),
        pl.col("source_date").alias("date"),
        "note",
    )


def _sources(facts: pl.DataFrame, via: Collection[str]) -> pl.DataFrame:
    return facts.select(
        pl.col("source_key").alias("source"),
        "name",
        "url",
        "date",
        "kind",
        pl.col("name").str.extract(f"^({'|'.join(_EVALUATORS)})").alias("evaluator"),
        pl.col("licence_note").alias("licence"),
    )


def _rounded(value: pl.Expr) -> pl.Expr:
    """Return a number as text of six decimals at most; null where it is none."""
    return value.cast(pl.Float64, strict=False).round(6).cast(pl.String)


def _unit(column: str) -> pl.Expr:
    return pl.col(column).replace(_UNITS)


_READERS: dict[str, Callable[[pl.DataFrame, Collection[str]], pl.DataFrame]] = {
    "models": _models,
    "benchmarks": _benchmarks,
    "scores": _scores,
    "ladders": _ladders,
    "eq_ladders": _eq_ladders,
    "human_references": _human_references,
    "costs": _costs,
    "sources": _sources,
}
