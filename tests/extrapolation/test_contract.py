"""One contract: every method takes a task, states its own settings and sensitivity, and never sees the truth."""

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
import scipy

from benchmarks.simulated_model import ErrorShape, SimulatedModel
from mensura.core.errors import MensuraError
from mensura.extrapolation import (
    METHODS,
    SITUATIONS,
    Described,
    Extrapolation,
    Extrapolator,
    Linked,
    PostStratification,
    Prediction,
    cases_of,
    extrapolate,
    make_method,
    make_task,
    methods_of,
    validate,
)
from mensura.extrapolation.scoring import trials_of
from mensura.people import ItemPool, World
from tests.extrapolation.simulations import KNOWN, RIVALS, SIMULATIONS, rival_settings

MOST_ERROR = 2.5
"""Most mean absolute error of a method in its own world, as a multiple of the best one there."""
BY_CHANCE = 1e-3
"""Probability with which chance alone fails a method whose intervals contain what they say, on either side."""

ITEMS = pl.DataFrame({"item": ["a", "b", "c", "d"], "domain": ["mathematics"] * 4})
RATES = pl.DataFrame({"item": ["a", "b", "c", "d"], "n": [500] * 4, "rate": [0.2, 0.4, 0.6, 0.8]})
LINKS = pl.DataFrame({"item": ["a", "b"], "rate": [0.1, 0.25], "n": [900, 900]})
WORLD_TABLES = World.load()
JAPAN, KENYA = WORLD_TABLES.population("JPN"), WORLD_TABLES.population("KEN")
ASKER = SimulatedModel(defaultdict(lambda: 0.4), ErrorShape(item=0.1))
FAST = {
    "poststratification": {"draws": 20},
    "whole-pool": {"asker": ASKER},
    "item-by-item": {"asker": ASKER, "variants": 3},
}
FITTING = [(situation, name) for situation in SITUATIONS for name in methods_of(situation)]


def make(name):
    return make_method(name, **FAST.get(name, {}))


def task(links=LINKS, **changes):
    return make_task(ITEMS, RATES, JAPAN, KENYA, links=links, **changes)


def carried(method, posed):
    return Extrapolation.of(posed, method, method.predict(posed))


@pytest.fixture(scope="module")
def small(new_pool):
    return new_pool(seed=5, items=15)


def trials(cases, situation):
    return trials_of(situation, cases, links=4, draws=3, rng=np.random.default_rng(1))


@pytest.mark.parametrize(("situation", "name"), FITTING)
def test_a_prediction_matches_its_task_and_brackets_its_rates(small, situation, name):
    method = make(name)
    assert isinstance(method, Extrapolator)
    assert method.name == name
    trial = trials(cases_of(small), situation)[0]
    for posed in trial.tasks:
        found = method.predict(posed)
        assert isinstance(found, Prediction)
        assert found.rate.shape == found.low.shape == found.high.shape == posed.links.shape
        assert ((found.low >= 0) & (found.low <= found.rate) & (found.rate <= found.high) & (found.high <= 1)).all()
        assert found.interval


@pytest.mark.slow
@pytest.mark.parametrize(("situation", "name"), FITTING)
def test_the_truth_of_hidden_items_reaches_no_method(small, situation, name):
    """The hidden truth may be anything: predictions stay the same to the last digit, through slices too.

    In folds the other groups' rates on hidden items are swapped among those items, which keeps their mean.
    """
    cases = cases_of(small)
    for fold, trial in enumerate(trials(cases, situation)[0].tasks):
        hidden = ~trial.known.any(axis=0)
        changed = [_with_hidden_changed(case, hidden, swap=index > 0) for index, case in enumerate(cases)]
        other = trials(changed, situation)[0].tasks[fold]
        before, after = make(name).predict(trial), make(name).predict(other)
        for part in ("rate", "low", "high"):
            assert getattr(after, part) == pytest.approx(getattr(before, part), abs=1e-12)
        assert after.sensitivity.equals(before.sensitivity) or situation == "slices"


