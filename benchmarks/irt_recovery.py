"""Do simulated items and abilities come back: errors beside a peer on the same responses, and what the intervals hold.

Each setting is drawn ``--replications`` times. Coverage is of 90% intervals; RMSE against the truth. With ``--peer``
mirt (R) or girth (Python), whichever is installed, is fitted to the same responses of the first replications.
``--model`` runs the settings of one model alone, in a few minutes.
"""

from __future__ import annotations

import argparse
import json
from typing import Any, NamedTuple

import numpy as np

from benchmarks import run
from benchmarks.irt_data import simulate
from benchmarks.irt_speed import fit_peer_items
from benchmarks.measured import percent_range, record
from mensura.responses.irt.abilities import abilities
from mensura.responses.irt.fitting import fit_held, start
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.shards import of_matrix

Z90 = 1.6448536269514722
PEER_REPLICATIONS = 2
HIGH = 1.5
"""Abilities above this are high: posterior means are drawn towards the middle there."""
PARAMETERS = ("slope", "intercept", "ability")


class Setting(NamedTuple):
    """One design: model, subjects, items, chance of right guesses, share of responses that are missing."""

    model: str
    subjects: int
    items: int
    guessing: float = 0.0
    missing: float = 0.0


SETTINGS = (
    Setting("2pl", 500, 20),
    Setting("2pl", 1000, 50),
    Setting("2pl", 1000, 50, 0.0, 0.5),
    Setting("2pl", 300, 200),
    Setting("2pl", 5000, 100),
    Setting("3pl", 5000, 40, 0.2),
)


def recover(setting: Setting, replications: int, *, peer: bool) -> dict[str, Any]:
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(float(value))

    space = namespace()
    for seed in range(replications):
        right, truth = simulate(setting.subjects, setting.items, seed, setting.guessing)
        trials = None
        if setting.missing:
            trials = (np.random.default_rng([seed, 2]).random(right.shape) >= setting.missing).astype(np.uint8)
            right = right * trials
        held = of_matrix(right, trials, np.zeros(len(right), dtype=int))
        rates = right.sum(axis=0) / (len(right) if trials is None else trials.sum(axis=0))
        fitted = fit_held(space, held, start(setting.model, rates, 1))
        p, errors = fitted.parameters, np.sqrt(np.diagonal(fitted.information.item_covariance(), axis1=1, axis2=2))
        placed = abilities(space, held.parts[0], fitted)
        note("slope_rmse", np.sqrt(np.mean((p.slope - truth.slope) ** 2)))
        note("intercept_rmse", np.sqrt(np.mean((p.intercept - truth.intercept) ** 2)))
        note("ability_rmse", np.sqrt(np.mean((placed.mean - truth.ability) ** 2)))
        note("slope_held", np.mean(np.abs(p.slope - truth.slope) < Z90 * errors[:, 0]))
        note("intercept_held", np.mean(np.abs(p.intercept - truth.intercept) < Z90 * errors[:, 1]))
        note("ability_held", np.mean(np.abs(placed.mean - truth.ability) < Z90 * placed.error))
        note("converged", fitted.converged)
        high = truth.ability > HIGH
        for name, ability, error in (
            ("eap", placed.mean, placed.error),
            ("wle", placed.weighted, placed.weighted_error),
        ):
            off = ability[high] - truth.ability[high]
            note(f"{name}_bias_of_high", off.mean())
            note(f"{name}_held_of_high", np.mean(np.abs(off) < Z90 * error[high]))
        if peer and seed < PEER_REPLICATIONS and setting.model == "2pl" and trials is None:
            other = fit_peer_items(right)
            if other is not None:
                note("same_slope_rmse", found["slope_rmse"][-1])
                note("same_intercept_rmse", found["intercept_rmse"][-1])
                note("peer_slope_rmse", np.sqrt(np.mean((other[0] - truth.slope) ** 2)))
                note("peer_intercept_rmse", np.sqrt(np.mean((other[1] - truth.intercept) ** 2)))
    return setting._asdict() | {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--peer", action="store_true", help="fit a peer too")
    parser.add_argument("--model", choices=["2pl", "3pl"], help="the settings of one model alone")
    chosen = parser.parse_args()
    print(
        f"{'model':>6}{'subjects':>9}{'items':>6}{'missing':>8} |{'RMSE a':>8}{'d':>7}{'θ':>7} |"
        f"{'held a':>8}{'d':>7}{'θ':>7} | "
        "peer's RMSE a, d (ours on the same)"
    )
    rows = []
    for setting in SETTINGS:
        if chosen.model not in (None, setting.model):
            continue
        row = recover(setting, chosen.replications, peer=chosen.peer)
        rows.append(row)
        head = f"{setting.model:>6}{setting.subjects:>9}{setting.items:>6}{setting.missing:>8.0%} |"
        size = f"{row['slope_rmse']:>8.3f}{row['intercept_rmse']:>7.3f}{row['ability_rmse']:>7.3f} |"
        held = f"{row['slope_held']:>8.1%}{row['intercept_held']:>7.1%}{row['ability_held']:>7.1%} |"
        beside = ""
        if "peer_slope_rmse" in row:
            pairs = [(row[f"{who}_slope_rmse"], row[f"{who}_intercept_rmse"]) for who in ("peer", "same")]
            beside = " {:.4f}, {:.4f} ({:.4f}, {:.4f})".format(*pairs[0], *pairs[1])
        print(head + size + held + beside, flush=True)
    for model in dict.fromkeys(row["model"] for row in rows):
        held = [float(row[f"{name}_held"]) for row in rows if row["model"] == model for name in PARAMETERS]
        record(f"irt.recovery_{model}", percent_range(held, digits=1))
    short = rows[0]
    if short["items"] == SETTINGS[0].items:
        high = [
            f"{short[f'{name}_bias_of_high']:+.2f} ({short[f'{name}_held_of_high']:.0%})" for name in ("eap", "wle")
        ]
        record("irt.high", " and ".join(high).replace("-", "−"))
    print(json.dumps(rows))


if __name__ == "__main__":
    run(main)
