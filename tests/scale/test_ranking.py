"""Who is ranked and who leads, on cases counted by hand."""

import numpy as np
import pytest

from mensura.scale.ranking import rank_interval, rank_subjects, say_chance, say_leader

DRAWS = np.array([[100.0, 120, 130, 110], [130, 120, 90, 110], [100, 120, 140, 110], [100, 90, 95, 110]])
"""Four draws of four models; the third is highest twice, and is not ranked."""


def test_ranks_follow_the_estimates_and_chances_count_draws_among_the_ranked():
    table = rank_subjects("abcd", np.array([108.0, 113, 114, 110]), DRAWS, np.array([True, True, False, True]))
    assert table.columns == ["rank", "subject", "rank_low", "rank_high", "p_first"]
    assert table.select("rank", "subject", "p_first").rows() == [(1, "b", 0.5), (2, "d", 0.25), (3, "a", 0.25)]


def test_a_rank_lies_inside_its_interval():
    table = rank_subjects("abc", np.array([3.0, 2.0, 1.0]), np.array([[1.0, 2.0, 3.0]] * 20), np.full(3, True))
    assert table.select("rank", "rank_low", "rank_high").rows() == [(1, 1, 3), (2, 2, 2), (3, 1, 3)]


def test_without_draws_there_are_ranks_and_no_chances():
    table = rank_subjects("ab", np.array([1.0, 2.0]), None, np.array([True, True]))
    assert table.rows() == [(1, "b", None, None, None), (2, "a", None, None, None)]


def test_nobody_ranked_is_an_empty_table():
    assert rank_subjects("ab", np.array([1.0, 2.0]), DRAWS[:, :2], np.array([False, False])).is_empty()


@pytest.mark.parametrize(
    ("shares", "ends"),
    [
        ({1: 100}, (1, 1)),
        ({1: 96, 2: 4}, (1, 1)),
        ({1: 88, 2: 12}, (1, 2)),  # a chance of 88% of being first leaves room for a second place
        ({1: 4, 2: 92, 3: 4}, (2, 2)),
        ({1: 8, 2: 84, 3: 8}, (1, 3)),
        ({1: 4, 2: 40, 3: 40, 4: 12, 5: 4}, (2, 4)),
        (dict.fromkeys(range(1, 11), 10), (1, 10)),
    ],
)
def test_a_rank_interval_leaves_out_less_than_a_twentieth_at_either_end(shares, ends):
    ranks = np.repeat(list(shares), list(shares.values())).astype(float)[:, None]
    assert tuple(float(end[0]) for end in rank_interval(ranks)) == ends


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.96, "A almost certainly leads: a 96% chance of being first among all 9 ranked models."),
        (0.95, "A probably leads: a 95% chance"),
        (0.51, "A probably leads: a 51% chance"),
        (0.5, "A may lead: a 50% chance"),
        (0.999, "A almost certainly leads: an over 99% chance"),
        (None, "A has the highest estimate of 9 models; without draws nobody knows how sure that is."),
    ],
)
def test_who_leads_is_said_with_the_chance(chance, words):
    assert say_leader("A", [chance], 9).startswith(words)


def test_the_least_sure_way_decides_how_strongly_a_lead_is_said():
    assert say_leader("A", [0.88, 0.6, 0.73], 9) == (
        "A probably leads: a 60 to 88% chance of being first among all 9 ranked models, by method."
    )
    assert say_leader("A", [0.35, 0.71], 9).startswith("A may lead: a 35 to 71% chance")
    assert say_leader("A", [0.712, 0.709], 9).endswith("a 71% chance of being first among all 9 ranked models.")


def test_chances_near_the_ends_are_said_as_bounds():
    assert [say_chance(value) for value in (0.0, 0.009, 0.01, 0.994, 1.0)] == [
        *("under 1%", "under 1%", "1%", "over 99%", "over 99%")
    ]


def test_who_differs_only_in_last_bits_keeps_the_order_given():
    estimates = np.array([110.0, np.nextafter(110.0, 111.0), 110.1])
    assert rank_subjects("abc", estimates, None, np.full(3, True))["subject"].to_list() == ["c", "a", "b"]
