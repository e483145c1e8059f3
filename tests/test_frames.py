"""Tables at the edge: pandas, Arrow and mappings in and out, without pyarrow."""

import datetime as dt
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import mensura
from mensura.errors import MensuraError
from mensura.frames import as_frame


def test_pandas_comes_in_as_it_is():
    table = pd.DataFrame(
        {
            "text": ["a", None, "c"],
            "count": [1, 2, 3],
            "share": [0.5, float("nan"), 0.25],
            "flag": [True, False, True],
            "when": pd.to_datetime(["2026-01-02", None, "2026-03-04"]),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "word": pd.Categorical(["x", "y", None]),
        }
    )
    frame = as_frame(table)
    assert frame["text"].to_list() == ["a", None, "c"]
    assert frame["count"].dtype == pl.Int64
    assert frame["share"].to_list() == [0.5, None, 0.25]
    assert frame["flag"].dtype == pl.Boolean
    assert frame["when"][0] == dt.datetime(2026, 1, 2)
    assert frame["when"].null_count() == 1
    assert frame["whole"].to_list() == [1, None, 3]
    assert frame["word"].to_list() == ["x", "y", None]


def test_a_named_index_becomes_a_column():
    table = pd.DataFrame({"model": ["a", "b"], "score": [1.0, 2.0]}).set_index("model")
    assert as_frame(table).columns == ["model", "score"]


def test_columns_that_cannot_be_told_apart_are_refused():
    table = pd.DataFrame([[1, 2]], columns=["score", "score"])
    with pytest.raises(MensuraError, match="'score' is there twice"):
        as_frame(table)


def test_results_go_out_to_pandas():
    tables = mensura.load().to_pandas()
    assert tables["models"].shape[0] == 138
    assert tables["scores"]["score"].dtype.kind == "f"


def test_nobody_needs_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import pandas as pd, mensura\n"
        "rows = [(f'm{m}', f'b{b}', (1 + m + b) / 20) for m in range(8) for b in range(6)]\n"
        "table = pd.DataFrame(rows, columns=['subject', 'benchmark', 'score'])\n"
        "print(mensura.stitch(table, method='rosetta').to_pandas()['capabilities'].shape[0])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "8", run.stderr


def test_a_name_with_brackets_is_a_name_and_no_pattern(tmp_path):
    (tmp_path / "fit2.csv").write_text("a\n2\n", encoding="utf-8")
    (tmp_path / "fit[2].csv").write_text("a\n1\n", encoding="utf-8")
    assert as_frame(tmp_path / "fit[2].csv")["a"].to_list() == [1]
    pl.DataFrame({"a": [3]}).write_parquet(tmp_path / "fit2.parquet")
    with pytest.raises(MensuraError, match="no such file"):
        as_frame(tmp_path / "fit[2].parquet")


def test_no_room_reads_a_file_by_a_pattern():
    source = Path(mensura.__file__).parent
    calls = re.compile(r"pl\.(?:read|scan)_(?:csv|parquet)\((?!.*(?:glob=False|read_bytes))")
    files = {path: path.read_text(encoding="utf-8").splitlines() for path in source.rglob("*.py")}
    found = [f"{path}: {line.strip()}" for path, lines in files.items() for line in lines if calls.search(line)]
    assert found == []


def test_a_parquet_file_with_brackets_in_its_name_is_read_itself(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "fit[2].parquet")
    assert as_frame(tmp_path / "fit[2].parquet")["a"].to_list() == [1], "and no other that the pattern would find"
    pl.DataFrame({"a": [3, 4]}).write_parquet(tmp_path / "fit2.parquet")
    assert as_frame(tmp_path / "fit[2].parquet")["a"].to_list() == [1]
