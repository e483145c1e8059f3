"""Ids: what may be a key, what is refused and where it is said, and the names of pages and files."""

import re
import shutil
import sqlite3
import unicodedata
from contextlib import closing
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given, strategies as st

import mensura
from mensura.evidence import EMBEDDED, TABLES, EvidenceError, load, require_id, slug
from mensura.evidence.checks import LONGEST, MARKS, id_fault
from mensura.ledger import init_ledger

letters = st.characters(categories=("L", "M", "N"))
names = st.text(st.one_of(st.sampled_from("aAbB1 ._-+:/()[],@="), letters), min_size=1, max_size=12).map(
    lambda text: unicodedata.normalize("NFC", text)
)
ids = names.filter(lambda text: id_fault(text) is None)

SENSIBLE = [
    "gpt-5 [high]",
    "meta-llama/Llama-3",
    "Qwen2.5 72B (FP8)",
    "文心一言 4.5",
    "Ерш-2",
    "हिन्दी",
    "claude-3@20240229",
    "o1+tools",
    "R1, distilled",
    "effort=high",
    "vendor:model",
    "Connor",
    "nullable",
    "a",
    "x" * LONGEST,
]
REFUSED = {
    "": "this has 0",
    "x" * (LONGEST + 1): f"this has {LONGEST + 1}",
    "../../evil": "beginning with a letter or digit",
    "a/../../evil": "begins with no dot",
    "a/./b": "begins with no dot",
    "a/.b": "begins with no dot",
    "a//b": "begins with no dot",
    "a/ /b": "begins with no dot",
    "/etc/passwd": "beginning with a letter or digit",
    ".hidden": "beginning with a letter or digit",
    "-rf": "beginning with a letter or digit",
    "a\\b": "without U+005C",
    "a\0b": "without U+0000",
    "a\nb": "without U+000A",
    "a\x1b[31m": "without U+001B",
    "<script>": "without U+003C",
    "a&b": "without U+0026",
    'a"b': "without U+0022",
    "a|b": "without U+007C",
    "a~b": "without U+007E",
    "a#b": "without U+0023",
    "a%2e": "without U+0025",
    "a\u202eb": "without U+202E",
    "a\u200bb": "without U+200B",
    "e\u0301clair": "NFC",
    "a ": "at its end",
    "a.": "at its end",
    "a/": "at its end",
    "a  b": "at its end",
    "NUL": "keeps for itself",
    "con.txt": "keeps for itself",
    "COM¹": "keeps for itself",
    "lpt0": "keeps for itself",
}


@pytest.mark.parametrize("name", SENSIBLE)
def test_sensible_names_are_ids(name):
    assert require_id(name, "subject") == name


@pytest.mark.parametrize("name", REFUSED)
def test_anything_a_path_a_terminal_or_a_page_could_misread_is_refused_with_the_reason(name):
    with pytest.raises(mensura.MensuraError) as refusal:
        require_id(name, "subject")
    assert str(refusal.value).startswith(f"subject: got {name[:LONGEST]!r}; expected an id: at most 100 letters")
    assert REFUSED[name] in str(refusal.value)


def test_every_id_of_the_embedded_evidence_may_stand_and_plain_ones_are_their_own_address():
    evidence = load()
    for table in TABLES.values():
        for column in table.columns:
            if column.kind == "id":
                values = getattr(evidence, table.name)[column.name].drop_nulls().unique()
                assert [value for value in values if id_fault(value)] == []
    assert [slug(subject) for subject in evidence.models["subject"]] == evidence.models["subject"].to_list()
    assert [slug(name) for name in evidence.benchmarks["benchmark"]] == evidence.benchmarks["benchmark"].to_list()


@given(ids, ids)
def test_different_ids_have_different_slugs_whatever_the_file_system_does_with_case(one, other):
    assume(one != other)
    assert slug(one).casefold() != slug(other).casefold()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *[("GPT-4", "gpt-4"), ("a b", "a-b"), ("a/b", "a-b"), ("a_b", "a-b"), ("ａ", "a"), ("é", "e"), ("文", "心")],
        ("x" * 99 + "Y", "x" * 99 + "Z"),
    ],
)
def test_near_ids_have_different_slugs(one, other):
    assert slug(one).casefold() != slug(other).casefold()


@given(st.text())
def test_a_slug_is_one_safe_file_name_whatever_it_is_made_of(text):
    name = slug(text)
    assert re.fullmatch(r"[a-z0-9][a-z0-9._~-]*", name)
    assert len(name) <= 100
    assert name[-1] != "."
    assert name.split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


