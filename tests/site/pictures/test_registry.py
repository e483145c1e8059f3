"""What captions and findings claim, checked against what their pictures compute: by hand, or by another way to it."""

import re
from datetime import date
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.charts import Reference
from mensura.charts.forest import Strip, draw_forest
from mensura.charts.over_time import draw_history
from mensura.charts.plot import Mark
from mensura.charts.theme import paint
from mensura.site.pictures import draw
from mensura.site.pictures.people import outcome_rates
from mensura.site.pictures.registry import PICTURES, picture_words
from mensura.study.headlines import expected_scores
from mensura.study.slow_parts import ability_rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def figure(study):
    """A picture of the report by name."""
    return lambda name: draw(study, name)


def numbers(text):
    return [float(found) for found in re.findall(r"\d+\.\d+|\d+", text)]


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_says_what_is_found_how_to_read_it_and_where_it_comes_from(figure, name):
    one = figure(name)
    assert one.finding and one.finding != one.caption
    assert len(one.caption) > 30 and one.caption.endswith((".", "C)."))
    assert one.source
    (_, shows), (_, see), (_, doubt) = one.voice
    assert len({shows, see, doubt, one.finding, f"{one.finding}."}) >= 5 - one.finding.endswith(".")
    assert all(text.endswith(".") and len(text.split()) <= 30 for text in (see, doubt))
    assert any(name.startswith(start) and "see" in words for start, words in picture_words().items()), (
        "somebody wrote what to see in it"
    )


def test_a_stroke_of_the_profiles_is_the_score_less_what_capability_alone_gives(study, figure):
    """Chance + (1 − chance) σ(slope (capability − difficulty)), as a share of the whole range; sources together."""
    cells = study.evidence.scores.group_by("subject", "benchmark").agg(
        least=pl.col("score").min() / 100, most=pl.col("score").max() / 100
    )
    facts = study.evidence.benchmarks.filter(unit="percent", ceiling=100.0).select("benchmark", "chance")
    place = (pl.col("capability") - pl.col("difficulty")) * pl.col("slope")
    rows = (
        study.residuals.join(facts, on="benchmark")
        .join(study.fit.capabilities.select("subject", "capability"), on="subject")
        .join(study.fit.benchmarks.select("benchmark", "difficulty", "slope"), on="benchmark")
        .join(cells, on=["subject", "benchmark"])
        .with_columns(alone=pl.col("chance") / 100 + (1 - pl.col("chance") / 100) / (1 + (-place).exp()))
        .with_columns(score=pl.col("residual") + pl.col("alone"))
    )
    known = rows.filter(pl.col("benchmark") == "gpqa_diamond")
    assert known.height > 100
    outside = known.filter((pl.col("score") < pl.col("least") - 0.005) | (pl.col("score") > pl.col("most") + 0.005))
    assert outside.height == 0
    assert "as a share of the whole range of the score" in figure("residual-profiles").caption


def test_the_profiles_name_the_farthest_score(figure):
    one = figure("residual-profiles")
    top = max(one.points, key=lambda row: abs(row["residual"] or 0))
    assert one.finding.startswith(f"Farthest from its level: {top['name']} on {top['benchmark']}")
    assert numbers(one.finding)[-1] == pytest.approx(100 * abs(top["residual"]), abs=0.05)


def test_the_acceleration_picture_is_the_watch_in_standard_deviations_of_worlds_without_change(study, figure):
    one, watch = figure("acceleration"), study.watch
    assert f"in {watch.plan.rate:.0%} of whole watches" in one.caption
    assert f"p = {watch.p_value:.2f}" in one.caption
    days = [date.fromisoformat(str(row["date"])) for row in one.points]
    assert all(b > a for a, b in pairwise(days))
    eleven_months = 11 * 365.25 / 12
    assert all((b - a).days > eleven_months for a, b in zip(days, days[12:], strict=False)), "one look a month"
    assert len({row["boundary"] for row in one.points}) == 1, "standardised, every look has one boundary"
    crossed = any(row["statistic"] > row["boundary"] for row in one.points)
    assert crossed == (watch.alarm is not None)
    assert one.finding.startswith("The alarm sounded" if crossed else "No acceleration")


def test_success_falls_in_as_many_curves_as_is_said(study, figure):
    drawn = {"gpt4o", "o1-mini", "llama3d1-405b", "llama3d2-1b"}
    curves = {}
    for row in outcome_rates(study.evidence).sort("level").iter_rows(named=True):
        if row["subject"] in drawn:
            curves.setdefault((row["subject"], row["dimension"]), []).append(row["rate"])
    falls = sum(rates[-1] < rates[0] for rates in curves.values())
    assert numbers(figure("demand-curves").finding) == [falls, len(curves)]
    assert falls < len(curves), "a sentence that says 'in every' would be false"


