"""Pack the example pool's readings as answers of the model ``recorded/example``: ``python -m tools.record_example``."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from mensura.core.files import write_csv
from mensura.demands.plan import plan_annotation
from mensura.demands.protocols import Packet
from mensura.demands.views import example_folder

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "llm" / "data" / "example.csv"
COLUMNS = ("task", "protocol", "item", "items", "repeat", "answer", "model", "note")
NOTE = "given on 2026-11-15, version not recorded; see the README of the example pool"


def recording() -> pl.DataFrame:
    """Return the table of recorded answers, one row per question of the protocols bundle and item."""
    levels = pl.read_csv(example_folder() / "levels.csv")
    told = {(row["item"], row["repeat"]): row for row in levels.iter_rows(named=True)}
    rows = []
    for protocol in ("bundle", "item"):
        plan = plan_annotation("example", protocol=protocol, repeats=levels["repeat"].n_unique())
        for packet in plan.packets:
            question = packet.question
            answer = _answer(packet, [_entry(packet, told[item, question.repeat]) for item in packet.items])
            about = {**question.about, "repeat": question.repeat, "answer": answer, "model": "claude", "note": NOTE}
            rows.append([about.get(column) for column in COLUMNS])
    return pl.DataFrame(rows, schema=COLUMNS, orient="row", infer_schema_length=None)


def _entry(packet: Packet, row: dict[str, object]) -> dict[str, object]:
    return {"why": row["why"], "levels": {code: row[code] for code in packet.dimensions}}


def _answer(packet: Packet, entries: list[dict[str, object]]) -> str:
    if packet.question.about["protocol"] == "item":
        return json.dumps(entries[0])
    return json.dumps({"items": [{"item": number, **entry} for number, entry in enumerate(entries, 1)]})


def main() -> None:
    write_csv(recording(), TARGET)


if __name__ == "__main__":
    main()
