"""Grades of the record of claims: calibration of chances, coverage of intervals, errors of forecasts, worst misses."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv
from mensura.core.results import Result
from mensura.scale import rate_interval
from mensura.study.record import AS_KNOWN, FORECAST, IQ, LEAD, PASSED, RECONSTRUCTED, SCHEMA, SEALED

RECORDS = {AS_KNOWN: "As known then", RECONSTRUCTED: "reconstructed month by month", SEALED: "sealed beforehand"}
"""The records, and how a sentence names them."""
FILE = Path(__file__).parent / "data" / "record.csv"
SEALS = FILE.with_name("sealed_claims.json")
_EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
"""Where groups of chances begin."""
_COUNTS = (1, 3, 6, 12, 20)
"""Where groups of numbers of scores begin."""
_LIKELY = 0.5
"""Chance above which a claim is more likely than not."""
SHOWN_SIGNS = 32
"""Signs of a seal that pages show."""


@dataclass(frozen=True, eq=False, repr=False)
class ClaimRecord(Result):
    """The claims of both records and their grades.

    ``claims``: as :data:`mensura.study.record.SCHEMA`. ``summary``: per record and kind, ``claims``, ``settled``,
    ``came_true``, ``brier`` and ``brier_baseline`` (the same chance, that of all settled claims, for each one).
    ``calibration``: per record and group of chances, ``said``, ``came_true``, ``low``, ``high``. ``intervals``: per
    record and number of scores, ``coverage`` of 90% intervals of the IQ of new models, ``bias`` and ``error``.
    ``forecasts``: per record and months ahead, the same, and the ``no_change`` error. ``misses``: the claims that cost
    most, by their chance, with ``why`` as far as the record tells.
    """

    TABLES: ClassVar = ("summary", "calibration", "intervals", "forecasts", "misses", "claims")

    summary: pl.DataFrame
    calibration: pl.DataFrame
    intervals: pl.DataFrame
    forecasts: pl.DataFrame
    misses: pl.DataFrame
    claims: pl.DataFrame

    @property
    def heading(self) -> str:
        """How many claims there are, and how many of the likely ones came true."""
        return f"{self.claims.height} claims, {self.claims.drop_nulls('came_true').height} settled. {self.sentence}"

    @property
    def sentence(self) -> str:
        """The result in words, good or bad: of claims more likely than not, how many came true in each record."""
        parts = []
        for record, words in RECORDS.items():
            likely = self.claims.filter((pl.col("record") == record) & (pl.col("chance") > _LIKELY))
            settled = likely.drop_nulls("came_true")
            if settled.height:
                mean_chance, true = float(settled["chance"].to_numpy().mean()), int(settled["came_true"].sum())
                parts.append(
                    f"{words}, {true} of {settled.height} claims of more than 50% came true (said: {mean_chance:.0%})"
                )
        return "; ".join(parts) + "." if parts else "Too few claims are settled to say how often they came true."


def grade_record(claims: pl.DataFrame) -> ClaimRecord:
    """Grade a table of claims.

    Parameters
    ----------
    claims : polars.DataFrame
        As :func:`mensura.study.record.build_record` returns it.

    Returns
    -------
    ClaimRecord
        The claims with their grades, the two records apart.

    Examples
    --------
    >>> from mensura.study.grading import grade_record, shipped_claims
    >>> sorted(set(grade_record(shipped_claims()).calibration["record"]))[:1]
    ['as known']

    """
    settled = claims.drop_nulls("came_true").with_columns(true=pl.col("came_true").cast(pl.Float64))
    chances = settled.drop_nulls("chance").with_columns(cost=(pl.col("chance") - pl.col("true")) ** 2)
    rate = pl.col("true").mean()
    brier = {"brier": pl.col("cost").mean(), "brier_baseline": rate * (1 - rate)}
    counts = {"claims": pl.len(), "settled": pl.col("came_true").count(), "came_true": pl.col("came_true").sum()}
    keys = ["record", "kind"]
    summary = claims.group_by(keys, maintain_order=True).agg(**counts)
    summary = summary.join(chances.group_by(keys).agg(**brier), on=keys, how="left", maintain_order="left")
    misses = (
        chances.sort("cost", "made", descending=[True, False])
        .unique(["record", "kind", "subject"], keep="first", maintain_order=True)
        .filter(pl.col("cost") > _SURPRISE)
        .join(claims.filter(kind=FORECAST), on=["record", "made", "months"], how="left", suffix="_best")
    )
    reasons = pl.Series("why", map(_reason, misses.iter_rows(named=True)), dtype=pl.String)
    misses = misses.select("record", "made", "kind", "claim", "chance", "came_true", reasons)
    numbers = settled.drop_nulls("actual").with_columns(off=pl.col("actual") - pl.col("expected"))
    return ClaimRecord(
        summary, _calibration(chances), _by_scores(numbers), _by_months(numbers), misses, claims.select(list(SCHEMA))
    )


def _reason(miss: dict[str, Any]) -> str:
    """Say why a claim failed, as far as the forecast of the best model that was made with it tells."""
    if miss["actual_best"] is None:
        return "The record does not tell why."
    best = {key: f"{miss[f'{key}_best']:.2f}".replace("-", "−") for key in ("actual", "expected", "low", "high")}
    reached = "the best model reached capability {actual}, {expected} expected (90%: {low} to {high})".format(**best)
    if (miss["actual_best"] > miss["expected_best"]) != miss["came_true"]:
        return f"Not the pace: {reached}. On this test AI differs from what its capability says."
    if miss["came_true_best"]:
        return f"The pace in part: {reached}. The record does not tell the rest."
    return f"The pace: {reached}."


_SURPRISE = 0.49
"""Squared miss of a chance from which a claim is listed: 70% said of what did not come true."""


def _group(column: str, edges: tuple[float, ...]) -> pl.Expr:
    """Return the group that a value falls into, by where groups begin."""
    return pl.sum_horizontal([(pl.col(column) >= edge).cast(pl.Int64) for edge in edges])


def _calibration(chances: pl.DataFrame) -> pl.DataFrame:
    table = (
        chances.group_by("record", group=_group("chance", _EDGES))
        .agg(pl.len().alias("n"), pl.col("chance").mean().alias("said"), pl.col("true").mean().alias("came_true"))
        .sort("record", "group")
    )
    low, high = rate_interval(table["came_true"].to_numpy() * table["n"].to_numpy(), table["n"].to_numpy())
    return table.with_columns(low=pl.Series(low), high=pl.Series(high)).drop("group")


_FIGURES = {
    "n": pl.len(),
    "coverage": pl.col("true").mean(),
    "bias": -pl.col("off").mean(),
    "error": pl.col("off").abs().mean(),
}


def _by_scores(numbers: pl.DataFrame) -> pl.DataFrame:
    """Grade the IQs of new models; a positive bias is an IQ that was too high."""
    new = numbers.filter(kind=IQ).with_columns(group=_group("scores", _COUNTS))
    table = new.group_by("record", "group").agg(
        pl.col("scores").min().alias("from"), pl.col("scores").max().alias("to"), **_FIGURES
    )
    return table.sort("record", "group").drop("group")


def _by_months(numbers: pl.DataFrame) -> pl.DataFrame:
    no_change = (pl.col("actual") - pl.col("baseline")).abs().mean()
    ahead = numbers.filter(kind=FORECAST).group_by("record", "months").agg(**_FIGURES, no_change=no_change)
    return ahead.sort("record", "months")


@cache
def shipped_claims() -> pl.DataFrame:
    """Return the claims of the shipped evidence, built by ``python -m tools.embed_record``."""
    return read_csv(FILE).with_columns(pl.col("made", "due").cast(pl.String).str.to_date()).cast(pl.Schema(SCHEMA))


@cache
def shipped_record() -> ClaimRecord:
    """Return the graded record of the shipped evidence."""
    return grade_record(shipped_claims())


# Seals: what an edition claims about the time to come, so that a later one cannot change it.


def seal(claims: list[dict[str, Any]], salt: str) -> str:
    """Return the seal of claims: SHA-256 of their canonical JSON with a salt, as hexadecimal signs."""
    text = json.dumps({"claims": claims, "salt": salt}, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed_claims() -> list[dict[str, Any]]:
    """Return the sealed claims of every edition, with day, subject, day of opening, salt and seal; check each seal."""
    sealed: list[dict[str, Any]] = json.loads(SEALS.read_text(encoding="utf-8"))
    for one in sealed:
        if seal(one["claims"], one["salt"]) != one["sha256"]:
            raise MensuraError(
                f"{SEALS.name}: the claims of {one['made']} about {one['subject']} do not match their seal; "
                "restore the file of the release"
            )
    return sealed


KIND_WORDS = {LEAD: "who leads", IQ: "IQ of new models", PASSED: "who is passed next", FORECAST: "forecasts"}
