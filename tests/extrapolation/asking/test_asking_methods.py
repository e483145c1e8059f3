"""The two protocols as methods: same contract, honest counts, nothing of the truth in any prompt."""

import json
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
import pytest

from benchmarks.simulated_model import ErrorShape, SimulatedModel
from mensura.core.errors import MensuraError
from mensura.extrapolation import Correction, Extrapolator, ItemByItem, WholePool, cases_of, score_answers, validate
from mensura.extrapolation.whole_pool import deal
from mensura.llm import Answer, UnreadableError
from mensura.people import ItemPool

NONE = Correction(1.0, 0.0, 0.0, 0.05, 1.0, "nothing")
"""A correction that leaves estimates where they are."""


def truth_of(task) -> dict[str, float]:
    """A world where everybody does somewhat worse than the people tested."""
    return {item: float(0.8 * rate) for item, rate in zip(task.names, task.rate, strict=True)}


@dataclass
class Scripted:
    """An asker that answers from a function of the question and remembers what it was asked."""

    reply: object
    model: str = "scripted"
    asked: list = field(default_factory=list)

    def ask(self, questions, read):
        answers = []
        for question in questions:
            self.asked.append(question)
            try:
                answers.append(Answer(question, value=read(self.reply(question)).value))
            except UnreadableError as fault:
                answers.append(Answer(question, error=str(fault)))
        return answers


def rows(question, *, leave_out=()) -> str:
    count = len(json.loads(question.about["items"]))
    found = [{"item": f"i{k + 1}", "estimate": 30, "low": 20, "high": 40} for k in range(count) if k not in leave_out]
    return json.dumps({"rationale": "", "answers": found})


@pytest.mark.parametrize("method", [ItemByItem, WholePool])
def test_a_model_without_errors_is_believed_to_the_digit(new_task, method):
    task = new_task()
    truth = truth_of(task)
    found = method(SimulatedModel(truth, stated=0.001), correction=NONE).predict(task)
    assert isinstance(method(SimulatedModel(truth)), Extrapolator)
    assert found.rate.shape == (1, 12)
    assert found.rate[0] == pytest.approx(list(truth.values()), abs=2e-4)
    assert np.all((found.low < found.rate) & (found.rate < found.high))
    assert any("never been checked" in text or "ever been checked" in text for text in found.warnings)


def test_item_by_item_asks_every_variant_once_and_counts_calls(new_task):
    task = new_task(size=4)
    asker = Scripted(lambda question: "Final answer: 25%")
    found = ItemByItem(asker, correction=NONE).predict(task)
    assert found.calls.tolist() == [27] * 4
    assert len({question.prompt for question in asker.asked}) == 4 * 27
    assert found.rate[0] == pytest.approx(0.25)


def test_unreadable_answers_are_counted_and_left_out(new_task):
    task = new_task(size=3)
    asker = Scripted(lambda q: "I cannot tell." if q.about["item"] == "q1" else "20% or 30%" if q.repeat else "20%")
    method = ItemByItem(asker, repeats=2, correction=NONE)
    found = method.predict(task)
    assert np.isnan(found.rate[0, 1]) and found.rate[0, [0, 2]] == pytest.approx(0.2)
    assert any(text.startswith("108 of 162 answers could not be read: no plain percentage") for text in found.warnings)
    replies = method.ask(task)
    assert replies.answers["rate"].null_count() == 108
    assert sum("(I cannot tell.)" in reason for reason in replies.failures) == 54


def test_adaptive_calls_save_most_of_them(new_task):
    task = new_task(size=30)
    model = SimulatedModel(truth_of(task), ErrorShape(item=0.08, variant=0.02, mixed=0.02, repeat=0.02))
    full = ItemByItem(model, repeats=5, correction=NONE).predict(task)
    few = ItemByItem(model, repeats=5, width=0.04, correction=NONE).predict(task)
    truth = np.array(list(truth_of(task).values()))
    assert few.calls.sum() < full.calls.sum() / 5
    assert np.abs(few.rate - truth).mean() < 1.05 * np.abs(full.rate - truth).mean()


