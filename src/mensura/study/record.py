"""A record of Mensura's own claims: what it would have said on a day, and whether that came true.

Two records, never mixed. *As known*: the evidence holds the scores dated by the day, from December 2025 on; no earlier
dates exist. *Reconstructed*: every month since 2024, a score counts from its model's release on; models released in
the month before the day count with two to twelve of their scores, drawn at random, as a new model has few.

Claims are made by the shipped procedures (:class:`Study`) and graded by the evidence of today: who has the highest IQ,
the IQ of each new model, which groups of people are passed within 3, 6 and 12 months, how high the best model then is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence import Evidence
from mensura.scale.ranking import rank_subjects
from mensura.study.headlines import passed_people, short_name
from mensura.study.outlook import look_ahead
from mensura.study.slow_parts import quarters_after
from mensura.study.study import Study

AS_KNOWN, RECONSTRUCTED, SEALED = "as known", "reconstructed", "sealed"
LEAD, IQ, PASSED, FORECAST = "lead", "iq", "passed", "forecast"
KEPT = (2, 3, 6, 12)
"""Scores that a new model of the reconstructed record counts with."""
WELL_MEASURED = 15
"""Tests of a model measured today from which its IQ of then is graded."""
FURTHER = 3
"""Further tests that must have been measured since."""
_LEAST = 0.05
"""Chance of being first from which a claim is recorded."""
_SETTLED = 0.9
"""Chance by today's evidence from which a claim about who led is settled, either way."""
_FEWEST = 8
"""Ranked models from which anything is claimed."""
_MONTH = timedelta(days=31)
_AHEAD = (3, 6, 12)
FIRST_KNOWN, FIRST_RECONSTRUCTED = date(2025, 12, 31), date(2024, 1, 31)
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "record": pl.String,
    "made": pl.Date,
    **dict.fromkeys(("kind", "subject", "claim"), pl.String),
    **dict.fromkeys(("chance", "expected", "low", "high"), pl.Float64),
    "scores": pl.Int64,
    "months": pl.Int64,
    "due": pl.Date,
    "baseline": pl.Float64,
    "actual": pl.Float64,
    "came_true": pl.Boolean,
}
"""Of the table of claims. ``chance`` belongs to claims that come true or not, ``expected``, ``low`` and ``high`` to
numbers; ``baseline`` is the best number of the day, ``actual`` and ``came_true`` what today's evidence says."""


def month_ends(first: date, last: date) -> list[date]:
    """Return the last day of every month from ``first`` to ``last``."""
    return pl.date_range(first.replace(day=1), last, "1mo", eager=True).dt.month_end().to_list()


def known_then(evidence: Evidence, day: date) -> Evidence:
    """Return the scores dated by a day, and the models out by then that have one."""
    return _reduced(evidence, evidence.scores.filter(pl.col("date") <= day.isoformat()), day)


def reconstructed(evidence: Evidence, day: date) -> Evidence:
    """Return the models out by a day with all their scores, those of the last month with a few drawn at random."""
    new = evidence.models.filter(pl.col("released").is_between(day - _MONTH, day))["subject"].to_list()
    rng = np.random.default_rng([0, day.toordinal()])
    kept = []
    for subject in new:
        tests = evidence.primary_scores.filter(subject=subject)["benchmark"].unique().sort().to_list()
        kept += [(subject, test) for test in rng.permutation(tests)[: rng.choice(KEPT)]]
    pairs = pl.DataFrame(kept, schema={"subject": pl.String, "benchmark": pl.String}, orient="row")
    few = evidence.scores.join(pairs, on=["subject", "benchmark"], how="semi")
    return _reduced(evidence, pl.concat([evidence.scores.filter(~pl.col("subject").is_in(new)), few]), day)


def _reduced(evidence: Evidence, scores: pl.DataFrame, day: date) -> Evidence:
    models = evidence.models.filter(pl.col("released") <= day).join(scores, on="subject", how="semi")
    return replace(evidence, models=models, scores=scores.join(models, on="subject", how="semi"))


