"""Post-stratification against closed forms, brute force and simulated truth."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from mensura.core.errors import MensuraError
from mensura.extrapolation import Extrapolation, Extrapolator, PostStratification, extrapolate, make_task
from mensura.extrapolation.abilities import DRIVERS, Domain, Strata, abilities, central, read_curves, sample
from mensura.extrapolation.poststratification import triangular_sd
from mensura.extrapolation.transfer import Transfer
from mensura.people import WORLD, Ability, ItemPool, Population, World, cells_of

TABLES = World.load()


@pytest.fixture(scope="module")
def world():
    return TABLES


def task(rates, focal="pisa", reference=WORLD, **columns):
    """Items, focal rates and both populations, as a task."""
    names = [f"i{index}" for index in range(len(rates))]
    n = columns.pop("n", None)
    items = pl.DataFrame({"item": names, "domain": ["mathematics"] * len(rates), **columns}, strict=False)
    table = pl.DataFrame({"item": names, "rate": rates, "n": [n] * len(rates)}, schema_overrides={"n": pl.Int64})
    return make_task(items, table, TABLES.population(focal) if isinstance(focal, str) else focal, reference)


def result(model, posed):
    return Extrapolation.of(posed, model, model.predict(posed))


def stated(mean, sd):
    return Population(f"N({mean}, {sd})", "", ability=Ability(mean, sd, mean, mean))


@pytest.mark.parametrize("slope", [0.5, 0.8, 1.3])
@pytest.mark.parametrize("options", [None, 4])
def test_two_normal_groups_have_a_closed_form(world, slope, options):
    rates = np.array([0.3, 0.5, 0.9])
    posed = task(rates, stated(0.2, 1.0), stated(-0.5, 1.2), n_options=[options] * 3)
    fixed = world.assume(slope=slope)
    model = PostStratification(world=fixed, draws=20)
    floor = 0 if options is None else 1 / options
    difficulty = 0.2 - np.sqrt(1 + slope**-2) * norm.ppf((rates - floor) / (1 - floor))
    expected = floor + (1 - floor) * norm.cdf((-0.5 - difficulty) / np.sqrt(1.44 + slope**-2))
    assert model.predict(posed).rate[0] == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("country", ["DEU", "IND"])
def test_a_country_keeps_its_own_rates_whatever_they_are(country):
    """Also rates that more people reach than the tables let answer, and with whole intervals."""
    rates = np.array([0.05, 0.5, 0.9, 0.99])
    there = TABLES.population(country)
    found = PostStratification(world=TABLES, draws=40).predict(task(rates, there, there))
    for part in (found.rate, found.low, found.high):
        assert part[0] == pytest.approx(rates, abs=1e-6)
    assert found.sensitivity.height == 0


def test_nothing_moves_the_rates_of_a_country_to_itself():
    india = TABLES.population("IND")
    assert PostStratification(world=TABLES, draws=20).drivers(task([0.9], india, india)).height == 0


def test_the_world_itself_keeps_its_rates():
    rates = [0.02, 0.1, 0.4, 0.7]
    found = PostStratification(draws=20).predict(task(rates, WORLD, WORLD.with_(name="again")))
    assert found.rate[0] == pytest.approx(rates, abs=1e-5)
    assert "know no difference between the two populations" in found.warnings[0]


def test_agrees_with_brute_force_over_every_stratum(world):
    """One root and one sum per item and draw, without grid, kernel or quadrature."""
    rates = np.array([0.08, 0.35, 0.8])
    pupils = Population("p", "", ages=(13, 15), countries=("CHL", "JPN", "NER"), shares=(1, 2, 1), in_school=True)
    transfer = Transfer(world, task(rates, pupils, n_options=[4, None, 3]))
    draws = sample(transfer.assumptions, 3, np.random.default_rng(3))
    found = transfer.rates(transfer.stated(draws))
    domain = Domain("quantitative", True, read_curves(world.curves))
    floors = np.array([1 / 4, 0, 1 / 3])
    for draw in range(3):
        one = {name: values[[draw]] for name, values in draws.items()}
        groups = []
        for cells in (transfer.focal_cells, transfer.reference_cells):
            strata = Strata.from_cells(cells)
            part = abilities(strata, one, domain, given="")
            groups.append((strata.weight, part.mean[0], part.variance[0], part.present[0], part.able[0]))
        for item, rate in enumerate(rates):
            floor = min(floors[item] * one["guessing"][0], rate)

            def success(difficulty, group, floor=floor, slope=one["slope"][0], groups=tuple(groups)):
                weight, mean, variance, present, able = groups[group]
                known = norm.cdf((mean - difficulty) / np.sqrt(variance + slope**-2))
                return float(np.sum(weight * present * (floor + able * (1 - floor) * known)))

            if floor == rate:
                difficulty = 50.0
            else:
                difficulty = brentq(lambda b, target=rate, at=success: at(b, 0) - target, -40, 40)
            assert found[item, draw] == pytest.approx(success(difficulty, 1), abs=3e-4)


@settings(max_examples=15)
@given(rates=st.lists(st.floats(0.02, 0.98), min_size=2, max_size=6, unique=True), mean=st.floats(-1, 1))
def test_easier_items_stay_easier_and_abler_focal_groups_mean_harder_items(rates, mean):
    low, high = (
        transfer.rates(transfer.stated(central(transfer.assumptions)))[:, 0]
        for transfer in (Transfer(TABLES, task(sorted(rates), stated(mean + more, 1.0))) for more in (0.0, 0.3))
    )
    assert (np.diff(low) >= 0).all()
    assert (high <= low).all()


def test_intervals_cover_simulated_truth(world):
    """Truth drawn from the model, all its sources of error included, one world per item; 400 people each."""
    rng = np.random.default_rng(11)
    size = 300
    true = rng.uniform(0.1, 0.9, size)
    transfer = Transfer(world, task(true))
    drawn = replace(transfer.sampled(size, rng), focal_rate=np.repeat(true[:, None], size, axis=1))
    truth = np.diag(transfer.rates(drawn))
    observed = rng.binomial(400, true) / 400
    found = PostStratification(world=world, draws=400).predict(task(observed, n=400))
    covered = ((found.low[0] <= truth) & (truth <= found.high[0])).mean()
    assert 0.86 <= covered <= 0.94


def test_more_people_and_a_nearer_population_narrow_the_interval():
    model = PostStratification(draws=200)
    pupils = Population("a", "", ages=(15, 15), countries=("DEU",), in_school=True)
    pool = Population("b", "", ages=(15, 15), countries=("DEU", "FRA", "AUT"), shares=(2, 1, 1), in_school=True)
    far = Population("c", "", ages=(15, 15), countries=("FRA",), in_school=True)

    def width(reference, n):
        found = model.predict(task([0.5], pupils, reference, n=n))
        return found.high[0, 0] - found.low[0, 0]

    assert width(pool, 5000) < width(far, 5000) < width(far, 20)


def test_seed_reproduces_and_the_rate_does_not_depend_on_it():
    posed = task([0.3, 0.6])
    one, two, other = (result(PostStratification(draws=50, seed=seed), posed).table for seed in (1, 1, 2))
    assert one.equals(two)
    assert one["rate"].equals(other["rate"])
    assert not one["low"].equals(other["low"])


def test_result_says_how_it_came_about():
    found = result(PostStratification(draws=50), task([0.19, 0.5], n=1000))
    assert found.table.columns == ["item", "rate", "low", "high", "status", "method"]
    assert found.table["status"].unique().to_list() == ["extrapolated"]
    assert (found.table["low"] <= found.table["rate"]).all()
    assert (found.table["rate"] <= found.table["high"]).all()
    assert found.settings == {"draws": 50, "seed": 0, "level": 0.9, "domain": None, "links": 0}
    assert "pisa → world" in str(found)
    assert "hangs most on: item_by_country" in str(found)
    assert isinstance(PostStratification(draws=50), Extrapolator)


def test_sensitivity_names_every_source_that_has_an_effect_and_shares_sum_to_one():
    table = PostStratification(draws=50).predict(task([0.3, 0.6], n=2000)).sensitivity
    assert table["share"].sum() == pytest.approx(1)
    assert table["share"].is_sorted(descending=True)
    assert "schooling_fluid" not in table["assumption"].to_list()
    assert {"mean of pisa", "sampling of the focal rate", "item_by_country"} <= set(table["assumption"])


@pytest.mark.slow
def test_sensitivity_accounts_for_the_spread_of_the_draws(world):
    """Variances to first order add up to that of the draws, when only the assumptions vary."""
    model = PostStratification(world=world.assume(item_by_country=0.0, country_score=0.0), draws=2000)
    found = model.predict(task([0.3]))
    table = found.sensitivity
    steps = norm.ppf(table["rate_high"].to_numpy()) - norm.ppf(table["rate_low"].to_numpy())
    variance = (steps * [triangular_sd(*row) for row in table.select("low", "value", "high").iter_rows()]) ** 2
    low, high = norm.ppf([found.low[0, 0], found.high[0, 0]])
    assert np.sqrt(variance.sum()) == pytest.approx((high - low) / (2 * norm.ppf(0.95)), rel=0.12)
    assert table["share"].to_numpy() == pytest.approx(variance / variance.sum(), abs=1e-6)


def test_breakdowns_add_up_to_the_whole():
    model = PostStratification(draws=50)
    posed = task([0.19, 0.6])
    whole = model.predict(posed).rate.mean()
    for by in ("region", "age", "attainment"):
        table = model.breakdown(posed, by=by)
        assert table.columns == [by, "share", "rate", "low", "high"]
        assert table["share"].sum() == pytest.approx(1)
        assert (table["share"] * table["rate"]).sum() == pytest.approx(whole, abs=2e-4)


def test_drivers_add_up_to_the_way_between_the_populations():
    model = PostStratification(draws=50)
    posed = task([0.19])
    table = model.drivers(posed)
    assert table["driver"].to_list() == list(DRIVERS)
    assert 0.19 + table["change"].sum() == pytest.approx(model.predict(posed).rate[0, 0], abs=1e-6)
    change = dict(table.select("driver", "change").iter_rows())
    assert 0 < change.pop("specialisation") < 0.005, "some adults know a hard subject better than their schooling says"
    assert max(change.values()) < 0, "everything else that sets the world apart from PISA lowers the rate"


def test_a_focal_group_that_is_a_mixture_has_its_shape_as_a_last_row():
    """Pupils of two very different countries are no normal group, and the changes still sum to the whole change."""
    pupils = Population("p", "", ages=(10, 18), countries=("JPN", "NER"), shares=(1, 1), in_school=True)
    model, posed = PostStratification(draws=20), task([0.05, 0.19], pupils)
    table = model.drivers(posed)
    assert table["driver"].to_list() == [*DRIVERS, "shape"]
    assert table["change"][-1] < -0.003
    assert 0.12 + table["change"].sum() == pytest.approx(model.predict(posed).rate.mean(), abs=1e-9)


@pytest.mark.slow
def test_specialisation_and_language_are_drivers_of_their_own():
    """A loss of 0.2 units by language is a shift of the adults' mean; specialisation spreads taught subjects alone."""
    loud = World.load().assume(language=0.2, specialisation=0.6)
    adults = WORLD.with_(name="adults", ages=(30, 30))
    for domain, spreads in (("mathematics", True), ("matrices", False)):
        model = PostStratification(world=loud, draws=50, domain=domain)
        change = dict(model.drivers(task([0.19], "pisa", adults)).select("driver", "change").iter_rows())
        assert change["language"] < -0.005
        assert (change["specialisation"] > 0.001) == spreads
    rows = PostStratification(draws=50).predict(task([0.19])).sensitivity["assumption"].to_list()
    assert {"specialisation", "language", "regional_link"} <= set(rows)


