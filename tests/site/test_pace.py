"""The report's quarters ahead, also from a day that most years do not have."""

from datetime import date

from mensura.site.pace import quarters_after


def test_quarters_after_29_february_end_on_the_last_day_of_february():
    days = quarters_after(date(2028, 2, 29))
    assert days[:4] == [date(2028, 5, 29), date(2028, 8, 29), date(2028, 11, 29), date(2029, 2, 28)]
    assert days[-1] == date(2031, 2, 28)
    assert len(days) == 12
