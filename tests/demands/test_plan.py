"""What annotating a pool will ask, before anything is asked: the questions, and the tokens their answers take."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.demands import plan_annotation
from mensura.demands.plan import _sorted_out
from mensura.llm import Answer

LAYOUTS = {
    "mmlu.csv": "Which is a river?,Etna,Rhine,Alps,Oslo,B\n",
    "arc.jsonl": '{"id": "x", "question": {"stem": "Which is a river?", "choices": [{"text": "Etna", "label": "A"}, '
    '{"text": "Rhine", "label": "B"}, {"text": "Alps", "label": "C"}, {"text": "Oslo", "label": "D"}]}, '
    '"answerKey": "B"}\n',
    "inspect.jsonl": '{"input": "Which is a river?", "choices": ["Etna", "Rhine", "Alps", "Oslo"], "target": "B"}\n',
    "numbers.csv": "qid,question,choices,answer_index\n1,Which is a river?,Etna || Rhine || Alps || Oslo,1\n",
}


def test_bundles_mix_differently_in_each_repeat(items):
    many = pl.concat([items.with_columns(pl.col("item", "text") + f" {copy}") for copy in range(8)])
    packets = plan_annotation(many, items_per_call=10, repeats=2).packets
    first = [set(packet.items) for packet in packets if packet.question.repeat == 0]
    second = [set(packet.items) for packet in packets if packet.question.repeat == 1]
    assert set().union(*first) == set().union(*second) == set(many["item"])
    assert sum(map(len, first)) == 40
    assert all(group not in first for group in second)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_of_items_that_baselines_read_can_be_annotated(name, tmp_path):
    (tmp_path / name).write_text(LAYOUTS[name])
    (view,) = plan_annotation(tmp_path / name, dimensions=["KNc"]).views
    assert (view.text, view.options, view.key) == ("Which is a river?", ("Etna", "Rhine", "Alps", "Oslo"), "Rhine")


def test_an_answer_has_room_for_reasons_and_levels_of_every_item(items):
    """500 tokens, and 200 and twice 6 per level for each item; usually 40 and 6 per level."""
    plan = plan_annotation(items, dimensions=["AS", "KNc", "VO"], items_per_call=3)
    assert sorted(len(packet.items) for packet in plan.packets) == [2, 3]
    assert plan.max_tokens == 500 + 3 * (200 + 2 * 6 * 3)
    assert plan.usual_tokens == 5 * (40 + 6 * 3) // 2
    cell = plan_annotation(items, protocol="cell", dimensions=["AS"])
    assert (cell.max_tokens, cell.usual_tokens) == (1000, 250)
    assert plan.questions == [packet.question for packet in plan.packets]
    assert plan.packets[0].cells[:3] == [(plan.packets[0].items[0], code) for code in ("AS", "KNc", "VO")]


def test_cells_are_counted_priced_and_kept_in_the_order_of_the_items(items):
    """Two calls with an answer, one of them stored, one without a price: no cost is known."""
    plan = plan_annotation(items.head(3), protocol="item", dimensions=["AS"], repeats=1)
    good = {"levels": {"AS": 3}}
    answers = [
        Answer(plan.questions[0], "x", good, "because", cost=0.5, attempts=2),
        Answer(plan.questions[1], "y" * 200, None, error="unreadable: no", cost=0.25, attempts=1),
        Answer(plan.questions[2], "z", good, stored=True, cost=9.0, attempts=1),
    ]
    asked = _sorted_out(plan, answers, "us")
    order = [packet.items[0] for packet in plan.packets]
    assert asked.readings.rows() == [(order[0], "AS", "us", 0, 3, "because"), (order[2], "AS", "us", 0, 3, "")]
    assert asked.unparsed.rows() == [(order[1], "AS", "us", 0, "unreadable: no", "y" * 160)]
    assert (asked.calls, asked.stored, asked.cost) == (3, 1, 0.75)
    assert _sorted_out(plan, [answers[0]._replace(cost=None), *answers[1:]], "us").cost is None
    silent = [answer._replace(value=None, text="", error="", attempts=0, stored=False) for answer in answers]
    nothing = _sorted_out(plan, silent, "us")
    assert (nothing.calls, nothing.cost, set(nothing.unparsed["reason"])) == (0, 0.0, {"no answer"})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"repeats": 101}, "repeats: expected 1 to 100, got 101"),
        ({"items_per_call": 201}, "items_per_call: expected 1 to 200, got 201"),
        ({"protocol": "cell", "items_per_call": 5}, "the protocol cell does not use it; leave it out, or"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(items, settings, words):
    with pytest.raises(MensuraError, match=words):
        plan_annotation(items, **settings)
    assert len(plan_annotation(items, dimensions=["AS"], repeats=100, items_per_call=200).packets) == 100
