"""``mensura.profile``: the ability of subjects in each dimension, and where it stands among people."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.calibration.abilities import TAILS, FoundAbilities, abilities_by_curves, abilities_by_model
from mensura.calibration.items import LEVELS
from mensura.calibration.joint import JointFit, LevelGrid, NonCompensatory, chance
from mensura.calibration.open_pool import chosen_lines
from mensura.calibration.outcomes import Answered, level_table, line_up
from mensura.calibration.placing import placed_tables
from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError, check_choice, counted
from mensura.core.frames import first_row, require_columns
from mensura.core.results import Result
from mensura.demands.rubrics import annotated_dimensions
from mensura.intake.columns import read_columns
from mensura.scale import Calibration

METHODS = ("joint", "adele")
DRAWS = 200
PREDICTION_DRAWS = 200
UNTESTED = "nobody has tested whether these items are as hard for AI systems as for people of equal ability"
"""Said beside every place among people: `docs/validity.md` says why it matters."""


@dataclass(frozen=True, eq=False, repr=False)
class ProfileResult(Result):
    """Abilities of subjects, on the scales as annotated and among the people of the world.

    Attributes
    ----------
    profile
        subject, dimension, ability with its 90% interval (low, high) in levels; world_rate, one_in, percentile and iq
        where the calibrated line puts it, empty where it cannot be placed.
    positions
        The name of the dimension, items that it decides, the level at one half with its interval, the level met half of
        the time if the demand were ``alone`` (joint only), the 90% intervals of rate, rarity, percentile and IQ (errors
        of ability and line together), the ``uncalibrated_rate`` (base 10), the ``line`` used, whether the position is
        ``at_least`` so rare (the data cannot tell rarer), and a ``note``: why there is no position, or a reservation.
    statements
        subject, statement.
    abilities
        The abilities before they are placed.
    method
        adele or joint.
    fits
        The fit of each subject (joint only).

    """

    TABLES: ClassVar[tuple[str, ...]] = ("profile", "positions", "statements")

    profile: pl.DataFrame
    positions: pl.DataFrame
    statements: pl.DataFrame
    abilities: FoundAbilities
    method: str
    fits: Mapping[str, JointFit] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions, in their order."""
        return self.abilities.dimensions

    @property
    def heading(self) -> str:
        """Method and size."""
        sizes = f"{counted(self.statements.height, 'subject')}, {counted(len(self.dimensions), 'dimension')}"
        return f"Profile ({self.method}): {sizes}; ability in levels with its 90% interval"

    def predict(self, demands: Any, *, options: float | None = None, seed: int = 0) -> pl.DataFrame:
        """Return subject, item, chance, low, high: the chance to solve new items, from their demands alone.

        ``options``: answers on offer, when one may guess. The 90% interval is about the subject's abilities.
        """
        if not self.fits:
            raise MensuraError("predict: needs outcomes item by item and the method joint; counts by level cannot say")
        if options is not None and options < 2:
            raise MensuraError(f"options: got {options!r}; expected 2 or more, or nothing for open answers")
        table, _ = level_table(demands)
        require_columns(table, self.dimensions, name="demands")
        items, levels = table["item"], table.select(self.dimensions).to_numpy().astype(np.float64)
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
            parts.append(pl.DataFrame({"subject": [subject] * len(items), "item": items, "chance": middle, **ends}))
        return pl.concat(parts)


@check_arguments
def profile(
    outcomes: Any,
    demands: Any,
    *,
    method: str = "joint",
    calibration: Calibration | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    columns: str | None = None,
) -> ProfileResult:
    """Find the abilities of subjects from outcomes on items with demands, and place them among people.

    Parameters
    ----------
    outcomes
        Table of any library, or path: subject, item, correct (0 or 1, or a share where several tried) and, where one
        may guess, options.
    demands
        Demand levels of the items, long (item, dimension, level) or wide (a column per dimension).
    method
        ``joint``: every demand must be met, guessing counted. ``adele``: the published recipe, one dimension at a time.
    calibration
        Lines to place abilities by; by default the published ones, all of one calibration.
    draws
        Draws behind the intervals.
    seed
        Seed of the draws.
    columns
        Fields and their columns where names alone do not say it, such as ``subject=model,correct=score``.

    Returns
    -------
    ProfileResult
        Abilities with intervals, positions among people, and a statement for each subject.

    Raises
    ------
    MensuraError
        If a table is not understood, or no outcome has demands.

    Examples
    --------
    >>> import mensura
    >>> import polars as pl
    >>> items = [f"i{at}" for at in range(20)]
    >>> outcomes = pl.DataFrame({"subject": ["ann"] * 20, "item": items, "correct": [1] * 12 + [0] * 8})
    >>> demands = pl.DataFrame({"item": items, "KNc": [at // 5 for at in range(20)]})
    >>> abilities = mensura.profile(outcomes, demands, draws=20)
    >>> abilities.shown.columns[:2]
    ['subject', 'dimension']

    """
    check_choice("method", method, METHODS)
    answered = line_up(outcomes, demands, columns)
    return profile_answered(answered, method=method, calibration=calibration, draws=draws, seed=seed)


