"""Tables that users bring are read in one way: packed, encoded, separated and written as they come."""

import bz2
import gzip
import lzma

import polars as pl
import pytest

from mensura import MensuraError
from mensura.intake import packed
from mensura.intake.tables import read_noted, read_table
from mensura.people import ItemPool
from mensura.responses import read_responses

PEOPLE = "subject;place;q1;q2\nann;Köln;1;0,5\nbob;Bonn;NA;0,25\ncid;Ulm;0;1\n"
FORMS = {
    "semicolons": PEOPLE.encode(),
    "tabs": PEOPLE.replace(";", "\t").encode(),
    "commas and quotes": PEOPLE.replace("0,5", '"0,5"').replace("0,25", '"0,25"').replace(";", ",").encode(),
    "UTF-8 with a mark": PEOPLE.encode("utf-8-sig"),
    "UTF-16": PEOPLE.encode("utf-16"),
    "UTF-16 without a mark": PEOPLE.encode("utf-16-le"),
    "Latin-1": PEOPLE.encode("latin-1"),
    "Windows lines": PEOPLE.replace("\n", "\r\n").encode(),
    "old Mac lines": PEOPLE.replace("\n", "\r").encode(),
    "blank rows": PEOPLE.replace("\nbob", "\n;;;\n\nbob").encode() + b";;;\n",
    "spaces": PEOPLE.replace(";", " ; ").encode(),
    "spare separators": PEOPLE.replace("\n", ";;\n").encode(),
    "gzip": gzip.compress(PEOPLE.encode()),
    "bzip2": bz2.compress(PEOPLE.encode()),
    "xz": lzma.compress(PEOPLE.encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_table(form, tmp_path):
    (tmp_path / "t.csv").write_bytes(FORMS[form])
    assert read_table(tmp_path / "t.csv").to_dict(as_series=False) == {
        "subject": ["ann", "bob", "cid"],
        "place": ["Köln", "Bonn", "Ulm"],
        "q1": [1, None, 0],
        "q2": [0.5, 0.25, 1.0],
    }


@pytest.mark.parametrize("form", FORMS)
def test_responses_of_every_form_are_the_same(form, tmp_path):
    (tmp_path / "t.csv").write_bytes(FORMS[form])
    found = read_responses(tmp_path / "t.csv", by="place")
    assert found.subjects.rows() == [("ann", "Köln", 2, 0.75), ("bob", "Bonn", 1, 0.25), ("cid", "Ulm", 2, 0.5)]


def test_choices_of_the_reader_are_said(tmp_path):
    (tmp_path / "t.csv").write_bytes(FORMS["Latin-1"])
    notes = ("read as Windows-1252 (it is not UTF-8)", "columns separated by semicolon", "decimal commas")
    assert read_noted(tmp_path / "t.csv").notes == notes
    assert set(notes) <= set(read_responses(tmp_path / "t.csv", by="place").log["rule"])


def test_words_for_missing_values_are_missing_in_columns_of_numbers_alone(tmp_path):
    (tmp_path / "t.csv").write_text("item,country,n,right\n007,NA,3,TRUE\n008,DE,n/a,NA\n", encoding="utf-8")
    found = read_table(tmp_path / "t.csv").to_dict(as_series=False)
    assert found == {"item": ["007", "008"], "country": ["NA", "DE"], "n": [3, None], "right": [True, None]}
    assert read_noted(tmp_path / "t.csv", codes=["n/a"]).frame["n"].to_list() == ["3", "n/a"]


def test_figures_with_points_keep_their_commas(tmp_path):
    """1,250 beside 0.5 parts thousands, so it is no decimal comma; nothing is guessed."""
    (tmp_path / "t.csv").write_text("a;b;c\n0.5;1,250;1,25\n0.7;2,500;2,5\n", encoding="utf-8")
    assert read_table(tmp_path / "t.csv")["b"].to_list() == ["1,250", "2,500"]
    (tmp_path / "t.csv").write_text("b;c\n1,250;1,25\n2,500;2,5\n", encoding="utf-8")
    assert read_table(tmp_path / "t.csv")["b"].to_list() == [1.25, 2.5]


def test_rows_keep_the_number_a_spreadsheet_gives_them(tmp_path):
    (tmp_path / "t.csv").write_text('\na,b\n1,"x\ny"\n\n2,z\n', encoding="utf-8")
    assert read_noted(tmp_path / "t.csv", row="row").frame["row"].to_list() == [3, 5]


@pytest.mark.parametrize("kind", [gzip, bz2, lzma])
def test_a_packed_table_is_measured_before_it_is_unpacked(kind, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_bytes(kind.compress(b"subject,q1\n" + b"a,1\n" * 2**18))
    monkeypatch.setattr(packed, "MOST_UNPACKED", 2**20 + 11)
    assert read_table(tmp_path / "t.csv").height == 2**18
    monkeypatch.setattr(packed, "MOST_UNPACKED", 2**20 + 10)
    for read in (read_table, read_responses):
        with pytest.raises(MensuraError, match=r"t.csv: 0.0 MB unpack to more than 1 MB.* Unpack it yourself"):
            read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gzip.compress(gzip.compress(b"a,b\n1,2\n", mtime=0), mtime=0), "packed by two programs"),
        (b"PK\x03\x04 and more", "packed by zip, or a spreadsheet"),
        (b"\x28\xb5\x2f\xfd and more", "packed by zstd"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "packed, but cannot be unpacked"),
        (b"", "no rows"),
        (b"a,b\n1,2\n3,4,5\n", "row 3: 3 cells under a header of 2; check for a missing quote"),
        (b"a,b,a\n1,2,3\n", "column 'a' is there twice; rename or drop one"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(data, words, tmp_path):
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(MensuraError, match=f"t.csv.*{words}"):
        read_table(tmp_path / "t.csv")


def test_a_table_with_too_many_values_is_refused(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    monkeypatch.setattr(packed, "MOST_VALUES", 5)
    with pytest.raises(MensuraError, match=r"at most 5 are read\. Keep the columns that are needed"):
        read_table(tmp_path / "t.csv")


def test_a_first_row_of_numbers_is_data_and_no_header(tmp_path):
    (tmp_path / "m.csv").write_text("0,1,1\n1,NA,0\n", encoding="utf-8")
    with pytest.raises(MensuraError, match=r"the first row has 3 numbers \(0, 1, 1 …\); expected names of columns"):
        read_table(tmp_path / "m.csv")
    found = read_noted(tmp_path / "m.csv", header=False).frame
    assert found.to_dict(as_series=False) == {"V1": [0, 1], "V2": [1, None], "V3": [1, 0]}
    (tmp_path / "items.csv").write_text("subject,1,2\na,0,1\n", encoding="utf-8")
    assert read_table(tmp_path / "items.csv").columns == ["subject", "1", "2"]


def test_a_matrix_without_names_is_read_by_the_command_its_refusal_gives(mensura_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [",".join(str((7 * s + i * i) % 5 % 2) for i in range(40)) for s in range(12)]
    (tmp_path / "m.csv").write_text("\n".join(rows), encoding="utf-8")
    refused = mensura_command("responses", "fit", "m.csv")
    assert refused.code == 2
    command = refused.err.strip().rpartition("say: ")[2]
    assert command == "mensura responses read m.csv --set header=false"
    assert len(refused.err) < 300
    read = mensura_command(*command.split()[1:])
    assert "480 responses: 12 subjects (12 all) × 40 items" in read.out
    assert (
        mensura_command("responses", "fit", "m.csv", "--set", "header=false", "--model", "rasch", "--out", "f").code
        == 0
    )
    assert pl.read_csv("f/subjects.csv")["subject"].to_list() == list(range(1, 13))
    refused = mensura_command("people", "import", "m.csv", "--items", "V*", "--out", "pool")
    assert "Say --set header=false" in refused.err
    made = mensura_command(
        *(
            "people",
            "import",
            "m.csv",
            "--set",
            "header=false",
            "--items",
            "V*",
            "--set",
            "min_answers=1",
            "--out",
            "pool",
        )
    )
    assert made.code == 0, made.err
    assert ItemPool.read(tmp_path / "pool").responses.shape == (12, 41)


def test_a_limit_counts_bytes_in_memory_after_reading_a_header(tmp_path, monkeypatch):
    """A constant text column of 344 million rows has 1.5 MB in a file and takes 5.5 GB."""
    pl.DataFrame({"a": ["x"] * 10}).write_parquet(tmp_path / "texts.parquet")
    pl.DataFrame({"a": [1] * 10}).write_parquet(tmp_path / "numbers.parquet")
    monkeypatch.setattr(packed, "MOST_MEMORY", 100)
    assert read_table(tmp_path / "numbers.parquet").height == 10
    with pytest.raises(MensuraError, match="announces 10 × 1 values; at most 6 are read"):
        read_table(tmp_path / "texts.parquet")


def test_brackets_in_the_name_of_a_parquet_file_are_no_pattern(tmp_path):
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "scores[1].parquet")
    pl.DataFrame({"a": [3]}).write_parquet(tmp_path / "scores1.parquet")
    assert read_table(tmp_path / "scores[1].parquet")["a"].to_list() == [1, 2]


def test_a_file_of_spss_that_does_not_state_its_rows_is_read_up_to_a_limit(tmp_path, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    path = tmp_path / "unstated.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]}), str(path))
    data = bytearray(path.read_bytes())
    data[80:84] = (-1).to_bytes(4, "little", signed=True)  # the number of cases
    path.write_bytes(data)
    assert read_table(path).height == 3
    monkeypatch.setattr("mensura.intake.statistics._MOST_UNSTATED", 4)
    with pytest.raises(MensuraError, match="does not state its rows and has 3 or more"):
        read_table(path)


def test_of_columns_without_a_name_the_first_is_the_index_and_the_others_have_their_place(tmp_path):
    """As pandas writes an index; a column without a name and without a cell goes."""
    path = tmp_path / "index.csv"
    path.write_text(",score,,,\nann,1,x,,7\nbob,2,y,,8\n")
    assert read_table(path).columns == ["", "score", "column 3", "column 5"]
