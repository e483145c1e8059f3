"""The evidence: what was observed, checked, typed and in one unit per benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.errors import EvidenceError, Fault
from mensura.core.frames import text_table
from mensura.core.results import Result
from mensura.evidence.additions import KIND, assumptions, doubtful_figures, doubtful_models, partial_runs
from mensura.evidence.checks import FIRST_ROW, RawTable, check_table, reference_faults
from mensura.evidence.consistency import consistency_faults
from mensura.evidence.schema import TABLES
from mensura.evidence.store import (
    EMBEDDED_EDITION,
    FINGERPRINT_DIGITS,
    as_text,
    cells_of,
    fingerprint_of,
    read_raw,
    write_folder,
)
from mensura.intake.figures import convert
from mensura.intake.model_names import benchmark_names, model_names
from mensura.intake.names import KnownNames
from mensura.intake.scores import UNNAMED_SOURCE as USER, Allowed, NewModel, ScoreReading, read_scores_of
from mensura.scale import Calibration

EMBEDDED = Path(__file__).parent / "data"
_EMPTY_WHEN_ABSENT = ("costs", "human_references")
_MODEL: dict[str, str | None] = {"provider": USER, "released": None, "reasoning": "no"}
_BENCHMARK: dict[str, str | None] = {"dimension": None, "kind": KIND, "in_composite": "no"}
_PRICES = ("input_price", "output_price")
_MODEL_ONLY = ("released", "provider", "reasoning", "tier", "line", "open_weights", *_PRICES, "predecessor")
_BENCHMARK_ONLY = ("unit", "dimension", "kind")


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Result):
    """Typed, checked tables; the columns of each are listed in ``mensura.evidence.TABLES`` and the docs.

    ``scores`` carries two columns more than its file: ``source_score`` and ``source_unit`` keep the figure as
    printed, while ``score`` and ``unit`` are in the unit of the benchmark. ``warnings`` says what was assumed of
    models and benchmarks that were added without saying it.
    """

    TABLES: ClassVar[tuple[str, ...]] = tuple(TABLES)

    models: pl.DataFrame
    benchmarks: pl.DataFrame
    scores: pl.DataFrame
    ladders: pl.DataFrame
    eq_ladders: pl.DataFrame
    human_references: pl.DataFrame
    costs: pl.DataFrame
    sources: pl.DataFrame
    demand_outcomes: pl.DataFrame
    bases: pl.DataFrame
    validations: pl.DataFrame
    policy: pl.DataFrame
    chart_rules: pl.DataFrame
    aliases: pl.DataFrame
    origin: str
    warnings: tuple[str, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of all tables: equal evidence has an equal one, whatever its origin."""
        return fingerprint_of(cells_of(self.tables()))[:FINGERPRINT_DIGITS]

    @property
    def edition(self) -> dict[str, str | None]:
        """What to cite: origin, year and month of the embedded tables (None: of one's own), fingerprint."""
        dated = EMBEDDED_EDITION if self.origin.split(" + ")[0] == "embedded" else None
        return {"origin": self.origin, "edition": dated, "fingerprint": self.fingerprint}

    @property
    def newest(self) -> date:
        """The day of the newest score."""
        return date.fromisoformat(str(self.scores["date"].max()))

    @cached_property
    def names(self) -> dict[str, KnownNames]:
        """Names by which people and services call a ``model`` and a ``benchmark``, with the ids they mean."""
        models, benchmarks, aliases = (
            as_text(table).to_dicts() for table in (self.models, self.benchmarks, self.aliases)
        )
        return {"model": model_names(models, aliases), "benchmark": benchmark_names(benchmarks, aliases)}

    @property
    def primary_scores(self) -> pl.DataFrame:
        """The one score per model and benchmark that instruments use."""
        return self.scores.filter("primary")

    @property
    def calibration(self) -> Calibration:
        """The calibrated line of each dimension."""
        return Calibration.from_rows(self.bases.iter_rows(named=True))

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return every table by name, as it would stand in a file (scores as printed by their source)."""
        tables = {name: getattr(self, name) for name in TABLES}
        printed = self.scores.with_columns(score="source_score", unit="source_unit")
        tables["scores"] = printed.drop("source_score", "source_unit")
        return tables

    def read_scores(
        self,
        source: Any,
        *,
        unit: str | None = None,
        accept_near: Mapping[str, str] = {},
        new: Sequence[str] = (),
        new_model: NewModel = NewModel(),  # noqa: B008
        metric: str | None = None,
        skip_unknown: bool = False,
    ) -> ScoreReading:
        """Return what is understood of scores that somebody brings; :meth:`add` says what may come, nothing is added.

        ``source`` may also be a list of files, folders and patterns. ``metric``: the figure of a log that counts.
        ``skip_unknown``: leave out unknown models and benchmarks, as a collection of others has them. The notes of the
        reading say what was chosen and assumed.
        """
        allowed = Allowed(unit, dict(accept_near), tuple(new), new_model, metric, skip_unknown)
        reading = read_scores_of(source, self.names, self.benchmarks, allowed=allowed, present=self.scores)
        tomorrow = datetime.now(UTC).date() + timedelta(days=1)  # it has begun somewhere
        doubts = (
            *partial_runs(reading, self.benchmarks),
            *doubtful_figures(reading, self.scores, self.benchmarks, self.models, tomorrow),
            *doubtful_models(reading, self.models, self.benchmarks, tomorrow),
        )
        return replace(reading, warnings=(*doubts, *assumptions(reading)))

    def add(
        self,
        source: Any,
        *,
        unit: str | None = None,
        accept_near: Mapping[str, str] = {},
        new: Sequence[str] = (),
        new_model: NewModel = NewModel(),  # noqa: B008
    ) -> Evidence:
        """Return the evidence with scores added; theirs become the primary ones.

        ``source``: a file (CSV in any usual encoding and with any separator, Parquet, JSON, results of
        lm-evaluation-harness, an Inspect log), a frame of any library, or a reading. One row per score, or one row per
        model with a column per benchmark, or the other way round; names as ids or as people write them. ``unit``:
        percent or fraction, for shares that could be either. ``accept_near``: ids for names that match none.
        ``new``: benchmarks that are new. A model that is new needs its release, in a column or, as evaluation logs have
        no columns for it, in ``new_model``. Raises :class:`EvidenceError` with
        every fault at once.
        """
        reading = source if isinstance(source, ScoreReading) else None
        if reading is None:
            reading = self.read_scores(source, unit=unit, accept_near=accept_near, new=new, new_model=new_model)
        tables = {name: as_text(frame) for name, frame in self.tables().items()}
        raws = _with_scores(tables, reading, self.origin)
        evidence = from_raw(raws, origin=f"{self.origin} + {Path(reading.name).name}")
        return replace(evidence, warnings=(*self.warnings, *reading.warnings))

    def save(self, path: str | Path) -> None:
        """Write to a folder of CSV files; :func:`mensura.ledger.init_ledger` makes a store with a history of it."""
        write_folder(self.tables(), Path(path))

    def summary(self) -> pl.DataFrame:
        """Return one row per table: its rows and what they are."""
        rows = [(name, getattr(self, name).height, table.about) for name, table in TABLES.items()]
        return pl.DataFrame(rows, schema=["table", "rows", "about"], orient="row")

    @property
    def heading(self) -> str:
        """Where the evidence comes from."""
        dated = f", edition {self.edition['edition']}" if self.edition["edition"] else ""
        return f"Evidence ({self.origin}{dated}, fingerprint {self.fingerprint})"

    @property
    def shown(self) -> pl.DataFrame:
        """The tables with their sizes."""
        return self.summary()

    def __str__(self) -> str:
        return f"{self.heading}\n{text_table(self.shown, rows=len(self.TABLES))}"


@check_arguments
def load(path: str | Path | None = None) -> Evidence:
    """Load evidence: the embedded one, or your own.

    Parameters
    ----------
    path : str or Path, optional
        A folder of CSV files or an SQLite store. It must contain models, benchmarks and scores. Absent costs and human
        references are empty; other absent tables (ladders, bases, …) are the published ones, as far as they speak of
        its benchmarks.

    Returns
    -------
    Evidence
        Checked tables.

    Raises
    ------
    EvidenceError
        With every fault at once.

    Examples
    --------
    >>> import mensura
    >>> evidence = mensura.load()
    >>> evidence.scores.columns[:3]
    ['subject', 'benchmark', 'score']

    """
    if path is None:
        return _embedded()
    return from_raw(completed(read_raw(Path(path))), origin=str(path))


def from_raw(raws: Mapping[str, RawTable], *, origin: str) -> Evidence:
    """Check raw tables against their schemas, references and one another, and type them."""
    faults: list[Fault] = []
    tables: dict[str, pl.DataFrame] = {}
    for name, raw in raws.items():
        tables[name], own_faults = check_table(raw, TABLES[name])
        faults += own_faults
    for name, raw in raws.items():
        faults += reference_faults(raw, TABLES[name], tables)
    faults += consistency_faults(raws, tables)
    if faults:
        raise EvidenceError(sorted(set(faults), key=lambda fault: (fault.file, fault.row, fault.column)))
    tables["scores"] = _in_benchmark_units(tables["scores"], tables["benchmarks"])
    return Evidence(**tables, origin=origin, warnings=())


@cache
def _embedded() -> Evidence:
    return from_raw(read_raw(EMBEDDED), origin="embedded")


def completed(raws: dict[str, RawTable]) -> dict[str, RawTable]:
    """Fill the tables a folder of one's own does not have."""
    complete = dict(raws)
    for name in TABLES:
        if name not in complete:
            frame = as_text(getattr(_embedded(), name))
            if name in _EMPTY_WHEN_ABSENT:
                frame = frame.clear()
            for column in TABLES[name].columns:
                target, _, key = column.references.partition(".")
                if column.references and target in raws and key in raws[target].frame.columns:
                    named = pl.col(column.name)
                    frame = frame.filter(named.is_null() | named.is_in(raws[target].frame[key].to_list()))
            complete[name] = RawTable(f"embedded {name}.csv", frame)
    return complete


