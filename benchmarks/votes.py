"""Check fits of pairwise votes: coverage on simulated worlds with judge effects, speed, agreement with choix.

Run: python -m benchmarks.votes [--worlds 200]
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl

from mensura.stitching.votes import fit_votes


def simulate(
    theta: np.ndarray[Any, Any], votes: int, judges: int, prompts: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Return votes of judges who differ in taste and in how readily they tie, on prompts that suit some models."""
    size = len(theta)
    own, suits = rng.normal(0, 0.5, (judges, size)), rng.normal(0, 0.5, (prompts, size))
    readiness = rng.normal(0, 0.7, judges)
    a = rng.integers(size, size=votes)
    b = (a + rng.integers(1, size, size=votes)) % size
    j, p = rng.integers(judges, size=votes), rng.integers(prompts, size=votes)
    strength = [theta[one] + own[j, one] + suits[p, one] for one in (a, b)]
    half, mean = (strength[0] - strength[1] + 0.2) / 2, (strength[0] + strength[1]) / 2
    utility = np.stack([half, -half, -0.3 + readiness[j], -1.5 - mean])
    outcome = np.argmax(utility + rng.gumbel(size=utility.shape), axis=0)
    words = np.array(["model_a", "model_b", "tie", "both_bad"])
    return pl.DataFrame(
        {"model_a": [f"m{one:02d}" for one in a], "model_b": [f"m{one:02d}" for one in b], "winner": words[outcome]}
        | {"judge": j, "prompt": p}
    )


def coverage(worlds: int, seed: int = 0) -> float:
    """Return how often 90% intervals contain the strength that very many judges and prompts give."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(-1, 1, 12)
    truth = fit_votes(simulate(theta, 1_000_000, 20_000, 20_000, rng)).contestants.sort("contestant")["strength"]
    inside = []
    for _ in range(worlds):
        fit = fit_votes(simulate(theta, 3000, 60, 40, rng)).contestants.sort("contestant")
        inside.append((fit["low"] <= truth) & (truth <= fit["high"]))
    return float(np.mean([one.to_numpy() for one in inside]))


def against_choix(votes: int = 100_000) -> str:
    """Compare strengths and time with choix, where it is installed, on votes without ties."""
    rng = np.random.default_rng(1)
    theta = np.linspace(-2, 2, 50)
    a = rng.integers(50, size=votes)
    b = (a + rng.integers(1, 50, size=votes)) % 50
    wins = rng.random(votes) < 1 / (1 + np.exp(theta[b] - theta[a]))
    table = pl.DataFrame({"model_a": a, "model_b": b}).with_columns(
        winner=pl.Series(np.where(wins, "model_a", "model_b"))
    )
    start = time.perf_counter()
    ours = fit_votes(table.with_columns(pl.col("model_a", "model_b").cast(pl.String)))
    own_time = time.perf_counter() - start
    if find_spec("choix") is None:
        return f"{votes:,} votes without ties: {own_time:.2f} s; choix is not installed, so nothing is compared"
    import choix  # type: ignore[import-not-found]

    pairs = list(zip(np.where(wins, a, b).tolist(), np.where(wins, b, a).tolist(), strict=True))
    start = time.perf_counter()
    theirs = choix.opt_pairwise(50, pairs)
    their_time = time.perf_counter() - start
    mine = dict(ours.contestants.select("contestant", "strength").iter_rows())
    gap = max(abs(mine[str(one)] - (theirs[one] - theirs.mean())) for one in range(50))
    times = f"{own_time:.2f} s against {their_time:.2f} s ({their_time / own_time:.0f}×)"
    return f"choix: largest difference {gap:.4f}; {times}"


def main() -> None:
    """Print coverage, speed and agreement."""
    options = argparse.ArgumentParser()
    options.add_argument("--worlds", type=int, default=200)
    worlds = options.parse_args().worlds
    print(f"coverage of 90% intervals over {worlds} worlds with judge and prompt effects: {coverage(worlds):.3f}")
    rng = np.random.default_rng(2)
    votes = simulate(np.linspace(-2, 2, 100), 1_000_000, 50_000, 20_000, rng)
    start, worked = time.perf_counter(), time.process_time()
    fit = fit_votes(votes)
    spent, worked = time.perf_counter() - start, time.process_time() - worked
    times = f"{spent:.1f} s ({worked:.1f} s of processor), {fit.iterations} steps"
    print(f"1,000,000 votes, 100 contestants, 50,000 judges: {times}")
    print(against_choix())


if __name__ == "__main__":
    main()