def test_a_country_takes_the_link_of_its_subregion_and_a_stated_mean_takes_none(world):
    india, japan = (cells_of(world.population(name), world)["regional"] for name in ("India", "Japan"))
    assert india.unique().to_list() == [-0.771]
    assert japan.unique().to_list() == [0.0]
    assert cells_of(world.population("icar"), world)["regional"].to_list() == [0.0]


def test_a_sample_that_states_its_mean_differs_by_learning_alone():
    table = PostStratification(draws=20).drivers(task([0.5], stated(0.0, 1.0), stated(0.6, 1.0)))
    assert table.filter(pl.col("change").abs() > 1e-9)["driver"].to_list() == ["learning"]


@pytest.mark.slow
def test_knowledge_grows_with_age_and_reasoning_falls():
    model = PostStratification(draws=50)
    old = WORLD.with_(name="old", ages=(60, 70))
    young = WORLD.with_(name="young", ages=(20, 25))
    change = {}
    for domain in ("vocabulary", "reasoning"):
        items = pl.DataFrame({"item": ["a"], "domain": [domain]})
        posed = make_task(items, {"item": ["a"], "rate": [0.5]}, young, old)
        change[domain] = dict(model.drivers(posed).select("driver", "change").iter_rows())["ageing"]
    assert change["reasoning"] < 0 < change["vocabulary"]


