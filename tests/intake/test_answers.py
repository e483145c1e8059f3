"""Answers in every form of table: names of columns, mapped columns, codes and words for missing values."""

import gzip
import json

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.answers import AnswerLog, WideAnswers, read_answer_table, read_answers, subject_column
from mensura.responses import fit_categories, fit_dimensions, read_responses, take_columns, write_store
from mensura.responses.category_table import read_categories

WIDE = pl.DataFrame({"pupil": ["a", "b", "c", "d"], "q1": [1, 0, 1, 0], "q2": [1, 1, 0, 0], "q3": [1, 0, 0, 1]})
LONG = WIDE.unpivot(index="pupil", variable_name="task", value_name="points")
SUBJECT = {"subject": ["a", "b", "c", "d"]}


def outcomes(table):
    """Item by item and subject by subject: right of trials."""
    trials = np.ones(table.right.shape) if table.trials is None else table.trials
    names = table.subjects["subject"].to_list(), table.items["item"].to_list()
    return {
        (subject, item): (float(table.right[row, column]), int(trials[row, column]))
        for row, subject in enumerate(names[0])
        for column, item in enumerate(names[1])
        if trials[row, column]
    }


EXPECTED = outcomes(read_responses(WIDE.rename({"pupil": "subject"})))


@pytest.mark.parametrize(
    ("frame", "columns"), [(WIDE, "subject=pupil"), (LONG, "subject=pupil,item=task,correct=points")]
)
@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "parquet", "json", "jsonl", "xlsx", "feather"])
def test_columns_are_mapped_in_every_format(frame, columns, form, tmp_path):
    path = tmp_path / f"answers.{form}"
    if form == "csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif form in ("json", "jsonl"):
        rows = [json.dumps(row) for row in frame.iter_rows(named=True)]
        path.write_text("\n".join(rows) if form == "jsonl" else f"[{','.join(rows)}]", encoding="utf-8")
    elif form == "xlsx":
        pytest.importorskip("xlsxwriter")
        pytest.importorskip("fastexcel")
        frame.write_excel(path)
    elif form == "feather":
        frame.write_ipc(path)
    else:
        write = {"csv": frame.write_csv, "parquet": frame.write_parquet}.get(form)
        frame.write_csv(path, separator="\t") if write is None else write(path)
    with pytest.raises(MensuraError, match=r"no column says who answered.*Rename it to subject"):
        read_responses(path)
    assert outcomes(read_responses(path, columns=columns)) == EXPECTED


