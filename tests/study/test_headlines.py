"""What a journalist could quote: plain sentences, which people were passed and when, who led in each month."""

from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.study.headlines import (
    Month,
    Passed,
    _order,
    capability_leader_sentence,
    cheapest_rows,
    cheapest_said,
    expected_scores,
    expected_shares,
    lead_by_month,
    leader_sentence,
    pace_sentence,
    passed_people,
    ranked_sentence,
    unit_sentences,
    year_sentence,
)
from mensura.study.units import show


def test_a_lead_is_said_with_its_basis(study):
    lead = replace(study.lead, mover="gpqa_diamond", without=0.2, published=None, day=None)
    name = study.evidence.models.filter(subject=lead.subject)["name"][0]
    assert lead.basis(study.evidence) == (
        f"{name}'s score on GPQA Diamond moves this most: without it the chance is 20%."
    )
    other = study.iq.ranking["subject"][1]
    named = study.evidence.models.filter(subject=other)["name"][0]
    assert f"The published method puts {named} first." in replace(lead, published=other).basis(study.evidence)
    sentence = leader_sentence(study)
    assert sentence.startswith(study.lead.headline(study.evidence)) and "Its IQ is" in sentence


@pytest.mark.parametrize(("alarm", "said"), [(date(2026, 3, 4), "sounded on 4 March 2026."), (None, "has found none")])
def test_the_sentence_on_pace_says_the_day_of_an_alarm(alarm, said):
    unit = "the distance from a to b"
    pace = SimpleNamespace(slope=0.62, low=0.5, high=0.75, records=0.9, unit=unit, since=date(2024, 9, 24))
    models = pl.DataFrame({"subject": ["a", "b"], "name": ["Ay", "Bee"]})
    sentence = pace_sentence(
        SimpleNamespace(pace=pace, evidence=SimpleNamespace(models=models), watch=SimpleNamespace(alarm=alarm))
    )
    said_first = (
        "Models released since September 2024 gain 0.62 of capability a year "
        "(90% interval 0.50 to 0.75; 1 is the distance from Ay to Bee)"
    )
    assert sentence.startswith(f"{said_first}, all releases counted; the line through the records rises by 0.90;")
    assert said in sentence


def fit_of(**more):
    """Return a fit of two benchmarks: chance 0.25 and ceiling 0.95, difficulty 1, slope 2; and an easier one."""
    data = SimpleNamespace(
        benchmarks=("hle", "gpqa_diamond"), chance=np.array([0.25, 0.0]), ceiling=np.array([0.95, 1.0])
    )
    estimate = SimpleNamespace(slope=np.array([[2.0, 1.0]]), difficulty=np.array([[1.0, 0.0]]))
    return SimpleNamespace(data=data, estimate=estimate, **more)


def test_scores_expected_lie_between_chance_and_ceiling():
    """Half-way at the difficulty; one unit above it 1 / (1 + e⁻²) of the way."""
    study = SimpleNamespace(fit=fit_of())
    assert expected_scores(study, "hle", [1.0, 2.0, -99.0, 99.0]) == pytest.approx(
        [60.0, 25 + 70 / (1 + np.exp(-2.0)), 25.0, 95.0]
    )
    assert expected_shares(study, "gpqa_diamond", np.zeros(1)) == pytest.approx([0.5])


