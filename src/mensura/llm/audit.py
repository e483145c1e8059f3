"""Read a journal afterwards: its state, its cost, and every question with its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mensura.core.errors import MensuraError
from mensura.core.files import atomic_path, write_text
from mensura.llm.batch_table import BatchTable
from mensura.llm.journal import Journal, State
from mensura.llm.settings import Prices
from mensura.llm.text_store import split_answer

if TYPE_CHECKING:
    import polars as pl

AUDIT_COLUMNS = {
    "model": "the model, as --model takes it",
    "settings": "how it was asked: temperature, max_tokens, as JSON",
    "about": "what the question is about (item, dimension …), as JSON",
    "repeat": "which of several askings",
    "system": "the system message",
    "question": "the prompt",
    "schema": "the JSON schema the answer had to meet, empty where none",
    "answer": "the answer's text",
    "value": "what was read from it, as JSON; null where nothing was",
    "rationale": "the reasons given",
    "error": "why there is no value",
    "state": "claimed, answered, failed, batched or replaced (asked again with retry)",
    "tokens_in": "tokens of the question",
    "tokens_out": "tokens of the answer",
    "cost": "US dollars, empty where no price was known",
    "seconds": "time the answering call took",
    "attempts": "requests sent for it",
    "answered": "when, in UTC",
}
"""Columns of the audit table and what they hold."""
_NOT_SENT = {"model", "version"}
_REPLACED = 4
"""The state that stands here for answers of which a retry asked again."""
_COLUMNS = """id, settings, system, schema, question, answer, value, error, tokens_in, tokens_out, cost, seconds,
  attempts, answered"""
_ALL = f"(SELECT state, {_COLUMNS} FROM calls UNION ALL SELECT {_REPLACED}, {_COLUMNS} FROM replaced) rows"
_ROWS = f"""
SELECT settings.body, question, system.body, schema.body, answer, value, error, state, tokens_in, tokens_out, cost,
  seconds, attempts, answered
FROM {_ALL} JOIN texts settings ON settings.id = rows.settings JOIN texts system ON system.id = rows.system
  JOIN texts schema ON schema.id = rows.schema ORDER BY state = {_REPLACED}, rows.id
"""
_STANDING = f"""
SELECT settings, state, count(*), sum(state = 1 AND error <> ''), sum(tokens_in), sum(tokens_out), sum(cost),
  sum(answer IS NOT NULL AND cost IS NULL), sum(attempts), sum(seconds)
