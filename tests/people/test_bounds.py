"""Files that are small and unpack to anything, or that take for ever to read, are refused or read at once."""

import gzip

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.core.errors import LONGEST_MESSAGE
from mensura.intake import packed
from mensura.intake.tables import read_noted
from tools.fixed_width import read_layout


@pytest.mark.parametrize("mark", ["gzip", "bzip2", "xz"])
def test_a_packed_bomb_is_refused_before_it_is_unpacked(mark, tmp_path, monkeypatch):
    import bz2
    import lzma

    bomb = {"gzip": gzip, "bzip2": bz2, "xz": lzma}[mark].compress(bytes(4 * 2**20))
    (tmp_path / "bomb.rds").write_bytes(bomb)
    monkeypatch.setattr(packed, "MOST_UNPACKED", 2**20)
    with pytest.raises(MensuraError, match=r"bomb.rds: 0.0 MB unpack to more than"):
        packed.measure(tmp_path / "bomb.rds")
    monkeypatch.undo()
    packed.measure(tmp_path / "bomb.rds")


def test_a_packed_file_that_is_cut_short_is_refused(tmp_path):
    (tmp_path / "cut.rds").write_bytes(gzip.compress(bytes(1000))[:20])
    with pytest.raises(MensuraError, match="cannot be unpacked"):
        packed.measure(tmp_path / "cut.rds")


def test_a_parquet_file_that_announces_too_much_is_refused(tmp_path, monkeypatch):
    pl.DataFrame({"q1": np.zeros(10_000, dtype=np.int8)}).write_parquet(tmp_path / "a.parquet")
    assert read_noted(tmp_path / "a.parquet").frame.height == 10_000
    monkeypatch.setattr(packed, "MOST_VALUES", 9_999)
    with pytest.raises(MensuraError, match="announces 10,000 × 1 values"):
        read_noted(tmp_path / "a.parquet")


def test_an_spss_file_that_announces_too_much_is_refused(tmp_path, monkeypatch):
    statistics, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    statistics.write_sav(pandas.DataFrame({"q1": [1.0] * 50}), str(tmp_path / "a.zsav"), compress=True)
    monkeypatch.setattr(packed, "MOST_VALUES", 49)
    with pytest.raises(MensuraError, match="announces 50 × 1 values"):
        read_noted(tmp_path / "a.zsav")


@pytest.mark.parametrize(
    "syntax",
    [
        "DATA LIST FILE='x' /\n" + "\n" * 200_000 + " A 1-2\n.\n",
        "INPUT\n" + " " * 400_000 + "A 1-2\n;\n",
        "\n" * 300_000 + "INPUT A 1-2;",
        "DATA LIST FILE='x' / " + "A" * 300_000 + " 1-2\n.",
        "DATA LIST FILE='x' /\n" + "\n".join(f" V{k} {k}-{k}" for k in range(1, 30_000)) + "\n.\n",
    ],
)
def test_a_hostile_control_file_is_read_in_proportion_to_its_length(syntax, tmp_path):
    """A test that hangs here has lost that."""
    (tmp_path / "c.sps").write_text(syntax, encoding="utf-8")
    try:
        read_layout(tmp_path / "c.sps")
    except MensuraError as fault:
        assert len(str(fault)) <= LONGEST_MESSAGE + 100


def test_a_long_line_does_not_become_a_long_message(tmp_path):
    (tmp_path / "a.csv").write_text("who,q1\n1,0\n2," + "x" * 5_000_000 + ",1,1\n", encoding="utf-8")
    with pytest.raises(MensuraError) as refused:
        read_noted(tmp_path / "a.csv")
    assert len(str(refused.value)) < LONGEST_MESSAGE + 100
    assert len(str(MensuraError("y" * 10**6))) < LONGEST_MESSAGE + 100
