"""Words of a model's page about the people whom it passed."""

import re
from types import SimpleNamespace

import pytest

from mensura.charts.plot import draw_nothing
from mensura.charts.theme import paint
from mensura.site.pictures.registry import Figure
from mensura.site.pictures.standing import (
    against_people,
    among_people,
    known_tests,
    model_picture,
    passed_said,
    people_rows,
    profile,
    what_it_costs,
)
from mensura.study.units import show


def duel(verdict, measured):
    return {"verdict": verdict, "status": "measured, n = 20" if measured else "judged"}


@pytest.mark.parametrize(
    ("duels", "said"),
    [
        ([duel("passed", True)], "1 of 1 measured group of people"),
        ([duel("passed", True), duel("behind", True)], "1 of 2 measured groups of people"),
        (
            [duel("passed", True), duel("behind", False), duel("behind", False)],
            "1 of 1 measured group of people and none of 2 judged groups of people",
        ),
    ],
)
def test_measured_and_judged_groups_are_never_added_up(duels, said):
    assert passed_said(duels) == said


def test_groups_that_are_counted_and_not_drawn_are_said_to_be_in_the_table(study):
    found = 0
    for subject, row in study.rows.by_subject.items():
        figure = against_people(study, row) if row["exact_iq"] is not None else None
        if figure is not None:
            drawn = int(re.search(r"and (\d+) groups of people", figure.drawing.wide)[1])
            left = len(people_rows(study, subject)) - drawn
            assert (f"; {left} only in the table below" in figure.finding) is (left > 0)
            found += left > 0
    assert found > 0


def model(subject, iq=120.0, cost=None, **more):
    row = {"subject": subject, "name": subject.upper(), "provider": "OpenAI", "exact_iq": iq, "iq": round(iq)}
    row |= {"iq_low": iq - 4, "iq_high": iq + 4, "well_measured": True, "rank": 1, "effective_cost": cost}
    return row | more


def test_cheaper_models_at_least_as_high_are_counted():
    rows = [
        model("a", 130.0, 8.0),
        model("b", 120.0, 4.0),
        model("c", 120.0, 2.0),
        model("d", 125.0),
        model("e", 110.0, 1.0),
    ]
    study = SimpleNamespace(rows=SimpleNamespace(by_iq=rows))
    found = {row["subject"]: what_it_costs(study, row) for row in rows}
    of = "Of 3 others with an effective cost"
    assert found["b"].finding == f"{of}, 1 is cheaper and at least as high"
    assert found["a"].finding == f"{of}, none is cheaper and at least as high"
    assert found["c"].finding == f"{of}, none is cheaper and at least as high", "equal cost is not cheaper"
    assert found["d"] is None
    dear = model("x", 110.0, 9.0)
    assert (
        what_it_costs(study, dear).finding == "Of 4 others with an effective cost, 4 are cheaper and at least as high"
    )
    assert found["b"].description == "IQ against effective cost; B costs $4."
    assert "B, $4, IQ 120" in found["b"].drawing.wide


def test_a_model_stands_among_the_others_once():
    study = SimpleNamespace(rows=SimpleNamespace(ranked_iqs=[130.0, 120.0, 120.0, 90.0]))
    ranked = among_people(study, model("b"))
    assert "3 other models" in ranked.drawing.wide
    assert ranked.description == "B, IQ 120, among 1,000 people."
    assert "4 other models" in among_people(study, model("n", 110.0, rank=None)).drawing.wide
    assert study.rows.ranked_iqs == [130.0, 120.0, 120.0, 90.0], "the pages of others need them too"


def kinds(**values):
    return [
        {"dimension": name, "value": value, "low": value - 3, "high": value + 3, "status": status, "provider": "OpenAI"}
        for name, (value, status) in values.items()
    ]


def test_a_profile_names_its_ends_and_has_the_leading_models_behind_it():
    rows = {f"m{at}": kinds(Maths=(130.0 - at, "measured")) for at in range(8)}
    rows["m1"] = kinds(Maths=(141.4, "measured"), Trust=(108.0, "inherited"))
    ranked = [model(name) for name in rows]
    study = SimpleNamespace(rows=SimpleNamespace(profile_rows=rows, ranked_rows=ranked))
    figure = profile(study, model("m1"))
    assert figure.finding == "108 in Trust, 141 in Maths"
    assert figure.description == "IQ by dimension of M1: 108 in Trust, 141 in Maths."
    grey = re.findall(r'<path d="((?:M[^"]*m[^"]*z)+)" fill="[^"]*" stroke="[^"]*" stroke-opacity', figure.drawing.wide)
    assert sum(path.count("M") for path in grey) == 5, "of six leaders it is one itself"
    fills = re.findall(r'class="sign"[^>]*d="[^"]*" fill="([^"]*)"', figure.drawing.wide)
    assert fills[0] != paint.surface == fills[1]
    assert "5 leading models" in figure.caption or "5 " in figure.caption


