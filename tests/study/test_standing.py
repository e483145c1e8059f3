"""Where one model stands, beside the others and beside people."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.iq.relatives import ENOUGH, TEACHERS
from mensura.study import find_whereabouts, list_benchmarks, say_uses
from mensura.study.standing import Whereabouts, _dimensions, _use, find_neighbours, find_next, find_people, find_prices


@pytest.fixture(scope="module")
def found(study):
    return find_whereabouts(study, "claude-opus-4.6")


def test_the_heading_says_what_the_iq_rests_on(found, study):
    row = study.models.row(by_predicate=pl.col("subject") == "claude-opus-4.6", named=True)
    assert found.heading.startswith(f"Claude Opus 4.6: IQ {row['iq']} (")
    assert f"{row['measured']} of {len(study.iq.matrix.benchmarks)} benchmarks measured" in found.heading


def test_neighbours_stand_in_order_with_the_chance_of_being_above_them(found, study):
    names = found.neighbours["subject"].to_list()
    assert names[3] == "claude-opus-4.6"
    assert found.neighbours["iq"].is_sorted(descending=True)
    chances = found.neighbours["chance_above"].to_list()
    assert chances[3] is None
    assert chances[0] < 0.5 < chances[-1]
    above = study.iq.drawn.composites
    at = [study.iq.drawn.subjects.index(name) for name in ("claude-opus-4.6", names[0])]
    assert chances[0] == pytest.approx(np.mean(above[:, at[0]] > above[:, at[1]]))


def test_people_are_those_of_tests_it_took_each_with_its_test(found, study):
    taken = study.evidence.primary_scores.filter(pl.col("subject") == "claude-opus-4.6")["benchmark"].to_list()
    assert set(found.people["benchmark"]) <= set(taken)
    assert "constructed" not in found.people["status"].to_list()
    assert found.people["chance_above"].is_between(0, 1).all()


def test_what_to_measure_next_is_not_measured_and_explains_a_share(found, study):
    row = study.iq.matrix.subjects.index("claude-opus-4.6")
    missing = {b for c, b in enumerate(study.iq.matrix.benchmarks) if not study.iq.matrix.measured[row, c]}
    assert set(found.next["benchmark"]) == missing
    assert found.next["variance_explained"].is_sorted(descending=True)
    assert found.next["variance_explained"].is_between(0, 1).all()


def test_prices_are_of_models_about_as_good(found, study):
    iq = found.standing["iq"].item()
    assert "claude-opus-4.6" in found.prices["subject"].to_list()
    assert ((found.prices["iq"] - iq).abs() <= 4).all()
    assert found.prices["sticker_price"].drop_nulls().is_sorted()


def test_an_unknown_model_is_refused_with_near_names(study):
    with pytest.raises(MensuraError, match="did you mean"):
        find_whereabouts(study, "claude-opus-4.66")


def ranked_study(**unranked):
    """Return eight ranked models a (IQ 130) to h (IQ 123); a to c are 1 point apart and so on."""
    rows = [
        {
            "subject": name,
            "iq": 130 - k,
            "exact_iq": 130.0 - k,
            "iq_low": 0.0,
            "iq_high": 0.0,
            "measured": 5,
            "rank": k + 1,
        }
        | {"sticker_price": None if name == "c" else float(k % 4), "effective_cost": None}
        for k, name in enumerate("abcdefgh")
    ]
    own = {**rows[0], "subject": "new", "rank": None, **unranked}
    by_subject = {row["subject"]: row for row in [*rows, own]}
    plain = SimpleNamespace(by_subject=by_subject, ranked_rows=rows, beyond_guessing=set(by_subject) - {"h"})
    drawn = SimpleNamespace(ahead=lambda one, other: {"a": 0.1}.get(other, 0.7))
    return SimpleNamespace(rows=plain, iq=SimpleNamespace(drawn=drawn))


def test_neighbours_are_three_above_and_three_below():
    listed = find_neighbours(ranked_study(), "d")
    assert [row["subject"] for row in listed.rows] == list("abcdefg")
    assert [row["chance_above"] for row in listed.rows] == [0.1, 0.7, 0.7, None, 0.7, 0.7, 0.7]
    assert [row["subject"] for row in find_neighbours(ranked_study(), "a").rows] == list("abcd")
    guesser = find_neighbours(ranked_study(), "h").rows
    assert [row["subject"] for row in guesser] == list("efgh")
    assert {row["chance_above"] for row in guesser} == {None}, "no better than guessing: above nobody"


@pytest.mark.parametrize(
    ("iq", "near"), [(126.5, "bcd new efg"), (131.0, "new abc"), (120.0, "fgh new"), (126.0, "cde new fgh")]
)
def test_a_model_too_new_to_rank_stands_among_the_ranked_ones(iq, near):
    listed = find_neighbours(ranked_study(exact_iq=iq), "new")
    assert [row["subject"] for row in listed.rows] == [
        one for part in near.split() for one in ([part] if part == "new" else part)
    ]
    assert find_neighbours(ranked_study(iq=None), "new").rows == []


def test_prices_are_of_models_within_three_points_and_unknown_ones_come_last():
    """Of d (127): a to g, by price 0, 0, 1, 1, 2, 3, unknown; the better of equal prices first."""
    assert [row["subject"] for row in find_prices(ranked_study(), "d").rows] == list("aebfgdc")
    new = find_prices(ranked_study(exact_iq=121.0, sticker_price=9.0), "new").rows
    assert [row["subject"] for row in new] == ["g", "h", "new"]
    assert find_prices(ranked_study(exact_iq=None), "new").rows == []


def test_a_benchmark_explains_the_squared_correlation_of_its_draws_with_the_iq():
    rng = np.random.default_rng(0)
    composite = rng.normal(100, 5, 400)
    draws = np.column_stack(
        [
            composite,
            2 * composite + 5 * rng.normal(size=400),
            -composite,
            np.full(400, 3.0),
            composite,
            np.full(400, np.nan),
        ]
    )
    drawn = SimpleNamespace(
        places={"m": 0, "gone": 1},
        composites=np.column_stack([composite, np.full(400, np.nan)]),
        benchmarks=np.stack([draws, draws], axis=1),
    )
    matrix = SimpleNamespace(measured=np.array([[True] + [False] * 5] * 2), benchmarks=list("uvwxyz"))
    study = SimpleNamespace(
        iq=SimpleNamespace(drawn=drawn, matrix=matrix), benchmark_names={name: name.upper() for name in "uvwxyz"}
    )
    shares = {row["benchmark"]: row["variance_explained"] for row in find_next(study, "m").rows}
    assert list(shares) == ["w", "y", "v", "x"] or list(shares) == ["y", "w", "v", "x"]
    expected = np.corrcoef(composite, draws[:, 1])[0, 1] ** 2
    assert shares == pytest.approx({"w": 1.0, "y": 1.0, "v": expected, "x": 0.0}, abs=1e-6)
    assert find_next(study, "nobody").rows == find_next(study, "gone").rows == []


def test_people_come_by_chance_and_unknown_chances_last():
    groups = [{"benchmark": name, "group": "g", "status": "measured"} for name in "tuvw"]
    rows = SimpleNamespace(tested_people=groups, printed_scores={"m": {"t": 1, "u": 1, "v": 1}})
    chances = {("t", "g"): {"m": 0.2}, ("u", "g"): {}, ("v", "g"): {"m": 0.9}, ("w", "g"): {"m": 1.0}}
    listed = find_people(SimpleNamespace(rows=rows, over_people=chances), "m").rows
    assert [(row["benchmark"], row["chance_above"]) for row in listed] == [("v", 0.9), ("t", 0.2), ("u", None)]
    assert find_people(SimpleNamespace(rows=rows, over_people=chances), "untested").rows == []


@pytest.mark.parametrize(
    ("row", "taught", "use", "why"),
    [
        ({"in_composite": True}, None, "IQ", "part of fluid"),
        ({"unit": "composite"}, 99, "neither", "no link from its unit"),
        ({}, 8, "IQ (few scores)", "read through 8 models while a model has fewer than"),
        ({}, 7, "capability", "(now 7)"),
        ({"models": 1}, 7, "neither", "only one model took it"),
        ({}, None, "capability", "a frontier test of fluid, never part of the IQ"),
        ({"dimension": None}, None, "capability", "a frontier test of no dimension"),
    ],
)
def test_what_a_benchmark_counts_for_and_why(row, taught, use, why):
    usual = {"in_composite": False, "unit": "percent", "models": 9, "kind": "frontier", "dimension": "fluid"}
    counts, because = _use({**usual, **row}, None if taught is None else taught - 8 + TEACHERS)
    assert counts == use
    assert why.replace("8 models", f"{TEACHERS} models").replace("now 7", f"now {TEACHERS - 1}") in because


def test_a_score_off_the_iq_counts_for_it_only_while_its_model_has_few(evidence):
    listed = list_benchmarks(evidence)
    order = ["IQ", "IQ (few scores)", "capability", "neither"]
    assert listed["counts_for"].to_list() == sorted(listed["counts_for"], key=order.index)
    few = listed.filter(counts_for="IQ (few scores)")["benchmark"][0]
    part = evidence.benchmarks.filter("in_composite")["benchmark"].implode()
    own = dict(evidence.primary_scores.filter(pl.col("benchmark").is_in(part)).group_by("subject").len().iter_rows())
    enough, short = (next(name for name in own if (own[name] >= ENOUGH) == has) for has in (True, False))
    scores = pl.DataFrame({"subject": [enough, short, "nobody"], "benchmark": [few] * 3, "mine": [1, 2, 3]})
    assert say_uses(evidence, scores)["counts_for"].to_list() == ["capability", "IQ (few scores)", "IQ (few scores)"]
    assert (
        say_uses(evidence, scores)["because"][0]
        == "no part of the IQ, and its model has enough scores on tests that are"
    )
    assert say_uses(evidence, scores).columns == ["subject", "benchmark", "mine", "counts_for", "because"]
    taken = dict(evidence.primary_scores.group_by("benchmark").len().iter_rows())
    assert dict(listed.select("benchmark", "models").iter_rows()) == {
        name: taken.get(name, 0) for name in listed["benchmark"]
    }


def test_the_heading_says_iq_basis_and_rank_or_what_is_missing():
    row = {"iq": 130, "iq_low": 125.4, "iq_high": 134.6, "measured": 9, "inherited": 1, "estimated": 22}
    row |= {"rank": 2, "rank_low": 1, "rank_high": 5, "p_first": 0.25}

    def heading(missing="", why_none="", **changed):
        tables = [pl.DataFrame([row | changed]), *[pl.DataFrame()] * 5]
        return Whereabouts("Em", *tables, why_none, missing).heading

    basis = "Em: IQ 130 (125 to 135; 9 of 32 benchmarks measured)"
    assert heading() == f"{basis}, rank 2 (1 to 5; 25% chance of being first)"
    assert heading("3 tests", rank=None) == f"{basis}, too new to rank: it needs 3 tests"
    assert heading(why_none="it has no score", iq=None) == "Em: no IQ yet, since it has no score"


def test_dimensions_are_listed_strongest_first_by_name():
    rows = [("m", "math", 110.0), ("m", "trust", 120.0), ("m", "odd", None), ("n", "math", 150.0)]
    table = pl.DataFrame(rows, schema=["subject", "dimension", "iq"], orient="row")
    table = table.with_columns(low=1.0, high=2.0, measured=1, inherited=2, estimated=3)
    study = SimpleNamespace(dimensions=table, dimension_names={"math": "Mathematics", "trust": "Reliability"})
    listed = _dimensions(study, "m")
    assert listed["dimension"].to_list()[:2] == ["Reliability", "Mathematics"] and listed.height == 3
    assert listed.columns == ["dimension", "iq", "low", "high", "measured", "inherited", "estimated"]
