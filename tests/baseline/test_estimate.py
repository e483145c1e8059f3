"""Estimated baselines, from estimates that exist."""

import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura import MensuraError
from mensura.baseline import KnownMean, PanelCost, card_json, card_markdown, card_svg, plan_panel, read_recorded
from mensura.baseline.estimate import _Estimating, _without_memory
from mensura.baseline.recordings import shipped
from mensura.charts.theme import LIGHT
from mensura.core.arrays import expit, logit

PEOPLE = "university students in Germany"


def estimate(items, said, people=PEOPLE, **more):
    return mensura.estimate_baseline(items, people, estimates=said, **more)


def test_every_item_has_a_row_per_population_with_the_promised_columns(items, said):
    found = estimate(items, said, ["world", "DEU", PEOPLE])
    assert found.items.height == 150
    expected = ["item", "population", "rate", "low", "high", "level", "one_in", "status", "remembered"]
    assert found.items.columns[:9] == expected
    assert (found.items["low"] <= found.items["rate"]).all()
    assert (found.items["rate"] <= found.items["high"]).all()
    assert found.baseline["population"].to_list() == ["world", "DEU", PEOPLE]


def test_names_may_be_joined_by_commas_and_a_sentence_stays_whole(items, said):
    people = ["world, DEU", "students of law, medicine and history"]
    expected = ["world", "DEU", "students of law, medicine and history"]
    assert estimate(items, said, people).baseline["population"].to_list() == expected


def test_only_the_world_has_levels_and_rarer_items_are_higher(items, said):
    found = estimate(items, said, ["world", "DEU"]).items
    world = found.filter(pl.col("population") == "world").sort("rate")
    assert (world["level"].diff().drop_nulls() < 0).all()
    assert ((world["level_low"] <= world["level"]) & (world["level"] <= world["level_high"])).all()
    assert found.filter(pl.col("population") == "DEU")["level"].null_count() == 50


def test_estimates_that_name_no_population_are_doubted_only_where_several_are_compared(items, said):
    def doubts(table, people):
        warnings = estimate(items, table, people).warnings
        return [text for text in warnings if text.startswith("the estimates name no population")]

    named = pl.concat([said.with_columns(population=pl.lit(name)) for name in ("world", "DEU")])
    assert len(doubts(said, ["world", "DEU"])) == 1
    assert doubts(said, ["DEU"]) == doubts(named, ["DEU"]) == doubts(named, ["world", "DEU"]) == []


def test_the_mean_lies_within_its_interval_and_persons_are_ordered(items, said):
    row = estimate(items, said).baseline.row(0, named=True)
    assert row["low"] < row["mean"] < row["high"]
    assert row["median"] < row["top_10"] < row["top_1"] <= row["top_01"]


def test_rarities_end_at_the_people_of_a_study_or_an_anchor(items, said):
    """Estimates speak of a study of 50 people; an anchor of 2,000 people can tell 1 in 400."""
    rare = said.with_columns(rate=pl.lit(1e-5), low=pl.lit(0.0), high=pl.lit(1e-4))
    anchors = pl.DataFrame({"item": ["q1"], "rate": [0.0025], "n": [2000]})
    found = estimate(items, rare, anchors=anchors)
    first, second = found.items.select("one_in", "at_least").rows()[:2]
    assert 50 < first[0] <= 2000
    assert second == (50, True)
    assert found.items["one_in"][1:].max() == 50
    only = estimate(items, rare)
    assert only.spans == {PEOPLE: "from 1 in 50 to at least 1 in 50 people"}
    assert "at least 1 in 50 people" in card_markdown(only)


def test_anchors_pull_all_items_and_narrow_the_mean(items, said):
    before = estimate(items, said)
    rates = pl.DataFrame({"item": [f"q{n}" for n in range(1, 11)], "rate": [0.1] * 10, "n": [500] * 10})
    after = estimate(items, said, anchors=rates)
    assert after.items["rate"][40] < before.items["rate"][40] - 0.05
    assert after.items["status"].to_list()[:11] == ["anchored"] * 10 + ["estimated"]
    width = [
        row["high"] - row["low"] for row in (before.baseline.row(0, named=True), after.baseline.row(0, named=True))
    ]
    assert width[1] < 0.7 * width[0]
    np.testing.assert_allclose(after.items["rate"][:3], 0.1, atol=0.03)


