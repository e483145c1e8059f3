"""One level per item and dimension from several readings: their median, or a model of annotators who err in order.

The model is that of Dawid and Skene for ordered levels: an item has a true level z; annotator a reads
``z + b + s·ε`` rounded to a level, with a leaning b and an error s of its own in each dimension, ε standard normal. How
common each level is, b and s are estimated together (EM), with weak priors that keep few readings from running away.
Readings cannot tell where all annotators lean together, so leanings are counted from their mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError, check_choice
from mensura.demands.readings import ReadingGrid
from mensura.demands.rubrics import LEVELS

AGGREGATIONS = ("median", "ordinal")
DEMAND_COLUMNS = ("item", "dimension", "level", "spread", "annotator")
_VALUES = np.array(LEVELS, dtype=float)
_LEANINGS = np.linspace(-1.5, 1.5, 31)
_CENTRE = 15
_ERRORS = np.geomspace(0.15, 2.5, 25)
_LEANING_SD = 0.5
_TYPICAL_ERROR, _ERROR_LOG_SD = 0.5, 0.5
_SMOOTHING = 1.0
_ROUNDS, _STILL = 200, 1e-8


@dataclass(frozen=True, eq=False)
class PooledLevels:
    """``demands``: item, dimension, level, spread, annotator; ``annotators``: dimension, annotator, leaning, error."""

    demands: pl.DataFrame
    annotators: pl.DataFrame


def pool_readings(readings: pl.DataFrame, how: str = "median") -> PooledLevels:
    """Make one level per item and dimension from several readings.

    Parameters
    ----------
    readings
        As :func:`read_demands` returns them.
    how
        ``median``: the middle reading; between two middle ones a half is rounded to the even level, so that halves go
        up as often as down and levels stay whole. ``ordinal``: the most probable level under a model of annotators who
        err.

    Returns
    -------
    PooledLevels
        ``demands`` with level and spread (the standard deviation of the readings, or of the posterior), and
        ``annotators`` with leaning and error under ``ordinal``.

    Raises
    ------
    MensuraError
        If ``how`` is unknown, or ``ordinal`` has one rater only.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.demands import pool_readings, read_demands
    >>> sheet = {"item": ["a", "a", "a"], "annotator": ["x", "y", "z"], "KNc": [1, 2, 4]}
    >>> pool_readings(read_demands(pl.DataFrame(sheet))).demands["level"].to_list()
    [2]

    """
    check_choice("aggregate", how, AGGREGATIONS)
    grid = ReadingGrid.of(readings)
    annotators = tuple(dict.fromkeys(name for name, _ in grid.raters))
    if how == "median":
        return PooledLevels(_medians(grid, "+".join(annotators)), _annotator_table([]))
    if len(grid.raters) < 2:
        raise MensuraError("aggregate: 'ordinal' needs two raters or more (annotators or repeats); use 'median'")
    owner = np.array([annotators.index(name) for name, _ in grid.raters])
    tables, rows = [], []
    for at, dimension in enumerate(grid.dimensions):
        posterior, leaning, error = fit_ordinal(grid.levels[:, :, at], owner)
        tables.append(_dimension_table(grid, at, posterior, "+".join(annotators)))
        rows += [(dimension, name, leaning[a], error[a]) for a, name in enumerate(annotators)]
    order = {item: place for place, item in enumerate(grid.items)}
    demands = pl.concat(tables).sort(pl.col("item").replace_strict(order), maintain_order=True)
    return PooledLevels(demands, _annotator_table(rows))


def fit_ordinal(levels: Floats, owner: np.ndarray) -> tuple[Floats, Floats, Floats]:
    """Fit the model to one dimension: ``levels`` raters × items (NaN: no reading), ``owner`` each rater's annotator.

    Returns the posterior items × levels (zero rows where nothing was read), and each annotator's leaning and error.
    """
    shown = (levels[:, :, None] == _VALUES).astype(float)
    read = shown.sum(axis=(0, 2)) > 0
    by_annotator = np.stack([shown[owner == a].sum(axis=0) for a in range(int(owner.max()) + 1)])
    share = by_annotator.sum(axis=0) + 1e-3
    posterior = np.where(read[:, None], share / share.sum(axis=1, keepdims=True), 0.0)
    for _ in range(_ROUNDS):
        common = posterior.sum(axis=0) + _SMOOTHING
        counts = np.einsum("iz,aiy->azy", posterior, by_annotator)
        leanings, errors = _best_confusions(counts)
        logs = _confusions()[leanings, errors]
        score = np.log(common / common.sum()) + np.einsum("aiy,azy->iz", by_annotator, logs)
        score -= score.max(axis=1, keepdims=True)
        renewed = np.where(read[:, None], np.exp(score) / np.exp(score).sum(axis=1, keepdims=True), 0.0)
        moved = np.abs(renewed - posterior).max()
        posterior = renewed
        if moved < _STILL:
            break
    return posterior, _LEANINGS[leanings], _ERRORS[errors]


@cache
def _confusions() -> Floats:
    """Return log P(reading | true level), leanings × errors × true levels × readings; the end levels are open."""
    edges = np.concatenate([[-np.inf], _VALUES[:-1] + 0.5, [np.inf]])
    centre = _LEANINGS[:, None, None] + _VALUES
    below = scipy.special.ndtr((edges - centre[..., None]) / _ERRORS[None, :, None, None])
    return np.asarray(np.log(np.maximum(np.diff(below, axis=-1), 1e-12)))


_PRIOR = (
    -0.5 * (_LEANINGS[:, None] / _LEANING_SD) ** 2
    - 0.5 * (np.log(_ERRORS / _TYPICAL_ERROR) / _ERROR_LOG_SD)[None, :] ** 2
)


def _best_confusions(counts: Floats) -> tuple[Ints, Ints]:
    """Return the places of the leanings and errors that best explain annotators × true level × reading counts."""
    score = np.einsum("bszy,azy->abs", _confusions(), counts) + _PRIOR
    leanings, errors = np.unravel_index(score.reshape(len(counts), -1).argmax(axis=1), _PRIOR.shape)
    common = round(float(np.average(leanings - _CENTRE, weights=np.maximum(counts.sum(axis=(1, 2)), 1e-9))))
    return np.clip(leanings - common, 0, _LEANINGS.size - 1), errors


def _medians(grid: ReadingGrid, annotator: str) -> pl.DataFrame:
    rows = []
    for at, item in enumerate(grid.items):
        for place, dimension in enumerate(grid.dimensions):
            given = grid.levels[:, at, place]
            given = given[np.isfinite(given)]
            if given.size:
                spread = float(given.std(ddof=1)) if given.size > 1 else None
                rows.append((item, dimension, round(float(np.median(given))), spread, annotator))
    return _demand_table(rows)


def _dimension_table(grid: ReadingGrid, place: int, posterior: Floats, annotator: str) -> pl.DataFrame:
    mean = posterior @ _VALUES
    spread = np.sqrt(np.maximum(posterior @ _VALUES**2 - mean**2, 0))
    rows = [
        (item, grid.dimensions[place], int(posterior[at].argmax()), float(spread[at]), annotator)
        for at, item in enumerate(grid.items)
        if posterior[at].any()
    ]
    return _demand_table(rows)


def _demand_table(rows: Sequence[tuple[str, str, int, float | None, str]]) -> pl.DataFrame:
    types = (pl.String, pl.String, pl.Int64, pl.Float64, pl.String)
    return pl.DataFrame(rows, schema=dict(zip(DEMAND_COLUMNS, types, strict=True)), orient="row")


def _annotator_table(rows: list[tuple[str, str, float, float]]) -> pl.DataFrame:
    schema = {"dimension": pl.String, "annotator": pl.String, "leaning": pl.Float64, "error": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
