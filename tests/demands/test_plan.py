"""What annotating a pool will ask, before anything is asked: the questions, and the tokens their answers take."""

import polars as pl
import pytest

from mensura.demands import plan_annotation

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