def test_paper_example_is_near_the_prototype_on_the_same_inputs():
    prototype = World.load().assume(regional_link=0.0, specialisation=0.0)
    rate = PostStratification(world=prototype, draws=20).predict(task([0.19], "pisa-oecd")).rate[0, 0]
    assert rate == pytest.approx(0.038, abs=0.003)
    assert PostStratification(draws=20).predict(task([0.19], "pisa-oecd")).rate[0, 0] < rate


def test_rates_of_exactly_zero_or_one_follow_the_stated_rule():
    found = PostStratification(draws=50).predict(task([0.0, 1.0], n=50))
    nearly = PostStratification(draws=50).predict(task([0.5 / 51, 50.5 / 51], n=50))
    assert found.rate == pytest.approx(nearly.rate)
    assert "2 rates of exactly 0 or 1 read as (correct + ½) / (n + 1)" in found.warnings
    assert ((found.low >= 0) & (found.high <= 1)).all()


def test_items_worse_than_chance_are_carried_over_with_a_warning():
    found = PostStratification(draws=100).predict(
        task([0.12], reference=WORLD.with_(ages=(15, 120)), n_options=[3], n=500)
    )
    assert found.rate[0] == pytest.approx([0.12], abs=1e-6)
    assert found.high[0, 0] - found.low[0, 0] > 0.05
    assert "answered worse than chance" in found.warnings[0]


