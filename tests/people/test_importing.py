"""Published files as they come: long answers, labelled codes, other encodings, numbers beyond every bound."""

import polars as pl
import pytest

from mensura import MensuraError
from mensura.intake.persons import split_persons, widen_answers
from mensura.intake.tables import read_noted
from mensura.people import HarmonisingRules, harmonise, tabulate


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
    raw = read_noted(long_file(tmp_path / "long.csv", "5,2,q1,1"))
    with pytest.raises(MensuraError, match="row 182: person 5 answers item 'q1' a second time"):
        widen_answers(raw, "asked", "right", ["pid"])


def test_a_person_of_two_groups_is_refused(tmp_path):
    raw = read_noted(long_file(tmp_path / "long.csv", "5,1,q4,1"))
    with pytest.raises(MensuraError, match="person 5 has several values of sex"):
        widen_answers(raw, "asked", "right", ["pid"], ["sex"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--long", "asked"], "expected two columns"),
        (["--long", "asked,wrong"], "no column 'wrong'"),
        (["--long", "asked,right", "--label", "age=1:old"], "of a covariate that is kept"),
        (["--long", "asked,right", "--set", "encoding=klingon"], "unknown encoding: klingon"),
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
    _, persons = split_persons(read_noted(tmp_path / "a.sav"), ["q1"], covariates=["sex"])
    assert persons["sex"].to_list() == ["female", "male", "male", "3"]


def test_an_spss_file_with_an_absurd_number_is_read_as_it_is(tmp_path):
    statistics, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    statistics.write_sav(pandas.DataFrame({"q1": [1.0, 0.0, 1e197]}), str(tmp_path / "a.sav"))
    answers, _ = split_persons(read_noted(tmp_path / "a.sav"), ["q1"])
    with pytest.raises(MensuraError, match=r"item .q1.: 1e.197 points"):
        harmonise("pool", {"item": ["q1"]}, answers, rules=HarmonisingRules(min_answers=1))


def test_answers_beyond_every_integer_are_no_missing_answers(tmp_path):
    rows = [f"{p},{p % 2 if p < 60 else 10**25}" for p in range(100)]
    (tmp_path / "a.csv").write_text("\n".join(["who,q1", *rows]), encoding="utf-8")
    answers, persons = split_persons(read_noted(tmp_path / "a.csv"), ["q1"], ["who"])
    with pytest.raises(MensuraError, match=r"item .q1.: 1e.25 points without any below it"):
        harmonise("pool", {"item": ["q1"]}, answers, persons)
    keyed = harmonise("pool", {"item": ["q1"], "answer": ["1"], "scoring": ["choice"]}, answers, persons)
    assert keyed.rates["n"].to_list() == [100]


def test_a_file_in_another_encoding_is_read_and_an_encoding_can_be_named(tmp_path):
    text = "who,place,q1\n" + "".join(f"{p},Köln,{p % 2}\n" for p in range(40))
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    found = read_noted(tmp_path / "a.csv")
    assert found.frame["place"].unique().to_list() == ["Köln"]
    assert found.notes == ("read as Windows-1252 (it is not UTF-8)",)
    with pytest.raises(MensuraError, match="not utf-8"):
        read_noted(tmp_path / "a.csv", encoding="utf-8")
    assert read_noted(tmp_path / "a.csv", encoding="latin-1").frame["place"].unique().to_list() == ["Köln"]


def test_a_weight_in_words_is_refused_by_its_value():
    answers = pl.DataFrame({"person": [1, 2], "q1": [0, 1]})
    with pytest.raises(MensuraError, match=r"weights .w.: every weight must be a number ≥ 0, got 'heavy' .1 such."):
        tabulate(answers, pl.DataFrame({"w": ["1.5", "heavy"]}), weight="w")


def wide_file(path, header="who,CNT,sex,q1,q2,q10,quality,asked_on"):
    places = ("DEU", "FRA")
    rows = [f"{p},{places[p % 2]},{'fm'[p % 2]},{p % 2},{p // 2 % 2},{p // 3 % 2},good,Monday" for p in range(60)]
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("pattern", "items"),
    [
        ("q*", ["q1", "q2", "q10"]),
        ("q?", ["q1", "q2"]),
        ("q[12]", ["q1", "q2"]),
        ("q1,q10", ["q1", "q10"]),
        ("^q", ["q1", "q2", "q10"]),
        ("^q[0-9]+$", ["q1", "q2", "q10"]),
        ("q1", ["q1"]),
        ("q.*0", ["q10"]),
        ("10", ["q10"]),
    ],
)
def test_items_are_chosen_by_a_wildcard_names_or_a_regular_expression(pattern, items, mensura_command, tmp_path):
    run = mensura_command(
        *("people", "import", wide_file(tmp_path / "a.csv"), "--items", pattern, "--person", "who"),
        *("--covariates", "sex", "--out", tmp_path / "pool"),
    )
    assert run.code == 0, run.err
    assert pl.read_csv(tmp_path / "pool" / "items.csv")["item"].to_list() == items


def test_columns_that_are_no_items_and_columns_not_used_are_named(mensura_command, tmp_path):
    file = wide_file(tmp_path / "a.csv")
    run = mensura_command(
        *(
            "people",
            "import",
            file,
            "--items",
            "*",
            "--person",
            "who",
            "--covariates",
            "sex,CNT",
            "--out",
            tmp_path / "p",
        )
    )
    assert "columns that match --items but are no items: who, CNT, sex, quality, asked_on" in run.out
    assert "columns not used: quality, asked_on" in run.out


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("z*", "this wildcard matches none of the 8 columns (who, CNT, sex, q1, q2 and 3 more)"),
        ("^z", "this regular expression matches none of the 8 columns"),
        ("(q", "not a valid pattern"),
        ("qual*", "no points in 1 column matched ('quality' holds 'good'). Give a CSV of items"),
        ("who", "no points in 1 column matched (they describe persons). Give a CSV of items"),
    ],
)
def test_a_pattern_without_items_is_refused(pattern, message, mensura_command, tmp_path):
    file = wide_file(tmp_path / "a.csv")
    run = mensura_command("people", "import", file, "--items", pattern, "--person", "who", "--out", tmp_path / "p")
    assert run.code == 2
    assert message in run.err


