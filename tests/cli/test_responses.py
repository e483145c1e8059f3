"""The commands, as a user runs them: from a file to abilities, items, people and the next items."""

import json
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

from mensura import MensuraError
from mensura.cli.responses import _print_placed, draw_fit, few_beside_many
from mensura.core.folders import whole_folder
from mensura.people import ItemPool
from mensura.responses import ItemBank, fit_responses, next_items, read_responses
from mensura.responses.result import read_fit
from tests.responses.conftest import as_long, draw


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("responses") / "answers.csv"
    people = draw(150, 20, seed=1, name="p")
    models = draw(30, 20, seed=2, mean=1.0, slope=people.slope, intercept=people.intercept, name="m")
    both = pl.concat(
        [people.wide.with_columns(group=pl.lit("people")), models.wide.with_columns(group=pl.lit("models"))]
    )
    as_long(both).write_csv(path)
    return path


@pytest.fixture(scope="module")
def fitted(file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted") / "fit"
    with whole_folder(folder, "test") as stage:
        for name, table in fit_responses(read_responses(file), model="rasch").tables().items():
            table.write_csv(stage / f"{name}.csv")
    return folder


def test_from_a_file_to_people_and_the_next_items(file, tmp_path, mensura_command):
    out = tmp_path / "fitted"
    run = mensura_command("responses", "fit", file, "--model", "2pl", "--out", out)
    assert run.code == 0
    assert "Abilities" in run.out
    subjects, items = (pl.read_csv(out / f"{name}.csv") for name in ("subjects", "items"))
    assert subjects.columns[:5] == ["subject", "ability", "low", "high", "n"]
    assert items.columns[:4] == ["item", "discrimination", "difficulty", "guessing"]
    assert (subjects.height, items.height) == (180, 20)
    placed = json.loads(mensura_command("responses", "place", out, "--group", "people", "--json").out)
    assert {"rate", "percentile", "iq"} <= placed["subjects"][0].keys()
    pl.read_csv(file).filter(pl.col("subject") == "m0").write_csv(tmp_path / "new.csv")
    run = mensura_command("responses", "place", out, tmp_path / "new.csv", "--group", "people")
    assert "1 subjects among people" in run.out and "m0: IQ-equivalent" in run.out
    form = json.loads(mensura_command("responses", "next", out, "--form", 5, "--json").out)["form"]
    assert len({row["item"] for row in form}) == 5
    pl.read_csv(file).filter(pl.col("subject") == "m0").head(6).write_csv(tmp_path / "some.csv")
    found = json.loads(mensura_command("responses", "next", out / "items.csv", tmp_path / "some.csv", "--json").out)
    assert found["standing"][0]["n"] == 6
    assert not {row["item"] for row in found["next"]} & set(pl.read_csv(tmp_path / "some.csv")["item"])


def test_a_fit_is_drawn_and_its_points_lie_on_the_rates(file, tmp_path, mensura_command):
    out, pictures = tmp_path / "fitted", tmp_path / "pictures"
    mensura_command("responses", "fit", file, "--out", out)
    run = mensura_command("responses", "draw", out, "--out", pictures, "--item", "i3", "--format", "svg")
    assert run.code == 0
    names = {path.name for path in pictures.glob("*.svg")}
    assert names == {"item-map.svg", "information.svg", "item-i3.svg", "differences-models.svg"}
    observed, items = (pl.read_csv(out / f"{name}.csv") for name in ("observed", "items"))
    told = observed.group_by("item").agg(
        rate=(pl.col("rate") * pl.col("n")).sum() / pl.col("n").sum(), n=pl.col("n").sum()
    )
    both = told.join(items.select("item", answered="n", share="rate"), on="item")
    assert (both["rate"] - both["share"]).abs().max() < 0.02
    assert ((both["n"] / both["answered"]).is_between(0.95, 1.0 + 1e-9)).all()
    assert observed.filter(~pl.col("rate").is_between(pl.col("low"), pl.col("high"))).is_empty()
    assert "item: got 'zz'" in mensura_command("responses", "draw", out, "--out", pictures, "--item", "zz").err
    assert "unknown format" in mensura_command("responses", "draw", out, "--out", pictures, "--format", "gif").err
    (out / "observed.csv").unlink()
    assert "no observed.csv" in mensura_command("responses", "draw", out, "--out", pictures).err


def test_a_saved_fit_that_was_damaged_is_refused_and_one_changed_on_purpose_can_be_used(
    file, tmp_path, mensura_command
):
    out = tmp_path / "fitted"
    assert mensura_command("responses", "fit", file, "--model", "rasch", "--out", out).code == 0
    items = (out / "items.csv").read_bytes()
    (out / "items.csv").write_bytes(items.replace(b"1", b"2", 1))
    refused = mensura_command("responses", "place", out, "--group", "people")
    assert refused.code == 2 and "items.csv: differs from what mensura wrote" in refused.err
    (out / ".responses-fit.sums.json").unlink()
    assert mensura_command("responses", "place", out, "--group", "people").code == 0


def test_pictures_have_names_that_can_be_read(fitted):
    """Capital letters and signs leave the name; two items that read alike get a number."""
    fit, names = read_fit(fitted), {"i0": "M05Q01", "i1": "m05 q01", "i2": "m05/q01"}
    renamed = {name: getattr(fit, name).with_columns(pl.col("item").replace(names)) for name in ("items", "observed")}
    drawn = draw_fit(replace(fit, **renamed), list(names.values()))
    assert list(drawn)[2:5] == ["item-m05q01", "item-m05-q01", "item-m05-q01-2"]


@pytest.mark.slow
def test_reading_says_what_was_understood_and_writes_a_store(file, tmp_path, mensura_command):
    run = mensura_command("responses", "read", file)
    assert "3,600 responses: 180 subjects (150 people, 30 models) × 20 items" in run.out
    assert mensura_command("responses", "read", file, "--store", tmp_path / "store").code == 0
    run = mensura_command("responses", "fit", tmp_path / "store", "--json")
    assert len(json.loads(run.out)["subjects"]) == 180


def test_mistakes_are_answered_with_what_is_allowed(file, tmp_path, mensura_command):
    run = mensura_command("responses", "fit", file, "--model", "5pl")
    assert run.code == 2
    assert "expected one of rasch, 2pl, 3pl" in run.err
    assert (
        "expected one of share, full, half"
        in mensura_command("responses", "read", file, settings={"partial": "some"}).err
    )
    assert "no such file" in mensura_command("responses", "fit", tmp_path / "nothing.csv").err
    mensura_command("responses", "fit", file, "--out", tmp_path / "fitted")
    err = mensura_command("responses", "next", tmp_path / "fitted", file).err
    assert "180 subjects; say with --subject" in err


def test_answers_so_far_count_once_each_and_by_the_name_that_is_given(file, fitted, tmp_path, mensura_command):
    some = tmp_path / "some.csv"
    given = pl.read_csv(file).filter(pl.col("subject").is_in(["m0", "m1"]), pl.col("item").is_in(["i1", "i2", "i3"]))
    given.with_columns(item="task:" + pl.col("item")).write_csv(some)
    bank = ItemBank.from_table(pl.read_csv(fitted / "items.csv"))
    for name in ("m0", "m1"):
        answers = {item: (right, 1.0) for item, right in given.filter(subject=name).select("item", "correct").rows()}
        expected = next_items(bank, answers, count=5)
        found = json.loads(mensura_command("responses", "next", fitted, some, "--subject", name, "--json").out)
        assert found["standing"] == [pytest.approx(row) for row in expected.standing.to_dicts()]
        assert [row["item"] for row in found["next"]] == expected.next["item"].to_list()


def test_a_log_of_other_items_is_refused(fitted, tmp_path, mensura_command):
    (tmp_path / "other.csv").write_text("subject,item,correct\nme,elsewhere,1\n", encoding="utf-8")
    run = mensura_command("responses", "next", fitted, tmp_path / "other.csv")
    assert run.code == 2
    assert "none of its items is in the bank" in run.err and "or one of 19 others" in run.err


def test_where_no_item_is_asked_for_the_three_that_fit_worst_are_drawn(fitted):
    fit = read_fit(fitted)
    worst = fit.items.sort("fit", descending=True)["item"].to_list()[:3]
    drawn = [name for name in draw_fit(fit, None) if name.startswith("item-") and name != "item-map"]
    assert drawn == [f"item-{item}" for item in worst]
    assert "item-i5" in draw_fit(fit, ["i5"])


def test_people_without_the_covariate_are_left_out_counted_and_drawn_by_their_numbers(mensura_command, tmp_path):
    """From import to pictures, with persons whose ids are numbers and two of them without a sex."""
    wide = draw(80, 6, seed=3).wide.with_columns(subject=pl.int_range(80))
    sex = [None if person in (3, 40) else "fm"[person % 2] for person in range(80)]
    wide.rename({"subject": "id"}).with_columns(sex=pl.Series(sex)).write_csv(tmp_path / "a.csv")
    pool, fitted = tmp_path / "pool", tmp_path / "fitted"
    made = mensura_command(
        *("people", "import", tmp_path / "a.csv", "--items", "i?", "--person", "id", "--covariates", "sex"),
        *("--by", "sex", "--out", pool),
    )
    assert made.code == 0, made.err
    assert mensura_command("people", "rates", pool, "--by", "sex").code == 0
    fit = mensura_command("responses", "fit", pool, "--by", "sex", "--model", "rasch")
    assert "people without sex" in fit.out
    run = mensura_command("responses", "fit", pool, "--by", "sex", "--model", "rasch", "--out", fitted)
    assert run.code == 0, run.err
    groups = pl.read_csv(fitted / "groups.csv")
    assert groups["group"].sort().to_list() == ["pool:f", "pool:m"]
    assert groups["subjects"].sum() == 78
    assert ("people without sex", 2, "left out") in pl.read_csv(fitted / "log.csv").rows()
    drawn = mensura_command("responses", "draw", fitted, "--out", tmp_path / "drawn", "--format", "svg")
    assert drawn.code == 0, drawn.err
    assert (tmp_path / "drawn" / "item-map.svg").exists()


def test_rows_without_the_group_are_left_out_of_a_table_too(tmp_path):
    (tmp_path / "a.csv").write_text("subject,sex,q1,q2\na,f,1,0\nb,,0,1\nc,m,1,1\n", encoding="utf-8")
    found = read_responses(tmp_path / "a.csv", by="sex")
    assert found.subjects.select("subject", "group").rows() == [("a", "f"), ("c", "m")]
    assert found.log.rows() == [("rows without sex", 1, "left out")]


def test_a_covariate_that_nobody_has_is_refused():
    answers = pl.DataFrame({"person": [1, 2], "q1": [0, 1]})
    persons = pl.DataFrame({"person": [1, 2], "sex": [None, None]}, schema_overrides={"sex": pl.String})
    pool = ItemPool.from_answers("p", {"item": ["q1"]}, answers, persons, by=[])
    with pytest.raises(MensuraError, match="nobody in pool 'p' has a value of 'sex'"):
        read_responses(pool, by="sex")


def test_subjects_of_small_groups_beside_a_large_one_are_those_a_user_looks_for():
    """A few models among many people; the group of reference is never among them."""
    groups = ["people"] * 30 + ["models"] * 20 + ["crowd"] * 21 + ["few"]
    table = pl.DataFrame({"subject": [f"s{at}" for at in range(72)], "group": groups})
    fit = SimpleNamespace(subjects=table, reference="few")
    assert few_beside_many(fit) == [f"s{at}" for at in range(30, 50)]
    assert few_beside_many(SimpleNamespace(subjects=table, reference="models")) == ["s71"]


def placed(**first):
    row = {"subject": "a", "ability": 1.0, "iq": 120.4, "iq_low": 115.0, "iq_high": 126.0, "at_least": False}
    rows = [row | first | {"population": "people"}, row | {"subject": "b", "ability": 2.0, "population": "people"}]
    return SimpleNamespace(subjects=pl.DataFrame(rows), heading="2 subjects among people", warnings=["few"])


def test_the_first_of_ones_own_or_the_highest_is_said_among_people(capsys):
    _print_placed(placed(), ())
    assert capsys.readouterr().out.endswith("warning: few\nb: IQ-equivalent 120 (115 to 126, 90%) among people.\n")
    _print_placed(placed(), ["a"])
    assert capsys.readouterr().out.endswith("a: IQ-equivalent 120 (115 to 126, 90%) among people.\n")
    _print_placed(placed(at_least=True), ["a"])
    said = "a: IQ-equivalent at least 120, as far as their number can tell, among people.\n"
    assert capsys.readouterr().out.endswith(said)
    _print_placed(placed(iq=None), ["a"])
    assert capsys.readouterr().out.endswith("warning: few\n")


def test_a_fixed_form_takes_no_answers_and_aims_where_it_is_told(fitted, file, mensura_command):
    refused = mensura_command("responses", "next", fitted, file, "--form", 3)
    assert (refused.code, "a fixed form takes no answers; leave LOG out" in refused.err) == (2, True)
    items = pl.read_csv(fitted / "items.csv").sort("difficulty")["item"].to_list()
    for mean, expected in ((-9, items[:3]), (9, items[-3:])):
        words = ("--form", 3, "--mean", mean, "--sd", 0.1, "--choice", "best", "--json")
        form = json.loads(mensura_command("responses", "next", fitted, *words).out)["form"]
        assert {row["item"] for row in form} == set(expected)
    unknown = mensura_command("responses", "next", fitted, "--content", "colour")
    assert (unknown.code, "colour" in unknown.err) == (2, True)


def test_next_items_are_printed_until_the_interval_is_narrow_enough(fitted, mensura_command):
    run = mensura_command("responses", "next", fitted, "--count", 2)
    assert "Run next" in run.out
    assert len([line for line in run.out.splitlines() if line.startswith("│ i")]) == 2
    assert "Run next" not in mensura_command("responses", "next", fitted, "--within", 99).out


def test_reading_says_how_many_were_right_and_settings_of_counting_are_refused_for_ratings(mensura_command, tmp_path):
    (tmp_path / "a.csv").write_text("subject,q1,q2\na,1,0\nb,1,1\n", encoding="utf-8")
    run = mensura_command("responses", "read", tmp_path / "a.csv")
    assert run.out.endswith("; 75.0% right on average.\n")
    refused = mensura_command("responses", "fit", tmp_path / "a.csv", "--model", "graded", "--set", "partial=half")
    assert "--set partial: of no use to --model graded, whose outcomes are categories" in refused.err
