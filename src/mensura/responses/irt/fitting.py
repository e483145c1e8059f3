"""Fitting: Newton's steps on the marginal likelihood from the sums of passes, until nothing would move.

Every pass gives the exact gradient (Fisher's identity); the step is that of :mod:`.information`, whose error shrinks
with the length of the test, so a handful of passes suffices where the EM algorithm needs dozens. Far from the
maximum, where Newton's step is no guide, it is the EM algorithm's; a step that lowers the likelihood is taken back
and shortened. Near the end, the information of an earlier pass serves. Large tables start from the fit of a sample of
their subjects.

Abilities need not be normal: the logarithm of their density may be a polynomial of standardised abilities (Holland and
Thayer 1987; Xu and von Davier 2008). Given the expected number of subjects at the nodes, the best polynomial has the
same moments as they have. Items and polynomials are fitted in turn until the density stays. Mean and standard deviation
stay parameters of the groups.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import scipy

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice
from mensura.responses.irt import model as irt_model, priors as irt_priors
from mensura.responses.irt.information import Information, exact_information, gradient, information
from mensura.responses.irt.model import Items, Parameters
from mensura.responses.irt.namespace import Namespace, namespace
from mensura.responses.irt.passes import REACH, Grid, NodeTables, PassSums, log_shape, tally
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import Held, ShardSource, by_totals, fetched, thinned

MEMORY = 4
_RIDGE = 1e-8


class Anderson:
    """Anderson's acceleration: the few directions in which steps fall short are learned from the steps before.

    Newton's step with an approximate information errs in a handful of directions that all items share (where the scale
    lies, how wide it is). Over the last steps f₁ … fₖ at x₁ … xₖ the combination with the shortest step is sought, and
    its point is where the next step starts. Lengths of steps are measured in standard errors.
    """

    def __init__(self) -> None:
        self._trail: list[tuple[Floats, Floats]] = []

    def forget(self, but: int = 0) -> None:
        """Forget the steps before, which have misled, but the last ones: they show how far a step is too long."""
        del self._trail[: len(self._trail) - but]

    def improved(self, point: Floats, step: Floats, errors: Floats) -> Floats:
        """Return the step to take from a point, given the plain one."""
        self._trail = [*self._trail[-MEMORY:], (point, step)]
        if len(self._trail) == 1:
            return step
        across, change = (np.diff(np.array(rows), axis=0) for rows in zip(*self._trail, strict=True))
        scaled = change / errors
        gram = scaled @ scaled.T
        gram[np.diag_indices_from(gram)] *= 1.0 + _RIDGE
        share = np.linalg.solve(gram + 1e-300 * np.eye(len(gram)), scaled @ (step / errors))
        better: Floats = step - share @ (across + change)
        return better


EXACT_UNKNOWNS = 150
"""Up to so many parameters of items the information is exact; the closed form errs on short tests, most for 3PL."""
SAMPLE = 5_000
"""Subjects whose fit a larger table starts from."""
LONGEST_STEP = 1.0
"""No parameter moves further than this in one step; where Newton's step would, the EM algorithm's is taken."""
_SHORTER, _SHORTEST = 3.0, 0.02
"""By what a step is shortened that led downhill, and from where on the EM algorithm's own step is taken instead."""
_NEAR = 3.0
"""Steps shorter than this many standard errors are regular enough to learn from."""
_SURE = 1.0
"""Steps shorter than this many standard errors are trusted at any length: a flat direction, such as the spread of a
group whose subjects answer alike, takes long ones."""
_SHORT = 0.03
"""After steps that halve at least and move no parameter further than this, the information stays as it is."""
_NOISE = 1e-6
"""Share of the log likelihood that single precision may blur."""
_CLOSE, MOST_CLOSE = 0.002, 10
"""Standard errors that a step of small tables may still have, and how many samples such a table has at most."""
_START_GUESS = -1.4
_WIDER = (0.5, 1.0, 2.0, 4.0)
"""Standard deviations of the priors of guessing that lead to a fit without any."""

Pass = Callable[[Parameters, Grid, bool], PassSums]
"""One pass over all responses: parameters, grid, whether right answers are wanted by node."""


@dataclass(frozen=True)
class Fitted:
    """Parameters on the scale of the first group, the sums at them, and how the fit went.

    ``evidence``: log marginal likelihood. ``posterior``: the same with the priors. ``history``: of each pass over
    all responses, how far the step still led, in standard errors. ``parameters`` are those that the sums belong to.
    """

    parameters: Parameters
    grid: Grid
    sums: PassSums
    information: Information
    evidence: float
    converged: bool
    history: tuple[float, ...]
    posterior: float = float("nan")


@dataclass(frozen=True)
class Effort:
    """When to stop: no parameter would move by ``tolerance`` standard errors, or ``passes`` are spent."""

    tolerance: float = 0.01
    passes: int = 200


