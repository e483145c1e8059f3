"""Adaptive exams: fewer items for the same abilities, honest intervals, and sittings that keep their items."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.exam import AnswerStore, adaptive, inspect_exam, read_exam
from mensura.exam.adaptive import AdaptivePlan, moments_of, next_names, place_takers, plan_adaptive
from mensura.exam.comparison import scale
from mensura.exam.gathering import people_outcomes, people_takers
from mensura.exam.report import report_exam
from mensura.exam.settings import read_bank
from mensura.exam.sitting import sit_exam
from mensura.llm import Answer
from mensura.responses import FitOptions, fit_categories, fit_responses

SIZE = 120
RULES = """
title = "Sums"
instructions = "Add."
form = "adaptive"
[consent]
text = "We store your answers."
[exclude]
fastest_seconds = 0
[adaptive]
bank = "bank.csv"
se = 0.4
least_items = 5
most_items = 25
"""


@pytest.fixture
def exam(tmp_path):
    return many_sums(tmp_path / "sums")


def many_sums(folder):
    """An exam of many sums whose parameters are known."""
    folder.mkdir()
    (folder / "exam.toml").write_text(RULES)
    rows = [{"item": f"s{n}", "text": f"{n} + 1 = ?", "key": str(n + 1), "scoring": "number"} for n in range(SIZE)]
    pl.DataFrame(rows).write_csv(folder / "items.csv")
    difficulty = np.random.default_rng(1).permutation(np.linspace(-2.5, 2.5, SIZE))
    slope = np.random.default_rng(2).uniform(1.0, 2.4, SIZE)
    names = [row["item"] for row in rows]
    pl.DataFrame({"item": names, "discrimination": slope, "difficulty": difficulty}).write_csv(folder / "bank.csv")
    return read_exam(folder)


def chance(exam, item, ability):
    return float(exam.bank.chances(np.array([ability]))[exam.bank.items.index(item), 0])


class Able:
    """A model of a known ability."""

    model = "able"

    def __init__(self, exam, ability, seed=0):
        self.exam, self.ability, self.rng, self.asked = exam, ability, np.random.default_rng(seed), []

    def ask(self, questions, read):
        answers = []
        for question in questions:
            item = question.about["item"]
            self.asked.append(item)
            right = self.rng.random() < chance(self.exam, item, self.ability)
            text = f"ANSWER: {int(item[1:]) + (1 if right else 2)}"
            answers.append(Answer(question, text, read(text).value))
        return answers


def sit(exam, store, ability, rng):
    """One person answers every item that the exam brings; return the sitting."""
    code, sitting = store.begin()
    store.start(sitting)
    while True:
        for item in sitting.form.items:
            if item not in store.answers(sitting):
                right = rng.random() < chance(exam, item, ability)
                store.answer(sitting, item, str(int(item[1:]) + (1 if right else 2)), seconds=3)
        grown = store.grow(store.find(code))
        if grown.form.items == sitting.form.items:
            store.finish(grown)
            return store.find(code)
        sitting = grown


@pytest.mark.slow
def test_a_simulation_says_how_many_items_are_saved_and_its_intervals_hold(exam):
    plan = plan_adaptive(exam, takers=60).plan
    adaptive, whole = plan.row(0, named=True), plan.row(-1, named=True)
    same = plan.filter((pl.col("form") != "adaptive") & (pl.col("error") <= adaptive["error"]))["items"].min()
    assert adaptive["items"] < 0.6 * same
    assert adaptive["error"] < 0.5
    assert adaptive["coverage"] >= 0.8
    assert adaptive["exposure"] <= 0.6 < whole["exposure"]


@pytest.mark.parametrize("share", [0.25, 0.6, 0.97])
def test_no_item_reaches_more_than_its_share_of_any_number_of_takers(exam, share):
    rules = exam.settings.adaptive.model_copy(
        update={"exposure": share, "se": 0.01, "least_items": 1, "most_items": 20}
    )
    exam = replace(exam, settings=exam.settings.model_copy(update={"adaptive": rules}))
    given, parts = Counter(), set()
    for taker in range(1, 31):
        items = ()
        while len(items) < 6:
            items += tuple(next_names(exam, taker, items, {}))
        given.update(items)
        parts.add(items)
        assert max(given.values()) <= share * taker + 1
    assert len(parts) > 5 * (share < 0.9), "takers do not all get the same items"


def test_an_exposure_that_leaves_too_few_items_is_refused(exam):
    text = (exam.folder / "exam.toml").read_text() + "exposure = 0.2\n"
    (exam.folder / "exam.toml").write_text(text)
    _, (fault,) = inspect_exam(exam.folder)
    assert "0.2 of 120 items are 24, below the 25" in fault and "raise it to 0.21" in fault


@pytest.mark.slow
def test_people_and_a_model_come_out_at_their_abilities_with_fewer_items(exam, tmp_path):
    rng = np.random.default_rng(5)
    abilities = rng.normal(size=24)
    store = AnswerStore(tmp_path / "answers.db", exam)
    sittings = [sit(exam, store, ability, rng) for ability in abilities]
    assert max(len(one.form.items) for one in sittings) <= 25 < SIZE
    outcomes = people_outcomes(exam, store)
    model = sit_exam(exam, Able(exam, 1.5), repeats=1)
    report = report_exam(
        exam, pl.concat([outcomes, model.sittings.select(outcomes.columns)]), people_takers(exam, store, outcomes)
    )
    store.close()
    takers = report.takers.filter(kind="people")
    placed = dict(takers.select("subject", "ability").iter_rows())
    off = np.array([placed[one.person] for one in sittings]) - abilities
    assert np.sqrt(np.mean(off**2)) < 0.5
    row = report.comparison.filter(subject="able").row(0, named=True)
    assert row["low"] < float(exam.bank.chances(np.array([1.5])).mean()) < row["high"]
    assert row["difference_low"] > 0 and row["percentile"] > 70
    truth = float(exam.bank.chances(abilities).mean())
    people = report.comparison.filter(subject="people").row(0, named=True)
    assert people["low"] < truth < people["high"]
    assert any("adaptive exam" in warning for warning in report.warnings)


def test_the_rate_of_a_model_alone_is_that_of_all_items(exam, tmp_path):
    """The items fit the model, so it has about half of its own right, however able it is."""
    store = AnswerStore(tmp_path / "answers.db", exam)
    nobody = people_outcomes(exam, store)
    sat = sit_exam(exam, Able(exam, 1.5)).sittings.select(nobody.columns)
    report = report_exam(exam, sat, people_takers(exam, store, nobody))
    store.close()
    row = report.comparison.row(0, named=True)
    assert row["low"] < float(exam.bank.chances(np.array([1.5])).mean()) < row["high"]
    assert row["rate"] > 0.65 > sat["score"].mean()
    assert row["percentile"] is None
    assert any("adaptive exam" in warning for warning in report.warnings)
    assert any("a common scale needs 5" in warning for warning in report.warnings)


def test_a_sitting_that_goes_on_keeps_its_items_on_any_device(exam, tmp_path):
    store = AnswerStore(tmp_path / "answers.db", exam)
    code, sitting = store.begin()
    store.start(sitting)
    (first,) = sitting.form.items
    store.answer(sitting, first, "wrong", seconds=1)
    grown = store.grow(sitting)
    assert store.grow(sitting).form == grown.form, "a second device gets the same item"
    store.close()
    again = AnswerStore(tmp_path / "answers.db", exam)
    assert again.find(code).form == grown.form
    again.answer(again.find(code), first, str(int(first[1:]) + 1), seconds=1)
    assert again.find(code).form.items[:2] == grown.form.items, "a changed answer changes no item that was given"
    again.close()


def test_a_model_that_is_asked_again_gets_the_same_items(exam):
    one, other = Able(exam, 0.3, seed=4), Able(exam, 0.3, seed=4)
    sit_exam(exam, one, repeats=2), sit_exam(exam, other, repeats=2)
    assert one.asked == other.asked
    assert len(one.asked) < 2 * SIZE


def test_an_attention_check_comes_once_and_anywhere_before_a_sitting_may_end(tmp_path):
    folder = many_sums(tmp_path / "checked").folder
    items = pl.read_csv(folder / "items.csv", infer_schema=False).with_columns(check=pl.lit(None, pl.String))
    look = pl.DataFrame({"item": ["look"], "text": ["Type 7."], "key": ["7"], "scoring": ["number"], "check": ["yes"]})
    pl.concat([items, look]).write_csv(folder / "items.csv")
    exam, places = read_exam(folder), []
    for number in range(1, 61):
        given: list[str] = []
        while len(given) < 8 and "look" not in given:
            given += next_names(exam, number, tuple(given), dict.fromkeys(given, 1.0))
        places.append(given.index("look"))
    assert set(places) == set(range(1, exam.settings.adaptive.least_items + 1))


def test_harder_items_follow_right_answers(exam):
    difficulty = dict(pl.read_csv(exam.folder / "bank.csv").select("item", "difficulty").iter_rows())
    given = tuple(next_names(exam, 1, (), {}))
    (up,), (down,) = (next_names(exam, 1, given, {given[0]: credit}) for credit in (1.0, 0.0))
    assert difficulty[up] > difficulty[down]


def test_a_bank_is_also_the_folder_of_a_fit(exam):
    rng = np.random.default_rng(3)
    chances = exam.bank.chances(rng.normal(size=200))
    right = (rng.random(chances.shape) < chances).T.astype(int)
    table = pl.DataFrame(right, schema=list(exam.bank.items), orient="row")
    named = table.with_columns(subject=pl.Series([f"p{n}" for n in range(200)]))
    fit = fit_responses(named, model="rasch", options=FitOptions(checks=False))
    folder = exam.folder / "bank"
    folder.mkdir()
    for name, part in fit.tables().items():
        part.write_csv(folder / f"{name}.csv")
    rules = exam.folder / "exam.toml"
    rules.write_text(RULES.replace('bank = "bank.csv"', 'bank = "bank"'))
    assert read_exam(exam.folder).bank.items == exam.bank.items


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "bank.csv").unlink(), "no such bank. Fit it with mensura responses fit"),
        (lambda folder: (folder / "bank.csv").write_text("item,difficulty\ns1,0\n"), "fit it again"),
        (lambda folder: (folder / "bank.csv").write_text("item,discrimination,difficulty\ns1,1,0\n"), "no item 's0'"),
        (
            lambda folder: (folder / "exam.toml").write_text(RULES.replace("least_items = 5", "least_items = 50")),
            "above",
        ),
        (lambda folder: (folder / "exam.toml").write_text("items_per_person = 3\n" + RULES), "most_items instead"),
    ],
)
def test_a_bank_that_is_missing_or_damaged_says_what_to_do(exam, change, words):
    change(exam.folder)
    _, faults = inspect_exam(exam.folder)
    assert any(words in fault for fault in faults), faults
    with pytest.raises(MensuraError, match="Correct them"):
        read_exam(exam.folder)


def test_the_command_plans_an_adaptive_exam(exam, mensura_command, monkeypatch):
    monkeypatch.setattr(adaptive, "plan_adaptive", partial(plan_adaptive, takers=10))
    run = mensura_command("exam", "plan", exam.folder)
    assert "items on average for an error of" in run.out
    assert "not with an adaptive exam" in mensura_command("exam", "plan", exam.folder, "--precision", 0.1).err


def answered(exam, abilities, items=40, seed=7, **models):
    """Outcomes of people (p0, p1, …) and of models of these abilities on the first items."""
    rng, names = np.random.default_rng(seed), exam.bank.items[:items]
    takers = [(f"p{n}", "people", ability) for n, ability in enumerate(abilities)]
    rows = [
        (name, kind, item, float(rng.random() < chance(exam, item, ability)))
        for name, kind, ability in [*takers, *((name, "models", ability) for name, ability in models.items())]
        for item in names
    ]
    return pl.DataFrame(rows, schema=["subject", "kind", "item", "score"], orient="row")


def test_a_sitting_ends_with_the_most_items_that_the_rules_allow(exam):
    names = exam.bank.items
    assert next_names(exam, 1, tuple(names[:25]), {}) == []
    assert len(next_names(exam, 1, (), {})) == 1


def test_takers_are_placed_on_the_scale_of_the_bank(exam):
    """Weights move the mean of the people, and never an item."""
    people = np.array([-1.0] * 6 + [1.0] * 6)
    outcomes = answered(exam, people, strong=1.5)
    even = place_takers(exam, outcomes, "people", {})
    mean, sd = even.groups.select("mean", "sd").row(0)
    assert abs(mean) < 0.3 and 0.8 < sd < 1.4
    assert even.groups.select("group", "subjects").row(0) == ("people", 12)
    of_bank = pl.read_csv(exam.folder / "bank.csv")
    assert np.allclose(even.items.select("discrimination", "difficulty"), of_bank[:, 1:])
    assert even.items["item"].to_list() == of_bank["item"].to_list()
    able = place_takers(exam, outcomes, "people", {f"p{n}": 9.0 if n > 5 else 1.0 for n in range(12)})
    assert 0.5 < able.groups["mean"][0] < 1.1
    strong = even.subjects.filter(subject="strong").row(0, named=True)
    assert strong["low"] < 1.5 < strong["high"]
    assert strong["rate"] == pytest.approx(float(exam.bank.chances(np.array([strong["ability"]])).mean()))
    few = place_takers(exam, outcomes.filter(pl.col("subject").is_in(["p0", "p6", "strong"])), "people", {})
    assert few.groups.select("mean", "sd", "se_mean", "se_sd").row(0) == (0.0, 1.0, 1.0, 1.0)


def test_people_of_an_adaptive_exam_are_compared_by_their_abilities(exam):
    outcomes = answered(exam, np.linspace(-1.5, 1.5, 8), strong=2.5)
    scaled = scale(outcomes, {f"p{n}": 1.0 for n in range(8)}, exam)
    assert scaled.warnings[0].startswith("adaptive exam: takers got different items")
    place = dict(scaled.among.select("subject", "percentile").iter_rows())
    assert place["p0"] < place["p4"] < place["p7"] <= place["strong"]


def test_mean_and_spread_of_weighted_abilities_have_their_errors():
    """Weights 1 and 3: mean 0.5·¾, variance of the abilities 3/16·¼ and of their errors ¼·0.04 + ¾·0.01."""
    people = pl.DataFrame({"subject": ["a", "b"], "ability": [0.0, 0.5], "se": [0.2, 0.1]})
    moments = moments_of(people, {"b": 3.0})
    sd = (3 / 16 * 0.25 + 0.25 * 0.04 + 0.75 * 0.01) ** 0.5
    n = 4.0**2 / 10.0
    expected = {"mean": 0.375, "sd": sd, "se_mean": sd / n**0.5, "se_sd": sd / (2 * n) ** 0.5}
    assert moments == pytest.approx(expected)


def test_a_plan_compares_fixed_forms_up_to_all_items(exam):
    plan = plan_adaptive(exam, takers=4)
    forms = ["adaptive", *(f"{size} items" for size in (5, 10, 15, 20, 30, 50, 80, SIZE))]
    assert plan.plan["form"].to_list() == forms
    assert (
        plan.plan["items"].to_list()[1:] == plan.plan["most_items"].to_list()[1:] == [5, 10, 15, 20, 30, 50, 80, SIZE]
    )
    assert plan.plan["exposure"][-1] == 1.0
    assert plan.plan["error"][-1] < 0.35
    table = pl.DataFrame({"form": ["adaptive", "5 items", "9 items"], "items": [6.04, 5, 9], "error": [0.4, 0.5, 0.4]})
    assert AdaptivePlan(table).heading == ("Adaptive: 6.0 items on average for an error of 0.40; a fixed form needs 9")
    assert AdaptivePlan(table[:2]).heading.endswith("; no fixed form of these reaches it")


class Failing(Able):
    """A model whose calls fail."""

    def ask(self, questions, read):
        return [Answer(question, error="HTTP 500") for question in questions]


def test_a_model_whose_call_failed_goes_on_with_the_next_run(exam):
    sat = sit_exam(exam, Failing(exam, 0.0), repeats=2)
    assert sat.sittings.select("repeat", "outcome", "score", "position").rows() == [
        (0, "failed", None, 1),
        (1, "failed", None, 1),
    ]
    assert sat.heading == "able: sittings 2, scored answers 0, rate none"


def test_a_bank_of_ratings_is_refused(exam):
    rng = np.random.default_rng(0)
    rows = {"subject": [f"p{n}" for n in range(60)], **{f"q{k}": rng.integers(0, 3, 60).tolist() for k in range(4)}}
    for name, table in fit_categories(rows).tables().items():
        (exam.folder / "ratings").mkdir(exist_ok=True)
        table.write_csv(exam.folder / "ratings" / f"{name}.csv")
    with pytest.raises(MensuraError, match=r"ratings: a bank of ratings; .*Restore .*ratings, or fit it again"):
        read_bank(exam.folder / "ratings", ["q0"])