def test_whole_pool_asks_in_chunks_that_hold_every_item_once(new_task):
    asker = Scripted(rows)
    WholePool(asker, chunk=5).predict(new_task(size=12))
    chunks = [json.loads(question.about["items"]) for question in asker.asked]
    assert sorted(len(chunk) for chunk in chunks) == [4, 4, 4]
    assert sorted(item for chunk in chunks for item in chunk) == sorted(f"q{k}" for k in range(12))
    assert deal(list(range(7)), 3) == [[0, 3, 6], [1, 4], [2, 5]]


def test_items_left_out_are_asked_again_in_smaller_chunks_and_then_given_up(new_task):
    asker = Scripted(lambda question: rows(question, leave_out=(0,)))
    found = WholePool(asker, chunk=8, rounds=3, correction=NONE).predict(new_task(size=8))
    sizes = [len(json.loads(question.about["items"])) for question in asker.asked]
    assert sizes == [8, 1, 1]
    assert found.calls.tolist() == [3] + [1] * 7
    assert np.isnan(found.rate[0, 0]) and not np.isnan(found.rate[0, 1:]).any()
    assert any(text.startswith("3 of 10 answers could not be read") for text in found.warnings)
    assert len({(question.prompt, question.repeat) for question in asker.asked}) == 3


def test_an_answer_that_cannot_be_read_at_all_is_asked_again_in_halves(new_task):
    asker = Scripted(lambda question: rows(question) if len(json.loads(question.about["items"])) <= 4 else "{")
    found = WholePool(asker, chunk=8, correction=NONE).predict(new_task(size=8))
    assert [len(json.loads(question.about["items"])) for question in asker.asked] == [8, 4, 4]
    assert found.rate[0] == pytest.approx(0.3)


def test_repeats_average_out_what_differs_between_prompts(new_task):
    task = new_task(size=40)
    truth = np.array(list(truth_of(task).values()))
    errors = {}
    for repeats in (1, 8):
        gaps = []
        for seed in range(6):
            model = SimulatedModel(truth_of(task), ErrorShape(prompt=0.05, repeat=0.05), seed=seed)
            gaps.append(np.abs(WholePool(model, repeats=repeats, correction=NONE).predict(task).rate - truth).mean())
        errors[repeats] = np.mean(gaps)
    assert errors[8] < 0.5 * errors[1]


@pytest.mark.parametrize("method", [ItemByItem, WholePool])
def test_links_correct_a_model_that_misjudges_the_whole_group(new_task, method):
    task = new_task(size=20, seed=3)
    truth = np.array(list(truth_of(task).values()))
    biased = {item: float(rate + 0.1) for item, rate in truth_of(task).items()}
    links = np.full((2, 20), np.nan)
    links[1, ::3] = truth[::3]
    asker = SimulatedModel(biased)
    found = method(asker, correction=Correction(1.0, 0.0, 0.5, 0.1, 1.0)).predict(replace(task, links=links))
    assert found.rate.shape == (2, 20)
    error = np.abs(found.rate - truth).mean(axis=1)
    assert error[1] < 0.3 * error[0]


def test_the_same_task_twice_gives_the_same_prediction(new_task):
    task = new_task()
    model = SimulatedModel(truth_of(task), ErrorShape(item=0.05, repeat=0.05))
    for method in (ItemByItem(model, width=0.05), WholePool(model)):
        assert method.predict(task).rate.tolist() == method.predict(task).rate.tolist()


