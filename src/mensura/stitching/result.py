"""The result of a stitched fit: positions with intervals, and the questions one asks of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from mensura.frames import text_table
from mensura.stitching.bootstrap import Kind, bootstrap_weights, resampled
from mensura.stitching.checks import positions_of
from mensura.stitching.draws import Draws
from mensura.stitching.models import Model
from mensura.stitching.positions import Positions, Scale, principal
from mensura.stitching.predict import expected_scores, predictive
from mensura.stitching.scores import ScoreSet, read_pairs

DRAWS = 500
"""Draws behind the Laplace intervals."""


@dataclass(frozen=True)
class Stitch:
    """Subjects and benchmarks on one scale.

    Tables: ``capabilities`` (subject, capability, low, high; 90% Laplace intervals, highest first), ``benchmarks``
    (benchmark, difficulty, slope), ``profiles``. ``warnings`` name what the scores cannot tell, ``notes`` what was
    done to them on the way in (links, duplicates, sources), ``settings`` what was asked for.
    """

    method: str
    model: Model
    scale: Scale
    settings: Mapping[str, object]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        data = self.data
        head = (
            f"stitched ({self.method}): {len(data.subjects)} subjects, {len(data.benchmarks)} benchmarks, "
            f"{data.y.size} scores; 90% intervals"
        )
        pays = self.dimensions.filter(pl.col("verdict") == "pays").height
        if self.method == "pooled":
            head += f"; {pays} residual dimension{'' if pays == 1 else 's'} pay{'s' if pays == 1 else ''}"
        notices = "".join(f"\nwarning: {text}" for text in self.warnings)
        return f"{head}{notices}\n{text_table(self.capabilities)}"

    def _repr_html_(self) -> str:
        return f"<p>stitched ({self.method})</p>{self.capabilities._repr_html_()}"

    @property
    def data(self) -> ScoreSet:
        """The checked scores."""
        return self.model.data

    @cached_property
    def estimate(self) -> Positions:
        """The estimate on the result's scale, as arrays with one draw."""
        return self.scaled(self.model.positions)

    @cached_property
    def laplace(self) -> Draws:
        """Draws from the Gaussian approximation of the posterior (fixed seed)."""
        return self.draws("Laplace", self.scaled(self._own_draws))

    @property
    def capabilities(self) -> pl.DataFrame:
        """Subject, capability, low, high; highest first."""
        return self.laplace.capabilities

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
        alone = Positions(self.estimate.theta[:, :, :1], self.estimate.phi[:, :, :2])
        full, general = (expected_scores(self.model, at, rows, cols)[0] for at in (self.estimate, alone))
        table = {"subject": subjects[rows], "benchmark": benchmarks[cols], "score": full, "general": general}
        return pl.DataFrame(table).with_columns(above=pl.col("score") - pl.col("general"))

    @property
    def dimensions(self) -> pl.DataFrame:
        """Return the share of the completed matrix's variance (in η) that each latent dimension explains, and a word.

        Columns dimension (1 is capability), share, verdict. Held-out error decides (``mensura stitch --held-out``); a
        share below 1% means that the dimension has shrunk away.
        """
        at = self.estimate
        explained = at.theta[0].var(axis=0) * (at.phi[0, :, 1:] ** 2).sum(axis=0)
        share = explained / explained.sum()
        verdicts = ["capability", *("pays" if part >= 0.01 else "does not pay" for part in share[1:])]
        return pl.DataFrame({"dimension": np.arange(1, share.size + 1), "share": share, "verdict": verdicts})

    def predict(self, pairs: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return the expected score of each pair and the 90% interval of a new score there.

        Columns subject, benchmark, score, low, high, in the order of ``pairs``. Where a subject or benchmark has no
        scores the default method answers from its prior, rosetta with null.
        """
        frame = read_pairs(pairs, name="pairs").select("subject", "benchmark")
        rows = positions_of(self.data.subjects, frame["subject"].to_list())
        cols = positions_of(self.data.benchmarks, frame["benchmark"].to_list())
        columns = zip(("score", "low", "high"), predictive(self.model, self._own_draws, rows, cols), strict=True)
        return frame.with_columns(pl.Series(name, values).fill_nan(None) for name, values in columns)

    def bootstrap(
        self, n: int = 200, *, seed: int = 0, kind: Kind = "within", advance: Callable[[], object] | None = None
    ) -> Draws:
        """Refit ``n`` resampled data sets: scores ``within`` subjects, whole ``subjects``, or whole ``benchmarks``.

        Every replicate is put on the scale by itself. ``advance`` is called once per replicate.
        """
        layout = self.data.layout
        weights = bootstrap_weights(layout, n, kind, np.random.default_rng(seed), self.scale.benchmark)
        refitted, seen, known = resampled(self.model, weights, kind, advance)
        at = self.scaled(refitted)
        at.theta[~seen], at.phi[~known] = np.nan, np.nan
        return self.draws(f"bootstrap {kind}", at)

    def scaled(self, positions: Positions, basis: int | None = None) -> Positions:
        """Put positions of the model's own making on the result's scale; the first ``basis`` subjects define it."""
        return self.scale.apply(principal(positions, basis), basis)

    def draws(self, kind: str, positions: Positions) -> Draws:
        """Wrap scaled positions of this fit's subjects and benchmarks."""
        return Draws(kind, self.data.subjects, self.data.benchmarks, self.estimate, positions)

    @cached_property
    def _own_draws(self) -> Positions:
        return self.model.sample(DRAWS, np.random.default_rng(0))
