"""``mensura.profile``: the ability of subjects in each dimension, and where it stands among people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.arrays import Floats
from mensura.calibration.inputs import Z90
from mensura.calibration.open_pool import OPEN, open_lines
from mensura.calibration.profiles.adele import LEVELS, draw_curves, fit_counts
from mensura.calibration.profiles.joint import JointFit, LevelGrid, NonCompensatory, chance, fit_joint
from mensura.calibration.profiles.outcomes import Answered, line_up, read_levels
from mensura.calibration.profiles.placing import place, uncalibrated_rate
from mensura.calibration.profiles.statements import statement
from mensura.demands.dimensions import annotated_dimensions
from mensura.errors import MensuraError
from mensura.evidence import load
from mensura.frames import as_frame, require_columns
from mensura.results import Result
from mensura.scale import Calibration

METHODS = ("joint", "adele")
DRAWS = 200
TAILS = (0.05, 0.95)
FEWEST_DECIDED = 10
"""Items that a dimension must decide for an ability to be placed."""
PREDICTION_DRAWS = 200
_ENDLESS = 1e6  # stands for the level at one half of a curve that does not fall, when draws are sorted

PROFILE_COLUMNS: Mapping[str, Any] = {
    "subject": pl.String,
    "dimension": pl.String,
    **dict.fromkeys(("ability", "low", "high", "world_rate", "one_in", "percentile", "iq"), pl.Float64),
}
_ENDS = [f"{name}_{end}" for name in ("rate", "one_in", "percentile", "iq") for end in ("low", "high")]
POSITION_COLUMNS: Mapping[str, Any] = {
    "subject": pl.String,
    "dimension": pl.String,
    "name": pl.String,
    "items": pl.Float64,
    **dict.fromkeys(("level_at_half", "half_low", "half_high"), pl.Float64),
    **dict.fromkeys(("alone", "alone_low", "alone_high"), pl.Float64),
    **dict.fromkeys(_ENDS, pl.Float64),
    "uncalibrated_rate": pl.Float64,
    "line": pl.String,
    "note": pl.String,
}


@dataclass(frozen=True, eq=False, repr=False)
class ProfileResult(Result):
    """Abilities of subjects, on the scales as annotated and among the people of the world.

    ``profile``: subject, dimension, ability with its 90% interval (low, high) in levels; world_rate, one_in,
    percentile and iq where the calibrated line puts it, empty where it cannot be placed. ``positions``: the name of
    the dimension, items that it decides, the level at one half with its interval, the level met half of the time if
    the demand were ``alone`` (joint only), the 90% intervals of rate, rarity, percentile and IQ (errors of ability and
    line together), the ``uncalibrated_rate`` (base 10), the ``line`` used, and a ``note``: why there is no position, or
    what to bear in mind.
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

    @property
    def heading(self) -> str:
        """Method and size."""
        subjects = self.statements.height
        return (
            f"Profile ({self.method}): {subjects} subject{'s' if subjects != 1 else ''}, "
            f"{len(self.dimensions)} dimensions; ability in levels with its 90% interval"
        )

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


@dataclass(frozen=True, eq=False)
class _Abilities:
    """Abilities, subjects × dimensions, as a method found them; ``half``: levels at one half with their interval.

    ``untold``: where the items say too little to place an ability, with the reason. ``alone``: the level of a demand
    that is met half of the time when it is the only one, with its interval; of the joint model alone.
    """

    subjects: tuple[str, ...]
    dimensions: tuple[str, ...]
    ability: tuple[Floats, Floats, Floats]
    half: tuple[Floats, Floats, Floats]
    items: Floats
    untold: Mapping[tuple[int, int], str]
    alone: tuple[Floats, Floats, Floats] | None = None


def default_lines() -> Calibration:
    """Return the calibration in use: the open one where it identifies a base, else the published one."""
    return open_lines().over(load().calibration)


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
    ``calibration``: lines to place abilities by; by default open where it identifies a base, else published.
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
        found = _by_curves(answered.subjects, answered.dimensions, *answered.counts(), draws, seed)
        return replace(_placed(found, calibration, method), warnings=answered.warnings)
    found, fits, warnings = _by_model(answered, draws, seed)
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
        raise MensuraError(f"counts: {row['subject']}, {row['dimension']}: {row['correct']} correct of {row['n']}")
    subjects = tuple(table["subject"].unique(maintain_order=True))
    there = set(table["dimension"])
    dimensions = tuple(code for code in annotated_dimensions() if code in there)
    if lost := sorted(there - set(dimensions)):
        raise MensuraError(f"counts: unknown dimension {lost[0]!r} (known: {', '.join(annotated_dimensions())})")
    if not table["level"].is_between(0, 5).all():
        raise MensuraError("counts: a level lies outside 0 to 5")
    n, correct = (np.zeros((len(subjects), len(dimensions), len(LEVELS))) for _ in range(2))
    rows, columns = ({name: at for at, name in enumerate(names)} for names in (subjects, dimensions))
    for name, code, level, asked, right in table.filter(pl.col("level") >= 1).select(
        "subject", "dimension", "level", "n", "correct"
    ).iter_rows():  # fmt: skip
        n[rows[name], columns[code], int(level) - 1] += asked
        correct[rows[name], columns[code], int(level) - 1] += right
    return _placed(_by_curves(subjects, dimensions, n, correct, draws, seed), calibration, "adele")


