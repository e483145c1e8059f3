"""What the pages say, checked against the evidence and against closed forms."""

import base64
import json
import math
import re
from datetime import date
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.site.api import ranged, to_json
from mensura.site.pages import model
from mensura.site.pages.charts import cheapest_section
from mensura.site.pictures import draw, people
from mensura.site.pictures.benchmark import benchmark_scores, ladder_figure, people_on
from mensura.site.pictures.first_screen import FirstScreen
from mensura.site.pictures.registry import labelled
from mensura.site.subjects import chance_layers, comparison_records, group_records, model_records
from mensura.site.templating import Templates
from mensura.study.headlines import unit_sentences
from mensura.study.leaders import MOST_DIMENSIONS, OWN_SCORES, comparable_people, leaders_beside_people

MODEL = "claude-opus-4.8"
Z90 = 1.6448536269514722


def test_a_model_is_solid_when_its_own_scores_stand_behind_most_dimensions(study):
    for row in study.models.drop_nulls("own").iter_rows(named=True):
        assert row["shown"] == ("measured" if row["own"] >= 4 else "estimated")
    ordered = study.models["exact_iq"].drop_nulls().to_list()
    assert ordered == sorted(ordered, reverse=True)


def test_a_study_shows_itself_in_a_few_lines(study):
    assert repr(study).startswith(f"<Study of {study.models.height} models on {study.benchmarks.height} benchmarks")
    assert len(repr(study).splitlines()) < 30
    assert set(study.tables()) >= {"models", "dimensions", "benchmarks", "groups"}
    assert "a year (90% interval" in str(study.pace)


def test_an_effective_cost_is_never_shown_without_how_far_it_is_from_the_published_one(study):
    note = "ours differs by a factor of 1.36 in the median"
    assert note in cheapest_section(study)["about"]
    assert note in model(study, study.models.row(0, named=True)).context["cost_note"]
    assert note in str(study.costs)


@pytest.mark.shared
def test_effective_costs_are_as_far_from_the_published_as_is_said(shared):
    """Sixteen models have both; the median factor is 1.36, and log usage multipliers correlate by 0.28."""
    published = pl.read_csv(shared / "data" / "models" / "aiiq_published.csv").select(
        subject="model_id", theirs="effective_cost_usd_per_1m_io"
    )
    both = mensura.score_costs(mensura.load()).costs.join(published, on="subject")
    both = both.drop_nulls(["effective_cost", "theirs"])
    factor = (both["effective_cost"] / both["theirs"]).log().abs().median()
    usage = pl.DataFrame({"ours": both["usage_multiplier"], "theirs": both["theirs"] / both["sticker_price"]})
    correlation = usage.select(pl.corr(pl.col("ours").log(), pl.col("theirs").log())).item()
    assert both.height == 16
    assert math.exp(factor) == pytest.approx(1.35, abs=0.03)
    assert correlation == pytest.approx(0.27, abs=0.03)


def test_second_sources_stand_under_their_primary_with_the_gap_between_them(study):
    rows = study.rows.score_rows[MODEL]
    primary = {row["benchmark"]: row["score"] for row in rows if row["primary"]}
    assert all(row["gap"] is None for row in rows if row["primary"])
    seconds = [row for row in rows if not row["primary"] and row["benchmark"] in primary]
    assert len(seconds) > 0
    for row in seconds:
        assert row["gap"] == pytest.approx(row["score"] - primary[row["benchmark"]])
        assert row["use"] == "second source"


def test_a_dimension_with_one_own_source_is_drawn_as_estimated(study):
    assert OWN_SCORES == 2
    for row in study.dimensions.iter_rows(named=True):
        assert (row["shown"] == "measured") == (row["measured"] >= 2)
    assert study.dimensions.filter(pl.col("measured") == 1)["shown"].unique().to_list() == ["estimated"]


