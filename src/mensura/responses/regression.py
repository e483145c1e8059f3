"""Regress abilities on covariates of subjects, and difficulties on demands of items."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.responses.categories import CategoryFit
from mensura.responses.dimensions import DimensionFit
from mensura.responses.explanation import design_columns, estimates_table
from mensura.responses.irt import latent
from mensura.responses.irt.category_curves import CategoryItems
from mensura.responses.irt.dimension_nodes import Places, StepAnswers
from mensura.responses.irt.dimensions import observed_information
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.shards import Shard
from mensura.responses.result import ResponseFit
from mensura.responses.survey import Survey, sandwich
from mensura.responses.table import ResponseTable


@dataclass(frozen=True, eq=False, repr=False)
class AbilityRegression(Result):
    """Show abilities regressed on covariates.

    Attributes
    ----------
    regression
        term, estimate, se, low, high (90%), in sd of the first group; of several dimensions in sd of each ability,
        with a column ``dimension``.
    plausible
        subject, pv1, …: draws of each ability.
    sd
        Of abilities around the line; of several together (mean variance).
    explained
        The share of their variance along it.
    residuals
        Of several dimensions: dimension, other, covariance, correlation of abilities around the line.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("regression", "plausible", "residuals")

    regression: pl.DataFrame
    plausible: pl.DataFrame
    sd: float
    explained: float
    residuals: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return every table by its name, residuals of several dimensions alone."""
        return {name: table for name, table in super().tables().items() if table.height}

    @property
    def heading(self) -> str:
        """How much the covariates explain."""
        of_dimensions = self.residuals.filter(pl.col("dimension") == pl.col("other")).height
        count = f"{of_dimensions} abilities" if of_dimensions else "Abilities"
        people = f"{self.plausible['subject'].n_unique():,} subjects"
        return f"{count} of {people} on covariates: {self.explained:.0%} of the variance"


FEWEST = 20
"""Subjects that a regression needs."""


@check_arguments
def regress_abilities(
    fit: ResponseFit | DimensionFit,
    table: ResponseTable | None,
    people: Any,
    *,
    on: Sequence[str],
    survey: Survey | None = None,
    draws: int = 10,
    seed: int = 0,
) -> AbilityRegression:
    """Regress abilities on columns of ``people``, at the items of ``fit``.

    Numbers enter as they are; words enter as one term per value but the most common. Subjects with a blank are left
    out.

    Parameters
    ----------
    fit
        The fit whose items are kept.
    table
        The responses that were fitted; None for items with several categories and for several dimensions, whose fits
        contain them.
    people
        A table of ``subject`` and covariates.
    on
        The columns of ``people``.
    survey
        Weights, and clusters or replicates for the errors.
    draws
        Plausible values per subject.
    seed
        Of the draws.

    Returns
    -------
    AbilityRegression
        Effects and plausible values.

    Raises
    ------
    MensuraError
        If few subjects have all columns, or the columns repeat one another.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from mensura.responses import fit_responses, read_responses, regress_abilities
    >>> age = np.arange(40) % 8
    >>> right = {f"q{k}": ((age + 3 * k + np.arange(40)) % 9 > 4).astype(int) for k in range(6)}
    >>> table = read_responses(pl.DataFrame({"subject": [f"p{k}" for k in range(40)], **right}))
    >>> people = pl.DataFrame({"subject": table.subjects["subject"], "age": age})
    >>> regress_abilities(fit_responses(table), table, people, on=["age"]).regression["term"].to_list()
    ['intercept', 'age']

    """
    frame = as_frame(people, name="people")
    require_columns(frame, ["subject", *on], name="people")
    in_order = fit.answers.data.subjects if isinstance(fit, DimensionFit) else fit.subjects
    subjects = in_order if table is None else table.subjects
    rows = subjects.select("subject").join(
        frame.with_columns(pl.col("subject").cast(pl.String)), on="subject", how="left", maintain_order="left"
    )
    kept = rows.select(pl.all_horizontal(pl.col(list(on)).is_not_null())).to_series()
    if int(kept.sum()) < FEWEST:
        raise MensuraError(f"regress: {kept.sum()} subjects have all of {', '.join(on)}; expected at least {FEWEST}")
    terms, x = design_columns(rows.filter(kept), on)
    places, names = np.flatnonzero(kept.to_numpy()), subjects["subject"].filter(kept)
    likelihoods = answer_likelihoods(fit, table, places)
    sample = None if survey is None else survey.of(names)
    weights = np.ones(len(places)) if sample is None or sample.weights is None else sample.column(sample.weights)
    several = isinstance(fit, DimensionFit)
    dimensions = fit.items["dimension"].unique(maintain_order=True).to_list() if several else [""]
    line = latent.regress(likelihoods, x, weights)
    covariance = _covariance(fit, x, weights, line, places, sample)
    drawn = latent.draw_values(x, line, covariance, draws, np.random.default_rng(seed))
    along, left = np.atleast_2d(np.cov((x @ line.coefficients).T, aweights=weights)), line.covariance
    errors = np.sqrt(np.diag(covariance))[: line.coefficients.size].reshape(line.coefficients.shape)
    explained, sd = float(np.trace(along) / np.trace(along + left)), float(np.sqrt(np.trace(left) / len(left)))
    effects, plausible = [], []
    for at, name in enumerate(dimensions):
        own = [pl.lit(name).alias("dimension")] if several else []
        values = {f"pv{one + 1}": drawn[:, at, one] for one in range(draws)}
        effects.append(estimates_table(terms, line.coefficients[:, at], errors[:, at]).select(*own, pl.all()))
        plausible.append(pl.DataFrame({"subject": names, **values}).select("subject", *own, pl.exclude("subject")))
    roots, pairs = np.sqrt(np.diag(left)), combinations_with_replacement(range(len(left) * several), 2)
    covariances = [
        (dimensions[one], dimensions[two], left[one, two], left[one, two] / (roots[one] * roots[two]))
        for one, two in pairs
    ]
    schema = dict.fromkeys(("dimension", "other"), pl.String) | dict.fromkeys(("covariance", "correlation"), pl.Float64)
    residuals = pl.DataFrame(covariances, schema=schema, orient="row")
    return AbilityRegression(pl.concat(effects), pl.concat(plausible), sd, explained, residuals)


def answer_likelihoods(
    fit: ResponseFit | DimensionFit, table: ResponseTable | None, kept: NDArray[np.intp]
) -> latent.Likelihoods:
    """Return the likelihoods of the subjects at the places ``kept``."""
    if isinstance(fit, DimensionFit):
        data, items, places = fit.answers
        trials = None if data.trials is None else data.trials[kept]
        own = Places(places.mean[kept], places.covariance[kept])
        return latent.PlacedLikelihoods.of(StepAnswers(data.right[kept], trials), items, own)
    curves = fit.bank.parameters
    if isinstance(fit, CategoryFit):
        assert isinstance(curves, CategoryItems)
        return latent.AbilityLikelihoods.of_categories(fit.answers[kept], curves)
    if table is None:
        raise MensuraError("table: got None; expected the responses that were fitted. Give what read_responses returns")
    if table.items["item"].to_list() != fit.items["item"].to_list():
        raise MensuraError("regress: the fit has other items than the table; give the table that was fitted")
    trials = None if table.trials is None else table.trials[kept]
    assert isinstance(curves, Parameters)
    return latent.AbilityLikelihoods.of_answers(Shard(table.right[kept], trials, 0), curves)


def _covariance(
    fit: ResponseFit | DimensionFit,
    x: Floats,
    weights: Floats,
    line: latent.LatentRegression,
    kept: NDArray[np.intp],
    survey: Survey | None,
) -> Floats:
    """Return the covariance of coefficients and spread: of the model, of clusters, or of replicates.

    That of several dimensions comes from scores of subjects and includes the errors of the items.
    """
    inverse: Floats = np.asarray(np.linalg.inv(line.information), dtype=np.float64)
    if isinstance(fit, DimensionFit) and isinstance(line.likelihoods, latent.PlacedLikelihoods):
        if survey is not None and survey.replicate_columns:
            raise MensuraError("regress: several dimensions take no replicate weights; give clusters or one dimension")
        data, items, fitted = fit.answers
        information, scores = observed_information(data.answered, items, fitted)
        changes = line.likelihoods.item_changes(x, weights, line)
        both = scores @ np.linalg.inv(information)[:, : changes.shape[1]] @ changes.T
        both[kept] += line.scores
        if survey is None:
            return sandwich(inverse, both, np.arange(len(both)))
        return sandwich(inverse, both[kept], survey.clusters)
    if survey is None:
        return inverse

    def refit(name: str) -> Floats:
        return latent.climb(line.likelihoods, x, survey.column(name), line.values)

    return survey.covariance(refit, line.values, inverse, line.scores)