def _in_benchmark_units(scores: pl.DataFrame, benchmarks: pl.DataFrame) -> pl.DataFrame:
    """Convert every score to its benchmark's unit; without a primary column the first row of a pair is primary."""
    first = pl.struct("subject", "benchmark").is_first_distinct()
    marked = scores["primary"].is_not_null().any()
    return (
        scores.with_columns(primary=pl.col("primary").fill_null(False) if marked else first)
        .join(benchmarks.select("benchmark", to="unit"), on="benchmark", how="left", maintain_order="left")
        .with_columns(
            score=convert(pl.col("score"), pl.col("unit"), pl.col("to")),
            unit=pl.col("to"),
            source_score=pl.col("score"),
            source_unit=pl.col("unit"),
        )
        .drop("to")
    )


# Scores that were read, with new models and benchmarks on the way, become rows of the tables.


def _with_scores(tables: Mapping[str, pl.DataFrame], reading: ScoreReading, origin: str) -> dict[str, RawTable]:
    """Return evidence tables (cells as text) with scores that were read; theirs become the primary ones.

    ``source`` is "user" where none is given. Every added row keeps the row it has in its own file, so that faults name
    it; ``origin`` names the evidence that was there.
    """
    rows = reading.scores
    parts = {
        "models": _new_rows(rows, tables["models"], "subject", _MODEL, _MODEL_ONLY),
        "benchmarks": _new_rows(rows, tables["benchmarks"], "benchmark", _BENCHMARK, _BENCHMARK_ONLY),
        "sources": _new_sources(rows, tables["sources"]),
        "scores": _score_rows(rows),
    }
    given = {**tables, "scores": _demoted(tables["scores"], parts["scores"])}
    return {name: _joined(name, frame, parts.get(name), origin, reading.name) for name, frame in given.items()}