def test_stata_and_spss_files_are_read(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(WIDE.rename({"pupil": "id"}).to_dict(as_series=False))
    pyreadstat.write_dta(frame, tmp_path / "a.dta")
    pyreadstat.write_sav(frame, tmp_path / "a.sav")
    for name in ("a.dta", "a.sav"):
        assert outcomes(read_responses(tmp_path / name)) == EXPECTED


def test_the_long_form_of_the_item_response_warehouse_is_read():
    rows = LONG.rename({"pupil": "id", "task": "item", "points": "resp"}).with_columns(rt=pl.lit(1.5))
    assert outcomes(read_responses(rows)) == EXPECTED


def test_titles_are_known_in_any_spelling():
    rows = LONG.rename({"pupil": "Model ", "task": "Question ID", "points": "ACC"})
    assert outcomes(read_responses(rows)) == EXPECTED


def test_a_map_names_fields_and_columns_that_exist():
    with pytest.raises(MensuraError, match="--map 'who=pupil': expected FIELD=COLUMN with a field of subject, item"):
        read_responses(WIDE, columns="who=pupil")
    with pytest.raises(MensuraError, match="--map subject=child: no such column; expected one of pupil, q1"):
        read_responses(WIDE, columns="subject=child")
    with pytest.raises(MensuraError, match="needs both: --map item=COLUMN,correct=COLUMN"):
        read_responses(WIDE, columns="subject=pupil,correct=q1")


@pytest.mark.parametrize("code", [9, 99, -9, 999, -99])
def test_a_code_outside_right_and_wrong_is_missing_and_noted(code, tmp_path):
    wide = SUBJECT | {"q1": [1, 0, 1, code], "q2": [0, 1, code, 1]}
    table = read_responses(wide)
    assert table.items["n"].to_list() == [3, 3]
    note = (f"outcomes of {code}", 2, "outside the other outcomes (0 to 1): read as missing")
    assert note in table.log.rows()
    long = pl.DataFrame(wide).unpivot(index="subject", variable_name="item", value_name="correct")
    assert outcomes(read_responses(long)) == outcomes(table)
    store = write_store([wide], tmp_path / "store", parts=1)
    assert note in store.log.rows()


@pytest.mark.slow
def test_99_is_no_sixth_rating():
    rng = np.random.default_rng(0)
    ability = rng.normal(size=200)
    ratings = {f"q{k}": np.clip(np.round(3 + ability + rng.normal(size=200)), 1, 5).astype(int) for k in range(4)}
    subject = [f"p{k}" for k in range(200)]
    coded = {name: np.where(np.arange(200) % 20 == 7, 99, column) for name, column in ratings.items()}
    blank = {name: [None if value == 99 else int(value) for value in column] for name, column in coded.items()}
    fit = fit_categories({"subject": subject, **coded})
    assert fit.items["categories"].to_list() == [5, 5, 5, 5]
    assert ("outcomes of 99", 40, "outside the other outcomes (1 to 5): read as missing") in fit.log.rows()
    other = fit_categories({"subject": subject, **blank})
    assert fit.categories.equals(other.categories)
    both = fit_dimensions(
        {"subject": subject, **coded}, {"item": list(coded), "dimension": list("aabb")}, model="graded"
    )
    assert both.intercepts["category"].n_unique() == 4


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (range(10), range(10)),  # 7, 8 and 9 belong to ratings from 0 to 9
        (range(1, 8), range(1, 8)),
        ((-2, -1, 0, 1, 2), (-2, -1, 0, 1, 2)),
        ((1, 2, 3, 4, 5, 8, 9), (1, 2, 3, 4, 5)),
        ((1, 2, 3, 4, 5, 97, 98, 99), (1, 2, 3, 4, 5)),
        ((0, 1, 2, -8, -9), (0, 1, 2)),
        ((9, 99), (9, 99)),
    ],
)
def test_a_number_within_reach_of_the_ratings_is_a_rating(values, kept):
    values = [*values]
    frame = {"subject": [f"s{k}" for k in range(len(values))], "q1": values, "q2": values[::-1]}
    table = read_categories(frame)
    assert table.codes.filter(pl.col("item") == "q1")["value"].to_list() == sorted(kept)


def test_a_number_just_beyond_the_ratings_is_asked_about():
    values = [1, 2, 3, 4, 5, 6, 7, 9]
    frame = {"subject": [f"s{k}" for k in range(8)], "q1": values, "q2": values[::-1]}
    with pytest.raises(MensuraError, match=r"outcomes 9 lie apart .* --set absent=9, or --set absent=none"):
        read_categories(frame)


@pytest.mark.parametrize("word", ["NA", ".", "n/a", "", "nan", "-"])
def test_words_for_missing_values_are_no_outcomes(word, tmp_path):
    frame = pl.DataFrame(SUBJECT | {"q1": ["1", "0", word, "1"], "q2": ["0", word, "1", "1"]})
    expected = read_responses(SUBJECT | {"q1": [1, 0, None, 1], "q2": [0, None, 1, 1]})
    frame.write_csv(tmp_path / "a.csv")
    for source in (frame, tmp_path / "a.csv"):
        assert outcomes(read_responses(source)) == outcomes(expected)
    long = frame.unpivot(index="subject", variable_name="item", value_name="correct")
    assert outcomes(read_responses(long)) == outcomes(expected)