def test_known_slopes_are_used():
    flat, steep = (PostStratification(draws=20).predict(task([0.5], slope=[slope])).rate[0, 0] for slope in (0.3, 2.0))
    assert flat > steep + 0.05


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rates": [1.2]}, "rate must lie between 0 and 1, got 1.2"),
        ({"rates": [0.0]}, "rate of exactly 0 and no n; give n"),
        ({"rates": [1.0]}, "rate of exactly 1 and no n; give n"),
        ({"rates": [0.4], "n": 0}, "n must be above 0, got 0 for 'i0'"),
        ({"rates": [0.4, 0.5], "n": -5}, "n must be above 0, got -5 for 'i0'"),
        ({"rates": []}, "no rows; add at least one item with its rate"),
        ({"rates": [0.4], "slope": [-1.0]}, "slope must be above 0, got -1 for 'i0'"),
    ],
)
def test_impossible_input_is_refused(change, message):
    with pytest.raises(MensuraError, match=message):
        PostStratification(draws=20).predict(task(**change))


def test_settings_out_of_range_are_refused():
    with pytest.raises(MensuraError, match="at least 20"):
        PostStratification(draws=5)
    with pytest.raises(MensuraError, match="between 0 and 1"):
        PostStratification(level=90)
    with pytest.raises(MensuraError, match="by: got 'mood'; expected one of region"):
        PostStratification(draws=20).breakdown(task([0.3]), by="mood")


def test_unknown_domains_are_named():
    posed = task([0.3])
    odd = replace(posed, items=posed.items.with_columns(domain=pl.lit("juggling")))
    found = PostStratification(draws=20).predict(odd)
    assert (
        "domain juggling is unknown; items are treated as literacy. Name another: --domain mathematics"
        in found.warnings
    )


def test_extrapolate_reads_who_was_tested_from_the_pool():
    rng = np.random.default_rng(5)
    persons = pl.DataFrame({"person": range(200), "country": ["JPN"] * 100 + ["CHL"] * 100, "age": [15.5] * 200})
    answers = pl.DataFrame({"person": range(200), "m1": rng.integers(0, 2, 200), "m2": rng.integers(0, 2, 200)})
    items = pl.DataFrame({"item": ["m1", "m2"], "domain": ["mathematics"] * 2})
    pool = ItemPool.from_answers("p", items, answers, persons, by=["country"])
    whole = extrapolate(pool, draws=50)
    part = extrapolate(pool, group="country=JPN", to="Chile", draws=50)
    assert whole.focal.countries == ("CHL", "JPN")
    assert part.focal.countries == ("JPN",)
    assert part.reference.countries == ("CHL",)
    with pytest.raises(MensuraError, match="method: got 'magic'; expected one of"):
        extrapolate(pool, method="magic")


