"""Items in the layouts that benchmarks publish, each written as its authors write it."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.items import read_items

SHARED = Path(__file__).parents[3] / "shared" / "data" / "formats" / "items"
JARS, TOOL = "A shelf has 4 rows of 6 jars. How many jars are there?", "Which tool drives a nail?"
SUMS = ["10", "18", "24", "46"]


def lines(path, *records):
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def only(path, **options):
    return read_items(path, **options).items[0]


@pytest.mark.parametrize(
    "record",
    [
        {"question": JARS, "choices": SUMS, "answer": 2},
        {"question": JARS, "choices": {"text": SUMS, "label": ["1", "2", "3", "4"]}, "answerKey": "3"},
        {
            "question": {"stem": JARS, "choices": [{"text": t, "label": c} for t, c in zip(SUMS, "ABCD", strict=True)]},
            "answerKey": "C",
        },
        {"question_stem": JARS, "choices": {"text": SUMS, "label": list("ABCD")}, "answerKey": " C "},
        {
            "input": [{"role": "system", "content": "Answer."}, {"role": "user", "content": JARS}],
            "choices": SUMS,
            "target": "C",
        },
        {"input": f"{JARS}\nOptions:\n(A) 10\n(B) 18\n(C) 24\n(D) 46", "target": "(C)"},
        {"question": f"{JARS}\n\nAnswer Choices:\nA. 10\nB. 18\nC. 24\nD. 46", "answer": "C"},
        {"doc_id": 7, "doc": {"question": JARS, "choices": SUMS}, "target": 2},
        {"ctx": JARS, "endings": SUMS, "label": "2"},
        {"goal": JARS, "sol1": "10", "sol2": "18", "sol3": "24", "sol4": "46", "label": 2},
        {"question": JARS, "mc1_targets": {"10": 0, "18": 0, "24": 1, "46": 0}},
        {"input": JARS, "target_scores": {"10": 0, "18": 0.0, "24": 1.0, "46": 0}},
        {"question": JARS, "options": dict(zip("ABCD", SUMS, strict=True)), "answer": "C"},
        {"question": JARS, "options": repr(dict(zip("0123", SUMS, strict=True))), "answer": "2"},
        {"question": JARS, "options": dict(zip("ABCD", SUMS, strict=True)), "answer": "24", "answer_idx": "C"},
        {"problem": JARS, "A": "10", "B": "18", "C": "24", "D": "46", "answer": "C"},
        {"prompt": JARS, "answers": [{"text": t, "correct": t == "24"} for t in SUMS]},
        {
            "question": JARS,
            "options": [{"id": c, "value": t} for c, t in zip("abcd", SUMS, strict=True)],
            "answer": "C",
        },
        {"questionText": JARS, "choices": {"labels": list("ABCD"), "texts": SUMS}, "correctAnswer": "C"},
        {"question": JARS, "options": [f"({c}){t}" for c, t in zip("ABCD", SUMS, strict=True)], "label": "C"},
        {"question": JARS, "options": list(zip("ABCD", SUMS, strict=True)), "correct": "c"},
        {"Problem": JARS, "options": "a ) 10 , b ) 18 , c ) 24 , d ) 46", "correct": "c"},
        {"question": JARS, "options": ", ".join(SUMS), "answer": "24"},
        {"question": JARS, "options": [int(t) for t in SUMS], "answer": 24},
        {"question": JARS, "option_a": "10", "option_b": "18", "option_c": "24", "option_d": "46", "key": "option_c"},
        {"question": JARS, "options": {f"option{n}": t for n, t in enumerate(SUMS, 1)}, "answer": 3},
        {"question": JARS, "choices": SUMS, "answer": "C. 24"},
        {"question": JARS, "choices": SUMS, "answer": 2.0},
        {"question": JARS, "choices": SUMS, "labels": [0, 0, 1, 0]},
        {"question": JARS, "choices": SUMS, "answer": [False, False, True, False]},
        {"question": f"{JARS} a) 10 b) 18 c) 24 d) 46", "answer": "c"},
        {"question": f"{JARS}\n1. 10\n2. 18\n3. 24\n4. 46", "answer": "24"},
        {"input": f"{JARS}\nOptions:\n- 10\n- 18\n- 24\n- 46", "target": "24"},
        {
            "messages": [
                {"role": "user", "content": f"{JARS}\nA) 10\nB) 18\nC) 24\nD) 46"},
                {"role": "assistant", "content": "C"},
            ]
        },
        {"conversations": [{"from": "human", "value": JARS}], "choices": SUMS, "ideal": "24"},
        {"question": JARS, **{f"ans{n}": text for n, text in enumerate(SUMS)}, "label": 2},
        {"question": JARS, "choices": SUMS, "answer": 2, "correct_answer": None},
        {"turns": [JARS], "choices": SUMS, "ground_truth": "24"},
        {"meta": {"level": 1}, "content": {"question": JARS, "options": SUMS}, "gold": {"index": 2, "text": "24"}},
    ],
)
def test_layouts_of_choices(tmp_path, record):
    item = only(lines(tmp_path / "items.jsonl", record))
    assert (item.text, item.options, item.keys, item.right) == (JARS, tuple(SUMS), ("24",), (2,))


ROW = {"question": JARS, "choices": SUMS, "answer": "C"}
DEEP = {"id": "p", "article": "Jars.", "questions": [ROW, ROW]}


@pytest.mark.parametrize(
    ("document", "ids"),
    [
        ({"results": [ROW, ROW]}, ["1", "2"]),
        ({"data": {"questions": [ROW, ROW]}}, ["1", "2"]),
        ({"q7": ROW, "q9": ROW}, ["q7", "q9"]),
        ({name: [cell, cell] for name, cell in ROW.items()}, ["1", "2"]),
        ({name: {"0": cell, "1": cell} for name, cell in ROW.items()}, ["1", "2"]),
        ({"columns": list(ROW), "data": [list(ROW.values())] * 2}, ["1", "2"]),
        ({"rows": [{"row_idx": 0, "row": ROW}, {"row_idx": 1, "row": ROW}]}, ["1", "2"]),
        ([DEEP], ["p-1", "p-2"]),
        ({"data": [{"title": "t", "paragraphs": [DEEP]}]}, ["p-1", "p-2"]),
        ([DEEP | {"questions": [JARS] * 2, "options": [SUMS] * 2, "answers": ["C"] * 2}], ["p-1", "p-2"]),
    ],
)
def test_shapes_of_json_documents(tmp_path, document, ids):
    path = tmp_path / "items.json"
    path.write_text(json.dumps(document), encoding="utf-16")
    read = [(item.item, item.text, item.options, item.right) for item in read_items(path).items]
    assert read == [(name, JARS, tuple(SUMS), (2,)) for name in ids]


def test_a_spreadsheet_with_a_title_and_a_sheet_of_remarks(tmp_path):
    path = tmp_path / "quiz.xlsx"
    book = pytest.importorskip("xlsxwriter").Workbook(path)
    remarks = [["written by", "date"], ["Ann", "2026"]]
    for name, rows in {
        "remarks": remarks,
        "quiz": [["Nr", "Question", *"ABCD", "Correct"], [1, JARS, *SUMS, "C"]],
    }.items():
        sheet = book.add_worksheet(name)
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    book.close()
    assert only(path).keys == ("24",)
    path = tmp_path / "titled.csv"
    path.write_text(f"Our quiz of gold;;;;;\n\nQuestion;A;B;C;D;Key\n{JARS};{';'.join(SUMS)};C\n", encoding="utf-8-sig")
    assert only(path).keys == ("24",)


def test_truths_are_no_places(tmp_path):
    rows = [{"question": "Is it?", "choices": ["True", "False"], "answer": answer} for answer in (True, False)]
    assert [item.right for item in read_items(lines(tmp_path / "items.jsonl", *rows)).items] == [(0,), (1,)]
    rows = [{"Q": "Is it?", "A": answer} for answer in "TF"]
    assert [item.keys for item in read_items(lines(tmp_path / "qa.jsonl", *rows)).items] == [("true",), ("false",)]


def test_numbers_within_a_sentence_are_no_labels(tmp_path):
    for question in ("Of 1. cats and 2. dogs, how many bark?", "A) x and B) y: how many?"):
        assert only(lines(tmp_path / "items.jsonl", {"question": question, "answer": "1"})).options == ()


def test_open_answers_come_from_worked_solutions(tmp_path):
    worked = lines(tmp_path / "gsm.jsonl", {"question": "How many?", "answer": "5*250=<<5*250=1250>>1250\n#### 1,200"})
    assert only(worked).keys == ("1200",)
    boxed = lines(tmp_path / "math.jsonl", {"problem": "Half?", "solution": r"So $\boxed{\frac{3}{8}}$."})
    assert only(boxed).keys == (r"\frac{3}{8}",)
    several = lines(tmp_path / "evals.jsonl", {"input": "Edges of a cube?", "ideal": ["12", "twelve"]})
    assert only(several).keys == ("12", "twelve")


def test_open_answers_with_other_spellings_of_theirs(tmp_path):
    trivia = {"question": "Who?", "answer": {"value": "Ann", "aliases": ["Ann", "Anna"]}}
    assert only(lines(tmp_path / "trivia.jsonl", trivia)).keys == ("Ann", "Anna")
    squad = {"question": "Who?", "context": "Ann did.", "answers": {"text": ["Ann"], "answer_start": [0]}}
    assert only(lines(tmp_path / "squad.jsonl", squad)).keys == ("Ann",)


def test_statements_that_are_true_or_false_have_two_options(tmp_path):
    rows = [{"question": f"Is {n} even?", "answer": "no" if n % 2 else "Yes"} for n in range(4)]
    items = read_items(lines(tmp_path / "even.jsonl", *rows)).items
    assert [(item.options, item.right) for item in items] == [(("no", "yes"), (place,)) for place in (1, 0, 1, 0)]
    rows = [{"input": "not ( True ) is", "target": "False"}, {"input": "not False is", "target": "True"}]
    assert only(lines(tmp_path / "logic.jsonl", *rows)).options == ("false", "true")
    always = [{"question": "Who?", "answer": "yes"}] * 3
    assert only(lines(tmp_path / "open.jsonl", *always)).options == ()


@pytest.mark.parametrize("key", ["A,C", "AC", "(A) and (C)", ["A", "C"], "A; C"])
def test_several_right_options_are_read(tmp_path, key):
    rows = [{"question": "Vowels?", "choices": ["a", "b", "e"], "answer": answer} for answer in (key, "B")]
    read = read_items(lines(tmp_path / "items.jsonl", *rows))
    assert [item.right for item in read.items] == [(0, 2), (1,)]


def test_lists_as_python_and_numpy_write_them(tmp_path):
    options = ["a wheel", "Earth's shadow", 'a "ring"', "x, y"]
    cells = [repr(options), json.dumps(options), "['a wheel' \"Earth's shadow\" 'a \"ring\"' 'x, y']"]
    pl.DataFrame({"question": [TOOL] * 3, "options": cells, "answer": ["B"] * 3}).write_csv(tmp_path / "items.csv")
    assert [item.options for item in read_items(tmp_path / "items.csv").items] == [tuple(options)] * 3


@pytest.mark.parametrize(
    ("answers", "columns", "right", "counted"),
    [([1, 0, 2], None, [1, 0, 2], 0), ([1, 4, 2], None, [0, 3, 1], 1), ([1, 2, 2], "key=answer:1", [0, 1, 1], 1)],
)
def test_numbers_of_options_count_from_0_unless_the_file_says_otherwise(tmp_path, answers, columns, right, counted):
    rows = [{"question": JARS, "choices": ["p", "q", "r", "s"], "answer": answer} for answer in answers]
    read = read_items(lines(tmp_path / "items.jsonl", *rows), columns=columns)
    assert [item.right for item in read.items] == [(place,) for place in right]
    assert f"counted from {counted}" in read.notes[0]


def test_columns_option1_and_option2_count_from_1(tmp_path):
    rows = [{"sentence": "The _ was tall.", "option1": "jug", "option2": "basket", "answer": "1"}]
    assert only(lines(tmp_path / "items.jsonl", *rows)).keys == ("jug",)


def test_numbers_that_are_texts_of_options_are_texts(tmp_path):
    path = tmp_path / "items.csv"
    pl.DataFrame({"question": [JARS], "A": ["3"], "B": ["1"], "C": ["2"], "answer": ["1"]}).write_csv(path)
    assert only(path).keys == ("1",)
    assert only(path).right == (1,)


def test_a_table_without_titles_as_that_of_mmlu(tmp_path):
    with (tmp_path / "sums_test.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[JARS, *SUMS, "C"], [TOOL, "a hammer", "a sponge", "a ladle, wooden", "ink", "A"]])
    items = read_items(tmp_path / "sums_test.csv").items
    assert [item.keys for item in items] == [("24",), ("a hammer",)]
    assert items[1].options[2] == "a ladle, wooden"


def test_correct_and_incorrect_answers_in_columns_of_their_own(tmp_path):
    path = tmp_path / "gpqa.csv"
    row = {"Question": JARS, "Correct Answer": "24 ", "Incorrect Answer 1": "10", "Incorrect Answer 2": "18"}
    pl.DataFrame([row] * 5).write_csv(path)
    read = read_items(path)
    assert (read.items[0].options, read.items[0].right) == (("24", "10", "18"), (0,))
    assert "comes first in every item" in read.notes[-1]


def test_yes_and_no_about_a_passage(tmp_path):
    rows = [{"question": "is it old", "passage": "The mill is old.", "answer": answer} for answer in (True, False)]
    items = read_items(lines(tmp_path / "boolq.jsonl", *rows)).items
    assert [(item.options, item.keys, item.context) for item in items] == [
        (("no", "yes"), (word,), "The mill is old.") for word in ("yes", "no")
    ]


def test_labels_in_a_file_beside_it(tmp_path):
    rows = [{"goal": "cool tea", "sol1": "hats", "sol2": "a bowl"}] * 2
    lines(tmp_path / "valid.jsonl", *rows)
    (tmp_path / "valid-labels.lst").write_text("1\n0\n")
    assert [item.keys for item in read_items(tmp_path / "valid.jsonl").items] == [("a bowl",), ("hats",)]
    (tmp_path / "valid-labels.lst").write_text("1\n")
    with pytest.raises(MensuraError, match=r"1 labels for 2 items of valid.jsonl"):
        read_items(tmp_path / "valid.jsonl")


def test_unknown_columns_are_listed_and_can_be_mapped(tmp_path):
    path = lines(tmp_path / "own.jsonl", {"frage": JARS, "auswahl": {"texte": SUMS}, "loesung": "24"})
    with pytest.raises(MensuraError, match=r"it has frage, auswahl, loesung. Say which: --map text=COLUMN"):
        read_items(path)
    item = only(path, columns="text=frage,key=loesung,options=auswahl.texte")
    assert (item.text, item.options, item.right) == (JARS, tuple(SUMS), (2,))
    with pytest.raises(MensuraError, match="--map key=lösung: no such column"):
        read_items(path, columns="text=frage,key=lösung")
    with pytest.raises(MensuraError, match="expected FIELD=COLUMN"):
        read_items(path, columns="question=frage")


@pytest.mark.parametrize(
    ("record", "context", "key"),
    [
        (
            {"premises": "All jars are full.", "conclusion": JARS, "label": "Uncertain"},
            "All jars are full.",
            "Uncertain",
        ),
        ({"narrative": "A tale.", "question": JARS, "answer": "24"}, "A tale.", "24"),
        ({"passage": "A tale.", "question": JARS, "answers_spans": {"spans": ["24"], "types": ["n"]}}, "A tale.", "24"),
        ({"QUESTION": JARS, "final_decision": "maybe"}, "", "maybe"),
    ],
)
def test_questions_about_a_text_of_their_own(tmp_path, record, context, key):
    item = only(lines(tmp_path / "items.jsonl", record))
    assert (item.text, item.context, item.keys) == (JARS, context, (key,))


def test_labels_without_the_options_that_they_number_are_refused(tmp_path):
    rows = [{"premise": "It rains.", "hypothesis": "It is wet.", "label": label} for label in (0, 2)]
    path = lines(tmp_path / "nli.jsonl", *rows)
    with pytest.raises(MensuraError, match=r"nli.jsonl, label: the keys are numbers or letters, and no column holds"):
        read_items(path)
    assert [item.keys for item in read_items(path, columns="key=label").items] == [("0",), ("2",)]


def test_options_in_columns_of_any_name_and_rows_as_ids(tmp_path):
    row = {"nr": "1", "frage": JARS, **{f"wahl {n}": text for n, text in enumerate(SUMS, start=1)}, "loesung": "24"}
    path = lines(tmp_path / "own.jsonl", row, row | {"wahl 4": None})
    read = read_items(path, columns="item=row,text=frage,key=loesung,options=wahl 1+wahl 2+wahl 3+wahl 4")
    assert [(item.item, item.options) for item in read.items] == [("1", tuple(SUMS)), ("2", tuple(SUMS[:3]))]
    with pytest.raises(MensuraError, match="--map options=wahl 9: no such column"):
        read_items(path, columns="text=frage,options=wahl 1+wahl 9")


def test_uneven_numbers_of_options_are_reported(tmp_path):
    rows = [{"question": JARS, "choices": SUMS[: 2 + row], "answer": "A"} for row in range(2)]
    assert "1 with 2, 1 with 3" in read_items(lines(tmp_path / "items.jsonl", *rows)).notes[0]


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the development data lie beside the project")
def test_every_layout_that_is_described():
    for row in csv.DictReader((SHARED / "expected.csv").read_text(encoding="utf-8").splitlines()):
        item = read_items(SHARED / row["file"]).items[int(row["row"])]
        assert item.text == row["question"], row["file"]
        assert item.options == tuple(json.loads(row["choices"] or "[]")), row["file"]
        assert item.keys == tuple(row["key"].split("|")), row["file"]
        assert item.right == ((int(row["key_index"]),) if row["key_index"] else ()), row["file"]


def test_an_empty_table_and_a_folder_of_items(tmp_path):
    with pytest.raises(MensuraError, match="items: no items; expected one row or JSON object per item"):
        read_items([])
    with pytest.raises(MensuraError, match="no JSON file in this folder; give a file, or a folder with one per item"):
        read_items(tmp_path)
    with pytest.raises(MensuraError, match="no such file; check the name and the folder"):
        read_items(tmp_path / "nothing.csv")
    (tmp_path / "deep").mkdir()
    for name in ("b.json", "deep/a.json"):
        (tmp_path / name).write_text(json.dumps(ROW | {"id": name}), encoding="utf-8")
    read = read_items(tmp_path)
    assert read.name == tmp_path.name
    assert [(item.item, item.place) for item in read.items] == [
        ("b.json", "b.json, record 1"),
        ("deep/a.json", "deep/a.json, record 1"),
    ]


def test_items_of_frames_and_lists_say_their_row(tmp_path):
    rows = [{"question": JARS, "A": "10", "B": "24", "answer": "B"}] * 2
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    for source, places in {
        "items": (rows, ["items 1", "items 2"]),
        "frame": (pl.DataFrame(rows), ["row 1", "row 2"]),
        "file": (tmp_path / "a.parquet", ["a.parquet, row 1", "a.parquet, row 2"]),
    }.values():
        items = read_items(source).items
        assert [(item.place, item.keys) for item in items] == [(place, ("24",)) for place in places]


def test_a_right_answer_beside_wrong_ones(tmp_path):
    single = {"question": JARS, "correct_answer": "24", "distractor1": "10", "distractor2": "", "distractor3": "18"}
    assert only(lines(tmp_path / "a.jsonl", single)).options == ("24", "10", "18")
    several = {"question": JARS, "best_answer": "24", "incorrect_answers": ["10", "18"]}
    item = only(lines(tmp_path / "b.jsonl", several), columns="text=question,key=best_answer")
    assert (item.options, item.right) == (("24", "10", "18"), (0,))
    columns = {"question": JARS, "choice1": "10", "choice2": "24", "choice3": "", "answer": 2}
    assert only(lines(tmp_path / "c.jsonl", columns)).options == ("10", "24")
    assert only(lines(tmp_path / "c.jsonl", columns)).keys == ("24",)
    lone = {"question": JARS, "option1": "10", "answer": "24"}
    assert only(lines(tmp_path / "d.jsonl", lone)).options == ()


def test_a_path_through_a_list_takes_that_part_of_each(tmp_path):
    record = {"frage": JARS, "wahl": [{"satz": text} for text in SUMS], "loesung": "24"}
    item = only(lines(tmp_path / "a.jsonl", record), columns="text=frage,options=wahl.satz,key=loesung")
    assert (item.options, item.right) == (tuple(SUMS), (2,))


@pytest.mark.parametrize(("rows", "noted"), [(5, True), (4, False)])
def test_a_right_option_that_always_comes_first_is_noted_from_five_items_on(rows, noted, tmp_path):
    first = [{"question": f"{JARS} {row}", "choices": SUMS, "answer": "A"} for row in range(rows)]
    note = "the right option comes first in every item: shuffle the options before anybody sees them"
    assert (note in read_items(lines(tmp_path / "a.jsonl", *first)).notes) is noted
    mixed = [*first[:-1], first[-1] | {"answer": "B"}]
    assert note not in read_items(lines(tmp_path / "a.jsonl", *mixed)).notes


def test_numbers_of_a_mapped_key_are_counted_as_the_user_says(tmp_path):
    path = lines(tmp_path / "a.jsonl", *[{"question": JARS, "choices": SUMS, "answer": place} for place in (1, 2)])
    assert [item.keys for item in read_items(path, columns="key=answer:1").items] == [("10",), ("18",)]
    assert [item.keys for item in read_items(path, columns="key=answer:0").items] == [("18",), ("24",)]


def test_what_a_row_holds_besides_is_kept(tmp_path):
    read = read_items(lines(tmp_path / "a.jsonl", ROW | {"level": 3, "subject": "sums"}, ROW | {"hint": "x"}))
    assert read.titles == ("question", "choices", "answer", "level", "subject", "hint")
    assert [dict(item.rest) for item in read.items][1].get("hint") == "x"
    assert read.items[0].rest["level"] == 3


def test_a_csv_without_a_header_ends_in_the_letter_of_an_option(tmp_path):
    (tmp_path / "law.csv").write_text(f"{JARS},10,24,B\nOf 2 jars?,1,2,A\n")
    items = read_items(tmp_path / "law.csv").items
    assert [(item.place, item.options, item.right) for item in items] == [
        ("law.csv, row 1", ("10", "24"), (1,)),
        ("law.csv, row 2", ("1", "2"), (0,)),
    ]


def test_ids_and_answers_of_a_csv_stay_as_they_are_written(tmp_path):
    (tmp_path / "a.csv").write_text("id,question,answer\n007,Half of 1?,0.50\n8,Agent?,007\n", encoding="utf-8")
    assert [(item.item, item.keys) for item in read_items(tmp_path / "a.csv").items] == [
        ("007", ("0.50",)),
        ("8", ("007",)),
    ]