def test_a_year_is_worth_the_rise_of_the_best_score_expected_on_the_best_known_test():
    pace = SimpleNamespace(slope=0.5, low=0.4, high=0.6, since=date(2024, 9, 1), unit="the distance from a to b")
    fit = fit_of(
        capabilities=pl.DataFrame(
            {"subject": ["b", "a"], "capability": [0.2, 1.5], "low": [0.1, 1.3], "high": [0.3, 1.8]}
        )
    )
    names = {"hle": "Humanity's Last Exam", "gpqa_diamond": "GPQA"}
    study = SimpleNamespace(pace=pace, fit=fit, benchmark_names=names, models=pl.DataFrame({"capability": [1.5]}))
    scores = expected_scores(study, "hle", [1.0, 0.9, 1.1, 1.5, 1.3, 1.8])
    before, low, high, after, least, most = (f"{score:.0f}%" for score in scores)
    sentence = year_sentence(study)
    assert "since 2024, a year lifts the best score expected on Humanity's Last Exam from about" in sentence
    assert f"{before} ({low} to {high}) to {after} ({least} to {most})." in sentence, "every number with its interval"
    step = expected_scores(study, "gpqa_diamond", [0.5, 0.3, 0.8, 1.5, 1.3, 1.8])
    assert unit_sentences(study)[0] == "GPQA: from {} ({} to {}) to {} ({} to {})".format(
        *(show(x, "percent") for x in step)
    )
    fit.data.benchmarks = ("other", "another")
    study.evidence = SimpleNamespace(models=pl.DataFrame({"subject": ["a", "b"], "name": ["Ay", "Bee"]}))
    assert year_sentence(study) == "A year brings 0.50 (0.40 to 0.60) of the distance from Ay to Bee."


def test_the_cheapest_model_at_an_iq_is_the_better_one_of_equal_price():
    models = pl.DataFrame(
        {"name": list("abcde"), "iq": [95, 121, 118, 130, None], "effective_cost": [0.5, 2.0, 2.0, None, 0.1]}
    )
    rows, priced = cheapest_rows(SimpleNamespace(models=models), floors=(90, 118, 120, 122))
    assert [(row["floor"], row["name"], row["able"], row["cost"]) for row in rows] == [
        (90, "a", 3, 0.5),
        (118, "b", 2, 2.0),
        (120, "b", 1, 2.0),
    ]
    assert priced == 3
    assert cheapest_said(SimpleNamespace(models=models)).startswith("IQ 115 from ")
    assert "(b)" in cheapest_said(SimpleNamespace(models=models)) and "125" not in cheapest_said(
        SimpleNamespace(models=models)
    )
    assert cheapest_said(SimpleNamespace(models=models.head(0))) == ""


_passed_people = passed_people.__wrapped__  # a made-up study cannot be kept


def people_study(chances, **row):
    """Return a study of one group and models that came out in the order of their names."""
    released = {name: date(2025, month, 1) for month, name in enumerate("abcd", start=1)}
    tests = {
        "benchmark": "t",
        "group": "experts",
        "status": "measured",
        "first": None,
        "passed": None,
        "best": None,
        **row,
    }
    evidence = SimpleNamespace(
        models=pl.DataFrame({"subject": list(released), "released": list(released.values())}),
        benchmarks=pl.DataFrame({"benchmark": ["t"], "unit": ["percent"]}),
    )
    printed = {("t", "experts"): {"score": 60.0, "n": 12, "source": "paper"}}
    return SimpleNamespace(
        evidence=evidence,
        people=SimpleNamespace(tests=pl.DataFrame([tests])),
        rows=SimpleNamespace(printed_people=printed),
        over_people={("t", "experts"): chances},
    )


def test_people_are_level_with_the_first_model_that_is_as_likely_above_as_below():
    chances = {"d": 0.99, "b": 0.5, "a": 0.49, "c": 0.96, "undated": 1.0}
    (one,) = _passed_people(people_study(chances, first="c", passed=date(2025, 3, 1)))
    assert one.level == ("b", date(2025, 2, 1))
    assert one.first == ("c", date(2025, 3, 1), 0.96)
    assert one.best == ("d", 0.99)
    assert (one.verdict, one.score, one.n, one.unit, one.short) == ("passed", 60.0, 12, "percent", "Experts")
    (told,) = _passed_people(people_study(chances, best="c"))
    assert told.best == ("c", 0.96) and told.first is None


@pytest.mark.parametrize(
    ("chance", "verdict"), [(0.94, "cannot be told"), (0.95, "passed"), (0.06, "cannot be told"), (0.05, "not passed")]
)
def test_a_verdict_is_no_surer_than_both_errors_allow(chance, verdict):
    (one,) = _passed_people(people_study({"a": chance}))
    assert one.verdict == verdict
    assert _passed_people(people_study({}))[0].verdict == "not known"
    assert _passed_people(people_study({"a": chance}), ("panel",)) == []


