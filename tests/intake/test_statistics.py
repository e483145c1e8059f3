"""Files as the large assessments publish them, written by the real libraries and read back."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.persons import split_persons
from mensura.intake.statistics import FixedField, FixedLayout, read_layout
from mensura.intake.tables import read_noted

SPSS = """* This syntax reads the text file.
SET decimal=dot.
DATA LIST FILE = 'C:\\XXX\\INT_COG.txt'/
   CNT           1\t-\t3     (A)
   STIDSTD       4 - 6   (A)
   BOOKID        7 -  8  (F,0)
   W_FSTUWT      9 - 13 (F,2)
   M033Q01       14 -14  (A)
   M155Q02D      15
.
EXECUTE.
VARIABLE LABELS
   CNT   "Country code"
   M033Q01 "MATH - P2000 A View Room (Q01)"
.
VALUE LABELS
   /M033Q01 to M155Q02D
     '0' 'Score 0' '1' 'Score 1' '7' 'N/A' '8' 'Not reached'.
"""
SAS_COLUMNS = """data cog; infile cogdata lrecl=15;
input
  CNT $ 1 - 3
  STIDSTD $ 4-6
  BOOKID 7-8
  W_FSTUWT 9-13 .2
  M033Q01 $ 14
  M155Q02D 15
;
label CNT = "Country code" M033Q01 = "MATH - P2000 A View Room (Q01)";
run;
"""
SAS_POINTERS = """INPUT
  @  1 CNT $ 3.
  @  4 STIDSTD $ 3.
  @  7 BOOKID 2.
  @  9 W_FSTUWT 5.2
  @ 14 M033Q01 $ 1.
  @ 15 M155Q02D 1.
;
LABEL CNT = 'Country code' M033Q01 = 'MATH - P2000 A View Room (Q01)';
"""
RECORDS = "AUS001 1  12510\nAUS002 3  10081\nBEL001 1   9571\n"


@pytest.mark.parametrize("control", [SPSS, SAS_COLUMNS, SAS_POINTERS])
def test_fixed_width_by_its_control_file(tmp_path, control):
    (tmp_path / "cog.txt").write_text(RECORDS)
    (tmp_path / "cog.sps").write_text(control)
    raw = read_noted(tmp_path / "cog.txt", layout=tmp_path / "cog.sps")
    assert raw.frame.columns == ["CNT", "STIDSTD", "BOOKID", "W_FSTUWT", "M033Q01", "M155Q02D"]
    assert raw.frame["CNT"].to_list() == ["AUS", "AUS", "BEL"]
    assert raw.frame["STIDSTD"].to_list() == ["001", "002", "001"]
    assert raw.frame["BOOKID"].to_list() == [1.0, 3.0, 1.0]
    assert raw.frame["W_FSTUWT"].to_list() == pytest.approx([1.25, 1.0, 0.95])
    assert raw.frame["M033Q01"].to_list() == ["1", "8", "7"]
    assert raw.frame["M155Q02D"].to_list() == [0.0, 1.0, 1.0]
    assert raw.labels["M033Q01"] == "MATH - P2000 A View Room (Q01)"
    answers, persons = split_persons(raw, ["M033Q01"], ["CNT", "STIDSTD"], ["CNT"])
    assert answers["person"].to_list() == ["AUS-001", "AUS-002", "BEL-001"]
    assert persons.columns == ["person", "CNT"]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ("AUS001 1  12510\nAUS002 3\n", "line 2 has 8 characters and the layout needs 15"),
        ("AUS001 x  12510\n", "line 1, BOOKID: 'x' is not a number"),
        ("\n\n", "no records"),
    ],
)
def test_torn_records_are_refused_by_line(tmp_path, records, message):
    (tmp_path / "cog.txt").write_text(records)
    (tmp_path / "cog.sps").write_text(SPSS)
    with pytest.raises(MensuraError, match=message):
        read_noted(tmp_path / "cog.txt", layout=tmp_path / "cog.sps")


@pytest.mark.parametrize(
    ("control", "message"),
    [
        ("select all cases.", "not a control file; expected an SPSS DATA LIST or a SAS INPUT"),
        ("DATA LIST FILE='x' / .\n", "lists no variables"),
        ("DATA LIST FILE='x' / A 1-2 A 3-4 .\n", "'A' is listed twice"),
        ("DATA LIST FILE='x' / A 4-2 .\n", "has columns 4 to 2"),
    ],
)
def test_control_files_that_make_no_sense_are_refused(tmp_path, control, message):
    (tmp_path / "c.sps").write_text(control)
    with pytest.raises(MensuraError, match=message):
        read_layout(tmp_path / "c.sps")


def test_a_layout_keeps_its_own_rules_however_it_is_made():
    good = FixedField("A", 1, 2, text=True)
    assert FixedLayout((good, FixedField("B", 5, 9, text=False))).width == 9
    with pytest.raises(MensuraError, match="lists no variables"):
        FixedLayout(())
    with pytest.raises(MensuraError, match="'A' is listed twice"):
        FixedLayout((good, good))
    with pytest.raises(MensuraError, match="'A' has columns 0 to 2"):
        FixedField("A", 0, 2, text=True)


def test_a_record_ends_at_a_line_feed_alone(tmp_path):
    """0x85 is an ellipsis in a common Windows encoding, and a line break to Unicode."""
    (tmp_path / "c.sps").write_text("DATA LIST FILE='x' / A 1-3 (A) B 4 .\n")
    (tmp_path / "d.txt").write_bytes(b"a\x85b1\nxyz2\n")
    found = read_noted(tmp_path / "d.txt", layout=tmp_path / "c.sps", encoding="latin-1").frame
    assert found["B"].to_list() == [1.0, 2.0]


def test_wrong_encoding_says_how_to_name_it(tmp_path):
    (tmp_path / "cog.txt").write_bytes("ÅUS001 1  12510\n".encode("latin-1"))
    (tmp_path / "cog.sps").write_text(SPSS)
    with pytest.raises(MensuraError, match="name its encoding, for example latin-1"):
        read_noted(tmp_path / "cog.txt", layout=tmp_path / "cog.sps")
    assert read_noted(tmp_path / "cog.txt", layout=tmp_path / "cog.sps", encoding="latin-1").frame["CNT"][0] == "ÅUS"


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
    with pytest.raises(MensuraError, match="needs its control file"):
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
