"""The evidence: what was observed, checked, typed and in one unit per benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError
from mensura.core.frames import text_table
from mensura.core.results import Result
from mensura.evidence.additions import assumptions, partial_runs, with_scores
from mensura.evidence.checks import RawTable, check_table, reference_faults
from mensura.evidence.consistency import consistency_faults
from mensura.evidence.names import benchmark_names, model_names
from mensura.evidence.schema import TABLES
from mensura.evidence.store import (
    EMBEDDED_EDITION,
    FINGERPRINT_DIGITS,
    STORE_SUFFIXES,
    as_text,
    cells_of,
    fingerprint_of,
    read_raw,
    read_text_csv,
    write_folder,
    write_store,
)
from mensura.intake.faults import EvidenceError, Fault
from mensura.intake.figures import convert
from mensura.intake.names import KnownNames
from mensura.intake.scores import Allowed, NewModel, ScoreReading, read_scores_of
from mensura.scale import Calibration

EMBEDDED = Path(__file__).parent / "data"
_EMPTY_WHEN_ABSENT = ("costs", "human_references")


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
        source: Any,  # noqa: ANN401
        *,
        unit: str | None = None,
        accept_near: Mapping[str, str] = {},
        new: Sequence[str] = (),
        new_model: NewModel = NewModel(),  # noqa: B008
    ) -> ScoreReading:
        """Return what is understood of scores that somebody brings; :meth:`add` says what may come, nothing is added.

        The notes of the reading say what was chosen and assumed.
        """
        allowed = Allowed(unit, dict(accept_near), tuple(new), new_model)
        reading = read_scores_of(source, self.names, self.benchmarks, allowed=allowed)
        return replace(reading, warnings=(*partial_runs(reading, self.benchmarks), *assumptions(reading)))

    def add(
        self,
        source: Any,  # noqa: ANN401
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
        raws = with_scores(tables, reading, self.origin)
        found = from_raw(raws, origin=f"{self.origin} + {Path(reading.name).name}")
        return replace(found, warnings=(*self.warnings, *reading.warnings))

    def save(self, path: str | Path) -> None:
        """Write to a folder of CSV files, or to an SQLite store if the name ends in .db, .sqlite or .sqlite3."""
        path = Path(path)
        write = write_store if path.suffix.lower() in STORE_SUFFIXES else write_folder
        write(self.tables(), path)

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
    raws = read_raw(Path(path))
    return from_raw(completed(raws), origin=str(path))


def from_raw(raws: Mapping[str, RawTable], *, origin: str) -> Evidence:
    """Check raw tables against their schemas, references and one another, and type them."""
    faults: list[Fault] = []
    tables: dict[str, pl.DataFrame] = {}
    for name, raw in raws.items():
        tables[name], found = check_table(raw, TABLES[name])
        faults += found
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
    units = benchmarks.select("benchmark", to="unit")
    return (
        scores.with_columns(primary=pl.col("primary").fill_null(False) if marked else first)
        .join(units, on="benchmark", how="left", maintain_order="left")
        .with_columns(
            score=convert(pl.col("score"), pl.col("unit"), pl.col("to")),
            unit=pl.col("to"),
            source_score=pl.col("score"),
            source_unit=pl.col("unit"),
        )
        .drop("to")
    )


def read_calibration(file: str | Path) -> Calibration:
    """Read a calibration of your own.

    Parameters
    ----------
    file : str or Path
        A CSV in the form of the table ``bases``.

    Returns
    -------
    Calibration
        The line of each dimension.

    Raises
    ------
    MensuraError
        If there is no such file, or a cell is wrong.

    Examples
    --------
    >>> from mensura.evidence import EMBEDDED, read_calibration
    >>> len(list(read_calibration(EMBEDDED / "bases.csv"))) > 0
    True

    """
    file = Path(file)
    if not file.is_file():
        raise MensuraError(f"{file}: no such file; expected a CSV with columns dimension, slope, intercept")
    typed, faults = check_table(RawTable(str(file), read_text_csv(file)), TABLES["bases"])
    if faults:
        raise EvidenceError(faults)
    return Calibration.from_rows(typed.iter_rows(named=True))


def require_subject(evidence: Evidence, subject: str) -> str:
    """Find the id of a model.

    Parameters
    ----------
    evidence : Evidence
        Where to look.
    subject : str
        An id, or a name for people.

    Returns
    -------
    str
        The id.

    Raises
    ------
    MensuraError
        With the nearest names, if no model fits.

    Examples
    --------
    >>> import mensura
    >>> from mensura.evidence import require_subject
    >>> require_subject(mensura.load(), "GPT-5")
    'gpt-5'

    """
    if subject in evidence.models["subject"]:  # names are read only where needed: a report asks once per model
        return subject
    match = evidence.names["model"].match(subject)
    if match.id is not None:
        return match.id
    raise MensuraError(
        f"model: {subject!r} is not in the evidence{match.hint} (run mensura evidence models to list them all)"
    )
