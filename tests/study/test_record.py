"""The record of claims: what was known then, grades by hand, seals that break."""

from __future__ import annotations

import json
from datetime import date

import polars as pl
import pytest
from typer.testing import CliRunner

import mensura
from mensura.cli.main import build_app
from mensura.core.errors import MensuraError
from mensura.study.grading import grade_record, shipped_claims
from mensura.study.record import (
    AS_KNOWN,
    KEPT,
    RECONSTRUCTED,
    SCHEMA,
    claims_of,
    grade_sealed,
    known_then,
    month_ends,
    reconstructed,
)
from mensura.study.study import Study

DAY = date(2026, 6, 30)


@pytest.fixture(scope="module")
def evidence():
    return mensura.load()


def test_as_known_holds_nothing_that_was_dated_later(evidence):
    then = known_then(evidence, DAY)
    assert then.scores["date"].max() <= DAY.isoformat()
    assert then.models["released"].max() <= DAY
    assert 0 < then.scores.height < evidence.scores.height


def test_a_reconstruction_holds_no_later_model_and_few_scores_of_new_ones(evidence):
    then = reconstructed(evidence, DAY)
    assert then.models["released"].max() <= DAY
    new = then.models.filter(pl.col("released") > date(2026, 5, 30))["subject"]
    counts = (
        then.scores.filter(pl.col("subject").is_in(new.to_list()))
        .group_by("subject")
        .agg(pl.col("benchmark").n_unique())
    )
    assert counts.height > 0 and counts["benchmark"].max() <= max(KEPT)
    older = evidence.models.filter(pl.col("released") < date(2026, 5, 1))["subject"].to_list()
    kept, every = (table.filter(pl.col("subject").is_in(older)).height for table in (then.scores, evidence.scores))
    assert kept == every


@pytest.mark.slow
def test_what_cannot_be_claimed_is_named_with_its_reason(evidence, monkeypatch):
    def fail(*_):
        raise MensuraError("3 models have both a capability and a release date")

    monkeypatch.setattr("mensura.study.record.look_ahead", fail)
    skipped: list[str] = []
    claims = list(claims_of(Study.run(known_then(evidence, DAY)), DAY, AS_KNOWN, skipped))
    assert {claim["kind"] for claim in claims} == {"lead", "iq"}
    assert skipped == [
        "as known, 2026-06-30: no forecast, because the months ahead cannot be simulated "
        "(3 models have both a capability and a release date)"
    ]


@pytest.mark.slow
def test_sealed_claims_are_graded_once_they_open(evidence):
    """GPT-6 Astra is out since; claims about days to come stay sealed."""
    when = {"months": 3, "due": "2026-09-30", "made": "2026-06-30"}
    forecast = {"kind": "forecast", "subject": "frontier", "claim": "c", "expected": 9.0, "low": 8.0, "high": 10.0}
    passed = {"kind": "passed", "subject": "arc_agi_2/general public, average", "claim": "c", "chance": 0.9}
    gone = {"kind": "iq", "subject": "no-such-model", "claim": "c", "low": 90.0, "high": 99.0, "scores": 2}
    about = {"made": "2026-06-30", "subject": "About"}
    sealed = [
        {
            **about,
            "opens": "2026-09-30",
            "claims": [{**forecast, **when}, {**passed, **when}, {**gone, "made": "2026-06-30"}],
        },
        {**about, "opens": "2027-06-30", "claims": [{**forecast, **when, "due": "2027-06-30"}]},
    ]
    rows = grade_sealed(sealed, Study.open(evidence), evidence.newest)
    assert [(row["record"], row["kind"], row["came_true"]) for row in rows] == [
        ("sealed", "forecast", False),
        ("sealed", "passed", True),
        ("sealed", "iq", None),
    ]
    assert rows[0]["actual"] < 5 < rows[0]["low"]
    assert rows[0]["due"] == date(2026, 9, 30)
    graded = grade_record(pl.DataFrame(rows, schema=SCHEMA))
    assert graded.sentence == "sealed beforehand, 1 of 1 claims of more than 50% came true (said: 90%)."


def test_months_end_on_their_last_day():
    assert month_ends(date(2024, 1, 31), date(2024, 3, 2)) == [date(2024, 1, 31), date(2024, 2, 29), date(2024, 3, 31)]


def _claims(*rows) -> pl.DataFrame:
    empty = dict.fromkeys(SCHEMA)
    about = {"made": date(2026, 1, 31), "claim": "It holds."}
    return pl.DataFrame([{**empty, **about, **row} for row in rows], schema=SCHEMA)


