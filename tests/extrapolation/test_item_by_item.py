"""As published: one item per call, in up to 27 variants of the prompt; the mean of the answers is the estimate."""

import pytest

from mensura.core.errors import MensuraError
from mensura.extrapolation.item_by_item import CallPlan

REFUSED = [({"width": 0}, "width"), ({"width": 1.5}, "width"), ({"repeats": 0}, "repeats"), ({"budget": 0.5}, "budget")]


def test_a_variant_is_repeated_only_after_all_others():
    calls = CallPlan(repeats=2).calls(item=4, done=0, more=54)
    assert sorted(variant for _, variant, repeat in calls if repeat == 0) == list(range(27))
    assert [repeat for _, _, repeat in calls] == [0] * 27 + [1] * 27


@pytest.mark.parametrize(("settings", "word"), REFUSED)
def test_plans_that_make_no_sense_are_refused(settings, word):
    with pytest.raises(MensuraError, match=word):
        CallPlan(**settings)