def test_a_known_mean_settles_the_mean(items, said):
    row = estimate(items, said, known_mean=KnownMean(0.345, 5000)).baseline.row(0, named=True)
    assert row["mean"] == pytest.approx(0.345, abs=0.02)
    assert row["high"] - row["low"] < 0.1


def test_a_known_mean_of_few_people_leaves_the_interval_wider(items, said):
    widths = [
        (row := estimate(items, said, known_mean=KnownMean(0.5, n)).baseline.row(0, named=True))["high"] - row["low"]
        for n in (5, 5000)
    ]
    assert widths[0] > 1.5 * widths[1]


@pytest.mark.parametrize("count", [2, 50])
def test_what_a_model_says_it_remembers_is_counted_and_narrows_nothing(items, said, count):
    names = [f"q{n}" for n in range(1, count + 1)]
    plain, found = estimate(items, said), estimate(items, said.with_columns(remembered=pl.col("item").is_in(names)))
    assert found.items.filter(status="remembered")["item"].to_list() == names
    assert found.items.filter("remembered")["item"].to_list() == names
    assert found.baseline["remembered"][0] == count
    same = ["mean", "low", "high", "median", "top_1"]
    assert found.baseline.select(same).equals(plain.baseline.select(same))
    assert found.items.select("rate", "low", "high").equals(plain.items.select("rate", "low", "high"))
    assert f"remember published figures of {count} of 50 items" in card_markdown(found)


def test_an_estimate_counts_more_than_a_memory_of_the_same_item(items, said):
    memory = said.head(5).with_columns(rate=pl.lit(0.99), low=pl.lit(0.98), high=pl.lit(1.0), run=pl.lit("2"))
    both = pl.concat(
        [said.with_columns(run=pl.lit("1"), remembered=pl.lit(False)), memory.with_columns(remembered=pl.lit(True))]
    )
    plain, found = estimate(items, said), estimate(items, both)
    assert found.items["rate"].to_list() == plain.items["rate"].to_list()
    assert found.baseline["remembered"][0] == 5
    assert found.items["status"].unique().to_list() == ["estimated"]
    assert any("5 items were remembered in one run and estimated in another" in text for text in found.warnings)


def test_two_runs_that_agree_beat_one_and_two_models_that_disagree_do_not(items, said):
    alike = pl.concat([said.with_columns(model=pl.lit("claude-a"), run=pl.lit(run)) for run in (1, 2)])
    moved = pl.Series(expit(logit(said["rate"].to_numpy()) - 2.0))
    other = said.with_columns(
        rate=moved, low=moved * 0.5, high=moved * 0.5 + 0.5, model=pl.lit("claude-b"), run=pl.lit(1)
    )
    mixed = pl.concat([said.with_columns(model=pl.lit("claude-a"), run=pl.lit(1)), other])
    widths = [
        (found.items["high"] - found.items["low"]).mean()
        for found in (estimate(items, said), estimate(items, alike), estimate(items, mixed))
    ]
    assert widths[1] < widths[0] < widths[2]


@pytest.mark.slow
def test_an_unrecorded_estimator_widens_the_interval_and_anchors_learn_its_bias(items, said):
    def width(**more):
        row = mensura.estimate_baseline(items, people="adults in Sweden", estimates=said, **more).baseline.row(
            0, named=True
        )
        return row["high"] - row["low"]

    unnamed, recorded = width(), width(estimator="anthropic/claude-next")
    other = width(estimator="people of our office")
    assert recorded == unnamed < 0.9 * other
    anchors = said.head(20).select("item", "rate", n=pl.lit(200))
    assert width(estimator="gpt", anchors=anchors) < 1.15 * width(anchors=anchors)
    told = mensura.estimate_baseline(items, people="adults in Sweden", estimates=said, estimator="gpt")
    assert any("errors of gpt were never recorded" in text for text in told.warnings)
    assert told.parts[0].models == ("gpt",)
    named = mensura.estimate_baseline(
        items, people="adults in Sweden", estimates=said.with_columns(model=pl.lit("gpt"))
    )
    assert named.baseline.equals(told.baseline)


