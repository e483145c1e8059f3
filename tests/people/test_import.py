"""Published files as they come: long answers, labelled codes, other encodings, numbers beyond every bound."""

import polars as pl
import pytest

from mensura import MensuraError
from mensura.people import HarmonisingRules, harmonise, read_raw, split_persons, tabulate, widen_answers


def long_file(path, *extra):
    rows = [f"{p},{1 + p % 2},q{q},{(p * q + p // 3) % 2}" for p in range(60) for q in range(1, 4)]
    path.write_text("\n".join(["pid,sex,asked,right", *rows, *extra]), encoding="utf-8")
    return path


def test_a_long_file_becomes_a_pool_with_named_groups(mensura_command, tmp_path):
    run = mensura_command(
        *("people", "import", long_file(tmp_path / "long.csv"), "--long", "asked,right", "--items", "^q"),
        *("--person", "pid", "--covariates", "sex", "--by", "sex", "--label", "sex=1:female,2:male"),
        *("--out", tmp_path / "pool"),
    )
    assert run.code == 0, run.err
    rates = pl.read_csv(tmp_path / "pool" / "group_rates.csv")
    assert rates["group"].unique().sort().to_list() == ["all", "sex=female", "sex=male"]
    assert rates.filter(group="all", item="q2")["rate"].item() == 0.5
    assert rates.filter(group="sex=male")["n"].to_list() == [30, 30, 30]


def test_an_answer_given_twice_is_named_by_the_row_of_the_file(tmp_path):
    raw = read_raw(long_file(tmp_path / "long.csv", "5,2,q1,1"))
    with pytest.raises(MensuraError, match="row 182: person 5 answers item 'q1' a second time"):
        widen_answers(raw, "asked", "right", ["pid"])


def test_a_person_of_two_groups_is_refused(tmp_path):
    raw = read_raw(long_file(tmp_path / "long.csv", "5,1,q4,1"))
    with pytest.raises(MensuraError, match="person 5 has several values of sex"):
        widen_answers(raw, "asked", "right", ["pid"], ["sex"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--long", "asked"], "expected two columns"),
        (["--long", "asked,wrong"], "no column 'wrong'"),
        (["--long", "asked,right", "--label", "age=1:old"], "of a covariate that is kept"),
        (["--long", "asked,right", "--encoding", "klingon"], "unknown encoding: klingon"),
    ],
)
def test_what_a_careless_user_types(options, message, mensura_command, tmp_path):
    file = long_file(tmp_path / "long.csv")
    run = mensura_command(
        "people", "import", file, "--items", "^q", "--person", "pid", "--out", tmp_path / "p", *options
    )
    assert run.code == 2
    assert message in run.err


def test_labels_of_an_spss_file_become_names_of_groups(tmp_path):
    statistics, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    answers = pandas.DataFrame({"sex": [1.0, 2.0, 2.0, 3.0], "q1": [1.0, 0.0, 1.0, 1.0]})
    statistics.write_sav(answers, str(tmp_path / "a.sav"), variable_value_labels={"sex": {1: "female", 2: "male"}})
    _, persons = split_persons(read_raw(tmp_path / "a.sav"), ["q1"], covariates=["sex"])
    assert persons["sex"].to_list() == ["female", "male", "male", "3"]


def test_an_spss_file_with_an_absurd_number_is_read_as_it_is(tmp_path):
    statistics, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    statistics.write_sav(pandas.DataFrame({"q1": [1.0, 0.0, 1e197]}), str(tmp_path / "a.sav"))
    answers, _ = split_persons(read_raw(tmp_path / "a.sav"), ["q1"])
    with pytest.raises(MensuraError, match=r"item .q1.: 1e.197 points"):
        harmonise("pool", {"item": ["q1"]}, answers, rules=HarmonisingRules(min_answers=1))


def test_answers_beyond_every_integer_are_no_missing_answers(tmp_path):
    rows = [f"{p},{p % 2 if p < 60 else 10**25}" for p in range(100)]
    (tmp_path / "a.csv").write_text("\n".join(["who,q1", *rows]), encoding="utf-8")
    answers, persons = split_persons(read_raw(tmp_path / "a.csv"), ["q1"], ["who"])
    with pytest.raises(MensuraError, match=r"item .q1.: 1e.25 points without any below it"):
        harmonise("pool", {"item": ["q1"]}, answers, persons)
    keyed = harmonise("pool", {"item": ["q1"], "answer": ["1"], "scoring": ["choice"]}, answers, persons)
    assert keyed.rates["n"].to_list() == [100]


def test_a_file_in_another_encoding_is_read_when_it_is_named(tmp_path):
    text = "who,place,q1\n" + "".join(f"{p},Köln,{p % 2}\n" for p in range(40))
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(MensuraError, match="say its encoding"):
        read_raw(tmp_path / "a.csv")
    assert read_raw(tmp_path / "a.csv", encoding="latin-1").frame["place"].unique().to_list() == ["Köln"]


def test_a_weight_in_words_is_refused_by_its_value():
    answers = pl.DataFrame({"person": [1, 2], "q1": [0, 1]})
    with pytest.raises(MensuraError, match=r"weights .w.: every weight must be a number ≥ 0, got 'heavy' .1 such."):
        tabulate(answers, pl.DataFrame({"w": ["1.5", "heavy"]}), weight="w")
