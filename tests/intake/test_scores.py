"""The one door for scores: messy files come out right, what could be two things is asked about, the rest refused."""

import polars as pl
import pytest

import mensura
from mensura.core.errors import NAMES_SHOWN, MensuraError
from mensura.intake.scores import Allowed, NewModel, read_scores_of
from tests.intake.messy import FILES, GPT, OPUS, archive


@pytest.fixture(scope="module")
def known():
    evidence = mensura.load()
    return evidence.names, evidence.benchmarks


def read(source, known, **options):
    return read_scores_of(source, *known, allowed=Allowed(**options))


@pytest.mark.parametrize("messy", FILES, ids=lambda messy: messy.file)
def test_messy_files(messy, known, tmp_path):
    path = tmp_path / messy.file
    path.write_bytes(messy.data)
    if messy.asked or messy.refused:
        with pytest.raises(MensuraError) as refusal:
            read(path, known, **messy.options)
        assert (messy.asked or messy.refused) in str(refusal.value)
        return
    found = read(path, known, **messy.options).scores
    scores = found.with_columns(pl.col("score").cast(pl.Float64)).select("subject", "benchmark", "score", "unit").rows()
    assert scores == list(messy.read)


def test_there_are_forty_of_them():
    assert len({messy.file for messy in FILES}) == len(FILES) >= 40


def test_a_row_of_people_is_left_out_and_led_to_its_place(known):
    """A leaderboard ends with the people's score: they are no model, and no model's release date makes them one."""
    frame = pl.DataFrame({"model": [GPT, "Human experts"], "HLE (%)": [21.5, 90], "Org": ["OpenAI", None]})
    reading = read(frame, known)
    assert reading.scores["subject"].to_list() == [GPT]
    assert reading.dropped.rows() == [(2, "Human experts on HLE", "people, no model")]
    assert any("Human experts" in note and "mensura add --people FILE" in note for note in reading.notes)
    assert reading.scores["provider"].to_list() == ["OpenAI"]


def test_a_cell_without_a_figure_is_named(known):
    frame = pl.DataFrame({"model": [GPT, GPT], "benchmark": ["hle", "gpqa_diamond"], "score": ["n/a", "80%"]})
    reading = read(frame, known)
    assert reading.scores["benchmark"].to_list() == ["gpqa_diamond"]
    assert "left out 1 result, no score: hle" in reading.notes


@pytest.mark.parametrize("test", ["MMLU", "GSM8K"])
def test_scores_on_tests_without_evidence_alone_are_refused_with_advice_that_helps(known, test):
    frame = pl.DataFrame({"model": [GPT], "benchmark": [test], "score": ["90%"]})
    with pytest.raises(MensuraError, match=f"counts for nothing: {test}. Add scores on benchmarks that") as refused:
        read(frame, known)
    assert "--released" not in str(refused.value)


