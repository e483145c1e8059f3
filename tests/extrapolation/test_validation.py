"""Validation: exact tables, exact baselines, nothing hidden is used, clear errors."""

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.extrapolation import METHODS, SITUATIONS, cases_of, extrapolate, validate
from mensura.extrapolation.cases import pairs_of
from mensura.extrapolation.scoring import trials_of
from mensura.extrapolation.straight_line import Prior
from mensura.extrapolation.validation import SUMMARY
from mensura.people import ItemPool
from tools.learn_priors import learn_priors


def fewer(situation, draws):
    """Return the setting of fewer draws where there are any."""
    return {"draws": draws} if situation == "linked" else {}


@pytest.fixture(scope="module")
def results(pool):
    return {situation: validate(pool, situation, **fewer(situation, 20)) for situation in SITUATIONS}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_summary_has_one_row_per_group_and_exactly_the_promised_columns(results, situation):
    summary = results[situation].summary
    assert tuple(summary.columns) == SUMMARY
    assert summary.height == 6
    assert summary["n_items"].to_list() == [40] * 6
    assert summary["coverage"].is_between(0.6, 1.0).all()
    assert results[situation].overall["covariate"].to_list() == ["country"], (
        "all groups stand beside several kinds only"
    )


def test_more_knowledge_means_less_error(results):
    mae = {situation: result.summary["mae"].mean() for situation, result in results.items()}
    identity = results["described"].overall["mae_identity"][0]
    assert mae["slices"] < mae["linked"] < identity
    assert mae["described"] < identity
    linked = results["linked"].overall
    assert linked["mae"][0] < linked["mae_shift"][0]


def test_identity_is_the_plain_difference(pool, results):
    whole = dict(pool.rates_of("all").select("item", "rate").iter_rows())
    by_hand = [
        np.mean([abs(rate - whole[item]) for item, rate in pool.rates_of(group).select("item", "rate").iter_rows()])
        for group in results["described"].summary["group"]
    ]
    assert results["described"].overall["mae_identity"][-1] == pytest.approx(np.mean(by_hand))


def test_the_same_seed_gives_the_same_tables(pool, results):
    again = validate(pool, "linked", draws=20)
    assert again.summary.equals(results["linked"].summary)
    assert again.predictions.equals(results["linked"].predictions)


def test_as_many_links_as_asked_for_are_known_and_all_others_scored(pool):
    trial = trials_of("linked", cases_of(pool), links=4, draws=6, rng=np.random.default_rng(0))[0]
    assert trial.tasks[0].known.sum(axis=1).tolist() == [4] * 6
    assert np.array_equal(trial.hidden, ~trial.tasks[0].known)
    assert len({tuple(row) for row in trial.hidden}) == 6
    folds = trials_of("slices", cases_of(pool), links=4, draws=6, rng=np.random.default_rng(0))[0]
    assert folds.hidden.sum(axis=0).tolist() == [1] * 40
    assert folds.hidden.sum(axis=1).tolist() == [8] * 5


def test_pooled_and_within_correlations_are_kept_apart(results):
    row = results["described"].overall.row(0, named=True)
    assert row["pearson_within"] != pytest.approx(row["pearson_pooled"], abs=1e-3)


def test_described_uses_no_rate_but_the_focal_group_s(pool):
    """Other groups' and the reference's rates may be anything: predictions of one group stay the same."""
    mine = pl.col("group") == "country=USA"
    odd = pool.rates.with_columns(
        rate=pl.when(mine).then("rate").otherwise(1 - pl.col("rate")),
        correct=pl.when(mine).then("correct").otherwise(pl.col("n") - pl.col("correct")),
    )
    changed = ItemPool.from_rates(pool.name, pool.items, odd)
    before, after = (
        validate(p, "described").predictions.filter(pl.col("group") == "country=USA") for p in (pool, changed)
    )
    assert after["rate"].to_list() == pytest.approx(before["rate"].to_list())