def test_a_model_is_well_measured_from_four_dimensions_of_its_own_on(study):
    """By hand from the trail: a dimension counts from two measured benchmarks on."""
    trail = study.iq.trail.filter(pl.col("status") == "measured")
    counted = trail.group_by("subject", "dimension").agg(pl.col("iq").mean(), pl.len().alias("n"))
    own = counted.filter(pl.col("n") >= 2).group_by("subject").agg(pl.col("iq").mean(), pl.len().alias("own"))
    joined = study.models.join(own, on="subject", suffix="_by_hand")
    assert joined.height > 100
    assert joined["own_iq"].to_list() == pytest.approx(joined["iq_by_hand"].to_list())
    assert joined["own_dimensions"].to_list() == joined["own_by_hand"].to_list()
    assert joined["well_measured"].to_list() == [own >= MOST_DIMENSIONS == 4 for own in joined["own_by_hand"]]


def test_headline_and_commands_tell_the_same_iq(study):
    """One number per model, wherever it stands: the composite that full measurement would give."""
    leader = study.ranked.row(0, named=True)
    assert f"Its IQ is <b>{leader['iq']}</b>" in FirstScreen(study).context()["deck"]
    told = dict(study.iq.composites.select("subject", "iq").iter_rows())
    assert leader["iq"] == told[leader["subject"]]


def test_chances_are_packed_pair_by_pair_and_add_up_to_one(study):
    packed = chance_layers(study)
    names = packed["subjects"]
    values = np.frombuffer(base64.b64decode(packed["layers"]["composite"]), dtype=np.uint8)
    assert values.size == len(names) * (len(names) - 1) // 2
    first, second = names.index("claude-opus-4.6"), names.index("gpt-5.5")
    low, high = sorted((first, second))
    at = low * len(names) - low * (low + 1) // 2 + (high - low - 1)
    expected = study.iq.drawn.ahead(names[low], names[high])
    assert values[at] == pytest.approx(100 * expected, abs=0.51)


def test_people_are_compared_on_their_own_test_only(study):
    records = comparison_records(study)
    chances = records["beats"]["gpqa_diamond"]["experts in the field"]
    assert chances["gpt-4o"] == "under 1%"
    assert "gpt-3.5-turbo" not in chances, "it did no better than guessing"
    assert chances["gpt-6-astra"] == "over 99%"
    assert "guessing among four options" not in records["groups"]
    assert records["groups"]["experts in the field"]["scores"]["gpqa_diamond"]["status"] == "measured"


def test_a_step_of_capability_is_said_on_known_benchmarks(study):
    said = unit_sentences(study)
    assert [one.split(":")[0] for one in said] == ["GPQA Diamond", "Humanity's Last Exam", "SWE-Bench Pro", "ARC-AGI-2"]
    for one in said:
        before, *old, after, low, high = (float(share) for share in re.findall(r"([\d.]+)%", one.split(": from ")[1]))
        assert 0 < old[0] <= before <= old[1] <= 100
        assert before < after and low <= after <= high <= 100


def test_a_sensor_reaches_as_far_as_half_of_its_information(study):
    for row in study.sensors.iter_rows(named=True):
        assert row["low"] <= row["peak"] <= row["high"]
    curves = mensura.stitching.information_curves(study.fit)
    name = study.sensors["benchmark"][0]
    own = curves.filter(pl.col("benchmark") == name)
    within = own.filter(pl.col("information") >= own["information"].max() / 2)["capability"]
    shown = study.sensors.row(by_predicate=pl.col("benchmark") == name, named=True)
    assert (shown["low"], shown["high"]) == (within.min(), within.max())


def test_every_model_has_a_record_with_its_dimensions_in_order(study):
    record = model_records(study)[MODEL]
    assert [part["name"] for part in record["dimensions"]] == list(study.dimension_names.values())
    assert record["iq"]["low"] <= record["iq"]["value"] <= record["iq"]["high"]
    assert record["measured"] + record["inherited"] + record["estimated"] == 32
    assert record["iq"]["note"].startswith(f"{record['measured']} of 32 benchmarks measured")


def test_a_model_is_ranked_when_it_was_measured_on_three_tests_in_two_dimensions(study):
    assert study.ranked["rank"].to_list() == list(range(1, study.ranked.height + 1))
    tests = study.iq.matrix.telling @ study.iq.matrix.members
    enough = (tests.sum(axis=1) >= 3) & ((tests > 0).sum(axis=1) >= 2)
    assert set(study.ranked["subject"]) == {
        name for name, is_ in zip(study.iq.matrix.subjects, enough, strict=True) if is_
    }
    assert study.ranked["p_first"].sum() == pytest.approx(1)
    assert set(study.too_new["subject"]) == set(study.models["subject"]) - set(study.ranked["subject"])
    assert study.too_new["missing"].null_count() == 0