def test_groups_come_with_those_passed_first_by_date_and_then_by_chance():
    def one(verdict_chance, passed=None):
        first = None if passed is None else ("m", passed, 0.97)
        return Passed(
            "t",
            "g",
            "measured",
            1.0,
            "percent",
            None,
            None,
            None,
            first,
            None if verdict_chance is None else ("m", verdict_chance),
        )

    late, early = one(0.97, date(2025, 5, 1)), one(0.99, date(2025, 4, 1))
    unsure, surer, no, nobody = one(0.3), one(0.6), one(0.01), one(None)
    assert sorted([nobody, no, unsure, surer, late, early], key=_order) == [early, late, surer, unsure, no, nobody]


def test_who_led_in_a_month_was_out_by_its_end():
    """Model a has 120, b 130, c 125; draws are a point or two about these."""
    days = [date(2025, 1, 15), date(2025, 2, 28), date(2025, 4, 1)]
    ranked = pl.DataFrame({"subject": list("abc"), "released": days, "exact_iq": [120.0, 130.0, 125.0]})
    draws = np.array([120.0, 130.0, 125.0]) + np.array([[-1.0], [1.0]])
    drawn = SimpleNamespace(subjects=("a", "b", "c"), places={"a": 0, "b": 1, "c": 2}, composites=draws)
    months = lead_by_month(SimpleNamespace(ranked=ranked, iq=SimpleNamespace(drawn=drawn)))
    assert [(one.name, one.subjects) for one in months] == [
        ("January 2025", ("a",)),
        ("February 2025", ("b", "a")),
        ("March 2025", ("b", "a")),
        ("April 2025", ("b", "c", "a")),
    ]
    assert months[-1].p_first == (1.0, 0.0, 0.0)
    assert Month(days[0], ("x", "y"), (0.3, 0.7)).by_chance == [("y", 0.7), ("x", 0.3)]
    early = ranked.with_columns(released=pl.Series([date(2021, 5, 1), date(2022, 11, 20), None]))
    assert [one.name for one in lead_by_month(SimpleNamespace(ranked=early, iq=SimpleNamespace(drawn=drawn)))] == [
        "November 2022"
    ]
    assert lead_by_month(SimpleNamespace(ranked=ranked.head(0), iq=None)) == []


def test_nobody_known_well_enough_leads_nothing():
    empty = pl.DataFrame(schema={"subject": pl.String, "rank": pl.Int64, "p_first": pl.Float64})
    assert (
        capability_leader_sentence(SimpleNamespace(capability_ranks=empty))
        == "No model is known well enough to be ranked."
    )
    ranks = pl.DataFrame({"subject": ["new", "b", "a"], "rank": [None, 1, 2], "p_first": [0.9, 0.8, 0.2]})
    study = SimpleNamespace(capability_ranks=ranks, rows=SimpleNamespace(facts={"b": {"name": "Bee"}}))
    assert capability_leader_sentence(study) == "Bee has the highest capability, with a chance of 80% among 2 models."
    assert leader_sentence(SimpleNamespace(lead=None)) == "No model is known well enough to be ranked."
    matrix = SimpleNamespace(benchmarks=["x"] * 32)
    assert "scores on 9 or more of the 32 benchmarks" in ranked_sentence(
        SimpleNamespace(iq=SimpleNamespace(method="published", ranked_from=9, matrix=matrix))
    )
    assert "estimated from all scores" in ranked_sentence(SimpleNamespace(iq=SimpleNamespace(method="joint")))
    pace = SimpleNamespace(slope=1, low=1, high=1, records=None, unit="one", since=date(2024, 1, 1))
    said = pace_sentence(
        SimpleNamespace(
            pace=pace, evidence=SimpleNamespace(models=pl.DataFrame({"subject": [], "name": []})), watch=None
        )
    )
    assert said.endswith("all releases counted; too few models were released to watch for an acceleration.")


def test_of_two_models_of_one_day_the_likelier_one_is_level_first():
    study = people_study({"a": 0.6, "b": 0.9})
    study.evidence.models = study.evidence.models.with_columns(released=date(2025, 1, 1))
    assert _passed_people(study)[0].level == ("b", date(2025, 1, 1))