FROM {_ALL} GROUP BY settings, state ORDER BY min(rows.id)
"""
_TEMPLATE = Path(__file__).parent / "audit.html"


def journal_status(path: str | Path) -> dict[str, pl.DataFrame]:
    """Return the state of a journal: ``models`` (one row per model and settings) and ``batches``.

    ``open`` counts questions claimed and not answered: under way now, or left by a process that died. Tokens, requests
    and ``cost`` (US dollars, null where no price is known) include the ``replaced`` answers.
    """
    import polars as pl

    rows: dict[int, dict[str, Any]] = {}
    with Journal(path, create=False) as journal:
        names = _settings_texts(journal)
        for number, state, count, unread, *sums in journal.rows(_STANDING):
            start = {**_described(names[number]), **dict.fromkeys(_COUNTS, 0), "cost": None}
            row = rows.setdefault(number, start)
            row[_STATE_COLUMNS[state]] = count
            if state in (State.ANSWERED, _REPLACED):
                row["unreadable"] += unread
                for name, value in zip(_COUNTS[6:], sums, strict=True):
                    row[name] = row[name] if value is None else (row[name] or 0) + value
        batches = [
            (r.remote, r.reference, r.model, r.endpoint, r.state, r.calls, _when(r.made))
            for r in BatchTable(journal).records()
        ]
    text: dict[str, pl.DataType] = {"model": pl.String(), "settings": pl.String()}
    numbers: dict[str, pl.DataType] = {
        name: pl.Float64() if name in ("cost", "seconds") else pl.Int64() for name in _COUNTS
    }
    models = pl.DataFrame(list(rows.values()), schema=text | numbers)
    names_of = ["batch", "reference", "model", "endpoint", "state", "calls", "made"]
    types = {name: pl.Int64 if name == "calls" else pl.String for name in names_of}
    return {"models": models, "batches": pl.DataFrame(batches, schema=types, orient="row")}


_STATE_COLUMNS = {
    State.ANSWERED.value: "answered",
    State.FAILED.value: "failed",
    State.CLAIMED.value: "open",
    State.BATCHED.value: "batched",
    _REPLACED: "replaced",
}
_COUNTS = (
    *_STATE_COLUMNS.values(),
    "unreadable",
    "tokens_in",
    "tokens_out",
    "cost",
    "unpriced",
    "requests",
    "seconds",
)


def journal_cost(path: str | Path, prices: Prices | None = None) -> pl.DataFrame:
    """Return tokens and US dollars per model; ``prices`` apply to models whose answers all lack a price.

    ``cost`` is null where no price is known; ``unpriced`` counts the answers that it leaves out.
    """
    import polars as pl

    models = journal_status(path)["models"]
    kept = ["model", "settings", "answered", "requests", "tokens_in", "tokens_out", "cost", "unpriced", "seconds"]
    table = models.select(kept)
    if prices is None:
        return table
    price = (pl.col("tokens_in") * prices.input + pl.col("tokens_out") * prices.output) / 1e6
    wholly = pl.col("cost").is_null()
    return table.with_columns(
        pl.when(wholly).then(price).otherwise("cost").alias("cost"),
        pl.when(wholly).then(0).otherwise("unpriced").alias("unpriced"),
    )


def audit_table(path: str | Path) -> pl.DataFrame:
    """Return every question of a journal with its answer, rationale and value (:data:`AUDIT_COLUMNS`)."""
    import polars as pl

    whole = ("repeat", "tokens_in", "tokens_out", "attempts")
    types = {
        name: pl.Int64 if name in whole else pl.Float64 if name in ("cost", "seconds") else pl.String
        for name in AUDIT_COLUMNS
    }
    with Journal(path, create=False) as journal:
        return pl.DataFrame(list(_audited(journal)), schema=types)


def recording_table(path: str | Path) -> pl.DataFrame:
    """Return the answers of a journal as a recording: what each is about, ``repeat``, ``answer``, tokens and model.

    Raises where two answers are about the same, for a recording could not tell them apart.
    """
    import polars as pl

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
    """Write the audit table (.csv, .parquet or a browsable .html page), or a recording; return the number of rows."""
    target = Path(target)
    kind = target.suffix.lower()
    allowed = (".csv", ".parquet") if recording else (".csv", ".parquet", ".html")
    if kind not in allowed:
        raise MensuraError(f"{target}: the name must end in one of {', '.join(allowed)}")
    table = recording_table(path) if recording else audit_table(path)
    if kind == ".html":
        write_text(target, audit_page(table, title=Path(path).name))
        return table.height
    with atomic_path(target) as part:
        if kind == ".csv":
            table.write_csv(part)
        else:
            table.write_parquet(part)
    return table.height


def audit_page(table: pl.DataFrame, *, title: str) -> str:
    """Return the audit table as one page that needs nothing else: search, one fold per question."""
    from jinja2 import Environment, StrictUndefined

    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(
        _TEMPLATE.read_text(encoding="utf-8")
    )
    return page.render(title=title, rows=table.to_dicts(), count=table.height)


def _audited(journal: Journal) -> Iterator[dict[str, object]]:
    unpack = journal.texts.unpack
    for settings, question, system, schema, answer, value, error, state, *numbers, answered in journal.rows(_ROWS):
        described = _described(unpack(settings))
        prompt, repeat, about = json.loads(unpack(question))
        text, rationale = split_answer(unpack(answer)) if answer else ("", "")
        cells = (
            described["model"],
            described["settings"],
            json.dumps(about, ensure_ascii=False),
            repeat,
            unpack(system),
            prompt,
            unpack(schema),
            text,
            value,
            rationale,
            error or "",
            "replaced" if state == _REPLACED else State(state).name.lower(),
            *numbers,
            None if answered is None else _when(answered),
        )
        yield dict(zip(AUDIT_COLUMNS, cells, strict=True))


def _settings_texts(journal: Journal) -> dict[int, str]:
    rows = journal.rows("SELECT id, body FROM texts WHERE id IN (SELECT DISTINCT settings FROM calls)")
    return {number: journal.texts.unpack(body) for number, body in rows}


def _described(settings: str) -> dict[str, object]:
    told = json.loads(settings)
    shown = {name: value for name, value in told.items() if name not in _NOT_SENT}
    return {"model": told["model"], "settings": json.dumps(shown, sort_keys=True)}


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