def test_names_that_are_numbers_stay_as_they_are_written():
    table = read_responses({"subject": ["007", "7"], "q1": ["1", "0"], "q2": ["0", "1"]})
    assert table.subjects["subject"].to_list() == ["007", "7"]


def test_columns_about_people_are_taken_from_any_format(tmp_path):
    frame = WIDE.with_columns(weight=pl.Series([1.0, 2.0, 1.0, 2.0]))
    rows = [json.dumps(row) for row in frame.iter_rows(named=True)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows), encoding="utf-8")
    rest, people = take_columns([tmp_path / "a.jsonl"], ["weight"], columns="subject=pupil")
    assert people.rows() == [("a", 1.0), ("b", 2.0), ("c", 1.0), ("d", 2.0)]
    assert outcomes(read_responses(rest, columns="subject=pupil")) == EXPECTED


def test_lines_of_a_harness_log_and_of_a_table_are_told_apart(tmp_path):
    (tmp_path / "lab__m").mkdir()
    log = tmp_path / "lab__m" / "samples_arc.jsonl"
    log.write_text('{"doc_id": 1, "acc": 1.0}\n{"doc_id": 2, "acc": 0.0}\n', encoding="utf-8")
    assert read_responses(log).subjects["subject"].to_list() == ["lab__m"]
    table = tmp_path / "table.jsonl"
    table.write_text(
        '{"model": "m", "doc_id": 1, "acc": 1.0}\n{"model": "m", "doc_id": 2, "acc": 0.0}\n', encoding="utf-8"
    )
    assert outcomes(read_responses(table)) == {("m", "1"): (1.0, 1), ("m", "2"): (0.0, 1)}


def test_a_wide_table_is_cut_into_long_answers_of_bounded_size(monkeypatch):
    monkeypatch.setattr("mensura.intake.answers.BATCH", 1)
    (wide,) = read_answers(WIDE, columns="subject=pupil", log=AnswerLog())
    assert isinstance(wide, WideAnswers)
    parts = list(wide.long())
    assert len(parts) == 2
    assert pl.concat(parts).height == 12


def test_a_command_maps_columns(mensura_command, tmp_path):
    LONG.write_csv(tmp_path / "a.csv")
    run = mensura_command("responses", "read", tmp_path / "a.csv", "--map", "subject=pupil,item=task,correct=points")
    assert run.code == 0, run.err
    assert "12 responses: 4 subjects (4 all) × 3 items" in run.out
    refused = mensura_command("responses", "read", tmp_path / "a.csv", "--map", "subject=child")
    assert refused.code == 2
    assert "no such column; expected one of pupil, task, points" in refused.err


def noted(source, **options):
    """The answers of a source, one after another, and the notes on them."""
    log = AnswerLog()
    return list(read_answers(source, log=log, **options)), log.frame().rows()


def test_a_matrix_of_numbers_has_a_subject_per_row_and_an_item_per_column():
    (wide,), notes = noted(np.array([[1, 0], [np.nan, 1], [0, 1], [1, 1]]))
    assert (wide.subjects.to_list(), wide.groups, wide.items) == (list("1234"), ["all"] * 4, ["item 1", "item 2"])
    assert np.array_equal(wide.values, [[1, 0], [np.nan, 1], [0, 1], [1, 1]], equal_nan=True)
    assert notes == [("subjects", 4, "no column names them: each row is one, by its number")]


def test_two_sources_without_names_could_be_the_same_subjects():
    log = AnswerLog()
    list(read_answers({"q1": [1, 0, 1], "q2": [0, 1, 1]}, log=log))
    with pytest.raises(MensuraError, match=r"no column says who answered, nor in responses\. Add subject to both"):
        list(read_answers({"q1": [1, 0, 1], "q2": [0, 1, 1]}, log=log))


def test_a_column_of_different_values_may_be_names():
    with pytest.raises(MensuraError, match="no column says who answered"):
        noted({"code": [11, 12, 13], "q1": [1, 0, 1]})
    (wide,), _ = noted({"code": [11, 12, 11], "q1": [1, 0, 1]})
    assert wide.items == ["code", "q1"]


