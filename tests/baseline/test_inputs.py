"""Items under the names people use, and what is said of bad ones."""

import json
import zipfile

import polars as pl
import pytest

from mensura import MensuraError
from mensura.baseline import read_items
from mensura.people import ItemPool


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


def test_items_come_from_pools_and_are_read_once(tmp_path):
    items = pl.DataFrame({"item": ["a"], "text": ["Why?"], "answer": ["so"], "n_options": [4], "format": ["quiz"]})
    (tmp_path / "folder").mkdir()
    items.write_csv(tmp_path / "folder" / "items.csv")
    rates = {"item": ["a"], "group": ["all"], "n": [10], "n_correct": [5]}
    pl.DataFrame(rates).write_csv(tmp_path / "folder" / "group_rates.csv")
    read = read_items(tmp_path / "folder")
    assert read_items(read) is read
    assert (read.name, read.n_options, read.table["format"].to_list()) == ("folder", [4], ["quiz"])
    pool = ItemPool.read(tmp_path / "folder")
    assert read_items(pool).table.equals(read.table) and read_items(pool).name == pool.name


@pytest.mark.parametrize(("stated", "count"), [("4", 4), (4.0, 4), ("", 0), ("many", 0), (None, 0)])
def test_a_number_of_options_is_stated_or_counted(stated, count):
    rows = pl.DataFrame([one(choices=["3", "4"], answer="4"), {**one(), "n_options": stated}], strict=False)
    assert read_items(rows).n_options == [2, count]
    assert read_items(pl.DataFrame([one()])).n_options == [None], "no item shows options"


def test_a_context_stands_before_its_question_and_keys_are_joined():
    (row,) = read_items(
        {"passage": ["Once."], "question": ["Who?"], "answer": ["Ann"], "domain": ["tales"]}
    ).table.rows(named=True)
    assert (row["text"], row["answer"], row["domain"], row["right"], row["fault"]) == (
        "Once.\n\nWho?",
        "Ann",
        "tales",
        [],
        "",
    )
    several = read_items(pl.DataFrame([one(choices=["3", "4", "four"], answer="B,C")] * 1)).table.row(0, named=True)
    assert (several["answer"], several["right"]) == ("4 or four", [1, 2])


@pytest.mark.parametrize(
    ("cell", "pictured"), [("a.png", True), ("yes", True), ("no", False), ("0", False), ("", False)]
)
def test_a_picture_stands_in_for_a_text(cell, pictured):
    (fault,) = read_items(pl.DataFrame([{**one(text=""), "id": "a", "needs_picture": cell}])).table["fault"]
    assert fault == ("picture without words" if pictured else "no text")


def test_half_of_the_items_may_be_faulty_and_doubts_are_told_without_texts():
    rows = [one(id="a"), one(id="b", answer=""), one(id="c", choices=["1", "2"], answer="9"), one(id="d")]
    items = read_items(pl.DataFrame(rows, strict=False))
    assert items.askable().table["item"].to_list() == ["a", "d"]
    assert items.doubts() == ["key that is none of the options (c); check these rows"]
    assert items.askable().doubts() == []
    with pytest.raises(MensuraError, match="2 of 3 items cannot be asked"):
        read_items(pl.DataFrame(rows[:3], strict=False)).askable()


def test_a_sample_of_everything_is_everything(items):
    whole = read_items(items)
    assert whole.sample(50) is whole and whole.sample(60) is whole
    assert whole.sample(49).table.height == 49
    assert whole.sample(5).table["item"].to_list() == sorted(
        whole.sample(5).table["item"], key=lambda one: int(one[1:])
    )
