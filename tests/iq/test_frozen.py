"""On a frozen scale a model that is added moves no other."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import mensura
from mensura.core.errors import MensuraError
from mensura.core.results import set_computed
from mensura.evidence.store import cells_of, fingerprint_of
from mensura.iq import IqDraws, frozen, frozen_evidence, kept_scores, left_out, place_iq
from mensura.scale.ranking import rank_interval
from tests.few_models import of_models, of_named

ZETA = {"hle": 30, "gpqa_diamond": 80, "aime_2025": 88, "swe_bench_verified": 60, "mmmu_pro": 70, "ifbench": 65}
ZETA |= {"scicode": 40, "livecodebench": 70, "terminal_bench_hard": 30, "arc_agi_2": 5}
OMEGA = {"hle": 45, "gpqa_diamond": 93, "aime_2025": 99, "swe_bench_verified": 80, "mmmu_pro": 82, "ifbench": 75}
OMEGA |= {"scicode": 55, "livecodebench": 88, "terminal_bench_hard": 55, "arc_agi_2": 60}
CITED = {
    "gpt-6-astra": (139.835, 136.539, 143.015),
    "gemini-3.1-pro": (123.057, 121.732, 124.565),
    "gpt-5.2": (116.108, 113.926, 117.757),
    "step-3.7-flash": (109.026, 103.245, 112.868),
    "kimi-k2": (99.780, 94.579, 103.503),
    "gemini-2.0-flash": (86.141, 71.305, 90.443),
}
"""Composite, and its interval from a hundred draws, of six models on the scale 2026-12."""


def scores_of(**models):
    rows = [(name, test, f"{score}%", "2026-05-01") for name, own in models.items() for test, score in own.items()]
    return pl.DataFrame(rows, schema=["model", "benchmark", "score", "released"], orient="row")


score = kept_scores(draws=20)


@pytest.fixture(scope="module")
def edition():
    """An edition of sixteen models, one without an IQ: what holds for it holds for every other; scored quickly."""
    best = of_models(9).models["subject"]
    few = of_named(*best, *CITED, "gpt-4.5", "mistral-large-4-preview")
    tables = {name: few.tables()[name] for name in ("models", "benchmarks", "scores", "ladders")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frozen, "load", lambda: few)
        patch.setitem(frozen.IQ_SCALES, "2026-12", fingerprint_of(cells_of(tables))[:12])
        yield few


@pytest.fixture(scope="module")
def alone(edition):
    return place_iq(edition.add(scores_of(zeta=ZETA)), score)


@pytest.fixture(scope="module")
def together(edition):
    return place_iq(edition.add(scores_of(omega=OMEGA, zeta=ZETA)), score)


def test_adding_a_model_moves_no_other_frozen_or_placed(alone, together):
    for table in ("standing", "dimensions"):
        with_both = getattr(together, table).filter(pl.col("subject") != "omega")
        assert_frame_equal(with_both, getattr(alone, table), check_exact=True)


def test_frozen_models_have_the_iqs_of_their_edition(together, edition):
    edition = score(edition).composites
    frozen_rows = together.standing.filter(place="frozen").drop("exact", "place")
    assert_frame_equal(frozen_rows, edition, check_row_order=False, check_exact=True)


@pytest.mark.slow
def test_the_iqs_of_the_scale_are_the_same_in_every_version():
    """Others have cited them: a method that gives other ones needs another name for its scale."""
    scored = kept_scores(draws=100)(mensura.load())
    composites = scored.composites.join(scored.exact, on="subject")
    found = {row[0]: row[1:] for row in composites.select("subject", "exact", "low", "high").iter_rows()}
    for name, cited in CITED.items():
        assert found[name] == pytest.approx(cited, abs=1e-3)


def test_a_placed_model_stands_where_a_common_scoring_puts_it(together, edition):
    common = score(edition.add(scores_of(omega=OMEGA, zeta=ZETA))).composites
    both = together.standing.join(common, on="subject", suffix="_common").filter(place="placed")
    assert both.height == 2
    assert (both["iq"] - both["iq_common"]).abs().max() <= 3
    iqs = dict(both.select("subject", "iq").iter_rows())
    assert iqs["omega"] > iqs["zeta"]


def test_only_the_new_models_asked_for_are_placed_and_each_is_reported(edition):
    steps = []
    both = edition.add(scores_of(omega=OMEGA, zeta=ZETA))
    found = place_iq(both, score, only=["zeta"], advance=lambda: steps.append(1))
    assert found.standing.filter(place="placed")["subject"].to_list() == ["zeta"]
    assert len(steps) == 1
    assert "1 of them placed on it" in found.heading


def test_models_stand_by_their_exact_iq_and_those_without_one_at_the_end(together):
    exact = together.standing["exact"]
    assert exact.is_sorted(descending=True, nulls_last=True)
    assert 0 < exact.null_count() == together.standing["iq"].null_count()


def test_what_is_kept_was_scored_with_so_many_draws_and_seed_zero_unless_another_is_given(edition):
    assert (score(edition).n_draws, score(edition).seed) == (20, 0)


def test_neighbours_stand_on_both_sides_with_chances_that_fall(together):
    near = together.neighbours_of("zeta")
    chances = near.drop_nulls("chance_above")
    assert near.height == 7
    assert chances["chance_above"].is_between(0, 1).all()
    above, below = (
        chances.filter(order(pl.col("iq"))) for order in (lambda iq: iq > own(near), lambda iq: iq < own(near))
    )
    if above.height and below.height:
        assert above["chance_above"].max() <= below["chance_above"].min() + 0.2


def own(near):
    return near.filter(subject="zeta")["iq"].item()


def test_the_scoring_has_the_edition_and_every_placed_model(together, edition):
    alone = together.edition
    known = pl.col("subject").is_in(alone.matrix.subjects)
    for table in ("composites", "dimensions", "benchmark_iqs", "trail", "emotional"):
        assert_frame_equal(getattr(together, table).filter(known), getattr(alone, table), check_exact=True)
    placed = together.standing.filter(place="placed")
    beside = score(frozen.beside(edition, together.evidence, "zeta"))
    own = beside.composites.filter(subject="zeta")
    assert_frame_equal(together.composites.filter(subject="zeta"), own, check_exact=True)
    assert together.placed == ("omega", "zeta")
    assert together.explain("zeta").iq == placed.filter(subject="zeta")["iq"].item()
    assert together.settings["scale"] == "2026-12"


def test_ranks_of_the_edition_stand_and_each_placed_model_is_ranked_among_it(together):
    ranked, kept = together.rank(0), together.edition.rank(0)
    assert_frame_equal(ranked.filter(~pl.col("subject").is_in(["omega", "zeta"])), kept, check_exact=True)
    for name in ("omega", "zeta"):
        row = ranked.filter(subject=name).row(0, named=True)
        assert row["rank"] == 1 + (kept["exact"] > row["exact"]).sum()
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
        drawn = {
            other: together.drawn.composites[:, together.drawn.places[other]] for other in [*kept["subject"], name]
        }
        ranks = 1 + sum((drawn[other] > drawn[name]).astype(float) for other in kept["subject"])
        ends = [end.item() for end in rank_interval(ranks[:, None])]
        assert (row["rank_low"], row["rank_high"]) == (min(ends[0], row["rank"]), max(ends[1], row["rank"]))
        assert row["measured"] == 8  # of its ten; the others count in no composite


def test_a_placed_model_measured_on_too_little_is_left_out_where_asked(together):
    assert {"omega", "zeta"} <= set(together.rank(8 / 32)["subject"])
    assert not {"omega", "zeta"} & set(together.rank(8.5 / 32)["subject"])


def test_draws_of_two_placed_models_do_not_rise_and_fall_together(edition):
    """Both were placed with the same random numbers; in one order their chances against each other would be sure."""
    twins = place_iq(edition.add(scores_of(another=ZETA, zeta=ZETA)), score)
    first, second = (twins.drawn.composites[:, twins.drawn.places[name]] for name in ("another", "zeta"))
    assert sorted(first) == pytest.approx(sorted(second))  # the same scores: the same distribution
    assert 0 < twins.drawn.ahead("another", "zeta") < 1
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.6  # of twenty draws; 1 where both keep their order


def test_scores_that_would_move_the_edition_stay_out_and_are_counted(edition):
    added = edition.add(
        pl.DataFrame(
            {
                "model": ["gpt-5.5", "zeta", "zeta"],
                "benchmark": ["frontiermath_t4", "hle", "my-test"],
                "score": ["99%", "30%", "50%"],
                "released": "2026-05-01",
                "kind": [None, None, "tracked"],
            }
        )
    )
    found = place_iq(added, score).evidence
    base = edition
    assert found.scores.height == base.scores.height + 1
    assert found.models.height == base.models.height + 1
    assert found.warnings[-2:] == (
        "1 score stays out of the frozen scale: of models that keep their place on it",
        "1 score stays out of the frozen scale: on benchmarks it does not have",
    )
    assert left_out(added, "2026-12") == found.warnings[-2:]
    assert left_out(edition, "2026-12") == ()
    assert found.origin.endswith("on the frozen scale 2026-12")


def test_an_edition_that_changed_is_no_frozen_scale(monkeypatch):
    assert frozen_evidence("2026-12").edition["edition"] == "2026-12"
    with pytest.raises(MensuraError, match="expected one of 2026-12"):
        frozen_evidence("2019-01")
    monkeypatch.setitem(frozen.IQ_SCALES, "2026-12", "another")
    with pytest.raises(MensuraError, match="no longer that of 2026-12"):
        frozen_evidence("2026-12")


def test_a_model_without_a_score_on_the_scale_is_refused(edition):
    added = edition.add(
        pl.DataFrame(
            {"model": ["zeta"], "benchmark": ["my-test"], "score": ["50%"], "released": "2026-05-01", "kind": "tracked"}
        )
    )
    with pytest.raises(MensuraError, match="'zeta' has none on a benchmark of the scale"):
        place_iq(added, score)


@pytest.mark.slow
def test_the_commands_place_a_model(mensura_command, tmp_path):
    file = tmp_path / "mine.csv"
    scores_of(zeta=ZETA).write_csv(file)
    told = json.loads(
        mensura_command("iq", "zeta", "--scale", "2026-12", "--set", "draws=20", "--add", file, "--json").out
    )
    assert [row["place"] for row in told["composites"]] == ["placed"]
    assert len(told["neighbours"]) == 7
    refused = mensura_command("iq", "--scale", "2026-12", "--method", "published", "--add", file)
    assert refused.code == 2
    assert "leave out --method" in refused.err
    refused = mensura_command("iq", "--scale", "2026-12", "--set", "draws=0", "--add", file)
    assert refused.code == 2
    assert "a frozen scale has intervals" in refused.err


def test_neighbours_are_up_to_three_on_either_side_and_fewer_at_the_ends(alone):
    """Nine models ten points apart, each drawn at its IQ and 15 above it: one draw in four passes the next model."""
    names = tuple("abcdefghi")
    iqs = [140.0 - 10 * at for at in range(9)]
    table = pl.DataFrame({"subject": names, "iq": iqs, "low": iqs, "high": iqs}).with_columns(
        measured=pl.lit(9), place=pl.lit("frozen")
    )
    draws = np.array([iqs, [iq + 15 for iq in iqs]])
    scale = set_computed(
        replace(alone), standing=table, drawn=IqDraws(names, draws, *[draws[:, :, None]] * 2, *[draws] * 2)
    )
    beside = {name: "".join(scale.neighbours_of(name)["subject"]) for name in "abei"}
    assert beside == {"a": "abcd", "b": "abcde", "e": "bcdefgh", "i": "fghi"}
    assert scale.neighbours_of("e")["chance_above"].to_list() == [0.0, 0.0, 0.25, None, 0.75, 1.0, 1.0]
