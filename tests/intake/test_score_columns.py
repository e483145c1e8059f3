"""Which column is what: header variants people use, tidy tables and both kinds of wide ones."""

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.score_columns import read_cells


def test_a_cell_has_ten_thousand_characters_and_a_line_ten_times_as_many(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(f"model,note\na,{'x' * 10_000}\n", encoding="utf-8")
    assert len(read_cells(file).rows[0][1]) == 10_000
    file.write_text(f"model,note\na,{'x' * 10_001}\n", encoding="utf-8")
    with pytest.raises(MensuraError, match=r"row 2: a cell of 10,001 characters"):
        read_cells(file)
    header = ",".join(f"c{number}" for number in range(20))
    line = ",".join(["x" * 4_999] * 19)
    file.write_text(f"{header}\n{line},{'x' * (100_000 - len(line) - 1)}\n", encoding="utf-8")
    assert len(read_cells(file).rows[0]) == 20
    file.write_text(f"{header}\n{line},{'x' * (100_000 - len(line))}\n", encoding="utf-8")
    with pytest.raises(MensuraError, match="a line of 100,001 characters"):
        read_cells(file)


@pytest.mark.parametrize(
    ("size", "words"), [(64 * 2**20, "not a readable spreadsheet"), (64 * 2**20 + 1, "64 MB is no table of scores")]
)
def test_nothing_is_read_of_a_file_beyond_64_mebibytes(size, words, tmp_path):
    with (tmp_path / "large.xlsx").open("wb") as file:
        file.truncate(size)  # takes no room
    with pytest.raises(MensuraError, match=words):
        read_cells(tmp_path / "large.xlsx")
