"""A bank of calibrated items: chances, information, and an ability from any answers to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.intake.tables import as_frame
from mensura.responses.irt.model import Parameters, chances, curve_derivatives, log_chances

_GRID = np.linspace(-8.0, 8.0, 321)


@dataclass(frozen=True)
class Placement:
    """An ability from some answers: posterior mean and standard deviation, and how many items stand behind it."""

    ability: float
    se: float
    n: int


@dataclass(frozen=True, eq=False)
class ItemBank:
    """Items with known parameters, as ``items.csv`` of a fit holds them.

    ``errors``: standard errors of discrimination and difficulty, items × 2; zeros where they are not known.
    ``answers``: how many stand behind the middle item; none where that is not known.
    """

    items: tuple[str, ...]
    parameters: Parameters
    errors: Floats
    answers: float | None = None

    @classmethod
    def from_table(cls, table: Any) -> ItemBank:  # noqa: ANN401
        """Read item, discrimination, difficulty and, where there is any, guessing."""
        frame = as_frame(table, name="items")
        require_columns(frame, ["item", "discrimination", "difficulty"], name="items")
        names = frame["item"].cast(pl.String)
        if names.n_unique() < names.len():
            raise MensuraError(f"items: {names.filter(names.is_duplicated())[0]!r} occurs twice; remove one row")
        slope, difficulty = (frame[name].cast(pl.Float64).to_numpy() for name in ("discrimination", "difficulty"))
        c = (
            frame["guessing"].cast(pl.Float64).fill_null(0.0).to_numpy()
            if "guessing" in frame.columns
            else np.zeros(len(slope))
        )
        if not np.all(np.isfinite(slope)) or not np.all(np.isfinite(difficulty)) or np.any((c < 0.0) | (c >= 1.0)):
            raise MensuraError("items: discrimination and difficulty must be numbers, guessing from 0 to below 1")
        model = "3pl" if np.any(c > 0.0) else "2pl"
        guess = np.log(np.maximum(c, 1e-12) / (1.0 - c))
        told = [_errors(frame, name) for name in ("se_discrimination", "se_difficulty")]
        parameters = Parameters(model, slope, -slope * difficulty, guess, np.zeros(1), np.ones(1))
        counts = frame["n"].cast(pl.Float64).drop_nulls() if "n" in frame.columns else pl.Series([], dtype=pl.Float64)
        answers = float(np.median(counts.to_numpy())) if counts.len() else None
        return cls(tuple(names), parameters, np.stack(told, axis=1), answers)

    def only(self, places: Sequence[int] | np.ndarray[Any, Any]) -> ItemBank:
        """Return some of the items."""
        p, at = self.parameters, np.asarray(places, dtype=int)
        some = Parameters(p.model, p.slope[at], p.intercept[at], p.guess[at], p.mean, p.sd)
        return ItemBank(tuple(self.items[place] for place in at), some, self.errors[at], self.answers)

    def chances(self, ability: Floats) -> Floats:
        """Return the chance of a right answer, items × abilities."""
        return chances(self.parameters, ability)

    def information(self, ability: Floats) -> Floats:
        """Return what one answer says about ability, P′²/(P(1−P)), items × abilities."""
        rate, _, along = curve_derivatives(self.parameters, ability)
        found: Floats = along**2 / np.maximum(rate * (1.0 - rate), 1e-9)
        return found

    def place(self, right: Floats, trials: Floats, *, mean: float = 0.0, sd: float = 1.0) -> Placement:
        """Return the ability that answers speak for, with a normal prior; ``right`` and ``trials`` follow the items."""
        taken = np.flatnonzero(trials > 0.0)
        log_right, log_wrong = log_chances(self.only(taken).parameters, _GRID)
        right_taken, wrong_taken = right[taken], trials[taken] - right[taken]
        height = right_taken @ log_right + wrong_taken @ log_wrong - 0.5 * ((_GRID - mean) / sd) ** 2
        weight = np.exp(height - height.max())
        weight /= weight.sum()
        ability = float(weight @ _GRID)
        variance = float(weight @ (_GRID - ability) ** 2)
        variance += variance**2 * self._item_noise(ability, trials)
        return Placement(ability, float(np.sqrt(variance)), int(np.count_nonzero(trials)))

    def _item_noise(self, ability: float, trials: Floats) -> float:
        """Return the variance that errors of the items give to the slope of a log likelihood at an ability.

        Items with large discriminations are chosen first, and theirs are the most overestimated: without this an
        adaptive interval is too short.
        """
        p = self.parameters
        rate, _, along = (part[:, 0] for part in curve_derivatives(p, np.array([ability])))
        held = along**2 / np.maximum(rate * (1.0 - rate), 1e-9)
        slope = np.where(np.abs(p.slope) > 1e-6, p.slope, 1e-6)
        by_slope = trials * held / slope**2 + (trials * held * (ability + p.intercept / slope) / slope) ** 2
        return float(by_slope @ self.errors[:, 0] ** 2 + (trials * held) ** 2 @ self.errors[:, 1] ** 2)


def _errors(frame: pl.DataFrame, name: str) -> Floats:
    if name not in frame.columns:
        return np.zeros(frame.height)
    known: Floats = np.nan_to_num(frame[name].cast(pl.Float64).fill_null(0.0).to_numpy(), nan=0.0, posinf=0.0)
    return known