@pytest.mark.shared
def test_near_the_prototype_over_its_whole_grid(world, shared):
    """Ours counts children out of school and draws on scores obtained by look-up alone; the rest is the same.

    But for the regional links and specialisation, which the prototype has not.
    """
    world = world.assume(regional_link=0.0, specialisation=0.0)
    grid = pl.read_csv(shared / "data/world/prototype_world.csv").filter(pl.col("domain") != "knowledge")
    words = {"quantitative": "mathematics", "literacy": "reading", "fluid": "matrices"}
    for (name,), part in grid.group_by("domain"):
        model = PostStratification(world=world, draws=20, domain=words[name])
        found = model.predict(task(part["p_source_PISA_OECD"].to_list(), "pisa-oecd")).rate[0]
        assert found == pytest.approx(part["p_world_all_ages"].to_numpy(), rel=0.08)


def test_a_single_country_is_less_sure_than_the_world(world):
    pupils = Population("p", "", ages=(15, 15), countries=("DEU",), in_school=True)
    near, far, wide = (
        Transfer(world, task([0.5], pupils, world.population(name).with_(ages=(15, 15))))
        for name in ("DEU", "FRA", "world")
    )
    assert near.distance(near.reference_cells) == pytest.approx(0)
    assert far.distance(far.reference_cells) == pytest.approx(np.sqrt(2))
    assert 1 < wide.distance(wide.reference_cells) < 1.1


def adults(country):
    return TABLES.population(country).with_(ages=(18, 120))


def known(rate, focal, reference, world=TABLES, **columns):
    """The reference adults' rate on one knowledge item."""
    posed = task([rate], focal, reference, **columns)
    posed = replace(posed, items=posed.items.with_columns(domain=pl.lit("general knowledge")))
    return PostStratification(world=world, draws=20).predict(posed).rate[0, 0]


def test_knowledge_follows_learning_scores_only_in_part():
    """A fact that school does not teach differs less between countries than their learning scores say."""
    germany, ghana = adults("DEU"), adults("GHA")
    whole = known(0.7, germany, ghana, TABLES.assume(follow_knowledge=1.0))
    assert whole + 0.1 < known(0.7, germany, ghana) < 0.6


def test_poorer_countries_say_dont_know_more_often():
    """Germany and Russia learn alike; where "don't know" is an answer, Russians lose, where they must choose, not."""
    germany, russia = adults("DEU"), adults("RUS")
    alike = TABLES.assume(income_knowledge=0.0)
    assert known(0.6, germany, russia) < known(0.6, germany, russia, alike) - 0.02
    assert known(0.6, germany, russia, n_options=[3]) == known(0.6, germany, russia, alike, n_options=[3])


def test_people_who_cannot_read_can_know_an_answer():
    """Surveys of knowledge ask aloud, so illiteracy is no ceiling there."""
    rich, poor = adults("FRA"), adults("NER")
    assert known(0.95, rich, poor) > known(0.95, rich, poor, TABLES.assume(reading_knowledge=1.0)) + 0.1


def departing(domain, germans, french, **assumed):
    """Width of the interval of one item that half of the Germans solve, for French people."""
    posed = task([0.5], germans, french)
    posed = replace(posed, items=posed.items.with_columns(domain=pl.lit(domain)))
    found = PostStratification(world=TABLES.assume(**assumed), draws=400).predict(posed)
    return found.high[0, 0] - found.low[0, 0]


@pytest.mark.parametrize(("narrower", "wider"), [("reading", "mathematics"), ("reading", "knowledge")])
def test_countries_depart_more_in_some_domains(narrower, wider):
    pupils = [adults(name).with_(ages=(15, 15), in_school=True) for name in ("DEU", "FRA")]
    assert departing(narrower, *pupils) < departing(wider, *pupils)


def test_adults_depart_at_least_as_in_knowledge_because_only_pupils_taught_the_other_domains():
    grown = adults("DEU"), adults("FRA")
    pupils = [one.with_(ages=(15, 15), in_school=True) for one in grown]
    assert departing("reading", *grown) > 1.2 * departing("reading", *grown, departures_knowledge=0.9)
    assert departing("reading", *pupils) == departing("reading", *pupils, departures_knowledge=0.9)


def test_income_groups_of_cells(world):
    """A country has its own group, a subregion the mean of its people; a table without groups makes no difference."""
    assert set(cells_of(world.population("IND"), world)["income"]) == {1.0}
    south = cells_of(WORLD, world).filter(pl.col("subregion") == "Southern Asia")["income"]
    assert 0.8 < south[0] < 1.2
    bare = replace(world, countries=world.countries.drop("income"))
    assert set(cells_of(WORLD, bare)["income"]) == {3.0}
