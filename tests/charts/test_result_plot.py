"""Every result draws itself, and every picture of the report is one call away."""

import polars as pl
import pytest

import mensura
from mensura.charts.result_plot import plot_table
from mensura.core.errors import MensuraError


def ranks() -> pl.DataFrame:
    return pl.DataFrame(
        {"rank": [1, 2, 3], "subject": ["ann", "bob", "eve"], "iq": [130.0, 110.0, None], "low": [120.0, 90.0, None]}
    ).with_columns(high=pl.col("iq") + 10)


def test_a_table_with_intervals_becomes_rows_with_marks():
    drawn = plot_table(ranks(), "People")._repr_svg_()
    assert "ann" in drawn
    assert "bob" in drawn
    assert "eve" not in drawn, "she has no value"
    assert "People: iq with its 90% interval" in drawn


def test_a_table_without_intervals_draws_its_first_number():
    drawn = plot_table(ranks().select("rank", "subject", "iq"), "People")._repr_svg_()
    assert "People: iq" in drawn
    assert "interval" not in drawn


def test_only_the_rows_asked_for_are_drawn():
    assert "bob" not in plot_table(ranks(), "People", rows=1)._repr_svg_()


def test_a_table_of_words_is_refused():
    with pytest.raises(MensuraError, match="plot: expected a column of numbers, got a"):
        plot_table(pl.DataFrame({"a": ["x"]}), "Words")


def test_a_fit_draws_its_capabilities(few_models):
    fitted = mensura.stitch(mensura.load(few_models))
    assert fitted.capabilities["subject"][0] in fitted.plot()._repr_svg_()


def test_a_figure_by_name_is_the_one_of_the_report(few_models):
    picture = mensura.figure("iq-bell", mensura.load(few_models))
    assert hasattr(picture, "_repr_svg_") or hasattr(picture, "to_dict")


def test_an_unknown_figure_is_refused_with_the_names(few_models):
    with pytest.raises(MensuraError, match="'iq-ball' is not known"):
        mensura.figure("iq-ball", mensura.load(few_models))