def test_long_answers_have_groups_trials_and_blanks():
    rows = {
        "subject": ["a", "b", "c"],
        "item": ["q", "q", "q"],
        "correct": [0.5, None, 1],
        "n": [4, 2, 3],
        "group": ["x", None, "y"],
        "site": ["s", "s", None],
    }
    (long,), _ = noted(rows, group="rest")
    assert long.columns == ["subject", "group", "item", "value", "n"]
    assert long.rows() == [("a", "x", "q", 0.5, 4), ("b", "rest", "q", None, 2), ("c", "y", "q", 1.0, 3)]
    (by_site,), notes = noted(rows, by="site")
    assert by_site["group"].to_list() == ["s", "s"]
    assert notes == [("rows without site", 1, "left out")]
    (plain,), _ = noted({"subject": ["a"], "item": ["q"], "correct": [1]})
    assert plain.rows() == [("a", "all", "q", 1.0, 1)]


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        ("correct", ["1", "maybe"], "correct: 1 outcomes are no numbers, such as 'maybe'; expected 0"),
        ("n", ["1", "some"], "n: 1 counts are no whole numbers, such as 'some'; expected how often"),
    ],
)
def test_words_among_outcomes_and_counts_are_named(column, cells, message):
    rows = {"subject": ["a", "b"], "item": ["q", "q"], "correct": ["1", "0"], "n": ["1", "2"], column: cells}
    with pytest.raises(MensuraError) as refusal:
        noted(rows)
    assert str(refusal.value).startswith(message)


def test_wide_answers_leave_groups_and_facts_about_people_out_of_the_items():
    rows = {"subject": ["a", "b"], "group": ["x", None], "sex": ["f", "m"], "q1": [1, 0]}
    (wide,), notes = noted(rows)
    assert (wide.items, wide.groups) == (["q1"], ["x", "all"])
    assert notes == [("column sex", 1, "named like a fact about people: left out; if an item, say --set items=…")]
    with pytest.raises(MensuraError, match="column 'remark' holds no outcomes; a wide table has 'subject'"):
        noted(SUBJECT | {"remark": ["good", "x", "y", "z"], "q1": [1, 0, 1, 0]})
    with pytest.raises(MensuraError, match="no column of an item next to 'subject'"):
        noted(SUBJECT)
    (blank,), _ = noted(SUBJECT | {"q1": [1, 0, 1, 0], "q2": pl.Series([None] * 4, dtype=pl.String)})
    assert blank.items == ["q1", "q2"]


def test_by_must_be_a_column_of_some_source():
    log = AnswerLog()
    list(read_answers(SUBJECT | {"q1": [1, 0, 1, 0], "school": ["x", "x", None, "y"]}, by="school", log=log))
    log.require_group("school")
    log.require_group(None)
    with pytest.raises(MensuraError, match="by: no source has a column 'class'"):
        log.require_group("class")


def test_notes_of_one_kind_are_added_up():
    log = AnswerLog()
    for count in (2, 0, 3):
        log.note("rows", count, "left out")
    log.note("files", 0, "none")
    assert log.frame().rows() == [("rows", 5, "left out")]


