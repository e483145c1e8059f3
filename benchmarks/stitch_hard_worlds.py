"""Coverage of the default stitching where its law does not hold: simulations of 70 models on 22 benchmarks, 40% filled.

The plain simulation obeys the law. In each other one a supposition fails: benchmarks have a ceiling of 0.93 that nobody
states, or ceilings from 0.85 to 0.99, some models have seen the tests, half of the tests leak slowly after publication,
errors have heavy tails, or success rises in two steps. Half of the tables have release dates; with slow leaks all have.
In ``batteries``, benchmarks of four domains measure a skill of their own more than the general one, which is the truth
asked for; nobody can know it from one battery, so it has no bar. ``coverage`` is the share of 90% intervals that
contain the simulated capability, ``top`` the bias of the best tenth in standard deviations, ``affected`` the coverage
among models whose scores leaked. ``found`` is the share of leaked scores that the fit lists as suspicious, ``right``
the share of listed scores that did leak. ``new score`` is the share of 90% intervals that contain a score that the fit
has not seen, drawn without a leak (but with a slow one). ``batteries`` is the share of intervals over batteries
(``mensura stitch --check batteries``) that contain the general capability.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.measured import record
from benchmarks.stitch_data import finish
from mensura.core.arrays import Floats, Mask, expit, logit
from mensura.stitching import Stitch, battery_intervals, stitch, to_date

MODELS, TESTS, FILLED, HELD = 70, 22, 0.4, 0.1
CEILING, CEILINGS, SATURATED, EASIER = 0.93, (0.85, 0.99), 0.9, 2.0
"""In the simulations with ceilings, this share of benchmarks is easier by so many units of capability."""
PUBLISHED, DRIFTING, DRIFT = (52.5, 55.5), 0.5, 0.45
"""Years in which tests come out; share of tests that leak slowly; what later models gain there, in logits a year."""
LEAKED_MODELS, LEAKED_TESTS, LEAK = 0.2, 1 / 3, (0.8, 2.0)
DEGREES, HEAVY_SCALE, HUMPS, STEEPER = 1.5, 0.25, 3.0, 2.0
DOMAINS, GENERAL = 4, 0.25
"""Domains of the simulation with batteries, and the share of the variance of a domain's skill that is general."""
"""Degrees of freedom and scale, in logits, of heavy-tailed errors; distance of the two steps, in capability, and
factor on their slope."""
NOISE = 0.01
"""Share of f (1 − f) that is the variance of a score in the other simulations."""
WORLDS = {
    "plain": 0.88,
    "ceiling": 0.85,
    "ceilings": 0.85,
    "leaked": 0.87,
    "slow leaks": 0.85,
    "heavy tails": 0.87,
    "two humps": 0.83,
    "batteries": np.nan,
}
"""The simulations, and the coverage that is asked of each."""
AFFECTED = 0.75
COLUMNS = ("coverage", "top", "rmse", "affected", "found", "right", "listed", "new score", "batteries")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=20, help="simulations of each kind")
    arguments.add_argument("--seed", type=int, default=0, help="first seed; other seeds are other simulations")
    arguments.add_argument("--worlds", nargs="*", choices=list(WORLDS), default=list(WORLDS), help="kinds to run")
    options = arguments.parse_args()
    print(f"{'simulation':14}{'bar':>7}" + "".join(f"{name:>10}" for name in COLUMNS) + f"{'runs':>6}")
    figures: dict[str, object] = {"runs": options.runs, "seed": options.seed}
    for world in options.worlds:
        runs = [one_run(world, np.random.default_rng([options.seed, k])) for k in range(options.runs)]
        mean = np.array([np.nanmean(column) if np.isfinite(column).any() else np.nan for column in np.transpose(runs)])
        figures[world] = dict(zip(COLUMNS, mean.tolist(), strict=True))
        cells = "".join(f"{value:10.3f}" for value in mean)
        print(f"{world:14}{WORLDS[world]:7.2f}{cells}{options.runs:6d}", flush=True)
        record(f"stitch.hard_{world.replace(' ', '_')}", f"{mean[0]:.0%}")
        if world == "batteries":
            record("stitch.hard_batteries_interval", f"{mean[-1]:.0%}")
        if world == "leaked":
            record("stitch.hard_leaked_models", f"{mean[3]:.0%}")
    finish(figures)


