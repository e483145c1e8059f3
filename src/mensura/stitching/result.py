"""The result of a stitched fit: positions with intervals, and the questions one asks of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import logit
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.stitching.checks import Convergence, positions_of
from mensura.stitching.fitted import Model, PooledModel
from mensura.stitching.links import to_date
from mensura.stitching.positions import LEVEL, PositionDraws, Positions, Scale, estimate_warnings, principal
from mensura.stitching.predict import bootstrap_weights, cell_residuals, expected_scores, on_ray, predictive, resampled
from mensura.stitching.scores import ScoreSet, read_pairs

SUSPICIOUS = 0.5
"""A score is listed where it is surprising rather than ordinary."""
SMALLEST_SHARE = 0.01
"""A residual dimension that explains less of the variance has shrunk away."""
DRAWS = 500
"""Draws behind the Laplace intervals."""
NUMBERS_AT_ONCE = 1 << 20
"""Numbers of draws that are put on the scale together."""
REFERENCES = ("gpt-4o", "gpt-5")
"""Zero and one of capability: two widely tested models, fifteen months and a generation apart. A unit made of all
subjects would shrink or stretch with every model that is added."""


@dataclass(frozen=True, eq=False, repr=False)
class Stitch(Result):
    """Subjects and benchmarks on one scale.

    Tables: ``capabilities`` (subject, capability, low, high; 90% Laplace intervals, highest first), ``benchmarks``
    (benchmark, difficulty, slope), ``suspicious``, ``floors``, ``dimensions``, ``profiles``, ``residuals``.
    ``convergence`` says how the fit ended, ``warnings`` whether it did not arrive and what the scores cannot tell,
    ``notes`` what was done to them on the way in (links, duplicates, sources) and what the intervals suppose,
    ``settings`` what was asked for.
    """

    TABLES: ClassVar[tuple[str, ...]] = (
        "capabilities",
        "benchmarks",
        "suspicious",
        "floors",
        "dimensions",
        "profiles",
        "residuals",
    )

    method: str
    model: Model
    scale: Scale
    settings: Mapping[str, object]
    about_scores: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        data, end = self.data, self.convergence
        head = (
            f"stitched ({self.method}): {len(data.subjects)} subjects, {len(data.benchmarks)} benchmarks, "
            f"{data.y.size} scores; {LEVEL:.0%} intervals; "
            f"{'converged' if end.converged else 'not converged'} after {end.iterations} iterations"
        )
        if self.method != "pooled" or not end.converged:
            return head
        pays = self.dimensions.filter(pl.col("verdict") == "pays").height
        return f"{head}; {pays} residual dimension{'' if pays == 1 else 's'} pay{'s' if pays == 1 else ''}"

    @property
    def unit(self) -> str:
        """What one unit of capability is, in words."""
        scale, data = self.scale, self.data
        if scale.benchmark is not None:
            return f"a logit on {data.benchmarks[scale.benchmark]}"
        if scale.subjects is None and not scale.named:
            return f"the standard deviation among {len(data.subjects)} subjects"
        low, high = REFERENCES if scale.subjects is None else (data.subjects[i] for i in scale.subjects)
        steps = abs(scale.values[1] - scale.values[0])
        return f"the distance from {low} to {high}" + ("" if steps == 1 else f" is {steps:g}")

    @property
    def convergence(self) -> Convergence:
        """Whether the fit arrived, after how many iterations, and how large its gradient was then."""
        return self.model.convergence

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether the fit did not arrive, and what the scores cannot tell, before and after fitting."""
        if not self.convergence.converged:
            return self.convergence.warnings + self.about_scores
        return self.about_scores + estimate_warnings(self.data.benchmarks, self.estimate, self.laplace.positions)

    @property
    def data(self) -> ScoreSet:
        """The checked scores."""
        return self.model.data

    @cached_property
    def estimate(self) -> Positions:
        """The estimate on the result's scale, as arrays with one draw; refused where the fit did not converge."""
        return self.scaled(self.model.positions)

    @property
    def shown(self) -> pl.DataFrame:
        """The capabilities, or no row where the fit did not converge."""
        return self.capabilities if self.convergence.converged else pl.DataFrame(schema=["subject", "capability"])

    @cached_property
    def laplace(self) -> PositionDraws:
        """Draws from the Gaussian approximation of the posterior (fixed seed)."""
        return self.draws("Laplace", self.scaled(self.own_draws, about=self.model.positions))

    @cached_property
    def own_draws(self) -> Positions:
        """The same draws on the model's own scale, as wide as scores ask for."""
        self._refuse_unconverged()
        return self.model.sample(DRAWS, np.random.default_rng(0))

    @property
    def capabilities(self) -> pl.DataFrame:
        """Subject, capability, low, high; highest first."""
        return self.laplace.capabilities

    @property
    def dated(self) -> pl.DataFrame:
        """Capabilities with the release of every subject, null where unknown: subject, released, capability."""
        days = [to_date(year) if np.isfinite(year) else None for year in self.data.years]
        released = pl.Series("released", days, dtype=pl.Date)
        return pl.DataFrame(
            {"subject": self.data.subjects, "released": released, "capability": self.estimate.capability[0]}
        )

    @property
    def benchmarks(self) -> pl.DataFrame:
        """Benchmark, difficulty, slope."""
        at = self.estimate
        return pl.DataFrame({"benchmark": self.data.benchmarks, "difficulty": at.difficulty[0], "slope": at.slope[0]})

    @property
    def profiles(self) -> pl.DataFrame:
        """By how much each subject's expected score lies above what its capability alone would give.

        Columns subject, benchmark, score (expected), general (from capability alone), above (their difference).
        """
        subjects, benchmarks = pl.Series("subject", self.data.subjects), pl.Series("benchmark", self.data.benchmarks)
        m, b = len(subjects), len(benchmarks)
        rows, cols = np.repeat(np.arange(m), b), np.tile(np.arange(b), m)
        capability_only = Positions(self.estimate.theta[:, :, :1], self.estimate.phi[:, :, :2])
        full, general = (expected_scores(self.model, at, rows, cols)[0] for at in (self.estimate, capability_only))
        table = {"subject": subjects[rows], "benchmark": benchmarks[cols], "score": full, "general": general}
        return pl.DataFrame(table).with_columns(above=pl.col("score") - pl.col("general"))

    @property
    def residuals(self) -> pl.DataFrame:
        """Measured scores beside what the fit and capability alone expect (:mod:`mensura.stitching.predict`).

        Columns subject, benchmark, score, fitted, general, residual (score − fitted), above (score − general).
        """
        return cell_residuals(self.model, self.estimate)

    @property
    def suspicious(self) -> pl.DataFrame:
        """Scores that the fit takes to be more than ordinary noise, most suspicious first.

        Columns subject, benchmark, score, expected (by all other scores of the fit, nearly), logits (by how much the
        score is off), probability.
        """
        if not isinstance(self.model, PooledModel):
            return self.residuals.clear().select("subject", "benchmark", "score")
        table = self.residuals.select("subject", "benchmark", "score", expected="fitted")
        off = (logit(np.clip(table[name].to_numpy(), 1e-3, 1 - 1e-3)) for name in ("score", "expected"))
        chance = pl.Series(self.model.fitted.surprise.chance)
        table = table.with_columns(logits=pl.Series(np.subtract(*off)), probability=chance)
        listed = table.filter(pl.col("probability") > SUSPICIOUS)
        return listed.sort("probability", "subject", "benchmark", descending=[True, False, False])

    @property
    def floors(self) -> pl.DataFrame:
        """Asymptotes of every benchmark: benchmark, chance, error (standard, 0 where given), status, weight, ceiling.

        ``status`` is "given", "estimated" or "none" (the published method has no floors); ``weight`` is below 1 where
        other benchmarks say the same (:mod:`mensura.stitching.surprise`).
        """
        model, status = self.model, np.full(len(self.data.benchmarks), "none")
        error = ceiling_error = np.zeros(status.size)
        if isinstance(model, PooledModel):
            error, ceiling_error = model.floors.error, model.floors.ceiling_error
            status = np.where(self.data.chance_given, "given", "estimated")
        columns = {"chance": self.data.chance, "error": error, "status": status, "weight": model.shares}
        columns |= {"ceiling": self.data.ceiling, "ceiling_error": ceiling_error}
        return pl.DataFrame({"benchmark": self.data.benchmarks} | columns)

    @property
    def dimensions(self) -> pl.DataFrame:
        """Return the share of the completed matrix's variance (in η) that each latent dimension explains, and a word.

        Columns dimension (1 is capability), share, verdict. Held-out error decides; a
        share below 1% means that the dimension has shrunk away.
        """
        at = self.estimate
        explained = at.theta[0].var(axis=0) * (at.phi[0, :, 1:] ** 2).sum(axis=0)
        share = explained / max(explained.sum(), np.finfo(float).tiny)
        verdicts = ["capability", *("pays" if part >= SMALLEST_SHARE else "does not pay" for part in share[1:])]
        return pl.DataFrame({"dimension": np.arange(1, share.size + 1), "share": share, "verdict": verdicts})

    def predict(self, pairs: Any) -> pl.DataFrame:
        """Return the expected score of each pair and the 90% interval of a new score there.

        Columns subject, benchmark, score, low, high, status, in the order of ``pairs``. ``status`` is "predicted" where
        both have scores; where one has none the default method answers from its prior ("prior"), rosetta with null
        ("unknown").
        """
        frame = read_pairs(pairs, name="pairs").select("subject", "benchmark")
        rows = positions_of(self.data.subjects, frame["subject"].to_list())
        cols = positions_of(self.data.benchmarks, frame["benchmark"].to_list())
        columns = zip(("score", "low", "high"), predictive(self.model, self.own_draws, rows, cols, LEVEL), strict=True)
        other = "prior" if isinstance(self.model, PooledModel) else "unknown"
        status = pl.Series("status", np.where((rows >= 0) & (cols >= 0), "predicted", other))
        return frame.with_columns(*(pl.Series(name, values).fill_nan(None) for name, values in columns), status)

    def bootstrap(
        self, n: int = 200, *, seed: int = 0, advance: Callable[[], object] | None = None, ray: str | None = None
    ) -> PositionDraws:
        """Refit ``n`` data sets in which every subject's scores are resampled with replacement.

        Every replicate is put on the scale by itself. ``advance`` is called once per replicate. ``ray``: ``local`` or
        the address of a cluster that refits the replicates.
        """
        weights = bootstrap_weights(self.data.layout, n, np.random.default_rng(seed))
        again = resampled(self.model, weights, advance) if ray is None else on_ray(self.model, weights, ray)
        at = self.scaled(again.positions)
        at.phi[~again.known] = np.nan
        return self.draws("bootstrap", at, int(np.count_nonzero(~again.converged)))

    def scaled(self, positions: Positions, basis: int | None = None, *, about: Positions | None = None) -> Positions:
        """Put positions of the model's own making on the result's scale; the first ``basis`` subjects define it.

        Every draw by itself, some at a time: with many subjects each step would hold all draws once more. Draws
        ``about`` an estimate are stretched by what the model knows less of positions than of scores (``bend``).
        """
        self._refuse_unconverged()
        moved = Positions(np.empty_like(positions.theta), np.empty_like(positions.phi))
        some = max(1, NUMBERS_AT_ONCE // positions.theta[0].size)
        for start in range(0, len(moved.theta), some):
            which = slice(start, start + some)
            part = Positions(positions.theta[which], positions.phi[which])
            if about is not None:
                part = part.stretched(about, self.model.bend)
            scaled = self.scale.apply(principal(part, basis, self.model.shares), basis)
            moved.theta[which], moved.phi[which] = scaled.theta, scaled.phi
        return moved

    def _refuse_unconverged(self) -> None:
        """Refuse to give numbers of a fit that did not converge."""
        for warning in self.convergence.warnings:
            raise MensuraError(f"scores: {warning}; leave out what has few scores")

    def draws(self, kind: str, positions: Positions, unconverged: int = 0) -> PositionDraws:
        """Wrap scaled positions of this fit's subjects and benchmarks."""
        return PositionDraws(kind, self.data.subjects, self.data.benchmarks, self.estimate, positions, unconverged)