def test_a_model_typical_in_every_signal_of_work_stands_at_one(study, figure):
    """The signals of a model are ratios to what is typical: their geometric mean, turned over, is its efficiency."""
    signals = study.costs.signals.group_by("subject").agg(typical=1 / pl.col("usage").log().mean().exp())
    rows = study.models.drop_nulls("task_efficiency").join(signals, on="subject")
    assert rows["task_efficiency"].to_list() == pytest.approx(rows["typical"].to_list())
    assert rows["task_efficiency"].median() != pytest.approx(1, abs=0.01), "not the median model, as was once said"
    assert "typical in every signal" in figure("task-efficiency").caption


@pytest.mark.parametrize(("name", "column"), [("iq-cost", "effective_cost"), ("iq-response", "response_time")])
def test_the_steps_join_the_models_that_no_other_beats_on_both(study, figure, name, column):
    rows = study.having("iq", column).select(column, "exact_iq").rows()
    unbeaten = {(x, y) for x, y in rows if not any((a <= x and b > y) or (a < x and b >= y) for a, b in rows)}
    drawn = figure(name).drawing.wide
    corners = re.search(r'<path d="M([^"]+)" fill="none" stroke="[^"]*" stroke-width="2"', drawn)[1].split("L")
    places = re.findall(r'class="sign" transform="translate\(([\d.]+),([\d.]+)\)"', drawn)
    assert len(places) == len(rows)
    assert sum(f"{x},{y}" in corners for x, y in places) == len(unbeaten)


def test_what_moves_the_rate_adds_up_to_the_way_from_pupils_to_the_world(study, figure):
    effects = [row["value"] if "value" in row else row["effect"] for row in figure("world-drivers").points]
    assert sum(effects) == pytest.approx(100 * (study.world.rate - study.world.observed), abs=0.01)
    said = numbers(figure("world-regions").finding)
    assert said == pytest.approx([100 * study.world.observed, 100 * study.world.rate], abs=0.5)


def test_the_world_is_as_far_below_those_tested_as_is_said(figure):
    one = figure("observed-world")
    gap = np.mean([row["world"] - row["observed"] for row in one.points])
    assert numbers(one.finding)[0] == pytest.approx(100 * abs(gap), abs=0.51)
    assert ("below" in one.finding) == (gap < 0)


def test_the_pace_in_the_finding_is_that_of_the_study(study, figure):
    one = figure("capability-time")
    best = float(study.models["capability"].max())
    for score in expected_scores(study, "hle", [best - study.pace.slope, best]):
        assert f"{score:.0f}%" in one.finding
    assert f"{study.pace.low:.2f} to {study.pace.high:.2f}" in one.caption
    levels = re.findall(r'data-subject="people:[^>]*aria-label="([^"]*)"', one.drawing.wide)
    assert levels and all("measured" in label and " on " in label for label in levels)


def test_the_line_of_a_history_is_the_record_and_people_stand_over_it():
    """Scores 10, 30, 20, 40 by date: the record steps from 10 to 30 to 40, and a group can be pressed."""
    scores = [10.0, 30.0, 20.0, 40.0]
    spots = [Mark(f"m{i}", "x", 739000.0 + 100 * i, y, "", subject=f"m{i}", href="#") for i, y in enumerate(scores)]
    people = [Reference("experts on T, judged: 35%", 35.0, status="judged", href="#people", subject="people:t/experts")]
    wide = str(draw_history(spots, people, tick=str, description="d").wide)
    path = re.search(r'<path d="M([^"]+)" fill="none"', wide)[1]
    heights = [float(point.split(",")[1]) for point in path.split("L")]
    levels = sorted(set(heights), reverse=True)
    assert len(levels) == 3, "three records"
    assert [levels.index(height) for height in heights] == [0, 0, 1, 1, 2]
    assert sorted(re.findall(r">(m\d)</text>", wide)) == ["m0", "m1", "m3"], "who set a record is named"
    assert 'data-subject="people:t/experts"' in wide
    assert wide.index("people:t/experts") > wide.rindex('data-subject="m3"'), "over the models"


def test_a_group_says_how_it_is_known_by_its_mark():
    """Full where measured, hollow where judged."""
    spots = [Mark("m", "x", 739000.0 + day, 10.0 + day, "m") for day in (0, 50)]

    def drawn(status):
        group = Reference("g", 20.0, status=status, href="#people", subject="people:t/g")
        return str(draw_history(spots, [group], tick=str, description="d").wide)

    judged, measured = (re.search(r'<rect [^>]*rx="1" fill="([^"]*)"', drawn(one))[1] for one in ("judged", "measured"))
    assert (judged, measured) == (paint.surface, paint.people_strong)


