"""How sure it is who leads: three ways of reckoning, and the score on which the answer hangs."""

from dataclasses import dataclass, replace
from datetime import date
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.iq import score_iq
from mensura.study.lead import Lead, _chance, _first_published, find_lead, moves_without, uncorrected_draws


def test_the_chances_of_the_leader_are_those_of_each_way(study):
    lead = study.lead
    best = study.iq.ranking.row(0, named=True)
    stitched = dict(study.capability_ranks.select("subject", "p_first").iter_rows())
    assert (lead.subject, lead.ranked) == (best["subject"], study.iq.ranking.height)
    assert lead.chances["joint"] == best["p_first"]
    assert lead.chances["stitched"] == (stitched[lead.subject] or 0.0)
    assert abs(lead.chances["uncorrected"] - best["p_first"]) < 0.3


@pytest.mark.slow
def test_the_score_that_moves_a_lead_most_is_named_with_the_chance_without_it(study):
    lead, evidence = study.lead, study.evidence
    dropped = (pl.col("subject") == lead.subject) & (pl.col("benchmark") == lead.mover)
    thinner = replace(evidence, scores=evidence.scores.filter(~dropped))
    again = score_iq(thinner, draws=study.iq.n_draws)
    chances = dict(again.ranking.select("subject", "p_first").iter_rows())
    assert lead.without == (chances.get(lead.subject) or 0.0)
    assert abs(lead.without - lead.chances["joint"]) > 0.02


@pytest.mark.slow
def test_a_score_that_flatters_its_model_moves_it_down_when_it_goes(study):
    leader = (pl.col("subject") == study.lead.subject) & pl.col("primary")
    own = study.evidence.scores.filter(leader)["benchmark"]
    moves = {}
    for score in (45.0, 99.0):
        changed = pl.when(leader & (pl.col("benchmark") == "gpqa_diamond")).then(score).otherwise("score")
        scores = study.evidence.scores.with_columns(score=changed)
        moves[score] = moves_without(score_iq(replace(study.evidence, scores=scores)), study.lead.subject)
        assert set(moves[score]) <= set(own)
    assert moves[99.0]["gpqa_diamond"] < 0 < moves[45.0]["gpqa_diamond"]


@pytest.mark.slow
def test_without_the_correction_only_models_with_chosen_scores_move(study):
    subject = study.iq.ranking["subject"][1]
    result = score_iq(study.evidence, selected=[subject], draws=200)
    moved = (uncorrected_draws(result) - result.drawn.composites).mean(axis=0)
    chosen = result.matrix.from_makers
    assert np.nanmax(np.abs(moved[~chosen])) < 1e-9
    assert chosen[result.matrix.row(subject)] and (moved[chosen] > -1e-9).all()
    assert moved[result.matrix.row(subject)] > 0.1


def test_who_leads_is_kept_by_itself_for_those_who_ask(study, monkeypatch):
    """``mensura where`` opens a study and does not ask: the lead takes as long as all IQs."""
    asked = []
    monkeypatch.setattr("mensura.study.study.recall", lambda name, inputs, compute: asked.append(name))
    assert replace(study).lead is None
    assert asked == ["lead"]


@pytest.mark.slow
def test_nobody_leads_where_nothing_was_drawn(study):
    assert find_lead(score_iq(study.evidence), lambda: pytest.fail("no need to stitch")) is None
    only = find_lead(score_iq(study.evidence, method="published", draws=50), lambda: pytest.fail("one way alone"))
    assert isinstance(only, Lead) and list(only.chances) == ["published"] and only.mover is None


