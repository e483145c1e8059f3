"""Time limits of an exam: of the whole, of a section, of an item; pure functions of times in seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mensura.exam.file import Exam


def deadline(exam: Exam, started: float, shown: Mapping[str, float], item: str) -> float:
    """Return the time after which an answer to an item is late; infinite without limits.

    ``shown``: when each item was first shown. A section's time begins with the first of its items.
    """
    rules, section = exam.settings.time, exam.by_name[item].section
    ends = [math.inf]
    if rules.minutes is not None:
        ends.append(started + 60.0 * rules.minutes)
    if rules.seconds_per_item is not None and item in shown:
        ends.append(shown[item] + rules.seconds_per_item)
    limits = {one.name: one.minutes for one in exam.settings.sections}
    minutes = limits.get(section)
    if minutes is not None:
        opened = [at for name, at in shown.items() if exam.by_name[name].section == section]
        if opened:
            ends.append(min(opened) + 60.0 * minutes)
    return min(ends)


def rules_text(exam: Exam) -> str:
    """Return the time rules in words, the same for people and models."""
    rules = exam.settings.time
    said = [f"You have {rules.minutes:g} minutes for all questions."] if rules.minutes else []
    said += [f"You have {rules.seconds_per_item:g} seconds for each question."] if rules.seconds_per_item else []
    said += [
        f"You have {one.minutes:g} minutes for the part “{one.title}”." for one in exam.settings.sections if one.minutes
    ]
    return " ".join(said) or "There is no time limit."
