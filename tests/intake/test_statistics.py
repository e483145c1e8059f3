"""Files as the large assessments publish them, written by the real libraries and read back."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.persons import split_persons
from mensura.intake.tables import read_noted


def test_spss_keeps_codes_of_missing_answers_and_labels(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    table = pd.DataFrame({"CNT": ["AUS", "BEL", ""], "M1": [1.0, 7.0, float("nan")], "W": [1.5, 2.0, 1.0]})
    pyreadstat.write_sav(
        table, str(tmp_path / "cog.sav"), column_labels=["Country", "Room", "Weight"], missing_ranges={"M1": [7]}
    )
    raw = read_noted(tmp_path / "cog.sav", keep_missing=True)
    assert raw.frame["M1"].to_list() == [1, 7, None]
    assert read_noted(tmp_path / "cog.sav").frame["M1"].to_list() == [1, None, None]
    assert raw.frame["CNT"].to_list() == ["AUS", "BEL", None]
    assert raw.labels["M1"] == "Room"


def test_r_data_frames_with_factors_and_missing_values(tmp_path):
    rdata = pytest.importorskip("rdata")
    table = pd.DataFrame(
        {
            "sex": pd.Categorical(["f", "m", "f"]),
            "q1": [1.0, 0.0, float("nan")],
            "q2": [1, 1, 0],
            "q3": pd.array([1, None, 0], dtype="Int32"),
        }
    )
    rdata.write_rda(tmp_path / "one.rda", {"answers": table})
    raw = read_noted(tmp_path / "one.rda")
    assert raw.frame["sex"].to_list() == ["f", "m", "f"]
    assert raw.frame["q3"].to_list() == [1, None, 0]
    assert raw.frame["q1"].to_list() == [1, 0, None]
    rdata.write_rds(tmp_path / "one.rds", table)
    assert read_noted(tmp_path / "one.rds").frame["q2"].to_list() == [1, 1, 0]


def test_an_r_matrix_is_a_table_and_a_vector_is_none(tmp_path):
    rdata = pytest.importorskip("rdata")
    rdata.write_rds(tmp_path / "matrix.rds", np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    frame = read_noted(tmp_path / "matrix.rds").frame
    assert frame.columns == ["V1", "V2"]
    assert frame["V2"].to_list() == [0, 1, 1]
    rdata.write_rds(tmp_path / "vector.rds", np.array([1.0, 0.0]))
    with pytest.raises(MensuraError, match="expected a data frame or matrix"):
        read_noted(tmp_path / "vector.rds")


def test_r_files_with_several_objects_ask_which(tmp_path):
    rdata = pytest.importorskip("rdata")
    table = pd.DataFrame({"q1": [1.0, 0.0]})
    rdata.write_rda(tmp_path / "two.rda", {"a": table, "b": table})
    with pytest.raises(MensuraError, match="holds a, b; say which object"):
        read_noted(tmp_path / "two.rda")
    assert read_noted(tmp_path / "two.rda", part="b").frame.height == 2
    with pytest.raises(MensuraError, match="no object 'c'"):
        read_noted(tmp_path / "two.rda", part="c")


@pytest.mark.parametrize("name", ["torn.sav", "torn.rda", "torn.rds"])
def test_damaged_files_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x00\x01 not what the name says")
    with pytest.raises(MensuraError, match="not a readable"):
        read_noted(tmp_path / name)


def test_unknown_formats_and_columns_say_what_is_known(tmp_path):
    with pytest.raises(MensuraError, match="no such file"):
        read_noted(tmp_path / "none.csv")
    (tmp_path / "a.xls").write_text("")
    with pytest.raises(MensuraError, match="not a readable spreadsheet"):
        read_noted(tmp_path / "a.xls")
    (tmp_path / "a.dat").write_text("1")
    with pytest.raises(MensuraError, match="text of fixed width"):
        read_noted(tmp_path / "a.dat")
    pl.DataFrame({"q": [1]}).write_csv(tmp_path / "a.csv")
    with pytest.raises(MensuraError, match="no column 'r'"):
        split_persons(read_noted(tmp_path / "a.csv"), ["r"])


def test_one_reader_takes_spreadsheets_stata_arrow_and_json(tmp_path):
    frame = pl.DataFrame({"subject": ["a", "b"], "q1": [1, 0], "q2": [None, 1]})
    frame.write_ipc(tmp_path / "t.arrow")
    frame.write_ndjson(tmp_path / "t.jsonl")
    (tmp_path / "t.json").write_text(json.dumps(frame.to_dicts()))
    pytest.importorskip("xlsxwriter")
    frame.write_excel(tmp_path / "t.xlsx")
    pytest.importorskip("pyreadstat").write_dta(frame.to_pandas(), str(tmp_path / "t.dta"))
    for name in ("t.arrow", "t.jsonl", "t.json", "t.xlsx", "t.dta"):
        assert read_noted(tmp_path / name).frame.to_dicts() == frame.to_dicts(), name


def test_a_spreadsheet_with_two_tables_asks_which(tmp_path):
    workbook = pytest.importorskip("xlsxwriter").Workbook(str(tmp_path / "two.xlsx"))
    for name in ("scores", "notes"):
        workbook.add_worksheet(name).write_column(0, 0, ["a", 1])
    workbook.close()
    with pytest.raises(MensuraError, match=r"2 sheets hold a table \(scores, notes\)"):
        read_noted(tmp_path / "two.xlsx")
    assert read_noted(tmp_path / "two.xlsx", part="notes").frame["a"].to_list() == [1]
