"""A scale that stands still: benchmarks frozen under a date, on which new subjects are placed and move nobody.

A fit moves a little with every score that is added, because all subjects and benchmarks are estimated together. A
frozen scale keeps the benchmarks of one fit under a date, η = intercept + slope · C + loadings · profile, with their
error, chance, ceiling and noise, and the subjects where they stood. A new subject's position is then the posterior
given its own scores alone (:func:`mensura.stitching.pooled.place_subjects`); two users who add different models read
the same numbers for the rest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.checksums import checksum_of
from mensura.core.errors import MensuraError, listed_names
from mensura.core.files import write_text
from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.evidence import Evidence
from mensura.intake.own_scores import read_own_scores
from mensura.stitching.fitted import PooledModel
from mensura.stitching.layout import levels, variance_shape
from mensura.stitching.links import elo_references, evidence_scores
from mensura.stitching.place import on_benchmarks
from mensura.stitching.pooled import SubjectPrior, place_subjects
from mensura.stitching.positions import LEVEL
from mensura.stitching.scores import ScoreSet, read_scores

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch

FOLDER = Path(__file__).parent / "data" / "scales"
FORMAT = "mensura frozen scale"
DIGITS = 8
"""Decimals kept of every number: far below any interval."""
_COLUMNS, _ARRAYS = ("chance", "ceiling", "dispersion"), ("phi", "phi_cov", "spread")


@dataclass(frozen=True, eq=False, repr=False)
class FrozenScale(Result):
    """Keep benchmarks and subjects of one fit under a date.

    Attributes
    ----------
    name : str
        The date.
    capabilities, benchmarks : table
        subject, capability, low, high, highest first; benchmark, difficulty, slope.
    names : tuple of str
        The benchmarks.
    phi, phi_cov : array
        Intercept and loadings (B, 1 + K) with their error (B, 1 + K, 1 + K), on the scale.
    spread : array
        Covariance (K, K) of the subjects' profiles, the prior of new ones.
    chance, ceiling, dispersion : array
        Levels and noise of every benchmark.
    references : table
        Fixed opponents of Elo ratings.
    settings : dict
        What the fit was made of.
    step : float
        Shape of the curve.

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
        etas = (self.phi[:, 0] + self.phi[:, 1] * value for value in (capability, capability + 1))
        here, above = (levels(self.chance, self.ceiling, eta, self.step)[0] for eta in etas)
        table = pl.DataFrame({"benchmark": self.names, "score": here, "score_above": above})
        return sort_highest(table, "score", "benchmark")

    def neighbours_of(self, capability: float, most: int = 3) -> pl.DataFrame:
        """Return the subjects nearest above and below a capability: subject, capability, low, high."""
        above = self.capabilities.filter(pl.col("capability") >= capability).tail(most)
        return pl.concat([above, self.capabilities.filter(pl.col("capability") < capability).head(most)])

    def place(self, scores: Any) -> pl.DataFrame:
        """Return every subject of ``scores`` on this scale: subject, capability, low, high, n, status.

        ``scores`` is evidence or a table of scores. Subjects that the scale knows keep their place ("frozen"); others
        are placed by their scores on its benchmarks ("placed", 90% intervals). Benchmarks it does not know are left
        out, and a subject without any other is refused.
        """
        linked = evidence_scores(scores, self.references)[0] if isinstance(scores, Evidence) else None
        frame = read_scores(read_own_scores(scores) if linked is None else linked)
        counted = frame.group_by("subject").agg(n=pl.len())
        kept = self.capabilities.join(counted, on="subject", how="left").with_columns(status=pl.lit("frozen"))
        fresh = frame.filter(~pl.col("subject").is_in(self.capabilities["subject"].implode()))
        if fresh.is_empty():
            return kept
        new = self._encoded(fresh)
        cols, (n, k) = new.layout.cols, (len(new.subjects), len(self.spread))

        def variance(expected: Floats) -> Floats:
            return np.asarray(self.dispersion[cols] * variance_shape(expected) + new.sampling)

        mean = np.zeros((n, k))
        mean[:, 0] = np.mean(self.capabilities["capability"].to_numpy())
        prior = SubjectPrior(mean, np.broadcast_to(np.linalg.inv(self.spread), (n, k, k)))
        placed = place_subjects(new, self.phi, variance, prior, self.phi_cov)
        reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * np.sqrt(placed.covariance[:, 0, 0])
        C = placed.theta[:, 0]
        table = pl.DataFrame({"subject": new.subjects, "capability": C, "low": C - reach, "high": C + reach})
        added = table.join(counted, on="subject", how="left").with_columns(status=pl.lit("placed"))
        return sort_highest(pl.concat([kept, added]), "capability", "subject")

    def _encoded(self, frame: pl.DataFrame) -> ScoreSet:
        """Encode scores on the benchmarks of the scale; subjects without any are refused."""
        kept = frame.filter(pl.col("benchmark").is_in(list(self.names)))
        lost = sorted(set(frame["subject"]) - set(kept["subject"]))
        if lost:
            raise MensuraError(
                f"scores: {listed_names(lost)} has no score on a benchmark of the scale {self.name}; add a score on "
                f"one of {', '.join(self.names)}"
            )
        return on_benchmarks(kept, self.names, self.chance, self.ceiling, self.step)

    def write(self, path: Path) -> None:
        """Write the scale as one JSON file."""
        numbers = {key: np.round(getattr(self, key), DIGITS).tolist() for key in (*_COLUMNS, *_ARRAYS)}
        tables = {
            key: getattr(self, key).with_columns(pl.selectors.float().round(DIGITS)).to_dict(as_series=False)
            for key in ("capabilities", "references")
        }
        contents = {
            "format": FORMAT,
            "name": self.name,
            "settings": self.settings,
            "benchmarks": {"benchmark": list(self.names), **{key: numbers.pop(key) for key in _COLUMNS}},
            **numbers,
            **tables,
            **({"step": self.step} if self.step else {}),
        }
        contents["checksum"] = _checksum(contents)
        write_text(path, json.dumps(contents, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")


def _checksum(contents: dict[str, Any]) -> str:
    """Return the checksum of the contents of a file, but for the checksum itself."""
    rest = {key: value for key, value in contents.items() if key != "checksum"}
    return checksum_of(json.dumps(rest, ensure_ascii=False, sort_keys=True))


def freeze(fit: Stitch, name: str, evidence: Evidence) -> FrozenScale:
    """Freeze a pooled fit of the evidence.

    Parameters
    ----------
    fit : Stitch
        A fit of the default method.
    name : str
        Name of the scale: its date, such as 2026-12.
    evidence : Evidence
        What was fitted; it gives the opponents of Elo ratings.

    Returns
    -------
    FrozenScale
        The scale, which :meth:`FrozenScale.write` writes to a file.

    Raises
    ------
    MensuraError
        If the fit is of the published method.

    Examples
    --------
    >>> import mensura
    >>> from mensura.stitching import freeze
    >>> scores = {"subject": ["ann", "ann", "bob", "bob"], "benchmark": ["easy", "hard"] * 2}
    >>> fit = mensura.stitch(scores | {"score": [0.9, 0.5, 0.7, 0.2]})
    >>> freeze(fit, "2026-12", mensura.load()).names
    ('easy', 'hard')

    """
    if not isinstance(fit.model, PooledModel):
        raise MensuraError(f"freeze: a fit of the default method is needed, got {fit.method!r}")
    drawn, theta = fit.laplace.positions, fit.estimate.theta[0]
    deviation, error = drawn.phi - drawn.phi.mean(axis=0), drawn.theta - drawn.theta.mean(axis=0)
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
    """List the names of the scales that come with the package, oldest first.

    Returns
    -------
    tuple of str
        Names that :func:`load_scale` takes.

    Examples
    --------
    >>> from mensura.stitching import frozen_scales
    >>> "2026-11" in frozen_scales()
    True

    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def load_scale(name: str | Path) -> FrozenScale:
    """Load a frozen scale.

    Parameters
    ----------
    name : str or Path
        Name of a scale, such as 2026-12, or a file that :meth:`FrozenScale.write` wrote.

    Returns
    -------
    FrozenScale
        The scale.

    Raises
    ------
    MensuraError
        If there is no such scale, or the file is none.

    Examples
    --------
    >>> from mensura.stitching import load_scale
    >>> load_scale("2026-11").name
    '2026-11'

    """
    path = FOLDER / f"{name}.json" if str(name) in frozen_scales() else Path(name)
    if not path.is_file():
        raise MensuraError(
            f"scale: {str(name)!r} is not known; expected one of {', '.join(frozen_scales())}, or a file"
        )
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
        if contents["format"] != FORMAT:
            raise KeyError("format")
        if "checksum" in contents and contents["checksum"] != _checksum(contents):
            raise ValueError(
                "its checksum differs: the file is damaged or was edited; restore a backup or freeze again"
            )
        columns = contents["benchmarks"]
        return FrozenScale(
            name=contents["name"],
            capabilities=pl.DataFrame(contents["capabilities"]).select("subject", "capability", "low", "high"),
            names=tuple(columns["benchmark"]),
            **{key: np.array((columns | contents)[key], dtype=float) for key in (*_COLUMNS, *_ARRAYS)},
            references=pl.DataFrame(contents["references"], schema={"benchmark": pl.String, "reference": pl.Float64}),
            settings=contents["settings"],
            step=float(contents.get("step", 0.0)),
        )
    except (ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as fault:
        raise MensuraError(
            f"{path}: not a frozen scale ({fault}); give the file that freezing a scale wrote"
        ) from fault