@pytest.mark.parametrize("situation", ["linked", "slices"])
def test_the_prediction_of_an_item_does_not_depend_on_its_own_reference(pool, situation):
    odd = pool.rates.with_columns(
        rate=pl.when((pl.col("group") == "all") & (pl.col("item") == "i003")).then(0.5).otherwise("rate"),
        correct=pl.when((pl.col("group") == "all") & (pl.col("item") == "i003"))
        .then(pl.col("n") // 2)
        .otherwise("correct"),
    )
    changed = ItemPool.from_rates(pool.name, pool.items, odd)
    found = [
        validate(p, situation, **fewer(situation, 10)).predictions.filter(pl.col("item") == "i003")["rate"].to_list()
        for p in (pool, changed)
    ]
    assert found[1] == pytest.approx(found[0])


def test_countries_are_predicted_from_each_other(pool, results):
    pairs = results["described"].pairs
    assert pairs.height == 30
    assert pairs["mae"].mean() < pairs["mae_identity"].mean()
    case = pairs_of(pool, cases_of(pool))[0]
    assert (case.group, case.task.reference.name) == ("country=CHL", "country=JPN")
    assert (case.task.share == 0).all()
    assert np.array_equal(case.truth, pool.rates_of("country=JPN")["rate"].to_numpy())
    assert case.task.reference.countries == ("JPN",)


def test_a_result_prints_what_matters(results):
    text = str(results["linked"])
    assert "linked: 6 focal groups" in text
    assert "mae_identity" in text
    assert "<table" in results["linked"]._repr_html_()
    assert mensura.validate is validate


def test_thin_groups_and_items_are_left_out(pool):
    thin = pool.rates.with_columns(
        n=pl.when((pl.col("group") == "country=AUS") & (pl.col("item") > "i003")).then(20).otherwise("n")
    ).drop("correct", "se")
    thin = thin.with_columns(
        n=pl.when((pl.col("group") == "country=ITA") & (pl.col("item") > "i009")).then(20).otherwise("n")
    )
    found = validate(ItemPool.from_rates(pool.name, pool.items, thin), "described").summary
    sizes = dict(found.select("group", "n_items").iter_rows())
    assert "country=AUS" not in sizes
    assert sizes["country=ITA"] == 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"situation": "guessed"}, "situation: got 'guessed'; expected one of described, linked, slices"),
        ({"situation": "linked", "links": 0}, "links must be 1 or more, got 0"),
        ({"situation": "linked", "draws": 0}, "draws must be 1 or more, got 0"),
        ({"situation": "described", "method": "linked"}, "'linked' does not fit situation 'described'; expected"),
        ({"situation": "linked", "links": 38}, "no group has 41 items or more for 38 links"),
        ({"situation": "described", "method": "oracle"}, "method 'oracle' does not fit situation 'described'"),
    ],
)
def test_bad_settings_are_refused(pool, settings, message):
    with pytest.raises(MensuraError, match=message):
        validate(pool, **settings)


def test_a_pool_without_a_whole_or_without_groups_is_refused(pool):
    parts = pool.rates.filter(pl.col("group") != "all")
    with pytest.raises(MensuraError, match="has no group 'all'"):
        validate(ItemPool.from_rates("p", pool.items, parts))
    whole = pool.rates.filter(pl.col("group") == "all")
    with pytest.raises(MensuraError, match="no group has 5 items with 30 or more people"):
        validate(ItemPool.from_rates("p", pool.items, whole))


def test_priors_are_learned_from_pools(new_pool):
    pools = {str(seed): cases_of(new_pool(seed=seed, items=30, interaction=0.4)) for seed in range(3)}
    table = learn_priors({name: [case.revealed for case in cases] for name, cases in pools.items()})
    row = table.filter((pl.col("kind") == "country") & (pl.col("basis") == "matched")).row(0, named=True)
    assert row["interaction"] == pytest.approx(0.4, abs=0.12)
    assert 0.7 < row["slope"] <= 1.0
    found = validate(new_pool(seed=9), "described", priors=table)
    assert found.summary["coverage"].mean() > 0.8


