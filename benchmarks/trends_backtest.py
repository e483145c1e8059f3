"""Rolling-origin backtest of the frontier forecasts: python -m benchmarks.trends_backtest.

From the first of every month on which 15 models and 3 records were known, the frontier is forecast 3, 6 and 12 months
ahead and compared with what came. On the reference data everything is refitted at every origin to the scores of the
models released by then (published objective at its optimum), with 100 bootstrap draws within subjects carrying the
error of C, D and α; the published validation, which uses the final capabilities, is run beside it. On the embedded
evidence the final capabilities of the default fit are used.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

from benchmarks.stitch_data import finish, parser, reference_scores, table
from mensura.evidence import load
from mensura.stitching import encode, evidence_scores, read_scores, shift_to_anchor, solve_rosetta, stitch
from mensura.stitching.bootstrap import bootstrap_weights
from mensura.trends import Backtest, add_dates, backtest, read_capabilities
from mensura.trends.backtesting import monthly_origins

DRAWS = 100


def refits(
    scores: pl.DataFrame, dates: dict[str, date], origins: list[date]
) -> tuple[dict[date, pl.DataFrame], dict[date, pl.DataFrame]]:
    """Capabilities and bootstrap draws as fitted to what was known at every origin."""
    data = encode(read_scores(scores), "max")
    layout, anchor = data.layout, data.benchmarks.index("Winogrande")
    released = np.array([dates[name].toordinal() for name in data.subjects])
    resampled = bootstrap_weights(layout, DRAWS, "within", np.random.default_rng(0), anchor)
    weights = np.concatenate([np.ones((1, layout.n_scores)), resampled])
    whole = solve_rosetta(layout, data.y, anchor=anchor)
    fits, draws = {}, {}
    for origin in origins:
        known = released <= origin.toordinal()
        penalty = 0.1 / (np.count_nonzero(known) + 2 * layout.n_benchmarks - 1)
        solution = solve_rosetta(
            layout,
            data.y,
            anchor=anchor,
            weights=weights * known[layout.rows],
            penalty=penalty,
            start=whole,
            tolerance=1e-5,
        )
        C = shift_to_anchor(solution, anchor).C[:, known]
        names = np.array(data.subjects)[known]
        fits[origin] = pl.DataFrame({"subject": names, "capability": C[0]})
        draws[origin] = pl.DataFrame(
            {
                "subject": np.tile(names, DRAWS),
                "draw": np.repeat(np.arange(DRAWS), names.size),
                "capability": C[1:].ravel(),
            }
        )
    return fits, draws


def show(name: str, result: Backtest) -> dict[str, object]:
    for row in result.summary.to_dicts():
        ahead = "all" if row["horizon"] is None else f"{12 * row['horizon']:.0f} months"
        print(
            f"{name:58} {ahead:>9} {row['n']:>4} {row['error']:7.3f} {row['rmse']:7.3f} {row['bias']:+7.3f} "
            f"{row['coverage']:8.2f} {row['width']:7.2f}"
        )
    return {"forecast": name, "rows": result.summary.to_dicts()}


def main() -> None:
    shared = parser(__doc__).parse_args().shared
    scores = reference_scores(shared).select("model", "benchmark", "score")
    final = stitch(scores, method="rosetta", anchor_benchmark="Winogrande").capabilities.select("subject", "capability")
    points = read_capabilities(add_dates(final, table(shared, "models").filter(pl.col("in_reference_fit") == 1)))
    origins = monthly_origins(points)
    fits, draws = refits(scores, dict(points.select("subject", "released").iter_rows()), origins)
    evidence = evidence_scores(load())[0]
    embedded = read_capabilities(add_dates(stitch(evidence).capabilities.select("subject", "capability"), evidence))
    heads = f"{'ahead':>9} {'n':>4}   error    rmse    bias coverage   width"
    print(f"{'forecast of the frontier, intervals of 90%':58} {heads}")
    runs = [
        ("published, final capabilities (as published)", points, {"method": "rosetta", "origins": origins}),
        ("published, refitted", points, {"method": "rosetta", "origins": origins, "fits": fits}),
        ("ours, final capabilities", points, {"origins": origins}),
        ("ours, refitted", points, {"origins": origins, "fits": fits}),
        ("ours, refitted, with the error of C, D and α", points, {"origins": origins, "fits": fits, "draws": draws}),
        ("embedded evidence: published", embedded, {"method": "rosetta"}),
        ("embedded evidence: ours", embedded, {}),
    ]
    finish({"backtests": [show(name, backtest(frame, **settings)) for name, frame, settings in runs]})  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