def test_what_was_understood_is_said(known, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("Model;GPQA Diamond;HLE;Rank\nClaude Opus 4.8;70,4;;1\n\nGPT-5.5;;21,5;2\n", encoding="utf-16")
    reading = read(path, known)
    assert reading.heading == f"{path}: 2 scores of 2 models on 2 benchmarks, 2 left out"
    assert reading.notes == (
        "one row per model, one column per benchmark",
        "read as utf-16",
        "columns separated by semicolon",
        "decimal commas",
        "gpqa_diamond, hle: percent (0–100: a fraction is at most 1)",
        "columns left out: Rank",
        "left out 2 results, no score: HLE, GPQA Diamond",
    )
    assert reading.scores["row"].to_list() == [2, 4]  # as a spreadsheet counts them, the empty row too
    assert reading.dropped.rows() == [(2, "HLE", "no score"), (4, "GPQA Diamond", "no score")]
    assert reading.names.select("kind", "written", "id", "how").rows() == [
        ("model", "Claude Opus 4.8", OPUS, "name"),
        ("benchmark", "GPQA Diamond", "gpqa_diamond", "name"),
        ("model", "GPT-5.5", GPT, "name"),
        ("benchmark", "HLE", "hle", "spelling"),
    ]


def test_frames_of_any_library(known):
    rows = {"Model": [OPUS, GPT], "Task": ["hle", "hle"], "Accuracy": [21.5, None]}
    assert read(rows, known).scores.rows() == [(1, OPUS, "hle", "21.5", "percent")]
    assert read(pl.DataFrame(rows), known).scores.height == 1


def test_every_unknown_name_is_listed_at_once(known):
    rows = {"model": [OPUS, "hal", "hal"], "benchmark": ["Knitting", "hle", "Chess"], "score": [1.5, 2.5, 3.5]}
    with pytest.raises(MensuraError, match="3 faults") as refusal:
        read(rows, known)
    assert "Knitting" in str(refusal.value)
    assert "'hal'" in str(refusal.value)
    assert "Chess" in str(refusal.value)


def test_a_bomb_is_not_unpacked(known, tmp_path):
    path = tmp_path / "bomb.eval"
    path.write_bytes(archive({"header.json": "0" * (17 * 2**20)}))
    with pytest.raises(
        MensuraError, match=r"not an Inspect log \(header.json has 17,825,792 bytes; at most 16,777,216"
    ):
        read(path, known)


def test_a_monstrous_line_is_refused_in_one_sentence(known, tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("model,benchmark,score\n" + "x" * 200_000, encoding="utf-8")
    with pytest.raises(MensuraError, match="a cell of 200,000 characters") as refusal:
        read(path, known)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(("largest", "unit"), [("1.01", "percent"), ("1", None)])
def test_the_largest_figure_decides_whether_they_can_be_fractions(known, largest, unit):
    rows = {"model": [OPUS, GPT], "benchmark": ["critpt", "critpt"], "score": ["0.6", largest]}
    if unit is None:
        with pytest.raises(MensuraError, match="all values lie within 0 to 1"):
            read(rows, known)
    else:
        assert read(rows, known).scores["unit"].to_list() == [unit, unit]


def test_one_figure_beyond_one_makes_all_of_its_benchmark_percents(known):
    rows = {"model": [OPUS, GPT], "benchmark": ["critpt", "critpt"], "score": [0.6, 12.5]}
    assert read(rows, known).scores.rows() == [
        (1, OPUS, "critpt", "0.6", "percent"),
        (2, GPT, "critpt", "12.5", "percent"),
    ]


def test_a_column_of_remarks_is_no_benchmark(known, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("model;HLE;Kommentar\nGPT-5.5;21,5 %;rerun\nClaude Opus 4.8;30,1 %;ok\n", encoding="utf-8-sig")
    reading = read(path, known)
    assert reading.scores["benchmark"].to_list() == ["hle", "hle"]
    assert "columns left out: Kommentar" in reading.notes


def test_a_row_that_stands_twice_is_read_once(known):
    rows = {"model": [OPUS, GPT, OPUS], "benchmark": ["hle"] * 3, "score": ["30%", "20%", "30%"]}
    reading = read(rows, known)
    assert reading.scores.select("row", "subject").rows() == [(1, OPUS), (2, GPT)]
    assert "rows that repeat another, read once: 3" in reading.notes


def test_two_scores_of_one_cell_are_asked_about_unless_their_sources_differ(known):
    rows = {"model": [OPUS, "Claude Opus 4.8"], "benchmark": ["hle"] * 2, "score": ["30%", "31%"]}
    with pytest.raises(MensuraError, match=r"row 2, column score: got '31%'; expected one score of .* row 1 has 30%"):
        read(rows, known)
    assert read(rows | {"source": ["a", "b"]}, known).scores.height == 2


def test_scores_that_the_evidence_has_are_passed_over_and_other_values_are_refused_with_both(known):
    present = pl.DataFrame(
        {"subject": [GPT], "benchmark": ["hle"], "source": ["lab"], "score": [21.5], "unit": ["percent"]}
    )
    rows = {"model": [GPT, OPUS], "benchmark": ["hle", "hle"], "score": ["0.215", "0.3"], "source": ["lab", "lab"]}
    reading = read_scores_of(rows | {"unit": ["fraction"] * 2}, *known, present=present)
    assert reading.scores["subject"].to_list() == [OPUS]
    assert "passed over 1 score that the evidence has already, from the same source" in reading.notes
    only = {name: cells[:1] for name, cells in rows.items()} | {"unit": ["fraction"]}
    assert "0 scores of 0 models" in read_scores_of(only, *known, present=present).heading
    expected = r"row 1, column score: got '22.5 percent'; expected 21.5 percent, as the evidence has it from lab"
    with pytest.raises(MensuraError, match=expected):
        read_scores_of(rows | {"score": ["22.5%", "30%"]}, *known, present=present)


def test_of_a_collection_unknown_models_and_tests_are_left_out_and_the_latest_score_counts(known):
    rows = {
        "model": [GPT, GPT, "hal", GPT, OPUS],
        "benchmark": ["hle", "hle", "hle", "Knitting", "hle"],
        "score": ["20%", "30%", "40%", "50%", "25%"],
        "date": ["2026-03", "2026-01", "2026-01", "2026-01", "2026-01"],
        "source": ["lab"] * 5,
    }
    reading = read(rows, known, skip_unknown=True)
    assert reading.scores.select("row", "subject", "benchmark", "score").rows() == [
        (1, GPT, "hle", "20"),
        (5, OPUS, "hle", "25"),
    ]
    assert reading.dropped.rows() == [
        (3, "hal on hle", "unknown model"),
        (4, f"{GPT} on Knitting", "unknown benchmark"),
        (2, f"{GPT} on hle", "a later result of the same source counts"),
    ]
    wanted = read(rows, known, skip_unknown=True, new=("Knitting",), unit="percent")
    assert "Knitting" in wanted.scores["benchmark"].to_list()


def test_the_last_of_two_results_without_a_date_counts_in_a_collection(known):
    rows = {"model": [GPT, GPT], "benchmark": ["hle", "hle"], "score": ["20%", "30%"]}
    assert read(rows, known, skip_unknown=True).scores["score"].to_list() == ["30"]


def test_the_facts_of_a_new_model_are_those_of_its_row_then_those_beside_the_file(known):
    facts = NewModel(released="2026-11-01", display_name="Rocket 1", provider="Acme")
    rows = {
        "model": ["rocket-1", GPT],
        "benchmark": ["hle", "hle"],
        "score": ["20%", "30%"],
        "provider": ["NASA", None],
    }
    reading = read(rows, known, new_model=facts)
    columns = ("subject", "released", "display_name", "provider")
    assert reading.scores.select(*columns).rows() == [
        ("rocket-1", "2026-11-01", "Rocket 1", "NASA"),
        (GPT, None, None, None),
    ]
    assert "new model: rocket-1" in reading.notes
    assert facts.columns == {"released": "2026-11-01", "display_name": "Rocket 1", "provider": "Acme"}
    two = {"model": ["rocket-1", "rocket-2"], "benchmark": ["hle", "hle"], "score": ["20%", "30%"]}
    with pytest.raises(MensuraError, match=r"one name for 2 new models \(rocket-1, rocket-2\); use a column"):
        read(two, known, new_model=facts)


def test_many_new_names_are_counted_in_one_line(known):
    names = [f"rocket-{number}" for number in range(NAMES_SHOWN + 1)]
    rows = {"model": names, "benchmark": ["hle"] * len(names), "score": ["20%"] * len(names)}
    notes = read(rows, known, new_model=NewModel(released="2026-11-01")).notes
    assert any(note.startswith(f"{len(names)} new models: rocket-0") for note in notes)
    fewer = {name: cells[:-1] for name, cells in rows.items()}
    notes = read(fewer, known, new_model=NewModel(released="2026-11-01")).notes
    assert [note for note in notes if note.startswith("new model: ")] == [f"new model: {name}" for name in names[:-1]]


def test_a_unit_of_shares_is_percent_or_fraction(known):
    rows = {"model": [GPT], "benchmark": ["hle"], "score": ["20"]}
    with pytest.raises(MensuraError, match=r"unit: got 'elo'; expected percent or fraction \(a column says others\)"):
        read(rows, known, unit="elo")


def test_an_error_behind_a_score_and_several_sources_are_kept(known):
    rows = {"model": [GPT, GPT], "benchmark": ["hle"] * 2, "score": ["20% ± 1.5", "21%"], "source": ["a", "b"]}
    reading = read(rows, known)
    assert reading.scores.select("score", "unit", "stderr", "source").rows() == [
        ("20", "percent", "1.5", "a"),
        ("21", "percent", None, "b"),
    ]
    assert f"several sources, of which the latest date counts: {GPT} on hle" in reading.notes
    assert reading.heading == "scores: 2 scores of 1 model on 1 benchmark"
