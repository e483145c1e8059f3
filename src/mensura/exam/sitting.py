"""Models sit the exam: the same items, instructions, shuffles and scorer as people.

They answer through the journal of ``llm``, or as a task of Inspect, whose logs go to ``responses``.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from mensura.core.files import write_text
from mensura.core.folders import whole_folder
from mensura.core.results import Result
from mensura.exam.design import ExamForm, full_form, grown_form, rules_text, tools_text
from mensura.exam.file import Exam, read_exam
from mensura.exam.gathering import OUTCOMES, count_outcomes
from mensura.exam.items import ExamItem, media_of
from mensura.exam.scoring import (
    MARK,
    MODELS,
    answer_text,
    failure_of,
    name_outcome,
    outcome_of,
    read_reply,
    score,
    understand,
)
from mensura.exam.settings import ExamTexts
from mensura.intake.item_keys import LETTERS
from mensura.llm import Answer, Asker, Question, UnreadableError

if TYPE_CHECKING:
    from inspect_ai import Task

_MORE = {
    "reasoning": pl.String,
    "position": pl.Int64,
    "options": pl.String,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
}


@dataclass(frozen=True, eq=False, repr=False)
class ModelSittings(Result):
    """Contain the sittings of one model.

    Attributes
    ----------
    model : str
        Its name.
    sittings : pl.DataFrame
        One row per repeat and item.
    outcomes : pl.DataFrame
        How often each outcome came.
    warnings : tuple of str
        Items skipped, and questions without an answer.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("sittings", "outcomes")

    model: str
    sittings: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def outcomes(self) -> pl.DataFrame:
        """Counts of each outcome."""
        return count_outcomes(self.sittings).sort("n", "subject", "outcome", descending=[True, False, False])

    @property
    def heading(self) -> str:
        """Who sat, how often, and how much was right."""
        counted = self.sittings["score"].drop_nulls()
        rate = f"{float(counted.sum()) / counted.len():.2f}" if counted.len() else "none"
        sittings = self.sittings["repeat"].n_unique()
        return f"{self.model}: sittings {sittings}, scored answers {counted.len()}, rate {rate}"

    @property
    def shown(self) -> pl.DataFrame:
        """The outcomes."""
        return self.outcomes


def sit_exam(exam: Exam, asker: Asker, *, repeats: int = 1, pictures: bool = False) -> ModelSittings:
    """Let a model sit the exam, each time with its own order of items and options.

    Parameters
    ----------
    exam : Exam
        The exam.
    asker : Asker
        Asks the model (:func:`mensura.llm.open_asker`).
    repeats : int
        Number of sittings.
    pictures : bool
        The model takes pictures; otherwise items with one are skipped, and the outcome says so.

    Returns
    -------
    ModelSittings
        Every answer with its score.

    Examples
    --------
    >>> with open_asker("openai/gpt-5", journal="journal.sqlite") as asker:  # doctest: +SKIP
    ...     sit_exam(read_exam("example"), asker, repeats=2)

    """
    if exam.is_adaptive:
        rows = _sit_adaptively(exam, asker, repeats, pictures=pictures)
    else:
        rows = _asked(exam, asker, list(questions_of(exam, repeats, pictures=pictures)))
    table = pl.DataFrame(rows, schema=OUTCOMES | _MORE, orient="row")
    skipped = table.filter(pl.col("outcome") == "skipped")["item"].n_unique()
    failed = table.filter(pl.col("outcome") == "failed").height
    warnings = {
        f"{skipped} items with a picture, sound or film were skipped; give --pictures if it takes pictures": skipped,
        f"{failed} questions got no answer; run the command again to ask them": failed,
    }
    return ModelSittings(asker.model, table, tuple(warning for warning, count in warnings.items() if count))


def _sit_adaptively(exam: Exam, asker: Asker, repeats: int, *, pictures: bool) -> list[tuple[Any, ...]]:
    """Ask item after item, in all sittings that go on; one whose call failed ends there and goes on with the next run.

    Attention checks and practice are for people.
    """
    rows: list[tuple[Any, ...]] = []
    forms = {repeat: replace(full_form(exam, repeat), items=()) for repeat in range(repeats)}
    earned: dict[int, dict[str, float]] = {repeat: {} for repeat in forms}
    open_sittings = set(forms)
    while open_sittings:
        asked = []
        for repeat in sorted(open_sittings):
            before = forms[repeat].items
            grown = grown_form(exam, forms[repeat], earned[repeat])
            new = [name for name in grown.items[len(before) :] if not exam.by_name[name].check]
            forms[repeat] = replace(grown, items=(*before, *new))
            asked += [(forms[repeat], name, question_of(exam, forms[repeat], name, pictures=pictures)) for name in new]
            if not new:
                open_sittings.discard(repeat)
        for row in _asked(exam, asker, asked):
            rows.append(row)
            _, _, repeat, name, credit, outcome, *_ = row
            earned[repeat][name] = credit or 0.0
            if outcome == "failed":
                open_sittings.discard(repeat)
    return sorted(rows, key=lambda row: row[2])


def _asked(exam: Exam, asker: Asker, asked: list[tuple[ExamForm, str, Question | None]]) -> list[tuple[Any, ...]]:
    """Ask questions and return a row for each."""
    answers = iter(asker.ask([question for _, _, question in asked if question is not None], read_reply))
    rows: list[tuple[Any, ...]] = []
    for form, name, question in asked:
        item, order = exam.by_name[name], form.options[name]
        shared = (asker.model, MODELS, form.seed[1], name)
        place = form.items.index(name) + 1
        shown = " | ".join(item.options[option] for option in order)
        if question is None:
            rows.append((*shared, None, "skipped", None, None, None, None, place, shown, None, None))
        else:
            answer = next(answers)
            rows.append((*shared, *_judged(item, order, answer), place, shown, answer.tokens_in, answer.tokens_out))
    return rows


