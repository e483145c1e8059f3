"""Evidence of one's own: five-line additions, folders, stores, imports."""

from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.evidence import EvidenceError, load, read_calibration
from mensura.ledger import init_ledger

FIVE_LINES = """\
subject,released,benchmark,score,unit
my-model,2026-11-01,gpqa_diamond,81.5,percent
my-model,2026-11-01,hle,0.21,fraction
my-model,2026-11-01,my-test,0.4,fraction
claude-opus-4.8,,my-test,0.6,fraction
"""


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(FIVE_LINES)
    return file


def test_five_lines_add_a_model_and_a_benchmark(mine):
    evidence = load().add(mine)
    assert evidence.models.height == load().models.height + 1
    assert evidence.benchmarks["benchmark"][-1] == "my-test"
    added = evidence.primary_scores.filter(source="user")
    assert added["score"].to_list() == [81.5, 21.0, 0.4, 0.6]  # in the units of the benchmarks


def test_an_added_score_becomes_the_primary_one(tmp_path):
    file = tmp_path / "again.csv"
    file.write_text("subject,benchmark,score\nclaude-opus-4.8,hle,50\n")
    evidence = load().add(file)
    pair = evidence.scores.filter(subject="claude-opus-4.8", benchmark="hle")
    assert pair.filter("primary")["score"].to_list() == [50.0]
    assert pair.height > 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("subject,benchmark\nm,hle\n", "expected columns model, benchmark, score"),
        ("subject,benchmark,score,prize\nm,hle,1,2\n", "unknown column 'prize'"),
        (
            "subject,benchmark,score\nnew,hle,1\n",
            r"mine.csv, row 2, column model: .*needs its release date \(--released, or a column released\)",
        ),
        ("subject,released,benchmark,score\nnew,2026-01-01,odd,1\n", r"mine.csv, row 2, column benchmark: .*new needs"),
        ("subject,benchmark,score\ngpt-5.5,hle,1\ngpt-5.5,hle,140\n", r"mine.csv, row 3, column score: got '140'"),
    ],
)
def test_faults_name_the_row_of_the_added_file(tmp_path, text, message):
    file = tmp_path / "mine.csv"
    file.write_text(text)
    with pytest.raises(mensura.MensuraError, match=message):
        load().add(file)


def test_what_a_new_model_and_benchmark_are_when_the_file_does_not_say(mine):
    evidence = load().add(mine)
    model = evidence.models.row(-1, named=True)
    assert (model["name"], model["provider"], model["reasoning"]) == ("my-model", "user", False)
    benchmark = evidence.benchmarks.row(-1, named=True)
    assert (benchmark["name"], benchmark["kind"], benchmark["in_composite"]) == ("my-test", "tracked", False)
    source = evidence.sources.row(-1, named=True)
    assert (source["source"], source["name"], source["kind"]) == ("user", "user", "user")
    assert evidence.origin == "embedded + mine.csv"


def test_what_is_assumed_of_a_new_model_is_said(mine, tmp_path):
    """Reasoning and tier decide who counts as alike, so a guess is told wherever the evidence goes."""
    evidence = load().add(mine)
    [said] = evidence.warnings
    assert said.startswith("mine.csv: my-model is new; assumed reasoning = no")
    assert "tier = 0 (a flagship)" in said
    assert said.endswith("say otherwise in the columns reasoning, tier, provider, predecessor")
    assert said in mensura.score_iq(evidence, method="published").warnings
    file = tmp_path / "told.csv"
    file.write_text(
        "subject,released,benchmark,score,reasoning,tier,provider,predecessor\n"
        "a,2026-11-01,hle,20,yes,-1,Acme,gpt-5.5\nb,2026-11-01,hle,20,yes,,Acme,gpt-5.5\nc,2026-11-01,hle,9,no,,Acme,a\n"
    )
    told = evidence.add(file)
    assert told.warnings == (
        said,
        "told.csv: b, c are new; assumed tier = 0 (a flagship); say otherwise in the column tier",
    )
    assert told.models.filter(subject="a")["tier"].to_list() == [-1]
    assert load().warnings == ()