@pytest.mark.parametrize("name", ["linked", "described"])
def test_only_hierarchical_uses_the_other_groups_means_on_hidden_items(small, name):
    cases = cases_of(small)
    posed = trials(cases, "slices")[0].tasks[0]
    odd = replace(posed.slices, hidden_logit=posed.slices.hidden_logit + 1.0)
    before, after = make(name).predict(posed), make(name).predict(replace(posed, slices=odd))
    assert np.array_equal(before.rate, after.rate)
    moved = make("hierarchical").predict(replace(posed, slices=odd)).rate
    assert (moved[0] > make("hierarchical").predict(posed).rate[0])[~posed.known[0]].all()


def test_slices_hold_nothing_of_the_hidden_items_but_their_mean_and_number_of_answers(small):
    cases = cases_of(small)
    trial = trials(cases, "slices")[2]
    for posed, hidden in zip(trial.tasks, trial.hidden, strict=True):
        assert np.isnan(posed.links[0, hidden]).all()
        assert np.isfinite(posed.links[0, ~hidden]).all()
        assert len(posed.slices.tasks) == len(cases) - 1
        for other in posed.slices.tasks:
            assert np.isnan(other.rate[hidden]).all()
            assert np.isnan(other.links[0, hidden]).all()
            assert other.slices is None


def test_the_truth_is_in_no_field_of_a_task(small):
    """Not even among the items: columns that may state published rates stay out."""
    items = small.items.with_columns(published_rate=pl.lit(0.5), text=pl.lit("How many?"), option_1=pl.lit("1"))
    case = cases_of(ItemPool.from_rates(small.name, items, small.rates))[0]
    assert set(case.task.items.columns) == {"item", "domain", "text", "option_1"}
    assert np.isnan(case.task.links).all()
    arrays = [value for value in vars(case.task).values() if isinstance(value, np.ndarray)]
    assert not any(values.shape == case.truth.shape and np.array_equal(values, case.truth) for values in arrays)


def _with_hidden_changed(case, hidden, *, swap):
    """Turn the truth of hidden items around; of other groups also swap the rates among the hidden items."""
    truth = np.where(hidden, 1.0 - case.truth, case.truth)
    rate = case.task.rate.copy()
    if swap:
        places = np.flatnonzero(hidden)
        rate[places] = rate[np.roll(places, 1)]
    return replace(case, task=replace(case.task, rate=rate), truth=truth)


def predictions(name, groups, settings):
    """Return truth, rate, low and high of hidden items that are independent of each other.

    That is one item of each group, or all items of a world that draws everything anew for each item.
    """
    rows = []
    for number, group in enumerate(groups):
        made = SENSELESS[name]() if name in SENSELESS else make_method(name, **group.settings, **settings)
        found = made.predict(group.task)
        places = np.flatnonzero(group.hidden)
        for place in places if len(groups) == 1 else places[[number % len(places)]]:
            rows.append((group.truth[place], found.rate[0, place], found.low[0, place], found.high[0, place]))
    return np.array(rows).T


def keep_the_contract(name, world):
    """Assert that a method's intervals contain simulated truths as often as they say, and that its error is small."""
    groups = list(SIMULATIONS[world](1.0))
    truth, rate, low, high = predictions(name, groups, KNOWN.get(world, {}))
    contained = int(((low <= truth) & (truth <= high)).sum())
    least, most = scipy.stats.binom.ppf([BY_CHANCE, 1 - BY_CHANCE], len(truth), 0.9)
    assert least <= contained <= most, f"{name}: {contained} of {len(truth)}; expected {least:.0f} to {most:.0f}"
    rivals = {rival: rival_settings(world, rival) for rival in RIVALS[world]} | {world: KNOWN.get(world, {})}
    errors = [np.abs(predictions(rival, groups, told)[1] - truth).mean() for rival, told in rivals.items()]
    error = np.abs(rate - truth).mean()
    assert error <= MOST_ERROR * min(errors), f"{name}: error {error:.3f}; the best is {min(errors):.3f}"


@dataclass(frozen=True)
class Half:
    """A senseless method: every rate is 0.5, in a narrow interval."""

    def predict(self, task):
        half = np.full(task.links.shape, 0.5)
        return Prediction(half, half - 0.02, half + 0.02)


