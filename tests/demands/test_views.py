"""The annotator sees text, options, key and scoring; never rates, outcomes, ids, domains or the order of the table."""

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given

from mensura import ItemPool, MensuraError
from mensura.demands import annotation_sheet, plan_annotation, pool_rates, unguessability
from mensura.demands.protocols import PROTOCOLS
from mensura.demands.views import ItemView, item_table, view_items

SEEN = ["text", "options", "key", "scoring"]


def prompts(pool, protocol, **settings):
    """Everything that would be sent, as a set: nothing else reaches an annotator."""
    plan = plan_annotation(pool, protocol=protocol, dimensions=["AS", "KNc"], **settings)
    return {(packet.question.prompt, packet.question.system) for packet in plan.packets}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_changing_everything_unseen_changes_no_prompt(items, protocol):
    plain = prompts(items.select("item", *SEEN), protocol)
    rich = items.with_columns(
        rate=pl.Series([0.9, 0.1, 0.5, 0.3, 0.7]),
        n=pl.lit(1234),
        n_correct=pl.lit(17),
        gpt4=pl.lit(1),
        difficulty=pl.lit("very hard"),
        domain=pl.lit("arithmetic"),
        format=pl.lit("open"),
        language=pl.lit("English"),
        slope=pl.lit(1.7),
    )
    assert prompts(rich, protocol) == plain
    other = rich.with_columns(rate=1 - pl.col("rate"), gpt4=pl.lit(0), difficulty=pl.lit("trivial"))
    assert prompts(other, protocol) == plain


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_ids_and_the_order_of_the_table_are_not_seen(items, protocol):
    plain = prompts(items, protocol)
    renamed = items.with_columns(item=pl.Series(["easy-1", "hard-2", "solved-3", "rate-0.9", "p=0.1"]))
    assert prompts(renamed, protocol) == plain
    assert prompts(items.reverse(), protocol) == plain
    assert not any("easy-1" in prompt for prompt, _ in prompts(renamed, protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pool_with_rates_asks_as_one_without(items, protocol, tmp_path):
    def pool(rates):
        table = pl.DataFrame({"item": items["item"], "group": "all", "n": 50, "rate": rates})
        return ItemPool.from_rates("p", items, table)

    low, high = pool([0.02, 0.04, 0.06, 0.08, 0.1]), pool([0.98, 0.96, 0.94, 0.92, 0.9])
    assert prompts(low, protocol) == prompts(high, protocol) == prompts(items, protocol)
    high.write(tmp_path)
    assert prompts(tmp_path, protocol) == prompts(tmp_path / "items.csv", protocol) == prompts(items, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("column", SEEN)
def test_changing_what_is_seen_changes_the_prompt(items, protocol, column):
    changed = items.with_columns(pl.lit("something else").alias(column))
    assert prompts(changed, protocol) != prompts(items, protocol)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), st.floats(0, 1), max_size=4))
def test_no_column_of_any_name_reaches_a_prompt(columns):
    base = pl.DataFrame({"item": ["a"], "text": ["Name a river."], "key": ["any"]})
    unseen = {name: value for name, value in columns.items() if name not in {*SEEN, "answer", "item"}}
    extra = base.with_columns([pl.lit(value).alias(name) for name, value in unseen.items()])
    if any(name.startswith(("n_options", "needs_picture")) for name in unseen):
        return
    assert prompts(extra, "item") == prompts(base, "item")


def test_the_sheet_for_people_shows_no_more(items):
    sheet = annotation_sheet(items.with_columns(rate=pl.lit(0.5), domain=pl.lit("x")), dimensions=["AS", "VO"])
    assert sheet.columns == ["item", "text", "options", "key", "scoring", "annotator", "AS", "VO", "comment"]
    assert sheet["AS"].null_count() == 5


@pytest.mark.parametrize(
    "told", ["red || green || blue", '["red", "green", "blue"]', "red\ngreen\nblue", "red | green | blue"]
)
def test_options_in_the_forms_people_write(told):
    view = view_items(pl.DataFrame({"item": ["a"], "text": ["t"], "options": [told]}))[0][0]
    assert view.options == ("red", "green", "blue")
    assert "Options:\n- red\n- green\n- blue" in view.as_text()


def test_options_in_columns_and_a_key_called_answer():
    table = pl.DataFrame(
        {"item": ["a"], "text": ["t"], "option_2": ["no"], "option_1": ["yes"], "option_10": ["?"], "answer": ["no"]}
    )
    view = view_items(table)[0][0]
    assert (view.options, view.key) == (("yes", "no", "?"), "no")


def test_parameters_of_items_are_no_options():
    rows = {"item": ["q"], "text": ["Name a river."], "key": ["any"], "a": [1.2], "b": [-0.3], "c": [0.1]}
    assert view_items(item_table(pl.DataFrame(rows)))[0][0].options == ()


def test_unguessability_is_computed(items):
    table = items.with_columns(n_options=pl.Series([None, None, None, None, 10], dtype=pl.Int64))
    found = unguessability(table)
    assert found["unguessability"].to_list() == pytest.approx([100 * 2 / 3, 100, 100, 50, 90])
    assert found["basis"].to_list()[3:] == ["options counted", "n_options"]
    with pytest.raises(MensuraError, match="n_options must be 1 or more, got 0"):
        unguessability(table.with_columns(n_options=pl.lit(0)))


def test_items_without_text_or_with_a_picture_are_named(items):
    table = items.with_columns(
        text=pl.when(pl.col("item") == "q1").then(None).otherwise("text"), needs_picture=pl.col("item") == "q2"
    )
    views, skipped = view_items(table)
    assert [view.item for view in views] == ["q0", "q3", "q4"]
    assert skipped.rows() == [("q1", "no text"), ("q2", "needs a picture")]
    with pytest.raises(MensuraError, match="no item can be annotated; the item table needs a column 'text'"):
        view_items(items.drop("text"))


def test_pools_that_are_not_there_or_not_tables(tmp_path):
    with pytest.raises(MensuraError, match="no such folder or file"):
        item_table(tmp_path / "nowhere")
    with pytest.raises(MensuraError, match=r"no items\.csv"):
        item_table(tmp_path)
    with pytest.raises(MensuraError, match="occurs more than once"):
        item_table(pl.DataFrame({"item": ["a", "a"], "text": ["x", "y"]}))


def test_rates_of_several_pools_stand_under_each_other():
    def pool(name, rate):
        return ItemPool.from_rates(name, {"item": ["a"]}, {"item": ["a"], "group": ["all"], "n": [10], "rate": [rate]})

    assert pool_rates([pool("x", 0.5), pool("y", 0.2)]).rows() == [("x", "a", 0.5, 10), ("y", "a", 0.2, 10)]
    with pytest.raises(MensuraError, match="pools: names must differ, got x, x"):
        pool_rates([pool("x", 0.5), pool("x", 0.2)])


def test_an_item_is_shown_with_its_options_its_key_and_its_scoring():
    view = ItemView("id", "Which?", ("a", "b"), "b", "by hand")
    assert view.as_text() == ("Text: Which?\nOptions:\n- a\n- b\nKey (the answer scored as right): b\nScoring: by hand")
    assert ItemView("id", "Which?").as_text() == "Text: Which?"


def test_an_item_with_one_option_is_taken_for_open():
    rows = unguessability(pl.DataFrame({"item": ["a", "b"], "n_options": [1, None]})).rows()
    assert rows == [("a", 1, 0.0, "n_options"), ("b", None, 100.0, "no options: taken for open")]