def test_grades_are_those_that_one_reckons_by_hand():
    lead = {"record": AS_KNOWN, "kind": "lead"}
    sure = [{**lead, "subject": f"m{n}", "chance": 0.8, "came_true": n < 3} for n in range(4)]
    open_one = {**lead, "subject": "open", "chance": 0.6}
    other = {"record": RECONSTRUCTED, "kind": "lead", "subject": "x", "chance": 0.2, "came_true": True}
    iq = {"record": AS_KNOWN, "kind": "iq", "scores": 3, "low": 110.0, "high": 120.0, "expected": 115.0}
    numbers = [
        {**iq, "subject": "a", "actual": 117.0, "came_true": True},
        {**iq, "subject": "b", "actual": 121.0, "came_true": False},
    ]
    ahead = {"record": AS_KNOWN, "kind": "forecast", "subject": "frontier", "months": 3, "expected": 1.0}
    ahead |= {"low": 0.5, "high": 1.5, "baseline": 0.8, "actual": 1.3, "came_true": True}
    record = grade_record(_claims(*sure, open_one, other, *numbers, ahead))
    row = record.summary.filter(record=AS_KNOWN, kind="lead").row(0, named=True)
    assert (row["claims"], row["settled"], row["came_true"]) == (5, 4, 3)
    assert row["brier"] == pytest.approx((3 * 0.04 + 0.64) / 4)
    assert row["brier_baseline"] == pytest.approx(0.75 * 0.25)
    known = record.calibration.filter(record=AS_KNOWN).row(0, named=True)
    assert (known["n"], known["said"], known["came_true"]) == (4, pytest.approx(0.8), 0.75)
    assert record.calibration.filter(record=RECONSTRUCTED)["n"].to_list() == [1]  # never mixed
    interval = record.intervals.row(0, named=True)
    assert (interval["coverage"], interval["bias"], interval["error"]) == (0.5, pytest.approx(-4.0), pytest.approx(4.0))
    forecast = record.forecasts.row(0, named=True)
    assert (forecast["error"], forecast["no_change"]) == (pytest.approx(0.3), pytest.approx(0.5))
    assert record.misses["chance"].to_list() == [0.8, 0.2]
    assert "3 of 4 claims of more than 50% came true (said: 80%)" in record.sentence


@pytest.mark.parametrize(
    ("actual", "inside", "why"),
    [
        (0.9, True, "Not the pace: the best model reached capability 0.90, 1.00 expected (90%: 0.50 to 1.50)."),
        (1.3, True, "The pace in part: the best model reached capability 1.30"),
        (1.7, False, "The pace: the best model reached capability 1.70"),
        (None, None, "The record does not tell why."),
    ],
)
def test_a_group_passed_against_the_odds_has_the_reason_that_the_forecast_of_then_gives(actual, inside, why):
    about = {"record": RECONSTRUCTED, "months": 12}
    passed = {**about, "kind": "passed", "subject": "test/people", "chance": 0.03, "came_true": True}
    ahead = {**about, "kind": "forecast", "subject": "frontier", "expected": 1.0, "low": 0.5, "high": 1.5}
    misses = grade_record(_claims(passed, {**ahead, "actual": actual, "came_true": inside})).misses
    assert misses["chance"].to_list() == [0.03]
    assert misses["why"][0].startswith(why)


def test_the_shipped_claims_are_of_both_records_and_none_is_graded_before_its_day():
    claims = shipped_claims()
    assert set(claims["record"]) == {AS_KNOWN, RECONSTRUCTED}
    assert claims.filter(record=AS_KNOWN)["made"].min() >= date(2025, 12, 31)
    newest = date.fromisoformat(mensura.load().scores["date"].max())
    assert claims.drop_nulls(["came_true", "due"])["due"].max() <= newest
    assert claims.drop_nulls("chance")["chance"].is_between(0, 1).all()


@pytest.mark.slow
def test_a_rebuilt_month_claims_what_the_shipped_record_does(evidence):
    """As known at the end of June 2026."""
    again = {
        (one["kind"], one["subject"], one.get("months")): one["chance"]
        for one in claims_of(Study.run(known_then(evidence, DAY)), DAY, AS_KNOWN)
        if one.get("chance") is not None
    }
    shipped = shipped_claims().filter(record=AS_KNOWN, made=DAY).drop_nulls("chance")
    before = {(row["kind"], row["subject"], row["months"]): row["chance"] for row in shipped.iter_rows(named=True)}
    assert again == pytest.approx(before, abs=0.02)


def test_the_command_prints_both_records_and_the_tables_as_json():
    printed = CliRunner().invoke(build_app(), ["record", "--json"])
    tables = json.loads(printed.output)
    assert {row["record"] for row in tables["calibration"]} == {AS_KNOWN, RECONSTRUCTED}
    assert "claims of more than 50% came true" in tables["sentence"]


def test_the_command_grades_claims_from_other_evidence(monkeypatch, tmp_path, evidence):
    given = []

    def few_claims(loaded, advance):
        given.append(loaded.fingerprint)
        return shipped_claims().head(200)

    evidence.save(tmp_path / "own")
    monkeypatch.setattr("mensura.study.record.build_record", few_claims)
    tables = json.loads(
        CliRunner().invoke(build_app(), ["record", "--evidence", str(tmp_path / "own"), "--json"]).output
    )
    assert given == [evidence.fingerprint]
    assert sum(row["claims"] for row in tables["summary"]) <= 200
