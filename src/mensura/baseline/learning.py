"""The learned errors of language models that estimate human success rates, and their file.

``benchmarks/baseline_learning.py`` learns them from recorded estimates with known rates.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mensura.core.arrays import Floats

if TYPE_CHECKING:
    from collections.abc import Mapping


FILE = Path(__file__).parent / "data" / "learned.json"
UNNAMED = "unnamed"
"""The model of estimates that name none."""
GROUPS = ("people", "time", "report", "domain", "format")
"""Groups of effects: kind of people, time pressure, tested or only claimed, domain, answer format."""

RATING, TRAIT = "rating", "trait"
"""Spreads that AI benchmarks taught: of a benchmark whose people were raters, and of a trait that none of them has."""


@dataclass(frozen=True, eq=False)
class Learned:
    """Effects (``names``, ``mean``, ``covariance``) and the spreads in logits of everything else.

    ``spreads``: of a pool's shift (``pool``) and slope (``pool_slope``), of far people per unit of distance (``far``),
    of an unknown kind in each group, of an item (``item``, and ``stated`` per unit of the stated spread), and between
    pools of the logarithm of the size of items' errors (``scale``). AI benchmarks teach the effects of traits of raters
    (``trait:majority``), and how far such people differ beyond them (``rating``, ``trait``).
    ``runs``, ``models``: correlations of the errors of two runs and of two models. ``usual_spread``: stated SD where
    none is stated. ``centre``: the logit around which slopes turn. ``log_posterior``: of the
    recordings, to compare settings.
    """

    names: tuple[str, ...]
    mean: Floats
    covariance: Floats
    spreads: Mapping[str, float]
    runs: float
    models: float
    usual_spread: float
    centre: float
    log_posterior: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers for JSON, rounded to five digits."""
        return {
            "names": list(self.names),
            "mean": np.round(self.mean, 5).tolist(),
            "covariance": np.round(self.covariance, 5).tolist(),
            "spreads": {name: round(value, 5) for name, value in self.spreads.items()},
            "runs": self.runs,
            "models": self.models,
            "usual_spread": self.usual_spread,
            "centre": self.centre,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Learned:
        """Read what :meth:`to_dict` wrote."""
        arrays = {name: np.array(stored[name], dtype=np.float64) for name in ("mean", "covariance")}
        return cls(**{**stored, **arrays, "names": tuple(stored["names"])})


@cache
def shipped() -> dict[str, Any]:
    """Return the packaged file: ``errors`` (see :class:`Learned`), ``persons``, ``origin``, ``estimators``."""
    stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def is_recorded(estimator: str) -> bool:
    """Return whether the errors of a model were learned: its name has that of a recorded one; unnamed ones count."""
    name = estimator.casefold()
    return name == UNNAMED or any(recorded in name for recorded in shipped()["estimators"])


@cache
def shipped_errors() -> Learned:
    """Return the packaged effects."""
    return Learned.from_dict(shipped()["errors"])