def test_groups_of_people_have_scores_with_units_and_no_constructed_ones(study):
    records = group_records(study)
    tests = study.people.tests
    assert set(records) == set(tests.filter(pl.col("status") != "constructed")["group"])
    assert len({record["page"] for record in records.values()}) == len(records)
    shown = [score["text"] for record in records.values() for score in record["scores"].values()]
    assert any(score.endswith("%") for score in shown)
    assert any(score.endswith(" Elo") for score in shown)


def test_the_highest_are_labelled():
    points = pl.DataFrame({"value": [3.0, 9.0, 5.0]})
    assert labelled(points, "value", 2)["label"].to_list() == [False, True, True]


@pytest.mark.parametrize(("n", "correct"), [(10, 9), (4, 0), (50, 25), (7, 7)])
def test_the_ends_of_the_wilson_interval_are_just_not_rejected(n, correct):
    """At an end p₀ the observed share lies exactly z standard errors of p₀ away."""
    table = pl.DataFrame({"subject": ["m"], "dimension": ["KN"], "level": [1], "n": [n], "correct": [correct]})
    row = people.outcome_rates(SimpleNamespace(demand_outcomes=table)).row(0, named=True)
    assert row["rate"] == correct / n
    for end, side in ((row["low"], 1), (row["high"], -1)):
        error = math.sqrt(max(end * (1 - end), 0.0) / n)
        assert side * (row["rate"] - end) == pytest.approx(Z90 * error, abs=1e-9)


def evidence_of(scores, references):
    """Evidence that holds no more than the table of leaders needs."""
    subjects = sorted({subject for subject, *_ in scores})
    benchmarks = sorted({benchmark for _, benchmark, _ in scores})
    return SimpleNamespace(
        models=pl.DataFrame(
            {
                "subject": subjects,
                "name": [subject.title() for subject in subjects],
                "released": [date(2025, 1, 1 + number) for number, _ in enumerate(subjects)],
            }
        ),
        benchmarks=pl.DataFrame({"benchmark": benchmarks, "name": [name.upper() for name in benchmarks]}).with_columns(
            dimension=pl.lit(None, pl.String), unit=pl.lit("percent")
        ),
        primary_scores=pl.DataFrame(scores, schema=["subject", "benchmark", "score"], orient="row").with_columns(
            unit=pl.lit("percent"), source=pl.lit("s"), date=pl.lit("2026")
        ),
        human_references=pl.DataFrame(
            references, schema=["benchmark", "group", "score", "status", "unit"], orient="row"
        ).with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64), n=pl.lit(None, pl.Int64)),
    )


def test_leaders_stand_beside_comparable_people_only_and_headline_and_table_are_one():
    scores = [("ann", name, 80.0) for name in "abcdef"] + [("bob", "a", 70.0)]
    references = [
        *[("a", "pupils", 60.0, "measured", "percent"), ("a", "experts", 75.0, "measured", "percent")],
        ("b", "experts", 80.0, "measured", "percent"),
        ("b", "guessing", 99.0, "constructed", "percent"),
        ("c", "all", 90.0, "estimated", "percent"),
        *[("d", "human panel", 100.0, "measured", "percent"), ("d", "crowd", 60.0, "measured", "percent")],
        ("e", "plays", 0.4, "measured", "fraction"),
    ]
    evidence = evidence_of(scores, references)
    table = leaders_beside_people(evidence)
    assert table.select("title", "people", "human_status").rows() == [
        ("A", "experts", "measured"),
        ("B", "experts", "measured"),
        ("C", "all", "judged"),
        ("D", "crowd", "measured"),
        ("E", None, None),
        ("F", None, None),
    ]


def test_measured_people_go_before_judged_ones_who_score_higher():
    scores = [("ann", "a", 80.0)]
    references = [("a", "judged", 95.0, "estimated", "percent"), ("a", "seen", 60.0, "measured", "percent")]
    assert leaders_beside_people(evidence_of(scores, references))["people"].to_list() == ["seen"]


