"""Adding figures of one's own: one CSV with a row per score, new models and benchmarks declared on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from mensura.errors import MensuraError
from mensura.evidence.checks import FIRST_ROW, RawTable
from mensura.evidence.evidence import Evidence, from_raw
from mensura.evidence.schema import TABLES
from mensura.evidence.store import as_text, read_text_csv
from mensura.frames import require_columns

USER = "user"

_MODEL = {"provider": USER, "released": None, "reasoning": "no"}
_ASSUMED = {
    "reasoning": "no (it does not think before it answers)",
    "tier": "0 (a flagship)",
    "provider": f"{USER!r}",
    "predecessor": "none",
}
"""What instruments take a new model for where the file does not say; each is told with the evidence."""
_BENCHMARK = {"dimension": None, "kind": "tracked", "in_composite": "no"}
_SCORE = ("subject", "benchmark", "score", "unit", "source", "date", "note")
_MODEL_ONLY = (
    "released",
    "provider",
    "reasoning",
    "tier",
    "line",
    "open_weights",
    "input_price",
    "output_price",
    "predecessor",
)
_BENCHMARK_ONLY = ("dimension", "kind")


def add_scores(evidence: Evidence, file: str | Path) -> Evidence:
    """Return the evidence with the scores of a CSV file added; theirs become the primary ones.

    The file needs ``subject``, ``benchmark`` and ``score``. ``unit`` defaults to the benchmark's, ``source`` to "user".
    A subject that is new needs ``released`` and may give ``provider``, ``reasoning``, ``tier``, ``line``, prices and
    ``predecessor``; a benchmark that is new needs ``unit``. What a new subject does not say of itself and instruments
    use is assumed, and :attr:`Evidence.warnings` says so.
    """
    file = Path(file)
    if not file.is_file():
        raise MensuraError(f"{file}: no such file; expected a CSV with columns subject, benchmark, score")
    rows = read_text_csv(file).with_row_index("row", FIRST_ROW)
    require_columns(rows, ["subject", "benchmark", "score"], name=str(file))
    allowed = [*_SCORE, *_MODEL_ONLY, *_BENCHMARK_ONLY]
    unknown = [name for name in rows.columns if name not in ["row", *allowed]]
    if unknown:
        raise MensuraError(f"{file}: unknown column {', '.join(unknown)}; expected some of {', '.join(allowed)}")
    given = {name: as_text(frame) for name, frame in evidence.tables().items()}
    models = _new_rows(rows, given["models"], "subject", _MODEL, _MODEL_ONLY)
    benchmarks = _new_rows(rows, given["benchmarks"], "benchmark", _BENCHMARK, ("unit", *_BENCHMARK_ONLY))
    parts = {
        "models": models,
        "benchmarks": benchmarks,
        "sources": _new_sources(rows, given["sources"]),
        "scores": _score_rows(rows, pl.concat([given["benchmarks"], benchmarks], how="diagonal")),
    }
    given["scores"] = _demoted(given["scores"], parts["scores"])
    raws = {name: _joined(name, frame, parts.get(name), evidence.origin, file) for name, frame in given.items()}
    found = from_raw(raws, origin=f"{evidence.origin} + {file.name}")
    return replace(found, warnings=(*evidence.warnings, *_assumptions(rows, models["subject"].to_list(), file)))


def _assumptions(rows: pl.DataFrame, new: list[str], file: Path) -> list[str]:
    """Say what was assumed of new models, those that are silent about the same together."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for row in (
        rows.filter(pl.col("subject").is_in(new))
        .unique("subject", keep="first", maintain_order=True)
        .iter_rows(named=True)
    ):
        silent = tuple(name for name in _ASSUMED if row.get(name) is None)
        kinds.setdefault(silent, []).append(row["subject"])
    return [
        f"{file.name}: {', '.join(names)} {'is' if len(names) == 1 else 'are'} new; assumed "
        + ", ".join(f"{name} = {_ASSUMED[name]}" for name in silent)
        + f"; say otherwise in the column{'s' if len(silent) > 1 else ''} {', '.join(silent)}"
        for silent, names in kinds.items()
        if silent
    ]


def _joined(name: str, given: pl.DataFrame, added: pl.DataFrame | None, origin: str, file: Path) -> RawTable:
    """Put added rows under the given ones; each keeps the row it has in its own file (column ``row``)."""
    if added is None:
        return RawTable(name, given)
    origins = [(f"{name} of {origin}", row + FIRST_ROW) for row in range(given.height)]
    origins += [(str(file), row) for row in added["row"]]
    return RawTable(str(file), pl.concat([given, added.drop("row")], how="diagonal"), tuple(origins))


def _new_rows(
    rows: pl.DataFrame, known: pl.DataFrame, key: str, defaults: dict[str, str | None], extra: tuple[str, ...]
) -> pl.DataFrame:
    """Return one row for each key that is not known yet, from what the file says and the defaults."""
    fresh = rows.filter(~pl.col(key).is_in(known[key].to_list())).unique(key, keep="first", maintain_order=True)
    values = {column: pl.lit(value, dtype=pl.String) for column, value in defaults.items()}
    values["name"] = pl.col(key)
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


def _score_rows(rows: pl.DataFrame, benchmarks: pl.DataFrame) -> pl.DataFrame:
    units = dict(benchmarks.select("benchmark", "unit").iter_rows()) if "unit" in benchmarks.columns else {}
    natural = pl.col("benchmark").replace_strict(units, default=None, return_dtype=pl.String)
    present = rows.with_columns(
        unit=pl.coalesce("unit", natural) if "unit" in rows.columns else natural,
        source=_source(rows),
        primary=pl.lit("yes"),
    )
    return present.select("row", *(name for name in TABLES["scores"].dtypes if name in present.columns))


def _demoted(scores: pl.DataFrame, fresh: pl.DataFrame) -> pl.DataFrame:
    """Let the added score of a model and benchmark be the primary one."""
    keys = ["subject", "benchmark"]
    again = scores.select(pl.struct(keys).is_in(fresh.select(pl.struct(keys)).to_series().implode())).to_series()
    return scores.with_columns(primary=pl.when(again).then(pl.lit("no")).otherwise("primary"))
