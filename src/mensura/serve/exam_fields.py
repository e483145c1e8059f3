"""What a taker's page gets, and the fields that it sends: nothing in those is trusted."""

import math
from typing import Any
from urllib.parse import urlencode

from mensura.exam.file import Exam
from mensura.exam.records import Sitting
from mensura.exam.scoring import Given
from mensura.exam.settings import ExamSettings, ExamTexts
from mensura.serve.sessions import Form
from mensura.site.templating import EARLY

_MOST = 2**53  # largest number that a page can count to
_SAID_BY_SCRIPT = (
    *("saving", "saved", "saved_late", "busy", "offline", "changed_later", "not_saved", "at_question"),
    *("five_minutes", "one_minute", "question_over"),
)


def page_facts(settings: ExamSettings, texts: ExamTexts) -> dict[str, Any]:
    """Return what every page of an exam needs: the exam, the texts of its language, and those that its script shows."""
    return {"exam": settings, "early": EARLY, "t": texts, "said": {key: texts.words[key] for key in _SAID_BY_SCRIPT}}


def given_in(form: Form, order: list[int]) -> Given:
    """Return the answer of a form in the table's order of options; options are sent as places on the page."""
    if not order:
        return form.get("text", "").replace("\r\n", "\n").strip()
    sent = [form["option"]] if "option" in form else [name[7:] for name in form if name.startswith("option-")]
    places = [int(place) if place.isascii() and place.isdigit() and len(place) < 4 else -1 for place in sent]
    return sorted(order[place] if 0 <= place < len(order) else -1 for place in places)


def fields_of(given: Given, order: list[int], scoring: str) -> str:
    """Return the fields in which a page would send an answer: the inverse of :func:`given_in`."""
    if isinstance(given, str):
        return urlencode({"text": given})
    places = [order.index(place) for place in given]
    several = scoring == "several"
    return urlencode([(f"option-{place}", "on") if several else ("option", place) for place in places])


def number_in(text: str) -> float:
    """Return a number that a page sent, 0 where it is none."""
    try:
        number = float(text[:30])
    except ValueError:
        return 0.0
    return min(max(number, 0.0), float(_MOST)) if math.isfinite(number) else 0.0


def most_items(exam: Exam, sitting: Sitting) -> int:
    """Return how many items a sitting has at most; an adaptive one may end before."""
    if not exam.is_adaptive:
        return len(sitting.form.items)
    return max(exam.per_person + sum(not item.counts for item in exam.items), len(sitting.form.items))


def next_page(sitting: Sitting, form: Form, most: int) -> str:
    """Return the address that the pressed button leads to; the sitting has ``most`` items at most."""
    at = sitting.form.items.index(form["item"]) + 1
    go = form.get("go", "next")
    if go == "back" and at > 1:
        return f"/sit?n={at - 1}"
    return f"/sit?n={at + 1}" if go == "next" and at < most else "/review"
