"""Placing without moving: new subjects, domains, human groups; evidence through its links."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura import MensuraError
from mensura.stitching import domain, evidence_scores, people_scores, place, place_people, stitch
from mensura.stitching.links import link
from mensura.stitching.place import _on_benchmarks_of
from mensura.stitching.sources import adjust_sources
from mensura.trends import mark_passed

from .conftest import simulate


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
    assert people.warnings == ()
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
    perfect = frame.with_columns(score=pl.when(pl.col("subject") == "m0").then(1.0).otherwise(pl.col("score")))
    kept, found = adjust_sources(perfect)
    assert kept.filter(pl.col("subject") == "m0")["score"].to_list() == [1.0] * 10
    assert found["offset"].is_finite().all()
    untouched, none = adjust_sources(frame.filter(pl.col("source") == "lab"))
    assert none.height == 0
    assert untouched.height == 150


def references(**columns):
    """Embedded evidence with one group on GPQA diamond (198 items, percent) in place of its human references."""
    evidence = mensura.load()
    row = {
        "benchmark": "gpqa_diamond",
        "group": "them",
        "score": 50.0,
        "unit": "percent",
        "status": "measured",
    } | columns
    schema = evidence.human_references.schema
    table = pl.DataFrame({name: [row.get(name)] for name in schema}, schema=schema)
    return replace(evidence, human_references=table)


@pytest.mark.parametrize(
    ("columns", "stderr"),
    [
        ({"n": 100}, 0.05),
        ({}, np.sqrt(0.25 / 198)),
        ({"low": 40.0, "high": 60.0, "n": 100}, 0.1 / 1.645),
        ({"status": "estimated", "low": 30.0, "high": 70.0}, 0.2 / 1.645),
        ({"status": "estimated", "n": 100}, 0.05),
        ({"score": 100.0, "n": 21}, 1 / 22),
    ],
)
def test_the_error_of_a_group_comes_from_its_range_its_size_or_the_items(columns, stderr):
    found = people_scores(references(**columns))
    assert found["score"][0] == columns.get("score", 50.0) / 100
    assert found["stderr"][0] == pytest.approx(stderr, rel=1e-3)


def test_groups_by_construction_are_not_people():
    assert people_scores(references(status="constructed")).height == 0


def test_a_group_known_half_as_well_has_a_wider_interval(embedded):
    def width(**columns):
        row = place_people(embedded, references(**columns)).table.row(0, named=True)
        return row["high"] - row["low"]

    assert width(low=45.0, high=55.0) < 0.8 * width(low=30.0, high=70.0)


def test_links_have_their_closed_forms():
    evidence = mensura.load()
    arena = evidence.primary_scores.filter((pl.col("unit") == "elo") & (pl.col("benchmark") == "arena_overall"))
    middle = arena["score"].median()
    units = ["elo", "elo", "percent", "fraction", "index", "index"]
    table = pl.DataFrame(
        {
            "benchmark": ["arena_overall"] * 6,
            "unit": units,
            "score": [middle + 400, middle - 400, 35.0, 0.35, 20.0, -100.0],
        }
    )
    assert link(table, evidence, "score")["score"].to_list() == pytest.approx([10 / 11, 1 / 11, 0.35, 0.35, 0.6, 0.0])


def test_a_placed_subject_has_the_posterior_of_a_linear_model_where_the_curve_is_straight():
    """Near ½ a score is nearly linear in η, so the placing is a ridge regression with a closed form."""
    frame, *_ = simulate(60, 10, seed=8, noise=0.02)
    fit = stitch(frame, method="rosetta", anchor_benchmark="b00")
    at, model = fit.model.positions, fit.model
    names = [name for name in fit.data.benchmarks if abs(at.difficulty[0, fit.data.benchmarks.index(name)]) < 1.5]
    cols = np.array([fit.data.benchmarks.index(name) for name in names])
    C, slope, D = 0.1, at.slope[0, cols], at.difficulty[0, cols]
    y = 1 / (1 + np.exp(-slope * (C - D)))
    new = pl.DataFrame({"subject": "new", "benchmark": names, "score": y})
    placed = model.place(_on_benchmarks_of(fit, new), at.phi[0])
    precision = ((y * (1 - y) * slope) ** 2).sum() / model.residual_variance + model.penalty / model.residual_variance
    assert placed.converged
    assert placed.theta[0, 0] == pytest.approx(C, abs=0.01)
    assert placed.covariance[0, 0, 0] == pytest.approx(1 / precision, rel=0.01)


def test_interval_of_a_placed_group_covers_where_it_stands():
    """Subjects simulated with known capability and placed afterwards: nominal 90% intervals hold them."""
    frame, C, _, _ = simulate(70, 14, seed=9, noise=0.04)
    held = [f"m{i:03}" for i in range(3, 67, 4)]
    fit = stitch(
        frame.filter(~pl.col("model").is_in(held)), dimensions=1, anchor_subjects={"m000": C[0], "m069": C[69]}
    )
    table = place(fit, frame.filter(pl.col("model").is_in(held))).capabilities.filter(pl.col("subject").is_in(held))
    truth = C[[int(name[1:]) for name in table["subject"]]]
    inside = (table["low"].to_numpy() <= truth) & (truth <= table["high"].to_numpy())
    assert 0.7 <= inside.mean() <= 1
    errors = np.abs(table["capability"].to_numpy() - truth)
    assert (table["high"] - table["low"]).mean() / 2 < 4 * errors.mean()
