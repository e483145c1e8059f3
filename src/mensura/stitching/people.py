"""People beside the models: test by test, and, where one number is wanted, by class with an interval that is honest.

Nobody took all tests, most groups took one, and what is hard for people is not what is hard for models. So the answer
is a table per test (who scored above this group first, when, and how surely the best model does), never one axis for
all groups. Measured, judged and constructed scores stand apart (``status``), a panel, the union of its members, is
part of no class, and scores are compared in one metric only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Ints, just_above, just_below, logit
from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv
from mensura.core.results import Result
from mensura.evidence import Evidence, load
from mensura.evidence.passing import people_rates, why_not_comparable
from mensura.scale import score_to_capability, share_above_chance
from mensura.stitching.checks import positions_of
from mensura.stitching.influence import pass_tests
from mensura.stitching.layout import straighten
from mensura.stitching.links import link
from mensura.stitching.positions import PositionDraws, Positions

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch

EDGE = 0.02
"""Nearer than this share of the range to chance or ceiling a score only bounds where a class stands."""
WORDS = {"estimated": "judged"}
"""Status words of people's scores: what nobody measured was judged."""
PANEL = "panel"
"""A group so named is the union of its members: a task counts when any of them solved it."""
SHOWN = ("group", "benchmark", "status", "score", "verdict", "first", "passed", "chance", "reason")
"""Columns that fit a screen."""
CLASSES = Path(__file__).parent / "data" / "people_classes.csv"
SMALLEST_SHARE_ERROR = 0.01
"""Least standard error of a share: no group is known better."""


