"""Read test items in the layouts that benchmarks use: one question, its options, its key.

A file says where its questions, options and keys are by the names of its columns. Where these names are unknown, the
user maps fields to columns: ``text=question_stem,key=answerKey,options=choices.text``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError, listed_names
from mensura.intake import item_keys
from mensura.intake.columns import NAMES, find_columns, parse_map
from mensura.intake.packed import suffix_of
from mensura.intake.records import JSON_FILES, SourceRecord, read_archive, read_json, simple_name
from mensura.intake.statistics import SPREADSHEETS, read_spreadsheet
from mensura.intake.tables import as_frame, read_noted
from mensura.intake.text import plain_cell, refuse_twice

FIELDS: Mapping[str, Sequence[str]] = NAMES["items"]
"""Columns by meaning, in simple spelling; the first that a file has counts."""
_NUMBERED = re.compile(r"^(?:option|choice|opt?|sol|ending|ans(?:wer)?)?_?(?:([a-j])|(\d{1,2}))$")
_WRONG = re.compile(r"^(?:best_)?(?:incorrect|wrong)_(?:answer|option|choice)s?(?:_?\d+)?$|^distractors?(?:_?\d+)?$")
_NAMES = {name for names in FIELDS.values() for name in names}
_SEVERAL = ("questions", "qas", "qa_pairs", "paragraphs")
"""What a record calls its questions where it has several about one passage."""
_NUMBERS_OPTIONS = re.compile(r"label|idx|index|letter")
_ROW, _JOINED = "\0row", "\0options"
_NUMBER_ROWS = "row"
"""What ``--map item=`` takes where the ids of a file are no use."""
_HIGHEST = 10
"""Rows among which the row of titles is looked for."""
_FEWEST = 5
"""Items from which it is worth a note that the right option always comes first."""


@dataclass(frozen=True)
class TestItem:
    """One item as it was read.

    ``keys``: the right answers in words: texts of options, or the accepted answers of an open item. ``right``: places
    of the right options. ``rest``: what else its row holds. ``place``: where it stands, for messages.
    """

    place: str
    item: str
    text: str
    context: str
    options: tuple[str, ...]
    keys: tuple[str, ...]
    right: tuple[int, ...]
    domain: str
    rest: Mapping[str, Any]

    __test__ = False


@dataclass(frozen=True)
class ItemFile:
    """The items of one source, the choices that the reader made, and the titles of the columns."""

    name: str
    items: tuple[TestItem, ...]
    notes: tuple[str, ...]
    titles: tuple[str, ...] = ()


def read_items(source: Any, *, columns: str | None = None) -> ItemFile:
    """Read the items of a file, a folder of JSON files, or a table of any library.

    Parameters
    ----------
    source
        CSV, JSON, JSON lines, Parquet, Excel and others (:func:`mensura.intake.read_records`), evaluation logs too.
    columns
        Fields and their columns where names alone do not say it, such as ``text=question_stem,key=answer:1``.
        ``options=x+y`` joins columns, and ``item=row`` numbers the rows.

    Returns
    -------
    ItemFile
        The items in the order of the file, and notes on how keys were read.

    Raises
    ------
    MensuraError
        If no column holds the questions, or a mapped column is missing.

    """
    mapped = parse_map(columns, FIELDS, "text=question_stem,key=answerKey")
    key, _, first = mapped.get("key", "").rpartition(":")
    counted_from = int(first) if key and first in ("0", "1") else None
    if counted_from is not None:
        mapped["key"] = key
    name, records = read_records(source, titles=_NAMES)
    records = [part for record in records for part in _each_question(_lifted(record))]
    if not records:
        raise MensuraError(f"{name}: no items; expected one row or JSON object per item")
    titles = list(dict.fromkeys(title for record in records for title in record.cells))
    parts = [part.strip() for part in mapped.get("options", "").split("+")]
    if len(parts) > 1 and mapped["options"] not in titles:
        for part in parts:
            find_columns(titles, {"options": ()}, {"options": part}, name)
        records = [
            replace(one, cells={**one.cells, _JOINED: [one.cells.get(part) for part in parts]}) for one in records
        ]
        titles, mapped["options"] = [*titles, _JOINED], _JOINED
    fields = FIELDS
    if mapped.get("item") == _NUMBER_ROWS and _NUMBER_ROWS not in titles:
        fields = {**FIELDS, "item": ()}
        del mapped["item"]
    filled = {title for record in records for title, cell in record.cells.items() if cell not in (None, "")}
    empty = [title for title in titles if simple_name(title) in FIELDS["key"] and title not in filled and not mapped]
    chosen = find_columns([title for title in titles if title not in empty], fields, mapped, name)
    if chosen["key"] is None and simple_name(chosen["options"] or "") == "answers":  # of open questions
        chosen |= {"key": chosen["options"], "options": None}
    simple = {simple_name(title): title for title in titles}
    if chosen["key"] is None and "b" not in simple:  # a table of Q and A
        chosen["key"] = simple.get("a")
    if chosen["text"] is None and chosen["item"] is None:
        raise MensuraError(
            f"{name}: no column holds the questions; it has {listed_names(titles)}. Say which: "
            "--map text=COLUMN,key=COLUMN,options=COLUMN"
        )
    raws = [_raw_item(record, chosen) for record in records]
    notes = _option_notes(raws)
    ids = [
        item_keys.cell_words(_at(record.cells, chosen["item"])) if chosen["item"] else str(row)
        for row, record in enumerate(records, start=1)
    ]
    if chosen["key"] is not None and simple_name(chosen["key"]) == "key":  # Mensura's own tables separate several keys
        raws = [replace(raw, key=item_keys.separate_keys(raw.key)) for raw in raws]
    keys, key_notes = item_keys.resolve_keys(raws, counted_from)
    numbered = _NUMBERS_OPTIONS.search(simple_name(chosen["key"] or "")) and "key" not in mapped
    if numbered and all(not options and len("".join(words)) == 1 for options, words, _ in keys):
        raise MensuraError(
            f"{name}, {chosen['key']}: the keys are numbers or letters, and no column holds the options; expected the "
            "options, or answers in words. Name their columns: --map options=FIRST+SECOND"
        )
    items = tuple(
        TestItem(
            raw.place,
            number,
            raw.text,
            item_keys.cell_words(_at(raw.cells, chosen["context"])),
            options,
            words,
            right,
            item_keys.cell_words(_at(raw.cells, chosen["domain"])),
            {title: raw.cells.get(title) for title in titles if title not in chosen.values()},
        )
        for raw, number, (options, words, right) in zip(raws, ids, keys, strict=True)
    )
    return ItemFile(name, items, (*notes, *key_notes, *_order_notes(items)), tuple(titles))


def _lifted(record: SourceRecord) -> SourceRecord:
    """Lift ``question.stem`` and ``doc.question`` to columns of their own, the parts of a question among them."""
    cells = dict(record.cells)
    for title, inner in record.cells.items():
        if isinstance(inner, Mapping) and simple_name(title) not in _NAMES and _simple(inner) & set(FIELDS["text"]):
            own: dict[str, Any] = {name: cells[name] for name in ("doc_id", "target") if name in cells}
            cells = {**cells, **inner, **own}
            del cells[title]
    question = cells.get("question")
    if isinstance(question, Mapping):
        del cells["question"]
        cells |= {f"question.{title}": cell for title, cell in question.items()}
    return replace(record, cells=cells)


def _simple(titles: Iterable[str]) -> set[str]:
    return set(map(simple_name, titles))


def _each_question(record: SourceRecord) -> Iterator[SourceRecord]:
    """Yield a record for each question of a passage: an object each, or lists of questions, options and answers."""
    cells = dict(record.cells)
    title = next((title for title in _SEVERAL if isinstance(cells.get(title), list) and cells[title]), None)
    if title is None:
        yield record
        return
    parts = cells.pop(title)
    lists = [name for name, cell in cells.items() if isinstance(cell, list) and len(cell) == len(parts)]
    name = next((name for name in cells if simple_name(name) in FIELDS["item"]), None)
    for place, part in enumerate(parts):
        number = {} if name is None else {name: f"{cells[name]}-{place + 1}"}
        own = part if isinstance(part, Mapping) else {"question": part}
        yield from _each_question(
            replace(record, cells={**cells, **{one: cells[one][place] for one in lists}, **number, **own})
        )


def _at(cells: Mapping[str, Any], path: str | None) -> Any:
    """Return the cell at a column, or at a dotted path inside one; a path through a list takes that part of each."""
    if path is None or path in cells:
        return cells.get(path or "")
    value: Any = cells
    for part in path.split("."):
        if isinstance(value, list):
            value = [one.get(part) if isinstance(one, Mapping) else None for one in value]
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _raw_item(record: SourceRecord, chosen: Mapping[str, str | None]) -> item_keys.RawItem:
    cells = record.cells
    asked, cell, key = (_at(cells, chosen[field]) for field in ("text", "options", "key"))
    text = item_keys.cell_words(asked)
    if not text:  # a file may have an instruction in some rows and an input in others
        text = next(filter(None, (item_keys.cell_words(cells.get(name)) for name in FIELDS["text"])), "")
    if not item_keys.cell_words(key) and isinstance(asked, list):
        key = next((words for who, words in reversed(item_keys.turns(asked)) if who in ("assistant", "gpt")), key)
    options, labels = item_keys.option_list(cell)
    if not options and item_keys.marked_options(key):
        options, cell = item_keys.option_list(key)[0], key
    if isinstance(cell, list) and key in cell:  # 3 among 1, 2, 3 and 4 is a text, and no place
        key = str(key)
    if len(options) == 1:
        parts = tuple(part.strip() for part in options[0].split(","))
        if item_keys.cell_words(key) in (*parts, *item_keys.LETTERS[: len(parts)]):
            options = parts
    first_is_one = bool(labels) and re.fullmatch(r"\D+1", labels[0]) is not None
    if not options:
        options, key, first_is_one = _from_columns(cells, key)
    marked = item_keys.marked_options(cell)
    if marked and (not item_keys.cell_words(key) or cell is key):
        key = marked
    if not options and not isinstance(key, bool):
        text, labels, options = item_keys.options_in_text(text, item_keys.cell_words(key))
    if not options and chosen["key"] is not None and simple_name(chosen["key"]) == "solution":
        key = item_keys.boxed_answer(item_keys.cell_words(key))
    return item_keys.RawItem(record.place, cells, text, options, labels, key, first_is_one)


def _from_columns(cells: Mapping[str, Any], key: Any) -> tuple[tuple[str, ...], Any, bool]:
    """Return options that have a column each, the key, and whether these columns count from 1.

    Columns A, B, C or option1, option2, …; or the right answer's column beside columns of wrong ones.
    """
    simple = {simple_name(title): title for title in cells}
    wrong = [title for name, title in simple.items() if _WRONG.match(name)]
    single = [title for title in wrong if not simple_name(title).endswith("s")]
    if wrong and item_keys.cell_words(key):
        texts = [item_keys.cell_words(cells[title]) for title in single]
        if not single:
            texts = [text for title in wrong for text in item_keys.option_list(cells[title])[0]]
        return (item_keys.cell_words(key), *(text for text in texts if text)), key, False
    numbered = {match: title for name, title in simple.items() if (match := _NUMBERED.match(name))}
    if len(numbered) < 2:
        return (), key, False
    ordered = sorted(numbered, key=lambda match: (match[1] or "", int(match[2] or 0)))
    options = [item_keys.cell_words(cells[numbered[match]]) for match in ordered]
    named = {match[0]: text for match, text in zip(ordered, options, strict=True) if len(match[0]) > 1}
    key = named.get(simple_name(str(key)), key)
    while options and not options[-1]:
        options.pop()
    return tuple(options), key, ordered[0][0].startswith(("opt", "choice")) and ordered[0][2] == "1"


def _option_notes(raws: Sequence[item_keys.RawItem]) -> list[str]:
    sizes = sorted({len(raw.options) for raw in raws if raw.options})
    if len(sizes) < 2:
        return []
    counts = ", ".join(f"{sum(len(raw.options) == size for raw in raws)} with {size}" for size in sizes)
    return [f"items differ in their number of options: {counts}; check that none was split or joined"]


def _order_notes(items: Iterable[TestItem]) -> list[str]:
    chosen = [item for item in items if len(item.options) > 1 and item.right]
    if len(chosen) >= _FEWEST and all(item.right == (0,) for item in chosen):
        return ["the right option comes first in every item: shuffle the options before anybody sees them"]
    return []


def read_records(source: Any, *, titles: Iterable[str] = ()) -> tuple[str, list[SourceRecord]]:
    """Return the name of a source and its records.

    Parameters
    ----------
    source
        A file (any table that :func:`mensura.intake.read_table` reads, JSON, JSON lines, an Inspect log), a folder of
        JSON files with one record each, a list of mappings, or a table of any library.
    titles
        Titles in simple spelling. A CSV whose first row has none of them, and whose columns all but the last are no
        titles, has no header: its columns are V1, V2, ….

    """
    if isinstance(source, list) and all(isinstance(cells, Mapping) for cells in source):
        return "items", [SourceRecord(f"items {row}", cells) for row, cells in enumerate(source, start=1)]
    if not isinstance(source, str | Path):
        frame = as_frame(source, name="items")
        return "items", [
            SourceRecord(f"row {row}", cells) for row, cells in enumerate(frame.iter_rows(named=True), start=1)
        ]
    path = Path(source)
    if path.is_dir():
        files = sorted(path.rglob("*.json"))
        if not files:
            raise MensuraError(f"{path}: no JSON file in this folder; give a file, or a folder with one per item")
        return path.name, [record for file in files for record in read_json(file, str(file.relative_to(path)))]
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the name and the folder")
    suffix = suffix_of(path)
    if suffix in JSON_FILES:
        records = read_json(path)
    elif suffix == ".eval":
        records = read_archive(path)
    else:
        records = _from_table(path, set(titles))
    return path.name, _with_labels(records, path)


def _from_table(path: Path, wanted_titles: set[str]) -> list[SourceRecord]:
    """Read a table; a CSV may lack the row of titles, as that of MMLU does, and a title may stand above the titles."""
    text, sheets = suffix_of(path) in (".csv", ".tsv", ".txt"), suffix_of(path) in SPREADSHEETS
    if sheets:
        frame = read_spreadsheet(path, titles=wanted_titles)
        rows, cells = list(range(1, frame.height + 2)), [tuple(frame.columns), *frame.rows()]
    else:
        frame = read_noted(path, infer=False, header=not text, row=_ROW).frame
        rows, cells = frame[_ROW].to_list(), frame.drop(_ROW).rows()
    if not text and not sheets:
        return [
            SourceRecord(f"{path.name}, row {row}", one)
            for row, one in zip(rows, frame.drop(_ROW).iter_rows(named=True), strict=True)
        ]
    start = next((at for at, row in enumerate(cells[:_HIGHEST]) if len(list(filter(None, _words(row)))) > 1), 0)
    first = _words(cells[start])
    width = len(first) - 2  # in such a file every row ends in the letter of one of the cells before it
    ends_in_letters = width > 1 and all(row[-1] in tuple("ABCDEFGHIJ"[:width]) for row in cells)
    if wanted_titles and ends_in_letters and not wanted_titles & set(map(simple_name, first)):
        titles = ["question", *"ABCDEFGHIJ"[:width], "answer"]
    else:
        refuse_twice(first, str(path))
        titles, start = [title or f"column {place}" for place, title in enumerate(first, start=1)], start + 1
    return [
        SourceRecord(
            f"{path.name}, row {row}",
            {
                title: plain_cell(cell) if isinstance(cell, str) else cell
                for title, cell in zip(titles, values, strict=True)
            },
        )
        for row, values in zip(rows[start:], cells[start:], strict=True)
    ]


def _words(row: Iterable[Any]) -> list[str]:
    """Return the cells of a row of titles; those that a spreadsheet leaves empty have no name."""
    return ["" if cell is None or str(cell).startswith("__UNNAMED__") else str(cell).strip() for cell in row]


def _with_labels(records: list[SourceRecord], path: Path) -> list[SourceRecord]:
    """Add the keys that a file beside it lists line by line: ``valid-labels.lst`` for ``valid.jsonl``."""
    beside = path.with_name(f"{path.name.partition('.')[0]}-labels.lst")
    if not beside.is_file() or any("label" in record.cells or "answer" in record.cells for record in records):
        return records
    labels = [line.strip() for line in beside.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(labels) != len(records):
        raise MensuraError(f"{beside}: {len(labels)} labels for {len(records)} items of {path.name}; expected one each")
    return [
        SourceRecord(record.place, {**record.cells, "label": int(label) if label.isdigit() else label})
        for record, label in zip(records, labels, strict=True)
    ]