def test_numbers_stay_readable_where_a_line_of_people_runs_through_them():
    rows = [Strip("m", 40.0, 38.0, 42.0, "measured", "x", "40%")]
    group = Reference("g", 44.0, status="judged", href="#people", subject="people:t/g")
    drawn = str(draw_forest(rows, axis="score", tick=str, description="d", references=[group]).wide)
    (number,) = re.findall(r"<text[^>]*>40%</text>", drawn)
    assert f'stroke="{paint.surface}"' in number and 'paint-order="stroke"' in number


def test_bars_of_cost_show_the_models_farthest_from_their_list_price(study, figure):
    """Effective cost is the sticker price times the work a model needs, the inverse of its efficiency."""
    one = figure("cost-bars")
    rows = study.having("effective_cost", "task_efficiency")
    work = rows["sticker_price"] / rows["task_efficiency"]
    assert rows["effective_cost"].to_list() == pytest.approx(work.to_list(), rel=1e-6)
    ordered = rows.sort("task_efficiency")["name"].to_list()
    assert {row["name"] for row in one.points} == {*ordered[:6], *ordered[-6:]}
    assert one.finding.startswith(f"{ordered[0]} costs ") and f", {ordered[-1]} 0." in one.finding
    values = [row["value"] for row in one.points]
    assert values == sorted(values)
    at = [float(x) for x in re.findall(r'class="sign" transform="translate\(([\d.]+),', one.drawing.wide)]
    assert np.corrcoef(at, np.log(values))[0, 1] > 0.9999


def test_a_base_is_ten_to_its_slope_and_the_finding_names_the_ends(study, figure):
    one, table = figure("bases"), study.evidence.bases
    both = table.drop_nulls(["base", "slope"])
    assert both["base"].to_list() == pytest.approx((10.0 ** both["slope"]).to_list(), rel=0.03), "slopes are rounded"
    drawn = sorted(row["base"] for row in one.points if row["base"] is not None)
    assert numbers(one.finding)[:3] == pytest.approx([drawn[0], drawn[-1], 10], rel=0.005)


def test_algorithmic_progress_says_how_many_measurements_and_their_ends(figure):
    one = figure("algorithmic-progress")
    assert all(row["low"] <= row["value"] <= row["high"] for row in one.points)
    factors = [row["value"] for row in one.points]
    assert numbers(one.finding)[:3] == [len(factors), round(min(factors)), round(max(factors))]


def test_the_ladder_shows_the_level_of_every_ability_with_items_enough(study, figure):
    placed = ability_rows(study.abilities.language, {}).drop_nulls("level")
    assert placed.height > 50
    assert ((placed["low"] <= placed["level"]) & (placed["level"] <= placed["high"])).all()
    top = placed.sort("level").row(-1, named=True)
    said = re.findall(r'aria-label="([^"]*)"', figure("human-ladder").drawing.wide)
    assert any(one.startswith(f"{top['subject']} on ADeLe, {top['dimension']}: ") for one in said)


def test_the_axis_says_which_measured_people_the_highest_model_is_above(study, figure):
    highest = study.capability_ranks.drop_nulls("rank")["capability"].max()
    finding = figure("one-axis").finding
    for row in study.groups.filter(status="measured").iter_rows(named=True):
        above, _, rest = finding.partition(", and inside the range of ")
        name = row["group"].rpartition(",")[0]
        assert (name in above) == (row["high"] < highest), name
        assert (name in rest) == (row["low"] <= highest <= row["high"]), name


def test_models_with_a_list_price_only_are_ranked_apart(study, figure):
    costed, listed = (set(study.having(column)["subject"]) for column in ("effective_cost", "sticker_price"))
    shown = {row["subject"] for row in figure("iq-price").points}
    assert shown == set(study.having("iq")["subject"]) & listed - costed
    assert numbers(figure("iq-price").finding)[0] == len(shown)


def test_the_list_price_stands_beside_the_effective_cost(figure):
    one = figure("cost-bars")
    assert one.table[0][-1] == "list price, $ per 1M in + 1M out"
    prices = mensura.load().models.select("subject", "name", total=pl.col("input_price") + pl.col("output_price"))
    known = {subject: (name, total) for subject, name, total in prices.iter_rows()}
    assert all(row["other"] == pytest.approx(known[row["subject"]][1]) for row in one.points)
    name, total = known[max(one.points, key=lambda row: row["other"])["subject"]]
    assert re.search(rf'aria-label="{re.escape(name)}: \$[\d.]+, list price \${total:g}, measured"', one.drawing.wide)