@dataclass(frozen=True, eq=False, repr=False)
class People(Result):
    """Human groups beside the models of a fit.

    ``tests``: one row per group and test (benchmark, group, class, status, bound, score, low, high, position, models,
    above, first, passed, best, best_score, chance). ``table``: one row per class and status (group, status,
    benchmarks, capability, low, high, spread). ``draws`` hold models and classes together;
    """

    TABLES: ClassVar[tuple[str, ...]] = ("tests", "table")

    fit: Stitch
    tests: pl.DataFrame
    draws: PositionDraws
    table: pl.DataFrame

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        counts = self.tests["status"].value_counts().sort("status").iter_rows()
        kinds = ", ".join(f"{n} {status}" for status, n in counts)
        return (
            f"human groups on {self.tests['benchmark'].n_unique()} tests ({kinds}), in {self.table.height} classes; "
            "a class's interval holds the spread between tests, a test's row does not need it"
        )

    @property
    def shown(self) -> pl.DataFrame:
        """The columns of the tests that a reader wants first."""
        return self.tests.select(SHOWN)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether the fit did not arrive."""
        return self.fit.convergence.warnings


def place_people(fit: Stitch, evidence: Evidence | None = None, *, seed: int = 0) -> People:
    """Put the human groups of the evidence beside a fit, without moving it.

    Parameters
    ----------
    fit : Stitch
        A fit of either method.
    evidence : Evidence, optional
        Where the groups come from (default: the embedded evidence).
    seed : int
        Seed of the draws.

    Returns
    -------
    People
        Test by test, and classes of people on the scale.

    Raises
    ------
    MensuraError
        If no group was scored on a benchmark of the fit.

    Examples
    --------
    >>> import mensura
    >>> from mensura.stitching import place_people
    >>> place_people(mensura.stitch()).table.columns[:2]
    ['group', 'status']

    """
    people = people_scores(load() if evidence is None else evidence)
    tested = people.filter(pl.col("benchmark").is_in(list(fit.data.benchmarks)))
    if tested.height == 0:
        raise MensuraError(
            "people: no human group was scored on a benchmark of this fit; expected one of "
            f"{', '.join(people['benchmark'].unique().sort())}"
        )
    cols = positions_of(fit.data.benchmarks, tested["benchmark"].to_list())
    at, data = fit.estimate, fit.data
    chance, ceiling = data.chance[cols], data.ceiling[cols]
    score = straighten(tested["score"].to_numpy(), chance, ceiling, data.step)
    own = score_to_capability(score, at.difficulty[0, cols], at.slope[0, cols], chance, ceiling)
    tests = pass_tests(fit, tested.rename({"subject": "group"}).with_columns(position=pl.Series(own)))
    draws, table = _placed_classes(fit, tests, seed)
    return People(fit, tests, draws, table)


def people_scores(evidence: Evidence) -> pl.DataFrame:
    """Read the human references of the evidence as a score table.

    Parameters
    ----------
    evidence : Evidence
        Only scores in the benchmark's own unit count.

    Returns
    -------
    table
        subject (the group), benchmark, class, status, bound, score, stderr, reason (why it is not compared)
        (:func:`~mensura.evidence.passing.people_rates`).

    Examples
    --------
    >>> import mensura
    >>> from mensura.stitching import people_scores
    >>> people_scores(mensura.load()).columns[:2]
    ['subject', 'benchmark']

    """
    units = evidence.benchmarks.select("benchmark", "unit", "items")
    same = evidence.human_references.join(units, on=["benchmark", "unit"], maintain_order="left")
    linked = people_rates(link(same, evidence, "score", "low", "high"))
    classes = read_csv(CLASSES)
    reasons = why_not_comparable()
    why = [reasons.get(key) for key in linked.select("benchmark", "group").iter_rows()]
    linked = linked.with_columns(reason=pl.Series(why, dtype=pl.String))
    return linked.join(classes, on="group", how="left", maintain_order="left").select(
        pl.col("group").alias("subject"),
        "benchmark",
        "class",
        pl.when(pl.col("group").str.contains(PANEL))
        .then(pl.lit("panel"))
        .otherwise(pl.col("status").replace(WORDS))
        .alias("status"),
        "bound",
        "score",
        "stderr",
        "reason",
    )


def _placed_classes(fit: Stitch, tests: pl.DataFrame, seed: int) -> tuple[PositionDraws, pl.DataFrame]:
    """Draw where every class stands, measured and judged scores apart; models and classes in one set of draws."""
    rng = np.random.default_rng(seed)
    positions, rows, columns = fit.laplace.positions, [], []
    for (status,), part in tests.drop_nulls("class").group_by("status", maintain_order=True):
        names = part["class"].unique().sort().to_list()
        mu, omega = draw_classes(class_scores(fit, part, names), positions, rng)
        for i, name in enumerate(names):
            own = part.filter(pl.col("class") == name)["benchmark"].unique().sort()
            columns.append(mu[:, i])
            rows.append((f"{name}, {status}", status, own.str.join(", ")[0], float(np.median(omega))))
    drawn = np.stack(columns, axis=1) if columns else np.empty((len(positions.theta), 0))
    subjects = (*fit.data.subjects, *(row[0] for row in rows))
    draws = replace(
        fit.laplace,
        kind="classes of people beside the fit",
        subjects=subjects,
        estimate=_beside(fit.estimate, np.median(drawn, axis=0)[None]),
        positions=_beside(positions, drawn),
    )
    schema = {"group": pl.String, "status": pl.String, "benchmarks": pl.String, "spread": pl.Float64}
    table = pl.DataFrame(rows, schema=schema, orient="row").join(
        draws.capabilities, left_on="group", right_on="subject", how="left", maintain_order="left"
    )
    order = ["group", "status", "benchmarks", "capability", "low", "high", "spread"]
    return draws, table.select(order).sort("status", "capability", descending=[True, True])


def class_scores(fit: Stitch, part: pl.DataFrame, names: list[str]) -> ClassScores:
    """Scores as logits of the share above chance, with their errors and bounds."""
    cols = positions_of(fit.data.benchmarks, part["benchmark"].to_list())
    chance, ceiling = fit.data.chance[cols], fit.data.ceiling[cols]
    score = straighten(part["score"].to_numpy(), chance, ceiling, fit.data.step)
    share = share_above_chance(score, chance, ceiling)
    error = np.maximum(part["stderr"].to_numpy() / (ceiling - chance), SMALLEST_SHARE_ERROR)
    at_most = (share <= just_above(EDGE)) | (part["bound"] == "at most").fill_null(value=False).to_numpy()
    inside = np.clip(share, EDGE, 1 - EDGE)
    return ClassScores(
        logit=logit(inside),
        error=error / (inside * (1 - inside)),
        bound=np.where(at_most, -1, np.where(share >= just_below(1 - EDGE), 1, 0)),
        cols=cols,
        classes=np.array([names.index(name) for name in part["class"]]),
    )


def _beside(positions: Positions, capability: Floats) -> Positions:
    """Add subjects of that capability and a typical profile."""
    more = np.zeros((len(positions.theta), capability.shape[1], positions.theta.shape[2]))
    more[:, :, 0] = capability
    return Positions(np.concatenate((positions.theta, more), axis=1), positions.phi)


# Where a class of people stands on the scale that models made: one number with an interval that says how little it is.
#
#     logit of the share above chance = slope_b · (μ_class − difficulty_b) + u_b + error
#
# People are not weak models: what is hard for one is easy for the other, so every benchmark has its own shift u_b for
# all people, u_b ~ N(0, ω²), and ω is estimated over the benchmarks. A score of "about zero", at chance or at the
# ceiling only bounds the left side. μ has a wide prior; the benchmarks' own error enters through draws of the fit,
# which people do not move. Sampled by Gibbs: bounded logits from truncated normals, (μ, u) jointly normal, ω on a grid.

PRIOR_SPREADS = 3.0
"""Standard deviation of a class's prior around the mean of the models, in standard deviations among models."""
SHIFT_SCALE = 2.0
"""Scale, in logits, of the half-normal prior of ω."""
SHIFT_GRID = np.linspace(0.1, 6.0, 60)
"""Values of ω that are weighed."""
_LOG_GRID, _TWICE_SQUARED, _PRIOR_LOSS = np.log(SHIFT_GRID), 2 * SHIFT_GRID**2, (SHIFT_GRID / SHIFT_SCALE) ** 2 / 2
BURN_IN = 200
"""Gibbs sweeps before the first draw is kept."""
SWEEPS_PER_DRAW = 5
"""Gibbs sweeps from one draw that is kept to the next: ω and bounded scores move slowly given each other."""


