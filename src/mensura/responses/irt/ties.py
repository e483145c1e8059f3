"""Items that share parameters: one slope for all, one set of steps for all, raters who are more or less severe.

The parameters of all items are linear in fewer unknowns, values = ties · unknowns, and a fit moves along these alone:
the information about the unknowns is Tᵀ H T, where H is the information about all values as if none were shared.

* ``partial-credit-rasch``: P(Y = k) in proportion to exp(k a θ + d₁ + … + dₖ), a the same for all items (Masters 1982);
* ``rating-scale``: the same with dₖ = δ + τₖ, where τ is the same for all items (Andrich 1978).

Both may have raters: each takes its severity off every d of the items that it rates (Linacre 1989). Severities have
mean 0. An item is there once for each of its raters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.responses.irt.category_curves import CategoryItems
from mensura.responses.irt.information import Information, information_of_columns, root_of_inverse

_LEAST_SLOPE = 1e-3
TIED = ("partial-credit-rasch", "rating-scale")


def curve_of(model: str) -> str:
    """Return the model whose curves the items of a model have."""
    return "partial-credit" if model in TIED else model


def tied_items(begin: CategoryItems, model: str, items: Sequence[str], raters: Sequence[str] | None) -> CategoryItems:
    """Return where a fit with shared parameters begins; ``items`` and ``raters``: those of each row."""
    used = begin.used[:, 1:]
    count, steps = used.shape
    own, step = np.repeat(_kinds(items), steps, axis=0), np.tile(np.eye(steps), (count, 1))
    if model == "rating-scale":
        unknowns = np.hstack([own, step[:, 1:]])
    else:
        unknowns = np.einsum("rj,rs->rjs", own, step).reshape(len(own), -1)
    if raters is not None:
        unknowns = np.hstack([unknowns, -np.repeat(_kinds(raters) @ severities(len(set(raters))), steps, axis=0)])
    unknowns = (unknowns * used.reshape(-1, 1))[:, unknowns[used.ravel()].any(axis=0)]
    ties = np.zeros((count, 1 + steps, 1 + unknowns.shape[1]))
    ties[:, 0, 0], ties[:, 1:, 1:] = 1.0, unknowns.reshape(count, steps, -1)
    flat = ties.reshape(-1, ties.shape[2])
    if np.linalg.matrix_rank(flat) < flat.shape[1]:
        raise MensuraError(
            "rater: nobody rated the items of another; expected raters who share items. Add answers, or leave rater out"
        )
    values = flat @ (np.linalg.pinv(flat) @ begin.values.ravel())
    return replace(begin, values=values.reshape(begin.values.shape), ties=ties)


def _kinds(names: Sequence[str]) -> Floats:
    return np.eye(len(set(names)))[np.unique(list(names), return_inverse=True)[1]]


def severities(raters: int) -> Floats:
    """Return how the severities of raters, which have mean 0, depend on those of all but the last."""
    return np.vstack([np.eye(raters - 1), -np.ones((1, raters - 1))])


def rater_severities(p: CategoryItems, information: Information, raters: int) -> tuple[Floats, Floats]:
    """Return the severity of every rater in units of ability, and its standard error (delta method)."""
    assert p.ties is not None
    inverse, columns = np.linalg.pinv(p.ties.reshape(p.values.size, -1)), information.item_columns
    values, spread = inverse @ p.values.ravel(), inverse @ columns.reshape(p.values.size, -1)
    contrast, cut = severities(raters), len(values) - raters + 1
    slope = values[0] if abs(values[0]) > _LEAST_SLOPE else _LEAST_SLOPE
    severity = contrast @ values[cut:] / slope
    change = (contrast @ spread[cut:] - np.outer(severity, spread[0])) / slope
    return severity, np.sqrt(np.sum(change**2, axis=1))


@dataclass(frozen=True)
class TiedInformation(Information):
    """The inverse information along unknowns; ``complete``: the same with abilities known."""

    complete: Information

    def plain_step(self, slope: Floats) -> Floats:
        """Return the step of the EM algorithm."""
        return self.complete.step(slope)


def tied_information(whole: Information, ties: Floats) -> Information:
    """Return the inverse information of values that are linear in unknowns, from that of free ones."""
    cut, groups = ties.shape[2], len(whole.group_inverse)
    turned = np.linalg.solve(whole.item_inverse, ties)
    curvature = np.diag(np.append(np.zeros(cut), 1.0 / whole.group_inverse))
    curvature[:cut, :cut] = np.tensordot(ties, turned, axes=([0, 1], [0, 1]))
    own = np.linalg.solve(whole.item_inverse, whole.item_columns), whole.group_columns / whole.group_inverse[:, None]
    columns = np.concatenate([np.tensordot(ties, own[0], axes=([0, 1], [0, 1])), own[1]])
    middle = np.tensordot(whole.item_columns, own[0], axes=([0, 1], [0, 1])) + whole.group_columns.T @ own[1]
    left = curvature - columns @ np.linalg.solve(middle + np.eye(len(middle)), columns.T)
    along, complete = (along_ties(one, ties, groups) for one in (left, curvature))
    return TiedInformation(**vars(along), complete=complete)


def along_ties(curvature: Floats, ties: Floats, groups: int) -> Information:
    """Return the inverse information of values from the information about unknowns, then groups."""
    root = root_of_inverse(curvature)
    of_items = (ties @ root[: ties.shape[2]]).reshape(-1, root.shape[1])
    free = information_of_columns(np.concatenate([of_items, root[ties.shape[2] :]]), len(ties), groups)
    return replace(free, item_inverse=np.eye(ties.shape[1]) * np.asarray(~ties.any(axis=2))[:, :, None])
