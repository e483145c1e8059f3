from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from benchmarks.published_robustness import frontier_slopes
from mensura.core.errors import MensuraError
from mensura.stitching import PositionDraws, to_date, to_years
from mensura.stitching.positions import Positions
from mensura.trends import add_dates, find_frontier, frontier_line, read_capabilities
from mensura.trends.capabilities import read_draws
from mensura.trends.lines import is_record


def table(days, values):
    return pl.DataFrame({"subject": [f"s{i}" for i in range(len(days))], "released": days, "capability": values})


def test_frontier_keeps_the_best_of_every_day_that_equals_or_beats_the_past():
    days = [date(2024, 1, 1), date(2024, 1, 1), date(2024, 2, 1), date(2024, 3, 1), date(2024, 4, 1)]
    found = find_frontier(table(days, [1.0, 1.5, 1.2, 1.5, 2.0]))
    assert found["subject"].to_list() == ["s1", "s3", "s4"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=20))
def test_records_agree_with_their_definition(points):
    points.sort(key=lambda p: p[0])
    years, values = np.array(points, dtype=float).T
    expected = [v >= values[years <= y].max() for y, v in zip(years, values, strict=True)]
    assert is_record(years, values).tolist() == expected


def test_line_through_a_frontier_that_gains_half_a_unit_a_year():
    days = [date(2020, 1, 1), date(2021, 1, 1), date(2022, 1, 1), date(2023, 1, 1)]
    years = to_years(pl.Series(days))
    assert frontier_line(table(days, 0.5 * years)).slope == pytest.approx(0.5)


@given(st.dates(date(1990, 1, 1), date(2060, 1, 1)))
def test_dates_and_years_are_inverse(day):
    assert to_date(to_years(pl.Series([day]))[0]) == day


def test_names_of_columns_and_text_dates_are_accepted():
    frame = pl.DataFrame({"model": ["a", "b", "c"], "release_date": ["2024-01-03", "2024-01-02", "2024-01-01"]})
    read = read_capabilities(frame.with_columns(capability=pl.lit(1)))
    assert read["subject"].to_list() == ["c", "b", "a"]
    assert read["released"].dtype == pl.Date


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"released": ["2024-01-01", "soon", "2024-01-03"]}, "no release date .* for 'b'"),
        ({"capability": [1.0, None, 2.0]}, "no finite capability for 'b'"),
        ({"subject": ["a", "a", "c"]}, "more than one row for 'a'"),
    ],
)
def test_unusable_rows_are_named(change, message):
    good = {
        "subject": ["a", "b", "c"],
        "released": ["2024-01-01", "2024-01-02", "2024-01-03"],
        "capability": [1.0, 2, 3],
    }
    with pytest.raises(MensuraError, match=message):
        read_capabilities({**good, **change})


def test_too_few_subjects_are_refused():
    with pytest.raises(MensuraError, match="2 subjects; a trend needs at least 3"):
        read_capabilities(table([date(2024, 1, 1), date(2024, 1, 2)], [1.0, 2.0]))


def test_dates_are_joined_from_a_table_of_models():
    joined = add_dates(
        pl.DataFrame({"subject": ["a"], "capability": [1.0]}),
        pl.DataFrame({"model": ["a"], "released": ["2024-05-01"]}),
    )
    assert joined["released"][0] == date(2024, 5, 1)


def test_draws_come_in_the_order_asked_and_must_be_complete():
    long = pl.DataFrame({"subject": ["a", "b"] * 2, "draw": [0, 0, 1, 1], "capability": [1.0, 2.0, 3.0, 4.0]})
    assert read_draws(long, pl.Series(["b", "a"])).tolist() == [[2.0, 1.0], [4.0, 3.0]]
    with pytest.raises(MensuraError, match="missing for 'c'"):
        read_draws(long, pl.Series(["a", "c"]))


def test_slopes_of_draws_are_those_of_each_draws_own_frontier():
    years = np.array([0.0, 1.0, 2.0, 3.0])
    draws = np.array([[0.0, 0.5, 1.0, 1.5], [0.0, 2.0, 1.0, 4.0], [np.nan, 1.0, 0.0, 4.0], [3.0, 2.0, 1.0, 0.0]])
    found = frontier_slopes(years, draws)
    assert found[0] == pytest.approx(0.5)
    assert found[1] == pytest.approx(np.polyfit([0, 1, 3], [0, 2, 4], 1)[0])
    assert found[2] == pytest.approx(1.5)
    assert np.isnan(found[3])


def test_a_year_has_365_and_a_quarter_days():
    four = to_years(pl.Series([date(2020, 1, 1), date(2024, 1, 1), None]))
    assert four[1] - four[0] == 4
    assert np.isnan(four[2])


def test_draws_of_a_fit_that_leave_a_subject_out_hold_its_mean_there(simulated_draws):
    draws, names = simulated_draws
    matrix = read_draws(draws, pl.Series(names))
    assert np.isfinite(matrix).all()
    assert matrix[0, 0] == pytest.approx(np.nanmean(draws.positions.capability[:, 0]))
    with pytest.raises(MensuraError, match="no draws for 'nobody'"):
        read_draws(draws, pl.Series(["nobody"]))


@pytest.fixture
def simulated_draws():
    C = np.array([[[np.nan], [1.0]], [[2.0], [1.0]], [[4.0], [3.0]]])
    phi = np.ones((3, 1, 2))
    draws = PositionDraws("bootstrap", ("a", "b"), ("x",), Positions(C[1:2], phi[:1]), Positions(C, phi))
    return draws, ["a", "b"]