@pytest.mark.slow
def test_no_prompt_changes_with_the_truth(new_pool):
    """Perturb what is to be predicted: every prompt of every protocol and situation stays as it was."""
    pool = new_pool(items=12)
    rates = pool.rates.with_columns(
        rate=pl.when(pl.col("group") == "all").then(1 - pl.col("rate")).otherwise(pl.col("rate")),
        correct=pl.when(pl.col("group") == "all").then(pl.col("n") - pl.col("correct")).otherwise(pl.col("correct")),
    )
    other = replace(pool, rates=rates)
    assert cases_of(pool)[0].truth.tolist() != cases_of(other)[0].truth.tolist()
    for make in (lambda asker: ItemByItem(asker, variants=3), WholePool):
        prompts = []
        for source in (pool, other):
            asker = Scripted(lambda q: rows(q) if "items" in q.about else "40%")
            for situation in ("described", "linked", "slices"):
                validate(source, situation, method=make(asker), **({"draws": 3} if situation == "linked" else {}))
            prompts.append([(question.system, question.prompt) for question in asker.asked])
        assert prompts[0] == prompts[1] and prompts[0]


def test_validation_scores_a_language_model_as_any_method(new_pool):
    pool = new_pool(items=20)
    truth = dict(pool.rates_of("all").select("item", "rate").iter_rows())
    sharp = validate(pool, method=WholePool(SimulatedModel(truth, stated=0.02), correction=NONE))
    blunt = validate(pool, method=WholePool(SimulatedModel(truth, ErrorShape(item=0.2)), correction=NONE))
    assert sharp.overall["mae"][-1] < 0.001 < blunt.overall["mae"][-1]
    assert sharp.summary["coverage"].to_list() == [1.0] * 6
    assert sharp.settings["calls"] == 6 * 20


def test_answers_are_scored_one_by_one_and_as_means_in_the_published_form(new_pool):
    pool = new_pool(items=10)
    truth = dict(pool.rates_of("all").select("item", "rate").iter_rows())
    shape = ErrorShape(item=0.05, mixed=0.05, repeat=0.05, silent=0.1)
    table = score_answers(ItemByItem(SimulatedModel(truth, shape)), cases_of(pool))
    assert table.columns == ["model", "unit", "n", "unread", "mae", "rmse", "pearson", "spearman"]
    answer, mean = table.iter_rows(named=True)
    assert answer["n"] + answer["unread"] == 6 * 10 * 27 and 0.07 < answer["unread"] / (6 * 10 * 27) < 0.13
    assert (mean["n"], mean["unread"]) == (60, 0)
    assert mean["mae"] < 0.8 * answer["mae"] and mean["pearson"] > answer["pearson"]


def test_settings_that_make_no_sense_are_refused(new_task):
    model = SimulatedModel({})
    for make, word in (
        (lambda: WholePool(model, chunk=0), "chunk must be at least 1, got 0"),
        (lambda: WholePool(), "needs asker"),
        (lambda: ItemByItem(), "needs asker"),
        (lambda: ItemByItem(model, variants=28), "variants: expected 1 to 27"),
        (lambda: ItemByItem(model, width=2), "width"),
        (lambda: ItemByItem(model, level=1.0), "level"),
    ):
        with pytest.raises(MensuraError, match=word):
            make()


def test_a_pool_without_texts_can_still_be_asked_about(new_pool):
    asker = Scripted(rows)
    pool: ItemPool = new_pool(items=6)
    WholePool(asker).predict(cases_of(pool)[0].task)
    assert "its text is not available" in asker.asked[0].prompt


def test_intervals_of_single_answers_hold_the_scatter_of_the_answers(new_task):
    """With nothing known of the model but its scatter, the interval is that of the mean over its calls."""
    task = new_task(size=30, rate=np.full(30, 0.5))
    exact = Correction(1.0, 0.0, 0.0, 0.0, 1.0)
    widths = {}
    for noise in (0.02, 0.08):
        model = SimulatedModel(dict.fromkeys(task.names, 0.5), ErrorShape(repeat=noise))
        found = ItemByItem(model, correction=exact).predict(task)
        widths[noise] = float((found.high - found.low).mean())
    assert widths[0.08] == pytest.approx(2 * 1.645 * 0.08 / np.sqrt(27), rel=0.1)
    assert widths[0.02] == pytest.approx(widths[0.08] / 4, rel=0.15)
