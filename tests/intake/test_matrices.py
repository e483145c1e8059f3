"""Tables of very many columns: the same numbers as the general reader finds, without a column each."""

import numpy as np
import pytest

from mensura.core.errors import MensuraError
from mensura.intake import matrices
from mensura.intake.matrices import read_matrix
from mensura.intake.tables import read_table

TEXTS = ("subject", "group")


@pytest.fixture
def wide(tmp_path, monkeypatch):
    """Write a table, and let every table with four columns or more count as wide."""
    monkeypatch.setattr(matrices, "LEAST_COLUMNS", 3)

    def write(text):
        path = tmp_path / "t.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_cells_are_those_of_the_general_reader(wide):
    path = wide("subject,a,b,group,c\n007,1,0.25,x,\n8,NA,1e-1,,0\n")
    found, frame = read_matrix(path, texts=TEXTS), read_table(path)
    assert found.titles == ["a", "b", "c"]
    assert (
        found.texts == {"subject": ["007", "8"], "group": ["x", None]} == frame.select(TEXTS).to_dict(as_series=False)
    )
    assert np.allclose(found.values, frame.select(found.titles).cast(float).to_numpy(), equal_nan=True)


def test_separator_line_ends_and_blank_rows_are_those_of_any_table(wide):
    found = read_matrix(wide(b"subject;a;b;c\r\nx;1;0;1\r\n;;;\r\ny;0;;1\r\n"), texts=TEXTS)
    assert found.texts["subject"] == ["x", "y"]
    assert np.array_equal(found.values, [[1, 0, 1], [0, np.nan, 1]], equal_nan=True)
    assert found.notes == ("columns separated by semicolon",)


@pytest.mark.parametrize(
    "text",
    [
        'subject,a,b,c\n"x, y",1,0,1\n',  # a quoted cell
        "subject,a,b,c\nx,1,0\n",  # a short row
        "subject,a,b,c\nx,1,0,1\ny,1,maybe,1\n",  # a word below a number
        "subject;a;b;c\nx;0,5;1;1\ny;1;0,5;0\n",  # decimal commas
        "subject,a,b\nx,1,0\n",  # few columns
        "subject,a,,c\nx,1,0,1\n",  # a column without a name
    ],
)
def test_what_is_not_plain_is_left_to_the_general_reader(wide, text):
    assert read_matrix(wide(text), texts=TEXTS) is None


def test_a_header_of_numbers_is_refused_with_advice(wide):
    with pytest.raises(MensuraError, match=r"the first row has 3 numbers \(1, 0, 1 …\).*Say so"):
        read_matrix(wide("gpt,1,0,1\nbert,0,0,1\n"), texts=TEXTS, unnamed="Say so")
