"""Numbers that a stranger brings: each gives what it tells and no more."""

import json

import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.evidence import EvidenceError, with_tries
from mensura.site.pictures.benchmark import score_rows
from mensura.study import Study, find_whereabouts

RELEASED = "2026-10-01"


def own(*scores, model="mine", **more):
    """Return a table of own scores, each a benchmark and a percentage; ``more`` are columns of one value each."""
    rows = [(model, benchmark, score, "percent", RELEASED) for benchmark, score in scores]
    table = pl.DataFrame(rows, schema=["model", "benchmark", "score", "unit", "released"], orient="row")
    return table.with_columns(**{name: pl.lit(value) for name, value in more.items()})


@pytest.fixture(scope="module")
def weak():
    """The fit of a model with one weak score."""
    return mensura.stitch(mensura.load().add(own(("gpqa_diamond", 20))))


@pytest.mark.slow
@pytest.mark.parametrize("score", [0, 55, 100])
def test_a_test_that_only_one_model_took_changes_nothing(weak, score):
    added = mensura.load().add(own(("gpqa_diamond", 20), ("my own test", score), kind="tracked"))
    fit = mensura.stitch(added)
    assert fit.capabilities.equals(weak.capabilities)
    assert fit.convergence.converged
    assert "left out, taken by one subject only: my own test" in fit.notes


@pytest.mark.slow
def test_slopes_are_positive_also_where_two_models_disagree():
    """Of two takers of a new test, the better model scores lower."""
    added = mensura.load().add(own(("gpqa_diamond", 93), ("my own test", 2), model="strong", kind="tracked"))
    added = added.add(own(("gpqa_diamond", 40), ("my own test", 98), model="weak", kind="tracked"))
    fit = mensura.stitch(added)
    assert fit.benchmarks["slope"].min() > 0
    assert fit.convergence.converged


def tries_of(table):
    """Return how many answers stand behind the scores of a table, as Mensura reads it."""
    evidence = mensura.load().add(table)
    return with_tries(evidence, evidence.scores.filter(source="user"))["tries"].to_list()


def test_the_error_of_a_score_follows_its_own_number_of_answers():
    assert tries_of(own(("gpqa_diamond", 100))) == [198]
    assert tries_of(own(("gpqa_diamond", 100), n=5)) == [5]
    assert tries_of(own(("gpqa_diamond", 80), stderr=4.0)) == pytest.approx([100])
    assert tries_of(own(("gpqa_diamond", 80), stderr=4.0, n=20)) == [20]
    assert tries_of(own(("gpqa_diamond", 80), stderr=0.0, n=20)) == [20]
    assert tries_of(own(("gpqa_diamond", 80), stderr=0.0)) == [198]
    assert tries_of(own(("gpqa_diamond", 100), stderr=1.0)) == pytest.approx([100])
    assert tries_of(own(("gpqa_diamond", "80 ± 4"))) == pytest.approx([100])
    assert tries_of(own(("gpqa_diamond", 0.8)).with_columns(unit=pl.lit("fraction"), se=pl.lit(0.04))) == [
        pytest.approx(100)
    ]


@pytest.mark.parametrize(("column", "value"), [("n", 0), ("n", "many"), ("n", 2.5), ("stderr", -1.0), ("stderr", 60.0)])
def test_an_impossible_number_of_answers_or_error_is_refused_with_its_row(column, value):
    with pytest.raises(EvidenceError, match=f"row 1, column {column}"):
        mensura.load().add(own(("gpqa_diamond", 80), **{column: value}))


def test_a_partial_run_says_so():
    evidence = mensura.load().add(own(("gpqa_diamond", 100), n=5))
    assert evidence.warnings[0] == (
        "mine on gpqa_diamond: a partial run, 5 of 198 items; the score of a full run may be 64.9 to 100 percent (90%)"
    )
    assert not any("partial" in text for text in mensura.load().add(own(("gpqa_diamond", 80), n=198)).warnings)


