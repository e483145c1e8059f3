"""``mensura responses fit`` and the comparisons of fits and of subjects."""

import json
from types import SimpleNamespace

import polars as pl
import pytest

from mensura import MensuraError
from mensura.cli.response_fit import FitSettings, _print_dimensions, _print_fit, _refuse_unused
from mensura.cli.settings import read_settings
from tests.responses.conftest import draw


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--dimensions", 2, "--set", "density=estimated"), "--set density"),
        (("--bifactor",), "--bifactor"),
        (("--model", "graded", "--set", "rotation=none"), "--set rotation"),
        (("--model", "graded", "--dimensions", 2, "--explain", "answers.csv"), "--explain"),
        (("--dimensions", 2, "--people", "answers.csv"), "--people"),
        (("--set", "replication=brr"), "--set replication"),
    ],
)
def test_an_option_that_the_fit_would_leave_aside_is_refused(mensura_command, tmp_path, options, named):
    (tmp_path / "answers.csv").write_text("subject,q1,q2\na,1,0\nb,0,1\n", encoding="utf-8")
    options = [tmp_path / one if one == "answers.csv" else one for one in options]
    run = mensura_command("responses", "fit", tmp_path / "answers.csv", *options)
    assert run.code == 2
    assert f"{named}: of no use here, because" in run.err


def test_an_unknown_model_is_answered_with_all_models(mensura_command, tmp_path):
    draw(20, 4).wide.write_csv(tmp_path / "answers.csv")
    run = mensura_command("responses", "fit", tmp_path / "answers.csv", "--model", "4pl")
    assert run.code == 2 and "3pl" in run.err and "rating-scale" in run.err


def test_two_models_are_compared_on_the_items_that_both_answered(mensura_command, tmp_path):
    """Of 20 common items the first solves 15, the second 10; an item that one of them skipped does not count."""
    rows = [("a", f"q{k}", int(k < 15)) for k in range(20)] + [("b", f"q{k}", int(k < 10)) for k in range(20)]
    rows.append(("a", "skipped", 1))
    pl.DataFrame(rows, schema=["subject", "item", "correct"], orient="row").write_csv(tmp_path / "answers.csv")
    run = mensura_command("responses", "compare-subjects", tmp_path / "answers.csv", "--json")
    [pair] = json.loads(run.out)["pairs"]
    assert abs(pair["difference"]) == pytest.approx(0.25)
    assert pair["low"] < pair["difference"] < pair["high"]
    refused = mensura_command("responses", "compare-subjects", tmp_path / "answers.csv", "--subject", "nobody")
    assert (refused.code, "nobody" in refused.err) == (2, True)


def test_a_fit_of_persons_with_extreme_and_mixed_answers_names_the_highest(mensura_command, tmp_path):
    """Persons who solve more of the same items have higher abilities."""
    rows = {f"q{item}": [int((person + item) % 5 < person) for person in range(6)] for item in range(6)}
    pl.DataFrame({"subject": [f"p{person}" for person in range(6)], **rows}).write_csv(tmp_path / "answers.csv")
    run = mensura_command("responses", "fit", tmp_path / "answers.csv", "--model", "rasch", "--out", tmp_path / "fit")
    assert run.code == 0, run.err
    assert "p5 has the highest ability: " in run.out
    abilities = pl.read_csv(tmp_path / "fit" / "subjects.csv").sort("subject")["ability"].to_list()
    assert abilities == sorted(abilities)


USES = {
    "bifactor": ({}, {"several": True}),
    "people": ({}, {"more": "regress"}),
    "explain": ({"several": True}, {}),
    "reference": ({"several": True}, {"is_rated": True}),
    "abilities": ({"several": True}, {}),
    "density=estimated": ({"is_rated": True}, {}),
    "replication=brr": ({}, {"set": "replicates=W*"}),
    "rotation=none": ({}, {"several": True}),
    "device=cpu": ({"several": True}, {"is_rated": True}),
    "ray=local": ({"is_rated": True}, {}),
    "fix=items.csv": ({"is_rated": True}, {}),
    "times=rt": ({"several": True}, {"is_rated": True}),
    "rater=who": ({"is_rated": True, "several": True}, {"is_rated": True}),
}
"""Each option, a fit of no use for it, and one that takes it."""


