"""How numbers are written on the pages: one rule per unit."""

from datetime import date

import polars as pl
import pytest

from mensura.site.pictures.benchmark import benchmark_scores, history_figure, ladder_figure, people_on, scores_figure
from mensura.study.units import (
    WORLD_POPULATION,
    chance,
    digits,
    dollars,
    rarity,
    say_day,
    show,
    show_column,
    show_range,
    unit_name,
)


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (98.125, "percent", "98.1%"),
        (87.0, "percent", "87%"),
        (0.812, "fraction", "81.2%"),
        (2069.4, "elo", "2,069 Elo"),
        (-3.25, "index", "−3.2"),
        (128.6, "iq", "129"),
        (1.366, "capability", "1.37"),
        (-0.001, "capability", "0.00"),
        (-0.001, "percent", "0%"),
        (24.57, "seconds", "25 s"),
        (None, "percent", "–"),
        (float("nan"), "iq", "–"),
    ],
)
def test_each_unit_has_one_way_of_writing(value, unit, said):
    assert show(value, unit) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.435, "$0.435"),
        (60.0, "$60"),
        (12.5, "$12.50"),
        (4.5, "$4.50"),
        (28.374, "$28.37"),
        (128.37, "$128"),
        (0.4, "$0.40"),
        (1234.0, "$1,234"),
        (0, "$0"),
        (None, "–"),
    ],
)
def test_dollars_have_cents_where_cents_say_something(value, said):
    assert dollars(value) == said


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("2026-13-45", "2026-13-45"),
        ("2026-13", "2026-13"),
        ("2026-10-05", "5 October 2026"),
        ("2026-09", "September 2026"),
        ("2025", "2025"),
        ("not dated", "not dated"),
    ],
)
def test_days_are_written_with_the_name_of_the_month(day, said):
    assert say_day(day) == said


def test_a_date_is_written_like_its_iso_text():
    assert say_day(date(2026, 9, 3)) == say_day("2026-09-03") == "3 September 2026"


def test_chances_do_not_reach_certainty():
    assert [chance(p) for p in (0.0, 0.004, 0.5, 0.974, 0.9999, 1.0)] == [
        *("under 1%", "under 1%", "50%", "97%", "over 99%", "over 99%")
    ]


def test_a_rarity_beyond_the_number_of_people_alive_says_so():
    assert rarity(44.2) == "1 in 44 people"
    assert rarity(31574.0) == "1 in 31,600 people"
    assert rarity(2.5) == "1 in 2.5 people"
    assert rarity(WORLD_POPULATION * 1.01) == "rarer than 1 in all people alive"
    assert "rarer" not in rarity(WORLD_POPULATION * 0.99)


def test_ranges_say_both_ends_once():
    assert show_range(0.55, 0.75, "fraction") == "55% to 75%"
    assert show_range(70.0, 70.0, "iq") == "70"
    assert show_range(None, 3.0, "iq") == ""


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([136.9, 140.0, None, 99.96], ["136.9", "140.0", "–", "100.0"]),
        ([-0.0312, 0.25, 0.0], ["−0.0312", "0.2500", "0.0000"]),
        ([1234.5, 12.0], ["1234", "12"]),
        ([1.5e-9, 0.002, 310.0], ["1.5e-09", "0.002", "310"]),
        ([float("nan"), None], ["–", "–"]),
    ],
)
def test_numbers_of_a_column_share_their_decimals_unless_that_hides_the_smallest(values, texts):
    assert show_column(values) == texts


@pytest.mark.parametrize("benchmark", ["swe_bench_pro", "gpqa_diamond"])
def test_tables_of_pictures_give_shares_in_percent_as_their_axes_do(study, benchmark):
    facts = study.evidence.benchmarks.row(by_predicate=pl.col("benchmark") == benchmark, named=True)
    assert facts["unit"] == {"swe_bench_pro": "fraction", "gpqa_diamond": "percent"}[benchmark]
    rows, people = benchmark_scores(study, benchmark), people_on(study, benchmark)
    best = rows["score"][0] / facts["ceiling"]
    for draw in (scores_figure, history_figure):
        figure = draw(study, benchmark, rows, people)
        columns, table = figure.table
        assert max(row[columns.index("score (percent)")] for row in table) == pytest.approx(100 * best)
    columns, table = ladder_figure(study, benchmark, rows, people).table
    judged = study.evidence.ladders.filter(benchmark=benchmark)["iq100"].item() / facts["ceiling"]
    assert {row[0]: row[1] for row in table}[100] == pytest.approx(100 * judged)


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.99, "99%"), (0.01, "1%"), (0.00999, "under 1%"), (0.9901, "over 99%"), (None, "–"), (float("nan"), "–")],
)
def test_one_and_ninety_nine_percent_are_still_said(value, said):
    assert chance(value) == show(value, "chance") == said


@pytest.mark.parametrize(
    ("one_in", "said"),
    [
        (1.0, "1 in 1 people"),
        (0.5, "1 in 0.5 people"),
        (9.99, "1 in 9.99 people"),
        (10.0, "1 in 10 people"),
        (99.6, "1 in 100 people"),
        (999.4, "1 in 999 people"),
        (1000.0, "1 in 1,000 people"),
        (1234.0, "1 in 1,230 people"),
        (1.0e6, "1 in 1,000,000 people"),
        (WORLD_POPULATION, "1 in 8,200,000,000 people"),
        (None, "–"),
        (float("inf"), "–"),
    ],
)
def test_a_rarity_has_three_significant_digits_and_no_part_of_a_person_from_ten_on(one_in, said):
    assert rarity(one_in) == said


def test_other_numbers_have_three_digits_and_names_of_units_are_for_people():
    assert (show(1234.5, "parsecs"), show(-0.0, "parsecs"), show(-1.5, "parsecs")) == ("1.23e+03", "0", "−1.5")
    assert (show(12.5, "dollars"), dollars(-0.5), show(87.04, "composite")) == ("$12.50", "−$0.50", "87")
    assert (digits(1 / 3), digits(None), digits(float("nan"))) == ("0.333333", "", "")
    assert [unit_name(unit) for unit in ("fraction", "elo", "iq", "index")] == ["percent", "Elo", "IQ", "index"]
    assert show_range(1.0, None, "iq") == ""
