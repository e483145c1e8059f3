"""A broken table is refused: file, row, column, value and what was expected, all faults at once."""

import shutil

import pytest

import mensura
from mensura.evidence import EMBEDDED, TABLES, EvidenceError

BREAKS = {
    # table: (column, bad value, words the message must hold)
    "models": ("released", "June 2026", "a date such as 2026-09-30"),
    "benchmarks": ("unit", "points", "one of percent, fraction, elo, index, composite"),
    "scores": ("score", "180", "a index from -100 to 100"),
    "ladders": ("iq85", "-50", "a ladder must rise"),
    "eq_ladders": ("eq", "high", "a number from 0 to 250"),
    "human_references": ("status", "guess", "one of measured, estimated, constructed"),
    "costs": ("value", "-3", "a number of at least 0"),
    "sources": ("name", "", "not an empty cell"),
    "demand_outcomes": ("correct", "99999", "at most n"),
    "bases": ("slope", "steep", "a number"),
    "validations": ("mae", "1.7", "a number from 0 to 1"),
    "policy": ("display", "maybe", "one of show, hide"),
    "aliases": ("subject", "no-such-model", "a subject listed in models.csv"),
    "chart_rules": ("value", "two", "a whole number"),
}


REQUIRED = {
    "models": {"subject", "name", "provider", "released", "reasoning"},
    "benchmarks": {"benchmark", "name", "kind", "unit", "in_composite"},
    "scores": {"subject", "benchmark", "score", "unit", "source"},
    "ladders": {"set", "benchmark", *(f"iq{level}" for level in (70, 85, 100, 115, 130, 145, 160))},
    "eq_ladders": {"benchmark", "score", "eq"},
    "human_references": {"benchmark", "group", "score", "unit", "status", "source"},
    "costs": {"subject", "metric", "value", "unit", "source"},
    "sources": {"source", "name"},
    "demand_outcomes": {"subject", "dimension", "level", "n", "correct"},
    "bases": {"dimension", "slope", "intercept"},
    "validations": {"pool", "task", "method"},
    "policy": {"subject"},
    "aliases": {"alias"},
    "chart_rules": {"setting", "value"},
}


@pytest.fixture
def folder(tmp_path):
    """A copy of the embedded evidence."""
    for name in TABLES:
        shutil.copy(EMBEDDED / f"{name}.csv", tmp_path)
    (tmp_path / "policy.csv").write_text(f"{','.join(TABLES['policy'].dtypes)}\ngpt-5,hidden,,,,\n")
    return tmp_path


def edit(folder, table, column, value, row=0):
    """Overwrite one cell of a table of the copy; row 0 is the first below the header."""
    import polars as pl

    file = folder / f"{table}.csv"
    frame = pl.read_csv(file, infer_schema=False)
    cells = frame[column].to_list()
    cells[row] = value or None
    frame.with_columns(pl.Series(column, cells, dtype=pl.String)).write_csv(file)


@pytest.mark.parametrize("value", ["2026-13-45", "2026-02-30", "2026-13"])
def test_a_score_of_an_impossible_day_is_refused(folder, value):
    edit(folder, "scores", "date", value)
    with pytest.raises(EvidenceError, match=f"column date: got '{value}'; expected a day or a month, such as 2026-09"):
        mensura.load(folder)


@pytest.mark.parametrize("value", ["2026-02-28", "2026-02", "2026", "spring 2026", ""])
def test_a_day_a_month_and_words_for_them_are_taken(folder, value):
    edit(folder, "scores", "date", value)
    assert mensura.load(folder).scores["date"][0] == (value or None)


@pytest.mark.parametrize("table", TABLES)
def test_each_table_broken_once_is_refused(folder, table):
    column, value, words = BREAKS[table]
    edit(folder, table, column, value)
    with pytest.raises(EvidenceError) as refusal:
        mensura.load(folder)
    [fault] = [fault for fault in refusal.value.faults if fault.file.endswith(f"{table}.csv") and fault.row == 2][:1]
    assert (fault.column, fault.value) == (column, value)
    assert words in str(refusal.value)


@pytest.mark.parametrize("table", TABLES)
def test_every_column_that_is_required_is_missed(folder, table):
    wanted = {column.name for column in TABLES[table].columns if column.required}
    for column in wanted:
        edit(folder, table, column, "")
    with pytest.raises(EvidenceError) as refusal:
        mensura.load(folder)
    empty = [fault for fault in refusal.value.faults if fault.expected.endswith("not an empty cell")]
    assert {fault.column for fault in empty} == wanted == REQUIRED[table]
    assert all(fault.file.endswith(f"{table}.csv") and fault.row == 2 for fault in empty)


def test_all_faults_are_listed_at_once(folder):
    edit(folder, "models", "released", "soon")
    edit(folder, "scores", "benchmark", "gpqa_dimond", row=5)
    edit(folder, "costs", "unit", "euros", row=3)
    with pytest.raises(EvidenceError) as refusal:
        mensura.load(folder)
    message = str(refusal.value)
    assert len(refusal.value.faults) == 3
    assert message.startswith("evidence refused, 3 faults; nothing was loaded or changed\n")
    assert "scores.csv, row 7, column benchmark: got 'gpqa_dimond'" in message
    assert "did you mean 'gpqa_diamond'?" in message


