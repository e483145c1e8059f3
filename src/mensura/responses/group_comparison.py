"""Compare items between groups: which items are easier or harder for a group of equal ability, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.responses.categories import CATEGORY_MODELS, CategoryFit, fit_categories
from mensura.responses.fit import FitOptions, fit_responses
from mensura.responses.irt.differences import FEWEST
from mensura.responses.result import ResponseFit
from mensura.responses.table import ResponseTable


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Result):
    """Show how items differ between groups.

    Attributes
    ----------
    differences
        group, reference, item, difference (logits, + is easier for the group), se, gap (of expected scores), x2 and p
        of the likelihood-ratio test, q (false discovery rate), p_uniform, p_nonuniform, class (A, B, C), flagged.
    groups
        group, subjects, mean, sd and their standard errors.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("differences", "groups")

    differences: pl.DataFrame
    groups: pl.DataFrame

    @property
    def heading(self) -> str:
        """How many items differ."""
        flagged, items = self.differences.filter("flagged")["item"].n_unique(), self.differences["item"].n_unique()
        return f"{flagged} of {items} items differ between {self.groups.height} groups"


@check_arguments
def compare_groups(
    responses: Any,  # noqa: ANN401
    *,
    model: str = "2pl",
    by: str | None = None,
    reference: str | None = None,
    prior: str | Path | None = None,
) -> GroupComparison:
    """Test every item for a difference between each group and the reference, at equal ability.

    Likelihood-ratio tests with iterative purification; see :mod:`mensura.responses.irt.differences`.

    Parameters
    ----------
    responses
        Whatever :func:`mensura.responses.read_responses` takes, or a :class:`ResponseTable`, with two groups or more.
    model
        ``rasch``, ``2pl``, ``3pl``, ``graded``, ``partial-credit`` or ``nominal``.
    by
        The column that makes groups, where it is not called ``group``.
    reference
        The group that others are compared with; by default people, or the first.
    prior
        ``weak``, ``none`` or a file; by default as :func:`mensura.fit_responses`.

    Returns
    -------
    GroupComparison
        One row per group and item.

    Raises
    ------
    MensuraError
        If there is one group, or no group beside the reference has five subjects.

    Examples
    --------
    >>> import numpy as np
    >>> from mensura.responses import compare_groups
    >>> rng = np.random.default_rng(0)
    >>> right = {f"q{k}": rng.integers(0, 2, 80) for k in range(4)}
    >>> people = {"subject": [f"p{k}" for k in range(80)], "group": ["a"] * 40 + ["b"] * 40}
    >>> compare_groups(people | right, model="rasch").differences["item"].to_list()
    ['q0', 'q1', 'q2', 'q3']

    """
    fit: ResponseFit | CategoryFit
    if model in CATEGORY_MODELS:
        fit = fit_categories(responses, model=model, by=by, reference=reference, prior=prior)
    else:
        own = None if isinstance(responses, ResponseTable) else by
        options = FitOptions(prior, checks=False)
        fit = fit_responses(responses, model=model, by=own, reference=reference, options=options)
    if fit.groups.height < 2:
        raise MensuraError("responses: one group; expected two or more. Name their column with by")
    if not fit.dif.height:
        raise MensuraError(f"responses: no group beside the first has {FEWEST} subjects; items cannot be compared")
    return GroupComparison(fit.dif, fit.groups)
