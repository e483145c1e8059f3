"""Coverage of pace and forecast where releases of a season share their luck, their mix changes or their scatter grows.

Streams of 40 releases a year over four years, 0.7 a year with a scatter of 0.3, enter as capabilities: no error of a
fit is mixed in. ``shared shocks``: releases of a quarter are better or worse together, by 0.3. ``changing mix``: the
share of small models, 0.6 below the others, grows from a tenth to a half. ``growing scatter``: it doubles. ``kink``:
the pace doubles after three years, and the pace asked for is the new one. ``jumps``: half of the gain comes at once, by
0.5 at random days, and the pace asked for is the mean one. Forecasts
are made after four years, for one, two and three years ahead. The frontier that comes is simulated by the same law.
``pace`` is the share of 90% intervals with the pace of the law, the others those with the frontier.
"""

from __future__ import annotations

import argparse
from datetime import date, timedelta

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.measured import record
from benchmarks.stitch_data import finish
from mensura.core.arrays import Floats
from mensura.trends import forecast, measure_pace

PACE, SCATTER, SHOCK, GAP, RELEASES = 0.7, 0.3, 0.3, 0.6, 40
YEARS, AHEAD, KINK = 4.0, (1, 2, 3), 3.0
JUMP, JUMPED = 0.5, 0.5
"""Size of a jump, and the part of the pace that jumps make."""
WORLDS = ("plain", "shared shocks", "changing mix", "growing scatter", "kink", "jumps")
BAR = 0.85


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=40, help="simulated streams of each kind")
    arguments.add_argument("--seed", type=int, default=0, help="first seed; other seeds are other streams")
    arguments.add_argument("--worlds", nargs="*", choices=list(WORLDS), default=list(WORLDS), help="kinds to run")
    options = arguments.parse_args()
    print(
        f"{'simulation':18}{'pace':>8}" + "".join(f"{12 * years:>7} mo" for years in AHEAD) + f"{'runs':>8}{'bar':>7}"
    )
    figures: dict[str, object] = {"runs": options.runs, "seed": options.seed}
    for world in options.worlds:
        runs = [one_run(world, np.random.default_rng([options.seed, k])) for k in range(options.runs)]
        mean = np.mean(runs, axis=0)
        figures[world] = dict(zip(("pace", "one", "two", "three"), mean.tolist(), strict=True))
        cells = "".join(f"{value:10.2f}" for value in mean[1:])
        print(f"{world:18}{mean[0]:8.2f}{cells}{options.runs:8d}{BAR:7.2f}", flush=True)
        name = world.replace(" ", "_")
        record(f"trends.{name}_pace", f"{mean[0]:.0%}")
        record(f"trends.{name}_forecast", "/".join(f"{value:.0%}" for value in mean[1:]))
    finish(figures)


def one_run(world: str, rng: np.random.Generator) -> tuple[float, ...]:
    """Simulate seven years, and compare what the first four say with the law and with what came."""
    years = np.sort(rng.uniform(0, YEARS + max(AHEAD), int(RELEASES * (YEARS + max(AHEAD)))))
    values = PACE * years + law(world, years, rng)
    true = PACE
    if world == "kink":
        values, true = values + PACE * np.maximum(years - KINK, 0), 2 * PACE
    known = years <= YEARS
    pace = measure_pace(as_table(years[known], values[known])).interval
    days = [day_of(YEARS + ahead) for ahead in AHEAD]
    table = forecast(as_table(years[known], values[known]), to=days)
    came = np.array([values[years <= YEARS + ahead].max() for ahead in AHEAD])
    low, high = table.table["low"].to_numpy(), table.table["high"].to_numpy()
    return float(pace[0] <= true <= pace[1]), *((low <= came) & (came <= high)).astype(float).tolist()


def law(world: str, years: Floats, rng: np.random.Generator) -> Floats:
    """Draw the distances of the releases from the line."""
    size = SCATTER * (1 + years / YEARS) / 1.5 if world == "growing scatter" else SCATTER
    off = size * rng.standard_normal(years.size)
    if world == "shared shocks":
        off += SHOCK * rng.standard_normal(int(years.max() * 4) + 1)[(years * 4).astype(int)]
    if world == "changing mix":
        small = rng.random(years.size) < np.minimum(0.1 + 0.1 * years, 0.5)
        off -= GAP * small
    if world == "jumps":
        end = float(years.max())
        days = rng.uniform(0, end, rng.poisson(JUMPED * PACE / JUMP * end))
        off += JUMP * (years[:, None] >= days).sum(axis=1) - JUMPED * PACE * years
    return np.asarray(off)


def day_of(years: float) -> date:
    """Return the day so many years after the first."""
    return date(2023, 1, 1) + timedelta(days=round(365.25 * years))


def as_table(years: Floats, values: Floats) -> pl.DataFrame:
    """Return the releases as a table of capabilities."""
    days = [day_of(year) for year in years]
    return pl.DataFrame({"subject": [f"m{i:03}" for i in range(years.size)], "released": days, "capability": values})


if __name__ == "__main__":
    run(main)
