"""Where reading what people bring ends: lengths, sizes, likeness, and which separator and encoding are found."""

import json

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.names import KnownNames
from mensura.intake.score_columns import read_cells
from mensura.intake.score_logs import read_log
from mensura.intake.text import decoded_text, separator_of
from tests.intake.messy import archive
from tests.responses.test_reading import packed_by_zstandard


def test_a_cell_has_ten_thousand_characters_and_a_line_ten_times_as_many(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(f"model,note\na,{'x' * 10_000}\n", encoding="utf-8")
    assert len(read_cells(file).rows[0][1]) == 10_000
    file.write_text(f"model,note\na,{'x' * 10_001}\n", encoding="utf-8")
    with pytest.raises(MensuraError, match=r"row 2: a cell of 10,001 characters"):
        read_cells(file)
    header = ",".join(f"c{number}" for number in range(20))
    line = ",".join(["x" * 4_999] * 19)
    file.write_text(f"{header}\n{line},{'x' * (100_000 - len(line) - 1)}\n", encoding="utf-8")
    assert len(read_cells(file).rows[0]) == 20
    file.write_text(f"{header}\n{line},{'x' * (100_000 - len(line))}\n", encoding="utf-8")
    with pytest.raises(MensuraError, match="a line of 100,001 characters"):
        read_cells(file)


@pytest.mark.parametrize(
    ("size", "words"), [(64 * 2**20, "not a readable spreadsheet"), (64 * 2**20 + 1, "64 MB is no table of scores")]
)
def test_nothing_is_read_of_a_file_beyond_64_mebibytes(size, words, tmp_path):
    with (tmp_path / "large.xlsx").open("wb") as file:
        file.truncate(size)  # takes no room
    with pytest.raises(MensuraError, match=words):
        read_cells(tmp_path / "large.xlsx")


def test_the_head_of_a_log_has_16_mebibytes(tmp_path):
    scores = [{"name": "match", "metrics": {"accuracy": {"value": 1}}}]
    head = {"eval": {"model": "a/b", "task": "owner/inspect/hle"}, "results": {"scores": scores}, "pad": ""}
    pad = "x" * (16 * 2**20 - len(json.dumps(head)))
    (tmp_path / "a.eval").write_bytes(archive({"header.json": json.dumps({**head, "pad": pad})}))
    assert read_log(tmp_path / "a.eval").rows == [("a/b", "hle", 1.0, "fraction", None, None)]
    (tmp_path / "a.eval").write_bytes(archive({"header.json": json.dumps({**head, "pad": f"{pad}x"})}))
    with pytest.raises(MensuraError, match=r"16,777,217 bytes; at most 16,777,216"):
        read_log(tmp_path / "a.eval")


@pytest.mark.parametrize(("value", "taken"), [(0, True), (1, True), (0.5, True), (-0.01, False), (1.01, False)])
def test_a_figure_of_an_inspect_log_is_a_share(value, taken, tmp_path):
    scores = [{"name": "match", "metrics": {"accuracy": {"value": value}, "mean": {"value": 0.25}}}]
    head = {"eval": {"model": "m", "task": "hle"}, "results": {"scores": scores, "completed_samples": 7}}
    (tmp_path / "a.json").write_text(json.dumps(head), encoding="utf-8")
    assert read_log(tmp_path / "a.json").rows == [("m", "hle", value if taken else 0.25, "fraction", 7, None)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b, c;d\n1,5;2,5;3\n", ";"),
        ("a|b\n1|2\n", "|"),
        ("a\tb\n1\t2\n", "\t"),
        ("alone\n1\n", ","),
        ("a;b\n1;2\n3\n", ";"),
        ("a;b\n1\n2\n", ","),
        ("a;b\n1;2\n3\n4\n", ","),
        ("\na;b\n\n1;2\n", ";"),
    ],
)
def test_the_separator_gives_most_columns_and_most_records_as_many(text, found):
    assert separator_of(text, "it") == found


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("cp1252", "Windows-1252 (it is not UTF-8)"),
    ],
)
def test_the_encoding_is_found_by_its_mark_or_its_zeros(encoding, told):
    text = "model,benchmark\nmodèle,hle\n"
    assert decoded_text(text.encode(encoding), "it") == (text, told)


def test_twenty_records_decide_on_the_separator():
    """Ten of the first twenty are not most of them, though ten of nineteen and eleven of 21 would be."""
    records = ["a;b"] * 10 + ["alone"] * 10 + ["a;b"] * 5
    assert separator_of("\n".join(records), "it") == ","
    assert separator_of("\n".join(["a;b", *records]), "it") == ";"


def test_zeros_in_the_first_two_thousand_bytes_decide_on_the_encoding():
    assert decoded_text(b"a" * 1999 + b"\0", "it")[1] == "utf-16-be"
    assert decoded_text(b"a" * 2000 + b"\0", "it")[1] == "utf-8"


def test_a_log_packed_by_zstandard_is_read_and_a_damaged_one_refused(tmp_path):
    head = {"eval": {"model": "m", "task": "hle"}, "results": {"scores": [{"metrics": {"mean": {"value": 0.5}}}]}}
    log = tmp_path / "a.eval"
    log.write_bytes(archive({"header.json": json.dumps(head)}))
    packed_by_zstandard(log)
    assert read_log(log).rows == [("m", "hle", 0.5, "fraction", None, None)]
    log.write_bytes(archive({"header.json": json.dumps(head)}))
    packed_by_zstandard(log, damage=lambda told: told.replace(b"0.5", b"0.6"))
    with pytest.raises(MensuraError, match=r"header.json is damaged"):
        read_log(log)


def test_the_three_nearest_names_are_offered_best_first():
    names = KnownNames([(f"model-{sign}", f"Model {sign}") for sign in ("aaaa", "aaab", "aabb", "aacc")])
    assert names.match("model-aaaaa").near == ("model-aaaa", "model-aaab", "model-aacc")


def test_a_name_is_offered_from_a_likeness_of_72_percent():
    """Twice the letters in common, over the letters of both: 18 of 25 are 0.72, 16 of 24 and 18 of 26 less."""
    names = KnownNames([("abcdefghi" + "xyz", "")])
    assert names.match("abcdefghi" + "1234").near == ("abcdefghixyz",)
    assert names.match("abcdefghi" + "12345").near == ()
    assert names.match("abcdefgh" + "1234").near == ()


def test_a_name_that_holds_another_whole_is_near_but_for_one_or_two_letters():
    names = KnownNames([("gpqa", "GPQA"), ("o1", "o1")])
    assert names.match("GPQA Diamond of the year").near == ("gpqa",)
    assert names.match("o1-very-long-name").near == ()
    assert names.match("o1p").near == ()
    assert KnownNames([("abc", "abc")]).match("abc-very-long-name").near == ("abc",)


def test_a_name_with_its_provider_before_it_is_the_last_part():
    names = KnownNames([("gpt-5.5", "GPT-5.5")])
    for found in (names.match("hub/openai/gpt-5.5"), names.match("openai/GPT 5.5")):
        assert (found.id, found.how) == ("gpt-5.5", "without its provider")
    assert names.ident("hub/openai/GPT 5.5") == "gpt-5.5"
    assert names.ident("openai/nothing") is None
