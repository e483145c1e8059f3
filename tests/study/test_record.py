"""The record of claims: what was known then, grades by hand, seals that break."""

from __future__ import annotations

import json
from datetime import date
from types import SimpleNamespace

import numpy as np
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
    build_record,
    claims_of,
    grade_sealed,
    graded,
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


def today_of(**more):
    """Return a study of today: models a to c on twice the scale of then, of which c came out late."""
    released = {"a": date(2025, 1, 1), "b": date(2025, 6, 1), "c": date(2026, 3, 1)}
    capabilities = pl.DataFrame({"subject": ["a", "b", "c"], "capability": [1.0, 3.0, 9.0]})
    models = pl.DataFrame({"subject": list(released), "released": list(released.values())})
    facts = models.with_columns(exact_iq=pl.Series([120.0, None, 110.0]), measured=pl.Series([20, 0, 15]))
    fit, evidence = SimpleNamespace(capabilities=capabilities), SimpleNamespace(models=models)
    draws = np.array([[130.0, 120.0, 110.0]] * 9 + [[110.0, 120.0, 130.0]])
    drawn = SimpleNamespace(places={"a": 0, "b": 1, "c": 2}, composites=draws)
    return SimpleNamespace(models=facts, fit=fit, evidence=evidence, iq=SimpleNamespace(drawn=drawn), **more)


@pytest.fixture
def outcome(monkeypatch):
    """What today's evidence says of one claim; the nurses were passed on 1 March 2026."""
    passed = [
        SimpleNamespace(benchmark="quiz", group="nurses", first=("c", date(2026, 3, 1), 0.97)),
        SimpleNamespace(benchmark="quiz", group="judges", first=None),
    ]
    monkeypatch.setattr("mensura.study.record.passed_people", lambda _: passed)

    def of(last=DAY, **claim):
        [row] = graded([{"record": AS_KNOWN, "made": date(2025, 12, 31), **claim}], today_of(), last)
        assert list(row) == list(SCHEMA)
        return row["came_true"], row["actual"]

    return of


def test_a_group_is_passed_in_time_or_not_and_open_before_its_day(outcome):
    nurses = {"kind": "passed", "subject": "quiz/nurses"}
    assert outcome(**nurses, due=date(2026, 3, 1)) == (True, None)
    assert outcome(**nurses, due=date(2026, 2, 28)) == (False, None)
    assert outcome(**nurses, due=DAY) == (True, None)
    assert outcome(**nurses, due=date(2026, 7, 1)) == (None, None)
    assert outcome(kind="passed", subject="quiz/judges", due=DAY) == (False, None)


def test_an_iq_is_graded_once_many_more_tests_were_measured(outcome):
    claim = {"kind": "iq", "low": 110.0, "high": 120.0}
    assert outcome(**claim, subject="a", scores=17) == (True, 120.0)
    assert outcome(**claim, subject="a", scores=18) == (None, None), "three more than then"
    assert outcome(**claim, subject="c", scores=2) == (True, 110.0)
    assert outcome(**claim | {"low": 110.5}, subject="c", scores=2) == (False, 110.0)
    assert outcome(**claim, subject="c", scores=13) == (None, None)
    assert outcome(**claim, subject="b", scores=2) == outcome(**claim, subject="x", scores=2) == (None, None)


def test_who_led_is_settled_by_nine_of_ten_draws_of_the_models_of_then(outcome):
    lead = {"kind": "lead", "among": ["a", "b", "c", "gone"]}
    assert outcome(**lead, subject="a") == (True, None)
    assert outcome(**lead, subject="c") == (False, None)
    assert outcome(**lead, subject="gone") == (False, None)
    assert outcome(**lead | {"among": ["b", "c"]}, subject="b") == (True, None)


def test_a_forecast_is_moved_to_the_scale_of_today(outcome):
    """Then a stood at 0 and b at 1, today at 1 and 3: today is 1 + 2 times then."""
    fit = pl.DataFrame({"subject": ["a", "b"], "capability": [0.0, 1.0]})
    ahead = {"kind": "forecast", "fit": fit, "expected": 3.0, "low": 2.0, "high": 4.1, "baseline": 1.0}
    assert outcome(**ahead, due=date(2026, 3, 1)) == (True, 9.0), "c came out in time"
    assert outcome(**ahead, due=date(2026, 2, 28)) == (False, 3.0)
    assert outcome(**ahead | {"high": 3.9}, due=date(2026, 3, 1)) == (False, 9.0)
    assert outcome(**ahead, due=date(2026, 7, 1)) == (None, None)