def test_what_the_file_says_of_a_new_model_is_kept(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(
        "subject,benchmark,score,unit,source,released,provider,reasoning,input_price,output_price,predecessor,dimension\n"
        "m,hle,30,percent,lab,2026-03-01,Acme,yes,3,15,gpt-5.5,\n"
        "m,own,0.5,fraction,,2026-03-01,Acme,yes,3,15,gpt-5.5,reliability\n"
    )
    evidence = load().add(file)
    model = evidence.models.row(-1, named=True)
    assert (model["provider"], model["reasoning"], model["predecessor"]) == ("Acme", True, "gpt-5.5")
    assert (model["input_price"], model["output_price"]) == (3.0, 15.0)
    assert evidence.benchmarks.row(-1, named=True)["dimension"] == "reliability"
    assert evidence.sources["source"].to_list()[-2:] == ["lab", "user"]
    assert evidence.scores.tail(2)["source"].to_list() == ["lab", "user"]


def test_faults_name_the_row_in_the_file_it_stands_in(tmp_path):
    """The third given model is at fault as well: its row counts in the given table, the added one in its own file."""
    price = pl.when(pl.col("subject") == load().models["subject"][2]).then(-1.0).otherwise("input_price")
    given = replace(load(), models=load().models.with_columns(input_price=price))
    file = tmp_path / "mine.csv"
    file.write_text("subject,benchmark,score\ngpt-5.5,hle,30\nclaude-opus-4.8,hle,140\n")
    with pytest.raises(EvidenceError) as refusal:
        given.add(file)
    found = [(fault.file, fault.row, fault.column) for fault in refusal.value.faults]
    assert ("models of embedded", 4, "input_price") in found
    assert (str(file), 3, "score") in found
    assert len(found) == 2


def test_a_folder_is_written_as_a_set(tmp_path, mine):
    """A second writing replaces the first; a file of the user's own stays, and is never written over."""
    folder = tmp_path / "evidence"
    load().save(folder)
    (folder / "notes.txt").write_text("mine")
    load().add(mine).save(folder)
    assert load(folder).models["subject"][-1] == "my-model"
    assert (folder / "notes.txt").read_text() == "mine"
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "scores.csv").write_text("subject,benchmark,score\n")
    with pytest.raises(mensura.MensuraError, match=r"scores\.csv: exists and was not written by mensura"):
        load().save(tmp_path / "own")
    assert sorted(file.name for file in (tmp_path / "own").iterdir()) == ["scores.csv"]


def test_a_store_may_have_any_name_a_file_may_have(tmp_path):
    file = tmp_path / "what? #1 100%.db"
    init_ledger(file, by="Ann", when=datetime(2026, 11, 18, tzinfo=UTC))
    assert load(file).scores.height == load().scores.height


def test_saved_evidence_loads_as_it_was(tmp_path, mine):
    evidence = load().add(mine)
    evidence.save(tmp_path / "folder")
    again = load(tmp_path / "folder")
    assert all(getattr(again, table).equals(getattr(evidence, table)) for table in evidence.TABLES)


def test_a_folder_of_three_tables_is_enough(tmp_path):
    (tmp_path / "models.csv").write_text("subject,name,provider,released,reasoning\nm,M,Me,2026-01-01,yes\n")
    (tmp_path / "benchmarks.csv").write_text(
        "benchmark,name,kind,unit,in_composite\nhle,HLE,frontier,percent,yes\nown,Own,tracked,elo,no\n"
    )
    (tmp_path / "scores.csv").write_text(
        "subject,benchmark,score,unit,source\nm,hle,0.4,fraction,aiiq\nm,own,1200,elo,aiiq\n"
    )
    evidence = load(tmp_path)
    assert evidence.primary_scores["score"].to_list() == [40.0, 1200.0]
    assert evidence.ladders["benchmark"].to_list() == ["hle"]
    assert evidence.costs.is_empty()
    assert evidence.bases.height == 9


def test_a_store_that_is_no_store(tmp_path):
    file = tmp_path / "x.sqlite"
    file.write_text("not a database, whatever its name says")
    with pytest.raises(mensura.MensuraError, match="not an evidence store"):
        load(file)


def test_calibration_of_ones_own(tmp_path):
    file = tmp_path / "bases.csv"
    file.write_text("dimension,slope,intercept\nmemory,0.9,0.1\n")
    assert read_calibration(file)["memory"].base == pytest.approx(10**0.9)
    file.write_text("dimension,slope,intercept\nmemory,much,0.1\n")
    with pytest.raises(mensura.MensuraError, match="column slope: got 'much'; expected a number"):
        read_calibration(file)


def test_evidence_saved_under_the_name_of_a_store_is_refused_with_the_command_that_makes_one(tmp_path):
    with pytest.raises(MensuraError, match=r"expected a folder.*mensura evidence init --from FOLDER --store .*mine.db"):
        load().save(tmp_path / "mine.db")
    assert not (tmp_path / "mine.db").exists()
