"""Simulated pools with a known truth."""

from itertools import islice

import numpy as np
import polars as pl
import pytest

from mensura.core.arrays import expit
from mensura.extrapolation import Case, Task
from mensura.extrapolation.straight_line import Prior
from mensura.people import WORLD, ItemPool

COUNTRIES = {"CHL": 1.0, "JPN": -0.6, "KOR": -1.1, "USA": 0.2, "AUS": 0.0, "ITA": 0.3}


def simulate_pool(
    seed: int = 0, items: int = 40, n: int = 400, interaction: float | np.ndarray = 0.3, countries: int = len(COUNTRIES)
) -> ItemPool:
    """Countries of different ability, items with a country-specific part, and the pooled sample ``all``.

    ``interaction``: the standard deviation of that part in logits, for all countries or for each.
    """
    rng = np.random.default_rng(seed)
    easiness = rng.normal(0, 1, items)
    rows, right = [], np.zeros(items)
    parts = np.broadcast_to(interaction, countries)
    for (country, shift), own in zip(islice(COUNTRIES.items(), countries), parts, strict=True):
        rate = expit(easiness - shift + own * rng.normal(size=items))
        correct = rng.binomial(n, rate)
        right += correct
        rows += [(f"i{k:03d}", "country", f"country={country}", n, int(c)) for k, c in enumerate(correct)]
    rows += [(f"i{k:03d}", "all", "all", n * countries, int(c)) for k, c in enumerate(right)]
    rates = pl.DataFrame(rows, schema=["item", "covariate", "group", "n", "n_correct"], orient="row")
    domains = ["Algebra" if k % 2 else "Geometry" for k in range(items)]
    table = pl.DataFrame({"item": [f"i{k:03d}" for k in range(items)], "domain": domains})
    return ItemPool.from_rates("timss2011_g8_sim", table, rates)


def simulate_case(
    rng: np.random.Generator,
    prior: Prior,
    *,
    items: int = 30,
    n: int = 500,
    share: float = 0.2,
    expected: float = 0.0,
    ratio: float = 1.0,
    kind: str = "other",
) -> Case:
    """Draw a case from the model itself, so that intervals must cover what they say.

    ``expected``: the shift that facts predict; ``ratio``: the part of it that is there.
    """
    x = rng.normal(0, 1, items)
    focal = rng.binomial(n, expit(x)) / n
    shift = prior.shift_sd * rng.standard_t(4) / 2**0.5
    slope = prior.slope + prior.slope_sd * rng.normal()
    y = x + ratio * expected + shift + (slope - 1) * (x - x.mean()) + prior.interaction * rng.normal(size=items)
    rest = round(n / share * (1 - share))
    rest_rate = rng.binomial(rest, expit(y)) / rest
    task = Task(
        items=pl.DataFrame({"item": [f"i{k}" for k in range(items)]}),
        rate=focal,
        n=np.full(items, float(n)),
        focal=WORLD.with_(name="g"),
        reference=WORLD,
        links=np.full((1, items), np.nan),
        links_n=np.full(items, n / share),
        share=np.full(items, share),
        covariate="c",
        group="g",
        kind=kind,
        offset=np.full(items, expected),
        basis="matched" if expected else "none",
        concentration=0.0,
    )
    return Case(task, share * focal + (1 - share) * rest_rate)


def table_of(prior: Prior) -> pl.DataFrame:
    """A table of priors that has this one for every kind."""
    values = {name: getattr(prior, name) for name in prior.__dataclass_fields__}
    return pl.DataFrame([{"kind": "other", "basis": basis, **values} for basis in ("matched", "none")])


@pytest.fixture(scope="session")
def new_pool():
    return simulate_pool


@pytest.fixture(scope="session")
def new_case():
    return simulate_case


@pytest.fixture(scope="session")
def priors_of():
    return table_of


@pytest.fixture(scope="session")
def pool() -> ItemPool:
    return simulate_pool()


@pytest.fixture
def pool_folder(pool, tmp_path):
    folder = tmp_path / "timss2011_g8_sim"
    pool.write(folder)
    return folder