def build_record(
    evidence: Evidence,
    advance: Callable[[], object] | None = None,
    skipped: list[str] | None = None,
    sealed: Sequence[dict[str, Any]] = (),
) -> pl.DataFrame:
    """Make the claims of every month by both records and grade them by today's evidence.

    Parameters
    ----------
    evidence : Evidence
        What is known today.
    advance : callable, optional
        Called once per month of each record.
    skipped : list of str, optional
        Gets a sentence for each part that could not be claimed, with the reason.
    sealed : sequence of dict, optional
        Sealed claims of earlier editions (:func:`mensura.study.grading.sealed_claims`); those that have opened are
        graded as a third record.

    Returns
    -------
    polars.DataFrame
        One row per claim, with the columns of :data:`SCHEMA`.

    Examples
    --------
    >>> import mensura
    >>> from mensura.study.record import build_record
    >>> build_record(mensura.load()).height  # doctest: +SKIP
    1500

    """
    last = date.fromisoformat(evidence.scores["date"].max())  # type: ignore[arg-type]
    today = Study.run(evidence)
    rows: list[dict[str, Any]] = []
    ways = ((AS_KNOWN, FIRST_KNOWN, known_then), (RECONSTRUCTED, FIRST_RECONSTRUCTED, reconstructed))
    for record, first, read in ways:
        before = 0
        for day in month_ends(first, last):
            then = read(evidence, day)
            if then.scores.height > before:  # a month without a new score claims nothing new
                rows += graded(list(claims_of(Study.run(then), day, record, skipped)), today, last)
            before = then.scores.height
            if advance is not None:
                advance()
    rows += grade_sealed(sealed, today, last)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def grade_sealed(sealed: Sequence[dict[str, Any]], today: Study, last: date) -> list[dict[str, Any]]:
    """Grade the sealed claims that have opened by a day; the scores known on their day give the models of then."""
    opened = [one for one in sealed if one["opens"] <= last.isoformat()]
    rows = []
    for made in dict.fromkeys(one["made"] for one in opened):
        day = date.fromisoformat(made)
        then = Study.run(known_then(today.evidence, day))
        about = {"record": SEALED, "among": then.ranked_iqs["subject"].to_list(), "fit": then.fit.capabilities}
        about["baseline"] = float(then.fit.capabilities["capability"].max())  # type: ignore[arg-type]
        claims = [claim for one in opened if one["made"] == made for claim in one["claims"]]
        days = [{key: date.fromisoformat(claim[key]) for key in ("made", "due") if key in claim} for claim in claims]
        rows += graded([{**about, **claim, **read} for claim, read in zip(claims, days, strict=True)], today, last)
    return rows


