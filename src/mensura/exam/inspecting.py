"""The exam as an Inspect task: the same prompts, shuffles, instructions and scorer; logs go to ``responses``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mensura.core.files import write_text
from mensura.core.folders import whole_folder
from mensura.exam.file import Exam, read_exam
from mensura.exam.replies import read_reply, understand
from mensura.exam.scoring import score
from mensura.exam.sitting import questions_of
from mensura.llm import UnreadableError

if TYPE_CHECKING:
    from inspect_ai import Task

_TASK = '''"""A Mensura exam as an Inspect task; mensura must be installed. Run: inspect eval task.py --model NAME"""

from pathlib import Path

from inspect_ai import Task, task

from mensura.exam.inspecting import exam_task


@task
def exam() -> Task:
    return exam_task(Path(__file__).parent / "exam")
'''


def export_inspect(exam: Exam, folder: Path) -> None:
    """Write ``task.py`` and a copy of the exam into a folder."""
    with whole_folder(folder, "exam export") as stage:
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
        if question is not None and exam.by_name[name].scoring != "rubric" and not exam.by_name[name].check
    ]
    samples = [
        Sample(
            id=name, input=question.prompt, target=list(exam.by_name[name].key), metadata={"order": form.options[name]}
        )
        for form, name, question in asked
    ]

    @scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
    def exam_score() -> Any:  # noqa: ANN401
        async def judge(state: TaskState, target: Target) -> Score:
            item = exam.by_name[str(state.sample_id)]
            try:
                given = understand(item, state.metadata["order"], str(read_reply(state.output.completion).value))
            except UnreadableError as fault:
                return Score(value=0.0, answer="", explanation=str(fault))
            return Score(value=0.0 if given is None else score(item, given) or 0.0, answer=str(given))

        return judge

    system = asked[0][2].system.replace("{", "{{").replace("}", "}}") if asked else ""
    return Task(dataset=MemoryDataset(samples), solver=[system_message(system), generate()], scorer=exam_score())
