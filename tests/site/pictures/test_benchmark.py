"""Pictures of one benchmark (all models with people, the ladder, the history) and of one maker over time."""

import pytest

from mensura.site.pictures.benchmark import benchmark_scores, said_beyond, up_to


def test_a_ladder_ends_where_the_test_does():
    points = [(20.0, 100.0), (60.0, 115.0), (120.0, 145.0)]
    assert up_to(points, None) == up_to(points, 120.0) == (points, [])
    assert up_to(points, 100.0) == ([*points[:2], (100.0, 135.0)], points[2:])
    assert up_to(points, 60.0) == (points[:2], points[2:])
    assert said_beyond(points[2:], "percent").startswith(" The ladder puts IQ 145 at 120%, beyond")
    assert said_beyond([], "percent") == ""


@pytest.mark.slow
def test_bars_of_a_benchmark_are_the_sampling_error_of_its_items(study):
    """198 questions: at the low end p the score lies 1.645 √(p (1 − p) / 198) above, in percent."""
    rows = benchmark_scores(study, "gpqa_diamond").head(5)
    assert rows.height == 5
    for row in rows.iter_rows(named=True):
        end = row["low"] / 100
        assert row["score"] - row["low"] == pytest.approx(164.485 * (end * (1 - end) / 198) ** 0.5, rel=1e-3)
