"""Pages of pictures: IQ, the stitched scale, cost, the ruler; and one page per picture, to link and to embed."""

from copy import copy

import polars as pl
import pytest

from mensura.calibration import chosen_lines
from mensura.core.results import set_computed
from mensura.site.pages import charts
from mensura.site.pages.charts import cheapest_section
from mensura.study.headlines import cheapest_rows


@pytest.mark.parametrize("by", ["effective_cost", "sticker_price"])
def test_the_cheapest_model_at_an_iq_counts_by_one_basis_alone(study, by):
    rows, priced = cheapest_rows(study, by)
    assert [row["floor"] for row in rows][:3] == [90, 95, 100]
    scored = study.models.drop_nulls(["iq", by])
    for row in rows:
        able = scored.filter(pl.col("iq") >= row["floor"])
        assert row["cost"] == able[by].min()
        assert row["able"] == able.height
    assert priced == scored.height
    assert f"{priced} models have a" in cheapest_section(study, "cheapest-list", by)["about"]


def test_the_converter_reads_levels_with_the_calibration_asked_for(tmp_path, study):
    file = tmp_path / "bases.csv"
    file.write_text("dimension,slope,intercept\nstamina,0.5,0.25\n", encoding="utf-8")
    shown = charts.human(set_computed(copy(study), lines=chosen_lines(str(file)))).context["calibration"]
    assert [(line.dimension, line.slope, line.intercept) for line in shown] == [("stamina", 0.5, 0.25)]
    named = {line.dimension: line.source for line in charts.human(study).context["calibration"]}
    assert "Table 16" in named["volume"]