@dataclass(frozen=True)
class Sure:
    """A senseless method: the focal rates, in a tiny interval."""

    def predict(self, task):
        rate = np.broadcast_to(task.rate, task.links.shape)
        return Prediction(rate, np.maximum(rate - 0.002, 0), np.minimum(rate + 0.002, 1))


@dataclass(frozen=True)
class Anything:
    """A senseless method: the focal rates, in an interval that says nothing."""

    def predict(self, task):
        rate = np.broadcast_to(task.rate, task.links.shape)
        return Prediction(rate, rate * 0, rate * 0 + 1)


@dataclass(frozen=True)
class Backwards:
    """A senseless method: hard items are easy, in an interval that contains most rates."""

    def predict(self, task):
        rate = np.broadcast_to(1 - task.rate, task.links.shape)
        return Prediction(rate, rate * 0 + 0.19, rate * 0 + 0.81)


SENSELESS = {"half": Half, "sure": Sure, "anything": Anything, "backwards": Backwards}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_every_method_contains_the_truth_and_errs_little(name):
    keep_the_contract(name, name)


@pytest.mark.slow
@pytest.mark.parametrize("world", ["described", "linked", "hierarchical", "poststratification"])
@pytest.mark.parametrize("name", SENSELESS)
def test_a_senseless_method_breaks_the_contract(name, world):
    with pytest.raises(AssertionError, match=name):
        keep_the_contract(name, world)


def test_each_method_states_its_own_sensitivity():
    found = {name: carried(make(name), task()).sensitivity["assumption"].to_list() for name in methods_of("linked")}
    line = {"shift", "slope", "item-by-group interaction"}
    assert set(found["linked"]) == set(found["described"]) == line
    assert "item_by_country" in found["poststratification"]


def test_links_narrow_what_the_shift_leaves_open():
    tied, free = (carried(method, task()).sensitivity for method in (Linked(), Described()))
    swing = [table.filter(pl.col("assumption") == "shift")["swing"][0] for table in (tied, free)]
    assert swing[0] < swing[1]


@pytest.mark.parametrize("name", methods_of("linked"))
def test_links_are_measured_not_extrapolated(name):
    result = carried(make(name), task())
    assert result.table.drop("calls", strict=False).columns == ["item", "rate", "low", "high", "status", "method"]
    assert result.table["status"].to_list() == ["measured", "measured", "extrapolated", "extrapolated"]
    for column in ("rate", "low", "high"):
        assert result.table[column].to_list()[:2] == [0.1, 0.25]
    assert result.method == name
    assert result.settings["links"] == 2


def test_country_scores_move_the_described_rates():
    down = Described().predict(make_task(ITEMS, RATES, JAPAN, KENYA)).rate.mean()
    up = Described().predict(make_task(ITEMS, RATES, KENYA, JAPAN)).rate.mean()
    assert down < 0.5 < up


def test_without_a_fact_a_warning_says_so():
    found = Described().predict(make_task(ITEMS, RATES, JAPAN.with_(countries=(), name="somewhere"), KENYA))
    assert "no public fact" in found.warnings[0]


def test_a_wider_level_means_wider_intervals():
    narrow, wide = (Linked(level=level).predict(task()) for level in (0.5, 0.99))
    assert (wide.low < narrow.low).all()
    assert (narrow.high < wide.high).all()
    assert np.array_equal(narrow.rate, wide.rate)


@pytest.mark.parametrize("name", METHODS)
def test_a_level_outside_its_range_is_refused(name):
    with pytest.raises(MensuraError, match=r"level: expected a probability between 0 and 1 \(exclusive\), got 90"):
        make_method(name, level=90)


@pytest.mark.parametrize("name", METHODS)
def test_unknown_settings_are_refused_naming_those_allowed(name):
    with pytest.raises(MensuraError, match=f"method '{name}' has no setting 'drows'; expected .*"):
        make_method(name, drows=3)


