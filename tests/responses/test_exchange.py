"""Items of a fit in the parameterisations of mirt and TAM; where R is installed, its curves are compared with ours."""

import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

from mensura.responses import fit_categories, fit_dimensions, fit_responses
from mensura.responses.exchange import item_parameters, script
from mensura.responses.result import read_fit

ABILITY = np.arange(-4.0, 4.5, 0.5)
RATED = ("graded", "partial-credit", "nominal", "rating-scale")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    rng, place = np.random.default_rng(5), tmp_path_factory.mktemp("exchange")
    level = 1.5 + rng.normal(size=(400, 1)) + rng.normal(size=(400, 6))
    value = np.clip(np.round(level), 0, 3).astype(int)
    value[:, 0] = np.minimum(value[:, 0], 2)
    rated = pl.DataFrame({"subject": [f"p{i}" for i in range(400)], **{f"q{j}": value[:, j] for j in range(6)}})
    right = rated.with_columns((pl.col(f"q{j}") > 1).cast(pl.Int64) for j in range(6))
    pairs = {"item": [f"q{j}" for j in range(6)], "dimension": ["a"] * 3 + ["b"] * 3}
    fits = {model: fit_responses(right, model=model) for model in ("rasch", "2pl", "3pl")}
    fits |= {model: fit_categories(rated, model=model) for model in RATED}
    fits["two"] = fit_dimensions(rated, pairs, model="graded")
    for name, fit in fits.items():
        (place / name).mkdir()
        for title, table in fit.tables().items():
            table.write_csv(place / name / f"{title}.csv")
    return place


def chances_in_mirt(rows, theta):
    """mirt's curves of one item (abilities × categories), from its names and values."""
    value, kind = dict(rows.select("name", "value").iter_rows()), rows["type"][0]
    along = value["a1"] * theta
    if kind in ("2PL", "3PL"):
        right = value["g"] + (1 - value["g"]) / (1 + np.exp(-along - value["d"]))
        return np.stack([1 - right, right], axis=1)
    count = rows["categories"][0]
    if kind == "graded":
        above = [np.ones_like(theta), *(1 / (1 + np.exp(-along - value[f"d{k}"])) for k in range(1, count))]
        return -np.diff(np.stack([*above, np.zeros_like(theta)], axis=1), axis=1)
    height = np.exp(np.stack([value[f"ak{k}"] * along + value[f"d{k}"] for k in range(count)], axis=1))
    return height / height.sum(axis=1, keepdims=True)


def own_chances(folder, item):
    bank = read_fit(folder).bank
    p, at = bank.parameters, bank.items.index(item)
    if bank.categories:
        return p.chances(ABILITY)[at, : p.sizes[at]].T
    right = bank.chances(ABILITY)[at]
    return np.stack([1 - right, right], axis=1)


@pytest.mark.parametrize("model", ["rasch", "2pl", "3pl", *RATED])
def test_mirts_parameters_give_the_same_curves(folders, model):
    table = item_parameters(folders / model)
    for (item,), rows in table.group_by("item"):
        np.testing.assert_allclose(chances_in_mirt(rows, ABILITY), own_chances(folders / model, item), atol=1e-9)


def test_mirts_nominal_scores_end_at_the_number_of_categories_less_1(folders):
    last = item_parameters(folders / "nominal").filter(pl.col("name") == "ak" + (pl.col("categories") - 1).cast(str))
    np.testing.assert_allclose(last["value"], last["categories"] - 1, atol=1e-9)


def test_several_dimensions_have_their_correlation(folders):
    table = item_parameters(folders / "two")
    correlation = pl.read_csv(folders / "two/correlations.csv")["correlation"][0]
    assert table.row(-1, named=True) | {"value": 0.0} == dict(
        zip(table.columns, ("GROUP", "GROUP", 0, "COV_21", 0.0), strict=True)
    )
    assert table["value"][-1] == correlation
    slopes = table.filter(pl.col("name") == "a2")["value"].to_numpy()
    assert np.all(slopes[:3] == 0.0) and np.all(slopes[3:] > 0.0)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize(
    ("model", "to"), [("3pl", "mirt"), ("graded", "mirt"), ("nominal", "mirt"), ("rating-scale", "tam"), ("2pl", "tam")]
)
def test_the_script_gives_the_same_curves_in_r(folders, tmp_path, model, to):
    item_parameters(folders / model).write_csv(tmp_path / "parameters.csv")
    (tmp_path / "items.R").write_text(script(to))
    subprocess.run(["Rscript", "items.R"], cwd=tmp_path, check=True, capture_output=True)
    curves = pl.read_csv(tmp_path / "curves.csv")
    for (item,), rows in curves.group_by("item"):
        ours = own_chances(folders / model, item)
        for column in {"chance", "mirt"} & set(curves.columns):
            theirs = rows.sort("category", "ability")[column].to_numpy().reshape(ours.shape[1], -1).T
            np.testing.assert_allclose(theirs, ours, atol=1e-6)