def test_people_nobody_expects_to_take_a_test_are_named_with_the_reason_and_left_out(study):
    table = {row["benchmark"]: row for row in study.leaders.iter_rows(named=True)}
    for benchmark in ("critpt", "frontiermath_t4", "proofbench", "scicode", "arc_agi_3", "arena_webdev"):
        assert table[benchmark]["people"] is None
    assert table["gpqa_diamond"]["people"] == "experts in the field"
    listed = comparable_people()
    known = set(study.evidence.human_references.select("benchmark", "group").iter_rows())
    assert set(listed.select("benchmark", "group").iter_rows()) <= known
    assert listed["reason"].null_count() == 0


def test_json_keeps_six_digits_and_nothing_that_is_not_finite():
    payload = {"a": 1.23456789, "b": math.inf, "c": date(2026, 1, 2), "d": (1, None)}
    assert to_json(payload) == '{"a":1.23457,"b":null,"c":"2026-01-02","d":[1,null]}'
    assert ranged(None, 1.0, 2.0) is None
    assert json.loads(to_json(ranged(0.0, -1.0, 1.0))) == {"value": 0.0, "low": -1.0, "high": 1.0}


def test_a_ladder_is_drawn_up_to_what_its_test_can_give_and_says_what_lies_beyond(study):
    scores, people = benchmark_scores(study, "gpqa_diamond"), people_on(study, "gpqa_diamond")
    ladder = ladder_figure(study, "gpqa_diamond", scores, people)
    assert "puts IQ 160 at 140%, beyond what the test can give" in ladder.caption
    assert {row["iq"] for row in ladder.rows} == {70, 85, 100, 115, 130, 145, 160}, "the table keeps every step"
    ticks = [float(tick) for tick in re.findall(r">([\d.]+)%</text>", ladder.drawing.wide)]
    assert max(ticks) <= 100
    inside = ladder_figure(study, "hle", benchmark_scores(study, "hle"), people_on(study, "hle"))
    assert "beyond" not in inside.caption


def test_what_to_see_is_a_finding_computed_from_the_data(study):
    costed = study.having("effective_cost", "sticker_price")
    dearer = sum(own > listed for own, listed in costed.select("effective_cost", "sticker_price").iter_rows())
    assert draw(study, "cost-bars").see.startswith(f"{dearer} of all {costed.height} models")
    scores = sorted(study.evidence.primary_scores.filter(benchmark="hle")["score"], reverse=True)
    assert f"of {len(scores) - 1} other models" in draw(study, "scores-hle").see
    others = [row["exact_iq"] for row in study.rows.ranked_rows if row["subject"] != "gpt-4o"]
    above = sum(iq > study.rows.by_subject["gpt-4o"]["exact_iq"] for iq in others)
    assert f"{above} of {len(others)} other ranked models are above it" in draw(study, "among-gpt-4o").see
    for name in ("algorithmic-progress", "published-break", "published-horizons", "ladder-hle", "history-hle"):
        assert re.search(r"\d", draw(study, name).see), name


def test_a_change_leads_to_the_page_of_its_model():
    environment = Templates("mensura.site")
    source = environment.loader.get_source(environment, "changes.html")[0]
    macro = re.search(r"{% macro linked.*?endmacro %}", source)[0]
    linked = environment.from_string(macro + "{{ linked(change) }}")
    files = {"Kimi K3": "models/kimi-k3.html", "Kimi": "models/kimi.html", "<b>": "models/b.html"}
    link = '<a href="models/kimi-k3.html">Kimi K3</a>'
    for change, shown in (
        ("Kimi K3: IQ 130.7 to 124.9.", f"{link}: IQ 130.7 to 124.9."),
        ("New: Kimi K3, IQ 125, 5 scores.", f"New: {link}, IQ 125, 5 scores."),
        ("Source Kimi & sons: 5 scores.", "Source Kimi &amp; sons: 5 scores."),
        ("<b>: IQ 1", '<a href="models/b.html">&lt;b&gt;</a>: IQ 1'),
    ):
        assert linked.render(change=change, files=files) == shown
