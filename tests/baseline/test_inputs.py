"""Items under the names people use, and what is said of bad ones."""

import json
import zipfile

import polars as pl
import pytest

from mensura import MensuraError
from mensura.baseline import read_items


def one(text="2+2?", answer="4", **more):
    return {"question": text, "answer": answer, **more}


@pytest.mark.parametrize(
    "row",
    [
        {"id": "a", "question": "2+2?", "choices": ["3", "4"], "answer": "4"},
        {"item": "a", "text": "2+2?", "options": "3||4", "key": "B"},
        {"qid": "a", "prompt": "2+2?", "A": "3", "B": "4", "target": "b"},
        {"id": "a", "input": "2+2?", "option_1": "3", "option_2": "4", "target": 1},
    ],
)
def test_the_names_that_people_use_mean_the_same(row):
    table = read_items(pl.DataFrame([row])).table
    assert table.select("item", "text").row(0) == ("a", "2+2?")
    assert table["options"].to_list() == [["3", "4"]]
    assert read_items(pl.DataFrame([row])).askable().table.height == 1


def test_csv_json_lines_and_parquet_give_the_same_items(tmp_path):
    frame = pl.DataFrame({"id": ["007", "b"], "question": ["Où?", "什么？"], "answer": ["ici", "水"]})
    frame.write_csv(tmp_path / "items.csv")
    frame.write_parquet(tmp_path / "items.parquet")
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in frame.to_dicts())
    (tmp_path / "items.jsonl").write_text(lines, encoding="utf-8")
    read = [read_items(tmp_path / f"items.{kind}").table for kind in ("csv", "parquet", "jsonl")]
    assert read[0]["item"].to_list() == ["007", "b"], "ids stay text"
    assert all(table.equals(read[0]) for table in read[1:])


def test_an_inspect_log_and_harness_samples_bring_their_items(tmp_path):
    sample = {"id": 3, "epoch": 1, "input": [{"role": "user", "content": "2+2?"}], "choices": ["3", "4"], "target": "B"}
    with zipfile.ZipFile(tmp_path / "run.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "m"}}))
        archive.writestr("samples/3_epoch_1.json", json.dumps(sample))
        archive.writestr("samples/3_epoch_2.json", json.dumps({**sample, "epoch": 2}))
    harness = {
        "doc_id": 0,
        "doc": {"question": "2+2?", "choices": {"text": ["3", "4"], "label": ["A", "B"]}},
        "target": "B",
    }
    (tmp_path / "samples_task.jsonl").write_text(json.dumps(harness), encoding="utf-8")
    for file, name in (("run.eval", "3"), ("samples_task.jsonl", "0")):
        table = read_items(tmp_path / file).table
        assert table.select("item", "text", "answer").rows() == [(name, "2+2?", "4")]
        assert table["options"].to_list() == [["3", "4"]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([one(text="")], r"no text \(1\)"),
        (
            [one(answer="")],
            r"no key, the right answer.*Name the column \(--map text=COLUMN,key=COLUMN; columns=.*, or give estimates",
        ),
        (
            [one(id="a", answer=""), one(id="c", answer=""), one(id="b")],
            r"no key, the right answer \(a, c\).*Correct these rows, or give estimates",
        ),
        ([one(choices=["3", "5"], answer="4½")], "key that is none of the options"),
        ([one(text="![](shape.png)")], "picture without words"),
        ([one(text="", image="shape.png")], "picture without words"),
        ([one(id="a"), one(id="a")], "occur twice"),
        ([{"colour": "red"}], "no column holds the questions"),
        ([], "no items"),
    ],
)
def test_items_that_cannot_be_asked_are_named(rows, message):
    frame = pl.DataFrame(rows, schema=None if rows else {"question": pl.String})
    with pytest.raises(MensuraError, match=message):
        read_items(frame).askable()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"question": ""}, "no text"),
        ({"answer": ""}, "no key, the right answer"),
        ({"answer": "17½"}, "key that is none of the options"),
        ({"question": "<img src=seven.png>"}, "picture without words"),
    ],
)
def test_a_faulty_row_is_left_out_and_named(items, fault, reason):
    rows = items.to_dicts()
    rows[6] |= fault
    kept = read_items(pl.DataFrame(rows)).askable()
    assert "q7" not in kept.table["item"].to_list()
    assert (kept.table.height, kept.of) == (49, 50)
    assert kept.notes[-1] == f"49 of 50 items used; left out: {reason} (q7)"
    assert kept.askable() is kept


def test_several_right_options_are_reported():
    rows = [one(choices=["3", "4", "four"], answer=answer) for answer in ("B,C", "B")]
    assert read_items(pl.DataFrame(rows)).notes[-1].startswith("1 items have several right options")


def test_a_sample_keeps_the_mixture_of_domains_and_says_so():
    frame = pl.DataFrame({"id": [str(n) for n in range(1000)], "domain": ["maths"] * 800 + ["law"] * 200})
    part = read_items(frame).sample(100, seed=3)
    counts = dict(part.table["domain"].value_counts().iter_rows())
    assert counts == {"maths": 80, "law": 20}
    assert part.of == 1000
    assert "sample of 100 of 1000" in part.notes[0]


def test_a_sample_of_nobody_is_refused(items):
    with pytest.raises(MensuraError, match="at least 1"):
        read_items(items).sample(0)


@pytest.mark.parametrize("text", ["null", "3", '"text"', "[]", '{"items": null}', "[1, 2]"])
def test_json_without_items_is_refused_in_words(tmp_path, text):
    file = tmp_path / "items.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(MensuraError, match=r"no items|no column"):
        read_items(file)


def test_a_file_without_keys_lists_its_columns():
    items = read_items({"question": ["Who?", "Where?"], "loesung": ["Ann", "Rome"]})
    with pytest.raises(MensuraError, match=r"It has the columns question, loesung. Name the column \(--map"):
        items.askable()