def test_unit_that_does_not_convert_and_percentage_given_as_fraction(folder):
    edit(folder, "scores", "unit", "elo")
    edit(folder, "scores", "unit", "fraction", row=200)
    with pytest.raises(EvidenceError) as refusal:
        mensura.load(folder)
    assert "expected index, the unit of this benchmark" in str(refusal.value)
    assert "a fraction from 0 to 1" in str(refusal.value)


def test_duplicates_second_primary_and_circles_are_named(folder):
    import polars as pl

    edit(folder, "models", "predecessor", "claude-opus-4.8", row=2)  # which descends from this model
    edit(folder, "scores", "score", "much", row=9)  # one fault in a table hides no other
    file = folder / "scores.csv"
    frame = pl.read_csv(file, infer_schema=False)
    pl.concat([frame, frame.head(1)]).write_csv(file)
    with pytest.raises(EvidenceError) as refusal:
        mensura.load(folder)
    message = str(refusal.value)
    assert "the predecessors form a circle" in message
    assert "each combination once" in message
    assert "got 'much'; expected a number" in message
    assert "at most one primary row" in message


@pytest.mark.parametrize(
    ("table", "cells", "words"),
    [
        ("benchmarks", {"chance": "50", "ceiling": "50"}, "column chance: got '50'; expected less than the ceiling"),
        ("benchmarks", {"chance": "-1"}, "column chance: got '-1'; expected a percent from 0 to 100"),
        ("benchmarks", {"items": "2.5"}, "column items: got '2.5'; expected a whole number of at least 1"),
        ("benchmarks", {"items": "0"}, "column items: got '0'; expected a whole number of at least 1"),
        ("benchmarks", {"items": "9007199254740993"}, "expected a whole number of at least 1"),
        ("models", {"tier": "6"}, "column tier: got '6'; expected a whole number from -20 to 5"),
        ("models", {"tier": "-21"}, "column tier: got '-21'; expected a whole number from -20 to 5"),
        ("models", {"reasoning": "maybe"}, "column reasoning: got 'maybe'; expected yes or no"),
        ("models", {"input_price": "inf"}, "column input_price: got 'inf'; expected a number of at least 0"),
        ("models", {"predecessor": "gpt-5.6"}, "a subject listed in models.csv (did you mean 'gpt-5.5'?)"),
        ("human_references", {"low": "99", "score": "50"}, "expected low ≤ score ≤ high"),
        ("human_references", {"high": "1", "score": "50"}, "expected low ≤ score ≤ high"),
        ("human_references", {"high": "101"}, "column high: got '101'; expected a percent from 0 to 100"),
        ("ladders", {"iq115": "x"}, "column iq115: got 'x'; expected a number"),
    ],
)
def test_values_that_cannot_be_are_named(folder, table, cells, words):
    for column, value in cells.items():
        edit(folder, table, column, value)
    with pytest.raises(EvidenceError) as refusal:
        mensura.load(folder)
    assert words in str(refusal.value)
    assert all(fault.row == 2 for fault in refusal.value.faults)


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        ("models", {"tier": "-20", "input_price": "0", "reasoning": "TRUE"}),
        ("models", {"tier": "5", "context_tokens": "1", "open_weights": "0"}),
        ("benchmarks", {"chance": "0", "ceiling": "100", "items": "9007199254740991"}),
    ],
)
def test_values_at_the_edge_are_accepted(folder, table, cells):
    for column, value in cells.items():
        edit(folder, table, column, value)
    row = getattr(mensura.load(folder), table).row(0, named=True)
    typed = {"TRUE": True, "0": False if "open_weights" in cells else 0.0}
    assert {column: row[column] for column in cells} == {
        column: typed[value] if value in typed else float(value) for column, value in cells.items()
    }


def test_missing_and_misspelt_columns(folder):
    file = folder / "models.csv"
    file.write_text(file.read_text().replace("released", "relaesed", 1))
    with pytest.raises(EvidenceError, match="column released: expected this column"):
        mensura.load(folder)
    with pytest.raises(EvidenceError, match="did you mean 'released'"):
        mensura.load(folder)
    file.write_text(file.read_text().replace("subject,", "model,", 1))
    with pytest.raises(EvidenceError) as refusal:
        mensura.load(folder)
    assert not any("each combination once" in fault.expected for fault in refusal.value.faults)


def test_wrong_place_and_wrong_encoding(tmp_path, folder):
    with pytest.raises(mensura.MensuraError, match="no folder or store at"):
        mensura.load(tmp_path / "nowhere")
    (folder / "scores.csv").unlink()
    with pytest.raises(mensura.MensuraError, match="lacks the table scores"):
        mensura.load(folder)
    (folder / "scores.csv").write_bytes("subject,benchmark\né,ü\n".encode("latin-1"))
    with pytest.raises(EvidenceError, match=r"got 'é'; expected a subject listed in models\.csv"):
        mensura.load(folder)