def profile_answered(
    answered: Answered,
    *,
    method: str = "joint",
    calibration: Calibration | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> ProfileResult:
    """Find the abilities of subjects from outcomes that are lined up with demands already."""
    check_choice("method", method, METHODS)
    if method == "adele":
        abilities = abilities_by_curves(answered.subjects, answered.dimensions, *answered.counts(), draws, seed)
        return _placed(abilities, calibration, method, answered.warnings)
    abilities, fits, warnings = abilities_by_model(answered, draws, seed)
    return replace(_placed(abilities, calibration, method, (*answered.warnings, *warnings)), fits=fits)


def profile_counts(
    counts: Any, *, calibration: Calibration | None = None, draws: int = DRAWS, seed: int = 0
) -> ProfileResult:
    """Find abilities by the published recipe from counts by level.

    Parameters
    ----------
    counts
        Table of any library, or path: subject, dimension, level, n (items), correct (items solved).
    calibration
        Lines to place abilities by; by default the published ones.
    draws
        Draws behind the intervals.
    seed
        Seed of the draws.

    Returns
    -------
    ProfileResult
        As :func:`mensura.profile` returns it.

    Raises
    ------
    MensuraError
        If a count, level or dimension is impossible.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.calibration import profile_counts
    >>> levels = {"subject": "ann", "dimension": "KNc", "level": [1, 2, 3], "n": 20, "correct": [19, 12, 3]}
    >>> profile_counts(pl.DataFrame(levels), draws=20).profile["dimension"].to_list()
    ['KNc']

    """
    fields = ("subject", "dimension", "level", "n", "correct")
    table = read_columns(counts, fields, name="counts", needed=fields, numbers=fields[2:])
    if row := first_row(table.filter((pl.col("correct") > pl.col("n")) | (pl.col("correct") < 0))):
        raise MensuraError(
            f"counts: {row['subject']}, {row['dimension']}: {row['correct']:g} correct of {row['n']:g}; expected 0 to n"
        )
    if not table["level"].is_between(0, 5).all():
        raise MensuraError("counts: a level is outside 0 to 5; correct the column 'level'")
    subjects = tuple(table["subject"].unique(maintain_order=True))
    dimensions = tuple(code for code in annotated_dimensions() if code in table["dimension"])
    if lost := sorted(set(table["dimension"]) - set(dimensions)):
        raise MensuraError(
            f"counts: unknown dimension {lost[0]!r}; expected one of {', '.join(annotated_dimensions())}"
        )
    table = table.filter(pl.col("level") >= 1)
    places = (
        table["subject"].replace_strict(subjects, range(len(subjects)), return_dtype=pl.Int64).to_numpy(),
        table["dimension"].replace_strict(dimensions, range(len(dimensions)), return_dtype=pl.Int64).to_numpy(),
        table["level"].cast(pl.Int64).to_numpy() - 1,
    )
    n, correct = np.zeros((2, len(subjects), len(dimensions), len(LEVELS)))
    np.add.at(n, places, table["n"].to_numpy())
    np.add.at(correct, places, table["correct"].to_numpy())
    return _placed(abilities_by_curves(subjects, dimensions, n, correct, draws, seed), calibration, "adele")


def _placed(
    abilities: FoundAbilities, calibration: Calibration | None, method: str, warnings: tuple[str, ...] = ()
) -> ProfileResult:
    """Put abilities among people, by the calibration's lines."""
    tables = placed_tables(abilities, chosen_lines() if calibration is None else calibration)
    if tables[0]["percentile"].count():
        warnings = (*warnings, UNTESTED)
    return ProfileResult(*tables, abilities, method, warnings=warnings)
