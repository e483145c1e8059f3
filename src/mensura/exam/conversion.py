"""Make an exam from what exists: a pool, a benchmark's file of items, an evaluation log; and copy one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from mensura.core.errors import MensuraError
from mensura.core.files import write_text
from mensura.core.folders import whole_folder
from mensura.exam.file import FILE, Exam, read_exam
from mensura.exam.items import read_exam_items

WRITER = "exam new"
EXAMPLE = Path(__file__).parent / "example"


def new_exam(folder: Path) -> Exam:
    """Write the example into a folder, to start from."""
    with whole_folder(folder, WRITER, certain=[FILE, "items.csv"]) as stage:
        for name in (FILE, "items.csv"):
            shutil.copyfile(EXAMPLE / name, stage / name)
    return read_exam(folder)


def exam_from(source: Path, folder: Path) -> tuple[Exam, list[str]]:
    """Write an exam whose items come from a pool's folder or any file of items; return what was left out.

    Texts, options and keys are taken as they are. Consent, instructions and rules are those of the example: edit them.
    """
    tables = [source / name for name in ("items.csv", "items.parquet") if (source / name).is_file()]
    items, left, _ = read_exam_items(tables[0] if tables else source)
    if not items:
        raise MensuraError(
            f"{source}: no item with a text and a key ({left[0]}); expected a pool, a benchmark or a log"
        )
    unique = {item.item: item.model_dump(exclude_defaults=True, mode="json") for item in reversed(items)}
    settings = _settings(source)
    with whole_folder(folder, WRITER, certain=[FILE, "items.jsonl"]) as stage:
        write_text(stage / FILE, settings)
        lines = [json.dumps(row, ensure_ascii=False) for row in reversed(unique.values())]
        write_text(stage / "items.jsonl", "\n".join(lines) + "\n")
    return read_exam(folder), left


def _settings(source: Path) -> str:
    text = (EXAMPLE / FILE).read_text(encoding="utf-8").replace('items = "items.csv"', 'items = "items.jsonl"')
    text = text.replace('title = "Everyday reasoning"', f"title = {json.dumps(source.stem)}")
    start, end = text.index("[[sections]]"), text.index("[[questions]]")
    lines = [line for line in (text[:start] + text[end:]).splitlines() if not line.startswith("items_per_person")]
    return "\n".join(lines) + "\n"
