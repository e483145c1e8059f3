"""Ratings and several dimensions in every verb: draw, link, next, short forms and place, from the folder of a fit."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import (
    fit_categories,
    fit_dimensions,
    link_fits,
    next_items,
    place_among,
    score_new,
    select_items,
)
from mensura.responses.bank import ItemBank, read_bank
from mensura.responses.irt.category_curves import CategoryItems
from mensura.responses.reading import only_items
from mensura.responses.result import read_fit, read_fits

MODELS = ["graded", "partial-credit", "nominal"]


def rated(subjects, seed, mean=0.0, sd=1.0, items=10):
    """Ratings from 1 to 4 with known graded curves, the same for every seed."""
    truth = np.random.default_rng(0)
    slope, middle = truth.uniform(0.8, 2.0, items), truth.normal(0.0, 0.7, items)
    rng = np.random.default_rng(seed)
    ability = mean + sd * rng.normal(size=subjects)
    steps = middle[:, None] + np.array([-1.0, 0.0, 1.0])
    above = 1 / (1 + np.exp(-slope[:, None] * (ability[:, None, None] - steps)))
    value = 1 + (rng.random((subjects, items, 1)) < above).sum(axis=2)
    columns = {f"r{at}": value[:, at] for at in range(items)}
    return pl.DataFrame({"subject": [f"p{seed}-{row}" for row in range(subjects)], **columns}), ability


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of fits by model, and one of several dimensions, as --out writes them."""
    place = tmp_path_factory.mktemp("ratings")
    rated(600, 1)[0].write_csv(place / "ratings.csv")
    rated(600, 2, mean=0.8, sd=1.3)[0].write_csv(place / "other.csv")
    fits = {model: fit_categories(place / "ratings.csv", model=model) for model in MODELS}
    fits |= {f"{model}-other": fit_categories(place / "other.csv", model=model) for model in MODELS}
    pairs = {"item": [f"r{at}" for at in range(10)], "dimension": ["a"] * 5 + ["b"] * 5}
    fits["two"] = fit_dimensions(place / "ratings.csv", pairs, model="graded")
    for name, fit in fits.items():
        (place / name).mkdir()
        for title, table in fit.tables().items():
            table.write_csv(place / name / f"{title}.csv")
    return place


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_a_bank_read_from_a_folder_has_the_curves_of_the_fit(folders, model):
    fit = fit_categories(folders / "ratings.csv", model=model)
    bank = read_bank(folders / model)[0]
    assert isinstance(bank.parameters, CategoryItems)
    nodes = np.linspace(-2, 2, 5)
    np.testing.assert_allclose(bank.parameters.chances(nodes), fit.bank.parameters.chances(nodes), atol=1e-5)
    assert bank.rating("r0", 1) == 0 and bank.rating("r0", 3) == 2
    for rating in (0, 99):
        with pytest.raises(MensuraError, match=f"got the rating {rating}; expected one of 1, 2, 3, 4. Correct it"):
            bank.rating("r0", rating)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_abilities_on_a_bank_are_those_of_the_fit(folders, model):
    fit = read_fit(folders / model)
    again = score_new(fit, folders / "ratings.csv")
    assert np.corrcoef(again.subjects["wle"], fit.subjects["wle"])[0, 1] > 0.9999
    np.testing.assert_allclose(again.subjects["wle"], fit.subjects["wle"], atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", ["stocking-lord", "haebara", "mean-sigma"])
def test_links_find_the_mean_and_spread_of_the_other_group(folders, model, method):
    linked = link_fits(folders / f"{model}-other", folders / model, method=method)
    row = linked.coefficients.row(0, named=True)
    assert row["slope"] == pytest.approx(1.3, abs=3 * row["se_slope"])
    assert row["intercept"] == pytest.approx(0.8, abs=3 * row["se_intercept"])
    assert 0.02 < row["se_slope"] < 0.3


@pytest.mark.parametrize("model", MODELS)
def test_the_next_item_is_the_one_that_says_most_and_answers_move_the_ability(folders, model):
    bank = read_bank(folders / model)[0]
    low, high = (next_items(bank, dict.fromkeys(bank.items[:4], (value, 1.0)), choice="best") for value in (0.0, 3.0))
    assert low.standing["ability"][0] < -0.8 < 0.8 < high.standing["ability"][0]
    left = [item for item in bank.items if item not in bank.items[:4]]
    assert low.next["item"][0] in left
    form = select_items(bank, 3, choice="best").form
    best = bank.information(np.linspace(-2, 2, 41)).sum(axis=1)
    assert form["item"][0] in {bank.items[at] for at in np.argsort(best)[-3:]}


@pytest.mark.parametrize("model", [*MODELS, "two"])
def test_draw_writes_the_pictures_of_every_model(folders, mensura_command, tmp_path, model):
    done = mensura_command("responses", "draw", folders / model, "--out", tmp_path / "pictures", "--format", "svg")
    assert done.code == 0, done.err
    names = {path.name for path in (tmp_path / "pictures").glob("*.svg")}
    expected = {"a-item-map.svg", "b-information.svg"} if model == "two" else {"item-map.svg", "information.svg"}
    assert expected <= names
    assert sum("item-r" in name for name in names) == (6 if model == "two" else 3)


def test_next_and_place_take_ratings_from_files(folders, mensura_command, tmp_path):
    pl.DataFrame({"subject": ["new"], "r0": [4], "r1": [4], "r2": [3]}).write_csv(tmp_path / "new.csv")
    done = mensura_command("responses", "next", folders / "graded", tmp_path / "new.csv", "--json")
    assert done.code == 0 and '"n": 3' in done.out
    done = mensura_command("responses", "place", folders / "graded", tmp_path / "new.csv", "--group", "all", "--json")
    assert done.code == 0 and '"percentile"' in done.out
    with pytest.raises(MensuraError, match="ratings have no share right"):
        place_among(read_fit(folders / "graded"), rates={"item": ["r0"], "rate": [0.5]})


def test_several_dimensions_are_refused_where_one_scale_is_needed(folders, mensura_command):
    for verb in (["next", folders / "two"], ["link", folders / "two", folders / "graded"], ["place", folders / "two"]):
        done = mensura_command("responses", *verb)
        assert done.code == 2 and "fit each dimension alone" in done.err


def test_a_bank_without_errors_is_a_bank():
    rows = {"item": ["a", "a", "b"], "category": ["1", "2", "1"], "discrimination": [1.0, 1.0, 2.0]}
    bank = ItemBank.from_categories(rows | {"intercept": [0.5, -0.5, 0.0]}, "graded")
    assert bank.parameters.sizes.tolist() == [3, 2]
    assert bank.place(np.array([2.0, 1.0]), np.ones(2)).ability > 0.5


@pytest.mark.slow
def test_a_fit_of_ratings_in_memory_is_linked_and_places_new_subjects(folders):
    fit = fit_categories(folders / "ratings.csv", model="graded")
    link = link_fits(fit, fit).coefficients.row(0, named=True)
    assert (link["slope"], link["intercept"]) == pytest.approx((1.0, 0.0), abs=1e-6)
    scored = score_new(fit, folders / "other.csv")
    assert scored.subjects["ability"].is_finite().all()
    assert place_among(fit, group=fit.reference).subjects["subject"].to_list() == fit.subjects["subject"].to_list()


def test_a_group_is_placed_among_another_by_items_that_both_rated():
    both = pl.concat(
        [
            rated(90, 3, items=5)[0].with_columns(group=pl.lit("a")),
            rated(90, 4, items=5)[0].with_columns(group=pl.lit("b")),
        ]
    )
    placed = place_among(fit_categories(both), group="a")
    assert [(one.group, one.items) for one in placed.invariance] == [("b", 5)]


def test_dimensions_that_were_found_are_drawn_without_errors(tmp_path):
    fit = fit_dimensions(rated(60, 5, items=4)[0], 2, model="graded")
    for title, table in fit.tables().items():
        table.write_csv(tmp_path / f"{title}.csv")
    assert [one.bank.errors.max() for one in read_fits(tmp_path).values()] == [0.0, 0.0]


def test_new_answers_may_name_the_raters_of_the_fit_and_other_columns():
    items = ["r0 by ann", "r0 by bob", "r1 by ann"]
    rows = [("new", "r0", "ann", 3), ("new", "r1", "ann", 4), ("new", "r0", "eve", 4)]
    long = pl.DataFrame(rows, schema=["subject", "item", "judge", "score"], orient="row")
    assert only_items(long, items)[0].frame["item"].to_list() == ["r0 by ann", "r1 by ann", "r0 by eve"]
    wide = pl.DataFrame({"subject": ["new"], "income": [2310.5], "r0 by ann": [3]})
    assert only_items([wide], items)[0].frame.columns == ["subject", "r0 by ann"]


def test_items_of_fewer_categories_are_read_alone_and_nobody_needs_answers():
    rows = [("a", 1, 0.4, 0.2), ("a", 2, 1.0, -0.3), ("b", 1, 0.8, 0.1), ("b", 2, 0.9, 0.5), ("b", 3, 1.5, -1.0)]
    table = pl.DataFrame(rows, schema=["item", "category", "discrimination", "intercept"], orient="row")
    bank, nodes = ItemBank.from_categories(table, "nominal"), np.linspace(-2, 2, 5)
    np.testing.assert_allclose(bank.only([0]).chances(nodes), bank.chances(nodes)[:1])
    assert next_items(bank, {}).standing["ability"][0] == pytest.approx(0.0, abs=1e-9)
