"""The embedded table of how well a survey is predicted from each of its countries, and its picture."""

import re
from importlib.resources import files

import polars as pl
import pytest

from mensura.site.pictures import draw


@pytest.fixture(scope="module")
def countries() -> pl.DataFrame:
    return pl.read_csv(files("mensura.site") / "data" / "country_alignment.csv")


def test_cluster_means_are_those_of_their_countries(countries):
    means = countries.group_by("pool", "cluster").agg(pl.exclude("group").mean())
    for found, told in (("pearson", "cluster_pearson"), ("mae", "cluster_mae")):
        assert means[found].to_list() == pytest.approx(means[told].to_list(), abs=1e-4)


def test_the_first_cluster_is_the_better_aligned(countries):
    means = countries.sort("cluster").group_by("pool", maintain_order=True).agg("cluster_pearson")
    for pearson in means["cluster_pearson"]:
        assert pearson[0] > pearson[-1]


def test_the_picture_names_every_country_of_the_survey(study, countries):
    drawn = draw(study, "country-alignment")
    names = set(re.findall(r'aria-label="([^",]*), mean absolute error', drawn.drawing.wide))
    assert names == {
        group.removeprefix("country=") for group in countries.filter(pl.col("pool") == "pisa2009_12c")["group"]
    }