def _judged(item: ExamItem, order: list[int], answer: Answer) -> tuple[Any, ...]:
    """Return score, outcome, seconds, cost, answer and reasoning of one reply."""
    spent = (answer.seconds, answer.cost)
    if answer.error:
        outcome = failure_of(answer.error)
        return (None if outcome == "failed" else 0.0, outcome, *spent, None, answer.text or None)
    given = understand(item, order, str(answer.value))
    if given is None:
        return (0.0, "unreadable", *spent, str(answer.value), answer.rationale or None)
    credit = score(item, given)
    return (credit, outcome_of(item, credit), *spent, answer_text(item, given), answer.rationale or None)


def questions_of(exam: Exam, repeats: int, *, pictures: bool) -> Iterator[tuple[ExamForm, str, Question | None]]:
    """Yield form, item and question in the order of the sittings; of an adaptive exam as many as it has at most."""
    most = exam.per_person + len(exam.ratings) if exam.is_adaptive else None
    for repeat in range(repeats):
        form = full_form(exam, repeat)
        for name in form.items[:most]:
            yield form, name, question_of(exam, form, name, pictures=pictures)


def question_of(exam: Exam, form: ExamForm, name: str, *, pictures: bool) -> Question | None:
    """Return an item of a form as a question; none where it has a picture, sound or film that cannot be sent."""
    item = exam.by_name[name]
    if item.media or (item.picture and not pictures):
        return None
    prompt, addresses = prompt_of(item, form.options[name], exam.texts), []
    if item.picture:  # its digest makes the question's key
        data = (exam.folder / item.picture).read_bytes()
        prompt = f"[picture {hashlib.sha256(data).hexdigest()[:16]}]\n{prompt}"
        addresses = [f"data:{media_of(item.picture)};base64,{base64.b64encode(data).decode('ascii')}"]
    about = {"task": "exam", "item": name}
    return Question(prompt, instructions_of(exam), None, form.seed[1], about, tuple(addresses))


def instructions_of(exam: Exam) -> str:
    """Return what people read before they start, and how a model marks its answer."""
    return (
        f"{exam.settings.instructions.strip()}\n\n{rules_text(exam)} {tools_text(exam)}\n\n"
        f"{exam.texts('think', mark=MARK)}"
    )


def prompt_of(item: ExamItem, order: list[int], texts: ExamTexts) -> str:
    """Return an item as a model reads it: its text, the options in their shown order, and the form of the answer."""
    options = [f"{LETTERS[place]}) {item.options[option]}" for place, option in enumerate(order)]
    ends = {"low": f"{item.low:g}", "high": f"{item.high:g}"} if item.scoring == "slider" else {}
    how = texts(f"how_{item.scoring}", **ends)
    return "\n".join([item.text, *options, "", texts("give", how=how, mark=MARK)])


# The exam as a task of Inspect

_TASK = '''"""A Mensura exam as an Inspect task; mensura must be installed. Run: inspect eval task.py --model NAME"""

from pathlib import Path

from inspect_ai import Task, task

from mensura.exam.sitting import exam_task


@task
def exam() -> Task:
    return exam_task(Path(__file__).parent / "exam")
'''


def export_inspect(exam: Exam, folder: Path) -> None:
    """Write ``task.py`` and a copy of the exam into a folder."""
    with whole_folder(folder, "export") as stage:
        write_text(stage / "task.py", _TASK)
        shutil.copytree(exam.folder, stage / "exam", ignore=shutil.ignore_patterns("*.db*", ".mensura.json", "runs"))


def exam_task(path: str | Path) -> Task:
    """Return the exam as a task of Inspect; items with a rubric or a picture are left out."""
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Score, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState, generate, system_message

    exam = read_exam(path)
    asked = [
        (form, name, question)
        for form, name, question in questions_of(exam, 1, pictures=False)
        if question is not None and exam.by_name[name].scoring != "rubric" and exam.by_name[name].counts
    ]
    samples = [
        Sample(
            id=name, input=question.prompt, target=list(exam.by_name[name].key), metadata={"order": form.options[name]}
        )
        for form, name, question in asked
    ]

    @scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
    def exam_score() -> Any:
        async def judge(state: TaskState, target: Target) -> Score:
            item = exam.by_name[str(state.sample_id)]
            stop = str(state.output.stop_reason)
            try:
                given = understand(item, state.metadata["order"], str(read_reply(state.output.completion).value))
            except UnreadableError as fault:
                withheld = "filtered" if stop == "content_filter" else f"unreadable: {fault}"
                error = "cut off at max_tokens" if stop in ("max_tokens", "model_length") else withheld
                return Score(value=0.0, answer="", explanation=str(fault), metadata={"outcome": failure_of(error)})
            credit = None if given is None else score(item, given)
            outcome = "unreadable" if given is None else name_outcome(credit)
            return Score(value=credit or 0.0, answer=str(given), metadata={"outcome": outcome})

        return judge

    system = asked[0][2].system.replace("{", "{{").replace("}", "}}") if asked else ""
    return Task(dataset=MemoryDataset(samples), solver=[system_message(system), generate()], scorer=exam_score())