def inspect_log(answers, epochs=1, limit=None, stderr=0.0):
    """Return an Inspect log of GPQA Diamond, every answer right."""
    metrics = {"accuracy": {"value": 1.0}, "stderr": {"value": stderr}}
    return {
        "status": "success",
        "eval": {
            "task": "gpqa_diamond",
            "model": "acme/mine",
            "dataset": {"samples": 198},
            "config": {"epochs": epochs, "limit": limit},
        },
        "results": {"completed_samples": answers, "scores": [{"name": "choice", "metrics": metrics}]},
    }


@pytest.mark.parametrize(
    ("log", "tries"),
    [
        (inspect_log(5), 5),
        (inspect_log(5, limit=5), 5),
        (inspect_log(50, epochs=10, limit=5), 5),
        (inspect_log(198), 198),
        (inspect_log(792, epochs=4), 792),
        (inspect_log(198, stderr=0.05), 20),
    ],
)
def test_a_log_says_how_many_answers_it_holds(tmp_path, log, tries):
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log), encoding="utf-8")
    evidence = mensura.load().add(file, new_model=mensura.evidence.NewModel(released=RELEASED))
    found = with_tries(evidence, evidence.scores.filter(source="user"))["tries"][0]
    assert found == pytest.approx(tries)
    assert any("a partial run, 5 of 198 items" in text for text in evidence.warnings) == (tries == 5)


def test_a_log_of_the_harness_says_how_many_answers_it_holds(tmp_path):
    told = {"gpqa_diamond": {"acc,none": 1.0, "acc_stderr,none": 0.0}, "hle": {"acc,none": 0.3, "acc_stderr,none": 0.1}}
    counts = {"gpqa_diamond": {"original": 198, "effective": 5}, "hle": {"original": 2500, "effective": 2500}}
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"model_name": "mine", "results": told, "n-samples": counts}), encoding="utf-8")
    reading = mensura.load().read_scores(file, new_model=mensura.evidence.NewModel(released=RELEASED))
    assert "gpqa_diamond: a partial run, 5 of 198 items" in reading.notes
    evidence = mensura.load().add(reading)
    found = with_tries(evidence, evidence.scores.filter(source="user"))["tries"].to_list()
    assert found == pytest.approx([5, 21])


@pytest.mark.slow
def test_five_right_answers_are_no_certainty_on_the_stitched_scale():
    """The interval of five answers holds that of all 198, and is at least twice as wide."""
    five, all_items = (
        mensura.stitch(mensura.load().add(own(("gpqa_diamond", 100), n=n))).capabilities.filter(subject="mine")
        for n in (5, 198)
    )
    width = [float(one["high"][0] - one["low"][0]) for one in (five, all_items)]
    assert width[0] > 1.3 * width[1]
    assert five["capability"][0] < all_items["capability"][0]


ALONE = "scores on 3 tests in 2 dimensions; "
"""What a model with fewer scores needs for a rank."""
STRANGERS = pl.concat(
    [
        *(own(("gpqa_diamond", score), model=f"gpqa {score}") for score in (25, 60, 81.5, 95, 98, 100)),
        own(("gpqa_diamond", 100), model="gpqa five", n=5),
        own(("mmlu_pro", 100), model="mmlu five", n=5),
        own(("gpqa_diamond", 60), ("scicode", 30), ("ifbench", 50), model="three tests"),
        own(("gpqa_diamond", 60), ("scicode", 30), ("hle", 12), model="one dimension"),
        own(("gpqa_diamond", 25), ("hle", 4), ("ifbench", 20), model="two at chance"),
        own(("gpqa_diamond", 100), ("scicode", 0), model="both ends"),
    ],
    how="diagonal_relaxed",
)


@pytest.fixture(scope="module")
def study():
    """The whole evidence and what twelve strangers bring: each has too few scores to move the others."""
    return Study.open(mensura.load().add(STRANGERS))


