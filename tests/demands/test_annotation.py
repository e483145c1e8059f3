"""Annotating from end to end: the shipped example, repeats, several annotators, the journal, one budget."""

from types import SimpleNamespace

import polars as pl
import pytest

import mensura
from mensura import MensuraError
from mensura.demands import annotate, load_rubrics
from mensura.demands.annotation import cells_left
from mensura.demands.views import example_folder
from tests.demands.conftest import Scripted, answering, by_text
from tools.record_example import TARGET, recording


def test_the_example_runs_offline_without_a_key():
    result = mensura.annotate("example", model="recorded/example", repeats=2)
    assert result.demands.columns == ["item", "dimension", "level", "spread", "annotator"]
    assert result.demands.height == 16 * 18
    assert result.demands["level"].is_between(0, 5).all()
    assert result.unparsed.is_empty()
    levels = dict(result.demands.filter(item="price-tag").select("dimension", "level").iter_rows())
    assert (levels["KNa"], levels["KNf"], levels["CEe"]) == (4, 0, 1)
    assert result.agreed.shown["within_one"][-1] == 1.0
    assert set(result.tables()) == {"demands", "readings", "unparsed", "guessing", "agreement"}
    assert len(repr(result).splitlines()) < 30
    assert "16 items in 18 dimensions by recorded/example" in repr(result)


def test_the_recording_is_current():
    assert pl.read_csv(TARGET).equals(recording()), "run python -m tools.record_example"


def test_the_example_items_are_whole_and_have_no_rates():
    items = pl.read_csv(example_folder() / "items.csv")
    assert 12 <= items.height <= 16
    assert not {"rate", "n", "n_correct"} & set(items.columns)
    for row in items.drop_nulls("options").iter_rows(named=True):
        options = row["options"].split(" || ")
        assert row["key"] in options
        assert len(options) == row["n_options"]
    told = pl.read_csv(example_folder() / "levels.csv").select(load_rubrics().keys())
    assert told.max_horizontal().max() <= 5
    touched = [code for code in told.columns if told[code].max() > 0]
    assert len(touched) == 18


def test_repeats_give_median_spread_and_agreement(items):
    levels = {0: 1, 1: 2, 2: 4}
    result = annotate(items, model=Scripted(answering(lambda text, code, repeat: levels[repeat])), repeats=3)
    assert set(result.demands["level"]) == {2}
    assert result.demands["spread"].to_list() == pytest.approx([1.5275252] * 90)
    once = annotate(items, model=Scripted(answering(by_text)))
    assert once.demands["spread"].null_count() == once.demands.height
    assert once.agreed is None and "agreement" not in once.tables()


def test_repeats_that_share_no_item_still_give_levels(items):
    """Repeat 0 lost one half of the items, repeat 1 the other: there is a table, and no agreement to speak of."""

    def reply(question):
        lost = (question.about["item"] in ("q0", "q1")) == (question.repeat == 0)
        return "no" if lost else answering(by_text)(question)

    result = annotate(items, model=Scripted(reply), protocol="item", repeats=2)
    assert result.demands["item"].n_unique() == 5
    assert result.agreed is None


def test_several_annotators_make_one_level(items):
    low, high = Scripted(answering(lambda *_: 1), "a/low"), Scripted(answering(lambda *_: 3), "b/high")
    result = annotate(items, model=[low, high])
    assert set(result.demands["annotator"]) == {"a/low+b/high"}
    assert set(result.demands["level"]) == {2}
    assert set(result.readings["annotator"]) == {"a/low", "b/high"}
    assert result.agreed.pairs["shift"].item() == 2.0


def test_readings_keep_their_reasons(items):
    result = annotate(items, model=Scripted(answering(by_text)), dimensions=["AS"])
    assert result.readings["why"].to_list() == [f"as {text}" for text in items["text"]]
    assert result.readings["item"].to_list() == items["item"].to_list()


def test_own_rubrics_reach_the_prompt(items, tmp_path):
    lines = [f"Level {level}: Any. So much planning as step {level} asks for." for level in range(6)]
    (tmp_path / "PLp.txt").write_text("# Planning\n\nHow much planning.\n" + "\n".join(lines))
    asker = Scripted(lambda question: '{"why": "", "levels": {"PLp": 3}}')
    result = annotate(items, model=asker, rubrics=tmp_path, dimensions=["PLp"], protocol="item")
    assert "planning as step 5 asks for" in asker.asked[0].prompt
    assert set(result.demands["dimension"]) == {"PLp"}


def test_the_journal_answers_the_second_time(tmp_path):
    first = annotate("example", model="recorded/example", protocol="item", journal=tmp_path / "j.sqlite", max_calls=5)
    assert (first.calls, first.stored) == (5, 0)
    assert first.unparsed["item"].n_unique() == 11
    assert "budget" in first.warnings[0]
    second = annotate("example", model="recorded/example", protocol="item", journal=tmp_path / "j.sqlite")
    assert (second.calls, second.stored) == (11, 5)
    whole = annotate("example", model="recorded/example", protocol="item", journal=None)
    assert second.demands.equals(whole.demands)


def test_one_budget_bounds_all_models_together(tmp_path):
    copy = tmp_path / "mine.csv"
    copy.write_bytes(TARGET.read_bytes())
    models = ["recorded/example", f"recorded/{copy}"]
    result = annotate("example", model=models, protocol="item", journal=None, max_calls=20)
    assert result.calls == 20
    assert result.unparsed["annotator"].unique().to_list() == [f"recorded/{copy}"]


def test_unknown_settings_and_models_are_refused():
    with pytest.raises(MensuraError, match="no recording 'nothing'"):
        annotate("example", model="recorded/nothing", journal=None)
    with pytest.raises(TypeError, match="jurnal"):
        annotate("example", model="recorded/example", jurnal=None)


def test_what_is_left_of_a_budget_is_never_below_nothing():
    spent = [SimpleNamespace(calls=3, cost=1.5), SimpleNamespace(calls=2, cost=1.0)]
    assert cells_left({"max_calls": 7, "max_cost": 4.0, "journal": "j"}, spent) == (
        {"max_calls": 2, "max_cost": 1.5, "journal": "j"}
    )
    assert cells_left({"max_calls": 5, "max_cost": 2.0}, spent) == {"max_calls": 0, "max_cost": 0}, "nothing is left"
    assert cells_left({"max_calls": None}, spent) == {"max_calls": None}


class Priced(Scripted):
    """A scripted model each of whose answers costs so much; None where nobody knows."""

    def ask(self, questions, read):
        return [answer._replace(cost=self.price) for answer in super().ask(questions, read)]


def priced(model, price):
    asker = Priced(answering(by_text), model)
    asker.price = price
    return asker


def test_the_cost_of_all_models_is_known_only_where_each_ones_is(items):
    both = annotate(items, model=[priced("a", 0.5), priced("b", 0.25)], protocol="item", dimensions=["AS"])
    assert (both.cost, both.calls, both.stored) == (5 * 0.75, 10, 0)
    assert annotate(items, model=[priced("a", 0.5), priced("b", None)], dimensions=["AS"]).cost is None


def test_some_cells_that_were_read_twice_are_enough_for_agreement(items):
    def reply(question):
        return "no" if question.repeat and question.about["item"] != "q0" else answering(by_text)(question)

    result = annotate(items, model=Scripted(reply), protocol="item", repeats=2, dimensions=["AS", "VO"])
    assert result.agreed is not None and result.agreed.items == 1
    assert result.agreement.filter(statistic="exact", dimension="AS")["n"].to_list() == [1]
    assert "8 cells without a level; the commonest reason (8): " in result.warnings[-1]