def scored(**more):
    """Return a scoring of a (first), b and c, of which c is not ranked; four draws."""
    draws = np.array([[130.0, 120.0, 150.0], [120.0, 120.0, 90.0], [110.0, 121.0, 90.0], [110.0, 112.0, 90.0]])
    models = pl.DataFrame({"subject": ["a", "b", "c"], "name": ["Ay", "Bee", "Cee"]})
    benchmarks = pl.DataFrame({"benchmark": ["quiz", "votes"], "name": ["Quiz", "Votes"]})
    scores = pl.DataFrame({"subject": ["a", "a", "b"], "benchmark": ["quiz", "votes", "quiz"]})
    dates = pl.Series(["2026-10", "2026-09-03", "2026-05-01"])
    parts = {
        "n_draws": 4,
        "seed": 0,
        "method": "joint",
        "ranking": pl.DataFrame({"subject": ["a", "b"], "p_first": [0.5, 0.5]}),
        "evidence": Evidence(models, benchmarks, scores.with_columns(date=dates)),
        "matrix": SimpleNamespace(subjects=("a", "b", "c"), row="abc".index),
        "ranked_by": lambda: np.array([True, True, False]),
        "drawn": SimpleNamespace(composites=draws),
        "lowered": np.array([0.0, -10.0, 0.0]),
        "published": np.array([118.0, 125.0, np.nan]),
        "measured_share": np.array([0.9, 0.4, 0.9]),
        "rules": SimpleNamespace(status=SimpleNamespace(partial=0.4)),
    }
    return SimpleNamespace(**parts | more)


@dataclass(frozen=True)
class Evidence:
    """The tables that a lead reads."""

    models: pl.DataFrame
    benchmarks: pl.DataFrame
    scores: pl.DataFrame


def test_a_lead_has_the_chance_of_each_way_and_the_score_it_hangs_on(monkeypatch):
    """By the joint draws a is first in two of four; without the score on votes it would be first in one."""
    again = []

    def score_again(evidence, **how):
        again.append((evidence.scores.select("subject", "benchmark").rows(), how))
        return SimpleNamespace(ranking=pl.DataFrame({"subject": ["a"], "p_first": [0.25]}))

    monkeypatch.setattr("mensura.study.lead.moves_without", lambda *_: {"quiz": 1.0, "votes": -5.0})
    monkeypatch.setattr("mensura.study.lead.score_iq", score_again)
    stitched = pl.DataFrame({"subject": ["a", "b"], "p_first": [0.75, 0.25]})
    lead = find_lead(scored(), lambda: stitched)
    assert (lead.subject, lead.ranked, lead.mover, lead.without) == ("a", 2, "votes", 0.25)
    assert lead.chances == {"joint": 0.5, "uncorrected": 0.75, "stitched": 0.75}
    assert (lead.published, lead.day) == ("b", date(2026, 9, 3))
    assert again == [([("a", "quiz"), ("b", "quiz")], {"draws": 4, "seed": 0})]
    evidence = scored().evidence
    assert lead.basis(evidence) == (
        "Ay's score on Votes moves this most: without it the chance is 25%. The published method puts Bee first. The "
        "newest score is of 3 September 2026."
    )
    told = lead.to_dict(evidence)
    assert (told["day"], told["basis"], told["mover"]) == ("2026-09-03", lead.basis(evidence), "votes")
    assert told["sentence"] == lead.headline(evidence)
    assert find_lead(scored(), lambda: stitched.tail(1)).chances["stitched"] == 0.0


def test_the_published_method_is_one_way_and_nobody_leads_without_draws_or_ranks():
    only = find_lead(scored(method="published"), lambda: pytest.fail("one way alone"))
    assert (only.chances, only.mover, only.published) == ({"published": 0.5}, None, None)
    assert find_lead(scored(n_draws=0), lambda: None) is None
    assert find_lead(scored(ranking=pl.DataFrame({"subject": [], "p_first": []})), lambda: None) is None


def test_the_first_of_the_published_method_is_among_those_that_it_ranks():
    assert _first_published(scored()) == "b"
    assert _first_published(scored(measured_share=np.array([0.9, 0.39, 0.9]))) == "a"
    assert _first_published(scored(measured_share=np.zeros(3))) is None


def test_a_leader_wins_where_draws_are_equal_and_only_ranked_models_count():
    result = scored()
    draws = result.drawn.composites
    assert [_chance(result, "a", draws, move) for move in (0.0, 2.0, -1.0, 11.0)] == [0.5, 0.75, 0.25, 1.0]
    everybody = scored(ranked_by=lambda: np.ones(3, dtype=bool))
    assert _chance(everybody, "a", draws) == 0.25
    alone = scored(ranked_by=lambda: np.array([True, False, False]))
    assert _chance(alone, "a", draws) == 1.0
    assert uncorrected_draws(result)[:, 1].tolist() == (draws[:, 1] - 10).tolist()
