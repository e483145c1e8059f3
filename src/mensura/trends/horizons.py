"""How long a task a subject can do, read from its capability: ln(minutes) = intercept + slope · capability."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.stitching import Stitch
from mensura.trends.capabilities import hand_over
from mensura.trends.lines import TrendLine, fit_line


@dataclass(frozen=True, eq=False, repr=False)
class Horizons(Result):
    """The line, and what it expects of every subject with a capability.

    ``table``: ``subject``, ``capability``, ``minutes`` (measured, empty if not), ``expected``, ``low``, ``high``.
    ``checks``: fit on the subjects used and, where some were held out, on those: ``part``, ``n``, ``r_squared``,
    ``correlation``.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table", "checks")

    line: TrendLine
    level: float
    table: pl.DataFrame
    checks: pl.DataFrame

    @property
    def doubling(self) -> float:
        """Capability that doubles the time horizon."""
        return float(np.log(2) / self.line.slope)

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        half = self.line.quantile(self.level) * self.line.slope_error
        slope = f"{self.line.slope:.3f} (± {half:.3f}, {self.level:.0%})"
        head = f"ln(minutes) = {self.line.intercept:.3f} + {slope} · capability, {self.line.n} subjects"
        return f"{head}; the horizon doubles every {self.doubling:.3f} of capability"


def relate_horizons(
    capabilities: Any,  # noqa: ANN401
    horizons: Any,  # noqa: ANN401
    *,
    held_out: Collection[str] = (),
    level: float = 0.9,
) -> Horizons:
    """Regress ln(minutes) on capability over the subjects in both tables, and expect a horizon for everyone.

    ``capabilities`` is a fit, evidence, a table of scores or one of capabilities (no dates are needed). ``horizons``
    has ``subject`` (or ``model``) and ``minutes`` (or ``p50_horizon_minutes``); intervals are those of one more
    measured subject. Subjects ``held_out`` are not used for the line and are checked against it.
    """
    given = hand_over(capabilities)
    points = given.dated if isinstance(given, Stitch) else given
    require_columns(points, ["subject", "capability"], name="capabilities")
    measured = read_minutes(horizons)
    joined = points.select("subject", "capability").join(measured, on="subject", how="left", maintain_order="left")
    both = joined.filter(pl.col("minutes").is_not_null())
    unknown = sorted(set(held_out) - set(both["subject"]))
    if unknown:
        raise MensuraError(
            f"held_out: {unknown[0]!r} is not among the {both.height} subjects with both measures; choose one of them"
        )
    apart = pl.col("subject").is_in(list(held_out))
    line = fit_line(*_points(both.filter(~apart)))
    expected = line.at(joined["capability"].to_numpy())
    half = line.quantile(level) * line.error_at(joined["capability"].to_numpy(), new=True)
    table = joined.with_columns(
        expected=pl.Series(np.exp(expected)),
        low=pl.Series(np.exp(expected - half)),
        high=pl.Series(np.exp(expected + half)),
    )
    checks = [_check("used", line, both.filter(~apart))]
    if held_out:
        checks.append(_check("held out", line, both.filter(apart)))
    return Horizons(line, level, table, pl.DataFrame(checks))


def read_minutes(horizons: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return ``subject`` and ``minutes`` of those that were measured."""
    frame = as_frame(horizons, name="horizons")
    for old, new in {"model": "subject", "p50_horizon_minutes": "minutes"}.items():
        if new not in frame.columns and old in frame.columns:
            frame = frame.rename({old: new})
    require_columns(frame, ["subject", "minutes"], name="horizons")
    frame = frame.select("subject", pl.col("minutes").cast(pl.Float64)).drop_nulls()
    bad = frame.filter(pl.col("minutes") <= 0)
    if bad.height:
        raise MensuraError(
            f"horizons: {bad['subject'][0]!r} has {bad['minutes'][0]:g} minutes; a time above 0 is expected"
        )
    return frame


def _points(frame: pl.DataFrame) -> tuple[Floats, Floats]:
    return frame["capability"].to_numpy(), np.log(frame["minutes"].to_numpy())


def _check(part: str, line: TrendLine, frame: pl.DataFrame) -> dict[str, object]:
    """R² and correlation of observed and expected ln(minutes)."""
    x, y = _points(frame)
    expected = line.at(x)
    total = float(np.sum((y - y.mean()) ** 2))
    enough = y.size > 1 and total > 0
    return {
        "part": part,
        "n": y.size,
        "r_squared": 1 - float(np.sum((y - expected) ** 2)) / total if enough else None,
        "correlation": float(np.corrcoef(y, expected)[0, 1]) if enough else None,
    }
