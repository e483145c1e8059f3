"""Exams: one test for people in a browser and for models, with the same items, instructions and scorer.

In: a folder with ``exam.toml`` and a table of items. Out: answers of people (an SQLite store) and of models (tables),
and one report about both.
Read first: ``file`` and ``items`` (what an exam is), ``scoring``, ``design`` (who gets which items, and how many people
are needed), ``store`` (answers of people), ``sitting`` (models), ``gathering`` (one table of outcomes), ``report`` (the
analysis).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.exam.design import (
        ExamForm as ExamForm,
        ExamPlan as ExamPlan,
        PlanTerms as PlanTerms,
        make_form as make_form,
        plan_exam as plan_exam,
    )
    from mensura.exam.file import Exam as Exam, inspect_exam as inspect_exam, read_exam as read_exam
    from mensura.exam.report import ExamReport as ExamReport, report_exam as report_exam
    from mensura.exam.sitting import ModelSittings as ModelSittings, sit_exam as sit_exam
    from mensura.exam.store import AnswerStore as AnswerStore

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
