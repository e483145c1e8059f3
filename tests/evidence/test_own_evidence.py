"""Evidence of one's own: five-line additions, folders, stores, imports."""

import pytest

import mensura
from mensura.evidence import add_scores, import_facts, load, read_calibration

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
    evidence = add_scores(load(), mine)
    assert evidence.models.height == load().models.height + 1
    assert evidence.benchmarks["benchmark"][-1] == "my-test"
    added = evidence.primary_scores.filter(source="user")
    assert added["score"].to_list() == [81.5, 21.0, 0.4, 0.6]  # in the units of the benchmarks


def test_an_added_score_becomes_the_primary_one(tmp_path):
    file = tmp_path / "again.csv"
    file.write_text("subject,benchmark,score\nclaude-opus-4.8,hle,50\n")
    evidence = add_scores(load(), file)
    pair = evidence.scores.filter(subject="claude-opus-4.8", benchmark="hle")
    assert pair.filter("primary")["score"].to_list() == [50.0]
    assert pair.height > 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("subject,benchmark\nm,hle\n", "missing column 'score'"),
        ("subject,benchmark,score,prize\nm,hle,1,2\n", "unknown column prize"),
        ("subject,benchmark,score\nnew,hle,1\n", r"mine.csv, row 2, column released: .*not an empty cell"),
        ("subject,released,benchmark,score\nnew,2026-01-01,odd,1\n", r"mine.csv, row 2, column unit: .*not an empty"),
        ("subject,benchmark,score\ngpt-5.5,hle,1\ngpt-5.5,hle,140\n", r"mine.csv, row 3, column score: got '140'"),
    ],
)
def test_faults_name_the_row_of_the_added_file(tmp_path, text, message):
    file = tmp_path / "mine.csv"
    file.write_text(text)
    with pytest.raises(mensura.MensuraError, match=message):
        add_scores(load(), file)


@pytest.mark.parametrize("name", ["folder", "store.sqlite"])
def test_saved_evidence_loads_as_it_was(tmp_path, mine, name):
    evidence = add_scores(load(), mine)
    evidence.save(tmp_path / name)
    again = load(tmp_path / name)
    assert all(getattr(again, table).equals(frame) for table, frame in vars(evidence).items() if table != "origin")


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


def test_import_refuses_an_unknown_way_and_an_incomplete_folder(tmp_path):
    with pytest.raises(mensura.MensuraError, match="via: got hearsay; expected some of lookup"):
        import_facts(tmp_path, via=["hearsay"])
    with pytest.raises(mensura.MensuraError, match=r"models.csv: no such file"):
        import_facts(tmp_path)


@pytest.mark.shared
def test_import_of_collected_facts(shared):
    everything = import_facts(shared / "data/models")
    assert everything.scores.height == 2860
    assert everything.primary_scores.height == 2016
    assert import_facts(shared / "data/models", via=["lookup", "seed"]).scores.equals(load().scores)