def over(space: Namespace, source: ShardSource) -> Pass:
    """Return the pass over shards of one process."""

    def run(parameters: Parameters, grid: Grid, by_node: bool) -> PassSums:
        tables = NodeTables(space, parameters, grid, by_node=by_node)
        each = (tally(space, one, tables, source.groups, complete=source.complete) for one in source.shards())
        return reduce(add, each)

    return run


def start(model: str, rates: Floats, groups: int) -> Parameters:
    """Return where a fit begins: slopes of one, intercepts from the share of right answers."""
    check_choice("model", model, irt_model.MODELS)
    within = np.clip(rates, 0.01, 0.99)
    count = len(rates)
    intercept = 1.2 * np.log(within / (1.0 - within))  # a normal ability of sd 1 flattens the curve by about that
    return Parameters(model, np.ones(count), intercept, np.full(count, _START_GUESS), np.zeros(groups), np.ones(groups))


def fit_held(
    space: Namespace, held: Held, begin: Parameters, priors: Priors | None = None, effort: Effort | None = None
) -> Fitted:
    """Fit responses in memory; many subjects start from a sample of them."""
    priors, effort = priors or Priors(), effort or Effort()
    if begin.model == "rasch" and held.complete and space.device == "numpy":
        space, held = namespace(double=True), by_totals(held)
    if held.subjects > 4 * SAMPLE and (sample := thinned(held, SAMPLE)) is not held:
        begin = climb(over(space, sample), begin, priors, replace(effort, tolerance=0.1, passes=30)).parameters
    if begin.model == "3pl" and priors.guessing is None:  # from the plain start guessing runs away before slopes settle
        for width in _WIDER:
            guided = replace(priors, guessing=irt_priors.ItemPrior(_START_GUESS, width))
            begin = climb(over(space, held), begin, guided, replace(effort, passes=effort.passes // 2)).parameters
    if held.subjects <= MOST_CLOSE * SAMPLE:  # a few more passes are cheap, and statistics feel the last digits
        effort = replace(effort, tolerance=min(effort.tolerance, _CLOSE))
    sample = thinned(held, SAMPLE) if held.subjects > 2 * SAMPLE else held

    def exact(p: Parameters, grid: Grid, sums: PassSums, priors: Priors) -> Information:
        return exact_information(fetched(sample), p, grid, priors, held.subjects / sample.subjects)

    few = held.items * begin.of_item <= EXACT_UNKNOWNS
    return climb(over(space, held), begin, priors, effort, exact if few else _CLOSED)


class ClimbPlace(NamedTuple):
    """Where a climb is: log posterior, parameters, grid, sums, and, if asked, gradient and inverse information."""

    height: float
    parameters: Any
    grid: Grid
    sums: Any
    slope: Callable[[], Floats]
    inverse: Callable[[], Information]


def ascend(
    look: Callable[[Any], ClimbPlace], begin: Items, effort: Effort
) -> tuple[ClimbPlace, bool, tuple[float, ...]]:
    """Take Newton's steps from ``begin`` until they are short; return the best place, and whether it is the maximum."""
    here: Any = begin
    best, newton, plain, shrink, left, again = None, np.zeros(0), np.zeros(0), 1.0, np.inf, True
    history: list[float] = []
    memory = Anderson()
    for _ in range(effort.passes):
        place = look(here)
        shorten = shrink > _SHORTEST or not np.isfinite(place.height)  # the shortest step lowers by rounding alone
        if best is not None and shorten and not place.height >= best.height - _NOISE * abs(best.height):
            shrink /= _SHORTER
            memory.forget(but=1)
            history.append(history[-1])
            again = True
            step = newton if shrink > _SHORTEST else plain
            here = _away(best.parameters, step, max(shrink, _SHORTEST))
            continue
        if again:
            inverse = place.inverse()
            errors = inverse.errors()
        slope = place.slope()
        plain = inverse.plain_step(slope)
        step = here.held_up(inverse.step(slope), plain)
        before, left, longest = left, float(np.max(np.abs(step) / errors)), float(np.max(np.abs(step)))
        history.append(left)
        again = left > _NEAR or longest > _SHORT or left > before / 2.0
        trusted = longest <= LONGEST_STEP or left < _SURE
        step = step * min(1.0, LONGEST_STEP / longest) if trusted and longest > 0.0 else step
        best, newton = place, step if trusted else plain
        if left < effort.tolerance:
            break
        if trusted and left < _NEAR:
            step = here.held_up(memory.improved(here.flat(), step, errors), plain)
        shrink = min(1.0, _SHORTER * shrink)
        here = _away(here, step if trusted else plain, shrink)
    if best is None:
        raise MensuraError("the likelihood has no value where the fit begins; check that several subjects answered")
    return best, history[-1] < effort.tolerance, tuple(history)


def place_at(run: Pass, priors: Priors, p: Parameters) -> ClimbPlace:
    """Return what a climb sees at ``p``."""
    grid = Grid.over(p.mean, p.sd)
    sums = run(p, grid, False)
    height = irt_priors.prior_terms(p, priors)[0] + irt_priors.group_prior_terms(p, priors.groups)[0] + sums.evidence
    terms = p, grid, sums, priors
    return ClimbPlace(height, p, grid, sums, partial(gradient, *terms), partial(information, *terms))


_CLOSED: Callable[..., Information] = partial(information, whole=True)


def climb(
    run: Pass, begin: Parameters, priors: Priors, effort: Effort, measure: Callable[..., Information] = _CLOSED
) -> Fitted:
    """Fit right and wrong answers from ``begin`` on; ``measure``: returns the information at the end."""
    (height, p, grid, sums, *_), converged, history = ascend(partial(place_at, run, priors), begin, effort)
    return Fitted(p, grid, sums, measure(p, grid, sums, priors), sums.evidence, converged, history, height)


def _away(p: Items, step: Floats, share: float) -> Items:
    """Move by a share of a step, no parameter too far at once."""
    bounded = np.clip(share * step, -LONGEST_STEP, LONGEST_STEP)
    if getattr(p, "ties", None) is not None:  # all in proportion, so that shared parameters stay alike
        bounded = share * step / max(1.0, float(np.max(np.abs(share * step))) / LONGEST_STEP)
    return p.moved(bounded)


DEGREE = 4
"""Of the polynomial: mean, spread, skewness and tails; a fourth power also makes two humps."""
_NODES = np.linspace(-REACH, REACH, 101)
_SHAPE_RIDGE = 1e-3
_SAME = 1e-3
"""Change of a density, in its largest value, below which it stays."""
_ROUNDS = 40


def fit_shaped(
    space: Namespace, held: Held, begin: Parameters, priors: Priors | None = None, effort: Effort | None = None
) -> Fitted:
    """Fit items and the shape of every group's abilities to responses in memory."""
    priors, effort = priors or Priors(), effort or Effort()
    fitted = climb(over(space, held), begin, priors, replace(effort, tolerance=0.1))
    before = np.zeros((held.groups, len(_NODES)))
    for _ in range(_ROUNDS):
        shapes = np.array([_shape_of(fitted, group) for group in range(held.groups)])
        densities = np.array([_density(shape) for shape in shapes])
        change = float(np.max(np.abs(densities - before)))
        before = densities
        begin = replace(fitted.parameters, shapes=shapes)
        if change < _SAME:
            break
        fitted = climb(over(space, held), begin, priors, replace(effort, tolerance=0.1))
    return fit_held(space, held, begin, priors, effort)


def _shape_of(fitted: Fitted, group: int) -> Floats:
    """Return the polynomial with the moments of a group's expected abilities, standardised."""
    mass = np.maximum(fitted.sums.mass[group], 0.0)
    share = mass / mass.sum()
    mean = share @ fitted.grid.nodes
    z = (fitted.grid.nodes - mean) / np.sqrt(share @ (fitted.grid.nodes - mean) ** 2)
    return fit_shape(np.array([share @ z**power for power in range(1, DEGREE + 1)]), float(mass.sum()))


def fit_shape(moments: Floats, subjects: float) -> Floats:
    """Return the coefficients of z, z², … with these moments, from the normal density on.

    A prior as strong as one thousandth of a subject per moment keeps coefficients finite where tails are empty.
    """
    powers = np.vander(_NODES, len(moments) + 1, increasing=True)[:, 1:]
    normal = np.zeros(len(moments))
    normal[1] = -0.5
    size = np.sqrt(np.mean(powers**2 * _density(normal)[:, None], axis=0)) + 1.0
    ridge = _SHAPE_RIDGE * size**2 / max(subjects, 1.0)

    def loss(shape: Floats) -> tuple[float, Floats]:
        off = shape - normal
        height = float(shape @ moments) - float(scipy.special.logsumexp(log_shape(shape, _NODES)))
        return 0.5 * float(ridge @ off**2) - height, _density(shape) @ powers - moments + ridge * off

    def curvature(shape: Floats) -> Floats:
        share = _density(shape)
        expected = share @ powers
        return (powers * share[:, None]).T @ powers - np.outer(expected, expected) + np.diag(ridge)

    best = scipy.optimize.minimize(loss, normal, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-9})
    return np.asarray(best.x, dtype=np.float64)


def _density(shape: Floats) -> Floats:
    """Return the share of every node."""
    return np.asarray(scipy.special.softmax(log_shape(shape, _NODES)))


def skewness(p: Parameters, group: int) -> float:
    """Return the skewness of a group's abilities."""
    shape = p.shape_of(group)
    if shape is None:
        return 0.0
    share = _density(shape)
    off = _NODES - share @ _NODES
    return float(share @ off**3 / (share @ off**2) ** 1.5)
