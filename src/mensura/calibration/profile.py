"""``mensura.profile``: the ability of subjects in each dimension, and where it stands among people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.calibration.abilities import TAILS, FoundAbilities, abilities_by_curves, abilities_by_model
from mensura.calibration.items import LEVELS
from mensura.calibration.joint import JointFit, LevelGrid, NonCompensatory, chance
from mensura.calibration.open_pool import chosen_lines
from mensura.calibration.outcomes import Answered, line_up, read_levels
from mensura.calibration.placing import placed_tables
from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.demands.dimensions import annotated_dimensions
from mensura.intake.tables import as_frame
from mensura.scale import Calibration

METHODS = ("joint", "adele")
DRAWS = 200
PREDICTION_DRAWS = 200


@dataclass(frozen=True, eq=False, repr=False)
class ProfileResult(Result):
    """Abilities of subjects, on the scales as annotated and among the people of the world.

    ``profile``: subject, dimension, ability with its 90% interval (low, high) in levels; world_rate, one_in,
    percentile and iq where the calibrated line puts it, empty where it cannot be placed. ``positions``: the name of
    the dimension, items that it decides, the level at one half with its interval, the level met half of the time if
    the demand were ``alone`` (joint only), the 90% intervals of rate, rarity, percentile and IQ (errors of ability and
    line together), the ``uncalibrated_rate`` (base 10), the ``line`` used, whether the position is ``at_least`` so rare
    (the data cannot tell rarer), and a ``note``: why there is no position, or what to bear in mind.
    ``statements``: subject, statement. ``method``: adele or joint.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("profile", "positions", "statements")

    profile: pl.DataFrame
    positions: pl.DataFrame
    statements: pl.DataFrame
    method: str
    dimensions: tuple[str, ...]
    fits: Mapping[str, JointFit] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    found: FoundAbilities | None = None

    @property
    def heading(self) -> str:
        """Method and size."""
        subjects = self.statements.height
        return (
            f"Profile ({self.method}): {subjects} subject{'s' if subjects != 1 else ''}, "
            f"{len(self.dimensions)} dimensions; ability in levels with its 90% interval"
        )

    def placed_by(self, calibration: Calibration) -> ProfileResult:
        """Return the same abilities among people by the lines of another calibration."""
        if self.found is None:
            raise MensuraError("placed_by: the profile was read without its abilities; run mensura.profile again")
        table, positions, statements = placed_tables(self.found, calibration)
        return replace(self, profile=table, positions=positions, statements=statements)

    def predict(self, demands: Any, *, options: float | None = None, seed: int = 0) -> pl.DataFrame:  # noqa: ANN401
        """Return subject, item, chance, low, high: the chance to solve new items, from their demands alone.

        ``options``: answers on offer, when one may guess. The 90% interval is about the subject's abilities.
        """
        if not self.fits:
            raise MensuraError("predict: needs outcomes item by item and the method joint; counts by level cannot say")
        if options is not None and options < 2:
            raise MensuraError(f"options: got {options!r}; expected 2 or more, or nothing for open answers")
        items, levels = read_levels(demands, self.dimensions)
        grid, model = LevelGrid.of(levels), NonCompensatory(len(self.dimensions))
        floor = np.full(len(items), 0.0 if options is None else 1.0 / options)
        rng = np.random.default_rng(seed)
        parts = []
        for subject, fit in self.fits.items():
            drawn = rng.multivariate_normal(fit.parameters, fit.covariance, PREDICTION_DRAWS, method="cholesky")
            spread = np.array([chance(model, one, grid, floor) for one in drawn])
            middle = chance(model, fit.parameters, grid, floor)
            low, high = np.quantile(spread, TAILS, axis=0)
            ends = {"low": np.minimum(low, middle), "high": np.maximum(high, middle)}
            parts.append(pl.DataFrame({"item": items, "chance": middle, **ends}).insert_column(
                0, pl.Series("subject", [subject] * len(items))))  # fmt: skip
        return pl.concat(parts)


