"""What the best model of the coming months may do, on a frontier that is known."""

from datetime import date
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.study import outlook
from mensura.study.outlook import Outlook, look_ahead, next_year_words

DAY = date(2027, 6, 1)


class Stub(SimpleNamespace):
    """A study of which only some parts are asked for."""

    __hash__ = object.__hash__


@pytest.fixture
def study(monkeypatch):
    """One test with a ceiling of 90%, whose curve is logistic around 1; IQ is 100 and 10 per unit of capability."""
    monkeypatch.setattr(outlook, "simulate_frontier", lambda *_, **__: np.full((400, 1), 2.0))
    monkeypatch.setattr(outlook, "read_with_draws", lambda dated, laplace: (dated, None))
    monkeypatch.setattr(outlook, "explained", lambda study: ["quiz"])
    names = ("low", "middle", "high")
    groups = [SimpleNamespace(benchmark="quiz", group=name, first=None) for name in names]
    groups.append(SimpleNamespace(benchmark="quiz", group="passed", first="old"))
    monkeypatch.setattr(outlook, "passed_people", lambda study: groups)
    subjects, capability = [f"m{k}" for k in range(10)], np.linspace(-1.0, 1.0, 10)
    released = pl.DataFrame({"subject": subjects, "released": [date(2026, 1, 1)] * 10})
    data = SimpleNamespace(benchmarks=("quiz",), chance=np.array([0.1]), ceiling=np.array([0.9]))
    fit = SimpleNamespace(
        capabilities=pl.DataFrame({"subject": subjects, "capability": capability}),
        laplace=None,
        data=data,
        estimate=SimpleNamespace(slope=np.array([[2.0]]), difficulty=np.array([[1.0]])),
        model=SimpleNamespace(noise=lambda expected, cols: np.zeros_like(expected)),
    )
    ranked = pl.DataFrame({"capability": capability, "exact_iq": 100 + 10 * capability})
    tests = pl.DataFrame({"benchmark": ["quiz"] * 3, "group": names, "score": [0.5, 0.8, 0.89], "stderr": [0.0] * 3})
    return Stub(fit=fit, ranked=ranked, evidence=SimpleNamespace(models=released), people=SimpleNamespace(tests=tests))


def test_a_capability_becomes_a_score_by_the_curve_and_an_iq_by_the_line(study):
    """At 2, a unit above the middle of a curve of slope 2 between 0.1 and 0.9, the score is 0.1 + 0.8 σ(2)."""
    [found] = look_ahead(study, [DAY])
    score = 100 * (0.1 + 0.8 / (1 + np.exp(-2.0)))
    assert found.scores["quiz"] == pytest.approx([score] * 3)
    assert found.iq == pytest.approx([120.0] * 3) and found.capability == pytest.approx([2.0] * 3)


def test_a_group_is_passed_where_the_score_is_surely_above_and_a_test_that_ends_below_tells_nothing(study):
    """80.5% is surely above 50%, not above 80% ± 1.6 · 2 points; above 89% no score of at most 90% ever is."""
    [found] = look_ahead(study, [DAY])
    assert found.groups == {("quiz", "low"): 1.0, ("quiz", "middle"): 0.0, ("quiz", "high"): 0.0}
    assert next(iter(found.groups)) == ("quiz", "low"), "the likeliest first"
    assert found.untold == {("quiz", "high")}


def test_no_iq_stands_above_the_end_of_the_ladders(study, monkeypatch):
    monkeypatch.setattr(outlook, "simulate_frontier", lambda *_, **__: np.full((400, 1), 20.0))
    assert look_ahead(study, [DAY])[0].iq == pytest.approx([160.0] * 3)


@pytest.mark.parametrize(
    ("iq", "words"),
    [
        ((120.4, 130.0, 141.0), "of 130 (90%: 120 to 141)"),
        ((150.0, 158.0, 160.0), "of 158 (90%: 150 or more)"),
        ((151.0, 160.0, 160.0), "of 151 or more, where these tests end"),
        ((160.0, 160.0, 160.0), "of 160 or more, where these tests end"),
    ],
)
def test_an_iq_at_the_end_of_the_ladders_is_at_least_that(iq, words, monkeypatch):
    groups = {("quiz", "nurses"): 0.8, ("quiz", "experts"): 0.1}
    ahead = Outlook(
        DAY, np.zeros(3), np.array(iq), {"quiz": np.array([60.0, 70.0, 80.0])}, groups, frozenset({("quiz", "experts")})
    )
    monkeypatch.setattr(outlook, "look_ahead", lambda study, days: [ahead])
    told = next_year_words(Stub(pace=SimpleNamespace(until=date(2026, 6, 1)), benchmark_names={"quiz": "Quiz"}))
    assert told["sentence"].endswith(f"the best model may have an IQ {words}.")
    assert "Nurses on Quiz 80%" in told["groups"]
    assert told["groups"].endswith("Their tests end too low to show whether it passes these groups: Experts on Quiz.")
    assert told["scores"] == "Scores expected of it: Quiz 70% (60% to 80%)."
