"""A scale that stands still: benchmarks frozen under a date, on which new subjects are placed and move nobody.

A fit moves a little with every score that is added, because all subjects and benchmarks are estimated together. A
frozen scale keeps the benchmarks of one fit, η = intercept + slope · C + loadings · profile, with their error, chance,
ceiling and noise, and the subjects where they stood. A new subject's position is then the posterior given its own
scores alone (:mod:`mensura.stitching.models`); two users who add different models read the same numbers for the rest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, listed_names
from mensura.core.files import write_text
from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.evidence import Evidence
from mensura.intake.own_scores import read_own_scores
from mensura.stitching.checks import positions_of
from mensura.stitching.fitted import PooledModel
from mensura.stitching.layout import ScoreLayout, levels, variance_shape
from mensura.stitching.links import elo_references, evidence_scores
from mensura.stitching.models import SubjectPrior, place_subjects
from mensura.stitching.positions import LEVEL, PositionDraws, Positions
from mensura.stitching.scores import ScoreSet, encode, read_scores

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch

FOLDER = Path(__file__).parent / "data" / "scales"
FORMAT = "mensura frozen scale"
DIGITS = 8
"""Decimals kept of every number: far below any interval."""


@dataclass(frozen=True, eq=False, repr=False)
class FrozenScale(Result):
    """Benchmarks and subjects of one fit under a date.

    Tables: ``capabilities`` (subject, capability, low, high, highest first), ``benchmarks`` (benchmark, difficulty,
    slope). ``phi`` (B, 1 + K) and ``phi_cov`` (B, 1 + K, 1 + K) hold intercept and loadings with their error on the
    scale; ``spread`` (K, K) is the covariance of the subjects' profiles, the prior of new ones. ``settings`` says what
    the fit was made of.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("capabilities", "benchmarks")

    name: str
    capabilities: pl.DataFrame
    names: tuple[str, ...]
    phi: Floats
    phi_cov: Floats
    spread: Floats
    chance: Floats
    ceiling: Floats
    dispersion: Floats
    references: pl.DataFrame
    settings: dict[str, Any]
    step: float = 0.0

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"frozen scale {self.name}: {self.capabilities.height} subjects, {len(self.names)} benchmarks"

    @cached_property
    def benchmarks(self) -> pl.DataFrame:
        """Benchmark, difficulty, slope."""
        difficulty = -self.phi[:, 0] / self.phi[:, 1]
        return pl.DataFrame({"benchmark": self.names, "difficulty": difficulty, "slope": self.phi[:, 1]})

    def expected_at(self, capability: float) -> pl.DataFrame:
        """Return what a subject of this capability and no special strength is expected to score, easiest first.

        Columns: benchmark, score, and score_above, that of a subject one unit more capable.
        """
        if not np.isfinite(capability):
            raise MensuraError(f"capability: got {capability}; expected a finite number")
        here, above = (
            levels(self.chance, self.ceiling, self.phi[:, 0] + self.phi[:, 1] * value, self.step)[0]
            for value in (capability, capability + 1)
        )
        table = pl.DataFrame({"benchmark": self.names, "score": here, "score_above": above})
        return sort_highest(table, "score", "benchmark")

    def neighbours_of(self, capability: float, most: int = 3) -> pl.DataFrame:
        """Return the subjects nearest above and below a capability: subject, capability, low, high."""
        above = self.capabilities.filter(pl.col("capability") >= capability).tail(most)
        return pl.concat([above, self.capabilities.filter(pl.col("capability") < capability).head(most)])

    def place(self, scores: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return every subject of ``scores`` on this scale: subject, capability, low, high, n, status.

        ``scores`` is evidence or a table of scores. Subjects that the scale knows keep their place ("frozen"); others
        are placed by their scores on its benchmarks ("placed", 90% intervals). Benchmarks it does not know are left
        out, and a subject without any other is refused.
        """
        frame = self._read(scores)
        counted = frame.group_by("subject").agg(n=pl.len())
        fresh = frame.filter(~pl.col("subject").is_in(self.capabilities["subject"].implode()))
        kept = fresh.filter(pl.col("benchmark").is_in(list(self.names)))
        lost = sorted(set(fresh["subject"]) - set(kept["subject"]))
        if lost:
            raise MensuraError(
                f"scores: {listed_names(lost)} has no score on a benchmark of the scale {self.name}; add a score on "
                "one of "
                f"{', '.join(self.names)}"
            )
        known = self.capabilities.join(counted, on="subject", how="left").with_columns(status=pl.lit("frozen"))
        if kept.is_empty():
            return known
        found = pl.concat([known, self._placed(kept).join(counted, on="subject", how="left").select(known.columns)])
        return sort_highest(found, "capability", "subject")

    def residuals_of(self, scores: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return the scores of the subjects that are placed, beside what their capability alone would give.

        Columns: subject, benchmark, score, variance (of its sampling, 0 unknown), above (score less expected).
        """
        capability = dict(self.place(scores).filter(status="placed").select("subject", "capability").iter_rows())
        mine = pl.col("subject").is_in(list(capability)) & pl.col("benchmark").is_in(list(self.names))
        own = encode(self._read(scores).filter(mine).drop("chance", "ceiling", strict=False), "mean")
        cols = positions_of(self.names, list(own.benchmarks))[own.layout.cols]
        C = np.array([capability[name] for name in own.subjects])[own.layout.rows]
        eta = self.phi[cols, 0] + self.phi[cols, 1] * C
        expected, _ = levels(self.chance[cols], self.ceiling[cols], eta, self.step)
        return own.table.with_columns(variance=pl.Series(own.sampling), above=pl.Series(own.y - expected))

    def _read(self, scores: Any) -> pl.DataFrame:  # noqa: ANN401
        return read_scores(
            evidence_scores(scores, self.references)[0] if isinstance(scores, Evidence) else read_own_scores(scores)
        )

    def _placed(self, frame: pl.DataFrame) -> pl.DataFrame:
        own = encode(frame.drop("chance", "ceiling", strict=False), "mean")
        cols = positions_of(self.names, list(own.benchmarks))[own.layout.cols]
        layout = ScoreLayout(own.layout.rows, cols, len(own.subjects), len(self.names))
        new = type(own)(
            **{
                **vars(own),
                "benchmarks": self.names,
                "layout": layout,
                "chance": self.chance,
                "ceiling": self.ceiling,
                "step": self.step,
            }
        )

        def variance(expected: Floats) -> Floats:
            return np.asarray(self.dispersion[cols] * variance_shape(expected) + own.sampling)

        n, k = len(own.subjects), len(self.spread)
        precision = np.broadcast_to(np.linalg.inv(self.spread), (n, k, k))
        mean = np.zeros((n, k))
        mean[:, 0] = np.mean(self.capabilities["capability"].to_numpy())
        placed = place_subjects(new, self.phi, variance, SubjectPrior(mean, precision), self.phi_cov)
        reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * np.sqrt(placed.covariance[:, 0, 0])
        C = placed.theta[:, 0]
        table = {"subject": own.subjects, "capability": C, "low": C - reach, "high": C + reach}
        return pl.DataFrame(table).with_columns(status=pl.lit("placed"))

    def write(self, path: Path) -> None:
        """Write the scale as one JSON file."""
        columns = {"benchmark": list(self.names), "chance": _rounded(self.chance), "ceiling": _rounded(self.ceiling)}
        told = {
            "format": FORMAT,
            "name": self.name,
            "settings": self.settings,
            "capabilities": _rounded_table(self.capabilities),
            "benchmarks": {**columns, "dispersion": _rounded(self.dispersion)},
            "phi": _rounded(self.phi),
            "phi_cov": _rounded(self.phi_cov),
            "spread": _rounded(self.spread),
            **({"step": self.step} if self.step else {}),
            "references": _rounded_table(self.references),
        }
        write_text(path, json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")


def freeze(fit: Stitch, name: str, evidence: Evidence) -> FrozenScale:
    """Freeze a pooled fit of the evidence under a name, which is its date."""
    if not isinstance(fit.model, PooledModel):
        raise MensuraError(f"freeze: a fit of the default method is needed, got {fit.method!r}")
    drawn = fit.laplace.positions
    deviation = drawn.phi - drawn.phi.mean(axis=0)
    theta = fit.estimate.theta[0]
    error = drawn.theta - drawn.theta.mean(axis=0)
    spread = np.cov(theta.T, bias=True).reshape(theta.shape[1], -1)
    return FrozenScale(
        name=name,
        capabilities=fit.capabilities,
        names=fit.data.benchmarks,
        phi=fit.estimate.phi[0],
        phi_cov=np.einsum("dbi,dbj->bij", deviation, deviation) / len(deviation),
        spread=spread + np.einsum("dsi,dsj->ij", error, error) / (error.shape[0] * error.shape[1]),
        chance=fit.data.chance,
        ceiling=fit.data.ceiling,
        dispersion=fit.model.fitted.dispersion,
        references=elo_references(evidence).sort("benchmark"),
        settings=dict(fit.settings),
        step=fit.data.step,
    )


def frozen_scales() -> tuple[str, ...]:
    """Names of the scales that come with the package, oldest first."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def load_scale(name: str | Path) -> FrozenScale:
    """Load a frozen scale by its name, such as 2026-11, or from a file of :meth:`FrozenScale.write`."""
    path = FOLDER / f"{name}.json" if str(name) in frozen_scales() else Path(name)
    if not path.is_file():
        raise MensuraError(
            f"scale: {str(name)!r} is not known; expected one of {', '.join(frozen_scales())}, or a file"
        )
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise KeyError("format")
        columns = told["benchmarks"]
        return FrozenScale(
            name=told["name"],
            capabilities=pl.DataFrame(told["capabilities"]).select("subject", "capability", "low", "high"),
            names=tuple(columns["benchmark"]),
            **{key: np.array(told[key], dtype=float) for key in ("phi", "phi_cov", "spread")},
            **{key: np.array(columns[key], dtype=float) for key in ("chance", "ceiling", "dispersion")},
            references=pl.DataFrame(told["references"], schema={"benchmark": pl.String, "reference": pl.Float64}),
            settings=told["settings"],
            step=float(told.get("step", 0.0)),
        )
    except (ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as fault:
        raise MensuraError(
            f"{path}: not a frozen scale ({fault}); give the file that freezing a scale wrote"
        ) from fault


def _rounded(values: Floats) -> Any:  # noqa: ANN401
    return np.round(values, DIGITS).tolist()


def _rounded_table(table: pl.DataFrame) -> dict[str, list[Any]]:
    return table.with_columns(pl.selectors.float().round(DIGITS)).to_dict(as_series=False)


# Freeze and score: place new subjects, or a domain's scores, on an existing fit without moving it.

PLACING_DRAWS = 200
"""Draws of the benchmarks on which new subjects are placed; each costs one iteration per new subject."""


def place(fit: Stitch, scores: Any, *, seed: int = 0) -> PositionDraws:  # noqa: ANN401
    """Place the subjects of a score table on the fit; its benchmarks stay where they are.

    Returns draws over the fit's subjects and, after them, the new ones, so that they can be ranked and compared. Their
    intervals hold their own error and that of the benchmarks. Benchmarks unknown to the fit are refused.
    """
    frame = read_scores(scores)
    taken = sorted(set(frame["subject"]) & set(fit.data.subjects))
    if taken:
        raise MensuraError(f"scores: {taken[0]!r} is already in the fit; rename it to place it a second time")
    return _placed(fit, on_benchmarks_of(fit, frame), f"placed on a {fit.method} fit", seed)


def domain(fit: Stitch, benchmarks: list[str], *, seed: int = 0) -> PositionDraws:
    """Place every subject by its scores on some benchmarks only (a domain index), the fit frozen.

    Subjects are named ``NAME (domain)`` beside the whole-fit ones, which stay.
    """
    data = fit.data
    unknown = [name for name in benchmarks if name not in data.benchmarks]
    if unknown:
        raise MensuraError(
            f"benchmarks: {unknown[0]!r} is not in the fit; expected one of {', '.join(data.benchmarks)}"
        )
    rows, cols = data.layout.rows, data.layout.cols
    frame = pl.DataFrame(
        {
            "subject": [f"{data.subjects[i]} (domain)" for i in rows],
            "benchmark": [data.benchmarks[i] for i in cols],
            "score": data.y,
            "stderr": np.sqrt(data.sampling),
        }
    ).filter(pl.col("benchmark").is_in(benchmarks))
    return _placed(fit, on_benchmarks_of(fit, frame), f"domain of {len(benchmarks)} benchmarks", seed)


def on_benchmarks_of(fit: Stitch, frame: pl.DataFrame) -> ScoreSet:
    """Encode new scores with the fit's benchmark positions, chance and ceiling."""
    own = encode(frame.drop("chance", "ceiling", strict=False), "mean")
    cols = positions_of(fit.data.benchmarks, list(own.benchmarks))
    if (cols < 0).any():
        name = own.benchmarks[int(np.flatnonzero(cols < 0)[0])]
        raise MensuraError(
            f"scores: benchmark {name!r} is not in the fit; expected one of {', '.join(fit.data.benchmarks)}"
        )
    layout = ScoreLayout(own.layout.rows, cols[own.layout.cols], len(own.subjects), len(fit.data.benchmarks))
    chance, ceiling = fit.data.chance, fit.data.ceiling
    return replace(
        own, benchmarks=fit.data.benchmarks, layout=layout, chance=chance, ceiling=ceiling, step=fit.data.step
    )


def _placed(fit: Stitch, new: ScoreSet, kind: str, seed: int) -> PositionDraws:
    """Place at the estimate and, with noise, at every draw of the benchmarks."""
    rng = np.random.default_rng(seed)
    model, basis = fit.model, len(fit.data.subjects)
    base = model.positions
    mean, _, _ = model.place(new)
    found = Positions(np.concatenate((base.theta, mean[None]), axis=1), base.phi)
    estimate = fit.scaled(found, basis)
    drawn = model.sample(PLACING_DRAWS, rng)
    theta = np.empty((PLACING_DRAWS, len(new.subjects), mean.shape[1]))
    lost = 0
    for i, phi in enumerate(drawn.phi):
        at, covariance, converged = model.place(new, phi)
        lost += not converged
        noise = np.linalg.cholesky(covariance) @ rng.standard_normal((*at.shape, 1))
        theta[i] = at + noise[:, :, 0]
    together = Positions(np.concatenate((drawn.theta, theta), axis=1), drawn.phi)
    positions = fit.scaled(together, basis, about=found)
    return PositionDraws(kind, (*fit.data.subjects, *new.subjects), fit.data.benchmarks, estimate, positions, lost)
