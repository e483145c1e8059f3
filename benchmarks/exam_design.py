"""Do the intervals of an exam hold, and what do estimates made beforehand add? Simulated people, forms and models.

Run: python -m benchmarks.exam_design [--worlds 160]. People differ in ability (half of the simulations have a skewed
sample), items in discrimination, and some can be guessed: the analysis assumes none of that. Estimates of the rates
depart from a line by the spreads measured for a language model on eight public pools of real items, each in turn.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import polars as pl
from scipy.special import expit, logit

from benchmarks.measured import percent_range, record, take_option
from mensura.exam import comparison
from mensura.exam.comparison import scale
from mensura.exam.design import choose_items
from mensura.exam.rates import AnswerMatrix, combine, item_rates, mean_rate

PEOPLE, ITEMS, EACH = 120, 60, 12
WHOLE = 300  # items of the benchmark of which the exam's are a sample
DEPARTURES = (0.21, 0.44, 0.46, 0.60, 0.65, 0.73, 0.83, 0.84)
"""Spread, in logits, of real rates about a line in the estimates of a language model; one for each of eight pools."""
MODELS = np.array([-0.8, 0.2, 1.0, 1.6])
CROWD = 20_000


class World:
    """People, items, models and estimates of known truth."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.skewed = bool(seed % 2)
        self.slope = np.exp(rng.normal(0.0, 0.3, WHOLE))
        self.difficulty = rng.normal(0.0, 1.1, WHOLE)
        self.guess = np.where(rng.random(WHOLE) < 0.4, 0.2, 0.0)
        self.crowd = self.abilities(CROWD)
        self.truth = self.chances(self.crowd).mean(axis=0)
        departure = DEPARTURES[seed // 2 % len(DEPARTURES)]
        start, slope = rng.normal(0.0, 0.4), rng.uniform(0.8, 1.2)
        self.estimates = expit((logit(self.truth) - start + rng.normal(0.0, departure, WHOLE)) / slope)

    def abilities(self, count: int) -> np.ndarray:
        """Abilities of so many people."""
        plain = self.rng.normal(size=count)
        if not self.skewed:
            return plain
        return 0.9 * plain + np.where(self.rng.random(count) < 0.25, -0.9, 0.3)

    def chances(self, ability: np.ndarray) -> np.ndarray:
        """Chance of a right answer, people × items."""
        return self.guess + (1.0 - self.guess) * expit(self.slope * (ability[:, None] - self.difficulty))

    def answers(self) -> AnswerMatrix:
        """AnswerMatrix of people to their forms, over all items of the benchmark."""
        right = self.rng.random((PEOPLE, WHOLE)) < self.chances(self.abilities(PEOPLE))
        given = np.zeros((PEOPLE, WHOLE), dtype=bool)
        for person in range(PEOPLE):
            taken = given[:person, :ITEMS].astype(np.float32)
            given[person, choose_items(taken, EACH, self.rng)] = True
        return AnswerMatrix(np.where(given, right, 0).astype(float), given, np.ones(PEOPLE))

    def outcomes(self, answers: AnswerMatrix) -> pl.DataFrame:
        """The same answers, and those of models, as the report reads them."""
        rows = [
            (f"p{person}", "people", f"i{item}", float(answers.score[person, item]))
            for person, item in np.argwhere(answers.given)
        ]
        right = self.rng.random((len(MODELS), ITEMS)) < self.chances(MODELS)[:, :ITEMS]
        rows += [(f"m{m}", "models", f"i{i}", float(right[m, i])) for m in range(len(MODELS)) for i in range(ITEMS)]
        return pl.DataFrame(rows, schema=["subject", "kind", "item", "score"], orient="row")


def in_exam(answers: AnswerMatrix) -> AnswerMatrix:
    return AnswerMatrix(answers.score[:, :ITEMS], answers.given[:, :ITEMS], answers.weight)


def look(seed: int) -> dict[str, tuple[float, float]]:
    """Coverage and mean width of every interval in one simulation."""
    world = World(seed)
    whole = world.answers()
    answers, truth = in_exam(whole), world.truth[:ITEMS]
    rate, low, high, _ = item_rates(answers)
    mean = mean_rate(answers)
    joint = combine(answers, world.estimates[:ITEMS], seed=seed)
    over_all = combine(whole, world.estimates, seed=seed)
    sampling = rate.var(ddof=1) / ITEMS * (1.0 - ITEMS / WHOLE)
    half = 1.645 * np.sqrt(mean.se**2 + sampling)
    placed = scale(world.outcomes(answers), {}).among.filter(pl.col("subject").str.starts_with("m")).sort("subject")
    share = np.array([(world.crowd >= ability).mean() for ability in MODELS])

    def found(truth: object, low: object, high: object) -> tuple[float, float]:
        low, high, truth = (np.atleast_1d(np.asarray(value, dtype=float)) for value in (low, high, truth))
        return float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high - low))

    middle = world.truth.mean()
    return {
        "rate of an item, answers": found(truth, low, high),
        "rate of an item, answers and estimates": found(truth, joint.low, joint.high),
        "mean rate of the exam, answers": found(truth.mean(), mean.low, mean.high),
        "mean rate of the exam, answers and estimates": found(truth.mean(), joint.mean.low, joint.mean.high),
        "mean rate of the benchmark, answers": found(middle, mean.rate - half, mean.rate + half),
        "mean rate of the benchmark, answers and estimates": found(middle, over_all.mean.low, over_all.mean.high),
        "percentile of a model": found(share, placed["low"].to_numpy(), placed["high"].to_numpy()),
    }


def main() -> None:
    take_option()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=160)
    worlds = parser.parse_args().worlds
    comparison.MODELS_NEEDED = len(MODELS) + 1  # differences of items are not looked at here
    seen = [look(seed) for seed in range(worlds)]
    table = {name: np.mean([one[name] for one in seen], axis=0) for name in seen[0]}
    print(f"{worlds} simulations: {PEOPLE} people, {EACH} of {ITEMS} items each; a benchmark of {WHOLE} items")
    for name, (covered, width) in table.items():
        print(f"{name:52} {covered:6.1%} covered, mean width {width:.3f}")
    saved = {
        what: 1.0 - table[f"{what}, answers and estimates"][1] / table[f"{what}, answers"][1]
        for what in ("rate of an item", "mean rate of the exam", "mean rate of the benchmark")
    }
    for what, share in saved.items():
        print(f"estimates shorten the interval of the {what} by {share:.0%}")
    record("exam.coverage", percent_range(value[0] for value in table.values()))
    record("exam.shorter_benchmark", f"{saved['mean rate of the benchmark']:.0%}")
    record("exam.shorter_item", f"{saved['rate of an item']:.0%}")
    print(
        json.dumps(
            {
                "worlds": worlds,
                "coverage": {name: round(float(value[0]), 4) for name, value in table.items()},
                "width": {name: round(float(value[1]), 4) for name, value in table.items()},
                "shorter": {name: round(float(value), 4) for name, value in saved.items()},
            }
        )
    )


if __name__ == "__main__":
    main()