def claims_of(study: Study, day: date, record: str, skipped: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield what the shipped procedures claim from the evidence of a day.

    What too little is known for is left out; ``skipped`` then gets the reason.
    """
    about = {"record": record, "made": day}
    reasons = [] if skipped is None else skipped
    try:
        ranked = study.ranked_iqs
    except MensuraError as error:
        reasons.append(f"{record}, {day}: no claim, because IQs cannot be scored ({error})")
        return
    if ranked.height < _FEWEST:
        return
    leads = {**about, "kind": LEAD, "among": ranked["subject"].to_list()}
    for row in ranked.filter(pl.col("p_first") >= _LEAST).iter_rows(named=True):
        words = f"{row['name']} has the highest IQ of the {ranked.height} models ranked."
        yield {**leads, "subject": row["subject"], "claim": words, "chance": row["p_first"]}
    new = study.evidence.models.filter(pl.col("released") > day - _MONTH)["subject"].to_list()
    for row in ranked.filter(pl.col("subject").is_in(new)).iter_rows(named=True):
        ends = {"expected": row["exact_iq"], "low": row["iq_low"], "high": row["iq_high"]}
        words = f"The IQ of {row['name']} is {row['iq_low']:.0f} to {row['iq_high']:.0f}."
        yield {**about, "kind": IQ, "subject": row["subject"], "claim": words, "scores": row["measured"], **ends}
    try:
        ahead = look_ahead(study, days := [quarters_after(day, 4)[months // 3 - 1] for months in _AHEAD])
    except (MensuraError, ValueError, np.linalg.LinAlgError) as error:
        reasons.append(f"{record}, {day}: no forecast, because the months ahead cannot be simulated ({error})")
        return
    best = float(study.fit.capabilities["capability"].max())  # type: ignore[arg-type]
    for months, due, one in zip(_AHEAD, days, ahead, strict=True):
        when = {**about, "months": months, "due": due}
        for (test, group), chance in one.groups.items():
            words = f"{short_name(test, group)} on {study.benchmark_names[test]} are passed within {months} months."
            yield {**when, "kind": PASSED, "subject": f"{test}/{group}", "claim": words, "chance": chance}
        low, middle, high = map(float, one.capability)
        words = f"In {months} months the best model has a capability of {low:.2f} to {high:.2f}."
        ends = {"expected": middle, "low": low, "high": high, "baseline": best}
        yield {**when, "kind": FORECAST, "subject": "frontier", "claim": words, "fit": study.fit.capabilities, **ends}


def graded(claims: list[dict[str, Any]], today: Study, last: date) -> list[dict[str, Any]]:
    """Say of each claim whether it came true by today's evidence; what is open stays empty."""
    passed = {f"{one.benchmark}/{one.group}": one.first for one in passed_people(today)}
    models = {row["subject"]: row for row in today.models.iter_rows(named=True)}
    rows = []
    for claim in claims:
        kind, outcome = claim["kind"], {}
        if kind == LEAD:
            outcome = _grade_lead(claim, today)
        elif kind == IQ:
            now = models.get(claim["subject"], {"exact_iq": None})
            if now["exact_iq"] is not None and now["measured"] >= max(WELL_MEASURED, claim["scores"] + FURTHER):
                outcome = _inside(claim, now["exact_iq"])
        elif kind == PASSED and claim["due"] <= last:
            first = passed.get(claim["subject"])
            outcome = {"came_true": first is not None and first[1] <= claim["due"]}
        elif kind == FORECAST and claim["due"] <= last:
            outcome = _grade_forecast(claim, today)
        rows.append({**{key: claim.get(key) for key in SCHEMA}, **outcome})
    return rows


def _grade_lead(claim: dict[str, Any], today: Study) -> dict[str, Any]:
    """Say who of the same models leads today, where that is sure enough."""
    drawn = today.iq.drawn
    subjects = [name for name in claim["among"] if name in drawn.places]
    draws = np.asarray(drawn.composites)[:, [drawn.places[name] for name in subjects]].astype(np.float64)
    table = rank_subjects(subjects, draws.mean(axis=0), draws, np.ones(len(subjects), dtype=bool))
    chance = dict(table.select("subject", "p_first").iter_rows()).get(claim["subject"], 0.0)
    if max(chance, 1 - chance) < _SETTLED:
        return {}
    return {"came_true": chance >= _SETTLED}


def _inside(claim: dict[str, Any], actual: float) -> dict[str, Any]:
    return {"actual": actual, "came_true": claim["low"] <= actual <= claim["high"]}


def _grade_forecast(claim: dict[str, Any], today: Study) -> dict[str, Any]:
    """Compare with the best model out by the day, on today's scale: the line through the models that both fits have."""
    final = today.fit.capabilities.join(today.evidence.models.select("subject", "released"), on="subject")
    both = claim["fit"].select("subject", then="capability").join(final, on="subject")
    slope, intercept = np.polyfit(both["then"].to_numpy(), both["capability"].to_numpy(), 1)
    moved = {key: float(intercept + slope * claim[key]) for key in ("expected", "low", "high", "baseline")}
    actual = float(final.filter(pl.col("released") <= claim["due"])["capability"].max())  # type: ignore[arg-type]
    return moved | _inside(moved, actual)