def test_a_kind_that_few_pools_show_keeps_a_wide_prior_of_its_shift(new_case):
    """Two pools without any shift do not say that the next one has none."""
    still = Prior(shift_sd=1e-9, slope=1.0, slope_sd=1e-9, interaction=0.05)
    rng = np.random.default_rng(0)
    pools = {name: [new_case(rng, still, items=60, n=50_000).revealed for _ in range(3)] for name in "abc"}
    thin, thick = (learn_priors({name: pools[name] for name in names}) for names in ("ab", "abc"))
    other = (pl.col("kind") == "other") & (pl.col("basis") == "none")
    assert thin.filter(other)["shift_sd"].to_list() == pytest.approx([0.15])
    assert thick.filter(other)["shift_sd"].to_list() == pytest.approx([0.08]), "no pool shows that groups are alike"


def test_kinds_that_no_pool_shows_have_published_spreads_and_the_lines_of_others(new_case):
    rng = np.random.default_rng(0)
    plain = Prior(shift_sd=0.3, slope=0.9, slope_sd=0.1, interaction=0.25)
    table = learn_priors({name: [new_case(rng, plain).revealed for _ in range(3)] for name in "abc"})
    rows = {(row["kind"], row["basis"]): row for row in table.to_dicts()}
    country, other = rows["country", "none"], rows["other", "none"]
    assert country["shift_sd"] > 0.6
    assert country["interaction"] == other["interaction"]


def test_every_column_method_and_kind_is_documented(results):
    from pathlib import Path

    from mensura.extrapolation.descriptions import KINDS

    page = (Path(__file__).parents[2] / "docs" / "extrapolation.md").read_text(encoding="utf-8")
    tables = results["described"].tables() | results["linked"].tables()
    assert set(tables) == {"summary", "overall", "items", "predictions", "pairs", "dif", "distance", "distance_slopes"}
    for name, table in tables.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} | "))
        assert [column for column in table.columns if column not in row] == []
    assert [word for word in [*METHODS, *SITUATIONS, *KINDS] if f"`{word}`" not in page] == []


@pytest.mark.shared
@pytest.mark.parametrize(("folder", "bar"), [("pirls2011_4c", 0.045), ("timss2011_g8_math_4c", 0.080)])
def test_unchanged_rates_agree_with_the_published_baselines(shared, folder, bar):
    path = shared / "data" / "human" / folder
    published = pl.read_csv(shared / "data" / "human" / "baselines_by_group.csv").filter(
        (pl.col("dataset") == folder) & (pl.col("method") == "a_identity")
    )
    found = validate(path, "described")
    gap = pl.col("focal") - pl.col("reference")
    plain = found.predictions.group_by("group").agg(mae=gap.abs().mean(), rmse=(gap**2).mean().sqrt())
    joined = plain.join(published, on="group", suffix="_published")
    assert joined.height == plain.height
    for name in ("mae", "rmse"):
        assert joined[name].to_list() == pytest.approx(joined[f"{name}_published"].to_list(), abs=1e-4)
    assert found.overall.filter(pl.col("covariate") == "country")["mae"][0] <= bar


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.usefixtures("shared")
def test_the_shipped_priors_are_the_learned_ones():
    from mensura.extrapolation.facts import DATA
    from tools.embed_priors import learned

    assert learned().equals(pl.read_csv(DATA / "priors.csv"))


def test_arguments_that_are_not_used_are_refused(pool):
    with pytest.raises(MensuraError, match="links: situation 'described' does not use it; leave it out, or choose 'l"):
        validate(pool, links=3)
    with pytest.raises(MensuraError, match="draws: situation 'slices' does not use it"):
        validate(pool, "slices", draws=20)
    with pytest.raises(MensuraError, match="seed: situation 'described' does not use it"):
        validate(pool, seed=1)
    links = pool.rates_of("all").head(3).select("item", "rate", "n")
    for method in ("described", "poststratification"):
        with pytest.raises(MensuraError, match=rf"links: method '{method}' does not use it; .* one of .*linked"):
            extrapolate(pool, method=method, links=links, focal="pisa")
    with pytest.raises(MensuraError, match=r"kind: method .poststratification. does not use it; .* described"):
        extrapolate(pool, kind="country", focal="pisa")
