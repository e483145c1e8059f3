"""Read a journal afterwards: its state, its cost, and every question with its answer."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.files import atomic_path, write_csv, write_text
from mensura.llm.journal import Journal, State
from mensura.llm.journal_file import split_answer
from mensura.llm.protocol import Prices

AUDIT_COLUMNS = (
    *("model", "settings", "about", "repeat", "system", "question", "schema", "answer", "value", "rationale", "error"),
    *("state", "tokens_in", "tokens_out", "cost", "seconds", "attempts", "answered"),
)
"""Columns of the audit table; docs/llm.md says what they hold."""
_NOT_SENT = {"model", "version"}
_REPLACED = 4
"""The state that stands here for answers of which a retry asked again."""
_COLUMNS = """id, settings, system, schema, question, answer, value, error, tokens_in, tokens_out, cost, seconds,
  attempts, answered"""
_ALL = f"(SELECT state, {_COLUMNS} FROM calls UNION ALL SELECT {_REPLACED}, {_COLUMNS} FROM replaced) rows"
_ROWS = f"""
SELECT settings.body, question, system.body, schema.body, answer, value, error, state, tokens_in, tokens_out, cost,
  seconds, attempts, answered
FROM {_ALL} LEFT JOIN texts settings ON settings.id = rows.settings LEFT JOIN texts system ON system.id = rows.system
  LEFT JOIN texts schema ON schema.id = rows.schema ORDER BY state = {_REPLACED}, rows.id