def test_a_folder_of_parquet_files_is_read_file_by_file(tmp_path):
    long = LONG.rename({"pupil": "subject", "task": "item", "points": "correct"})
    long[:5].write_parquet(tmp_path / "a.parquet")
    long[5:].write_parquet(tmp_path / "b.parquet")
    parts, _ = noted(tmp_path)
    assert [part.height for part in parts] == [5, 7]
    WIDE.rename({"pupil": "subject"}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(MensuraError, match=r"b\.parquet: no columns subject, item and correct"):
        noted(tmp_path)
    (tmp_path / "a.parquet").unlink()
    ((wide,), _) = noted(tmp_path)
    assert wide.items == ["q1", "q2", "q3"]
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(MensuraError, match="unknown folder; expected a pool of people"):
        noted(tmp_path)


def test_a_file_without_a_header_has_names_in_its_first_column_or_none(tmp_path):
    (tmp_path / "named.csv").write_text("ann,1,0\nbob,0,1\n")
    ((wide,), _) = noted(tmp_path / "named.csv", header=False)
    assert (wide.subjects.to_list(), wide.items, wide.values.tolist()) == (
        ["ann", "bob"],
        ["V2", "V3"],
        [[1, 0], [0, 1]],
    )
    (tmp_path / "bare.csv").write_text("1,0\n0,1\n1,1\n")
    ((wide,), notes) = noted(tmp_path / "bare.csv", header=False)
    assert (wide.subjects.to_list(), wide.items) == (["1", "2", "3"], ["V1", "V2"])
    assert notes == [("subjects", 3, "no column names them: each row is one, by its number")]


@pytest.fixture
def few_columns(monkeypatch):
    """Let tables of three columns and more count as very wide, which are read into one array."""
    monkeypatch.setattr("mensura.intake.matrices.LEAST_COLUMNS", 2)


@pytest.mark.usefixtures("few_columns")
def test_a_very_wide_file_is_read_as_any_other(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("subject,school,q1,q2,q3\na,x,1,0,99\nb,,0,1,1\nc,y,1,,0\n")
    ((wide,), notes) = noted(path, by="school")
    assert (wide.subjects.to_list(), wide.groups, wide.items) == (["a", "c"], ["x", "y"], ["q1", "q2", "q3"])
    assert np.array_equal(wide.values, [[1, 0, np.nan], [1, np.nan, 0]], equal_nan=True)
    assert notes == [
        ("outcomes of 99", 1, "outside the other outcomes (0 to 1): read as missing"),
        ("rows without school", 1, "left out"),
    ]
    path.write_text("subject,group,q1,q2\na,x,1,0\nb,,0,1\n")
    assert noted(path, group="rest")[0][0].groups == ["x", "rest"]
    path.write_text("subject;q1;q2;q3\na;1;0;1\n")
    ((wide,), notes) = noted(path)
    assert (wide.groups, notes) == (["all"], [("files", 1, "columns separated by semicolon")])
    path.write_text("1,0,1\n0,1,1\n")
    ((wide,), notes) = noted(path, header=False)
    assert (wide.subjects.to_list(), wide.items) == (["1", "2"], ["V1", "V2", "V3"])
    assert notes[0][:2] == ("subjects", 2)
    path.write_text("ann,1,0,1\nbob,0,1,1\n")
    ((wide,), _) = noted(path, header=False)
    assert (wide.subjects.to_list(), wide.items) == (["ann", "bob"], ["V2", "V3", "V4"])


def test_the_column_of_subjects_is_known_or_asked_for():
    assert subject_column(["x", "Pupil ID", "subject"], "t.csv") == "subject"
    assert subject_column(["who", "q1"], "t.csv", "subject=who") == "who"
    titles = [f"q{number}" for number in range(1, 9)]
    with pytest.raises(MensuraError, match=r"it has q1, q2, q3, q4, q5, q6, q7, q8\. Rename"):
        subject_column(titles, "t.csv")
    with pytest.raises(MensuraError, match=r"q7, q8 …\. Rename"):
        subject_column([*titles, "q9"], "t.csv")


def test_answers_that_are_one_table_can_be_had_as_it(tmp_path):
    assert read_answer_table(np.array([[1, 0]])).frame.rows() == [(1, 0)]
    WIDE.write_csv(tmp_path / "a.csv")
    assert read_answer_table(tmp_path / "a.csv").frame.shape == (4, 4)
    assert read_answer_table(tmp_path) is None
    assert read_answer_table("https://a.org/t.parquet") is None
    (tmp_path / "a.eval").write_bytes(b"")
    assert read_answer_table(tmp_path / "a.eval") is None