def _joined(name: str, given: pl.DataFrame, added: pl.DataFrame | None, origin: str, file: str) -> RawTable:
    """Put added rows under the given ones; each keeps the row it has in its own file (column ``row``)."""
    if added is None:
        return RawTable(name, given)
    origins = [(f"{name} of {origin}", row + FIRST_ROW) for row in range(given.height)]
    origins += [(file, row) for row in added["row"]]
    return RawTable(file, pl.concat([given, added.drop("row")], how="diagonal"), tuple(origins))


def _new_rows(
    rows: pl.DataFrame, present: pl.DataFrame, key: str, defaults: Mapping[str, str | None], extra: tuple[str, ...]
) -> pl.DataFrame:
    """Return one row for each key that is not known yet, from what the file says and the defaults."""
    fresh = rows.filter(~pl.col(key).is_in(present[key].to_list())).unique(key, keep="first", maintain_order=True)
    values = {column: pl.lit(value, dtype=pl.String) for column, value in defaults.items()}
    values["name"] = pl.col(key)
    if "display_name" in rows.columns and key == "subject":
        values["name"] = pl.coalesce("display_name", key)
    for column in extra:
        if column in rows.columns:
            values[column] = pl.coalesce(column, values.get(column, pl.lit(None, dtype=pl.String)))
    return fresh.select("row", key, **values)


def _new_sources(rows: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    named = rows.select("row", source=_source(rows)).unique("source", keep="first", maintain_order=True)
    fresh = named.filter(~pl.col("source").is_in(present["source"].to_list()))
    return fresh.with_columns(name="source", kind=pl.lit(USER))


def _source(rows: pl.DataFrame) -> pl.Expr:
    return pl.col("source").fill_null(USER) if "source" in rows.columns else pl.lit(USER)


def _score_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the added scores; of several sources the latest date is the primary one."""
    row, dated = pl.col("row"), "date" in rows.columns
    order = row.sort_by("date", descending=True, nulls_last=True, maintain_order=True) if dated else row
    counts = pl.when(row == order.first().over("subject", "benchmark")).then(pl.lit("yes")).otherwise(pl.lit("no"))
    present = rows.with_columns(source=_source(rows), primary=counts)
    return present.select("row", *(name for name in TABLES["scores"].dtypes if name in present.columns))


def _demoted(scores: pl.DataFrame, fresh: pl.DataFrame) -> pl.DataFrame:
    """Let the added score of a model and benchmark be the primary one."""
    keys = ["subject", "benchmark"]
    again = scores.select(pl.struct(keys).is_in(fresh.select(pl.struct(keys)).to_series().implode())).to_series()
    return scores.with_columns(primary=pl.when(again).then(pl.lit("no")).otherwise("primary"))
