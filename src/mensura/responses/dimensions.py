"""Several abilities behind one set of items: found from the answers, or given as a table of items and dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.answers import LOG_SCHEMA
from mensura.intake.tables import as_frame
from mensura.responses.category_table import PROBIT, DimensionAnswers, dimension_answers
from mensura.responses.counting import CountRules
from mensura.responses.estimation import PRIORS, WEAK, Estimation, choose_estimation, fewest_answers
from mensura.responses.irt.dimension_items import DimensionItems, rotate
from mensura.responses.irt.dimension_nodes import Places, StepAnswers
from mensura.responses.irt.dimensions import MOST, DimensionFitted, fit_dimensions_held, observed_information
from mensura.responses.quality import criteria
from mensura.responses.reading import AnswerChoice
from mensura.responses.result import ability_table, ending, with_ends
from mensura.responses.survey import Survey

GENERAL = "general"
"""The ability behind all items of a bifactor model."""
_OF_INTERCEPTS = ("item", "category", "intercept", "se", "n", "rate", "share")


class FittedDimensions(NamedTuple):
    """What was fitted, and the fit: items and abilities after the rotation."""

    data: DimensionAnswers
    items: DimensionItems
    places: Places


@dataclass(frozen=True, eq=False, repr=False)
class DimensionFit(Result):
    """Show a fit of several abilities, which have mean 0 and standard deviation 1.

    Attributes
    ----------
    subjects
        subject, dimension, ability, low, high (90%), se, group.
    items
        item, dimension, discrimination, loading, low, high, se. Errors are blank where dimensions were found from the
        answers.
    intercepts
        item, intercept, se, n, rate; of items with several categories one row per category above the lowest: item,
        category, intercept, se, n, share.
    correlations
        dimension, other, correlation, low, high, se.
    reliability
        dimension, reliability_marginal (1 less the mean posterior variance), reliability_empirical (variance of the
        abilities as a share of that variance and the mean posterior variance).
    log
        What was left out.
    log_likelihood, passes, converged
        How the fit ended.
    answers
        What was fitted, for a regression.
    warnings
        What to know before using the numbers.
    estimation
        Maximum likelihood, or which priors were used.
    quality
        One row: log likelihood, aic, bic, sabic, for :func:`mensura.responses.compare_fits`.

    """

    TABLES: ClassVar = ("subjects", "items", "intercepts", "correlations", "reliability", "log", "quality")

    subjects: pl.DataFrame
    items: pl.DataFrame
    intercepts: pl.DataFrame
    correlations: pl.DataFrame
    reliability: pl.DataFrame
    log: pl.DataFrame
    log_likelihood: float
    passes: int
    converged: bool
    answers: FittedDimensions
    warnings: tuple[str, ...] = field(default=())
    estimation: str = ""
    quality: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def heading(self) -> str:
        """How many dimensions, how much they were fitted to, and whether the fit converged."""
        ended = ending(self.passes, self.converged)
        count = self.items["dimension"].n_unique()
        people = self.subjects["subject"].n_unique()
        sizes = f"{people:,} subjects × {self.intercepts['item'].n_unique():,} items"
        model = "" if "rate" in self.intercepts.columns else f"{self.answers.items.model}, "
        likelihood = f"log likelihood {self.log_likelihood:,.2f}"
        return f"{model}{count} dimensions by {self.estimation}, {sizes}, {likelihood}, {ended}"

    def predict(self, subject: str) -> pl.DataFrame:
        """Return item and the chance of a right answer (``rate``), or the expected category (``score``) of ratings."""
        names = self.answers.data.subjects["subject"].to_list()
        if subject not in names:
            raise MensuraError(f"subject: got {subject!r}; {len(names)} others were fitted. Choose one of subjects.csv")
        p, ability = self.answers.items, self.answers.places.mean[names.index(subject)]
        z = p.row_values @ np.append(ability, 1.0)
        scores = np.bincount(p.rows[0], scipy.special.expit(z))
        if p.model == "partial-credit":
            heights = [np.append(0.0, np.cumsum(z[p.rows[0] == place])) for place in range(len(p.slopes))]
            scores = np.array([np.arange(len(one)) @ scipy.special.softmax(one) for one in heights])
        return pl.DataFrame({"item": self.answers.data.items, "rate" if p.sizes is None else "score": scores})


@check_arguments
def fit_dimensions(
    responses: Any,
    dimensions: Any,
    *,
    model: str = "2pl",
    bifactor: bool = False,
    rotation: str = "varimax",
    prior: str | None = None,
    survey: Survey | None = None,
    rules: CountRules | None = None,
    by: str | None = None,
    header: bool = True,
    columns: str | None = None,
    choice: AnswerChoice | None = None,
) -> DimensionFit:
    """Fit several abilities behind one set of answers.

    Parameters
    ----------
    responses
        Whatever :func:`mensura.responses.read_responses` takes; for ``2pl`` also a :class:`ResponseTable`.
    dimensions
        How many (2 to 4), found from the answers; or a table of ``item`` and ``dimension``, one row per pair.
    model
        ``2pl`` for right and wrong answers, ``graded`` or ``partial-credit`` for ratings.
    bifactor
        Whether all items also depend on a general ability. No abilities correlate then, and there may be any number of
        dimensions if each item has at most one.
    rotation
        Of dimensions that are found: ``varimax``, ``oblimin`` or ``none``.
    prior
        ``weak`` or ``none`` (maximum likelihood). By default as for one dimension; a bifactor model has weak priors.
    survey
        Weights, replicate weights and clusters of the subjects.
    rules, by, header, columns, choice
        How to read ``responses``; see :func:`mensura.responses.read_responses`. Ratings take no ``rules``.

    Returns
    -------
    DimensionFit
        Abilities, slopes, intercepts and correlations.

    Raises
    ------
    MensuraError
        If the dimensions do not suit the items, or an argument is of no use with the others.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from mensura.responses import fit_dimensions
    >>> rng = np.random.default_rng(0)
    >>> right = {f"q{k}": rng.integers(0, 2, 80) for k in range(6)}
    >>> answers = pl.DataFrame({"subject": [f"p{k}" for k in range(80)], **right})
    >>> pairs = {"item": list(right), "dimension": ["a"] * 3 + ["b"] * 3}
    >>> fit_dimensions(answers, pairs).correlations.columns[:3]
    ['dimension', 'other', 'correlation']

    """
    how: dict[str, Any] = {"by": by, "header": header, "columns": columns, "choice": choice}
    explored = isinstance(dimensions, int) or (isinstance(dimensions, str) and dimensions.isdigit())
    if not explored and rotation != "varimax":
        raise MensuraError("rotation: of no use where a table names the dimensions of items. Leave it out")
    answers = dimension_answers(responses, model, rules, **how)
    if not answers.centred.any():
        raise MensuraError("responses: all answered alike; nothing distinguishes subjects. Add other items")
    estimation = _choice(answers, prior, bifactor)
    answers = answers._replace(weak_priors=estimation.kind == "weak")
    if survey is not None:
        survey = survey.of(answers.subjects["subject"])
        weights = None if survey.weights is None else survey.column(survey.weights)
        note = pl.DataFrame(
            [("subjects of a survey", answers.subjects.height, survey.summary)], LOG_SCHEMA, orient="row"
        )
        answers = answers._replace(weights=weights, log=pl.concat([answers.log, note]))
    if explored:
        count = int(dimensions)
        if not 2 <= count <= MOST or bifactor:
            wanted = f"expected 2 to {MOST}, or a table of item and dimension (bifactor needs one)"
            raise MensuraError(f"dimensions: got {count}; {wanted}")
        if len(answers.items) <= count:
            sizes = f"got {count} for {len(answers.items)} items; expected more items than dimensions"
            raise MensuraError(f"dimensions: {sizes}. Add items, or use fewer dimensions")
        fitted = fit_dimensions_held(answers.answered, answers.exploratory(count))
        return _result(answers, _turned(fitted, rotation), [f"d{one + 1}" for one in range(count)], estimation.words)
    if isinstance(dimensions, str | Path) and not Path(dimensions).is_file():
        raise MensuraError(f"dimensions: got {str(dimensions)!r}; expected a number from 2 to {MOST} or a file")
    names, free = _pattern(as_frame(dimensions, name="dimensions"), answers.items, bifactor=bifactor)
    start = answers.confirmatory(free, correlated=not bifactor and len(names) > 1)
    fitted = fit_dimensions_held(answers.answered, start)
    if survey is not None and fitted.covariance is not None:
        fitted = fitted._replace(covariance=_of_design(survey, answers.answered, fitted, fitted.covariance))
    return _result(answers, fitted, names, estimation.words)


def _of_design(survey: Survey, answers: StepAnswers, fitted: DimensionFitted, inverse: Floats) -> Floats:
    """Return the covariance of estimates from replicate weights, or from scores of clusters."""

    def refit(name: str) -> Floats:
        return fit_dimensions_held(answers._replace(weights=survey.column(name)), fitted.items).items.estimates

    scores = observed_information(answers, fitted.items, fitted.places)[1]
    return survey.covariance(refit, fitted.items.estimates, inverse, scores)


def _choice(answers: DimensionAnswers, prior: str | None, bifactor: bool) -> Estimation:
    """Choose between weak priors and maximum likelihood."""
    if prior is not None:
        check_choice("prior of several dimensions", prior, PRIORS)
    if bifactor and prior in (None, "auto"):
        return Estimation(WEAK, "weak")
    trials = np.ones_like(answers.right) if answers.trials is None else answers.trials
    fewest = fewest_answers(answers.right.sum(axis=0), trials.sum(axis=0))
    return choose_estimation(prior, answers.model, answers.subjects.height, fewest)


def _pattern(pairs: pl.DataFrame, items: list[str], *, bifactor: bool) -> tuple[list[str], Mask]:
    """Return the dimensions of a table and which items depend on them."""
    require_columns(pairs, ["item", "dimension"], name="dimensions")
    named = pairs.select(pl.col("item", "dimension").cast(pl.String)).drop_nulls()
    if unknown := [item for item in named["item"].unique(maintain_order=True) if item not in set(items)]:
        raise MensuraError(f"dimensions: no answers to {listed_names(unknown)}; expected items of the responses")
    own = named["dimension"].unique(maintain_order=True).to_list()
    names = [GENERAL, *own] if bifactor else own
    free = np.zeros((len(items), len(names)), dtype=bool)
    places = {item: place for place, item in enumerate(items)}
    for item, dimension in named.iter_rows():
        free[places[item], names.index(dimension)] = True
    free[:, :1] |= bifactor
    if lonely := [item for item, count in zip(items, np.sum(free, axis=1).tolist(), strict=True) if not count]:
        raise MensuraError(f"dimensions: none for {listed_names(lonely)}; expected one. Add a row for each item")
    for place, name in enumerate(names):
        if int(np.sum(free[:, place])) < 2:
            raise MensuraError(f"dimensions: {name!r} has one item; expected at least 2. Add items to it")
    return names, free


def _turned(fitted: DimensionFitted, rotation: str) -> DimensionFitted:
    """Return a fit after a rotation of its abilities."""
    slopes, correlation = rotate(fitted.items.slopes, rotation)
    turn = np.linalg.lstsq(slopes, fitted.items.slopes, rcond=None)[0]
    places = Places(fitted.places.mean @ turn.T, turn @ fitted.places.covariance @ turn.T)
    return fitted._replace(items=replace(fitted.items, slopes=slopes, correlation=correlation), places=places)


def _result(answers: DimensionAnswers, fitted: DimensionFitted, names: Sequence[str], words: str) -> DimensionFit:
    p, count = fitted.items, len(names)
    errors, pairs = np.full(p.values.shape, np.nan), list(combinations(range(count), 2))
    of_pairs = np.full(len(pairs), np.nan)
    if fitted.covariance is not None:
        cut, every = int(p.estimated.sum()), np.sqrt(np.diag(fitted.covariance))
        errors[p.estimated], of_pairs = every[:cut], every[cut:] if p.pairs else np.zeros(len(pairs))
    warnings = [] if fitted.converged else [f"not converged in {fitted.passes} passes; the numbers are the last ones"]
    if fitted.covariance is None and not p.free.all():
        warnings.append("the answers do not hold all slopes apart, so errors are blank; use fewer dimensions")
    rows = [(names[one], names[other], float(p.correlation[one, other])) for one, other in pairs]
    schema = {"dimension": pl.String, "other": pl.String, "correlation": pl.Float64}
    correlations = pl.DataFrame(rows, schema=schema, orient="row").with_columns(se=pl.Series(of_pairs))
    intercepts = answers.steps.with_columns(
        intercept=pl.Series(p.row_values[:, -1]), se=pl.Series(errors[:, count:][p.steps]).fill_nan(None)
    )
    turns = count * (count - 1) // 2 if p.explored else 0  # slopes that a rotation can set to 0
    sizes = answers.subjects.height, len(answers.items), int(p.estimated.sum()) + len(p.pairs) - turns
    of_dimensions = {"dimensions": count, "correlations": len(p.pairs)}
    spread, left = np.var(fitted.places.mean, axis=0), np.einsum("cdd->d", fitted.places.covariance) / sizes[0]
    shares = {"reliability_marginal": 1.0 - left, "reliability_empirical": spread / (spread + left)}
    intercepts = intercepts.select([name for name in _OF_INTERCEPTS if name in intercepts.columns])
    people, reliability = _subjects(answers, fitted, names), pl.DataFrame({"dimension": list(names)} | shares)
    tables = _items(answers, names, p, errors), intercepts, with_ends(correlations, "correlation"), reliability
    ended = fitted.evidence, fitted.passes, fitted.converged
    quality = pl.DataFrame([criteria(p.model, words, *sizes, fitted.evidence) | of_dimensions])
    data = FittedDimensions(answers, p, fitted.places)
    return DimensionFit(people, *tables, answers.log, *ended, data, tuple(warnings), words, quality)


def _subjects(answers: DimensionAnswers, fitted: DimensionFitted, names: Sequence[str]) -> pl.DataFrame:
    mean, error = fitted.places.mean, np.sqrt(np.diagonal(fitted.places.covariance, axis1=1, axis2=2))
    return pl.concat(
        ability_table(answers.subjects.with_columns(dimension=pl.lit(name)), mean[:, place], error[:, place])
        for place, name in enumerate(names)
    )


def _items(answers: DimensionAnswers, names: Sequence[str], p: DimensionItems, errors: Floats) -> pl.DataFrame:
    size = np.sqrt(PROBIT**2 + np.einsum("jd,de,je->j", p.slopes, p.correlation, p.slopes))
    place, item = np.nonzero(p.free.T)
    table = pl.DataFrame({"item": np.array(answers.items)[item], "dimension": np.array(names)[place]}).with_columns(
        discrimination=p.slopes[item, place], loading=(p.slopes / size[:, None])[item, place], se=errors[item, place]
    )
    return with_ends(table, "discrimination")
