"""How far intervals can be trusted: the measured coverage, printed where the intervals are."""

from __future__ import annotations

from mensura.cli.output import console

MEASURED = {
    "stitch": (
        "90% intervals of capability held the truth in 92% of simulated cases (90–94% by kind of world), of a new "
        "score in 90% (88–90%)",
        "python -m benchmarks.stitch_coverage --seed 1007",
    ),
    "iq": (
        "90% intervals held the fully measured composite in 88–95% of real models entered with few of their scores",
        "python -m benchmarks.iq_sparse",
    ),
    "extrapolate": (
        "how often an interval for the world holds nobody can measure; those of the statistical methods (described, "
        "linked, hierarchical) held the rates of real groups that were left out in 91–94% (19 pools)",
        "python -m benchmarks.extrapolation_situations",
    ),
    "calibrate": (
        "90% intervals of a base held the truth in 87–94% of simulated cases",
        "python -m benchmarks.calibration_coverage",
    ),
    "calibrate by means": (
        "intervals of the published procedure resample items and know nothing else of error: they held the truth in "
        "about half of simulated cases",
        "python -m benchmarks.calibration_coverage",
    ),
    "trends": (
        "90% intervals of past forecasts held what came in 96% (25 overlapping forecasts: weak evidence)",
        "python -m benchmarks.trends_backtest",
    ),
}
"""By command (and method): what was measured, and the command that measures it. The tables stand in docs/trust.md."""


def print_trust(command: str) -> None:
    """Print how often intervals like those above held the truth when that was measured."""
    said, how = MEASURED[command]
    console.print(f"Can I trust this interval? {said} ({how}; docs/trust.md).", style="dim")
