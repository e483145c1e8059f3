"""Placing without moving: new subjects, domains, human groups; evidence through its links."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.stats
from polars.testing import assert_frame_equal

import mensura
from mensura import MensuraError
from mensura.iq import derive_ladders
from mensura.stitching import evidence_scores, people_scores, place_people, stitch
from mensura.stitching.influence import win_chances
from mensura.stitching.links import adjust_sources, link
from mensura.stitching.people import class_scores

from .conftest import simulate


@pytest.fixture(scope="module")
def embedded():
    return stitch()


def test_embedded_evidence_enters_through_stated_links(embedded):
    assert any(note.startswith("Elo enters as the expected win rate") for note in embedded.notes)
    assert any("left out" in note for note in embedded.notes)
    table, _ = evidence_scores(mensura.load())
    assert table["score"].is_between(0, 1).all()
    assert set(table["benchmark"]) & {"arena_overall", "aa_omniscience"} == {"arena_overall", "aa_omniscience"}
    elo = table.filter(pl.col("benchmark") == "arena_overall")["score"]
    assert elo.median() == pytest.approx(0.5, abs=0.05)


@pytest.fixture(scope="module")
def people(embedded):
    return place_people(embedded)


def test_every_test_says_who_passed_each_group_of_people_first(embedded, people):
    """Checked cell by cell against the definition: 95% above, on the scores as their sources print them."""
    assert people.warnings == ()
    printed = embedded.data.table.with_columns(score=pl.Series(embedded.data.printed))
    published = evidence_scores(mensura.load())[0].group_by("subject", "benchmark").agg(pl.col("score").mean())
    assert_frame_equal(printed, published, check_row_order=False)
    scores = printed.with_columns(variance=pl.Series(embedded.data.sampling)).join(
        embedded.dated.select("subject", "released"), on="subject"
    )
    for row in people.tests.iter_rows(named=True):
        mine = scores.filter(pl.col("benchmark") == row["benchmark"])
        assert row["models"] == mine.height
        assert row["best_score"] == pytest.approx(mine["score"].max())
        assert row["low"] <= row["score"] <= row["high"]
        if row["reason"] is not None and row["status"] != "panel":
            assert row["verdict"] is row["first"] is row["passed"] is row["chance"] is row["above"] is None
            continue
        error = np.sqrt(np.maximum(mine["variance"].to_numpy(), 0.02**2) + row["stderr"] ** 2)
        chances = scipy.stats.norm.cdf((mine["score"].to_numpy() - row["score"]) / error)
        over = mine.filter(chances >= 0.95).sort("released", nulls_last=True)
        assert row["above"] == over.height
        assert row["passed"] == (over["released"][0] if over.height else None)
        assert (row["verdict"] == "passed") == (over.height > 0)
        assert (row["verdict"] == "not passed") == (over.height == 0 and row["chance"] <= 0.05)


def test_measured_judged_constructed_scores_and_panels_stand_apart(people):
    tests = people.tests
    assert set(tests["status"]) == {"measured", "judged", "constructed", "panel"}
    assert tests.filter(pl.col("group").str.contains("panel"))["class"].null_count() == 2
    assert tests.filter(pl.col("status") == "constructed")["class"].drop_nulls().len() == 0
    about_zero = tests.filter(pl.col("bound") == "at most")
    assert about_zero.height >= 4
    assert set(about_zero["score"]) == {0.02}
    assert people.table["group"].to_list() == list(people.table["group"].unique(maintain_order=True))
    assert set(people.table["status"]) == {"measured", "judged"}


def test_a_class_has_an_interval_that_holds_the_spread_between_tests(people):
    table = {row["group"]: row for row in people.table.to_dicts()}
    judged, measured = table["experts, judged"], table["experts, measured"]
    assert measured["benchmarks"] == "aime, gpqa_diamond"
    assert measured["high"] - measured["low"] > judged["high"] - judged["low"] > 0.2
    for status in ("judged", "measured"):
        assert table[f"laypeople, {status}"]["capability"] < table[f"experts, {status}"]["capability"]
    experts, laypeople = (people.draws.subjects.index(f"{group}, judged") for group in ("experts", "laypeople"))
    capability = people.draws.positions.capability
    assert np.mean(capability[:, experts] > capability[:, laypeople]) > 0.95


def test_the_chance_of_beating_people_counts_both_errors(embedded, people):
    experts = "experts in the field"
    row = people.tests.filter((pl.col("group") == experts) & (pl.col("benchmark") == "gpqa_diamond")).row(0, named=True)
    takers = embedded.data.table.filter(pl.col("benchmark") == "gpqa_diamond").sort("score")["subject"]
    chances = win_chances(embedded, [row["best"], takers[0], "nobody"], "gpqa_diamond", row["score"], row["stderr"])
    assert chances == {row["best"]: row["chance"], takers[0]: chances[takers[0]]}
    assert chances[takers[0]] < 0.01
    order = people.tests.sort("benchmark", "score", descending=[False, True], maintain_order=True)
    assert people.tests.equals(order), "tests by name, within one the best group first"


def test_pages_and_ladders_put_a_group_in_the_same_place(embedded, people):
    """``stitch --people`` and ``iq --curves`` read one function."""
    curves = embedded.benchmarks.join(embedded.floors.select("benchmark", "chance", "ceiling"), on="benchmark")
    anchors = derive_ladders(mensura.load(), curves).anchors.select("benchmark", "group", "capability")
    both = anchors.join(people.tests.select("benchmark", "group", "position"), on=["benchmark", "group"])
    assert both.height == anchors.height >= 8
    np.testing.assert_allclose(both["capability"], both["position"])


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


def test_people_are_compared_in_the_metric_of_the_test_only():
    assert people_scores(references(unit="fraction", score=0.5)).height == 0


def test_a_score_of_about_zero_is_a_bound_and_a_measured_zero_is_not():
    judged = people_scores(references(status="estimated", score=0.0)).row(0, named=True)
    assert (judged["bound"], judged["score"], judged["status"]) == ("at most", 0.02, "judged")
    measured = people_scores(references(score=0.0, n=50)).row(0, named=True)
    assert (measured["bound"], measured["score"], measured["status"]) == (None, 0.0, "measured")


def test_a_group_known_half_as_well_has_a_wider_interval(embedded):
    def width(**columns):
        row = place_people(embedded, references(**columns)).tests.row(0, named=True)
        return row["high"] - row["low"]

    assert width(low=45.0, high=55.0) == pytest.approx(0.1, rel=1e-3)
    assert width(low=30.0, high=70.0) == pytest.approx(0.4, rel=1e-3)


def test_groups_of_no_class_are_compared_test_by_test_alone(embedded):
    found = place_people(embedded, references())
    assert found.table.height == 0
    assert found.tests["group"].to_list() == ["them"]


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


def test_scores_of_classes_are_logits_above_chance_with_the_errors_of_logits():
    """d logit(p) / dp = 1 / (p (1 − p)): an error of 0.05 at one half is one of 0.2 on the logit."""
    frame = simulate(20, 4, seed=1, noise=0.05, chance=0.2)[0].with_columns(chance=pl.lit(0.2), ceiling=pl.lit(1.0))
    part = pl.DataFrame(
        {
            "benchmark": ["b01", "b00", "b02", "b03", "b03"],
            "class": ["adults", "experts", "experts", "adults", "experts"],
            "score": [0.6, 0.84, 0.2, 1.0, 0.6],
            "stderr": [0.04, 0.032, 0.1, 0.0, 0.0],
            "bound": [None, None, None, None, "at most"],
        }
    )
    found = class_scores(stitch(frame, dimensions=1), part, ["adults", "experts"])
    assert found.logit == pytest.approx([0, np.log(4), np.log(0.02 / 0.98), np.log(0.98 / 0.02), 0])
    assert found.error == pytest.approx([0.05 / 0.25, 0.04 / 0.16, 0.125 / 0.0196, 0.01 / 0.0196, 0.01 / 0.25])
    assert found.bound.tolist() == [0, 0, -1, 1, -1]
    assert (found.cols.tolist(), found.classes.tolist()) == ([1, 0, 2, 3, 3], [0, 1, 1, 0, 1])


def test_a_score_that_is_kept_for_the_record_only_moves_nobody():
    """A score of which no reading is primary is only on record."""
    evidence = mensura.load()
    pair = (pl.col("subject") == "gpt-6-astra") & (pl.col("benchmark") == "arc_agi_3")
    assert evidence_scores(evidence)[0].filter(pair).height == 1
    recorded = evidence.scores.with_columns(primary=pl.col("primary") & ~pair)
    assert evidence_scores(replace(evidence, scores=recorded))[0].filter(pair).is_empty()


def test_a_column_of_the_user_that_is_called_printed_changes_nothing(simulated):
    frame, *_ = simulated
    plain, own = (
        stitch(table, anchor_benchmark="b05") for table in (frame, frame.with_columns(printed=pl.lit("page")))
    )
    assert own.data.printed.tolist() == plain.data.printed.tolist()