def test_the_majority_of_single_people_is_computed_and_said(items, said):
    single = mensura.estimate_baseline(items, people="crowd workers", estimates=said)
    vote = mensura.estimate_baseline(items, people="crowd workers", estimates=said, majority=5)
    assert vote.baseline["mean"][0] > single.baseline["mean"][0]
    assert vote.items["rate"].max() > single.items["rate"].max()
    assert vote.items["rate"].min() < single.items["rate"].min()
    assert any("majority of 5, computed from single people" in text for text in vote.warnings)
    with pytest.raises(MensuraError, match="at least 2"):
        mensura.estimate_baseline(items, people="crowd workers", estimates=said, majority=1)


def test_raters_get_no_correction_of_pupils_and_unknown_traits_widen(items, said):
    def row(people):
        return mensura.estimate_baseline(items, people=people, estimates=said).baseline.row(0, named=True)

    raters, participants = row("crowd workers"), row("online participants")
    assert raters["mean"] > participants["mean"]
    paid = row("crowd workers paid for each correct answer")
    assert paid["high"] - paid["low"] > 1.1 * (raters["high"] - raters["low"])


def test_far_people_get_a_wider_interval_and_a_warning(items, said):
    near, far = estimate(items, said, "adults in Sweden"), estimate(items, said, "adults in Niger")
    assert (far.items["high"] - far.items["low"]).mean() > (near.items["high"] - near.items["low"]).mean() + 0.02
    assert any("far from" in text for text in far.warnings)
    assert not any("far from" in text for text in near.warnings)


def test_a_sample_widens_the_mean(items, said):
    whole, part = estimate(items, said), estimate(items, said, sample=10, seed=1)
    assert part.items.height == 10
    assert part.sampled == (10, 50)
    assert part.baseline["high"][0] - part.baseline["low"][0] > whole.baseline["high"][0] - whole.baseline["low"][0]


def test_the_same_items_are_less_sure_as_a_sample_than_as_a_whole(items):
    rate = np.where(np.arange(items.height) % 2, 0.1, 0.9)
    said = pl.DataFrame({"item": items["id"], "rate": rate, "low": rate - 0.02, "high": rate + 0.02})
    sample = estimate(items, said, sample=10, seed=1)
    whole = estimate(items.filter(pl.col("id").is_in(sample.items["item"].implode())), said)
    widths = [
        row["high"] - row["low"] for row in (sample.baseline.row(0, named=True), whole.baseline.row(0, named=True))
    ]
    assert sample.baseline["mean"][0] == pytest.approx(whole.baseline["mean"][0], abs=0.05)
    assert widths[0] > 1.5 * widths[1]


def test_items_without_an_estimate_stay_in_the_table_and_are_counted(items, said):
    found = estimate(items, said.head(25))
    assert found.items["status"].to_list()[24:26] == ["estimated", "missing"]
    assert any("25 of 50 items have no estimate" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 1.2, "low": None, "high": None}, "is no rate; expected a number from 0 to 1"),
        ({"rate": 35.0, "low": 20.0, "high": 50.0}, "Divide by 100"),
        ({"low": 0.9, "rate": 0.5}, "does not contain the rate"),
        ({"item": "another"}, "unknown to items"),
    ],
)
def test_wrong_estimates_are_refused_with_the_item(items, said, change, message):
    columns = [pl.lit(value, dtype=said.schema[name]).alias(name) for name, value in change.items()]
    with pytest.raises(MensuraError, match=message):
        estimate(items, said.with_columns(columns))


def test_anchors_that_contradict_each_other_are_refused(items, said):
    rates = pl.DataFrame({"item": ["q1", "q1"], "rate": [0.1, 0.9], "n": [100, 100]})
    with pytest.raises(MensuraError, match="contradict each other"):
        estimate(items, said, anchors=rates)


def test_anchors_that_agree_become_one(items, said):
    twice = pl.DataFrame({"item": ["q1", "q1"], "rate": [0.30, 0.34], "n": [100, 300]})
    once = pl.DataFrame({"item": ["q1"], "rate": [0.33], "n": [400]})
    np.testing.assert_allclose(
        estimate(items, said, anchors=twice).items["rate"], estimate(items, said, anchors=once).items["rate"]
    )


@pytest.mark.parametrize("who", ["atlantis", "x", ""])
def test_a_population_that_nobody_described_is_refused(items, said, who):
    with pytest.raises(MensuraError, match="nobody described"):
        estimate(items, said, who)


@pytest.mark.slow
def test_a_hundred_thousand_items_are_no_problem():
    size = 100_000
    ids = pl.Series([f"q{n}" for n in range(size)])
    rate = np.random.default_rng(0).uniform(0.1, 0.9, size)
    said = pl.DataFrame({"item": ids, "rate": rate})
    found = estimate(pl.DataFrame({"id": ids}), said)
    assert found.items.height == size
    assert 0.2 < found.baseline["mean"][0] < 0.7