def people_study(*groups):
    """Return a study of model m, which has 90 on each test; groups: name, status, unit, score, chance, n."""
    names = ("benchmark", "group", "status", "unit", "score", "chance", "n")
    rows = [dict(zip(names, (f"t{at}", *one), strict=True)) for at, one in enumerate(groups)]
    tested = [{key: row[key] for key in names[:3]} for row in rows]
    printed = {(row["benchmark"], row["group"]): {key: row[key] for key in ("score", "unit", "n")} for row in rows}
    own = {row["benchmark"]: 0.9 if row["unit"] == "fraction" else 90.0 for row in rows}
    chances = {(row["benchmark"], row["group"]): {} if row["chance"] is None else {"m": row["chance"]} for row in rows}
    told = SimpleNamespace(
        tested_people=tested,
        printed_people=printed,
        own_scores={"m": own},
        printed_scores={"m": dict.fromkeys(own, "90%")},
    )
    return SimpleNamespace(rows=told, over_people=chances, benchmark_names={key: key.upper() for key in own})


def test_people_of_a_model_come_with_both_scores_those_not_passed_first():
    study = people_study(
        ("experts", "measured", "percent", 80.0, 0.99, 1200),
        ("pupils", "judged", "fraction", 0.95, 0.1, None),
        ("monks", "measured", "percent", 50.0, None, 3),
    )
    rows = people_rows(study, "m")
    assert [(row["test"], row["group"], row["status"], row["theirs"], row["own"], row["verdict"]) for row in rows] == [
        ("T1", "pupils", "judged", show(0.95, "fraction"), "90%", "cannot be told"),
        ("T0", "experts", "measured, n = 1,200", "80%", "90%", "passed"),
        ("T2", "monks", "measured, n = 3", "50%", "90%", "not known"),
    ]
    figure = against_people(study, model("m"))
    assert figure.description == "M and 2 groups of people, test by test."
    assert figure.finding == (
        "It passed 1 of 2 measured groups of people and none of 1 judged group of people; 1 only in the table below"
    )
    wide = figure.drawing.wide
    assert wide.index("T0: Experts<") < wide.index("T1: Pupils<"), "measured people come first"
    grid = [float(x) for x in re.findall(r'<line x1="([\d.]+)" y1="20', wide)]
    at = [float(x) for x in re.findall(r'class="sign" transform="translate\(([\d.]+),', wide)]
    assert at == [pytest.approx(grid[0] + 0.9 * (grid[-1] - grid[0]), abs=0.2)] * 2, "shares stand in percent"
    assert against_people(people_study(("monks", "measured", "percent", 50.0, None, 3)), model("m")) is None
    assert against_people(people_study(("monks", "measured", "elo", 50.0, 0.5, 3)), model("m")) is None
    many = people_study(*((f"g{at}", "measured", "percent", 50.0, 0.9, 3) for at in range(12)))
    assert against_people(many, model("m")).finding.endswith("; 2 only in the table below")


def test_a_picture_for_print_has_the_name_of_its_model_and_needs_an_iq():
    drawn = model_picture(lambda _, row: None if row["iq"] == 1 else Figure("n", "Title", "c.", draw_nothing("x")))
    rows = {"a": model("a"), "b": model("b") | {"exact_iq": None}, "c": model("c", 1.0)}
    study = SimpleNamespace(rows=SimpleNamespace(by_subject=rows))
    assert drawn(study, "a").title == "A: Title"
    assert drawn(study, "b") is None and drawn(study, "c") is None


def test_tests_of_each_kind_of_work_say_whether_the_model_took_them():
    matrix = SimpleNamespace(
        dimensions=("fluid", "trust"),
        benchmarks=("x", "y", "z"),
        dimension_of=(1, 0, 1),
        measured=[[True, False, False]],
        row=lambda _: 0,
    )
    names = {"fluid": "Fluid", "trust": "Reliability"}
    study = SimpleNamespace(
        iq=SimpleNamespace(matrix=matrix), benchmark_names={"x": "X", "y": "Y", "z": "Z"}, dimension_names=names
    )
    assert known_tests(study, "m") == [
        {"name": "Fluid", "tests": [{"benchmark": "y", "name": "Y", "measured": False}]},
        {
            "name": "Reliability",
            "tests": [
                {"benchmark": "x", "name": "X", "measured": True},
                {"benchmark": "z", "name": "Z", "measured": False},
            ],
        },
    ]
