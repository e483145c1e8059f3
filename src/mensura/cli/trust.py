"""Measured coverage of each command's intervals, printed below them; docs/measured.toml contains the figures."""

from __future__ import annotations

from mensura.cli.output import console

MEASURED = {
    "stitch": (
        "in simulations, 90% intervals contained the true capability in "
        "91% of cases "  # measured: stitch.capability_mean
        "(88–94% by kind of simulation) "  # measured: stitch.capability
        "and a new score in 93% "  # measured: stitch.new_score_mean
        "(89–93%)",  # measured: stitch.new_score
        "python -m benchmarks.stitch_coverage --seed 1007 --runs 4",
    ),
    "iq": (
        "real models were entered again with few of their scores; 90% intervals contained their fully measured IQ in "
        "82–95% of cases",  # measured: iq.coverage
        "python -m benchmarks.iq_sparse",
    ),
    "extrapolate": (
        "intervals for the world cannot be checked; those of the statistical methods (described, linked, "
        "hierarchical) contained the rates of real groups that were left out in "
        "91–94% of cases (19 pools)",  # measured: extrapolation.coverage
        "python -m benchmarks.extrapolation_situations",
    ),
    "baseline": (
        "on pools left out, 90% intervals of items contained the true rate in "
        "92.5% "  # measured: baseline.item_held
        "of cases, and those of a pool's mean in "
        "95%",  # measured: baseline.mean_held
        "python -m benchmarks.baseline",
    ),
    "calibrate": (
        "in simulations, 90% intervals contained the true base in 82–93% of cases",  # measured: calibration.coverage
        "python -m benchmarks.calibration_coverage",
    ),
    "calibrate by means": (
        "intervals of the published procedure only resample items and ignore all other errors; in simulations they "
        "contained the true base in about half of the cases",  # measured: calibration.means_coverage
        "python -m benchmarks.calibration_coverage",
    ),
    "trends": (
        "90% intervals of past forecasts contained the later value in "
        "100% of cases (25 overlapping forecasts: weak evidence)",  # measured: trends.backtest
        "python -m benchmarks.trends_backtest",
    ),
}
"""By command and method: the measured coverage and the command that measures it. docs/trust.md has the table."""


def print_trust(command: str) -> None:
    """Print how often intervals of this command contained the truth."""
    said, how = MEASURED[command]
    console.print(f"Can I trust this interval? {said} ({how}; docs/trust.md).", style="dim")