def test_a_slug_can_be_read_and_does_not_change_between_versions():
    assert slug("Qwen2.5 72B (FP8)") == "qwen2.5-72b-fp8~b1b493ae683989e73d6c5c3c58797690"
    assert slug("文心一言").startswith("id~")
    assert slug("W" * 90).index("~") == 60
    assert slug("aux").startswith("aux~")


@pytest.fixture
def folder(tmp_path):
    """A copy of the embedded evidence."""
    copy = tmp_path / "evidence"
    copy.mkdir()
    for name in TABLES:
        shutil.copy(EMBEDDED / f"{name}.csv", copy)
    return copy


ID_COLUMNS = [(table.name, column.name) for table in TABLES.values() for column in table.columns if column.kind == "id"]


def test_every_key_is_an_id_or_refers_to_one():
    """A key column that is neither would let any text through to file names and anchors."""
    free = {
        f"{table.name}.{name}"
        for table in TABLES.values()
        for name in table.key
        if table.column(name).kind == "text" and not table.column(name).references and not table.column(name).one_of
    }
    assert free == set()


@pytest.mark.parametrize(("table", "column"), ID_COLUMNS)
def test_a_folder_with_a_bad_id_is_refused_with_file_row_and_column(folder, table, column):
    import polars as pl

    file = folder / f"{table}.csv"
    frame = pl.read_csv(file, infer_schema=False)
    cells = frame[column].to_list()
    cells[1] = "../../evil"
    frame.with_columns(pl.Series(column, cells, dtype=pl.String)).write_csv(file)
    with pytest.raises(EvidenceError) as refusal:
        load(folder)
    wanted = (str(file), 3, column, "../../evil")
    [fault] = [one for one in refusal.value.faults if (one.file, one.row, one.column, one.value) == wanted]
    assert fault.expected.startswith(f"an id: at most {LONGEST} letters and digits")
    assert " ".join(MARKS.strip()) in fault.expected


def test_a_store_and_an_addition_with_a_bad_id_are_refused(tmp_path):
    init_ledger(tmp_path / "e.sqlite", by="Ann", when=datetime(2026, 11, 18, tzinfo=UTC))
    with closing(sqlite3.connect(tmp_path / "e.sqlite")) as store, store:
        store.execute("DROP TABLE ledger_entries")  # as stores were written before they had a history
        store.execute("UPDATE models SET subject = '../../evil' WHERE subject = 'gpt-4.1'")
        store.execute("UPDATE scores SET subject = '../../evil' WHERE subject = 'gpt-4.1'")
    with pytest.raises(EvidenceError, match=r"models, row \d+, column subject: got '../../evil'"):
        load(tmp_path / "e.sqlite")
    mine = tmp_path / "mine.csv"
    mine.write_text(
        "subject,released,benchmark,score,unit,source\ngpt-5.5,,hle,10,,\nm,2026-01-01,a\\b,10,percent,c|d\n"
    )
    with pytest.raises(EvidenceError) as refusal:
        load().add(mine)
    found = [(fault.file, fault.row, fault.column, fault.value) for fault in refusal.value.faults]
    assert found == [(str(mine), 3, "benchmark", "a\\b"), (str(mine), 3, "source", "c|d")]


def test_an_id_that_only_case_or_form_tells_from_another_is_refused(tmp_path):
    mine = tmp_path / "mine.csv"
    rows = ["subject,released,provider,benchmark,score", "m,2026-01-01,OPENAI,hle,10", "n,2026-01-01,OPENAI,hle,10"]
    mine.write_text("\n".join(rows) + "\n", encoding="utf-8")
    with pytest.raises(EvidenceError) as refusal:
        load().add(mine)
    found = [(fault.row, fault.column, fault.value, fault.expected.split(",")[0]) for fault in refusal.value.faults]
    assert found == [(2, "provider", "OPENAI", "'OpenAI'")]  # said once, where it stands first


def test_a_model_that_only_case_or_form_tells_from_another_is_that_one(tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,released,benchmark,score\nGPT-5.5,2026-01-01,hle,10\nｏ3,,hle,12\n", encoding="utf-8")
    added = load().add(mine)
    assert added.models.height == load().models.height
    assert added.scores.filter(source="user")["subject"].to_list() == ["gpt-5.5", "o3"]


def test_an_id_of_great_length_does_not_fill_the_screen(tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text(f"subject,released,benchmark,score\n{'x' * 5000},2026-01-01,hle,10\n")
    with pytest.raises(EvidenceError, match=r"\(this has 5000\)") as refusal:
        load().add(mine)
    assert len(str(refusal.value)) < 600
    assert str(refusal.value).startswith("evidence refused, 1 fault; nothing")