@check_arguments
def profile(
    outcomes: Any,  # noqa: ANN401
    demands: Any,  # noqa: ANN401
    *,
    method: str = "joint",
    calibration: Calibration | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> ProfileResult:
    """Find the abilities of subjects from ``outcomes`` on items with ``demands``, tables of any library or paths.

    ``outcomes``: subject, item, correct[, options], a share where several tried; ``demands``: long or wide. ``method``:
    ``joint``, every demand must be met, guessing counted; or ``adele``, the published recipe, one dimension at a time.
    ``calibration``: lines to place abilities by; by default the published ones, all of one calibration.

    >>> import mensura
    >>> import polars as pl
    >>> items = [f"i{at}" for at in range(20)]
    >>> outcomes = pl.DataFrame({"subject": ["ann"] * 20, "item": items, "correct": [1] * 12 + [0] * 8})
    >>> demands = pl.DataFrame({"item": items, "KNc": [at // 5 for at in range(20)]})
    >>> abilities = mensura.profile(outcomes, demands, draws=20)
    >>> abilities.shown.columns[:2]
    ['subject', 'dimension']
    """
    check_profile_method(method)
    return profile_answered(line_up(outcomes, demands), method=method, calibration=calibration, draws=draws, seed=seed)


def check_profile_method(method: str) -> None:
    """Refuse a method that is not known."""
    if method not in METHODS:
        raise MensuraError(f"method: {method!r} is not known; choose one of {', '.join(METHODS)}")


def profile_answered(
    answered: Answered,
    *,
    method: str = "joint",
    calibration: Calibration | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> ProfileResult:
    """Find the abilities of subjects from outcomes that are lined up with demands already."""
    check_profile_method(method)
    if method == "adele":
        found = abilities_by_curves(answered.subjects, answered.dimensions, *answered.counts(), draws, seed)
        return replace(_placed(found, calibration, method), warnings=answered.warnings)
    found, fits, warnings = abilities_by_model(answered, draws, seed)
    return replace(_placed(found, calibration, method), fits=fits, warnings=(*answered.warnings, *warnings))


def profile_counts(
    counts: Any,  # noqa: ANN401
    *,
    calibration: Calibration | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> ProfileResult:
    """Find abilities by the published recipe from counts: subject, dimension, level, n, correct."""
    table = as_frame(counts, name="counts")
    require_columns(table, ["subject", "dimension", "level", "n", "correct"], name="counts")
    wrong = table.filter((pl.col("correct") > pl.col("n")) | (pl.col("correct") < 0))
    if wrong.height:
        row = wrong.row(0, named=True)
        raise MensuraError(
            f"counts: {row['subject']}, {row['dimension']}: {row['correct']} correct of {row['n']}; expected 0 to n"
        )
    subjects = tuple(table["subject"].unique(maintain_order=True))
    there = set(table["dimension"])
    dimensions = tuple(code for code in annotated_dimensions() if code in there)
    if lost := sorted(there - set(dimensions)):
        raise MensuraError(
            f"counts: unknown dimension {lost[0]!r}; expected one of {', '.join(annotated_dimensions())}"
        )
    if not table["level"].is_between(0, 5).all():
        raise MensuraError("counts: a level is outside 0 to 5; correct the column 'level'")
    n, correct = (np.zeros((len(subjects), len(dimensions), len(LEVELS))) for _ in range(2))
    rows, columns = ({name: at for at, name in enumerate(names)} for names in (subjects, dimensions))
    for name, code, level, asked, right in table.filter(pl.col("level") >= 1).select(
        "subject", "dimension", "level", "n", "correct"
    ).iter_rows():  # fmt: skip
        n[rows[name], columns[code], int(level) - 1] += asked
        correct[rows[name], columns[code], int(level) - 1] += right
    return _placed(abilities_by_curves(subjects, dimensions, n, correct, draws, seed), calibration, "adele")


def _placed(found: FoundAbilities, calibration: Calibration | None, method: str) -> ProfileResult:
    """Put abilities among people, by the calibration's lines."""
    lines = chosen_lines() if calibration is None else calibration
    return ProfileResult(*placed_tables(found, lines), method, found.dimensions, found=found)
