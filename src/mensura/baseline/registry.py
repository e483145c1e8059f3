"""Known human baselines of AI benchmarks: published scores of people, each with its source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import just_above
from mensura.core.errors import MensuraError
from mensura.core.frames import first_row, require_columns
from mensura.core.results import Result
from mensura.evidence.passing import KINDS, model_rates, people_rates, who_is_above, why_not_comparable, with_grades
from mensura.intake.figures import RATE_UNITS
from mensura.intake.names import spelling
from mensura.intake.people_logs import is_people_log, read_people_logs
from mensura.intake.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mensura.evidence import Evidence

FOLDER = Path(__file__).parent / "data"
_TEXT, _NUMBER, _WHOLE = pl.String(), pl.Float64(), pl.Int64()
COLUMNS: Mapping[str, pl.DataType] = {
    **dict.fromkeys(("benchmark", "part", "group"), _TEXT),
    **dict.fromkeys(("score", "low", "high"), _NUMBER),
    "unit": _TEXT,
    "n": _WHOLE,
    **dict.fromkeys(("conditions", "metric", "status"), _TEXT),
    "year": _WHOLE,
    "source": _TEXT,
    "seen": _TEXT,
}
"""Columns of the registry; those of the evidence's human references keep their names."""
UNITS = ("percent", "fraction", "index", "elo", "minutes")
PASSED: Mapping[str, pl.DataType] = {
    **dict.fromkeys(("part", "group", "status"), _TEXT),
    "score": _NUMBER,
    "passed_by": _WHOLE,
    "of": _WHOLE,
    **dict.fromkeys(("first", "date", "best"), _TEXT),
    **dict.fromkeys(("best_score", "chance", "iq"), _NUMBER),
}
_PARTS = re.compile(r"(?:[-_. ](?:test|valid|validation|val|dev|train|items|questions|sample|subset|hf|\d+))+$", re.I)
"""Words that the name of a file adds to that of its benchmark."""
SAME_SCORE = 0.15
"""Two sources that differ by less, in percentage points, round one score differently."""


@dataclass(frozen=True, eq=False, repr=False)
class KnownBaseline(Result):
    """Contain the known human scores of one benchmark, and the models that passed each group.

    Attributes
    ----------
    benchmark : str
        The benchmark.
    people : pl.DataFrame
        part, group, score, status ("measured", or "judged": somebody's guess), n, conditions, source and more; the
        kind, the grade from A to E and what would raise it.
    passed : pl.DataFrame
        Of each group on the scale of the evidence, the first model above it, when, and the best one.
    warnings : tuple of str
        Quoted figures that have no source.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("people", "passed")

    benchmark: str
    people: pl.DataFrame
    passed: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """How many groups were measured, and how many judged."""
        counts = {kind: self.people.filter(kind=kind).height for kind in KINDS}
        measured = counts["measured"]
        scores = f"{measured or 'no'} measured human score{'' if measured == 1 else 's'}"
        words = {"quoted": "second-hand", "estimated": "judged without a test", "threshold": "no score of people"}
        rest = [f"{counts[kind]} {text}" for kind, text in words.items() if counts[kind]]
        return ", ".join([f"{self.benchmark}: {scores}", *rest])


@cache
def registry() -> pl.DataFrame:
    """Read all published human baselines that ship with the package.

    Returns
    -------
    polars.DataFrame
        One row per benchmark, part and group, with its source.

    Examples
    --------
    >>> from mensura import baseline
    >>> baseline.registry().height > 0
    True

    """
    return _shaped(read_table(FOLDER / "registry.csv"))


@cache
def absent() -> pl.DataFrame:
    """Return the benchmarks whose quoted human baseline does not exist: benchmark, why."""
    return read_table(FOLDER / "absent.csv")


def published_means(name: str) -> list[tuple[str, float]]:
    """Return the groups and scores (0 to 1) that were published for a benchmark; a file's name may stand for it."""
    wanted = spelling(_PARTS.sub("", re.sub(r"\.(?:jsonl?|ndjson|csv|tsv|parquet|xlsx?)$", "", name)))
    rows = registry().filter(
        _spelled("benchmark") == wanted, pl.col("unit").is_in(list(RATE_UNITS)), pl.col("score").is_not_null()
    )
    return [(f"{row['part']}, {row['group']}", row["score"] / RATE_UNITS[row["unit"]]) for row in rows.to_dicts()]


def _spelled(column: str) -> pl.Expr:
    return pl.col(column).fill_null("").map_elements(spelling, return_dtype=pl.String)