def test_a_code_that_nobody_declared_is_asked_about_and_no_item_is_lost(mensura_command, tmp_path):
    text = "who,q1\n" + "".join(f"{p},{'?' if p == 7 else 'r' if p == 8 else p % 2}\n" for p in range(60))
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    call = ["people", "import", tmp_path / "a.csv", "--items", "q*", "--person", "who", "--out", tmp_path / "p"]
    assert "'r' is neither a number of points nor a declared code" in mensura_command(*call).err
    assert mensura_command(*call, "--absent", "r").code == 0
    assert pl.read_csv(tmp_path / "p" / "group_rates.csv")["n"].to_list() == [58], "? is a word for missing"
    assert mensura_command(*call, "--absent", "r", "--omitted", "?").code == 0
    assert pl.read_csv(tmp_path / "p" / "group_rates.csv")["n"].to_list() == [59], "but not where it is a code"


def test_columns_are_renamed_before_all_else(mensura_command, tmp_path):
    file = wide_file(tmp_path / "a.csv")
    call = ["people", "import", file, "--items", "q?", "--person", "id", "--covariates", "country"]
    run = mensura_command(*call, "--rename", "CNT=country", "--rename", "who=id", "--out", tmp_path / "pool")
    assert run.code == 0, run.err
    assert pl.read_csv(tmp_path / "pool" / "persons.csv").columns == ["person", "country"]
    for wrong, message in (
        ("KNT=country", "expected OLD=NEW of a column that is there"),
        ("CNT", "expected OLD=NEW"),
        ("CNT=sex", "there is a column 'sex' already"),
    ):
        assert message in mensura_command(*call, "--rename", wrong, "--out", tmp_path / "other").err


@pytest.mark.slow
def test_extrapolate_sees_the_countries_of_pisa_and_asks_for_the_domain(mensura_command, tmp_path):
    file = wide_file(tmp_path / "a.csv")
    call = ["people", "import", file, "--items", "q?", "--person", "who", "--covariates", "CNT"]
    assert mensura_command(*call, "--out", tmp_path / "pool").code == 0
    carry = ["extrapolate", tmp_path / "pool", "--set", "draws=20"]
    refused = mensura_command(*carry)
    assert refused.code == 2
    assert "2 of 2 items of pool 'pool' have no domain that is known. Say --domain with a word among" in refused.err
    assert "reading" in refused.err
    assert "expected a word among" in mensura_command(*carry, "--domain", "juggling").err
    run = mensura_command(*carry, "--domain", "mathematics")
    assert run.code == 0, run.err
    assert "treated as literacy" not in run.out
    assert mensura_command(*call, "--set", "domain=mathematics", "--out", tmp_path / "stated").code == 0
    stated = mensura_command("extrapolate", tmp_path / "stated", "--set", "draws=20")
    assert stated.code == 0, stated.err
    assert "treated as" not in stated.out


def test_items_without_a_domain_take_the_one_of_all_others(mensura_command, tmp_path):
    (tmp_path / "items.csv").write_text("item,domain\nq1,algebra\nq2,\n", encoding="utf-8")
    (tmp_path / "group_rates.csv").write_text(
        "item,group,n,n_correct\nq1,all,100,50\nq2,all,100,40\n", encoding="utf-8"
    )
    run = mensura_command("extrapolate", tmp_path, "--from", "DEU", "--set", "draws=20")
    assert run.code == 0, run.err
    assert "domain of 1 items without one: algebra, as that of all others" in run.err
    (tmp_path / "items.csv").write_text("item,domain\nq1,algebra\nq2,\nq3,reading\n", encoding="utf-8")
    assert "1 of 3 items" in mensura_command("extrapolate", tmp_path, "--from", "DEU", "--set", "draws=20").err