@pytest.fixture(scope="module")
def rows(study):
    """The composite of each stranger, by name."""
    return {row["subject"]: row for row in study.iq.composites.iter_rows(named=True)}


def width(row):
    return row["high"] - row["low"]


@pytest.mark.slow
def test_five_right_answers_are_no_champion(study, rows):
    """A log of five answers, all right, once gave IQ 147 (144 to 149) and the first rank."""
    few, many = rows["gpqa five"], rows["gpqa 100"]
    assert few["iq"] < 130 and width(few) > 25
    assert few["low"] < 105 < 125 < few["high"]
    assert few["missing"] == f"{ALONE}it has 1 in 1"
    assert "gpqa five" not in study.iq.ranking["subject"]
    assert any(text.startswith("gpqa five: 100 on gpqa_diamond tells little") for text in study.iq.warnings)
    assert width(many) < width(few) and many["iq"] > few["iq"]


@pytest.mark.slow
def test_no_score_of_any_size_ranks_a_model_alone(study, rows):
    ranked = set(study.iq.ranking["subject"])
    for name in ("gpqa 60", "gpqa 100"):
        assert name not in ranked
        assert rows[name]["missing"] is not None
    assert "three tests" in ranked
    assert "one dimension" not in ranked
    assert rows["one dimension"]["missing"] == f"{ALONE}it has 3 in 1"


@pytest.mark.slow
def test_a_score_at_the_end_of_a_test_says_at_least(rows):
    """The widths once fell from 18.9 over 16.7 and 10 to 5.0 points where the test tells least."""
    by_score = {score: rows[f"gpqa {score}"] for score in (25, 60, 81.5, 95, 98, 100)}
    assert width(by_score[25]) > width(by_score[60]) > width(by_score[81.5])
    assert width(by_score[81.5]) < width(by_score[95]) < width(by_score[98]) < width(by_score[100])
    assert min(map(width, by_score.values())) > 15
    assert by_score[25]["iq"] < by_score[95]["iq"] < by_score[98]["iq"] <= by_score[100]["iq"]
    assert by_score[25]["low"] < 70 < by_score[25]["high"]


@pytest.mark.slow
def test_guessing_is_called_guessing(study, rows):
    """At chance the model once had IQ 78 (76 to 81) and a rank, and an unmeasured dimension 70.1 (70.0 to 70.3)."""
    assert "two at chance" not in study.iq.ranking["subject"]
    assert rows["two at chance"]["missing"] == f"{ALONE}it has 1 in 1"
    assert rows["gpqa 25"]["missing"] == f"{ALONE}so far it does no better than guessing"
    assert "gpqa 25: 25 on gpqa_diamond is no better than guessing; it says at most" in study.iq.warnings
    dimensions = study.iq.dimensions.filter(subject="gpqa 25").with_columns(width=pl.col("high") - pl.col("low"))
    assert dimensions["width"].min() > 5


@pytest.mark.slow
def test_a_guesser_has_no_chance_to_be_above_people(study):
    above = [set(chances) for chances in study.over_people.values()]
    assert not any("gpqa 25" in models for models in above)
    assert sum("gpqa 60" in models for models in above) == 1
    beside = find_whereabouts(study, "gpqa 25").neighbours["chance_above"]
    assert beside.null_count() == beside.len() > 1, "nor to be above the models next to it"
    assert find_whereabouts(study, "gpqa 60").neighbours["chance_above"].null_count() == 1


@pytest.mark.slow
def test_five_right_answers_on_a_test_outside_the_iq_are_no_champion_either(rows):
    """MMLU-Pro has no ladder and is read through models that took both: five right answers gave IQ 147 (144 to 161)."""
    few = rows["mmlu five"]
    assert few["iq"] < 130 and width(few) > 20
    assert few["missing"] == f"{ALONE}it has 0 in 0"