def _by_curves(
    subjects: tuple[str, ...], dimensions: tuple[str, ...], n: Floats, correct: Floats, draws: int, seed: int
) -> _Abilities:
    """Fit the published curve to every subject and dimension."""
    if draws < 1:
        raise MensuraError(f"draws: got {draws}; expected 1 or more")
    shape = n.shape[:2]
    n, correct = n.reshape(-1, len(LEVELS)), correct.reshape(-1, len(LEVELS))
    fitted = fit_counts(n, correct)
    areas, halves = draw_curves(n, correct, fitted, draws, np.random.default_rng(seed))
    total = n.sum(axis=1)
    empty = total == 0
    ability = _with_ends(np.where(empty, np.nan, fitted.area), areas, shape)
    half = _with_ends(np.where(empty, np.nan, fitted.level_at_half), halves, shape)
    untold = {
        (int(at) // shape[1], int(at) % shape[1]): f"it decides {total[at]:g} items; {FEWEST_DECIDED} are needed"
        for at in np.flatnonzero(total < FEWEST_DECIDED)
    }
    return _Abilities(subjects, dimensions, ability, half, total.reshape(shape), untold)


def _with_ends(middle: Floats, drawn: Floats, shape: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
    """Return a value with the ends of its interval, which always hold it."""
    low, high = np.quantile(np.where(np.isfinite(drawn), drawn, _ENDLESS), TAILS, axis=0)
    low, high = np.fmin(low, middle), np.fmax(high, middle)
    gone = np.isnan(middle)
    ends = [np.where(gone | (np.abs(end) > _ENDLESS / 2), np.nan, end).reshape(shape) for end in (low, high)]
    return middle.reshape(shape), ends[0], ends[1]


def _by_model(answered: Answered, draws: int, seed: int) -> tuple[_Abilities, dict[str, JointFit], list[str]]:
    """Fit the non-compensatory model to every subject, and read abilities off the chances that it gives the items.

    What a demand alone would take (``alone``) is not what items of that level take, which make other demands as well,
    and it is items as they are that lines are drawn through. So the curve of the published recipe is fitted to the
    chances, free of guessing and of the noise of single answers; the counts behind its interval stay the same.
    """
    model = NonCompensatory(len(answered.dimensions))
    whole = LevelGrid.of(answered.levels)
    fits: dict[str, JointFit] = {}
    size = (len(answered.subjects), len(answered.dimensions))
    middle, error, solving = np.empty(size), np.empty(size), np.empty(len(answered.solved))
    unsettled = []
    start, every = None, np.arange(len(answered.items))
    for at, name in enumerate(answered.subjects):
        rows, solved, floor = answered.of(at)
        grid = whole if np.array_equal(rows, every) else whole.rows(rows)
        fit = fit_joint(model, grid, solved, floor, start)
        start, fits[name] = fit.parameters, fit
        middle[at], error[at] = fit.parameters[:-1], np.sqrt(np.diag(fit.covariance)[:-1])
        solving[answered.starts[at] : answered.starts[at + 1]] = chance(model, fit.parameters, grid, 0.0 * floor)
        if not fit.converged:
            unsettled.append(name)
    n, able = replace(answered, solved=solving).counts()
    found = _by_curves(answered.subjects, answered.dimensions, n, able, draws, seed)
    warnings = [f"the fit of {', '.join(unsettled[:3])} did not settle"] if unsettled else []
    alone = middle, middle - Z90 * error, middle + Z90 * error
    return replace(found, alone=alone), fits, warnings


def _placed(found: _Abilities, calibration: Calibration | None, method: str) -> ProfileResult:
    """Put abilities among people, by the calibration's lines."""
    lines = default_lines() if calibration is None else calibration
    known = annotated_dimensions()
    profiles: list[tuple[object, ...]] = []
    positions: list[tuple[object, ...]] = []
    for i, subject in enumerate(found.subjects):
        for j, code in enumerate(found.dimensions):
            ability, low, high = (float(part[i, j]) for part in found.ability)
            where = place(lines, code, ability, low, high)
            position = None if (i, j) in found.untold else where.position
            note = found.untold.get((i, j), where.note)
            readings = (
                [(None, None, None)] * 4
                if position is None
                else [position.rate, position.one_in, position.percentile, position.iq]
            )
            profiles.append((subject, code, *map(_known, (ability, low, high)), *(one[0] for one in readings)))
            line = "" if where.line is None else f"{where.line.dimension}, {_whose(where.line.source)}"
            halves = [_known(float(part[i, j])) for part in found.half]
            halves += [None] * 3 if found.alone is None else [float(part[i, j]) for part in found.alone]
            ends = (end for one in readings for end in one[1:])
            theory = uncalibrated_rate(ability)
            positions.append((subject, code, known[code].name, found.items[i, j], *halves, *ends, theory, line, note))
    table = pl.DataFrame(positions, schema=POSITION_COLUMNS, orient="row")
    spoken = [(name, statement(rows.iter_rows(named=True))) for (name,), rows in table.group_by(
        "subject", maintain_order=True)]  # fmt: skip
    return ProfileResult(
        pl.DataFrame(profiles, schema=PROFILE_COLUMNS, orient="row"),
        table,
        pl.DataFrame(spoken, schema={"subject": pl.String, "statement": pl.String}, orient="row"),
        method,
        found.dimensions,
    )


def _whose(source: str) -> str:
    return "open" if source == OPEN else "published" if "Table 16" in source else "given"


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None
