"""Predict success on suites that were not run, from a fit of horizons: what ``benchmarks.horizons`` checks."""

from __future__ import annotations

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, expit
from mensura.horizon.fitting import PRIORS, Mode
from mensura.horizon.lengths import fit_lengths
from mensura.horizon.reading import read_times
from mensura.horizon.result import HorizonFit


def predict_suites(fit: HorizonFit, times: pl.DataFrame, *, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return subject, suite, task, rate; and subject, suite, rate, low, high: the mean of one run per task.

    ``times``: suite, task, minutes and how, as for ``fit_horizons``.
    """
    new = read_times(times, [])[0]
    rng = np.random.default_rng(seed)
    rates, means = [], []
    for mode, theta in zip(fit.modes, fit.draws, strict=True):
        one, other = _predict(mode, theta, fit.data.times, new, rng)
        rates.append(one)
        means.append(other)
    return pl.concat(rates), pl.concat(means)


def _predict(
    mode: Mode, theta: Floats, old: pl.DataFrame, new: pl.DataFrame, rng: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return rates by task and means by suite of all subjects of one fit on new suites."""
    at, effect, draws = mode.places, mode.spreads.effect, theta.shape[0]
    inside = old.filter(pl.col("suite").is_in([suite.name for suite in mode.design.suites]))
    times = pl.concat(
        [inside.filter(~pl.col("suite").is_in(new["suite"].unique().to_list())), new], how="diagonal_relaxed"
    )
    tasks = times.select("suite", "task").unique().sort("suite", "task")
    lengths = fit_lengths(times, tasks)
    rates, means = [], []
    slip = float(np.mean(mode.spreads.slip))
    for name in sorted(set(new["suite"])):
        place = lengths.suites.index(name)
        own = (tasks["suite"] == name).to_numpy()
        count = int(own.sum())
        chance = tasks.filter(own).join(
            new.select("suite", "task", "chance").unique(["suite", "task"]),
            on=["suite", "task"],
            how="left",
            maintain_order="left",
        )
        guess = chance["chance"].fill_null(0.0).to_numpy().astype(float)
        shared = np.sqrt(lengths.shared[place, place]) * rng.standard_normal((draws, 1))
        noise = rng.standard_normal((draws, count))
        x = lengths.mean[own] + shared + np.sqrt(lengths.variance[own]) * noise
        several = len(mode.design.suites) > 1  # one suite cannot show how suites differ: the prior says it
        spread = {key: effect[key] if several else PRIORS[key][0] for key in ("v", "g", "w")}
        freedom = len(mode.design.suites) + 2  # few suites show how suites differ, as in the fit's own draws
        v, g = (spread[key] * rng.standard_normal((draws, 1)) for key in ("v", "g"))
        v *= np.sqrt(freedom / rng.chisquare(freedom, (draws, 1)))
        e = effect["e"] * rng.standard_normal((draws, count)) + v
        for who, subject in enumerate(mode.design.subjects):
            w = spread["w"] * rng.standard_normal((draws, 1))
            a, b = theta[:, at.a][:, who, None] + w, theta[:, at.b][:, who, None] + g
            chances = guess + (1 - guess - slip) * expit(a - b * x - e)
            rates.append(
                pl.DataFrame(
                    {"subject": subject, "suite": name, "task": tasks.filter(own)["task"], "rate": chances.mean(0)}
                )
            )
            ran = (rng.random((draws, count)) < chances).mean(1)
            low, high = np.quantile(ran, (0.05, 0.95))
            means.append((subject, name, float(chances.mean()), float(low), float(high)))
    columns = {"subject": pl.String, "suite": pl.String, "rate": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.concat(rates), pl.DataFrame(means, schema=columns, orient="row")