@pytest.mark.slow
def test_a_score_at_a_tests_end_has_an_interval_on_its_benchmarks_page(study):
    """Of 0% and 100% once 53 scores had an interval of width 0."""
    tables = [score_rows(study, benchmark) for benchmark in study.evidence.benchmarks["benchmark"]]
    with_interval = pl.concat(tables, how="vertical_relaxed").drop_nulls("low")
    assert with_interval.height > 1000
    assert with_interval.filter(pl.col("high") - pl.col("low") < 1e-3).is_empty()
    ends = with_interval.filter(subject="both ends").sort("score")
    assert ends["low"].to_list()[0] == 0 and ends["high"].to_list()[-1] == 100


def harness_run(folder, **rates):
    """Return a file of lm-evaluation-harness with the share of each task."""
    results = {task: {"acc,none": rate, "acc_stderr,none": 0.01} for task, rate in rates.items()}
    file = folder / "results.json"
    file.write_text(json.dumps({"model_name": "openai/gpt-5-2025-08-07", "results": results}), encoding="utf-8")
    return file


def test_classics_are_said_to_count_for_nothing_and_stand_for_no_other_test(tmp_path):
    """MMLU was once filed as MMLU-Pro, and a file with GSM8K refused as a whole."""
    file = harness_run(tmp_path, mmlu=0.91, gsm8k=0.95, openbookqa=0.5, gpqa_diamond_zeroshot=0.85)
    reading = mensura.load().read_scores(file, unit="fraction")
    assert reading.scores.select("subject", "benchmark").rows() == [("gpt-5", "gpqa_diamond")]
    left_out = "left out 3 results, no model of the evidence has a score there, so it counts for nothing"
    assert f"{left_out}: mmlu, gsm8k, openbookqa" in reading.notes
    assert reading.dropped["what"].to_list() == [
        f"openai/gpt-5-2025-08-07 on {task}" for task in ("mmlu", "gsm8k", "openbookqa")
    ]
    with pytest.raises(
        MensuraError, match="no model of the evidence has a score there, so it counts for nothing: mmlu"
    ):
        mensura.load().read_scores(harness_run(tmp_path, mmlu=0.91), unit="fraction")


def test_a_near_name_counts_only_if_it_is_confirmed_by_name(tmp_path):
    file = harness_run(tmp_path, mmlu=0.91, gpqa=0.85)
    with pytest.raises(EvidenceError, match=r"--accept-near gpqa=gpqa_diamond confirms it"):
        mensura.load().read_scores(file, unit="fraction")
    confirmed = {"gpqa": "gpqa_diamond", "mmlu": "mmlu_pro"}
    reading = mensura.load().read_scores(file, unit="fraction", accept_near=confirmed)
    assert reading.scores["benchmark"].to_list() == ["mmlu_pro", "gpqa_diamond"]
    assert reading.names.filter(kind="benchmark")["how"].to_list() == ["confirmed"] * 2
    with pytest.raises(EvidenceError, match="gpqa"):
        mensura.load().read_scores(file, unit="fraction", accept_near={"gpqa": "no_such_test"})


def test_a_release_in_the_future_is_doubted():
    late = own(("gpqa_diamond", 60)).with_columns(released=pl.lit("2131-01-01"))
    assert "mine: its release on 2131-01-01 is in the future; check the date" in mensura.load().add(late).warnings
    assert not any("future" in text for text in mensura.load().add(own(("gpqa_diamond", 60))).warnings)


