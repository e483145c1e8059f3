"""How results show themselves: short in a terminal, safe in a notebook, every table by its name."""

import datetime as dt
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl
import pytest

import mensura
from mensura.core.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class Heights(Result):
    heights: pl.DataFrame
    people: pl.DataFrame
    warnings: tuple[str, ...] = ()
    TABLES: ClassVar[tuple[str, ...]] = ("heights", "people")

    @property
    def heading(self) -> str:
        return "Heights of <some> people"


@pytest.fixture
def result():
    return Heights(pl.DataFrame({"m": [1.5 + at / 100 for at in range(12)]}), pl.DataFrame({"n": [12]}), ("few & far",))


def test_its_text_is_its_heading_its_warnings_and_ten_rows(result):
    lines = repr(result).splitlines()
    assert lines[0] == "<Heights of <some> people"
    assert lines[1] == "warning: few & far"
    assert "1.500" in lines[3] and "1.590" in lines[-2]
    assert lines[-1] == " … and 2 more rows>"
    assert str(result) == repr(result)[1:-1]


def test_a_notebook_gets_text_as_text(result):
    shown = result._repr_html_()
    assert shown.startswith("<p>Heights of &lt;some&gt; people</p><p><strong>Warning:</strong> few &amp; far</p>")
    assert "<table" in shown


def test_every_table_by_its_name_here_and_in_pandas(result):
    assert list(result.tables()) == ["heights", "people"]
    assert result.tables()["people"].equals(result.people)
    assert result.to_pandas()["people"]["n"].tolist() == [12]
    assert result.shown.equals(result.heights)


def test_pandas_gets_plain_columns(result):
    people = pl.DataFrame({"born": [dt.date(2000, 1, 2), None], "n": [12, None]})
    table = replace(result, people=people).to_pandas()["people"]
    assert table["n"].iloc[0] == 12
    assert table["born"].tolist() == [dt.date(2000, 1, 2), None]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fit: fit.bootstrap(0), "n: got 0; expected a whole number from 1"),
        (lambda fit: fit.bootstrap(5, seed=-1), "seed: got -1; expected a whole number from 0"),
        (lambda fit: fit.plot(rows=0), "rows: got 0; expected a whole number from 1"),
        (lambda fit: fit.plot("many"), "rows: got 'many'; expected a whole number"),
    ],
)
def test_wrong_arguments_of_a_method_are_named(call, message):
    scores = [(f"m{i}", f"b{j}", 1 / (1 + 2.0 ** (j - i))) for i in range(4) for j in range(4)]
    fit = mensura.stitch(pl.DataFrame(scores, schema=["model", "benchmark", "score"], orient="row"))
    with pytest.raises(mensura.MensuraError, match=message):
        call(fit)
