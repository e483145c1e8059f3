"""Worlds with a known truth, one for each method, and what the method knows of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from benchmarks.simulated_model import ErrorShape, SimulatedModel
from mensura.core.arrays import Floats, Mask, expit, logit
from mensura.extrapolation import Correction, Task, cases_of, make_task
from mensura.extrapolation.scoring import trials_of
from mensura.extrapolation.straight_line import Prior
from mensura.extrapolation.transfer import Transfer
from mensura.people import Population, World
from tests.extrapolation.conftest import simulate_case, simulate_pool, table_of

LINE = Prior(shift_sd=0.4, slope=0.9, slope_sd=0.05, interaction=0.2)
POOL = Correction(damping=0.85, damping_sd=0.1, shift_sd=0.15, item_sd=0.2, width=0.7)
ITEM = Correction(damping=1.0, damping_sd=0.0, shift_sd=0.0, item_sd=0.45, width=1.0)
STATED = 0.08  # half-width, in rates, of the intervals that the language model states
LINKS, ITEMS = 5, 12
TABLES = World.load()
GERMAN = Population("german", "", ages=(15, 15), countries=("DEU",), in_school=True)
NEIGHBOURS = GERMAN.with_(name="neighbours", countries=("DEU", "FRA", "AUT"), shares=(2, 1, 1))


@dataclass(frozen=True)
class Group:
    """A task, the reference's true rates, the items to predict, and settings that only this group has."""

    task: Task
    truth: Floats
    hidden: Mask
    settings: Mapping[str, object] = field(default_factory=dict)


def task_of(rates, n=None):
    """Mathematics items with the rates of German pupils; those of Germany, France and Austria are wanted."""
    names = [f"i{k}" for k in range(len(rates))]
    items = pl.DataFrame({"item": names, "domain": ["mathematics"] * len(rates)})
    table = pl.DataFrame({"item": names, "rate": rates}).with_columns(n=pl.lit(n, dtype=pl.Int64))
    return make_task(items, table, GERMAN, NEIGHBOURS)


def on_a_line(prior, groups):
    """Return a function that draws groups of the line model, with five links each.

    It takes, as all these functions do, a factor on the standard deviations that the method assumes.
    """

    def simulate(spread):
        rng = np.random.default_rng(3)
        wide = replace(prior, shift_sd=spread * prior.shift_sd, interaction=spread * prior.interaction)
        known = np.arange(ITEMS) < LINKS
        for _ in range(groups):
            case = simulate_case(rng, wide, items=ITEMS)
            yield Group(case.linked(known[None]), case.truth, ~known)

    return simulate


def in_pools(spread):
    """Countries of whole pools, each item hidden once; the factor applies to every second country."""
    for seed in range(3):
        interaction = 0.3 * np.array([1.0, spread] * 3)
        cases = cases_of(simulate_pool(seed=seed, items=20, interaction=interaction))
        for trial in trials_of("slices", cases, links=4, draws=1, rng=np.random.default_rng(seed)):
            for task, hidden in zip(trial.tasks, trial.hidden, strict=True):
                yield Group(task, trial.case.truth, hidden)


def in_the_world(spread):
    """Rates by post-stratification, with another draw of every assumption for each item."""
    rng = np.random.default_rng(11)
    size = 250
    true = rng.uniform(0.1, 0.9, size)
    transfer = Transfer(TABLES, task_of(true, 400))
    drawn = transfer.sampled(size, rng)
    drawn = replace(drawn, focal_rate=np.repeat(true[:, None], size, axis=1), departure=spread * drawn.departure)
    observed = task_of(rng.binomial(400, true) / 400, 400)
    yield Group(observed, np.diag(transfer.rates(drawn)), np.ones(size, dtype=bool))


def asked_at_once(spread):
    """Groups that a language model misjudges as the correction says; its stated intervals are part of that."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        x, gap = rng.normal(0, 0.7, ITEMS), rng.normal(0.5, 0.3, ITEMS)
        estimate = expit(x + gap)
        low, high = (logit(np.clip(estimate + side, 0.005, 0.995)) for side in (-STATED, STATED))
        own = np.hypot(POOL.item_sd, POOL.width * (high - low) / 2 / 1.6448536)
        shift, damping = POOL.shift_sd * rng.normal(), POOL.damping + POOL.damping_sd * rng.normal()
        truth = expit(x + damping * gap + spread * (shift + own * rng.normal(size=ITEMS)))
        task = task_of(expit(x))
        asker = SimulatedModel(dict(zip(task.names, estimate, strict=True)), stated=STATED)
        yield Group(task, truth, np.ones(ITEMS, dtype=bool), {"asker": asker})


def asked_one_by_one(spread):
    """Items that a language model misjudges by 0.45 logits; every call adds an error of its own."""
    rng = np.random.default_rng(6)
    size = 400
    x = rng.normal(0, 0.6, size)
    estimate = x + rng.normal(0, 0.3, size)
    truth = expit(estimate + spread * ITEM.item_sd * rng.normal(size=size))
    task = task_of(expit(x))
    asker = SimulatedModel(dict(zip(task.names, expit(estimate), strict=True)), ErrorShape(repeat=0.1 * spread))
    yield Group(task, truth, np.ones(size, dtype=bool), {"asker": asker})


RIVALS = {
    "described": ("linked",),
    "linked": ("described",),
    "hierarchical": ("linked", "described"),
    "poststratification": ("described",),
    "whole-pool": ("item-by-item",),
    "item-by-item": ("whole-pool",),
}
"""Methods whose intervals are clearly wider or narrower on the same tasks."""
ON_A_LINE = ("described", "linked")
SHIPPED = {"item-by-item": {"variants": 1}}
"""Settings of rivals that know nothing of the simulation."""
SIMULATIONS = {
    "described": on_a_line(LINE, 250),
    "linked": on_a_line(LINE, 200),
    "hierarchical": in_pools,
    "poststratification": in_the_world,
    "whole-pool": asked_at_once,
    "item-by-item": asked_one_by_one,
}
KNOWN = {
    "described": {"priors": table_of(LINE)},
    "linked": {"priors": table_of(LINE)},
    "poststratification": {"draws": 400},
    "whole-pool": {"correction": POOL},
    "item-by-item": {"correction": ITEM, "variants": 3},
}
"""What each method knows of its own simulation."""


def rival_settings(name, rival):
    """Return what a rival knows of the simulation of another method."""
    return KNOWN[rival] if name in ON_A_LINE else SHIPPED.get(rival, {})