def score_words(row: Mapping[str, Any]) -> str:
    """Return a human score with its unit: a number, or the range where there is no single one (times of tasks)."""
    ends = [row["score"]] if row["score"] is not None else [row[name] for name in ("low", "high")]
    numbers = [f"{end:g}" for end in ends if end is not None]
    return f"{' to '.join(numbers)} {row['unit']}" if numbers else "not stated"


def read_own(path: Path | Sequence[Path]) -> pl.DataFrame:
    r"""Read human baselines of one's own.

    Parameters
    ----------
    path : Path or sequence of Path
        A table of benchmark, group and score, perhaps n, unit, conditions, source and more. Or logs of people: Inspect
        logs of its human agent, or records of Every Eval Ever about people.

    Returns
    -------
    polars.DataFrame
        The baselines with all columns of the registry.

    Raises
    ------
    MensuraError
        If a score is missing or outside its unit, or the unit is unknown.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mensura.baseline import read_own
    >>> file = Path(tempfile.mkdtemp()) / "mine.csv"
    >>> _ = file.write_text("benchmark,group,score\nGPQA,students,40\n")
    >>> read_own(file)["unit"].to_list()
    ['percent']

    """
    paths = [path] if isinstance(path, Path) else list(path)
    if all(is_people_log(one) for one in paths):
        rows = read_people_logs(paths)
        frame = pl.DataFrame({name: [row.get(name) for row in rows] for name in COLUMNS}, schema=COLUMNS)
    else:
        frame = pl.concat([read_table(one) for one in paths], how="diagonal_relaxed")
    require_columns(frame, ["benchmark", "group", "score"], name=str(path))
    table = _shaped(frame).with_columns(pl.col("seen").fill_null("own"), pl.col("status").fill_null("measured"))
    if row := first_row(table.filter(pl.col("score").is_null())):
        raise MensuraError(f"{path}, {row['benchmark']}: no score; expected a number. Fill in the column score")
    table = table.with_columns(
        unit=pl.col("unit").fill_null(_unit(table["score"])), part=pl.col("part").fill_null("all")
    )
    unknown = table.filter(~pl.col("unit").is_in(UNITS))
    if unknown.height:
        raise MensuraError(
            f"{path}, unit: {unknown['unit'][0]!r} is unknown; expected one of {', '.join(UNITS)}. Correct it"
        )
    if row := first_row(table.filter((pl.col("unit") == "percent") & ~pl.col("score").is_between(0, 100))):
        raise MensuraError(
            f"{path}, {row['benchmark']}, score: {row['score']:g} is outside 0 to 100; expected a percentage. "
            "Correct the value or its unit"
        )
    return table


def find_known(name: str, evidence: Evidence) -> KnownBaseline:
    """Find the known human scores of one benchmark; a near name is offered, never taken.

    Parameters
    ----------
    name : str
        The benchmark.
    evidence : Evidence
        The scores of models, and human references.

    Returns
    -------
    KnownBaseline
        The scores of people, and the models above them.

    Raises
    ------
    MensuraError
        If nothing is known of the benchmark.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline import find_known
    >>> find_known("GPQA", mensura.load()).people.height > 0
    True

    """
    table = pl.concat([registry(), people_of(evidence)])
    wanted = spelling(dict(evidence.benchmarks.select("benchmark", "name").iter_rows()).get(name, name))
    titles = _spelled("benchmark")
    whole = titles + _spelled("part")
    rows = table.filter((titles == wanted) | (whole.str.starts_with(wanted) & (titles.str.len_chars() < len(wanted))))
    gone = absent().filter(titles == wanted)
    if not rows.height and not gone.height:
        names = {spelling(one): one for one in [*table["benchmark"], *absent()["benchmark"]]}
        near = [one for key, one in names.items() if wanted and wanted in key][:5]
        near = near or [names[key] for key in get_close_matches(wanted, names, n=3)]
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise MensuraError(
            f"{name}: no known human baseline, and no such file.{hint} To estimate one, give a file of items: "
            "mensura baseline items.csv --people world --model NAME"
        )
    warnings = [
        f"{row['benchmark']}: {row['why']}. To estimate what people would score: mensura baseline ITEMS --people world "
        "--model NAME"
        for row in gone.iter_rows(named=True)
    ]
    title = rows["benchmark"][0] if rows.height else gone["benchmark"][0]
    rows = with_grades(_once(rows))
    shown = rows.with_columns(n=pl.col("n").cast(pl.String).fill_null("not stated")).drop("benchmark")
    return KnownBaseline(
        title, shown, _passed(rows.filter(pl.col("kind") != "threshold"), evidence), tuple(dict.fromkeys(warnings))
    )