@pytest.mark.parametrize(
    ("score", "more", "doubt"),
    [
        (("gpqa_diamond", 0.85), {}, "0.85 percent is below every other score; if it is a share, say fraction"),
        (("gpqa_diamond", 60), {"stderr": 0.03}, "its n or standard error says 2.67e+06 answers to 198 items"),
        (("gpqa_diamond", 60), {"n": 1_000_000_000}, "its n or standard error says 1e+09 answers to 198 items"),
        (("gpqa_diamond", 77), {"n": 5}, "77 percent of 5 answers is no whole number of right ones; check n"),
        (("gpqa_diamond", 20), {"model": "gpt-5"}, "20 percent counts in place of 85.6 percent of the evidence"),
        (
            ("gpqa_diamond", 100),
            {"model": "gpt-5", "n": 3},
            "these 3 answers count in place of 85.6 percent of the evi",
        ),
        (("hle", 100), {}, "100 percent is far from all others (2 to"),
        (("gpqa_diamond", 60), {"day": "1970-01-01"}, "its release on 1970-01-01 is before all others; check it"),
        (("gpqa_diamond", 60), {"model": "People: crowd workers"}, "counts as a model, not as a group of people"),
        (("gpqa_diamond", 60), {"stderr": 0.0}, "a standard error of 0 is not possible here; it counts as unknown"),
        (
            ("hle", 55),
            {"note": "with tools"},
            "its note says 'with tools', but it is compared with scores taken without that",
        ),
        (("gpqa_diamond", 60), {"date": "2031-01"}, "its date, 2031-01, is in the future; check it"),
        (("gpqa_diamond", 60), {"date": "2020-01-01"}, "is long before the model's release on 2026-10-01; check both"),
        (("gpqa_diamond", 60), {"model": "hle"}, "hle: counts as a model, but it is the name of a benchmark"),
        (("gpqa_diamond", 60), {"model": "min\u0435"}, "min\u0435 has letters of CYRILLIC, LATIN; check them"),
        (
            ("gpqa_diamond", 60),
            {"predecessor": "gpt-5.5", "day": "2024-06-01"},
            "mine: its predecessor gpt-5.5 was released later, on 2026",
        ),
    ],
)
def test_a_figure_that_is_hardly_what_it_seems_is_named(score, more, doubt):
    day = {"released": pl.lit(more.pop("day"))} if "day" in more else {}
    warnings = mensura.load().add(own(score, **more).with_columns(**day)).warnings
    assert [text for text in warnings if doubt in text], warnings


def test_one_score_on_many_tests_is_named():
    copied = own(*((test, 77.7) for test in ("gpqa_diamond", "hle", "scicode", "ifbench")))
    assert "mine: the same score, 77.7, on 4 tests; check that each is its own" in mensura.load().add(copied).warnings


def test_usual_figures_raise_no_doubt():
    usual = own(("gpqa_diamond", 60), ("hle", 4), ("scicode", 0), stderr=3.5, date="2026-09-20", note="no tools")
    doubts = mensura.load().add(usual).warnings
    assert [text.split(";")[0] for text in doubts if not text.startswith("scores: mine is new")] == []
    other = mensura.load().add(own(("hle", 33), n=9, model="Modèle-β 通义Qwen", date="spring 2026")).warnings
    assert not any("whole number" in text or "letters" in text or "date" in text for text in other)
    american = own(("hle", 33), date="2026-09-20").with_columns(released=pl.lit("10/13/2026"))
    with pytest.raises(EvidenceError, match="column released"):
        mensura.load().add(american)


def test_a_model_written_twice_or_with_two_dates_is_named():
    two = pl.concat([own(("gpqa_diamond", 60), model="My Model"), own(("hle", 10), model="my-model")])
    assert "My Model, my-model: counted as different models" in mensura.load().add(two).warnings
    days = pl.concat([own(("gpqa_diamond", 60)), own(("hle", 10)).with_columns(released=pl.lit("2024-10-01"))])
    warnings = mensura.load().add(days).warnings
    assert "mine: released on 2026-10-01, 2024-10-01; the first date counts" in warnings


def test_an_elo_far_from_all_others_is_named():
    table = own(("arena_overall", 60)).with_columns(unit=pl.lit("elo"))
    assert any("60 elo is far from all others (1304 to" in text for text in mensura.load().add(table).warnings)
