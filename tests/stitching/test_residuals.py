"""Residuals are measured minus predicted."""

import numpy as np
import polars as pl
import pytest

from mensura.stitching import residual_tables, stitch


def test_residuals_are_what_was_measured_less_what_is_expected(simulated):
    fit = stitch(simulated[0])
    table = fit.residuals
    measured = simulated[0].rename({"model": "subject", "score": "measured"})
    both = table.join(measured, on=["subject", "benchmark"])
    assert both.height == table.height == simulated[0].height
    np.testing.assert_allclose(both["score"], both["measured"])
    np.testing.assert_allclose(both["residual"], both["measured"] - both["fitted"])
    np.testing.assert_allclose(both["above"], both["measured"] - both["general"])
    profile = both.join(fit.profiles, on=["subject", "benchmark"], suffix="_profile")
    np.testing.assert_allclose(profile["fitted"], profile["score_profile"])
    np.testing.assert_allclose(profile["general"], profile["general_profile"])


def test_residuals_by_benchmark_family_and_domain_are_means_over_their_cells(simulated):
    fit = stitch(simulated[0].with_columns(chance=pl.lit(0.0)))
    odd = {name: "odd" if int(name[1:]) % 2 else "even" for name in fit.data.subjects}
    tables = residual_tables(fit.residuals, families=odd, domains={"b01": "language", "b02": "language"})
    assert set(tables) == {"residuals_by_benchmark", "residuals_by_family", "residuals_by_domain"}
    assert tables["residuals_by_benchmark"].height == 12
    assert tables["residuals_by_benchmark"]["scores"].sum() == simulated[0].height
    language = fit.residuals.filter(pl.col("benchmark").is_in(["b01", "b02"]))
    row = tables["residuals_by_domain"].row(0, named=True)
    assert (row["domain"], row["scores"]) == ("language", language.height)
    assert row["residual"] == pytest.approx(language["residual"].mean())
    assert row["above"] == pytest.approx(language["above"].mean())
    assert row["spread"] == pytest.approx(float(np.sqrt((language["residual"] ** 2).mean())))
    assert row["error"] == pytest.approx(language["above"].std() / np.sqrt(language.height))
    assert set(residual_tables(fit.residuals)) == {"residuals_by_benchmark"}