def test_what_extrapolate_needs_is_said(small):
    with pytest.raises(MensuraError, match="method: got 'oracle'; expected one of hierarchical"):
        extrapolate(small, method="oracle")
    with pytest.raises(MensuraError, match="no setting 'drows'; expected world, draws, seed, level, domain"):
        extrapolate(small, drows=3)
    with pytest.raises(MensuraError, match="method 'linked' needs linking items"):
        extrapolate(small, method="linked")
    with pytest.raises(MensuraError, match="learns from the other groups of a pool"):
        extrapolate(small, method="hierarchical")
    with pytest.raises(MensuraError, match="method: got 3; expected a text or an Extrapolator"):
        extrapolate(small, method=3)
    with pytest.raises(MensuraError, match="settings 'level': give them to the method object"):
        extrapolate(small, method=Described(), level=0.5)
    with pytest.raises(MensuraError, match="kind: got 'contry'"):
        extrapolate(small, method="described", kind="contry")
    with pytest.raises(MensuraError, match="pool: got 3; expected an ItemPool"):
        extrapolate(3)


def test_extrapolate_takes_names_objects_paths_and_frames_of_any_library(small, tmp_path):
    small.write(tmp_path / "pool")
    links = small.rates_of("all").head(3).select("item", "rate", "n")
    arguments = {"group": "country=JPN", "to": "Chile", "method": "linked"}
    first = extrapolate(small, links=links, **arguments).table
    assert extrapolate(tmp_path / "pool", links=links.to_pandas(), **arguments).table.equals(first)
    assert extrapolate(str(tmp_path / "pool"), links=links.to_dict(), **arguments).table.equals(first)
    assert extrapolate(small, links=links, **{**arguments, "method": Linked()}).table.equals(first)


@pytest.mark.slow
def test_validate_takes_any_method_by_name_or_object(new_pool):
    small = new_pool(seed=5, items=6, countries=3)
    named = validate(small, method="poststratification")
    assert named.method == "poststratification"
    given = validate(small, method=PostStratification(draws=20))
    assert given.summary.height == 3
    assert given.settings["method"]["draws"] == 20
    with pytest.raises(MensuraError, match="no setting 'drows'"):
        validate(small, drows=3)


def test_validate_takes_the_path_of_a_pool_and_what_its_folder_says(small, tmp_path):
    small.write(tmp_path / "p")
    (tmp_path / "p" / "README.md").write_text("# TIMSS 2011 grade 8 mathematics\n", encoding="utf-8")
    found = validate(tmp_path / "p")
    assert found.settings["description"] == "p TIMSS 2011 grade 8 mathematics"


class Counting:
    """A method of another kind: half the focal rate, one call per item."""

    name, level = "counting", 0.9

    def predict(self, task):
        rate = np.broadcast_to(task.rate / 2, task.links.shape)
        return Prediction(rate, rate * 0, rate * 0 + 1, calls=np.ones(task.size, dtype=np.int64), warnings=("cheap",))


def test_a_method_of_a_user_is_validated_and_extrapolated(small):
    found = validate(small, method=Counting())
    assert found.settings["calls"] == 6 * 15, "pairs are left to the described method when calls cost"
    assert found.summary["coverage"].to_list() == [1.0] * 6
    assert any(warning.endswith("cheap") for warning in found.warnings)
    rates = small.rates_of("all")
    assert extrapolate(small, method=Counting(), focal="pisa").table["rate"].to_numpy() == pytest.approx(
        rates["rate"] / 2
    )


def test_slices_go_with_one_row_of_links(small):
    posed = trials(cases_of(small), "slices")[0].tasks[0]
    with pytest.raises(MensuraError, match="slices need exactly one row of links, got 2"):
        replace(posed, links=np.repeat(posed.links, 2, axis=0))
    with pytest.raises(MensuraError, match="one hidden mean and count for each of 5 groups"):
        replace(posed.slices, hidden_logit=np.zeros(2))


def test_results_are_short_in_print_and_tables_in_a_notebook(small):
    result = extrapolate(small, method="described", group="country=JPN", to="Chile")
    assert len(repr(result).splitlines()) < 30
    assert "described: 15 items" in repr(result)
    assert "hangs most on: " in repr(result)
    assert "<table" in result._repr_html_()
    assert list(result.tables()) == ["rates", "sensitivity"]
