"""Outcomes lined up with demands: who solved which item, and what the item asks for.

Outcomes as a profile takes them: from tables of any format, or from evaluation logs sample by sample.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy

from mensura.calibration.items import LEVELS, dominant
from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError
from mensura.core.frames import first_row
from mensura.demands import read_demands
from mensura.demands.readings import mean_levels, read_level_table, refuse_unknown_dimensions
from mensura.demands.rubrics import annotated_dimensions
from mensura.intake.columns import FEWEST_OPTIONS, FIELDS, parse_map, read_columns
from mensura.intake.samples import is_sample_log, read_samples

OUTCOMES = ("subject", "item", "correct", "options")
_TRUE = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0}
"""Words for an outcome; single letters are Inspect's: correct, incorrect, partial, no answer."""


@dataclass(frozen=True, eq=False)
class Answered:
    """Outcomes of subjects on items with known demands.

    ``levels``: items × dimensions. One entry per answer, sorted by subject: ``subject`` and ``item`` are places,
    ``solved`` is 0 to 1 (a share where an item was tried several times or by several people), ``floor`` the chance to
    guess. ``starts``: where each subject's answers begin, and where the last one's end.
    """

    subjects: tuple[str, ...]
    items: tuple[str, ...]
    dimensions: tuple[str, ...]
    levels: Floats
    subject: Ints
    item: Ints
    solved: Floats
    floor: Floats
    starts: Ints
    warnings: tuple[str, ...] = ()

    def of(self, at: int) -> tuple[Ints, Floats, Floats]:
        """Return items, outcomes and floors of one subject."""
        here = slice(self.starts[at], self.starts[at + 1])
        return self.item[here], self.solved[here], self.floor[here]

    def counts(self) -> tuple[Floats, Floats]:
        """Return items and solved items, subjects × dimensions × levels 1 to 5, of items that a dimension decides.

        A demand between two levels counts for the nearest. Shares add up as parts of a solved item.
        """
        nearest = np.floor(self.levels + 0.5)
        decides = dominant(self.levels)[:, :, None] & (nearest[:, :, None] == LEVELS)
        table = scipy.sparse.csr_matrix(decides.reshape(len(self.items), -1).astype(np.float64))
        shape = (len(self.subjects), len(self.items))
        tried = scipy.sparse.csr_matrix((np.ones(len(self.item)), (self.subject, self.item)), shape=shape)
        won = scipy.sparse.csr_matrix((self.solved, (self.subject, self.item)), shape=shape)
        size = (len(self.subjects), len(self.dimensions), len(LEVELS))
        return (tried @ table).toarray().reshape(size), (won @ table).toarray().reshape(size)


def line_up(outcomes: Any, demands: Any, columns: str | None = None) -> Answered:
    """Line up outcomes (subject, item, correct[, options]) and demands, tables of any library or paths.

    ``correct``: 0 or 1, true or false, or a share. Several outcomes of a subject on an item are averaged. ``options``:
    how many answers were on offer; one guessed is right once in so many. Outcomes of items without demands are left
    out and counted; if all are, that is refused.
    """
    mapping = parse_map(columns, FIELDS, "subject=model,correct=score")
    answers = _checked(outcomes, mapping)
    levels, warnings = level_table(demands, mapping)
    dimensions = [code for code in annotated_dimensions() if code in levels.columns]
    places = levels.select("item").with_row_index("item_at")
    unknown = answers.join(places, on="item", how="anti")
    if unknown.height == answers.height:
        raise MensuraError(
            f"outcomes: no item has demands; ids must agree (outcomes: {answers['item'].first()!r} …, demands: "
            f"{levels['item'].first()!r} …)"
        )
    if unknown.height:
        items = unknown["item"].unique()
        warnings.append(
            f"{unknown.height:,} outcomes on {len(items):,} items without demands are left out (such as "
            f"{items.sort()[0]!r})"
        )
    names = answers["subject"].unique(maintain_order=True)
    subjects = pl.DataFrame({"subject": names}).with_row_index("subject_at")
    joined = answers.join(places, on="item").join(subjects, on="subject")
    cells = joined.group_by("subject_at", "item_at").agg(pl.col("correct").mean(), pl.col("options").first())
    kept = cells.sort("subject_at", "item_at")
    if kept.height < joined.height:
        warnings.append("several outcomes of a subject on an item are averaged")
    empty = subjects.join(kept, on="subject_at", how="anti")
    if empty.height:
        raise MensuraError(
            f"outcomes: subject {empty['subject'][0]!r} has no item with demands; add levels of its items to the "
            "demands"
        )
    subject = kept["subject_at"].to_numpy().astype(np.int64)
    return Answered(
        tuple(names),
        tuple(levels["item"]),
        tuple(dimensions),
        levels.select(dimensions).to_numpy().astype(np.float64),
        subject,
        kept["item_at"].to_numpy().astype(np.int64),
        kept["correct"].to_numpy(),
        (1.0 / kept["options"]).fill_null(0.0).to_numpy(),
        np.searchsorted(subject, np.arange(len(names) + 1)),
        tuple(warnings),
    )