class ClassScores(NamedTuple):
    """Scores of classes of people on benchmarks of a fit, as logits of the share of the way from chance to ceiling.

    ``logit`` and ``error`` (scores,), ``bound`` (scores,): −1 where the truth is at most the logit, +1 at least, 0 for
    a score; ``cols`` are positions of the fit's benchmarks, ``classes`` numbers from 0.
    """

    logit: Floats
    error: Floats
    bound: Ints
    cols: Ints
    classes: Ints


def draw_classes(scores: ClassScores, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return μ (draws, classes) and ω (draws,), one for every draw of the fit, on the fit's scale."""
    benchmarks, cols = np.unique(scores.cols, return_inverse=True)
    k, b, n = int(scores.classes.max()) + 1, benchmarks.size, len(positions.phi)
    slope, intercept = positions.slope[:, benchmarks], positions.phi[:, benchmarks, 0]
    models = positions.capability
    centre, width = models.mean(axis=1), PRIOR_SPREADS * models.std(axis=1)
    shift, z = 1.0, scores.logit.copy()
    bounded, taken = np.flatnonzero(scores.bound), np.arange(z.size)
    design = np.zeros((z.size, k + b))
    design[taken, k + cols] = 1.0
    weight = 1 / scores.error**2
    mu, omega, diagonal = np.empty((n, k)), np.empty(n), np.arange(k + b)
    for sweep in range(-BURN_IN, n * SWEEPS_PER_DRAW):
        i = max(sweep, 0) // SWEEPS_PER_DRAW
        if sweep == -BURN_IN or sweep % SWEEPS_PER_DRAW == 0:  # the next draw of the fit: it stays for some sweeps
            design[taken, scores.classes] = slope[i, cols]
            weighted, offset = design.T * weight, intercept[i, cols]
            information = weighted @ design
        prior = np.concatenate((np.full(k, width[i] ** -2), np.full(b, shift**-2)))
        right = weighted @ (z - offset)
        right[:k] += centre[i] * prior[:k]
        precision = information.copy()
        precision[diagonal, diagonal] += prior
        mean = _draw_normal(precision, right, rng)
        z = _bounded_draws(scores, bounded, offset + design @ mean, rng)
        shift = _draw_shift(mean[k:], rng)
        mu[i], omega[i] = mean[:k], shift
    return mu, omega


def _draw_normal(precision: Floats, right: Floats, rng: np.random.Generator) -> Floats:
    """Draw from the normal distribution with this precision and the mean ``precision⁻¹ right``.

    LAPACK is called directly: at this size NumPy's checks take longer than the arithmetic.
    """
    lapack = scipy.linalg.lapack
    root, _ = lapack.dpotrf(precision, lower=1)
    whitened, _ = lapack.dtrtrs(root, right, lower=1)
    drawn, _ = lapack.dtrtrs(root, whitened + rng.standard_normal(right.size), lower=1, trans=1)
    return np.asarray(drawn)


def _bounded_draws(scores: ClassScores, bounded: Ints, expected: Floats, rng: np.random.Generator) -> Floats:
    """Keep measured logits; draw those that are only bounded, ``held``, from their side of the bound."""
    z = scores.logit.copy()
    if bounded.size:
        side, error = -scores.bound[bounded], scores.error[bounded]
        at = side * (z[bounded] - expected[bounded]) / error
        drawn = scipy.special.ndtri_exp(np.log(1 - rng.random(at.size)) + scipy.special.log_ndtr(at))
        z[bounded] = expected[bounded] + error * side * drawn
    return z


def _draw_shift(u: Floats, rng: np.random.Generator) -> float:
    """Draw ω given the benchmarks' shifts."""
    log = -u.size * _LOG_GRID - (u @ u) / _TWICE_SQUARED - _PRIOR_LOSS
    odds = np.exp(log - log.max()).cumsum()
    return float(SHIFT_GRID[np.searchsorted(odds / odds[-1], rng.random(), side="right")])