def test_the_card_ends_the_description_of_the_people_and_keeps_country_codes(items, said):
    text = card_markdown(mensura.estimate_baseline(items, "university students in Germany", estimates=said))
    assert "Described as: university students in Germany; read as: students, time limit not stated. " in text
    assert "The people (DEU) are near" in text


def test_the_cards_say_that_nobody_measured(items, said):
    found = estimate(items, said, scores=pl.DataFrame({"subject": ["a|b<script>"], "score": [0.7]}))
    for text in (card_markdown(found), card_svg(found), card_json(found)):
        assert "Estimated, not measured" in text
    assert "<script>" not in card_markdown(found) + card_svg(found)
    assert "a\\|b" in card_markdown(found)
    assert "university students in Germany" in card_markdown(found)


def test_the_card_draws_people_warm_and_hollow_with_their_whole_name_and_mean(items, said):
    drawn = card_svg(estimate(items, said, scores=pl.DataFrame({"subject": ["a"], "score": [0.7]})))
    warm = {LIGHT.people, LIGHT.people_strong}
    assert re.search(r">university students in Germany: [\d.]+, [\d.]+ to [\d.]+, estimated</text>", drawn)
    assert warm <= set(re.findall(r"#[0-9a-f]{6}", drawn))
    ground = re.search(r'<rect width="100%" height="100%" fill="(#[0-9a-f]{6})"/>', drawn)[1]
    assert f'fill="{ground}" stroke="{LIGHT.people_strong}"' in drawn
    model = re.search(r'aria-label="a: 70, measured">.*?fill="([^"]+)"', drawn)[1]
    assert model not in warm


def test_the_card_without_models_draws_one_row_per_population_with_its_mean(items, said):
    found = estimate(items, said)
    drawn = card_svg(found)
    assert "university students in Germany" in drawn
    assert f">{100 * found.baseline['mean'][0]:.1f}</text>" in drawn


def test_a_panel_of_few_people_and_items_never_widens_the_interval(items, said):
    few = said.head(5).with_columns(pl.Series("rate", [0.90, 0.92, 0.95, 0.93, 0.97]))
    few = few.with_columns(low=pl.col("rate") - 0.03, high=pl.col("rate") + 0.02)
    for estimates in (said, few):
        panel = plan_panel(estimate(items, estimates).parts[0].estimate, 1.6, PanelCost())
        assert (panel["width"] < panel["width_now"]).all()


def test_the_card_states_where_the_estimate_comes_from_and_what_decides_it(items, said):
    made = said.with_columns(model=pl.lit("claude-9"), date=pl.lit("2026-11-01"), prompt=pl.lit("abc123"))
    anchors = said.head(3).select("item", "rate", n=pl.lit(40))
    known = mensura.KnownMean(0.7, 60)
    asked = {"people": "crowd workers, majority of 3", "known_mean": known, "anchors": anchors}
    card = mensura.estimate_baseline(items, estimates=made.head(37), **asked).card()
    for text in (
        "Estimated by: claude-9 (1 run, 2026-11-01, prompt abc123)",
        "read as: crowd, time limit not stated; answering for a benchmark, majority of 3",
        "Items used: 37 of 50; remembered by a model: 0",
        "Anchors: human rates of 3 items, from 40 to 40 people each",
        "Known mean: 70.0% of 60 people",
        "Checked on AI benchmarks whose people answered as raters",
        "To improve it: ask a second model",
    ):
        assert text in card
    plain = mensura.estimate_baseline(items, "university students in Germany", estimates=said)
    assert "Checked on human tests" in plain.card()
    assert "not named (1 run, date not stated, prompt not stated)" in plain.card()
    assert "By: unnamed" in card_svg(plain)


def test_the_card_says_nothing_twice_and_no_chance_is_certain(items, said):
    scores = pl.DataFrame({"subject": ["best", "worst"], "score": [0.99, 0.01]})
    who = ["world", "adults in Niger"]
    card = mensura.estimate_baseline(items, who, estimates=said, estimator="people", scores=scores).card()
    rows = [line for line in card.splitlines() if line.startswith("- ")]
    assert len(rows) == len(set(rows))
    assert all(line.endswith(".") for line in rows)
    assert [sum(f"{name}) are far from" in line for line in rows) for name in ("world", "NER")] == [1, 1]
    assert "| over 99% |" in card
    assert "| under 1% |" in card
    assert "ask a second model" not in card