@pytest.mark.parametrize("option", USES)
def test_an_option_is_refused_where_it_has_no_use_and_taken_elsewhere(monkeypatch, option):
    for taken, how in zip((False, True), USES[option], strict=True):
        is_setting = "=" in option
        given = [how[key] for key in ("more",) if key in how] + ([] if is_setting else [option])
        pairs = [option] if is_setting else []
        rare = read_settings([*pairs, *(how[key] for key in ("set",) if key in how)], FitSettings)
        monkeypatch.setattr("mensura.cli.response_fit.given_options", lambda given=given: given)
        call = (how.get("is_rated", False), how.get("several", False), rare)
        if taken:
            _refuse_unused(*call)
            continue
        name = f"--set {option.partition('=')[0]}" if is_setting else f"--{option}"
        with pytest.raises(MensuraError, match=f"{name}: of no use here, because"):
            _refuse_unused(*call)


def test_times_with_raters_are_refused(monkeypatch):
    monkeypatch.setattr("mensura.cli.response_fit.given_options", list)
    with pytest.raises(MensuraError, match="--set times: of no use here, because times belong to one ability and one"):
        _refuse_unused(True, False, read_settings(["times=rt", "rater=who"], FitSettings))


def test_survey_weights_make_a_table_of_people_and_a_replication_useful(monkeypatch):
    monkeypatch.setattr("mensura.cli.response_fit.given_options", lambda: ["people", "weights"])
    _refuse_unused(False, False, read_settings(["replication=brr"], FitSettings))
    monkeypatch.setattr("mensura.cli.response_fit.given_options", list)
    _refuse_unused(False, False, read_settings(["replication=brr", "cluster=school"], FitSettings))
    _refuse_unused(True, False, read_settings(None, FitSettings))


class Handed(Exception):  # noqa: N818 -- no error: what was handed over
    """What a function was given."""


@pytest.fixture
def handed(monkeypatch):
    """Let functions of the package stop the command and hand over what they were given."""

    def of(name):
        def hand(*given, **named):
            raise Handed(given, named)

        monkeypatch.setattr(f"mensura.responses.{name}", hand, raising=False)

    return of


@pytest.fixture
def answers(tmp_path):
    """Answers of six people to three items, with their ages and the raters' names."""
    rows = {f"q{item}": [(person + item) % 2 for person in range(6)] for item in range(3)}
    people = {"subject": [f"p{person}" for person in range(6)], "age": list(range(30, 36)), "weight": [1.0] * 6}
    pl.DataFrame({**people, **rows}).write_csv(tmp_path / "answers.csv")
    return tmp_path / "answers.csv"


def test_each_kind_of_model_goes_to_its_own_fit_with_its_own_options(mensura_command, handed, answers):
    for name in ("fit_responses", "fit_categories", "fit_dimensions"):
        handed(name)
    items = ("--set", "items=q*")
    for words, expected in (
        (("--model", "rasch", "--abilities", "wle"), ("rasch", "wle", "table")),
        (("--model", "graded", "--abilities", "wle"), ("graded", "wle", "files")),
        (("--model", "2pl", "--dimensions", "2", "--set", "rotation=none"), ("2pl", "none", "table")),
        (("--model", "graded", "--dimensions", "2", "--set", "rotation=none"), ("graded", "none", "files")),
    ):
        with pytest.raises(Handed) as given:
            mensura_command("responses", "fit", answers, *items, *words)
        (source, *_), named = given.value.args
        options = named.get("options")
        way = options.abilities if options else named.get("abilities", named.get("rotation"))
        kind = "files" if isinstance(source, list) else "table"
        assert (named["model"], way, kind) == expected
    with pytest.raises(Handed) as given:
        mensura_command("responses", "fit", answers, *items, "--weights", "weight", "--model", "rasch")
    assert given.value.args[1]["survey"].weights == "weight" and given.value.args[1]["reference"] is None


def test_a_store_is_fitted_from_its_disk_and_cannot_be_regressed(mensura_command, handed, answers, tmp_path):
    made = mensura_command("responses", "read", answers, "--set", "items=q*", "--store", tmp_path / "store")
    assert made.code == 0, made.err
    assert "wrote 6 subjects × 3 items to" in made.out
    handed("fit_responses")
    with pytest.raises(Handed) as given:
        mensura_command("responses", "fit", tmp_path / "store", "--model", "rasch")
    assert given.value.args[0] == (tmp_path / "store",)
    refused = mensura_command("responses", "fit", tmp_path / "store", "--regress", "age")
    assert (refused.code, "a response store keeps answers on disk" in refused.err) == (2, True)