"""
_GIVEN = f"state IN (1, {_REPLACED})"
_COUNTS = {
    "answered": "sum(state = 1)",
    "failed": "sum(state = 2)",
    "open": "sum(state = 0)",
    "batched": "sum(state = 3)",
    "replaced": f"sum(state = {_REPLACED})",
    "unreadable": "sum(state = 1 AND error <> '')",
    "tokens_in": f"coalesce(sum(tokens_in) FILTER (WHERE {_GIVEN}), 0)",
    "tokens_out": f"coalesce(sum(tokens_out) FILTER (WHERE {_GIVEN}), 0)",
    "cost": f"sum(cost) FILTER (WHERE {_GIVEN})",
    "unpriced": f"sum(answer IS NOT NULL AND cost IS NULL AND {_GIVEN})",
    "requests": f"coalesce(sum(attempts) FILTER (WHERE {_GIVEN}), 0)",
    "seconds": f"coalesce(sum(seconds) FILTER (WHERE {_GIVEN}), 0.0)",
}
_STANDING = f"""
SELECT texts.body, {", ".join(_COUNTS.values())} FROM {_ALL} LEFT JOIN texts ON texts.id = settings
GROUP BY settings ORDER BY min(rows.id)
"""
_TEMPLATE = Path(__file__).parent / "audit.html"


def journal_status(path: str | Path, prices: Prices | None = None) -> pl.DataFrame:
    """Count the questions of a journal by their state, and sum tokens and cost.

    Parameters
    ----------
    path : path
        The journal.
    prices : Prices, optional
        Prices of models whose answers all lack one.

    Returns
    -------
    polars.DataFrame
        One row per model and settings. ``open`` counts questions claimed and not answered: under way now,
        or left by a process that died. Tokens, requests and ``cost`` (US dollars, null where no price is known)
        include the ``replaced`` answers; ``unpriced`` counts the answers that ``cost`` leaves out.

    Raises
    ------
    MensuraError
        If the file is no journal.

    Examples
    --------
    >>> import tempfile
    >>> from mensura.llm import Journal, journal_status
    >>> path = tempfile.mkdtemp() + "/journal.sqlite"
    >>> Journal(path).close()
    >>> journal_status(path).height
    0

    """
    with Journal(path, create=False) as journal:
        journal.verify()
        models = [(*_described(journal.texts.unpack(body)), *counts) for body, *counts in journal.rows(_STANDING)]
    numbers = {name: pl.Float64 if name in ("cost", "seconds") else pl.Int64 for name in _COUNTS}
    table = pl.DataFrame(models, schema={"model": pl.String, "settings": pl.String, **numbers}, orient="row")
    if prices is None:
        return table
    is_unpriced = pl.col("cost").is_null()
    price = (pl.col("tokens_in") * prices.input + pl.col("tokens_out") * prices.output) / 1e6
    columns = [pl.when(is_unpriced).then(price).otherwise("cost").alias("cost")]
    return table.with_columns(*columns, unpriced=pl.when(is_unpriced).then(0).otherwise("unpriced"))


def audit_table(path: str | Path) -> pl.DataFrame:
    """List every question of a journal with its answer, rationale and value.

    Parameters
    ----------
    path : path
        The journal.

    Returns
    -------
    polars.DataFrame
        One row per question, replaced answers last, with the columns that docs/llm.md lists.

    Examples
    --------
    >>> import tempfile
    >>> from mensura.llm import Journal, audit_table
    >>> path = tempfile.mkdtemp() + "/journal.sqlite"
    >>> Journal(path).close()
    >>> audit_table(path).columns[:2]
    ['model', 'settings']

    """
    whole = ("repeat", "tokens_in", "tokens_out", "attempts")
    types = {
        name: pl.Int64 if name in whole else pl.Float64 if name in ("cost", "seconds") else pl.String
        for name in AUDIT_COLUMNS
    }
    with Journal(path, create=False) as journal:
        journal.verify()
        return pl.DataFrame(list(_audited(journal)), schema=types, orient="row")


def _audited(journal: Journal) -> Iterator[tuple[object, ...]]:
    unpack = journal.texts.unpack
    for settings, question, system, schema, answer, value, error, state, *numbers, answered in journal.rows(_ROWS):
        prompt, repeat, about = json.loads(unpack(question))
        text, rationale = split_answer(unpack(answer)) if answer else ("", "")
        asked = (json.dumps(about, ensure_ascii=False), repeat, unpack(system), prompt, unpack(schema))
        name = "replaced" if state == _REPLACED else State(state).name.lower()
        when = answered and datetime.fromtimestamp(answered, UTC).isoformat(timespec="seconds")
        yield *_described(unpack(settings)), *asked, text, value, rationale, error or "", name, *numbers, when


def _described(settings: str) -> tuple[str, str]:
    """Return the model, and how it was asked as JSON."""
    values = json.loads(settings)
    shown = {name: value for name, value in values.items() if name not in _NOT_SENT}
    return values["model"], json.dumps(shown, sort_keys=True)


def _recording_table(path: str | Path) -> pl.DataFrame:
    """Return the answers of a journal as a recording: what each is about, ``repeat``, ``answer``, tokens and model.

    Raises where two answers are about the same: a recording could answer only one of them.
    """
    audit = audit_table(path).filter(pl.col("state") == "answered")
    if audit.is_empty():
        raise MensuraError(f"{path}: contains no answer yet; run the command that asks first")
    abouts = [json.loads(text) for text in audit["about"]]
    fields = list(dict.fromkeys(name for about in abouts for name in about))
    if not fields:
        raise MensuraError(f"{path}: its questions do not say what they are about; use the journal itself as recording")
    table = pl.DataFrame({name: [about.get(name) for about in abouts] for name in fields}, strict=False)
    table = table.with_columns(audit.select("repeat", "answer", "tokens_in", "tokens_out", "model"))
    twice = table.filter(pl.struct(*fields, "repeat").is_duplicated())
    if twice.height:
        raise MensuraError(
            f"{path}: {twice.height} answers are about the same, such as {twice.row(0)[: len(fields)]}; keep one of "
            "each"
        )
    return table if table["repeat"].max() else table.drop("repeat")


def write_audit(path: str | Path, target: str | Path, *, recording: bool = False) -> int:
    """Write the audit table of a journal, or a recording made from it.

    Parameters
    ----------
    path : path
        The journal.
    target : path
        The file: ``.csv``, ``.parquet``, or ``.html`` for one page to browse.
    recording : bool
        Write the answers as a recording instead (``.csv`` or ``.parquet``).

    Returns
    -------
    int
        The number of rows.

    Raises
    ------
    MensuraError
        If the ending is unknown, or two answers of a recording are about the same.

    Examples
    --------
    >>> import tempfile
    >>> from mensura.llm import Journal, write_audit
    >>> folder = tempfile.mkdtemp()
    >>> Journal(folder + "/journal.sqlite").close()
    >>> write_audit(folder + "/journal.sqlite", folder + "/audit.csv")
    0

    """
    target = Path(target)
    kind = target.suffix.lower()
    allowed = (".csv", ".parquet") if recording else (".csv", ".parquet", ".html")
    if kind not in allowed:
        raise MensuraError(f"{target}: the name must end in one of {', '.join(allowed)}")
    table = _recording_table(path) if recording else audit_table(path)
    if kind == ".html":
        from jinja2 import Environment, StrictUndefined

        settings = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        page = settings.from_string(_TEMPLATE.read_text(encoding="utf-8"))
        write_text(target, page.render(title=Path(path).name, rows=table.to_dicts(), count=table.height))
        return table.height
    if kind == ".csv":
        write_csv(table, target)
    else:
        with atomic_path(target) as part:
            table.write_parquet(part)
    return table.height
