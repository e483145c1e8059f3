"""Answers in categories, as they are read: who chose which category of which item.

Answers for a model of several abilities, right and wrong or in categories, and where its fit begins.
"""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.core.frames import first_row
from mensura.intake.answers import CODES, AnswerLog
from mensura.responses.counting import CountRules
from mensura.responses.irt.category_curves import begin
from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.dimension_nodes import DIMENSION_MODELS, StepAnswers, step_answers
from mensura.responses.irt.shards import dense
from mensura.responses.reading import AnswerChoice, owned, pieces, read_responses
from mensura.responses.table import ResponseTable

RATED = r"^(.*) by .*$"
"""The item in the name of an item by a rater."""
MOST_CATEGORIES = 20
"""Categories that an item may have; more are a measurement, not a rating."""
_GAP, _FAR = 1.5, 4.0
"""Usual distances of outcomes beyond which the codes of surveys, and any number, may stand for missing answers."""


class CategoryTable(NamedTuple):
    """Answers in categories.

    ``answers``: subject, group, item, value and place of the category. ``codes``: item, value, place, category (its
    name), n and share of every category. ``subjects``: subject, group, n. ``groups``: their names. ``counts``: of each
    group, subjects × items and categories. ``log``: what was left out.
    """

    answers: pl.DataFrame
    codes: pl.DataFrame
    subjects: pl.DataFrame
    groups: list[str]
    counts: list[Any]
    log: AnswerLog

    @property
    def items(self) -> pl.Series:
        """The items, in the order of the counts."""
        return self.codes["item"].unique(maintain_order=True)

    @property
    def shares(self) -> list[Floats]:
        """The shares of each item's categories."""
        return [rows["share"].to_numpy() for rows in self.codes.partition_by("item", maintain_order=True)]

    @property
    def taken(self) -> Any:
        """Whether subjects (rows) answered items."""
        items = self.items.len()
        of_item = scipy.sparse.kron(np.eye(items), np.ones((self.counts[0].shape[1] // items, 1)), format="csr")
        return self.stacked @ of_item > 0

    @property
    def stacked(self) -> Any:
        """The counts of all subjects."""
        return scipy.sparse.vstack(self.counts, format="csr")


def read_categories(
    responses: Any,
    *,
    by: str | None = None,
    group: str | None = None,
    reference: str | None = None,
    header: bool = True,
    columns: str | None = None,
    choice: AnswerChoice | None = None,
    same: bool = False,
) -> CategoryTable:
    """Read tables with whole numbers as outcomes, the categories; ``reference``: the group that comes first.

    ``same``: whether all items have the same categories. Those of an item with several raters always are the same.
    """
    log = AnswerLog()
    answers = read_ratings(responses, log, by=by, group=group, header=header, columns=columns, choice=choice)
    if choice is None or choice.absent is None:
        _refuse_codes(answers)
    groups = answers["group"].unique(maintain_order=True).to_list()
    if reference is not None:
        check_choice("reference", reference, groups)
        groups.sort(key=lambda name: name != reference)
    of_raters = choice is not None and choice.rater is not None
    answers, codes = _numbered(answers, log, pl.col("item").str.extract(RATED) if of_raters else pl.col("item"), same)
    items, most = codes["item"].unique(maintain_order=True), int(codes["place"].to_numpy().max()) + 1
    subjects = _subjects(answers, groups)
    counts = [_counts(answers, subjects, name, items, most) for name in groups]
    return CategoryTable(answers, codes, subjects, groups, counts, log)


def read_ratings(sources: Any, log: AnswerLog, *, group: str | None = None, **how: Any) -> pl.DataFrame:
    """Return subject, group, item and value of every answer; ``how``: arguments of :func:`read_responses`."""
    parts: list[pl.DataFrame] = []
    for source, owner in owned(sources, group, log):
        for piece in pieces(source, group=owner, log=log, **{"by": None, **how}):
            parts += [piece] if isinstance(piece, pl.DataFrame) else piece.long()
    answers = pl.concat(parts).select("subject", "group", "item", "value")
    nameless = answers["subject"].is_null() | answers["item"].is_null()
    log.note("outcomes without subject or item", int(nameless.sum()), "left out")
    log.note("missing outcomes", answers["value"].null_count(), "left out")
    answers = answers.drop_nulls()
    if answers.is_empty():
        raise MensuraError("responses: no outcome; add at least one")
    wrong = answers.filter(pl.col("value") % 1.0 != 0.0)
    if wrong.height:
        item, value = wrong.row(0)[2:]
        raise MensuraError(
            f"responses: item {item!r} has the outcome {value:g}; expected whole numbers, one per category. "
            "Round the outcomes, or fit the model 2pl to shares"
        )
    return answers


def _refuse_codes(answers: pl.DataFrame) -> None:
    """Ask about outcomes that may be codes of missing answers: beyond a gap, or some below 0 where most are above."""
    table = answers.group_by("value").agg(pl.col("item").n_unique()).sort("value")
    kinds, users = table["value"].to_numpy(), table["item"].to_numpy()
    of_one = users[0] == 1 < users.max() - 1
    codes = set(kinds[kinds < 0.0]) if kinds[-1] > 0.0 and (kinds[0] != -kinds[-1] or of_one) else set()
    gaps = np.diff(kinds)
    usual = float(np.median(gaps)) if len(gaps) > 1 else np.inf
    for at in np.flatnonzero(gaps > _GAP * usual) + 1:
        if set(kinds[at:]) <= CODES or gaps[at - 1] > _FAR * usual or users[at:].max() == 1 < users.max() - 1:
            codes |= set(kinds[at:])
    if names := [f"{code:g}" for code in sorted(codes)]:
        what = f"outcomes {listed_names(names)} lie apart from the others and may be codes of missing answers"
        how = f"--set absent={','.join(names)}, or --set absent=none if they are ratings"
        raise MensuraError(f"responses: {what}. Say {how}")


def _numbered(answers: pl.DataFrame, log: AnswerLog, rated: pl.Expr, same: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the answers with the place of their category, and item, value, place, n of every category.

    ``rated``: the item without its rater.
    """
    counts = answers.group_by("item", "value", maintain_order=True).len("n").with_columns(scale=rated)
    order = counts.select("item", "scale", kinds=pl.col("value").n_unique().over("scale"))
    order = order.unique("item", keep="first", maintain_order=True)
    if row := first_row(order.filter(pl.col("kinds") > MOST_CATEGORIES)):
        raise MensuraError(
            f"responses: item {row['item']!r} has {row['kinds']} different outcomes; at most {MOST_CATEGORIES} "
            "categories are fitted. Group the outcomes into fewer categories"
        )
    single = order.filter(pl.col("kinds") == 1)["item"]
    log.note("items with one category", single.len(), "left out")
    order = order.filter(pl.col("kinds") > 1).with_row_index("at")
    if order.height < 2:
        raise MensuraError(f"responses: {order.height} items have two categories or more; a scale needs at least two")
    kept = counts.filter(pl.col("scale").is_in(order["scale"].implode()))
    scales = kept.select("scale", "value").unique()
    if same:
        scales = order.select("scale").unique().join(kept.select("value").unique(), how="cross")
    codes = order.join(scales, on="scale").join(counts.drop("scale"), on=["item", "value"], how="left")
    codes = codes.with_columns(pl.col("n").fill_null(0)).sort("at", "value")
    codes = codes.with_columns(
        place=pl.int_range(pl.len()).over("at"),
        category=pl.Series([f"{value:g}" for value in codes["value"]], dtype=pl.String),
        share=pl.col("n") / pl.col("n").sum().over("item"),
        rater=pl.col("item").str.strip_prefix(pl.col("scale") + " by "),
    )
    keys = codes.select("at", "item", "value", "place")
    return answers.join(keys, on=["item", "value"], maintain_order="left"), codes


def _subjects(answers: pl.DataFrame, groups: list[str]) -> pl.DataFrame:
    """Return subject, group, n and the row in its group of every subject."""
    who = answers.group_by("subject", maintain_order=True).agg(
        pl.col("group").first(), pl.col("group").n_unique().alias("kinds"), pl.col("item").n_unique().alias("n")
    )
    if row := first_row(who.filter(pl.col("kinds") > 1)):
        raise MensuraError(f"responses: subject {row['subject']!r} is in two groups; give each subject one group")
    rank = pl.col("group").replace_strict(groups, list(range(len(groups))), return_dtype=pl.Int32)
    who = who.drop("kinds").sort(rank, maintain_order=True)
    return who.with_columns(row=pl.int_range(pl.len()).over("group"))


def _counts(answers: pl.DataFrame, subjects: pl.DataFrame, group: str, items: pl.Series, most: int) -> Any:
    own = answers.filter(pl.col("group") == group).join(subjects.select("subject", "row"), on="subject")
    column = own["at"].to_numpy().astype(np.int64) * most + own["place"].to_numpy()
    shape = (subjects.filter(pl.col("group") == group).height, items.len() * most)
    return scipy.sparse.csr_array((np.ones(own.height, dtype=np.float32), (own["row"].to_numpy(), column)), shape=shape)


PROBIT = 1.702
"""Logits per standard deviation of a normal curve: puts slopes on the scale of loadings."""


class DimensionAnswers(NamedTuple):
    """What is fitted.

    ``subjects``: subject and group. ``items``: their names. ``steps``: item, category (if several), n, share or rate
    of every step of every item. ``right`` and ``trials``: subjects × steps. ``centred``: scores of items (subjects ×
    items) less their mean, in units that make the squares of an item sum to 1. ``start``: slope, then intercepts.
    """

    model: str
    subjects: pl.DataFrame
    items: list[str]
    steps: pl.DataFrame
    right: Floats
    trials: Floats | None
    centred: Floats
    start: Floats
    sizes: Any
    log: pl.DataFrame
    weak_priors: bool = True
    weights: Floats | None = None

    @property
    def answered(self) -> StepAnswers:
        """The answers and the weights of subjects."""
        return StepAnswers(self.right, self.trials, self.weights)

    def confirmatory(self, free: Mask, *, correlated: bool) -> DimensionItems:
        """Return where a fit begins whose slopes are known to exist or not."""
        return self._items(free * self.start[:, :1], free, correlated)

    def exploratory(self, count: int) -> DimensionItems:
        """Return where a fit begins that looks for abilities: the largest principal components of the answers."""
        values, vectors = np.linalg.eigh(self.centred.T @ self.centred)
        slopes = PROBIT * vectors[:, -count:][:, ::-1] * np.sqrt(np.maximum(values[-count:][::-1], 0.1))
        slopes = np.clip(slopes * np.sign(slopes.sum(axis=0)), -2.0, 2.0)
        return self._items(slopes * self.start[:, :1], np.ones_like(slopes, dtype=bool), correlated=False)

    def _items(self, slopes: Floats, free: Mask, correlated: bool) -> DimensionItems:
        intercepts = self.start[:, 1] if self.sizes is None else self.start[:, 1:]
        unit = np.eye(free.shape[1])
        return DimensionItems(slopes, intercepts, unit, free, correlated, self.model, self.sizes, self.weak_priors)


def dimension_answers(responses: Any, model: str, rules: CountRules | None = None, **how: Any) -> DimensionAnswers:
    """Read answers for a model of several abilities; ``how``: arguments of :func:`read_responses`."""
    if model not in DIMENSION_MODELS:
        because = ""
        if model == "nominal":
            because = " nominal would have a slope per category and dimension, which answers seldom tell apart."
        raise MensuraError(
            f"model: got {model!r}; expected {', '.join(DIMENSION_MODELS)} for several dimensions.{because} Choose one "
            "of them, or fit one dimension"
        )
    if model != "2pl":
        if rules is not None:
            raise MensuraError(f"rules: of no use to the model {model}, whose outcomes are categories. Leave it out")
        return _of_categories(read_categories(responses, **how), model)
    table = responses if isinstance(responses, ResponseTable) else read_responses(responses, rules=rules, **how)
    right = dense(table.right).astype(np.float64)
    trials = None if table.trials is None else dense(table.trials).astype(np.float64)
    rates, taken = table.items["rate"].to_numpy(), np.ones_like(right) if trials is None else trials
    within = np.clip(rates, 0.02, 0.98)
    start = np.column_stack([np.ones(len(rates)), 1.2 * np.log(within / (1.0 - within))])
    centred = (right - taken * rates) / np.sqrt(np.maximum(taken.sum(axis=0) * rates * (1.0 - rates), 1e-9))
    names, items = table.subjects.select("subject", "group"), table.items.select("item", "n", "rate")
    return DimensionAnswers(
        model, names, items["item"].to_list(), items, right, trials, centred, start, None, table.log
    )


def _of_categories(table: CategoryTable, model: str) -> DimensionAnswers:
    items, first = table.items.to_list(), begin(model, table.shares, 1)
    counts = np.asarray(table.stacked.toarray(), dtype=np.float64).reshape(-1, len(items), first.most)
    bare = DimensionItems(
        np.zeros((len(items), 1)), first.values[:, 1:], np.eye(1), first.used, True, model, first.sizes
    )
    taken, scores = counts.sum(axis=2), counts @ np.arange(first.most)
    off = scores - taken * (scores.sum(axis=0) / taken.sum(axis=0))
    steps = table.codes.filter(pl.col("place") > 0).select("item", "category", "n", "share")
    names = model, table.subjects.select("subject", "group"), items, steps
    centred = off / np.sqrt(np.maximum(np.sum(off**2, axis=0), 1e-9))
    answers = step_answers(model, counts, bare)
    return DimensionAnswers(*names, *answers, centred, first.values, first.sizes, table.log.frame())