def test_a_regression_reads_the_answers_again_unless_there_are_several_abilities(
    mensura_command, handed, answers, monkeypatch
):
    result = SimpleNamespace()
    monkeypatch.setattr("mensura.responses.fit_responses", lambda *_, **__: result, raising=False)
    monkeypatch.setattr("mensura.responses.fit_dimensions", lambda *_, **__: result, raising=False)
    handed("regress_abilities")
    words = ("responses", "fit", answers, "--set", "items=q*", "--regress", "age")
    for more, has_counts in (((), True), (("--dimensions", "2"), False)):
        with pytest.raises(Handed) as given:
            mensura_command(*words, *more)
        (fit, counts, about), named = given.value.args
        assert fit is result and (counts is not None) == has_counts
        assert about["age"].to_list() == list(range(30, 36))
        assert (named["on"], named["survey"]) == (["age"], None)


def test_surprises_of_ratings_are_sought_by_their_own_model(mensura_command, handed, answers):
    handed("find_surprises")
    rated = ("responses", "surprises", answers, "--set", "items=q*")
    handed("fit_categories")
    with pytest.raises(Handed) as given:
        mensura_command(*rated, "--model", "graded")
    assert isinstance(given.value.args[0][0], list) and given.value.args[1]["model"] == "graded"
    with pytest.raises(Handed) as given:
        mensura_command(*rated, "--model", "rasch", "--rate", "0.2")
    assert given.value.args[1] == {"model": "rasch", "rate": 0.2}
    assert given.value.args[0][0].subjects.height == 6


def printed_fit(groups=1, rated=False, **more):
    subjects = {"subject": ["a", "b"], "group": ["people", "models"], "ability": [0.5, 1.25], "low": [0.0, 1.0]}
    subjects = pl.DataFrame(subjects | {"high": [1.0, 1.5]})
    tables = {"groups": pl.DataFrame({"group": ["g"] * groups}), "items": pl.DataFrame({"item": ["q"]})}
    parts = {"categories": pl.DataFrame({"item": ["q"] * rated}), "reference": "people", "heading": "H"}
    parts |= {"dif": pl.DataFrame({"item": ["q", "r"], "flagged": [True, False]}), "log": pl.DataFrame()}
    parts |= {"checks": pl.DataFrame({"said": ["fits"]}), "warnings": ["odd"]}
    return SimpleNamespace(subjects=subjects, tables=lambda: tables, **tables, **parts | more)


def test_a_fit_is_printed_with_its_groups_where_there_are_several_and_names_the_highest(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("mensura.cli.response_fit.show", lambda tables, layout, **_: shown.append((layout, tables)))
    more = [
        SimpleNamespace(tables=lambda: {"effects": pl.DataFrame({"term": ["age"], "estimate": [0.5]})}, heading="R")
    ]
    _print_fit(printed_fit(), more)
    printed = capsys.readouterr().out
    assert "Abilities (90% intervals; unit: one sd of people). H; yours first" in printed
    assert "\nR\n" in printed and "0.500" in printed and "check: fits\nwarning: odd\n" in printed
    assert printed.endswith(
        "b has the highest ability: 1.25 (1.00 to 1.50, 90%), where 0 is the mean of people and 1 their standard "
        "deviation.\n"
    )
    assert list(shown[0][1]) == ["items"] and shown[1][1]["flagged"]["item"].to_list() == ["q"]
    _print_fit(printed_fit(groups=2, rated=True), [])
    assert list(shown[2][1]) == ["groups", "items"]
    assert "check: fits" not in capsys.readouterr().out, "checks are of right and wrong answers"


def test_several_abilities_are_printed_with_their_regression(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("mensura.cli.response_fit.show", lambda tables, layout, **_: shown.append(tables))
    items = pl.DataFrame({"item": ["q"], "dimension": ["one"], "loading": [0.5]})
    pairs = {"dimension": pl.String, "other": pl.String, "correlation": pl.Float64, "low": pl.Float64}
    fit = SimpleNamespace(
        items=items, correlations=pl.DataFrame(schema=pairs), intercepts=pl.DataFrame({"item": ["q"]}), heading="H",
        warnings=["odd"], tables=lambda: {"items": items},
    )  # fmt: skip
    _print_dimensions(fit, [])
    assert capsys.readouterr().out == "warning: odd\nHighest loadings: one on q (0.50).\n"
    fit.intercepts = pl.DataFrame({"item": ["q"], "category": [1]})
    effects = pl.DataFrame(
        {"dimension": ["one"], "term": ["age"], "estimate": [0.5], "se": [0.1], "low": 0.3, "high": 0.7}
    )
    _print_dimensions(fit, [SimpleNamespace(tables=lambda: {"effects": effects}, heading="Regression")])
    printed = capsys.readouterr().out
    assert "Regression\n" in printed and "The clearest effect: age changes one by 0.50" in printed
    assert [list(tables) for tables in shown] == [["items"], ["items", "categories"]]
