"""No exported cell is a formula to a spreadsheet, and what we write reads back the same."""

import polars as pl
import pytest
from hypothesis import given, strategies as st

import mensura
from mensura.cli import output
from mensura.core.files import write_csv
from mensura.core.frames import neutral_cells, read_csv

FORMULAS = [
    "\n=1",
    "  =1+1",
    "＝1+1",
    "　＋1",
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "-",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_written_as_text_and_read_back(text, tmp_path):
    write_csv(pl.DataFrame({"name": [text, "plain"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[1].strip('"').startswith("'")
    assert read_csv(tmp_path / "t.csv", infer_schema=False)["name"].to_list() == [text, "plain"]


@given(st.lists(st.text(alphabet="=+-@'1a .\t", min_size=1, max_size=6), min_size=1, max_size=5))
def test_every_text_survives_the_way_out_and_in(texts):
    frame = pl.DataFrame({"name": texts})
    assert read_csv(neutral_cells(frame).write_csv(quote_style="always").encode(), infer_schema=False).equals(frame)


def test_numbers_stay_numbers(tmp_path):
    write_csv(pl.DataFrame({"value": [-1.5, 2.0], "text": ["-20", "+3"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == "value,text\n-1.5,-20\n2.0,+3\n"


def test_a_hostile_note_leaves_as_text_and_the_evidence_as_it_was(tmp_path):
    row = {"subject": ["gpt-5.5"], "benchmark": ["hle"], "score": ["40%"], "note": ["=1+1"]}
    evidence = mensura.load().add(pl.DataFrame(row))
    evidence.save(tmp_path / "e")
    assert "'=1+1" in (tmp_path / "e" / "scores.csv").read_text(encoding="utf-8")
    assert mensura.load(tmp_path / "e").fingerprint == evidence.fingerprint
    output.write_tables(tmp_path / "out", {"t": pl.DataFrame({"a": ["=1+1"], "b": [-1.0]})}, writer="test")
    assert (tmp_path / "out" / "t.csv").read_text(encoding="utf-8") == "a,b\n'=1+1,-1.0\n"


def test_the_licences_of_the_fonts_are_in_the_package_beside_them():
    from importlib.resources import files

    fonts = files("mensura.site") / "static" / "fonts"
    for name in ("serif", "sans"):
        assert "SIL OPEN FONT LICENSE Version 1.1" in (fonts / f"{name}.LICENSE.txt").read_text(encoding="utf-8")
    assert sum((fonts / f"{name}.woff2").stat().st_size for name in ("serif", "sans")) <= 60_000
