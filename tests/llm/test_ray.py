"""Two Ray workers on one journal, one of them killed."""

import os
import signal
import threading
import time

import pytest

from mensura.core.errors import MensuraError
from mensura.llm.ray_workers import RayCrew, ask_with_ray
from tests.llm.conftest import questions, read_level
from tests.llm.server import level_answer

pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray's own making


def test_one_of_two_workers_is_killed_and_every_question_is_answered_once(ray, serve, tmp_path):
    server = serve(delay=0.02)
    asked = questions(800)
    settings = {"journal": str(tmp_path / "j.sqlite"), "base_url": server.url, "concurrency": 4}
    crew = RayCrew("mine", workers=2, **settings)
    victim = ray.get(crew.workers[0].pid.remote())

    def kill_in_the_middle():
        while sum(server.log.answers.values()) < 200:
            time.sleep(0.005)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    answers = crew.ask(asked, read_level)
    killer.join()
    crew.close()
    assert [path.name for path in tmp_path.iterdir()] == ["j.sqlite"]
    assert [answer.value for answer in answers] == [read_level(level_answer(q.prompt, {})).value for q in asked]
    assert [answer.question for answer in answers] == asked
    assert sum(server.log.answers.values()) <= len(asked) + settings["concurrency"]


def test_what_counts_within_one_process_is_refused(tmp_path):
    pytest.importorskip("ray", reason="the extra ray is not installed")
    with pytest.raises(MensuraError, match="max_calls"):
        ask_with_ray("mine", [], read_level, journal=tmp_path / "j.sqlite", max_calls=3)


def test_a_model_that_cannot_be_opened_is_named(ray, tmp_path):
    with pytest.raises(MensuraError, match="there is no recording 'nobody'"):
        ask_with_ray("recorded/nobody", questions(1), read_level, journal=str(tmp_path / "j.sqlite"))