def people_of(evidence: Evidence) -> pl.DataFrame:
    """Return the human references of the evidence in the registry's columns, under the benchmarks' own names."""
    names = dict(evidence.benchmarks.select("benchmark", "name").iter_rows())
    people = evidence.human_references.filter(pl.col("status") != "constructed")  # such as guessing among options
    table = people.with_columns(
        benchmark=pl.col("benchmark").replace(names),
        part=pl.lit("all"),
        conditions=pl.col("remark"),
        seen=pl.lit("evidence"),
        status=pl.col("status").replace("estimated", "judged"),
    )
    return _shaped(table)


def _once(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out measured scores of the evidence that the registry states in more detail; judged ones come last."""
    stated = rows.filter(pl.col("seen") != "evidence").select("score", "unit")
    twice = [
        row["seen"] == "evidence"
        and row["status"] == "measured"
        and stated.filter(unit=row["unit"])
        .select((pl.col("score") - row["score"]).abs() <= just_above(SAME_SCORE))["score"]
        .any()
        for row in rows.iter_rows(named=True)
    ]
    return rows.filter(~pl.Series(twice, dtype=pl.Boolean)).sort(pl.col("status") == "judged", maintain_order=True)


def _passed(rows: pl.DataFrame, evidence: Evidence) -> pl.DataFrame:
    """Return for every group in percent the models of the evidence that passed it.

    How many of how many, the first with its date, the best, and the chance that the best is above the people.
    """
    ids = {spelling(name): one for one, name in evidence.benchmarks.select("benchmark", "name").iter_rows()}
    places = [
        ids.get(spelling(row["benchmark"] + (row["part"] or "").split(" ")[0])) or ids.get(spelling(row["benchmark"]))
        for row in rows.iter_rows(named=True)
    ]
    groups = (
        rows.with_columns(percent=pl.col("score"), place=pl.Series(places, dtype=pl.String))
        .filter(pl.col("unit") == "percent")
        .join(evidence.benchmarks.select("items", place="benchmark"), on="place", maintain_order="left")
        .with_columns(pl.col("score", "low", "high") / 100)
    )
    takers = model_rates(evidence).partition_by("benchmark", as_dict=True)
    passed, others, named = [], _not_compared(evidence), why_not_comparable()
    for row in people_rates(groups).iter_rows(named=True):
        models = takers.get((row["place"],))
        near = [abs(row["percent"] - score) <= just_above(SAME_SCORE) for score in others.get(row["place"], ())]
        if models is None or any(near) or (row["place"], row["group"]) in named:
            continue
        above = who_is_above(models, row["score"], row["stderr"])
        date = None if above.passed is None else str(above.passed)
        best = (above.best, round(100 * above.best_score, 6), round(above.chance, 3))
        counts = (above.above, above.models, above.first, date)
        iq = _iq(row["percent"], row["place"], evidence)
        passed.append((row["part"], row["group"], row["status"], row["percent"], *counts, *best, iq))
    return pl.DataFrame(passed, schema=PASSED, orient="row")


def _not_compared(evidence: Evidence) -> dict[str, list[float]]:
    """Return the scores of groups that are compared with no model; the registry has other names for them."""
    scores: dict[str, list[float]] = {}
    for benchmark, group, score in evidence.human_references.select("benchmark", "group", "score").iter_rows():
        if (benchmark, group) in why_not_comparable() and "panel" not in group:
            scores.setdefault(benchmark, []).append(score)
    return scores


def _iq(score: float, benchmark: str | None, evidence: Evidence) -> float | None:
    """Return the IQ at which the published ladder of the benchmark expects a score; None without a ladder or off it."""
    rung = evidence.ladders.filter(pl.col("benchmark") == benchmark)
    steps = [name for name in rung.columns if re.fullmatch(r"iq\d+", name)]
    if not rung.height or not steps:
        return None
    scores = np.array(rung.select(steps).row(0), dtype=np.float64)
    if not np.all(np.diff(scores) > 0) or not scores[0] <= score <= scores[-1]:
        return None
    return round(float(np.interp(score, scores, [float(name[2:]) for name in steps])), 1)


def _unit(scores: pl.Series) -> str:
    return "fraction" if float(scores.max() or 0) <= 1 else "percent"  # type: ignore[arg-type]


def _shaped(frame: pl.DataFrame) -> pl.DataFrame:
    columns = [
        (pl.col(name).cast(kind, strict=False) if name in frame.columns else pl.lit(None, dtype=kind)).alias(name)
        for name, kind in COLUMNS.items()
    ]
    return frame.select(columns)