def one_run(world: str, rng: np.random.Generator) -> tuple[float, ...]:
    """Simulate one table, fit it and compare with the truth."""
    frame, held, true, leaked_models = simulate(world, rng)
    frame = frame if world == "slow leaks" or rng.random() < 0.5 else frame.drop("released")
    fit = stitch(frame.drop("leak"), parts="keep")
    table = fit.laplace.capabilities.sort("subject")
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    rows = [int(name[1:]) for name in table["subject"]]
    true, leaked_models = (true[rows] - true[rows].mean()) / true[rows].std(), leaked_models[rows]
    inside = (low <= true) & (true <= high)
    error = table["capability"].to_numpy() - true
    listed = getattr(fit, "suspicious", pl.DataFrame(schema={"subject": pl.String, "benchmark": pl.String}))
    both = listed.join(frame.filter("leak"), on=["subject", "benchmark"]).height
    leaks = frame["leak"].sum()
    predicted = fit.predict(held)
    caught = ((predicted["low"] <= held["score"]) & (held["score"] <= predicted["high"])).mean()
    return (
        float(inside.mean()),
        float(error[true >= np.quantile(true, 0.9)].mean()),
        float(np.sqrt(np.mean(error**2))),
        float(inside[leaked_models].mean()) if leaked_models.any() else np.nan,
        both / leaks if leaks else np.nan,
        both / listed.height if listed.height and leaks else np.nan,
        float(listed.height),
        float(caught),  # type: ignore[arg-type]
        over_batteries(fit, true) if world == "batteries" else np.nan,
    )


def over_batteries(fit: Stitch, true: Floats) -> float:
    """Return the share of intervals over batteries that contain the capability behind all domains."""
    domains = {name: str(int(name[1:]) % DOMAINS) for name in fit.data.benchmarks}
    table = battery_intervals(fit, domains).sort("subject")
    return float(((table["battery_low"].to_numpy() <= true) & (true <= table["battery_high"].to_numpy())).mean())


def simulate(world: str, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame, Floats, Mask]:
    """Return seen scores (with the column ``leak``), unseen scores, true capabilities, and models with leaks."""
    years = np.sort(rng.uniform(53, 57, MODELS))
    true = (years - 55) * 0.7 + rng.normal(0, 0.7, MODELS)
    difficulty, slope = rng.normal(0, 1.2, TESTS), np.exp(rng.normal(0.3, 0.3, TESTS))
    if world in ("ceiling", "ceilings"):
        difficulty -= np.where(np.arange(TESTS) < SATURATED * TESTS, EASIER, 0.0)
    ceiling = np.full(TESTS, CEILING if world == "ceiling" else 1.0)
    published, drift = np.full(TESTS, PUBLISHED[0]), np.zeros(TESTS)
    if world == "ceilings":
        ceiling = rng.uniform(*CEILINGS, TESTS)
    if world == "slow leaks":
        published, drift = rng.uniform(*PUBLISHED, TESTS), DRIFT * (rng.permutation(TESTS) < DRIFTING * TESTS)
    level = np.repeat(true[:, None], TESTS, axis=1)
    if world == "batteries":
        own = true.mean() + true.std() * rng.standard_normal((MODELS, DOMAINS))
        level = np.sqrt(GENERAL) * level + np.sqrt(1 - GENERAL) * own[:, np.arange(TESTS) % DOMAINS]
    eta = slope * (level - difficulty)
    if world == "two humps":
        apart = STEEPER * slope * HUMPS / 2
        f = (expit(STEEPER * eta - apart) + expit(STEEPER * eta + apart)) / 2
    else:
        f = ceiling * expit(eta)
    leaked = rng.permutation(MODELS) < LEAKED_MODELS * MODELS if world == "leaked" else np.zeros(MODELS, dtype=bool)
    leak = leaked[:, None] & (rng.random((MODELS, TESTS)) < LEAKED_TESTS)
    gain = np.where(leak, rng.uniform(*LEAK, leak.shape), drift * np.maximum(years[:, None] - published, 0.0))
    lifted = expit(logit(np.clip(f, 1e-6, 1 - 1e-6)) + gain)
    if world == "heavy tails":
        noise = HEAVY_SCALE * rng.standard_t(DEGREES, f.shape)
        score = unseen = expit(logit(np.clip(f, 1e-6, 1 - 1e-6)) + noise)
    else:
        score, unseen = (_noisy(mean, rng) for mean in (lifted, lifted if world == "slow leaks" else f))
    taken = rng.random(f.shape) < FILLED
    taken[np.arange(MODELS), rng.integers(TESTS, size=MODELS)] = True
    known = taken & (rng.random(f.shape) >= HELD)
    known |= taken & (known.sum(axis=1, keepdims=True) == 0)
    tables = []
    for which, values in ((known, score), (taken & ~known, unseen)):
        rows, cols = np.nonzero(which)
        tables.append(
            pl.DataFrame(
                {
                    "subject": [f"m{row:03d}" for row in rows],
                    "benchmark": [f"b{col:02d}" for col in cols],
                    "score": values[rows, cols],
                    "released": [to_date(year) for year in years[rows]],
                    "leak": leak[rows, cols],
                }
            )
        )
    return tables[0], tables[1], true, leaked


def _noisy(mean: Floats, rng: np.random.Generator) -> Floats:
    """Draw scores with the variance ``NOISE`` × mean (1 − mean)."""
    size = 1 / NOISE - 1
    return np.asarray(rng.beta(np.maximum(mean * size, 1e-3), np.maximum((1 - mean) * size, 1e-3)))


if __name__ == "__main__":
    run(main)
