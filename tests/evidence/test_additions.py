"""Scores that users add: what is assumed of new models, parts of benchmarks, and figures to look at again."""

from datetime import date

import polars as pl
import pytest

from mensura.evidence.additions import assumptions, doubtful_figures, doubtful_models, partial_runs
from mensura.intake.scores import ScoreReading
from mensura.scale import rate_interval

TODAY = date(2026, 11, 15)
BENCHMARKS = pl.DataFrame(
    {"benchmark": ["quiz", "arena"], "name": ["Quiz", "Arena"], "items": [200, None], "unit": ["percent", "elo"]}
)
SCORES = pl.DataFrame(
    {
        "subject": ["old", "old2", "old", "old2"],
        "benchmark": ["quiz", "quiz", "arena", "arena"],
        "score": [40.0, 60.0, 1400.0, 1500.0],
        "unit": ["percent", "percent", "elo", "elo"],
        "primary": [True] * 4,
    }
)
MODELS = pl.DataFrame({"subject": ["old", "old2"], "released": [date(2025, 3, 1), date(2026, 3, 1)]})


def reading(*rows, new=("m",)):
    """Scores as they were read, a row for each; models of ``new`` are unknown to the evidence."""
    filled = [{"subject": "m", "benchmark": "quiz", "score": "50", "unit": "percent"} | row for row in rows]
    table = pl.DataFrame(filled, infer_schema_length=None).with_row_index("row", offset=2)
    names = [{"kind": "model", "how": "new", "id": name} for name in new]
    schema = {"kind": pl.String, "how": pl.String, "id": pl.String}
    return ScoreReading("my.csv", table, pl.DataFrame(names, schema=schema), pl.DataFrame(), ())


def figures(**row):
    return list(doubtful_figures(reading(row), SCORES, BENCHMARKS, MODELS, TODAY))


def models(*rows, new=("m",)):
    return list(doubtful_models(reading(*rows, new=new), MODELS, BENCHMARKS, TODAY))


def test_new_models_that_are_silent_about_the_same_are_named_together():
    rows = [
        {"subject": name, "provider": "Acme", "tier": tier} for name, tier in (("a", None), ("b", None), ("c", "0"))
    ]
    first, second = assumptions(reading(*rows, new=("a", "b", "c")))
    assert first.startswith("my.csv: a, b are new; assumed reasoning = no (it does not think before it answers), tier")
    assert first.endswith("; say otherwise in the columns reasoning, tier, predecessor")
    assert second.startswith("my.csv: c is new; assumed reasoning = no")
    whole = {"reasoning": "yes", "tier": "0", "provider": "Acme", "predecessor": "old"}
    assert assumptions(reading(whole)) == ()
    assert assumptions(reading({}, new=())) == ()


def test_a_part_of_the_items_says_how_far_off_the_score_may_be():
    (message,) = partial_runs(reading({"n": "40"}, {"n": "200"}, {"n": None}), BENCHMARKS)
    low, high = rate_interval(20.0, 40.0)
    assert message == (
        "m on quiz: a partial run, 40 of 200 items; the score of a full run may be "
        f"{100 * low:.3g} to {100 * high:.3g} percent (90%)"
    )
    assert partial_runs(reading({}), BENCHMARKS) == ()


@pytest.mark.parametrize(
    ("row", "doubt"),
    [
        ({"n": "20001"}, "its n or standard error says 2e+04 answers to 200 items"),
        ({"n": "7"}, "50 percent of 7 answers is no whole number of right ones"),
        ({"score": "51", "n": "50"}, "51 percent of 50 answers is no whole number of right ones"),
        ({"stderr": "0"}, "a standard error of 0 is not possible here"),
        ({"note": "with tools"}, "its note says 'with tools'"),
        ({"note": "pass@5"}, "its note says 'pass@5'"),
        ({"date": "2026-11-16"}, "its date, 2026-11-16, is in the future"),
        ({"date": "2024-08", "subject": "old"}, "its date, 2024-08, is long before the model's release on 2025-03-01"),
        ({"score": "0.5"}, "0.5 percent is below every other score; if it is a share, say fraction"),
        ({"score": "85.1"}, "85.1 percent is far from all others (40 to 60)"),
        ({"benchmark": "arena", "score": "1701", "unit": "elo"}, "1701 elo is far from all others (1400 to 1500)"),
        ({"benchmark": "arena", "score": "1199", "unit": "elo"}, "1199 elo is far from all others (1400 to 1500)"),
        ({"subject": "old", "n": "100"}, "these 100 answers count in place of 40 percent of the evidence"),
        ({"subject": "old", "score": "65.1"}, "65.1 percent counts in place of 40 percent of the evidence"),
    ],
)
def test_a_figure_that_is_hardly_what_it_seems_is_asked_about(row, doubt):
    (message,) = figures(**row)
    assert message.startswith(f"{row.get('subject', 'm')} on {row.get('benchmark', 'quiz')}: {doubt}")


@pytest.mark.parametrize(
    "row",
    [
        {"n": "20000"},
        {"n": "8"},
        {"n": "51"},
        {"score": "33", "n": "6"},  # a third, as a whole percentage
        {"note": "without tools"},
        {"note": "pass@1"},
        {"date": "2026-11-15"},
        {"date": "2024-09", "subject": "old"},
        {"score": "85"},
        {"score": "0.5", "unit": "fraction"},
        {"benchmark": "arena", "score": "1700", "unit": "elo"},
        {"subject": "old", "score": "65"},
    ],
)
def test_a_figure_within_bounds_passes(row):
    assert figures(**row) == []


def test_one_figure_on_four_tests_is_asked_about():
    rows = [{"benchmark": f"b{place}", "score": "50"} for place in range(4)]
    asked = doubtful_figures(reading(*rows), SCORES, BENCHMARKS, MODELS, TODAY)
    assert asked[-1] == "m: the same score, 50, on 4 tests; check that each is its own"
    assert doubtful_figures(reading(*rows[:3]), SCORES, BENCHMARKS, MODELS, TODAY) == ()


def test_names_that_are_people_benchmarks_or_look_alike_are_asked_about():
    assert models({}, new=("People: experts",)) == ["People: experts: counts as a model, not as a group of people"]
    assert models({}, new=("Quiz",)) == ["Quiz: counts as a model, but it is the name of a benchmark"]
    assert models({}, new=("gрt",)) == ["gрt: gрt has letters of CYRILLIC, LATIN; check them"]
    assert models({}, new=("Модель",)) == []
    (alike,) = models({}, new=("big-1", "Big 1"))
    assert alike.endswith(": counted as different models")


def test_releases_that_contradict_each_other_or_lie_far_off_are_asked_about():
    assert models({"released": "2026-01-01"}, {"released": "2026-02-01"})[0].endswith("; the first date counts")
    assert models({"released": "2026-11-16"}) == ["m: its release on 2026-11-16 is in the future; check the date"]
    assert models({"released": "2025-02-28"}) == ["m: its release on 2025-02-28 is before all others; check it"]
    assert models({"released": "2025-03-01"}) == []
    assert models({"released": "2026-01-01", "predecessor": "old2"}) == [
        "m: its predecessor old2 was released later, on 2026-03-01"
    ]
