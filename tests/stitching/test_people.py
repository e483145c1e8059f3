"""Placing without moving: new subjects, domains, human groups; evidence through its links."""

import numpy as np
import polars as pl
import pytest

import mensura
from mensura import MensuraError
from mensura.stitching import domain, evidence_scores, place, place_people, stitch
from mensura.stitching.sources import adjust_sources
from mensura.trends import mark_passed


@pytest.fixture(scope="module")
def embedded():
    return stitch()


@pytest.mark.parametrize("method", ["pooled", "rosetta"])
def test_a_subject_left_out_is_placed_where_the_whole_fit_has_it(simulated, method):
    frame, *_ = simulated
    whole = stitch(frame, method=method, anchor_benchmark="b05")
    fit = stitch(frame.filter(pl.col("model") != "m020"), method=method, anchor_benchmark="b05")
    before = fit.benchmarks
    draws = place(fit, frame.filter(pl.col("model") == "m020"))
    found = draws.capabilities.filter(pl.col("subject") == "m020").row(0, named=True)
    expected = whole.capabilities.filter(pl.col("subject") == "m020")["capability"][0]
    assert found["capability"] == pytest.approx(expected, abs=0.15)
    assert found["low"] < expected < found["high"]
    assert fit.benchmarks.equals(before)
    assert draws.capabilities.height == len(fit.data.subjects) + 1


def test_placing_refuses_what_the_fit_does_not_know(simulated):
    fit = stitch(simulated[0])
    with pytest.raises(MensuraError, match="'m001' is already in the fit"):
        place(fit, simulated[0].filter(pl.col("model") == "m001"))
    with pytest.raises(MensuraError, match="benchmark 'zz' is not in the fit"):
        place(fit, {"subject": ["new"], "benchmark": ["zz"], "score": [0.5]})


def test_domain_index_leaves_the_fit_in_place(simulated):
    fit = stitch(simulated[0])
    draws = domain(fit, ["b01", "b02", "b03"])
    own = [name for name in draws.subjects if name.endswith("(domain)")]
    assert len(own) > 10
    both = dict(draws.capabilities.select("subject", "capability").iter_rows())
    pairs = np.array([(both[name], both[name.removesuffix(" (domain)")]) for name in own])
    assert np.corrcoef(pairs.T)[0, 1] > 0.8
    with pytest.raises(MensuraError, match="'nothing' is not in the fit"):
        domain(fit, ["nothing"])


def test_embedded_evidence_enters_through_stated_links(embedded):
    assert any(note.startswith("Elo enters as the expected win rate") for note in embedded.notes)
    assert any("left out" in note for note in embedded.notes)
    table, _ = evidence_scores(mensura.load())
    assert table["score"].is_between(0, 1).all()
    assert set(table["benchmark"]) & {"arena_overall", "aa_omniscience"} == {"arena_overall", "aa_omniscience"}
    elo = table.filter(pl.col("benchmark") == "arena_overall")["score"]
    assert elo.median() == pytest.approx(0.5, abs=0.05)


def test_people_stand_among_the_models(embedded):
    people = place_people(embedded)
    table = people.table
    assert table["group"].n_unique() == table.height > 20
    assert (table["low"] < table["high"]).all()
    experts = "experts in the field"
    skilled = next(group for group in table["group"] if group.startswith("skilled people from other fields"))
    assert people.draws.better(experts, skilled) > 0.95
    passed = mark_passed(people).filter(pl.col("group") == skilled).row(0, named=True)
    assert passed["passed_low"] <= passed["passed"] <= passed["passed_high"]
    best = embedded.capabilities["subject"][0]
    assert people.beats(best, skilled, "gpqa_diamond") > 0.95
    assert people.beats(skilled, best, "gpqa_diamond") < 0.05


def test_people_need_a_common_benchmark(simulated):
    with pytest.raises(MensuraError, match="no human group was scored"):
        place_people(stitch(simulated[0]))


def test_source_offsets_are_found_and_taken_out():
    rng = np.random.default_rng(0)
    eta = rng.normal(0, 1, (30, 5))
    rows = []
    for i in range(30):
        for j in range(5):
            for source, offset in (("lab", 0.3), ("index", -0.3)):
                value = 1 / (1 + np.exp(-(eta[i, j] + offset + rng.normal(0, 0.05))))
                rows.append((f"m{i}", f"b{j}", value, source))
    frame = pl.DataFrame(rows, schema=["subject", "benchmark", "score", "source"], orient="row")
    adjusted, offsets = adjust_sources(frame)
    found = dict(offsets.select("source", "offset").iter_rows())
    assert found["lab"] == pytest.approx(0.3, abs=0.05)
    assert found["index"] == pytest.approx(-0.3, abs=0.05)
    spread = adjusted.group_by("subject", "benchmark").agg(pl.col("score").max() - pl.col("score").min())["score"]
    assert spread.mean() < 0.03
    untouched, none = adjust_sources(frame.filter(pl.col("source") == "lab"))
    assert none.height == 0
    assert untouched.height == 150
