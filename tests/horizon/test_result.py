"""The result of a fit of horizons: its tables, its order, and settings that do not fit its method."""

import polars as pl
import pytest

import mensura
from mensura import fit_horizons
from mensura.core.errors import MensuraError


@pytest.mark.slow
def test_the_same_seed_gives_the_same_figures(runs, times):
    first, second = (mensura.fit_horizons(runs.sample(fraction=1, shuffle=True, seed=s), times) for s in (1, 2))
    assert first.horizons.equals(second.horizons)


@pytest.mark.slow
def test_more_subjects_than_one_group(runs, times, monkeypatch):
    monkeypatch.setattr("mensura.horizon.result.MOST_UNKNOWNS", 8)
    rows = all_suites(mensura.fit_horizons(runs, times))
    assert rows["short"]["p50"] < rows["middle"]["p50"] < rows["long"]["p50"]


@pytest.mark.slow
def test_a_human_among_the_models_is_kept_apart(runs, times):
    human = runs.filter(pl.col("subject") == "long").with_columns(subject=pl.lit("human"))
    fit = mensura.fit_horizons(pl.concat([runs, human]), times)
    assert "human" not in fit.horizons["subject"].to_list()
    assert "left out of the horizons, shown as people: human" in fit.notes
    assert "people" in fit.curves["subject"].to_list()


@pytest.fixture(scope="module")
def published(runs, times):
    """The published method, which takes no samples of lengths."""
    return fit_horizons(runs, times, method="metr", draws=2)


def test_horizons_are_shown_longest_first_and_counted_in_the_heading(published):
    assert published.shown["subject"].to_list() == ["long", "middle", "short"]
    assert "suite" not in published.shown.columns
    assert published.heading == (
        "horizons (metr): 3 subjects, 48 tasks in 2 suites, 144 outcomes; minutes with 90% intervals"
    )


def test_the_published_method_says_what_it_supposes_and_what_it_was_given(published):
    assert set(published.horizons["status"]) == {"as published"}
    assert "times count as exact" in published.notes[-1]
    assert (published.settings["weights"], published.settings["draws"]) == ("invsqrt", 2)
    assert published.tasks.select("low", "high").null_count().row(0) == (48, 48)


@pytest.mark.parametrize(("name", "value"), [("weights", "equal"), ("penalty", 0.1)])
def test_a_setting_of_the_published_method_is_refused_by_the_default_one(runs, times, name, value):
    with pytest.raises(MensuraError, match=f"{name}={value}: expected only with method='metr'; leave it out"):
        fit_horizons(runs, times, **{name: value})


def test_people_alone_have_no_horizon(runs, times):
    people = runs.filter(subject="short").with_columns(subject=pl.lit("human"))
    with pytest.raises(MensuraError, match="the only subjects are people; expected runs of models"):
        fit_horizons(people, times)


def all_suites(fit):
    return {row["subject"]: row for row in fit.horizons.filter(pl.col("suite") == "all").iter_rows(named=True)}
