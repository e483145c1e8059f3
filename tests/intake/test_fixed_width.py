"""Text of fixed width, as PISA published it until 2012: a tool makes a table of it, which an import reads."""

import numpy as np
import pytest

from mensura import ItemPool
from mensura.core.errors import MensuraError
from mensura.intake.persons import split_persons
from mensura.intake.tables import NotedTable
from tools.fixed_width import FixedField, FixedLayout, main, read_fixed_width, read_layout

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
    layout = read_layout(tmp_path / "cog.sps")
    raw = NotedTable(read_fixed_width(tmp_path / "cog.txt", layout), labels=layout.labels)
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
        read_fixed_width(tmp_path / "cog.txt", read_layout(tmp_path / "cog.sps"))


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
    found = read_fixed_width(tmp_path / "d.txt", read_layout(tmp_path / "c.sps"), encoding="latin-1")
    assert found["B"].to_list() == [1.0, 2.0]


def test_wrong_encoding_says_how_to_name_it(tmp_path):
    (tmp_path / "cog.txt").write_bytes("ÅUS001 1  12510\n".encode("latin-1"))
    (tmp_path / "cog.sps").write_text(SPSS)
    with pytest.raises(MensuraError, match="name its encoding, for example latin-1"):
        read_fixed_width(tmp_path / "cog.txt", read_layout(tmp_path / "cog.sps"))
    layout = read_layout(tmp_path / "cog.sps")
    assert read_fixed_width(tmp_path / "cog.txt", layout, encoding="latin-1")["CNT"][0] == "ÅUS"


def test_import_of_a_fixed_width_file(mensura_command, tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    lines = [
        f"{'AUS' if row % 2 else 'BEL'}{row:03d}{rng.choice(['0', '1', '7', '8'])}{rng.choice(['0', '1', '2'])}"
        for row in range(200)
    ]
    (tmp_path / "cog.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "cog.sps").write_text(
        "DATA LIST FILE='x.txt' /\n CNT 1 - 3 (A)\n ID 4 - 6 (A)\n M1 7 - 7 (A)\n M2 8 - 8 (A)\n.\nEXECUTE.\n"
    )
    files = [str(tmp_path / name) for name in ("cog.txt", "cog.sps", "table")]
    monkeypatch.setattr("sys.argv", ["fixed_width", *files])
    main()
    arguments = ["--items", "^M", "--person", "CNT,ID", "--covariates", "CNT"]
    run = mensura_command(
        "people",
        "import",
        tmp_path / "table/answers.parquet",
        *arguments,
        "--absent",
        "7,8",
        "--set",
        "year=2009",
        "--set",
        "mode=paper",
        "--out",
        tmp_path / "pool",
    )
    assert run.code == 0
    pool = ItemPool.read(tmp_path / "pool")
    assert (pool.administration.year, pool.administration.language, pool.administration.mode) == (2009, None, "paper")
    right = sum(line[7] == "2" for line in lines)
    assert pool.rates_of("all").row(1)[:3] == ("M2", 200, right)
    assert pool.rates_of("all")["n"][0] == sum(line[6] in "01" for line in lines)
    assert set(pool.groups["group"]) == {"all", "CNT=AUS", "CNT=BEL"}
