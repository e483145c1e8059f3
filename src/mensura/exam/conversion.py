"""Make an exam from what exists: a pool of items, an Inspect log, samples of lm-evaluation-harness; and copy one."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.core.files import write_text
from mensura.core.folders import whole_folder
from mensura.exam.file import FILE, Exam, read_exam
from mensura.exam.items import LETTERS, parse_rows
from mensura.intake.packed import read_member
from mensura.people.tidy import read_tables

WRITER = "exam new"
EXAMPLE = Path(__file__).parent / "example"
_MOST = 256 * 2**20
_QUESTIONS = ("question", "query", "problem", "prompt", "text", "input")


def new_exam(folder: Path) -> Exam:
    """Write the example into a folder, to start from."""
    with whole_folder(folder, WRITER, certain=[FILE, "items.csv"]) as stage:
        for name in (FILE, "items.csv"):
            shutil.copyfile(EXAMPLE / name, stage / name)
    return read_exam(folder)


def exam_from(source: Path, folder: Path) -> tuple[Exam, list[str]]:
    """Write an exam whose items come from a pool's folder, an Inspect log or harness samples; return what was left out.

    Texts, options and keys are taken as they are. Consent, instructions and rules are those of the example: edit them.
    """
    rows = list(_rows(source))
    usable, left = [], []
    for place, row in rows:
        found, faults = parse_rows([(place, row)])
        usable += [item.model_dump(exclude_defaults=True, mode="json") for item in found]
        left += faults
    if not usable:
        raise MensuraError(f"{source}: no item with a text and a key; expected a pool with texts, or an evaluation log")
    twice = [row["item"] for row in usable]
    left += [
        f"item {name}: there twice; the first is kept"
        for name in sorted({name for name in twice if twice.count(name) > 1})
    ]
    unique = {row["item"]: row for row in reversed(usable)}
    settings = _settings(source)
    with whole_folder(folder, WRITER, certain=[FILE, "items.jsonl"]) as stage:
        write_text(stage / FILE, settings)
        lines = [json.dumps(unique[name], ensure_ascii=False) for name in dict.fromkeys(twice)]
        write_text(stage / "items.jsonl", "\n".join(lines) + "\n")
    return read_exam(folder), left


def _settings(source: Path) -> str:
    text = (EXAMPLE / FILE).read_text(encoding="utf-8").replace('items = "items.csv"', 'items = "items.jsonl"')
    text = text.replace('title = "Everyday reasoning"', f"title = {json.dumps(source.stem)}")
    start, end = text.index("[[sections]]"), text.index("[[questions]]")
    lines = [line for line in (text[:start] + text[end:]).splitlines() if not line.startswith("items_per_person")]
    return "\n".join(lines) + "\n"


def _rows(source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if source.is_dir():
        yield from _of_pool(source)
    elif source.suffix == ".eval":
        yield from _of_inspect(source)
    elif source.suffix == ".jsonl":
        yield from _of_harness(source)
    else:
        raise MensuraError(
            f"{source}: unknown kind; expected a pool's folder, an Inspect .eval or harness samples .jsonl"
        )


def _of_pool(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in read_tables(folder).items.to_dicts():
        keys = {"text": row.get("text"), "options": row.get("options"), "key": row.get("answer")}
        yield f"item {row['item']}", {"item": _name(row["item"]), **keys, "domain": row.get("domain")}


def _of_inspect(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.startswith("samples/") and name.endswith("_epoch_1.json"):
                    yield _sample(json.loads(read_member(archive, name, _MOST)), name)
    except (zipfile.BadZipFile, ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not an Inspect log ({fault}); check that the evaluation was finished") from fault


def _sample(sample: Mapping[str, Any], place: str) -> tuple[str, dict[str, Any]]:
    given = sample.get("input")
    if isinstance(given, list):
        texts = [
            str(part.get("content", "")) for part in given if isinstance(part, Mapping) and part.get("role") == "user"
        ]
        given = "\n\n".join(texts)
    target = sample.get("target")
    key = [str(one) for one in target] if isinstance(target, list) else [str(target or "")]
    options = sample.get("choices") or []
    return place, {"item": _name(sample.get("id")), "text": given, "options": list(options), "key": key}


def _of_harness(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            sample = json.loads(line)
            doc = sample.get("doc") or {}
        except (ValueError, AttributeError) as fault:
            raise MensuraError(f"{place}: not JSON ({fault}); write the log again") from fault
        options = _options(doc)
        text = next((doc[name] for name in _QUESTIONS if isinstance(doc.get(name), str)), None)
        key = _key(sample.get("target"), options)
        yield place, {"item": _name(sample.get("doc_id")), "text": text, "options": options, "key": key}


def _options(doc: Mapping[str, Any]) -> list[str]:
    found = doc.get("choices") or doc.get("options") or []
    found = found.get("text", []) if isinstance(found, Mapping) else found
    return [str(option) for option in found] if isinstance(found, list) else []


def _key(target: object, options: list[str]) -> list[str]:
    """Return the key; of options the harness gives the number of the right one, counted from 0."""
    if options and str(target).isdigit() and int(str(target)) < len(options):
        return [LETTERS[int(str(target)) % len(LETTERS)]]
    return [str(target)] if target not in (None, "") else []


def _name(raw: object) -> str:
    """Return an item's name that may stand in files and addresses."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "_.-") else "-" for char in str(raw))
    return kept.lstrip("-_.")[:60] or "item"