def test_a_baseline_writes_its_own_files(items, said, tmp_path):
    folder = estimate(items, said).write(tmp_path / "card")
    names = {path.name for path in folder.iterdir()}
    assert {"items.csv", "baseline.csv", "models.csv", "card.md", "card.svg", "card.json"} <= names


def test_one_set_of_estimates_for_several_populations_is_explained(items, said):
    both = mensura.estimate_baseline(items, ["world", "US crowd workers"], estimates=said)
    assert any("come from the correction alone" in text for text in both.warnings)


def test_anchors_without_a_number_of_people_are_asked_about(items, said):
    bare = said.head(3).select("item", "rate")
    with pytest.raises(MensuraError, match="How many answered"):
        mensura.estimate_baseline(items, "crowd workers", estimates=said, anchors=bare)
    told = mensura.estimate_baseline(items, "crowd workers", estimates=said, anchors=bare, anchor_people=60)
    assert told.parts[0].origin.anchors == (60.0,) * 3


def test_a_plan_names_a_panel_that_halves_the_interval_and_more_people_never_hurt(items, said):
    part = estimate(items, said).parts[0]
    plan = plan_panel(part.estimate, 1.1, PanelCost(hourly=36.0, seconds=100.0))
    assert plan["halved"].any()
    assert (plan["cost"] == plan["answers"]).all(), "36 dollars an hour and 100 seconds: one dollar per answer"
    for (_,), rows in plan.group_by("items"):
        assert (rows.sort("people")["width"].diff().drop_nulls() < 0).all()


def test_people_who_differ_more_cost_more(items, said):
    part = estimate(items, said).parts[0]
    alike, unlike = (plan_panel(part.estimate, sd, PanelCost())["width"].to_list() for sd in (0.0, 2.0))
    assert all(one < other for one, other in zip(alike, unlike, strict=True))


def test_recorded_estimates_ship_without_texts_and_true_rates():
    table = read_recorded("naep")
    assert table.height > 90
    assert not {"text", "truth", "n", "answer"} & set(table.columns)
    with pytest.raises(MensuraError, match="recorded: got"):
        read_recorded("nobody")


class Nobody:
    """A model that must not be asked."""

    model = "test/nobody"

    def ask(self, questions, read):
        raise AssertionError(questions, read)


@pytest.mark.parametrize(
    ("estimated", "unused"),
    [
        (True, {"runs": 3}),
        (True, {"askers": [Nobody()]}),
        (True, {"anchor_people": 60}),
        (False, {"estimator": "gpt", "askers": [Nobody()]}),
    ],
)
def test_an_argument_without_a_use_is_refused(items, said, estimated, unused):
    with pytest.raises(MensuraError, match=rf"^{next(iter(unused))}: "):
        mensura.estimate_baseline(items, PEOPLE, estimates=said if estimated else None, **unused)


@pytest.fixture
def few_draws(monkeypatch):
    """Draw few crowds of persons, where only messages and items count."""
    monkeypatch.setattr("mensura.baseline.estimate.DRAWS", 40)


@pytest.mark.usefixtures("few_draws")
def test_anchors_and_estimates_of_other_items_are_left_out_and_counted(items, said):
    anchors = pl.DataFrame({"item": ["q1", "other"], "rate": [0.4, 0.5], "n": [30, 30]})
    found = estimate(items, said, anchors=anchors)
    assert "1 anchors are of items without an estimate; they were left out" in found.warnings
    with pytest.raises(MensuraError, match="anchors: none of its 1 items has an estimate in items; use the same ids"):
        estimate(items, said, anchors=anchors[1:])
    more = pl.concat([said, said[:2].with_columns(item=pl.Series(["x", "y"]))])
    assert "2 items of the estimates are not in items; they were left out" in estimate(items, more).warnings
    assert not any("left out" in text for text in estimate(items, more, sample=10).warnings)