def pick_subjects(outcomes: pl.DataFrame, wanted: list[str]) -> pl.DataFrame:
    """Return the outcomes of some subjects, in the order wanted; all when none is named."""
    there = outcomes["subject"].unique(maintain_order=True).to_list()
    for name in wanted:
        if name not in there:
            near = get_close_matches(name, there, 3, 0.4)
            hint = f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(sorted(there)[:20])}"
            raise MensuraError(f"subject: {name!r} has no outcomes here; {hint}")
    if not wanted:
        return outcomes
    order = pl.DataFrame({"subject": list(dict.fromkeys(wanted))})
    return order.join(outcomes, on="subject", how="left", maintain_order="left")


def _checked(source: Any, columns: Mapping[str, str]) -> pl.DataFrame:
    """Return subject, item, correct, options, each checked."""
    needed = OUTCOMES[:3]
    frame = read_columns(source, OUTCOMES, name="outcomes", needed=needed, numbers=("options",), columns=columns)
    if frame.is_empty():
        raise MensuraError("outcomes: the table is empty; add at least one row")
    if frame["subject"].null_count() or frame["item"].null_count():
        raise MensuraError("outcomes: a row lacks its subject or item; fill it or leave the row out")
    options = pl.col("options") if "options" in frame.columns else pl.lit(None, dtype=pl.Float64).alias("options")
    answers = frame.select(
        pl.col("subject", "item").cast(pl.String), options, correct=_as_share(frame["correct"]), given="correct"
    )
    wrong = answers.filter(~pl.col("correct").is_between(0, 1).fill_null(False))
    if wrong.height:
        subject, item, given = wrong.select("subject", "item", "given").row(0)
        raise MensuraError(
            f"outcomes: correct of {subject!r} on item {item!r} is {given!r}; expected 0 or 1, true or false, or a "
            f"share between ({wrong.height:,} such rows)"
        )
    if row := first_row(answers.filter(pl.col("options") < FEWEST_OPTIONS)):
        raise MensuraError(f"outcomes: options of item {row['item']!r} is {row['options']:g}; expected 2 or more")
    return answers.drop("given")


def _as_share(values: pl.Series) -> pl.Series:
    """Return outcomes as numbers; null where one is neither a number nor a word for an outcome."""
    if values.dtype != pl.String:
        return values.cast(pl.Float64, strict=False)
    plain = values.str.strip_chars().str.to_lowercase()
    words = plain.replace_strict(_TRUE, default=None, return_dtype=pl.Float64)
    return plain.cast(pl.Float64, strict=False).fill_null(words)


def level_table(demands: Any, columns: Mapping[str, str] | None = None) -> tuple[pl.DataFrame, list[str]]:
    """Return item and a column per dimension, readings averaged; items that lack a dimension are left out."""
    codes = list(annotated_dimensions())
    readings = read_demands(read_level_table(demands, codes, columns=columns), codes=codes)
    refuse_unknown_dimensions(readings, codes)
    whole, warnings = mean_levels(readings)
    if whole.is_empty():
        raise MensuraError("demands: no item has a level in every dimension; fill in the missing levels")
    return whole, warnings


def read_outcomes(path: str | Path, *, subject: str | None = None, columns: str | None = None) -> pl.DataFrame:
    """Read outcomes: a table of any format, or an evaluation log sample by sample.

    Parameters
    ----------
    path
        The file: subject, item, correct, or a log of Inspect, lm-evaluation-harness or HELM.
    subject
        Whose samples a harness file contains; by default the folder it lies in, as the harness writes it.
    columns
        Fields and their columns where names alone do not say it, such as ``subject=model,correct=score``.

    Returns
    -------
    polars.DataFrame
        subject, item, correct, and what else the table has.

    Raises
    ------
    MensuraError
        If the file is not understood, or a log has no scored sample.

    Examples
    --------
    >>> from mensura.calibration import read_outcomes
    >>> read_outcomes("logs/run.eval")  # doctest: +SKIP

    """
    path = Path(path)
    if not is_sample_log(path):
        mapping = parse_map(columns, FIELDS, "subject=model,correct=score")
        table = read_columns(path, OUTCOMES, name="outcomes", needed=OUTCOMES[:3], columns=mapping)
        return table.with_columns(pl.col("subject").cast(pl.String))
    samples = read_samples(path, subject=subject)
    rows = [(sample.subject, sample.item, sample.value) for sample in samples if sample.value is not None]
    if not rows:
        raise MensuraError(f"{path}: no sample with an outcome; check that the evaluation was scored")
    return pl.DataFrame(rows, {"subject": pl.String, "item": pl.String, "correct": pl.Float64}, orient="row")


def match_items(outcomes: pl.DataFrame, items: pl.Series) -> pl.DataFrame:
    """Return outcomes whose TASK:ID is shortened to ID, where the demands know none of the long ids but short ones."""
    if outcomes.schema.get("item") != pl.String or outcomes["item"].is_in(items.implode()).any():
        return outcomes
    task, short = outcomes["item"].str.split_exact(":", 1).struct.unnest()
    if short.null_count() or not short.is_in(items.implode()).any():
        return outcomes
    if task.n_unique() > 1:
        raise MensuraError("outcomes: several tasks, but the demands name items by id alone; name them TASK:ID there")
    return outcomes.with_columns(item=short)
