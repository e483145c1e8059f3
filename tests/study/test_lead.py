"""How sure it is who leads: three ways of reckoning, and the score on which the answer hangs."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from mensura.iq import score_iq
from mensura.study.lead import Lead, find_lead, moves_without, uncorrected_draws


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