class Then(SimpleNamespace):
    """A study of a past day, of which only some parts are asked for."""


def then_of(count=8):
    rows = [
        {"subject": f"m{at}", "name": f"M{at}", "p_first": chance, "exact_iq": 120.4 - at, "measured": 4}
        | {"iq_low": 110.0 - at, "iq_high": 130.6 - at}
        for at, chance in enumerate((0.8, 0.05, 0.049, *[0.0] * (count - 3)))
    ]
    released = [date(2026, 5, 31), date(2026, 5, 30), *[date(2025, 1, 1)] * (count - 2)]
    models = pl.DataFrame({"subject": [row["subject"] for row in rows], "released": released})
    fit = SimpleNamespace(capabilities=pl.DataFrame({"capability": [1.0, 2.5]}))
    return Then(
        ranked_iqs=pl.DataFrame(rows),
        evidence=SimpleNamespace(models=models),
        fit=fit,
        benchmark_names={"quiz": "Quiz"},
    )


def test_a_day_claims_who_leads_the_iqs_of_new_models_and_three_spans_ahead(monkeypatch):
    days = []

    def ahead(study, when):
        days.extend(when)
        return [SimpleNamespace(groups={("quiz", "nurses"): 0.25}, capability=np.array([2.0, 3.0, 4.0])) for _ in when]

    monkeypatch.setattr("mensura.study.record.look_ahead", ahead)
    claims = list(claims_of(then_of(), DAY, RECONSTRUCTED))
    assert days == [date(2026, 9, 30), date(2026, 12, 30), date(2027, 6, 30)]
    assert [(one["kind"], one["subject"], one.get("months")) for one in claims] == [
        *(("lead", "m0", None), ("lead", "m1", None), ("iq", "m0", None)),
        *(
            (kind, name, span)
            for span in (3, 6, 12)
            for kind, name in (("passed", "quiz/nurses"), ("forecast", "frontier"))
        ),
    ]
    assert claims[0]["claim"] == "M0 has the highest IQ of the 8 models ranked." and claims[0]["chance"] == 0.8
    assert claims[2]["claim"] == "The IQ of M0 is 110 to 131." and claims[2]["expected"] == 120.4
    assert claims[3]["claim"] == "Nurses on Quiz are passed within 3 months." and claims[3]["due"] == days[0]
    last = claims[-1]
    assert last["claim"] == "In 12 months the best model has a capability of 2.00 to 4.00."
    assert (last["expected"], last["low"], last["high"], last["baseline"]) == (3.0, 2.0, 4.0, 2.5)
    assert {one["record"] for one in claims} == {RECONSTRUCTED} and {one["made"] for one in claims} == {DAY}
    assert list(claims_of(then_of(7), DAY, RECONSTRUCTED)) == [], "fewer than eight ranked models claim nothing"


def test_months_without_a_new_score_claim_nothing_new(monkeypatch):
    made, advanced = [], []
    monkeypatch.setattr("mensura.study.record.Study", SimpleNamespace(run=lambda evidence: evidence))
    monkeypatch.setattr("mensura.study.record.graded", lambda claims, today, last: claims)

    def claims(then, day, record, skipped):
        made.append((record, day))
        return [{**dict.fromkeys(SCHEMA), "record": record, "made": day}]

    monkeypatch.setattr("mensura.study.record.claims_of", claims)
    counts = {AS_KNOWN: iter((5, 5, 9)), RECONSTRUCTED: iter([1] * 99)}
    for name, record in (("known_then", AS_KNOWN), ("reconstructed", RECONSTRUCTED)):
        heights = counts[record]
        read = lambda _, day, heights=heights: SimpleNamespace(scores=SimpleNamespace(height=next(heights)))  # noqa: E731
        monkeypatch.setattr(f"mensura.study.record.{name}", read)
    evidence = SimpleNamespace(scores=pl.DataFrame({"date": ["2026-01-02", "2026-02-10"]}))
    rows = build_record(evidence, lambda: advanced.append(1))
    assert made == [(AS_KNOWN, date(2025, 12, 31)), (AS_KNOWN, date(2026, 2, 28)), (RECONSTRUCTED, date(2024, 1, 31))]
    assert rows["record"].to_list() == [AS_KNOWN, AS_KNOWN, RECONSTRUCTED]
    assert len(advanced) == 3 + 26
