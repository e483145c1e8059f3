"""Records of JSON files: lists, lines, tables by column, objects by id; and what is no record."""

import json

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.records import (
    as_object,
    as_objects,
    inside,
    json_lines,
    open_inspect,
    parse_json,
    read_archive,
    read_json,
    simple_name,
)
from tests.intake.messy import archive


def read(tmp_path, document):
    path = tmp_path / "rows.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return [(record.place, dict(record.cells)) for record in read_json(path)]


def cells(tmp_path, document):
    return [record for _, record in read(tmp_path, document)]


ROWS = [{"q": "a", "key": 1}, {"q": "b", "key": 2}]


@pytest.mark.parametrize(
    "document",
    [
        ROWS,
        {"examples": ROWS, "version": 3},
        {"data": {"questions": ROWS}},
        {"columns": ["q", "key"], "data": [["a", 1], ["b", 2]]},
        {"q": ["a", "b"], "key": [1, 2]},
        {"q": {"0": "a", "1": "b"}, "key": {"0": 1, "1": 2}},
        '{"q": "a", "key": 1}\n\n{"q": "b", "key": 2}\n',
    ],
)
def test_records_are_the_same_in_every_layout(tmp_path, document):
    assert cells(tmp_path, document) == ROWS


def test_objects_by_their_ids_keep_the_id_and_a_lone_object_is_one_record(tmp_path):
    assert cells(tmp_path, {"x": {"q": "a"}, "y": {"q": "b"}}) == [{"id": "x", "q": "a"}, {"id": "y", "q": "b"}]
    assert cells(tmp_path, {"q": "a", "key": 1}) == [{"q": "a", "key": 1}]


def test_a_record_says_where_it_stands(tmp_path):
    assert [place for place, _ in read(tmp_path, ROWS)] == ["rows.json, record 1", "rows.json, record 2"]
    assert [place for place, _ in read(tmp_path, '{"q": 1}\n\n{"q": 2}')] == ["rows.json, line 1", "rows.json, line 3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "no items; expected a list of JSON objects"),
        ('{"items": [{"q": 1}, 2]}', "no items; expected a list of JSON objects"),
        ("{oops", "not readable as JSON"),
        ('{"q": 1}\n{oops', "line 2: not JSON"),
        ('{"q": 1}\n[2]', r"line 2: '\[2\]' is no JSON object"),
    ],
)
def test_what_is_no_record_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(MensuraError, match=message):
        read(tmp_path, text)


def test_titles_in_any_spelling_have_one_simple_name():
    assert [simple_name(title) for title in ("correctAnswer", " Correct Answer ", "correct-answer?", "ID")] == [
        *["correct_answer"] * 3,
        "id",
    ]


def test_a_key_that_leads_nowhere_gives_none():
    document = {"eval": {"model": "m"}, "rows": [1]}
    assert inside(document, "eval", "model") == "m"
    assert inside(document) is document
    assert inside(document, "eval", "task") is None
    assert inside(document, "rows", "model") is None


def test_parts_of_a_log_are_objects_or_refused(tmp_path):
    assert as_object({"a": 1}, tmp_path, "eval") == {"a": 1}
    assert (as_objects(None, tmp_path, "samples"), as_objects([{}], tmp_path, "samples")) == ([], [{}])
    with pytest.raises(MensuraError, match="eval: '3'; expected an object"):
        as_object(3, tmp_path, "eval")
    for wrong in ({}, [1]):
        with pytest.raises(MensuraError, match=r"samples: .*; expected a list of objects"):
            as_objects(wrong, tmp_path, "samples")


def test_a_document_with_one_key_twice_is_refused(tmp_path):
    (tmp_path / "log.json").write_text('{"a": {"b": 1, "c": 2, "b": 3}}', encoding="utf-8")
    with pytest.raises(MensuraError, match=r"'b' is there twice in one object.*; write the log again"):
        parse_json(tmp_path / "log.json")
    assert list(json_lines([" ", '{"a": 1}'], tmp_path)) == [(2, {"a": 1})]


def test_of_several_epochs_of_a_sample_the_first_is_the_record(tmp_path):
    samples = {f"samples/{name}_epoch_{epoch}.json": {"id": name, "epoch": epoch} for epoch in (1, 2) for name in "ab"}
    path = tmp_path / "a.eval"
    path.write_bytes(archive({name: json.dumps(sample) for name, sample in {"header.json": {}, **samples}.items()}))
    assert [(record.place, record.cells["epoch"]) for record in read_archive(path)] == [
        ("a.eval, samples/a_epoch_1.json", 1),
        ("a.eval, samples/b_epoch_1.json", 1),
    ]
    path.write_bytes(archive({"samples/a.txt": "{", "other/a.json": "{"}))
    assert read_archive(path) == []
    path.write_bytes(archive({"samples/a.json": "{"}))
    with pytest.raises(MensuraError, match=r"a\.eval: not an Inspect log \(.*check that the evaluation was finished"):
        read_archive(path)


def test_a_refusal_of_what_is_inside_an_archive_stays_as_it_is(tmp_path):
    path = tmp_path / "a.eval"
    path.write_bytes(archive({"header.json": "{}"}))
    with pytest.raises(MensuraError, match=r"^mine$"), open_inspect(path) as log:
        assert log.read("header.json") == {}
        raise MensuraError("mine")