@pytest.mark.usefixtures("few_draws")
def test_estimates_of_named_populations_serve_these_alone(items, said):
    named = said.with_columns(population=pl.lit("DEU"))
    assert estimate(items, named, "adults in Sweden").items.height == 50, "one population may have another name"
    with pytest.raises(MensuraError, match="estimates: none for population 'world'; expected one of DEU"):
        estimate(items, named, ["world", "DEU"])
    both = pl.concat([named, said.with_columns(pl.col("rate", "low") / 2, population=pl.lit("world"))])
    means = dict(estimate(items, both, ["world", "DEU"]).baseline.select("population", "mean").iter_rows())
    assert means["world"] < means["DEU"] - 0.1


@pytest.mark.usefixtures("few_draws")
def test_a_known_mean_far_from_the_estimate_counts_and_is_named(items, said):
    found = estimate(items, said, known_mean=KnownMean(0.02, 5000))
    (warning,) = (text for text in found.warnings if text.startswith("the known mean 0.02 is far from the estimate 0."))
    assert warning.endswith("; the known mean counts. Check that both are about the same people and items")
    assert not any(
        "far from the estimate" in text for text in estimate(items, said, known_mean=KnownMean(0.5, 9)).warnings
    )


def test_the_error_of_a_known_mean_is_that_of_people_who_differ(items, said):
    """Of n people: the variance of their abilities times (p q)², and of their answers to 50 items."""
    taken = []
    work = _Estimating(SimpleNamespace(), SimpleNamespace(), SimpleNamespace(), None, 0)
    stub = SimpleNamespace(
        own_mean=np.zeros(50),
        draws=lambda count, rng: np.full((count, 50), 0.7),
        with_mean=lambda *given: taken.append(given),
    )
    work._settle(stub, KnownMean(0.7, 60), [])
    ability = np.exp(shipped()["persons"]["log_sd"])
    assert taken == [(0.7, pytest.approx((ability * 0.21) ** 2 / 60 + 0.21 / (60 * 50)))]


def test_memories_are_compared_with_estimates_of_the_same_items():
    rows = [("a", "1", 0.4, False), ("a", "2", 0.9, True), ("b", "1", 0.5, False), ("c", "1", 0.6, True)]
    table = pl.DataFrame(rows, ["item", "run", "rate", "remembered"], orient="row")
    warnings = []
    judged, flagged = _without_memory(table, "pupils", warnings)
    assert judged.select("item", "rate").rows() == [("a", 0.4), ("b", 0.5), ("c", 0.6)]
    assert flagged == {"a", "c"}
    assert warnings == [
        "pupils: models say that they remember published figures of 2 of 3 items; these count as estimates, with the "
        "same error",
        "1 items were remembered in one run and estimated in another: the estimates are -0.50 from the memories on "
        "average",
    ]
    quiet = []
    assert _without_memory(table.filter(run="1", remembered=False), "x", quiet)[1] == set() and quiet == []


def test_a_sample_of_items_adds_the_error_of_a_finite_sample():
    """The variance of a mean of 10 of 50 items: that between items, over 10, times 4/5."""
    rng = np.random.default_rng(1)
    drawn = np.tile(np.linspace(0, 1, 10), (20_000, 1))
    work = _Estimating(SimpleNamespace(of=50), SimpleNamespace(), SimpleNamespace(), None, 0)
    expected = np.linspace(0, 1, 10).var(ddof=1) / 10 * 0.8
    assert work._sampling(drawn, rng).var() == pytest.approx(expected, rel=0.05)
    whole = _Estimating(SimpleNamespace(of=10), SimpleNamespace(), SimpleNamespace(), None, 0)
    assert (whole._sampling(drawn, rng) == 0).all()
    assert (work._sampling(drawn[:, :1], rng) == 0).all()
    assert work._sampling(drawn[:, [0, 9]], rng).var() > 0


def test_estimates_of_single_people_keep_their_percentiles_when_they_vote(items, said):
    single, vote = (estimate(items, said, "crowd workers", majority=votes) for votes in (None, 3))
    assert vote.baseline.select("median", "top_10").row(0) == pytest.approx(
        single.baseline.select("median", "top_10").row(0), abs=0.02
    )
    rate = single.items["rate"].to_numpy()
    assert vote.items["rate"].to_list() == pytest.approx(rate**3 + 3 * rate**2 * (1 - rate))
    agreed = np.mean(rate**2 + (1 - rate) ** 2)
    assert any(f"of whom two agree on {agreed:.0%} of items" in text for text in vote.warnings)
    with pytest.raises(MensuraError, match="scores: missing column 'score'"):
        estimate(items, said, scores=pl.DataFrame({"subject": ["a"]}))
