"""What a cell may hold: the first and the last value of every bounded column, and of every unit of a score."""

import polars as pl
import pytest

from mensura.evidence import TABLES, EvidenceError, load
from mensura.evidence.checks import RawTable, check_table
from tests.ledger.small import write_small

RANGES = {
    "models": {"tier": (-20, 5), "input_price": (0, None), "output_price": (0, None), "context_tokens": (1, None)},
    "benchmarks": {"items": (1, None), "repeats": (1, None)},
    "scores": {"n": (1, None), "stderr": (0, None)},
    "eq_ladders": {"eq": (0, 250)},
    "human_references": {"n": (1, None)},
    "costs": {"value": (0, None)},
    "demand_outcomes": {"level": (0, 20), "n": (1, None), "correct": (0, None)},
    "bases": {"base": (0, None), "r_squared": (0, 1), "tested": (1, None)},
    "validations": {"n": (0, None), "mae": (0, 1), "rmse": (0, 1), "pearson": (-1, 1), "spearman": (-1, 1)},
    "policy": {"generation": (0, 50)},
}
UNITS = {"percent": (0, 100), "fraction": (0, 1), "elo": (0, 5000), "index": (-100, 100), "composite": (0, 100)}


def test_every_bounded_column_is_here():
    bounded = {
        name: {column.name for column in table.columns if column.low is not None or column.high is not None}
        for name, table in TABLES.items()
    }
    assert {name: columns for name, columns in bounded.items() if columns} == {
        name: set(columns) for name, columns in RANGES.items()
    }


@pytest.mark.parametrize(
    ("table", "column", "low", "high"),
    [(table, column, *ends) for table, columns in RANGES.items() for column, ends in columns.items()],
)
def test_a_bounded_cell_holds_its_ends_and_nothing_beyond(table, column, low, high):
    kind = next(one.kind for one in TABLES[table].columns if one.name == column)
    step = 1 if kind == "integer" else 0.001
    taken = [low, low + step] if high is None else [low, high]
    refused = [low - step] if high is None else [low - step, high + step]
    raw = RawTable("it.csv", pl.DataFrame({column: [str(value) for value in (*taken, *refused)]}))
    found = {fault.row for fault in check_table(raw, TABLES[table])[1] if fault.column == column and fault.row}
    assert found == {2 + len(taken) + place for place in range(len(refused))}


@pytest.mark.parametrize("unit", UNITS)
def test_a_score_lies_within_its_unit(unit, tmp_path):
    folder = write_small(tmp_path / "small")
    benchmarks, scores = folder / "benchmarks.csv", folder / "scores.csv"
    benchmarks.write_text(benchmarks.read_text().replace(",frontier,percent", f",frontier,{unit}"))
    low, high = UNITS[unit]
    for value, taken in ((low, True), (high, True), (low - 0.01, False), (high + 0.01, False)):
        scores.write_text(f"subject,benchmark,score,unit,primary,source\nbig-1,hle,{value},{unit},yes,lab\n")
        if taken:
            assert load(folder).scores["score"].to_list() == [value]
        else:
            with pytest.raises(EvidenceError, match=f"expected a {unit} from {low} to {high}"):
                load(folder)


def test_a_table_has_its_name_its_meaning_its_key_and_what_it_cannot_do_without():
    assert all(table.name == name and " " in table.about for name, table in TABLES.items())
    assert TABLES["scores"].key == ("subject", "benchmark", "source")
    needed = {column.name for column in TABLES["models"].columns if column.required}
    assert {"subject", "name", "provider", "released"} <= needed and "line" not in needed
    assert TABLES["models"].column("predecessor").references == "models.subject"
    assert TABLES["scores"].column("score").expected == "a number"
    assert TABLES["eq_ladders"].column("eq").expected == "a number from 0 to 250"
    assert TABLES["costs"].column("value").expected == "a number of at least 0"
    assert TABLES["scores"].column("unit").expected.startswith("one of percent, fraction")
