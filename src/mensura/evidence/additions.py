"""Adding figures of one's own to the evidence: scores that were read, new models and benchmarks on the way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from mensura.core.errors import listed_names
from mensura.evidence.checks import FIRST_ROW, RawTable
from mensura.evidence.schema import TABLES
from mensura.intake.figures import RATE_UNITS
from mensura.intake.scores import ScoreReading
from mensura.scale import rate_interval

USER = "user"

_MODEL = {"provider": USER, "released": None, "reasoning": "no"}
_ASSUMED = {
    "reasoning": "no (it does not think before it answers)",
    "tier": "0 (a flagship)",
    "provider": f"{USER!r}",
    "predecessor": "none",
}
"""What instruments take a new model for where its rows do not say; each is told with the evidence."""
KIND = "tracked"
"""Kind of a new benchmark that says none: it counts for no dimension of the IQ."""
_BENCHMARK = {"dimension": None, "kind": KIND, "in_composite": "no"}
_MODEL_ONLY = (
    *("released", "provider", "reasoning", "tier", "line", "open_weights", "input_price", "output_price"),
    "predecessor",
)
_BENCHMARK_ONLY = ("dimension", "kind")


def with_scores(tables: Mapping[str, pl.DataFrame], reading: ScoreReading, origin: str) -> dict[str, RawTable]:
    """Return evidence tables (cells as text) with scores that were read; theirs become the primary ones.

    ``source`` is "user" where none is given. Every added row keeps the row it has in its own file, so that faults name
    it; ``origin`` names the evidence that was there.
    """
    rows = reading.scores
    models = _new_rows(rows, tables["models"], "subject", _MODEL, _MODEL_ONLY)
    benchmarks = _new_rows(rows, tables["benchmarks"], "benchmark", _BENCHMARK, ("unit", *_BENCHMARK_ONLY))
    parts = {
        "models": models,
        "benchmarks": benchmarks,
        "sources": _new_sources(rows, tables["sources"]),
        "scores": _score_rows(rows),
    }
    given = {**tables, "scores": _demoted(tables["scores"], parts["scores"])}
    return {name: _joined(name, frame, parts.get(name), origin, reading.name) for name, frame in given.items()}


def assumptions(reading: ScoreReading) -> tuple[str, ...]:
    """Say what is assumed of new models, those that are silent about the same together."""
    new = reading.names.filter(pl.col("kind") == "model", pl.col("how") == "new")["id"].to_list()
    rows = reading.scores.filter(pl.col("subject").is_in(new)).unique("subject", keep="first", maintain_order=True)
    kinds: dict[tuple[str, ...], list[str]] = {}
    for row in rows.iter_rows(named=True):
        silent = tuple(name for name in _ASSUMED if row.get(name) is None)
        kinds.setdefault(silent, []).append(row["subject"])
    return tuple(
        f"{Path(reading.name).name}: {listed_names(names)} {'is' if len(names) == 1 else 'are'} new; assumed "
        + ", ".join(f"{name} = {_ASSUMED[name]}" for name in silent)
        + f"; say otherwise in the column{'s' if len(silent) > 1 else ''} {', '.join(silent)}"
        for silent, names in kinds.items()
        if silent
    )


def partial_runs(reading: ScoreReading, benchmarks: pl.DataFrame) -> tuple[str, ...]:
    """Say which scores rest on a part of their benchmark's items, and how far off they may be."""
    if "n" not in reading.scores.columns:
        return ()
    numbers = pl.col("score", "n").cast(pl.Float64, strict=False)
    rows = reading.scores.with_columns(numbers).join(benchmarks.select("benchmark", "items"), on="benchmark")
    partial = rows.filter(pl.col("n").is_between(1, pl.col("items"), closed="left"))
    messages = []
    for subject, benchmark, score, unit, n, items in partial.select(
        "subject", "benchmark", "score", "unit", "n", "items"
    ).iter_rows():
        message = f"{subject} on {benchmark}: a partial run, {n:g} of {items} items"
        size = RATE_UNITS.get(unit, 0.0)
        if 0 <= score <= size:
            low, high = rate_interval(score / size * n, n)
            message += f"; the score of a full run may be {size * low:.3g} to {size * high:.3g} {unit} (90%)"
        messages.append(message)
    return tuple(messages)


def _joined(name: str, given: pl.DataFrame, added: pl.DataFrame | None, origin: str, file: str) -> RawTable:
    """Put added rows under the given ones; each keeps the row it has in its own file (column ``row``)."""
    if added is None:
        return RawTable(name, given)
    origins = [(f"{name} of {origin}", row + FIRST_ROW) for row in range(given.height)]
    origins += [(file, row) for row in added["row"]]
    return RawTable(file, pl.concat([given, added.drop("row")], how="diagonal"), tuple(origins))


def _new_rows(
    rows: pl.DataFrame, known: pl.DataFrame, key: str, defaults: Mapping[str, str | None], extra: tuple[str, ...]
) -> pl.DataFrame:
    """Return one row for each key that is not known yet, from what the file says and the defaults."""
    fresh = rows.filter(~pl.col(key).is_in(known[key].to_list())).unique(key, keep="first", maintain_order=True)
    values = {column: pl.lit(value, dtype=pl.String) for column, value in defaults.items()}
    values["name"] = pl.col(key)
    if "display_name" in rows.columns and key == "subject":
        values["name"] = pl.coalesce("display_name", key)
    for column in extra:
        if column in rows.columns:
            values[column] = pl.coalesce(column, values.get(column, pl.lit(None, dtype=pl.String)))
    return fresh.select("row", key, **values)


def _new_sources(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    named = rows.select("row", source=_source(rows)).unique("source", keep="first", maintain_order=True)
    fresh = named.filter(~pl.col("source").is_in(known["source"].to_list()))
    return fresh.with_columns(name="source", kind=pl.lit(USER))


def _source(rows: pl.DataFrame) -> pl.Expr:
    return pl.col("source").fill_null(USER) if "source" in rows.columns else pl.lit(USER)


def _score_rows(rows: pl.DataFrame) -> pl.DataFrame:
    present = rows.with_columns(source=_source(rows), primary=pl.lit("yes"))
    return present.select("row", *(name for name in TABLES["scores"].dtypes if name in present.columns))


def _demoted(scores: pl.DataFrame, fresh: pl.DataFrame) -> pl.DataFrame:
    """Let the added score of a model and benchmark be the primary one."""
    keys = ["subject", "benchmark"]
    again = scores.select(pl.struct(keys).is_in(fresh.select(pl.struct(keys)).to_series().implode())).to_series()
    return scores.with_columns(primary=pl.when(again).then(pl.lit("no")).otherwise("primary"))
