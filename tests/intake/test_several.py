"""Scores from several files: which files a folder or a pattern means, and rows under one numbering."""

import pytest

from mensura.core.errors import EvidenceError, Fault, MensuraError
from mensura.intake.names import KnownNames
from mensura.intake.several import find_sources, read_written

KNOWN = {"model": KnownNames([("a", "A"), ("b", "B")]), "benchmark": KnownNames([("t", "T"), ("u", "U")])}


def write(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["model,benchmark,score", *rows]), encoding="utf-8")
    return path


def test_a_folder_means_its_tables_without_descriptions_and_of_a_helm_run_its_totals(tmp_path):
    one, two = write(tmp_path / "one.csv", "a,t,1"), write(tmp_path / "deep" / "two.tsv", "a,t,1")
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    for name in ("run_spec.json", "stats.json", "per_instance.json"):
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_text("{}", encoding="utf-8")
    files, searched = find_sources([tmp_path])
    assert (set(files), searched) == ({one, two, tmp_path / "run" / "stats.json"}, True)
    assert find_sources([one, str(one)]) == ([one], False)
    assert find_sources([str(tmp_path / "*.csv")]) == ([one], True)


def test_nothing_to_read_is_said(tmp_path):
    with pytest.raises(MensuraError, match=r"x-\*\.csv: matches no file"):
        find_sources([str(tmp_path / "x-*.csv")])
    with pytest.raises(MensuraError, match="no file of scores in this folder"):
        find_sources([tmp_path])


def test_rows_of_all_files_are_numbered_through_and_faults_lead_back(tmp_path):
    one = write(tmp_path / "one.csv", "a,t,0.5", "b,t,0.6")
    two = write(tmp_path / "two.csv", "a,u,0.7")
    read = read_written([one, two], KNOWN)
    assert [(entry.subject, entry.row) for entry in read.entries] == [("a", 1), ("b", 2), ("a", 3)]
    assert read.name == "2 files"
    located = read.locate(EvidenceError([Fault("scores", 3, "score", "0.7", "less")])).faults[0]
    assert (located.file, located.row) == (read.places[2][0], 2)
    assert located.file.endswith("two.csv")


def test_a_file_without_scores_is_left_out_where_it_was_looked_for_and_refused_where_it_was_named(tmp_path):
    write(tmp_path / "one.csv", "a,t,0.5")
    bad = write(tmp_path / "two.csv", "a,t,")
    assert read_written([tmp_path], KNOWN).left_out[0].startswith("left out 1 file: ")
    with pytest.raises(MensuraError, match="no row has a model, a benchmark and a score"):
        read_written([tmp_path / "one.csv", bad], KNOWN)
    (tmp_path / "one.csv").unlink()
    with pytest.raises(MensuraError, match="no row has a model, a benchmark and a score"):
        read_written([tmp_path], KNOWN)


def test_a_wide_table_is_named_as_what_it_is(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("model,t,u\na,0.5,0.6\n", encoding="utf-8")
    assert read_written(path, KNOWN).notes[0] == "one row per model, one column per benchmark"
